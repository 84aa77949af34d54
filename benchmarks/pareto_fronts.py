"""Speed at equal error: a program's front of error against time, and the time it needs for a given error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import exp, isfinite, log

from benchmarks.measurement import Measurement


@dataclass(frozen=True)
class TimeAtError:
    """Time that a program needs for an error, s.

    `bound`: its cheapest run is more accurate than that error, so the time is an upper bound.
    """

    wall_s: float
    bound: bool


def front(runs: Iterable[Measurement]) -> list[Measurement]:
    """Runs that no other run beats in both error and time, by decreasing error; diverged runs are excluded."""
    usable = sorted((m for m in runs if isfinite(m.error) and m.error < 1.0), key=lambda m: m.wall_s)
    best: list[Measurement] = []
    for m in usable:
        if not best or m.error < best[-1].error:
            best.append(m)
    return best


def time_at_error(runs: list[Measurement], error: float) -> TimeAtError | None:
    """Time for `error`, by interpolation of log(time) in log(error) along a `front`.

    None if no run is that accurate: nothing is extrapolated towards smaller errors.
    """
    if not runs or error < runs[-1].error:
        return None
    if error >= runs[0].error:
        return TimeAtError(runs[0].wall_s, bound=error > runs[0].error)
    for coarse, fine in pairwise(runs):
        if fine.error <= error <= coarse.error:
            part = (log(coarse.error) - log(error)) / (log(coarse.error) - log(fine.error))
            return TimeAtError(exp((1.0 - part) * log(coarse.wall_s) + part * log(fine.wall_s)), bound=False)
    return None
