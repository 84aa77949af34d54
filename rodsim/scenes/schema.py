"""Define the schema of scenes as pydantic models; `Scene.model_json_schema()` is the published schema."""

from __future__ import annotations

import importlib
import types
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from discretization.space.rod_elements import WORDS
from rigid.errors import ModelError
from rodsim.expressions import name_fault
from rodsim.parts.entry import ENTRIES, Entry
from rodsim.parts.model_parts import MASSES, MOST_ELEMENTS
from rodsim.scenes.functions import Displacement, Motion
from rodsim.scenes.schema_entries import schema_of
from rodsim.scenes.schema_equilibrium import EquilibriumScene
from rodsim.scenes.schema_types import (
    Name,
    Number,
    Orientation,
    Part,
    Place,
    Positive,
    Vector,
    made,
)
from rodsim.scenes.sections import MaterialScene, SectionScene
from rodsim.scenes.shapes import Shape

# --- rods

if TYPE_CHECKING:
    from rodsim.parts.argument_types import ElementName as Element
    from rodsim.parts.argument_types import RodMass
else:
    Element, RodMass = Literal[WORDS], Literal[tuple(MASSES)]


class CircleCurve(Part):
    """Arc or full circle about `center`, from the direction `start` counter-clockwise about `normal`."""

    type: Literal["circle"]
    """arc or full circle"""
    radius: Positive
    """of the circle [m]"""
    center: Place = [0.0, 0.0, 0.0]
    """its centre [m]"""
    normal: Vector = [0.0, 0.0, 1.0]
    """direction it runs about, counter-clockwise [1]"""
    start: Vector = [1.0, 0.0, 0.0]
    """direction from the centre in which it begins; its part along the normal is left out [1]"""
    angle_deg: Annotated[FiniteFloat, Field(gt=0, le=360)] = 360.0
    """how far it goes [deg]"""


class HelixCurve(Part):
    """Helix about `axis` through `center`, beginning in the direction `start`; `pitch` is the rise of one
    turn.
    """

    type: Literal["helix"]
    """helix"""
    radius: Positive
    """distance from the axis [m]"""
    pitch: Number
    """rise a turn [m]"""
    turns: Positive
    """how many turns [1]"""
    center: Place = [0.0, 0.0, 0.0]
    """a point on the axis, where it begins [m]"""
    axis: Vector = [0.0, 0.0, 1.0]
    """direction of the axis [1]"""
    start: Vector = [1.0, 0.0, 0.0]
    """direction from the axis in which it begins [1]"""


Curve = (
    Annotated[list[Place], Field(min_length=2)]
    | Annotated[CircleCurve | HelixCurve, Field(discriminator="type")]
)


# Values along a rod: rows of s and one or three numbers, with linear interpolation.
AngleRows = Annotated[
    list[Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]], Field(min_length=2)
]
DirectionRows = Annotated[
    list[Annotated[list[FiniteFloat], Field(min_length=4, max_length=4)]], Field(min_length=2)
]


Strains = Annotated[list[FiniteFloat], Field(min_length=6, max_length=6)]
StrainRows = Annotated[
    list[Annotated[list[FiniteFloat], Field(min_length=7, max_length=7)]], Field(min_length=2)
]


class AngleInRadians(Part):
    """An angle that is not given in degrees."""

    rad: Number
    """the angle [rad]"""


