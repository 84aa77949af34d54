"""Compute the features by which convex bodies touch a plane: points and circles, from their shapes.

A half-space first touches an extreme feature of the convex hull of a body: a vertex, the rim of a surface of revolution, a
sphere. Each body may be rounded: it then consists of all points within a radius of a smaller body of the same type, which has
these points and circles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import scipy  # its subpackages are loaded on first access

from rigid.errors import ModelError
from rigid.hull_faces import shares_of
from rigid.system import Floats

FLAT = 1e-9  # fraction of the extent: thinner bodies count as plates


class Features(NamedTuple):
    """Contact features of a shape, k points and c circles, relative to the reference point, in the axes of the shape."""

    points: Floats  # (k, 3) points, m
    circles: Floats  # (c, 7) centre [m], axis (unit), radius [m]
    shares: Floats  # (k + c,) fractions of the stiffness, sum 1 on a flat face; both contact points of a circle have its fraction
    radius: float  # rounding radius around all points and circles, m
    half: float  # half of the least extent, m


class Solid(Protocol):
    """Shape for contact."""

    def features(self, owner: str, radius: float) -> Features:
        """Return the features of the shape rounded with this radius, m. Raise ModelError if the radius is too large
        for the shape.
        """


@dataclass(frozen=True, eq=False)
class Ball:
    """Ball about the reference point."""

    radius: float  # m

    def features(self, owner: str, radius: float) -> Features:
        """Return the centre as the only point; the radius of the ball is the rounding radius. Raise ModelError if
        `radius` is given.
        """
        _check_not_round(owner, radius)
        return Features(np.zeros((1, 3)), np.zeros((0, 7)), np.ones(1), self.radius, self.radius)


@dataclass(frozen=True, eq=False)
class Stadium:
    """Capsule: all points within a radius of a segment of the z axis, which is centred at the reference point."""

    radius: float  # m
    length: float  # length of the segment, m

    def features(self, owner: str, radius: float) -> Features:
        """Return the ends of the segment as points; the radius is the rounding radius. Raise ModelError if `radius` is given."""
        _check_not_round(owner, radius)
        ends = np.array([[0.0, 0.0, -0.5 * self.length], [0.0, 0.0, 0.5 * self.length]])
        return Features(ends, np.zeros((0, 7)), np.full(2, 0.5), self.radius, self.radius)


@dataclass(frozen=True, eq=False)
class Cuboid:
    """Box about the reference point."""

    edges: Floats  # (3,) lengths of the edges, m

    def features(self, owner: str, radius: float) -> Features:
        """Return the corners of the box reduced by the rounding radius. Raise ModelError if the radius is too large."""
        half = 0.5 * self.edges
        _check_rounding(owner, radius, float(half.min()))
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        return Features(
            signs * (half - radius), np.zeros((0, 7)), np.full(8, 0.25), radius, float(half.min())
        )


@dataclass(frozen=True, eq=False)
class Revolved:
    """Convex body of revolution about the z axis."""

    radii: Floats  # (n,) radii of its profile from bottom to top, zero at both ends, m
    heights: Floats  # (n,) heights of its profile, m

    def features(self, owner: str, radius: float) -> Features:
        """Return the rims and the pointed ends of the body, whose profile is offset inwards by the rounding radius.

        Two edges of the profile meet in a rim; an edge that reaches the axis on a slope ends in a point. Raise ModelError if
        the radius is too large.
        """
        rims, ends = self._inset(radius)
        half = 0.5 * min(float(np.ptp(self.heights)), 2.0 * float(self.radii.max()))
        height_steps = np.diff(np.concatenate([ends[:1], rims[:, 1], ends[1:]]))
        if rims[:, 0].min() <= 0.0 or height_steps.min() < -FLAT * half:
            _raise_too_round(
                owner, radius, f"the {half:.3g} m of half its least extent, less where it is pointed"
            )
        pointed = np.array([self.heights[0] < self.heights[1], self.heights[-2] < self.heights[-1]])
        points = np.column_stack([np.zeros((2, 2)), ends])[pointed]
        circles = np.column_stack(
            [np.zeros((len(rims), 2)), rims[:, 1], np.tile([0.0, 0.0, 1.0], (len(rims), 1)), rims[:, 0]]
        )
        return Features(points, circles, np.full(len(points) + len(rims), 0.5), radius, half)

    def _inset(self, by: float) -> tuple[Floats, Floats]:
        """Offset the profile inwards; return rims (n - 2, 2), radius and height, and heights (2,) of the ends on the axis, m."""
        along = np.column_stack([np.diff(self.radii), np.diff(self.heights)])
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        out = np.column_stack([along[:, 1], -along[:, 0]])
        far = out[:, 0] * self.radii[:-1] + out[:, 1] * self.heights[:-1] - by
        rims = np.array([np.linalg.solve(out[k : k + 2], far[k : k + 2]) for k in range(len(out) - 1)])
        return rims, np.array([far[0] / out[0, 1], far[-1] / out[-1, 1]])


@dataclass(frozen=True, eq=False)
class Hull:
    """Convex hull of points, rounded with a radius: one point is a sphere, two are a capsule."""

    vertices: Floats  # (n, 3) points, m

    def features(self, owner: str, radius: float) -> Features:
        """Return the vertices of the hull as points."""
        points, shares, half = self._ends
        return Features(points, np.zeros((0, 7)), shares, radius, radius + half)

    @property
    def is_flat(self) -> bool:
        """Return True if the hull is a point, a line or a plate."""
        return self._ends[2] == 0.0

    @cached_property
    def _ends(self) -> tuple[Floats, Floats, float]:
        """Return the vertices, their fractions of the stiffness and half of the least extent, which do not depend on
        the radius.
        """
        X = self.vertices
        from_mean = X - X.mean(axis=0)
        extents = np.linalg.svd(from_mean, compute_uv=False) / np.sqrt(len(X))
        if extents.size < 3 or extents[2] <= FLAT * extents[0]:  # a point, a line, a plate
            return X, np.full(len(X), 1.0 / len(X)), 0.0
        hull = scipy.spatial.ConvexHull(from_mean)
        return X[hull.vertices], shares_of(hull)[hull.vertices], float(-hull.equations[:, 3].max())


def _check_not_round(owner: str, radius: float) -> None:
    """Raise ModelError if a rounding radius is given for a shape that is round."""
    if radius > 0.0:
        raise ModelError(f"{owner}: radius = {radius:g}, but its shape is round; remove radius")


def _check_rounding(owner: str, radius: float, half: float) -> None:
    """Raise ModelError if the rounding radius is not less than half of the least extent."""
    if radius >= half:
        _raise_too_round(owner, radius, f"the {half:.3g} m of half its least extent")


def _raise_too_round(owner: str, radius: float, most: str) -> None:
    """Raise ModelError: the rounding radius is too large. `most`: the limit in words."""
    raise ModelError(f"{owner}: rounded with {radius:g} m, more than the shape has; give less than {most}")
