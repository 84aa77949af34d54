"""Compute the outputs of many states at once: strains, stresses and the audit table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discretization.state_measures import (
    constraint_residual,
    element_states,
    energies,
    momenta,
    velocity_residual,
)
from discretization.system import System
from discretization.time.stepper_base import Report, Reports
from rigid.system import Floats, Ints, State
from rodsim.results.audit_columns import ANGULAR_MOMENTUM, COLUMNS, LINEAR_MOMENTUM
from rodsim.results.constraint_history import ConstraintHistory
from rodsim.results.outputs import Outputs


def tabulate(
    system: System,
    dt: float,
    steps: Ints,
    states: State,
    newton: Floats,
    history: ConstraintHistory | None = None,
) -> Outputs:
    """Compute the outputs after `steps` (k,) from their states (k, ...).

    `newton`: (k, 3) rows as returned by `newton_columns`. `history`: constraints at all outputs of a result, if ground points
    of joints move; the states must then be those of all outputs. None: the constraints of the system are used.
    """
    strains, stresses = strains_and_stresses = element_states(system, states)
    if history is None:
        g, rate = constraint_residual(system, states), velocity_residual(system, states)
    else:
        g, rate = history.residual(slice(None), states), history.rate(states)
    columns = state_columns(states, g, rate) | energy_columns(system, states, strains_and_stresses)
    columns |= dict(zip(("newton_mean", "newton_max", "halvings"), newton.T, strict=True))
    audit = np.stack([columns[name] for name in COLUMNS], axis=1)
    return Outputs(steps * dt, steps, states, strains, stresses, audit)


def state_columns(states: State, g: Floats | None, rate: Floats | None) -> dict[str, Floats]:
    """Return the columns (T,) of the audit table that need no masses.

    `g`, `rate`: (T, m) residuals of the constraints and their rates; None: not known.
    """
    columns = {
        "work": states.totals[:, 0],
        "dissipation": states.totals[:, 1],
        "quat_norm": _largest(np.linalg.norm(states.quat, axis=-1) - 1.0),
    }
    if g is not None and rate is not None:
        columns |= {"constraint": _largest(g), "velocity_constraint": _largest(rate)}
    return columns


def energy_columns(
    system: System, states: State, strains_and_stresses: tuple[Floats, Floats]
) -> dict[str, Floats]:
    """Return the energies and momenta (T,) of the audit table; `strains_and_stresses`: strains and stresses of all elements."""
    energy, (P, L) = energies(system, states, strains_and_stresses), momenta(system, states)
    columns = {**energy._asdict(), "total": energy.total}
    for names, vectors in ((LINEAR_MOMENTUM, P), (ANGULAR_MOMENTUM, L)):
        columns |= dict(zip(names, vectors.T, strict=True))
    return columns


def newton_columns(reports: Sequence[Report]) -> tuple[float, float, float]:
    """Return Newton statistics since the last output: mean and largest number of iterations per solve, and halvings."""
    if len(reports) == 1:  # the usual case
        (single,) = reports
        mean = single.iterations / single.solves if single.solves else 0.0
        return mean, float(single.most_iterations), float(single.halvings)
    solves = sum(report.solves for report in reports)
    return (
        sum(report.iterations for report in reports) / solves if solves else 0.0,
        float(max((report.most_iterations for report in reports), default=0)),
        float(sum(report.halvings for report in reports)),
    )


def newton_rows(reports: Sequence[Report | Sequence[Report]]) -> Floats:
    """Return Newton statistics (k, 3) as `newton_columns` does, for k outputs with one report each, or several."""
    if not isinstance(reports, Reports):
        columns = [newton_columns([report] if isinstance(report, Report) else report) for report in reports]
        return np.array(columns, dtype=float).reshape(-1, 3)
    rows = np.zeros((len(reports), 3))
    np.divide(reports.iterations, reports.solves, out=rows[:, 0], where=reports.solves > 0)
    rows[:, 1] = reports.most_iterations
    return rows


def _largest(values: Floats) -> Floats:
    return np.abs(values).max(axis=-1, initial=0.0)