class RodScene(Part):
    """A rod along points (two: straight) or a named curve."""

    name: Name
    """by which the rod is known"""
    curve: Curve
    """initial shape: two points (straight), more points (a smooth curve through them), or a named curve; a point may be
    {at: point of another part} [m]"""
    section: Name | SectionScene
    """name of a section, or one written in place"""
    n_elements: Annotated[int, Field(ge=1, le=MOST_ELEMENTS)] = 20
    """intervals between nodes; rounded up to a multiple of the element's order [1]"""
    closed: bool = False
    """the last element joins the last node with the first"""
    up: Vector | DirectionRows | None = None
    """direction of d3 at the start, carried along without twist; or rows [s, x, y, z] from s = 0 to 1. Left out: z, or x where
    the rod is vertical [1]"""
    twist_deg: Number | AngleRows | AngleInRadians = 0.0
    """turn of the sections about the tangent at s = 1, evenly on the way; or rows [s, angle]; or {rad: angle} [deg]"""
    stress_free: Curve | None = None
    """curve of the shape without stress; left out: the initial one [m]"""
    stress_free_up: Vector | DirectionRows | None = None
    """`up` of the shape without stress; left out: that of the initial one [1]"""
    stress_free_twist_deg: Number | AngleRows | AngleInRadians | None = None
    """`twist_deg` of the shape without stress; left out: that of the initial one [deg]"""
    stress_free_closed: bool | None = None
    """false: a closed rod is free of stress when it is open; left out: as `closed`"""
    velocity: Vector | None = None
    """of all nodes, inertial; left out: of a rigid body that turns with the next, or that rests or follows its joints [m/s]"""
    angular_velocity: Vector | None = None
    """of all sections, inertial; left out: zero, or with the velocity left out that of the rigid body [rad/s]"""
    mass: RodMass = "mean"
    """translational mass of the elements: at the nodes, consistent, or the mean of both"""
    element: Element = "se3"
    """kind of element; the number is the order p of one that spans p intervals"""
    rest_strains: StrainRows | Strains | None = None
    """strains without stress besides those of the stress-free shape: stretch, two shears, twist, two curvatures, or rows
    [s, six numbers] [1, 1/m]"""


# --- bodies


class BodyScene(Part):
    """A rigid body placed in the world."""

    name: Name
    """by which the body is known"""
    shape: Shape
    """what it is: its mass, inertia and surface"""
    position: Place = [0.0, 0.0, 0.0]
    """of the reference point of the shape; or {at: point of another part} [m]"""
    orientation: Orientation = [1.0, 0.0, 0.0, 0.0]
    """of the shape's axes: unit quaternion [w, x, y, z], axis and angle, angles of Euler, {align, with} or {of: point of another
    part} [1]"""
    velocity: Vector | None = None
    """of the reference point, inertial; left out: zero, or as if fixed to the parts that move it [m/s]"""
    angular_velocity: Vector | None = None
    """inertial; left out: zero, or as if fixed to the parts that move it [rad/s]"""


class DrivenScene(Part):
    """A frame whose motion is given: displacements along directions, a turn about a world axis through it."""

    name: Name
    """by which the frame is known; joints, springs and rods attach to it like to a body"""
    position: Place = [0.0, 0.0, 0.0]
    """from which it starts; or {at: point of another part} [m]"""
    orientation: Orientation = [1.0, 0.0, 0.0, 0.0]
    """from which it starts: unit quaternion [w, x, y, z], axis and angle, angles of Euler, {align, with} or {of: point of another
    part} [1]"""
    displacement: Displacement = []
    """three components, numbers or formulas of t, or functions of time with their directions, which are added up [m]"""
    turn: Motion | None = None
    """angle about `axis` as a function of time"""
    axis: Vector | None = None
    """world direction of the turn, through the frame [1]"""


# --- the whole scene


def _a_parameter(text: str) -> str:
    """Raise ValueError unless a text may be the name of a parameter."""
    fault = name_fault(text)
    if fault:
        raise ValueError(f"it {fault}")
    return text


ParameterName = Annotated[Name, AfterValidator(_a_parameter)]


def _known_integrator(name: str) -> str:
    """Raise ValueError unless a text is the name of an integrator."""
    from rodsim.running.plan import check_integrator

    try:
        check_integrator(name)
    except ModelError as error:
        raise ValueError(str(error)) from None
    return name


Integrator = Annotated[str, AfterValidator(_known_integrator)]


class EventScene(Part):
    """An event that ends a run before its time: a contact that begins, or a distance."""

    contact_begins: list[str] | None = None
    """names of contacts of which one begins to act; [] is any of them"""
    distance_below: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """instead: names of two spheres, solids, planes, rods or bodies, or points NAME@0.3 of a rod, NAME@X,Y,Z of a body"""
    distance: Annotated[float, Field(ge=0.0)] = 0.0
    """distance of these two [m]"""

    @model_validator(mode="after")
    def _is_one(self) -> EventScene:
        """Raise ValueError unless exactly one kind of event is given."""
        if (self.contact_begins is None) == (self.distance_below is None):
            raise ValueError("give one of contact_begins and distance_below")
        return self


