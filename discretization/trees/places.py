"""Where the blocks of a tree stand, and its arrays: what assembly writes of any interaction, the elimination reads.

Six unknowns (dr, eta) a body in the order of the tree, multipliers behind them. All blocks are 6 x 6, column by column: first the
diagonal ones of the bodies, those with a joint of closed form by the motion of the point of this joint and the moment about it,
with eight places a column (`rigid.columns`); then for each joint without a closed form

    body-parent   parent-body   body-lam   parent-lam   lam-body   lam-parent

then what assembly adds to the diagonal blocks of bodies, by the motion of the body as all its blocks
(`discretization.trees.elimination.take_over`). Those of fixed parents lie behind all others: assembly needs no branches. This is
a `Numbering`, so that loads, springs, bushings and constraints of any kind are assembled by the loops that there are.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np

from discretization.assembly.frame_lanes import FEWEST, FrameLanes
from discretization.assembly.numbering import Numbering
from discretization.assembly.workspace import Workspace, workspace_anew
from discretization.linear.coupled import no_far
from discretization.linear.fronts import no_fronts
from discretization.linear.substructures import no_substructures
from discretization.multipliers import multipliers_of
from discretization.space.spans import MOST_FRAMES
from discretization.system import System
from discretization.trees.shape import (
    HINGE,
    MOST_ROWS,
    OTHER,
    UNIVERSAL,
    WELD,
    Closing,
    Tree,
    axes_of,
    triads_of,
)
from rigid.interactions.constraints import first_rows, rows_of
from rigid.lane_arrays import aligned
from rigid.references import by_reference
from rigid.system import Floats, Ints
from rigid.vectors import cross, lengths

BLOCK, BLOCKS = 36, 6  # numbers of a block, blocks of a joint
COLUMN, OWN, LOWER = 8, 48, 4  # places of a column and of a block of a body's own, where k begins in a column
WIDTH = MOST_ROWS + 6  # most unknowns that are eliminated with a body
RIGHT, LONG = 16, 24  # where right-hand sides of their equations begin, and the length of an equation
TURNING = {HINGE: 2, UNIVERSAL: 1, WELD: 3}  # rows of directions
_handles = count()

# numbers of a body in `TreeArrays.each`
LEVER1, LEVER, PARENT_LEVER1, PARENT_LEVER, GAP = 0, 3, 6, 9, 12
AXIS1, MEAN_AXIS, TILT, TURNS1, ROW_Y, ROW_E, ROW_0 = 15, 18, 21, 24, 27, 30, 33
BALL_Y, BALL_0, NEW_FORCE, NEW_COUPLE, SIZE = 34, 43, 48, 52, 80  # the new ones are a column
# of a universal joint: its second unknown, and the mean of the parent's axis, which turns with TURNS1
ROW2_Y, ROW2_E, ROW2_0, MEAN_PARENT_AXIS = 34, 37, 40, 43
ACROSS = ROW_Y  # of a hinge that closes a loop: two directions across its axis and each other
# what each unknown of a hinge or a universal joint does to force and couple, a column each, and how its condition, or both of
# them, give it; of a ball joint: how the couple gives the turn
FORCE_D, COUPLE_D, FORCE_E, COUPLE_E, BY_CONDITION, BALL_K = 56, 60, 64, 68, 72, 56


@by_reference
class TreeArrays(NamedTuple):
    """What the elimination reads of a tree of n bodies, and its scratch."""

    frame: Ints  # (n,)
    parent: Ints  # (n,) -1: fixed or free
    kind: Ints  # (n,)
    partner: Ints  # (n,) frame of the parent, fixed or not
    side: Ints  # (n,) 1: the body is frame b of its joint; -1: frame a
    X: Floats  # (n, 2, 3) points of all but OTHER on the body and on its parent
    U: Floats  # (n, 3, 2, 3) and their axes: one of HINGE, behind it two across it on the body, and UNIVERSAL, three of WELD
    turning: Ints  # (n,) rows of directions
    D: Floats  # (n, 3, 2, 3) of these: directions on frames a and b
    lam: Ints  # (n,) first multiplier
    rows: Ints  # (n,) of OTHER: how many
    row: Ints  # (n, MOST_ROWS) of OTHER: unknowns of its multipliers
    block: Ints  # (n,) of OTHER: first entry of its blocks
    own: Ints  # (n,) and of its solution in `solved`
    reach: Floats  # (n,) m, size of a body: what a displacement counts as a turn by
    scaled: np.ndarray  # (c,) bool: rows of OTHER, which are scaled
    each: Floats  # (n, SIZE)
    force: Floats  # (n, 3) that passes from the body to its parent, times the step, of all but OTHER
    couple: Floats  # (n, 3)
    spin0: Floats  # (n, 3) angular momenta at the start of the step
    solved: (
        Floats  # (k, WIDTH, 8) what is eliminated with a body: by the motion of its parent, then what is left
    )
    dense: Floats  # (k, WIDTH, LONG) its equations and their factors
    exchanged: Ints  # (k, WIDTH) rows of these
    left: Floats  # (6, 8)
    passed: Floats  # (BLOCK,) scratch
    acting: Ints  # (n,) first entry of what assembly adds
    alone: Ints  # (k,) bodies that are in no group of `discretization.trees.body_lanes`
    held: Ints  # frames that do not move


def numbering_of(system: System, tree: Tree) -> Numbering:
    """Places of all blocks."""
    n, c = len(tree.frame), len(system.constraints.kind)
    held = multipliers_of(system)
    rows, ends = rows_of(system.constraints), system.constraints.frames
    moving = OWN * n
    block = _joint_blocks(tree)
    acting = moving + BLOCK * BLOCKS * int((tree.kind == OTHER).sum())
    dump = acting + BLOCK * n
    size = 6 * n + int(rows.sum())
    frame = np.full(len(system.frames.mass), size, np.int64)
    frame[tree.frame] = 6 * np.arange(n)
    diagonal = np.full(len(frame), dump, np.int64)
    diagonal[tree.frame] = acting + BLOCK * np.arange(n)
    places = np.full((c, 8), dump, np.int64)
    at_row = np.zeros(c, np.int64)
    for place in np.flatnonzero(tree.kind == OTHER).tolist():
        own = np.flatnonzero(tree.place == place)
        at_row[own] = np.cumsum(rows[own]) - rows[own]
    use = np.flatnonzero(tree.kinds == OTHER)
    body = ends[use] == tree.frame[tree.place[use]][:, None]  # which of both ends it is
    free = tree.parent[tree.place[use]] < 0
    first, by_row = block[tree.place[use]], at_row[use]
    for side in (0, 1):
        own = body[:, side]
        places[use, 3 * side] = diagonal[ends[use, side]]
        places[use, 1 + side] = np.where(free, dump, first + BLOCK * ~own)
        places[use, 4 + side] = np.where(
            own, first + 2 * BLOCK, np.where(free, dump, first + 3 * BLOCK)
        ) + 6 * np.where(free & ~own, 0, by_row)
        places[use, 6 + side] = np.where(
            own, first + 4 * BLOCK, np.where(free, dump, first + 5 * BLOCK)
        ) + np.where(free & ~own, 0, by_row)
    none = np.zeros(0, np.int64)
    return Numbering(
        size=size,
        banded=0,
        band=-1,
        blocks=0,
        runs=np.zeros((0, 2), np.int64),
        n_values=dump,
        n_dump=2 * BLOCK + 16,
        handle=-1 - next(_handles),
        frame=frame,
        frame_stride=np.full(len(frame), 6, np.int64),
        frame_base=diagonal,
        rows=held.rows,
        row=6 * n + held.first,
        row_stride=np.full(len(held.rows), 6, np.int64),
        lam=held.first,
        row_frames=held.frames,
        constraint_base=places,
        row_base=np.zeros((0, held.frames.shape[1], 2), np.int64),
        repeating=none,
        repeating_base=none,
        element_base=np.zeros((0, 4), np.int64),
        span_base=np.zeros((0, MOST_FRAMES, MOST_FRAMES), np.int64),
        span_stride=np.zeros((0, MOST_FRAMES), np.int64),
        substructures=no_substructures(),
        other_base=_of_others(system, tree, diagonal, block, dump),
        indptr=none,
        indices=none,
        fronts=no_fronts(),
        far=no_far(),
    )


def _joint_blocks(tree: Tree | Closing) -> Ints:
    """(n,) first entry of the blocks of a joint."""
    other = tree.kind == OTHER
    return OWN * len(tree.frame) + BLOCK * BLOCKS * (np.cumsum(other) - other)


def _of_others(system: System, tree: Tree, diagonal: Ints, block: Ints, dump: int) -> Ints:
    """(e, f, f) blocks of the frames of other interactions."""
    frames = system.others.frames
    e, most = frames.shape
    base = np.full((e, most, most), dump, np.int64)
    if not e:
        return base
    place = np.full(len(diagonal) + 1, -1, np.int64)
    place[tree.frame] = np.arange(len(tree.frame))
    at = place[frames]
    for i in range(most):
        for j in range(most):
            both = (at[:, i] >= 0) & (at[:, j] >= 0)
            same = both & (at[:, i] == at[:, j])
            base[same, i, j] = diagonal[frames[same, i]]
            apart = both & ~same
            child = np.maximum(at[apart, i], at[apart, j])
            base[apart, i, j] = block[child] + BLOCK * (at[apart, i] != child)
    return base


def arrays_of(system: System, tree: Tree | Closing, groups: FrameLanes | None = None) -> TreeArrays:
    """Of a tree, or of the joints that close its loops, as if each held a body of its own; groups: of its frames, by default
    all stand alone.
    """
    constraints, n = system.constraints, len(tree.frame)
    frames = system.frames
    first_row, rows_each = first_rows(constraints), rows_of(constraints)
    joined = np.flatnonzero(tree.kind != OTHER)
    first = tree.first[joined]
    ends = constraints.frames[first] if len(first) else np.zeros((0, 2), np.int64)
    is_b = ends[:, 1] == tree.frame[joined]
    side, partner = np.ones(n, np.int64), np.zeros(n, np.int64)
    side[joined] = np.where(is_b, 1, -1)
    partner[joined] = np.where(is_b, ends[:, 0], ends[:, 1])
    turning = np.zeros(n, np.int64)
    for name, many in TURNING.items():
        turning[tree.kind == name] = many
    lam = np.zeros(n, np.int64)
    lam[joined] = first_row[tree.first[joined]]
    others = np.flatnonzero(tree.kind == OTHER)
    rows, row = np.zeros(n, np.int64), np.zeros((n, MOST_ROWS), np.int64)
    for place in others.tolist():
        own = np.flatnonzero(tree.place == place)
        of = [6 * n + first_row[c] + k for c in own.tolist() for k in range(rows_each[c])]
        rows[place], row[place, : len(of)] = len(of), of
    number = np.zeros(n, np.int64)
    number[others] = np.arange(len(others))
    room = TreeArrays(
        frame=tree.frame,
        parent=tree.parent,
        kind=tree.kind,
        partner=partner,
        side=side,
        X=np.zeros((n, 2, 3)),
        U=np.zeros((n, 3, 2, 3)),
        turning=turning,
        D=np.zeros((n, 3, 2, 3)),
        lam=lam,
        rows=rows,
        row=row,
        block=_joint_blocks(tree),
        own=number,
        reach=np.zeros(n),
        scaled=np.zeros(0, bool) if isinstance(tree, Closing) else tree.kinds == OTHER,
        each=aligned(n, SIZE),
        force=np.zeros((n, 3)),
        couple=np.zeros((n, 3)),
        spin0=np.zeros((n, 3)),
        solved=np.zeros((len(others), WIDTH, 8)),
        dense=np.zeros((len(others), WIDTH, LONG)),
        exchanged=np.zeros((len(others), WIDTH), np.int64),
        left=np.zeros((6, 8)),
        passed=np.zeros(BLOCK),
        acting=OWN * n + BLOCK * (BLOCKS * len(others) + np.arange(n)),
        alone=np.arange(n) if groups is None else np.flatnonzero(np.isin(tree.frame, groups.alone)),
        held=np.flatnonzero(frames.fixed != 0),
    )
    return with_geometry(room, system, tree)


def with_geometry(arrays: TreeArrays, system: System, tree: Tree | Closing) -> TreeArrays:
    """The same arrays with points, axes and masses of a system of this structure."""
    constraints, frames, n = system.constraints, system.frames, len(tree.frame)
    joined = np.flatnonzero(tree.kind != OTHER)
    first, of_b = tree.first[joined], (arrays.side[joined] > 0)[:, None]
    X, U, D = np.zeros((n, 2, 3)), np.zeros((n, 3, 2, 3)), np.zeros((n, 3, 2, 3))
    Xa, Xb = constraints.Xa[first], constraints.Xb[first]
    X[joined, 0], X[joined, 1] = np.where(of_b, Xb, Xa), np.where(of_b, Xa, Xb)
    for name in TURNING.keys() & set(tree.kind.tolist()):
        these = np.flatnonzero(tree.kind == name)
        for k in range(TURNING[name]):
            row = tree.first[these] + 1 + k
            D[these, k, 0], D[these, k, 1] = constraints.Ua[row], constraints.Ub[row]
    hinges, crosses = (np.flatnonzero(tree.kind == name) for name in (HINGE, UNIVERSAL))
    if len(hinges):
        U[hinges, 0, 0], U[hinges, 0, 1] = axes_of(constraints, tree.first[hinges]), D[hinges, 0, 1]
    U[crosses, 0] = D[crosses, 0]
    for k in np.flatnonzero(tree.kind == WELD).tolist():
        U[k] = np.stack(triads_of(constraints, int(tree.first[k])), axis=1)
    U[arrays.side > 0] = U[arrays.side > 0, :, ::-1]  # of the body, of its parent
    if len(hinges):
        U[hinges, 1, 0], U[hinges, 2, 0] = _across(U[hinges, 0, 0])
    mass = np.maximum(frames.mass[tree.frame], 1e-300)
    gyration = np.sqrt(np.trace(frames.inertia[tree.frame], axis1=1, axis2=2) / mass)
    return arrays._replace(X=X, U=U, D=D, reach=np.maximum(gyration, lengths(X[:, 0])) + 1e-300)


def _across(axes: Floats) -> tuple[Floats, Floats]:
    """(k, 3) directions across unit vectors and each other."""
    one = cross(axes, np.eye(3)[np.argmin(np.abs(axes), axis=1)])
    one /= lengths(one)[:, None]
    return one, cross(axes, one)


def workspace_of(
    system: System, tree: Tree, numbering: Numbering, tolerance: float, fewest: int = FEWEST
) -> Workspace:
    """That of assembly, which passes by the joints that the elimination has closed forms of; fewest: as of `frame_lanes`."""
    work = workspace_anew(system, numbering, True, tolerance, fewest=fewest, kinds=_alike(system, tree))
    facts = work.facts
    other = tree.kinds[facts.closed] == OTHER
    before = np.concatenate([[0], np.cumsum(other)])
    return work._replace(
        values=aligned(len(work.values)),
        facts=facts._replace(closed=facts.closed[other], first=before[facts.first]),
    )


def _alike(system: System, tree: Tree) -> list[Ints]:
    """Frames of bodies whose joints are of one kind, named from the same end."""
    joined = np.flatnonzero(tree.kind != OTHER)
    is_b = np.zeros(len(tree.kind), np.int64)
    is_b[joined] = system.constraints.frames[tree.first[joined], 1] == tree.frame[joined]
    number = 2 * tree.kind + is_b
    return [tree.frame[number == own] for own in np.unique(number)]
