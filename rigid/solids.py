"""What convex bodies touch a plane with: points and circles, from their shapes.

A half-space touches a body first where the body's hull has an end: at vertices, at the rims of surfaces of revolution, at a
sphere. Each may be rounded: all that is no further than a radius from the points and circles of a smaller body of its kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import scipy  # its parts are loaded when they are asked for

from rigid.errors import ModelError
from rigid.hull_faces import shares_of
from rigid.system import Floats

FLAT = 1e-9  # of the extent: what is thinner is a plate


class Features(NamedTuple):
    """k points and c circles, from the reference point, in the axes of the shape."""

    points: Floats  # (k, 3) m
    circles: Floats  # (c, 7) centre [m], axis (unit), radius [m]
    shares: Floats  # (k + c,) parts of the stiffness; those of a flat face add up to 1, of a circle both points have this
    radius: float  # m, around all of them
    half: float  # m, of the least extent


class Solid(Protocol):
    """A shape that can touch."""

    def features(self, owner: str, radius: float) -> Features:
        """Rounded with this radius, m; ModelError where it is too large for the shape."""


@dataclass(frozen=True, eq=False)
class Ball:
    """About the reference point."""

    radius: float

    def features(self, owner: str, radius: float) -> Features:
        _round_already(owner, radius)
        return Features(np.zeros((1, 3)), np.zeros((0, 7)), np.ones(1), self.radius, self.radius)


@dataclass(frozen=True, eq=False)
class Stadium:
    """All that is within a radius of a piece of the z axis about the reference point: a capsule."""

    radius: float
    length: float  # m, of that piece

    def features(self, owner: str, radius: float) -> Features:
        _round_already(owner, radius)
        ends = np.array([[0.0, 0.0, -0.5 * self.length], [0.0, 0.0, 0.5 * self.length]])
        return Features(ends, np.zeros((0, 7)), np.full(2, 0.5), self.radius, self.radius)


@dataclass(frozen=True, eq=False)
class Cuboid:
    """About the reference point."""

    edges: Floats  # (3,) m

    def features(self, owner: str, radius: float) -> Features:
        half = 0.5 * self.edges
        _check_rounding(owner, radius, float(half.min()))
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        return Features(
            signs * (half - radius), np.zeros((0, 7)), np.full(8, 0.25), radius, float(half.min())
        )


@dataclass(frozen=True, eq=False)
class Revolved:
    """A convex body of revolution about the z axis."""

    radii: Floats  # (n,) m, of its profile from below to above, zero at both ends
    heights: Floats  # (n,) m

    def features(self, owner: str, radius: float) -> Features:
        """The edges of the profile are moved inwards by the radius: rims where two of them meet, a point where one comes to the
        axis on a slope.
        """
        rims, ends = self._inset(radius)
        half = 0.5 * min(float(np.ptp(self.heights)), 2.0 * float(self.radii.max()))
        rises = np.diff(np.concatenate([ends[:1], rims[:, 1], ends[1:]]))
        if rims[:, 0].min() <= 0.0 or rises.min() < -FLAT * half:
            _too_round(owner, radius, f"the {half:.3g} m of half its least extent, less where it is pointed")
        pointed = np.array([self.heights[0] < self.heights[1], self.heights[-2] < self.heights[-1]])
        points = np.column_stack([np.zeros((2, 2)), ends])[pointed]
        circles = np.column_stack(
            [np.zeros((len(rims), 2)), rims[:, 1], np.tile([0.0, 0.0, 1.0], (len(rims), 1)), rims[:, 0]]
        )
        return Features(points, circles, np.full(len(points) + len(rims), 0.5), radius, half)

    def _inset(self, by: float) -> tuple[Floats, Floats]:
        """Rims (n - 2, 2), radius and height; heights (2,) of the ends on the axis."""
        along = np.column_stack([np.diff(self.radii), np.diff(self.heights)])
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        out = np.column_stack([along[:, 1], -along[:, 0]])
        far = out[:, 0] * self.radii[:-1] + out[:, 1] * self.heights[:-1] - by
        rims = np.array([np.linalg.solve(out[k : k + 2], far[k : k + 2]) for k in range(len(out) - 1)])
        return rims, np.array([far[0] / out[0, 1], far[-1] / out[-1, 1]])


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points, all of them with the radius around: one is a sphere, two are a capsule."""

    vertices: Floats  # (n, 3) m

    def features(self, owner: str, radius: float) -> Features:
        points, shares, half = self._ends
        return Features(points, np.zeros((0, 7)), shares, radius, radius + half)

    @property
    def is_flat(self) -> bool:
        """Whether it is a point, a line or a plate."""
        return self._ends[2] == 0.0

    @cached_property
    def _ends(self) -> tuple[Floats, Floats, float]:
        """Its vertices, their parts of the stiffness and half of the least extent, the same for all radii."""
        X = self.vertices
        away = X - X.mean(axis=0)
        extents = np.linalg.svd(away, compute_uv=False) / np.sqrt(len(X))
        if extents.size < 3 or extents[2] <= FLAT * extents[0]:  # a point, a line, a plate
            return X, np.full(len(X), 1.0 / len(X)), 0.0
        hull = scipy.spatial.ConvexHull(away)
        return X[hull.vertices], shares_of(hull)[hull.vertices], float(-hull.equations[:, 3].max())


def _round_already(owner: str, radius: float) -> None:
    if radius > 0.0:
        raise ModelError(f"{owner}: radius = {radius:g}, but its shape is round; leave it out")


def _check_rounding(owner: str, radius: float, half: float) -> None:
    if radius >= half:
        _too_round(owner, radius, f"the {half:.3g} m of half its least extent")


def _too_round(owner: str, radius: float, most: str) -> None:
    raise ModelError(f"{owner}: rounded with {radius:g} m, more than the shape has; give less than {most}")
