"""What a scene says of prescribed motion, bushings, springs with laws, limits, and loads along rods."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

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

Six = Annotated[list[Number], Field(min_length=6, max_length=6)]
Matrix6 = Annotated[list[Six], Field(min_length=6, max_length=6)]
Coordinate = Literal["length", "displacement", "angle"]


class Moving(Part):
    """A smooth function of time; `direction` where it is a displacement."""

    direction: Vector | None = None


class ConstantMotion(Moving):
    function: Literal["constant"]
    value: Number


class SineMotion(Moving):
    function: Literal["sine"]
    amplitude: Number
    frequency: Number
    phase: Number = 0.0
    offset: Number = 0.0


class SteadyMotion(Moving):
    function: Literal["steady"]
    slope: Number
    offset: Number = 0.0


class SmoothStepMotion(Moving):
    function: Literal["smooth step"]
    value: Number
    t_start: Number = 0.0
    t_end: Number


class SpinUpMotion(Moving):
    function: Literal["spin-up"]
    speed: Number
    t_end: Positive


class SmoothTableMotion(Moving):
    function: Literal["smooth table"]
    times: Annotated[list[Number], Field(min_length=2)]
    values: Annotated[list[Number], Field(min_length=2)]


Motion = Annotated[
    ConstantMotion | SineMotion | SteadyMotion | SmoothStepMotion | SpinUpMotion | SmoothTableMotion,
    Field(discriminator="function"),
]


class DrivenScene(Part):
    """A frame whose motion is given: displacements along directions, a turn about a world axis through it."""

    name: Name
    position: Vector = [0.0, 0.0, 0.0]
    orientation: Quaternion | AxisAngle = [1.0, 0.0, 0.0, 0.0]
    displacement: list[Motion] = []
    turn: Motion | None = None
    axis: Vector | None = None


class DriveScene(Part):
    """The coordinate of a joint as a function of time; it counts from its value at t = 0."""

    name: Name
    joint: Name
    of: Literal["angle", "displacement"] | None = None
    value: Motion


class GearScene(Part):
    """Joints whose coordinates, each times its ratio, add up to what they are at t = 0."""

    name: Name
    joints: Annotated[list[Name], Field(min_length=2)]
    ratios: Annotated[list[Number], Field(min_length=2)]
    of: list[Literal["angle", "displacement"] | None] | None = None


class TableLaw(Part):
    """A force through points."""

    type: Literal["table"]
    x: Annotated[list[Number], Field(min_length=2)]
    force: Annotated[list[Number], Field(min_length=2)]
    interpolation: Literal["monotone", "smooth", "straight"] = "monotone"


class PolynomialLaw(Part):
    """coefficients[0] + coefficients[1] x + ... for |x| < reach."""

    type: Literal["polynomial"]
    coefficients: Annotated[list[Number], Field(min_length=1, max_length=4)]
    reach: Positive = 3.0


SpringLaw = Annotated[TableLaw | PolynomialLaw, Field(discriminator="type")]


class BushingScene(Part):
    """A spring-damper in six directions between two markers."""

    name: Name
    a: Anchor
    b: Anchor
    stiffness: NotNegative | Six | Matrix6
    damping: NotNegative | Six | Matrix6 = 0.0
    at: Vector | None = None
    axes: Annotated[list[Vector], Field(min_length=3, max_length=3)] | None = None  # rows of the matrix
    rest: Six = [0.0] * 6


class LawSpringScene(Part):
    """A spring with a law of a length, a displacement or an angle, and a damper with a law of its rate."""

    name: Name
    a: Anchor
    b: Anchor
    of: Coordinate = "length"
    axis: Vector | None = None
    law: SpringLaw | None = None
    damping: SpringLaw | None = None


class LimitScene(Part):
    """A stop at both ends or one of a length, a displacement or an angle."""

    name: Name
    a: Anchor
    b: Anchor
    of: Coordinate = "angle"
    axis: Vector | None = None
    stiffness: Positive
    width: Positive
    lower: Number | None = None
    upper: Number | None = None


class DistributedLoadScene(Part):
    """A force or moment per length of a rod."""

    name: Name
    rod: Name
    kind: Literal["force", "moment"] = "force"
    value: Vector | Signal
    following: bool = False
    between: Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)] = [0.0, 1.0]
