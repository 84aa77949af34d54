"""Find the triangles of meshes near other parts, and build the numbers of these triangles for an interaction.

The middles of triangles are stored in k-d trees in the axes of their mesh, one for triangles of about one size. The trees are
built once; a search queries them for each part. No Python loop runs over triangles.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded on first use

from discretization.contact.table import MESH, OF_MESHES, Contacts, in_frame
from rigid.compilation.decorators import inline_kernel, kernel
from rigid.interactions.contact.mesh_features import COUNTS, OF_EDGE
from rigid.kinematics.core_pairs import components_in, has_part_of, vertex_position
from rigid.kinematics.cores import counts_of, ends_of_edge, is_faceted, signed_distance
from rigid.kinematics.facets import facet_axes, next_axis
from rigid.kinematics.triangles import segment_from_triangle
from rigid.linear_algebra import dot, load3, minus, real, times
from rigid.system import Floats, Ints

MAX_CACHED_MESHES = 8  # number of meshes whose trees are cached
MAX_CACHED_PARAMETERS = 4096  # number of sets of triangles whose numbers are cached
FLAT = 1e-6  # threshold of (1) of `mesh_hulls`: below it triangles are in one plane
LEAST = 64  # smallest block of mesh numbers; sizes are powers of two, so that there are few different ones


class TriangleTrees(NamedTuple):
    """k-d trees of the triangles of one mesh."""

    corners: Floats  # (t, 3, 3) vertices of each triangle, axes of the mesh, m
    trees: list[Any]  # k-d trees of the middles
    triangles: list[Ints]  # triangles in each tree
    half: list[float]  # largest distance from the middle of a triangle to its vertices, for each tree, m


_numbers: OrderedDict[tuple[int, int, bytes], tuple[Contacts, Floats]] = OrderedDict()
_cached: OrderedDict[tuple[int, int], tuple[Contacts, Ints, TriangleTrees]] = OrderedDict()


def build_triangle_trees(corners: Floats) -> TriangleTrees:
    """Return the trees of triangles (t, 3, 3)."""
    middle = corners.mean(axis=1)
    half = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
    size = np.ceil(np.log2(np.maximum(half, 1e-300)))
    classes = [np.flatnonzero(size == k) for k in np.unique(size)]
    trees = [scipy.spatial.cKDTree(middle[use]) for use in classes]
    return TriangleTrees(corners, trees, classes, [float(half[use].max()) for use in classes])


def triangles_of(contacts: Contacts, mesh: int) -> tuple[Ints, TriangleTrees]:
    """Return the numbers of the triangles of a mesh, and their trees.

    The result is cached for as long as the array of triangles is the same object.
    """
    key = id(contacts.vertices), mesh  # the cache holds these arrays
    cached = _cached.pop(key, None)
    if cached is None or cached[0].triangles is not contacts.triangles:
        use = np.flatnonzero(contacts.meshed == mesh)
        cached = contacts, use, build_triangle_trees(contacts.vertices[contacts.triangles[use]])
    _cached[key] = cached
    if len(_cached) > MAX_CACHED_MESHES:
        _cached.popitem(last=False)
    return cached[1:]


def near_meshes(
    contacts: Contacts, surface: Ints, ends: Ints, reach: Floats, points: Floats, skin: float
) -> tuple[Ints, list[Ints]]:
    """Return pairs of parts and meshes near each other, and the near triangles of each pair.

    Rows (c, 6): pair, side and points as in `discretization.contact.neighbour_search.Candidates`. surface (f,), ends (f, 2): of
    all parts; reach (p,): search distance of each pair, m.
    """
    rows, faces = [np.zeros((0, 6), np.int64)], []
    kinds = contacts.kind[contacts.pairs].reshape(-1, 2)
    count = len(contacts.frames)
    joined = np.sort(contacts.apart, axis=1) @ (count, 1)
    for k in np.flatnonzero((kinds == MESH).any(axis=1) & ~np.isin(kinds, OF_MESHES).any(axis=1)).tolist():
        side = 1 if kinds[k, 0] == MESH else 0
        one, mesh = contacts.pairs[k, [side, 1 - side]].tolist()
        parts = np.flatnonzero(surface == one)
        at = contacts.first[mesh]
        pair_keys = np.sort(np.stack([ends[parts, 0], np.full(len(parts), at)], axis=1), axis=1) @ (count, 1)
        parts = parts[~np.isin(pair_keys, joined)]
        numbers, trees = triangles_of(contacts, mesh)
        parts_in_frame = np.ascontiguousarray(in_frame(contacts, mesh, points, points[ends[parts]]))
        for i, near in near_triangles(trees, parts_in_frame, float(reach[k]) + skin):
            a, b = ends[parts[i]]
            rows.append(np.array([[k, side, a, b, at, at]]))
            faces.append(numbers[near])
    return np.concatenate(rows), faces


def near_triangles(trees: TriangleTrees, parts: Floats, within: float) -> list[tuple[int, Ints]]:
    """Return each part of `parts` (f, 2, 3) that is near a triangle, with its near triangles."""
    middle, half = parts.mean(axis=1), 0.5 * np.linalg.norm(parts[:, 1] - parts[:, 0], axis=1)
    candidates = [[np.zeros(0, np.int64)] for _ in parts]
    for tree, triangles, most in zip(trees.trees, trees.triangles, trees.half, strict=True):
        for k, near in enumerate(tree.query_ball_point(middle, half + most + within)):
            if near:
                candidates[k].append(triangles[near])
    near_parts = []
    for k, hits in enumerate(candidates):
        if len(hits) == 1:
            continue
        near = np.sort(np.concatenate(hits))
        distance = np.empty(len(near))
        from_triangles(parts[k], np.ascontiguousarray(trees.corners[near]), distance)
        near = near[distance < within]
        if len(near):
            near_parts.append((k, near))
    return near_parts


def least_distance(trees: TriangleTrees, parts: Floats, radius: Floats) -> float:
    """Return the smallest distance, m, of segments (f, 2, 3) from triangles, less the radius of the segment (f,)."""
    middle = parts.mean(axis=1)
    half = 0.5 * np.linalg.norm(parts[:, 1] - parts[:, 0], axis=1)
    upper_bound = np.min(
        [tree.query(middle)[0] for tree in trees.trees], axis=0
    )  # upper bound: a middle is a point of a triangle
    least = np.inf
    for k in np.argsort(upper_bound - radius):
        if upper_bound[k] - half[k] - max(trees.half) - radius[k] >= least:
            continue
        ((_, near),) = near_triangles(trees, parts[k : k + 1], float(upper_bound[k]) * (1.0 + 1e-9) + 1e-300)
        distance = np.empty(len(near))
        from_triangles(np.ascontiguousarray(parts[k]), np.ascontiguousarray(trees.corners[near]), distance)
        least = min(least, float(distance.min()) - radius[k])
    return float(least)


@kernel
def from_triangles(part, corners, out):
    """Write the distances of the segment between two points from triangles (t, 3, 3) to `out` (t,)."""
    a, b = load3(part[0]), load3(part[1])
    for k in range(out.shape[0]):
        out[k] = segment_from_triangle(a, b, load3(corners[k, 0]), load3(corners[k, 1]), load3(corners[k, 2]))


@kernel
def core_from_triangles(points, X, corners, out):
    """Write the distances of a core with faces from triangles (t, 3, 3) to `out` (t,).

    A distance is negative if a vertex is inside the core (its depth), and 0 if the core is cut. points (4, 3): middle of the
    core, and three points along its axes; X: its block.
    """
    c = load3(points[0])
    a, b, e = minus(load3(points[1]), c), minus(load3(points[2]), c), minus(load3(points[3]), c)
    axes = _unit(a), _unit(b), _unit(e)
    if is_faceted(X, 0):
        w = axes[2][0] + 0j, axes[2][1] + 0j, axes[2][2] + 0j
        u, v, _ = facet_axes(w, next_axis(w), 0.0)
        axes = real(u), real(v), axes[2]
    for t in range(out.shape[0]):
        p, q, r = load3(corners[t, 0]), load3(corners[t, 1]), load3(corners[t, 2])
        u, v, w = (
            components_in(axes, minus(p, c)),
            components_in(axes, minus(q, c)),
            components_in(axes, minus(r, c)),
        )
        least = min(signed_distance(u, X, 0), signed_distance(v, X, 0), signed_distance(w, X, 0))
        if least > 0.0 and (has_part_of(u, v, X, 0) or has_part_of(v, w, X, 0) or has_part_of(w, u, X, 0)):
            least = 0.0
        for k in range(counts_of(X, 0)[1]):
            i, j = ends_of_edge(X, 0, k)
            x, y = vertex_position((c, axes), X, 0, i), vertex_position((c, axes), X, 0, j)
            if least > 0.0:
                least = min(least, segment_from_triangle(x, y, p, q, r))
        out[t] = least


@inline_kernel
def _unit(a):
    """Return the unit vector along a."""
    return times(1.0 / dot(a, a) ** 0.5, a)


def triangle_parameters(contacts: Contacts, faces: Ints) -> Floats:
    """Return the numbers of triangles as `rigid.interactions.contact.mesh_features` reads them, padded with zeros.

    They are cached: the next list has most of the same sets, and loss interactions use those of the energies.
    """
    key = id(contacts.vertices), id(contacts.triangles), faces.tobytes()  # the cache holds these arrays
    cached = _numbers.pop(key, None)
    if cached is None:
        cached = contacts, _numbers_of(contacts, faces)
        cached[1].flags.writeable = False
    _numbers[key] = cached
    if len(_numbers) > MAX_CACHED_PARAMETERS:
        _numbers.popitem(last=False)
    return cached[1]


def _numbers_of(contacts: Contacts, faces: Ints) -> Floats:
    """Uncached part of `triangle_parameters`: counts, vertices, triangles, edges with two triangles each, stars of vertices."""
    vertices, corners = np.unique(contacts.triangles[faces], return_inverse=True)
    corners = corners.reshape(-1, 3)
    t, v = len(corners), len(vertices)
    sides = np.stack([corners, np.roll(corners, -1, axis=1), np.roll(corners, -2, axis=1)], axis=2).reshape(
        -1, 3
    )
    key = np.sort(sides[:, :2], axis=1) @ (v, 1)
    order = np.argsort(key, kind="stable")
    _, begin, count = np.unique(key[order], return_index=True, return_counts=True)
    one, two = order[begin], order[begin + count - 1]
    edges = np.concatenate([sides[one], sides[two]], axis=1)
    # stars: for each vertex the edges from it, and the other two corners of its faces
    directed_edges = np.concatenate([edges[:, :2], edges[:, 1::-1]])
    inner = 1.0 - np.tile(count, 2)
    by_edge, by_face = np.argsort(directed_edges[:, 0], kind="stable"), np.argsort(sides[:, 0], kind="stable")
    degree, around = np.bincount(directed_edges[:, 0], minlength=v), np.bincount(sides[:, 0], minlength=v)
    width = 3 + 2 * (degree + around)
    begins = np.concatenate([[0], np.cumsum(width)])
    stars = np.zeros(begins[-1])
    stars[begins[:-1]], stars[begins[:-1] + 1], stars[begins[:-1] + 2] = np.arange(v), degree, around
    place = np.arange(len(by_edge)) - np.repeat(np.cumsum(degree) - degree, degree)
    at = np.repeat(begins[:-1], degree) + 3 + 2 * place
    stars[at], stars[at + 1] = directed_edges[by_edge, 1], inner[by_edge]
    place = np.arange(3 * t) - np.repeat(np.cumsum(around) - around, around)
    at = np.repeat(begins[:-1] + 3 + 2 * degree, around) + 2 * place
    stars[at], stars[at + 1] = sides[by_face, 1], sides[by_face, 2]
    parts = [
        np.array([v, t, len(edges), v], float),
        contacts.vertices[vertices].ravel(),
        corners.ravel(),
        edges.ravel(),
        stars,
    ]
    return _padded(np.concatenate(parts))


def _padded(numbers: Floats) -> Floats:
    """Pad numbers with zeros to LEAST times a power of two."""
    size = LEAST
    while size < len(numbers):
        size *= 2
    return np.pad(numbers, (0, size - len(numbers)))


def with_ridges(numbers: Floats) -> Floats:
    """Return the numbers of triangles preceded by the sharpness of their edges and vertices.

    Sharpness: `rigid.interactions.contact.mesh_hulls` (1).
    """
    v, t, e = numbers[:3].astype(int)
    vertices = numbers[COUNTS : COUNTS + 3 * v].reshape(-1, 3)
    first = COUNTS + 3 * (v + t)
    edges = numbers[first : first + OF_EDGE * e].astype(int).reshape(-1, 2, 3)
    p, q, c = np.moveaxis(vertices[edges], 2, 0)
    along = (q - p) / np.linalg.norm(q - p, axis=-1, keepdims=True)
    out = p - c
    out -= np.sum(out * along, axis=-1, keepdims=True) * along
    out /= np.linalg.norm(out, axis=-1, keepdims=True)
    bent = np.minimum(2.0 * np.linalg.norm(out[:, 0] + out[:, 1], axis=-1), 1.0)
    bent = np.where(edges[:, 0, 2] == edges[:, 1, 2], 1.0, np.where(bent > FLAT, bent, 0.0))
    sharp = np.zeros(v)
    np.maximum.at(sharp, edges[:, 0, :2].ravel(), np.repeat(bent, 2))
    return _padded(np.concatenate([[e + v], bent, sharp, numbers]))
