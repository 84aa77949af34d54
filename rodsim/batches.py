"""Simulate several variants of a prepared model side by side: set up once what they share, per run what its numbers change.

Steps, outputs and failures of each run are bit-identical to those of `simulate`. Eight runs march in the SIMD lanes of one
compiled march (`discretization.time.side_by_side`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discretization.planar.symmetry import Symmetry
from discretization.system import System
from discretization.time.side_by_side import LEAST, Group, Parts
from discretization.time.step_ends import steps_before_corner
from discretization.time.stepper import Stepper
from discretization.time.turns import StoppedError, busy
from rigid.errors import ConvergenceError
from rigid.system import State
from rodsim.building.build import Built
from rodsim.building.initial_velocities import Fitted, fit_velocities
from rodsim.building.massless_rods import check_mass
from rodsim.building.turn_limits import turned_in_words
from rodsim.building.watched_loads import WatchedLoads
from rodsim.chosen_steps import Adaptive
from rodsim.model import Model
from rodsim.results.layout import Functions, Layout
from rodsim.results.output_multipliers import STORED, MultipliersAfter, start_of
from rodsim.results.recorder import Recorder
from rodsim.results.result import Result
from rodsim.results.writer import MemoryWriter, ResultWriter
from rodsim.simulation import Progress, finish, finish_at, march, marching_by, simulate

LONGEST_IN_VAIN = 2  # marches without a completed step after which a run leaves the group
_FIRST = 1  # steps of the first march, in which trees at rest do not take part
_ALONE = (
    "resume",
    "start",
    "events",
)  # settings with which a run is simulated alone, as it is with adaptive steps


class Begun(NamedTuple):
    """The set-up of a run, with which `simulate` would start to march."""

    stepper: Stepper
    make: Callable[..., Stepper]  # makes another stepper, for a system with other numbers
    n_steps: int
    every: int  # steps between outputs
    layout: Layout


def begun(model: Model, given: Mapping[str, Any]) -> Begun | None:
    """Return the set-up of `simulate(model, **given)`, None if runs of this sort cannot go side by side.

    Raises what `simulate` raises.
    """
    if any(given.get(name) for name in _ALONE) or isinstance(given.get("dt"), Adaptive):
        return None
    kept: list[Begun] = []

    def keep(
        stepper: Any, state: State, step: int, n_steps: int, every: int, recorder: Recorder, line: Progress
    ) -> None:
        """Store the set-up instead of marching, if the stepper can march in lanes."""
        if isinstance(stepper, Stepper) and stepper.make is not None and stepper.lanes_key:
            kept.append(Begun(stepper, stepper.make, n_steps, every, recorder.writer.layout))

    with marching_by(keep):
        simulate(model, **{**given, "output": None, "progress": False})
    return kept[0] if kept else None


class Run:
    """One run of a batch, from its start to its result."""

    def __init__(
        self, first: Begun, model: Model, fitted: Callable[[Built], Fitted], output: Path | None
    ) -> None:
        """Set up a run like the first one, with the numbers of `model`.

        `fitted`: returns initial velocities that fit the joints. `output`: result file, or None to keep the result in memory.
        """
        self._built: Built = model.build()
        self._first, self._output = first, output
        fit = fitted(self._built)
        alike = _differ_in_gravity_alone(self._built.system, first.stepper.system)
        self._loads = WatchedLoads(self._built.load_values)
        self._make = partial(
            first.make,
            self._built.system,
            load_values=self._loads,
            symmetry=Symmetry(fit.state, self._built.load_directions),
        )
        if not alike:
            check_mass(self._built, "simulate")
        self.stepper: Stepper = self._make(beside=first.stepper if alike else None)
        self.stepper.corners = self._built.corners.corners
        self.state = self.stepper.start(fit.state)
        self._alone: Stepper | None = None
        self._writer = self._begin(self._laid_out(fit))
        h, after = first.stepper.h, None
        if self._built.layout.n_after and output is not None:
            after = MultipliersAfter(self._built.layout, self._stepper_alone, h)
        self.recorder = Recorder(self._built.system, h, self._writer, None, after)
        self.recorder.add_last(0, self.state)
        self.step = 0  # number of the step that ends in `state`
        self.in_vain = 0  # consecutive marches with others in which this run completed no part

    def _laid_out(self, fit: Fitted) -> Layout:
        """Return the layout of the result, filled as `simulate` fills it."""
        own, first = self._built.layout, self._first.layout
        own.functions = Functions(self._built.load_values, None)
        own.remembering(self.stepper.sizes.memory)
        of_first = {"solver": None, **self._first.stepper.solver_settings}
        shared = {name: x for name, x in first.description["run"].items() if name not in of_first}
        shared.pop("corners", None)
        corners = self._built.corners.settings(adaptive=False)
        # in the order of a run that is simulated alone: files are bit-identical
        last = {name: shared.pop(name) for name in ("tolerance", "halves", STORED) if name in shared}
        own.description["run"] = shared | self.stepper.settings | corners | last
        own.n_after = first.n_after
        if self._output is not None:
            own.lam_start = start_of(
                self._built.system,
                self.state,
                self._built.load_values,
                self._built.drive_values,
                self._first.stepper.h,
            )
        own.description["provenance"] = first.description["provenance"]
        own.description["velocity_projection"] = fit.change
        own.description["initial_velocity_change"] = {name: list(x) for name, x in fit.parts.items()}
        return own

    def _begin(self, layout: Layout) -> MemoryWriter | ResultWriter:
        """Return a writer for this layout: in memory, or a new result file."""
        if self._output is None:
            return MemoryWriter(layout)
        return ResultWriter.create(self._output, layout, 1 - (-self._first.n_steps // self._first.every))

    def take(self, parts: Parts, share: int) -> None:
        """Store the parts that the run completed in a march with others; each part has `share` steps."""
        done, step, every = len(parts.reports), self.step, self._first.every
        if not done:
            self.in_vain += 1
            return
        self.in_vain, self.step = 0, step + done * share
        self.state = State(*(array[-1].copy() for array in parts.states))
        if share == every:
            self.recorder.add(range(step + share, self.step + 1, share), parts.states, parts.reports)
        else:
            self.recorder.took(parts.reports[0])
            if self.step % every == 0 or self.step == self._first.n_steps:
                self.recorder.add_last(self.step, self.state)
        self.recorder.look()

    @property
    def ends(self) -> bool:
        """Whether the run leaves the group: it has reached its end, or completed nothing in several marches."""
        return self.step == self._first.n_steps or self.in_vain == LONGEST_IN_VAIN

    def catch_up(self, step: int) -> None:
        """March this run alone up to step `step`.

        Raises ConvergenceError, with the result so far, if a step fails.
        """
        alone = self._stepper_alone()
        first, dt, memory = self._first, alone.h, self._built.layout.memory
        output = step if step == first.n_steps else step // first.every * first.every
        try:
            with Progress(first.n_steps, self.step, dt, first.every, False, memory) as line:
                self.state = march(alone, self.state, self.step, output, first.every, self.recorder, line)
            self.step = max(self.step, output)
            if self.step < step:
                self.state, report = alone.advance(self.state, self.step, step - self.step)
                self.recorder.took(report)
                self.step = step
        except ConvergenceError as failed:
            failed.result = finish_at(failed, self.recorder, self._output)
            raise

    def _stepper_alone(self) -> Stepper:
        """Return a stepper of this run with separate work arrays; make it at the first call."""
        if self._alone is None:
            self._alone = self._make()
            self._alone.corners = self._built.corners.corners
            self._alone.turned_in_words = partial(turned_in_words, self._built)
        return self._alone

    def result(self) -> Result:
        """Return the result; march alone to the end if the run has not reached it. Raises as `catch_up` does."""
        if self.step < self._first.n_steps:
            self.catch_up(self._first.n_steps)
        self.recorder.flush()
        self._loads.warn(f"model '{self._built.layout.name}'", 0.0, self.step * self.stepper.h)
        return finish(self._writer, self._output)

    def close(self) -> None:
        """Store the pending outputs and close the file."""
        with contextlib.suppress(OSError):
            self.recorder.flush()
        self._writer.close()


class Batch:
    """Up to eight runs by number, set up like the first one except for what their models change.

    results, failures: outcome of each run, by number.
    """

    def __init__(self, first: Begun, models: Mapping[int, Model], files: Mapping[int, Path | None]) -> None:
        self.results: dict[int, Result] = {}
        self.failures: dict[int, Exception] = {}
        self._first, self._models, self._files = first, models, files
        self._fits: list[tuple[Built, Fitted]] = []

    def go(self) -> None:
        """Simulate all runs from their starts to their results."""
        runs: dict[int, Run] = {}
        try:
            for number, model in self._models.items():
                with named(number, self.failures):
                    runs[number] = Run(self._first, model, self._fitted, self._files[number])
            keys = [run.stepper.lanes_key for run in runs.values()]
            key = max(keys, key=keys.count, default=())
            if key and keys.count(key) >= LEAST:
                self._go_together({n: run for n, run in runs.items() if run.stepper.lanes_key == key})
            for number, run in runs.items():
                if number not in self.failures:
                    with named(number, self.failures):
                        self.results[number] = run.result()
        finally:
            for run in runs.values():
                run.close()

    def _go_together(self, runs: dict[int, Run]) -> None:
        """March the runs in lanes as long as at least `LEAST` of them can go on together."""
        first, dt = self._first, self._first.stepper.h
        group = Group([run.stepper for run in runs.values()])
        with Progress(first.n_steps, 0, dt, first.every, False, first.layout.memory) as line:
            line.chunk = _FIRST
            while True:
                still = {n: run for n, run in runs.items() if n not in self.failures and not run.ends}
                if len(still) < LEAST:
                    return
                step = min(run.step for run in still.values())
                going = {n for n, run in still.items() if run.step == step}
                began, (share, parts) = busy(), self._parts(step, line.chunk, still)
                starts = dt * np.arange(step, step + parts * share)
                whole = min(steps_before_corner(still[n].stepper.corners, dt, starts) for n in going)
                if whole < share:  # a step is split at a corner: each run takes this part alone
                    for number in going:
                        with named(number, self.failures):
                            runs[number].catch_up(step + share)
                    continue
                parts, starts = whole // share, starts[: whole // share * share]
                states = [run.state if n in going else None for n, run in runs.items()]
                went = dict(zip(runs, group.march(states, starts, parts), strict=True))
                line.moved(step, busy() - began, parts * share)
                for number in going:
                    with named(number, self.failures):
                        runs[number].take(went[number], share)
                        if runs[number].step < step + parts * share and not runs[number].ends:
                            runs[number].catch_up(step + parts * share)

    def _parts(self, step: int, chunk: int, runs: Mapping[int, Run]) -> tuple[int, int]:
        """Return the number of steps in a part of the next march, and the number of parts.

        A part is an interval between outputs, or a share of the steps to the next output.
        """
        every, left = self._first.every, self._first.n_steps - step
        whole = min(chunk, left) // every
        if whole and step % every == 0:
            return every, min(whole, *(run.recorder.most for run in runs.values()))
        return min(chunk, every - step % every, left), 1

    def _fitted(self, built: Built) -> Fitted:
        """Return initial velocities that fit the joints; reuse them for runs that differ in gravity and loads alone."""
        for known, fit in self._fits:
            velocities = zip(known.state[2:4], built.state[2:4], strict=True)
            if _differ_in_gravity_alone(known.system, built.system) and all(
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


def _differ_in_gravity_alone(one: System, other: System) -> bool:
    """Return whether two systems share all tables except gravity (the same array objects)."""
    return all(x is y for name, x, y in zip(System._fields, one, other, strict=True) if name != "gravity")
