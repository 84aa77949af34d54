"""Integrate several runs of one model at once, each in a SIMD lane of one compiled march.

A run that fails in a step, or whose matrix needs an exchange of rows, leaves the march at that step. It must then be continued
alone from the end of its last whole part, and joins again with the next march.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.time.em import N_COUNTS, STEPS
from discretization.time.stepper import MAX_ITERATIONS, Stepper, reports_of
from discretization.time.stepper_base import Reports
from discretization.time.thread_turns import turn_released
from rigid.lane_arrays import zeros_in_lanes
from rigid.lanes import WIDTH
from rigid.system import Floats, State

# smallest number of runs for which lanes are faster: eight lanes take as long as 2.7 runs one by one
LEAST = 4


class RunParts(NamedTuple):
    """Completed parts of a march for one run."""

    states: State  # (k, ...) states at the ends of the parts
    reports: Reports  # (k,) reports of the parts


def stack_runs(steppers: Sequence[Stepper]) -> Any:
    """Return the arrays of steppers with one key for a march in lanes."""
    return steppers[0].stack_runs(steppers)


class RunBatch:
    """Up to eight runs whose steppers have one `batch_key` and one step."""

    def __init__(self, steppers: Sequence[Stepper]) -> None:
        self.steppers = steppers
        self._lanes = stack_runs(steppers)
        self._march = steppers[0].batch_march_kernel()

    def march(self, states: Sequence[State | None], starts: Floats, parts: int) -> list[RunParts]:
        """March equal parts of the steps that begin at `starts`, from these states, as far as each run succeeds.

        The number of parts is `parts`. A state None excludes the run. The march runs without the interpreter's lock.
        """
        batch, first = self._lanes, self.steppers[0]
        values = self._values(states, starts)
        counts = np.zeros((WIDTH, parts, N_COUNTS), np.int64)
        stored = State(*(zeros_in_lanes(parts, *shape) for shape in first.shapes.values()))
        batch.left[:] = 1.0
        for run, state in enumerate(states):
            if state is not None:
                batch.left[run] = 0.0
                for array, lanes in zip(state, batch.state, strict=True):
                    lanes[..., run] = array
        with turn_released():
            self._march(batch, first.solved, first.h, values, MAX_ITERATIONS, stored, counts)
        by_run = State(*(np.ascontiguousarray(np.moveaxis(lanes, -1, 0)) for lanes in stored))
        done = np.sum(counts[:, :, STEPS] == len(starts) // parts, axis=1).tolist()
        return [
            RunParts(
                State(*(array[run, : done[run]] for array in by_run)), reports_of(counts[run, : done[run]])
            )
            for run in range(len(states))
        ]

    def _values(self, states: Sequence[State | None], starts: Floats) -> Floats:
        """Return the values of the loads of each run (steps, loads, 3, 8)."""
        values = zeros_in_lanes(len(starts), len(self.steppers[0].system.signals), 3)
        for run, state in enumerate(states):
            if state is not None:
                values[..., run] = self.steppers[run].values_of(starts)
        return values
