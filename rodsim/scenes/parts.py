"""Rods, bodies and driven frames in scenes: their schemas, how they are read, and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, FiniteFloat

from discretization.space.rod_elements import WORDS
from rigid.checks import direction, unit_quaternion
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.components.catenaries import Catenary, catenary
from rodsim.components.model_parts import MASSES, MOST_ELEMENTS, Body, Driven, Rod, RodShape
from rodsim.components.part_lookup import ErrorContext
from rodsim.components.sections import Section
from rodsim.components.sections_along import PiecewiseSection
from rodsim.components.space_curves import Helix
from rodsim.scenes.errors import Path, look_up
from rodsim.scenes.functions import MOTIONS, Displacement, Motion, displacements_of, motion_of, signal_data
from rodsim.scenes.points import Orientation, Place, PointReader
from rodsim.scenes.round_trip import Data, invert_check, raise_not_savable
from rodsim.scenes.schema_types import Name, NotNegative, Number, Part, Positive, Vector, numbers
from rodsim.scenes.sections import SectionScene, section_data, section_of
from rodsim.scenes.shapes import Shape, shape_data, shape_of

# --- rods

if TYPE_CHECKING:
    from rodsim.components.argument_types import ElementName as Element
    from rodsim.components.argument_types import RodMass
else:
    Element, RodMass = Literal[WORDS], Literal[tuple(MASSES)]


class CircleCurve(Part):
    """Arc or full circle about `center`, from the direction `start` counter-clockwise about `normal`."""

    type: Literal["circle"]
    """arc or full circle"""
    radius: Positive
    """radius of the circle [m]"""
    center: Place = [0.0, 0.0, 0.0]
    """centre of the circle [m]"""
    normal: Vector = [0.0, 0.0, 1.0]
    """normal of the plane; the curve runs counter-clockwise about it [1]"""
    start: Vector = [1.0, 0.0, 0.0]
    """direction from the centre to the first point; its component along the normal is ignored [1]"""
    angle_deg: Annotated[FiniteFloat, Field(gt=0, le=360)] = 360.0
    """angle of the arc [deg]"""


class HelixCurve(Part):
    """Helix about `axis` through `center`, beginning in the direction `start`; `pitch` is the rise of one
    turn.
    """

    type: Literal["helix"]
    """helix"""
    radius: Positive
    """distance from the axis [m]"""
    pitch: Number
    """rise per turn [m]"""
    turns: Positive
    """number of turns [1]"""
    center: Place = [0.0, 0.0, 0.0]
    """point of the axis at the start of the helix [m]"""
    axis: Vector = [0.0, 0.0, 1.0]
    """direction of the axis [1]"""
    start: Vector = [1.0, 0.0, 0.0]
    """direction from the axis to the first point [1]"""


class CatenaryCurve(Part):
    """Line without bending stiffness that hangs between two points; a part of it may lie on a level bed."""

    type: Literal["catenary"]
    """line that hangs between two points"""
    a: Place
    """start of the line [m]"""
    b: Place
    """end of the line [m]"""
    length: Positive
    """length of the line, more than the distance of its ends [m]"""
    bed: Number | None = None
    """height of a level bed along `up`; default: no bed [m]"""
    up: Vector = [0.0, 0.0, 1.0]
    """direction against the weight [1]"""
    current: Vector | None = None
    """velocity of a uniform current; default: none [m/s]"""
    drag: NotNegative = 0.0
    """drag across the line over its weight, rho d C_d/(2 w) [s^2/m^2]"""


Curve = (
    Annotated[list[Place], Field(min_length=2)]
    | Annotated[CircleCurve | HelixCurve | CatenaryCurve, Field(discriminator="type")]
)


# Values along a rod: rows of s and one or three numbers, with linear interpolation.
if TYPE_CHECKING:
    AngleRows = list[list[float]]
    DirectionRows = list[list[float]]
    StrainRows = list[list[float]]
    Strains = list[float]
else:
    AngleRows, DirectionRows, StrainRows = (
        Annotated[list[numbers(width, width)], Field(min_length=2)] for width in (2, 4, 7)
    )
    Strains = numbers(6, 6)


class AngleInRadians(Part):
    """An angle that is not given in degrees."""

    rad: Number
    """the angle [rad]"""


class PieceScene(Part):
    """A piece of a rod with a section of its own."""

    until: Annotated[FiniteFloat, Field(gt=0, le=1)]
    """fraction of the length at which the piece ends; the last one ends at 1 [1]"""
    section: Name | SectionScene
    """name of a section, or a section"""


class RodScene(Part):
    """A rod along points (two: straight) or a named curve."""

    name: Name
    """name of the rod"""
    curve: Curve
    """initial shape: two points (straight), more points (a smooth curve through them), or a named curve; a point may be
    {at: point of another part} [m]"""
    section: Name | SectionScene | Annotated[list[PieceScene], Field(min_length=1)]
    """name of a section, a section, or pieces with sections of their own, one after the other"""
    n_elements: Annotated[int, Field(ge=1, le=MOST_ELEMENTS)] = 20
    """intervals between nodes; rounded up to a multiple of the element's order; default: 20, or those of nodes [1]"""
    nodes: numbers(1) | None = None  # type: ignore[valid-type]
    """fractions of the length at which elements end, growing from 0 to 1; default: elements of equal length [1]"""
    closed: bool = False
    """the last element joins the last node with the first"""
    up: Vector | DirectionRows | None = None
    """direction of d3 at the start, transported without twist; or rows [s, x, y, z] from s = 0 to 1. Default: z, or x where
    the rod is vertical [1]"""
    twist_deg: Number | AngleRows | AngleInRadians = 0.0
    """rotation of the sections about the tangent at s = 1, growing linearly from s = 0; or rows
    [s, angle]; or {rad: angle} [deg]"""
    stress_free: Curve | None = None
    """curve of the stress-free shape; default: the initial one [m]"""
    stress_free_up: Vector | DirectionRows | None = None
    """`up` of the stress-free shape; default: that of the initial one [1]"""
    stress_free_twist_deg: Number | AngleRows | AngleInRadians | None = None
    """`twist_deg` of the stress-free shape; default: that of the initial one [deg]"""
    stress_free_closed: bool | None = None
    """false: the stress-free shape of a closed rod is open; default: as `closed`"""
    velocity: Vector | None = None
    """velocity of all nodes, inertial axes; default: that of a rigid body with
    `angular_velocity`, or that follows its joints [m/s]"""
    angular_velocity: Vector | None = None
    """angular velocity of all sections, inertial axes; default: zero, or without velocity that of the rigid body [rad/s]"""
    mass: RodMass = "mean"
    """translational mass of the elements: at the nodes, consistent, or the mean of both"""
    element: Element = "se3"
    """kind of element; the number is the order p of one that spans p intervals"""
    rest_strains: StrainRows | Strains | None = None
    """stress-free strains in addition to those of the stress-free shape: stretch, two shears, twist, two curvatures, or rows
    [s, six numbers] [1, 1/m]"""


