"""Measures of a result: named reductions of quantities, as `final rods.cord.end.r.z`, or functions of the result.

initial, final, max, min, mean, range       over all outputs; the mean is an integral over time
largest                                     largest absolute value
rms                                         square root of the time mean of the square
at T                                        value at the time T (s), interpolated linearly between outputs
time-of-max, time-of-min                    time of the maximum or minimum, s
frequency                                   frequency of the highest peak of the spectrum, Hz
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rodsim.studies.errors import StudyError, near
from rodsim.studies.quantities import Quantity, check_possible, quantity
from rodsim.studies.spectra import frequency_peak

if TYPE_CHECKING:
    from rigid.system import Floats
    from rodsim.results.layout import Layout
    from rodsim.results.result import Result

Measure = str | Callable[["Result"], float]


def _mean(t: Floats, x: Floats) -> float:
    """Return the mean over time by the trapezoidal rule; the last value if the run has no length."""
    if len(t) < 2 or t[-1] == t[0]:
        return float(x[-1])
    return float(np.diff(t) @ (x[1:] + x[:-1]) / 2.0 / (t[-1] - t[0]))


REDUCTIONS: dict[str, Callable[[Floats, Floats], Any]] = {
    "initial": lambda t, x: x[0],
    "final": lambda t, x: x[-1],
    "max": lambda t, x: x.max(),
    "min": lambda t, x: x.min(),
    "mean": _mean,
    "range": lambda t, x: x.max() - x.min(),
    "largest": lambda t, x: np.abs(x).max(),
    "rms": lambda t, x: math.sqrt(_mean(t, x**2)),
    "time-of-max": lambda t, x: t[np.argmax(x)],
    "time-of-min": lambda t, x: t[np.argmin(x)],
    "frequency": frequency_peak,
}
_UNITS = {"time-of-max": "s", "time-of-min": "s", "frequency": "Hz"}
_FORM = "write it as 'final rods.NAME.end.r.z', 'at 1.5 energy.elastic' or 'max joints.NAME.force.norm'"


class Named(NamedTuple):
    """A parsed measure: quantity, unit and reduction."""

    quantity: Quantity
    unit: str
    reduce: Callable[[Floats, Floats], Any]


def parse(text: str, layout: Layout, end: float | None = None) -> Named:
    """Parse the measure `text` for results with this layout; `end`: end time of the run (s), None if it is not known."""
    word, rest, reduce = _reduction(text, end)
    try:
        found = quantity(rest, layout)
    except StudyError as error:
        raise StudyError(f"measure '{text}': {error}") from None
    return Named(found, _UNITS.get(word, found.unit), reduce)


def check_words(text: str) -> None:
    """Raise StudyError if a measure is invalid for every model; used if the model is not known before a run."""
    _, rest, _ = _reduction(text, None)
    try:
        check_possible(rest)
    except StudyError as error:
        raise StudyError(f"measure '{text}': {error}") from None


def _reduction(text: str, end: float | None) -> tuple[str, str, Callable[[Floats, Floats], Any]]:
    """Split a measure into its word and its quantity; return both and the reduction."""
    word, _, rest = " ".join(text.split()).partition(" ")
    if word == "at":
        time, _, rest = rest.partition(" ")
        if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", time) or not rest:
            raise StudyError(f"measure '{text}': at which time? {_FORM}")
        reduce = _at(text, float(time))
        if end is not None:
            reduce(np.array([0.0, end]), np.zeros(2))
    elif word in REDUCTIONS and rest:
        reduce = REDUCTIONS[word]
    else:
        known = [*REDUCTIONS, "at"]
        why = f"'{word}' of what?" if word in known else f"'{word}' is no reduction; {near(word, known)};"
        raise StudyError(f"measure '{text}': {why} {_FORM}")
    return word, rest, reduce


def _at(text: str, time: float) -> Callable[[Floats, Floats], Any]:
    """Return the reduction to the value at `time` (s), interpolated linearly; it raises StudyError outside the run."""

    def reduce(t: Floats, x: Floats) -> float:
        slack = 1e-9 * max(abs(t[0]), abs(t[-1]))
        if not t[0] - slack <= time <= t[-1] + slack:
            raise StudyError(
                f"measure '{text}': the run goes from {t[0]:g} to {t[-1]:g} s; take a time between"
            )
        return float(np.interp(time, t, x))

    return reduce


def measure(result: Result, measures: Mapping[str, Measure]) -> dict[str, float]:
    """Return all measures of a result by name."""
    found: dict[str, float] = {}
    for name, what in measures.items():
        if isinstance(what, str):
            named = parse(what, result.layout)
            found[name] = float(named.reduce(result.t, named.quantity.read(result)))
        else:
            found |= numbers_of(name, what(result))
    return found


def numbers_of(name: str, value: Any) -> dict[str, float]:
    """Return what a function of the user returned, a number or (nested) numbers by name, as one mapping of numbers."""
    if isinstance(value, Mapping):
        return {f"{key}": number for k, x in value.items() for key, number in numbers_of(str(k), x).items()}
    array = np.asarray(value)
    if array.ndim or not isinstance(array.item(), numbers.Real):
        raise StudyError(f"measure '{name}': it gave {value!r:.80}; return a number, or numbers by name")
    return {name: float(array.item())}
