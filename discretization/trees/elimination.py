"""Linearised joints eliminated from the tips of a tree to its root, corrections on the way back: O(n), Newton's iterates those of
the whole system of equations.

Of a body with all that hangs on it force and couple at its joint, F = F0 + K (y - gap, eta), are linear in its correction, where
y is that of the joint's point on the parent and o = y - gap - eta x x1. A ball joint leaves eta = E y + e0 of k = 0, a hinge

    eta = eta_p + tilt + d a1,   d = row_o . o_p + row_e . eta_p + row_0   of   k . nbar = 0              (1)

one unknown each. A universal joint between axes u of the body and w of its parent leaves two,

    eta = eta_p + tilt + d u + e w   of   k . ubar = k . wbar = 0                                       (2)

and a weld none, eta = eta_p + tilt. Of a joint of another kind the body's six unknowns and the joint's multipliers are eliminated
together, with row exchanges. Iterates may leave the joints: their gaps and tilts are among the right-hand sides.

The tangent has forces and couples of joints, too. Where nothing closes a loop they are those that hold the motion of all that
hangs on them, F and M - x x F: none need be known before.
"""

from __future__ import annotations

from discretization.trees.bodies import put, vector_at
from discretization.trees.places import (
    AXIS1,
    BALL_0,
    BALL_K,
    BALL_Y,
    BLOCK,
    BY_CONDITION,
    COLUMN,
    FORCE_D,
    FORCE_E,
    GAP,
    LEVER,
    LEVER1,
    LONG,
    LOWER,
    MEAN_AXIS,
    MEAN_PARENT_AXIS,
    NEW_FORCE,
    OWN,
    PARENT_LEVER,
    PARENT_LEVER1,
    RIGHT,
    ROW2_0,
    ROW2_Y,
    ROW_0,
    ROW_E,
    ROW_Y,
    TILT,
    TURNS1,
)
from discretization.trees.shape import BALL, HINGE, OTHER, UNIVERSAL, WELD
from rigid.columns import (
    add_column,
    add_column6,
    arm_at,
    column6_at,
    column_at,
    column_minus,
    column_plus,
    column_times,
    put_column,
    three_at,
    upper,
    with_dyad0,
    with_dyad1,
    with_dyad2,
    with_moment,
    without_moment,
)
from rigid.compilation.decorators import flat_kernel, inner_kernel, small_kernel
from rigid.lanes import WIDTH as WIDTH8
from rigid.lanes import choose, load, store
from rigid.linear_algebra import (
    add_block,
    apply,
    apply_transposed,
    cross,
    dot,
    hat_times,
    load3,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    plus,
    product,
    times,
    times_hat,
)


@small_kernel
def block_at(values, at, stride):
    """A_ij = values[at + i + j stride]."""
    a, b, c = three_at(values, at), three_at(values, at + stride), three_at(values, at + 2 * stride)
    return a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]


@small_kernel
def matrix_of(w, k):
    """w[k:k + 9]."""
    return w[k], w[k + 1], w[k + 2], w[k + 3], w[k + 4], w[k + 5], w[k + 6], w[k + 7], w[k + 8]


@small_kernel
def inverse(A):
    """A^-1."""
    a, b, c = A[4] * A[8] - A[5] * A[7], A[5] * A[6] - A[3] * A[8], A[3] * A[7] - A[4] * A[6]
    d = 1.0 / (A[0] * a + A[1] * b + A[2] * c)
    return (
        d * a, d * (A[2] * A[7] - A[1] * A[8]), d * (A[1] * A[5] - A[2] * A[4]),
        d * b, d * (A[0] * A[8] - A[2] * A[6]), d * (A[2] * A[3] - A[0] * A[5]),
        d * c, d * (A[1] * A[6] - A[0] * A[7]), d * (A[0] * A[4] - A[1] * A[3]),
    )  # fmt: skip


@inner_kernel
def take_over(tree, work):
    """What assembly adds to the blocks of bodies, as seen from joints of closed form."""
    for i in range(tree.frame.shape[0]):
        _add_seen(tree, work.values, tree.acting[i], work.values, i)