# --- bodies


class BodyScene(Part):
    """A rigid body placed in the world."""

    name: Name
    """name of the body"""
    shape: Shape
    """shape, which determines mass, inertia and surface"""
    position: Place = [0.0, 0.0, 0.0]
    """position of the reference point of the shape; or {at: point of another part} [m]"""
    orientation: Orientation = [1.0, 0.0, 0.0, 0.0]
    """orientation of the shape's axes: unit quaternion [w, x, y, z], axis and angle, angles of Euler, {align, with} or
    {of: point of another part} [1]"""
    velocity: Vector | None = None
    """velocity of the reference point, inertial axes; default: zero, or as if fixed to the parts that move it [m/s]"""
    angular_velocity: Vector | None = None
    """angular velocity, inertial axes; default: zero, or as if fixed to the parts that move it [rad/s]"""


class DrivenScene(Part):
    """A frame with prescribed motion: displacements along directions, rotation about a world axis."""

    name: Name
    """name of the frame; joints, springs and rods attach to it like to a body"""
    position: Place = [0.0, 0.0, 0.0]
    """position before the displacement; or {at: point of another part} [m]"""
    orientation: Orientation = [1.0, 0.0, 0.0, 0.0]
    """orientation before the rotation: unit quaternion [w, x, y, z], axis and angle, angles of Euler, {align, with} or
    {of: point of another part} [1]"""
    displacement: Displacement = []
    """three components, numbers or formulas of t, or functions of time with their directions, which are added up [m]"""
    turn: Motion | None = None
    """angle about `axis` as a function of time"""
    axis: Vector | None = None
    """world direction of the rotation axis, through the frame [1]"""


# --- reading


def named_section(path: Path, data: Any, scene: Any) -> Section:
    """Return a section that is given by name or in place."""
    if isinstance(data, str):
        data = look_up(path, "section", data, scene.sections)
    material = getattr(data, "material", None)
    if isinstance(material, str):
        material = look_up(path, "material", material, scene.materials)
    return section_of(data, material)


