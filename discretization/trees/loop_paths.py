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
    # for each joint: bodies that it moves and to which joints of its set are attached, parents first
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
    above = [_ancestors(parent, pair) for pair in ends.tolist()]
    column = np.zeros(len(group), np.int64)
    begins = np.flatnonzero(np.diff(group, prepend=-1)).tolist()
    stops = [*begins[1:], len(group)][: len(begins)]
    sets = [range(*both) for both in zip(begins, stops, strict=True)]
    paths = LoopPaths(above, [], [], column, sets, [], [])
    for members in sets:
        column[members] = np.cumsum(columns[members]) - columns[members]
        bodies = sorted(set().union(*(above[j] for j in members)))
        root: dict[int, int] = {}
        for i in bodies:
            root[i] = root.get(int(parent[i]), i)
        roots_above = [{root[i] for i in above[j]} for j in members]
        for roots in roots_above:
            paths.below.append([i for i in bodies if root[i] in roots])
            paths.touched.append([j for j, other in zip(members, roots_above, strict=True) if roots & other])
        last = [paths.touched[j][-1] for j in members]
        ends_of = np.maximum.accumulate(column[last] + columns[last] - 1)
        paths.low.append(np.repeat(ends_of, columns[members]))
        paths.bodies.append(bodies)
    return paths


def _ancestors(parent: Ints, positions: Sequence[int]) -> list[int]:
    """Return the positions `positions` and all their ancestors up to the ground, ascending (parents first)."""
    ancestors: set[int] = set()
    for position in positions:
        i = position
        while i >= 0 and i not in ancestors:
            ancestors.add(i)
            i = int(parent[i])
    return sorted(ancestors)


def reduces_cost(paths: LoopPaths, bodies: int, general: int, rows: int) -> bool:
    """Return True if closing the loops of a tree is estimated to take at most two thirds of the time of the general solver.

    `bodies`: number of bodies of the tree; `general`: number of these whose joint is not plain; `rows`: number of constraint rows
    of all joints.
    """
    path_length = sum(map(len, paths.above)) + sum(map(len, paths.below))
    products = 0.0
    for low in paths.low:
        indices = np.arange(len(low))
        products += float(np.sum((low - indices) * (low[low] - indices)))
    work = _BODY * bodies + (_OTHER - _BODY) * general + _LOOP * len(paths.above)
    return work + path_length + _PRODUCT * products <= _ROW * rows
