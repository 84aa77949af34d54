"""Arrays of the joints that close loops of a tree, for `discretization.trees.loops`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.system import System
from discretization.trees.data_layout import WIDTH, TreeArrays, tree_arrays, with_geometry
from discretization.trees.spanning_tree import CutJoints, Tree, tree_loop_paths
from rigid.lane_arrays import zeros_in_lanes
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference


@by_reference
class LoopArrays(NamedTuple):
    """The l joints that close loops in a tree of n bodies, set by set: a set contains the joints of coupled loops."""

    joints: TreeArrays  # arrays of these joints, as if each connected a separate body
    place: Ints  # (l, 2) positions of the body and of the other body in the tree, -1: fixed
    column: Ints  # (l,) first unknown of a joint in its set
    # (s, 6) for each set: first joint and end, first body and end in `bodies`, number of unknowns, first entry in `low`
    sets: Ints
    low: Ints  # for each unknown of a set: the last unknown with which it or an earlier one is coupled (profile)
    bodies: Ints  # bodies between the joints of a set and the ground, parents first
    up: Ints  # (l, 2) first and end of a joint in `above`
    above: Ints  # bodies between a joint and the ground, leaves first
    down: Ints  # (l, 2) first and end of a joint in `below`
    below: Ints  # bodies of the same set that a joint moves, parents first
    near: Ints  # (l, 2) first and end of a joint in `touched`
    touched: Ints  # joints of the same set that a joint moves
    unit: Floats  # (6, 8) unit vectors: unknown k of a joint is 1 in lane k
    lane_loads: Floats  # (n, 6, 8) forces and moments on bodies
    lane_unknowns: Floats  # (n, WIDTH, 8) contributions of these to the unknowns of the joints of the tree
    lane_motions: Floats  # (n + 1, 6, 8) motions of bodies; the last entry is the ground
    rows: Floats  # (6, 8) scratch for six rows of the matrix
    loads: Floats  # (n, 6) forces and moments on bodies
    unknowns: Floats  # (WIDTH,) scratch for the unknowns of one joint
    matrix: Floats  # (c, c) matrix of (2), large enough for the largest set
    row_size: Floats  # (c,) scale factors of the rows
    column_size: Floats  # (c,) scale factors of the columns
    exchanged: Ints  # (c,) row exchanges
    impulse: Floats  # (c,) right-hand side and solution: f and k


def allocate_loops(system: System, tree: Tree, arrays: TreeArrays) -> LoopArrays:
    """Return the arrays of the joints that close loops of a tree; `arrays`: arrays of the tree itself."""
    if not len(tree.closing.frame):
        empty: list[Any] = [array if isinstance(array, bool) else array[:0].copy() for array in arrays]
        return _none()._replace(joints=TreeArrays(*empty))
    return _loops(tree, tree_arrays(system, tree.closing))


def loops_with_geometry(loops: LoopArrays, system: System, tree: Tree) -> LoopArrays:
    """Return the arrays with the points and axes of a system of the same structure."""
    if not len(loops.place):
        return loops
    return loops._replace(joints=with_geometry(loops.joints, system, tree.closing))


@functools.cache
def _none() -> LoopArrays:
    """Return the arrays of a tree without loops."""
    none = np.zeros(0, np.int64)
    of_joints = none, none, none, none, none == 0, none == 0, none
    closing = CutJoints(*of_joints, none, none)
    tree = Tree(
        none,
        none,
        none,
        none,
        none == 0,
        none == 0,
        np.zeros(1, np.int64),
        none,
        none == 0,
        none,
        none,
        closing,
    )
    return _loops(tree, None)


def _loops(tree: Tree, joints: Any) -> LoopArrays:
    """Allocate the arrays of the loops of a tree; joints: arrays of the joints that close them."""
    closing, paths = tree.closing, tree_loop_paths(tree)
    starts = np.cumsum([0, *map(len, paths.bodies)]), np.cumsum([0, *map(len, paths.low)])
    sets = [
        (members.start, members.stop, bodies, bodies + len(paths.bodies[k]), len(paths.low[k]), low)
        for k, (members, bodies, low) in enumerate(
            zip(paths.sets, *(begins[:-1] for begins in starts), strict=True)
        )
    ]
    most, n = max(map(len, paths.low), default=0), len(tree.frame) if sets else 0
    unit = zeros_in_lanes(6)
    unit[np.arange(6), np.arange(6)] = 1.0
    return LoopArrays(
        joints=joints,
        place=np.stack([closing.place, closing.parent], axis=1),
        column=paths.column,
        sets=np.array(sets, np.int64).reshape(-1, 6),
        low=_concatenated(paths.low),
        bodies=_concatenated(paths.bodies),
        **_with_bounds("up", "above", [path[::-1] for path in paths.above]),
        **_with_bounds("down", "below", paths.below),
        **_with_bounds("near", "touched", paths.touched),
        unit=unit,
        lane_loads=zeros_in_lanes(n, 6),
        lane_unknowns=zeros_in_lanes(n, WIDTH),
        lane_motions=zeros_in_lanes(n + 1, 6),
        rows=zeros_in_lanes(6),
        loads=np.zeros((n, 6)),
        unknowns=np.zeros(WIDTH),
        matrix=np.zeros((most, most)),
        row_size=np.zeros(most),
        column_size=np.zeros(most),
        exchanged=np.zeros(most, np.int64),
        impulse=np.zeros(most),
    )


def _with_bounds(bounds: str, name: str, lists: list[list[int]]) -> dict[str, Ints]:
    """Return all lists concatenated under the key `name`, and where each begins and ends under the key `bounds`."""
    ends = np.cumsum([len(items) for items in lists], dtype=np.int64)
    begins = ends - np.array([len(items) for items in lists], np.int64)
    return {bounds: np.stack([begins, ends], axis=1), name: _concatenated(lists)}


def _concatenated(lists: Sequence[Ints | list[int]]) -> Ints:
    """Return all lists as one array."""
    return np.array([i for items in lists for i in items], np.int64)
