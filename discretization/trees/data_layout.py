"""Data layout of a tree: offsets of its matrix blocks, and the arrays that the elimination reads.

Assembly writes the blocks of all interactions to the offsets that the elimination reads. Each body has six unknowns (dr, eta) in
the order of the tree; multipliers follow after them. The diagonal blocks of the bodies come first: force and moment by the
displacement and the rotation of the point of the joint, stored as six rows (`rigid.stiffness_rows`). Bodies without a joint use
the motion of the body itself, stored as six columns. Then come the following 6 x 6 blocks, column by column, for each joint
without a closed form or with another element between body and parent

    body-parent   parent-body   body-lam   lam-body

and two blocks, body-other and other-body, for each link. The two 3 x 3 blocks of a link between nodes of strings (`Tree.slim`)
lie side by side in three columns. Then comes what assembly adds to the diagonal blocks of bodies on
joints, by the motion of the body (`transform_to_joint` of `discretization.trees.elimination`). Blocks of fixed parents lie
after all others (discarded), so that assembly needs no branches. A column takes eight numbers. The layout is a `Numbering`, so
that the existing loops assemble rod elements, loads, springs, bushings and constraints of any kind.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np

from discretization.assembly.numbering import Numbering
from discretization.assembly.workspace import Workspace, allocate_workspace, with_parameters
from discretization.drives import driven_frames
from discretization.linear.band_gmres import no_far_blocks
from discretization.linear.bordered_band import no_border
from discretization.linear.multifrontal import no_fronts
from discretization.multipliers import multipliers_of
from discretization.space.spans import MOST_FRAMES
from discretization.system import System
from discretization.trees.spanning_tree import (
    HINGE,
    OTHER,
    POINT,
    ROWS,
    TRANSLATIONS,
    UNIVERSAL,
    WELD,
    CutJoints,
    Tree,
    axes_of,
    has_closed_form,
    triads_of,
)
from rigid.interactions.constraints import first_rows, rows_of
from rigid.lane_arrays import aligned
from rigid.lanes import WIDTH as LANES
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference
from rigid.vectors import cross, lengths

ROW_STRIDE, DIAGONAL_BLOCK = 8, 48  # sizes of a row and of the diagonal block of a body, in numbers
COLUMN, BLOCK = 8, 48  # sizes of a column and of a block that assembly writes, in numbers
SLIM, SLIM_BACK = 24, 4  # size of both 3 x 3 blocks of a slim link, in numbers, and offset of the second
TURN, MOMENT = 4, 24  # offsets of the rotation e in a row, and of the moment rows in a block
WIDTH = 6  # largest number of unknowns of a joint
MIN_GROUP_BODIES = 3  # smallest number of bodies for which a last, incomplete SIMD group is formed
TURNING = {HINGE: 2, UNIVERSAL: 1, WELD: 3}  # numbers of rows of directions of each kind of joint
_handles = count()

# offsets of the data of a joint in its row of `TreeArrays.joint_data`: levers, gap (m) and tilt (rad)
LEVER1, LEVER, PARENT_LEVER1, PARENT_LEVER, GAP, TILT = 0, 3, 6, 9, 12, 15
# for each free rotation axis of a plain joint: the axis, the axis of the condition on the joint moment, and the axis at the
# end of the step whose rotation changes that condition
AXIS, CONDITION, TURNS, NEXT = 18, 21, 24, 9
# and its results of the elimination: the unknown as a function of the parent's motion (a row and a constant), the force and
# the moment that a unit unknown gives, the factor from the residual of the condition to the unknown
ROW, FORCE, COUPLE, ROW_0, BY_COUPLE, NEXT_LEFT = 40, 48, 51, 54, 55, 16
# ball joints: three rows and three constants of the rotation of the body; the inverse (3, 3) that gives it from a moment
BALL_ROWS, BALL_0, BALL_K = 40, 64, 67
# joints that slide: directions perpendicular to the line or plane, at the end of the step and averaged over it
END_1, END_2, MEAN_1, MEAN_2 = 40, 43, 46, 49
OFF_AXIS = 40  # hinges that close a loop: two unit vectors perpendicular to the axis and to each other
NEW_FORCE, NEW_COUPLE = 76, 79  # updated force and moment of a joint
# joints of closed form: force and moment, times the step, that pass from the body to its parent
JOINT_FORCE, JOINT_MOMENT = 82, 85
SIZE = 88  # length of a row of `TreeArrays.joint_data`
# offsets of the data of a free direction in `TreeArrays.directions`: first as in `discretization.trees.free_directions`, then the
# results of the elimination in the order of `ROW` to `ROW_0`, then the condition as a row by the motion relative to the parent
FREE_SHIFT, FREE_AXIS, FREE_N, FREE_M, TURNS_BODY, TURNS_PARENT = 0, 3, 6, 9, 12, 15
FREE_ROW, FREE_CONDITION, FREE_SIZE = 24, 40, 48


@by_reference
class TreeArrays(NamedTuple):
    """Data of a tree of n bodies that the elimination reads, and its scratch arrays."""

    frame: Ints  # (n,) frame of each body; -1: ROWS
    parent: Ints  # (n,) position of the parent in the tree; -1: fixed or free
    kind: Ints  # (n,) kind of the joint to the parent
    slides: Ints  # (n,) number of directions in which the joint slides
    coupled: np.ndarray  # (n,) bool: the body and its moving parent have blocks between them
    torsional: np.ndarray  # (n,) bool: as in `Tree`; its two blocks are those of the moment on the body alone
    # (n,) bool: for a body on a joint, assembly adds to its diagonal block; for any other body, joints act on it
    acted: np.ndarray
    # (n,) bool: the joint only rotates or is a weld, and no other element acts between body and parent
    plain: np.ndarray
    sliding: Ints  # bodies on joints that slide
    closing: Ints  # entries of kind ROWS
    free: Ints  # (n,) number of unknowns of the joint
    partner: Ints  # (n,) frame of the parent, fixed or not
    side: Ints  # (n,) 1: the body is frame b of its joint; -1: frame a
    X: Floats  # (j, 2, 3) points of joints of closed form on the body and on its parent
    # (j, 3, 2, 3) axes of joints of closed form on the body and on its parent: one for HINGE, followed by two on the body that
    # are perpendicular to it; one for UNIVERSAL; three for WELD
    U: Floats
    turning: Ints  # (n,) number of rows of directions
    D: Floats  # (j, 3, 2, 3) directions of these rows on frames a and b
    across: Floats  # (j, 2, 3) joints that slide: directions on frame a perpendicular to the line or plane
    lam: Ints  # (n,) first multiplier
    rows: Ints  # (n,) number of constraint rows of OTHER and ROWS
    first_row: Ints  # (n,) first of these rows in `row`
    row: Ints  # unknowns of the multipliers of OTHER and ROWS
    block: Ints  # (n,) offset of the blocks of a joint
    # (n,) row of the joint in arrays of j joints; bodies without a joint share the last row, which is zero
    joint: Ints
    # (n,) index in arrays of k bodies that are not plain; FREE bodies come last and occur in `factors` only
    general_index: Ints
    reach: Floats  # (n,) characteristic length of a body, m: a displacement divided by it is compared with rotations
    scaled: np.ndarray  # (c,) bool: constraints of OTHER and ROWS, whose rows are scaled
    joint_data: Floats  # (j, SIZE) data of each joint, with offsets as above
    spin0: Floats  # (k, 3) angular momenta at the start of the step of bodies outside SIMD groups, kg m^2/s
    directions: Floats  # (k, WIDTH FREE_SIZE) data of the free directions of each joint
    factors: Floats  # (k, WIDTH, WIDTH) factors of the conditions; for FREE bodies the inverse, needed if joints close loops
    blocks: Floats  # (3 DIAGONAL_BLOCK,) scratch
    bases: Floats  # (k, 4, 6, 6) matrices Q, R, P, T of `discretization.trees.null_spaces` for OTHER
    solved: Floats  # (6,) scratch
    link_of: Ints  # (n + 1,) first link of each body
    near: Ints  # (l,) position of the body at the other end of a link
    link: Ints  # (l,) offset of the blocks of a link
    back: Ints  # (l,) offset of the second of them from the first
    left_of: Ints  # (n,) first entry of each body in `left`
    # offsets of the fill-in blocks to which a body adds, between the bodies it is linked with, row by row; the parent, if the
    # body is on a joint, comes first
    left: Ints
    linked: Floats  # (l, WIDTH ROW_STRIDE) bodies on joints: rows of their unknowns by the motions of their linked bodies
    acting: Ints  # (n,) offset of what assembly adds to the diagonal block
    sums: Ints  # (n,) offset of the six rows to which children on joints add
    alone: Ints  # (k,) bodies that are in no group of `discretization.trees.body_lanes`
    joints_alone: Ints  # bodies whose joints of closed form are in no such group; joints that slide never are
    fixed_frames: Ints  # frames that do not move, and POINT frames, which do not rotate
    # True if forces of joints are iterates, because some joints slide or are coupled: with forces from the balance of the
    # residuals, Newton's method takes 7 iterations instead of 5 in a chain of ten hinges with bushings
    needs_iteration: bool
    loops: bool  # True if joints close loops


def numbering_of(system: System, tree: Tree) -> Numbering:
    """Return the `Numbering` of a tree: offsets of all its blocks and unknowns."""
    n, c = len(tree.frame), len(system.constraints.kind)
    items = multipliers_of(system)
    rows, ends = rows_of(system.constraints), system.constraints.frames
    block, dump, bodies = _joint_blocks(tree), _discard_offset(tree), np.flatnonzero(tree.frame >= 0)
    size = 6 * n + int(rows.sum())
    frame = np.full(len(system.frames.mass), size, np.int64)
    frame[tree.frame[bodies]] = 6 * bodies
    driven = driven_frames(system.frames.fixed)
    # forces on driven frames are stored separately: they do work
    frame[driven] = size + 6 + 6 * np.arange(len(driven))
    diagonal = np.full(len(frame), dump, np.int64)
    diagonal[tree.frame[bodies]] = _diagonal_blocks(tree)[bodies]
    offsets = np.full((c, 8), dump, np.int64)
    at_row = np.zeros(c, np.int64)
    for place in np.flatnonzero((tree.kind == OTHER) | (tree.kind == ROWS)).tolist():
        selected = np.flatnonzero(tree.place == place)
        at_row[selected] = np.cumsum(rows[selected]) - rows[selected]
    use = np.flatnonzero(tree.kinds == OTHER)
    # (k, 2) bool: True for the end of the constraint that is the body
    body = ends[use] == tree.frame[tree.place[use]][:, None]
    free = tree.parent[tree.place[use]] < 0
    first, by_row = block[tree.place[use]], at_row[use]
    for side in (0, 1):
        selected = body[:, side]
        offsets[use, 3 * side] = diagonal[ends[use, side]]
        offsets[use, 1 + side] = np.where(free, dump, first + BLOCK * ~selected)
        offsets[use, 4 + side] = np.where(selected, first + 2 * BLOCK + 6 * by_row, dump)
        offsets[use, 6 + side] = np.where(selected, first + 3 * BLOCK + by_row, dump)
    closing = np.flatnonzero(tree.kinds == ROWS)
    if len(closing):
        offsets[closing] = _of_rows(system, tree, closing, at_row[closing])
    row, row_stride = 6 * n + items.first, np.full(len(items.rows), 6, np.int64)
    row[closing], row_stride[closing] = 6 * tree.place[closing] + at_row[closing], COLUMN
    none = np.zeros(0, np.int64)
    return Numbering(
        size=size,
        band=-1,
        runs=np.zeros((0, 2), np.int64),
        n_values=dump,
        n_trash=2 * BLOCK + 16,
        handle=-1 - next(_handles),
        frame=frame,
        frame_stride=np.full(len(frame), COLUMN, np.int64),
        frame_base=diagonal,
        rows=items.rows,
        row=row,
        row_stride=row_stride,
        lam=items.first,
        row_frames=items.frames,
        constraint_base=offsets,
        row_base=np.zeros((0, items.frames.shape[1], 2), np.int64),
        border=no_border(),
        border_of=none,
        repeating=none,
        repeating_base=none,
        element_base=_of_frames(system.elements.frames, tree).reshape(-1, 4),
        span_base=_of_strings(system, tree),
        span_stride=np.full((len(system.spans.kind), MOST_FRAMES), COLUMN, np.int64),
        other_base=_of_others(system, tree),
        indptr=none,
        indices=none,
        fronts=no_fronts(),
        far=no_far_blocks(),
    )


def has_blocks(tree: Tree | CutJoints) -> np.ndarray:
    """Return (n,) bool: True for joints without a closed form or with another element between body and parent."""
    blocks: np.ndarray = (tree.kind == OTHER) | (tree.coupled & (tree.kind >= OTHER))
    return blocks


def _counts(tree: Tree | CutJoints) -> Ints:
    """Return the number of links of each body (n,)."""
    return np.diff(tree.link_of) if isinstance(tree, Tree) else np.zeros(len(tree.frame), np.int64)


def _link_sizes(tree: Tree | CutJoints) -> Ints:
    """Return how many numbers the blocks of each link take (l,)."""
    return np.where(tree.slim, SLIM, 2 * BLOCK) if isinstance(tree, Tree) else np.zeros(0, np.int64)


def _block_sizes(tree: Tree | CutJoints) -> Ints:
    """Return how many numbers the blocks of each body (n,) with its parent, its multipliers and its linked bodies take.

    Couples on a hinge have two: the moment on the body by the motion of the body, then by that of its parent. They do not add to
    the diagonal blocks, as the couple has no effect on both bodies together.
    """
    bodies, sizes = len(tree.frame), _link_sizes(tree)
    of_links = np.bincount(np.repeat(np.arange(bodies), _counts(tree)), weights=sizes, minlength=bodies)
    return BLOCK * (4 * has_blocks(tree) + 2 * tree.torsional) + of_links.astype(np.int64)


def _joint_blocks(tree: Tree | CutJoints) -> Ints:
    """Return the offset of the first of the blocks of `_block_sizes` for each body (n,)."""
    sizes = _block_sizes(tree)
    return DIAGONAL_BLOCK * len(tree.frame) + np.cumsum(sizes) - sizes


def _end_of_blocks(tree: Tree | CutJoints) -> int:
    """Return the offset behind the blocks of `_block_sizes`."""
    return DIAGONAL_BLOCK * len(tree.frame) + int(_block_sizes(tree).sum())


def _diagonal_blocks(tree: Tree | CutJoints) -> Ints:
    """Return the offset (n,) of what assembly adds to the diagonal block of each body."""
    on_joints = tree.kind >= OTHER
    offset = _end_of_blocks(tree) + BLOCK * (np.cumsum(on_joints) - 1)
    return np.where(on_joints, offset, DIAGONAL_BLOCK * np.arange(len(on_joints)))


def _sums_rows(tree: Tree | CutJoints) -> np.ndarray:
    """Return (n,) bool: True for bodies without a joint to their parent on which joints of other bodies act."""
    has_joints = np.zeros(len(tree.frame) + 1, bool)
    if isinstance(tree, Tree):
        has_joints[tree.parent[tree.kind >= OTHER]] = True
        has_joints[tree.closing.place] = has_joints[tree.closing.parent] = True
    sums: np.ndarray = has_joints[:-1] & (tree.kind < OTHER)
    return sums


def _rows_blocks(tree: Tree | CutJoints) -> Ints:
    """Return the offset (n,) of the six rows of the bodies of `_sums_rows`; not valid for other bodies."""
    block: Ints = np.sum(tree.kind >= OTHER) + np.cumsum(_sums_rows(tree)) - 1
    return _end_of_blocks(tree) + BLOCK * block


def _discard_offset(tree: Tree | CutJoints) -> int:
    """Return the first offset after all blocks: entries there are discarded."""
    return _end_of_blocks(tree) + BLOCK * int(np.sum(tree.kind >= OTHER) + _sums_rows(tree).sum())


def _link_blocks(tree: Tree | CutJoints) -> Ints:
    """Return the offset (l,) of the blocks of each link."""
    counts, sizes = _counts(tree), _link_sizes(tree)
    begins = np.repeat(_joint_blocks(tree) + BLOCK * 4 * has_blocks(tree), counts)
    before = np.cumsum(sizes) - sizes
    first = np.append(before, 0)[np.repeat(np.cumsum(counts) - counts, counts)]
    return begins + before - first


def _link_backs(tree: Tree | CutJoints) -> Ints:
    """Return `TreeArrays.back`."""
    return np.where(tree.slim, SLIM_BACK, BLOCK) if isinstance(tree, Tree) else np.zeros(0, np.int64)


def _offsets_between(tree: Tree, row: Ints, column: Ints) -> Ints:
    """Return the offsets (k,) of the blocks with rows of the bodies `row` (k,) and columns of the bodies `column` (k,); -1:
    fixed.
    """
    n, joints = len(tree.frame), np.flatnonzero(has_blocks(tree))
    later = np.concatenate([joints, np.repeat(np.arange(n), _counts(tree))])
    earlier = np.concatenate([tree.parent[joints], tree.near])
    start = np.concatenate([_joint_blocks(tree)[joints], _link_blocks(tree)])
    back = np.concatenate([np.full(len(joints), BLOCK), _link_backs(tree)])
    key = later * (n + 1) + earlier + 1
    by_key = np.argsort(key)
    high, low = np.maximum(row, column), np.minimum(row, column)
    offsets = np.full(len(row), _discard_offset(tree), np.int64)
    distinct = (low >= 0) & (high > low)
    at = by_key[np.searchsorted(key[by_key], high[distinct] * (n + 1) + low[distinct] + 1)]
    offsets[distinct] = start[at] + back[at] * (row[distinct] < column[distinct])
    same = (low >= 0) & (high == low)
    offsets[same] = _diagonal_blocks(tree)[high[same]]
    return offsets


def _of_rows(system: System, tree: Tree, closing: Ints, at_row: Ints) -> Ints:
    """Return the offsets (k, 8) of the blocks aa, ab, ba, bb, a-lam, b-lam, lam-a, lam-b of constraints that close loops;
    `at_row` (k,): first row of each among the multipliers of its joint.
    """
    at = _positions_of(tree, len(system.frames.mass))[system.constraints.frames[closing]]
    rows, dump = tree.place[closing], _discard_offset(tree)
    offsets = np.zeros((len(closing), 8), np.int64)
    for a in (0, 1):
        for b in (0, 1):
            offsets[:, 2 * a + b] = _offsets_between(tree, at[:, a], at[:, b])
        moves = at[:, a] >= 0
        offsets[:, 4 + a] = np.where(moves, _offsets_between(tree, at[:, a], rows) + COLUMN * at_row, dump)
        offsets[:, 6 + a] = np.where(moves, _offsets_between(tree, rows, at[:, a]) + at_row, dump)
    return offsets


def _positions_of(tree: Tree, frames: int) -> Ints:
    """Return the position (n + 1,) of each frame in the tree; -1: the frame does not move or does not exist."""
    place = np.full(frames + 1, -1, np.int64)
    bodies = np.flatnonzero(tree.frame >= 0)
    place[tree.frame[bodies]] = bodies
    return place


def _of_frames(frames: Ints, tree: Tree) -> Ints:
    """Return the offsets (e, f, f) of the blocks between the frames (e, f) of elements or other interactions."""
    e, most = frames.shape
    if not e:
        return np.zeros((e, most, most), np.int64)
    at = _positions_of(tree, max(int(frames.max()), int(tree.frame.max())) + 1)[frames]
    row, column = (
        np.broadcast_to(at[:, :, None], (e, most, most)),
        np.broadcast_to(at[:, None], (e, most, most)),
    )
    return _offsets_between(tree, row.ravel(), column.ravel()).reshape(e, most, most)


def _of_strings(system: System, tree: Tree) -> Ints:
    """Return the offsets (m, MOST_FRAMES, MOST_FRAMES) of the blocks of strings, which have two frames."""
    offsets = np.zeros((len(system.spans.kind), MOST_FRAMES, MOST_FRAMES), np.int64)
    offsets[:, :2, :2] = _of_frames(system.spans.frames[:, :2], tree)
    return offsets


def _of_others(system: System, tree: Tree) -> Ints:
    """Return the offsets (e, f, f) of the blocks of all other interactions; `_block_sizes` says where couples on hinges add."""
    frames = system.others.frames
    couples, place, of_body = _torsional_couples(system, tree)
    offsets = _of_frames(np.where(couples[:, None], -1, frames), tree)
    which = np.flatnonzero(couples)
    for side in (0, 1):
        moved = which[of_body[which] == side]
        first = _joint_blocks(tree)[place[moved]]
        offsets[moved, side, side], offsets[moved, side, 1 - side] = first, first + BLOCK
    return offsets


def _torsional_couples(system: System, tree: Tree) -> tuple[np.ndarray, Ints, Ints]:
    """Find the other interactions that act on torsional joints: return (e,) bool, and the position of the body and the number of
    its end among the frames (e,), valid for these.
    """
    frames = system.others.frames
    if not tree.torsional.any():
        none = np.zeros(len(frames), np.int64)
        return none > 0, none, none
    at = _positions_of(tree, len(system.frames.mass))[frames[:, :2]]
    of_body = np.argmax(at, axis=1)  # parents come first
    place, other = at.max(axis=1), at.min(axis=1)
    couples = (
        tree.torsional[place] & (tree.parent[place] == other) & (other >= 0) & (frames[:, 2:] < 0).all(axis=1)
    )
    return couples, place, of_body


def _fill_in_blocks(tree: Tree | CutJoints) -> tuple[Ints, Ints]:
    """Return the fill-in blocks of the elimination, as `TreeArrays.left_of` (n,) and `TreeArrays.left`.

    The first array says where the list of each body begins, the second holds the offsets of the blocks to which it adds.
    """
    counts = _counts(tree)
    if not isinstance(tree, Tree) or not counts.any():
        return np.zeros(len(counts), np.int64), np.zeros(0, np.int64)
    with_parent = (tree.kind >= OTHER) & (counts > 0) & (tree.parent >= 0)
    sizes = (counts + with_parent) ** 2
    left_of = np.cumsum(sizes) - sizes
    rows = columns = np.zeros(int(sizes.sum()), np.int64)
    one = np.flatnonzero(sizes == 1)
    rows[left_of[one]] = tree.near[tree.link_of[one]]
    columns = rows.copy()
    for i in np.flatnonzero(sizes > 1).tolist():
        linked = tree.near[tree.link_of[i] : tree.link_of[i + 1]]
        linked = np.concatenate([tree.parent[i : i + 1], linked]) if with_parent[i] else linked
        at = slice(left_of[i], left_of[i] + sizes[i])
        rows[at], columns[at] = np.repeat(linked, len(linked)), np.tile(linked, len(linked))
    return left_of, _offsets_between(tree, rows, columns)


def tree_arrays(system: System, tree: Tree | CutJoints, by_one: Ints | None = None) -> TreeArrays:
    """Allocate and fill the arrays of a tree, or of its cut joints, treated as if each connected a separate body.

    `by_one`: bodies that are processed individually instead of in SIMD groups; by default all.
    """
    constraints, n = system.constraints, len(tree.frame)
    frames = system.frames
    first_row, rows_each = first_rows(constraints), rows_of(constraints)
    joined = np.flatnonzero(tree.kind > OTHER)
    first = tree.first[joined]
    ends = constraints.frames[first] if len(first) else np.zeros((0, 2), np.int64)
    is_b = ends[:, 1] == tree.frame[joined]
    side, partner = np.ones(n, np.int64), np.zeros(n, np.int64)
    side[joined] = np.where(is_b, 1, -1)
    partner[joined] = np.where(is_b, ends[:, 0], ends[:, 1])
    left_of, left = _fill_in_blocks(tree)
    turning = np.zeros(n, np.int64)
    for name, n_rows in TURNING.items():
        turning[tree.kind == name] = n_rows
    lam = np.zeros(n, np.int64)
    lam[joined] = first_row[tree.first[joined]]
    with_rows = np.flatnonzero((tree.kind == OTHER) | (tree.kind == ROWS))
    rows = np.zeros(n, np.int64)
    row: list[int] = []
    for place in with_rows.tolist():
        held_by = np.flatnonzero(tree.place == place)
        unknowns = [6 * n + first_row[c] + k for c in held_by.tolist() for k in range(rows_each[c])]
        rows[place] = len(unknowns)
        row += unknowns
    plain = has_closed_form(tree)
    general, free = np.flatnonzero(~plain & (tree.kind >= OTHER)), np.flatnonzero(tree.kind < OTHER)
    number = np.zeros(n, np.int64)
    number[general], number[free] = np.arange(len(general)), len(general) + np.arange(len(free))
    loops = isinstance(tree, Tree) and len(tree.closing.frame) > 0
    on_joints, none = tree.kind >= OTHER, np.zeros(0)
    joint = np.where(on_joints, np.cumsum(on_joints) - 1, np.sum(on_joints))
    alone = np.full(n, by_one is None)
    alone[[] if by_one is None else by_one] = True
    arrays = TreeArrays(
        frame=tree.frame,
        parent=tree.parent,
        kind=tree.kind,
        slides=tree.slides,
        coupled=has_blocks(tree) & (tree.parent >= 0),
        torsional=tree.torsional,
        acted=_acted(system, tree),
        plain=plain,
        sliding=np.flatnonzero(tree.slides > 0),
        closing=np.flatnonzero(tree.kind == ROWS),
        free=np.where(tree.kind <= OTHER, 6 - rows, tree.slides + 3 - turning),
        partner=partner,
        side=side,
        X=none,
        U=none,
        turning=turning,
        D=none,
        across=none,
        lam=lam,
        rows=rows,
        first_row=np.cumsum(rows) - rows,
        row=np.array(row, np.int64),
        block=_joint_blocks(tree),
        joint=joint,
        general_index=number,
        reach=none,
        scaled=np.zeros(0, bool) if isinstance(tree, CutJoints) else tree.kinds <= OTHER,
        joint_data=aligned(int(joint.max(initial=-1)) + 1, SIZE),
        spin0=np.zeros((int(alone.sum()), 3)),
        directions=np.zeros((len(general), WIDTH * FREE_SIZE)),
        factors=np.zeros((len(general) + len(free) * loops, WIDTH, WIDTH)),
        blocks=aligned(3 * DIAGONAL_BLOCK),
        bases=np.zeros((len(general), 4, 6, 6)),
        solved=np.zeros(6),
        link_of=tree.link_of if isinstance(tree, Tree) else np.zeros(n + 1, np.int64),
        near=tree.near if isinstance(tree, Tree) else np.zeros(0, np.int64),
        link=_link_blocks(tree),
        back=_link_backs(tree),
        left_of=left_of,
        left=left,
        linked=np.zeros(
            (_counts(tree).sum() * bool(_counts(tree)[tree.kind >= OTHER].any()), WIDTH * ROW_STRIDE)
        ),
        acting=_diagonal_blocks(tree),
        sums=np.where(_sums_rows(tree), _rows_blocks(tree), DIAGONAL_BLOCK * np.arange(n)),
        alone=np.flatnonzero(alone),
        joints_alone=np.flatnonzero((alone | (tree.slides > 0)) & (tree.kind > OTHER)),
        fixed_frames=np.concatenate([np.flatnonzero(frames.fixed != 0), tree.frame[tree.kind == POINT]]),
        needs_iteration=bool(np.any(~plain & (tree.kind > OTHER))),
        loops=loops,
    )
    return with_geometry(arrays, system, tree)


def _acted(system: System, tree: Tree | CutJoints) -> np.ndarray:
    """Return (n,) bool: for bodies on joints, whether assembly adds to their diagonal blocks; for others, whether joints act on
    them.
    """
    acted = np.zeros(len(system.frames.mass) + 1, bool)
    if isinstance(tree, Tree):
        numerical = system.constraints.frames[tree.kinds <= OTHER]
        acting = system.others.frames[~_torsional_couples(system, tree)[0]]
        for frames in (
            system.elements.frames,
            system.spans.frames[:, :2],
            acting,
            numerical,
            tree.frame[tree.near],
        ):
            acted[frames] = True
    return np.where(tree.kind < OTHER, _sums_rows(tree), acted[tree.frame])


def with_geometry(arrays: TreeArrays, system: System, tree: Tree | CutJoints) -> TreeArrays:
    """Return the arrays with the points, axes and characteristic lengths of a system of the same structure."""
    constraints, frames, n = system.constraints, system.frames, len(tree.frame)
    joined = np.flatnonzero(tree.kind > OTHER)
    first, named_last = tree.first[joined], (arrays.side[joined] > 0)[:, None]
    X, U, D = np.zeros((n, 2, 3)), np.zeros((n, 3, 2, 3)), np.zeros((n, 3, 2, 3))
    Xa, Xb = constraints.Xa[first], constraints.Xb[first]
    X[joined, 0], X[joined, 1] = np.where(named_last, Xb, Xa), np.where(named_last, Xa, Xb)
    for name in TURNING.keys() & set(tree.kind.tolist()):
        members = np.flatnonzero(tree.kind == name)
        for k in range(TURNING[name]):
            row = tree.first[members] + TRANSLATIONS[tree.slides[members]] + k
            D[members, k, 0], D[members, k, 1] = constraints.Ua[row], constraints.Ub[row]
    hinges, crosses = (np.flatnonzero(tree.kind == name) for name in (HINGE, UNIVERSAL))
    if len(hinges):
        row = tree.first[hinges] + TRANSLATIONS[tree.slides[hinges]]
        U[hinges, 0, 0], U[hinges, 0, 1] = axes_of(constraints, row), D[hinges, 0, 1]
    U[crosses, 0] = D[crosses, 0]
    for k in np.flatnonzero(tree.kind == WELD).tolist():
        row = int(tree.first[k] + TRANSLATIONS[tree.slides[k]])
        U[k] = np.stack(triads_of(constraints, row), axis=1)
    of_b = joined[arrays.side[joined] > 0]
    U[of_b] = U[of_b, :, ::-1]  # order: body, parent
    if len(hinges):
        U[hinges, 1, 0], U[hinges, 2, 0] = _across(U[hinges, 0, 0])
    across = np.zeros((n, 2, 3))
    for slides in (1, 2):
        members = np.flatnonzero(tree.slides == slides)
        for k in range(3 - slides):
            across[members, k] = constraints.Ua[tree.first[members] + k]
    mass = np.maximum(frames.mass[tree.frame], 1e-300)
    reach = np.sqrt(np.trace(frames.inertia[tree.frame], axis1=1, axis2=2) / mass)
    reach[np.isin(tree.frame, system.spans.frames[:, :2])] = 0.0  # nodes of strings do not rotate
    along = np.zeros(len(frames.mass))
    np.maximum.at(along, system.elements.frames, system.elements.length[:, None])
    np.maximum.at(along, system.spans.frames[:, :2], system.spans.length[:, None])
    reach = np.maximum(np.maximum(reach, along[tree.frame]), lengths(X[:, 0]))
    on_joints = tree.kind >= OTHER
    if not on_joints.all():
        X, U, D, across = (
            np.concatenate([array[on_joints], np.zeros_like(array[:1])]) for array in (X, U, D, across)
        )
    return arrays._replace(X=X, U=U, D=D, across=across, reach=reach + 1e-300)


def _across(axes: Floats) -> tuple[Floats, Floats]:
    """Return two arrays (k, 3) of unit vectors that are perpendicular to given unit vectors (k, 3) and to each other."""
    one = cross(axes, np.eye(3)[np.argmin(np.abs(axes), axis=1)])
    one /= lengths(one)[:, None]
    return one, cross(axes, one)


def workspace_of(
    system: System, tree: Tree, numbering: Numbering, tolerance: float, alone: Ints
) -> Workspace:
    """Return the workspace of assembly, without the joints that the elimination handles in closed form; `alone`: bodies outside
    SIMD groups, from `simd_body_groups`.
    """
    work = with_parameters(allocate_workspace(system, numbering, True), system, numbering, True, tolerance)
    facts = work.facts
    other = tree.kinds[facts.closed] <= OTHER
    before = np.concatenate([[0], np.cumsum(other)])
    return work._replace(
        alone=tree.frame[alone],
        values=aligned(len(work.values)),
        solution=np.zeros((2, 0, 3)),  # this and the following arrays serve only the general step
        pivots=np.zeros(0, np.int32),
        first=np.zeros(0, np.int32),
        facts=facts._replace(closed=facts.closed[other], first=before[facts.first]),
    )


def simd_body_groups(system: System, tree: Tree, fewest: int = MIN_GROUP_BODIES) -> tuple[Ints, Ints]:
    """Return the bodies of all SIMD groups (8 groups,) and the bodies that are processed individually (k,).

    The last group of a kind repeats its last body. The joints of a group are of one kind, and their bodies are all frame a or all
    frame b. Groups on joints of closed form come first, then other joints, among them those that slide, then FREE bodies,
    then all POINT bodies.
    `fewest`: smallest number of bodies for which a last, incomplete group is formed; no groups are formed if it exceeds eight.
    """
    joined = np.flatnonzero(tree.kind > OTHER)
    is_b = np.zeros(len(tree.kind), np.int64)
    is_b[joined] = system.constraints.frames[tree.first[joined], 1] == tree.frame[joined]
    number = np.where(tree.slides > 0, 0, 2 * tree.kind + is_b)
    together, alone = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for kind in np.unique(number[tree.frame >= 0])[::-1]:
        bodies = np.flatnonzero(number == kind)
        remainder, least = len(bodies) % LANES, fewest if kind != 2 * POINT else 1
        grouped = len(bodies) - (remainder if remainder < least else 0) if least <= LANES else 0
        together.append(bodies[np.minimum(np.arange(-(-grouped // LANES) * LANES), grouped - 1)])
        alone.append(bodies[grouped:])
    return np.concatenate(together), np.concatenate(alone)
