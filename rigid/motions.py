"""Prescribe coordinates and poses of frames as functions of time, with their rates.

A signal provides its rate. The rate of a user's function is computed by central differences of order 6 over `STEP`, unless the
user gives a pair (function, rate). Values at the ends of a step determine positions. Rates determine only the joint velocities
that `em-ggl` enforces, and the velocities at t = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rigid import quaternions
from rigid.checks import number, shown, unit_quaternion, vector
from rigid.errors import ModelError
from rigid.signals import Constant, Signal, VectorSignal, corners_of
from rigid.system import Floats

STEP = 1e-4  # step of the differences, s
_WEIGHTS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0
_PLACES = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])

Function = Callable[[Floats], Floats]  # times (k,), s -> values (k, ...)


@dataclass(frozen=True, eq=False)
class Motion:
    """Values and rates of a prescribed motion at times (k,), s."""

    value: Function
    rate: Function
    given: Any  # the user's input

    @property
    def corners(self) -> list[float]:
        """Return the times at which a user's function declares corners, s. Signals smooth enough for a motion have none."""
        return self._declared("corners")

    @property
    def knots(self) -> list[float]:
        """Return the times at which a derivative of some order jumps, s."""
        return self._declared("knots")

    def _declared(self, what: str) -> list[float]:
        """Collect the times that the user's input declares under an attribute name."""
        several = self.given if isinstance(self.given, list | tuple) else [self.given]
        return [t for one in several for t in corners_of("motion", one, what)]


def _differences(value: Function) -> Function:
    """Return the rate of a function by central differences of order 6."""

    def rate(t: Floats) -> Floats:
        samples = np.add.outer(STEP * _PLACES, t)
        values = value(samples.ravel()).reshape(*samples.shape, *value(t[:1]).shape[1:])
        return np.tensordot(_WEIGHTS, values, axes=1) / STEP

    return rate


def _of_callables(source: Any, sampled: Callable[[Any, str], Function]) -> Motion:
    """Return the motion of a user's function, or of a pair of a function and its rate."""
    if isinstance(source, tuple):
        return Motion(sampled(source[0], "value"), sampled(source[1], "rate"), source)
    value = sampled(source, "value")
    return Motion(value, _differences(value), source)


def _functions(source: Any) -> bool:
    """Return True if the input is a function or a pair of functions."""
    return callable(source) or (isinstance(source, tuple) and len(source) == 2 and all(map(callable, source)))


def scalar_motion(owner: str, source: Any) -> Motion:
    """Return the motion of a coordinate: of a smooth signal, a function t -> number, or a pair (function, rate).

    Raise ModelError if the input is none of these, or the signal has kinks or jumps.
    """
    if isinstance(source, Signal):
        _check_smooth(owner, source)
        return Motion(source, source.rate, source)
    if not _functions(source):
        raise ModelError(
            f"{owner}: {shown(source)} is not a function of time; give a signal or a function t -> number"
        )

    def sampled(function: Any, what: str) -> Function:
        return lambda times: np.array(
            [number(owner, f"{what} at t = {t:g}", function(float(t))) for t in times]
        )

    return _of_callables(source, sampled)


def vector_motion(owner: str, source: Any) -> Motion:
    """Return the motion of a point, m: of signals along directions, a function t -> (3,), or a pair (function, rate).

    A list of signals is added up; None means no motion. Raise ModelError if the input is none of these, or a signal has kinks or
    jumps.
    """
    if source is None:
        return Motion(lambda t: np.zeros((len(t), 3)), lambda t: np.zeros((len(t), 3)), None)
    if isinstance(source, Signal):
        raise ModelError(
            f"{owner}: {type(source).__name__} is a scalar; say which way with `.along(direction)`"
        )
    several = list(source) if isinstance(source, list | tuple) and not _functions(source) else [source]
    if all(isinstance(one, VectorSignal) for one in several) and several:
        for one in several:
            _check_smooth(owner, one.scalar)
        return Motion(
            lambda t: np.sum([one(t) for one in several], axis=0),
            lambda t: np.sum([one.rate(t) for one in several], axis=0),
            source,
        )
    if not _functions(source):
        raise ModelError(
            f"{owner}: {shown(source)} is not a function of time; give signals along directions or a function t -> (3,)"
        )

    def sampled(function: Any, what: str) -> Function:
        return lambda times: np.array(
            [vector(owner, f"{what} at t = {t:g}", function(float(t))) for t in times]
        ).reshape(-1, 3)

    return _of_callables(source, sampled)


def _check_smooth(owner: str, signal: Signal) -> None:
    """Raise ModelError, with the name of the owner, if a signal has no rate."""
    try:
        signal.rate(np.zeros(1))
    except ModelError as error:
        raise ModelError(f"{owner}: {error}") from None


@dataclass(frozen=True, eq=False)
class FrameMotion:
    """Prescribed pose of a frame.

    The position is position + displacement(t). The orientation is `orientation` rotated by angle(t) about a world axis, or
    `attitude`(t).
    """

    owner: str
    position: Floats  # (3,) position without displacement, m
    orientation: Floats  # (4,) unit quaternion at angle 0
    displacement: Motion
    axis: Floats | None
    angle: Motion
    attitude: Callable[[float], Any] | None

    @property
    def corners(self) -> list[float]:
        """Return the times at which a user's function of the pose declares corners, s."""
        return [
            *self.displacement.corners,
            *self.angle.corners,
            *corners_of(self.owner, self.attitude),
        ]

    @property
    def knots(self) -> list[float]:
        """Return the times at which a derivative of some order of the pose jumps, s."""
        return [*self.displacement.knots, *self.angle.knots, *corners_of(self.owner, self.attitude)]

    def __call__(self, t: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return r (k, 3) [m], quat (k, 4), v (k, 3) [m/s] and Omega (k, 3) [rad/s, body-fixed] at times (k,), s."""
        t = np.asarray(t, dtype=float)
        r, v = self.position + self.displacement.value(t), self.displacement.rate(t)
        if self.attitude is not None:
            quat = self._attitude(t)
            samples = self._attitude(np.add.outer(STEP * _PLACES, t).ravel()).reshape(6, -1, 4)
            samples = np.where(np.sum(samples * quat, axis=2, keepdims=True) < 0.0, -samples, samples)
            rate = np.tensordot(_WEIGHTS, samples, axes=1) / STEP
            Omega = 2.0 * quaternions.multiply(quaternions.conjugate(quat), rate)[:, 1:]
            return r, quat, v, Omega
        if self.axis is None:
            return r, np.tile(self.orientation, (len(t), 1)), v, np.zeros((len(t), 3))
        rotation = quaternions.from_rotation_vector(self.angle.value(t)[:, None] * self.axis)
        quat = quaternions.multiply(rotation, self.orientation)
        body_axis = quaternions.rotate(
            quaternions.conjugate(self.orientation), self.axis
        )  # the axis has the same components in the rotated frame
        return r, quat, v, self.angle.rate(t)[:, None] * body_axis

    def _attitude(self, times: Floats) -> Floats:
        """Evaluate the user's function of attitude at times (k,), s; return unit quaternions (k, 4)."""
        assert self.attitude is not None
        return np.array(
            [unit_quaternion(self.owner, f"attitude at t = {t:g}", self.attitude(float(t))) for t in times]
        ).reshape(-1, 4)


STILL = Motion(Constant(0.0), Constant(0.0), None)
