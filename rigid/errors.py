"""The errors a user can meet; each names the object, the value and the cure."""

from __future__ import annotations

from typing import Any


class ModelError(ValueError):
    """The model, as described, cannot be simulated."""


class InitialVelocityWarning(UserWarning):
    """Initial velocities do not fit the joints and were changed."""


class ConvergenceError(RuntimeError):
    """A step could not be solved even after halving it; what was computed before is kept.

    Attributes: t (s) reached, h (s) smallest step tried, iterations, residual in units of round-off, message;
    where they apply, trajectory (the steps before), reached (number of steps and state), result.
    """

    trajectory: Any = None
    reached: Any = None
    result: Any = None

    def __init__(self, t: float, h: float, iterations: int, residual: float, message: str):
        super().__init__(message)
        self.t, self.h, self.iterations, self.residual, self.message = t, h, iterations, residual, message
