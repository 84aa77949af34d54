"""Strains and stresses of a rod anywhere on it, from the points where its elements know them.

Elements of order 1 know them at their middles, elements of order p at p Gauss points. Between two points they lie on a straight
line, before the first and behind the last on that through the two next to it: of second order in the distance of points, at the
ends as well. What jumps at a node is drawn out from point to point. A closed rod has no ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.space.interpolation import points
from discretization.system import System
from rigid.system import Floats, Ints
from rodsim.results.layout import Layout, RodLayout


class Lines(NamedTuple):
    """k places on straight lines between m points: (1 - part) value[before] + part value[after]."""

    before: Ints  # (k,)
    after: Ints  # (k,)
    part: Floats  # (k,) below 0 before the first point, above 1 behind the last

    def of(self, values: Floats) -> Floats:
        """(..., k, c) of values at the points (..., m, c)."""
        part = self.part[:, None]
        with np.errstate(invalid="ignore"):  # a run that has diverged
            return (1.0 - part) * values[..., self.before, :] + part * values[..., self.after, :]


def lines(x: Floats, at: Floats, around: float | None = None) -> Lines:
    """From points x (m,), increasing, to places `at` (k,), in m; around: length of a closed rod."""
    m = len(x)
    number = np.arange(m)
    if around is not None:
        x, number = (
            np.concatenate([x[-1:] - around, x, x[:1] + around]),
            np.concatenate([[m - 1], number, [0]]),
        )
    if len(x) < 2:  # the same everywhere
        alone = np.zeros(len(at), np.int64)
        return Lines(alone, alone, np.full(len(at), 0.5))
    k = np.clip(np.searchsorted(x, at, "right") - 1, 0, len(x) - 2)
    gap = x[k + 1] - x[k]
    part = np.where(gap > 0.0, (at - x[k]) / np.where(gap > 0.0, gap, 1.0), 0.5)
    return Lines(number[k], number[k + 1], part)


def order_of(system: System, rod: RodLayout) -> int:
    """Of the elements of a rod."""
    return int(system.rods.order_at[rod.elements[0]])


def length_of(layout: Layout, rod: RodLayout) -> float:
    """Of a rod, m, stress-free; of a closed one once round.

    Where a file has no system, its last interval is as long as the one before.
    """
    s = rod.arclength
    if not rod.closed:
        return float(s[-1])
    if layout.system is None:
        return float(2.0 * s[-1] - s[-2] if len(s) > 1 else s[-1])
    p = order_of(layout.system, rod)
    return float(s[-p] + layout.system.rods.points.weight[rod.elements[-p:]].sum())


def node_lengths(layout: Layout, rod: RodLayout) -> Floats:
    """(n_nodes,) m that a node stands for: half of both intervals beside it."""
    s, around = rod.arclength, length_of(layout, rod)
    ends = [s[-1] - around, around] if rod.closed else [s[0], s[-1]]
    found: Floats = 0.5 * (np.append(s[1:], ends[1]) - np.insert(s[:-1], 0, ends[0]))
    return found


def places_of_elements(layout: Layout, rod: RodLayout) -> Floats:
    """(n_elements,) m of the stress-free length, where strains and stresses are known."""
    if len(rod.elements) == 0:
        return np.zeros(0)
    p = 1 if layout.system is None else order_of(layout.system, rod)
    ends = np.append(rod.arclength, length_of(layout, rod)) if rod.closed else rod.arclength
    ends = ends[::p, None]
    return (ends[:-1] + (ends[1:] - ends[:-1]) * points(p)[0]).ravel()


def lines_to(layout: Layout, rod: RodLayout, at: Floats) -> Lines:
    """From the elements of a rod to places `at` (k,), m of its stress-free length."""
    around = length_of(layout, rod) if rod.closed else None
    return lines(places_of_elements(layout, rod), at, around)
