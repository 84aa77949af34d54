"""Find relative rotations of the ends of elements and bushings that are close to their limit pi, and detect when one is passed.

Rod elements and bushings are defined for relative rotations up to pi: the rotation vector has no continuation there. For
elements between several frames it is the rotation of each frame against the middle one; for a bushing with a free axis, that
of the axis.

Elements check by themselves whether they passed pi in a step. The force of a bushing would reverse without an error, so bushings
are checked after the step is solved (`passed_rotation_limit`): the scalar part of the relative quaternion of their markers
changes its sign there. For a free axis the condition is that a tilt beyond pi/2 changes to the opposite side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.space.bushing import BUSHING, MARKERS
from discretization.space.free_bushing import FREE_BUSHING
from discretization.system import System
from rigid import quaternions
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.kinematics.rotations import load4, relative_half
from rigid.system import Floats, Ints, State


class RelativeRotation(NamedTuple):
    """The largest relative rotation in a table of a system."""

    table: str  # "elements", "spans" or "others"
    row: int
    angle: float  # rad, up to pi
    frames: tuple[int, int]


def largest_relative_rotations(system: System, state: State) -> list[RelativeRotation]:
    """Return the largest relative rotation of each table with limited rotations, in descending order."""
    largest = [_of_elements(system, state), _of_spans(system, state), _of_bushings(system, state)]
    return sorted(
        (rotation for rotation in largest if rotation is not None), key=lambda rotation: -rotation.angle
    )


def angles_between(a: Floats, b: Floats) -> Floats:
    """Return the angles (k,), rad, from 0 to pi, of the rotations between orientations (k, 4)."""
    between = quaternions.multiply(quaternions.conjugate(a), b)
    angle: Floats = 2.0 * np.arctan2(np.linalg.norm(between[..., 1:], axis=-1), np.abs(between[..., 0]))
    return angle


def _of_elements(system: System, state: State) -> RelativeRotation | None:
    """Return the largest relative rotation of two-frame elements."""
    frames = system.elements.frames
    if not len(frames):
        return None
    angle = angles_between(state.quat[frames[:, 0]], state.quat[frames[:, 1]])
    k = int(np.argmax(angle))
    return RelativeRotation("elements", k, float(angle[k]), (int(frames[k, 0]), int(frames[k, 1])))


def _of_spans(system: System, state: State) -> RelativeRotation | None:
    """Return the largest rotation of a frame of a span against its middle frame."""
    frames, order = system.spans.frames, system.spans.order
    if not len(order):
        return None
    middle = frames[np.arange(len(order)), order // 2]
    exists = np.arange(frames.shape[1]) <= order[:, None]
    span_frames = np.where(exists, frames, middle[:, None])
    angle = angles_between(state.quat[middle][:, None], state.quat[span_frames])
    k, j = np.unravel_index(np.argmax(angle), angle.shape)
    return RelativeRotation("spans", int(k), float(angle[k, j]), (int(middle[k]), int(span_frames[k, j])))


def _of_bushings(system: System, state: State) -> RelativeRotation | None:
    """Return the largest relative rotation of bushings."""
    rotations, bushings = [], rotation_work(system)
    for e, frames, markers, free in zip(
        bushings.row.tolist(), bushings.frames, bushings.markers, bushings.free, strict=True
    ):
        orientations = quaternions.multiply(state.quat[frames], markers)
        if free:
            one, other = quaternions.rotate(orientations, np.array([1.0, 0.0, 0.0]))
            angle = float(np.arctan2(np.linalg.norm(np.cross(one, other)), one @ other))
        else:
            angle = float(angles_between(*orientations))
        rotations.append(RelativeRotation("others", e, angle, (int(frames[0]), int(frames[1]))))
    return max(rotations, key=lambda rotation: rotation.angle, default=None)


class RotationWork(NamedTuple):
    """Bushings with limited rotations, for compiled code."""

    row: Ints  # (k,) indices in `System.others`
    frames: Ints  # (k, 2)
    markers: Floats  # (k, 2, 4) orientations of the markers on their frames
    free: np.ndarray  # (k,) uint8: 1 if rotation about the first axis is free


def rotation_work(system: Any) -> RotationWork:
    """Return the bushings of a system with limited rotations; free bushings without stiffness against tilt are omitted."""
    table = system.others
    if not len(table.kind):
        return _NONE
    heads = table.first[:-1]
    free = table.kind == INTERACTIONS.index(FREE_BUSHING)
    use = np.flatnonzero((table.kind == INTERACTIONS.index(BUSHING)) | free)
    use = use[~free[use] | (table.numbers[heads[use] + MARKERS] != 0.0)]
    if not len(use):
        return _NONE
    axes = table.numbers[heads[use][:, None] + np.arange(MARKERS)].reshape(-1, 2, 12)[:, :, 3:]
    markers = quaternions.from_matrix(axes.reshape(-1, 2, 3, 3))
    return RotationWork(use, np.ascontiguousarray(table.frames[use, :2]), markers, free[use].astype(np.uint8))


_NONE = RotationWork(
    np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, 2, 4)), np.zeros(0, np.uint8)
)


@inline_kernel
def _between(p, q, m, n):
    """Return m* o p* o q o n: the rotation from marker m on p to marker n on q."""
    w, x, y, z = relative_half(p, q)
    return relative_half(m, relative_half((w, -x, -y, -z), n))


@inline_kernel
def _tilt(half):
    """Return a_1 . b_1, and the components of b_1 across a_1."""
    w, x, y, z = half
    return w * w + x * x - y * y - z * z, 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)


@internal_kernel
def passed_rotation_limit(state, work):
    """Return whether a bushing passed pi between the state and the orientations `work.q1`."""
    bushings = work.turns
    for e in range(bushings.frames.shape[0]):
        a, b = bushings.frames[e, 0], bushings.frames[e, 1]
        m, n = load4(bushings.markers[e, 0]), load4(bushings.markers[e, 1])
        before = _between(load4(state.quat[a]), load4(state.quat[b]), m, n)
        after = _between(load4(work.q1[a]), load4(work.q1[b]), m, n)
        if bushings.free[e] == 0:
            if before[0] * after[0] <= 0.0:
                return True
            continue
        c0, p0, q0 = _tilt(before)
        c1, p1, q1 = _tilt(after)
        if c0 < 0.0 and c1 < 0.0 and p0 * p1 + q0 * q1 < 0.0:
            return True
    return False
