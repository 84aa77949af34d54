"""Store outputs in batches: one output costs some hundred Python calls, and a thousand outputs cost no more."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from discretization.system import System
from discretization.time.stepper_base import Report
from rigid.system import Floats, State
from rodsim.results.lazy_columns import LazyColumns
from rodsim.results.outputs import Outputs, joined, stacked
from rodsim.results.tabulate import newton_columns, newton_rows, tabulate
from rodsim.results.writer import MemoryWriter, ResultWriter

MAX_DELAY = 0.5  # s that an output may wait to be stored
BATCH_BYTES = 2**22


class Recorder:
    """Collect states of a run and pass them to a writer as outputs."""

    def __init__(
        self,
        system: System,
        dt: float,
        writer: ResultWriter | MemoryWriter,
        listener: Callable[[Outputs], None] | None = None,
        after: Callable[[Floats, State], Floats] | None = None,
    ) -> None:
        """Set up an empty recorder of a run of `system` with steps `dt` (s) that stores its outputs with `writer`.

        `listener` is called with each batch; if there is none and the result stays in memory, the derived columns are
        computed when they are first read. `after` returns the multipliers (k, m) of the step after each of k states at the
        given times (k,), which are stored with the states.
        """
        self._system = system
        self._dt = dt
        self.writer = writer
        self._listener, self._after = listener, after
        self._before = writer.n_outputs  # number of outputs stored before those that wait
        self._last_check = self._oldest = time.monotonic()
        self._clear()
        self._reports: list[Report] = []  # reports of the steps since the last output
        self.last = -1  # step of the last state added
        self.most = max(1, BATCH_BYTES // max(1, writer.output_bytes))  # outputs in a batch

    def add(self, steps: Sequence[int], states: State, reports: Sequence[Report | Sequence[Report]]) -> None:
        """Add the states (k, ...) after `steps`, with reports of the steps before each output; see `flush_if_due`."""
        self._add(steps, states, newton_rows(reports), self._dt * np.asarray(steps))

    def _add(self, steps: Sequence[int], states: State, newton: Floats, times: Floats) -> None:
        """Add the states (k, ...) after `steps` at `times` (k,), s, with their Newton columns (k, 3), to the waiting batch."""
        if not self._steps:
            self._oldest = time.monotonic()
        self._states.append(states)
        self._newton.append(newton)
        self._steps += steps
        self._times += times.tolist()
        self.last = steps[-1]

    def add_report(self, report: Report) -> None:
        """Add the report of steps towards the next output."""
        self._reports.append(report)

    def add_last(self, step: int, state: State, t: float | None = None) -> None:
        """Add the state after `step`, with the reports that `add_report` has collected since the last output.

        t: its time, s; by default the end of the step.
        """
        times = np.array([step * self._dt if t is None else t])
        self._add([step], stacked([state]), np.array([newton_columns(self._reports)]), times)
        self._reports = []

    def flush_if_due(self) -> None:
        """Store the waiting outputs if a batch is full, or if they would be older than `MAX_DELAY` at the next call."""
        now = time.monotonic()
        due = now - self._oldest + (now - self._last_check) > MAX_DELAY or len(self._steps) >= self.most
        self._last_check = now
        if self._steps and due:
            self.flush()

    def flush(self) -> None:
        """Store the waiting outputs; after an interruption do not store again what is already stored."""
        first = self.writer.n_outputs - self._before  # number of waiting outputs that are already stored
        if first < len(self._steps):
            states = joined(self._states)
            if first:
                states = State(*(array[first:] for array in states))
            steps, newton, times = (
                np.array(self._steps[first:], dtype=np.int64),
                np.concatenate(self._newton)[first:],
                np.array(self._times[first:]),
            )
            for start in range(0, len(steps), self.most):
                part = slice(start, start + self.most)
                batch = states
                if len(steps) > self.most:
                    batch = State(*(array[part] for array in states))
                t = times[part]
                after = None if self._after is None else self._after(t, batch)
                if isinstance(self.writer, MemoryWriter) and self._listener is None:
                    lazy = LazyColumns(self._system, self._dt, at_once=self.most)
                    self.writer.extend_lazily(t, steps[part], batch, newton[part], lazy, after)
                    continue
                outputs = tabulate(self._system, self._dt, steps[part], batch, newton[part])
                outputs = outputs._replace(t=t, after=after)
                self.writer.extend(outputs)
                if self._listener is not None:
                    self._listener(outputs)
        self._clear()

    def _clear(self) -> None:
        """Start an empty batch."""
        self._before = self.writer.n_outputs
        self._states: list[State] = []
        self._newton: list[Floats] = []
        self._steps: list[int] = []
        self._times: list[float] = []
