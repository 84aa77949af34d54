"""Meshes that are fixed to frames, for pictures: surfaces of bodies, and crossed bars for bodies without a surface."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from rigid.system import Floats, Ints
from rodsim.results.layout import BodyLayout

SHARP = 50.0  # deg: faces that meet at more than this angle keep an edge
THIN = 3.0  # pixels; nothing is drawn thinner
ROUNDED = 200_000  # largest number of triangles when the surfaces of smooth bodies are refined
LENGTH, THICK = (
    0.05,
    0.008,
)  # length and thickness of the bars of a body without surface, as parts of the size of the scene
UNIT_CORNERS = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
UNIT_FACES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
     (1, 5, 7), (1, 7, 3)]
)  # fmt: skip


@dataclass(eq=False)
class Solid:
    """Mesh fixed to a frame."""

    frame: int
    owner: int  # colour number, see `scene.Surface`
    vertices: Floats  # (n, 3) from the frame's origin, in frame axes, m
    faces: Ints  # (m, 3)
    # (n, 3) offsets in inertial axes, m: a shape that moves with a point of the frame, but does not turn
    upright: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    # (n,) points of a `Drawing` whose values the vertices have; -1: none
    points: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        n = len(self.vertices)
        self.upright = self.upright if len(self.upright) else np.zeros((n, 3))
        self.points = self.points if len(self.points) else np.full(n, -1)

    @property
    def owners(self) -> Ints:
        """Owner of each vertex (n,)."""
        return np.full(len(self.vertices), self.owner)


def box(corner: Floats, edges: Floats) -> tuple[Floats, Ints]:
    """Return vertices (8, 3) and faces (12, 3) of the box with a corner (3,) and three edges (3, 3), a right-handed set."""
    return corner + UNIT_CORNERS @ edges, UNIT_FACES


def with_normals(vertices: Floats, faces: Ints, **arrays: Any) -> Any:
    """Return a pyvista mesh with normals, averaged where the surface is smooth; vertices at sharp edges are doubled.

    `arrays`: values at the vertices, by name.
    """
    import pyvista

    mesh = pyvista.PolyData.from_regular_faces(vertices, faces)
    for name, values in arrays.items():
        mesh.point_data[name] = values
    return mesh.compute_normals(
        cell_normals=False, split_vertices=True, consistent_normals=False, feature_angle=SHARP
    )


def body_solids(
    bodies: Sequence[BodyLayout], first_owner: int, first_point: int, size: float, pixel: float
) -> Iterator[Solid]:
    """Yield the surfaces of bodies, or three crossed bars along the axes of those without a surface.

    `first_point`: number of the first point of bodies in `Drawing`; `size`: size of the scene, m; `pixel`: length that a pixel
    shows, m, to which smooth bodies are refined; 0 if not known.
    """
    made: dict[tuple[bytes, bytes], tuple[Floats, Ints, Ints]] = {}  # equal bodies share one shape
    for owner, body in enumerate(bodies, first_owner):
        if not len(body.faces):
            for sides in size * np.where(np.eye(3) > 0.0, LENGTH, THICK):
                yield Solid(body.frame, owner, *box(-0.5 * sides, np.diag(sides)))
            first_point += len(body.vertices)
            continue
        key = (body.vertices.tobytes(), body.faces.tobytes())
        if key not in made:
            made[key] = body_shape(body, pixel, ROUNDED // len(bodies))
        vertices, faces, nearest = made[key]
        yield Solid(body.frame, owner, vertices, faces, points=first_point + nearest)
        first_point += len(body.vertices)


def body_shape(body: BodyLayout, pixel: float = 0.0, room: int = 0) -> tuple[Floats, Ints, Ints]:
    """Return the surface of a body, refined to `pixel` (m) if it is smooth, with at most `room` triangles.

    Vertices (n, 3) in frame axes, m, faces (m, 3), and the vertex of the body (n,) that is nearest to each.
    """
    # vertices with equal positions become one, or there would be an edge between their faces
    vertices, place = np.unique(np.round(body.vertices, 12), axis=0, return_inverse=True)
    faces = place.ravel()[body.faces]
    longest = float(np.linalg.norm(vertices[faces[:, 1]] - vertices[faces[:, 0]], axis=1).max(initial=0.0))
    if pixel > 0.0 and longest > 8 * pixel:
        times = min(int(np.ceil(np.log2(longest / (8 * pixel)))), int(np.log(room / len(faces)) / np.log(4)))
        vertices, faces = _rounder(vertices, faces, times)
    nearest = cKDTree(body.vertices).query(vertices)[1]
    return _thick_enough(vertices, THIN / 2 * pixel), faces, nearest


def _rounder(vertices: Floats, faces: Ints, times: int) -> tuple[Floats, Ints]:
    """Split each triangle into four, `times` times, on a smooth surface through the vertices; a mesh with sharp edges stays."""
    import pyvista

    mesh = pyvista.PolyData.from_regular_faces(vertices, faces)
    sharp = mesh.extract_feature_edges(SHARP, manifold_edges=False)
    if times < 1 or sharp.n_cells:
        return vertices, faces
    finer = mesh.subdivide(times, "butterfly")
    return np.asarray(finer.points, float), finer.regular_faces


def _thick_enough(vertices: Floats, least: float) -> Floats:
    """Scale a shape so that it is at least 2 `least` (m) thick along each of its principal axes."""
    middle = (vertices.max(axis=0) + vertices.min(axis=0)) / 2
    X = vertices - middle
    axes = np.linalg.eigh(X.T @ X)[1]
    half = np.abs(X @ axes).max(axis=0)
    grow = np.maximum(1.0, least / np.maximum(half, 1e-300))
    return vertices if np.all(grow == 1.0) else middle + (X @ axes * grow) @ axes.T
