"""Give bodies without a shape the spheres and solids of their contacts as shapes to draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from rigid.inertia import Sphere
from rigid.system import Floats, Ints
from rodsim.results.layout import BodyLayout

_BALL = Sphere(1.0, mass=1.0).vertices


def add_contact_shapes(bodies: list[BodyLayout], surfaces: Iterable[dict[str, Any]]) -> list[BodyLayout]:
    """Return the bodies; those without vertices are given the spheres and solids on them.

    `surfaces`: descriptions as returned by `contact_surfaces.describe_surfaces`.
    """
    shapes: dict[int, list[tuple[Floats, Ints]]] = {}
    without_shape = {body.frame for body in bodies if not len(body.vertices)}
    for surface in surfaces:
        is_of_points = not ({"mesh", "sides"} & surface.keys() or surface.get("circles"))
        if not is_of_points or surface["frame"] not in without_shape:
            continue
        shape = rounded_hull(np.array(surface.get("points", [surface["X"]])), surface["radius"])
        if shape is not None:
            shapes.setdefault(surface["frame"], []).append(shape)
    return [
        replace(body, **_merged_shape(shapes[body.frame])) if body.frame in shapes else body
        for body in bodies
    ]


def rounded_hull(points: Floats, radius: float) -> tuple[Floats, Ints] | None:
    """Return the convex hull of balls about points (n, 3): vertices (v, 3) and triangles (t, 3).

    Triangles are counter-clockwise as seen from outside. Return None if the radius is 0 and all points lie in one plane.
    """
    cloud = (points[:, None] + radius * _BALL).reshape(-1, 3) if radius > 0.0 else points
    try:
        hull = scipy.spatial.ConvexHull(cloud)
    except (scipy.spatial.QhullError, ValueError):
        return None
    a, b, c = (cloud[hull.simplices[:, k]] for k in range(3))
    inward = np.einsum("ni,ni->n", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    number = np.zeros(len(cloud), np.int64)
    number[hull.vertices] = np.arange(len(hull.vertices))
    return cloud[hull.vertices], number[faces]


def _merged_shape(shapes: list[tuple[Floats, Ints]]) -> dict[str, Any]:
    """Join several shapes to one; return the fields `vertices` and `faces` of a `BodyLayout`."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in shapes)])
    faces = [part + start for (_, part), start in zip(shapes, starts, strict=False)]
    return {"vertices": np.concatenate([part for part, _ in shapes]), "faces": np.concatenate(faces)}
