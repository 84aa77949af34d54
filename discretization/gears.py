"""Geared joints: constraints that share a row, and the angles that a state counts for them (`rigid.interactions.gear`).

The block of angles in `State.own` has those of torsion springs first, then one for every constraint whose kind is `counted`, then
what other interactions count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rigid.interactions.constraints import CONSTRAINTS, facts
from rigid.interactions.gear import BRANCH, GEARED_ANGLE
from rigid.system import Constraints, Floats, Ints


def counted_rows(constraints: Constraints) -> Ints:
    """Numbers of the constraints whose angle is counted."""
    return (
        np.flatnonzero(facts(constraints.kind, "counted")) if len(constraints.kind) else np.zeros(0, np.int64)
    )


def count_angles(system: Any) -> int:
    """Rows of angles in `State.own`, but for those of other interactions behind them."""
    return len(system.torsions.stiffness) + len(counted_rows(system.constraints))


def sharing(constraints: Constraints) -> list[Ints]:
    """Those constraints that share a row, row by row."""
    if not np.any(constraints.shares):
        return []
    owner = np.cumsum(constraints.shares == 0)
    return [np.flatnonzero(owner == k) for k in np.unique(owner[constraints.shares != 0])]


def weights(constraints: Constraints) -> Floats:
    """(c,) how much the coordinate of each counts in its row; 1 where it has one of its own."""
    found = np.ones(len(constraints.kind))
    for use in sharing(constraints):
        found[use] = np.linalg.norm(constraints.Ua[use], axis=1)
    return found


def of_one_scale(constraints: Constraints, sizes: Floats) -> Floats:
    """Masses or stiffnesses (c,), those that share a row as one: the smallest, seen by the multiplier."""
    out = sizes.copy()
    weight = weights(constraints)
    for use in sharing(constraints):
        seen = sizes[use] / weight[use] ** 2
        out[use] = seen[seen > 0.0].min(initial=np.inf) if np.any(seen > 0.0) else 0.0
    return out


class GearWork(NamedTuple):
    """Where a step of `em` finds the counted angles."""

    entry: Ints  # (k,) place among the constraints that go by their duals
    branch: Ints  # (k,) where the counted angle stands in their numbers
    size: Floats  # (k,) |U|
    first: int  # of them in `State.own`


def gear_work(system: Any, duals: Any) -> GearWork:
    """Of a system whose constraints by duals are `duals`."""
    rows = counted_rows(system.constraints)
    entry = np.array([np.flatnonzero(duals.interacting.each.row == c)[0] for c in rows], np.int64)
    assert all(CONSTRAINTS[k] is GEARED_ANGLE for k in system.constraints.kind[rows])
    branch = duals.interacting.each.first[entry] + BRANCH if len(rows) else np.zeros(0, np.int64)
    size = np.linalg.norm(system.constraints.Ua[rows], axis=1)
    return GearWork(entry, branch, size, len(system.torsions.stiffness))
