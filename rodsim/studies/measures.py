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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rodsim.parts.points import parse_point
from rodsim.studies.errors import StudyError, near
from rodsim.studies.quantities import Quantity, check_possible, quantity

if TYPE_CHECKING:
    from rigid.system import Floats
    from rodsim.results.layout import Layout
    from rodsim.results.result import Result

Measure = str | Callable[["Result"], float]


MOST_PARTS = 20  # parts whose motion is sampled
FEWEST = 8  # smallest number of outputs of a spectrum
PADDING = 8  # zero padding: ratio of the length of the transform to the number of outputs


def _mean(t: Floats, x: Floats) -> float:
    """Return the mean over time by the trapezoidal rule; the last value if the run has no length."""
    if len(t) < 2 or t[-1] == t[0]:
        return float(x[-1])
    return float(np.diff(t) @ (x[1:] + x[:-1]) / 2.0 / (t[-1] - t[0]))


def frequency_peak(t: Floats, x: Floats) -> float:
    """Return the frequency (Hz) of the highest peak of the amplitude spectrum; nan if the history is constant or too short.

    The least-squares straight line is subtracted, the rest is tapered by a Hann window and padded with zeros. The peak is the
    vertex of a parabola through the logarithms of the amplitudes at three frequencies. If the outputs are not evenly spaced, the
    history is first interpolated linearly.
    """
    if len(t) < FEWEST:
        return float("nan")
    even = np.linspace(t[0], t[-1], len(t))
    y = x if np.allclose(t, even, rtol=0.0, atol=1e-9 * (t[-1] - t[0])) else np.interp(even, t, x)
    rest = y - np.polyval(np.polyfit(even - even[0], y, 1), even - even[0])
    if np.abs(rest).max() <= 1e-12 * np.abs(y).max():
        return float("nan")
    n = PADDING * len(even)
    amplitude = np.abs(np.fft.rfft(rest * np.hanning(len(even)), n))
    k = int(np.argmax(amplitude[1:-1])) + 1
    low, mid, high = np.log(np.maximum(amplitude[k - 1 : k + 2], 1e-300))
    bend = low - 2.0 * mid + high
    offset = 0.5 * (low - high) / bend if bend < 0.0 else 0.0
    return float((k + offset) / (n * (even[1] - even[0])))


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


# --- motion


@dataclass(frozen=True)
class MotionSamples:
    """Sampler of a result: largest displacement of a point (m), then positions of bodies and of start, middle and end of rods.

    `times`: sample times (s); None: only the last output. Of more than 20 parts, 20 evenly spaced ones are sampled.
    """

    times: tuple[float, ...] | None

    def __call__(self, result: Result) -> Iterator[float]:
        from rodsim.comparing.points import motion, parts_of, usual_points

        names = parts_of(result)
        points = {text: parse_point(text, names).part for text in usual_points(result, result)}
        parts = list(dict.fromkeys(points.values()))
        few = np.unique(np.linspace(0, len(parts) - 1, min(len(parts), MOST_PARTS)).round().astype(int))
        chosen = {parts[k] for k in few}
        at = self._outputs(result)
        way, samples = 0.0, []
        for text, part in points.items():
            if part in chosen:
                r = motion(result, "the result", text).r
                way = max(way, float(np.linalg.norm(r - r[0], axis=1).max()))
                samples.append(r[at].ravel())
        return iter([way, *np.concatenate(samples).tolist()])

    def _outputs(self, result: Result) -> list[int]:
        """Return the indices of the outputs at the sample times; raise StudyError if a time has no output."""
        if self.times is None:
            return [-1]
        t = result.t
        found = [int(np.argmin(np.abs(t - time))) for time in self.times]
        missed = [time for time, k in zip(self.times, found, strict=True) if abs(t[k] - time) > 1e-9 * t[-1]]
        if missed:
            raise StudyError(
                f"there is no output at t = {missed[0]:g} s; choose dt and output_every that have one"
            )
        return found
