"""Define functions of time and laws of springs in scenes: one table of each, from which schema and conversion follow.

To add one, write a row here, and its class in `rigid.signals` or its method of `rodsim.parts.spring_laws.SpringLaw`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import scipy  # submodules are imported on first access
from pydantic import Discriminator, Field, Tag

from rigid import signals
from rigid.errors import ModelError
from rodsim.parts.spring_laws import INTERPOLATIONS, SpringLaw
from rodsim.parts.time_expressions import Expression
from rodsim.scenes.errors import Path, SceneProblem
from rodsim.scenes.schema_types import (
    Components,
    Formula,
    Name,
    NotNegative,
    Number,
    Part,
    Positive,
    Variant,
    Vector,
    numbers,
    union,
)

_BEGIN, _END = (Number, "begin [s]", 0.0), (Number, "end [s]")
_OFFSET = Number, "mean value [?]", 0.0
_FILE = {
    "file": (
        Name | None,
        "CSV file in place of times and values, relative to the scene; its first row names the columns",
        None,
    ),
    "time": (Name | None, "name of the column of times; left out: the first", None),
    "value": (Name | None, "name of the column of values; left out: the second", None),
}
_ROWS: Any = Annotated[list[list[Number]], Field(min_length=1, max_length=4)]
_TIMES, _VALUES = (
    (numbers(2) | None, "increasing [s]", None),
    (numbers(2) | None, "as many as times [?]", None),
)

SIGNALS = {
    "constant": Variant(signals.Constant, "always the same value", {"value": (Number, "that value [?]")}),
    "table": Variant(
        lambda **given: _of_table(signals.Table, **given),
        "straight lines between points; the first and the last value stay",
        {
            "times": (numbers(1) | None, "increasing [s]", None),
            "values": (numbers(1) | None, "as many as times [?]", None),
            **_FILE,
        },
    ),
    "ramp": Variant(
        signals.Ramp,
        "0 until t_start, straight to value at t_end, then constant",
        {"value": (Number, "at the end [?]"), "t_start": _BEGIN, "t_end": _END},
    ),
    "triangle": Variant(
        signals.Triangle,
        "0 until t_start, straight to peak at t_peak, straight to 0 at t_end",
        {
            "peak": (Number, "largest value [?]"),
            "t_start": _BEGIN,
            "t_peak": (Number, "time of the peak [s]"),
            "t_end": _END,
        },
    ),
    "sine": Variant(
        signals.Sine,
        "amplitude sin(2 pi frequency t + phase) + offset",
        {
            "amplitude": (Number, "half of the whole swing [?]"),
            "frequency": (Number, "periods a second [Hz]"),
            "phase": (Number, "at t = 0 [rad]", 0.0),
            "offset": _OFFSET,
        },
    ),
    "pulse": Variant(
        signals.Pulse,
        "value from t_start until just before t_end, else 0",
        {"value": (Number, "in the pulse [?]"), "t_start": _BEGIN, "t_end": _END},
    ),
    "steady": Variant(
        signals.Steady,
        "offset + slope t",
        {"slope": (Number, "rate [(?)/s]"), "offset": (Number, "at t = 0 [?]", 0.0)},
    ),
    "smooth step": Variant(
        signals.SmoothStep,
        "quintic from 0 at t_start to value at t_end, without a jump of acceleration",
        {"value": (Number, "at the end [?]"), "t_start": _BEGIN, "t_end": _END},
    ),
    "spin-up": Variant(
        signals.SpinUp,
        "integral of a rate that rises smoothly from 0 at t = 0 to speed at t_end",
        {"speed": (Number, "final rate [(?)/s]"), "t_end": (Positive, "end of the rise [s]")},
    ),
    "smooth table": Variant(
        lambda **given: _of_table(signals.SmoothTable, **given),
        "cubic spline through points, at rest before the first and after the last",
        {"times": _TIMES, "values": _VALUES, **_FILE},
    ),
    "expression": Variant(
        Expression,
        "a formula of the time t and of the parameters",
        {
            "text": (
                Formula,
                "as 50*sin(2*pi*3*t); with abs, min, max, floor, ceil or round for loads only [?]",
            )
        },
    ),
}
LOADS = tuple(SIGNALS)
MOTIONS = "constant", "sine", "steady", "smooth step", "spin-up", "smooth table", "expression"


CLASSES = {  # classes of the functions
    word: {"table": signals.Table, "smooth table": signals.SmoothTable}.get(word, own.make)
    for word, own in SIGNALS.items()
}


def _of_table(kind: type[Any], times: Any, values: Any, **columns: Any) -> signals.Signal:
    """Make a table; its CSV file has been read into times and values (`rodsim.scenes.reading`)."""
    if times is None or values is None:
        raise ModelError(
            f"{kind.__name__}: times or values are missing; give both, or the name of a CSV file as `file:`"
        )
    made: signals.Signal = kind(times, values)
    return made


def _law_of_pieces(knots: list[float], coefficients: list[list[float]], error: float) -> SpringLaw:
    """Make a law from the data of `SpringLaw.described`, polynomials of degree 3 at most."""
    try:
        pieces = scipy.interpolate.PPoly(np.array(coefficients, float), np.array(knots, float))
    except ValueError as wrong:
        raise ModelError(
            f"SpringLaw: {len(knots)} knots do not fit coefficients of {len(coefficients)} powers: {wrong}"
        ) from None
    return SpringLaw(pieces, error)


LAWS = {
    "table": Variant(
        SpringLaw.table,
        "through points",
        {
            "x": (numbers(2), "increasing; of a damper the rate [m, rad, m/s or rad/s]"),
            "force": (numbers(2), "as many as x [N or N m]"),
            "interpolation": (
                Literal[INTERPOLATIONS],
                "monotone: rises and falls with the points only; smooth: continuous second derivative; straight: lines",
                "monotone",
            ),
        },
    ),
    "polynomial": Variant(
        SpringLaw.polynomial,
        "coefficients[0] + coefficients[1] x + ... for |x| < reach",
        {
            "coefficients": (numbers(1, 4), "of 1, x, x^2, x^3 [N or N m over powers of x]"),
            "reach": (Positive, "|x| beyond which it goes on straight [m, rad, m/s or rad/s]", 3.0),
        },
    ),
    "pieces": Variant(
        _law_of_pieces,
        "polynomials between knots, beyond them straight lines",
        {
            "knots": (numbers(2), "increasing; of a damper the rate [m, rad, m/s or rad/s]"),
            "coefficients": (
                _ROWS,
                "of powers of the distance from the knot before, the highest first: for each a number a piece [N or N m over "
                "powers of x]",
            ),
            "error": (NotNegative, "of a function that it was made of, at most [N or N m]", 0.0),
        },
    ),
}


class Directed(Part):
    """Base schema of a named function of time along a direction."""

    direction: Vector
    """the vector that the function multiplies [1]"""


class Moving(Part):
    """Base schema of a smooth function of time; `direction` is required if it is a displacement."""

    direction: Vector | None = None
    """of a displacement; a turn or the coordinate of a joint has none [1]"""


def _are_components(value: Any) -> bool:
    """Return True if a displacement is given by three numbers or formulas."""
    return (
        isinstance(value, list) and len(value) == 3 and all(isinstance(x, str | float | int) for x in value)
    )


def _signals(kind: str, words: Sequence[str], base: type[Part], unit: str) -> Any:
    """Return the union of the schemas of these functions; the unit ? in their descriptions is replaced by `unit`."""
    variants = {}
    for word in words:
        own = SIGNALS[word]
        fields = {what: (x[0], x[1].replace("?", unit), *x[2:]) for what, x in own.fields.items()}
        variants[word] = own._replace(fields=fields)
    return union(kind, "function", variants, base)


if TYPE_CHECKING:
    Signal = Any
    Motion = Any
    Displacement = Any
    SpringLawScene = Any
else:
    Signal = _signals("Signal", LOADS, Directed, "N, N m, N/m or N")
    _Functions = _signals("Motion", MOTIONS, Moving, "m or rad")
    Motion = _Functions | Formula
    Displacement = Annotated[
        Annotated[Components, Tag("components")] | Annotated[list[_Functions], Tag("functions")],
        Discriminator(lambda value: "components" if _are_components(value) else "functions"),
    ]
    SpringLawScene = union("Law", "type", LAWS)


def value_of(given: Any) -> Any:
    """Return the value of a load: numbers and formulas, or a function of time along its direction."""
    return given if isinstance(given, list) else _signal(given).along(given.direction)


def motion_of(path: Path, given: Any) -> Any:
    """Return the function of time of a joint coordinate or rotation; SceneProblem if it has a direction."""
    if isinstance(given, str):
        return given
    if given.direction is not None:
        raise SceneProblem(path, "a turn and a coordinate of a joint have no direction; leave it out")
    return _signal(given)


def displacements_of(path: Path, given: list[Any]) -> list[Any] | None:
    """Return displacements as functions of time along their directions, or three components; None if there are none."""
    if _are_components(given):
        return given
    for k, item in enumerate(given):
        if item.direction is None:
            raise SceneProblem((*path, k), "a displacement needs a direction; give `direction: [x, y, z]`")
    return [_signal(item).along(item.direction) for item in given] or None


def _signal(given: Any) -> signals.Signal:
    """Return the scalar function of time that scene data describe."""
    made: signals.Signal = SIGNALS[given.function].make(**given.model_dump(exclude={"function", "direction"}))
    return made


def law_of(given: Any) -> SpringLaw:
    """Return the law of a spring or a damper that scene data describe."""
    law: SpringLaw = LAWS[given.type].make(**given.model_dump(exclude={"type"}))
    return law
