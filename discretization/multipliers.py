"""What brings rows of g, item by item: the constraints of their table, then all other interactions with rows.

`State.lam` has the multipliers in this order. Whoever numbers unknowns, balances rows or looks for what repeats what reads
this one list; what a row is stands with its kind (`discretization.groups.constraints_of`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization import interaction_table
from discretization.known_facts import known
from discretization.system import System
from rigid.interactions.constraints import facts, first_rows, rows_of
from rigid.system import Floats, Ints


class Multipliers(NamedTuple):
    """Of k items."""

    frames: Ints  # (k, columns of `InteractionTable.frames`) -1: none
    rows: Ints  # (k,) scalar equations
    first: Ints  # (k,) place of the first in `State.lam`
    joint: Ints  # (k,) number of the joint; those of other interactions follow, one each
    repeats: NDArray[np.bool_]  # (k,) fixes what others fix already
    couples: NDArray[np.bool_]  # (k,) its tangent couples its frames: the gradient depends on the poses
    other: Ints  # (k - c,) numbers in `System.others` of those behind the constraints
    size: Floats  # (k - c, 2) of these: of the gradient to a place, to a turn, see `InteractionTable.size`

    @property
    def per_row(self) -> Ints:
        """(m,) the item that each multiplier belongs to."""
        items: Ints = np.repeat(np.arange(len(self.rows)), self.rows)
        return items

    @property
    def of_joint(self) -> Ints:
        """(k,) rows of the whole joint of each item."""
        totals = np.bincount(self.joint, weights=self.rows).astype(np.int64)
        return totals[self.joint]


@known
def multipliers_of(system: System) -> Multipliers:
    """Of a system."""
    constraints, more = system.constraints, system.others
    c, rows, first = len(constraints.kind), rows_of(constraints), first_rows(constraints)
    other = interaction_table.holding(more)
    frames = np.full((c + len(other), more.frames.shape[1]), -1, np.int64)
    frames[:c, :2], frames[c:] = constraints.frames, more.frames[other]
    own = interaction_table.rows_of(more)[other]
    joints = int(constraints.joint.max(initial=-1)) + 1
    repeats = np.zeros(len(frames), bool)
    repeats[: len(constraints.repeats)] = constraints.repeats
    repeats[c:] = more.repeats[other] if len(more.repeats) else False
    return Multipliers(
        frames,
        np.concatenate([rows, own]),
        np.concatenate([first, rows.sum() + np.cumsum(own) - own]).astype(np.int64),
        np.concatenate([constraints.joint, joints + np.arange(len(other))]),
        repeats,
        np.concatenate([~facts(constraints.kind, "constant"), np.ones(len(other), bool)]),
        other,
        more.size[other],
    )


def with_repeats(system: System, repeats: NDArray[np.bool_]) -> System:
    """With these items (k,) marked as fixing what others fix already."""
    c, other = len(system.constraints.kind), multipliers_of(system).other
    marked = repeats.astype(np.uint8)
    system = system._replace(constraints=system.constraints._replace(repeats=marked[:c]))
    if not repeats[c:].any():
        return system
    of_others = np.zeros(len(system.others.kind), np.uint8)
    of_others[other] = marked[c:]
    return system._replace(others=system.others._replace(repeats=of_others))


@known
def count_multipliers(system: System) -> int:
    """Rows of g, of `State.lam`."""
    return int(rows_of(system.constraints).sum() + interaction_table.rows_of(system.others).sum())
