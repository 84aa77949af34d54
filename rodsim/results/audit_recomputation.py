"""Recompute the audit table from the stored states, and list where the file contradicts them.

Every recomputed number comes with a bound of its rounding error. A double is known to a part eps of its size. So
a sum is known to eps times the sum of its terms' sizes, and the strains of an element of length L between frames
at r_a, r_b to

    dGamma = eps (4 + (|r_a| + |r_b|)/L),   dK = 4 eps/L                                                (1)

since rotations are known to eps and positions to eps |r|. With stresses s, stiffness C and d = (dGamma, dK) this is an
energy of

    L (|s| . d + d . |C| d/2)                                                                           (2)

Newton's iteration leaves a residual of RESIDUAL_LEVELS times the rounding of its forces, f = eps |C| on a frame,
m = f L + eps |C|/L about it. The energy error of a step h is thus h (f |v| + m |Omega|). The errors of frames and
steps are independent, so that the run has

    RESIDUAL_LEVELS h sqrt(steps) max_t sqrt(sum of (f |v|)^2 + (m |Omega|)^2)                          (3)

which for stiff rods and large steps is far more than eps times the energy: it is the rounding of EA. In a run with a
tolerance every step has tolerance/eps times that error, always with the same sign:

    (tolerance/eps) h steps max_t sqrt(sum of (f |v|)^2 + (m |Omega|)^2)                                (4)

The velocities that satisfy the joints are known to

    max(RESIDUAL_LEVELS, tolerance/eps) eps (4 v + 0.04 l/h)                                            (5)

with the largest speed v of a joint point and the length l that joint points reach (`_point_scales`): a velocity is a difference
of positions over h. Joints are initially open by the rounding of the positions, and are closed during the run. The work of the
joint forces is then at most

    max_t |g| max_t sum |lam|                                                                           (6)

if |g| is limited to its rounding error.

`recompute` returns the columns with these bounds; `rodsim.results.verdicts` judges the conservation laws with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discretization.interaction_table import rows_of, springs_of, torsions_of, works
from discretization.state_measures import element_states, spring_energies
from discretization.system import System
from rigid.errors import ModelError
from rigid.system import Floats, Ints, State
from rodsim.results.audit_columns import ANGULAR_MOMENTUM, LINEAR_MOMENTUM
from rodsim.results.chart_invariants import ENERGY, GENERALISED, chart_reader
from rodsim.results.constraint_history import ConstraintHistory
from rodsim.results.drawing import CONTACT_ARRAYS, Drawing
from rodsim.results.event_history import expected_times
from rodsim.results.tabulate import energy_columns, state_columns
from rodsim.results.vtkhdf import DISPLACEMENT

if TYPE_CHECKING:
    from rodsim.results.result import Result

EPS = float(np.finfo(float).eps)
RESIDUAL_LEVELS = (
    4.0  # rounding levels of a residual that counts as solved, see `discretization.assembly.workspace`
)
ROUNDING_FACTOR = (
    64.0  # roundings by which two evaluations of one number may differ: the order of sums, the processor
)
BLOCK = 4_000_000  # numbers held in memory at once
OLD_CONTACT_TOLERANCE = 5e-3  # part of the largest drawn contact force, in files of versions up to 0.3.0
SAMPLE_OUTPUTS = 64  # outputs whose drawn arrays are compared; drawn points are compared at all outputs


def _has_old_contact_points(result: Result) -> bool:
    """Return True if a version up to 0.3.0 wrote the file; it placed contact points of rods a little differently."""
    version = result.description.get("provenance", {}).get("versions", {}).get("rodsim", "0.1.0")
    return str(version) in ("0.1.0", "0.2.0", "0.3.0")


_SOURCES = {"steps": "the steps before", "chart": "its chart", "times": "the number of its steps"}


@dataclass(frozen=True)
class Difference:
    """Describe a stored quantity that contradicts the states, at the first output where it does."""

    part: str  # "table", "elements", "drawing", "chart", "times" or "steps"
    what: str  # name of the quantity
    outputs: int  # number of outputs that differ
    output: int  # number of the first output that differs
    t: float  # time of this output, s
    stored: float  # stored value of the component that differs most at this output
    recomputed: float  # recomputed value of this component

    def __str__(self) -> str:
        suffix = f" and at {self.outputs - 1} more" if self.outputs > 1 else ""
        return (
            f"{self.what} at output {self.output} (t = {self.t:g} s){suffix}: "
            f"{self.stored:.9g} in the file, {self.recomputed:.9g} by {_SOURCES.get(self.part, 'its state')}"
        )


@dataclass(frozen=True)
class Recomputation:
    """Hold all quantities that follow from the stored states."""

    columns: dict[str, Floats]  # (T,) each: columns of the audit table that follow from the states
    differences: tuple[Difference, ...]
    drawn: bool  # True if the file stores drawn points to compare
    mass: float = 0.0  # total mass that moves, kg; this and the next fields are zero without the system
    inertia: float = 0.0  # largest moment of inertia about the origin, kg m^2
    energy_rounding: float = 0.0  # rounding error of the energy balance by (2), (3), (4) and (6), J
    rate_rounding: float = 0.0  # rounding error of G v, (5)
    speed: float = 0.0  # largest speed of a joint point, or of the tip of a unit vector of the chart, m/s
    chart_based: dict[str, Floats] = field(
        default_factory=dict
    )  # (T,) columns `rodsim.results.chart_invariants.NAMES`, energies with their potential part
    unread: str = ""  # why the chart cannot be read; "" if it can


def recompute(result: Result) -> Recomputation:
    """Recompute all quantities that follow from the stored states, and compare them with the file.

    Without the system (older files) only the columns that need no masses, the times and the drawn data are compared.
    """
    system, constraints = result.layout.system, result.layout.constraints
    history = ConstraintHistory(result.layout)
    collector = _Differences(result)
    drawing = Drawing(result.layout, surfaces=True)
    columns: dict[str, list[Floats]] = {}
    evaluation = power = inertia = 0.0
    reach = speed = 0.0  # m, m/s: joint points; the speed also of the tips of a chart's unit vectors
    gap = largest_multipliers = 0.0  # m, N: factors of (6)
    drawn = False
    try:
        scheme, unread = chart_reader(result), ""
    except ModelError as error:  # the initial state does not fit the joints
        scheme, unread = None, str(error)
    scheme_columns: dict[str, list[Floats]] = {}
    for outputs in blocks(result, drawing):
        state = result.states(outputs)
        g = None if constraints is None else history.residual(outputs, state)
        values = state_columns(state, g, None if constraints is None else history.rate(state))
        rounding = _frame_rounding(state, history)
        if constraints is not None and result.layout.n_multipliers:
            block_reach, block_speed = _point_scales(state, history)
            reach, speed = max(reach, block_reach), max(speed, block_speed)
            gap = max(
                gap, _largest(np.minimum(values["constraint"], ROUNDING_FACTOR * rounding["constraint"]))
            )
            largest_multipliers = max(largest_multipliers, _largest(np.abs(state.lam).sum(axis=-1)))
        if system is not None:
            strain, stress = element_states(system, state)
            noise = strain_noise(system, state)
            stiffness = np.abs(system.rods.points.stiffness)
            stress_noise = np.einsum("mij,...mj->...mi", stiffness, noise)
            values |= energy_columns(system, state, (strain, stress))
            rounding |= _energy_rounding(system, state, values, stress, noise, stress_noise)
            evaluation = max(evaluation, _largest(rounding["total"]))
            power = max(power, _largest(noise_power(system, state, noise if scheme else None)))
            inertia = max(inertia, _largest(_inertia(system, state)))
            collector.elements("strains", outputs, strain, noise + EPS * np.abs(strain))
            collector.elements("stresses", outputs, stress, stress_noise + EPS * np.abs(stress))
        for name, known in rounding.items():
            collector.table(name, outputs, values[name], known)
            columns.setdefault(name, []).append(values[name])
        if scheme is not None:
            speed = max(speed, _largest(_largest_norm(state.Omega)))
            read = scheme.read(state)
            collector.frames(outputs, state, read.frames)
            potential = values["elastic"] + values["gravity"] + values["spring"]
            for name, value in read.columns.items():
                potential_part = potential if name in (ENERGY, GENERALISED) else 0.0
                scheme_columns.setdefault(name, []).append(value + potential_part)
        drawn = collector.points(drawing, outputs, state) or drawn
    collector.times()
    collector.work_of_drives()
    if drawn:
        chosen = np.linspace(0, result.n_outputs - 1, min(SAMPLE_OUTPUTS, result.n_outputs)).astype(int)
        for i in np.unique(chosen):
            collector.arrays(drawing, int(i))
    all_columns = {name: np.concatenate(parts) for name, parts in columns.items()}
    chart_based = {name: np.concatenate(parts) for name, parts in scheme_columns.items()}
    if system is None:
        return Recomputation(all_columns, collector.differences(), drawn, unread=unread)
    steps = result.step
    n_steps = int(steps[-1] - steps[0])
    h = float(result.t[-1] - result.t[0]) / n_steps if n_steps else 0.0
    mass = float(system.frames.mass[system.frames.fixed == 0].sum())
    accumulated_residuals = RESIDUAL_LEVELS * np.sqrt(n_steps) + newton_tolerance(result) / EPS * n_steps
    energy_rounding = 2 * evaluation + accumulated_residuals * abs(h) * power + gap * largest_multipliers
    residual_factor = max(RESIDUAL_LEVELS, newton_tolerance(result) / EPS)
    return Recomputation(
        all_columns,
        collector.differences(),
        drawn,
        mass,
        inertia,
        float(energy_rounding),
        residual_factor * EPS * (4.0 * speed + 4e-2 * reach / h) if h else 0.0,
        speed,
        chart_based,
        unread,
    )


def newton_tolerance(result: Result) -> float:
    """Return the relative tolerance of the run's Newton iterations; 0 means round-off."""
    return float(result.description.get("run", {}).get("tolerance", 0.0))


