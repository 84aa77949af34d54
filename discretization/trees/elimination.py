"""Solve the Newton system of a tree of n bodies in O(n): leaf-to-root elimination of linearised joints, then back substitution.

The method is that of the articulated body (Featherstone, Rigid Body Dynamics Algorithms, ch. 7). Newton's iterates are those of
the full system of equations. All motions are expressed at the point of the body's joint: z = (y, e) is the displacement of that
point and the rotation of the body, w the part of z relative to the parent, z = z_p + w. With r the residual force and moment of
the body's equations,

    body   r + B z_p + A w     on parent   r + B2 z_p + A2 w     w = z0 + sum u_j (s_j, a_j)                     (1)
    conditions   (n_j, m_j) . (body) + tb_j . e + tp_j . e_p = 0,   j < d                                           (2)

s_j, a_j are the d free directions of the joint (translation, rotation). In the directions (n_j, m_j) the joint transmits no force
and no moment. The constraint violation of the joint is z0: an iterate may have a gap (translation) and a tilt (rotation). The
derivatives of a condition by the rotation of the body and of its parent are tb_j and tp_j.

    A = B = A2 = B2    if nothing else acts between both (`_eliminate_rotations`: one direction after the other, no d x d matrix)
    A - hat(f/2)       if the joint slides on lines of the body: the lever of its force f moves; A2 - hat(f/2) if it slides
    B + K_bp, A2 + K_pb, B2 + K_bp + K_pb   with the blocks of what else acts between both, a spring for example

Couples that act between both bodies beside a hinge (torsion springs, motors) have no effect on both together. They do not enter
the blocks: their derivatives along m_j are added to tb_j and tp_j.

Every block also contains f (eta x x1)/2, the geometric stiffness of the joint force f as its lever on the body rotates. If no
joint closes a loop or slides and no other element acts between a body and its parent, the force and the moment of a joint balance
the residual r of the body and of all its descendants. They need not be known before the elimination. Otherwise they are iterates.

Ball joints have separate formulas, and so have bodies without a joint (`discretization.trees.free_bodies`).
`discretization.trees.null_spaces` computes the free directions of joints without closed forms. `discretization.trees.links`
handles elements between bodies that are not parent and child. A right-hand side that is added later, such as the force of a joint
that closes a loop, passes through the same two sweeps with the stored factors of each joint (`carry_load`, `carry_motion`).
"""

from __future__ import annotations

from discretization.trees.bodies import load_matrix_rows, store_vector, vector_at
from discretization.trees.data_layout import (
    AXIS,
    BALL_0,
    BALL_K,
    BALL_ROWS,
    BLOCK,
    BY_COUPLE,
    COLUMN,
    CONDITION,
    COUPLE,
    DIAGONAL_BLOCK,
    FORCE,
    FREE_AXIS,
    FREE_CONDITION,
    FREE_M,
    FREE_N,
    FREE_ROW,
    FREE_SHIFT,
    FREE_SIZE,
    GAP,
    JOINT_FORCE,
    JOINT_MOMENT,
    LEVER,
    LEVER1,
    MOMENT,
    NEW_COUPLE,
    NEW_FORCE,
    NEXT,
    NEXT_LEFT,
    PARENT_LEVER,
    PARENT_LEVER1,
    ROW,
    ROW_0,
    ROW_STRIDE,
    TILT,
    TURN,
    TURNS,
    TURNS_BODY,
    TURNS_PARENT,
)
from discretization.trees.free_bodies import (
    apply_free_load,
    block_of,
    carry_free_load,
    carry_free_motion,
    correct_free_body,
    correct_point,
    eliminate_free,
    eliminate_point,
)
from discretization.trees.free_directions import store_free_directions
from discretization.trees.links import eliminate_links, force_from_links, unknown_from_links
from discretization.trees.null_spaces import store_multiplier_corrections, store_null_spaces
from discretization.trees.spanning_tree import BALL, FREE, HINGE, OTHER, POINT, UNIVERSAL
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    cross,
    dot,
    hat,
    hat_times,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    plus,
    product,
    times,
    times_hat,
)
from rigid.stiffness_rows import put_row, row_at, row_minus, row_moved, row_of, row_plus, row_times

# offsets of the scratch blocks A2, B and B2 of (1) in `TreeArrays.blocks`, for joints that slide or that have another
# element between body and parent
AT_A2, AT_B, AT_B2 = 0, DIAGONAL_BLOCK, 2 * DIAGONAL_BLOCK
ELIMINATE, CORRECT = 0, 1  # tasks of `process_general_joint`


@inline_kernel
def add_to_rows(x, at, A):
    """Add a 3 x 3 matrix to an array in row storage: x[at + 8 i + j] += A_ij."""
    for i in range(3):
        for j in range(3):
            x[at + ROW_STRIDE * i + j] += A[3 * i + j]


@inline_kernel
def matrix_at(x, i):
    """Return the 3 x 3 matrix stored row by row in x[i:i + 9]."""
    return x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6], x[i + 7], x[i + 8]


@inline_kernel
def put_matrix(x, i, A):
    """Store a 3 x 3 matrix row by row: x[i:i + 9] = A."""
    for j in range(9):
        x[i + j] = A[j]


@inline_kernel
def add_vector(x, i, a):
    """Add a vector to three numbers of an array: x[i:i + 3] += a."""
    x[i] += a[0]
    x[i + 1] += a[1]
    x[i + 2] += a[2]


@inline_kernel
def _along(x, at, y, e):
    """Return the product of the row at `at` with a motion (y, e)."""
    return dot(vector_at(x, at), y) + dot(vector_at(x, at + TURN), e)


