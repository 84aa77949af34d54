"""Build the surface that a picture shows: rods, bodies, supports and contact surfaces at a state.

Everything that does not change from picture to picture (triangles, owners, positions along the rods) is computed once. Normals
are left to the renderer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rigid.quaternions import normalize, rotate, to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results import contact_surfaces, marks
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.solids import THIN, body_solids

SIDES, PIECES = 8, 4  # sides of a tube, pieces of an element along the rod, if the pixel size is not known
MOST_SIDES = 32  # at least SIDES: with fewer the angle between walls is that of a sharp edge
VISIBLE = 0.0035  # least radius of a rod, as part of the size of the scene
CORNERS = np.array([(1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)])  # corners of a rectangle, about d1


class Surface(NamedTuple):
    """Hold triangles, and the object to which each vertex belongs."""

    vertices: Floats  # (n, 3) positions, m
    faces: Ints  # (m, 3) vertex indices of the triangles, counter-clockwise seen from outside
    owner: (
        Ints  # (n,) number of the object: rods, bodies, then the colours of `marks` and of `contact_surfaces`
    )


def merge(parts: Sequence[Surface]) -> Surface:
    """Merge several surfaces into one."""
    starts = np.cumsum([0] + [len(part.vertices) for part in parts])
    return Surface(
        np.concatenate([np.zeros((0, 3)), *(part.vertices for part in parts)]),
        np.concatenate(
            [np.zeros((0, 3), np.int64)]
            + [part.faces + start for part, start in zip(parts, starts, strict=False)]
        ),
        np.concatenate([np.zeros(0, np.int64), *(part.owner for part in parts)]),
    )


class SceneBuilder:
    """Build the surface of a model at any state."""

    def __init__(
        self, layout: Layout, size: float, up: Floats, states: Sequence[State], pixel: float = 0.0
    ) -> None:
        """Compute everything that does not depend on the state.

        `size`: size of the scene, m; thin rods are drawn thick enough to be visible in it. `up`: (3,) unit vector. `states`:
        states in which planes are large enough for all that may touch them. `pixel`: length that a pixel shows, m; 0 if
        not known.
        """
        first_point, parts = 0, len(layout.rods) + len(layout.bodies)
        self._rods: list[SweptRod] = []
        for number, rod in enumerate(layout.rods):
            self._rods.append(SweptRod(rod, first_point, number, size, pixel))
            first_point += len(rod.frames)
        self._solids = [
            *body_solids(layout.bodies, len(layout.rods), first_point, size, pixel),
            *marks.supports(layout, size, up, parts),
            *contact_surfaces.solids(layout, size, states, parts + len(marks.COLORS)),
        ]
        made = merge([Surface(solid.vertices, solid.faces, solid.owners) for solid in self._solids])
        self._solid = made
        counts = [len(solid.vertices) for solid in self._solids]
        self._frame = np.repeat(np.array([solid.frame for solid in self._solids], np.int64), counts)
        self._upright = np.concatenate([np.zeros((0, 3)), *(solid.upright for solid in self._solids)])
        points = np.concatenate([np.zeros(0, np.int64), *(solid.points for solid in self._solids)])
        none = np.zeros(len(points))
        self._between = [rod.between for rod in self._rods] + [(points, points, none)]

    def surface(self, state: State) -> Surface:
        """Return all objects at `state` as one surface."""
        R = to_matrix(state.quat)[self._frame]
        turned = np.einsum("nij,nj->ni", R, self._solid.vertices)
        solid = self._solid._replace(vertices=state.r[self._frame] + turned + self._upright)
        return merge([rod.place(state) for rod in self._rods] + [solid])

    def spread(self, values: Floats) -> Floats:
        """Interpolate values at the points of a `Drawing` (n_points,) to the vertices, linear between nodes of rods.

        Vertices of supports, contact surfaces and bodies without a surface have no value: nan.
        """
        parts = []
        known = np.append(values, np.nan)  # for the point number -1
        for before, after, x in self._between:
            parts.append((1 - x) * known[before] + x * known[after])
        return np.concatenate(parts)

    @property
    def has_value(self) -> NDArray[np.bool_]:
        """Whether each vertex (n,) belongs to a point of a `Drawing`."""
        return np.concatenate([before >= 0 for before, _, _ in self._between])


class SweptRod:
    """Represent a rod by closely spaced rings of vertices, each an outline of its section, and a lid at each open end."""

    def __init__(self, rod: RodLayout, first_point: int, owner: int, size: float, pixel: float) -> None:
        """Compute triangles and interpolation weights.

        `first_point`: number of its first point in `Drawing`; `size`, `pixel`: as in `SceneBuilder`.
        """
        n, n_el = len(rod.frames), len(rod.elements)
        half = _half_sides(rod, size, pixel)
        # as many as keep the deviation from the true outline below a quarter of a pixel
        longest, thickest = float(np.diff(rod.arclength).max(initial=0.0)), float(half.max())
        pieces = int(np.clip(np.ceil(0.45 * np.sqrt(longest / pixel)), 2, 8)) if pixel > 0 else PIECES
        sides = (
            int(np.clip(np.ceil(4.5 * np.sqrt(thickest / pixel)), SIDES, MOST_SIDES)) if pixel > 0 else SIDES
        )
        angle = 2 * np.pi * np.arange(sides) / sides
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        self._outline = CORNERS if np.all(rod.sides > 0) else circle
        at = np.arange(n_el * pieces + (0 if rod.closed else 1)) / pieces
        before = np.minimum(at.astype(np.int64), n_el - 1)
        after, x = (before + 1) % n, at - before
        self._a, self._b, self._x = rod.frames[before], rod.frames[after], x[:, None]
        self._half = (1 - self._x) * half[before] + self._x * half[after]

        k, rings = len(self._outline), len(at)
        edge, following = np.arange(k), (np.arange(k) + 1) % k
        ring = k * np.arange(n_el * pieces)[:, None]
        opposite = (ring + k) % (k * rings)
        a, b, c, d = ring + edge, ring + following, opposite + following, opposite + edge
        faces = [np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)]
        self._lids = np.array([] if rod.closed else [0, rings - 1], np.int64)
        for lid, of_ring in enumerate(self._lids):
            fan = np.stack([k * of_ring + edge, k * of_ring + following, np.full(k, rings * k + lid)], axis=1)
            faces.append(fan if lid else fan[:, ::-1])
        self._faces: Ints = np.concatenate(faces)
        of_vertex = np.append(np.repeat(np.arange(rings), k), self._lids)
        self.between = first_point + before[of_vertex], first_point + after[of_vertex], x[of_vertex]
        self._owner = np.full(len(of_vertex), owner)

    def center_line(self, state: State) -> tuple[Floats, Floats]:
        """Return positions (n, 3), m, and quaternions (n, 4) of the rings, smooth between the nodes.

        Positions lie on cubic Hermite curves with the section normals d1 as tangents; quaternions are normalised means.
        """
        r, q, x = state.r, state.quat, self._x
        ra, rb, qa, qb = r[self._a], r[self._b], q[self._a], q[self._b]
        qb = np.where(np.sum(qa * qb, axis=1, keepdims=True) < 0, -qb, qb)
        d1 = np.array([1.0, 0.0, 0.0])
        ta, tb = rotate(qa, d1), rotate(qb, d1)
        chord = np.linalg.norm(rb - ra, axis=1, keepdims=True)
        # cosine of half the angle
        half_angle = np.sqrt((1 + np.clip(np.sum(ta * tb, axis=1, keepdims=True), -1, 1)) / 2)
        speed = 2 * chord / (1 + half_angle)  # optimal for circular arcs
        curve = (1 + 2 * x) * (1 - x) ** 2 * ra + x * (1 - x) ** 2 * speed * ta
        curve = curve + x**2 * (3 - 2 * x) * rb + x**2 * (x - 1) * speed * tb
        return curve, normalize((1 - x) * qa + x * qb)

    def place(self, state: State) -> Surface:
        """Return the surface at `state`."""
        r, quat = self.center_line(state)
        R = to_matrix(quat)
        offsets = self._outline * self._half[:, None]
        rings = r[:, None] + offsets[..., :1] * R[:, None, :, 1] + offsets[..., 1:] * R[:, None, :, 2]
        return Surface(np.concatenate([rings.reshape(-1, 3), r[self._lids]]), self._faces, self._owner)


def _half_sides(rod: RodLayout, size: float, pixel: float) -> Floats:
    """Return the drawn half sides along d2 and d3 (n_nodes, 2), m, or the radius twice.

    A thin rectangle is enlarged in proportion, so that a ribbon remains one. Nothing is drawn thinner than THIN pixels.
    """
    least = THIN / 2 * pixel
    if not np.all(rod.sides > 0):
        return np.repeat(np.maximum(rod.radius, max(VISIBLE * size, least))[:, None], 2, axis=1)
    grown = np.maximum(1.0, 2 * VISIBLE * size / rod.sides.max(axis=1, keepdims=True))
    return np.maximum(0.5 * grown * rod.sides, least)
