"""Elimination order of the frames of a planar net: rods and joints close loops that the tree order does not accept.

The elimination of a frame makes all its neighbours neighbours of each other. Frames with the fewest neighbours come first
(minimum degree, George and Liu 1989). A joint belongs to the one of its frames that comes first. Its rows must constrain this
frame independently, because the elimination divides by them: a frame is eliminated only when it has no more than three rows.
"""

from __future__ import annotations

import heapq

import numpy as np

from discretization.planar.elimination_order import GROUND, HAS_LOOPS, MOST_ROWS, Order, rows_of
from rigid.system import Ints

MAX_FILL_IN_PAIRS = 100.0  # limit of the mean number of blocks that the elimination of a frame changes
TOO_DENSE = "the graph of its rods and joints is too dense"


def minimum_degree_order(n: int, elements: Ints, joints: Ints, sort: Ints) -> Order | str:
    """Return the order of a planar net with loops; arguments as in
    `discretization.planar.elimination_order.find_elimination_order`.

    No joint is cut. Returns HAS_LOOPS or TOO_DENSE if there is no such order.
    """
    pairs = [(min(pair), max(pair)) for pair in elements.tolist()]
    if len(set(pairs)) < len(pairs) or any(a == b for a, b in pairs):
        return HAS_LOOPS
    items: list[list[int]] = [[] for _ in range(n)]
    for item, ends in enumerate(joints.tolist()):
        for f in ends:
            items[f].append(item)
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for a, b in (*pairs, *joints.tolist()):
        neighbours[a].add(b)
        neighbours[b].add(a)
    part = _connected_parts(n, neighbours)
    for adjacent in neighbours:
        adjacent.discard(GROUND)
    order, later = _eliminate_by_degree(neighbours, items, joints.tolist(), sort)
    if len(order) < n - 1:
        return HAS_LOOPS
    if sum((len(adjacent) + 1) ** 2 for adjacent in later) > MAX_FILL_IN_PAIRS * len(order):
        return TOO_DENSE
    # frames of a connected part are consecutive
    first = sorted(range(len(order)), key=lambda i: (part[order[i]], i))
    frame = np.array([order[i] for i in first], np.int64)
    index = {f: i for i, f in enumerate(frame.tolist())}
    ahead = [sorted(index[f] for f in later[i]) for i in first]
    return Order(
        frame,
        np.array([adjacent[0] if adjacent else len(frame) for adjacent in ahead], np.int64),
        np.zeros(0, np.int64),
        np.concatenate([[0], np.cumsum([max(len(adjacent) - 1, 0) for adjacent in ahead])]).astype(np.int64),
        np.array([f for adjacent in ahead for f in adjacent[1:]], np.int64),
    )


def _connected_parts(n: int, neighbours: list[set[int]]) -> list[int]:
    """Return for each frame the smallest number of a frame that it is connected to without the ground."""
    part = [-1] * n
    for f in range(1, n):
        stack = [f] if part[f] < 0 else []
        while stack:
            g = stack.pop()
            if part[g] < 0 and g != GROUND:
                part[g] = f
                stack += neighbours[g]
    return part


def _eliminate_by_degree(
    neighbours: list[set[int]], items: list[list[int]], joints: list[list[int]], sort: Ints
) -> tuple[list[int], list[set[int]]]:
    """Return the frames that can be eliminated, in order, and the neighbours of each at that time.

    `neighbours`: neighbours of each frame; it is consumed.
    """

    def is_constrained(f: int) -> bool:
        """Return whether the rows that a frame still owns are few enough to constrain it independently."""
        owned_items = [item for item in items[f] if not is_owned[item]]
        joined_frames = {f, *(other for item in owned_items for other in joints[item])}
        return rows_of(owned_items, sort) <= (MOST_ROWS if len(joined_frames) <= 2 else MOST_ROWS - 1)

    is_owned = [False] * len(joints)
    eliminated, order, later = [False] * len(neighbours), [], []
    queue = [(len(adjacent), f) for f, adjacent in enumerate(neighbours) if f != GROUND]
    heapq.heapify(queue)
    while queue:
        degree, f = heapq.heappop(queue)
        # a frame that cannot be eliminated yet is checked again when a neighbour has been eliminated
        if eliminated[f] or degree != len(neighbours[f]) or not is_constrained(f):
            continue
        eliminated[f] = True
        adjacent = neighbours[f]
        order.append(f)
        later.append(adjacent)
        for item in items[f]:
            is_owned[item] = True
        for g in adjacent:
            neighbours[g] |= adjacent
            neighbours[g] -= {f, g}
            heapq.heappush(queue, (len(neighbours[g]), g))
    return order, later