@inline_kernel
def _three_along(x, at, y, e):
    """Return the products of three consecutive rows with a motion (y, e), as a vector."""
    return _along(x, at, y, e), _along(x, at + ROW_STRIDE, y, e), _along(x, at + 2 * ROW_STRIDE, y, e)


@inline_kernel
def _applied(x, at, y, e):
    """Return the force and the moment (3 each) that the 6 x 6 block at `at` gives for a motion (y, e)."""
    return _three_along(x, at, y, e), _three_along(x, at + MOMENT, y, e)


@inline_kernel
def _three_rotated(x, at, e):
    """Return the products of three consecutive rows with a rotation e, as a vector."""
    at += TURN
    return (
        dot(vector_at(x, at), e),
        dot(vector_at(x, at + ROW_STRIDE), e),
        dot(vector_at(x, at + 2 * ROW_STRIDE), e),
    )


@inline_kernel
def _rows_at(x, at):
    """Load three consecutive rows."""
    return row_at(x, at), row_at(x, at + ROW_STRIDE), row_at(x, at + 2 * ROW_STRIDE)


@inline_kernel
def _combined(n, rows):
    """Return n_0 row_0 + n_1 row_1 + n_2 row_2."""
    return row_plus(row_plus(row_times(n[0], rows[0]), row_times(n[1], rows[1])), row_times(n[2], rows[2]))


@inline_kernel
def _with_row(rows, f, row):
    """Return three rows + f row^T."""
    return (
        row_plus(rows[0], row_times(f[0], row)),
        row_plus(rows[1], row_times(f[1], row)),
        row_plus(rows[2], row_times(f[2], row)),
    )


@inline_kernel
def _with_dyad(rows, x, f, sign):
    """Return three rows plus sign (x f^T - x . f I) in their rotation columns: the geometric stiffness of a force f whose lever x
    rotates.
    """
    none = (0.0, 0.0, 0.0)
    dyad_row, diagonal = row_of(none, times(sign, f)), -sign * dot(x, f)
    one, two, three = _with_row(rows, x, dyad_row)
    return (
        row_plus(one, row_of(none, (diagonal, 0.0, 0.0))),
        row_plus(two, row_of(none, (0.0, diagonal, 0.0))),
        row_plus(three, row_of(none, (0.0, 0.0, diagonal))),
    )


@inline_kernel
def inverse(A):
    """Return the inverse of a 3 x 3 matrix."""
    a, b, c = A[4] * A[8] - A[5] * A[7], A[5] * A[6] - A[3] * A[8], A[3] * A[7] - A[4] * A[6]
    d = 1.0 / (A[0] * a + A[1] * b + A[2] * c)
    return (
        d * a, d * (A[2] * A[7] - A[1] * A[8]), d * (A[1] * A[5] - A[2] * A[4]),
        d * b, d * (A[0] * A[8] - A[2] * A[6]), d * (A[2] * A[3] - A[0] * A[5]),
        d * c, d * (A[1] * A[6] - A[0] * A[7]), d * (A[0] * A[4] - A[1] * A[3]),
    )  # fmt: skip


@inline_kernel
def _shifted_block(values, at, x, c1):
    """Transform a block of assembly (6 x 6, forces and moments about body centres by motions of body centres) to other reference
    points: x from the centre of its rows, c1 from the centre of its columns.

    Return its four 3 x 3 parts: force by displacement, force by rotation, moment by displacement, moment by rotation.
    """
    rr, tr = block_of(values, at), block_of(values, at + 3)
    fe = matrix_plus(block_of(values, at + 3 * COLUMN), times_hat(rr, c1))
    te = matrix_plus(block_of(values, at + 3 * COLUMN + 3), times_hat(tr, c1))
    return rr, fe, matrix_minus(tr, hat_times(x, rr)), matrix_minus(te, hat_times(x, fe))


@inline_kernel
def _add_block(block, into, to):
    """Add the four 3 x 3 parts of a block, as `_shifted_block` returns them, to six rows of an array."""
    add_to_rows(into, to, block[0])
    add_to_rows(into, to + TURN, block[1])
    add_to_rows(into, to + MOMENT, block[2])
    add_to_rows(into, to + MOMENT + TURN, block[3])


@internal_kernel
def transform_to_joint(tree, work, i):
    """Transform what assembly added to the diagonal block of a body on a joint to the point of the joint, and add it to the block
    of the elimination.
    """
    w = tree.joint_data[tree.joint[i]]
    block = _shifted_block(work.values, tree.acting[i], vector_at(w, LEVER), vector_at(w, LEVER1))
    _add_block(block, work.values, DIAGONAL_BLOCK * i)


def process_general_joint(task, tree, work, i, iterated):
    """Process a body whose joint is not plain: it slides, has no closed form, or another element acts between body and parent.

    With `task` ELIMINATE, eliminate the body and return 0. With CORRECT, store its correction and return the size of it as a
    rotation, rad.
    """
    if task == ELIMINATE:
        _eliminate_general(tree, work, i, iterated)
        return 0.0
    return _correct_general_body(tree, work, i)


def no_general_joint(task, tree, work, i, iterated):
    """Return 0 and do nothing; used in place of `process_general_joint` in a tree without such bodies."""
    return 0.0


@internal_kernel
def eliminate(tree, work, iterated, general_joint):
    """Eliminate all bodies, leaves first.

    `iterated`: True if forces and moments of joints are iterates and stored at HELD_FORCE; `general_joint`: compiled
    `process_general_joint`.
    """
    for i in range(tree.frame.shape[0] - 1, -1, -1):
        if tree.kind[i] <= FREE:
            if tree.kind[i] == POINT:
                eliminate_point(tree, work, i)
            else:
                eliminate_free(tree, work, i)
            continue
        if tree.acted[i]:
            transform_to_joint(tree, work, i)
        if tree.plain[i]:
            eliminate_plain(tree, work, i, iterated)
        else:
            general_joint(ELIMINATE, tree, work, i, iterated)


