"""Runs of one model that march side by side, eight in the lanes of one compiled march: each in a thread of its own, they meet
where they march.

Who comes to a meeting with steps to be taken, so many that it pays, waits there, his turn (`discretization.time.turns`) given
away, until all others have come as well or have left for good. Then one of them marches for all whose models, steps and numbers
of steps are alike, and the others go on alone, as does a run that fails in a step or whose matrix needs an exchange of rows: it
then takes the steps from the last output by itself, and comes back.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from discretization.time.em import STEPS
from discretization.time.turns import others_run, waited
from rigid.lane_arrays import room
from rigid.lanes import WIDTH
from rigid.system import Floats, State

LEAST = 4  # runs for which it pays: eight lanes take as long as 2.7 runs one by one
COST = 200.0  # microseconds of a run, to let others have their turn, to wait for them and to be taken into lanes and out

_own = threading.local()


def lanes_of(steppers: list[Any]) -> Any:
    """Of steppers of one key."""
    return steppers[0].lanes_of(steppers)


class Request:
    """Steps that a run wants to take.

    stepper: with `lanes_key`, `lanes_of`, `march_of_lanes` and `solved`; state: where it begins, left as it is; values
    (steps, loads, 3);
    kept, counts: as of `discretization.time.em.march`, one row a part.
    """

    def __init__(self, stepper: Any, state: State, h: float, values: Floats, kept: State, counts: np.ndarray):
        self.stepper, self.state, self.h, self.values, self.kept, self.counts = (
            stepper, state, h, values, kept, counts
        )  # fmt: skip
        self.share = len(values) // len(counts)
        self.taken = self.done = False
        self.seconds = 0.0  # that the march took in which it was done
        self.key = (h, self.share, *stepper.lanes_key)

    @property
    def parts(self) -> int:
        """Those that were done whole."""
        return int(np.sum(self.counts[:, STEPS] == self.share))


class Meeting:
    """Of so many runs."""

    def __init__(self, runs: int) -> None:
        self._runs, self._waiting, self._ended = runs, list[Request](), False
        self._changed = threading.Condition()
        self._lanes: tuple[list[Any], Any] = [], None  # steppers that marched side by side, and their lanes

    @contextlib.contextmanager
    def attended(self) -> Iterator[None]:
        """By this thread, until it leaves for good."""
        _own.meeting = self
        try:
            yield
        finally:
            leave()

    def end(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def left(self) -> None:
        """By one of them."""
        with self._changed:
            self._runs -= 1
            self._changed.notify_all()

    def march(self, request: Request, max_iterations: int) -> bool:
        """Whether the first part at least was marched with others."""
        with others_run(marches=False):
            batch = self._gathered(request)
        if batch:
            try:
                self._march_together(batch, max_iterations)
            finally:
                with self._changed:
                    for each in batch:
                        each.done = True
                    self._changed.notify_all()
        else:
            waited(-request.seconds)  # as long as who marched for it: they go on with steps alike
        return request.parts > 0

    def _march_together(self, batch: list[Request], max_iterations: int) -> None:
        """Those of the most frequent key, if they are enough."""
        keys = [each.key for each in batch]
        key = max(keys, key=keys.count)
        alike = sorted((each for each in batch if each.key == key), key=lambda each: id(each.stepper))
        group = alike[:WIDTH]  # in the same order, and so lanes, whoever comes first
        if len(group) < LEAST:
            return
        parts = min(len(each.counts) for each in group)
        own = self._lanes_of([each.stepper for each in group])
        values = room(parts * group[0].share, *group[0].values.shape[1:])
        counts = np.zeros((WIDTH, parts, group[0].counts.shape[1]), np.int64)
        kept = State(*(room(parts, *array.shape) for array in group[0].state))
        for run in range(WIDTH):
            each = group[min(run, len(group) - 1)]
            values[..., run] = each.values[: len(values)]
            for array, lanes in zip(each.state, own.state, strict=True):
                lanes[..., run] = array
        march, solved = group[0].stepper.march_of_lanes(), group[0].stepper.solved
        with others_run():
            began = time.perf_counter()
            march(own, solved, group[0].h, values, max_iterations, kept, counts)
            seconds = time.perf_counter() - began
        for run, each in enumerate(group):
            each.seconds = seconds
            each.counts[:parts] = counts[run]
            for rows, lanes in zip(each.kept, kept, strict=True):
                rows[:parts] = lanes[..., run]

    def _lanes_of(self, steppers: list[Any]) -> Any:
        """Those that are there, where the same runs march again."""
        known, own = self._lanes
        if len(known) != len(steppers) or any(a is not b for a, b in zip(known, steppers, strict=True)):
            own = lanes_of(steppers)
            self._lanes = steppers, own
        own.left[:] = np.arange(WIDTH) >= len(steppers)
        return own

    def _gathered(self, request: Request) -> list[Request]:
        """All that are here, for the one of them that marches; nothing for the others, when that is done."""
        with self._changed:
            self._waiting.append(request)
            self._changed.notify_all()
            while not request.taken and not self._ended:
                if len(self._waiting) == self._runs:
                    batch, self._waiting = self._waiting, []
                    for each in batch:
                        each.taken = True
                    return batch
                self._changed.wait()
            while request.taken and not request.done and not self._ended:
                self._changed.wait()
        return []


def present() -> Meeting | None:
    """The meeting that this thread attends."""
    return getattr(_own, "meeting", None)


def leave() -> None:
    """Go on alone."""
    meeting = present()
    if meeting is not None:
        _own.meeting = None
        meeting.left()


@contextlib.contextmanager
def apart() -> Iterator[None]:
    """Alone for a while; the others wait."""
    meeting = present()
    _own.meeting = None
    try:
        yield
    finally:
        _own.meeting = meeting
