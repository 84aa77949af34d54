"""Functions of time and laws of springs in scenes: their schemas, how they are read, and how they are written.

A class of `rigid.signals` or a method of `SpringLaw` with a row in `SIGNALS` or `LAWS` is a function of scenes. Its keys are its
arguments; `ARGUMENTS` says what they mean. The unit ? is that of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import scipy  # submodules are imported on first access
from pydantic import Discriminator, Field, Tag

from rigid import signals
from rigid.errors import ModelError
from rigid.signals import Signal as TimeFunction
from rigid.signals import VectorSignal
from rodsim.components.controllers import Output
from rodsim.components.spring_laws import INTERPOLATIONS, SpringLaw
from rodsim.components.time_expressions import Expression
from rodsim.scenes.errors import Path, SceneProblem
from rodsim.scenes.round_trip import plain, raise_not_savable
from rodsim.scenes.schema_types import (
    Components,
    Formula,
    Name,
    NotNegative,
    Number,
    Part,
    Positive,
    Vector,
    numbers,
    schemas,
    union,
)

CLASSES: dict[str, type[TimeFunction]] = {
    "constant": signals.Constant,
    "table": signals.Table,
    "ramp": signals.Ramp,
    "triangle": signals.Triangle,
    "sine": signals.Sine,
    "pulse": signals.Pulse,
    "steady": signals.Steady,
    "smooth step": signals.SmoothStep,
    "spin-up": signals.SpinUp,
    "smooth table": signals.SmoothTable,
    "expression": Expression,
    "output": Output,
}
LOADS = tuple(CLASSES)
MOTIONS = "constant", "sine", "steady", "smooth step", "spin-up", "smooth table", "expression"


def _of_table(kind: type[Any]) -> Callable[..., TimeFunction]:
    """Return the function that makes a table; a CSV file has been read into times and values (`rodsim.scenes.reading`)."""

    def make(
        times: Any = None, values: Any = None, file: Any = None, time: Any = None, value: Any = None
    ) -> TimeFunction:
        if times is None or values is None:
            raise ModelError(
                f"{kind.__name__}: times or values are missing; give both, or the name of a CSV file as `file:`"
            )
        made: TimeFunction = kind(times, values)
        return made

    make.__doc__ = kind.__doc__
    return make


SIGNALS: dict[str, Callable[..., TimeFunction]] = {
    **CLASSES,
    "table": _of_table(signals.Table),
    "smooth table": _of_table(signals.SmoothTable),
}
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "value": (Number, "value; or value at t_end; or value of the pulse [?]"),
    "peak": (Number, "largest value [?]"),
    "t_start": (Number, "start [s]", 0.0),
    "t_peak": (Number, "time of the peak [s]"),
    "t_end": (Number, "end [s]", 0.0),
    "spin-up.t_end": (Positive, "end of the rise [s]"),
    "amplitude": (Number, "amplitude: half of the peak-to-peak value [?]"),
    "frequency": (Number, "frequency [Hz]"),
    "phase": (Number, "phase at t = 0 [rad]"),
    "offset": (Number, "mean value, or value at t = 0 [?]"),
    "slope": (Number, "rate [(?)/s]"),
    "speed": (Number, "final rate [(?)/s]"),
    "times": (numbers(1), "increasing times [s]"),
    "smooth table.times": (numbers(2), "increasing times [s]"),
    "values": (numbers(1), "values at these times [?]"),
    "smooth table.values": (numbers(2), "values at these times [?]"),
    "file": (Name, "CSV file in place of times and values, relative to the scene; its first row names the columns"),
    "time": (Name, "name of the column of times; default: the first"),
    "table.value": (Name, "name of the column of values; default: the second"),
    "smooth table.value": (Name, "name of the column of values; default: the second"),
    "controller": (Name, "name of a controller"),
    "output": (Name, "name of its output"),
    "text": (Formula, "formula of t and parameters, as 50*sin(2*pi*3*t); abs, min, max, floor, ceil, round for loads only [?]"),
}  # fmt: skip


def _law_of_pieces(knots: list[float], coefficients: list[list[float]], error: float = 0.0) -> SpringLaw:
    """Return the law of polynomials between knots; beyond them it is continued by straight lines."""
    try:
        pieces = scipy.interpolate.PPoly(np.array(coefficients, float), np.array(knots, float))
    except ValueError as wrong:
        raise ModelError(
            f"SpringLaw: {len(knots)} knots do not fit coefficients of {len(coefficients)} powers: {wrong}"
        ) from None
    return SpringLaw(pieces, error)


LAWS: dict[str, Callable[..., SpringLaw]] = {
    "table": SpringLaw.table,
    "polynomial": SpringLaw.polynomial,
    "pieces": _law_of_pieces,
}
_ROWS: Any = Annotated[list[list[Number]], Field(min_length=1, max_length=4)]
_INTERPOLATION: Any = Literal.__getitem__(INTERPOLATIONS)
OF_LAWS = {
    "x": (numbers(2), "increasing coordinates; for a damper rates [m, rad, m/s or rad/s]"),
    "force": (numbers(2), "forces at x [N or N m]"),
    "interpolation": (
        _INTERPOLATION,
        "monotone: rises and falls with the points only; smooth: continuous second derivative; straight: lines",
    ),
    "polynomial.coefficients": (numbers(1, 4), "coefficients of 1, x, x^2, x^3 [N or N m over powers of x]"),
    "reach": (Positive, "|x| beyond which the law continues in a straight line [m, rad, m/s or rad/s]"),
    "knots": (numbers(2), "increasing coordinates; for a damper rates [m, rad, m/s or rad/s]"),
    "pieces.coefficients": (_ROWS, "one list for each power of the distance from the knot before, the highest first; one number "
        "for each piece [N or N m over powers of x]"),
    "error": (NotNegative, "largest error with respect to the function that it was made of [N or N m]"),
}  # fmt: skip


class Directed(Part):
    """Base schema of a named function of time along a direction."""

    direction: Vector
    """vector by which the function is multiplied [1]"""


class Moving(Part):
    """Base schema of a smooth function of time; `direction` is required if it is a displacement."""

    direction: Vector | None = None
    """direction of a displacement; not for a rotation or the coordinate of a joint [1]"""


def _are_components(value: Any) -> bool:
    """Return True if a displacement is given by three numbers or formulas."""
    return (
        isinstance(value, list) and len(value) == 3 and all(isinstance(x, str | float | int) for x in value)
    )


def _signals(kind: str, words: Sequence[str], base: type[Part], unit: str) -> Any:
    """Return the union of the schemas of these functions; `unit`: that of their values."""
    arguments = {name: (x[0], x[1].replace("?", unit), *x[2:]) for name, x in ARGUMENTS.items()}
    return union(
        "function", schemas(kind, "function", {word: SIGNALS[word] for word in words}, arguments, base)
    )


if TYPE_CHECKING:
    Signal = Any
    ScalarSignal = Any
    Motion = Any
    Displacement = Any
    SpringLawScene = Any
else:
    Signal = _signals("Signal", LOADS, Directed, "N, N m, N/m or N")
    ScalarSignal = _signals("ScalarSignal", LOADS, Part, "N or N m")
    _Functions = _signals("Motion", MOTIONS, Moving, "m or rad")
    Motion = _Functions | Formula
    Displacement = Annotated[
        Annotated[Components, Tag("components")] | Annotated[list[_Functions], Tag("functions")],
        Discriminator(lambda value: "components" if _are_components(value) else "functions"),
    ]
    SpringLawScene = union("type", schemas("Law", "type", LAWS, OF_LAWS))


# --- reading


def value_of(data: Any) -> Any:
    """Return the value of a load: numbers and formulas, or a function of time along its direction."""
    return data if isinstance(data, list) else _signal(data).along(data.direction)


def scalar_of(data: Any) -> Any:
    """Return the value of a joint force: a number, a formula, or a scalar function of time."""
    return data if isinstance(data, int | float | str) else _signal(data)


def motion_of(path: Path, data: Any) -> Any:
    """Return the function of time of a joint coordinate or rotation; SceneProblem if it has a direction."""
    if isinstance(data, str):
        return data
    if data.direction is not None:
        raise SceneProblem(path, "a rotation and a coordinate of a joint have no direction; remove it")
    return _signal(data)


def displacements_of(path: Path, data: list[Any]) -> list[Any] | None:
    """Return displacements as functions of time along their directions, or three components; None if there are none."""
    if _are_components(data):
        return data
    for k, item in enumerate(data):
        if item.direction is None:
            raise SceneProblem((*path, k), "a displacement needs a direction; give `direction: [x, y, z]`")
    return [_signal(item).along(item.direction) for item in data] or None


def _signal(data: Any) -> TimeFunction:
    """Return the scalar function of time that scene data describe."""
    return SIGNALS[data.function](**data.model_dump(exclude={"function", "direction"}))


def law_of(data: Any) -> SpringLaw:
    """Return the law of a spring or a damper that scene data describe."""
    return LAWS[data.type](**data.model_dump(exclude={"type"}))


# --- writing


def signal_data(owner: str, what: str, function: Any, known: Sequence[str]) -> Any:
    """Return a function of time as scene data; ModelError if it is none of the functions in `known`."""
    if isinstance(function, str):
        return function
    scalar = function.scalar if isinstance(function, VectorSignal) else function
    words = {CLASSES[word]: word for word in known}
    if type(scalar) not in words:
        kind = type(scalar).__name__ if isinstance(scalar, TimeFunction) else "a Python function"
        raise_not_savable(owner, f"its {what} is {kind}")
    along = {"direction": function.direction.tolist()} if isinstance(function, VectorSignal) else {}
    return {"function": words[type(scalar)], **plain(vars(scalar)), **along}


def law_data(law: SpringLaw) -> dict[str, Any]:
    """Return the scene data of a spring law."""
    return {"type": "pieces", **law.described()}
