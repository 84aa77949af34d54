"""Errors and warnings for users; each names the object, the value and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rigid.system import State


class LastStep(NamedTuple):
    """Last accepted step of a run that failed."""

    step: int  # number of steps since t = 0
    state: State


class PartName(NamedTuple):
    """Kind and name of a model part that an error is about."""

    kind: str  # "rod", "joint", "load" ...
    name: str


class ModelError(ValueError):
    """The model, as described, cannot be simulated.

    `about` and `choices` are attributes too.

    Parameters
    ----------
    message : str
        Object, value and remedy.
    about : sequence of PartName, default ()
        Parts that the error is about, first the one to change.
    choices : sequence of str, default ()
        Names that could replace one that is not known.
    """

    def __init__(self, message: str, about: Sequence[PartName] = (), choices: Sequence[str] = ()):
        super().__init__(message)
        self.about, self.choices = tuple(about), tuple(choices)


class ModelWarning(UserWarning):
    """Base class of all warnings about models, runs and results."""


class InitialVelocityWarning(ModelWarning):
    """Initial velocities violate the joints and were changed."""


class RedundantJointsWarning(ModelWarning):
    """Joints constrain what others constrain already: the motion is determined, but not all of their forces and moments."""


class UnstableEquilibriumWarning(ModelWarning):
    """An equilibrium is unstable: the model would leave it under any disturbance."""


class DamagedFileWarning(ModelWarning):
    """The contents of a result file differ from what was written."""


class RoundedForcesWarning(ModelWarning):
    """The loads are so small compared with the stiffness that rounding leaves a part of them unbalanced."""


class ConvergenceError(RuntimeError):
    """A step could not be solved even after halving it; results computed before are kept.

    Attributes
    ----------
    t : float
        Time reached, s.
    h : float
        Smallest step tried, s.
    iterations : int
        Largest number of iterations of one attempt.
    residual : float
        In units of round-off; nan if it is not known.
    message : str
    singular : bool
        True if Newton's matrix was singular.
    reached : Reached or None
        Last accepted step; set by the steppers of models.
    report : object or None
        Cost of the steps up to there and of the failed attempts.
    trajectory : object or None
        Steps before the failure; set by `integrate`.
    result : Result or None
        All outputs, the last one at `reached`; set by `simulate`.
    """

    def __init__(
        self,
        t: float,
        h: float,
        iterations: int,
        residual: float,
        message: str,
        reached: LastStep | None = None,
        report: Any = None,
        trajectory: Any = None,
        singular: bool = False,
    ):
        super().__init__(message)
        self.t, self.h, self.iterations, self.residual, self.message = t, h, iterations, residual, message
        self.reached, self.report, self.trajectory, self.singular = reached, report, trajectory, singular
        self.result: Any = None

    def explain(self, cause: str) -> None:
        """Put a probable cause in front of the message.

        Parameters
        ----------
        cause : str
            The cause; "" leaves the message unchanged.
        """
        if cause:
            self.message = f"{cause} ({self.message})"
            self.args = (self.message,)
