"""Advance a run step by step, store its outputs, and show a progress line.

A march is one call of the compiled time loop. Between marches Ctrl-C is handled and the progress line moves, so a march has as
many steps as fit into a quarter of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from discretization.integrator_memory import MemoryLayout
from discretization.time.stepper_base import Report, StepperBase
from discretization.time.thread_turns import busy_time
from rigid.system import State
from rodsim.progress_bar import progress_bar
from rodsim.results.audit_columns import COLUMNS
from rodsim.results.events import Watch, many
from rodsim.results.outputs import Outputs
from rodsim.results.recorder import Recorder
from rodsim.running.plan import Plan

MAX_STEPS_PER_MARCH = 64  # steps whose end states are checked for events together
PATIENCE = 0.25  # longest march, s
LEAP = 64  # growth factor of marches that take less than PATIENCE / (2 LEAP)


class MarchingRun(Protocol):
    """A run as it is advanced: `rodsim.running.run.Run`."""

    plan: Plan
    stepper: Any
    state: State  # after step `step`
    step: int
    recorder: Recorder

    def time_of(self, step: int, state: State) -> float: ...


class Progress:
    """The progress line, and the number of steps in a march (`chunk`), adapted so that the line moves often enough."""

    def __init__(
        self, n_steps: int, step: int, dt: float, every: int, show: bool | None, memory: MemoryLayout
    ):
        """Prepare the line: `step` of `n_steps` steps done, `every` steps stored; `show` None: if stderr is a terminal."""
        self.chunk = 1
        self._memory = memory
        self._dt = dt
        self._every = "every step stored" if every == 1 else f"every {every} steps stored"
        self._first: float | None = None
        self._bar = progress_bar(show, total=n_steps, initial=step, unit="step")

    @property
    def shown(self) -> bool:
        """Whether the progress line is visible."""
        return self._bar is not None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def moved(self, step: int, seconds: float, count: int) -> None:
        """Adapt `chunk` to the duration of the last march (s, `count` steps) and move the bar to `step`."""
        if seconds < PATIENCE / 2:
            # more if a march takes almost no time; by fixed factors, so that runs side by side march equally far
            further = LEAP if seconds < PATIENCE / (2 * LEAP) else 2
            self.chunk = max(self.chunk, further * count)
        elif seconds > PATIENCE:
            self.chunk = max(1, count // 2)
        if self._bar is not None:
            self._bar.update(count)
            self._bar.set_description(f"t = {step * self._dt:.4g} s", refresh=False)

    def audit(self, outputs: Outputs) -> None:
        """Show the energy error and the Newton iterations of the last output."""
        rows = outputs.audit[[0, -1]]
        none = np.zeros((len(rows), 2))
        algorithmic = self._memory.parts(outputs.state.memory[[0, -1]]).get("algorithmic", none).sum(axis=-1)
        first, audit = (dict(zip(COLUMNS, row.tolist(), strict=True)) for row in rows)
        if self._first is None:
            self._first = _balance(first) + float(algorithmic[0])
        scale = max(abs(audit["kinetic"]) + abs(audit["elastic"]) + abs(audit["spring"]), 1e-300)
        error = (_balance(audit) + float(algorithmic[-1]) - self._first) / scale
        self._bar.set_postfix_str(
            f"dE/E {error:+.1e}, Newton {audit['newton_mean']:.1f}, {self._every}", refresh=False
        )


def _balance(audit: Mapping[str, float]) -> float:
    """Return the conserved energy balance: total energy - work + dissipation, J."""
    return audit["total"] - audit["work"] + audit["dissipation"]


def march(run: MarchingRun, stepper: StepperBase, end: int, line: Progress) -> None:
    """Take the steps of a run up to step `end`, and store the outputs on the way.

    Each march takes several output intervals, or some of the steps to the next output. The last step of the run is an output,
    and `end` as well.
    """
    every, recorder = run.plan.every, run.recorder
    line.chunk = max(line.chunk, stepper.steps_of_first_march)
    while run.step < end:
        began, first = busy_time(), run.step
        n_intervals, part_steps = min(line.chunk, end - first) // every, every
        if hasattr(stepper, "record") and n_intervals > 1 and first % every == 0:
            states, reports = stepper.record(run.state, first, every, min(n_intervals, recorder.most))
        else:
            part_steps = min(line.chunk, every - first % every, end - first)
            state, report = stepper.advance(run.state, first, part_steps)
            states, reports = many(state), [report]
        store_parts(run, states, reports, part_steps, end)
        line.moved(run.step, busy_time() - began, run.step - first)


def store_parts(
    run: MarchingRun, states: State, reports: Sequence[Report], part_steps: int, end: int
) -> None:
    """Advance a run by parts of `part_steps` steps, and store their states (k, ...) that are outputs.

    A part is an interval between outputs, or a share of the steps to the next output. The state after step `end` is an output.
    """
    every, first = run.plan.every, run.step
    run.step += part_steps * len(reports)
    run.state = _state_at(states, -1)
    if part_steps == every:
        run.recorder.add(range(first + every, run.step + 1, every), states, reports)
    else:
        run.recorder.add_report(reports[0])
        if run.step % every == 0 or run.step == end:
            run.recorder.add_last(run.step, run.state)
    run.recorder.flush_if_due()


def march_until(run: MarchingRun, watch: Watch, line: Progress) -> None:
    """Take steps until an event holds, at most to the end of the run; return at once if an event holds in its state.

    The state after which an event holds and the one before are stored as outputs.
    """
    stepper, every, recorder, n_steps = run.stepper, run.plan.every, run.recorder, run.plan.n_steps
    if watch.first(many(run.state)) is not None:
        return
    begun = run.step  # the initial state is an output already
    while run.step < n_steps:
        began, first = busy_time(), run.step
        count = min(line.chunk, n_steps - first, recorder.most, MAX_STEPS_PER_MARCH)
        if hasattr(stepper, "record"):
            states, reports = stepper.record(run.state, first, 1, count)
        else:
            one, report = stepper.advance(run.state, first, 1)
            states, reports = many(one), [report]
        hit = watch.first(states)
        if hit == 0 and first != begun and first % every:
            recorder.add_last(first, run.state)  # the state before the event
        for k in range(len(reports) if hit is None else hit + 1):
            recorder.add_report(reports[k])
            run.step = first + k + 1
            last = hit is not None and k >= hit - 1
            if run.step % every == 0 or run.step == n_steps or last:
                recorder.add_last(run.step, _state_at(states, k), run.time_of(run.step, _state_at(states, k)))
        run.state = _state_at(states, run.step - first - 1)
        line.moved(run.step, busy_time() - began, run.step - first)
        recorder.flush_if_due()
        if hit is not None:
            return


def _state_at(states: State, k: int) -> State:
    """Return a copy of the k-th of several states (n, ...)."""
    return State._make([array[k].copy() for array in states])
