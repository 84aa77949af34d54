"""Named scalars that sensors measure, and of which energies written as text are functions.

    from rodsim import measures
    measures.distance(a, b), measures.angle(a, b, axis=(0, 0, 1))
    measures.section_force("cord@0.5", "M2"), measures.joint_force("hinge", "moment")

A `Measure` is a scalar of two points or parts, with exact changes, for `Model.add_energy` and `Model.add_sensor`. A `Quantity` is
another scalar of the model, for `Model.add_sensor` alone: a section force, the force of a joint or a contact, an energy, or an
internal state of an interaction.

Points are anchors, bodies (their origin is meant), or names: "block", "cord.end", "cord@0.3". World directions are given at
t = 0 and rotate with their part.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from rigid.checks import count, direction, number, word
from rigid.system import Floats

__all__ = [
    "Measure",
    "Quantity",
    "angle",
    "contact_force",
    "coordinate",
    "cosine",
    "displacement",
    "distance",
    "energy",
    "joint_force",
    "section_force",
    "state",
    "strain",
]

SECTION_FORCES = ("N1", "N2", "N3", "M1", "M2", "M3")
JOINT_FORCES = ("force", "moment")
MODEL_ENERGIES = ("kinetic", "elastic", "gravity", "spring", "total")
PART_ENERGIES = ("kinetic", "elastic", "gravity")

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


@dataclass(frozen=True, eq=False)
class Quantity:
    """Hold a scalar of a model that a sensor measures and that is not a measure of two points.

    The functions of `rodsim.measures` create it.

    Parameters
    ----------
    word : {"section_force", "joint_force", "contact_force", "energy", "state"}
        Which scalar.
    of : Anchor, Component, str or None
        What it belongs to: a point of a rod, a joint or drive, a contact, a part (None: the model), or an interaction.
    component : str, default ""
        Component of the section force, "force" or "moment", kind of energy, or name of the state.
    axis : array, shape (3,), optional
        Fixed world direction of the component of a force or moment.
    index : int, default 0
        Number of the component of a state that is a vector.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.energy("kinetic")
    <energy kinetic>
    """

    word: str
    of: object = None
    component: str = ""
    axis: Floats | None = None
    index: int = 0

    def __repr__(self) -> str:
        words = [self.word.replace("_", " "), self.component, "" if self.of is None else f"of {self.of}"]
        return f"<{' '.join(filter(None, words))}>"


def section_force(point: Attachable, component: str) -> Quantity:
    """Return a component of the force or moment in a section of a rod, N or N m, in section axes.

    It is that of `RodHistory.along`, interpolated linearly between the points at which elements have stresses.

    Parameters
    ----------
    point : Anchor or str
        Point of a rod: "cord.end", "cord@0.3" or `rod.at(0.3)`.
    component : {"N1", "N2", "N3", "M1", "M2", "M3"}
        Normal force N1, shear forces N2 and N3, torque M1, bending moments M2 and M3.

    Returns
    -------
    Quantity
        For `Model.add_sensor`.

    Raises
    ------
    ModelError
        If there is no such component.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.section_force("cord@0.5", "M2")
    <section force M2 of cord@0.5>
    """
    return Quantity("section_force", point, word("section_force", "component", component, SECTION_FORCES))


def joint_force(joint: Attachable, component: str, axis: ArrayLike | None = None) -> Quantity:
    """Return a component of the force or moment of a joint or drive on its part `b`, N or N m.

    It is a mean over the step (with a composition over the last substep) that ends at the state: 0 before the first step. The
    force of the step that begins depends on what controllers do with the sensor, and cannot be known.

    Parameters
    ----------
    joint : Joint, Drive or str
        Joint or drive.
    component : {"force", "moment"}
        Force, or moment about the joint's point on `b`.
    axis : array_like, shape (3,), optional
        Fixed world direction; its length does not matter. By default the axis of the joint, which moves with its part `a`.

    Returns
    -------
    Quantity
        For `Model.add_sensor`.

    Raises
    ------
    ModelError
        If the component is unknown, or `axis` is zero or not a vector.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.joint_force("hinge", "moment")
    <joint force moment of hinge>
    """
    component = word("joint_force", "component", component, JOINT_FORCES)
    return Quantity("joint_force", joint, component, _axis("joint_force", axis))


def contact_force(contact: Attachable, axis: ArrayLike | None = None) -> Quantity:
    """Return the total normal force of a contact, or a component of the force on its side `a`, N.

    It is that of `ContactHistory` at the state.

    Parameters
    ----------
    contact : Contact or str
        Contact.
    axis : array_like, shape (3,), optional
        Fixed world direction of the component of the total force, normal and tangential, on side `a`. By default the sum of the
        magnitudes of all normal forces.

    Returns
    -------
    Quantity
        For `Model.add_sensor`.

    Raises
    ------
    ModelError
        If `axis` is zero or not a vector.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.contact_force("floor", axis=(0, 0, 1))
    <contact force of floor>
    """
    return Quantity("contact_force", contact, axis=_axis("contact_force", axis))


def energy(kind: str = "total", part: Attachable | None = None) -> Quantity:
    """Return the energy of the model or of one part, J.

    Parameters
    ----------
    kind : {"total", "kinetic", "elastic", "gravity", "spring"}, default "total"
        As in `Result.energy`; for a part kinetic, elastic or gravity.
    part : Rod, Body or str, optional
        By default the model.

    Returns
    -------
    Quantity
        For `Model.add_sensor`.

    Raises
    ------
    ModelError
        If there is no such energy.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.energy("kinetic", "block")
    <energy kinetic of block>
    """
    return Quantity(
        "energy", part, word("energy", "kind", kind, MODEL_ENERGIES if part is None else PART_ENERGIES)
    )


def state(interaction: Attachable, name: str, index: int = 0) -> Quantity:
    """Return the value of an internal state of an interaction.

    Parameters
    ----------
    interaction : UserInteraction or str
        Interaction of a kind with `states=`, see `rodsim.interaction`.
    name : str
        Name of the state.
    index : int, default 0
        Number of its component if it is a vector.

    Returns
    -------
    Quantity
        For `Model.add_sensor`.

    Raises
    ------
    ModelError
        If `index` is not a whole number, or negative.

    Examples
    --------
    >>> from rodsim import measures
    >>> measures.state("motor", "i")
    <state i of motor>
    """
    return Quantity("state", interaction, name, index=count("state", "index", index, 0))


def _axis(owner: str, axis: ArrayLike | None) -> Floats | None:
    """Return a direction as a unit vector (3,), or None."""
    return None if axis is None else direction(owner, "axis", axis)