class RunScene(Part):
    """How to simulate."""

    t_end: Positive
    """how long [s]"""
    dt: Positive | None = None
    """step; give it or error [s]"""
    error: Annotated[float, Field(ge=1e-12, le=0.1)] | None = None
    """in place of dt: of the motion, relative to the size of the model; em and its kin choose their steps by it [1]"""
    output_dt: Positive | None = None
    """with error, time between outputs; left out: t_end/100, of em4 1/50, of em6 and em8 1/25 of it [s]"""
    max_dt: Positive | None = None
    """with error, the longest step; left out: half of output_dt [s]"""
    integrator: Integrator = "em"
    """em, em-ggl, their compositions, or any other by its name: EML-kappa, mG(3) ..."""
    output_every: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """steps between outputs; left out: about 500 outputs [1]"""
    chart: Literal["quaternion", "quaternion-alpha", "quaternion-gamma", "director"] | None = None
    """coordinates of integrators other than em"""
    tolerance: Annotated[float, Field(ge=0.0, le=1e-3)] = 0.0
    """of the equations of a step, relative; 0: round-off [1]"""
    solver: Literal["auto", "general"] = "auto"
    """auto: em and its compositions use that a model is a tree of bodies, or moves in a plane; general: they do not"""
    events: list[EventScene] = []
    """the first of these ends the run before t_end"""

    @model_validator(mode="after")
    def _has_steps(self) -> RunScene:
        """Raise ValueError unless either dt or error is given."""
        if (self.dt is None) == (self.error is None):
            raise ValueError("give one of dt and error")
        return self


class Parts(Part):
    """A model and how to simulate it, or to find its equilibrium."""

    name: Name = "scene"
    """of the model"""
    include: Name | list[Name] | None = None
    """other scene files, relative to this one, whose parts are added; this file's name, run and equilibrium replace theirs"""
    parameters: dict[ParameterName, Number] = {}
    """numbers by name for expressions: a text that begins with = may stand for any number, as `=L/2 + 0.01` [any]"""
    gravity: Vector = [0.0, 0.0, 0.0]
    """acceleration [m/s^2]"""
    materials: dict[str, MaterialScene] = {}
    """by name, for sections"""
    sections: dict[str, SectionScene] = {}
    """by name, for rods"""
    rods: list[RodScene] = []
    """geometrically exact rods"""
    bodies: list[BodyScene] = []
    """rigid bodies"""
    driven: list[DrivenScene] = []
    """frames whose motion is given"""

    @model_validator(mode="before")
    @classmethod
    def _may_only_stand(cls, data: Any) -> Any:
        """Set `run` to None in a scene with `equilibrium` and without `run`."""
        if isinstance(data, dict) and data.get("equilibrium") is not None and "run" not in data:
            return {**data, "run": None}
        return data


@cache
def _scene(entries: tuple[type[Entry], ...]) -> type[Part]:
    """Return the schema of scenes, with a list for each kind of entry."""
    lists: dict[str, tuple[Any, ...]] = {
        kind.key: (types.GenericAlias(list, schema_of(kind)), kind.many, [])  # type: ignore[arg-type]
        for kind in entries
    }
    ends: dict[str, tuple[Any, ...]] = {
        "order": (
            list[Name],
            "names of bushings, springs with laws, dampings and others in the order in which they act; left out: that of the "
            "lists, which is nearly always enough",
            [],
        ),
        "equilibrium": (EquilibriumScene | None, "how to find the equilibrium", None),
        "run": (RunScene | None, "how to simulate; may be left out if equilibrium is given"),
    }
    return made("Scene", Parts, Parts.__doc__, {**lists, **ends})


if TYPE_CHECKING:

    class Scene(Parts):
        """Schema of scenes for type checkers; at run time it has a list for each kind of entry."""

        order: list[str]
        equilibrium: EquilibriumScene | None
        run: RunScene | None

else:

    def __getattr__(name: str) -> Any:
        """Return `Scene`, made from the kinds of entries that are registered at the first access."""
        if name == "Scene":
            importlib.import_module("rodsim.model")  # registers its kinds of entries
            return _scene(tuple(ENTRIES.values()))
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
