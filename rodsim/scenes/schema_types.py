"""What the parts of a scene are made of: numbers, names, points, functions of time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, FiniteFloat, Tag

from rigid.checks import LARGEST, LONGEST_NAME, name_fault

Number = Annotated[FiniteFloat, Field(ge=-LARGEST, le=LARGEST)]
Positive = Annotated[FiniteFloat, Field(gt=0, ge=1 / LARGEST, le=LARGEST)]
NotNegative = Annotated[FiniteFloat, Field(ge=0, le=LARGEST)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[Number], Field(min_length=4, max_length=4)]


def _a_name(text: str) -> str:
    fault = name_fault(text)
    if fault:
        raise ValueError(f"it {fault}")
    return text


Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_a_name)]


class Part(BaseModel):
    """Base: unknown keys are errors, and so are texts and truth values where a number should stand.

    The text under a field is its description in the schema and in the reference; it ends with the unit in brackets where
    numbers stand, [1] where they have none.
    """

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class AxisAngle(Part):
    """Rotation by `angle_deg` about `axis`."""

    axis: Vector
    """world direction; any length [1]"""
    angle_deg: Number
    """angle about it, right-handed [deg]"""


# --- points


class BodyAnchor(Part):
    """A point of a body, local (`at`) or world (`at_world`) coordinates; neither: the body as a whole, or
    its origin.
    """

    body: Name
    """name of a body or a driven frame"""
    at: Vector | None = None
    """point in the axes of the body's shape [m]"""
    at_world: Vector | None = None
    """point in world coordinates at t = 0 [m]"""


class RodAnchor(Part):
    """A point of a rod at the fraction s of its length, `offset` in section axes."""

    rod: Name
    """name of a rod"""
    s: Annotated[FiniteFloat, Field(ge=0, le=1)]
    """fraction of its stress-free length, 0 to 1 [1]"""
    offset: Vector = [0.0, 0.0, 0.0]
    """from the rod's curve, along d1, d2, d3 of the section [m]"""


def _kind_of_anchor(value: Any) -> str | None:
    if isinstance(value, str):
        return "anchor by name"
    for kind in ("body", "rod", "ground"):
        if (isinstance(value, dict) and kind in value) or type(value).__name__.lower() == f"{kind}anchor":
            return f"anchor by {kind}"
    return None


def _kind_of_part_anchor(value: Any) -> str | None:
    kind = _kind_of_anchor(value)
    return None if kind == "anchor by ground" else kind


PartAnchor = Annotated[
    Annotated[Name, Tag("anchor by name")]
    | Annotated[BodyAnchor, Tag("anchor by body")]
    | Annotated[RodAnchor, Tag("anchor by rod")],
    Discriminator(
        _kind_of_part_anchor,
        custom_error_type="no_anchor",
        custom_error_message="it should be a body's name, {body: name, at: [x, y, z]} or {rod: name, s: 0.5}",
    ),
]


class PlaceScene(Part):
    """Where a point of another part is at t = 0, wherever that part has been put."""

    at: PartAnchor
    """the point; its part may stand later in the scene"""
    plus: Vector = [0.0, 0.0, 0.0]
    """from there, in world axes [m]"""


class OrientationOf(Part):
    """As another part is turned at t = 0: the axes of a body, of a section of a rod (d1 along it)."""

    of: PartAnchor
    """the point whose axes these are; its part may stand later in the scene"""
    turned: Quaternion | AxisAngle | None = None
    """from there, in these axes: unit quaternion [w, x, y, z], or axis and angle [1]"""


Place = Vector | PlaceScene


class GroundAnchor(Part):
    """A fixed point."""

    ground: Place
    """point in world coordinates, or where a point of a part is at t = 0 [m]"""


Anchor = Annotated[
    Annotated[Name, Tag("anchor by name")]
    | Annotated[BodyAnchor, Tag("anchor by body")]
    | Annotated[RodAnchor, Tag("anchor by rod")]
    | Annotated[GroundAnchor, Tag("anchor by ground")],
    Discriminator(
        _kind_of_anchor,
        custom_error_type="no_anchor",
        custom_error_message="it should be a body's name, ground, {body: name, at: [x, y, z]}, "
        "{rod: name, s: 0.5} or {ground: [x, y, z]}",
    ),
]


# --- functions of time


class Directed(Part):
    """A named function of time along a direction."""

    direction: Vector
    """the vector that the function multiplies [1]"""


class ConstantSignal(Directed):
    function: Literal["constant"]
    """always the same value"""
    value: Number
    """that value [N, N m, N/m or N]"""


class TableSignal(Directed):
    function: Literal["table"]
    """straight lines between points; the first and the last value stay"""
    times: Annotated[list[Number], Field(min_length=1)]
    """increasing [s]"""
    values: Annotated[list[Number], Field(min_length=1)]
    """as many as times [N, N m, N/m or N]"""


class RampSignal(Directed):
    function: Literal["ramp"]
    """0 until t_start, straight to value at t_end, then constant"""
    value: Number
    """at the end [N, N m, N/m or N]"""
    t_start: Number = 0.0
    """begin [s]"""
    t_end: Number
    """end [s]"""


class TriangleSignal(Directed):
    function: Literal["triangle"]
    """0 until t_start, straight to peak at t_peak, straight to 0 at t_end"""
    peak: Number
    """largest value [N, N m, N/m or N]"""
    t_start: Number = 0.0
    """begin [s]"""
    t_peak: Number
    """time of the peak [s]"""
    t_end: Number
    """end [s]"""


class SineSignal(Directed):
    function: Literal["sine"]
    """amplitude sin(2 pi frequency t + phase) + offset"""
    amplitude: Number
    """half of the whole swing [N, N m, N/m or N]"""
    frequency: Number
    """periods a second [Hz]"""
    phase: Number = 0.0
    """at t = 0 [rad]"""
    offset: Number = 0.0
    """mean value [N, N m, N/m or N]"""


class PulseSignal(Directed):
    function: Literal["pulse"]
    """value from t_start until just before t_end, else 0"""
    value: Number
    """in the pulse [N, N m, N/m or N]"""
    t_start: Number = 0.0
    """begin [s]"""
    t_end: Number
    """end [s]"""


Signal = Annotated[
    ConstantSignal | TableSignal | RampSignal | TriangleSignal | SineSignal | PulseSignal,
    Field(discriminator="function"),
]
