"""Find the corners and ridges (feature edges) of a rigid mesh, with which it touches other meshes.

An edge is a ridge if the angle between its triangles exceeds BENT, or if it has only one triangle; ridges in one line are merged.
A corner is an end of such a line. A cube therefore has eight corners and twelve ridges, however many triangles it is divided
into.

All corners have the same fraction of the stiffness: the area-weighted mean, over all flat parts, of one over the number of their
corners. A mesh that lies flat on a plane face then has the stiffness of the law: a cube, as a box, has a quarter at each corner.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded on first use
from numpy.typing import NDArray

from rigid.system import Floats, Ints

MIN_RIDGE_ANGLE = 1e-3  # largest angle between triangles in one plane, rad: coordinates in files are rounded
STRAIGHT = 1e-4  # largest difference of unit vectors along ridges in one line


class MeshFeatures(NamedTuple):
    """Corners and ridges of a mesh."""

    corners: Ints  # (c,) vertices that are corners
    ridges: Ints  # (r, 2) vertices at both ends
    share: float  # fraction of the stiffness of each corner


def find_mesh_features(vertices: Floats, triangles: Ints) -> MeshFeatures:
    """Return the corners and ridges of triangles (t, 3) of vertices (v, 3); each edge belongs to at most two triangles."""
    edges, faces = _edges(triangles)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    sharp = _dihedral_angles(vertices, triangles, edges, faces) > MIN_RIDGE_ANGLE
    ridges = edges[sharp]
    corners = _corners(vertices, ridges)
    lines = _merged_ridges(ridges, corners)
    flat = faces[~sharp]
    coplanar = scipy.sparse.coo_matrix((np.ones(len(flat)), flat.T), (len(triangles),) * 2)
    parts, part = scipy.sparse.csgraph.connected_components(coplanar, directed=False)
    area = np.bincount(part, 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1), parts)
    is_corner = np.zeros(len(vertices), bool)
    is_corner[corners] = True
    at = np.unique(np.column_stack([np.repeat(part, 3), triangles.ravel()]), axis=0)
    count = np.bincount(at[is_corner[at[:, 1]], 0], minlength=parts)
    has = count > 0
    fraction = float(area[has] @ (1.0 / count[has]) / area[has].sum())
    return MeshFeatures(corners, lines, fraction)


def _edges(triangles: Ints) -> tuple[Ints, Ints]:
    """Return the vertices (e, 2) and triangles (e, 2) of each edge; an edge with one triangle has it twice."""
    sides = np.sort(
        np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1
    )
    face = np.tile(np.arange(len(triangles)), 3)
    edges, edge, count = np.unique(sides, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(edge.reshape(-1), kind="stable")
    last = np.cumsum(count) - 1
    return edges, np.stack([face[order[last - count + 1]], face[order[last]]], axis=1)


def _dihedral_angles(vertices: Floats, triangles: Ints, edges: Ints, faces: Ints) -> Floats:
    """Return the angles (e,), rad, between both triangles of an edge; pi if it has only one."""
    p, q = np.moveaxis(vertices[edges], 1, 0)
    along = (q - p) / np.linalg.norm(q - p, axis=1, keepdims=True)
    third = (
        triangles[faces].sum(axis=2) - edges.sum(axis=1)[:, None]
    )  # the vertex of each triangle that is not on the edge
    out = p[:, None] - vertices[third]
    out -= np.sum(out * along[:, None], axis=2, keepdims=True) * along[:, None]
    out /= np.linalg.norm(out, axis=2, keepdims=True)
    half = np.minimum(0.5 * np.linalg.norm(out[:, 0] + out[:, 1], axis=1), 1.0)
    angles: Floats = 2.0 * np.arcsin(half)
    return angles


def _corners(vertices: Floats, ridges: Ints) -> Ints:
    """Return the ends (c,) of ridges, except those shared by just two ridges in one line."""
    ends, other = ridges.ravel(), ridges[:, ::-1].ravel()
    order = np.argsort(ends, kind="stable")
    vertex, first, count = np.unique(ends[order], return_index=True, return_counts=True)
    along = vertices[other] - vertices[ends]
    along = (along / np.linalg.norm(along, axis=1, keepdims=True))[order]
    two = np.flatnonzero(count == 2)
    bent = np.linalg.norm(along[first[two]] + along[first[two] + 1], axis=1)
    return np.delete(vertex, two[bent < STRAIGHT])


def _merged_ridges(ridges: Ints, corners: Ints) -> Ints:
    """Return the corners (r, 2) at both ends of lines of ridges."""
    isolated: NDArray[np.bool_] = np.isin(ridges, corners)
    is_single = isolated.all(axis=1)
    lines, remaining = [ridges[is_single]], ridges[~is_single]
    edges_at: dict[int, list[int]] = {}
    for k, ends in enumerate(remaining.tolist()):
        for vertex in ends:
            edges_at.setdefault(vertex, []).append(k)
    used = np.zeros(len(remaining), bool)
    for start in np.unique(remaining[isolated[~is_single]]).tolist():
        for k in edges_at[start]:
            at, edge = start, k
            if used[edge]:
                continue
            while True:
                used[edge] = True
                at = int(remaining[edge].sum()) - at
                unused = [edge_number for edge_number in edges_at[at] if not used[edge_number]]
                if at in corners or not unused:
                    break
                edge = unused[0]
            lines.append(np.array([[start, at]]))
    return np.concatenate(lines)
