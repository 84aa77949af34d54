"""List the items that contribute rows of g: the constraints of their table, then all other interactions with rows.

`State.lam` has the multipliers in this order. Code that numbers unknowns, balances rows or detects redundant constraints
reads this list; the meaning of a row is defined by its kind (`discretization.interaction_groups.constraints_of`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization import interaction_table
from discretization.memoization import memoized, per_structure
from discretization.system import System
from rigid.interactions.constraints import facts, first_rows, rows_of
from rigid.system import Floats, Ints


class MultiplierItems(NamedTuple):
    """Rows of g of k items, a constraint or an interaction with rows each."""

    frames: Ints  # (k, columns of `InteractionTable.frames`) -1: none
    rows: Ints  # (k,) number of scalar equations
    first: Ints  # (k,) index of the first equation in `State.lam`
    joint: (
        Ints  # (k,) number of the joint; other interactions have numbers after those of the joints, one each
    )
    repeats: NDArray[np.bool_]  # (k,) redundant: implied by other items
    couples: NDArray[np.bool_]  # (k,) the tangent couples the frames: the gradient depends on the poses
    other: Ints  # (k - c,) indices in `System.others` of the items after the constraints
    size: Floats  # (k - c, 2) their gradient sizes: to a position, to a rotation, see `InteractionTable.size`

    @property
    def per_row(self) -> Ints:
        """Return the index of the item that each multiplier belongs to, (m,)."""
        items: Ints = np.repeat(np.arange(len(self.rows)), self.rows)
        return items

    @property
    def of_joint(self) -> Ints:
        """Return the number of rows of the joint that each item belongs to, (k,)."""
        totals = np.bincount(self.joint, weights=self.rows).astype(np.int64)
        return totals[self.joint]


@memoized(per_structure)
def multipliers_of(system: System) -> MultiplierItems:
    """Return the list of multipliers of a system."""
    constraints, interactions = system.constraints, system.others
    c, rows, first = len(constraints.kind), rows_of(constraints), first_rows(constraints)
    other = interaction_table.constraint_indices(interactions)
    frames = np.full((c + len(other), interactions.frames.shape[1]), -1, np.int64)
    frames[:c, :2], frames[c:] = constraints.frames, interactions.frames[other]
    other_rows = interaction_table.rows_of(interactions)[other]
    joints = int(constraints.joint.max(initial=-1)) + 1
    repeats = np.zeros(len(frames), bool)
    repeats[: len(constraints.repeats)] = constraints.repeats
    repeats[c:] = interactions.repeats[other] if len(interactions.repeats) else False
    return MultiplierItems(
        frames,
        np.concatenate([rows, other_rows]),
        np.concatenate([first, rows.sum() + np.cumsum(other_rows) - other_rows]).astype(np.int64),
        np.concatenate([constraints.joint, joints + np.arange(len(other))]),
        repeats,
        np.concatenate([~facts(constraints.kind, "constant"), np.ones(len(other), bool)]),
        other,
        interactions.size[other],
    )


def with_redundant_items(system: System, repeats: NDArray[np.bool_]) -> System:
    """Return the system with the items of the mask `repeats` (k,) marked as redundant."""
    c, other = len(system.constraints.kind), multipliers_of(system).other
    marked = repeats.astype(np.uint8)
    system = system._replace(constraints=system.constraints._replace(repeats=marked[:c]))
    if not repeats[c:].any():
        return system
    marked_others = np.zeros(len(system.others.kind), np.uint8)
    marked_others[other] = marked[c:]
    return system._replace(others=system.others._replace(repeats=marked_others))


@memoized(per_structure)
def count_multipliers(system: System) -> int:
    """Return the number of rows of g, the length of `State.lam`."""
    return int(rows_of(system.constraints).sum() + interaction_table.rows_of(system.others).sum())
