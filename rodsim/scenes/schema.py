"""What may stand in a scene, as pydantic models. `Scene.model_json_schema()` is the published schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from discretization.space.rod_elements import DEFAULT
from rigid.errors import ModelError
from rigid.joints import JOINTS
from rodsim.parts.model_parts import MOST_ELEMENTS
from rodsim.scenes.expressions import name_fault
from rodsim.scenes.schema_damping import ExternalDampingScene, JointFrictionScene, PressureScene
from rodsim.scenes.schema_motion import (
    BushingScene,
    DistributedLoadScene,
    DrivenScene,
    DriveScene,
    GearScene,
    LawSpringScene,
    LimitScene,
)
from rodsim.scenes.schema_section_laws import ExpressionLaw as ExpressionLaw
from rodsim.scenes.schema_section_laws import Relaxation as Relaxation
from rodsim.scenes.schema_section_laws import SofteningLaw as SofteningLaw
from rodsim.scenes.schema_section_laws import StiffeningLaw as StiffeningLaw
from rodsim.scenes.schema_sections import CircularSection as CircularSection
from rodsim.scenes.schema_sections import MaterialScene as MaterialScene
from rodsim.scenes.schema_sections import RectangleSection as RectangleSection
from rodsim.scenes.schema_sections import SectionScene as SectionScene
from rodsim.scenes.schema_sections import StiffnessSection as StiffnessSection
from rodsim.scenes.schema_sections import TubeSection as TubeSection
from rodsim.scenes.schema_shapes import BoxShape as BoxShape
from rodsim.scenes.schema_shapes import ConeShape as ConeShape
from rodsim.scenes.schema_shapes import CylinderShape as CylinderShape
from rodsim.scenes.schema_shapes import GivenShape as GivenShape
from rodsim.scenes.schema_shapes import Massive as Massive
from rodsim.scenes.schema_shapes import MeshShape as MeshShape
from rodsim.scenes.schema_shapes import PointShape as PointShape
from rodsim.scenes.schema_shapes import RoundShape as RoundShape
from rodsim.scenes.schema_shapes import Shape as Shape
from rodsim.scenes.schema_shapes import SphereShape as SphereShape
from rodsim.scenes.schema_static import StaticScene
from rodsim.scenes.schema_types import (
    Anchor,
    AxisAngle,
    Name,
    NotNegative,
    Number,
    OrientationOf,
    Part,
    Place,
    Positive,
    Quaternion,
    Signal,
    Vector,
)

# --- rods


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


# Values along a rod: rows of s and one number or three, straight lines between them.
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
    twist_deg: Number | AngleRows = 0.0
    """turn of the sections about the tangent at s = 1, evenly on the way; or rows [s, angle] [deg]"""
    stress_free: Curve | None = None
    """curve of the shape without stress; left out: the initial one [m]"""
    stress_free_up: Vector | DirectionRows | None = None
    """`up` of the shape without stress; left out: that of the initial one [1]"""
    stress_free_twist_deg: Number | AngleRows | None = None
    """`twist_deg` of the shape without stress; left out: that of the initial one [deg]"""
    stress_free_closed: bool | None = None
    """false: a closed rod is free of stress when it is open; left out: as `closed`"""
    velocity: Vector | None = None
    """of all nodes, inertial; left out, with the next: the rod follows its joints as if it were rigid [m/s]"""
    angular_velocity: Vector | None = None
    """of all sections, inertial [rad/s]"""
    mass: Literal["lumped", "mean", "consistent"] = "mean"
    """translational mass of the elements: at the nodes, consistent, or the mean of both"""
    element: Literal[
        "se3",
        "lagrange(1)",
        "lagrange(2)",
        "lagrange(3)",
        "lagrange(4)",
        "relative(2)",
        "relative(4)",
        "midpoint",
    ] = DEFAULT
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
    orientation: Quaternion | AxisAngle | OrientationOf = [1.0, 0.0, 0.0, 0.0]
    """of the shape's axes: unit quaternion [w, x, y, z], axis and angle, or {of: point of another part} [1]"""
    velocity: Vector | None = None
    """of the reference point, inertial; left out: what the joints imply, else zero [m/s]"""
    angular_velocity: Vector | None = None
    """inertial; left out: what the joints imply, else zero [rad/s]"""


# --- joints, springs, loads


if TYPE_CHECKING:
    JointKind = str
else:
    JointKind = Literal[tuple(JOINTS)]


