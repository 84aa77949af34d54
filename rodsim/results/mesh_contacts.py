"""Contacts of meshes in stored states, row by row: what all faces, edges and vertices do together, from their kinds.

The force goes through the centre of the sphere, or the point of the chord that divides it as the nodes do, along its direction;
both touch where it is as far from there as the gap says.
"""

from __future__ import annotations

import numpy as np

from discretization.contact.mesh_search import from_triangles
from discretization.interaction_kinds import INTERACTIONS
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.contact.mesh_features import COUNTS
from rigid.interactions.contact.mesh_points import CENTRE, MESH, MESH_OF_ROD, SPHERE_MESH
from rigid.interactions.kinds import group
from rigid.system import Floats, Ints, State


def of_meshes(
    kind: int, frames: Ints, numbers: list[Floats], share: Floats, state: State
) -> tuple[Floats, ...]:
    """Of k rows of a kind, their frames (k, 4), in states (...): energy, rate of the energy, force on these frames
    (..., k, 4, 3), its place, gap.

    share (k,): of the sum of the radii, from the axis of the part to where both touch.
    """
    each = [
        _of_row(kind, own, X, part, state)
        for own, X, part in zip(frames, numbers, share.tolist(), strict=True)
    ]
    axes = (-1, -1, -3, -2, -1)
    return tuple(np.stack(column, axis=at) for column, at in zip(zip(*each, strict=True), axes, strict=True))


def _of_row(kind: int, frames: Ints, X: Floats, share: float, state: State) -> tuple[Floats, ...]:
    of_sphere = INTERACTIONS[kind] is SPHERE_MESH
    which, at = ([0, 2], MESH) if of_sphere else ([2, 0, 1], MESH_OF_ROD)
    use = frames[which]
    own = group(INTERACTIONS[kind], use[None], X[None])
    V = evaluation.values([own], state.r, state.quat)[..., 0]
    f = evaluation.gradients([own], state.r, state.quat)[..., 0, :, :]
    r, v, quat = (array[..., use, :] for array in (state.r, state.v, state.quat))
    omega = quaternions.rotate(quat, state.Omega[..., use, :])
    rate = np.sum(f[..., :3] * v + f[..., 3:] * omega, axis=(-2, -1))
    force = np.zeros((*V.shape, 4, 3))
    force[..., which, :] = -f[..., :3]
    ends = r[..., 1:, :]
    if of_sphere:
        ends = (r[..., 0, :] + quaternions.rotate(quat[..., 0, :], X[CENTRE : CENTRE + 3]))[..., None, :]
        ends = np.concatenate([ends, ends], axis=-2)
    total = force[..., :2, :].sum(axis=-2)
    Q = np.linalg.norm(total, axis=-1, keepdims=True)
    n = total / np.where(Q > 0.0, Q, 1.0)
    second = np.sum(force[..., 1, :] * n, axis=-1, keepdims=True) / np.where(Q > 0.0, Q, 1.0)
    middle = (1.0 - second) * ends[..., 0, :] + second * ends[..., 1, :]
    mesh = 1 if of_sphere else 0
    turn = quaternions.conjugate(quat[..., mesh, :])[..., None, :]
    local = quaternions.rotate(turn, ends - r[..., mesh, None, :]).reshape(-1, 2, 3)
    corners = _corners(X, at)
    least, apart = np.empty(len(local)), np.empty(len(corners))
    for k, part in enumerate(local):
        from_triangles(np.ascontiguousarray(part), corners, apart)
        least[k] = apart.min()
    gap = least.reshape(V.shape) - X[4]
    return V, rate, force, middle - share * (gap + X[4])[..., None] * n, gap


def _corners(X: Floats, at: int) -> Floats:
    """(t, 3, 3) of the triangles among the numbers."""
    v, t = X[at : at + 2].astype(int)
    first = at + COUNTS
    vertices = X[first : first + 3 * v].reshape(-1, 3)
    return np.ascontiguousarray(vertices[X[first + 3 * v : first + 3 * (v + t)].astype(int).reshape(-1, 3)])
