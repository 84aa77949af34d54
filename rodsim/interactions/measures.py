"""Named measures of an energy that is a text (`Model.add_energy`): scalars of two points or parts, each with its exact change.

    from rodsim import measures
    measures.distance(a, b), measures.angle(a, b, axis=(0, 0, 1))

Points are anchors, bodies for their origin, or names: "block", "cord.end", "cord@0.3". World directions are those at t = 0, and
go along with their part from there.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from rigid.checks import direction, number
from rigid.system import Floats

__all__ = ["Measure", "angle", "coordinate", "cosine", "displacement", "distance", "strain"]

Attachable = object  # an anchor, a body, the ground, or a name: what `Model.add_energy` accepts


@dataclass(frozen=True, eq=False)
class Measure:
    """One of `rigid.interactions.measures`, of two things; made by the functions below."""

    word: str
    a: Attachable | None  # what it is attached to; None: the ground
    b: Attachable
    directions: tuple[Floats, ...] = ()  # world, at t = 0
    length: float | None = None

    def __repr__(self) -> str:
        return f"<{self.word} from {'the ground' if self.a is None else self.a} to {self.b}>"


def distance(a: Attachable, b: Attachable) -> Measure:
    """|p_b - p_a|, m."""
    return Measure("distance", a, b)


def strain(a: Attachable, b: Attachable, length: float | None = None) -> Measure:
    """(|p_b - p_a| - length)/length; length: without strain, m, by default that at t = 0."""
    return Measure(
        "strain", a, b, length=None if length is None else number("strain", "length", length, positive=True)
    )


def displacement(a: Attachable, b: Attachable, axis: ArrayLike) -> Measure:
    """u . (p_b - p_a), m, of the world direction `axis` (3,), which goes along with the part of `a`."""
    return Measure("displacement", a, b, (direction("displacement", "axis", axis),))


def coordinate(point: Attachable, axis: ArrayLike) -> Measure:
    """u . p, m: of the point, from the world's origin along the fixed direction `axis` (3,)."""
    return Measure("displacement", None, point, (direction("coordinate", "axis", axis),))


def cosine(a: Attachable, direction_a: ArrayLike, b: Attachable, direction_b: ArrayLike) -> Measure:
    """u_a . u_b of two world directions (3,), each of which goes along with its part."""
    both = direction("cosine", "direction_a", direction_a), direction("cosine", "direction_b", direction_b)
    return Measure("cosine", a, b, both)


def angle(a: Attachable, b: Attachable, axis: ArrayLike) -> Measure:
    """Angle, rad, by which `b` has turned from `a` about `axis` (3,), a world direction that goes along with `a`: 0 at t = 0,
    and known within half a turn from there.
    """
    return Measure("angle", a, b, (direction("angle", "axis", axis),))
