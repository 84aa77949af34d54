"""Paths of the joints that close loops of a tree: coupled bodies and joints, and a cost estimate of closing the loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rigid.system import Ints

# costs of an iteration, in units of the cost of a body on a path, about 25 ns: a body on a joint of closed form, a body on any
# other joint, a joint that closes a loop, a product of its elimination; two thirds of the cost of a constraint row in the
# general solver
_BODY, _OTHER, _LOOP, _PRODUCT, _ROW = 19.0, 45.0, 14.0, 1.0 / 32.0, 9.0


class LoopPaths(NamedTuple):
    """Paths of l joints that close loops, set by set: a set contains the joints of coupled loops. Bodies are given by their
    positions in the tree.
    """

    above: list[list[int]]  # for each joint: bodies between it and the ground, parents first
    # for each joint: bodies that it moves and that joints of its set hold, parents first
    below: list[list[int]]
    touched: list[list[int]]  # for each joint: joints of its set that it moves
    column: Ints  # (l,) first unknown of each joint in its set
    sets: list[range]  # joints of each set
    bodies: list[list[int]]  # for each set: bodies between its joints and the ground, parents first
    # for each unknown of a set: the last unknown with which it or an earlier one is coupled (profile)
    low: list[Ints]


def find_loop_paths(parent: Ints, ends: Ints, group: Ints, columns: Ints) -> LoopPaths:
    """Compute the paths of the joints that close loops of a tree.

    `parent` (n,): position of the parent of each body; `ends` (l, 2): positions of both bodies, -1: fixed; `group` (l,): set of
    each joint, ascending; `columns` (l,): number of unknowns of each joint.
    """
    above = [_ancestors(parent, own) for own in ends.tolist()]
    column = np.zeros(len(group), np.int64)
    begins = np.flatnonzero(np.diff(group, prepend=-1)).tolist()
    stops = [*begins[1:], len(group)][: len(begins)]
    sets = [range(*both) for both in zip(begins, stops, strict=True)]
    paths = LoopPaths(above, [], [], column, sets, [], [])
    for own in sets:
        column[own] = np.cumsum(columns[own]) - columns[own]
        bodies = sorted(set().union(*(above[j] for j in own)))
        root: dict[int, int] = {}
        for i in bodies:
            root[i] = root.get(int(parent[i]), i)
        held = [{root[i] for i in above[j]} for j in own]
        for mine in held:
            paths.below.append([i for i in bodies if root[i] in mine])
            paths.touched.append([j for j, other in zip(own, held, strict=True) if mine & other])
        last = [paths.touched[j][-1] for j in own]
        ends_of = np.maximum.accumulate(column[last] + columns[last] - 1)
        paths.low.append(np.repeat(ends_of, columns[own]))
        paths.bodies.append(bodies)
    return paths


def _ancestors(parent: Ints, places: Sequence[int]) -> list[int]:
    """Return the positions `places` and all their ancestors up to the ground, ascending (parents first)."""
    found: set[int] = set()
    for place in places:
        i = place
        while i >= 0 and i not in found:
            found.add(i)
            i = int(parent[i])
    return sorted(found)


def reduces_cost(paths: LoopPaths, bodies: int, others: int, rows: int) -> bool:
    """Return True if closing the loops of a tree is estimated to take at most two thirds of the time of the general solver.

    `bodies`: number of bodies of the whole tree; `others`: number of these whose joint is not plain; `rows`: number of constraint
    rows of all joints.
    """
    passed = sum(map(len, paths.above)) + sum(map(len, paths.below))
    products = 0.0
    for low in paths.low:
        own = np.arange(len(low))
        products += float(np.sum((low - own) * (low[low] - own)))
    work = _BODY * bodies + (_OTHER - _BODY) * others + _LOOP * len(paths.above)
    return work + passed + _PRODUCT * products <= _ROW * rows
