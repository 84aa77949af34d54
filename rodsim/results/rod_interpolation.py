"""Interpolate strains and stresses along a rod from the points at which its elements have them.

Elements of order 1 have them at their middles, elements of order p at p Gauss points. Between two points the values are
interpolated linearly. Before the first and behind the last point they are extrapolated along the line through the two nearest
points. The error is of second order in the distance of the points, at the ends as well. A jump at a node is spread over the
distance from one point to the next. A closed rod has no ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.space.interpolation import points
from discretization.system import System
from rigid.system import Floats, Ints
from rodsim.results.layout import Layout, RodLayout


class LinearInterpolation(NamedTuple):
    """Linear interpolation at k positions between m points: (1 - part) value[before] + part value[after]."""

    before: Ints  # (k,) index of the first of the two points
    after: Ints  # (k,) index of the second of the two points
    part: Floats  # (k,) weight of the second point; below 0 before the first point of all, above 1 behind the last

    def of(self, values: Floats) -> Floats:
        """Return the interpolated values (..., k, c) of values (..., m, c) at the points."""
        part = self.part[:, None]
        with np.errstate(invalid="ignore"):  # a diverged run has infinite values
            return (1.0 - part) * values[..., self.before, :] + part * values[..., self.after, :]


def interpolate_to(x: Floats, at: Floats, around: float | None = None) -> LinearInterpolation:
    """Return the interpolation from points x (m,), increasing, to positions `at` (k,), all in m.

    `around`: length of a closed rod, m; None for an open one.
    """
    m = len(x)
    number = np.arange(m)
    if around is not None:
        x, number = (
            np.concatenate([x[-1:] - around, x, x[:1] + around]),
            np.concatenate([[m - 1], number, [0]]),
        )
    if len(x) < 2:  # one point: its value everywhere
        zeros = np.zeros(len(at), np.int64)
        return LinearInterpolation(zeros, zeros, np.full(len(at), 0.5))
    k = np.clip(np.searchsorted(x, at, "right") - 1, 0, len(x) - 2)
    gap = x[k + 1] - x[k]
    part = np.where(gap > 0.0, (at - x[k]) / np.where(gap > 0.0, gap, 1.0), 0.5)
    return LinearInterpolation(number[k], number[k + 1], part)


def order_of(system: System, rod: RodLayout) -> int:
    """Return the order of the elements of a rod."""
    return int(system.rods.order_at[rod.elements[0]])


def rod_length(layout: Layout, rod: RodLayout) -> float:
    """Return the stress-free length of a rod, m; that of a closed rod is its length once around.

    If a file has no system, the last interval of a closed rod is taken to be as long as the one before it.
    """
    s = rod.arclength
    if not rod.closed:
        return float(s[-1])
    if layout.system is None:
        return float(2.0 * s[-1] - s[-2] if len(s) > 1 else s[-1])
    p = order_of(layout.system, rod)
    return float(s[-p] + layout.system.rods.points.weight[rod.elements[-p:]].sum())


def node_lengths(layout: Layout, rod: RodLayout) -> Floats:
    """Return the tributary lengths (n_nodes,) of the nodes, m: half of both adjacent intervals."""
    s, around = rod.arclength, rod_length(layout, rod)
    ends = [s[-1] - around, around] if rod.closed else [s[0], s[-1]]
    lengths: Floats = 0.5 * (np.append(s[1:], ends[1]) - np.insert(s[:-1], 0, ends[0]))
    return lengths


def element_arc_lengths(layout: Layout, rod: RodLayout) -> Floats:
    """Return the arc lengths (n_elements,), m, stress-free, at which strains and stresses are known."""
    if len(rod.elements) == 0:
        return np.zeros(0)
    p = 1 if layout.system is None else order_of(layout.system, rod)
    ends = np.append(rod.arclength, rod_length(layout, rod)) if rod.closed else rod.arclength
    ends = ends[::p, None]
    return (ends[:-1] + (ends[1:] - ends[:-1]) * points(p)[0]).ravel()


def rod_interpolation_to(layout: Layout, rod: RodLayout, at: Floats) -> LinearInterpolation:
    """Return the interpolation from the elements of a rod to the arc lengths `at` (k,), m, stress-free."""
    around = rod_length(layout, rod) if rod.closed else None
    return interpolate_to(element_arc_lengths(layout, rod), at, around)
