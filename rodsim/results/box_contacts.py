"""Contacts of boxes in stored states, pair by pair: what all their corners and edges do together, from their kinds.

The force goes through one point of its line of action: where the plane across it, that touches the partner, cuts that line.
"""

from __future__ import annotations

import numpy as np

from discretization.contact.listed_gaps import from_boxes
from discretization.others import OTHERS
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.contact.boxes import BOXES
from rigid.interactions.kinds import group
from rigid.system import Floats, Ints, State

NUMBERS = 17  # the most of a kind of boxes


def of_boxes(kind: int, frames: Ints, numbers: Floats, share: Floats, state: State) -> tuple[Floats, ...]:
    """Of k pairs of a kind, their frames (k, 2), in states (...): energy, rate of the energy, force on the first, its place, gap.

    share (k,): of the sum of the radii, from the core of the first to where both touch.
    """
    own = group(OTHERS[kind], frames, numbers)._replace(row=np.arange(len(frames)))
    V = evaluation.values([own], state.r, state.quat)
    f = evaluation.gradients([own], state.r, state.quat)
    r, v = state.r[..., frames, :], state.v[..., frames, :]
    quat = state.quat[..., frames, :]
    omega = quaternions.rotate(quat, state.Omega[..., frames, :])
    rate = np.sum(f[..., :3] * v + f[..., 3:] * omega, axis=(-2, -1))
    force, moment = -f[..., 0, :3], -f[..., 0, 3:]
    Q = np.linalg.norm(force, axis=-1, keepdims=True)
    n = force / np.where(Q > 0.0, Q, 1.0)
    on_line = r[..., 0, :] + np.cross(n, moment) / np.where(Q > 0.0, Q, 1.0)
    solid, rho = OTHERS[kind] is BOXES, numbers[:, 4]
    at = (5, 11) if solid else (5, 8)
    one, other = (_points(r[..., k, :], quat[..., k, :], numbers, at[k]) for k in range(2))
    if not solid:
        one = one[..., [0, 0, 0, 0], :]
    sides = other[..., 1:, :] - other[..., :1, :]
    height = np.sum(n * (other[..., 0, :] - on_line), axis=-1) + (1.0 - share) * rho
    height += np.abs(np.sum(sides * n[..., None, :], axis=-1)).sum(axis=-1)
    points = np.ascontiguousarray(np.concatenate([one, other], axis=-2)).reshape(-1, 3)
    ends = 8 * np.arange(len(points) // 8)[:, None] + (0, 0, 4, 4)
    gap = np.empty(len(ends))
    from_boxes(points, ends, np.full((len(ends), 2), (solid, True)), gap)
    return V, rate, force, on_line + height[..., None] * n, gap.reshape(V.shape) - rho


def _points(r: Floats, quat: Floats, numbers: Floats, at: int) -> Floats:
    """(..., k, 4, 3) of a box: its centre, and the middles of its sides along its axes."""
    X = numbers[:, None, at : at + 3] + np.zeros((4, 1))
    if at + 6 <= numbers.shape[1]:
        X[:, 1:] += numbers[:, None, at + 3 : at + 6] * np.eye(3)
    found: Floats = r[..., None, :] + quaternions.rotate(quat[..., None, :], X)
    return found
