"""With which corners and ridges a rigid mesh touches another: what is left of its vertices and edges once flat parts are one.

An edge is a ridge where its triangles are bent by more than BENT, or it has but one; ridges in one line are one. A corner is an
end of such a line. So a cube has eight corners and twelve ridges, into however many triangles it is divided.

Each corner has the same part of the stiffness: the mean, by their area, of one over the number of corners of all flat parts. What
lies flat on a plane face then has that of the law: a cube, as a box, with a quarter for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for
from numpy.typing import NDArray

from rigid.system import Floats, Ints

BENT = 1e-3  # rad, by which triangles in one plane may be bent: coordinates in files are rounded
STRAIGHT = 1e-4  # of unit vectors along ridges in one line


class Features(NamedTuple):
    """Of a mesh."""

    corners: Ints  # (c,) vertices
    ridges: Ints  # (r, 2) both of their ends, vertices
    share: float  # of the stiffness, of each corner


def features_of(vertices: Floats, triangles: Ints) -> Features:
    """Of triangles (t, 3) of vertices (v, 3), no edge of which belongs to more than two."""
    edges, faces = _edges(triangles)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    sharp = _bent(vertices, triangles, edges, faces) > BENT
    ridges = edges[sharp]
    corners = _corners(vertices, ridges)
    lines = _joined(ridges, corners)
    flat = faces[~sharp]
    alike = scipy.sparse.coo_matrix((np.ones(len(flat)), flat.T), (len(triangles),) * 2)
    parts, part = scipy.sparse.csgraph.connected_components(alike, directed=False)
    area = np.bincount(part, 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1), parts)
    is_corner = np.zeros(len(vertices), bool)
    is_corner[corners] = True
    at = np.unique(np.column_stack([np.repeat(part, 3), triangles.ravel()]), axis=0)
    count = np.bincount(at[is_corner[at[:, 1]], 0], minlength=parts)
    has = count > 0
    share = float(area[has] @ (1.0 / count[has]) / area[has].sum())
    return Features(corners, lines, share)


def _edges(triangles: Ints) -> tuple[Ints, Ints]:
    """(e, 2) vertices and (e, 2) triangles of each edge; of one alone twice the same."""
    sides = np.sort(
        np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1
    )
    face = np.tile(np.arange(len(triangles)), 3)
    edges, edge, count = np.unique(sides, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(edge.reshape(-1), kind="stable")
    last = np.cumsum(count) - 1
    return edges, np.stack([face[order[last - count + 1]], face[order[last]]], axis=1)


def _bent(vertices: Floats, triangles: Ints, edges: Ints, faces: Ints) -> Floats:
    """(e,) rad, by how much both triangles of an edge are; where it has but one as if they were folded."""
    p, q = np.moveaxis(vertices[edges], 1, 0)
    along = (q - p) / np.linalg.norm(q - p, axis=1, keepdims=True)
    third = (
        triangles[faces].sum(axis=2) - edges.sum(axis=1)[:, None]
    )  # the vertex of each that is not on the edge
    out = p[:, None] - vertices[third]
    out -= np.sum(out * along[:, None], axis=2, keepdims=True) * along[:, None]
    out /= np.linalg.norm(out, axis=2, keepdims=True)
    half = np.minimum(0.5 * np.linalg.norm(out[:, 0] + out[:, 1], axis=1), 1.0)
    found: Floats = 2.0 * np.arcsin(half)
    return found


def _corners(vertices: Floats, ridges: Ints) -> Ints:
    """(c,) ends of ridges other than those of two that are in one line."""
    ends, other = ridges.ravel(), ridges[:, ::-1].ravel()
    order = np.argsort(ends, kind="stable")
    vertex, first, count = np.unique(ends[order], return_index=True, return_counts=True)
    along = vertices[other] - vertices[ends]
    along = (along / np.linalg.norm(along, axis=1, keepdims=True))[order]
    two = np.flatnonzero(count == 2)
    bent = np.linalg.norm(along[first[two]] + along[first[two] + 1], axis=1)
    return np.delete(vertex, two[bent < STRAIGHT])


def _joined(ridges: Ints, corners: Ints) -> Ints:
    """(r, 2) corners at both ends of lines of ridges."""
    isolated: NDArray[np.bool_] = np.isin(ridges, corners)
    whole = isolated.all(axis=1)
    found, rest = [ridges[whole]], ridges[~whole]
    ways: dict[int, list[int]] = {}
    for k, ends in enumerate(rest.tolist()):
        for vertex in ends:
            ways.setdefault(vertex, []).append(k)
    used = np.zeros(len(rest), bool)
    for start in np.unique(rest[isolated[~whole]]).tolist():
        for k in ways[start]:
            at, edge = start, k
            if used[edge]:
                continue
            while True:
                used[edge] = True
                at = int(rest[edge].sum()) - at
                onward = [own for own in ways[at] if not used[own]]
                if at in corners or not onward:
                    break
                edge = onward[0]
            found.append(np.array([[start, at]]))
    return np.concatenate(found)
