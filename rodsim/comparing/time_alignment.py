"""Align two histories at common times: at outputs of both if these agree, else by a cubic spline through the finer one.

The error of a spline is estimated from the file itself: the error of a spline through every second output at the outputs
between is 16 times that of the spline through all of them (order 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily

from rigid.system import Floats, Ints
from rodsim.results.errors import ResultError

SAME_TIME = 1e-9  # tolerance of times relative to the longer time span


class CommonTimes(NamedTuple):
    """Common times of two series, and their indices in each; None if they lie between outputs."""

    t: Floats
    in_a: Ints | None
    in_b: Ints | None


class Series(NamedTuple):
    """A history: values (T, ...) at times (T,), s."""

    t: Floats
    values: Floats


class Pair(NamedTuple):
    """Histories of one quantity in both results, (T, 3) or (T,), at common times."""

    label: str
    t: Floats
    a: Floats
    b: Floats


class Aligned(NamedTuple):
    """Values of both results at the same times; `rounding`: estimated interpolation error."""

    t: Floats
    a: Floats
    b: Floats
    rounding: float

    def pair(self, label: str) -> Pair:
        """Return the values as the histories of a quantity."""
        return Pair(label, self.t, self.a, self.b)


def common_times(a: Floats, b: Floats, names: tuple[str, str]) -> CommonTimes:
    """Return the output times of the series that has fewer, in the time span that both cover."""
    start, end = max(a[0], b[0]), min(a[-1], b[-1])
    tolerance = SAME_TIME * max(np.ptp(a), np.ptp(b))
    within = [np.flatnonzero((t >= start - tolerance) & (t <= end + tolerance)) for t in (a, b)]
    if min(len(times_within) for times_within in within) < 2:
        spans = [f"{name} covers t = {t[0]:g} to {t[-1]:g} s" for name, t in zip(names, (a, b), strict=True)]
        raise ResultError(f"compare: {' and '.join(spans)}: too little in common; run one of them longer")
    fewer = 0 if len(within[0]) <= len(within[1]) else 1
    base, other = (a, b) if fewer == 0 else (b, a)
    t = base[within[fewer]]
    at = np.clip(np.searchsorted(other, t), 1, len(other) - 1)
    at -= np.abs(other[at - 1] - t) <= np.abs(other[at] - t)
    coincides = np.abs(other[at] - t) <= tolerance
    indices = at if coincides.all() else None
    return CommonTimes(t, *((within[0], indices) if fewer == 0 else (indices, within[1])))


def aligned(a: Series, b: Series, names: tuple[str, str]) -> Aligned:
    """Return the values of both series at common times."""
    common = common_times(a.t, b.t, names)
    values, rounding = [], 0.0
    for series, at in ((a, common.in_a), (b, common.in_b)):
        if at is not None:
            values.append(series.values[at])
            continue
        rounding = max(rounding, spline_error(series))
        spline = scipy.interpolate.CubicSpline(series.t, series.values, axis=0)
        values.append(spline(np.clip(common.t, *series.t[[0, -1]])))
    return Aligned(common.t, values[0], values[1], rounding)


def spline_error(series: Series) -> float:
    """Return the estimated largest error of the spline through all outputs, from the spline through every second one."""
    t, values = series
    if len(t) < 5:
        return float(np.ptp(values, axis=0).max(initial=0.0))
    last = len(t) - (len(t) + 1) % 2  # an odd number of outputs, so that every second one includes the last
    half = scipy.interpolate.CubicSpline(t[:last:2], values[:last:2], axis=0)(t[1:last:2])
    return float(np.abs(half - values[1:last:2]).max(initial=0.0)) / 16.0
