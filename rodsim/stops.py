"""What ends a run before its time: surfaces that touch, or come nearer than a distance.

A condition is asked of the state after every step. The run ends with the first step at whose end it holds; that state and the
one before are outputs, so that the moment lies between the last two (`ContactHistory.first_touch`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discretization.time.advance import StepperBase
from discretization.time.contact_stepper import ContactStepper
from discretization.time.stepper import Stepper
from discretization.time.turns import busy
from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats, State
from rodsim.results.contact_gaps import CONTACTS, Gaps
from rodsim.results.distances import Distance
from rodsim.results.errors import ResultError
from rodsim.results.layout import Layout

if TYPE_CHECKING:
    from rodsim.results.recorder import Recorder

AT_ONCE = 64  # steps whose ends are asked together


@dataclass(frozen=True)
class FirstTouch:
    """One of these contacts begins to act; none named: any of the model."""

    contacts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"first touch of {', '.join(self.contacts) or 'any contact'}"


@dataclass(frozen=True)
class Nearer:
    """Two surfaces or points are nearer to each other than `than`, m."""

    a: str
    b: str
    than: float = 0.0

    def __str__(self) -> str:
        return f"{self.a} and {self.b} nearer than {self.than:g} m"


Until = FirstTouch | Nearer


def first_touch(*contacts: str) -> FirstTouch:
    """For `simulate(..., until=)`: the run ends with the first step after which one of these contacts acts; without names any.

    contacts: names, as given to `add_contact`. A barrier acts from its reach on. ModelError where one is no name.
    """
    for name in contacts:
        if not isinstance(name, str):
            raise ModelError(f"first_touch: {checks.shown(name)} is no name; give names of contacts, or none")
    return FirstTouch(contacts)


def nearer(a: str, b: str, than: float = 0.0) -> Nearer:
    """For `simulate(..., until=)`: the run ends with the first step after which `a` and `b` are nearer than `than` (m).

    a, b: surfaces and points as of `Result.distance`; they need no contact. With 0 surfaces touch. ModelError where `than` is
    below 0 or no number.
    """
    return Nearer(a, b, checks.number("nearer", "than", than, at_least=0.0))


def of_scene(run: Any) -> Until | None:
    """What the `run` of a scene says (`rodsim.scenes.schema.RunScene`)."""
    until = run.until
    if until is None:
        return None
    if until.nearer:
        a, b = until.nearer
        return nearer(a, b, until.than)
    return first_touch(*(until.touch or ()))


class Watch:
    """A condition about the states of one model; ModelError where it names what is not there."""

    def __init__(self, until: object, layout: Layout) -> None:
        if not isinstance(until, Until):
            raise ModelError(
                f"simulate: until = {checks.shown(until)} is no condition; give first_touch('contact') or nearer('a', 'b', 0.01)"
            )
        self.until = until
        self._of: Callable[[State], Floats]
        known = list(layout.description.get(CONTACTS, {}))
        if isinstance(until, Nearer):
            try:
                self._of = Distance(layout, until.a, until.b).of
            except ResultError as error:
                raise ModelError(f"simulate: until: {error}") from None
            self._than = until.than
            return
        self._than = 0.0
        missing = [name for name in until.contacts if name not in known]
        if missing or not known:
            raise ModelError(
                f"simulate: until: there is no contact {missing[0] if missing else 'at all'!r}; "
                + (f"there are {', '.join(known)}" if known else "add one, or give nearer('a', 'b')")
            )
        each = [Gaps(layout, name) for name in until.contacts or known]
        self._of = lambda states: np.min([gaps.beyond(states) for gaps in each], axis=0)

    def first(self, states: State) -> int | None:
        """Number of the first of many states in which it holds."""
        met = np.flatnonzero(np.asarray(self._of(states) < self._than))
        return int(met[0]) if len(met) else None

    def check_start(self, state: State) -> None:
        """Raise ModelError where it holds before the first step."""
        if self.first(_many(state)) is not None:
            raise ModelError(
                f"simulate: until: {self.until} holds at t = 0 already; begin further apart, or name what is not in touch yet"
            )


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
    """Steps from `step` on until the condition holds, at most to `n_steps`; a state in which it holds already is the end."""
    if watch.first(_many(state)) is not None:
        return
    begun = step  # an output already
    while step < n_steps:
        began, first = busy(), step
        count = min(line.chunk, n_steps - step, recorder.most, AT_ONCE)  # type: ignore[attr-defined]
        if isinstance(stepper, Stepper | ContactStepper):
            states, reports = stepper.record(state, step, 1, count)
        else:
            one, report = stepper.advance(state, step, 1)
            states, reports = _many(one), [report]
        hit = watch.first(states)
        if hit == 0 and first != begun and first % every:
            recorder.add_last(first, state)  # the one before
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


def _many(state: State) -> State:
    return State(*(array[None] for array in state))
