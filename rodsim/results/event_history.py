"""Histories of the events of a model at the outputs of a result, and the time at which an event stopped the run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discretization.controls import COUNT, LOSS, TIME, EventNumbers
from rigid.system import Floats, Ints
from rodsim.results.errors import ResultError
from rodsim.results.layout import Layout

UNITS = {"count": "", "time": "s", "loss": "J"}  # of the columns of `EventHistory.table`


def event_numbers(layout: Layout, internal: Floats) -> EventNumbers | None:
    """Return what events remember, from internal variables (..., k) of states; None without events."""
    if layout.system is None or not len(layout.system.controls.means):
        return None
    return layout.system.controls.events_of(layout.internal.part(internal, "sampled"))


def stop_times(layout: Layout, internal: Floats) -> Floats:
    """Return the time (T,) at which an event had stopped the run, s, from internal variables (T, k); NaN: it had not."""
    numbers = event_numbers(layout, internal)
    times = np.full(len(internal), np.nan)
    if numbers is None:
        return times
    stopped = numbers.stopped[:, 0] > 0.0
    times[stopped] = numbers.table[stopped, :, TIME].max(axis=1)  # nothing happens after a stop
    return times


def output_times(layout: Layout, steps: Ints, dt: float, internal: Floats) -> Floats:
    """Return the times (T,) of outputs after `steps` (T,), s: ends of steps, or the time at which an event stopped the run."""
    stopped = stop_times(layout, internal)
    times: Floats = np.where(np.isnan(stopped), steps * dt, stopped)
    return times


def expected_times(result: Any, dt: float) -> Floats:
    """Return the times (T,) of the outputs of a result by the numbers of their steps of length dt, s."""
    n, layout = result.n_outputs, result.layout
    has_events = bool(layout.description.get("events"))
    internal = result.states(slice(0, n)).internal if has_events else np.zeros((n, 0))
    return output_times(layout, result.step, dt, internal)


class EventHistory:
    """How often and when an event happened.

    Parameters
    ----------
    source : Source
        The stored arrays.
    name : str
        Name of the event.
    """

    def __init__(self, source: Any, name: str) -> None:
        self._source, self.name = source, name
        self._number = list(source.layout.description["events"]).index(name)

    @property
    def _table(self) -> Floats:
        """Return the numbers (T, 6) of the event."""
        numbers = event_numbers(self._source.layout, self._source.read("own"))
        if numbers is None:
            raise ResultError(f"event '{self.name}': a file of an older version does not store it")
        return numbers.table[:, self._number]

    @property
    def when(self) -> str:
        """Condition."""
        return str(self._source.layout.description["events"][self.name]["when"])

    @property
    def count(self) -> NDArray[np.int64]:
        """(T,) how often it had happened."""
        return self._table[:, COUNT].astype(np.int64)

    @property
    def time(self) -> Floats:
        """(T,) when it had last happened, s; NaN before the first time."""
        return np.where(self.count > 0, self._table[:, TIME], np.nan)

    @property
    def times(self) -> Floats:
        """(k,) times at which it happened, s. Of several times between two outputs only the last one is known."""
        time = self.time
        return np.unique(time[np.isfinite(time)])

    @property
    def loss(self) -> Floats:
        """(T,) energy lost until then at impulses of joints and drives that it engaged, J; the dissipation contains it."""
        return self._table[:, LOSS]

    def table(self) -> dict[str, Floats]:
        """Return columns (T,) by name: "count", "time" and "loss"."""
        return {"count": self.count.astype(float), "time": self.time, "loss": self.loss}