@inline_kernel
def _about_joint(work, w, i):
    """Return the residual force of a body and its residual moment about the point of its joint."""
    F = vector_at(work.residual, 6 * i)
    return F, minus(vector_at(work.residual, 6 * i + 3), cross(vector_at(w, LEVER), F))


@internal_kernel
def eliminate_plain(tree, work, i, iterated):
    """Eliminate a body whose joint only rotates or is a weld; `iterated`: as in `eliminate`."""
    w = tree.joint_data[tree.joint[i]]
    F, k = _about_joint(work, w, i)
    f, couple = (vector_at(w, JOINT_FORCE), vector_at(w, JOINT_MOMENT)) if iterated else (F, k)
    half = times(0.5, f)
    moments = _add_geometric_stiffness(work, w, i, half)
    if tree.kind[i] == BALL:
        _eliminate_ball(tree, work, i, F, k, half)
    elif tree.kind[i] == HINGE:  # a constant number of directions saves 12 % of the time
        _eliminate_rotations(tree, work, i, 1, moments, F, k, couple, half)
    elif tree.kind[i] == UNIVERSAL:
        _eliminate_rotations(tree, work, i, 2, moments, F, k, couple, half)
    else:
        _eliminate_rotations(tree, work, i, 0, moments, F, k, couple, half)


@inline_kernel
def _add_geometric_stiffness(work, w, i, half):
    """Add the geometric stiffness of the joint force, whose lever on the body rotates, to the block of the body; return the three
    moment rows of the sum. `half`: half of the joint force.
    """
    at = DIAGONAL_BLOCK * i + MOMENT
    moments = _with_dyad(_rows_at(work.values, at), vector_at(w, LEVER1), half, -1.0)
    put_row(moments[0], work.values, at)
    put_row(moments[1], work.values, at + ROW_STRIDE)
    put_row(moments[2], work.values, at + 2 * ROW_STRIDE)
    return moments


@always_inline_kernel
def _eliminate_rotations(tree, work, i, d, moments, F, k, couple, half):
    """Eliminate d free rotation axes of a joint one after the other, store the row and the forces of each, and add the Schur
    complement to the parent.

    This is (1) with A = B = A2 = B2. F, k: residual force and moment about the joint; `couple`: moment of the joint; `half`: half
    of the force of the joint; `moments`: as `_add_geometric_stiffness` returns them.
    """
    values, w, at = work.values, tree.joint_data[tree.joint[i]], DIAGONAL_BLOCK * i
    gap, tilt, none = vector_at(w, GAP), vector_at(w, TILT), (0.0, 0.0, 0.0)
    f, g = _applied(values, at, times(-1.0, gap), tilt)
    F, k = plus(F, f), plus(k, g)
    forces = _rows_at(values, at)
    for j in range(d):
        o, to = NEXT * j, NEXT_LEFT * j
        a, m = vector_at(w, AXIS + o), vector_at(w, CONDITION + o)
        row = _combined(m, moments)
        f, g = _three_rotated(values, at, a), _three_rotated(values, at + MOMENT, a)
        for c in range(j):  # `moments` contains the earlier directions, `values` does not
            before = NEXT_LEFT * c
            u = dot(vector_at(w, ROW + before + TURN), a)
            f = plus(f, times(u, vector_at(w, FORCE + before)))
            g = plus(g, times(u, vector_at(w, COUPLE + before)))
        turning = times(0.5, cross(vector_at(w, TURNS + o), couple))
        turning_of_body = times(_axis_on_body(tree, i, j), turning)
        if d == 1:  # a hinge
            by_body, by_parent = _couple_along(tree, work, i, m)
            turning_of_body = plus(turning_of_body, by_body)
            turning = plus(turning, plus(by_body, by_parent))
        x = -1.0 / (dot(m, g) + dot(turning_of_body, a))
        c = x * (dot(m, k) + dot(turning_of_body, tilt))
        row = row_times(x, row_plus(row, row_of(none, turning)))
        put_row(row, w, ROW + to)
        store_vector(w, FORCE + to, f)
        store_vector(w, COUPLE + to, g)
        w[ROW_0 + to], w[BY_COUPLE + to] = c, x
        forces, moments = _with_row(forces, f, row), _with_row(moments, g, row)
        F, k = plus(F, times(c, f)), plus(k, times(c, g))
    _add_to_parent(tree, work, i, forces, moments, F, k, half)


@inline_kernel
def _couple_along(tree, work, i, m):
    """Return the derivatives along m of the moment on a body from the couples beside its hinge: by the rotation of the body and
    by that of its parent.
    """
    if not tree.torsional[i]:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    by_body, by_parent = _couple_blocks(tree, work, i)
    return apply_transposed(by_body, m), apply_transposed(by_parent, m)


@inline_kernel
def _couple_blocks(tree, work, i):
    """Return the derivatives of the moment on a body of the couples beside its hinge, by its rotation and by its parent's."""
    at = tree.block[i] + 3 * COLUMN + 3
    return block_of(work.values, at), block_of(work.values, at + BLOCK)


@inline_kernel
def _axis_on_body(tree, i, j):
    """Return 1.0 if the axis of condition j rotates with the body, 0.0 if it rotates with the parent; the latter come last."""
    if tree.kind[i] == HINGE:
        return 1.0 if tree.side[i] > 0 else 0.0
    return 1.0 if j == 0 else 0.0


