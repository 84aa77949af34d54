"""March until an event holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discretization.time.advance import StepperBase
from discretization.time.contact_stepper import ContactStepper
from discretization.time.stepper import Stepper
from discretization.time.turns import busy
from rigid.system import State
from rodsim.results.events import Watch, many

if TYPE_CHECKING:
    from rodsim.results.recorder import Recorder

AT_ONCE = 64  # steps whose end states are checked for events together


def march_until(
    watch: Watch,
    stepper: StepperBase,
    state: State,
    step: int,
    n_steps: int,
    every: int,
    recorder: Recorder,
    line: object,
) -> None:
    """Take steps until an event holds, at most to `n_steps`; return at once if an event holds in the initial state.

    The state after which an event holds and the one before are stored as outputs.
    """
    if watch.first(many(state)) is not None:
        return
    begun = step  # the initial state is an output already
    while step < n_steps:
        began, first = busy(), step
        count = min(line.chunk, n_steps - step, recorder.most, AT_ONCE)  # type: ignore[attr-defined]
        if isinstance(stepper, Stepper | ContactStepper):
            states, reports = stepper.record(state, step, 1, count)
        else:
            one, report = stepper.advance(state, step, 1)
            states, reports = many(one), [report]
        hit = watch.first(states)
        if hit == 0 and first != begun and first % every:
            recorder.add_last(first, state)  # the state before the event
        for k in range(len(reports) if hit is None else hit + 1):
            recorder.took(reports[k])
            step = first + k + 1
            last = hit is not None and k >= hit - 1
            if step % every == 0 or step == n_steps or last:
                recorder.add_last(step, State(*(array[k].copy() for array in states)))
        state = State(*(array[step - first - 1].copy() for array in states))
        line.moved(step, busy() - began, step - first)  # type: ignore[attr-defined]
        recorder.look()
        if hit is not None:
            return
