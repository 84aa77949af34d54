"""What a result says about its own quality: balances, momenta, constraints, Newton; in numbers and in words.

Everything is measured at the outputs, on what their states say (`rodsim.results.recomputed`): the books that the
run kept of itself are only compared with it. Energy balance: E - E0 = W - D, with the work W of the loads and the
dissipation D, in which what `em-d` takes out is. After the last output at which W changed the model is left to
itself: there E + D should stay, and so should the momenta that neither gravity nor the ground change.

Errors are judged against the natural size of what they are errors of. Of energies: what was turned over, and the
rounding with which the forces are known. Of momenta: by Cauchy's inequality a model of mass M and moment of inertia
I about the origin has, with all its energy E in motion, |P| <= sqrt(2 M E) and |L| <= sqrt(2 I E). That is their
size also where they happen to be zero.

A run with a tolerance may miss that part of each of these in every step, and of the joints' places at once.

`em` and its kin keep energy and momenta to round-off, other integrators each in its own way (docs/integrators.md): with
those a drift is told, but breaks no law.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

import numpy as np

from rigid.system import Floats
from rodsim.results.columns import ANGULAR_MOMENTUM, LINEAR_MOMENTUM
from rodsim.results.html import audit_html
from rodsim.results.recomputed import Difference, recompute, tolerance_of
from rodsim.results.result import Result, check_result
from rodsim.results.static_audit import lines as static_lines

ROUND_OFF = 1e-10  # relative to the natural size; what an energy-momentum step with a converged Newton stays far below
UNIT = 1e-12  # of |q| - 1
PLACES = 10.0  # sizes of the model in whose rounding places are known: `constraint_assembly`
SAMPLES = 64  # outputs looked at for the size and speed of the model


@dataclass(frozen=True)
class Verdict:
    """One law, what was measured of it, and whether it was kept (None: nothing to judge)."""

    law: str
    measured: str
    kept: bool | None


@dataclass(frozen=True)
class Audit:
    """Measured over all outputs; None: not measurable in this run (the text says why)."""

    model: str
    n_outputs: int
    t_start: float  # s
    t_end: float  # s
    n_steps: int
    energy_scale: float  # J, largest energy turned over: what errors of energy are divided by
    energy_rounding: float  # J, what rounding alone may do; 0 where it is not known
    energy_balance: float  # max |E - E0 - W + D| / energy_scale
    free_from: float | None  # s, no work is done after; None: until the last output
    energy_drift: float | None  # max change of E + D after free_from / energy_scale
    linear_momentum_scale: float  # kg m/s
    angular_momentum_scale: float  # kg m^2/s
    linear_momentum_drift: float | None  # of the components that should be kept after free_from, relative
    angular_momentum_drift: float | None
    momentum_note: str  # which components those are, and why
    quat_norm: float  # max ||q| - 1|
    constraint: float  # max |g|
    constraint_relative: float  # the same over the size of the model
    velocity_constraint: float  # max |G v|
    newton_mean: float  # iterations a step
    newton_max: int
    halvings: int  # steps that had to be cut in two
    work: float  # J
    dissipation: float  # J
    integrator: str  # "" where the result does not say
    tolerance: float  # of the equations of a step, relative; 0: round-off
    recomputed: bool  # energies and momenta are those of the states, not those of the run's table
    drawing_compared: bool  # there are points for the eye, and they were compared with the states
    differences: tuple[Difference, ...] = field(default=())  # numbers of the file that its states contradict
    # by part, (m/s, rad/s): how far its initial velocities were moved to fit the joints
    initial_velocity_change: dict[str, tuple[float, float]] = field(default_factory=dict)
    algorithmic: float = 0.0  # J, taken out by the integrator
    verdicts: tuple[Verdict, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """No law that can be judged was broken."""
        return all(verdict.kept is not False for verdict in self.verdicts)

    def to_json(self) -> str:
        """All numbers and verdicts as JSON; numbers that are not finite become null."""
        data = {**asdict(self), "ok": self.ok}
        finite = {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in data.items()}
        return json.dumps(finite, indent=2)

    def text(self) -> str:
        """The audit for reading, one line a law."""
        words = {True: "kept", False: "NOT KEPT", None: "-"}
        width = max(len(verdict.law) for verdict in self.verdicts)
        lines = [
            f"audit of '{self.model}': {self.n_outputs} outputs, t = {self.t_start:g} to {self.t_end:g} s, "
            f"{self.n_steps} steps"
        ]
        lines += [f"  {v.law:<{width}}  {words[v.kept]:<8}  {v.measured}" for v in self.verdicts]
        lines.append(
            f"  Newton: {self.newton_mean:.2f} iterations a step, at most {self.newton_max}; "
            f"{self.halvings} steps halved"
        )
        lines.append("all laws that can be judged were kept" if self.ok else "a law was broken, see NOT KEPT")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the same."""
        return audit_html(self)


