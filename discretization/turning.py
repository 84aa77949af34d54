"""How far the ends of elements and bushings are turned against each other: what of a model is next to where its turns end.

Elements of rods and bushings know a turn up to pi: the rotation vector has no continuation there. Of elements between several
frames it is the turn of each frame against the middle one; of a bushing with a free axis, that of the axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.others import OTHERS
from discretization.space.bushing import BUSHING, MARKERS
from discretization.space.free_bushing import FREE_BUSHING
from discretization.system import System
from rigid import quaternions
from rigid.system import Floats, State


class Turned(NamedTuple):
    """The largest turn in a table of a system."""

    table: str  # "elements", "spans" or "others"
    row: int
    angle: float  # rad, up to pi
    frames: tuple[int, int]


def largest_turns(system: System, state: State) -> list[Turned]:
    """Of each table that has turns which end, the largest first."""
    found = [_of_elements(system, state), _of_spans(system, state), _of_bushings(system, state)]
    return sorted((own for own in found if own is not None), key=lambda own: -own.angle)


def angles_between(a: Floats, b: Floats) -> Floats:
    """Angles (k,), rad, from 0 to pi, of the turns between orientations (k, 4)."""
    between = quaternions.multiply(quaternions.conjugate(a), b)
    angle: Floats = 2.0 * np.arctan2(np.linalg.norm(between[..., 1:], axis=-1), np.abs(between[..., 0]))
    return angle


def _of_elements(system: System, state: State) -> Turned | None:
    frames = system.elements.frames
    if not len(frames):
        return None
    angle = angles_between(state.quat[frames[:, 0]], state.quat[frames[:, 1]])
    k = int(np.argmax(angle))
    return Turned("elements", k, float(angle[k]), (int(frames[k, 0]), int(frames[k, 1])))


def _of_spans(system: System, state: State) -> Turned | None:
    frames, order = system.spans.frames, system.spans.order
    if not len(order):
        return None
    middle = frames[np.arange(len(order)), order // 2]
    known = np.arange(frames.shape[1]) <= order[:, None]
    others = np.where(known, frames, middle[:, None])
    angle = angles_between(state.quat[middle][:, None], state.quat[others])
    k, j = np.unravel_index(np.argmax(angle), angle.shape)
    return Turned("spans", int(k), float(angle[k, j]), (int(middle[k]), int(others[k, j])))


def _of_bushings(system: System, state: State) -> Turned | None:
    own, found = system.others, []
    for e in np.flatnonzero(np.isin(own.kind, [OTHERS.index(BUSHING), OTHERS.index(FREE_BUSHING)])).tolist():
        X, frames = own.numbers[own.first[e] :], own.frames[e, :2]
        turns = quaternions.to_matrix(state.quat[frames]) @ X[:MARKERS].reshape(2, 12)[:, 3:].reshape(2, 3, 3)
        if own.kind[e] == OTHERS.index(FREE_BUSHING):
            if X[MARKERS] == 0.0:  # no tilt is resisted, and none is known
                continue
            one, other = turns[:, :, 0]
            angle = np.arctan2(np.linalg.norm(np.cross(one, other)), one @ other)
        else:
            R = turns[0].T @ turns[1]
            axial = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
            angle = np.arctan2(np.linalg.norm(axial), np.trace(R) - 1.0)
        found.append(Turned("others", e, float(angle), (int(frames[0]), int(frames[1]))))
    return max(found, key=lambda turned: turned.angle, default=None)
