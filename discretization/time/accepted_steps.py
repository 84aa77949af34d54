"""Steppers whose steps are accepted or rejected after they are computed: for contacts that come and go, and for events."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from discretization.state_checks import check_arrays
from discretization.time.stepper_base import Failure, MarchResult, Report, StepperBase, copy_state
from rigid.system import Floats, State


class AcceptedSteps(NamedTuple):
    """Accepted steps, in order, or the one that cannot be accepted."""

    states: State  # (k, ...) states at the ends of the steps
    reports: Sequence[Report]  # (k,) reports of the steps, or the one of the failed step
    failure: Failure | None = None


def last_of(states: State) -> State:
    """Return the last of many states."""
    return State(*(array[-1] for array in states))


class AcceptingStepper(StepperBase):
    """Abstract stepper that checks each step before it accepts it."""

    @abstractmethod
    def _steps(self, state: State, h: float, starts: Floats) -> Iterator[AcceptedSteps]:
        """Yield the steps of length h from `starts`, s, in order, up to the first that cannot be accepted."""

    def equal_steps(self, state: State, h: float, starts: Floats) -> MarchResult:
        """Take whole steps of length h from `starts`; the state is not changed."""
        done, report = 0, Report()
        for accepted in self._steps(check_arrays(state, self.shapes), h, starts):
            for step_report in accepted.reports:
                report = report.plus(step_report)
            if accepted.failure is not None:
                return MarchResult(copy_state(state), done, report, accepted.failure)
            state, done = last_of(accepted.states), done + len(accepted.reports)
        return MarchResult(copy_state(state), done, report, None)

    def record(self, state: State, first_step: int, every: int, count: int) -> tuple[State, list[Report]]:
        """Return states at the ends of several outputs and their reports, as `discretization.time.stepper.Stepper.record`
        does.
        """
        count = self._outputs_before_corner(first_step, every, count)
        starts = self.h * np.arange(first_step, first_step + count * every)
        parts, reports, report, done = [], [], Report(), 0
        for accepted in self._steps(check_arrays(state, self.shapes), self.h, starts):
            if accepted.failure is not None:
                break
            parts.append(State(*(array[-(done + 1) % every :: every] for array in accepted.states)))
            for step_report in accepted.reports:
                report, done = report.plus(step_report), done + 1
                if done % every == 0:
                    reports.append(report)
                    report = Report()
        if not reports:
            current, report = self.advance(state, first_step, every)
            return State(*(array[None] for array in current)), [report]
        return State(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True))), reports
