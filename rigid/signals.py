"""Functions of time for loads: constants, tables and a few named shapes. All are plain data that a scene file can hold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its subpackages are loaded on first access
from numpy.typing import ArrayLike

from rigid.checks import array, number, vector, vectors
from rigid.errors import ModelError
from rigid.system import Floats

_STRAIGHT = 1e-9  # fraction of the steepest slope: slopes of a table that differ by less, as in rounded data, count as equal


class Signal:
    """Base of scalar functions of time, which take arrays of times.

    `signal(t)` returns an array of the shape of t (s). The quantity, such as a force or an angle, and its unit are defined by the
    argument that the signal is given for.

    Examples
    --------
    >>> from rodsim import signals
    >>> isinstance(signals.Constant(2.0), signals.Signal)
    True
    """

    def __call__(self, t: ArrayLike) -> Floats:
        raise NotImplementedError

    @property
    def corners(self) -> Sequence[float]:
        """Return the times (s) at which the value or the slope jumps. A step of `simulate` ends at each of them."""
        return ()

    @property
    def knots(self) -> Sequence[float]:
        """Return corners, and times (s) at which a higher derivative jumps. Adaptive steps (`error=`) end at each of them."""
        return self.corners

    def rate(self, t: ArrayLike) -> Floats:
        """Return the derivative ds/dt of a signal that is smooth enough to be a motion.

        Parameters
        ----------
        t : array_like
            Times, s.

        Returns
        -------
        array
            Derivative, of the shape of `t`.

        Raises
        ------
        ModelError
            If the signal has kinks or jumps.
        """
        raise ModelError(
            f"{type(self).__name__}: has kinks or jumps, so that it cannot prescribe a motion; use SmoothStep, SmoothTable, "
            "SpinUp, Steady or Sine"
        )

    def along(self, direction: ArrayLike) -> VectorSignal:
        """Return the vector function s(t) times a direction.

        Parameters
        ----------
        direction : array_like, shape (3,)
            Direction; it is not normalised: its length is a factor.

        Returns
        -------
        VectorSignal
        """
        return VectorSignal(self, vector(type(self).__name__, "direction", direction))


@dataclass(frozen=True, eq=False)
class VectorSignal:
    """A signal along a direction: scalar(t) times direction.

    Parameters
    ----------
    scalar : Signal
        Function of time.
    direction : array, shape (3,)
        Direction; its length is a factor.

    Examples
    --------
    >>> from rodsim import signals
    >>> signals.Constant(2.0).along((0, 0, 1))(0.5)
    array([0., 0., 2.])
    """

    scalar: Signal
    direction: Floats

    def __call__(self, t: ArrayLike) -> Floats:
        return self.scalar(t)[..., None] * self.direction

    @property
    def corners(self) -> Sequence[float]:
        """Return the times (s) at which the value or the slope of the scalar jumps."""
        return self.scalar.corners

    @property
    def knots(self) -> Sequence[float]:
        """Return the corners of the scalar, and times (s) at which a higher derivative of it jumps."""
        return self.scalar.knots

    def rate(self, t: ArrayLike) -> Floats:
        """Return the derivative, (..., 3) at times of shape (...).

        Parameters
        ----------
        t : array_like
            Times, s.

        Returns
        -------
        array, shape (..., 3)
        """
        return self.scalar.rate(t)[..., None] * self.direction


@dataclass(frozen=True, eq=False)
class Field:
    """A vector as a function of the position along a rod and of time, which accepts arrays.

    It is called once for all positions and many times.

    Parameters
    ----------
    function : callable
        (s, t) -> three components, for fractions s (q,) of the length and times t (k, 1), s. Each component is a number or an
        array that broadcasts to (k, q).

    Examples
    --------
    >>> import numpy as np
    >>> from rodsim import signals
    >>> wind = signals.Field(lambda s, t: (0.0, np.sin(t) * s, 0.0))
    >>> wind(1.0, 0.0)
    array([0., 0., 0.])
    """

    function: Callable[[Floats, Floats], Sequence[ArrayLike]]

    @property
    def corners(self) -> Sequence[float]:
        """Return the times (s) of corners that the function declares (see `corners_of`)."""
        declared: Sequence[float] = getattr(self.function, "corners", ())
        return declared

    def __call__(self, s: float, t: float) -> Floats:
        """Return the vector at one position and time, (3,)."""
        return self.sampled("Field", np.array([float(s)]), np.array([float(t)]))[0, 0]

    def sampled(self, owner: str, s: Floats, t: Floats) -> Floats:
        """Return the vectors at positions and times.

        Parameters
        ----------
        owner : str
            Name of the object that has the field, for messages.
        s : array, shape (q,)
            Fractions of the length.
        t : array, shape (k,)
            Times, s.

        Returns
        -------
        array, shape (k, q, 3)

        Raises
        ------
        ModelError
            If the function does not return three components of such shapes, or one is not finite.
        """
        values, shape = self.function(s, t[:, None]), (len(t), len(s))
        try:
            x, y, z = (np.broadcast_to(np.asarray(component, float), shape) for component in values)
        except (ValueError, TypeError):
            raise ModelError(
                f"{owner}: Field at {len(s)} positions and {len(t)} times gives {_shapes(values)}; give three components, each a "
                f"number or of a shape that broadcasts to {shape}"
            ) from None
        return array(owner, "Field[time, place, component]", np.stack([x, y, z], axis=-1), (*shape, 3))


def _shapes(values: Any) -> str:
    """Describe the shapes that a function returned, for messages."""
    if isinstance(values, tuple | list):
        return f"{len(values)} components of shapes {', '.join(str(np.shape(component)) for component in values)}"
    return f"{type(values).__name__} of shape {np.shape(values)}"


@dataclass(frozen=True)
class Constant(Signal):
    """A constant value at all times.

    Parameters
    ----------
    value : float
        Value.

    Examples
    --------
    >>> from rodsim import signals
    >>> float(signals.Constant(2.0)(7.0))
    2.0
    """

    value: float

    def __post_init__(self) -> None:
        _store_checked(self, "value")

    def __call__(self, t: ArrayLike) -> Floats:
        return np.full(np.shape(t), self.value)

    def rate(self, t: ArrayLike) -> Floats:
        """Return the derivative ds/dt.

        Parameters
        ----------
        t : array_like
            Times, s.

        Returns
        -------
        array
            Derivative, of the shape of `t`.
        """
        return np.zeros(np.shape(t))


@dataclass(frozen=True, eq=False)
class Table(Signal):
    """Linear interpolation between given times; constant before the first and after the last.

    Parameters
    ----------
    times : array_like, shape (n,)
        Increasing times, s.
    values : array_like, shape (n,)
        Values at these times.

    Examples
    --------
    >>> from rodsim import signals
    >>> float(signals.Table([0.0, 1.0], [0.0, 4.0])(0.25))
    1.0
    """

    times: ArrayLike
    values: ArrayLike

    def __post_init__(self) -> None:
        times, values = (
            array("Table", what, value, (None,))
            for what, value in (("times", self.times), ("values", self.values))
        )
        if values.shape != times.shape or len(times) == 0:
            raise ModelError(
                f"Table: {len(times)} times and {len(values)} values; give as many values as times"
            )
        if np.any(np.diff(times) <= 0):
            index = int(np.argmax(np.diff(times) <= 0))
            raise ModelError(f"Table: time {times[index + 1]} follows {times[index]}; times must increase")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    def __call__(self, t: ArrayLike) -> Floats:
        return np.interp(np.asarray(t, dtype=float), np.asarray(self.times), np.asarray(self.values))

    @property
    def corners(self) -> Sequence[float]:
        """Return the times (s) at which the slope changes; a point that continues a straight line is not a corner."""
        times, values = np.asarray(self.times), np.asarray(self.values)
        slopes = np.concatenate([[0.0], np.diff(values) / np.diff(times), [0.0]])
        size = np.abs(slopes).max(initial=0.0)
        corners: list[float] = times[np.abs(np.diff(slopes)) > _STRAIGHT * size].tolist()
        return corners


@dataclass(frozen=True)
class Ramp(Signal):
    """0 until `t_start`, linear to a value at `t_end`, then constant.

    Parameters
    ----------
    value : float
        Value from `t_end` on.
    t_start, t_end : float
        Times, s; `t_start` is before `t_end`.

    Examples
    --------
    >>> from rodsim import signals
    >>> float(signals.Ramp(2.0, 0.0, 1.0)(0.5))
    1.0
    """

    value: float
    t_start: float
    t_end: float

    def __post_init__(self) -> None:
        _store_checked(self, "value", "t_start", "t_end")
        _increasing("Ramp", t_start=self.t_start, t_end=self.t_end)

    def __call__(self, t: ArrayLike) -> Floats:
        return np.interp(np.asarray(t, dtype=float), [self.t_start, self.t_end], [0.0, self.value])

    @property
    def corners(self) -> Sequence[float]:
        return self.t_start, self.t_end


@dataclass(frozen=True)
class Triangle(Signal):
    """0 until `t_start`, linear to a peak at `t_peak` and linear back to 0 at `t_end`, then 0.

    Parameters
    ----------
    peak : float
        Value at `t_peak`.
    t_peak, t_end : float
        Times, s.
    t_start : float, default 0.0
        Time, s; t_start < t_peak < t_end.

    Examples
    --------
    >>> from rodsim import signals
    >>> float(signals.Triangle(2.0, 0.5, 1.0)(0.75))
    1.0
    """

    peak: float
    t_peak: float
    t_end: float
    t_start: float = 0.0

    def __post_init__(self) -> None:
        _store_checked(self, "peak", "t_start", "t_peak", "t_end")
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
    """A sine: amplitude sin(2 pi frequency t + phase) + offset.

    Parameters
    ----------
    amplitude : float
        Amplitude, half of the range.
    frequency : float
        Frequency, Hz.
    phase : float, default 0.0
        Phase, rad.
    offset : float, default 0.0
        Mean value.

    Examples
    --------
    >>> from rodsim import signals
    >>> round(float(signals.Sine(2.0, 1.0)(0.25)), 12)
    2.0
    """

    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        _store_checked(self, "amplitude", "frequency", "phase", "offset")

    def __call__(self, t: ArrayLike) -> Floats:
        return self.amplitude * np.sin(2 * np.pi * self.frequency * np.asarray(t) + self.phase) + self.offset

    def rate(self, t: ArrayLike) -> Floats:
        """Return the derivative ds/dt.

        Parameters
        ----------
        t : array_like
            Times, s.

        Returns
        -------
        array
            Derivative, of the shape of `t`.
        """
        w = 2 * np.pi * self.frequency
        return self.amplitude * w * np.cos(w * np.asarray(t) + self.phase)


@dataclass(frozen=True)
class Pulse(Signal):
    """A value for t_start <= t < t_end, else 0.

    Parameters
    ----------
    value : float
        Value.
    t_start, t_end : float
        Times, s; `t_start` is before `t_end`.

    Examples
    --------
    >>> from rodsim import signals
    >>> signals.Pulse(2.0, 0.0, 1.0)([0.5, 1.0]).tolist()
    [2.0, 0.0]
    """

    value: float
    t_start: float
    t_end: float

    def __post_init__(self) -> None:
        _store_checked(self, "value", "t_start", "t_end")
        _increasing("Pulse", t_start=self.t_start, t_end=self.t_end)

    def __call__(self, t: ArrayLike) -> Floats:
        t = np.asarray(t, dtype=float)
        return np.where((t >= self.t_start) & (t < self.t_end), self.value, 0.0)

    @property
    def corners(self) -> Sequence[float]:
        return self.t_start, self.t_end


@dataclass(frozen=True)
class Steady(Signal):
    """A straight line: offset + slope t.

    Parameters
    ----------
    slope : float
        Change per second.
    offset : float, default 0.0
        Value at t = 0.

    Examples
    --------
    >>> from rodsim import signals
    >>> float(signals.Steady(2.0, 1.0)(3.0))
    7.0
    """

    slope: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        _store_checked(self, "slope", "offset")

    def __call__(self, t: ArrayLike) -> Floats:
        return self.offset + self.slope * np.asarray(t, dtype=float)

    def rate(self, t: ArrayLike) -> Floats:
        """Return the derivative ds/dt.

        Parameters
        ----------
        t : array_like
            Times, s.

        Returns
        -------
        array
            Derivative, of the shape of `t`.
        """
        return np.full(np.shape(t), self.slope)


@dataclass(frozen=True)
class SmoothStep(Signal):
    """0 until `t_start`, smooth to a value at `t_end`: 10 x^3 - 15 x^4 + 6 x^5, without a jump of rate or acceleration.

    Parameters
    ----------
    value : float
        Value from `t_end` on.
    t_start, t_end : float
        Times, s; `t_start` is before `t_end`.

    Examples
    --------
    >>> from rodsim import signals
    >>> float(signals.SmoothStep(2.0, 0.0, 1.0)(0.5))
    1.0
    """

    value: float
    t_start: float
    t_end: float

    def __post_init__(self) -> None:
        _store_checked(self, "value", "t_start", "t_end")
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
        """Return the derivative ds/dt.

        Parameters
        ----------
        t : array_like
            Times, s.

        Returns
        -------
        array
            Derivative, of the shape of `t`.
        """
        x = self._fraction(t)
        return self.value / (self.t_end - self.t_start) * 30.0 * (x * (1.0 - x)) ** 2


@dataclass(frozen=True)
class SpinUp(Signal):
    """The integral of a rate that rises smoothly from 0 at t = 0 to `speed` at `t_end` and is constant afterwards.

    speed (t^2/(2 T) + T (cos(2 pi t/T) - 1)/(4 pi^2)) with T = t_end, for t <= T.

    Parameters
    ----------
    speed : float
        Rate from `t_end` on, per second.
    t_end : float
        Time, s, positive.

    Examples
    --------
    >>> from rodsim import signals
    >>> float(signals.SpinUp(3.0, 1.0).rate(2.0))
    3.0
    """

    speed: float
    t_end: float

    def __post_init__(self) -> None:
        _store_checked(self, "speed", "t_end")
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
        """Return the derivative ds/dt.

        Parameters
        ----------
        t : array_like
            Times, s.

        Returns
        -------
        array
            Derivative, of the shape of `t`.
        """
        x = np.clip(np.asarray(t, dtype=float) / self.t_end, 0.0, 1.0)
        return self.speed * (x - np.sin(2 * np.pi * x) / (2 * np.pi))


@dataclass(frozen=True, eq=False)
class SmoothTable(Signal):
    """A cubic spline through given values, constant before the first time and after the last, where its slope is zero.

    Parameters
    ----------
    times : array_like, shape (n,)
        Increasing times, s; two or more.
    values : array_like, shape (n,)
        Values at these times.

    Examples
    --------
    >>> from rodsim import signals
    >>> float(signals.SmoothTable([0.0, 1.0], [0.0, 4.0])(0.5))
    2.0
    """

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
        """Clip times to the range of the table."""
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
        """Return the derivative ds/dt.

        Parameters
        ----------
        t : array_like
            Times, s.

        Returns
        -------
        array
            Derivative, of the shape of `t`.
        """
        rate: Floats = self._spline(self._inside(t), 1)
        return rate


def _store_checked(signal: Signal, *names: str) -> None:
    """Check the numbers of a signal and store them as floats."""
    for name in names:
        object.__setattr__(signal, name, number(type(signal).__name__, name, getattr(signal, name)))


def _increasing(owner: str, **times: float) -> None:
    """Raise ModelError unless the named times increase."""
    names, values = list(times), list(times.values())
    for k in range(len(values) - 1):
        if values[k] >= values[k + 1]:
            raise ModelError(
                f"{owner}: {names[k]} = {values[k]} is not before {names[k + 1]} = {values[k + 1]}; "
                "let the times increase"
            )


VectorFunction = Callable[[Floats], Floats]


def corners_of(owner: str, value: Any, what: str = "corners") -> list[float]:
    """Return the times (s) of the corners, or knots, that a function of time declares in its attribute named `what`.

    Signals have both attributes. A user's function declares its corners in the same way: `push.corners = (0.5, 0.52)`.
    If no knots are declared, the corners are returned.

    Raises
    ------
    ModelError
        If the declared value is not a sequence of finite numbers.
    """
    declared = getattr(value, what, None)
    if declared is None:
        declared = getattr(value, "corners", ())
    times: list[float] = array(owner, what, declared, (None,)).tolist()
    return times


@dataclass(frozen=True, eq=False)
class ConstantVector:
    """A vector that is constant in time: times (k,), s -> (k, 3)."""

    value: Floats

    def __call__(self, times: Floats) -> Floats:
        return np.broadcast_to(self.value, (len(times), 3))


def vector_function(owner: str, value: object) -> VectorFunction:
    """Return a function times (k,), s -> vectors (k, 3).

    `value`: a constant vector, a signal along a direction, or a callable t -> (3,). Raise ModelError if it is none of these.
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
