"""The errors a user can meet; each names the object, the value and the cure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rigid.system import State


class Reached(NamedTuple):
    """The last good step of a run that failed."""

    step: int  # number of steps from t = 0
    state: State


class PartName(NamedTuple):
    """What an error speaks of."""

    kind: str  # "rod", "joint", "load" ...
    name: str


class ModelError(ValueError):
    """The model, as described, cannot be simulated.

    Attributes: about, the parts it speaks of, first the one to change; choices, the names that could stand for one that is
    not known.
    """

    def __init__(self, message: str, about: Sequence[PartName] = (), choices: Sequence[str] = ()):
        super().__init__(message)
        self.about, self.choices = tuple(about), tuple(choices)


class ModelWarning(UserWarning):
    """Base of all warnings about models, runs and results."""


class InitialVelocityWarning(ModelWarning):
    """Initial velocities do not fit the joints and were changed."""


class RedundantJointsWarning(ModelWarning):
    """Joints fix what others fix already: the motion is determined, but not all of their forces and moments."""


class UnstableEquilibriumWarning(ModelWarning):
    """An equilibrium that the model would leave where anything pushes it."""


class DamagedFileWarning(ModelWarning):
    """A result file is not what was written."""


class RoundedForcesWarning(ModelWarning):
    """The loads are so small against the stiffness that rounding leaves a part of them unbalanced."""


class ConvergenceError(RuntimeError):
    """A step could not be solved even after halving it; what was computed before is kept.

    Attributes: t (s) reached, h (s) smallest step tried, iterations (most of one attempt), residual in units of round-off
    (nan: not known), message, singular (whether Newton's matrix was). Where they apply, else None: `reached`, of the
    steppers of models; `report`, what the steps up to there and the failed attempts cost; `trajectory`, of `integrate`:
    the steps before; `result`, of `simulate`: all outputs, the last one at `reached`.
    """

    def __init__(
        self,
        t: float,
        h: float,
        iterations: int,
        residual: float,
        message: str,
        reached: Reached | None = None,
        report: Any = None,
        trajectory: Any = None,
        singular: bool = False,
    ):
        super().__init__(message)
        self.t, self.h, self.iterations, self.residual, self.message = t, h, iterations, residual, message
        self.reached, self.report, self.trajectory, self.singular = reached, report, trajectory, singular
        self.result: Any = None