@small_kernel
def _add_seen(tree, source, at, values, i):
    """Add a block by the motion of body i and its moment to that body's, which is as seen from its joint, where it has levers."""
    w, to = tree.each[i], OWN * i
    x1, x = vector_at(w, LEVER1), vector_at(w, LEVER)
    rr, tr = block_at(source, at, 6), block_at(source, at + 3, 6)
    fe = matrix_plus(block_at(source, at + 18, 6), times_hat(rr, x1))
    te = matrix_plus(block_at(source, at + 21, 6), times_hat(tr, x1))
    add_block(rr, values, to, COLUMN)
    add_block(matrix_minus(tr, hat_times(x, rr)), values, to + LOWER, COLUMN)
    add_block(fe, values, to + 24, COLUMN)
    add_block(matrix_minus(te, hat_times(x, fe)), values, to + 24 + LOWER, COLUMN)


@inner_kernel
def eliminate(tree, work, iterated):
    """All bodies, tips first; iterated: forces and couples of joints are at hand, in tree.force and tree.couple."""
    for i in range(tree.frame.shape[0] - 1, -1, -1):
        if tree.kind[i] == OTHER:
            _eliminate_other(tree, work, i)
        else:
            eliminate_joint(tree, work, i, iterated)


@inner_kernel
def eliminate_joint(tree, work, i, iterated):
    """Of a joint of closed form; as of `eliminate`."""
    values, w, p, at, kind = work.values, tree.each[i], tree.parent[i], OWN * i, tree.kind[i]
    F, M = three_at(work.residual, 6 * i), three_at(work.residual, 6 * i + 3)
    k0 = minus(M, cross(vector_at(w, LEVER), F))
    f, couple = (load3(tree.force[i]), load3(tree.couple[i])) if iterated else (F, k0)
    half = times(0.5, f)
    if kind == HINGE:
        _eliminate_hinge(tree, work, i, half, k0, couple)
        return
    _turn_with_body(w, values, at + 24, half)
    if kind == UNIVERSAL:
        # the first condition turns with the body, the second with its parent
        u, v, tilt = vector_at(w, AXIS1), vector_at(w, TURNS1), vector_at(w, TILT)
        n, m = vector_at(w, MEAN_AXIS), vector_at(w, MEAN_PARENT_AXIS)
        of_body, of_parent = times(0.5, cross(u, couple)), times(0.5, cross(v, couple))
        y1, y2 = across(values, at, n), across(values, at, m)
        e1, r2 = plus(across(values, at + 24, n), of_body), across(values, at + 24, m)
        e2, g1, g2 = plus(r2, of_parent), dot(n, k0), dot(m, k0) - dot(of_parent, tilt)
        a, b, c, d = dot(e1, u), dot(e1, v), dot(r2, u), dot(r2, v)
        s = -1.0 / (a * d - b * c)
        row_y, row2_y = (
            times(s, minus(times(d, y1), times(b, y2))),
            times(s, minus(times(a, y2), times(c, y1))),
        )
        row_e, row2_e = (
            times(s, minus(times(d, e1), times(b, e2))),
            times(s, minus(times(a, e2), times(c, e1))),
        )
        row_0, row2_0 = s * (d * g1 - b * g2), s * (a * g2 - c * g1)
        _put_row(w, ROW_Y, row_y, row_e, row_0)
        _put_row(w, ROW2_Y, row2_y, row2_e, row2_0)
        w[BY_CONDITION], w[BY_CONDITION + 1] = s * d, -s * b
        w[BY_CONDITION + 2], w[BY_CONDITION + 3] = -s * c, s * a
        E = columns_at(values, at + 24)
        D, D2 = combined(E, u), combined(E, v)
        put_column(D, w, FORCE_D)
        put_column(D2, w, FORCE_E)
        if p < 0:
            return
        Y = with_row(D2, row2_y, with_row(D, row_y, columns_at(values, at)))
        E = with_row(D2, row2_e, with_row(D, row_e, columns_at(values, at + 24)))
        more = column_plus(column_times(row_0, D), column_times(row2_0, D2))
    elif kind == WELD:
        if p < 0:
            return
        Y, E = columns_at(values, at), columns_at(values, at + 24)
        more = column_minus(Y[0], Y[0])
    else:
        ky, ke = block_at(values, at + LOWER, COLUMN), block_at(values, at + 24 + LOWER, COLUMN)
        by_couple = matrix_times(-1.0, inverse(ke))
        of_y, of_0 = product(by_couple, ky), apply(by_couple, k0)
        for j in range(9):
            w[BALL_Y + j], w[BALL_K + j] = of_y[j], by_couple[j]
        put(w, BALL_0, minus(of_0, apply(of_y, vector_at(w, GAP))))
        if p < 0:
            return
        (y0, y1, y2), E = columns_at(values, at), columns_at(values, at + 24)
        Y = (
            upper(column_plus(y0, combined(E, (of_y[0], of_y[3], of_y[6])))),
            upper(column_plus(y1, combined(E, (of_y[1], of_y[4], of_y[7])))),
            upper(column_plus(y2, combined(E, (of_y[2], of_y[5], of_y[8])))),
        )
        more, none = combined(E, of_0), column_minus(y0, y0)
        E = none, none, none
    _add_to_parent(tree, work, i, Y, E, more, half)


