"""Tension of elements that do not stretch: the multiplier of the constraint that keeps the distance of their frames.

With g = (d . d - L^2)/2, d = r_b - r_a, the force on b is -lam d: the normal force is N = lam L.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.multipliers import multipliers_of
from discretization.system import System
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.distance import POINTS_AT_DISTANCE
from rigid.system import Floats, Ints

_DISTANCE = next(k for k, kind in enumerate(CONSTRAINTS) if kind is POINTS_AT_DISTANCE)


class _Tensions(NamedTuple):
    """Rows of k elements that do not stretch."""

    point: Ints  # (k,) number of their point among all points of rods
    row: Ints  # (k,) index of their multiplier in `State.lam`
    length: Floats  # (k,) m


def add_tensions(system: System, lam: Floats, stress: Floats) -> Floats:
    """Return the stresses (..., g, 6) with the normal forces of elements that do not stretch; lam: `State.lam` (..., m)."""
    spans = system.spans
    rigid = (
        np.flatnonzero(~np.any(spans.stiffness, axis=(1, 2))) if len(spans.kind) else np.zeros(0, np.int64)
    )
    if not len(rigid):
        return stress
    tensions = _tensions_of(system, rigid)
    stress[..., tensions.point, 0] += tensions.length * lam[..., tensions.row]
    return stress


def _tensions_of(system: System, rigid: Ints) -> _Tensions:
    """Return the rows of the points `rigid` of spans."""
    constraints = system.constraints
    rows: dict[tuple[int, ...], Any] = {}
    first = multipliers_of(system).first
    for c in np.flatnonzero(constraints.kind == _DISTANCE).tolist():
        if not (np.any(constraints.Xa[c]) or np.any(constraints.Xb[c])):
            rows[tuple(constraints.frames[c].tolist())] = first[c], np.sqrt(2.0 * constraints.value[c])
    pairs = map(tuple, system.spans.ends[rigid].tolist())
    row, length = zip(*(rows[pair] for pair in pairs), strict=True)
    return _Tensions(system.rods.first + rigid, np.array(row, np.int64), np.array(length))