def blocks(result: Result, drawing: Drawing) -> Iterator[slice]:
    """Yield slices of outputs small enough to bound the memory of one block."""
    layout = result.layout
    numbers_per_output = (
        60 * (layout.n_frames + layout.n_elements + layout.n_multipliers)
        + 20 * drawing.n_points
        + 6 * layout.n_chart
    )
    size = max(1, BLOCK // numbers_per_output)
    for start in range(0, result.n_outputs, size):
        yield slice(start, min(start + size, result.n_outputs))


def strain_noise(system: System, state: State) -> Floats:
    """Return the rounding errors (..., m, 6) of the strains of all elements, (1)."""
    points = system.rods.points
    # slopes of order p at a point: at most p/2 times the differences of neighbours over the length of the point's part
    length, (a, b) = points.weight / system.rods.order_at, points.frames.reshape(-1, 2).T
    noise = np.repeat(EPS * 4.0 / length, 6).reshape(-1, 6) + np.zeros((*state.r.shape[:-2], 1, 1))
    reach = np.linalg.norm(state.r, axis=-1)
    noise[..., :3] = EPS * (4.0 + (reach[..., a] + reach[..., b]) / length)[..., None]
    return noise


def noise_power(system: System, state: State, noise: Floats | None = None) -> Floats:
    """Return the square root in (3), sqrt(sum of (f |v|)^2 + (m |Omega|)^2) over all frames, W.

    `noise`: rounding errors (..., m, 6) of the strains by (1), if these determine the rounding of the forces; None: the
    forces are known to eps |C|.
    """
    points = system.rods.points
    force, moment = np.zeros((2, *state.r.shape[:-1]))
    C, length = np.abs(points.stiffness), points.weight / system.rods.order_at
    force_noise = EPS * C[:, :3, :3].max(axis=(1, 2), initial=0.0)
    moment_noise = EPS * C[:, 3:, 3:].max(axis=(1, 2), initial=0.0) / length
    if noise is not None:
        stress_noise = np.einsum("mij,...mj->...mi", C, noise)
        force_noise, moment_noise = stress_noise[..., :3].max(axis=-1), stress_noise[..., 3:].max(axis=-1)
    about = force_noise * length + moment_noise

    def add(to: Floats, frames: Ints, values: Floats) -> None:
        every: Any = (..., frames)
        np.add.at(to, every, values)

    for side in (0, 1):
        add(force, points.frames[:, side], force_noise)
        add(moment, points.frames[:, side], about)
    acts = rows_of(system.others) == 0  # the rounding of constraints is that of their rows
    row, column = np.nonzero((system.others.frames >= 0) & acts[:, None])
    add(force, system.others.frames[row, column], EPS * system.others.size[row, 0])
    add(moment, system.others.frames[row, column], EPS * system.others.size[row, 1])
    v, Omega = (np.sum(rate**2, axis=-1) for rate in (state.v, state.Omega))
    moving = system.frames.fixed == 0
    return np.sqrt((v * force**2 + Omega * moment**2) @ moving)


def _frame_rounding(state: State, history: ConstraintHistory) -> dict[str, Floats]:
    """Return the rounding errors (T,) of the columns that need no masses: work, dissipation, ||q| - 1|, |g|, |G v|."""
    work, dissipation = np.abs(state.totals.T)
    rounding = {"work": EPS * work, "dissipation": EPS * dissipation, "quat_norm": np.full(len(work), EPS)}
    if history.constraints is not None:
        reach = 1.0 + history.levers()[0] + _largest_norm(state.r)
        speed = _largest_norm(state.v) + _largest_norm(state.Omega) * reach
        rounding |= {"constraint": EPS * reach**2, "velocity_constraint": EPS * speed * reach}
    return rounding


def _point_scales(state: State, history: ConstraintHistory) -> tuple[float, float]:
    """Return the length (m) and the largest speed of a joint point (m/s) of (5)."""
    arm, constrained = history.levers()
    speed = np.linalg.norm(state.v[:, constrained], axis=-1) + arm * np.linalg.norm(
        state.Omega[:, constrained], axis=-1
    )
    return 1.0 + 2.0 * float(arm + _largest(_largest_norm(state.r))), _largest(speed)


def _energy_rounding(
    system: System,
    state: State,
    values: dict[str, Floats],
    stress: Floats,
    noise: Floats,
    stress_noise: Floats,
) -> dict[str, Floats]:
    """Return the rounding errors (T,) of energies and momenta, whose values (T,) are given by name."""
    moving = system.frames.fixed == 0
    mass = system.frames.mass * moving
    reach, speed = np.linalg.norm(state.r, axis=-1), np.linalg.norm(state.v, axis=-1)
    spin = np.linalg.norm(np.einsum("nij,...nj->...ni", system.frames.inertia, state.Omega), axis=-1)
    elastic_noise = np.sum(np.abs(stress) * noise + 0.5 * noise * stress_noise, axis=-1)
    rounding = {
        "kinetic": EPS * (speed**2 @ mass + np.abs(values["kinetic"])),
        "elastic": elastic_noise @ system.rods.points.weight,
        "gravity": EPS * np.linalg.norm(system.gravity) * (reach @ mass),
        "spring": _spring_rounding(system, state, reach),
    }
    rounding["total"] = sum(rounding.values()) + EPS * np.abs(values["total"])
    for linear, angular in zip(LINEAR_MOMENTUM, ANGULAR_MOMENTUM, strict=True):
        rounding[linear] = EPS * (speed @ mass)
        rounding[angular] = EPS * ((speed * reach) @ mass + spin @ moving)
    return rounding


def _spring_rounding(system: System, state: State, reach: Floats) -> Floats:
    """Return the rounding error (T,) of the energy of springs and torsion springs, J; `reach`: |r| of all frames, m."""
    springs, torsions = springs_of(system.others), torsions_of(system.others)
    energy, counted = spring_energies(system, state)
    a, b = springs.frames.reshape(-1, 2).T
    arms = np.linalg.norm(springs.Xa, axis=1) + np.linalg.norm(springs.Xb, axis=1)
    known = EPS * (reach[:, a] + reach[:, b] + arms + springs.length0)
    force = np.sqrt(2.0 * springs.stiffness * energy)
    angle = np.abs(counted - torsions.angle0)
    angle_rounding = EPS * (np.abs(counted) + np.abs(torsions.angle0))
    linear = np.sum(force * known, axis=-1) + 0.5 * known**2 @ springs.stiffness
    return linear + (angle * angle_rounding + 0.5 * angle_rounding**2) @ torsions.stiffness


def _inertia(system: System, state: State) -> Floats:
    """Return an upper bound (T,) of the moment of inertia about the origin, kg m^2."""
    moving = system.frames.fixed == 0
    rotational = 0.5 * np.trace(system.frames.inertia, axis1=1, axis2=2)
    return np.sum(state.r**2, axis=-1) @ (system.frames.mass * moving) + rotational @ moving


def _largest_norm(vectors: Floats) -> Floats:
    """Return the length (T,) of the longest of the vectors (T, n, 3) at every output."""
    return np.linalg.norm(vectors, axis=-1).max(axis=-1, initial=0.0)


def _largest(values: Floats) -> float:
    return float(np.nanmax(values, initial=0.0))


class _Differences:
    """Collect differences between file and states, block by block."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._t = result.t
        self._differences: dict[tuple[str, str], Difference] = {}

    def differences(self) -> tuple[Difference, ...]:
        """Return all differences found."""
        return tuple(self._differences.values())

    def table(self, name: str, outputs: slice, value: Floats, rounding: Floats) -> None:
        """Compare a column of the audit table with its recomputed values (T,)."""
        self._compare(
            "table",
            name,
            outputs,
            self._result.audit_column(name)[outputs],
            value,
            ROUNDING_FACTOR * rounding,
        )

    def elements(self, name: str, outputs: slice, value: Floats, rounding: Floats) -> None:
        """Compare stored strains or stresses with their recomputed values (T, m, 6)."""
        stored = self._result.element_values(name, outputs)
        self._compare("elements", name, outputs, stored, value, ROUNDING_FACTOR * rounding)

    def points(self, drawing: Drawing, outputs: slice, state: State) -> bool:
        """Compare the drawn points; return False if none are stored."""
        stored = self._result.picture_array("Points", outputs, (drawing.n_points, 3))
        if stored is None:
            return False
        points = drawing.points(state)
        # storing in single precision rounds a second time
        precision = ROUNDING_FACTOR * EPS + (
            np.finfo(stored.dtype).eps if stored.dtype != points.dtype else 0.0
        )
        known = precision * (_largest_norm(state.r) + drawing.reach)
        self._compare("drawing", "points", outputs, stored, points, known[:, None, None])
        return True

    def times(self) -> None:
        """Compare the times with the numbers of steps times dt, and the drawn times with them."""
        result, every = self._result, slice(0, self._result.n_outputs)
        dt = result.description.get("run", {}).get("dt")
        if dt is not None:
            t = expected_times(result, float(dt))
            self._compare("times", "t", every, self._t, t, EPS * np.abs(t))
        stored = result.picture_array("Steps/Values", every, ())
        if stored is not None:
            self._compare("drawing", "times", every, stored.ravel(), self._t, EPS * np.abs(self._t))

    def frames(self, outputs: slice, state: State, read: State) -> None:
        """Compare the frames and multipliers of `state` with those formed from its chart, `read`."""
        pose_checks = (state.r, read.r, EPS * np.abs(read.r)), (state.quat, read.quat, ROUNDING_FACTOR * EPS)
        rate_checks = (
            (x, y, ROUNDING_FACTOR * EPS * np.abs(y).max(initial=0.0))
            for x, y in ((state.v, read.v), (state.Omega, read.Omega))
        )
        for name, (stored, value, allowed) in zip(
            ("r", "quat", "v", "Omega"), (*pose_checks, *rate_checks), strict=True
        ):
            self._compare("chart", name, outputs, stored, value, allowed)
        first = max(outputs.start, 1)  # output 0 may hold the multipliers of another run
        k = first - outputs.start
        self._compare("chart", "lam", slice(first, outputs.stop), state.lam[k:], read.lam[k:], 0.0)

    def work_of_drives(self) -> None:
        """Compare the work of all drives with the work of the run, if nothing else does work."""
        result = self._result
        system = result.layout.system
        if not result.drives or system is None or works(system.others):
            return
        W = result.drive_work()
        parts = [np.abs(result.drive_work(name)) for name in result.drives]
        # the work is a sum with one term per step
        steps = np.maximum(1, result.step - result.step[0])
        allowed = EPS * steps * np.maximum.accumulate(np.sum(parts, axis=0))
        self._compare(
            "table", "work of drives", slice(0, len(W)), W, self._result.work - result.work[0], allowed
        )

    def arrays(self, drawing: Drawing, i: int) -> None:
        """Compare the drawn point arrays of output `i`."""
        result, outputs = self._result, slice(i, i + 1)
        points, arrays = drawing.arrays(result.state(i), result.strains(i), result.stresses(i))
        arrays[DISPLACEMENT] = (points - drawing.points(result.state(0))).astype(np.float32)
        for name, value in arrays.items():
            stored = result.picture_array(f"PointData/{name}", outputs, value.shape)
            if stored is not None:
                part = (
                    OLD_CONTACT_TOLERANCE
                    if name in CONTACT_ARRAYS and _has_old_contact_points(result)
                    else 8 * np.finfo(np.float32).eps
                )
                known = part * np.abs(value).max(initial=0.0) + np.finfo(np.float32).tiny
                self._compare("drawing", name, outputs, stored, value[None], known)

    def _compare(
        self, part: str, what: str, outputs: slice, stored: Floats, value: Floats, allowed: Floats | float
    ) -> None:
        """Record a difference if |stored - value| exceeds `allowed` at one of these outputs (first axis)."""
        excess = np.abs(stored - value) - allowed
        wrong = ~((excess <= 0) | (stored == value) | (np.isnan(stored) & np.isnan(value)))
        if not wrong.any():
            return
        at = np.flatnonzero(wrong.reshape(len(wrong), -1).any(axis=1))
        earlier = self._differences.get((part, what))
        count = len(at) + (earlier.outputs if earlier else 0)
        if earlier is None:
            k = int(at[0])
            size = np.where(wrong[k], np.nan_to_num(excess[k], nan=np.inf), -np.inf)
            worst = np.unravel_index(np.argmax(size), size.shape)
            i = outputs.start + k
            numbers = float(stored[k][worst]), float(value[k][worst])
            earlier = Difference(part, what, count, i, float(self._t[i]), *numbers)
        self._differences[part, what] = Difference(**{**vars(earlier), "outputs": count})
