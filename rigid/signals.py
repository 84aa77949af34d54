"""Functions of time for loads: constants, tables and a few named shapes. All are plain data, fit for a scene
file.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its parts are loaded when they are asked for
from numpy.typing import ArrayLike

from rigid.checks import array, number, vector, vectors
from rigid.errors import ModelError
from rigid.system import Floats

_STRAIGHT = (
    1e-9  # of the steepest slope: slopes of a table that differ by less, as rounded data do, are one line
)


class Signal:
    """A scalar function of time, vectorised: s(t) for t of any shape, s."""

    def __call__(self, t: ArrayLike) -> Floats:
        raise NotImplementedError

    @property
    def corners(self) -> Sequence[float]:
        """Times (s) at which the value or the slope jumps. A step of `simulate` ends at each of them."""
        return ()

    @property
    def knots(self) -> Sequence[float]:
        """Corners, and times (s) at which a higher derivative jumps. Adaptive steps (`error=`) end at each of them."""
        return self.corners

    def rate(self, t: ArrayLike) -> Floats:
        """ds/dt, of those that are smooth enough to be a motion."""
        raise ModelError(
            f"{type(self).__name__}: has kinks or jumps, so that nothing can move with it; use SmoothStep, SmoothTable, "
            "SpinUp, Steady or Sine"
        )

    def along(self, direction: ArrayLike) -> VectorSignal:
        """The vector function s(t) direction, (3,)."""
        return VectorSignal(self, vector(type(self).__name__, "direction", direction))


@dataclass(frozen=True, eq=False)
class VectorSignal:
    """scalar(t) direction."""

    scalar: Signal
    direction: Floats

    def __call__(self, t: ArrayLike) -> Floats:
        return self.scalar(t)[..., None] * self.direction

    @property
    def corners(self) -> Sequence[float]:
        """Those of its scalar, s."""
        return self.scalar.corners

    @property
    def knots(self) -> Sequence[float]:
        """Those of its scalar, s."""
        return self.scalar.knots

    def rate(self, t: ArrayLike) -> Floats:
        """Its derivative."""
        return self.scalar.rate(t)[..., None] * self.direction


@dataclass(frozen=True, eq=False)
class Field:
    """A vector as a function of place along a rod and time that takes arrays: called once for all places and many times.

    function: (s, t) -> three components, of fractions s (q,) and times t, s, (k, 1): each a number, or of a shape that
    broadcasts to (k, q). With numpy's functions in the place of those of `math` it is what a function of numbers is.
    """

    function: Callable[[Floats, Floats], Sequence[ArrayLike]]

    @property
    def corners(self) -> Sequence[float]:
        """Those that its function declares, s (see `corners_of`)."""
        found: Sequence[float] = getattr(self.function, "corners", ())
        return found

    def __call__(self, s: float, t: float) -> Floats:
        """(3,) at one place and time."""
        return self.sampled("Field", np.array([float(s)]), np.array([float(t)]))[0, 0]

    def sampled(self, owner: str, s: Floats, t: Floats) -> Floats:
        """(k, q, 3) at places s (q,) and times t (k,).

        Raises ModelError, with the owner, where there are not three components of such shapes, or one is not finite.
        """
        found, shape = self.function(s, t[:, None]), (len(t), len(s))
        try:
            x, y, z = (np.broadcast_to(np.asarray(own, float), shape) for own in found)
        except (ValueError, TypeError):
            raise ModelError(
                f"{owner}: Field of {len(s)} places and {len(t)} times gives {_shapes(found)}; give three components, each a "
                f"number or of a shape that broadcasts to {shape}"
            ) from None
        return array(owner, "Field[time, place, component]", np.stack([x, y, z], axis=-1), (*shape, 3))


def _shapes(found: Any) -> str:
    """What a function gave, in words."""
    if isinstance(found, tuple | list):
        return f"{len(found)} components of shapes {', '.join(str(np.shape(own)) for own in found)}"
    return f"{type(found).__name__} of shape {np.shape(found)}"


@dataclass(frozen=True)
class Constant(Signal):
    """value at all times."""

    value: float

    def __post_init__(self) -> None:
        _keep(self, "value")

    def __call__(self, t: ArrayLike) -> Floats:
        return np.full(np.shape(t), self.value)

    def rate(self, t: ArrayLike) -> Floats:
        return np.zeros(np.shape(t))


@dataclass(frozen=True, eq=False)
class Table(Signal):
    """Straight lines between (times, values); before the first and after the last the value stays."""

    times: ArrayLike
    values: ArrayLike

    def __post_init__(self) -> None:
        times, values = (
            array("Table", what, given, (None,))
            for what, given in (("times", self.times), ("values", self.values))
        )
        if values.shape != times.shape or len(times) == 0:
            raise ModelError(
                f"Table: {len(times)} times and {len(values)} values; give as many values as times"
            )
        if np.any(np.diff(times) <= 0):
            where = int(np.argmax(np.diff(times) <= 0))
            raise ModelError(f"Table: time {times[where + 1]} follows {times[where]}; times must increase")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    def __call__(self, t: ArrayLike) -> Floats:
        return np.interp(np.asarray(t, dtype=float), np.asarray(self.times), np.asarray(self.values))

    @property
    def corners(self) -> Sequence[float]:
        """Times at which the slope changes; at points that continue a straight line there is no corner."""
        times, values = np.asarray(self.times), np.asarray(self.values)
        slopes = np.concatenate([[0.0], np.diff(values) / np.diff(times), [0.0]])
        size = np.abs(slopes).max(initial=0.0)
        corners: list[float] = times[np.abs(np.diff(slopes)) > _STRAIGHT * size].tolist()
        return corners


@dataclass(frozen=True)
class Ramp(Signal):
    """From 0 at t_start to value at t_end, linear, then constant."""

    value: float
    t_start: float
    t_end: float

    def __post_init__(self) -> None:
        _keep(self, "value", "t_start", "t_end")
        _increasing("Ramp", t_start=self.t_start, t_end=self.t_end)

    def __call__(self, t: ArrayLike) -> Floats:
        return np.interp(np.asarray(t, dtype=float), [self.t_start, self.t_end], [0.0, self.value])

    @property
    def corners(self) -> Sequence[float]:
        return self.t_start, self.t_end


@dataclass(frozen=True)
class Triangle(Signal):
    """0 at t_start, peak at t_peak, 0 from t_end on."""

    peak: float
    t_peak: float
    t_end: float
    t_start: float = 0.0

    def __post_init__(self) -> None:
        _keep(self, "peak", "t_start", "t_peak", "t_end")
        _increasing("Triangle", t_start=self.t_start, t_peak=self.t_peak, t_end=self.t_end)

    def __call__(self, t: ArrayLike) -> Floats:
        return np.interp(
            np.asarray(t, dtype=float), [self.t_start, self.t_peak, self.t_end], [0.0, self.peak, 0.0]
        )

    @property
    def corners(self) -> Sequence[float]:
        return self.t_start, self.t_peak, self.t_end


@dataclass(frozen=True)
class Sine(Signal):
    """amplitude sin(2 pi frequency t + phase) + offset; frequency in Hz, phase in rad."""

    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        _keep(self, "amplitude", "frequency", "phase", "offset")

    def __call__(self, t: ArrayLike) -> Floats:
        return self.amplitude * np.sin(2 * np.pi * self.frequency * np.asarray(t) + self.phase) + self.offset

    def rate(self, t: ArrayLike) -> Floats:
        w = 2 * np.pi * self.frequency
        return self.amplitude * w * np.cos(w * np.asarray(t) + self.phase)


@dataclass(frozen=True)
class Pulse(Signal):
    """value for t_start <= t < t_end, else 0."""

    value: float
    t_start: float
    t_end: float

    def __post_init__(self) -> None:
        _keep(self, "value", "t_start", "t_end")
        _increasing("Pulse", t_start=self.t_start, t_end=self.t_end)

    def __call__(self, t: ArrayLike) -> Floats:
        t = np.asarray(t, dtype=float)
        return np.where((t >= self.t_start) & (t < self.t_end), self.value, 0.0)

    @property
    def corners(self) -> Sequence[float]:
        return self.t_start, self.t_end


@dataclass(frozen=True)
class Steady(Signal):
    """offset + slope t."""

    slope: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        _keep(self, "slope", "offset")

    def __call__(self, t: ArrayLike) -> Floats:
        return self.offset + self.slope * np.asarray(t, dtype=float)

    def rate(self, t: ArrayLike) -> Floats:
        return np.full(np.shape(t), self.slope)


@dataclass(frozen=True)
class SmoothStep(Signal):
    """From 0 at t_start to value at t_end with the quintic 10 x^3 - 15 x^4 + 6 x^5: no jump of rate or acceleration."""

    value: float
    t_start: float
    t_end: float

    def __post_init__(self) -> None:
        _keep(self, "value", "t_start", "t_end")
        _increasing("SmoothStep", t_start=self.t_start, t_end=self.t_end)

    def _fraction(self, t: ArrayLike) -> Floats:
        x = (np.asarray(t, dtype=float) - self.t_start) / (self.t_end - self.t_start)
        return np.clip(x, 0.0, 1.0)

    def __call__(self, t: ArrayLike) -> Floats:
        x = self._fraction(t)
        return self.value * x**3 * (10.0 + x * (6.0 * x - 15.0))

    @property
    def knots(self) -> Sequence[float]:
        return self.t_start, self.t_end

    def rate(self, t: ArrayLike) -> Floats:
        x = self._fraction(t)
        return self.value / (self.t_end - self.t_start) * 30.0 * (x * (1.0 - x)) ** 2


@dataclass(frozen=True)
class SpinUp(Signal):
    """The integral of a rate that rises smoothly from 0 at t = 0 to `speed` at t_end and stays:
    speed (t^2/(2 T) + T (cos(2 pi t/T) - 1)/(4 pi^2)), T = t_end.
    """

    speed: float
    t_end: float

    def __post_init__(self) -> None:
        _keep(self, "speed", "t_end")
        number("SpinUp", "t_end", self.t_end, positive=True)

    def __call__(self, t: ArrayLike) -> Floats:
        t, T = np.asarray(t, dtype=float), self.t_end
        x = np.clip(t / T, 0.0, 1.0)
        rising = T * (0.5 * x**2 + (np.cos(2 * np.pi * x) - 1.0) / (4 * np.pi**2))
        return self.speed * (rising + np.maximum(t - T, 0.0))

    @property
    def knots(self) -> Sequence[float]:
        return 0.0, self.t_end

    def rate(self, t: ArrayLike) -> Floats:
        x = np.clip(np.asarray(t, dtype=float) / self.t_end, 0.0, 1.0)
        return self.speed * (x - np.sin(2 * np.pi * x) / (2 * np.pi))


@dataclass(frozen=True, eq=False)
class SmoothTable(Signal):
    """A cubic spline through (times, values) with continuous acceleration, at rest before the first and after the last."""

    times: ArrayLike
    values: ArrayLike

    def __post_init__(self) -> None:
        table = Table(self.times, self.values)
        if len(np.asarray(table.times)) < 2:
            raise ModelError("SmoothTable: has one time; give two or more, or a Constant")
        object.__setattr__(self, "times", table.times)
        object.__setattr__(self, "values", table.values)

    @functools.cached_property
    def _spline(self) -> scipy.interpolate.CubicSpline:
        return scipy.interpolate.CubicSpline(
            np.asarray(self.times), np.asarray(self.values), bc_type="clamped"
        )

    def _inside(self, t: ArrayLike) -> Floats:
        times = np.asarray(self.times)
        return np.clip(np.asarray(t, dtype=float), times[0], times[-1])

    def __call__(self, t: ArrayLike) -> Floats:
        value: Floats = self._spline(self._inside(t))
        return value

    @property
    def knots(self) -> Sequence[float]:
        times: list[float] = np.asarray(self.times).tolist()
        return times

    def rate(self, t: ArrayLike) -> Floats:
        rate: Floats = self._spline(self._inside(t), 1)
        return rate


def _keep(signal: Signal, *names: str) -> None:
    """Check the numbers of a signal, and keep them as floats."""
    for name in names:
        object.__setattr__(signal, name, number(type(signal).__name__, name, getattr(signal, name)))


def _increasing(owner: str, **times: float) -> None:
    names, values = list(times), list(times.values())
    for k in range(len(values) - 1):
        if values[k] >= values[k + 1]:
            raise ModelError(
                f"{owner}: {names[k]} = {values[k]} is not before {names[k + 1]} = {values[k + 1]}; "
                "let the times increase"
            )


VectorFunction = Callable[[Floats], Floats]


def corners_of(owner: str, value: Any, what: str = "corners") -> list[float]:
    """Times (s) at which a function of time has corners, or knots: what its attribute of this name says.

    Signals have both. A function of the user declares its corners in the same way, `push.corners = (0.5, 0.52)`. Knots that are
    not declared are its corners.

    Raises
    ------
    ModelError
        What is declared is not a sequence of finite numbers.
    """
    declared = getattr(value, what, None)
    if declared is None:
        declared = getattr(value, "corners", ())
    times: list[float] = array(owner, what, declared, (None,)).tolist()
    return times


@dataclass(frozen=True, eq=False)
class ConstantVector:
    """One vector at all times: (k,) -> (k, 3)."""

    value: Floats

    def __call__(self, times: Floats) -> Floats:
        return np.broadcast_to(self.value, (len(times), 3))


def vector_function(owner: str, value: object) -> VectorFunction:
    """A function times (k,) -> vectors (k, 3) from a constant vector, a signal along a direction, or a
    callable t -> (3,).
    """
    if isinstance(value, VectorSignal):
        return value
    if isinstance(value, Signal):
        raise ModelError(
            f"{owner}: {type(value).__name__} is a scalar; say which way with `.along(direction)`"
        )
    if isinstance(value, Field):
        raise ModelError(
            f"{owner}: Field is of places along a rod; give a function of time, or a signal along a direction"
        )
    if callable(value):

        def sampled(times: Floats) -> Floats:
            every = times.tolist()
            return vectors(owner, map(value, every), lambda k: f"value at t = {every[k]:g}")

        sampled.corners = corners_of(owner, value)  # type: ignore[attr-defined]
        return sampled
    return ConstantVector(vector(owner, "value", value))  # type: ignore[arg-type]