def _add_rod(reader: PointReader, path: Path, item: RodScene, folder: FilePath) -> None:
    """Add a rod of the scene to the model."""
    owner = f"rod '{item.name}'"

    def curve(data: Any) -> Any:
        """Return a curve as points or as a callable."""
        where = (*path, "curve")
        if isinstance(data, list):
            return [reader.place((*where, k), point) for k, point in enumerate(data)]
        if isinstance(data, CatenaryCurve):
            a, b = (reader.place((*where, end), getattr(data, end)) for end in "ab")
            with ErrorContext("rod", item.name):
                return catenary(a, b, data.length, data.bed, data.up, data.current, data.drag)
        return curve_of(owner, data, np.array(reader.place((*where, "center"), data.center), dtype=float))

    def along(what: str, data: Any) -> Any:
        """Return a value, or the piecewise linear function of rows of s and a value."""
        rows = data is not None and isinstance(data[0], list)
        return table_along(owner, what, data) if rows else data

    def twist(what: str, data: Any) -> Any:
        """Return a twist in radians, as a number or a function of s."""
        if isinstance(data, AngleInRadians):
            return data.rad
        if not isinstance(data, list):
            return None if data is None else np.radians(data)
        return table_along(owner, what, [[s, np.radians(angle)] for s, angle in data], data)

    def section(data: Any) -> Any:
        """Return a section, or pieces (end, section)."""
        where = (*path, "section")
        if not isinstance(data, list):
            return named_section(where, data, reader.scene)
        return [
            (x.until, named_section((*where, k, "section"), x.section, reader.scene))
            for k, x in enumerate(data)
        ]

    graded = item.nodes is not None and "n_elements" not in item.model_fields_set
    reader.model.add_rod(
        item.name,
        curve(item.curve),
        section(item.section),
        None if graded else item.n_elements,
        item.closed,
        along("up", item.up),
        None if item.stress_free is None else curve(item.stress_free),
        item.velocity,
        item.angular_velocity,
        item.mass,
        twist=twist("twist_deg", item.twist_deg),
        stress_free_up=along("stress_free_up", item.stress_free_up),
        stress_free_twist=twist("stress_free_twist_deg", item.stress_free_twist_deg),
        stress_free_closed=item.stress_free_closed,
        element=item.element,
        rest_strains=along("rest_strains", item.rest_strains),
        nodes=item.nodes,
    )


def _add_body(reader: PointReader, path: Path, item: BodyScene, folder: FilePath) -> None:
    """Add a body of the scene to the model."""
    quat = reader.orientation(path, f"body '{item.name}'", item.orientation)
    position = reader.place((*path, "position"), item.position)
    shape = shape_of(item.shape, folder)
    reader.model.add_body(item.name, shape, position, quat, item.velocity, item.angular_velocity)


def _add_driven(reader: PointReader, path: Path, item: DrivenScene, folder: FilePath) -> None:
    """Add a driven frame of the scene to the model."""
    quat = reader.orientation(path, f"driven '{item.name}'", item.orientation)
    position = reader.place((*path, "position"), item.position)
    along = displacements_of((*path, "displacement"), item.displacement)
    rotation = None if item.turn is None else motion_of((*path, "turn"), item.turn)
    reader.model.add_driven(item.name, position, quat, along, rotation, item.axis)


def curve_of(owner: str, curve: CircleCurve | HelixCurve, center: Floats) -> Helix:
    """Return the curve as a function of s in [0, 1], about `center` (3,), m."""
    circle = isinstance(curve, CircleCurve)
    axis = direction(
        owner, "normal" if circle else "axis", curve.normal if isinstance(curve, CircleCurve) else curve.axis
    )
    start = direction(owner, "start", curve.start)
    x = start - (start @ axis) * axis
    size = np.linalg.norm(x)
    if size < 1e-9:
        raise ModelError(f"{owner}: start = {curve.start} is along the axis; give a direction across it")
    angle = np.radians(curve.angle_deg) if isinstance(curve, CircleCurve) else 2 * np.pi * curve.turns
    rise = 0.0 if isinstance(curve, CircleCurve) else curve.pitch * curve.turns
    made = Helix(center, x / size, axis, curve.radius, float(angle), rise)
    made.given = {**curve.model_dump(), "center": center.tolist()}
    return made


class RowsAlong:
    """Piecewise linear function of s in [0, 1] through rows (s, value or values)."""

    def __init__(self, table: Floats, written: list[list[float]]):
        """Store the rows; `written`: rows as written in a scene, with angles in degrees."""
        self.table, self.given = table, written

    def __call__(self, x: float) -> Any:
        """Return the value or the values (k,) at s = x."""
        s = self.table[:, 0]
        values = np.array([np.interp(x, s, column) for column in self.table.T[1:]])
        return values if len(values) > 1 else values[0]


def table_along(
    owner: str, what: str, rows: list[list[float]], written: list[list[float]] | None = None
) -> RowsAlong:
    """Check that s increases from 0 to 1 and return the function of the rows.

    `written`: rows as written in the scene; None if they are the same.
    """
    table = np.array(rows, dtype=float)
    s = table[:, 0]
    if s[0] != 0.0 or s[-1] != 1.0 or np.any(np.diff(s) <= 0.0):
        raise ModelError(
            f"{owner}: {what} is given at s = {s.tolist()}; begin with 0, increase and end with 1"
        )
    return RowsAlong(table, rows if written is None else written)


