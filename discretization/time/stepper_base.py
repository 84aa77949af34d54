"""Advance states of a model with any stepper: march, halve a step that fails, count the cost and describe failures.

A stepper provides whole steps of any length, `equal_steps`; `march` splits the steps that contain a corner of a load. One-step
schemes need no starting procedure, so that a step may be replaced by two of half its length. All integrators of models are
one-step schemes, including those with substeps, stages or nodes inside the step, which leave nothing behind but the state at
the end. BG(k) solves for all steps at once and cannot halve a step. `integrate` marches with one step length, so that its
trajectories are those of the scheme alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from discretization.state_checks import check_arrays
from discretization.state_shapes import Shapes, StateSizes
from discretization.time.step_splitting import ends_of_parts, steps_before_corner
from rigid.errors import ConvergenceError, LastStep
from rigid.system import Floats, Ints, State

MAX_HALVINGS = 10
GENERAL = "general"  # solver for models without a special structure


class Report(NamedTuple):
    """Cost of an advance over several steps; failed attempts count like successful ones."""

    iterations: int = 0  # Newton iterations
    most_iterations: int = 0  # largest number of iterations in one solve
    solves: int = 0  # solves of the equations of a substep; for mechanical systems: of a step
    halvings: int = 0
    list_rebuilds: int = 0  # new lists of pairs that may touch
    tunnelling_steps: int = 0  # steps in which such a pair could have passed through itself

    def plus(self, other: Report) -> Report:
        """Return the sum of both costs."""
        return Report(
            self.iterations + other.iterations,
            max(self.most_iterations, other.most_iterations),
            self.solves + other.solves,
            self.halvings + other.halvings,
            self.list_rebuilds + other.list_rebuilds,
            self.tunnelling_steps + other.tunnelling_steps,
        )


class Reports(Sequence[Report]):
    """Reports of many parts of a march without halvings; each `Report` is created on access, which is rare.

    iterations, most_iterations, solves: (k,) counts of each part.
    """

    def __init__(self, iterations: Ints, most_iterations: Ints, solves: Ints) -> None:
        self.iterations, self.most_iterations, self.solves = iterations, most_iterations, solves

    def __len__(self) -> int:
        return len(self.solves)

    def __getitem__(self, k: Any) -> Any:
        columns = (self.iterations[k], self.most_iterations[k], self.solves[k])
        return Reports(*columns) if isinstance(k, slice) else Report(*map(int, columns))


class Failure(NamedTuple):
    """Reason why a step could not be solved."""

    reason: str
    advice: str
    iterations: int = 0  # Newton iterations of the failed attempt
    residual: float = float("nan")
    owner: str = ""  # names of the scheme and the system
    singular: bool = False  # True if Newton's matrix is singular
    passing: bool = False  # True if the march can continue from the last good step, if there is one
    folded: bool = False  # True if the relative rotation in a rod element passed pi
    cause: BaseException | None = None  # exception of a controller; shorter steps do not help
    final: bool = False  # True if shorter steps do not help


class MarchResult(NamedTuple):
    """Result of a march."""

    state: State  # at the end of the last whole step
    steps: int  # number of completed whole steps
    report: Report
    failure: Failure | None


class StepEnds(NamedTuple):
    """States at the ends of steps."""

    states: State  # (k, ...)
    reports: list[Report]  # one for each step, and one more for a step that failed
    failure: Failure | None


class StepperBase(ABC):
    """Abstract stepper: advances states of one system by steps of one length `h`."""

    h: float
    solver: str = GENERAL  # name of the solver of the equations of a step
    solver_settings: Mapping[str, list[float]] = MappingProxyType({})  # with which a run is resumed
    sizes: StateSizes  # sizes of the states that it accepts
    shapes: Shapes
    sampler: Any = None  # `discretization.time.sampling.Sampler` of a run with sensors and controllers
    # (state, whether a rod element is known to have passed pi) -> description of what is near its limit, or an empty string
    describe_limit: Callable[[State, bool], str] | None = None
    corners: Floats = np.zeros(
        0
    )  # times at which a step ends, s, increasing (`discretization.time.step_splitting`)

    @property
    def steps_of_first_march(self) -> int:
        """Return the number of steps that take at most some milliseconds, as far as is known before the first step."""
        return 1

    @property
    def threads(self) -> int:
        """Return the number of threads that work on a step."""
        return 1

    @property
    def load_points(self) -> tuple[Floats, Floats]:
        """Return the points in a step at which loads are evaluated, as fractions of the step, and their weights."""
        return np.array([0.5]), np.array([1.0])

    @property
    def settings(self) -> dict[str, Any]:
        """Return the description of the solver in a result; empty for the general solver."""
        return {} if self.solver == GENERAL else {"solver": self.solver, **self.solver_settings}

    @abstractmethod
    def start(self, state: State) -> State:
        """Return the state with the memory of this integrator."""

    def check_contact_losses(self) -> None:  # noqa: B027
        """Raise ModelError if the scheme does not allow contacts that lose energy, which come and go during a run."""

    @abstractmethod
    def equal_steps(self, state: State, h: float, starts: Floats) -> MarchResult:
        """Take whole steps of length h that begin at the times `starts` and contain no corner, as far as they can be solved.

        The state may be changed in place, by whole steps.
        """

    def march(self, state: State, h: float, starts: Floats) -> MarchResult:
        """Take whole steps as `equal_steps` does; a step that contains a corner is split there and counts as one step."""
        done, report = 0, Report()
        while True:
            count = steps_before_corner(self.corners, h, starts[done:])
            if count or not len(starts):
                marched = self.equal_steps(state, h, starts[done : done + count])
            else:
                marched = self._split_step(state, h, float(starts[done]))
            state, steps, cost, failure = marched
            done, report = done + steps, report.plus(cost)
            if failure is not None or done == len(starts):
                return MarchResult(state, done, report, failure)

    def _split_step(self, state: State, h: float, start: float) -> MarchResult:
        """Take one step in parts, from corner to corner; return the state before the step if a part fails."""
        current, report = copy_state(state), Report()
        ends = ends_of_parts(self.corners, h, start)
        for begin, end in pairwise(ends.tolist()):
            state, _, cost, failure = self._part_of_step(state, begin, end)
            report = report.plus(cost)
            if failure is not None:
                return MarchResult(current, 0, report, failure)
        return MarchResult(state, 1, report, None)

    def _part_of_step(self, state: State, begin: float, end: float) -> MarchResult:
        """Take the part of a split step between two times."""
        return self.equal_steps(state, end - begin, np.array([begin]))

    def _outputs_before_corner(self, first_step: int, every: int, count: int) -> int:
        """Return how many of `count` outputs, `every` steps apart, come before the first step that contains a corner."""
        starts: Floats = self.h * np.arange(first_step, first_step + count * every)
        return steps_before_corner(self.corners, self.h, starts) // every

    def ends(self, state: State, h: float, starts: Floats) -> StepEnds:
        """Return the ends of the first steps of length h from `starts`, in order: at least one if it can be solved.

        `state` is not changed.
        """
        end, done, report, failure = self.march(copy_state(state), h, starts[:1])
        return StepEnds(State(*(array[None][:done] for array in end)), [report], failure)

    @property
    def substeps_per_step(self) -> int:
        """Return how many substeps a step is made of; each substep has its own multipliers."""
        return 1

    def end_of_first_substep(self, state: State, t: float, h: float) -> State | None:
        """Return the end of the first substep of a step of length h from t, s; None if it fails. `state` is not changed."""
        end, done, _, failure = self.march(copy_state(state), h, np.array([t]))
        return end if done and failure is None else None

    def advance(self, state: State, first_step: int, n_steps: int) -> tuple[State, Report]:
        """Return the state after the steps first_step + 1 ... first_step + n_steps, and the cost; step k ends at t = k h.

        `state` is not changed.

        Raises ConvergenceError, with `reached` and `report`, if a step fails even after MAX_HALVINGS halvings, and ModelError for
        a state of another system.
        """
        state, report = copy_state(check_arrays(state, self.shapes)), Report()
        step, last = first_step, first_step + n_steps
        while step < last:
            state, done, cost, failure = self.march(state, self.h, self.h * np.arange(step, last))
            step, report = step + done, report.plus(cost)
            if failure is None:
                continue
            if failure.final:
                error = self._error(failure, LastStep(step, state), cost, report)
                raise error from failure.cause
            halved, _, cost, failure = self._halve(copy_state(state), self.h * step, self.h, 1)
            report = report.plus(cost)
            if failure is not None:
                if self.describe_limit is not None:
                    words = self.describe_limit(halved, failure.folded)
                    failure = failure._replace(
                        advice=f"{words}; or {failure.advice}" if words else failure.advice
                    )
                raise self._error(failure, LastStep(step, state), cost, report)
            state, step = halved, step + 1
        return state, report

    def bound_march(self, state: State, ahead: int = 0) -> Any:
        """Return a march that advances the arrays of `state` in place; this one takes no steps itself.

        ahead: number of steps for which loads are evaluated together; 0: loads and drives do not depend on the time.
        """
        return UnboundMarch(state)

    def raise_if_final(self, status: int, step: int, state: State) -> None:  # noqa: B027
        """Raise ConvergenceError if a march ended with a status that shorter steps do not change; `state`: after step `step`."""

    def _halve(self, state: State, t: float, h: float, depth: int) -> MarchResult:
        """Take two half steps in place of one from t and halve them again if they fail; the given state is used as scratch."""
        report = Report(halvings=1)
        for start in (t, t + h / 2):
            state, _, cost, failure = self.march(state, h / 2, np.array([start]))
            report = report.plus(cost)
            if failure is not None and depth < MAX_HALVINGS and not failure.final:
                state, _, cost, failure = self._halve(state, start, h / 2, depth + 1)
                report = report.plus(cost)
            if failure is not None:
                return MarchResult(state, 0, report, failure)
        return MarchResult(state, 1, report, None)

    def _error(self, failure: Failure, reached: LastStep, cost: Report, report: Report) -> ConvergenceError:
        """Return the error for a step that failed at all levels of halving."""
        t, h = self.h * reached.step, self.h / 2**MAX_HALVINGS
        owner = f"{failure.owner}, " if failure.owner else ""
        if failure.final:
            message = f"{owner}t = {t:.6g} s: {failure.reason}; {failure.advice}"
            return ConvergenceError(t, self.h, 0, failure.residual, message, reached, report)
        message = (
            f"{owner}t = {t:.6g} s: {failure.reason}, even with a step of {h:.3g} s in place of {self.h:.3g} s; "
            f"{failure.advice}"
        )
        return ConvergenceError(
            t, h, cost.most_iterations, failure.residual, message, reached, report, singular=failure.singular
        )


class UnboundMarch:
    """State and step of a stepper whose arguments are not bound: `take` takes no steps (`discretization.time.bound_march`)."""

    is_bound = False

    def __init__(self, state: State) -> None:
        self.state, self.step = state, 0

    def take(self, n: int) -> int:
        """Take none of n steps; return that none failed."""
        return 0


def copy_state(state: State) -> State:
    """Return a copy of the state that shares no arrays with it."""
    return State(*(array.copy() for array in state))
