"""What may stand in a scene, as pydantic models. `Scene.model_json_schema()` is the published schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from discretization.space.rod_elements import DEFAULT
from rigid.errors import ModelError
from rigid.joints import JOINTS
from rodsim.parts import MOST_ELEMENTS
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
from rodsim.scenes.schema_section_laws import WithMaterialLaws
from rodsim.scenes.schema_static import StaticScene
from rodsim.scenes.schema_types import (
    Anchor,
    AxisAngle,
    Name,
    NotNegative,
    Number,
    Part,
    Positive,
    Quaternion,
    Signal,
    Vector,
)

# --- materials and sections


class MaterialScene(Part):
    """Linear elastic material."""

    E: Positive
    nu: Annotated[FiniteFloat, Field(gt=-1, le=0.5)] | None = None
    G: Positive | None = None
    density: Positive
    shear_factor: Positive = 5 / 6
    damping_time: NotNegative = 0.0


class CircularSection(WithMaterialLaws):
    type: Literal["circular"]
    radius: Positive
    material: Name | MaterialScene


class TubeSection(WithMaterialLaws):
    type: Literal["tube"]
    outer_radius: Positive
    inner_radius: NotNegative
    material: Name | MaterialScene


class RectangleSection(WithMaterialLaws):
    """`width` along d2, `height` along d3."""

    type: Literal["rectangle"]
    width: Positive
    height: Positive
    material: Name | MaterialScene


class StiffnessSection(WithMaterialLaws):
    """Stiffness and inertia given: EA, GA (one or two), GJ, EI (one or two), or the 6 x 6 matrix C."""

    type: Literal["stiffness"]
    EA: Positive | None = None
    GA: Positive | Annotated[list[Positive], Field(min_length=2, max_length=2)] | None = None
    GJ: Positive | None = None
    EI: Positive | Annotated[list[Positive], Field(min_length=2, max_length=2)] | None = None
    C: list[list[Number]] | None = None
    mass_per_length: Positive
    inertia_per_length: Positive | Annotated[list[Positive], Field(min_length=3, max_length=3)]
    damping_time: NotNegative = 0.0
    radius: NotNegative = 0.0


SectionScene = Annotated[
    CircularSection | TubeSection | RectangleSection | StiffnessSection, Field(discriminator="type")
]

# --- rods


class CircleCurve(Part):
    """Arc or full circle about `center`, from the direction `start` counter-clockwise about `normal`."""

    type: Literal["circle"]
    radius: Positive
    center: Vector = [0.0, 0.0, 0.0]
    normal: Vector = [0.0, 0.0, 1.0]
    start: Vector = [1.0, 0.0, 0.0]
    angle_deg: Annotated[FiniteFloat, Field(gt=0, le=360)] = 360.0


class HelixCurve(Part):
    """Helix about `axis` through `center`, beginning in the direction `start`; `pitch` is the rise of one
    turn.
    """

    type: Literal["helix"]
    radius: Positive
    pitch: Number
    turns: Positive
    center: Vector = [0.0, 0.0, 0.0]
    axis: Vector = [0.0, 0.0, 1.0]
    start: Vector = [1.0, 0.0, 0.0]


Curve = (
    Annotated[list[Vector], Field(min_length=2)]
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
    curve: Curve
    section: Name | SectionScene
    n_elements: Annotated[int, Field(ge=1, le=MOST_ELEMENTS)] = 20
    closed: bool = False
    up: Vector | DirectionRows | None = None
    twist_deg: Number | AngleRows = 0.0
    stress_free: Curve | None = None
    stress_free_up: Vector | DirectionRows | None = None
    stress_free_twist_deg: Number | AngleRows | None = None
    stress_free_closed: bool | None = None
    velocity: Vector = [0.0, 0.0, 0.0]
    angular_velocity: Vector = [0.0, 0.0, 0.0]
    mass: Literal["lumped", "mean", "consistent"] = "mean"
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
    rest_strains: StrainRows | Strains | None = None


# --- bodies


class Massive(Part):
    """Homogeneous: density or mass."""

    density: Positive | None = None
    mass: Positive | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Massive:
        if (self.density is None) == (self.mass is None):
            raise ValueError("give either density or mass")
        return self


class BoxShape(Massive):
    type: Literal["box"]
    size: Annotated[list[Positive], Field(min_length=3, max_length=3)]


class RoundShape(Massive):
    """`surface`: how finely it is drawn."""

    surface: Literal["coarse", "fine"] = "coarse"


class CylinderShape(RoundShape):
    type: Literal["cylinder"]
    radius: Positive
    height: Positive


class SphereShape(RoundShape):
    type: Literal["sphere"]
    radius: Positive


class ConeShape(RoundShape):
    """Apex at the origin of its axes, base at z = height."""

    type: Literal["cone"]
    radius: Positive
    height: Positive


class MeshShape(Massive):
    """A closed surface that meshio reads; `file` is relative to the scene."""

    type: Literal["mesh"]
    file: Name
    scale: Positive = 1.0


class PointShape(Part):
    """A point mass: held by its centre alone."""

    type: Literal["point"]
    mass: Positive


class GivenShape(Part):
    """Mass and inertia about the centre of mass, which is `center` in the body's axes."""

    type: Literal["given"]
    mass: Positive
    inertia: (
        Annotated[list[NotNegative], Field(min_length=3, max_length=3)]
        | Annotated[list[Vector], Field(min_length=3, max_length=3)]
    )
    center: Vector = [0.0, 0.0, 0.0]


