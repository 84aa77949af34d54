"""Build the arrays of prescribed motion: driven constraint rows, poses of driven frames, and their values in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.characteristic_length import extent
from discretization.drives import (
    DRIVEN,
    NUMBERS,
    driven_frames,
    driven_rows,
    pack_constraint,
    pack_frame,
)
from discretization.redundancy import constraint_jacobian
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError, PartName
from rigid.interactions.constraints import first_rows
from rigid.interactions.driven_constraints import DRIVEN_ANGLE, DRIVEN_DISPLACEMENT, DRIVEN_DISTANCE
from rigid.joints import Marker
from rigid.joints.base import Row
from rigid.system import Floats, Ints, State
from rodsim.components.joints import DISTANCE, Drive
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Driven

_ZERO = np.zeros(3)
LARGEST_LOOP = 1500  # rows: with more the search by singular values would take longer than the run
RANK_TOLERANCE = 1e-9  # largest singular value, of unit rows, that counts as zero: the row depends on others
RATE_TOLERANCE = 1e-7  # rates of redundant rows below this fraction of their terms are zero; rates of functions are differences
N_SPACED_TIMES = 20  # number of times at which motions are checked, in addition to t = 0 and their corners
FIRST_TIME, LAST_TIME = 1e-3, 1e3  # s, range of these times for motions without corners
CORNER_OFFSET = (
    0.01  # offset from a corner, as a fraction of the least time between corners: shows the acceleration
)


class DrivenRow(NamedTuple):
    """Hold a driven constraint: its row at t = 0, its parameters at given times, and its coordinate in a state.

    `numbers(t, start)` returns U_a, the value and the rates of both at times t (k,), s, for a coordinate that begins at
    `start` (rad or m).
    """

    row: Row
    numbers: Callable[[Floats, float], tuple[Floats, Floats, Floats, Floats]]
    coordinate: Callable[[State], float]


def driven_row(entry: Drive, a: Marker, b: Marker, length: float) -> DrivenRow:
    """Return the driven constraint of a drive between the markers a, b of its joint; length: their distance at t = 0, m."""
    motion = entry.motion
    first = motion.value(np.zeros(1))[0]

    if entry.of == "angle":
        e1, e2 = a.axes[:, 0], a.axes[:, 1]

        def turning(t: Floats, start: float) -> tuple[Floats, Floats, Floats, Floats]:
            angle, rate = (start + motion.value(t) - first)[:, None], motion.rate(t)[:, None]
            # e2 rotated by the angle: perpendicular to the prescribed direction of e1 of b
            U = np.cos(angle) * e2 - np.sin(angle) * e1
            dU = -rate * (np.sin(angle) * e2 + np.cos(angle) * e1)
            return U, np.zeros(len(t)), dU, np.zeros(len(t))

        def angle_in(state: State) -> float:
            u, w, x = _rotated(state, a, e1), _rotated(state, a, e2), _rotated(state, b, b.axes[:, 0])
            return float(np.arctan2(w @ x, u @ x))

        return DrivenRow(Row(DRIVEN_ANGLE, e2, b.axes[:, 0]), turning, angle_in)
    if entry.of == DISTANCE:
        return _driven_distance(entry, a, b, length)
    axis = a.axes[:, 2]

    def moving(t: Floats, start: float) -> tuple[Floats, Floats, Floats, Floats]:
        U = np.tile(axis, (len(t), 1))
        return U, start + motion.value(t) - first, 0.0 * U, motion.rate(t)

    def place_in(state: State) -> float:
        p, q = (state.r[x.frame] + _rotated(state, x, x.X) for x in (a, b))
        return float(_rotated(state, a, axis) @ (q - p))

    return DrivenRow(Row(DRIVEN_DISPLACEMENT, axis, _ZERO), moving, place_in)


def _driven_distance(entry: Drive, a: Marker, b: Marker, length: float) -> DrivenRow:
    """Return the driven constraint of a drive of the distance of two points, `length` at t = 0, m."""
    motion, unit = entry.motion, np.array([1.0, 0.0, 0.0])
    first = motion.value(np.zeros(1))[0]

    def distance(t: Floats, start: float) -> tuple[Floats, Floats, Floats, Floats]:
        lengths, U = length + start + motion.value(t) - first, np.tile(unit, (len(t), 1))
        if lengths.min(initial=1.0) <= 0.0:
            k = int(np.argmin(lengths))
            raise ModelError(
                f"drive '{entry.name}': the distance at t = {t[k]:g} s is {lengths[k]:.6g} m. Keep it positive"
            )
        return U, 0.5 * lengths**2, 0.0 * U, lengths * motion.rate(t)

    def change_in(state: State) -> float:
        p, q = (state.r[x.frame] + _rotated(state, x, x.X) for x in (a, b))
        return float(np.linalg.norm(q - p)) - length

    return DrivenRow(Row(DRIVEN_DISTANCE, unit, _ZERO, 0.5 * length**2), distance, change_in)


def _rotated(state: State, marker: Marker, X: Floats) -> Floats:
    """Rotate a vector X (3,) from the axes of the marker's frame to inertial axes."""
    return quaternions.rotate(state.quat[marker.frame], X)


