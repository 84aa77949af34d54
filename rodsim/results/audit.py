"""Audit a result: energy balance, momenta, constraints and Newton's iterations, in numbers and in words.

The audit recomputes all quantities from the states at the outputs (`rodsim.results.audit_recomputation`) and compares the energy
table of the run with them. The energy balance is E - E0 = W - D, with the work W of the loads and the dissipation D, which
includes the energy that `em-d` removes. After the last output at which W changed, loads do no work. From there on E + D should be
conserved, and so should those components of the momenta that neither gravity nor the ground changes.

Errors are relative to a natural size of the quantity. For energies this is the largest energy in the run: the sum of kinetic
energy, elastic energy and change of the gravitational energy, or W, or D. The limits also allow for the rounding errors of the
forces. For momenta the size follows from Cauchy's inequality: a model of mass M and moment of inertia I about the origin, whose
whole energy E is kinetic, has |P| <= sqrt(2 M E) and |L| <= sqrt(2 I E). So the size is not zero if the momenta are.

A run with a relative tolerance may violate each conservation law by this tolerance in every step. The errors of joint positions
do not add up: they may be as large as the tolerance once.

The audit judges the quantities that the integrator guarantees to conserve (`discretization.time.invariants`,
docs/reference/integrators.md), and reports all others without a verdict. A scheme in a chart conserves functions of its own
coordinates and momenta, so energies and momenta are then formed from these (`rodsim.results.chart_invariants`). All other
contents of a state must follow from the steps since the previous output; some of these steps are therefore repeated
(`rodsim.results.step_recomputation`). The report names what cannot be judged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discretization.interaction_groups import Role, groups_of, is_curved, is_load
from discretization.system import fingerprint
from discretization.time.invariants import INVARIANTS, declared_invariants
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.interactions.registration import kinds_with_other_code
from rodsim.results.audit_columns import ANGULAR_MOMENTUM, LINEAR_MOMENTUM
from rodsim.results.audit_recomputation import newton_tolerance, recompute
from rodsim.results.audit_report import Audit
from rodsim.results.chart_invariants import ENERGY, GENERALISED, POSITION, RATE
from rodsim.results.result import Result, ResultLike, opened
from rodsim.results.static_audit import lines as static_lines
from rodsim.results.step_recomputation import StepRecomputation, recompute_steps
from rodsim.results.verdicts import judge_equilibria, judge_run

SAMPLES = 64  # largest number of outputs from which size and speed of the model are estimated
_WORDS = {ENERGY: "T*(q, p) + V", GENERALISED: "p . v - T(q, v) + V"}


def audit(result: ResultLike) -> Audit:
    """Audit a result: recompute energies, momenta and constraints from its states, and repeat some of its steps.

    Parameters
    ----------
    result : Result, Path or str
        A result, or the path of a result file.

    Returns
    -------
    Audit
        `ok` is True if everything that the integrator guarantees to conserve was conserved; `text()` returns the findings.

    Raises
    ------
    ResultError
        If `result` is not a result, or has no output.
    FileNotFoundError
        If the file does not exist.

    Examples
    --------
    >>> from rodsim import audit
    >>> audit("run.vtkhdf").ok
    True
    """
    result = opened("audit", result)
    with result.keep_open(), np.errstate(all="ignore"):  # audit a diverged run, too
        changed = result.find_damage()
        measured = replace(
            _measure(result),
            changed=None if changed is None else tuple(map(str, changed)),
            from_file=result.path is not None,
            other_code=kinds_with_other_code(result.description),
            bends=tuple(map(str, result.tight_bends)),
        )
        if "statics" in result.description:
            return replace(measured, verdicts=judge_equilibria(measured, static_lines(result)))
        fits = _model_fits(result)
        # do not repeat steps with a changed model: it may lack frames that the states refer to
        step_recomputation = (
            StepRecomputation(reason="the model is not the one of the run")
            if fits is False or measured.other_code
            else recompute_steps(result)
        )
        measured = replace(measured, step_recomputation=step_recomputation, model_fits=fits)
        return replace(measured, verdicts=judge_run(measured))


class _Laws(NamedTuple):
    """Relative errors of the conservation laws, for one definition of energy and momenta."""

    balance: float  # energy balance
    drift: float | None  # drift of the energy
    linear: float | None  # drift of the linear momentum
    angular: float | None  # drift of the angular momentum


def _measure(result: Result) -> Audit:
    """Return the measured quantities of a result, without verdicts and without repeating steps."""
    recomputation = recompute(result)
    recomputed = "total" in recomputation.columns

    def column(name: str) -> Floats:
        return recomputation.columns[name] if name in recomputation.columns else result.audit_column(name)

    W, D = column("work"), column("dissipation")
    gravity = (
        column("gravity") - column("gravity")[0]
    )  # from its initial value, as the zero of the potential is arbitrary
    largest_terms = sum((np.abs(column(name)) for name in ("kinetic", "elastic", "spring")), np.abs(gravity))
    scale = float(np.max(np.maximum.reduce([largest_terms, np.abs(W), np.abs(D)])))
    A = result.algorithmic
    first = _first_free(W)
    P, L = (np.stack([column(x) for x in names], axis=1) for names in (LINEAR_MOMENTUM, ANGULAR_MOMENTUM))
    size, speed = _size_and_speed(result)
    if recomputed:
        energy = scale + recomputation.energy_rounding
        P_scale, L_scale = (
            float(np.sqrt(2 * x * energy)) for x in (recomputation.mass, recomputation.inertia)
        )
    else:
        # m v = 2 T/v of a mass with kinetic energy T and speed v: nonzero also if the momenta of the parts cancel
        P_scale = max(_largest(P), 2 * float(column("kinetic").max()) / speed if speed > 0 else 0.0)
        L_scale = max(_largest(L), P_scale * size)
    projection_P, projection_L, note = _conserved_components(result, column("gravity"))
    if first is None:
        note = "loads act until the last output"

    def laws(total: Floats, P: Floats, L: Floats) -> _Laws:
        defect = (total - total[0]) - (W - W[0]) + (D - D[0]) + (A - A[0])
        H = total + D + A
        return _Laws(
            _relative(np.max(np.abs(defect)), scale),
            None if first is None else _relative(np.max(np.abs(H[first:] - H[first])), scale),
            _drift(P, projection_P, first, P_scale),
            _drift(L, projection_L, first, L_scale),
        )

    guaranteed = _promises(result)
    measured = frame_laws = laws(column("total"), P, L)
    energy_of, other = "", None
    chart_based = recomputation.chart_based
    if chart_based:
        main = (
            ENERGY
            if ENERGY in chart_based and (ENERGY in guaranteed or GENERALISED not in guaranteed)
            else GENERALISED
        )
        P, L = (
            np.stack([chart_based[x] for x in names], axis=1) for names in (LINEAR_MOMENTUM, ANGULAR_MOMENTUM)
        )
        measured, energy_of = laws(chart_based[main], P, L), _WORDS[main]
        if main == ENERGY and GENERALISED in guaranteed:
            other = laws(chart_based[GENERALISED], P, L).balance
    steps = np.diff(result.step, prepend=result.step[:1])
    newton = result.newton_iterations
    constraint = float(max(column("constraint").max(), chart_based[POSITION].max() if chart_based else 0.0))
    rates = chart_based[RATE] if chart_based else column("velocity_constraint")
    run = result.description.get("run", {})
    return Audit(
        model=result.layout.name,
        n_outputs=result.n_outputs,
        t_start=float(result.t[0]),
        t_end=float(result.t[-1]),
        n_steps=int(result.step[-1]),
        energy_scale=scale,
        energy_rounding=recomputation.energy_rounding,
        energy_balance=measured.balance,
        free_from=None if first is None else float(result.t[first]),
        energy_drift=measured.drift,
        linear_momentum_scale=P_scale,
        angular_momentum_scale=L_scale,
        linear_momentum_drift=measured.linear,
        angular_momentum_drift=measured.angular,
        momentum_note=note,
        quat_norm=float(column("quat_norm").max()),
        constraint=constraint,
        constraint_relative=_relative(constraint, size),
        # without the first output: initial velocities satisfy the joints by another computation
        velocity_constraint=float(rates[min(1, len(rates) - 1) :].max()),
        newton_mean=float(np.average(newton, weights=steps)) if steps.sum() > 0 else 0.0,
        newton_max=_count(result.audit_column("newton_max").max()),
        halvings=_count(result.halvings.sum()),
        work=float(W[-1]),
        dissipation=float(D[-1]),
        algorithmic=float(A[-1]),
        integrator=str(run.get("integrator", "")),
        chart=str(run.get("chart", "")),
        invariants=tuple(invariant for invariant in INVARIANTS if invariant in guaranteed),
        chart_based=bool(chart_based),
        unread=recomputation.unread,
        rate="G W p" if ENERGY in chart_based else "G v",
        energy=energy_of,
        other_energy_balance=other,
        velocity_based=(frame_laws.balance, frame_laws.linear, frame_laws.angular) if chart_based else None,
        velocity_scale=recomputation.speed,
        velocity_rounding=recomputation.rate_rounding,
        tolerance=newton_tolerance(result),
        recomputed=recomputed,
        drawing_compared=recomputation.drawn,
        differences=recomputation.differences,
        initial_velocity_change={
            name: (float(v), float(omega))
            for name, (v, omega) in result.description.get("initial_velocity_change", {}).items()
        },
    )


def _promises(result: Result) -> frozenset[str]:
    """Return the invariants that the integrator guarantees in its chart; those of `em` if the result names no integrator."""
    run, system = result.description.get("run", {}), result.layout.system
    interacting = system is None or not all(map(is_load, groups_of(system)))
    # constraint rows that are not polynomials of the coordinates alone
    groups = [] if system is None else groups_of(system, None, Role.CONSTRAINT)
    curved = bool(result.drives) or any(map(is_curved, groups))
    try:
        return declared_invariants(
            str(run.get("integrator", "em")) or "em", run.get("chart"), interacting, curved
        )
    except ModelError:  # the file is from a newer version
        return frozenset()


def _model_fits(result: Result) -> bool | None:
    """Return whether the stored system has the fingerprint of the system that was simulated; None if one is missing."""
    system, built = result.layout.system, result.description.get("fingerprint")
    return None if system is None or built is None else fingerprint(system) == built


def _first_free(work: Floats) -> int | None:
    """Return the first output after which no work is done; None if work is done in the last interval."""
    changes = np.flatnonzero(np.diff(work) != 0)
    if len(changes) == 0:
        return 0
    first = int(changes[-1]) + 1
    return first if first < len(work) - 1 else None


def _size_and_speed(result: Result) -> tuple[float, float]:
    """Return the largest distance of a point from the centre of the model (m) and the largest speed (m/s), at some outputs."""
    from rodsim.results.drawing import Drawing

    drawing = Drawing(result.layout)
    size = speed = 0.0
    chosen = np.unique(np.linspace(0, result.n_outputs - 1, min(SAMPLES, result.n_outputs)).astype(int))
    for i in chosen:
        state = result.state(int(i))
        if drawing.n_points:
            points = drawing.points(state)
            middle = (points.max(axis=0) + points.min(axis=0)) / 2
            size = max(size, float(np.linalg.norm(points - middle, axis=1).max()))
        speed = max(speed, float(np.linalg.norm(state.v, axis=1).max()))
    return size, speed


def _conserved_components(result: Result, gravity: Floats) -> tuple[Floats | None, Floats | None, str]:
    """Return the projections (3, 3) on the conserved components of P and L (None if none is), and the reason as text."""
    layout = result.layout
    grounded, g = layout.grounded, layout.gravity
    if grounded is None:
        grounded = layout.constraints is not None and bool(np.any(layout.constraints.frames == 0))
    if grounded:
        return None, None, "not expected: the model is held to the ground"
    if g is None and np.any(gravity != gravity[0]):
        return None, None, "not expected: there is gravity, its direction is not known"
    if g is None or not np.any(g):
        return np.eye(3), np.eye(3), "free: all components"
    vertical = np.outer(g, g) / np.dot(g, g)
    return np.eye(3) - vertical, vertical, "gravity: linear across it, angular along it"


def _drift(values: Floats, projection: Floats | None, first: int | None, scale: float) -> float | None:
    """Return the largest relative change of the conserved components after output `first`; None without such components."""
    if projection is None or first is None:
        return None
    conserved = values[first:] @ projection
    return _relative(_largest(conserved - conserved[0]), scale)


def _largest(vectors: Floats) -> float:
    """Return the largest norm of the rows of an array."""
    return float(np.linalg.norm(vectors, axis=1).max())


def _relative(value: float, scale: float) -> float:
    """Return value/scale; the value itself if the scale is zero."""
    return float(value / scale) if scale > 0 or not np.isfinite(scale) else float(value)


def _count(value: float) -> int:
    """Return a count that is stored as a float; -1 if it is not finite."""
    return int(value) if np.isfinite(value) else -1
