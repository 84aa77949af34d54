"""Rods and bodies as shaded surfaces: vertices, normals and triangles, ready for any renderer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.quaternions import normalize, rotate, to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results.layout import BodyLayout, Layout, RodLayout

SIDES = 20  # of a tube
PIECES = 6  # of an element, along the rod
SHARP = np.cos(np.radians(35.0))  # faces that meet at more than this angle keep an edge
VISIBLE = 0.0035  # least radius of a rod, as part of the size of the scene


class Surface(NamedTuple):
    """Triangles with a normal at every corner, and which object each vertex belongs to."""

    vertices: Floats  # (n, 3) m
    normals: Floats  # (n, 3)
    faces: Ints  # (m, 3)
    owner: Ints  # (n,) rods are numbered first, then bodies


class SceneBuilder:
    """Surfaces of all rods and bodies of a layout at any state."""

    def __init__(self, layout: Layout, size: float) -> None:
        """`size`: of the scene in m, thin rods are drawn thick enough to be seen in it."""
        self._layout = layout
        self._least = VISIBLE * size
        self._bodies = [_with_normals(body) for body in layout.bodies]

    def surface(self, state: State) -> Surface:
        """All objects at `state`, as one surface."""
        parts = []
        for i, rod in enumerate(self._layout.rods):
            vertices, normals, faces = tube(rod, state, self._least)
            parts.append(Surface(vertices, normals, faces, np.full(len(vertices), i)))
        for k, (body, (X, normals, faces)) in enumerate(zip(self._layout.bodies, self._bodies, strict=True)):
            R = to_matrix(state.quat[body.frame])
            owner = np.full(len(X), len(self._layout.rods) + k)
            parts.append(Surface(state.r[body.frame] + X @ R.T, normals @ R.T, faces, owner))
        return merge(parts)


def merge(parts: list[Surface]) -> Surface:
    """One surface of several."""
    starts = np.cumsum([0] + [len(part.vertices) for part in parts])
    return Surface(
        np.concatenate([np.zeros((0, 3)), *(part.vertices for part in parts)]),
        np.concatenate([np.zeros((0, 3)), *(part.normals for part in parts)]),
        np.concatenate([np.zeros((0, 3), np.int64), *(p.faces + starts[i] for i, p in enumerate(parts))]),
        np.concatenate([np.zeros(0, np.int64), *(part.owner for part in parts)]),
    )


def center_line(rod: RodLayout, state: State) -> tuple[Floats, Floats, Floats]:
    """Positions, quaternions and radii of cross-sections close together: between nodes the curve is round.

    Cubic Hermite curves with the section normals d1 as tangents, and normalised means of the quaternions.
    """
    r, q, radius = state.r[rod.frames], state.quat[rod.frames], rod.radius
    if rod.closed:
        r, q, radius = (np.concatenate([a, a[:1]]) for a in (r, q, radius))
    signs = np.where(np.sum(q[1:] * q[:-1], axis=1) < 0, -1.0, 1.0)
    q = q * np.concatenate([[1.0], np.cumprod(signs)])[:, None]
    d1 = rotate(q, np.array([1.0, 0.0, 0.0]))
    x = np.linspace(0, 1, PIECES, endpoint=False)[None, :, None]
    chord = np.linalg.norm(r[1:] - r[:-1], axis=1)
    half_angle = np.sqrt((1 + np.clip(np.sum(d1[1:] * d1[:-1], axis=1), -1, 1)) / 2)  # its cosine
    speed = (2 * chord / (1 + half_angle))[:, None, None]  # best for arcs of circles
    a, b, ta, tb = r[:-1, None], r[1:, None], speed * d1[:-1, None], speed * d1[1:, None]
    curve = (
        (1 + 2 * x) * (1 - x) ** 2 * a + x * (1 - x) ** 2 * ta + x**2 * (3 - 2 * x) * b + x**2 * (x - 1) * tb
    )
    turns = normalize((1 - x) * q[:-1, None] + x * q[1:, None])
    radii = (1 - x[..., 0]) * radius[:-1, None] + x[..., 0] * radius[1:, None]
    return (
        np.concatenate([curve.reshape(-1, 3), r[-1:]]),
        np.concatenate([turns.reshape(-1, 4), q[-1:]]),
        np.concatenate([radii.ravel(), radius[-1:]]),
    )


def tube(rod: RodLayout, state: State, least_radius: float) -> tuple[Floats, Floats, Ints]:
    """Vertices, normals and triangles of a rod with round sections; ends are closed."""
    r, q, radius = center_line(rod, state)
    radius = np.maximum(radius, least_radius)
    R = to_matrix(q)
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    out = np.cos(angle)[None, :, None] * R[:, None, :, 1] + np.sin(angle)[None, :, None] * R[:, None, :, 2]
    rings = r[:, None] + radius[:, None, None] * out
    n = len(r)
    i, k = np.meshgrid(np.arange(n - 1) * SIDES, np.arange(SIDES), indexing="ij")
    a, b = i + k, i + (k + 1) % SIDES
    faces = np.stack([a, b, b + SIDES, a, b + SIDES, a + SIDES], axis=-1).reshape(-1, 3)
    vertices: list[Floats] = [rings.reshape(-1, 3)]
    normals: list[Floats] = [out.reshape(-1, 3)]
    triangles = [faces]
    if not rod.closed:
        for end, sign in ((0, -1.0), (n - 1, 1.0)):
            start = sum(len(v) for v in vertices)
            vertices += [rings[end], r[end : end + 1]]
            normals.append(np.tile(sign * R[end, :, 0], (SIDES + 1, 1)))
            ring = np.arange(SIDES)
            fan = np.stack([ring, (ring + 1) % SIDES, np.full(SIDES, SIDES)], axis=1)
            triangles.append(start + (fan if sign > 0 else fan[:, ::-1]))
    return np.concatenate(vertices), np.concatenate(normals), np.concatenate(triangles)


def _with_normals(body: BodyLayout) -> tuple[Floats, Floats, Ints]:
    """Corners (3 nf, 3), normals and triangles of a body: smooth where it is round, sharp at its edges."""
    corners = body.vertices[body.faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(area, axis=1, keepdims=True)
    flat = area / np.where(size > 0, size, 1.0)
    normals = np.repeat(flat[:, None], 3, axis=1)
    # vertices at the same place are one, whatever their numbers
    _, place = np.unique(np.round(body.vertices, 12), axis=0, return_inverse=True)
    at = place.ravel()[body.faces].ravel()
    order = np.argsort(at, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(at[order])) + 1) if len(order) else []:
        face, corner = np.divmod(group, 3)
        together = flat[face] @ flat[face].T > SHARP
        mean = together @ area[face]
        length = np.linalg.norm(mean, axis=1, keepdims=True)
        normals[face, corner] = mean / np.where(length > 0, length, 1.0)
    n = 3 * len(body.faces)
    return corners.reshape(-1, 3), normals.reshape(-1, 3), np.arange(n).reshape(-1, 3)
