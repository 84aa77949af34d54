"""Surfaces of bodies for the page: the triangles are few enough for a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rodsim.results.layout import BodyLayout

MOST_TRIANGLES = 60_000  # largest number of triangles of all bodies together
FEWEST = 12  # smallest number of triangles of a body: that of a box


def coarse_bodies(bodies: Sequence[BodyLayout]) -> list[BodyLayout]:
    """Return the bodies with coarser surfaces, if need be; each gets its share of MOST_TRIANGLES (quadric decimation)."""
    n_triangles = sum(len(body.faces) for body in bodies)
    if n_triangles <= MOST_TRIANGLES:
        return list(bodies)
    import pyvista

    made: dict[tuple[bytes, bytes], tuple[Any, Any]] = {}
    coarse = []
    for body in bodies:
        target = max(FEWEST, int(len(body.faces) * MOST_TRIANGLES / n_triangles))
        key = (body.vertices.tobytes(), body.faces.tobytes())
        if len(body.faces) > target and key not in made:
            mesh: Any = pyvista.PolyData.from_regular_faces(body.vertices, body.faces)
            mesh = mesh.clean().decimate(1.0 - target / len(body.faces))
            made[key] = np.asarray(mesh.points, float), mesh.regular_faces
        if key in made:
            body = replace(body, vertices=made[key][0], faces=made[key][1])
        coarse.append(body)
    return coarse
