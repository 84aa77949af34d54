"""Compute twist and writhe of rods, in turns: rotation of the sections about the axis, and coiling of the axis about itself.

The axis is the polygon of the nodes. An open rod is extended at its ends by straight rays along d1 of its end sections:
winding about these rays counts, and an end that passes through a ray changes the writhe by two.

    writhe = -1/(2 pi) sum over pairs of segments i < j of Omega_ij                                                        (1)
    twist  = 1/(2 pi) sum of the angles from d2 of a node to d2 of the next, each first made perpendicular to the segment,
             and at nodes from one segment to the next, carried over by the least rotation                               (2)
    link   = twist + writhe                                                                                               (3)

Omega_ij is the solid angle of the parallelogram of all vectors from points of i to points of j: two triangles. With (2) the
law (3) of Calugareanu and White holds for the polygon itself, not only in a limit. The link of a closed rod is a whole number.
If the end sections of an open rod keep their axes, its link changes by the turns of its ends. Both hold for every mesh.

Source: K. Klenin, J. Langowski, Biopolymers 54 (2000) 307, eq. 13; for triangles A. Van Oosterom, J. Strackee, IEEE Trans.
Biomed. Eng. 30 (1983) 125, eq. 8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rigid.quaternions import rotate
from rigid.system import Floats, Ints


def writhe(r: ArrayLike, ends: ArrayLike | None = None) -> Floats:
    """Compute the writhe (...), in turns, of polygons r (..., n, 3), m, by (1).

    `ends` (..., 2, 3): directions along the curve at its first and last point, in which it is extended to infinity; None: the
    last point is joined to the first.
    """
    points = np.asarray(r, float)
    if ends is None:
        points = np.concatenate([points, points[..., :1, :]], axis=-2)
        finite = np.ones(points.shape[-2])
    else:
        directions = np.asarray(ends, float)
        points = np.concatenate([-directions[..., :1, :], points, directions[..., 1:, :]], axis=-2)
        finite = np.ones(points.shape[-2])
        finite[[0, -1]] = 0.0
    # neighbours are left out; the first and last segment of a closed polygon also share a point: their angle is zero
    i, j = np.triu_indices(len(finite) - 1, 2)
    flat = points.reshape(-1, *points.shape[-2:])
    solid_angles = np.array([_solid_angles(curve, finite, i, j).sum() for curve in flat])
    return -solid_angles.reshape(points.shape[:-2]) / (2.0 * np.pi)


def _solid_angles(points: Floats, finite: Floats, i: Ints, j: Ints) -> Floats:
    """Return the solid angles (p,) of all vectors from segments i to segments j.

    `points`: end points of the segments; `finite`: 1 for points, 0 for directions of points at infinity.
    """

    def between(k: Ints, m: Ints) -> Floats:
        to, off = np.maximum(finite[k], 1.0 - finite[m]), np.maximum(finite[m], 1.0 - finite[k])
        return to[:, None] * points[m] - off[:, None] * points[k]

    a, b, c, d = between(i, j), between(i, j + 1), between(i + 1, j + 1), between(i + 1, j)
    return _triangle_angles(a, b, c) + _triangle_angles(a, c, d)


def _triangle_angles(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return the solid angles (p,) of triangles with corners a, b, c (p, 3), seen from the origin."""
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    volume = np.sum(a * np.cross(b, c), axis=-1)
    below = (
        la * lb * lc + np.sum(a * b, axis=-1) * lc + np.sum(a * c, axis=-1) * lb + np.sum(b * c, axis=-1) * la
    )
    return np.asarray(2.0 * np.arctan2(volume, below))


def twist(r: ArrayLike, quat: ArrayLike, closed: bool = False) -> Floats:
    """Compute the twist (...), in turns, of rods with nodes r (..., n, 3), m, and section axes quat (..., n, 4), by (2).

    Right-handed twist is positive. The twist of an open rod includes the rotation from d1 of each end section to its segment.
    The twist of an element must be less than half a turn.
    """
    nodes, axes = np.asarray(r, float), np.asarray(quat, float)
    d1, d2 = rotate(axes, np.array([1.0, 0.0, 0.0])), rotate(axes, np.array([0.0, 1.0, 0.0]))
    if closed:
        nodes, d2 = (np.concatenate([x, x[..., :1, :]], axis=-2) for x in (nodes, d2))
    along = np.diff(nodes, axis=-2)
    along = along / np.linalg.norm(along, axis=-1, keepdims=True)
    if closed:
        before, after = np.concatenate([along[..., -1:, :], along[..., :-1, :]], axis=-2), along
        at_nodes = d2[..., :-1, :]
    else:
        before = np.concatenate([d1[..., :1, :], along], axis=-2)
        after = np.concatenate([along, d1[..., -1:, :]], axis=-2)
        at_nodes = d2
    left, right = _perpendicular_part(at_nodes, before), _perpendicular_part(at_nodes, after)
    tilt = np.sum(after * left, axis=-1, keepdims=True) / (
        1.0 + np.sum(before * after, axis=-1, keepdims=True)
    )
    at_bends = _angle(left - tilt * (before + after), right, after)
    in_segments = _angle(
        _perpendicular_part(d2[..., :-1, :], along), _perpendicular_part(d2[..., 1:, :], along), along
    )
    return np.asarray((at_bends.sum(axis=-1) + in_segments.sum(axis=-1)) / (2.0 * np.pi))


def _perpendicular_part(d: Floats, along: Floats) -> Floats:
    """Return the part of `d` (..., 3) perpendicular to the unit vectors `along` (..., 3)."""
    return np.asarray(d - np.sum(d * along, axis=-1, keepdims=True) * along)


def _angle(a: Floats, b: Floats, axis: Floats) -> Floats:
    """Return the signed angle (...), rad, from a to b (..., 3) about the unit vectors `axis` (..., 3)."""
    return np.asarray(np.arctan2(np.sum(axis * np.cross(a, b), axis=-1), np.sum(a * b, axis=-1)))


def ends_of(quat: ArrayLike) -> Floats:
    """Return d1 (..., 2, 3) of the first and the last of the section axes quat (..., n, 4)."""
    return rotate(np.asarray(quat, float)[..., [0, -1], :], np.array([1.0, 0.0, 0.0]))
