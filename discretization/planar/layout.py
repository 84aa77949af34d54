"""Symbolic part of the planar elimination, which depends only on the structure: order, neighbours, offsets of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from discretization.drives import driven_rows
from discretization.internal_variables import internal_variables
from discretization.memoization import memoized, per_structure
from discretization.planar import arrays
from discretization.planar.element_lanes import element_offsets
from discretization.planar.elimination_order import Order, coupled_trees, find_elimination_order, frame_kinds
from discretization.planar.joint_rows import Row
from discretization.planar.minimum_degree import minimum_degree_order
from discretization.system import System
from rigid.system import Ints

# largest number of cut hinges that are added afterwards, which is faster; with more, frames are eliminated as those of a net
MAX_LOOP_HINGES = 2


class Layout(NamedTuple):
    """Integer arrays of `arrays.Tables`, which explains them; n frames, j items that bring rows, m elements."""

    order: Order
    frame: Ints  # (k + 1,) frame numbers in elimination order, then the ground
    elimination_index: Ints  # (n,) elimination index of each frame; the ground has k
    constraint: Ints  # (j,) constraint whose frames and points each item has
    sort: Ints  # (j,) sort of each item
    lam: Ints  # (j, 3) offsets of the multipliers in `State.lam`
    joined: Ints  # (j, 2) elimination indices of a and b of each item
    ends: Ints  # (m, 2) elimination indices of both ends of each element
    kind: Ints
    hinge: Ints
    first: Ints
    items: Ints
    elements: Ints  # see `arrays.ElementLanes.offsets`
    between: Ints
    first_pair: Ints
    pair: Ints
    trees: Ints  # `Tables.trees` if nothing couples frames outside the trees
    hinge_frames: Ints  # frames of kind HINGE
    frame_hinges: Ints  # their hinges
    is_b: Ints  # whether each frame is side b of its hinge
    hinged: bool  # True if all frames are of kind HINGE and there are no elements
    driven: Ints
    drives: int
    signals: int


def symbolic_layout(system: System, rows: Sequence[Row]) -> Layout | str:
    """Return the layout of a system with the planar rows `rows`, or, as text, why the elimination does not support it."""
    entries = [(row.constraint, row.sort, *(*row.lam, *row.lam[:1] * 2)[:3]) for row in rows]
    return _layout(system, np.array(entries, np.int64).reshape(-1, 5))


@memoized(per_structure)
def _layout(system: System, rows: Ints) -> Layout | str:
    """Return the layout for rows (j, 5): constraint, sort and three offsets in `State.lam` of each."""
    constraints, sort, lam = rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2:].copy()
    n, elements, joints = (
        len(system.frames.mass),
        system.elements.frames,
        system.constraints.frames[constraints],
    )
    order = find_elimination_order(n, elements, joints, sort)
    if isinstance(order, str) or len(order.closing) > MAX_LOOP_HINGES:
        net = minimum_degree_order(n, elements, joints, sort)
        order = net if isinstance(order, str) or not isinstance(net, str) else order
    if isinstance(order, str):
        return order
    index = np.full(n, len(order.frame))
    index[order.frame] = np.arange(len(order.frame))
    joined, ends, slots = index[joints], index[elements], _slots_of(order)
    blocks, (first_pair, pair) = _blocks_of(order, slots, ends), _pairs_of(order, slots)
    kinds = frame_kinds(order, joined, sort, {*blocks.tolist(), *pair.tolist()})
    between = _blocks_of(order, slots, joined)
    elements_at = element_offsets(
        np.append(order.frame, 0), ends, blocks, len(order.frame) + len(order.beyond)
    )
    kind, hinge = kinds[:2]
    hinge_frames = np.flatnonzero(kind == arrays.HINGE)
    frame_hinges = hinge[hinge_frames]
    trees, is_b = coupled_trees(order, np.zeros((0, 2), np.int64)), joined[frame_hinges, 1] == hinge_frames
    items = constraints.tolist()
    return Layout(
        order,
        np.append(order.frame, 0),
        index,
        constraints,
        sort,
        lam,
        joined,
        ends,
        *kinds,
        elements_at,
        between,
        first_pair,
        pair,
        trees,
        hinge_frames,
        frame_hinges,
        is_b,
        hinged=bool(np.all(kind == arrays.HINGE)) and not len(ends),
        driven=np.array([items.index(row) for row in driven_rows(system.constraints)], np.int64),
        drives=internal_variables(system).first("drive"),
        signals=len(system.signals),
    )


Slots = dict[tuple[int, int], int]


def _slots_of(order: Order) -> Slots:
    """Return the block number of each pair of neighbouring frames, given by their elimination indices.

    A frame and its parent have the elimination index of the frame as number; further neighbours follow.
    """
    k = len(order.frame)
    slots = {(s, p): s for s, p in enumerate(order.parent.tolist())}
    for s, (begin, end) in enumerate(zip(order.first_next[:-1], order.first_next[1:], strict=True)):
        slots |= {(s, int(order.beyond[i])): k + i for i in range(begin, end)}
    return slots


def _blocks_of(order: Order, slots: Slots, ends: Ints) -> Ints:
    """Return the block number of each pair of frames `ends` (m, 2), elimination indices.

    Pairs without a block, such as pairs with the ground, get that of their first frame.
    """
    last = len(order.frame) - 1
    pairs = [(min(pair), max(pair)) for pair in ends.tolist()]
    return np.array([slots.get(pair, min(pair[0], last)) for pair in pairs], np.int64)


def _pairs_of(order: Order, slots: Slots) -> tuple[Ints, Ints]:
    """Return the offset of the pairs of each frame, and the block numbers of each pair of its later neighbours, in order."""
    begins, beyond = order.first_next.tolist(), order.beyond.tolist()
    first, pair = [0], []
    for s, parent in enumerate(order.parent.tolist()):
        ahead = [parent, *beyond[begins[s] : begins[s + 1]]]
        pair += [slots[a, b] for i, a in enumerate(ahead) for b in ahead[i + 1 :]]
        first.append(len(pair))
    return np.array(first, np.int64), np.array(pair, np.int64)
