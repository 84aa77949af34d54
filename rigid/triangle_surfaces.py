"""Read and check triangulated surfaces for contact, and decide on which side of a surface a point lies.

A point is inside a closed surface if the solid angle of all triangles is 4 pi: tan(angle/2) = a . (b x c)/(|a||b||c| +
a . b |c| + b . c |a| + c . a |b|), a, b, c from the point to the corners.

Source: van Oosterom and Strackee, IEEE Transactions on Biomedical Engineering 30 (1983) 125.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rigid.errors import ModelError
from rigid.mesh_mass_properties import merge_vertices, read_triangles, triangles_of
from rigid.system import Floats, Ints

THIN = 1e-9  # fraction of the longest side: a triangle of smaller height has no normal
BLOCK_SIZE = 1_000_000  # number of solid angles computed at once


def triangle_surface(
    owner: str, source: str | Path | tuple[ArrayLike, ArrayLike], scale: float = 1.0
) -> tuple[Floats, Ints]:
    """Return vertices (v, 3), m, and triangles (t, 3) of a file that meshio reads, or of such arrays; equal vertices are merged.

    `scale` multiplies the coordinates. Raise ModelError if there is no triangle, a triangle has no area or occurs twice, or an
    edge belongs to more than two triangles.
    """
    is_file = isinstance(source, str | Path)
    vertices, faces = read_triangles(owner, source) if is_file else triangles_of(owner, source)  # type: ignore[arg-type]
    if not np.all(np.isfinite(vertices)):
        index = int(np.argmin(np.isfinite(vertices).all(axis=1)))
        raise ModelError(f"{owner}: vertex {index} is {vertices[index]}; give finite coordinates")
    if not is_file:
        _check_areas(owner, scale * vertices, faces)  # before merging, with the user's triangle numbers
    vertices, faces = merge_vertices(scale * vertices, faces)
    if not len(faces):
        raise ModelError(f"{owner}: has no triangles; give some with an area")
    _check_areas(owner, vertices, faces)
    _, count = np.unique(np.sort(faces, axis=1), axis=0, return_counts=True)
    if np.any(count > 1):
        raise ModelError(
            f"{owner}: {int((count > 1).sum())} triangles are listed more than once; remove the repeated ones"
        )
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    edges, count = np.unique(edges, axis=0, return_counts=True)
    if np.any(count > 2):
        a, b = vertices[edges[np.argmax(count)]]
        raise ModelError(
            f"{owner}: {int((count > 2).sum())} edges belong to more than two triangles, one from {a} to {b} to {count.max()}; "
            "make a separate mesh of each surface that meets there"
        )
    return vertices, faces


def _check_areas(owner: str, vertices: Floats, faces: Ints) -> None:
    """Raise ModelError if a triangle has no area."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    longest = np.max([np.linalg.norm(x - y, axis=1) for x, y in ((a, b), (b, c), (c, a))], axis=0)
    flat = np.linalg.norm(np.cross(b - a, c - a), axis=1) <= THIN * longest**2
    if np.any(flat):
        k = int(np.argmax(flat))
        raise ModelError(
            f"{owner}: {int(flat.sum())} triangles have no area, the first is number {k}, with the corners {a[k]}, {b[k]}, "
            f"{c[k]}; remove them"
        )


def is_inside(vertices: Floats, faces: Ints, points: Floats) -> NDArray[np.bool_]:
    """Return True for each of the points (k, 3) inside a closed surface, (k,). Triangles may be oriented outwards or
    inwards, but alike.
    """
    solid_angles, block = np.zeros(len(points)), max(1, BLOCK_SIZE // max(len(faces), 1))
    for k in range(0, len(points), block):
        a, b, c = (vertices[faces[:, i]] - points[k : k + block, None] for i in range(3))
        x, y, z = (np.linalg.norm(vectors, axis=-1) for vectors in (a, b, c))
        below = x * y * z + np.sum(a * b, -1) * z + np.sum(b * c, -1) * x + np.sum(c * a, -1) * y
        solid_angles[k : k + block] = np.arctan2(np.sum(a * np.cross(b, c), -1), below).sum(axis=1)
    return np.abs(solid_angles) > np.pi