def audit(result: Result) -> Audit:
    """The audit of a result: energies, momenta and constraints recomputed from its states.

    Raises ResultError where it holds no output.
    """
    check_result("audit", result)
    with result.held(), np.errstate(all="ignore"):  # a diverged run is judged, not refused
        measured = _measure(result)
        if "statics" in result.description:
            return _of_equilibria(measured, result)
        return _with_verdicts(measured)


def _measure(result: Result) -> Audit:
    found = recompute(result)
    recomputed = "total" in found.columns

    def column(name: str) -> Floats:
        return found.columns[name] if name in found.columns else result.audit_column(name)

    W, D, total = column("work"), column("dissipation"), column("total")
    gravity = column("gravity") - column("gravity")[0]  # its zero is anywhere
    turned_over = sum((np.abs(column(name)) for name in ("kinetic", "elastic", "spring")), np.abs(gravity))
    scale = float(np.max(np.maximum.reduce([turned_over, np.abs(W), np.abs(D)])))
    A = result.algorithmic
    defect = (total - total[0]) - (W - W[0]) + (D - D[0]) + (A - A[0])
    first = _first_free(W)
    H = total + D + A
    P, L = (np.stack([column(x) for x in names], axis=1) for names in (LINEAR_MOMENTUM, ANGULAR_MOMENTUM))
    size, speed = _size_and_speed(result)
    if recomputed:
        energy = scale + found.energy_rounding
        P_scale, L_scale = (float(np.sqrt(2 * x * energy)) for x in (found.mass, found.inertia))
    else:
        # m v of something with this kinetic energy and speed: momenta may be zero, their parts are not
        P_scale = max(_largest(P), 2 * float(column("kinetic").max()) / speed if speed > 0 else 0.0)
        L_scale = max(_largest(L), P_scale * size)
    keep_P, keep_L, note = _kept_components(result, column("gravity"))
    if first is None:
        note = "loads act until the last output"
    steps = np.diff(result.step, prepend=result.step[:1])
    newton = result.newton_iterations
    constraint = float(column("constraint").max())
    return Audit(
        model=result.layout.name,
        n_outputs=result.n_outputs,
        t_start=float(result.t[0]),
        t_end=float(result.t[-1]),
        n_steps=int(result.step[-1]),
        energy_scale=scale,
        energy_rounding=found.energy_rounding,
        energy_balance=_relative(np.max(np.abs(defect)), scale),
        free_from=None if first is None else float(result.t[first]),
        energy_drift=None if first is None else _relative(np.max(np.abs(H[first:] - H[first])), scale),
        linear_momentum_scale=P_scale,
        angular_momentum_scale=L_scale,
        linear_momentum_drift=_drift(P, keep_P, first, P_scale),
        angular_momentum_drift=_drift(L, keep_L, first, L_scale),
        momentum_note=note,
        quat_norm=float(column("quat_norm").max()),
        constraint=constraint,
        constraint_relative=_relative(constraint, size),
        velocity_constraint=float(column("velocity_constraint").max()),
        newton_mean=float(np.average(newton, weights=steps)) if steps.sum() > 0 else 0.0,
        newton_max=_count(result.audit_column("newton_max").max()),
        halvings=_count(result.halvings.sum()),
        work=float(W[-1]),
        dissipation=float(D[-1]),
        algorithmic=float(A[-1]),
        integrator=str(result.description.get("run", {}).get("integrator", "")),
        tolerance=tolerance_of(result),
        recomputed=recomputed,
        drawing_compared=found.drawn,
        differences=found.differences,
        initial_velocity_change={
            name: (float(v), float(omega))
            for name, (v, omega) in result.description.get("initial_velocity_change", {}).items()
        },
    )