@dataclass(frozen=True, eq=False)
class DriveValues:
    """Evaluate the prescribed motions of all drives and driven frames of a model at given times."""

    rows: Mapping[str, DrivenRow]  # driven constraints, by the name of the drive
    driven: Mapping[str, Driven]  # driven frames, by name
    start: Floats  # (d,) initial coordinates of the rows, rad or m

    @classmethod
    def of(cls, model: ModelData, rows: list[DrivenRow]) -> DriveValues | None:
        """Return the values for a model whose joint coordinates begin at zero; None if nothing is driven."""
        if not rows and not model.driven:
            return None
        return cls(dict(zip(model.drives, rows, strict=True)), dict(model.driven), np.zeros(len(rows)))

    def __call__(self, times: Floats) -> Floats:
        """Return the values at times (k,), s, as an array (k, rows, 3), packed as by `discretization.drives`.

        Raises ModelError if a motion is not finite at one of them.
        """
        pairs = zip(self.rows.items(), self.start, strict=True)
        parts = {f"drive '{name}'": pack_constraint(*drive.numbers(times, x)) for (name, drive), x in pairs}
        parts |= {f"driven '{name}'": pack_frame(*drive.motion(times)) for name, drive in self.driven.items()}
        for owner, part in parts.items():
            bad = ~np.isfinite(part).all(axis=(1, 2))
            if bad.any():
                raise ModelError(f"{owner}: its motion at t = {times[np.argmax(bad)]:g} s is not finite")
        return np.concatenate(list(parts.values()), axis=1)

    def first(self) -> Floats:
        """Return the parameters of drives in `State.internal` at t = 0, (d, NUMBERS)."""
        out = np.zeros((len(self.rows) + len(self.driven), NUMBERS))
        for k, (drive, start) in enumerate(zip(self.rows.values(), self.start, strict=True)):
            U, value, dU, dvalue = drive.numbers(np.zeros(1), start)
            out[k, :8] = [*U[0], value[0], *dU[0], dvalue[0]]
        return out

    def starting_at(self, state: State) -> DriveValues:
        """Return these drive values for joints that begin at their coordinates in `state`."""
        return replace(self, start=np.array([drive.coordinate(state) for drive in self.rows.values()]))


def check_drives(model: ModelData, system: System, state: State) -> None:
    """Raise ModelError if a drive prescribes a motion that joints or another drive determine already.

    Degrees of freedom are counted at t = 0. A drive conflicts with others if constraints are dependent that are independent
    without its row, or with its frame free to move. Driven frames of this kind are accepted if they move so that these
    constraints agree (a planar linkage whose foot is driven in its plane): n . G_driven (v, omega) = 0 for all n with
    n^T G = 0, G of the frames that are not driven, at the times of `_comparison_times`.
    """
    rows, frames = driven_rows(system.constraints), driven_frames(system.frames.fixed)
    if not len(rows) + len(frames) or not 0 < len(state.lam) <= LARGEST_LOOP:
        return
    undriven = system._replace(
        frames=system.frames._replace(fixed=np.where(system.frames.fixed == DRIVEN, 0, system.frames.fixed))
    )
    G = constraint_jacobian(undriven, state).toarray()
    size = extent(state.r)
    G[:, np.arange(G.shape[1]) % 6 > 2] /= size
    not_driven = np.ones(G.shape[1], bool)
    not_driven[(6 * frames[:, None] + np.arange(6)).ravel()] = False
    excess = _count_dependent_rows(G[:, not_driven])
    if excess == 0:
        return
    blamed = []
    for name, row in zip(model.drives, first_rows(system.constraints)[rows], strict=True):
        if _count_dependent_rows(np.delete(G, row, axis=0)[:, not_driven]) < excess:
            blamed.append(f"drive '{name}' of joint '{model.drives[name].joint.name}'")
    for name, frame in zip(model.driven, frames, strict=True):
        free = not_driven.copy()
        free[6 * frame : 6 * frame + 6] = True
        if _count_dependent_rows(G[:, free]) < excess:
            blamed.append(f"driven '{name}'")
    if not blamed:
        return
    when = ""
    if all(name_of_drive.startswith("driven ") for name_of_drive in blamed):
        time = _first_conflict(G, not_driven, list(model.driven.values()), frames, size)
        if time is None:
            return
        when = f", at t = {time:.3g} s"
    names = [PartName("joint", drive.joint.name) for drive in model.drives.values()]
    driven = {drive.joint.name for drive in model.drives.values()}
    between = [
        name for name, gear in model.gears.items() if any(drive.joint.name in driven for drive in gear.terms)
    ]
    coupled = f" (coupled by gear {' and '.join(map(repr, between))})" if between else ""
    fault, cure = "prescribes what joints fix already", "remove it, or free the motion"
    if len(blamed) > 1:
        fault = "drive against each other: they prescribe the same motion"
        cure = "remove one of them, or put a spring between"
    raise ModelError(
        f"model '{model.name}': {' and '.join(blamed)} {fault}{coupled}{when}; {cure}", about=names
    )


