"""Currents and waves in scenes: schemas, reading and writing of the classes of `rodsim.fluids`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from rodsim.components.flows import CURRENTS, AiryWave, Polar
from rodsim.scenes.round_trip import plain
from rodsim.scenes.schema_types import (
    A_LIST,
    NotNegative,
    Number,
    Part,
    Positive,
    Vector,
    numbers,
    one_form,
    schemas,
    union,
)

_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "power law.velocity": (Vector, "velocity at the reference height [m/s]"),
    "height": (Positive, "reference height above the base [m]"),
    "exponent": (NotNegative, "exponent [1]"),
    "base": (Number, "height at which the velocity is zero [m]"),
    "z": (numbers(2), "increasing heights above the origin, negative below it [m]"),
    "formula.velocity": (
        Annotated[list[str], Field(min_length=3, max_length=3)],
        "components as formulas of the coordinates x, y, z and the time t [m/s]",
    ),
    "profile.velocity": (
        Annotated[list[Vector], Field(min_length=2)],
        "velocities at these heights, constant beyond them [m/s]",
    ),
}


class WaveScene(Part):
    """A regular wave of small amplitude (Airy)."""

    height: NotNegative
    """from trough to crest [m]"""
    period: Positive
    """period [s]"""
    direction: Vector = [1.0, 0.0, 0.0]
    """direction of travel [1]"""
    phase: Number = 0.0
    """phase at the origin at t = 0 [rad]"""


class PolarScene(Part):
    """Coefficients of a section over the angle of attack."""

    angle: numbers(2)  # type: ignore[valid-type]
    """increasing angles of attack [deg]"""
    lift: numbers(2)  # type: ignore[valid-type]
    """coefficients of lift at these angles [1]"""
    drag: numbers(2)  # type: ignore[valid-type]
    """coefficients of drag at these angles [1]"""
    moment: numbers(2) | None = None  # type: ignore[valid-type]
    """coefficients of moment at these angles, nose up; default: zero [1]"""


if TYPE_CHECKING:
    CurrentScene = Any
else:
    CurrentScene = one_form(
        {A_LIST: Vector, "law": union("law", schemas("CurrentScene", "law", CURRENTS, _ARGUMENTS))},
        "give a velocity [x, y, z], or {law: power law, ...}, {law: profile, ...} or {law: formula, ...}",
    )


def current_of(value: Any) -> Any:
    """Return the current that scene data describe."""
    return value if isinstance(value, list) else CURRENTS[value.law](**value.model_dump(exclude={"law"}))


def current_data(value: Any) -> Any:
    """Return a current as scene data."""
    for word, kind in CURRENTS.items():
        if isinstance(value, kind):
            return {"law": word, **plain({entry.name: getattr(value, entry.name) for entry in fields(value)})}
    return value


def polar_of(polar: PolarScene) -> Polar:
    """Return the polar that scene data describe."""
    return Polar(**polar.model_dump())


def polar_data(polar: Polar) -> Any:
    """Return a polar as scene data."""
    return plain({entry.name: getattr(polar, entry.name) for entry in fields(polar)})


def waves_of(waves: list[WaveScene]) -> list[AiryWave]:
    """Return the waves that scene data describe."""
    return [AiryWave(**wave.model_dump()) for wave in waves]


def waves_data(value: Any) -> Any:
    """Return waves as scene data."""
    waves = [value] if isinstance(value, AiryWave) else value
    return [plain({entry.name: getattr(wave, entry.name) for entry in fields(wave)}) for wave in waves]
