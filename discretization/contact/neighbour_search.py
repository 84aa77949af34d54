"""Neighbour search: a list of pairs of near parts of surfaces, which depends only on the points.

Parts are spheres, capsules, middles of cores and segments of rods. Their middles are stored in k-d trees, one for parts of about
one size, so that the search takes about as long as sorting them, however unequal they are. Triangles of meshes are stored in
separate trees, which are built once: `discretization.contact.mesh_search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded on first use
from numpy.typing import NDArray

from discretization.contact.closest_points import distances
from discretization.contact.mesh_pairs import near_mesh_features
from discretization.contact.mesh_search import near_meshes
from discretization.contact.table import (
    BOTH,
    CAPSULE,
    FIRST,
    MESH,
    OF_MESHES,
    SECOND,
    SPHERE,
    WITH_CORES,
    Contacts,
    search_distances,
)
from rigid.system import Floats, Ints


class SurfaceParts(NamedTuple):
    """f parts (spheres, middles of cores, segments), in the order of their first points."""

    surface: Ints  # (f,) surface of each part
    ends: Ints  # (f, 2) end points; twice the same for a sphere
    arc: Floats  # (f,) arc length of the middle along its rod, m
    length: Floats  # (f,) length, m
    after: Ints  # (f,) next segment of the rod, -1: the rod ends there
    around: Floats  # (s,) total length of a closed rod, m; infinite for other surfaces


class SearchData(NamedTuple):
    """Data that all searches of the same surfaces share; computing it takes longer than a search."""

    parts: SurfaceParts
    reach: Floats  # (p,) search distance of each pair, m
    keys: Ints  # (2 p,) sorted keys of pairs of surfaces, in both orders
    pair: Ints  # (2 p,) pair of each key, plus p if its second surface comes first


class Candidates(NamedTuple):
    """c pairs of near parts, sorted by pair of surfaces, side, part that has the stations, part of the partner."""

    pair: Ints  # (c,) number of the pair of surfaces
    side: Ints  # (c,) 0: the stations are on the first surface of the pair
    ends: Ints  # (c, 4) end points of the part with the stations (twice the same for a sphere or core), then of its partner
    minus: NDArray[
        np.uint8
    ]  # (c,) 1: the last point is an inner vertex, whose contact is also that of the next segment
    first: Ints  # (c + 1,) triangles of a partner that is a mesh: faces[first[i]] .. faces[first[i + 1] - 1]
    faces: Ints  # near triangles of all pairs

    @property
    def meshed(self) -> NDArray[np.bool_]:
        """True if the partner is a mesh, (c,)."""
        return np.diff(self.first) > 0


def parts_of(contacts: Contacts) -> SurfaceParts:
    """Return the parts of all surfaces."""
    count = np.diff(contacts.first)
    surface = np.repeat(np.arange(len(count)), count)
    centre = np.isin(contacts.kind, (SPHERE, *WITH_CORES))  # the search uses only one point
    begins_part = np.where(
        centre[surface], contacts.first[surface] == np.arange(len(surface)), contacts.length > 0.0
    )
    begins_part &= np.isin(contacts.kind[surface], (MESH, *OF_MESHES), invert=True)
    at, of = np.flatnonzero(begins_part), surface[begins_part]
    rod = ~centre[of]
    last = at + 1 == contacts.first[of + 1]
    ends = np.stack([at, np.where(last, contacts.first[of], at + 1)], axis=1)
    ends[~rod, 1] = at[~rod]
    length = np.where(rod, contacts.length[at], 0.0)
    begins = np.cumsum(length) - length
    firsts = np.searchsorted(of, np.arange(len(count)))
    arc = begins + 0.5 * length - begins[firsts[of]]
    number = np.full(len(contacts.frames), -1)
    number[at] = np.arange(len(at))
    closed = np.zeros(len(count), bool)
    closed[of[rod & last]] = True
    total = np.bincount(of, length, len(count))
    after = np.where(rod, number[ends[:, 1]], -1)
    return SurfaceParts(of, ends, arc, length, after, np.where(closed, total, np.inf))


def prepare_search(contacts: Contacts) -> SearchData:
    """Return the search data of these surfaces."""
    one, other = contacts.pairs.T
    surfaces = len(contacts.kind)
    keys = np.concatenate([one * surfaces + other, other * surfaces + one])
    order = np.argsort(keys, kind="stable")  # for a rod with itself, the first of both keys
    return SearchData(parts_of(contacts), search_distances(contacts), keys[order], order)


def candidates(
    contacts: Contacts, points: Floats, skin: float, searches: SearchData | None = None
) -> Candidates:
    """Return the pairs of parts that are nearer than their reach plus the skin (m), at points (k, 3).

    searches: result of `prepare_search` for these surfaces, to be passed if there are many searches.
    """
    parts, reach, keys, pair_of_key = searches or prepare_search(contacts)
    u, v = _near(parts, points, float(reach.max(initial=0.0)) + skin)
    u, v, pair = _with_pairs(contacts, parts, keys, pair_of_key, u, v)
    distance = np.empty(len(u))
    distances(points, np.ascontiguousarray(np.concatenate([parts.ends[u], parts.ends[v]], axis=1)), distance)
    near = distance < reach[pair] + skin
    listed = _sorted(contacts, parts, u[near], v[near], pair[near])
    return _with_meshes(contacts, parts, reach, points, skin, listed) if len(contacts.meshed) else listed


def _with_meshes(
    contacts: Contacts, parts: SurfaceParts, reach: Floats, points: Floats, skin: float, listed: Candidates
) -> Candidates:
    """Return a list with the pairs of parts near meshes merged into it, in sorted order."""
    rows, faces = near_meshes(contacts, parts.surface, parts.ends, reach, points, skin)
    of_meshes, of_corners = near_mesh_features(contacts, reach, points, skin)
    rows, faces = np.concatenate([rows, of_meshes]), faces + of_corners
    if not len(rows):
        return listed
    pair, side, ends = (
        np.concatenate(columns)
        for columns in ((listed.pair, rows[:, 0]), (listed.side, rows[:, 1]), (listed.ends, rows[:, 2:]))
    )
    order = np.lexsort([ends[:, 2], ends[:, 0], side, pair])
    none = np.zeros(0, np.int64)
    triangle_lists = [none] * len(listed.pair) + faces
    triangle_lists = [triangle_lists[k] for k in order.tolist()]
    minus = np.concatenate([listed.minus, np.zeros(len(rows), np.uint8)])[order]
    first = np.cumsum([0, *(len(triangles) for triangles in triangle_lists)])
    ends = np.ascontiguousarray(ends[order])
    return Candidates(pair[order], side[order], ends, minus, first, np.concatenate(triangle_lists))


def _near(parts: SurfaceParts, points: Floats, reach: float) -> tuple[Ints, Ints]:
    """Return pairs of parts, each once, whose middles have at most the distance of half their lengths plus the reach."""
    ends = points[parts.ends]
    middle, half = ends.mean(axis=1), 0.5 * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    # parts shorter than the reach form one class: they take no more time
    size = np.ceil(np.log2(np.maximum(half, 0.5 * reach + 1e-300))).astype(np.int64)
    found_u, found_v = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    classes = [np.flatnonzero(size == k) for k in np.unique(size)]
    trees = [scipy.spatial.cKDTree(middle[use]) for use in classes]
    most = [float(half[use].max()) for use in classes]
    for i, use in enumerate(classes):
        pairs = trees[i].query_pairs(2.0 * most[i] + reach, output_type="ndarray")
        found_u.append(use[pairs[:, 0]])
        found_v.append(use[pairs[:, 1]])
        for k in range(i + 1, len(classes)):
            across = trees[i].sparse_distance_matrix(
                trees[k], most[i] + most[k] + reach, output_type="ndarray"
            )
            found_u.append(use[across["i"]])
            found_v.append(classes[k][across["j"]])
    return np.concatenate(found_u), np.concatenate(found_v)


def _with_pairs(
    contacts: Contacts, parts: SurfaceParts, keys: Ints, pair_of_key: Ints, u: Ints, v: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return those pairs of parts whose surfaces form a pair, its first surface first, and the number of that pair.

    Parts of one rod must be further apart along it than pi times its radius.
    """
    surfaces, p = len(contacts.kind), len(contacts.pairs)
    key = parts.surface[u] * surfaces + parts.surface[v]
    position = np.minimum(np.searchsorted(keys, key), max(2 * p - 1, 0))
    meets = keys[position] == key if p else np.zeros(len(u), bool)
    u, v, at = u[meets], v[meets], pair_of_key[position[meets]] if p else position[meets]
    pair, swapped = at % max(p, 1), at >= p
    u, v = np.where(swapped, v, u), np.where(swapped, u, v)
    may_touch = _may_touch(contacts, parts, u, v)
    u, v, pair = u[may_touch], v[may_touch], pair[may_touch]
    return u, v, pair


