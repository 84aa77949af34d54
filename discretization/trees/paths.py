"""What the joints that close loops of a tree have to do with its bodies and with each other, and whether that pays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rigid.system import Ints

# of an iteration, in units of what a body on a path takes, some 25 ns: a body on a joint of closed form and on any other, a
# joint that closes a loop, a product of its elimination; a row of constraints by the general solver, two thirds of it
_BODY, _OTHER, _LOOP, _PRODUCT, _ROW = 19.0, 45.0, 14.0, 1.0 / 32.0, 9.0


class Paths(NamedTuple):
    """Of l joints, those of loops that hang together one after the other; places are those of bodies in the tree."""

    above: list[list[int]]  # of each: bodies between it and what is fixed, parents first
    below: list[list[int]]  # bodies that it moves and that others of its set hold, parents first
    touched: list[list[int]]  # joints of its set that it moves
    column: Ints  # (l,) its first unknown, among those of its set
    sets: list[range]  # of joints
    bodies: list[list[int]]  # above all joints of a set, parents first
    low: list[Ints]  # of each unknown of a set: the last one that it, or one before it, has to do with


def paths_of(parent: Ints, ends: Ints, group: Ints, columns: Ints) -> Paths:
    """Of a tree; ends: (l, 2) places, -1: fixed; group: ascending, the same of a set; columns: unknowns of each."""
    above = [_ancestors(parent, own) for own in ends.tolist()]
    column = np.zeros(len(group), np.int64)
    begins = np.flatnonzero(np.diff(group, prepend=-1)).tolist()
    stops = [*begins[1:], len(group)][: len(begins)]
    sets = [range(*both) for both in zip(begins, stops, strict=True)]
    paths = Paths(above, [], [], column, sets, [], [])
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
    """These places and all between them and what is fixed, parents first."""
    found: set[int] = set()
    for place in places:
        i = place
        while i >= 0 and i not in found:
            found.add(i)
            i = int(parent[i])
    return sorted(found)


def pays(paths: Paths, bodies: int, others: int, rows: int) -> bool:
    """Whether loops are solved for in two thirds of the time that the general solver takes.

    bodies: of the whole tree; others: those on a joint without a closed form; rows: of all joints.
    """
    passed = sum(map(len, paths.above)) + sum(map(len, paths.below))
    products = 0.0
    for low in paths.low:
        own = np.arange(len(low))
        products += float(np.sum((low - own) * (low[low] - own)))
    work = _BODY * bodies + (_OTHER - _BODY) * others + _LOOP * len(paths.above)
    return work + passed + _PRODUCT * products <= _ROW * rows