# --- writing


def _body_data(body: Body) -> Data:
    """Return the scene data of a body."""
    owner = f"body '{body.name}'"
    if body.replaced_rod is not None:
        raise_not_savable(owner, "it stands for a rod. Save the model that has the rod.")
    return {
        "name": body.name,
        "shape": shape_data(owner, body.properties),
        "position": body.position,
        "orientation": invert_check(owner, "orientation", unit_quaternion, body.orientation),
        "velocity": body.velocity,
        "angular_velocity": body.angular_velocity,
    }


def _driven_data(driven: Driven) -> Data:
    """Return the scene data of a driven frame."""
    owner, motion = f"driven '{driven.name}'", driven.motion
    if motion.attitude is not None:
        raise_not_savable(owner, "its attitude is a Python function")
    displacements = motion.displacement.given
    several = displacements if isinstance(displacements, list | tuple) else [displacements]
    displacement = [
        signal_data(owner, "displacement", signal, MOTIONS) for signal in several if displacements is not None
    ]
    turns = motion.axis is not None
    return {
        "name": driven.name,
        "position": motion.position,
        "orientation": invert_check(owner, "orientation", unit_quaternion, motion.orientation),
        "displacement": displacement or None,
        "axis": invert_check(owner, "axis", direction, motion.axis) if turns else None,
        "turn": signal_data(owner, "turn", motion.angle.given, MOTIONS) if turns else None,
    }


def _rod_data(rod: Rod) -> Data:
    """Return the scene data of a rod."""
    owner = f"rod '{rod.name}'"
    for what in ("section", "velocity", "angular_velocity"):
        if callable(getattr(rod, what)) and not isinstance(rod.section, PiecewiseSection):
            raise_not_savable(owner, f"its {what} is a Python function")
    free: Data = {}
    if rod.stress_free is not rod.initial:
        free_shape = rod.stress_free
        if free_shape.curve is not rod.initial.curve:
            free = {
                "stress_free": _curve_data(owner, free_shape),
                "stress_free_closed": free_shape.curve.closed,
            }
        free["stress_free_up"] = _along_data(owner, "stress_free_up", free_shape.up)
        free["stress_free_twist_deg"] = _twist_data(owner, "stress_free_twist", free_shape.twist)
    return {
        "name": rod.name,
        "curve": _curve_data(owner, rod.initial),
        "section": _section_data(owner, rod.section),
        "n_elements": rod.n_elements,
        "nodes": None if rod.nodes is None else list(rod.nodes),
        "closed": rod.closed,
        "up": _along_data(owner, "up", rod.initial.up),
        "twist_deg": _twist_data(owner, "twist", rod.initial.twist),
        **free,
        "velocity": rod.velocity,
        "angular_velocity": rod.angular_velocity,
        "mass": next(word for word, part in MASSES.items() if part == rod.consistency),
        "element": rod.element,
        "rest_strains": _along_data(owner, "rest_strains", rod.rest_strains),
    }


def _section_data(owner: str, section: Any) -> Any:
    """Return the scene data of the section of a rod, or of its pieces."""
    if not isinstance(section, PiecewiseSection):
        return section_data(owner, section)
    return [
        {"until": end, "section": section_data(owner, piece)}
        for end, piece in zip(section.ends.tolist(), section.sections, strict=True)
    ]


def _curve_data(owner: str, shape: RodShape) -> Any:
    """Return the scene data of the curve of a rod."""
    curve = shape.curve.given
    if isinstance(curve, Helix | Catenary) and curve.given is not None:
        return curve.given
    if callable(curve):
        raise_not_savable(owner, "its curve is a Python function")
    return curve


def _along_data(owner: str, what: str, value: Any) -> Any:
    """Return a value along a rod: numbers, or rows of s and numbers."""
    if isinstance(value, RowsAlong):
        return value.given
    if callable(value):
        raise_not_savable(owner, f"its {what} is a Python function")
    return value


def _twist_data(owner: str, what: str, value: Any) -> Any:
    """Return a twist in degrees or rows of s and degrees; in radians if no number of degrees gives it exactly."""
    radians = _along_data(owner, what, value)
    if isinstance(radians, list):
        return radians
    degrees = round(float(np.degrees(radians)), 9)
    return degrees if np.radians(degrees) == radians else {"rad": float(radians)}


class PartKind(NamedTuple):
    """One kind of parts: how one is read and added to the model, and how it is written."""

    add: Callable[[PointReader, Path, Any, FilePath], None]
    data: Callable[[Any], Data]


PART_KINDS = {  # by the names in `points.PARTS`
    "bodies": PartKind(_add_body, _body_data),
    "driven": PartKind(_add_driven, _driven_data),
    "rods": PartKind(_add_rod, _rod_data),
}
