"""How every stepper of models advances: march, halve a step that fails, count what it costs, say what went wrong.

A stepper gives whole steps of any length, `equal_steps`; `march` splits those that contain a corner of a load. Schemes that take
a state to the next one from nothing but that state start by themselves, so that a step may be replaced by two of half its
length. All integrators of models are such: also those with substeps, stages or nodes inside the step, which leave nothing
behind but the state at its end. BG(k) solves for all steps at once and has none to halve; `integrate` marches with one step, so
that its trajectories are those of the scheme alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from discretization.state_checks import checked
from discretization.state_shapes import Shapes, Sizes
from discretization.time.step_ends import ends_of_parts, steps_before_corner
from rigid.errors import ConvergenceError, Reached
from rigid.system import Floats, Ints, State

MAX_HALVINGS = 10
GENERAL = "general"  # solver of what has no special shape


class Report(NamedTuple):
    """What an advance over several steps cost; attempts that failed count like others."""

    iterations: int = 0  # of Newton
    most_iterations: int = 0  # in one solve
    solves: int = 0  # of a substep's equations; of mechanical systems: of a step's
    halvings: int = 0
    lists: int = 0  # of pairs that may touch, made anew
    passings: int = 0  # steps in which such a pair could have passed

    def plus(self, other: Report) -> Report:
        """The cost of both."""
        return Report(
            self.iterations + other.iterations,
            max(self.most_iterations, other.most_iterations),
            self.solves + other.solves,
            self.halvings + other.halvings,
            self.lists + other.lists,
            self.passings + other.passings,
        )


class Reports(Sequence[Report]):
    """Of many parts of a march that halved nothing: each is made where it is asked for, which is seldom.

    iterations, most_iterations, solves: (k,) of each part.
    """

    def __init__(self, iterations: Ints, most_iterations: Ints, solves: Ints) -> None:
        self.iterations, self.most_iterations, self.solves = iterations, most_iterations, solves

    def __len__(self) -> int:
        return len(self.solves)

    def __getitem__(self, k: Any) -> Any:
        columns = (self.iterations[k], self.most_iterations[k], self.solves[k])
        return Reports(*columns) if isinstance(k, slice) else Report(*map(int, columns))


class Failure(NamedTuple):
    """Why a step could not be solved."""

    reason: str
    cure: str
    iterations: int = 0  # of the attempt
    residual: float = float("nan")
    owner: str = ""  # scheme and system
    singular: bool = False  # Newton's matrix was
    passing: bool = False  # the march goes on from the last good step, if there is one
    folded: bool = False  # an element of a rod passed pi


class Marched(NamedTuple):
    """What became of a march."""

    state: State  # at the end of the last whole step
    steps: int  # whole ones that were done
    report: Report
    failure: Failure | None


class Ends(NamedTuple):
    """States at the ends of steps."""

    states: State  # (k, ...)
    reports: list[Report]  # one each, and of a step that failed one more
    failure: Failure | None


class StepperBase(ABC):
    """Advances states of one system by steps of one length `h`."""

    h: float
    solver: str = GENERAL  # of the equations of a step, in words
    solver_settings: Mapping[str, list[float]] = MappingProxyType({})  # with which a run that goes on begins
    sizes: Sizes  # of the states it takes
    shapes: Shapes
    # of a state, and whether an element of a rod is known to have passed pi: what of it is turned too far, in words, or nothing
    turned_in_words: Callable[[State, bool], str] | None = None
    corners: Floats = np.zeros(
        0
    )  # times at which a step ends, s, increasing (`discretization.time.step_ends`)

    @property
    def first_march(self) -> int:
        """Steps that take no longer than some milliseconds, as far as is known before the first one."""
        return 1

    @property
    def threads(self) -> int:
        """That work on a step."""
        return 1

    @property
    def load_points(self) -> tuple[Floats, Floats]:
        """Where in a step loads are read, as fractions of it, and with which weights."""
        return np.array([0.5]), np.array([1.0])

    @property
    def settings(self) -> dict[str, Any]:
        """What a result says of the solver, if it is not the general one."""
        return {} if self.solver == GENERAL else {"solver": self.solver, **self.solver_settings}

    @abstractmethod
    def start(self, state: State) -> State:
        """The state with the memory of this integrator."""

    def check_losing(self) -> None:  # noqa: B027
        """Raise ModelError where contacts that lose energy, which come and go, would not fit."""

    @abstractmethod
    def equal_steps(self, state: State, h: float, starts: Floats) -> Marched:
        """Take whole steps of length h that begin at the times `starts` and contain no corner, as far as they can be solved.
        The state may be changed in place, by whole steps.
        """

    def march(self, state: State, h: float, starts: Floats) -> Marched:
        """Take whole steps as `equal_steps` does; one that contains a corner is split there and counts as one."""
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
                return Marched(state, done, report, failure)

    def _split_step(self, state: State, h: float, start: float) -> Marched:
        """One step, from corner to corner; if a part fails, the state before it."""
        begun, report = copy_of(state), Report()
        ends = ends_of_parts(self.corners, h, start)
        for begin, end in pairwise(ends.tolist()):
            state, _, cost, failure = self._part_of_step(state, begin, end)
            report = report.plus(cost)
            if failure is not None:
                return Marched(begun, 0, report, failure)
        return Marched(state, 1, report, None)

    def _part_of_step(self, state: State, begin: float, end: float) -> Marched:
        """The part of a split step between two times."""
        return self.equal_steps(state, end - begin, np.array([begin]))

    def _outputs_before_corner(self, first_step: int, every: int, count: int) -> int:
        """How many of `count` outputs, `every` steps apart, come before the first step that contains a corner."""
        starts: Floats = self.h * np.arange(first_step, first_step + count * every)
        return steps_before_corner(self.corners, self.h, starts) // every

    def ends(self, state: State, h: float, starts: Floats) -> Ends:
        """The ends of some of the steps of length h from `starts`, in order: of one at least if it can be solved. `state` is
        not changed.
        """
        end, done, report, failure = self.march(copy_of(state), h, starts[:1])
        return Ends(State(*(array[None][:done] for array in end)), [report], failure)

    @property
    def solves_per_step(self) -> int:
        """Return how many substeps a step is made of, each with multipliers of its own."""
        return 1

    def end_of_first_solve(self, state: State, t: float, h: float) -> State | None:
        """Return the end of the first substep of a step of length h from t, s. None if it fails. `state` is not changed."""
        end, done, _, failure = self.march(copy_of(state), h, np.array([t]))
        return end if done and failure is None else None

    def advance(self, state: State, first_step: int, n_steps: int) -> tuple[State, Report]:
        """State after the steps first_step + 1 ... first_step + n_steps; step k ends at t = k h. `state` is
        not changed.

        Raises ConvergenceError, with `reached` and `report`, where a step fails even after MAX_HALVINGS halvings, and
        ModelError for a state of another system.
        """
        state, report = copy_of(checked(state, self.shapes)), Report()
        step, last = first_step, first_step + n_steps
        while step < last:
            state, done, cost, failure = self.march(state, self.h, self.h * np.arange(step, last))
            step, report = step + done, report.plus(cost)
            if failure is None:
                continue
            halved, _, cost, failure = self._halve(copy_of(state), self.h * step, self.h, 1)
            report = report.plus(cost)
            if failure is not None:
                if self.turned_in_words is not None:
                    words = self.turned_in_words(halved, failure.folded)
                    failure = failure._replace(cure=f"{words}; or {failure.cure}" if words else failure.cure)
                raise self._error(failure, Reached(step, state), cost, report)
            state, step = halved, step + 1
        return state, report

    def _halve(self, state: State, t: float, h: float, depth: int) -> Marched:
        """Two half steps in place of one from t, halved again where they fail. The state serves for scratch."""
        report = Report(halvings=1)
        for start in (t, t + h / 2):
            state, _, cost, failure = self.march(state, h / 2, np.array([start]))
            report = report.plus(cost)
            if failure is not None and depth < MAX_HALVINGS:
                state, _, cost, failure = self._halve(state, start, h / 2, depth + 1)
                report = report.plus(cost)
            if failure is not None:
                return Marched(state, 0, report, failure)
        return Marched(state, 1, report, None)

    def _error(self, failure: Failure, reached: Reached, cost: Report, report: Report) -> ConvergenceError:
        t, h = self.h * reached.step, self.h / 2**MAX_HALVINGS
        owner = f"{failure.owner}, " if failure.owner else ""
        message = (
            f"{owner}t = {t:.6g} s: {failure.reason}, even with a step of {h:.3g} s in place of {self.h:.3g} s; "
            f"{failure.cure}"
        )
        return ConvergenceError(
            t, h, cost.most_iterations, failure.residual, message, reached, report, singular=failure.singular
        )


def copy_of(state: State) -> State:
    """The same with arrays of its own."""
    return State(*(array.copy() for array in state))