@always_inline_kernel
def _eliminate_ball(tree, work, i, F, k, half):
    """Eliminate a ball joint. It transmits no moment, k + ky y + ke e = 0, which gives the rotation e; no columns are left for
    the rotation of the parent.
    """
    values, w, at = work.values, tree.joint_data[tree.joint[i]], DIAGONAL_BLOCK * i
    gap = vector_at(w, GAP)
    ky, E = load_matrix_rows(values, at + MOMENT), inverse(load_matrix_rows(values, at + MOMENT + TURN))
    by_y = matrix_times(-1.0, product(E, ky))
    of_0 = times(-1.0, plus(apply(by_y, gap), apply(E, k)))
    put_matrix(w, BALL_K, E)
    store_vector(w, BALL_0, of_0)
    F = plus(F, _three_along(values, at, times(-1.0, gap), of_0))
    forces = _rows_at(values, at)
    for j in range(3):  # rotation relative to the parent, by the motion of the parent
        unit = (-1.0 * (j == 0), -1.0 * (j == 1), -1.0 * (j == 2))
        row = row_of((by_y[3 * j], by_y[3 * j + 1], by_y[3 * j + 2]), unit)
        put_row(row, w, BALL_ROWS + ROW_STRIDE * j)
        to = at + TURN + j
        forces = _with_row(forces, (values[to], values[to + ROW_STRIDE], values[to + 2 * ROW_STRIDE]), row)
    _add_to_parent(tree, work, i, forces, None, F, None, half)


@internal_kernel
def _eliminate_general(tree, work, i, iterated):
    """Eliminate a body whose joint slides or has no closed form, or that another element connects to its parent."""
    values, w, index, at = (
        work.values,
        tree.joint_data[tree.joint[i]],
        tree.general_index[i],
        DIAGONAL_BLOCK * i,
    )
    numerical, slides, coupled = tree.kind[i] == OTHER, tree.slides[i] > 0, tree.coupled[i]
    if numerical:
        store_null_spaces(tree, work, i)
    F, k = _about_joint(work, w, i)
    f, couple = (vector_at(w, JOINT_FORCE), vector_at(w, JOINT_MOMENT)) if iterated else (F, k)
    half = times(0.5, f)  # negligible if numerical: the constraint rows contribute their forces
    if not numerical:
        store_free_directions(tree, i, f, couple)
    _add_geometric_stiffness(work, w, i, half)
    blocks, x = tree.blocks, values
    offset_b = offset_b2 = at  # offsets of B and B2 in x
    if slides or coupled:
        _copy_block(values, at, blocks, AT_A2)
    on_body = slides and tree.side[i] < 0  # its lever moves, so A differs from the other blocks
    if coupled or on_body:
        x, offset_b, offset_b2 = blocks, AT_B, AT_B2
        _copy_block(values, at, blocks, AT_B)
        _copy_block(values, at, blocks, AT_B2)
    if coupled:
        _add_coupling_blocks(tree, work, i)
    if slides:
        moves = matrix_times(-1.0, hat(half))
        add_to_rows(blocks, AT_A2 + MOMENT, moves)
        if on_body:
            add_to_rows(values, at + MOMENT, moves)
    A2 = (blocks, AT_A2) if slides or coupled else (values, at)
    F, k = _eliminate_free_directions(tree, index, i, (values, at), (x, offset_b), A2, F, k)
    if tree.link_of[i] < tree.link_of[i + 1]:
        eliminate_links(tree, work, i)
    forces, moments = _rows_at(x, offset_b2), _rows_at(x, offset_b2 + MOMENT)
    q = tree.directions[index]
    for j in range(tree.free[i]):
        to = FREE_SIZE * j + FREE_ROW - ROW
        row = row_at(q, to + ROW)
        forces = _with_row(forces, vector_at(q, to + FORCE), row)
        moments = _with_row(moments, vector_at(q, to + COUPLE), row)
    _add_to_parent(tree, work, i, forces, moments, F, k, half)


@inline_kernel
def _copy_block(x, at, into, to):
    """Copy a block of six rows from one array to another."""
    for r in range(0, DIAGONAL_BLOCK, ROW_STRIDE):
        put_row(row_at(x, at + r), into, to + r)


@internal_kernel
def _add_coupling_blocks(tree, work, i):
    """Add the blocks of elements between a body and its parent to B, A2 and B2: forces on the body by the motion of its parent,
    and on the parent by the motion of the body.
    """
    w, first, values, blocks = tree.joint_data[tree.joint[i]], tree.block[i], work.values, tree.blocks
    x, x1 = vector_at(w, LEVER), vector_at(w, LEVER1)
    y, y1 = vector_at(w, PARENT_LEVER), vector_at(w, PARENT_LEVER1)
    on_body, on_parent = _shifted_block(values, first, x, y1), _shifted_block(values, first + BLOCK, y, x1)
    _add_block(on_body, blocks, AT_B)
    _add_block(on_body, blocks, AT_B2)
    _add_block(on_parent, blocks, AT_A2)
    _add_block(on_parent, blocks, AT_B2)


