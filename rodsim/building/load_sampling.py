"""Warn about loads that steps may have missed: loads that were zero at all times at which steps read them."""

from __future__ import annotations

import numpy as np

from rigid.signals import VectorSignal, corners_of
from rigid.system import Floats, Ints
from rigid.user_warnings import warn_user
from rodsim.building.load_arrays import LoadFunction, LoadValues, is_varying
from rodsim.components.controllers import outputs_in
from rodsim.components.model_warnings import StepWarning

SAMPLES = 10  # samples for each time at which steps read a load
MAX_SAMPLES = 20_000  # largest number of samples of a load
MAX_NAMED = 5  # largest number of loads named in a warning


class SampledLoads:
    """Evaluate loads as `LoadValues` does, and record which of them were zero at all times at which they were read.

    followers: numbers of loads that follow a controller, whose values are not functions of time.
    """

    def __init__(self, values: LoadValues, followers: Ints) -> None:
        self._values = values
        self._acted = np.zeros(values.total, bool)
        self._acted[followers] = True
        self._is_watching = values.vary
        self._times = 0

    def __call__(self, times: Floats) -> Floats:
        """Return the loads at times (k,), s, as an array (k, loads, 3), N or N m."""
        loads = self._values(times)
        if self._is_watching:
            waiting = np.flatnonzero(~self._acted)
            if len(waiting):
                self._acted[waiting] = loads[:, waiting].any(axis=(0, 2))
            self._times += len(times)
        return loads

    def warn(self, owner: str, start: float, end: float) -> None:
        """Warn about functions of time that were zero at all steps of a run from `start` to `end`, s.

        No warning is given for a function that declares its corners and is zero at all samples between the steps too.
        """
        if not self._times or self._acted.all():
            return
        first, lines = 0, []
        for load in self._values.functions:
            acted = self._acted[first : first + load.n_loads]
            first += load.n_loads
            if (
                load.n_loads
                and not acted.any()
                and is_varying(load.user_value)
                and not outputs_in(load.user_value)
            ):
                time = _first_time_of_action(load, start, end, self._times)
                if time is not None:
                    lines.append(f"'{load.name}', which acts at t = {time:.6g} s")
                elif not _has_known_corners(load):
                    lines.append(f"'{load.name}'")
        if lines:
            named = ", ".join(lines[:MAX_NAMED]) + (
                f" and {len(lines) - MAX_NAMED} more" if len(lines) > MAX_NAMED else ""
            )
            warn_user(
                f"{owner}: a load is zero at all {self._times} times at which steps read it: {named}. If it acts for less "
                "than a step, use smaller steps (dt, or max_dt with error), or declare the times at which it jumps or bends: "
                "`function.corners = (t1, t2)`.",
                StepWarning,
            )


def _has_known_corners(load: LoadFunction) -> bool:
    """Return True if the function of a load declares its corners, or is a signal, whose corners are known."""
    return isinstance(load.user_value, VectorSignal) or bool(corners_of(load.name, load.user_value))


def _first_time_of_action(load: LoadFunction, start: float, end: float, read: int) -> float | None:
    """Return the first of many sampled times (s) at which the load is not zero.

    Return None if it is zero at all of them, or if its function fails. `read`: number of times at which steps read it.
    """
    count = min(SAMPLES * read, MAX_SAMPLES)
    knots = [t for t in corners_of(load.name, load.user_value, "knots") if start < t < end]
    ends = np.unique([start, *knots, end])
    times = np.concatenate(
        [start + (end - start) * (np.arange(count) + 0.5) / count, 0.5 * (ends[1:] + ends[:-1])]
    )
    times.sort()
    try:
        acts = np.reshape(load.function(times), (len(times), -1)).any(axis=1)
    except Exception:  # the user's function failed after the run: the computed result is kept
        return None
    return float(times[np.argmax(acts)]) if acts.any() else None
