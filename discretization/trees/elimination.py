"""Linearised joints eliminated from the tips of a tree to its root, corrections on the way back: O(n), Newton's iterates those of
the whole system of equations.

Of a body with all that hangs on it force and couple at its joint, F = F0 + K (y - gap, eta), are linear in its correction, where
y is that of the joint's point on the parent and o = y - gap - eta x x1. A ball joint leaves eta = E y + e0 of k = 0, a hinge

    eta = eta_p + tilt + d a1,   d = row_y . y + row_e . eta_p + row_0   of   k . nbar = 0              (1)

one unknown each. A universal joint between axes u of the body and w of its parent leaves two,

    eta = eta_p + tilt + d u + e w   of   k . ubar = k . wbar = 0                                       (2)

and a weld none, eta = eta_p + tilt. Of a joint of another kind the body's six unknowns and the joint's multipliers are eliminated
together, with row exchanges. Iterates may leave the joints: their gaps and tilts are among the right-hand sides.

The tangent has forces and couples of joints, too. Where nothing closes a loop they are those that hold the motion of all that
hangs on them, F and M - x x F: none need be known before.
"""

from __future__ import annotations

from discretization.trees.bodies import dyad, half_dyad, put, vector_at
from discretization.trees.places import (
    AXIS1,
    BALL_0,
    BALL_K,
    BALL_Y,
    BLOCK,
    BY_CONDITION,
    COUPLE_D,
    COUPLE_E,
    FORCE_D,
    FORCE_E,
    GAP,
    LEVER,
    LEVER1,
    LONG,
    MEAN_AXIS,
    MEAN_PARENT_AXIS,
    NEW_COUPLE,
    NEW_FORCE,
    PARENT_LEVER,
    PARENT_LEVER1,
    RIGHT,
    ROW2_0,
    ROW2_E,
    ROW2_Y,
    ROW_0,
    ROW_E,
    ROW_Y,
    TILT,
    TURNS1,
)
from discretization.trees.shape import BALL, HINGE, OTHER, UNIVERSAL, WELD
from rigid.compilation.decorators import inner_kernel, small_kernel
from rigid.lanes import WIDTH as WIDTH8
from rigid.lanes import choose, load, store
from rigid.linear_algebra import (
    add3,
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
    outer,
    plus,
    product,
    times,
    times_hat,
)


@small_kernel
def block_at(values, at):
    """A_ij = values[at + i + 6 j]."""
    return (
        values[at], values[at + 6], values[at + 12],
        values[at + 1], values[at + 7], values[at + 13],
        values[at + 2], values[at + 8], values[at + 14],
    )  # fmt: skip


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
    """What assembly adds to the blocks of bodies with joints of closed form, as seen from these."""
    for i in range(tree.frame.shape[0]):
        if tree.kind[i] != OTHER:
            _add_seen(tree, work.values, tree.acting[i], work.values, i)


