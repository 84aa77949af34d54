"""Which models are trees: bodies, each joined to one other or to what is fixed, and what acts on one of them or along a joint.

`tree_of` gives the tree or, in words, why there is none; whoever chooses a solver asks nothing else. Parents come before their
children. What joins a body to its parent is one of

    BALL       two points in one place
    HINGE      that, and an axis in common: two rows of directions with the same U_b
    UNIVERSAL  that, and an axis of each across the other: one row of directions
    WELD       that, and triads in common: three rows of directions, a_1 . b_2 = a_2 . b_3 = a_3 . b_1 = 0
    OTHER      up to six rows of any kind, none where the body is free
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import holding, settled_of
from discretization.known_facts import known_of_numbers
from discretization.multipliers import multipliers_of
from discretization.system import System
from rigid.interactions.constraints import facts
from rigid.system import COINCIDENT, PERPENDICULAR, Constraints, Floats, Ints

OTHER, BALL, HINGE, UNIVERSAL, WELD = 0, 1, 2, 3, 4
MOST_ROWS = 6  # of a body's joint
_SQUARE = 1e-12  # of axes that are across each other


class Tree(NamedTuple):
    """Of n bodies, parents first."""

    frame: Ints  # (n,)
    parent: Ints  # (n,) place of it in this order; -1: fixed, or free
    kind: Ints  # (n,)
    first: Ints  # (n,) of all but OTHER: number of the first of their constraints, which follow each other
    place: Ints  # (c,) of each constraint: that of the body it holds

    def __str__(self) -> str:
        n = len(self.frame)
        return f"tree, {n} {'body' if n == 1 else 'bodies'}"


_TAKEN = "constraints", "others"
_BEYOND = {"elements": "it has rods", "spans": "it has rods", "contacts": "surfaces may touch"}


@known_of_numbers
def tree_of(system: System) -> Tree | str:
    """The tree, or what of the model does not belong to one."""
    frames, constraints, others = system.frames, system.constraints, system.others
    for table in system.filled:
        if table not in _TAKEN:
            return _BEYOND[table]
    if np.any(frames.fixed > 1) or np.any(facts(constraints.kind, "driven")):
        return "something moves as it is told"
    if not np.any(frames.fixed == 0):
        return "nothing moves"
    if np.any(multipliers_of(system).repeats):
        return "joints repeat each other"
    if len(holding(others)):
        return "an interaction of several bodies holds them like a joint"
    if any(INTERACTIONS[number].one_sided for number in set(others.kind.tolist())):
        return "surfaces may touch"
    if np.any(settled_of(others) > 0):
        return "friction sticks and slides"
    found = _ordered(frames.fixed != 0, constraints.frames)
    if isinstance(found, str):
        return found
    order, parent, place = found
    n = len(order)
    rows = np.bincount(place, weights=facts(constraints.kind, "rows"), minlength=n)
    if np.any(rows > MOST_ROWS):
        return "joints between the same two bodies have more than six rows"
    along = _along(system, order, parent)
    if isinstance(along, str):
        return along
    kind, first = _kinds(constraints, place, n)
    kind[along] = OTHER
    return Tree(order, parent, kind, first, place)


def _ordered(fixed: np.ndarray, ends: Ints) -> tuple[Ints, Ints, Ints] | str:
    """Frames that move, parents first, the place of the parent of each and that of the body that each constraint holds."""
    n = len(fixed)
    both = fixed[ends]
    if both.all(axis=1).any():
        return "a joint holds what is fixed"
    joined: list[list[int]] = [[] for _ in range(n)]
    rooted = np.zeros(n, bool)
    rooted[ends[both.any(axis=1)][~both[both.any(axis=1)]]] = True
    for a, b in set(map(tuple, ends[~both.any(axis=1)].tolist())):
        joined[a].append(b)
        joined[b].append(a)
    moving = np.flatnonzero(~fixed).tolist()
    at = dict.fromkeys(moving, -1)
    order: list[int] = []
    parent: list[int] = []
    # roots are what is joined to something fixed; of a tree without such a frame its first body
    for root in (*(f for f in moving if rooted[f]), *moving):
        if at[root] >= 0:
            continue
        at[root] = len(order)
        order.append(root)
        parent.append(-1)
        k = at[root]
        while k < len(order):
            own = order[k]
            for f in dict.fromkeys(joined[own]):
                if at[f] < 0 and not rooted[f]:
                    at[f] = len(order)
                    order.append(f)
                    parent.append(k)
                elif (parent[k] < 0 or f != order[parent[k]]) and (at[f] < 0 or parent[at[f]] != k):
                    return "joints close a loop"
            k += 1
    places = np.array([at.get(f, -1) for f in range(n)], np.int64)
    own_place = places[ends].max(axis=1, initial=-1) if len(ends) else np.zeros(0, np.int64)
    return np.array(order, np.int64), np.array(parent, np.int64), own_place


def _along(system: System, order: Ints, parent: Ints) -> Ints | str:
    """Places of the bodies with an interaction to their parents; or that there is one between others."""
    frames = system.others.frames
    place = np.full(len(system.frames.mass) + 1, -1, np.int64)  # of none, the last one, too
    place[order] = np.arange(len(order))
    at = place[frames]
    low, high = np.where(at < 0, len(order), at).min(axis=1, initial=len(order)), at.max(axis=1, initial=-1)
    two = np.flatnonzero((high >= 0) & (low < high))
    between = (at[two] >= 0) & (at[two] != low[two, None]) & (at[two] != high[two, None])
    if between.any() or np.any(parent[high[two]] != low[two]):
        return "a spring or its like acts between bodies that no joint connects"
    return np.unique(high[two])


def _kinds(constraints: Constraints, place: Ints, n: int) -> tuple[Ints, Ints]:
    """(n,) what joins each body to its parent, and the first of its constraints."""
    kind, first = np.zeros(n, np.int64), np.zeros(n, np.int64)
    count = np.bincount(place, minlength=n)
    start = np.flatnonzero(np.diff(place, prepend=-1))  # where another body's begin
    end = np.append(start[1:], len(place))[: len(start)]
    whole = count[place[start]] == end - start
    of = constraints.kind
    ball = whole & (end - start == 1) & (of[start] == COINCIDENT)
    three = np.flatnonzero(whole & (end - start == 3))
    one, two = start[three] + 1, start[three] + 2
    head = start[three]
    same = np.all(constraints.frames[one] == constraints.frames[head], axis=1)
    same &= np.all(constraints.frames[two] == constraints.frames[head], axis=1)
    same &= np.all(constraints.Ub[one] == constraints.Ub[two], axis=1)
    same &= (constraints.value[one] == 0.0) & (constraints.value[two] == 0.0)
    same &= np.linalg.norm(np.cross(constraints.Ua[one], constraints.Ua[two]), axis=1) > 0.5
    same &= (of[head] == COINCIDENT) & (of[one] == PERPENDICULAR) & (of[two] == PERPENDICULAR)
    kind[place[start[ball]]] = BALL
    kind[place[head[same]]] = HINGE
    for many, name, fits in ((2, UNIVERSAL, _is_universal), (4, WELD, _is_weld)):
        head = start[whole & (end - start == many) & (of[start] == COINCIDENT)]
        kind[place[[k for k in head.tolist() if fits(constraints, slice(k, k + many))]]] = name
    first[place[start]] = start
    return kind, first


def _directed(constraints: Constraints, own: slice) -> bool:
    """Whether all behind the first are rows of directions across each other, between the same frames."""
    frames, rows = constraints.frames[own], slice(own.start + 1, own.stop)
    directed = (constraints.kind[rows] == PERPENDICULAR) & (constraints.value[rows] == 0.0)
    return bool(directed.all() and (frames == frames[0]).all())


def _is_universal(constraints: Constraints, own: slice) -> bool:
    return _directed(constraints, own)


def _is_weld(constraints: Constraints, own: slice) -> bool:
    """Whether the rows keep triads aligned, of one hand."""
    if not _directed(constraints, own):
        return False
    a, b = triads_of(constraints, own.start)
    square = np.abs(a @ a.T - np.eye(3)).max() < _SQUARE and np.abs(b @ b.T - np.eye(3)).max() < _SQUARE
    return bool(square and np.linalg.det(a) * np.linalg.det(b) > 0.0)


def triads_of(constraints: Constraints, first: int) -> tuple[Floats, Floats]:
    """(3, 3) each, rows: axes on frames a and b that a WELD keeps aligned, whose constraints begin at `first`."""
    rows = slice(first + 1, first + 4)
    return constraints.Ua[rows], np.roll(constraints.Ub[rows], 1, axis=0)


def axes_of(constraints: Constraints, first: Ints) -> Floats:
    """(k, 3) unit, on frames a: the common axis of hinges whose constraints begin at `first`."""
    axis: Floats = np.cross(constraints.Ua[first + 1], constraints.Ua[first + 2])
    return axis / np.linalg.norm(axis, axis=1)[:, None]
