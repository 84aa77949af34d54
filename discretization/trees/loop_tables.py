"""Joints that close loops of a tree, as arrays for `discretization.trees.loops`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.system import System
from discretization.trees.places import WIDTH, TreeArrays, arrays_of
from discretization.trees.shape import BALL, Tree
from rigid.lane_arrays import room
from rigid.references import by_reference
from rigid.system import Floats, Ints


@by_reference
class Loops(NamedTuple):
    """Of l joints, those of loops that hang together one after the other, in a tree of n bodies."""

    joints: TreeArrays  # as if each held a body of its own
    place: Ints  # (l, 2) of the body and of the other in the tree, -1: fixed
    column: Ints  # (l,) first unknown, among those of loops that hang together
    sets: (
        Ints  # (s, 6) of these: first joint and end, first of their bodies and end, unknowns, first in `low`
    )
    low: Ints  # of each unknown of a set: the last one that it, or one before it, has to do with
    bodies: Ints  # bodies between the joints of a set and what is fixed, parents first
    up: Ints  # (l, 2) first and end of a joint in `above`
    above: Ints  # bodies between it and what is fixed, tips first
    down: Ints  # (l, 2) first and end in `below`
    below: Ints  # bodies of its set that it moves, parents first
    near: Ints  # (l, 2) first and end in `touched`
    touched: Ints  # joints of its set that it moves
    unit: Floats  # (6, 8) of each unknown of a joint: 1
    pulls: Floats  # (n, 6, 8) force and moment on bodies
    mores: Floats  # (n, WIDTH, 8) what they add to what the bodies move by
    moves: Floats  # (n + 1, 6, 8) how bodies move
    rows: Floats  # (6, 8)
    pull: Floats  # (n, 6)
    more: Floats  # (WIDTH,)
    matrix: Floats  # (c, c) of the largest set
    row_size: Floats  # (c,)
    column_size: Floats  # (c,)
    exchanged: Ints  # (c,)
    impulse: Floats  # (c,)


def loops_of(system: System, tree: Tree) -> Loops:
    """Of a tree."""
    closing, n = tree.closing, len(tree.frame)
    joints = range(len(closing.group))
    above = [_ancestors(tree, (closing.place[j], closing.parent[j])) for j in joints]
    sets: list[tuple[int, ...]] = []
    bodies: list[int] = []
    below: list[list[int]] = []
    touched: list[list[int]] = []
    low: list[int] = []
    column = np.zeros(len(joints), np.int64)
    for first in np.flatnonzero(np.diff(closing.group, prepend=-1)).tolist():
        own = np.flatnonzero(closing.group == closing.group[first])
        sizes = np.where(closing.kind[own] == BALL, 3, 6)
        column[own] = np.cumsum(sizes) - sizes
        all_above = sorted(set().union(*(above[j] for j in own)))
        counts = own[-1] + 1, len(bodies), len(bodies) + len(all_above), sizes.sum(), len(low)
        sets.append((first, *map(int, counts)))
        bodies += all_above
        roots = {i: i if tree.parent[i] < 0 else -1 for i in all_above}
        for i in all_above:
            if roots[i] < 0:
                roots[i] = roots[int(tree.parent[i])]
        held = [{roots[i] for i in above[j]} for j in own]
        for mine in held:
            below.append([i for i in all_above if roots[i] in mine])
            touched.append([int(j) for j, other in zip(own, held, strict=True) if mine & other])
        ends = np.array([column[touched[j][-1]] + sizes[touched[j][-1] - first] - 1 for j in own])
        low += np.repeat(np.maximum.accumulate(ends), sizes).tolist()
    most = max((own[4] for own in sets), default=0)
    each = n if sets else 0
    unit = room(6)
    unit[np.arange(6), np.arange(6)] = 1.0
    return Loops(
        joints=arrays_of(system, closing),
        place=np.stack([closing.place, closing.parent], axis=1),
        column=column,
        sets=np.array(sets, np.int64).reshape(-1, 6),
        low=np.array(low, np.int64),
        bodies=np.array(bodies, np.int64),
        **_listed("up", "above", [own[::-1] for own in above]),
        **_listed("down", "below", below),
        **_listed("near", "touched", touched),
        unit=unit,
        pulls=room(each, 6),
        mores=room(each, WIDTH),
        moves=room(each + 1, 6),
        rows=room(6),
        pull=np.zeros((each, 6)),
        more=np.zeros(WIDTH),
        matrix=np.zeros((most, most)),
        row_size=np.zeros(most),
        column_size=np.zeros(most),
        exchanged=np.zeros(most, np.int64),
        impulse=np.zeros(most),
    )


def _listed(places: str, name: str, lists: list[list[int]]) -> dict[str, Ints]:
    """All lists as one, and where each begins and ends there."""
    ends = np.cumsum([len(own) for own in lists], dtype=np.int64)
    begins = ends - [len(own) for own in lists]
    numbers = np.array([i for own in lists for i in own], np.int64)
    return {places: np.stack([begins, ends], axis=1).astype(np.int64), name: numbers}


def _ancestors(tree: Tree, places: tuple[int, ...]) -> list[int]:
    """These places and all between them and what is fixed, parents first."""
    found: set[int] = set()
    for place in places:
        i = int(place)
        while i >= 0 and i not in found:
            found.add(i)
            i = int(tree.parent[i])
    return sorted(found)