@small_kernel
def _add_seen(tree, source, at, values, i):
    """Add a block by the motion of body i and its moment to that body's, which is as seen from its joint."""
    w, to = tree.each[i], BLOCK * i
    x1, x = vector_at(w, LEVER1), vector_at(w, LEVER)
    rr, tr = block_at(source, at), block_at(source, at + 3)
    fe = matrix_plus(block_at(source, at + 18), times_hat(rr, x1))
    te = matrix_plus(block_at(source, at + 21), times_hat(tr, x1))
    add_block(rr, values, to, 6)
    add_block(matrix_minus(tr, hat_times(x, rr)), values, to + 3, 6)
    add_block(fe, values, to + 18, 6)
    add_block(matrix_minus(te, hat_times(x, fe)), values, to + 21, 6)


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
    values, residual, w, p = work.values, work.residual, tree.each[i], tree.parent[i]
    at, gap = BLOCK * i, vector_at(w, GAP)
    rr, fe, ky = block_at(values, at), block_at(values, at + 18), block_at(values, at + 3)
    F = vector_at(residual, 6 * i)
    k0 = minus(vector_at(residual, 6 * i + 3), cross(vector_at(w, LEVER), F))
    f, couple = (load3(tree.force[i]), load3(tree.couple[i])) if iterated else (F, k0)
    put(w, NEW_FORCE, f)
    ke = matrix_minus(block_at(values, at + 21), dyad(vector_at(w, LEVER1), times(0.5, f)))
    k0 = minus(k0, apply(ky, gap))
    F = minus(F, apply(rr, gap))
    if tree.kind[i] == HINGE:
        a1, n, tilt = vector_at(w, AXIS1), vector_at(w, MEAN_AXIS), vector_at(w, TILT)
        k0, F = plus(k0, apply(ke, tilt)), plus(F, apply(fe, tilt))
        fd, kd = apply(fe, a1), apply(ke, a1)
        turning = times(0.5, cross(vector_at(w, TURNS1), couple))
        d = -1.0 / dot(n, kd)
        row_y = times(d, apply_transposed(ky, n))
        row_e = times(d, plus(apply_transposed(ke, n), turning))
        row_0 = d * (dot(n, k0) + (dot(turning, tilt) if tree.side[i] > 0 else 0.0))
        put(w, ROW_Y, row_y)
        put(w, ROW_E, row_e)
        put(w, FORCE_D, fd)
        put(w, COUPLE_D, kd)
        w[ROW_0], w[BY_CONDITION] = row_0, d
        if p < 0:
            return
        fy, fe = matrix_plus(rr, outer(fd, row_y)), matrix_plus(fe, outer(fd, row_e))
        ky, ke = matrix_plus(ky, outer(kd, row_y)), matrix_plus(ke, outer(kd, row_e))
        F, k0 = plus(F, times(row_0, fd)), plus(k0, times(row_0, kd))
    elif tree.kind[i] == UNIVERSAL:
        # the first condition turns with the body, the second with its parent
        u, v, tilt = vector_at(w, AXIS1), vector_at(w, TURNS1), vector_at(w, TILT)
        n, m = vector_at(w, MEAN_AXIS), vector_at(w, MEAN_PARENT_AXIS)
        k0, F = plus(k0, apply(ke, tilt)), plus(F, apply(fe, tilt))
        of_body, of_parent = times(0.5, cross(u, couple)), times(0.5, cross(v, couple))
        r1, r2 = plus(apply_transposed(ke, n), of_body), apply_transposed(ke, m)
        a, b, c, d = dot(r1, u), dot(r1, v), dot(r2, u), dot(r2, v)
        s = -1.0 / (a * d - b * c)
        y1, y2 = apply_transposed(ky, n), apply_transposed(ky, m)
        e1, e2 = r1, plus(r2, of_parent)
        g1, g2 = dot(n, k0) + dot(of_body, tilt), dot(m, k0)
        row_y, row2_y = (
            times(s, minus(times(d, y1), times(b, y2))),
            times(s, minus(times(a, y2), times(c, y1))),
        )
        row_e, row2_e = (
            times(s, minus(times(d, e1), times(b, e2))),
            times(s, minus(times(a, e2), times(c, e1))),
        )
        row_0, row2_0 = s * (d * g1 - b * g2), s * (a * g2 - c * g1)
        put(w, ROW_Y, row_y)
        put(w, ROW_E, row_e)
        put(w, ROW2_Y, row2_y)
        put(w, ROW2_E, row2_e)
        w[ROW_0], w[ROW2_0] = row_0, row2_0
        w[BY_CONDITION], w[BY_CONDITION + 1] = s * d, -s * b
        w[BY_CONDITION + 2], w[BY_CONDITION + 3] = -s * c, s * a
        fu, fv, ku, kv = apply(fe, u), apply(fe, v), apply(ke, u), apply(ke, v)
        put(w, FORCE_D, fu)
        put(w, FORCE_E, fv)
        put(w, COUPLE_D, ku)
        put(w, COUPLE_E, kv)
        if p < 0:
            return
        fy = matrix_plus(rr, matrix_plus(outer(fu, row_y), outer(fv, row2_y)))
        fe = matrix_plus(fe, matrix_plus(outer(fu, row_e), outer(fv, row2_e)))
        ky = matrix_plus(ky, matrix_plus(outer(ku, row_y), outer(kv, row2_y)))
        ke = matrix_plus(ke, matrix_plus(outer(ku, row_e), outer(kv, row2_e)))
        F = plus(F, plus(times(row_0, fu), times(row2_0, fv)))
        k0 = plus(k0, plus(times(row_0, ku), times(row2_0, kv)))
    elif tree.kind[i] == WELD:
        if p < 0:
            return
        tilt = vector_at(w, TILT)
        k0, F, fy = plus(k0, apply(ke, tilt)), plus(F, apply(fe, tilt)), rr
    else:
        by_couple = matrix_times(-1.0, inverse(ke))
        e0, E = apply(by_couple, k0), product(by_couple, ky)
        for j in range(9):
            w[BALL_Y + j], w[BALL_K + j] = E[j], by_couple[j]
        put(w, BALL_0, e0)
        if p < 0:
            return
        none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        fy, F = matrix_plus(rr, product(fe, E)), plus(F, apply(fe, e0))
        fe, ky, ke, k0 = none, none, none, (0.0, 0.0, 0.0)
    # the same on the parent, as seen from its own joint where it has levers
    above, y1, y = tree.each[p], vector_at(w, PARENT_LEVER1), vector_at(w, PARENT_LEVER)
    arm1, arm = minus(y1, vector_at(above, LEVER1)), minus(y, vector_at(above, LEVER))
    fe, ke = matrix_minus(fe, times_hat(fy, arm1)), matrix_minus(ke, times_hat(ky, arm1))
    at = BLOCK * p
    add_block(fy, values, at, 6)
    add_block(fe, values, at + 18, 6)
    add_block(matrix_plus(ky, hat_times(arm, fy)), values, at + 3, 6)
    add_block(matrix_plus(matrix_plus(ke, hat_times(arm, fe)), half_dyad(y1, f)), values, at + 21, 6)
    add3(F, residual[6 * p : 6 * p + 3])
    add3(plus(k0, cross(y, F)), residual[6 * p + 3 : 6 * p + 6])


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
    rows, first, at = tree.rows[i], tree.block[i], BLOCK * i
    for r in range(6):
        for c in range(6):
            D[r, c], D[r, RIGHT + c] = values[at + r + 6 * c], values[first + r + 6 * c]
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
    """Corrections, root first, into work.rhs, new f and k; the largest as a turn, in rad."""
    largest = 0.0
    for i in range(tree.frame.shape[0]):
        both = correction_of(tree, work, i)
        if not both < 1e300:  # what is no number is larger than nothing
            return 1e300
        largest = max(largest, both)
    return largest


