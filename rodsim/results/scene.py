"""Build the surfaces of rods and bodies for rendering: vertices, normals and triangles.

Everything that does not change from picture to picture (triangles, owners, positions along the rods) is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rigid.quaternions import normalize, rotate, to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results.layout import BodyLayout, Layout, RodLayout

SIDES, PIECES = 8, 4  # sides of a tube, pieces of an element along the rod, if the pixel size is not known
SHARP = np.cos(np.radians(50.0))  # faces that meet at more than this angle keep an edge
VISIBLE = 0.0035  # least radius of a rod, as part of the size of the scene
THIN = 3.0  # pixels; nothing is drawn thinner
ROUNDED = 200_000  # largest number of triangles when the surfaces of smooth bodies are refined
CORNERS = np.array([(0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)])  # corners of a rectangle, about d1


class Surface(NamedTuple):
    """Hold triangles with a normal at every vertex, and the object to which each vertex belongs."""

    vertices: Floats  # (n, 3) positions, m
    normals: Floats  # (n, 3) unit normals
    faces: Ints  # (m, 3) vertex indices of the triangles
    owner: Ints  # (n,) number of the object; rods are numbered first, then bodies


class SceneBuilder:
    """Build the surfaces of all rods and bodies of a layout at any state."""

    def __init__(self, layout: Layout, size: float, pixel: float = 0.0) -> None:
        """Compute everything that does not depend on the state.

        `size`: size of the scene, m; thin rods are drawn thick enough to be visible in it. `pixel`: length that a pixel
        shows, m; 0 if not known.
        """
        points = np.cumsum([0] + [len(rod.frames) for rod in layout.rods])  # numbered as in `Drawing`
        numbered = list(zip(range(len(layout.rods)), layout.rods, points, strict=False))
        boxes = [item for item in numbered if np.all(item[1].sides > 0)]
        tubes = [item for item in numbered if not np.all(item[1].sides > 0)]
        self._parts: list[Sweep | Bodies] = []
        if tubes:
            self._parts.append(Sweep(tubes, False, size, pixel))
        if boxes:
            self._parts.append(Sweep(boxes, True, size, pixel))
        if layout.bodies:
            self._parts.append(Bodies(layout.bodies, len(layout.rods), int(points[-1]), pixel))
        starts = np.cumsum([0] + [part.n_vertices for part in self._parts])
        self._faces = np.concatenate(
            [np.zeros((0, 3), np.int64), *(p.faces + s for p, s in zip(self._parts, starts, strict=False))]
        )
        self._owner = np.concatenate([np.zeros(0, np.int64), *(part.owner for part in self._parts)])

    def surface(self, state: State) -> Surface:
        """Return all objects at `state` as one surface."""
        placed = [part.place(state) for part in self._parts]
        vertices, normals = (np.concatenate([own[k] for own in placed]) for k in (0, 1))
        return Surface(vertices, normals, self._faces, self._owner)

    def spread(self, values: Floats) -> Floats:
        """Interpolate values at the points of a `Drawing` (n_points,) to the vertices of the surface, linear between nodes."""
        parts = []
        for part in self._parts:
            before, after, x = part.between
            parts.append((1 - x) * values[before] + x * values[after])
        return np.concatenate(parts)


def merge(parts: Sequence[Surface]) -> Surface:
    """Merge several surfaces into one."""
    starts = np.cumsum([0] + [len(part.vertices) for part in parts])
    return Surface(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.owner for part in parts]),
    )


class Sweep:
    """Represent rods with sections of one form, round or rectangular, by closely spaced rings of vertices."""

    def __init__(
        self, rods: Sequence[tuple[int, RodLayout, int]], rectangles: bool, size: float, pixel: float
    ) -> None:
        """Compute triangles and interpolation weights of these rods.

        `rods`: (owner number, layout, number of the first point) of each rod; `rectangles`: True if sections are rectangular;
        `size`, `pixel`: as in `SceneBuilder`.
        """
        scales = [
            _shown_sides(rod, size, pixel) if rectangles else _shown(rod, size, pixel) for _, rod, _ in rods
        ]
        longest = max(float(np.diff(rod.arclength).max(initial=0.0)) for _, rod, _ in rods)
        thickest = max(float(scale.max()) for scale in scales)
        # as many as keep the deviation from the true outline below a quarter of a pixel
        known = pixel > 0
        pieces = int(np.clip(np.ceil(0.45 * np.sqrt(longest / pixel)), 2, 8)) if known else PIECES
        sides = int(np.clip(np.ceil(4.5 * np.sqrt(thickest / pixel)), 6, 32)) if known else SIDES
        self._x = np.arange(pieces) / pieces
        if rectangles:
            self._outline = np.repeat(CORNERS, 2, axis=0)
            across = np.roll(CORNERS, -1, axis=0) + CORNERS
            self._normals = np.roll(np.repeat(across, 2, axis=0), 1, axis=0)
            edges = np.stack([np.arange(1, 9, 2), np.arange(2, 10, 2) % 8], axis=1)
        else:
            angle = 2 * np.pi * np.arange(sides) / sides
            self._outline = self._normals = np.stack([np.cos(angle), np.sin(angle)], axis=1)
            edges = np.stack([np.arange(sides), (np.arange(sides) + 1) % sides], axis=1)
        frames, points, scale, owner, following, ends = [], [], [], [], [], []
        n_rings = pieces * sum(len(rod.elements) for _, rod, _ in rods)
        end_owner: list[int] = []
        end_frames, end_points, end_scale = [], [], []
        first = 0
        for (number, rod, start), shown in zip(rods, scales, strict=True):
            n, n_el = len(rod.frames), len(rod.elements)
            a, b = np.arange(n_el), (np.arange(n_el) + 1) % n
            frames.append(np.stack([rod.frames[a], rod.frames[b]]))
            points.append(np.stack([a, b]) + start)
            scale.append(np.stack([shown[a], shown[b]]))
            owner.append(np.full(n_el * pieces, number))
            ring = first + np.arange(n_el * pieces)
            if rod.closed:
                following.append(np.roll(ring, -1))
            else:
                last = n_rings + len(end_owner)
                following.append(np.append(ring[1:], last))
                ends += [(first, -1.0), (last, 1.0)]
                end_owner.append(number)
                end_frames.append(rod.frames[-1])
                end_points.append(start + n - 1)
                end_scale.append(shown[-1])
            first += n_el * pieces
        self._frames = np.concatenate(frames, axis=1)
        self._end_frames = np.array(end_frames, dtype=np.int64)
        x = np.tile(self._x, self._frames.shape[1])
        before, after = (np.append(np.repeat(p, pieces), end_points) for p in np.concatenate(points, axis=1))
        x = np.append(x, np.zeros(len(end_points)))
        scale_a, scale_b = np.concatenate(scale, axis=1)
        between = (1 - self._x)[:, None] * scale_a[:, None] + self._x[:, None] * scale_b[:, None]
        self._scale = np.concatenate([between.reshape(-1, 2), np.array(end_scale).reshape(-1, 2)])
        # ends are closed by lids: the end rings are repeated with the normal of the lid, plus its centre
        self._lids = np.array([ring for ring, _ in ends], dtype=np.int64)
        self._outward = np.array([sign for _, sign in ends])
        k = len(self._outline)
        e0, e1 = edges.T
        own, nxt = k * np.arange(n_rings)[:, None], k * np.concatenate(following)[:, None]
        a, b, c, d = own + e0, own + e1, nxt + e1, nxt + e0
        walls = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
        rings = len(self._scale)
        lids = []
        for number, sign in enumerate(self._outward):
            start = rings * k + number * (k + 1)
            fan = np.stack([e0, e1, np.full(len(e0), k)], axis=1)
            lids.append(start + (fan if sign > 0 else fan[:, ::-1]))
        self.faces = np.concatenate([walls, *lids]).astype(np.int64)
        of_ring = np.append(np.concatenate(owner), end_owner).astype(np.int64)
        ring_of_vertex = np.concatenate([np.repeat(np.arange(rings), k), np.repeat(self._lids, k + 1)])
        self.owner = of_ring[ring_of_vertex]
        self.between = (
            before[ring_of_vertex].astype(int),
            after[ring_of_vertex].astype(int),
            x[ring_of_vertex],
        )
        self.n_vertices = len(self.owner)

    def center_line(self, state: State) -> tuple[Floats, Floats]:
        """Return positions (n, 3), m, and quaternions (n, 4) of the rings, smooth between the nodes.

        Positions lie on cubic Hermite curves with the section normals d1 as tangents; quaternions are normalised means.
        """
        a, b = self._frames
        r, q = state.r, state.quat
        qa, qb = q[a], q[b]
        qb = np.where(np.sum(qa * qb, axis=1, keepdims=True) < 0, -qb, qb)
        d1 = np.array([1.0, 0.0, 0.0])
        ta, tb = rotate(qa, d1), rotate(qb, d1)
        chord = np.linalg.norm(r[b] - r[a], axis=1)
        half_angle = np.sqrt((1 + np.clip(np.sum(ta * tb, axis=1), -1, 1)) / 2)  # cosine of half the angle
        speed = (2 * chord / (1 + half_angle))[:, None, None]  # optimal for circular arcs
        x = self._x[None, :, None]
        curve = (1 + 2 * x) * (1 - x) ** 2 * r[a][:, None] + x * (1 - x) ** 2 * speed * ta[:, None]
        curve = curve + x**2 * (3 - 2 * x) * r[b][:, None] + x**2 * (x - 1) * speed * tb[:, None]
        turns = normalize((1 - x) * qa[:, None] + x * qb[:, None])
        return (
            np.concatenate([curve.reshape(-1, 3), r[self._end_frames]]),
            np.concatenate([turns.reshape(-1, 4), q[self._end_frames]]),
        )

    def place(self, state: State) -> tuple[Floats, Floats]:
        """Return vertices (n, 3), m, and normals (n, 3) at `state`."""
        r, quat = self.center_line(state)
        R = to_matrix(quat)
        d2, d3 = R[:, None, :, 1], R[:, None, :, 2]
        offsets = self._outline * self._scale[:, None]
        rings = r[:, None] + offsets[..., :1] * d2 + offsets[..., 1:] * d3
        normals = self._normals[:, :1] * d2 + self._normals[:, 1:] * d3
        lids = np.concatenate([rings[self._lids], r[self._lids, None]], axis=1)
        lid_normals = np.repeat(self._outward[:, None] * R[self._lids, :, 0], lids.shape[1], axis=0)
        return (
            np.concatenate([rings.reshape(-1, 3), lids.reshape(-1, 3)]),
            np.concatenate([normals.reshape(-1, 3), lid_normals]),
        )


def _shown(rod: RodLayout, size: float, pixel: float) -> Floats:
    """Return the drawn radii (n_nodes, 2) along d2 and d3, m."""
    return np.repeat(np.maximum(rod.radius, max(VISIBLE * size, THIN / 2 * pixel))[:, None], 2, axis=1)


def _shown_sides(rod: RodLayout, size: float, pixel: float) -> Floats:
    """Return the drawn widths and heights (n_nodes, 2), m.

    A thin section is enlarged in proportion, so that a ribbon remains one; no side is drawn thinner than THIN pixels.
    """
    grown = np.maximum(1.0, 2 * VISIBLE * size / rod.sides.max(axis=1, keepdims=True))
    return np.maximum(grown * rod.sides, THIN * pixel)


class Bodies:
    """Represent the surfaces of bodies by vertices X (n, 3), m, each fixed to the `frame` (n,) of its body."""

    def __init__(
        self, bodies: Sequence[BodyLayout], first_owner: int, first_point: int, pixel: float
    ) -> None:
        made: dict[tuple[bytes, bytes], _Shape] = {}  # equal bodies share one shape
        keys = [(body.vertices.tobytes(), body.faces.tobytes()) for body in bodies]
        room = ROUNDED // len(bodies)
        for key, body in zip(keys, bodies, strict=True):
            if key not in made:
                made[key] = _shape(body, pixel, room)
        shapes = [made[key] for key in keys]
        counts = [len(shape.vertices) for shape in shapes]
        starts = np.cumsum([0, *counts])
        points = first_point + np.cumsum([0] + [len(body.vertices) for body in bodies])
        self.X = np.concatenate([shape.vertices for shape in shapes])
        self._normals = np.concatenate([shape.normals for shape in shapes])
        self.faces = np.concatenate([shape.faces + s for shape, s in zip(shapes, starts, strict=False)])
        self.frame = np.repeat([body.frame for body in bodies], counts)
        self.owner = first_owner + np.repeat(np.arange(len(bodies)), counts)
        nearest = np.concatenate([shape.nearest + p for shape, p in zip(shapes, points, strict=False)])
        self.between = nearest, nearest, np.zeros(len(nearest))
        self.n_vertices = len(self.owner)

    def place(self, state: State) -> tuple[Floats, Floats]:
        """Return vertices (n, 3), m, and normals (n, 3) at `state`."""
        R = to_matrix(state.quat)[self.frame]
        vertices = state.r[self.frame] + np.einsum("pij,pj->pi", R, self.X)
        return vertices, np.einsum("pij,pj->pi", R, self._normals)


class _Shape(NamedTuple):
    """Hold the surface of a body in the axes of its frame, with one normal per vertex."""

    vertices: Floats  # (n, 3) positions, m
    normals: Floats  # (n, 3) unit normals
    faces: Ints  # (m, 3) vertex indices of the triangles
    nearest: Ints  # (n,) vertices of the body's unrefined surface, from which values are taken


def _shape(body: BodyLayout, pixel: float, room: int) -> _Shape:
    """Build the surface of a body, refined to `pixel` (m) if it is smooth, with at most `room` triangles."""
    shape = _with_normals(body)
    smooth = len(np.unique(np.round(shape.vertices, 12), axis=0)) == len(shape.vertices) > 0
    while smooth and pixel > 0 and 4 * len(shape.faces) <= room:
        a, b = shape.vertices[shape.faces[:, 0]], shape.vertices[shape.faces[:, 1]]
        if np.linalg.norm(b - a, axis=1).max() < 8 * pixel:
            break
        shape = _rounder(shape)
    return _thick_enough(shape, THIN / 2 * pixel) if len(shape.vertices) else shape


def _with_normals(body: BodyLayout) -> _Shape:
    """Return a body's surface with vertex normals: averaged where it is smooth, separate at sharp edges."""
    corners = body.vertices[body.faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(area, axis=1, keepdims=True)
    flat = area / np.where(size > 0, size, 1.0)
    normals = np.repeat(flat[:, None], 3, axis=1)
    # vertices with equal positions count as one, whatever their numbers
    _, place = np.unique(np.round(body.vertices, 12), axis=0, return_inverse=True)
    at = place.ravel()[body.faces].ravel()
    order = np.argsort(at, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(at[order])) + 1) if len(order) else []:
        face, corner = np.divmod(group, 3)
        together = flat[face] @ flat[face].T > SHARP
        mean = together @ area[face]
        length = np.linalg.norm(mean, axis=1, keepdims=True)
        normals[face, corner] = mean / np.where(length > 0, length, 1.0)
    # corners with equal positions and normals become one vertex
    rows = np.concatenate([at[:, None], np.round(normals.reshape(-1, 3), 6) + 0.0], axis=1)
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    nearest = body.faces.ravel()[first]
    return _Shape(body.vertices[nearest], normals.reshape(-1, 3)[first], which.reshape(-1, 3), nearest)


