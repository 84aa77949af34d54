"""What of a planar elimination hangs on the structure alone: who comes when, next to whom, and where blocks stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from discretization.drives import driven_rows
from discretization.known_facts import known_with
from discretization.own_variables import own_variables
from discretization.planar import arrays
from discretization.planar.element_lanes import places_of
from discretization.planar.joint_rows import Row
from discretization.planar.nets import net_of
from discretization.planar.order import Order, kinds_of, order_of, trees_of
from discretization.system import System
from rigid.system import Ints

MOST_CLOSING = 2  # hinges that are sooner put in afterwards than their frames eliminated as those of a net


class Layout(NamedTuple):
    """Whole numbers of `arrays.Tables`, which see; n frames, j items that bring rows, m elements."""

    order: Order
    frame: Ints  # (k + 1,) of places, with the ground
    place: Ints  # (n,) of frames; of the ground, the number of those that move
    constraint: Ints  # (j,) that each item has frames and points of
    sort: Ints  # (j,)
    lam: Ints  # (j, 3)
    joined: Ints  # (j, 2)
    ends: Ints  # (m, 2)
    kind: Ints
    hinge: Ints
    first: Ints
    items: Ints
    elements: Ints  # `arrays.ElementLanes.places`
    between: Ints
    first_pair: Ints
    pair: Ints
    trees: Ints  # where nothing couples frames beside them
    hung: Ints  # frames that hang on hinges, which, and whether each is the side b of its hinge
    of_hung: Ints
    is_b: Ints
    hinged: bool  # all frames hang on hinges, no elements between them
    driven: Ints
    drives: int
    signals: int


def layout_of(system: System, rows: Sequence[Row]) -> Layout | str:
    """rows: the items. In words, where the elimination does not take the model."""
    words = [(row.constraint, row.sort, *(*row.lam, *row.lam[:1] * 2)[:3]) for row in rows]
    return _layout(system, np.array(words, np.int64).tobytes())


@known_with
def _layout(system: System, words: bytes) -> Layout | str:
    rows = np.frombuffer(words, np.int64).reshape(-1, 5)
    constraints, sort, lam = rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2:].copy()
    n, elements, joints = (
        len(system.frames.mass),
        system.elements.frames,
        system.constraints.frames[constraints],
    )
    order = order_of(n, elements, joints, sort)
    if isinstance(order, str) or len(order.closing) > MOST_CLOSING:
        net = net_of(n, elements, joints, sort)
        order = net if isinstance(order, str) or not isinstance(net, str) else order
    if isinstance(order, str):
        return order
    place = np.full(n, len(order.frame))
    place[order.frame] = np.arange(len(order.frame))
    joined, ends, slots = place[joints], place[elements], _slots_of(order)
    blocks, (first_pair, pair) = _blocks_of(order, slots, ends), _pairs_of(order, slots)
    kinds = kinds_of(order, joined, sort, {*blocks.tolist(), *pair.tolist()})
    between = _blocks_of(order, slots, joined)
    elements_at = places_of(np.append(order.frame, 0), ends, blocks, len(order.frame) + len(order.beyond))
    kind, hinge = kinds[:2]
    hung = np.flatnonzero(kind == arrays.HINGE)
    of_hung = hinge[hung]
    trees, is_b = trees_of(order, np.zeros((0, 2), np.int64)), joined[of_hung, 1] == hung
    items = constraints.tolist()
    return Layout(
        order,
        np.append(order.frame, 0),
        place,
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
        hung,
        of_hung,
        is_b,
        hinged=bool(np.all(kind == arrays.HINGE)) and not len(ends),
        driven=np.array([items.index(row) for row in driven_rows(system.constraints)], np.int64),
        drives=own_variables(system).first("drive"),
        signals=len(system.signals),
    )


Slots = dict[tuple[int, int], int]


def _slots_of(order: Order) -> Slots:
    """Blocks of each two places next to each other: of the first one and its parent those of the first one."""
    k = len(order.frame)
    slots = {(s, p): s for s, p in enumerate(order.parent.tolist())}
    for s, (begin, end) in enumerate(zip(order.first_next[:-1], order.first_next[1:], strict=True)):
        slots |= {(s, int(order.beyond[i])): k + i for i in range(begin, end)}
    return slots


def _blocks_of(order: Order, slots: Slots, ends: Ints) -> Ints:
    """Of each two places (m, 2) which blocks are theirs; where they are none, as with the ground, those of the first one."""
    last = len(order.frame) - 1
    pairs = [(min(pair), max(pair)) for pair in ends.tolist()]
    return np.array([slots.get(pair, min(pair[0], last)) for pair in pairs], np.int64)


def _pairs_of(order: Order, slots: Slots) -> tuple[Ints, Ints]:
    """Where those of each frame begin and, of each two that come behind it, first by first, which blocks are theirs."""
    begins, beyond = order.first_next.tolist(), order.beyond.tolist()
    first, pair = [0], []
    for s, parent in enumerate(order.parent.tolist()):
        ahead = [parent, *beyond[begins[s] : begins[s + 1]]]
        pair += [slots[a, b] for i, a in enumerate(ahead) for b in ahead[i + 1 :]]
        first.append(len(pair))
    return np.array(first, np.int64), np.array(pair, np.int64)