def _with_verdicts(a: Audit) -> Audit:
    joints = a.constraint > 0 or a.velocity_constraint > 0
    free = "loads act until the end" if a.free_from is None else f"from t = {a.free_from:g} s on"
    of = f"of {a.energy_scale:.4g} J"
    if a.energy_rounding > ROUND_OFF * a.energy_scale:  # then it decides
        of += f", rounding {a.energy_rounding:.1e} J"
    missed = ROUND_OFF + a.tolerance * a.n_steps
    allowed = missed * a.energy_scale + a.energy_rounding
    verdicts = [
        Verdict(
            "energy balance E - E0 = W - D",
            f"{a.energy_balance:.1e} {of}",
            _absolute(a.energy_balance, a.energy_scale) < allowed or a.energy_balance == 0.0,
        ),
        Verdict(
            "E + D without work",
            free if a.energy_drift is None else f"{a.energy_drift:.1e} {of}, {free}",
            None
            if a.energy_drift is None
            else _absolute(a.energy_drift, a.energy_scale) < allowed or a.energy_drift == 0.0,
        ),
    ]
    for name, drift, scale, unit in (
        ("linear momentum", a.linear_momentum_drift, a.linear_momentum_scale, "kg m/s"),
        ("angular momentum", a.angular_momentum_drift, a.angular_momentum_scale, "kg m^2/s"),
    ):
        measured = (
            a.momentum_note
            if drift is None
            else f"{drift:.1e} of {scale:.4g} {unit}, {free} ({a.momentum_note})"
        )
        verdicts.append(Verdict(name, measured, None if drift is None else drift < missed))
    verdicts.append(Verdict("unit quaternions", f"||q| - 1| <= {a.quat_norm:.1e}", a.quat_norm < UNIT))
    verdicts.append(
        Verdict(
            "joints, positions",
            f"|g| <= {a.constraint:.1e}, {a.constraint_relative:.1e} of the model's size"
            if joints
            else "no joints",
            a.constraint_relative < ROUND_OFF + PLACES * a.tolerance if joints else None,
        )
    )
    if joints:
        # `em` keeps g = 0 at its ends; G v = 0 holds for its mean velocity, at the ends to its order
        told = "with em, em4, em6 it falls with dt to order 2, 4, 6, with em-ggl it is round-off"
        found = f"|G v| <= {a.velocity_constraint:.1e}; {told}"
        verdicts.append(Verdict("joints, velocities", found, None))
    if a.integrator and not a.integrator.startswith("em"):
        verdicts = [_told(verdict, a.integrator) for verdict in verdicts]
    if a.algorithmic != 0.0:
        taken = (
            f"{a.algorithmic:.4g} J, {_relative(a.algorithmic, a.energy_scale):.1e} {of}: counted as D above"
        )
        verdicts.append(Verdict(f"taken out by {a.integrator}", taken, None))
    if a.tolerance > 0.0:
        asked = f"{a.tolerance:g} was asked for: every step may miss its laws by that part"
        verdicts.append(Verdict("tolerance", asked, None))
    verdicts += _of_file(a)
    if a.initial_velocity_change:
        name, (v, omega) = max(a.initial_velocity_change.items(), key=lambda item: max(item[1]))
        others = len(a.initial_velocity_change) - 1
        more = f", and those of {others} more parts less" if others else ""
        words = f"those of {name} changed by {v:.3g} m/s and {omega:.3g} rad/s to fit the joints{more}"
        verdicts.append(Verdict("initial velocities", words, None))
    return Audit(**{**vars(a), "verdicts": tuple(verdicts)})


def _of_equilibria(a: Audit, result: Result) -> Audit:
    """Equilibria keep no balances over time: forces balance in each."""
    verdicts = [Verdict(*line) for line in static_lines(result)]
    verdicts.append(Verdict("unit quaternions", f"||q| - 1| <= {a.quat_norm:.1e}", a.quat_norm < UNIT))
    return Audit(**{**vars(a), "verdicts": (*verdicts, *_of_file(a))})


def _told(verdict: Verdict, integrator: str) -> Verdict:
    """Energy and momenta under an integrator that need not keep them."""
    if verdict.kept is not False or not verdict.law.startswith(("energy", "E + D", "linear", "angular")):
        return verdict
    return Verdict(verdict.law, f"{verdict.measured}; '{integrator}' need not keep it", None)


def _of_file(a: Audit) -> list[Verdict]:
    """Whether what stands beside the states belongs to them."""
    verdicts = []
    old = "not recomputed: the file keeps no masses and stiffnesses (of an older version)"
    for part, law, whole in (
        ("table", "table of the run", a.recomputed),
        ("elements", "strains and stresses", a.recomputed),
        ("drawing", "points and arrays drawn", a.drawing_compared),
    ):
        differences = [str(d) for d in a.differences if d.part == part]
        if differences:
            more = f"; {len(differences) - 1} more differ" if len(differences) > 1 else ""
            verdicts.append(Verdict(law, differences[0] + more, False))
        elif whole:
            verdicts.append(Verdict(law, "as recomputed from the states", True))
        elif part == "table":
            verdicts.append(Verdict(law, old, None))
    return verdicts


def _absolute(relative: float, scale: float) -> float:
    """What `_relative` was made of."""
    return relative * scale if scale > 0 else relative


def _first_free(work: Floats) -> int | None:
    """The first output after which no work is done; None where the last interval has some."""
    changes = np.flatnonzero(np.diff(work) != 0)
    if len(changes) == 0:
        return 0
    first = int(changes[-1]) + 1
    return first if first < len(work) - 1 else None


def _size_and_speed(result: Result) -> tuple[float, float]:
    """Largest distance of a point from the model's middle (m), largest speed (m/s), at some outputs."""
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


def _kept_components(result: Result, gravity: Floats) -> tuple[Floats | None, Floats | None, str]:
    """Projections on the components of P and L that should be kept (None: none), and why."""
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
    up = np.outer(g, g) / np.dot(g, g)
    return np.eye(3) - up, up, "gravity: linear across it, angular along it"


def _drift(values: Floats, keep: Floats | None, first: int | None, scale: float) -> float | None:
    if keep is None or first is None:
        return None
    kept = values[first:] @ keep
    return _relative(_largest(kept - kept[0]), scale)


def _largest(vectors: Floats) -> float:
    return float(np.linalg.norm(vectors, axis=1).max())


def _relative(value: float, scale: float) -> float:
    return float(value / scale) if scale > 0 or not np.isfinite(scale) else float(value)


def _count(value: float) -> int:
    return int(value) if np.isfinite(value) else -1