@inner_kernel
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


@small_kernel
def _expand_joint(tree, work, i, o, e):
    values, w, rhs, at = work.values, tree.each[i], work.rhs, BLOCK * i
    y = plus(o, cross(e, vector_at(w, PARENT_LEVER1))) if tree.parent[i] >= 0 else o
    if tree.kind[i] == HINGE:
        d = dot(vector_at(w, ROW_Y), y) + dot(vector_at(w, ROW_E), e) + w[ROW_0]
        e = plus(plus(e, vector_at(w, TILT)), times(d, vector_at(w, AXIS1)))
    elif tree.kind[i] == UNIVERSAL:
        d = dot(vector_at(w, ROW_Y), y) + dot(vector_at(w, ROW_E), e) + w[ROW_0]
        c = dot(vector_at(w, ROW2_Y), y) + dot(vector_at(w, ROW2_E), e) + w[ROW2_0]
        turned = plus(times(d, vector_at(w, AXIS1)), times(c, vector_at(w, TURNS1)))
        e = plus(plus(e, vector_at(w, TILT)), turned)
    elif tree.kind[i] == WELD:
        e = plus(e, vector_at(w, TILT))
    else:
        e = plus(apply(matrix_of(w, BALL_Y), y), vector_at(w, BALL_0))
    y = minus(y, vector_at(w, GAP))
    o = minus(y, cross(e, vector_at(w, LEVER1)))
    put(rhs, 6 * i, o)
    put(rhs, 6 * i + 3, e)
    F, M = vector_at(work.residual, 6 * i), vector_at(work.residual, 6 * i + 3)
    if tree.kind[i] != BALL:
        k = plus(apply(block_at(values, at + 3), y), apply(block_at(values, at + 21), e))
        k = minus(k, times(0.5 * dot(vector_at(w, NEW_FORCE), e), vector_at(w, LEVER1)))
        put(w, NEW_COUPLE, plus(minus(M, cross(vector_at(w, LEVER), F)), k))
    put(w, NEW_FORCE, plus(F, plus(apply(block_at(values, at), y), apply(block_at(values, at + 18), e))))
    return o, e
