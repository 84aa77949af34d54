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
    """Base: unknown keys are errors, and so are texts and truth values where a number should stand."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AxisAngle(Part):
    """Rotation by `angle_deg` about `axis`."""

    axis: Vector
    angle_deg: Number


# --- points


class BodyAnchor(Part):
    """A point of a body, local (`at`) or world (`at_world`) coordinates; neither: the body as a whole, or
    its origin.
    """

    body: Name
    at: Vector | None = None
    at_world: Vector | None = None


class RodAnchor(Part):
    """A point of a rod at the fraction s of its length, `offset` in section axes."""

    rod: Name
    s: Annotated[FiniteFloat, Field(ge=0, le=1)]
    offset: Vector = [0.0, 0.0, 0.0]


class GroundAnchor(Part):
    """A fixed point."""

    ground: Vector


def _kind_of_anchor(value: Any) -> str | None:
    if isinstance(value, str):
        return "anchor by name"
    for kind in ("body", "rod", "ground"):
        if (isinstance(value, dict) and kind in value) or type(value).__name__.lower() == f"{kind}anchor":
            return f"anchor by {kind}"
    return None


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


class ConstantSignal(Directed):
    function: Literal["constant"]
    value: Number


class TableSignal(Directed):
    function: Literal["table"]
    times: Annotated[list[Number], Field(min_length=1)]
    values: Annotated[list[Number], Field(min_length=1)]


class RampSignal(Directed):
    function: Literal["ramp"]
    value: Number
    t_start: Number = 0.0
    t_end: Number


class TriangleSignal(Directed):
    function: Literal["triangle"]
    peak: Number
    t_start: Number = 0.0
    t_peak: Number
    t_end: Number


class SineSignal(Directed):
    function: Literal["sine"]
    amplitude: Number
    frequency: Number
    phase: Number = 0.0
    offset: Number = 0.0


class PulseSignal(Directed):
    function: Literal["pulse"]
    value: Number
    t_start: Number = 0.0
    t_end: Number


Signal = Annotated[
    ConstantSignal | TableSignal | RampSignal | TriangleSignal | SineSignal | PulseSignal,
    Field(discriminator="function"),
]
