"""Split steps at corners of functions of time.

A step that contains a corner is replaced by shorter ones, from corner to corner, so that every scheme integrates only smooth
functions. A corner that is nearer to an end of a step than a fraction `NEAR` of the step is taken to be at that end.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats, Ints

# fraction of a step: the impulse of a load in that time is negligible, and rounding of times is far less
NEAR = 1e-6


def _first_and_last(corners: Floats, h: float, starts: Floats) -> tuple[Ints, Ints]:
    """Return the indices (k,) of the first corner inside each step, and of the first one after it."""
    near = NEAR * h
    return (
        np.searchsorted(corners, starts + near, side="right"),
        np.searchsorted(corners, starts + h - near, side="left"),
    )


def steps_before_corner(corners: Floats, h: float, starts: Floats) -> int:
    """Return the number of steps of length h from `starts` (k,) before the first that contains a corner; k if none does."""
    if not len(corners) or not len(starts) or corners[-1] <= starts[0]:
        return len(starts)
    first, last = _first_and_last(corners, h, starts)
    inside = last > first
    return int(np.argmax(inside)) if inside.any() else len(starts)


def ends_of_parts(corners: Floats, h: float, start: float) -> Floats:
    """Return start, corners inside and end of one step (k + 1,), s; corners that nearly coincide are merged."""
    first, last = _first_and_last(corners, h, np.array([start]))
    times = np.concatenate([[start], corners[first[0] : last[0]], [start + h]])
    return times[np.concatenate([[True], np.diff(times[:-1]) > NEAR * h, [True]])]
