"""Shapes that move with frames, for pictures: rods, surfaces of bodies, and crossed bars for bodies without a surface."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # loads its submodules when they are first used

from rigid.quaternions import normalize, rotate, to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results.layout import BodyLayout, RodLayout

SIDES, PIECES = 8, 4  # sides of a tube, pieces of an element along the rod, if the pixel size is not known
MOST_SIDES = 32  # at least SIDES: with fewer the angle between walls is that of a sharp edge
VISIBLE = 0.0035  # least radius of a rod, as part of the size of the scene
CORNERS = np.array([(1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)])  # corners of a rectangle, about d1
SHARP = 50.0  # deg: faces that meet at more than this angle keep an edge
THIN = 3.0  # pixels; nothing is drawn thinner
MAX_REFINED_TRIANGLES = 200_000  # largest number of triangles when the surfaces of smooth bodies are refined
LENGTH, THICK = (
    0.05,
    0.008,
)  # length and thickness of the bars of a body without surface, as parts of the size of the scene
UNIT_CORNERS = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
UNIT_FACES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
     (1, 5, 7), (1, 7, 3)]
)  # fmt: skip


class Shape(NamedTuple):
    """Triangles whose vertices are fixed to stations: frames, or points between two neighbouring frames of a rod.

    A station moves on a cubic curve between its frames and rotates as the normalised mean of their quaternions.
    """

    a: Ints  # (m,) frame before each station
    b: Ints  # (m,) frame after it; that before for a station at a frame
    x: Floats  # (m,) position between them, 0 to 1
    station: Ints  # (n,) of each vertex
    offset: Floats  # (n, 3) from the station, in its axes, m
    upright: Floats  # (n, 3) further offset in inertial axes, m: of shapes that move with a point, but do not rotate
    faces: Ints  # (k, 3) vertex numbers, counter-clockwise seen from outside
    owner: Ints  # (n,) number of the object: rods, bodies, then the colours of `support_symbols` and `contact_surfaces`
    before: Ints  # (n,) point of a `Drawing` that has the value of the vertex; -1: none
    after: Ints  # (n,) point of the value at x = 1

    def stations(self, r: Floats, quat: Floats) -> tuple[Floats, Floats]:
        """Return positions (m, 3), m, and quaternions (m, 4) of the stations for those of the frames.

        Positions lie on cubic Hermite curves with the section normals d1 as tangents.
        """
        x, ra, rb, qa, qb = self.x[:, None], r[self.a], r[self.b], quat[self.a], quat[self.b]
        qb = np.where(np.sum(qa * qb, axis=1, keepdims=True) < 0, -qb, qb)
        d1 = np.array([1.0, 0.0, 0.0])
        ta, tb = rotate(qa, d1), rotate(qb, d1)
        chord = np.linalg.norm(rb - ra, axis=1, keepdims=True)
        # cosine of half the angle between the tangents
        half_angle = np.sqrt((1 + np.clip(np.sum(ta * tb, axis=1, keepdims=True), -1, 1)) / 2)
        speed = 2 * chord / (1 + half_angle)  # optimal for circular arcs
        curve = (1 + 2 * x) * (1 - x) ** 2 * ra + x * (1 - x) ** 2 * speed * ta
        curve = curve + x**2 * (3 - 2 * x) * rb + x**2 * (x - 1) * speed * tb
        return curve, normalize((1 - x) * qa + x * qb)

    def place(self, state: State) -> Floats:
        """Return the positions (n, 3) of the vertices at `state`, m."""
        r, quat = self.stations(state.r, state.quat)
        R = to_matrix(quat)[self.station]
        return r[self.station] + np.einsum("nij,nj->ni", R, self.offset) + self.upright

    def spread(self, values: Floats) -> Floats:
        """Interpolate values at the points of a `Drawing` (n_points,) to the vertices; nan at vertices without a point."""
        known, x = np.append(values, np.nan), self.x[self.station]
        return (1 - x) * known[self.before] + x * known[self.after]


def fixed_shape(
    frame: int, owner: int, vertices: Floats, faces: Ints, upright: Floats | None = None, points: Any = -1
) -> Shape:
    """Return a shape with `vertices` (n, 3) fixed to a frame, in its axes, m; other arguments as in `Shape`."""
    n = len(vertices)
    at, points = np.array([frame]), np.broadcast_to(points, n)
    upright = np.zeros((n, 3)) if upright is None else upright
    return Shape(
        at,
        at,
        np.zeros(1),
        np.zeros(n, np.int64),
        vertices,
        upright,
        faces,
        np.full(n, owner),
        points,
        points,
    )


def join(shapes: Sequence[Shape]) -> Shape:
    """Return several shapes as one."""
    none, numbers, points = np.zeros(0), np.zeros(0, np.int64), np.zeros((0, 3))
    empty = Shape(numbers, numbers, none, numbers, points, points, points.astype(np.int64), *[numbers] * 3)
    shapes = [empty, *shapes]
    stations = np.cumsum([0] + [len(shape.x) for shape in shapes])
    vertices = np.cumsum([0] + [len(shape.offset) for shape in shapes])
    shapes = [
        shape._replace(station=shape.station + m, faces=shape.faces + n)
        for shape, m, n in zip(shapes, stations, vertices, strict=False)
    ]
    return Shape(*(np.concatenate(arrays) for arrays in zip(*shapes, strict=True)))


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


def rod_shape(rod: RodLayout, first_point: int, owner: int, size: float, pixel: float) -> Shape:
    """Return a rod as closely spaced rings of vertices, each an outline of its section, with a lid at each open end.

    `first_point`: number of its first point in `Drawing`; `size`: size of the scene, m; `pixel`: length that a pixel shows, m; 0
    if not known.
    """
    n, n_el = len(rod.frames), len(rod.elements)
    half = half_sides(rod, size, pixel)
    # as many as keep the deviation from the true outline below a quarter of a pixel
    longest, thickest = float(np.diff(rod.arclength).max(initial=0.0)), float(half.max())
    pieces = int(np.clip(np.ceil(0.45 * np.sqrt(longest / pixel)), 2, 8)) if pixel > 0 else PIECES
    sides = int(np.clip(np.ceil(4.5 * np.sqrt(thickest / pixel)), SIDES, MOST_SIDES)) if pixel > 0 else SIDES
    angle = 2 * np.pi * np.arange(sides) / sides
    outline = CORNERS if np.all(rod.sides > 0) else np.stack([np.cos(angle), np.sin(angle)], axis=1)
    at = np.arange(n_el * pieces + (0 if rod.closed else 1)) / pieces
    before = np.minimum(at.astype(np.int64), n_el - 1)
    after, x = (before + 1) % n, at - before
    half = (1 - x[:, None]) * half[before] + x[:, None] * half[after]

    k, rings = len(outline), len(at)
    edge, following = np.arange(k), (np.arange(k) + 1) % k
    ring = k * np.arange(n_el * pieces)[:, None]
    opposite = (ring + k) % (k * rings)
    a, b, c, d = ring + edge, ring + following, opposite + following, opposite + edge
    faces = [np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)]
    lids = [] if rod.closed else [0, rings - 1]
    for lid, ring_index in enumerate(lids):
        fan = np.stack(
            [k * ring_index + edge, k * ring_index + following, np.full(k, rings * k + lid)], axis=1
        )
        faces.append(fan if lid else fan[:, ::-1])
    station = np.append(np.repeat(np.arange(rings), k), lids).astype(np.int64)
    offset = np.zeros((len(station), 3))
    offset[: rings * k, 1:] = (outline * half[:, None]).reshape(-1, 2)
    return Shape(
        rod.frames[before], rod.frames[after], x, station, offset, np.zeros_like(offset), np.concatenate(faces),
        np.full(len(station), owner), first_point + before[station], first_point + after[station],
    )  # fmt: skip


def half_sides(rod: RodLayout, size: float, pixel: float) -> Floats:
    """Return the drawn half sides along d2 and d3 (n_nodes, 2), m, or the radius twice.

    A thin rectangle is enlarged in proportion, so that a ribbon remains one. Nothing is drawn thinner than THIN pixels.
    """
    least = THIN / 2 * pixel
    if not np.all(rod.sides > 0):
        return np.repeat(np.maximum(rod.radius, max(VISIBLE * size, least))[:, None], 2, axis=1)
    grown = np.maximum(1.0, 2 * VISIBLE * size / rod.sides.max(axis=1, keepdims=True))
    return np.maximum(0.5 * grown * rod.sides, least)


def body_shapes(
    bodies: Sequence[BodyLayout], first_owner: int, first_point: int, size: float, pixel: float, rounded: int
) -> Iterator[Shape]:
    """Yield the surfaces of bodies, or three crossed bars along the axes of those without a surface.

    `first_point`: number of the first point of bodies in `Drawing`; `size`: size of the scene, m; `pixel`: length that a pixel
    shows, m, to which smooth bodies are refined; 0 if not known; `rounded`: largest number of their triangles.
    """
    shapes_of: dict[tuple[bytes, bytes], tuple[Floats, Ints, Ints]] = {}  # equal bodies share one shape
    for owner, body in enumerate(bodies, first_owner):
        if not len(body.faces):
            for sides in size * np.where(np.eye(3) > 0.0, LENGTH, THICK):
                yield fixed_shape(body.frame, owner, *box(-0.5 * sides, np.diag(sides)))
            first_point += len(body.vertices)
            continue
        key = (body.vertices.tobytes(), body.faces.tobytes())
        if key not in shapes_of:
            shapes_of[key] = body_surface(body, pixel, rounded // len(bodies))
        vertices, faces, nearest = shapes_of[key]
        yield fixed_shape(body.frame, owner, vertices, faces, points=first_point + nearest)
        first_point += len(body.vertices)


def body_surface(body: BodyLayout, pixel: float = 0.0, max_faces: int = 0) -> tuple[Floats, Ints, Ints]:
    """Return the surface of a body, refined to `pixel` (m) if it is smooth, with at most `max_faces` triangles.

    Vertices (n, 3) in frame axes, m, faces (m, 3), and the vertex of the body (n,) that is nearest to each.
    """
    # vertices with equal positions become one, or there would be an edge between their faces
    vertices, unique_index = np.unique(np.round(body.vertices, 12), axis=0, return_inverse=True)
    faces = unique_index.ravel()[body.faces]
    longest = float(np.linalg.norm(vertices[faces[:, 1]] - vertices[faces[:, 0]], axis=1).max(initial=0.0))
    if pixel > 0.0 and longest > 8 * pixel:
        times = min(
            int(np.ceil(np.log2(longest / (8 * pixel)))), int(np.log(max_faces / len(faces)) / np.log(4))
        )
        vertices, faces = _subdivide(vertices, faces, times)
    nearest = scipy.spatial.cKDTree(body.vertices).query(vertices)[1]
    return _with_least_thickness(vertices, THIN / 2 * pixel), faces, nearest


def _subdivide(vertices: Floats, faces: Ints, times: int) -> tuple[Floats, Ints]:
    """Split each triangle into four, `times` times, on a smooth surface through the vertices; a mesh with sharp edges stays."""
    import pyvista

    mesh = pyvista.PolyData.from_regular_faces(vertices, faces)
    sharp = mesh.extract_feature_edges(SHARP, manifold_edges=False)
    if times < 1 or sharp.n_cells:
        return vertices, faces
    finer = mesh.subdivide(times, "butterfly")
    return np.asarray(finer.points, float), finer.regular_faces


def _with_least_thickness(vertices: Floats, least: float) -> Floats:
    """Scale a shape so that it is at least 2 `least` (m) thick along each of its principal axes."""
    middle = (vertices.max(axis=0) + vertices.min(axis=0)) / 2
    X = vertices - middle
    axes = np.linalg.eigh(X.T @ X)[1]
    half = np.abs(X @ axes).max(axis=0)
    grow = np.maximum(1.0, least / np.maximum(half, 1e-300))
    return vertices if np.all(grow == 1.0) else middle + (X @ axes * grow) @ axes.T