@flat_kernel
def _eliminate_hinge(tree, work, i, half, k0, couple):
    """(1). The next body waits for the quotient: what it does not enter is added up without it."""
    values, w, at = work.values, tree.each[i], OWN * i
    a1, n, x1 = vector_at(w, AXIS1), vector_at(w, MEAN_AXIS), vector_at(w, LEVER1)
    gap, tilt = vector_at(w, GAP), vector_at(w, TILT)
    turning = times(0.5, cross(vector_at(w, TURNS1), couple))
    of_y, left = across(values, at, n), minus(times(dot(x1, half), n), times(dot(n, x1), half))
    of_e = plus(across(values, at + 24, n), left)  # with what `_turn_with_body` adds
    E = _turn_with_body(w, values, at + 24, half)
    d, of_turn = -1.0 / dot(of_e, a1), plus(of_e, turning)
    # a condition that turns with the parent does not by the tilt
    of_0 = dot(n, k0) - (dot(turning, tilt) if tree.side[i] < 0 else 0.0)
    of_0 = of_0 - dot(of_y, gap) + dot(of_turn, tilt)
    row_y, row_0, D = times(d, of_y), d * of_0, combined(E, a1)
    put(w, ROW_Y, row_y)
    put(w, ROW_E, times(d, plus(of_turn, cross(vector_at(w, PARENT_LEVER1), of_y))))
    w[ROW_0], w[BY_CONDITION] = row_0, d
    put_column(D, w, FORCE_D)
    p = tree.parent[i]
    if p < 0:
        return
    above, to, Y = tree.each[p], OWN * p, columns_at(values, at)
    y1, y = arm_at(w, PARENT_LEVER1), arm_at(w, PARENT_LEVER)
    arm1, arm = _arms(w, above)
    share, row_e = dot(vector_at(w, PARENT_LEVER1), half), times(d, minus(of_turn, cross(of_y, arm1)))
    e0, e1, e2 = _by_parent_turn(Y, E, arm1)
    F = column_plus(at_joint(work, w, i), column_minus(combined(E, tilt), combined(Y, gap)))
    seen = with_moment(arm, D)
    _add_both(with_moment(arm, Y[0]), row_y[0], seen, values, to)
    _add_both(with_moment(arm, Y[1]), row_y[1], seen, values, to + COLUMN)
    _add_both(with_moment(arm, Y[2]), row_y[2], seen, values, to + 2 * COLUMN)
    _add_both(with_dyad0(y1, half[0], share, with_moment(arm, e0)), row_e[0], seen, values, to + 3 * COLUMN)
    _add_both(with_dyad1(y1, half[1], share, with_moment(arm, e1)), row_e[1], seen, values, to + 4 * COLUMN)
    _add_both(with_dyad2(y1, half[2], share, with_moment(arm, e2)), row_e[2], seen, values, to + 5 * COLUMN)
    add_column6(with_moment(y, column_plus(F, column_times(row_0, D))), work.residual, 6 * p)


@small_kernel
def _add_both(X, s, D, values, at):
    """Add X + s D to a column."""
    add_column(column_plus(X, column_times(s, D)), values, at)


@small_kernel
def _turn_with_body(w, values, at, half):
    """Subtract (eta x x1)/2 x f: what the force of the joint does as its lever on the body turns; the columns with that."""
    x1, away = arm_at(w, LEVER1), times(-1.0, half)
    share = dot(vector_at(w, LEVER1), away)
    one = with_dyad0(x1, away[0], share, column_at(values, at))
    two = with_dyad1(x1, away[1], share, column_at(values, at + COLUMN))
    three = with_dyad2(x1, away[2], share, column_at(values, at + 2 * COLUMN))
    put_column(one, values, at)
    put_column(two, values, at + COLUMN)
    put_column(three, values, at + 2 * COLUMN)
    return one, two, three


