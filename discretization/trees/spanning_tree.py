"""Find the tree structure of a model: bodies on joints, links between bodies, and joints that close loops.

`discretization.trees.loops` handles the joints that close loops.

`find_kinematic_tree` returns the tree, or a text with the reason why the model is not one; the choice of a solver needs nothing
else. Parents come before their children. The joint between a body and its parent is one of

    BALL       two coincident points
    HINGE      these, and a common axis: two rows of directions with the same U_b
    UNIVERSAL  these, and two perpendicular axes, one of each body: one row of directions
    WELD       these, and aligned triads: three rows of directions, a_1 . b_2 = a_2 . b_3 = a_3 . b_1 = 0
    OTHER      up to six rows of any kind
    FREE       nothing: rod elements, springs and other interactions link it to other bodies, or nothing does
    POINT      as FREE, but only its displacement counts: a node of a string that no joint holds, linked to such nodes alone
    ROWS       no body: the multipliers of a joint that closes a loop, linked with both of its bodies

BALL, HINGE, UNIVERSAL and WELD fix the point, or let it slide along a line, in a plane or anywhere. A loop is closed in one of
two ways. Without links between bodies, it is closed by the forces and moments (`CutJoints`) of a joint of one of these four kinds
that does not slide and has no other element between its bodies. With links, it is closed by the constraint rows of any joint.

Elements between bodies that no joint connects are links. Each body is linked to some of the bodies that come before it in the
tree; a node of a rod that closes no loop has one link. Otherwise bodies are ordered so that few links arise (minimum degree;
George and Liu, The Evolution of the Minimum Degree Ordering Algorithm, 1989), with parents still before their children and
multipliers before their bodies.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Any, NamedTuple

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    constraint_indices,
    has_friction_of_load,
    is_reeved,
    tendons_of,
)
from discretization.memoization import memoized, per_structure, per_tables
from discretization.multipliers import multipliers_of
from discretization.space.spans import simple_strings
from discretization.system import System
from discretization.trees.loop_paths import LoopPaths, find_loop_paths, reduces_cost
from rigid.interactions.constraints import CONSTRAINTS, facts
from rigid.system import ALONG, COINCIDENT, PERPENDICULAR, Constraints, Floats, Ints
from rigid.vectors import cross, lengths

# kinds of joints; those with closed forms are greater than OTHER
POINT, ROWS, FREE, OTHER, BALL, HINGE, UNIVERSAL, WELD = -3, -2, -1, 0, 1, 2, 3, 4
TRANSLATIONS = np.array([1, 2, 1, 0])  # number of constraints of a point that slides in 0, 1, 2, 3 directions
MOST_ROWS = 6  # largest number of constraint rows of a joint
_SQUARE = 1e-12  # tolerance for orthonormal axes


class Tree(NamedTuple):
    """Kinematic tree of n bodies, parents first."""

    frame: Ints  # (n,) frame of each body; -1: ROWS
    parent: Ints  # (n,) position of the parent in this order; -1: fixed, or free
    kind: Ints  # (n,) kind of the joint to the parent
    slides: Ints  # (n,) number of directions in which the point of the joint slides
    coupled: np.ndarray  # (n,) bool: another element acts between body and parent
    torsional: (
        np.ndarray
    )  # (n,) bool: on a hinge whose bodies are not coupled, couples act between body and parent
    link_of: Ints  # (n + 1,) first link of each body
    near: Ints  # (l,) position of the body at the other end of a link: an earlier body that is not its parent on a joint
    # (l,) bool: only strings act along the link, whose later body is a POINT
    slim: np.ndarray
    first: Ints  # (n,) first constraint of joints of closed form; their constraints are consecutive
    place: Ints  # (c,) position of the body or ROWS entry to which each constraint belongs; n + j for joint j of `closing`
    closing: CutJoints  # joints that close loops

    def __str__(self) -> str:
        """Return a short description of the tree."""
        n, loops = int(np.sum(self.frame >= 0)), len(self.closing.frame) + int(np.sum(self.frame < 0))
        closed = f", {loops} {'loop' if loops == 1 else 'loops'}" if loops else ""
        return f"tree, {n} {'body' if n == 1 else 'bodies'}{closed}"

    @property
    def kinds(self) -> Ints:
        """Return, for each constraint (c,), the kind of the joint to which it belongs."""
        of_constraints: Ints = np.append(self.kind, self.closing.kind)[self.place]
        return of_constraints


class CutJoints(NamedTuple):
    """The l joints that close loops, with the fields of `Tree`; none is OTHER, slides, is coupled or torsional."""

    frame: Ints  # (l,) moving frame, or the one that comes later in the tree
    parent: Ints  # (l,) position of the other body; -1: fixed
    kind: Ints  # (l,) kind of the joint
    slides: Ints  # (l,) number of directions in which the joint slides, always 0
    coupled: np.ndarray  # (l,) bool, always False
    torsional: np.ndarray  # (l,) bool, always False
    first: Ints  # (l,) first constraint of the joint
    place: Ints  # (l,) position of the body `frame` in the tree
    group: Ints  # (l,) ascending group numbers; loops of connected parts have the same


_SUPPORTED = "constraints", "elements", "spans", "others", "controls"
_UNSUPPORTED = {
    "contacts": "surfaces may touch",
}
_SPANS = "its rods have elements other than those of two frames"
_INEXTENSIBLE = "its strings do not stretch, which the general solver handles more quickly"
_MANY_ROWS = "too many joints close loops in addition to its rods and springs"
_SLOW = "it has loops, or springs between bodies, that the general solver handles as quickly"
_FEW_DRIVEN = 3  # minimum number of bodies per driven joint (no closed form), measured on chains of hinges
_MOST_LINKS = 12.0  # largest mean over all bodies of the squared number of links, if rows close loops
_FIXED = -1
MAX_LOOP_COLUMNS = 128  # largest number of unknowns of a set of coupled loops


@memoized(per_tables)
def find_kinematic_tree(system: System) -> Tree | str:
    """Return the tree of a system, or a text that says what in the model prevents one."""
    edges = _edges(system)
    if isinstance(edges, str):
        return edges
    if not simple_strings(system.spans).all():
        return _SPANS
    if not system.spans.stiffness[:, 0, 0].all():
        return _INEXTENSIBLE
    if np.any(system.frames.mass[system.frames.fixed == 0] == 0.0):
        return "a part has no mass"
    return _select_tree(system, _has_required_axes(system.constraints, edges))


@memoized(per_structure)
def _edges(system: System) -> Edges | str:
    """Return the edges of the system from kinds and frames alone, or why there is no tree. Joints have the kind that their rows
    allow; axes are not checked here.
    """
    frames, constraints, others = system.frames, system.constraints, system.others
    for table in system.filled:
        if table not in _SUPPORTED:
            return _UNSUPPORTED[table]
    if not np.any(frames.fixed == 0):
        return "nothing moves"
    if _FEW_DRIVEN * np.sum(facts(constraints.kind, "driven")) > np.sum(frames.fixed == 0):
        return "many of its joints are driven, which the general solver handles as quickly"
    if np.any(multipliers_of(system).repeats):
        return "joints are redundant"
    if len(constraint_indices(others)):
        return "an interaction between several bodies is a constraint"
    if any(INTERACTIONS[number].one_sided for number in set(others.kind.tolist())):
        return "surfaces may touch"
    if any(INTERACTIONS[number].condensed.slides for number in set(others.kind.tolist())):
        return "friction sticks and slides"
    if len(tendons_of(others)) or any(
        is_reeved(INTERACTIONS[number]) for number in set(others.kind.tolist())
    ):
        return "the tension of a tendon couples all its frames"
    if any(has_friction_of_load(INTERACTIONS[number]) for number in set(others.kind.tolist())):
        return "the friction of a tendon grows steeply with its slip"
    couples = np.zeros(len(system.rods.orders) + len(others.kind), bool)
    couples[len(system.rods.orders) :] = [INTERACTIONS[number].couple for number in others.kind.tolist()]
    return _edges_of(frames.fixed != 0, constraints, _acting_on(system), couples)


def _acting_on(system: System) -> Ints:
    """Return the frames (k, m) of each rod element, of each string and of each other interaction; -1: none."""
    of_elements, of_strings, of_others = (
        system.elements.frames,
        system.spans.frames[:, :2],
        system.others.frames,
    )
    width = max(2, of_others.shape[1])
    return np.concatenate(
        [
            np.pad(frames, ((0, 0), (0, width - frames.shape[1])), constant_values=-1)
            for frames in (of_elements, of_strings, of_others)
        ]
    )


@memoized(per_structure)
def _select_tree(system: System, fits: np.ndarray) -> Tree | str:
    """Return the tree of a system, or why there is none. `fits`: (e,) bool, True for edges whose joint has the axes that its kind
    requires; other edges become OTHER.
    """
    fixed, edges = system.frames.fixed != 0, _edges(system)
    assert isinstance(edges, Edges)
    kind, slides = np.where(fits, edges.kind, OTHER), np.where(fits, edges.slides, 0)
    torsional = edges.torsional & (kind == HINGE) & (slides == 0)
    coupled = edges.coupled | (edges.torsional & ~torsional)
    edges = edges._replace(kind=kind, slides=slides, coupled=coupled, torsional=torsional)
    tree, linked = _tree(fixed, edges), not edges.rows.all()
    rods = system.rods.n_points > 0
    if isinstance(tree, Tree):
        closing = tree.closing
        if not len(closing.kind) and (rods or not linked):
            return _with_points(system, tree)
        most = np.bincount(closing.group, weights=_columns(closing)).max(initial=0)
        dense, rows = int(np.sum(~has_closed_form(tree))), int(edges.rows.sum())
        if (
            not rods
            and most <= MAX_LOOP_COLUMNS
            and reduces_cost(tree_loop_paths(tree), len(tree.frame), dense, rows)
        ):
            return tree
        tree = _SLOW
    if not linked:
        return tree
    tree = _with_points(system, _tree_with_links(fixed, edges))
    links = np.diff(tree.link_of)
    return _MANY_ROWS if np.any(tree.kind == ROWS) and np.sum(links**2) > _MOST_LINKS * len(links) else tree


def _with_points(system: System, tree: Tree) -> Tree:
    """Return the tree with the kind POINT of nodes of strings, and `slim`."""
    if not len(system.spans.kind):
        return tree
    of_strings, count = system.spans.frames[:, :2], len(system.frames.mass)
    is_node = np.zeros(count + 1, bool)  # the last entry is that of ROWS
    is_node[of_strings] = True
    is_held = np.zeros(count + 1, bool)
    is_held[system.constraints.frames] = True
    later = np.repeat(np.arange(len(tree.kind)), np.diff(tree.link_of))
    ends = np.stack([tree.frame[later], tree.frame[tree.near]], axis=1)
    by_others = np.bincount(later[~is_node[ends[:, 1]]], minlength=len(tree.kind)) > 0
    point = is_node[tree.frame] & ~is_held[tree.frame] & (tree.kind == FREE) & ~by_others
    acting = _moving(system.frames.fixed != 0, system.others.frames)
    pairs, _ = _pairs_of(acting, np.zeros(len(acting), bool))
    also = np.isin(_pair_keys(ends, count), _pair_keys(pairs, count))
    return tree._replace(kind=np.where(point, POINT, tree.kind), slim=point[later] & ~also)


def _pair_keys(pairs: Ints, count: int) -> Ints:
    """Return a number (k,) for each pair (k, 2) of frames; their order does not matter."""
    return pairs.min(axis=1) * count + pairs.max(axis=1)


class Edges(NamedTuple):
    """The e pairs of frames that have joints or other elements between them."""

    pair: Ints  # (e, 2) frames, the lower one first; _FIXED: the ground
    kind: Ints  # (e,) kind of the joint
    slides: Ints  # (e,) number of directions in which the joint slides
    coupled: np.ndarray  # (e,) bool: another element acts between both frames
    torsional: np.ndarray  # (e,) bool: only couples act between both frames beside a joint
    first: Ints  # (e,) first constraint, as in `Tree`
    of: Ints  # (c,) edge of each constraint
    rows: Ints  # (e,) number of constraint rows; 0: no joint, only other elements


def _edges_of(
    fixed: np.ndarray, constraints: Constraints, acting_on: Ints, couples: np.ndarray
) -> Edges | str:
    """Return the edges of joints and of the interactions on the frames `acting_on` (k, m), or why a tree cannot have them.

    `couples` (k,) bool: `Kind.couple` of these interactions.
    """
    joints, acting = _moving(fixed, constraints.frames), _moving(fixed, acting_on)
    if np.any(joints[:, -1] == _FIXED):
        return "a joint connects only fixed frames"
    acting, couples = _pairs_of(acting, couples)
    both, n = np.concatenate([joints[:, -2:], acting]), len(fixed) + 1
    key, of = np.unique((both[:, 0] + 1) * n + both[:, 1] + 1, return_inverse=True)
    pair = np.stack([key // n - 1, key % n - 1], axis=1)
    edge_of = of[: len(joints)]
    rows = np.bincount(edge_of, weights=facts(constraints.kind, "rows"), minlength=len(pair))
    if np.any(rows > MOST_ROWS):
        return "joints between the same two bodies have more than six rows"
    kind, slides, first = _kinds(constraints, edge_of, len(pair))
    users = [number for number in set(constraints.kind.tolist()) if CONSTRAINTS[number].closed is None]
    if np.any(pair[edge_of[np.isin(constraints.kind, users)], 0] != _FIXED):
        return "a joint of a user-defined kind connects two moving bodies"
    coupled, torsional = np.zeros(len(pair), bool), np.zeros(len(pair), bool)
    coupled[of[len(joints) :][~couples]] = True
    torsional[of[len(joints) :][couples]] = True
    kind[rows == 0] = FREE
    return Edges(pair, kind, slides, coupled, torsional & ~coupled, first, edge_of, rows.astype(np.int64))


def _pairs_of(acting: Ints, couples: np.ndarray) -> tuple[Ints, np.ndarray]:
    """Return all pairs (p, 2) of moving frames on which one interaction acts, and (p,) whether it is a couple.

    `acting`: as `_moving` returns them; `couples`: as in `_edges_of`.
    """
    width = acting.shape[1]
    pairs = [acting[:, [i, j]] for i in range(width) for j in range(i + 1, width)]
    both, of_pair = np.concatenate(pairs), np.tile(couples, len(pairs))
    moving = both[:, 0] != _FIXED
    return both[moving], of_pair[moving]


def has_closed_form(joints: Any) -> np.ndarray:
    """Return (n,) bool for edges or joints of a tree: True if the joint has a closed form, does not slide, and no other element
    acts between its bodies. In a tree, bodies with links are not plain.
    """
    plain: np.ndarray = (joints.kind > OTHER) & (joints.slides == 0) & ~joints.coupled
    if isinstance(joints, Tree):
        plain &= np.diff(joints.link_of) == 0
    return plain


def _moving(fixed: np.ndarray, frames: Ints) -> Ints:
    """Return the moving frames (k, m) of each row of `frames` (-1: none), each once, in ascending order; rows are filled up with
    _FIXED in front.
    """
    numbers = np.sort(np.where(np.append(~fixed, False)[frames], frames, _FIXED), axis=1)
    repeated = numbers[:, :-1] == numbers[:, 1:]
    if repeated.any():
        numbers[:, :-1][repeated] = _FIXED
        numbers.sort(axis=1)
    return numbers


def _spanning(n: int, edges: Edges) -> np.ndarray | str:
    """Choose a spanning tree: return (e,) bool, True for edges of the tree, or why there is none.

    Joints that are not plain or torsional are chosen first and cannot close a loop; ball joints are chosen last.
    """
    plain = has_closed_form(edges) & ~edges.torsional
    rank = np.where(~plain, 0, np.where(edges.kind == BALL, 2, 1))
    depth = _depths(n, edges.pair)[edges.pair].sum(axis=1)
    leader = list(range(n + 1))  # the last entry is the ground

    def of(f: int) -> int:
        """Return the representative of the set of connected frames that contains f (union-find)."""
        while leader[f] != f:
            leader[f] = leader[leader[f]]
            f = leader[f]
        return f

    chosen = np.zeros(len(edges.pair), bool)
    for e in np.lexsort((depth, rank)).tolist():
        a, b = (of(int(f)) for f in edges.pair[e] % (n + 1))
        if a != b:
            leader[a], chosen[e] = b, True
        elif not plain[e]:
            return "a loop has no ball joint, hinge, universal joint or weld to close it"
    return chosen


def _tree_with_links(fixed: np.ndarray, edges: Edges) -> Tree:
    """Build the tree of a system with links: joints form the tree as far as they close no loop; rows of the remaining joints
    (ROWS) and all other elements become links.
    """
    joints = edges.rows > 0
    order, parent, edge = _ordered(fixed, edges.pair, joints)
    chosen = np.zeros(len(joints), bool)
    chosen[edge[edge >= 0]] = True
    closing, n = np.flatnonzero(joints & ~chosen), len(order)
    place = np.full(len(fixed) + 1, -1, np.int64)  # the last entry is the ground
    place[order] = np.arange(n)
    ends, rows = place[edges.pair], n + np.arange(len(closing))
    row_bodies = np.stack([np.repeat(rows, 2), ends[closing].ravel()], axis=1)
    row_bodies = row_bodies[row_bodies[:, 1] >= 0]
    links = np.concatenate([ends[~joints], ends[closing][(ends[closing] >= 0).all(axis=1)], row_bodies])
    none = np.full(len(closing), -1)
    kind = np.concatenate([np.append(edges.kind, FREE)[edge], none + ROWS + 1])
    parent, edge, order = (np.concatenate([array, none]) for array in (parent, edge, order))
    ahead, near, coupled = _minimum_degree(parent, kind == WELD, links, row_bodies)
    count = len(kind)
    position, last = np.zeros(count + 1, np.int64), np.array(ahead[::-1], np.int64)
    position[last], position[count] = np.arange(count), -1
    at = np.zeros(len(joints), np.int64)
    at[edge[last][edge[last] >= 0]] = np.flatnonzero(edge[last] >= 0)
    at[closing] = position[rows]
    empty = np.zeros(0, np.int64)
    return Tree(
        frame=order[last],
        parent=position[parent[last]],
        kind=kind[last],
        slides=np.append(edges.slides, 0)[edge][last],
        coupled=(np.append(edges.coupled | edges.torsional, False)[edge] | coupled)[last],
        torsional=np.zeros(count, bool),
        link_of=np.cumsum([0, *(len(near[k]) for k in last.tolist())]),
        near=np.array([j for k in last.tolist() for j in sorted(position[near[k]].tolist())], np.int64),
        slim=np.zeros(sum(len(near[k]) for k in last.tolist()), bool),
        first=np.append(edges.first, 0)[edge][last],
        place=at[edges.of],
        closing=CutJoints(empty, empty, empty, empty, empty == 0, empty == 0, empty, empty, empty),
    )


def _minimum_degree(
    parent: Ints, rigid: np.ndarray, pairs: Ints, row_bodies: Ints
) -> tuple[list[int], list[list[int]], np.ndarray]:
    """Order bodies for elimination by minimum degree.

    `parent` (n,): as in `Tree`. `rigid` (n,) bool: bodies that move with their parents or with the ground. `pairs` (k, 2): linked
    bodies. `row_bodies` (l, 2): ROWS entries, each with a body of its joint. This body and all its ancestors are eliminated
    before the entry; otherwise the rows might not be independent when they are eliminated.

    Return the order of elimination, the links that each body has when it is eliminated, and (n,) bool: True if the body is then
    linked to its parent.
    """
    n = len(parent)
    linked: list[set[int]] = [set() for _ in range(n)]
    for a, b in zip(*pairs.T.tolist(), strict=True):
        linked[a].add(b)
        linked[b].add(a)
    above, is_rigid = parent.tolist(), rigid.tolist()
    # entries that can only be eliminated after each body
    later: list[list[int]] = [[p] if p >= 0 else [] for p in above]
    for rows, body in row_bodies.tolist():
        while body >= 0:
            if rows not in later[body]:
                later[body].append(rows)
            body = above[body]
    pending = np.bincount([j for entries in later for j in entries], minlength=n).tolist()
    links: list[list[int]] = [[] for _ in range(n)]
    coupled, eliminated = np.zeros(n, bool), [False] * n

    def cost(i: int) -> int:
        """Return the number of linked bodies; 0 if body i is rigidly attached to the ground."""
        return 0 if is_rigid[i] and above[i] < 0 else len(linked[i])

    count = itertools.count()

    def entry(i: int) -> tuple[int, int, int]:
        """Return the entry of the queue of body i.

        Bodies with one link come in turn: a chain is eliminated from both ends, and the processor need not wait for the result
        of the body before.
        """
        links_of = cost(i)
        return links_of, next(count) if links_of <= 1 else -i, i

    queue = [entry(i) for i in range(n - 1, -1, -1) if not pending[i]]
    heapq.heapify(queue)
    order: list[int] = []
    while queue:
        size, _, i = heapq.heappop(queue)
        if eliminated[i] or size != cost(i):
            continue
        eliminated[i] = True
        order.append(i)
        p, neighbours = above[i], linked[i]
        for j in neighbours:
            linked[j].discard(i)
        coupled[i] = p in neighbours
        links[i] = [j for j in neighbours if j != p]
        joined = set(links[i]) if not is_rigid[i] else set()
        for j in links[i]:
            linked[j] |= joined - {j}
            if p >= 0:
                linked[j].add(p)
                linked[p].add(j)
        for j in later[i]:
            pending[j] -= 1
        for j in {*neighbours, *later[i]}:
            if not pending[j]:
                heapq.heappush(queue, entry(j))
    return order, links, coupled


def _depths(n: int, pairs: Ints) -> Ints:
    """Return the number of joints (n + 1,) between each frame and the ground, which is the last one; n: not connected to the
    ground.
    """
    joined: list[list[int]] = [[] for _ in range(n + 1)]
    for a, b in pairs.tolist():
        joined[a].append(b)
        joined[b].append(a)
    depth = [n] * n + [0]
    queue = [_FIXED]
    for a in queue:  # the list grows during the loop
        for b in joined[a]:
            if depth[b] == n:
                depth[b] = depth[a] + 1
                queue.append(b)
    return np.array(depth, np.int64)


def _tree(fixed: np.ndarray, edges: Edges) -> Tree | str:
    """Return the tree of the edges, with or without loops, or why there is none."""
    all_edges = np.ones(len(edges.pair), bool)
    ordered = _ordered(fixed, edges.pair, all_edges)
    if np.sum(ordered[2] >= 0) == len(edges.pair):
        return _with_closing(edges, all_edges, *ordered)
    chosen = _spanning(len(fixed), edges)
    if isinstance(chosen, str):
        return chosen
    return _with_closing(edges, chosen, *_ordered(fixed, edges.pair, chosen))


def _with_closing(edges: Edges, chosen: np.ndarray, order: Ints, parent: Ints, edge: Ints) -> Tree:
    """Build the tree from the chosen edges, with the remaining ones as joints that close loops; `order`, `parent`, `edge`: from
    `_ordered`.
    """
    n, left = len(order), np.flatnonzero(~chosen)
    place = np.full(int(order.max(initial=0)) + 2, -1, np.int64)  # the last entry is the ground
    place[order] = np.arange(n)
    ends = np.sort(place[edges.pair[left]], axis=1)
    group = _groups(parent, ends)
    by_group = np.lexsort((ends[:, 1], group))
    left, ends, group = left[by_group], ends[by_group], group[by_group]
    at = np.zeros(len(chosen), np.int64)
    at[edge[edge >= 0]] = np.flatnonzero(edge >= 0)
    at[left] = n + np.arange(len(left))
    # a body without an edge is FREE and has no constraint
    joints = {name: getattr(edges, name) for name in ("kind", "slides", "coupled", "torsional", "first")}
    of_none = {"kind": FREE, "slides": 0, "coupled": 0, "torsional": 0, "first": 0}
    of_bodies = {
        name: np.append(column, of_none[name])[edge].astype(column.dtype) for name, column in joints.items()
    }
    links = (of_bodies["kind"] == FREE) & (parent >= 0)
    link_of = np.concatenate([[0], np.cumsum(links)])
    of_closing = {name: column[left] for name, column in joints.items()}
    closing = CutJoints(
        frame=order[ends[:, 1]], parent=ends[:, 0], place=ends[:, 1], group=group, **of_closing
    )
    of_links = {"link_of": link_of, "near": parent[links], "slim": np.zeros(links.sum(), bool)}
    return Tree(frame=order, parent=parent, place=at[edges.of], closing=closing, **of_bodies, **of_links)


def tree_loop_paths(tree: Tree) -> LoopPaths:
    """Return the paths of the joints that close loops of a tree."""
    closing = tree.closing
    ends = np.stack([closing.place, closing.parent], axis=1)
    return find_loop_paths(tree.parent, ends, closing.group, _columns(closing))


def _columns(closing: CutJoints) -> Ints:
    """Return the number of unknowns (l,) of each joint that closes a loop."""
    return np.where(closing.kind == BALL, 3, 6)


def _ordered(fixed: np.ndarray, pairs: Ints, chosen: np.ndarray) -> tuple[Ints, Ints, Ints]:
    """Return the moving frames, parents first, the position of the parent of each, and the edge to the parent; -1: none."""
    n, use = len(fixed), np.flatnonzero(chosen)  # index n is the ground
    ends = np.where(pairs[use] == _FIXED, n, pairs[use]).T
    near, edge = ends[::-1].ravel(), np.concatenate([use, use])
    by_frame = np.lexsort((edge, ends.ravel()))
    begins = np.searchsorted(ends.ravel()[by_frame], np.arange(n + 2)).tolist()
    near_of, edge_of = near[by_frame].tolist(), edge[by_frame].tolist()
    order: list[int] = []
    parent: list[int] = []
    pair: list[int] = []
    visited = [False] * n + [True]
    # roots are frames joined to the ground; in a tree without such a frame its first body
    at_ground = range(begins[n], begins[n + 1])
    roots = [(near_of[k], edge_of[k]) for k in at_ground] + [(f, -1) for f in np.flatnonzero(~fixed).tolist()]
    for root, e in roots:
        if visited[root]:
            continue
        k, visited[root] = len(order), True
        order.append(root)
        pair.append(e)
        parent.append(-1)
        while k < len(order):
            for j in range(begins[order[k]], begins[order[k] + 1]):
                f = near_of[j]
                if not visited[f]:
                    visited[f] = True
                    order.append(f)
                    pair.append(edge_of[j])
                    parent.append(k)
            k += 1
    return np.array(order, np.int64), np.array(parent, np.int64), np.array(pair, np.int64)


def _groups(parent: Ints, ends: Ints) -> Ints:
    """Return a group number (l,) for each joint that closes a loop: loops in connected parts of the tree have the same number.
    `ends` (l, 2): positions of both bodies, -1: fixed.
    """
    if not len(ends):
        return np.zeros(0, np.int64)
    root = np.arange(len(parent))
    for i in np.flatnonzero(parent >= 0).tolist():
        root[i] = root[parent[i]]
    a, b = root[ends[:, 1]], root[np.where(ends[:, 0] < 0, ends[:, 1], ends[:, 0])]
    from scipy.sparse import coo_array, csgraph

    joined = coo_array((np.ones(len(a)), (a, b)), shape=(len(parent), len(parent)))
    group: Ints = csgraph.connected_components(joined, directed=False)[1][a].astype(np.int64)
    return group


def _kinds(constraints: Constraints, place: Ints, n: int) -> tuple[Ints, Ints, Ints]:
    """Return, for each of n edges, the kind of its joint, the number of directions in which it slides, and its first constraint;
    `place`: edge of each constraint, ascending.
    """
    kind, slides, first = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    if not len(place):
        return kind, slides, first
    count = np.bincount(place, minlength=n)
    start = np.flatnonzero(np.diff(place, prepend=-1))  # first constraint of each edge
    many = np.diff(start, append=len(place))
    # encode the sequence of kinds of each edge as one number: up to six constraints of the first kinds, all between the same
    # two frames in the same order
    at = np.arange(len(place)) - np.repeat(start, many)
    same = (constraints.frames == np.repeat(constraints.frames[start], many, axis=0)).all(axis=1)
    digit = np.where(same, np.minimum(constraints.kind, _BASE - 2) + 1, _BASE - 1)
    code = np.add.reduceat(digit * _BASE ** np.minimum(at, MOST_ROWS), start)
    is_consecutive = (count[place[start]] == many) & (many <= MOST_ROWS)
    for pattern, (joint_kind, sliding) in _PATTERNS.items():
        matches = place[start[is_consecutive & (code == pattern)]]
        kind[matches], slides[matches] = joint_kind, sliding
    first[place[start]] = start
    return kind, slides, first


_BASE = 8  # base of the numbers that encode sequences of kinds
# constraints of a point, by the number of directions in which it slides
_POINT = {0: (COINCIDENT,), 1: (ALONG, ALONG), 2: (ALONG,), 3: ()}
# number of rows of directions of each kind, which follow those of the point
_ROWS = {BALL: 0, HINGE: 2, UNIVERSAL: 1, WELD: 3}


def _word(kinds: tuple[int, ...]) -> int:
    """Return a sequence of constraint kinds encoded as one number."""
    return sum((kind + 1) * _BASE**k for k, kind in enumerate(kinds))


_PATTERNS = {
    _word((*point, *(rows * (PERPENDICULAR,)))): (kind, slides)
    for slides, point in _POINT.items()
    for kind, rows in _ROWS.items()
    if point or rows
}


def _has_required_axes(constraints: Constraints, edges: Edges) -> np.ndarray:
    """Return (n,) bool: True for joints whose axes have the form that their kind requires; always True for simple ball joints and
    OTHER.
    """
    kind = edges.kind
    fits = np.ones(len(kind), bool)
    turns = edges.first + TRANSLATIONS[edges.slides]
    for name, n_rows in _ROWS.items():
        members = np.flatnonzero(kind == name)
        if len(members) and n_rows:
            rows = turns[members][:, None] + np.arange(n_rows)
            fits[members] = (constraints.value[rows] == 0.0).all(axis=1)
            if name == HINGE:
                fits[members] &= _are_hinges(constraints, *rows.T)
    for slides in (1, 2):
        members = np.flatnonzero(edges.slides == slides)
        rows = edges.first[members][:, None] + np.arange(TRANSLATIONS[slides])
        fits[members] &= (constraints.value[rows] == 0.0).all(axis=1)
    for k in np.flatnonzero(fits & (kind == WELD)).tolist():
        fits[k] = _is_weld(constraints, int(turns[k]))
    for k in np.flatnonzero(fits & ((edges.slides == 1) | (edges.slides == 2))).tolist():
        fits[k] = _has_square_axes(constraints, int(edges.first[k]), int(turns[k]))
    return fits


def _has_square_axes(constraints: Constraints, first: int, end: int) -> bool:
    """Return True if the directions perpendicular to a line or plane are orthonormal and all rows act at the same points."""
    U, Xa, Xb = constraints.Ua[first:end], constraints.Xa[first:end], constraints.Xb[first:end]
    square = np.abs(U @ U.T - np.eye(len(U))).max() < _SQUARE
    return bool(square and (Xa == Xa[0]).all() and (Xb == Xb[0]).all())


def _are_hinges(constraints: Constraints, one: Ints, two: Ints) -> np.ndarray:
    """Return True for each pair of direction rows that has an axis in common."""
    same: np.ndarray = (constraints.Ub[one] == constraints.Ub[two]).all(axis=1)
    return same & (lengths(cross(constraints.Ua[one], constraints.Ua[two])) > 0.5)


def _is_weld(constraints: Constraints, first: int) -> bool:
    """Return True if the three rows at `first` keep orthonormal triads of equal handedness aligned."""
    a, b = triads_of(constraints, first)
    square = np.abs(a @ a.T - np.eye(3)).max() < _SQUARE and np.abs(b @ b.T - np.eye(3)).max() < _SQUARE
    return bool(square and np.linalg.det(a) * np.linalg.det(b) > 0.0)


def triads_of(constraints: Constraints, first: int) -> tuple[Floats, Floats]:
    """Return two arrays (3, 3) of row vectors: the axes on frames a and b that a WELD keeps aligned; `first`: its first row of
    directions.
    """
    rows = slice(first, first + 3)
    return constraints.Ua[rows], np.roll(constraints.Ub[rows], 1, axis=0)


def axes_of(constraints: Constraints, first: Ints) -> Floats:
    """Return the common axes of hinges on frames a (k, 3), unit vectors; `first` (k,): first row of directions of each hinge."""
    axis = cross(constraints.Ua[first], constraints.Ua[first + 1])
    return axis / lengths(axis)[:, None]
