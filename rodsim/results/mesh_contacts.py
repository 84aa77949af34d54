"""Evaluate contacts of meshes at stored states, row by row: the resultant of all faces, edges and vertices, from their kinds.

The line of action passes through the centre of the sphere or, for a rod element, through the point that divides the chord in the
ratio of the nodal forces; it has the direction of the force. The gap gives the distance of the contact point from there.
"""

from __future__ import annotations

import numpy as np

from discretization.contact.mesh_search import core_from_triangles, from_triangles
from discretization.interaction_kinds import INTERACTIONS
from rigid import quaternions
from rigid.interactions.contact.hulls import A
from rigid.interactions.contact.mesh_features import COUNTS
from rigid.interactions.contact.mesh_hulls import MESH_HULL
from rigid.interactions.contact.mesh_points import CENTRE, MESH, MESH_OF_ROD, SPHERE_MESH
from rigid.interactions.contact.round_hulls import MESH_ROUND
from rigid.kinematics import cores
from rigid.system import Floats, Ints, State
from rodsim.results.box_contacts import Together, together
from rodsim.results.core_contacts import extent, seen


def of_meshes(
    kind: int, frames: Ints, numbers: list[Floats], share: Floats, state: State
) -> tuple[Floats, ...]:
    """Evaluate k rows of a kind at states (...).

    Return energy (..., k), rate of the energy (..., k), force on the frames (..., k, 4, 3), contact point (..., k, 3), and gap
    (..., k). `frames`: (k, 4) frames of the rows. `numbers`: parameters of each row. `share`: (k,) distance from the axis of the
    part to the contact point, as a part of the sum of the radii.
    """
    each = [
        _of_row(kind, own, X, part, state)
        for own, X, part in zip(frames, numbers, share.tolist(), strict=True)
    ]
    axes = (-1, -1, -3, -2, -1)
    return tuple(np.stack(column, axis=at) for column, at in zip(zip(*each, strict=True), axes, strict=True))


def _of_row(kind: int, frames: Ints, X: Floats, share: float, state: State) -> tuple[Floats, ...]:
    """Return energy, rate of the energy, force, contact point and gap of one row, see `of_meshes`."""
    if INTERACTIONS[kind] in (MESH_HULL, MESH_ROUND):
        return _of_hull(kind, frames, X, share, state)
    of_sphere = INTERACTIONS[kind] is SPHERE_MESH
    which, at = ([0, 2], MESH) if of_sphere else ([2, 0, 1], MESH_OF_ROD)
    V, rate, force, _, _, (r, quat) = _alone(kind, frames, X, which, 0 if of_sphere else 1, state)
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


def _alone(kind: int, frames: Ints, X: Floats, which: list[int], at: int, state: State) -> Together:
    """Return the result of `rodsim.results.box_contacts.together` for one row, without the axis of rows."""
    found = together(kind, frames[None], X[None], which, at, state)
    r, quat = found.poses
    return Together(
        found.energy[..., 0],
        found.rate[..., 0],
        found.force[..., 0, :, :],
        found.n[..., 0, :],
        found.on_line[..., 0, :],
        (r[..., 0, :, :], quat[..., 0, :, :]),
    )


def _of_hull(kind: int, frames: Ints, X: Floats, share: float, state: State) -> tuple[Floats, ...]:
    """Return energy, rate of the energy, force, contact point and gap of one row of a hull on a mesh, see `of_meshes`.

    The contact point is the point of the line of action that is as high above the mesh as the hull's lowest point, corrected by
    the radius and the gap.
    """
    V, rate, force, n, on_line, (r, quat) = _alone(kind, frames, X, [2, 0], 0, state)
    core = X[A : A + int(X[A + cores.SIZE])]
    middle = core[:3] + np.concatenate([np.zeros((1, 3)), np.eye(3)])
    places = r[..., 1, None, :] + quaternions.rotate(quat[..., 1, None, :], middle)
    lowest = np.sum((places[..., 0, :] - on_line) * n, axis=-1) - extent(core, -seen(n, quat[..., 1, :]))
    turn = quaternions.conjugate(quat[..., 0, :])[..., None, :]
    local = quaternions.rotate(turn, places - r[..., 0, None, :]).reshape(-1, 4, 3)
    corners = _corners(X, mesh_of_hull(X))
    least, apart = np.empty(len(local)), np.empty(len(corners))
    for k, own in enumerate(local):
        core_from_triangles(np.ascontiguousarray(own), core, corners, apart)
        least[k] = apart.min()
    gap = least.reshape(V.shape) - X[4]
    return V, rate, force, on_line + (lowest - share * (gap + X[4]))[..., None] * n, gap


def mesh_of_hull(X: Floats) -> int:
    """Return the index in the parameters X of a hull on a mesh at which the mesh begins."""
    at = A + int(X[A + cores.SIZE])
    return at + 1 + int(X[at])


def _corners(X: Floats, at: int) -> Floats:
    """Return the corners (t, 3, 3) of the triangles of the mesh that begins at index `at` of the parameters X."""
    v, t = X[at : at + 2].astype(int)
    first = at + COUNTS
    vertices = X[first : first + 3 * v].reshape(-1, 3)
    return np.ascontiguousarray(vertices[X[first + 3 * v : first + 3 * (v + t)].astype(int).reshape(-1, 3)])