@small_kernel
def at_joint(work, w, i):
    """Residual of a body, with its moment about its joint."""
    return without_moment(arm_at(w, LEVER), column6_at(work.residual, 6 * i))


@small_kernel
def columns_at(values, at):
    """Three of them."""
    return column_at(values, at), column_at(values, at + COLUMN), column_at(values, at + 2 * COLUMN)


@small_kernel
def across(values, at, n):
    """n . k of three columns (f, k)."""
    return apply_transposed(block_at(values, at + LOWER, COLUMN), n)


@small_kernel
def combined(X, x):
    """x_0 X_0 + x_1 X_1 + x_2 X_2 of three columns."""
    first = column_plus(column_times(x[0], X[0]), column_times(x[1], X[1]))
    return column_plus(first, column_times(x[2], X[2]))


@small_kernel
def with_row(D, row, X):
    """X + D row^T of three columns."""
    return (
        column_plus(X[0], column_times(row[0], D)),
        column_plus(X[1], column_times(row[1], D)),
        column_plus(X[2], column_times(row[2], D)),
    )


@small_kernel
def _crossed(X, i, j, a, b):
    """a X_i - b X_j."""
    return column_minus(column_times(a, X[i]), column_times(b, X[j]))


@small_kernel
def _put_row(w, at, row_y, row_e, row_0):
    """By y - gap and eta_p + tilt: as by the parent's motion and turn."""
    left = row_0 - dot(row_y, vector_at(w, GAP)) + dot(row_e, vector_at(w, TILT))
    put(w, at, row_y)
    put(w, at + 3, plus(row_e, cross(vector_at(w, PARENT_LEVER1), row_y)))
    w[at + 6] = left


@small_kernel
def _arms(w, above):
    """From the joint of the parent, whose numbers are above, to this one: at the end of the step and, a column, over it."""
    arm1 = minus(vector_at(w, PARENT_LEVER1), vector_at(above, LEVER1))
    return arm1, column_minus(arm_at(w, PARENT_LEVER), arm_at(above, LEVER))


@small_kernel
def _by_parent_turn(Y, E, arm1):
    """What E is by the turn of the parent about its own joint."""
    return (
        column_minus(E[0], _crossed(Y, 1, 2, arm1[2], arm1[1])),
        column_minus(E[1], _crossed(Y, 2, 0, arm1[0], arm1[2])),
        column_minus(E[2], _crossed(Y, 0, 1, arm1[1], arm1[0])),
    )


@flat_kernel
def _add_to_parent(tree, work, i, Y, E, more, half):
    """What is left of a body, as seen from the joint of its parent, where this has levers; more: besides its residual, half: of
    the force of its joint.
    """
    p = tree.parent[i]
    values, w, above, at = work.values, tree.each[i], tree.each[p], OWN * p
    F = column_plus(at_joint(work, w, i), more)
    if tree.kind[i] != BALL:
        F = column_plus(F, combined(E, vector_at(w, TILT)))
    else:
        F = upper(F)
    F = column_minus(F, combined(Y, vector_at(w, GAP)))
    y1, y = arm_at(w, PARENT_LEVER1), arm_at(w, PARENT_LEVER)
    arm1, arm = _arms(w, above)
    share = dot(vector_at(w, PARENT_LEVER1), half)
    e0, e1, e2 = _by_parent_turn(Y, E, arm1)
    add_column(with_moment(arm, Y[0]), values, at)
    add_column(with_moment(arm, Y[1]), values, at + COLUMN)
    add_column(with_moment(arm, Y[2]), values, at + 2 * COLUMN)
    add_column(with_dyad0(y1, half[0], share, with_moment(arm, e0)), values, at + 3 * COLUMN)
    add_column(with_dyad1(y1, half[1], share, with_moment(arm, e1)), values, at + 4 * COLUMN)
    add_column(with_dyad2(y1, half[2], share, with_moment(arm, e2)), values, at + 5 * COLUMN)
    add_column6(with_moment(y, F), work.residual, 6 * p)


