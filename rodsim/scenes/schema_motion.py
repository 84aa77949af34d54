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
    OrientationOf,
    Part,
    Place,
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
    """of a displacement; a turn or the coordinate of a joint has none [1]"""


class ConstantMotion(Moving):
    function: Literal["constant"]
    """always the same value"""
    value: Number
    """that value [m or rad]"""


class SineMotion(Moving):
    function: Literal["sine"]
    """amplitude sin(2 pi frequency t + phase) + offset"""
    amplitude: Number
    """half of the whole swing [m or rad]"""
    frequency: Number
    """periods a second [Hz]"""
    phase: Number = 0.0
    """at t = 0 [rad]"""
    offset: Number = 0.0
    """mean value [m or rad]"""


class SteadyMotion(Moving):
    function: Literal["steady"]
    """offset + slope t"""
    slope: Number
    """rate [m/s or rad/s]"""
    offset: Number = 0.0
    """at t = 0 [m or rad]"""


class SmoothStepMotion(Moving):
    function: Literal["smooth step"]
    """quintic from 0 at t_start to value at t_end, without a jump of acceleration"""
    value: Number
    """at the end [m or rad]"""
    t_start: Number = 0.0
    """begin [s]"""
    t_end: Number
    """end [s]"""


class SpinUpMotion(Moving):
    function: Literal["spin-up"]
    """integral of a rate that rises smoothly from 0 at t = 0 to speed at t_end"""
    speed: Number
    """final rate [m/s or rad/s]"""
    t_end: Positive
    """end of the rise [s]"""


class SmoothTableMotion(Moving):
    function: Literal["smooth table"]
    """cubic spline through points, at rest before the first and after the last"""
    times: Annotated[list[Number], Field(min_length=2)]
    """increasing [s]"""
    values: Annotated[list[Number], Field(min_length=2)]
    """as many as times [m or rad]"""


Motion = Annotated[
    ConstantMotion | SineMotion | SteadyMotion | SmoothStepMotion | SpinUpMotion | SmoothTableMotion,
    Field(discriminator="function"),
]


class DrivenScene(Part):
    """A frame whose motion is given: displacements along directions, a turn about a world axis through it."""

    name: Name
    """by which the frame is known; joints, springs and rods attach to it like to a body"""
    position: Place = [0.0, 0.0, 0.0]
    """from which it starts; or {at: point of another part} [m]"""
    orientation: Quaternion | AxisAngle | OrientationOf = [1.0, 0.0, 0.0, 0.0]
    """from which it starts: unit quaternion [w, x, y, z], axis and angle, or {of: point of another part} [1]"""
    displacement: list[Motion] = []
    """functions of time with their directions; they are added up"""
    turn: Motion | None = None
    """angle about `axis` as a function of time"""
    axis: Vector | None = None
    """world direction of the turn, through the frame [1]"""


class DriveScene(Part):
    """The coordinate of a joint as a function of time; it counts from its value at t = 0."""

    name: Name
    """by which the drive is known"""
    joint: Name
    """name of a revolute, prismatic or cylindrical joint"""
    of: Literal["angle", "displacement"] | None = None
    """which coordinate, of a joint that has both"""
    value: Motion
    """function of time, counted from the coordinate's value at t = 0"""


class GearScene(Part):
    """Joints whose coordinates, each times its ratio, add up to what they are at t = 0."""

    name: Name
    """by which the gear is known"""
    joints: Annotated[list[Name], Field(min_length=2)]
    """names of those whose coordinates run together"""
    ratios: Annotated[list[Number], Field(min_length=2)]
    """one for each joint; of a rack the pinion's radius goes with the angle [1, m]"""
    of: list[Literal["angle", "displacement"] | None] | None = None
    """which coordinate of each joint, where it has two"""


class TableLaw(Part):
    """A force through points."""

    type: Literal["table"]
    """through points"""
    x: Annotated[list[Number], Field(min_length=2)]
    """increasing; of a damper the rate [m, rad, m/s or rad/s]"""
    force: Annotated[list[Number], Field(min_length=2)]
    """as many as x [N or N m]"""
    interpolation: Literal["monotone", "smooth", "straight"] = "monotone"
    """monotone: rises and falls with the points only; smooth: continuous second derivative; straight: lines"""


class PolynomialLaw(Part):
    """coefficients[0] + coefficients[1] x + ... for |x| < reach."""

    type: Literal["polynomial"]
    """polynomial"""
    coefficients: Annotated[list[Number], Field(min_length=1, max_length=4)]
    """of 1, x, x^2, x^3 [N or N m over powers of x]"""
    reach: Positive = 3.0
    """|x| beyond which it goes on straight [m, rad, m/s or rad/s]"""


SpringLaw = Annotated[TableLaw | PolynomialLaw, Field(discriminator="type")]


class BushingScene(Part):
    """A spring-damper in six directions between two markers."""

    name: Name
    """by which the bushing is known"""
    a: Anchor
    """first point or part"""
    b: Anchor
    """second point or part"""
    stiffness: NotNegative | Six | Matrix6
    """one number, 6, or 6 x 6: three displacements, three rotations [N/m, N m/rad]"""
    damping: NotNegative | Six | Matrix6 = 0.0
    """the same of the rates [N s/m, N m s/rad]"""
    at: Place | None = None
    """world point of both markers at t = 0, or {at: point of a part}; left out: each at its anchor [m]"""
    axes: Annotated[list[Vector], Field(min_length=3, max_length=3)] | None = None
    """rows of a right-handed rotation matrix whose columns are the directions; left out: the world's [1]"""
    rest: Six = [0.0] * 6
    """coordinates without force [m, rad]"""


class LawSpringScene(Part):
    """A spring with a law of a length, a displacement or an angle, and a damper with a law of its rate."""

    name: Name
    """by which the spring is known"""
    a: Anchor
    """first point or part"""
    b: Anchor
    """second point or part"""
    of: Coordinate = "length"
    """what x is"""
    axis: Vector | None = None
    """world direction at t = 0 of a displacement or an angle, fixed to a [1]"""
    law: SpringLaw | None = None
    """force against x"""
    damping: SpringLaw | None = None
    """force against dx/dt"""


class LimitScene(Part):
    """A stop at both ends or one of a length, a displacement or an angle."""

    name: Name
    """by which the stop is known"""
    a: Anchor
    """first point or part"""
    b: Anchor
    """second point or part"""
    of: Coordinate = "angle"
    """what is limited"""
    axis: Vector | None = None
    """world direction at t = 0 of a displacement or an angle, fixed to a [1]"""
    stiffness: Positive
    """beyond the stop [N/m or N m/rad]"""
    width: Positive
    """gap over which the force begins, as stiffness gap^2/(2 width) [m or rad]"""
    lower: Number | None = None
    """lower stop [m or rad]"""
    upper: Number | None = None
    """upper stop [m or rad]"""


class DistributedLoadScene(Part):
    """A force or moment per length of a rod."""

    name: Name
    """by which the load is known"""
    rod: Name
    """name of a rod"""
    kind: Literal["force", "moment"] = "force"
    """force or moment"""
    value: Vector | Signal
    """a length of the stress-free rod: constant vector, or a function of time along a direction [N/m or N]"""
    following: bool = False
    """components in section axes, not inertial"""
    between: Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)] = [0.0, 1.0]
    """fractions of the length where it begins and ends [1]"""
