"""Surfaces of bodies for the page: sharp edges stay sharp, and the triangles are few enough for a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rodsim.reporting.embedded_data import packed
from rodsim.results.layout import BodyLayout
from rodsim.results.shapes import body_surface, with_normals

MOST_TRIANGLES = 60_000  # largest number of triangles of all bodies together
FEWEST = 12  # smallest number of triangles of a body: that of a box


def body_surfaces(bodies: Sequence[BodyLayout]) -> tuple[dict[str, Any], tuple[int, int]]:
    """Return the surfaces, and the numbers of triangles in the result and in the page.

    The surfaces are vertices "X" in the axes of their bodies (m), triangles "faces", and the body of each vertex, "body".
    """
    numbers = [k for k, body in enumerate(bodies) if len(body.faces)]
    if not numbers:
        return {"X": packed(np.zeros((0, 3))), "faces": packed([], "i4"), "body": packed([], "i4")}, (0, 0)
    given = sum(len(body.faces) for body in bodies)
    shown = list(bodies) if given <= MOST_TRIANGLES else _coarser(bodies, given)
    parts = [body_surface(shown[k]) for k in numbers]
    meshes = [with_normals(vertices, faces) for vertices, faces, _ in parts]  # plotly averages normals, too
    starts = np.cumsum([0] + [mesh.n_points for mesh in meshes])
    faces = np.concatenate([mesh.regular_faces + start for mesh, start in zip(meshes, starts, strict=False)])
    owners = np.repeat(numbers, np.diff(starts))
    data = {
        "X": packed(np.concatenate([mesh.points for mesh in meshes])),
        "faces": packed(faces, "i4"),
        "body": packed(owners, "i4"),
    }
    return data, (given, len(faces))


def _coarser(bodies: Sequence[BodyLayout], given: int) -> list[BodyLayout]:
    """Return the bodies with coarser surfaces; each gets its share of MOST_TRIANGLES (quadric decimation)."""
    import pyvista

    made: dict[tuple[bytes, bytes], tuple[Any, Any]] = {}
    coarse = []
    for body in bodies:
        target = max(FEWEST, int(len(body.faces) * MOST_TRIANGLES / given))
        key = (body.vertices.tobytes(), body.faces.tobytes())
        if len(body.faces) > target and key not in made:
            mesh: Any = pyvista.PolyData(body.vertices, np.insert(body.faces, 0, 3, axis=1).ravel())
            mesh = mesh.clean().decimate(1.0 - target / len(body.faces))
            made[key] = np.asarray(mesh.points, float), mesh.faces.reshape(-1, 4)[:, 1:]
        if key in made:
            body = replace(body, vertices=made[key][0], faces=made[key][1])
        coarse.append(body)
    return coarse
