"""Joints that close loops of a tree, as arrays for `discretization.trees.loops`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.system import System
from discretization.trees.places import WIDTH, TreeArrays, arrays_of, with_geometry
from discretization.trees.shape import Closing, Tree, paths_of_loops
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


def loops_of(system: System, tree: Tree, arrays: TreeArrays) -> Loops:
    """Of a tree; arrays: its own."""
    if not len(tree.closing.frame):
        empty: list[Any] = [each if isinstance(each, bool) else each[:0].copy() for each in arrays]
        return _none()._replace(joints=TreeArrays(*empty))
    return _loops(tree, arrays_of(system, tree.closing))


def loops_with_geometry(loops: Loops, system: System, tree: Tree) -> Loops:
    """The same arrays with the numbers of a system of this structure."""
    if not len(loops.place):
        return loops
    return loops._replace(joints=with_geometry(loops.joints, system, tree.closing))


@functools.cache
def _none() -> Loops:
    none = np.zeros(0, np.int64)
    of_joints = none, none, none, none, none == 0, none
    closing = Closing(*of_joints, none, none)
    tree = Tree(none, none, none, none, none == 0, np.zeros(1, np.int64), none, none, none, closing)
    return _loops(tree, None)


def _loops(tree: Tree, joints: Any) -> Loops:
    closing, paths = tree.closing, paths_of_loops(tree)
    starts = np.cumsum([0, *map(len, paths.bodies)]), np.cumsum([0, *map(len, paths.low)])
    sets = [
        (own.start, own.stop, bodies, bodies + len(paths.bodies[k]), len(paths.low[k]), low)
        for k, (own, bodies, low) in enumerate(zip(paths.sets, *(each[:-1] for each in starts), strict=True))
    ]
    most, n = max(map(len, paths.low), default=0), len(tree.frame) if sets else 0
    unit = room(6)
    unit[np.arange(6), np.arange(6)] = 1.0
    return Loops(
        joints=joints,
        place=np.stack([closing.place, closing.parent], axis=1),
        column=paths.column,
        sets=np.array(sets, np.int64).reshape(-1, 6),
        low=_joined(paths.low),
        bodies=_joined(paths.bodies),
        **_listed("up", "above", [own[::-1] for own in paths.above]),
        **_listed("down", "below", paths.below),
        **_listed("near", "touched", paths.touched),
        unit=unit,
        pulls=room(n, 6),
        mores=room(n, WIDTH),
        moves=room(n + 1, 6),
        rows=room(6),
        pull=np.zeros((n, 6)),
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
    begins = ends - np.array([len(own) for own in lists], np.int64)
    return {places: np.stack([begins, ends], axis=1), name: _joined(lists)}


def _joined(lists: Sequence[Ints | list[int]]) -> Ints:
    return np.array([i for own in lists for i in own], np.int64)
