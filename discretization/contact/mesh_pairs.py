"""Find corners and ridges of meshes near other meshes, their corners and their ridges.

Corners and ridges do not move in the axes of their mesh. A k-d tree in these axes, which is built once, finds those that reach
into the box around the other surface; only these are transformed to space.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded on first use

from discretization.contact.closest_points import distances
from discretization.contact.mesh_search import from_triangles, near_triangles, triangles_of
from discretization.contact.table import (
    CORNERS,
    MESH,
    OF_MESHES,
    RIDGES,
    Contacts,
    box_around,
    from_frame,
    in_frame,
)
from rigid.system import Floats, Ints

MAX_CACHED_MESHES = 32  # number of surfaces whose trees are cached


class _Parts(NamedTuple):
    """Corners or ridges of one mesh, in the axes of its frame."""

    ends: Floats  # (f, 2, 3) both ends, m; twice the same for a corner
    tree: Any  # k-d tree of their middles
    half: float  # half length of the longest, m
    box: Floats  # (8, 3) corners of their bounding box, m


_cached: OrderedDict[tuple[int, int], tuple[Contacts, _Parts]] = OrderedDict()


def near_mesh_features(
    contacts: Contacts, reach: Floats, points: Floats, skin: float
) -> tuple[Ints, list[Ints]]:
    """Return near pairs of corners or ridges with other surfaces, and the near triangles of each pair.

    Rows (c, 6): pair, side and points as in `discretization.contact.neighbour_search.Candidates`. reach (p,): search distance
    of each pair, m; points (k, 3): tracked points.
    """
    rows, faces = [np.zeros((0, 6), np.int64)], []
    kinds = contacts.kind[contacts.pairs].reshape(-1, 2)
    for k in np.flatnonzero(np.isin(kinds, OF_MESHES).any(axis=1)).tolist():
        within = float(reach[k]) + skin
        side = 1 if kinds[k, 0] == MESH else 0
        one, other = contacts.pairs[k, [side, 1 - side]].tolist()
        if kinds[k, 1 - side] == MESH:
            ends, near = _at_triangles(contacts, one, other, points, within)
        else:
            find = _corners_at_corners if kinds[k, 0] == CORNERS else _ridges_at_ridges
            ends = find(contacts, one, other, points, within)
            near = [np.zeros(0, np.int64)] * len(ends)
        rows.append(np.column_stack([np.full((len(ends), 2), (k, side)), ends]))
        faces += near
    return np.concatenate(rows), faces


def depth_of_ridges(contacts: Contacts, ridges: int, mesh: int, points: Floats, rho: float) -> float:
    """Return the penetration depth, m: rho minus the smallest distance of ridges from the triangles of a mesh, at least 0."""
    positions = _near_box(contacts, ridges, mesh, points, rho)[1]
    parts = np.ascontiguousarray(in_frame(contacts, mesh, points, positions))
    trees, least = triangles_of(contacts, mesh)[1], rho
    for k, near in near_triangles(trees, parts, rho):
        distance = np.empty(len(near))
        from_triangles(parts[k], np.ascontiguousarray(trees.corners[near]), distance)
        least = min(least, float(distance.min()))
    return rho - least


def _cached_parts(contacts: Contacts, surface: int) -> _Parts:
    """Return the corners or ridges of a surface with their tree, cached for as long as the array of points is the same."""
    key = id(contacts.X), surface  # the cache holds this array
    cached = _cached.pop(key, None)
    if cached is None:
        first, last = contacts.first[surface : surface + 2]
        step = 2 if contacts.kind[surface] == RIDGES else 1
        ends = contacts.X[first:last].reshape(-1, step, 3)[:, [0, step - 1]]
        half = 0.5 * float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max())
        cached = (
            contacts,
            _Parts(ends, scipy.spatial.cKDTree(ends.mean(axis=1)), half, box_around(contacts, surface)),
        )
    _cached[key] = cached
    if len(_cached) > MAX_CACHED_MESHES:
        _cached.popitem(last=False)
    return cached[1]


def _near_box(
    contacts: Contacts, surface: int, other: int, points: Floats, within: float
) -> tuple[Ints, Floats]:
    """Return corners or ridges that reach into the box around another surface: first points (c,), both ends (c, 2, 3)."""
    box = box_around(contacts, other) if contacts.kind[other] == MESH else _cached_parts(contacts, other).box
    corners = in_frame(contacts, surface, points, from_frame(contacts, other, points, box))
    low, high = corners.min(axis=0) - within, corners.max(axis=0) + within
    parts = _cached_parts(contacts, surface)
    far = 0.5 * float(np.linalg.norm(high - low)) + parts.half
    use = np.array(parts.tree.query_ball_point(0.5 * (low + high), far, return_sorted=True), np.int64)
    X = parts.ends[use]
    near = np.all((X.max(axis=1) >= low) & (X.min(axis=1) <= high), axis=1)
    step = 2 if contacts.kind[surface] == RIDGES else 1
    return contacts.first[surface] + step * use[near], from_frame(contacts, surface, points, X[near])


def _at_triangles(
    contacts: Contacts, one: int, mesh: int, points: Floats, within: float
) -> tuple[Ints, list[Ints]]:
    """Return the points (c, 4) of near corners and of the mesh, and the near triangles of each corner."""
    which, positions = _near_box(contacts, one, mesh, points, within)
    parts = np.ascontiguousarray(in_frame(contacts, mesh, points, positions))
    numbers, trees = triangles_of(contacts, mesh)
    near_parts, at = near_triangles(trees, parts, within), contacts.first[mesh]
    corner = which[np.array([k for k, _ in near_parts], np.int64)]
    ends = np.column_stack([corner, corner, np.full((len(near_parts), 2), at)])
    return ends, [numbers[near] for _, near in near_parts]


def _corners_at_corners(contacts: Contacts, one: int, other: int, points: Floats, within: float) -> Ints:
    """Return the points (c, 4) of near corners of two surfaces, each twice."""
    i, a = _near_box(contacts, one, other, points, within)
    k, b = _near_box(contacts, other, one, points, within)
    trees = scipy.spatial.cKDTree(a[:, 0]), scipy.spatial.cKDTree(b[:, 0])
    near = trees[0].sparse_distance_matrix(trees[1], within, output_type="ndarray")
    return np.column_stack([i[near["i"]], i[near["i"]], k[near["j"]], k[near["j"]]])


def _ridges_at_ridges(contacts: Contacts, one: int, other: int, points: Floats, within: float) -> Ints:
    """Return the points (c, 4), both ends of each, of near ridges of two surfaces."""
    i, a = _near_box(contacts, one, other, points, within)
    k, b = _near_box(contacts, other, one, points, within)
    if not len(i) or not len(k):
        return np.zeros((0, 4), np.int64)
    halves = [
        0.5 * np.linalg.norm(ends_of_ridges[:, 1] - ends_of_ridges[:, 0], axis=1) for ends_of_ridges in (a, b)
    ]
    far = halves[0] + halves[1].max() + within
    near = scipy.spatial.cKDTree(b.mean(axis=1)).query_ball_point(a.mean(axis=1), far)
    first = np.repeat(np.arange(len(i)), [len(hits) for hits in near])
    second = np.concatenate([np.zeros(0, np.int64), *near]).astype(np.int64)
    ends, distance = (
        np.column_stack([2 * first, 2 * first + 1, 2 * second, 2 * second + 1]),
        np.empty(len(first)),
    )
    ends[:, 2:] += 2 * len(i)
    distances(np.concatenate([a.reshape(-1, 3), b.reshape(-1, 3)]), ends, distance)
    first, second = i[first[distance < within]], k[second[distance < within]]
    return np.column_stack([first, first + 1, second, second + 1])