def _first_conflict(
    G: Floats, not_driven: NDArray[np.bool_], driven: Sequence[Driven], frames: Ints, size: float
) -> float | None:
    """Return the first time (s) at which the motion of driven frames (d,) violates redundant constraints; None if there is none.

    G (m, 6 n): constraint gradients, those with respect to rotations divided by `size` (m). `not_driven` (6 n,): True for columns
    of frames that are not driven.
    """
    lengths = np.linalg.norm(G[:, not_driven], axis=1)
    used = lengths > 0.0
    unit = G[used] / lengths[used, None]
    U, sizes, _ = np.linalg.svd(unit[:, not_driven])
    rank = int((sizes > RANK_TOLERANCE).sum())
    null = [U[:, rank:].T @ unit]  # (k, 6 n) rows that are zero except in columns of driven frames
    if not used.all():  # constraints between driven frames and the ground alone
        null.append(G[~used] / np.maximum(np.linalg.norm(G[~used], axis=1), 1e-300)[:, None])
    columns = 6 * frames[:, None] + np.arange(6)
    rows = np.concatenate(null)[:, columns]  # (k, d, 6)
    for t in _comparison_times(driven):
        w = np.zeros((len(driven), 6))
        try:
            for k, part in enumerate(driven):
                _, quat, v, Omega = (x[0] for x in part.motion(np.array([t])))
                w[k] = [*v, *(size * quaternions.rotate(quat, Omega))]
        except (ModelError, ValueError, ArithmeticError):  # a function that is not defined at all times
            continue
        terms = np.abs(rows * w).sum(axis=(1, 2))
        if np.any(np.abs((rows * w).sum(axis=(1, 2))) > RATE_TOLERANCE * np.maximum(terms, np.abs(w).max())):
            return float(t)
    return None


def _comparison_times(driven: Sequence[Driven]) -> Floats:
    """Return times (k,), s, at which motions are compared with constraints: t = 0, corners, just beside them, and others.

    The other times are spaced evenly on a logarithmic scale up to beyond the last corner; without corners from FIRST to
    1.3 LAST.
    """
    corners = np.array(sorted({t for part in driven for t in part.motion.knots if t > 0.0}))
    last = corners[-1] if len(corners) else LAST_TIME
    least = FIRST_TIME * (last if len(corners) else 1.0)
    spaced = np.geomspace(least, 1.3 * last, N_SPACED_TIMES)
    distance = CORNER_OFFSET * np.diff([0.0, *corners]).min() if len(corners) else FIRST_TIME
    near = np.concatenate([[0.0], corners])[:, None] + distance * np.array([-1.0, 0.0, 1.0])
    return np.unique(np.maximum(0.0, np.concatenate([near.ravel(), spaced])))


def _count_dependent_rows(rows: Floats) -> int:
    """Return how many rows are linearly dependent on the others."""
    size = np.linalg.norm(rows, axis=1)
    rows = rows / np.where(size > 0.0, size, 1.0)[:, None]
    return len(rows) - int((np.linalg.svd(rows, compute_uv=False) > RANK_TOLERANCE).sum())
