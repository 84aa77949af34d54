"""Simulate several variants of a model side by side, eight in the SIMD lanes of one compiled march: `Batch`.

Steps, outputs and failures of each run are bit-identical to those of `simulate` (`discretization.time.batched_runs`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discretization.time.batched_runs import LEAST, RunBatch, RunParts
from discretization.time.step_splitting import steps_before_corner
from discretization.time.stepper import Stepper
from discretization.time.thread_turns import StoppedError, busy_time
from rigid.errors import ConvergenceError
from rodsim.building.build import Built
from rodsim.building.initial_velocities import FittedVelocities, fit_velocities
from rodsim.building.limits import describe_limit
from rodsim.model import Model
from rodsim.results.result import Result
from rodsim.running.march import Progress, march, store_parts
from rodsim.running.plan import Plan
from rodsim.running.run import Run, differ_only_in_gravity

MAX_EMPTY_MARCHES = 2  # marches without a completed step after which a run leaves the group
_FIRST = 1  # steps of the first march, in which trees at rest do not take part


def first_of_batch(model: Model, plan: Plan) -> Run | None:
    """Return a run with the set-up that runs side by side share, None if runs of this sort cannot go side by side."""
    if plan.arguments.resume or plan.arguments.start is not None or plan.events or plan.adaptive:
        return None
    run = Run(model, plan)
    return run if isinstance(run.stepper, Stepper) and run.stepper.batch_key else None


class BatchedRun(Run):
    """A run that marches with others, and alone if it must.

    Attributes
    ----------
    in_vain : int
        Consecutive marches with others in which this run completed no part.
    """

    empty_marches = 0
    _alone: Any = None

    def take(self, parts: RunParts, n_steps: int) -> None:
        """Store the parts that the run completed in a march with others; each part has `n_steps` steps."""
        self.empty_marches = 0 if parts.reports else self.empty_marches + 1
        if parts.reports:
            store_parts(self, parts.states, parts.reports, n_steps, self.plan.n_steps)

    @property
    def ends(self) -> bool:
        """Whether the run leaves the group: it has reached its end, or completed nothing in several marches."""
        return self.step == self.plan.n_steps or self.empty_marches == MAX_EMPTY_MARCHES

    def catch_up(self, step: int) -> None:
        """March this run alone up to step `step`.

        Raises ConvergenceError, with the result so far, if a step fails.
        """
        n_steps, every = self.plan.n_steps, self.plan.every
        alone = self.separate_stepper()
        try:
            march(self, alone, step if step == n_steps else step // every * every, self.line)
            if self.step < step:  # not yet at the next output
                self.state, report = alone.advance(self.state, self.step, step - self.step)
                self.recorder.add_report(report)
                self.step = step
        except ConvergenceError as failed:
            failed.result = self.partial_result(failed)
            raise

    def separate_stepper(self) -> Stepper:
        """Return a stepper of this run with separate work arrays; make it at the first call."""
        if self._alone is None:
            alone: Any = self._make(self.built.system)
            alone.corners = self.stepper.corners
            alone.describe_limit = partial(describe_limit, self.built, self.plan.h)
            self._alone = alone
        return self._alone

    def result(self) -> Result:
        """Return the result; march alone to the end if the run has not reached it. Raises as `catch_up` does."""
        if self.step < self.plan.n_steps:
            self.catch_up(self.plan.n_steps)
        self.recorder.flush()
        return super().result()

    def close(self) -> None:
        """Store the pending outputs and close the file, if it is open."""
        if self._writer is not None:
            with contextlib.suppress(OSError):
                self.recorder.flush()
        super().close()


class Batch:
    """Up to eight runs by number, set up like the first one except for what their models change.

    results, failures: outcome of each run, by number.
    """

    def __init__(self, first: Run, models: Mapping[int, Model], files: Mapping[int, Path | None]) -> None:
        self.results: dict[int, Result] = {}
        self.failures: dict[int, Exception] = {}
        self._first, self._models, self._files = first, models, files
        self._fits: list[tuple[Built, FittedVelocities]] = []

    def execute(self) -> None:
        """Simulate all runs from their starts to their results."""
        runs: dict[int, BatchedRun] = {}
        plan = self._first.plan
        try:
            for number, model in self._models.items():
                with named(number, self.failures):
                    own_plan = plan._replace(arguments=plan.arguments._replace(output=self._files[number]))
                    runs[number] = BatchedRun(model, own_plan, self._first, self._consistent_velocities)
                    runs[number].open(show=False)
            going = {number: run for number, run in runs.items() if number not in self.failures}
            keys = [run.stepper.batch_key for run in going.values()]
            key = max(keys, key=keys.count, default=())
            if key and keys.count(key) >= LEAST:
                self._march_together({n: run for n, run in going.items() if run.stepper.batch_key == key})
            for number, run in going.items():
                if number not in self.failures:
                    with named(number, self.failures):
                        self.results[number] = run.result()
        finally:
            for run in runs.values():
                run.close()

    def _march_together(self, runs: dict[int, BatchedRun]) -> None:
        """March the runs in lanes as long as at least `LEAST` of them can go on together."""
        plan, memory = self._first.plan, self._first.built.layout.memory
        dt = plan.dt
        group = RunBatch([run.stepper for run in runs.values()])
        line = Progress(plan.n_steps, 0, dt, plan.every, False, memory)
        line.chunk = _FIRST
        while True:
            active = {n: run for n, run in runs.items() if n not in self.failures and not run.ends}
            if len(active) < LEAST:
                return
            step = min(run.step for run in active.values())
            going = {n for n, run in active.items() if run.step == step}
            began, (part_steps, parts) = busy_time(), self._parts(step, line.chunk, active)
            starts = dt * np.arange(step, step + parts * part_steps)
            available = min(steps_before_corner(active[n].stepper.corners, dt, starts) for n in going)
            if available < part_steps:  # a step is split at a corner: each run takes this part alone
                for number in going:
                    with named(number, self.failures):
                        runs[number].catch_up(step + part_steps)
                continue
            parts, starts = available // part_steps, starts[: available // part_steps * part_steps]
            states = [run.state if n in going else None for n, run in runs.items()]
            marched = dict(zip(runs, group.march(states, starts, parts), strict=True))
            line.moved(step, busy_time() - began, parts * part_steps)
            for number in going:
                with named(number, self.failures):
                    runs[number].take(marched[number], part_steps)
                    if runs[number].step < step + parts * part_steps and not runs[number].ends:
                        runs[number].catch_up(step + parts * part_steps)

    def _parts(self, step: int, chunk: int, runs: Mapping[int, BatchedRun]) -> tuple[int, int]:
        """Return the number of steps in a part of the next march, and the number of parts.

        A part is an interval between outputs, or a share of the steps to the next output.
        """
        every, left = self._first.plan.every, self._first.plan.n_steps - step
        n_intervals = min(chunk, left) // every
        if n_intervals and step % every == 0:
            return every, min(n_intervals, *(run.recorder.most for run in runs.values()))
        return min(chunk, every - step % every, left), 1

    def _consistent_velocities(self, built: Built) -> FittedVelocities:
        """Return initial velocities that fit the joints; reuse them for runs that differ in gravity and loads alone."""
        for known, fit in self._fits:
            velocities = zip(known.state[2:4], built.state[2:4], strict=True)
            if differ_only_in_gravity(known.system, built.system) and all(
                x.tobytes() == y.tobytes() for x, y in velocities
            ):
                return fit
        self._fits.append((built, fit_velocities(built)))
        return self._fits[-1][1]


@contextlib.contextmanager
def named(number: int, failures: dict[int, Exception]) -> Iterator[None]:
    """Store an exception raised inside under the number of its run; `StoppedError` passes."""
    try:
        yield
    except StoppedError:
        raise
    except Exception as error:
        failures[number] = error