def _rounder(shape: _Shape) -> _Shape:
    """Split every triangle into four, and move the edge midpoints out to the smooth surface that the normals define.

    A midpoint moves half way from the chord to the mean of its projections on the tangent planes at both ends. On a sphere
    this is exact to fourth order in the angle.
    """
    X, n, faces = shape.vertices, shape.normals, shape.faces
    a, b, c = faces.T
    edges = np.concatenate([np.stack(pair, axis=1) for pair in ((a, b), (b, c), (c, a))])
    ends, which = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    p, q = X[ends[:, 0]], X[ends[:, 1]]
    m, k = n[ends[:, 0]], n[ends[:, 1]]
    half = (q - p) / 2
    out = np.sum(half * m, axis=1, keepdims=True) * m - np.sum(half * k, axis=1, keepdims=True) * k
    middles = (p + q) / 2 - out / 4
    normals = m + k
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    ab, bc, ca = len(X) + which.reshape(3, -1)
    triangles = ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))
    return _Shape(
        np.concatenate([X, middles]),
        np.concatenate([n, normals]),
        np.concatenate([np.stack(triangle, axis=1) for triangle in triangles]),
        np.concatenate([shape.nearest, shape.nearest[ends[:, 0]]]),
    )


def _thick_enough(shape: _Shape, least: float) -> _Shape:
    """Scale a shape so that it is at least 2 `least` (m) thick along each of its principal axes."""
    middle = (shape.vertices.max(axis=0) + shape.vertices.min(axis=0)) / 2
    X = shape.vertices - middle
    axes = np.linalg.eigh(X.T @ X)[1]
    half = np.abs(X @ axes).max(axis=0)
    grow = np.maximum(1.0, least / np.maximum(half, 1e-300))
    if np.all(grow == 1.0):
        return shape
    normals = (shape.normals @ axes / grow) @ axes.T
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return shape._replace(vertices=middle + (X @ axes * grow) @ axes.T, normals=normals)