@always_inline_kernel
def _eliminate_free_directions(tree, index, i, A, B, A2, F, k):
    """Eliminate all free directions of a joint at once with the blocks A, B, A2 of (1), and store the rows and forces of each
    direction.

    `index`: index of the joint in the arrays of joints that are not plain; A, B, A2: pairs (array, offset). Return the force and
    moment that remain for the parent. `_eliminate_rotations` is the counterpart for plain joints.
    """
    w, d, lu, q = tree.joint_data[tree.joint[i]], tree.free[i], tree.factors[index], tree.directions[index]
    gap, tilt, none = vector_at(w, GAP), vector_at(w, TILT), (0.0, 0.0, 0.0)
    has_parent = tree.parent[i] >= 0
    for j in range(d):
        o, to = FREE_SIZE * j, FREE_SIZE * j + FREE_ROW - ROW
        n, m = vector_at(q, o + FREE_N), vector_at(q, o + FREE_M)
        turns = vector_at(q, o + TURNS_BODY)
        put_row(row_plus(_condition(A, n, m), row_of(none, turns)), q, o + FREE_CONDITION)
        q[to + ROW_0] = dot(n, F) + dot(m, k) + _along(q, o + FREE_CONDITION, times(-1.0, gap), tilt)
        for c in range(d):
            by = FREE_SIZE * c
            lu[j, c] = _along(
                q, o + FREE_CONDITION, vector_at(q, by + FREE_SHIFT), vector_at(q, by + FREE_AXIS)
            )
        if has_parent:
            turns = plus(turns, vector_at(q, o + TURNS_PARENT))
            put_row(row_plus(_condition(B, n, m), row_of(none, turns)), q, to + ROW)
            f, g = _applied(A2[0], A2[1], vector_at(q, o + FREE_SHIFT), vector_at(q, o + FREE_AXIS))
            store_vector(q, to + FORCE, f)
            store_vector(q, to + COUPLE, g)
    _factor(lu, d)
    _solve(lu, d, q, FREE_ROW + ROW_0 - ROW)
    if not has_parent:
        return F, k
    for r in range(3):
        _solve(lu, d, q, FREE_ROW + r)
        _solve(lu, d, q, FREE_ROW + TURN + r)
    f, g = _applied(A2[0], A2[1], times(-1.0, gap), tilt)
    F, k = plus(F, f), plus(k, g)
    for j in range(d):
        to = FREE_SIZE * j + FREE_ROW - ROW
        c = q[to + ROW_0]
        F, k = plus(F, times(c, vector_at(q, to + FORCE))), plus(k, times(c, vector_at(q, to + COUPLE)))
    return F, k


@inline_kernel
def _condition(K, n, m):
    """Return the row n . force + m . moment of a block K = (array, offset)."""
    x, at = K
    return row_plus(_combined(n, _rows_at(x, at)), _combined(m, _rows_at(x, at + MOMENT)))


@internal_kernel
def _factor(lu, d):
    """Factorise the d x d matrix of conditions by free directions (LU in place). Each condition belongs to one direction, so rows
    are not exchanged.
    """
    for j in range(d):
        lu[j, j] = 1.0 / lu[j, j]
        for i in range(j + 1, d):
            lu[i, j] *= lu[j, j]
            for c in range(j + 1, d):
                lu[i, c] -= lu[i, j] * lu[j, c]


@internal_kernel
def _solve(lu, d, x, at):
    """Replace x by -D^-1 x, D the factorised matrix; component i of x is stored at x[at + FREE_SIZE i]."""
    for i in range(d):
        for j in range(i):
            x[at + FREE_SIZE * i] -= lu[i, j] * x[at + FREE_SIZE * j]
    for i in range(d - 1, -1, -1):
        left = -x[at + FREE_SIZE * i]
        for j in range(i + 1, d):
            left -= lu[i, j] * x[at + FREE_SIZE * j]
        x[at + FREE_SIZE * i] = lu[i, i] * left


@always_inline_kernel
def _add_to_parent(tree, work, i, forces, moments, F, k, half):
    """Add the Schur complement of an eliminated body to the block and the residual of its parent; the block of the parent is
    expressed at the parent's own joint.

    `forces`, `moments`: three rows each; F, k: force and moment about the joint; `moments` and k are None if the joint transmits
    no moment; `half`: half of the force of the joint.
    """
    p = tree.parent[i]
    if p < 0:
        return
    values, w, above, to = (
        work.values,
        tree.joint_data[tree.joint[i]],
        tree.joint_data[tree.joint[p]],
        tree.sums[p],
    )
    y1, y = vector_at(w, PARENT_LEVER1), vector_at(w, PARENT_LEVER)
    arm1, arm = minus(y1, vector_at(above, LEVER1)), minus(y, vector_at(above, LEVER))
    back = row_of(arm1, arm1)
    f0, f1, f2 = _rows_moved(forces, back)
    moment_rows = (
        row_minus(row_times(arm[1], f2), row_times(arm[2], f1)),
        row_minus(row_times(arm[2], f0), row_times(arm[0], f2)),
        row_minus(row_times(arm[0], f1), row_times(arm[1], f0)),
    )
    moment = cross(y, F)
    if moments is not None:
        m0, m1, m2 = _rows_moved(moments, back)
        moment_rows = row_plus(m0, moment_rows[0]), row_plus(m1, moment_rows[1]), row_plus(m2, moment_rows[2])
        moment = plus(k, moment)
    # geometric stiffness: the force's lever on the parent rotates
    moment_rows = _with_dyad(moment_rows, y1, half, 1.0)
    _add_rows((f0, f1, f2), values, to)
    _add_rows(moment_rows, values, to + MOMENT)
    add_vector(work.residual, 6 * p, F)
    add_vector(work.residual, 6 * p + 3, moment)


@inline_kernel
def _rows_moved(rows, back):
    """Return three rows expressed by the motion of a reference point that is shifted back by an arm; `back`: (arm,
    arm) as a row.
    """
    return row_moved(rows[0], back), row_moved(rows[1], back), row_moved(rows[2], back)


@inline_kernel
def _add_rows(rows, x, at):
    """Add three rows to three consecutive rows of an array."""
    put_row(row_plus(row_at(x, at), rows[0]), x, at)
    put_row(row_plus(row_at(x, at + ROW_STRIDE), rows[1]), x, at + ROW_STRIDE)
    put_row(row_plus(row_at(x, at + 2 * ROW_STRIDE), rows[2]), x, at + 2 * ROW_STRIDE)