@inner_kernel
def _eliminate_other(tree, work, i):
    """By LU of the body's unknowns and the joint's multipliers, with the motion of the parent as right-hand sides."""
    own, n = tree.own[i], 6 + tree.rows[i]
    _put_equations(tree, work, i)
    D, exchanged = tree.dense[own], tree.exchanged[own]
    for j in range(n):
        pivot, most = j, abs(D[j, j])
        for r in range(j + 1, n):
            if abs(D[r, j]) > most:
                pivot, most = r, abs(D[r, j])
        exchanged[j] = pivot
        if pivot != j:
            for q in range(0, RIGHT + WIDTH8, WIDTH8):
                upper, lower = load(D, LONG * j + q), load(D, LONG * pivot + q)
                store(upper, D, LONG * pivot + q)
                store(lower, D, LONG * j + q)
        scale = 1.0 / D[j, j]
        left = choose(load(D, LONG * j), 0.0, j + 1, WIDTH8)
        middle, right = load(D, LONG * j + WIDTH8), load(D, LONG * j + RIGHT)
        if j >= WIDTH8:
            middle = choose(middle, 0.0, j + 1 - WIDTH8, WIDTH8)
        for r in range(j + 1, n):
            factor, at = D[r, j] * scale, LONG * r
            if factor != 0.0:
                if j < WIDTH8:
                    store(load(D, at) - factor * left, D, at)
                store(load(D, at + WIDTH8) - factor * middle, D, at + WIDTH8)
                store(load(D, at + RIGHT) - factor * right, D, at + RIGHT)
                D[r, j] = factor
    X = tree.solved[own]
    for j in range(n - 1, -1, -1):
        D[j, j] = 1.0 / D[j, j]
        x = load(D, LONG * j + RIGHT) * D[j, j]
        store(x, X, WIDTH8 * j)
        for r in range(j):
            if D[r, j] != 0.0:
                store(load(D, LONG * r + RIGHT) - D[r, j] * x, D, LONG * r + RIGHT)
    if tree.parent[i] >= 0:
        _leave_to_parent(tree, work, i)


