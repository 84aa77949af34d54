"""Forces of contacts of boxes in stored states: for each pair the resultant of all corners, edges and stations.

The resultant is evaluated by the interaction kind of the pair. It is applied at one point of its line of action: the point at
which the plane perpendicular to the line that touches the box cuts the line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.contact.listed_gaps import from_boxes
from discretization.contact.nearest import places
from discretization.interaction_kinds import INTERACTIONS
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.contact.box_points import BOX_ROD, CORE, CORE_OF_ROD, SPHERE_BOX
from rigid.interactions.contact.boxes import BOXES, A, B
from rigid.interactions.kinds import group
from rigid.system import Floats, Ints, State

# for each kind: which frames of a row are those of the kind, in its order; which of these is the box; offset of the numbers
# of the box; offset of the numbers of the other surface
_PARTS = {
    SPHERE_BOX.name: ([0, 2], 1, CORE, CORE - 3),
    BOXES.name: ([0, 2], 1, B, A),
    BOX_ROD.name: ([2, 0, 1], 0, CORE_OF_ROD, -1),
}


class Together(NamedTuple):
    """Resultants of k contact pairs in states (...)."""

    energy: Floats  # (..., k) J
    rate: Floats  # (..., k) W, rate of the energy
    force: Floats  # (..., k, 4, 3) N, on the four frames of each row
    n: Floats  # (..., k, 3) unit normal, pointing away from the partner
    on_line: Floats  # (..., k, 3) m, a point of the line of action
    poses: tuple[Floats, Floats]  # r (..., k, arity, 3) and quat (..., k, arity, 4) of the frames of the kind


def together(kind: int, frames: Ints, numbers: Floats, which: list[int], at: int, state: State) -> Together:
    """Return the resultants of k rows of one kind, with the frames (k, 4) and the numbers (k, :) of the rows.

    `which`: the frames of a row that the kind uses, in its order. `at`: index of the partner in `which`.
    """
    use = frames[:, which]
    own = group(INTERACTIONS[kind], use, numbers)._replace(row=np.arange(len(frames)))
    V = evaluation.values([own], state.r, state.quat)
    f = evaluation.gradients([own], state.r, state.quat)
    r, v = state.r[..., use, :], state.v[..., use, :]
    quat = state.quat[..., use, :]
    omega = quaternions.rotate(quat, state.Omega[..., use, :])
    rate = np.sum(f[..., :3] * v + f[..., 3:] * omega, axis=(-2, -1))
    force = np.zeros((*V.shape, 4, 3))
    force[..., which, :] = -f[..., :3]
    # gradient with respect to the pose of the partner; the moment is about the origin of its frame
    F, moment = f[..., at, :3], f[..., at, 3:]
    Q = np.linalg.norm(F, axis=-1, keepdims=True)
    n = F / np.where(Q > 0.0, Q, 1.0)
    on_line = r[..., at, :] + np.cross(n, moment) / np.where(Q > 0.0, Q, 1.0)
    return Together(V, rate, force, n, on_line, (r, quat))


def of_boxes(kind: int, frames: Ints, numbers: Floats, share: Floats, state: State) -> tuple[Floats, ...]:
    """Evaluate k contact rows with boxes, all of one kind, in states (...).

    Return the energy (..., k), J, its rate (..., k), W, the forces on the frames (..., k, 4, 3), N, the point of application
    (..., k, 3), m, and the gap (..., k), m. `frames` (k, 4): frames of the rows. `share` (k,): part of the sum of the radii
    that lies between the core of the first surface and the contact point.
    """
    which, at, core, other_core = _PARTS[INTERACTIONS[kind].name]
    V, rate, force, n, on_line, (r, quat) = together(kind, frames, numbers, which, at, state)
    rho, on_box = numbers[:, 4], INTERACTIONS[kind] is BOXES
    box = _points(r[..., at, :], quat[..., at, :], numbers, core)
    if INTERACTIONS[kind] is BOX_ROD:
        one = r[..., [1, 2, 2, 2], :]
    else:
        one = _points(r[..., 0, :], quat[..., 0, :], numbers, other_core)
        one = one if on_box else one[..., [0, 0, 0, 0], :]
    sides = box[..., 1:, :] - box[..., :1, :]
    height = np.sum(n * (box[..., 0, :] - on_line), axis=-1) + (1.0 - share) * rho
    height += np.abs(np.sum(sides * n[..., None, :], axis=-1)).sum(axis=-1)
    points = np.ascontiguousarray(np.concatenate([one, box], axis=-2)).reshape(-1, 3)
    last = 1 if INTERACTIONS[kind] is BOX_ROD else 0
    ends = 8 * np.arange(len(points) // 8)[:, None] + (0, last, 4, 4)
    gap = np.empty(len(ends))
    from_boxes(points, ends, np.full((len(ends), 2), (on_box, True)), gap)
    return V, rate, force, on_line + height[..., None] * n, gap.reshape(V.shape) - rho


def of_edges(kind: int, frames: Ints, numbers: Floats, share: Floats, state: State) -> tuple[Floats, ...]:
    """Evaluate k contact rows of two edges as `of_boxes` does for boxes; the force acts between their nearest points."""
    V, rate, force, _, _, (r, quat) = together(kind, frames, numbers, [0, 2], 1, state)
    X = numbers[:, A : A + 12].reshape(-1, 2, 2, 3)
    ends = r[..., None, :] + quaternions.rotate(quat[..., None, :], X)  # (..., k, 2, 2, 3)
    flat = np.ascontiguousarray(ends.reshape(-1, 4, 3))
    found = []
    for own in (flat, np.ascontiguousarray(flat[:, [2, 3, 0, 1]])):
        s = np.empty(len(own))
        places(own, s)
        found.append((1.0 - s[:, None]) * own[:, 0] + s[:, None] * own[:, 1])
    one, other = (own.reshape(*V.shape, 3) for own in found)
    gap = np.linalg.norm(one - other, axis=-1) - numbers[:, 4]
    return V, rate, force, one + share[:, None] * (other - one), gap


def _points(r: Floats, quat: Floats, numbers: Floats, at: int) -> Floats:
    """Return the points (..., k, 4, 3) of a box, m: its centre, and the middles of its sides along its axes.

    `at`: offset of the centre in the numbers of a row. If no half sides follow it (a sphere), all points are the centre.
    """
    X = numbers[:, None, at : at + 3] + np.zeros((4, 1))
    if at + 6 <= numbers.shape[1]:
        X[:, 1:] += numbers[:, None, at + 3 : at + 6] * np.eye(3)
    found: Floats = r[..., None, :] + quaternions.rotate(quat[..., None, :], X)
    return found
