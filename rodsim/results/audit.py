"""What a result says about its own quality: balances, momenta, constraints, Newton; in numbers and in words.

Everything is measured at the outputs. Energy balance: E - E0 = W - D, with the work W of the loads and the
dissipation D. After the last output at which W changed the model is left to itself: there E + D should stay,
and so should the momenta that neither gravity nor the ground change.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rigid.system import Floats
from rodsim.results.errors import check_result

if TYPE_CHECKING:
    from rodsim.results.result import Result

ROUND_OFF = 1e-10  # relative; what an energy-momentum step with a converged Newton stays far below
UNIT = 1e-12  # of |q| - 1
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


def audit(result: Result) -> Audit:
    """The audit of a result; ResultError where it holds no output."""
    check_result("audit", result)
    with np.errstate(all="ignore"):  # a diverged run is judged, not refused
        return _with_verdicts(_measure(result))


def _measure(result: Result) -> Audit:
    E, W, D = result.energy, result.work, result.dissipation
    gravity = E["gravity"] - E["gravity"][0]  # its zero is anywhere
    turned_over = E["kinetic"] + np.abs(E["elastic"]) + np.abs(E["spring"]) + np.abs(gravity)
    scale = float(np.max(np.maximum.reduce([turned_over, np.abs(W), np.abs(D)])))
    defect = (E["total"] - E["total"][0]) - (W - W[0]) + (D - D[0])
    first = _first_free(W)
    H = E["total"] + D
    size, speed = _size_and_speed(result)
    P, L = result.linear_momentum, result.angular_momentum
    # m v of something with this kinetic energy and speed: momenta may be zero, their parts are not
    P_scale = max(_largest(P), 2 * float(E["kinetic"].max()) / speed if speed > 0 else 0.0)
    L_scale = max(_largest(L), P_scale * size)
    keep_P, keep_L, note = _kept_components(result)
    if first is None:
        note = "loads act until the last output"
    steps = np.diff(result.step, prepend=result.step[:1])
    newton = result.newton_iterations
    constraint = float(result.constraint_residual.max())
    return Audit(
        model=result.layout.name,
        n_outputs=result.n_outputs,
        t_start=float(result.t[0]),
        t_end=float(result.t[-1]),
        n_steps=int(result.step[-1]),
        energy_scale=scale,
        energy_balance=_relative(np.max(np.abs(defect)), scale),
        free_from=None if first is None else float(result.t[first]),
        energy_drift=None if first is None else _relative(np.max(np.abs(H[first:] - H[first])), scale),
        linear_momentum_scale=P_scale,
        angular_momentum_scale=L_scale,
        linear_momentum_drift=_drift(P, keep_P, first, P_scale),
        angular_momentum_drift=_drift(L, keep_L, first, L_scale),
        momentum_note=note,
        quat_norm=float(result.quat_norm_error.max()),
        constraint=constraint,
        constraint_relative=_relative(constraint, size),
        velocity_constraint=float(result.velocity_residual.max()),
        newton_mean=float(np.average(newton, weights=steps)) if steps.sum() > 0 else 0.0,
        newton_max=_count(result.audit_column("newton_max").max()),
        halvings=_count(result.halvings.sum()),
        work=float(W[-1]),
        dissipation=float(D[-1]),
    )


def _with_verdicts(a: Audit) -> Audit:
    joints = a.constraint > 0 or a.velocity_constraint > 0
    free = "loads act until the end" if a.free_from is None else f"from t = {a.free_from:g} s on"
    verdicts = [
        Verdict(
            "energy balance E - E0 = W - D",
            f"{a.energy_balance:.1e} of {a.energy_scale:.4g} J",
            a.energy_balance < ROUND_OFF,
        ),
        Verdict(
            "energy without work",
            free if a.energy_drift is None else f"{a.energy_drift:.1e} of {a.energy_scale:.4g} J, {free}",
            None if a.energy_drift is None else a.energy_drift < ROUND_OFF,
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
        verdicts.append(Verdict(name, measured, None if drift is None else drift < ROUND_OFF))
    verdicts.append(Verdict("unit quaternions", f"||q| - 1| <= {a.quat_norm:.1e}", a.quat_norm < UNIT))
    verdicts.append(
        Verdict(
            "joints, positions",
            f"|g| <= {a.constraint:.1e}, {a.constraint_relative:.1e} of the model's size"
            if joints
            else "no joints",
            a.constraint_relative < ROUND_OFF if joints else None,
        )
    )
    if joints:
        # the step keeps g = 0 at its ends; G v = 0 holds for its mean velocity, at the ends to second order
        verdicts.append(Verdict("joints, velocities", f"|G v| <= {a.velocity_constraint:.1e}", None))
    return Audit(**{**vars(a), "verdicts": tuple(verdicts)})


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


def _kept_components(result: Result) -> tuple[Floats | None, Floats | None, str]:
    """Projections on the components of P and L that should be kept (None: none), and why."""
    layout = result.layout
    grounded, g = layout.grounded, layout.gravity
    if grounded is None:
        grounded = layout.constraints is not None and bool(np.any(layout.constraints.frames == 0))
    if grounded:
        return None, None, "not expected: the model is held to the ground"
    if g is None and np.any(result.energy["gravity"] != result.energy["gravity"][0]):
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