@inner_kernel
def _put_equations(tree, work, i):
    """Of a body and its joint, those of the joint behind; right-hand sides stand RIGHT of all unknowns."""
    values, residual, D = work.values, work.residual, tree.dense[tree.own[i]]
    rows, first, at = tree.rows[i], tree.block[i], OWN * i
    for r in range(6):
        for c in range(6):
            D[r, c], D[r, RIGHT + c] = (
                values[at + r % 3 + r // 3 * LOWER + COLUMN * c],
                values[first + r + 6 * c],
            )
        D[r, RIGHT + 6] = -residual[6 * i + r]
        for c in range(rows):
            D[r, 6 + c] = values[first + 2 * BLOCK + r + 6 * c]
    for r in range(rows):
        for c in range(6):
            D[6 + r, c] = values[first + 4 * BLOCK + r + 6 * c]
            D[6 + r, RIGHT + c] = values[first + 5 * BLOCK + r + 6 * c]
        for c in range(rows):
            D[6 + r, 6 + c] = 0.0
        D[6 + r, RIGHT + 6] = -residual[tree.row[i, r]]


@inner_kernel
def _leave_to_parent(tree, work, i):
    """What an eliminated body leaves in the equations of its parent."""
    values, residual, left, p = work.values, work.residual, tree.left, tree.parent[i]
    rows, first, X = tree.rows[i], tree.block[i], tree.solved[tree.own[i]]
    for r in range(6):
        x = values[first + BLOCK + r] * load(X, 0)
        for k in range(1, 6):
            x = x + values[first + BLOCK + r + 6 * k] * load(X, WIDTH8 * k)
        for k in range(rows):
            x = x + values[first + 3 * BLOCK + r + 6 * k] * load(X, WIDTH8 * (6 + k))
        store(x, left, WIDTH8 * r)
    for r in range(6):
        for c in range(6):
            tree.passed[r + 6 * c] = -left[r, c]
        residual[6 * p + r] += left[r, 6]
    _add_seen(tree, tree.passed, 0, values, p)


@inner_kernel
def expand(tree, work):
    """Corrections, root first, into work.rhs; the largest as a turn, in rad."""
    largest = 0.0
    for i in range(tree.frame.shape[0]):
        both = correction_of(tree, work, i)
        if not both < 1e300:  # what is no number is larger than nothing
            return 1e300
        largest = max(largest, both)
    return largest


@inner_kernel
def renew_forces(tree, work):
    """f and k of joints of closed form with the corrections of `expand`."""
    for i in range(tree.frame.shape[0]):
        if tree.kind[i] != OTHER:
            renew_force(tree, work, i)


@small_kernel
def renew_force(tree, work, i):
    """Of a joint."""
    values, w, at = work.values, tree.each[i], OWN * i
    o, e = _of_parent(tree, work, i)
    z = minus(plus(o, cross(e, vector_at(w, PARENT_LEVER1))), vector_at(w, GAP))
    e = vector_at(work.rhs, 6 * i + 3)
    more = column_plus(combined(columns_at(values, at), z), combined(columns_at(values, at + 24), e))
    new = column_plus(at_joint(work, w, i), more)
    put_column(new if tree.kind[i] != BALL else upper(new), w, NEW_FORCE)


@flat_kernel
def correction_of(tree, work, i):
    """As of `expand`, of any body; its size."""
    if tree.kind[i] == OTHER:
        return _correction_of_other(tree, work, i)
    return correction_of_joint(tree, work, i)


@small_kernel
def _of_parent(tree, work, i):
    """Its correction o, eta, none of what is fixed."""
    p = tree.parent[i]
    if p < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return vector_at(work.rhs, 6 * p), vector_at(work.rhs, 6 * p + 3)


@inner_kernel
def _correction_of_other(tree, work, i):
    """As of `expand`, of a body that LU was for; its size."""
    rhs, X = work.rhs, tree.solved[tree.own[i]]
    o, e = _of_parent(tree, work, i)
    for j in range(6 + tree.rows[i]):
        x = X[j, 6]
        for c in range(3 if tree.parent[i] >= 0 else 0):
            x -= X[j, c] * o[c] + X[j, 3 + c] * e[c]
        rhs[6 * i + j if j < 6 else tree.row[i, j - 6]] = x
    return _size(tree, i, vector_at(rhs, 6 * i), vector_at(rhs, 6 * i + 3))


@inner_kernel
def correction_of_joint(tree, work, i):
    """As of `expand`, of a body with a joint of closed form; its size."""
    o, e = _of_parent(tree, work, i)
    o, e = _expand_joint(tree, work, i, o, e)
    return _size(tree, i, o, e)


@small_kernel
def _size(tree, i, o, e):
    """As a turn, rad."""
    size = abs(o[0]) + abs(o[1]) + abs(o[2])
    turn = abs(e[0]) + abs(e[1]) + abs(e[2])
    return turn + size / tree.reach[i]


@flat_kernel
def _expand_joint(tree, work, i, o, e):
    w, kind = tree.each[i], tree.kind[i]
    y, x1 = plus(o, cross(e, vector_at(w, PARENT_LEVER1))), vector_at(w, LEVER1)
    z = minus(y, vector_at(w, GAP))
    if kind == HINGE:
        a1, turn = vector_at(w, AXIS1), plus(e, vector_at(w, TILT))
        d = of_row(w, ROW_Y, o, e) + w[ROW_0]
        e = plus(turn, times(d, a1))
        # as minus e x x1, of which bodies further out wait for d alone
        o = minus(minus(z, cross(turn, x1)), times(d, cross(a1, x1)))
    else:
        if kind == UNIVERSAL:
            d, c = of_row(w, ROW_Y, o, e) + w[ROW_0], of_row(w, ROW2_Y, o, e) + w[ROW2_0]
            turned = plus(times(d, vector_at(w, AXIS1)), times(c, vector_at(w, TURNS1)))
            e = plus(plus(e, vector_at(w, TILT)), turned)
        elif kind == WELD:
            e = plus(e, vector_at(w, TILT))
        else:
            e = plus(apply(matrix_of(w, BALL_Y), y), vector_at(w, BALL_0))
        o = minus(z, cross(e, x1))
    put(work.rhs, 6 * i, o)
    put(work.rhs, 6 * i + 3, e)
    return o, e


@small_kernel
def of_row(w, at, o, e):
    """An unknown by the motion of the parent: row_o . o + row_e . e."""
    return dot(vector_at(w, at), o) + dot(vector_at(w, at + 3), e)
