"""In which order the frames of a planar net are eliminated: rods and joints that close loops which trees do not take.

A frame that is eliminated leaves all that it was next to next to each other. Those with the fewest neighbours come first (minimum
degree, George and Liu 1989). A joint belongs to that of its frames which comes first. Its rows must hold this one
independently: the elimination divides by what they are, so that a frame waits until no more than three hang on it.
"""

from __future__ import annotations

import heapq

import numpy as np

from discretization.planar.order import GROUND, LOOPS, MOST_ROWS, Order, rows_of
from rigid.system import Ints

MOST_PAIRS = 100.0  # blocks that the elimination of a frame changes, in the mean; looked at up to there
MANY_PAIRS = "its net is too dense"


def net_of(n: int, elements: Ints, joints: Ints, sort: Ints) -> Order | str:
    """As `discretization.planar.order.order_of`, of what has loops; nothing is left over."""
    pairs = [(min(pair), max(pair)) for pair in elements.tolist()]
    if len(set(pairs)) < len(pairs) or any(a == b for a, b in pairs):
        return LOOPS
    items: list[list[int]] = [[] for _ in range(n)]
    for item, ends in enumerate(joints.tolist()):
        for f in ends:
            items[f].append(item)
    beside: list[set[int]] = [set() for _ in range(n)]
    for a, b in (*pairs, *joints.tolist()):
        beside[a].add(b)
        beside[b].add(a)
    part = _parts(n, beside)
    for own in beside:
        own.discard(GROUND)
    order, nexts = _of_least_degree(beside, items, joints.tolist(), sort)
    if len(order) < n - 1:
        return LOOPS
    if sum((len(own) + 1) ** 2 for own in nexts) > MOST_PAIRS * len(order):
        return MANY_PAIRS
    first = sorted(range(len(order)), key=lambda i: (part[order[i]], i))  # each part in a row
    frame = np.array([order[i] for i in first], np.int64)
    place = {f: i for i, f in enumerate(frame.tolist())}
    ahead = [sorted(place[f] for f in nexts[i]) for i in first]
    return Order(
        frame,
        np.array([own[0] if own else len(frame) for own in ahead], np.int64),
        np.zeros(0, np.int64),
        np.concatenate([[0], np.cumsum([max(len(own) - 1, 0) for own in ahead])]).astype(np.int64),
        np.array([f for own in ahead for f in own[1:]], np.int64),
    )


def _parts(n: int, beside: list[set[int]]) -> list[int]:
    """Of each frame the least one that it is joined to by others than the ground."""
    part = [-1] * n
    for f in range(1, n):
        waiting = [f] if part[f] < 0 else []
        while waiting:
            g = waiting.pop()
            if part[g] < 0 and g != GROUND:
                part[g] = f
                waiting += beside[g]
    return part


def _of_least_degree(
    beside: list[set[int]], items: list[list[int]], joints: list[list[int]], sort: Ints
) -> tuple[list[int], list[set[int]]]:
    """The frames that can be eliminated in their order, and what each is then next to. `beside` is used up."""

    def is_held(f: int) -> bool:
        mine = [item for item in items[f] if not owned[item]]
        others = {f, *(other for item in mine for other in joints[item])}
        return rows_of(mine, sort) <= (MOST_ROWS if len(others) <= 2 else MOST_ROWS - 1)

    owned = [False] * len(joints)
    done, order, nexts = [False] * len(beside), [], []
    waiting = [(len(own), f) for f, own in enumerate(beside) if f != GROUND]
    heapq.heapify(waiting)
    while waiting:
        degree, f = heapq.heappop(waiting)
        if done[f] or degree != len(beside[f]) or not is_held(f):  # asked again when one next to it is gone
            continue
        done[f] = True
        own = beside[f]
        order.append(f)
        nexts.append(own)
        for item in items[f]:
            owned[item] = True
        for g in own:
            beside[g] |= own
            beside[g] -= {f, g}
            heapq.heappush(waiting, (len(beside[g]), g))
    return order, nexts