class JointScene(Part):
    """A joint; a name alone is a body or `ground`."""

    name: Name
    """by which the joint is known"""
    kind: JointKind
    """what it holds together, see the table of kinds"""
    a: Anchor
    """first point or part"""
    b: Anchor | None = None
    """second point or part; a clamp needs none"""
    at: Place | None = None
    """world point of the joint at t = 0, or {at: point of a part}; left out: that of the anchors [m]"""
    axis: Vector | None = None
    """world direction at t = 0, fixed to a [1]"""
    length: Positive | None = None
    """of a distance joint at t = 0, as a check [m]"""
    second_axis: Vector | None = None
    """world direction at t = 0, fixed to b, of universal and constant-velocity joints [1]"""
    pitch: Number | None = None
    """of a screw: slide a turn, right-handed where positive [m]"""
    locked: list[Literal["x", "y", "z", "rx", "ry", "rz"]] | None = None
    """of a generic joint: what is held, in the axes of a"""


class SpringScene(Part):
    """A spring-damper between two points."""

    name: Name
    """by which the spring is known"""
    a: Anchor
    """first point"""
    b: Anchor
    """second point"""
    stiffness: NotNegative
    """force over stretch [N/m]"""
    length: NotNegative | None = None
    """without force; left out: the initial distance [m]"""
    damping: NotNegative = 0.0
    """force over rate of stretch [N s/m]"""


class TorsionSpringScene(Part):
    """A torsion spring-damper about a world axis."""

    name: Name
    """by which the spring is known"""
    a: Anchor
    """first part"""
    b: Anchor
    """second part"""
    axis: Vector
    """world direction at t = 0 [1]"""
    stiffness: NotNegative
    """moment over angle [N m/rad]"""
    damping: NotNegative = 0.0
    """moment over rate [N m s/rad]"""
    angle: Number = 0.0
    """at which it is free of moment, from the initial pose [rad]"""


class LoadScene(Part):
    """A force or moment: a constant vector, or a function of time along a direction."""

    name: Name
    """by which the load is known"""
    kind: Literal["force", "moment"]
    """force or moment"""
    on: Anchor
    """point of a body or a rod"""
    value: Vector | Signal
    """constant vector, or a function of time along a direction [N or N m]"""
    following: bool = False
    """components in the axes of the moving part, not inertial"""


# --- the whole


def _a_parameter(text: str) -> str:
    fault = name_fault(text)
    if fault:
        raise ValueError(f"it {fault}")
    return text


ParameterName = Annotated[Name, AfterValidator(_a_parameter)]


def _known_integrator(name: str) -> str:
    from rodsim.simulation import check_integrator

    try:
        check_integrator(name)
    except ModelError as error:
        raise ValueError(str(error)) from None
    return name


Integrator = Annotated[str, AfterValidator(_known_integrator)]


class RunScene(Part):
    """How to simulate."""

    t_end: Positive
    """how long [s]"""
    dt: Positive
    """step [s]"""
    integrator: Integrator = "em"
    """em, em-ggl, their compositions, or any other by its name: EML-kappa, mG(3) ..."""
    output_every: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """steps between outputs; left out: about 500 outputs [1]"""
    chart: Literal["quaternion", "quaternion-alpha", "quaternion-gamma", "director"] | None = None
    """coordinates of integrators other than em"""
    tolerance: Annotated[float, Field(ge=0.0, le=1e-3)] = 0.0
    """of the equations of a step, relative; 0: round-off [1]"""


class Scene(Part):
    """A model and how to simulate it, or to find its equilibrium."""

    name: Name = "scene"
    """of the model"""
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
    joints: list[JointScene] = []
    """what holds parts together"""
    springs: list[SpringScene] = []
    """spring-dampers between points"""
    torsion_springs: list[TorsionSpringScene] = []
    """spring-dampers about axes"""
    loads: list[LoadScene] = []
    """forces and moments at points"""
    bushings: list[BushingScene] = []
    """spring-dampers in six directions"""
    law_springs: list[LawSpringScene] = []
    """springs and dampers with laws"""
    limits: list[LimitScene] = []
    """stops"""
    driven: list[DrivenScene] = []
    """frames whose motion is given"""
    drives: list[DriveScene] = []
    """coordinates of joints as functions of time"""
    gears: list[GearScene] = []
    """joints whose coordinates run together"""
    distributed_loads: list[DistributedLoadScene] = []
    """forces and moments along rods"""
    pressures: list[PressureScene] = []
    """pressures on what rods bound in a plane"""
    external_dampings: list[ExternalDampingScene] = []
    """resistance of what is around a part"""
    joint_frictions: list[JointFrictionScene] = []
    """resistance in joints"""
    static: StaticScene | None = None
    """how to find the equilibrium"""
    run: RunScene | None
    """how to simulate; may be left out where static is given"""

    @model_validator(mode="before")
    @classmethod
    def _may_only_stand(cls, data: Any) -> Any:
        """A scene with `static` needs no `run`."""
        if isinstance(data, dict) and data.get("static") is not None and "run" not in data:
            return {**data, "run": None}
        return data
