"""Which corners and ridges of meshes are near other meshes, their corners and their ridges.

What is far from the other one is left out by boxes around it, before any tree is asked.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when they are asked for

from discretization.contact.mesh_search import from_triangles, in_mesh, near_triangles, triangles_of
from discretization.contact.nearest import distances
from discretization.contact.table import CORNERS, MESH, OF_MESHES, RIDGES, SPANNED, Contacts, completed
from rigid.system import Floats, Ints


def meshes_at_meshes(
    contacts: Contacts, reach: Floats, points: Floats, skin: float
) -> tuple[Ints, list[Ints]]:
    """Rows (c, 6): pair, side and points as `discretization.contact.search.Candidates` has them, and the triangles of each.

    reach (p,) m: of pairs; points (k, 3): those that are tracked.
    """
    rows, faces = [np.zeros((0, 6), np.int64)], []
    kinds = contacts.kind[contacts.pairs].reshape(-1, 2)
    use = np.flatnonzero(np.isin(kinds, OF_MESHES).any(axis=1)).tolist()
    every = completed(contacts, points) if use else points
    for k in use:
        within = float(reach[k]) + skin
        side = 1 if kinds[k, 0] == MESH else 0
        one, other = contacts.pairs[k, [side, 1 - side]].tolist()
        if kinds[k, 1 - side] == MESH:
            ends, near = _at_triangles(contacts, one, other, every, within)
        else:
            find = _corners_at_corners if kinds[k, 0] == CORNERS else _ridges_at_ridges
            ends = find(contacts, one, other, every, within)
            near = [np.zeros(0, np.int64)] * len(ends)
        rows.append(np.column_stack([np.full((len(ends), 2), (k, side)), ends]))
        faces += near
    return np.concatenate(rows), faces


def depth_of_ridges(contacts: Contacts, ridges: int, mesh: int, points: Floats, rho: float) -> float:
    """m, by how much the least distance of ridges from the triangles of a mesh is below rho; 0 where none is.

    points (k, 3): all of them.
    """
    parts = _in_box(contacts, ridges, mesh, points, rho)[1]
    trees, least = triangles_of(contacts, mesh)[1], rho
    for k, near in near_triangles(trees, parts, rho):
        apart = np.empty(len(near))
        from_triangles(parts[k], np.ascontiguousarray(trees.corners[near]), apart)
        least = min(least, float(apart.min()))
    return rho - least


def _in_box(contacts: Contacts, one: int, mesh: int, points: Floats, within: float) -> tuple[Ints, Floats]:
    """First points (c,) of corners or ridges that reach into the box around a mesh, and both ends (c, 2, 3) in its axes."""
    first, last = contacts.first[one : one + 2]
    at, step = contacts.first[mesh], 2 if contacts.kind[one] == RIDGES else 1
    own = in_mesh(contacts, mesh, points, points[first:last]).reshape(-1, step, 3)
    sides = np.diagonal(contacts.X[at + 1 : at + 4] - contacts.X[at]) / SPANNED
    low, high = contacts.X[at] - within, contacts.X[at] + sides + within
    use = np.flatnonzero(np.all((low <= own.max(axis=1)) & (own.min(axis=1) <= high), axis=1))
    return first + step * use, np.ascontiguousarray(own[use][:, [0, step - 1]])


def _at_triangles(
    contacts: Contacts, one: int, mesh: int, points: Floats, within: float
) -> tuple[Ints, list[Ints]]:
    """Of corners: their points and that of the mesh (c, 4), and the triangles that are near."""
    which, parts = _in_box(contacts, one, mesh, points, within)
    numbers, trees = triangles_of(contacts, mesh)
    found, at = near_triangles(trees, parts, within), contacts.first[mesh]
    corner = which[np.array([k for k, _ in found], np.int64)]
    ends = np.column_stack([corner, corner, np.full((len(found), 2), at)])
    return ends, [numbers[near] for _, near in found]


def _corners_at_corners(contacts: Contacts, one: int, other: int, points: Floats, within: float) -> Ints:
    """(c, 4) points, each twice."""
    i, k = _both(contacts, one, other, points, within)
    trees = scipy.spatial.cKDTree(points[i]), scipy.spatial.cKDTree(points[k])
    found = trees[0].sparse_distance_matrix(trees[1], within, output_type="ndarray")
    return np.column_stack([i[found["i"]], i[found["i"]], k[found["j"]], k[found["j"]]])


def _both(contacts: Contacts, one: int, other: int, points: Floats, within: float) -> tuple[Ints, Ints]:
    """First points of parts of two surfaces that are in the box around the other one."""
    found = []
    spans = [points[slice(*contacts.first[own : own + 2])] for own in (one, other)]
    for k, own in enumerate((one, other)):
        step = 2 if contacts.kind[own] == RIDGES else 1
        parts = spans[k].reshape(-1, step, 3)
        low, high = spans[1 - k].min(axis=0) - within, spans[1 - k].max(axis=0) + within
        near = np.all((parts.max(axis=1) >= low) & (parts.min(axis=1) <= high), axis=1)
        found.append(contacts.first[own] + step * np.flatnonzero(near))
    return found[0], found[1]


def _ridges_at_ridges(contacts: Contacts, one: int, other: int, points: Floats, within: float) -> Ints:
    """(c, 4) points, both ends of each."""
    i, k = _both(contacts, one, other, points, within)
    if not len(i) or not len(k):
        return np.zeros((0, 4), np.int64)
    middles = [0.5 * (points[own] + points[own + 1]) for own in (i, k)]
    halves = [0.5 * np.linalg.norm(points[own + 1] - points[own], axis=1) for own in (i, k)]
    near = scipy.spatial.cKDTree(middles[1]).query_ball_point(
        middles[0], halves[0] + halves[1].max() + within
    )
    a = np.repeat(i, [len(own) for own in near])
    b = k[np.concatenate([np.zeros(0, np.int64), *near]).astype(np.int64)]
    ends, apart = np.column_stack([a, a + 1, b, b + 1]), np.empty(len(a))
    distances(points, ends, apart)
    return ends[apart < within]
