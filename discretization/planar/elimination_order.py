"""Elimination order of the frames of a planar model: from the leaves to the roots of the trees that rods and joints make.

Joints that close a loop (cut joints) are not part of the trees. Those of coincident points are added afterwards by their impulses
(`discretization.planar.low_rank_update`). The rows of all others couple frames that are not neighbours in a tree; such a model is
a net (`discretization.planar.minimum_degree`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from discretization.planar import arrays
from rigid.system import Ints

HAS_LOOPS = "rods and joints close a loop in which a part has more than three constraint rows"
MAX_COUPLINGS = 64  # limit of the impulses outside the trees: two per hinge or spring, one per torsion spring
TOO_MANY_COUPLINGS = "joints close too many loops, or too many springs act between parts"
MOST_ROWS = 3  # limit of the rows of a frame
GROUND = 0  # frame number of the ground

Pair = tuple[int, int]


class Order(NamedTuple):
    """Elimination order of k moving frames; an item is a constraint that contributes rows."""

    frame: Ints  # (k,) frame numbers in elimination order
    parent: Ints  # (k,) elimination index of the next frame towards the root; k if that is the ground or there is none
    closing: Ints  # items of the cut joints
    first_next: Ints  # (k + 1,) offset in `beyond` of the later neighbours of each frame except its parent
    beyond: Ints  # elimination indices of these neighbours


def find_elimination_order(n: int, elements: Ints, joints: Ints, sort: Ints) -> Order | str:
    """Return the order of n frames (with the ground), or, as text, why there is none.

    elements (m, 2), joints (j, 2): frames at both ends of elements and items; sort (j,): sorts of the items.
    """
    between: dict[Pair, list[int]] = {}
    to_ground: dict[int, list[int]] = {f: [] for f in range(n)}
    for item, (a, b) in enumerate(joints.tolist()):
        if GROUND in (a, b):
            to_ground[max(a, b)].append(item)
        else:
            between.setdefault((min(a, b), max(a, b)), []).append(item)
    rods = [(min(pair), max(pair)) for pair in elements.tolist()]
    joined = _spanning_edges(n, rods, between, sort)
    if isinstance(joined, str):
        return joined
    edges, closing = joined
    order, parents = _from_roots(n, edges, {f: rows_of(items, sort) for f, items in to_ground.items()})
    for f in order:
        pair = min(f, parents[f]), max(f, parents[f])
        above = between.get(pair, [])
        cut = _hinges_to_cut(above, to_ground[f], sort)
        if rows_of([*above, *to_ground[f]], sort) - 2 * len(cut) > MOST_ROWS:
            return HAS_LOOPS
        closing += cut
        if above and pair not in rods and set(above) <= set(cut):
            parents[f] = GROUND
    root = {GROUND: GROUND}
    for f in order:  # parents come first
        root[f] = root[parents[f]] or f
    at = {f: i for i, f in enumerate(order)}
    # a branch that was cut off is a separate tree with consecutive indices, since trees are solved one after the other
    frame = np.array(sorted(order, key=lambda f: (at[root[f]], at[f]))[::-1], np.int64)
    index = {f: i for i, f in enumerate(frame.tolist())} | {GROUND: len(frame)}
    parent = np.array([index[parents[f]] for f in frame.tolist()], np.int64)
    none = np.zeros(0, np.int64)
    return Order(frame, parent, np.array(sorted(closing), np.int64), np.zeros(len(frame) + 1, np.int64), none)


def _hinges_to_cut(above: list[int], to_ground: list[int], sort: Ints) -> list[int]:
    """Return the hinges of a frame to cut, so that its remaining rows are independent.

    At most three rows remain if all connect it to one other frame, at most two if they connect it to the next frame and to the
    ground. Three rows to two other frames may depend on each other, even if all rows together do not. `above`, `to_ground`: items
    to the next frame and to the ground.
    """
    cut: list[int] = []
    for item in (*above, *to_ground):
        remaining = [set(items) - set(cut) for items in (above, to_ground)]
        rows = sum(rows_of(list(items), sort) for items in remaining)
        if sort[item] == arrays.COINCIDENT and rows > MOST_ROWS - all(remaining):
            cut.append(item)
    return cut


def rows_of(items: list[int], sort: Ints) -> int:
    """Return the number of rows of these items."""
    return sum(2 if sort[item] == arrays.COINCIDENT else 1 for item in items)


def _spanning_edges(
    n: int, rods: list[Pair], between: dict[Pair, list[int]], sort: Ints
) -> tuple[list[Pair], list[int]] | str:
    """Return the pairs of neighbours in the trees, and the hinges that close loops, which are removed from `between`.

    Rods are taken first, then joints, then hinges. Returns HAS_LOOPS if something other than a hinge closes a loop.
    """
    leader = list(range(n))

    def of(f: int) -> int:
        """Return the representative of the set of connected frames that contains f (union-find)."""
        while leader[f] != f:
            leader[f] = leader[leader[f]]
            f = leader[f]
        return f

    def is_hinge(pair: Pair) -> bool:
        """Return whether two frames are connected only by one hinge."""
        items = between[pair]
        return len(items) == 1 and bool(sort[items[0]] == arrays.COINCIDENT)

    edges: list[Pair] = []
    closing: list[int] = []
    for pair in (*rods, *sorted(between, key=is_hinge)):
        a, b = of(pair[0]), of(pair[1])
        if a != b:
            leader[a] = b
            edges.append(pair)
        elif len(edges) < len(rods) or not is_hinge(pair):
            return HAS_LOOPS
        else:
            closing += between.pop(pair)
    return edges, closing


def _from_roots(n: int, edges: list[Pair], ground_rows: dict[int, int]) -> tuple[list[int], dict[int, int]]:
    """Return the frames, each one after its parent, and the parent of each (0: none); roots are the frames with most rows.

    `ground_rows`: number of rows of each frame to the ground.
    """
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    order: list[int] = []
    parents: dict[int, int] = {}
    for root in sorted(range(1, n), key=lambda f: -ground_rows[f]):
        if root in parents:
            continue
        parents[root] = GROUND
        stack = [root]
        while stack:
            f = stack.pop()
            order.append(f)
            for other in neighbours[f]:
                if other not in parents:
                    parents[other] = f
                    stack.append(other)
    return order, parents


def frame_kinds(
    order: Order, joined: Ints, sort: Ints, full: Collection[int] = ()
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the kind of each frame, its hinge, and the offsets and items of the frames of kind ROWS.

    joined: (j, 2) elimination indices of both ends of the items. full: frames whose block with the next one is not empty.
    """
    k, parent = len(order.frame), order.parent
    items_of_frame: list[list[int]] = [[] for _ in range(k)]
    closing = set(order.closing.tolist())
    for j, ends in enumerate(joined.tolist()):
        if j not in closing:
            items_of_frame[min(ends)].append(j)
    kind, hinge = np.full(k, arrays.BLOCK), np.zeros(k, np.int64)
    kind[np.diff(order.first_next) > 0] = arrays.NET
    items: list[int] = []
    first = [0]
    for s, frame_items in enumerate(items_of_frame):
        single = len(frame_items) == 1 and sort[frame_items[0]] == arrays.COINCIDENT and kind[s] != arrays.NET
        if single and parent[s] in joined[frame_items[0]].tolist() and s not in full:
            kind[s], hinge[s] = arrays.HINGE, frame_items[0]
        elif frame_items:
            kind[s] = arrays.ROWS
            items += frame_items
        first.append(len(items))
    return kind, hinge, np.array(first, np.int64), np.array(items, np.int64)


def coupled_trees(order: Order, coupled: Ints) -> Ints:
    """Return the first elimination index and the end of the trees that contain each pair of frames, (c + 1, 2, 2); no tree twice.

    The last row covers all frames.
    """
    k = len(order.frame)
    root = np.arange(k + 1)
    for s in range(k - 1, -1, -1):  # parents have higher indices
        if order.parent[s] < k:
            root[s] = root[order.parent[s]]
    trees = np.zeros((len(coupled) + 1, 2, 2), np.int64)
    for c, pair in enumerate(coupled):
        for side, tree in enumerate(sorted({int(root[s]) for s in pair if s < k})):
            members = np.flatnonzero(root == tree)
            trees[c, side] = members[0], members[-1] + 1
    trees[-1, 0] = 0, k
    return trees
