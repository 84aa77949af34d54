"""Base class of joints: a joint is a list of elementary constraints between two markers.

A marker is a point and a right-handed triad e1, e2, e3 fixed on a frame. The two markers of a joint coincide
at assembly, or have their points apart, so a joint is declared by stating which of their parts have to stay together. A new
joint is one short file, a class with `rows`, and its entry in `rigid.joints.JOINTS`.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from rigid.interactions.coincident_points import COINCIDENT_POINTS
from rigid.interactions.direction_angle import PERPENDICULAR_DIRECTIONS
from rigid.interactions.distance import POINTS_AT_DISTANCE
from rigid.interactions.kinds import Kind
from rigid.interactions.point_on_plane import POINT_ALONG_DIRECTION
from rigid.system import Floats


class Marker(NamedTuple):
    """A point and a triad that are fixed on a frame."""

    frame: int
    X: Floats  # (3,) position from the frame's origin, in frame axes, m
    axes: Floats  # (3, 3) the columns are e1, e2, e3 in frame axes


NONE = np.zeros(3)


class Row(NamedTuple):
    """One elementary constraint of `rigid.interactions.constraints`; its kind determines the number of scalar equations."""

    kind: Kind
    Ua: Floats
    Ub: Floats
    value: float = 0.0
    Wa: Floats = NONE
    Wb: Floats = NONE


class JointParameters(NamedTuple):
    """Parameters of a joint other than its markers."""

    length: float = 0.0  # distance between the points, m
    pitch: float = 0.0  # displacement per revolution, m
    locked: tuple[str, ...] = ()  # names of locked motions, out of x, y, z, rx, ry, rz


def coincident() -> Row:
    """Return the constraint that both points coincide: p_b - p_a = 0."""
    return Row(COINCIDENT_POINTS, NONE, NONE)


def perpendicular(a: Marker, i: int, b: Marker, j: int) -> Row:
    """Return the constraint that two axes are perpendicular: e_i of a . e_j of b = 0."""
    return Row(PERPENDICULAR_DIRECTIONS, a.axes[:, i - 1], b.axes[:, j - 1])


def in_plane(a: Marker, i: int) -> Row:
    """Return the constraint that p_b stays in a plane of frame a: e_i of a . (p_b - p_a) = 0."""
    return Row(POINT_ALONG_DIRECTION, a.axes[:, i - 1], NONE)


def at_distance(length: float) -> Row:
    """Return the constraint that the points have a distance: |p_b - p_a|^2/2 = length^2/2."""
    return Row(POINTS_AT_DISTANCE, NONE, NONE, 0.5 * length * length)


def aligned(a: Marker, b: Marker) -> list[Row]:
    """Return the constraints that both triads are the same: e1 . e2 = e2 . e3 = e3 . e1 = 0 across the joint."""
    return [perpendicular(a, 1, b, 2), perpendicular(a, 2, b, 3), perpendicular(a, 3, b, 1)]


def parallel(a: Marker, b: Marker) -> list[Row]:
    """Return the constraints that the axes e3 are parallel: e1^a . e3^b = e2^a . e3^b = 0."""
    return [perpendicular(a, 1, b, 3), perpendicular(a, 2, b, 3)]


class Joint:
    """Base of all joints.

    Class attributes:

        kind         its name in models and scenes
        n_rows       number of scalar equations
        free         the motion that stays free, in words
        axis         True if the joint has a direction, which becomes e3 of the markers
        to_ground    True if the joint fixes a part to the ground
        apart        True if its points are apart, each a point of its part, with a length between them
        second_axis  whether it has another direction on b: "perpendicular" to the first, then it becomes e1 of the markers, or
                     "any", then it becomes e3 of the marker of b; "": it has none
        takes        the fields of `JointParameters` that the joint uses
        coordinates  the joint coordinates: the angle about e3, the displacement along e3, the two angles of a cross
        brings       kinds of constraints that are defined in the joint's own file
        driven       the coordinates that may be prescribed as functions of time
        rubbing      the motions that friction in the joint resists
    """

    kind: ClassVar[str]
    n_rows: ClassVar[int]
    free: ClassVar[str]
    axis: ClassVar[bool] = False
    to_ground: ClassVar[bool] = False
    apart: ClassVar[bool] = False
    second_axis: ClassVar[str] = ""
    takes: ClassVar[tuple[str, ...]] = ()
    coordinates: ClassVar[tuple[str, ...]] = ()
    driven: ClassVar[tuple[str, ...]] = ()
    new_kinds: ClassVar[tuple[Kind, ...]] = ()
    rubbing: ClassVar[tuple[str, ...]] = ()  # a subset of "turning", "sliding"

    @classmethod
    def count(cls, parameters: JointParameters) -> int:
        """Return the number of scalar equations of the joint."""
        return cls.n_rows

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        """Return the elementary constraints between the markers."""
        raise NotImplementedError
