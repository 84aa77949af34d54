"""Measure what an integrator conserves of a model: its record, the measurements that all models share, its row of a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import numpy as np

from discretization.time.em_family import em_integrator
from discretization.time.integrate import Trajectory
from discretization.time.integrators import parse
from discretization.time.invariants import declared_invariants
from rigid.mechanics.mechanical_system import SINGULAR_MASS, MechanicalSystem
from rigid.system import Floats
from rodsim.components.argument_types import ChartName
from rodsim.model import Model
from rodsim.papers.claims import drift, largest, scheme_velocity_constraints

# chart in the tables -> chart of a model
CHARTS = {"singular": "quaternion", "alpha": "quaternion-alpha", "gamma": "quaternion-gamma"}
# promise -> column
COLUMNS = {
    "energy": "hamiltonian",
    "generalised energy": "generalised",
    "linear momentum": "linear",
    "angular momentum": "angular",
    "symplectic": "symplectic",
    "position": "position",
    "velocity": "momentum_constraint",
}
_Row = TypeVar("_Row")
Row = tuple[str, str, Sequence[float]]  # integrator, chart, steps for the observed order


class Properties(NamedTuple):
    """One row of a table; drifts of energies and momenta are relative, residuals absolute.

    nan: the quantity does not exist, or was not measured.
    """

    integrator: str
    chart: str
    model: str
    order: float  # observed order of the positions
    hamiltonian: float  # T*(q, p) + V
    generalised: float  # p . v - T(q, v) + V
    linear: float  # linear momentum P
    angular: float  # angular momentum L
    symplectic: float
    position: float  # position residual |g(q)|
    momentum_constraint: float  # |G W p|
    velocity_constraint: float  # |G v| with the velocity v of the scheme
    iterations: float  # mean number of Newton iterations per step, for compositions per substep
    cost: float = np.nan  # microseconds per element and step


def declared_order(integrator: str) -> int:
    """Return the declared order of the integrator."""
    scheme = em_integrator(integrator)
    return parse(integrator).order if scheme is None else scheme.order


def rows(
    integrators: Mapping[str, Sequence[str]], steps: Mapping[int | str, Sequence[float]]
) -> tuple[Row, ...]:
    """Return the rows for the integrators of each chart; `steps` by integrator, or else by declared order."""
    return tuple(
        (name, chart, steps[name] if name in steps else steps[declared_order(name)])
        for chart, names in integrators.items()
        for name in names
    )


def in_chart(model: Model, chart: str) -> MechanicalSystem:
    """Return a model in a chart of the tables."""
    return model.mechanical_system(cast(ChartName, CHARTS.get(chart, chart)))


def promised(integrator: str, chart: str) -> frozenset[str]:
    """Return the names of the quantities that the integrator conserves for joined bodies and rods in a chart of the tables."""
    return (
        frozenset({"linear momentum"})
        if integrator.startswith("BG")
        else declared_invariants(integrator, chart)
    )


def positions(run: Trajectory) -> Floats:
    """Return the positions (n,) of all nodes and centres of mass that move, at the end, m; all charts have them."""
    at = run.system.info["places"].position
    return np.concatenate([run.q[-1, k : k + 3] for k in at[at >= 0]])


def momenta(run: Trajectory) -> tuple[Floats, Floats]:
    """Return the total linear and angular momenta P and L (N + 1, 3), as far as the system conserves them."""
    P, L = (
        np.array([run.momentum(s) for s in run.system.symmetries if s.name[0] == letter]).T for letter in "PL"
    )
    return P, L


def vector_drift(J: Floats) -> float:
    """Return the largest deviation of J (N, k) from its first row, relative to that row."""
    return drift(J) / largest(J[0])


def energies_and_residuals(run: Trajectory, size: float) -> dict[str, float]:
    """Return the drifts of energies relative to `size`, J, and the residuals of constraints, by column of `Properties`."""
    regular = not run.system.has(SINGULAR_MASS)
    return {
        "hamiltonian": drift(run.hamiltonian()) / size if regular else np.nan,
        "generalised": drift(run.generalised_energy()) / size,
        "position": float(run.position_residual().max()),
        "momentum_constraint": float(run.velocity_residual()[1:].max()) if regular else np.nan,
        "velocity_constraint": largest(scheme_velocity_constraints(run)),
    }


def microseconds(run: Callable[[int], object], n_more: int, repetitions: int) -> float:
    """Return the processor time of a step in microseconds, by runs of 1 and of 1 + `n_more` steps.

    The difference excludes the cost of starting a run; the best of some repetitions is taken.
    """
    seconds = np.full((2, repetitions), np.inf)
    for k in range(repetitions):
        for which, steps in enumerate((1, 1 + n_more)):
            began = time.process_time()  # processor time of this process, independent of other processes
            run(steps)
            seconds[which, k] = time.process_time() - began
    return float(seconds[1].min() - seconds[0].min()) / n_more * 1e6


def table(measured: Sequence[Properties], timed: bool = False) -> str:
    """Format the rows as Markdown, one table per model; quantities that an integrator promises to conserve are set in bold."""
    head = "| integrator | chart | order | T* + V | p . v - T + V | P | L | two-form | g | G W p | G v | iterations |"
    head += " us |" if timed else ""
    lines: list[str] = []
    for model in dict.fromkeys(row.model for row in measured):
        lines += ["", f"**{model}**", ""] if model else []
        lines += [head, "|" + "---|" * (head.count("|") - 1)]
        lines += [line(row, timed) for row in measured if row.model == model]
    return "\n".join(lines).strip("\n")


def line(row: Properties, timed: bool = False) -> str:
    """Format one row of a table."""
    promises = promised(row.integrator, row.chart)
    cells = [cell(getattr(row, column), ".0e", promise in promises) for promise, column in COLUMNS.items()]
    cells += [cell(row.velocity_constraint, ".0e"), cell(row.iterations, ".1f")]
    cells += [cell(row.cost, ".2g" if row.cost < 10 else ".0f")] if timed else []
    return f"| {row.integrator} | {row.chart} | {row.order:.2f} | {' | '.join(cells)} |"


def cell(value: float, form: str, bold: bool = False) -> str:
    """Format a value; empty for nan."""
    text = "" if np.isnan(value) else f"{value:{form}}"
    return f"**{text}**" if text and bold else text


def shown(measured: Iterable[_Row], line: Callable[[_Row], str]) -> list[_Row]:
    """Return the rows, and print the line of each as soon as it is measured."""
    rows = []
    for row in measured:
        print(line(row), flush=True)
        rows.append(row)
    return rows


def write_between(path: str, name: str, lines: str) -> None:
    """Replace the text between the marks of a table of a page by `lines`."""
    page, begin, end = Path(path), f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, remainder = page.read_text().split(begin)
    _, after = remainder.split(end)
    page.write_text(f"{before}{begin}\n\n{lines}\n\n{end}{after}")