@internal_kernel
def reeliminate(tree, work):
    """Eliminate all bodies with the factors of the previous iteration (simplified Newton; Deuflhard, Newton Methods for Nonlinear
    Problems, 2.1.2).

    Residuals, levers, gaps, tilts and axes are up to date. All joints must be plain.
    """
    for i in range(tree.frame.shape[0] - 1, -1, -1):
        reeliminate_plain(tree, work, i)


@always_inline_kernel
def reeliminate_plain(tree, work, i):
    """Eliminate one body with the factors of the previous iteration; see `reeliminate`."""
    w, p = tree.joint_data[tree.joint[i]], tree.parent[i]
    values, at = work.values, DIAGONAL_BLOCK * i
    gap, tilt = vector_at(w, GAP), vector_at(w, TILT)
    F, k = _about_joint(work, w, i)
    if tree.kind[i] == BALL:
        of_0 = times(-1.0, plus(_rotation_of_ball(w, gap), apply(matrix_at(w, BALL_K), k)))
        store_vector(w, BALL_0, of_0)
        F, k = plus(F, _three_along(values, at, times(-1.0, gap), of_0)), times(0.0, k)
    else:
        couple = k
        f, g = _applied(values, at, times(-1.0, gap), tilt)
        F, k = plus(F, f), plus(k, g)
        for j in range(tree.free[i]):
            o, to = NEXT * j, NEXT_LEFT * j
            turning_of_body = times(0.5 * _axis_on_body(tree, i, j), cross(vector_at(w, TURNS + o), couple))
            c = w[BY_COUPLE + to] * (dot(vector_at(w, CONDITION + o), k) + dot(turning_of_body, tilt))
            w[ROW_0 + to] = c
            F = plus(F, times(c, vector_at(w, FORCE + to)))
            k = plus(k, times(c, vector_at(w, COUPLE + to)))
    if p >= 0:
        add_vector(work.residual, 6 * p, F)
        add_vector(work.residual, 6 * p + 3, plus(k, cross(vector_at(w, PARENT_LEVER), F)))


@inline_kernel
def _rotation_of_ball(w, y):
    """Return the rotation of the body of a ball joint by the displacement y of the point of the joint."""
    return (
        dot(vector_at(w, BALL_ROWS), y),
        dot(vector_at(w, BALL_ROWS + ROW_STRIDE), y),
        dot(vector_at(w, BALL_ROWS + 2 * ROW_STRIDE), y),
    )


@internal_kernel
def carry_load(tree, work, load, unknowns, i):
    """Pass the force and the moment about its centre that act on a body on to its parent.

    `load`: forces and moments on all bodies, cleared for this one. `unknowns`: receives the unknowns of the joint due to this
    load.
    """
    if tree.plain[i]:
        carry_plain_load(tree, work, load, unknowns, i)
        return
    if tree.kind[i] == FREE:
        carry_free_load(tree, work, load, unknowns, i)
        return
    w, body_load, d = tree.joint_data[tree.joint[i]], load[i], tree.free[i]
    q, lu = tree.directions[tree.general_index[i]], tree.factors[tree.general_index[i]]
    F = vector_at(body_load, 0)
    k = minus(vector_at(body_load, 3), cross(vector_at(w, LEVER), F))
    for j in range(d):
        x = dot(vector_at(q, FREE_SIZE * j + FREE_N), F) + dot(vector_at(q, FREE_SIZE * j + FREE_M), k)
        for c in range(j):
            x = x - lu[j, c] * unknowns[c]
        unknowns[j] = x
    for j in range(d - 1, -1, -1):
        x = -1.0 * unknowns[j]
        for c in range(j + 1, d):
            x = x - lu[j, c] * unknowns[c]
        unknowns[j] = lu[j, j] * x
    for j in range(d):
        at = FREE_SIZE * j + FREE_ROW - ROW
        F = plus(F, times(unknowns[j], vector_at(q, at + FORCE)))
        k = plus(k, times(unknowns[j], vector_at(q, at + COUPLE)))
    _carry(tree, load, i, F, k)


@internal_kernel
def carry_plain_load(tree, work, load, unknowns, i):
    """Pass the load on a body whose joint only rotates or is a weld on to its parent; arguments as in `carry_load`."""
    w, body_load = tree.joint_data[tree.joint[i]], load[i]
    F = vector_at(body_load, 0)
    k = minus(vector_at(body_load, 3), cross(vector_at(w, LEVER), F))
    if tree.kind[i] == BALL:
        rotation = times(-1.0, apply(matrix_at(w, BALL_K), k))
        store_vector(unknowns, 0, rotation)
        F, k = plus(F, _three_rotated(work.values, DIAGONAL_BLOCK * i, rotation)), times(0.0, k)
    else:
        for j in range(tree.free[i]):
            at = NEXT_LEFT * j
            c = w[BY_COUPLE + at] * dot(vector_at(w, CONDITION + NEXT * j), k)
            unknowns[j] = c
            F = plus(F, times(c, vector_at(w, FORCE + at)))
            k = plus(k, times(c, vector_at(w, COUPLE + at)))
    _carry(tree, load, i, F, k)


@inline_kernel
def _carry(tree, load, i, F, k):
    """Add a force F and a moment k about the joint of a body to the load on its parent, and clear the load on the body."""
    body_load, p = load[i], tree.parent[i]
    if p >= 0:
        add_vector(load[p], 0, F)
        add_vector(load[p], 3, plus(k, cross(vector_at(tree.joint_data[tree.joint[i]], PARENT_LEVER), F)))
    for r in range(6):
        body_load[r] = 0.0


