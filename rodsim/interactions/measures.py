"""Named measures for energies written as text (`Model.add_energy`): scalars of two points or parts, with exact changes.

    from rodsim import measures
    measures.distance(a, b), measures.angle(a, b, axis=(0, 0, 1))

Points are anchors, bodies (their origin is meant), or names: "block", "cord.end", "cord@0.3". World directions are given at
t = 0 and rotate with their part.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from rigid.checks import direction, number
from rigid.system import Floats

__all__ = ["Measure", "angle", "coordinate", "cosine", "displacement", "distance", "strain"]

Attachable = object  # an anchor, a body, the ground, or a name, as accepted by `Model.add_energy`


@dataclass(frozen=True, eq=False)
class Measure:
    """Hold a scalar of two points or parts on which an energy of `Model.add_energy` depends.

    The functions of `rodsim.measures` create it.

    Parameters
    ----------
    word : {"distance", "strain", "displacement", "cosine", "angle"}
        Which scalar.
    a : Anchor, Body, Ground, str or None
        First point or part; None: the ground.
    b : Anchor, Body, Ground or str
        Second point or part.
    directions : tuple of array, default ()
        World directions (3,) at t = 0.
    length : float, optional
        Length without strain, m, of a strain. By default the distance at t = 0.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.distance("ground@0,0,0", "block")
    <distance from ground@0,0,0 to block>
    """

    word: str
    a: Attachable | None  # first point or part; None: the ground
    b: Attachable
    directions: tuple[Floats, ...] = ()  # (3,) world directions at t = 0
    length: float | None = None

    def __repr__(self) -> str:
        return f"<{self.word} from {'the ground' if self.a is None else self.a} to {self.b}>"


def distance(a: Attachable, b: Attachable) -> Measure:
    """Return the measure |p_b - p_a|, m.

    Parameters
    ----------
    a, b : Anchor, Body, Ground or str
        Points; a body stands for its origin. Names are "block", "cord.end", "cord@0.3".

    Returns
    -------
    Measure
        For `Model.add_energy`.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.distance("cord.start", "cord.end")
    <distance from cord.start to cord.end>
    """
    return Measure("distance", a, b)


def strain(a: Attachable, b: Attachable, length: float | None = None) -> Measure:
    """Return the measure (|p_b - p_a| - length)/length.

    Parameters
    ----------
    a, b : Anchor, Body, Ground or str
        Points; a body stands for its origin. Names are "block", "cord.end", "cord@0.3".
    length : float, optional
        Length without strain, m; positive. By default the distance at t = 0.

    Returns
    -------
    Measure
        For `Model.add_energy`.

    Raises
    ------
    ModelError
        If `length` is not a positive number.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.strain("cord.start", "cord.end", length=0.9).length
    0.9
    """
    return Measure(
        "strain", a, b, length=None if length is None else number("strain", "length", length, positive=True)
    )


def displacement(a: Attachable, b: Attachable, axis: ArrayLike) -> Measure:
    """Return the measure u . (p_b - p_a), m.

    Parameters
    ----------
    a, b : Anchor, Body, Ground or str
        Points; a body stands for its origin. Names are "block", "cord.end", "cord@0.3".
    axis : array_like, shape (3,)
        World direction u at t = 0; it rotates with the part of `a`. Its length does not matter.

    Returns
    -------
    Measure
        For `Model.add_energy`.

    Raises
    ------
    ModelError
        If `axis` is zero or not a vector.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.displacement("block", "cord.end", axis=(0, 0, 1))
    <displacement from block to cord.end>
    """
    return Measure("displacement", a, b, (direction("displacement", "axis", axis),))


def coordinate(point: Attachable, axis: ArrayLike) -> Measure:
    """Return the measure u . p, m: the coordinate of a point from the world's origin.

    Parameters
    ----------
    point : Anchor, Body or str
        The point; a body stands for its origin. Names are "block", "cord.end", "cord@0.3".
    axis : array_like, shape (3,)
        World direction u, which is fixed. Its length does not matter.

    Returns
    -------
    Measure
        For `Model.add_energy`.

    Raises
    ------
    ModelError
        If `axis` is zero or not a vector.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.coordinate("cord.end", axis=(0, 0, 1))
    <displacement from the ground to cord.end>
    """
    return Measure("displacement", None, point, (direction("coordinate", "axis", axis),))


def cosine(a: Attachable, direction_a: ArrayLike, b: Attachable, direction_b: ArrayLike) -> Measure:
    """Return the measure u_a . u_b of two directions.

    Parameters
    ----------
    a : Anchor, Body, Ground or str
        First part, or a point of it. Names are "block", "cord.end", "cord@0.3".
    direction_a : array_like, shape (3,)
        World direction u_a at t = 0; it rotates with the part of `a`. Its length does not matter.
    b : Anchor, Body, Ground or str
        Second part, or a point of it.
    direction_b : array_like, shape (3,)
        World direction u_b at t = 0; it rotates with the part of `b`. Its length does not matter.

    Returns
    -------
    Measure
        For `Model.add_energy`.

    Raises
    ------
    ModelError
        If a direction is zero or not a vector.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.cosine("block", (0, 0, 1), "cord.end", (0, 0, 1))
    <cosine from block to cord.end>
    """
    both = direction("cosine", "direction_a", direction_a), direction("cosine", "direction_b", direction_b)
    return Measure("cosine", a, b, both)


def angle(a: Attachable, b: Attachable, axis: ArrayLike) -> Measure:
    """Return the angle, rad, by which one part has rotated from another about an axis.

    It is 0 at t = 0 and is determined within half a turn from there.

    Parameters
    ----------
    a, b : Anchor, Body, Ground or str
        Parts, or points of them. Names are "block", "cord.end", "cord@0.3". The angle is that of `b` from `a`.
    axis : array_like, shape (3,)
        World direction at t = 0; it rotates with the part of `a`. Its length does not matter.

    Returns
    -------
    Measure
        For `Model.add_energy`.

    Raises
    ------
    ModelError
        If `axis` is zero or not a vector.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.angle("block", "cord.end", axis=(0, 0, 1))
    <angle from block to cord.end>
    """
    return Measure("angle", a, b, (direction("angle", "axis", axis),))