def _may_touch(contacts: Contacts, parts: SurfaceParts, u: Ints, v: Ints) -> NDArray[np.bool_]:
    """Return True for two parts that may touch.

    Two segments of one rod need enough of the rod between them, and no joint may connect the parts.
    """
    along = np.abs(parts.arc[u] - parts.arc[v])
    surface = parts.surface[u]
    along = np.minimum(along, parts.around[surface] - along)
    gap = along - 0.5 * (parts.length[u] + parts.length[v])
    # neighbours have gap 0; with elements of one length the gap may equal the limit up to rounding
    least = np.maximum(np.pi * contacts.radius[surface], 1e-6 * parts.length[u]) - 1e-9 * parts.length[u]
    allowed: NDArray[np.bool_] = (surface != parts.surface[v]) | (gap >= least)
    if len(contacts.apart):
        both = np.sort(np.stack([parts.ends[u, 0], parts.ends[v, 0]], axis=1), axis=1)
        joined, count = np.sort(contacts.apart, axis=1), len(contacts.frames)
        allowed &= ~np.isin(both @ (count, 1), joined @ (count, 1))
    return allowed


def _sorted(contacts: Contacts, parts: SurfaceParts, u: Ints, v: Ints, pair: Ints) -> Candidates:
    """Return the list of pairs, sorted by stations and partners."""
    one, other = contacts.kind[parts.surface[u]], contacts.kind[parts.surface[v]]
    same_kind = (one == other) & ~np.isin(one, (SPHERE, *WITH_CORES))
    itself = parts.surface[u] == parts.surface[v]
    side = np.where(itself | (one == CAPSULE), BOTH, contacts.side[pair])
    reversed_order = one > other  # a sphere comes first, then an element of a rod: spheres have no stations
    first = np.where(same_kind, np.isin(side, (FIRST, BOTH)), ~reversed_order)
    second = np.where(same_kind, np.isin(side, (SECOND, BOTH)), reversed_order)
    a, b = np.concatenate([u[first], v[second]]), np.concatenate([v[first], u[second]])
    pairs = np.concatenate([pair[first], pair[second]])
    sides = np.repeat([0, 1], [first.sum(), second.sum()])
    order = np.lexsort([b, a, sides, pairs])
    a, b = a[order], b[order]
    following = parts.after[b]
    inner = (following >= 0) & _may_touch(contacts, parts, a, following)
    ends = np.ascontiguousarray(np.concatenate([parts.ends[a], parts.ends[b]], axis=1))
    none = np.zeros(0, np.int64)
    return Candidates(
        pairs[order], sides[order], ends, inner.astype(np.uint8), np.zeros(len(order) + 1, np.int64), none
    )