@internal_kernel
def apply_load(tree, work, load, unknowns, i):
    """Add the load on a body to its residual and its effect to the unknowns of its joint, and pass it on to the parent.

    `unknowns`: scratch.
    """
    if tree.plain[i]:
        apply_plain_load(tree, work, load, unknowns, i)
        return
    if tree.kind[i] == FREE:
        carry_free_load(tree, work, load, unknowns, i)
        apply_free_load(work, unknowns, i)
        return
    _add_load(work, load, i)
    carry_load(tree, work, load, unknowns, i)
    for j in range(tree.free[i]):
        tree.directions[tree.general_index[i], FREE_SIZE * j + FREE_ROW + ROW_0 - ROW] += unknowns[j]


@internal_kernel
def apply_plain_load(tree, work, load, unknowns, i):
    """Add the load on a body whose joint only rotates or is a weld to its residual and to the unknowns of its joint, and pass it
    on to the parent; `unknowns`: scratch.
    """
    w = tree.joint_data[tree.joint[i]]
    _add_load(work, load, i)
    carry_plain_load(tree, work, load, unknowns, i)
    if tree.kind[i] == BALL:
        add_vector(w, BALL_0, vector_at(unknowns, 0))
        return
    for j in range(tree.free[i]):
        w[ROW_0 + NEXT_LEFT * j] += unknowns[j]


@inline_kernel
def _add_load(work, load, i):
    """Add the force and the moment on a body to its residual."""
    for r in range(6):
        work.residual[6 * i + r] += load[i, r]


@internal_kernel
def carry_motion(tree, work, unknowns, motions, i, n):
    """Compute and store the motion of a body, `motions[i]`, from the motion of its parent and the unknowns of its joint.

    `unknowns[i]`: unknowns of the joint. `motions[n]`: motion of the ground.
    """
    if tree.plain[i]:
        carry_plain_motion(tree, unknowns, motions, i, n)
        return
    if tree.kind[i] == FREE:
        carry_free_motion(tree, work, unknowns, motions, i)
        return
    w, joint_unknowns, q, p = (
        tree.joint_data[tree.joint[i]],
        unknowns[i],
        tree.directions[tree.general_index[i]],
        tree.parent[i],
    )
    from_parent = motions[p if p >= 0 else n]
    o, e = vector_at(from_parent, 0), vector_at(from_parent, 3)
    yp = plus(o, cross(e, vector_at(w, PARENT_LEVER1)))
    y, rotation = yp, e
    for j in range(tree.free[i]):
        o, at = FREE_SIZE * j, FREE_SIZE * j + FREE_ROW - ROW
        u = _along(q, at + ROW, yp, e) + joint_unknowns[j]
        y = plus(y, times(u, vector_at(q, o + FREE_SHIFT)))
        rotation = plus(rotation, times(u, vector_at(q, o + FREE_AXIS)))
    store_vector(motions[i], 0, minus(y, cross(rotation, vector_at(w, LEVER1))))
    store_vector(motions[i], 3, rotation)


@internal_kernel
def carry_plain_motion(tree, unknowns, motions, i, n):
    """Compute and store the motion of a body whose joint only rotates or is a weld; arguments as in `carry_motion`."""
    w, joint_unknowns, p = tree.joint_data[tree.joint[i]], unknowns[i], tree.parent[i]
    from_parent = motions[p if p >= 0 else n]
    o, e = vector_at(from_parent, 0), vector_at(from_parent, 3)
    y = plus(o, cross(e, vector_at(w, PARENT_LEVER1)))
    if tree.kind[i] == BALL:
        e = plus(vector_at(joint_unknowns, 0), _rotation_of_ball(w, y))
    else:
        for r in range(tree.free[i]):
            j = tree.free[i] - 1 - r
            at = NEXT_LEFT * j
            u = _along(w, ROW + at, y, e) + joint_unknowns[j]
            e = plus(e, times(u, vector_at(w, AXIS + NEXT * j)))
    store_vector(motions[i], 0, minus(y, cross(e, vector_at(w, LEVER1))))
    store_vector(motions[i], 3, e)


@internal_kernel
def back_substitute(tree, work, general_joint):
    """Substitute back, root first: store the corrections of all bodies in work.rhs and return the largest as a rotation, rad.

    `general_joint`: as in `eliminate`. Return 1e300 if a correction is not finite.
    """
    largest = 0.0
    for i in range(tree.frame.shape[0]):
        if tree.plain[i]:
            size = correct_plain_body(tree, work, i)
        elif tree.kind[i] == POINT:
            size = correct_point(tree, work, i)
        elif tree.kind[i] <= FREE:
            size = correct_free_body(tree, work, i)
        else:
            size = general_joint(CORRECT, tree, work, i, False)
        if not size < 1e300:  # NaN compares as False
            return 1e300
        largest = max(largest, size)
    return largest


@internal_kernel
def recover_joint_wrenches(tree, work):
    """Compute and store the new force and moment of each joint of closed form from the corrections of `back_substitute`."""
    for i in range(tree.frame.shape[0]):
        if tree.kind[i] > OTHER:
            recover_joint_wrench(tree, work, i)
            if tree.coupled[i]:
                _add_between(tree, work, i)
            if tree.torsional[i]:
                _add_couples(tree, work, i)
            if tree.link_of[i] < tree.link_of[i + 1]:
                _add_link_forces(tree, work, i)


@inline_kernel
def _parent_correction(tree, work, i):
    """Return the correction (o, e) of the parent of a body; zero if the parent is fixed."""
    p = tree.parent[i]
    if p < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return vector_at(work.rhs, 6 * p), vector_at(work.rhs, 6 * p + 3)


@inline_kernel
def recover_joint_wrench(tree, work, i):
    """Compute and store the new force and moment of one joint of closed form."""
    w, e = tree.joint_data[tree.joint[i]], vector_at(work.rhs, 6 * i + 3)
    y = plus(vector_at(work.rhs, 6 * i), cross(e, vector_at(w, LEVER1)))
    F, k = _about_joint(work, w, i)
    f, g = _applied(work.values, DIAGONAL_BLOCK * i, y, e)
    store_vector(w, NEW_FORCE, plus(F, f))
    store_vector(w, NEW_COUPLE, plus(k, g) if tree.kind[i] != BALL else times(0.0, k))