Shape = Annotated[
    BoxShape | CylinderShape | SphereShape | ConeShape | MeshShape | PointShape | GivenShape,
    Field(discriminator="type"),
]


class BodyScene(Part):
    """A rigid body placed in the world."""

    name: Name
    shape: Shape
    position: Vector = [0.0, 0.0, 0.0]
    orientation: Quaternion | AxisAngle = [1.0, 0.0, 0.0, 0.0]
    velocity: Vector | None = None  # left out: what the joints imply, else zero
    angular_velocity: Vector | None = None


# --- joints, springs, loads


if TYPE_CHECKING:
    JointKind = str
else:
    JointKind = Literal[tuple(JOINTS)]


class JointScene(Part):
    """A joint; a name alone is a body or `ground`."""

    name: Name
    kind: JointKind
    a: Anchor
    b: Anchor | None = None
    at: Vector | None = None
    axis: Vector | None = None
    length: Positive | None = None
    second_axis: Vector | None = None
    pitch: Number | None = None
    locked: list[Literal["x", "y", "z", "rx", "ry", "rz"]] | None = None


class SpringScene(Part):
    """A spring-damper between two points."""

    name: Name
    a: Anchor
    b: Anchor
    stiffness: NotNegative
    length: NotNegative | None = None
    damping: NotNegative = 0.0


class TorsionSpringScene(Part):
    """A torsion spring-damper about a world axis."""

    name: Name
    a: Anchor
    b: Anchor
    axis: Vector
    stiffness: NotNegative
    damping: NotNegative = 0.0
    angle: Number = 0.0


class LoadScene(Part):
    """A force or moment: a constant vector, or a function of time along a direction."""

    name: Name
    kind: Literal["force", "moment"]
    on: Anchor
    value: Vector | Signal
    following: bool = False


# --- the whole


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
    dt: Positive
    integrator: Integrator = "em"
    # steps; None: as many as give about 500 outputs
    output_every: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    chart: Literal["quaternion", "quaternion-alpha", "quaternion-gamma", "director"] | None = None
    tolerance: Annotated[float, Field(ge=0.0, le=1e-3)] = (
        0.0  # of the equations of a step, relative; 0: round-off
    )


class Scene(Part):
    """A model and how to simulate it, or to find its equilibrium."""

    name: Name = "scene"
    gravity: Vector = [0.0, 0.0, 0.0]
    materials: dict[str, MaterialScene] = {}
    sections: dict[str, SectionScene] = {}
    rods: list[RodScene] = []
    bodies: list[BodyScene] = []
    joints: list[JointScene] = []
    springs: list[SpringScene] = []
    torsion_springs: list[TorsionSpringScene] = []
    loads: list[LoadScene] = []
    bushings: list[BushingScene] = []
    law_springs: list[LawSpringScene] = []
    limits: list[LimitScene] = []
    driven: list[DrivenScene] = []
    drives: list[DriveScene] = []
    gears: list[GearScene] = []
    distributed_loads: list[DistributedLoadScene] = []
    pressures: list[PressureScene] = []
    external_dampings: list[ExternalDampingScene] = []
    joint_frictions: list[JointFrictionScene] = []
    static: StaticScene | None = None
    run: RunScene | None

    @model_validator(mode="before")
    @classmethod
    def _may_only_stand(cls, data: Any) -> Any:
        """A scene with `static` needs no `run`."""
        if isinstance(data, dict) and data.get("static") is not None and "run" not in data:
            return {**data, "run": None}
        return data
