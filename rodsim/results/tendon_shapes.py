"""Tendons and belts in pictures: tubes along their paths, and discs for the circles that they pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rigid.system import Floats, Ints, State
from rodsim.results.layout import Layout
from rodsim.results.shapes import SIDES, THIN, VISIBLE, Shape, fixed_shape
from rodsim.results.string_frames import with_string_directions
from rodsim.results.tendon_paths import TendonPath, paths_of

COLORS = np.array([[60, 52, 40]]) / 255  # after the colours of the contact surfaces
THICKNESS = 0.6  # radius of a tube over the least radius of a rod
DISC, CORNERS = 0.006, 48  # thickness of a disc, relative to the scene; number of corners


def discs(layout: Layout, size: float, owner: int) -> Iterator[Shape]:
    """Yield a disc for each circle that a tendon or belt passes; size: size of the scene, m."""
    for path in paths_of(layout):
        for frame, C, A, radius in zip(path.frames, path.centres, path.axes, path.radii, strict=True):
            if radius != 0.0:
                yield fixed_shape(int(frame), owner, *_disc(C, A, abs(radius), DISC * size))


def _disc(C: Floats, A: Floats, radius: float, thickness: float) -> tuple[Floats, Ints]:
    """Return vertices and faces of a disc about C with the unit axis A."""
    u = np.cross(np.eye(3)[np.argmin(np.abs(A))], A)
    u /= np.linalg.norm(u)
    angle = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    ring = C + radius * (np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * np.cross(A, u))
    side = 0.5 * thickness * A
    vertices = np.concatenate([ring + side, ring - side, [C + side], [C - side]])
    k, n = np.arange(CORNERS), CORNERS
    following = (k + 1) % n
    top = np.stack([k, following, np.full(n, 2 * n)], axis=1)
    bottom = np.stack([n + following, n + k, np.full(n, 2 * n + 1)], axis=1)
    walls = [np.stack([k, n + k, n + following], axis=1), np.stack([k, n + following, following], axis=1)]
    return vertices, np.concatenate([top, bottom, *walls])


class SceneShape(NamedTuple):
    """Shapes that are fixed to frames, and tubes along the paths of tendons."""

    fixed: Shape
    layout: Layout
    paths: Sequence[TendonPath]
    radius: float  # of the tubes, m
    faces: Ints  # (k, 3) of all
    owner: Ints  # (n,) of all vertices
    before: Ints  # (n,) as in `Shape`; -1: tubes have no values

    @staticmethod
    def of(fixed: Shape, layout: Layout, size: float, pixel: float, owner: int) -> SceneShape:
        """Add the tubes of a layout, with this owner, to shapes that are fixed to frames; arguments as in `rod_shape`."""
        paths, faces, first = paths_of(layout), [fixed.faces], len(fixed.owner)
        for path in paths:
            k = np.arange(SIDES)
            ring = first + SIDES * np.arange(path.size - 1)[:, None]
            a, b = ring + k, ring + (k + 1) % SIDES
            faces.append(np.stack([a, b, b + SIDES, a, b + SIDES, a + SIDES], axis=-1).reshape(-1, 3))
            first += SIDES * path.size
        more = first - len(fixed.owner)
        radius = max(THICKNESS * VISIBLE * size, 0.5 * THIN * pixel)
        owners = np.append(fixed.owner, np.full(more, owner))
        none = np.append(fixed.before, np.full(more, -1))
        return SceneShape(fixed, layout, paths, radius, np.concatenate(faces), owners, none)

    def place(self, state: State) -> Floats:
        """Return the positions (n, 3) of the vertices at `state`, m."""
        tubes = [_tube(path.points(self.layout, state), self.radius) for path in self.paths]
        return np.concatenate([self.fixed.place(with_string_directions(self.layout, state)), *tubes])

    def spread(self, values: Floats) -> Floats:
        """Return values at the vertices, as `Shape.spread`; nan on tubes."""
        spread = self.fixed.spread(values)
        return np.append(spread, np.full(len(self.owner) - len(spread), np.nan))


def _tube(points: Floats, radius: float) -> Floats:
    """Return rings of vertices (SIDES n, 3) around points (n, 3) of a path, rotated as little as possible along it."""
    along = np.zeros_like(points)
    along[:-1] += np.diff(points, axis=0)
    along[1:] += np.diff(points, axis=0)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    rings, across, direction = [], np.zeros(3), np.array([1.0, 0.0, 0.0])
    for point, step in zip(points, along, strict=True):
        length = np.linalg.norm(step)
        if length > 0.0:
            direction = step / length
        across = across - (across @ direction) * direction
        if np.linalg.norm(across) < 1e-3:
            across = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
        across = across / np.linalg.norm(across)
        normal = np.cross(direction, across)
        rings.append(point + radius * (np.cos(angle)[:, None] * across + np.sin(angle)[:, None] * normal))
    return np.concatenate(rings)