@inline_kernel
def _add_between(tree, work, i):
    """Add the force and moment on the body due to the correction of its parent, from other elements between both, to the new
    force and moment of the joint.
    """
    p, w = tree.parent[i], tree.joint_data[tree.joint[i]]
    if p < 0:
        return
    o, e = _parent_correction(tree, work, i)
    f, g = _force_by_parent(tree, work, i, plus(o, cross(e, vector_at(w, PARENT_LEVER1))), e)
    add_vector(w, NEW_FORCE, f)
    if tree.kind[i] != BALL:
        add_vector(w, NEW_COUPLE, g)


@inline_kernel
def _add_couples(tree, work, i):
    """Add the moment on the body due to the corrections of both bodies, from couples beside the hinge, to the new moment of the
    hinge.
    """
    by_body, by_parent = _couple_blocks(tree, work, i)
    _, e = _parent_correction(tree, work, i)
    moment = plus(apply(by_body, vector_at(work.rhs, 6 * i + 3)), apply(by_parent, e))
    add_vector(tree.joint_data[tree.joint[i]], NEW_COUPLE, moment)


@inline_kernel
def _add_link_forces(tree, work, i):
    """Add the force and moment on the body due to the corrections of its linked bodies to the new joint force and moment."""
    w = tree.joint_data[tree.joint[i]]
    f, g = force_from_links(tree, work, i)
    add_vector(w, NEW_FORCE, f)
    if tree.kind[i] != BALL:
        add_vector(w, NEW_COUPLE, g)


@inline_kernel
def _force_by_parent(tree, work, i, y, e):
    """Return the force and moment about the joint that other elements between a body and its parent exert on the body by the
    motion (y, e) of the parent.
    """
    w, blocks = tree.joint_data[tree.joint[i]], tree.blocks
    for r in range(DIAGONAL_BLOCK):
        blocks[r] = 0.0
    block = _shifted_block(work.values, tree.block[i], vector_at(w, LEVER), vector_at(w, PARENT_LEVER1))
    _add_block(block, blocks, 0)
    return _applied(blocks, 0, y, e)


@always_inline_kernel
def correct_body(tree, work, i):
    """Store the correction of a body in work.rhs, from the correction of its parent; return its size as a rotation, rad."""
    if tree.plain[i]:
        return correct_plain_body(tree, work, i)
    if tree.kind[i] <= FREE:
        return correct_free_body(tree, work, i)
    return _correct_general_body(tree, work, i)


@internal_kernel
def correct_plain_body(tree, work, i):
    """Store the correction of a body whose joint only rotates or is a weld in work.rhs; return its size as a rotation, rad."""
    w = tree.joint_data[tree.joint[i]]
    o, e = _parent_correction(tree, work, i)
    y = plus(o, cross(e, vector_at(w, PARENT_LEVER1)))
    if tree.kind[i] == BALL:
        e = plus(vector_at(w, BALL_0), _rotation_of_ball(w, y))
    else:
        for r in range(tree.free[i]):
            j = tree.free[i] - 1 - r
            at = NEXT_LEFT * j
            u = _along(w, ROW + at, y, e) + w[ROW_0 + at]
            e = plus(e, times(u, vector_at(w, AXIS + NEXT * j)))
        e = plus(e, vector_at(w, TILT))
    o = minus(minus(y, vector_at(w, GAP)), cross(e, vector_at(w, LEVER1)))
    return _put_correction(tree, work, i, o, e)


@internal_kernel
def _correct_general_body(tree, work, i):
    """Store the correction of a body whose joint is not plain, and of the multipliers of that joint; return its size as a
    rotation, rad.
    """
    w, q = tree.joint_data[tree.joint[i]], tree.directions[tree.general_index[i]]
    o, e = _parent_correction(tree, work, i)
    yp = plus(o, cross(e, vector_at(w, PARENT_LEVER1)))
    y, rotation = minus(yp, vector_at(w, GAP)), plus(e, vector_at(w, TILT))
    for j in range(tree.free[i]):
        o, at = FREE_SIZE * j, FREE_SIZE * j + FREE_ROW - ROW
        u = _along(q, at + ROW, yp, e) + q[at + ROW_0] + unknown_from_links(tree, work, i, j)
        y = plus(y, times(u, vector_at(q, o + FREE_SHIFT)))
        rotation = plus(rotation, times(u, vector_at(q, o + FREE_AXIS)))
    size = _put_correction(tree, work, i, minus(y, cross(rotation, vector_at(w, LEVER1))), rotation)
    if tree.rows[i] > 0:
        F, k = _about_joint(work, w, i)
        f, g = _applied(work.values, DIAGONAL_BLOCK * i, y, rotation)
        F, k = plus(F, f), plus(k, g)
        if tree.coupled[i] and tree.parent[i] >= 0:
            f, g = _force_by_parent(tree, work, i, yp, e)
            F, k = plus(F, f), plus(k, g)
        f, g = force_from_links(tree, work, i)
        F, k = plus(F, f), plus(k, g)
        store_multiplier_corrections(tree, work, i, F, k)
    return size


@inline_kernel
def _put_correction(tree, work, i, o, e):
    """Store the correction (o, e) of a body; return its size as a rotation, rad."""
    store_vector(work.rhs, 6 * i, o)
    store_vector(work.rhs, 6 * i + 3, e)
    size = abs(o[0]) + abs(o[1]) + abs(o[2])
    rotation = abs(e[0]) + abs(e[1]) + abs(e[2])
    return rotation + size / tree.reach[i]
