"""Compute faces and edges of a convex hull; coplanar triangles form one face."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its subpackages are loaded on first access

from rigid.system import Floats, Ints

FLAT = 1e-6  # tolerance on unit normals and on heights divided by the extent: triangles that differ less are coplanar


class Faces(NamedTuple):
    """Faces and edges of the convex hull of n points, made of t triangles."""

    normals: Floats  # (f, 3) outward unit normals
    heights: Floats  # (f,) distances of the faces from the origin along their normals, m
    edges: Ints  # (e, 2) indices of the end points
    face: Ints  # (t,) index of the face of each triangle


def faces_of(hull: scipy.spatial.ConvexHull) -> Faces:
    """Return the faces of a convex hull: connected sets of triangles whose neighbours are coplanar with them."""
    size = float(np.ptp(hull.points, axis=0).max())
    planes = hull.equations / [1.0, 1.0, 1.0, size]
    k, side = np.indices(hull.neighbors.shape)
    other = hull.neighbors[k, side]
    same = np.abs(planes[k] - planes[other]).max(axis=-1) < FLAT
    count = len(planes)
    same_plane = scipy.sparse.coo_matrix((np.ones(same.sum()), (k[same], other[same])), (count, count))
    faces, face = scipy.sparse.csgraph.connected_components(same_plane, directed=False)
    first = np.unique(face, return_index=True)[1]
    # column i of `neighbors` is the neighbour across the edge opposite to corner i
    pairs = np.stack([np.delete(hull.simplices, i, axis=1) for i in range(3)], axis=1)
    edges = np.unique(np.sort(pairs[~same], axis=1), axis=0)
    normals = hull.equations[first, :3]
    heights = np.array([(hull.points[hull.simplices[face == f]] @ normals[f]).max() for f in range(faces)])
    return Faces(normals, heights, edges.astype(np.int64), face.astype(np.int64))


def shares_of(hull: scipy.spatial.ConvexHull) -> Floats:
    """Return for each point the area-weighted mean, over its faces, of 1 / (number of vertices of the face), (n,).

    The value is 0 for points that are not vertices of the hull.
    """
    face = faces_of(hull).face
    a, b, c = (hull.points[hull.simplices[:, k]] for k in range(3))
    area = np.bincount(face, 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))
    corners = np.unique(np.column_stack([np.repeat(face, 3), hull.simplices.ravel()]), axis=0)
    count = np.bincount(corners[:, 0])
    n, (of, vertex) = len(hull.points), corners.T
    total_area = np.bincount(vertex, area[of], n)
    shares: Floats = np.bincount(vertex, (area / count)[of], n) / np.where(total_area > 0.0, total_area, 1.0)
    return shares
