"""Elimination of bodies without a joint: nodes of rods, bodies on springs, free bodies.

With the motion z of such a body, the motions z_k of its linked bodies, the residual r of its equations, and the blocks of rod
elements, springs and the like,

    r + A z + sum B_k z_k = 0,   force on others   C_k z                                                  (1)
    z = -(y + sum X_k z_k),   X_k = A^-1 B_k,   y = A^-1 r,   blocks between others:   -C_j X_k,   -C_j y        (2)

X overwrites B, and y overwrites r. All motions are those of the frames themselves: a body without a joint has no lever. Columns
are registers (`rigid.lanes`) and remain in them until A is eliminated (Gauss and Jordan; Golub and Van Loan, Matrix Computations,
3.2). If a pivot is below a thousandth of the other numbers of its column, rows are exchanged within the body. The numbers
compared have one unit: forces, and moments over the length rho of the body,

    rho^2 = (sum of the diagonal of A for rotations)/(sum of that for displacements).                 (3)

The multipliers of a joint that closes a loop are treated as one more body of six unknowns. Its A is 0 until both bodies of the
joint are eliminated, and its B_k and C_k are the gradient of its rows and their forces.

Of a node of a string (POINT) only the displacement counts. Its blocks are 3 x 3, and their inverse is computed: of A = [a u; v W]
by its first pivot and the determinant of what remains,

    S = W - v u/a,   A^-1 = [1/a + u S^-1 v/a^2, -u S^-1/a; -S^-1 v/a, S^-1].                         (4)

A right-hand side that is added later (`discretization.trees.loops`) needs A^-1, which is stored if joints close loops.
"""

from __future__ import annotations

from discretization.trees.bodies import store_vector, vector_at
from discretization.trees.data_layout import BLOCK, COLUMN, DIAGONAL_BLOCK, ROW_STRIDE
from discretization.trees.spanning_tree import FREE
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel
from rigid.lanes import choose, lane, larger, largest, load, load6, spread_lane, store, store6
from rigid.linear_algebra import apply, minus, plus, product, times

_MOST = 1e3  # largest multiplier without row exchanges, with moments over the length of (3)
_NO_PIVOT = 1e30  # far above _MOST in any unit, and its sixth power is finite


@always_inline_kernel
def _columns(x, at):
    """Load six columns of an array."""
    return (
        load(x, at),
        load(x, at + COLUMN),
        load(x, at + 2 * COLUMN),
        load(x, at + 3 * COLUMN),
        load(x, at + 4 * COLUMN),
        load(x, at + 5 * COLUMN),
    )


@always_inline_kernel
def _put_columns(columns, x, at):
    """Store six columns in an array."""
    store(columns[0], x, at)
    store(columns[1], x, at + COLUMN)
    store(columns[2], x, at + 2 * COLUMN)
    store(columns[3], x, at + 3 * COLUMN)
    store(columns[4], x, at + 4 * COLUMN)
    store(columns[5], x, at + 5 * COLUMN)


@always_inline_kernel
def _multipliers(d, j):
    """Return the multiples of row j to subtract from the other rows, and the inverse of the pivot; if the pivot is 0, multiples
    far above the limit and 0.
    """
    pivot = lane(d, j)
    if pivot == 0.0:
        return choose(0.0, _NO_PIVOT, j, j + 1), 0.0
    inverse = 1.0 / pivot
    return choose(0.0, d * inverse, j, j + 1), inverse


@always_inline_kernel
def _subtracted(c, j, m):
    """Return a column minus its entry j times the multipliers m."""
    return c - m * spread_lane(c, j)


@always_inline_kernel
def _all_subtracted(c, j, m):
    """Return six columns, each minus its entry j times the multipliers m."""
    return (
        _subtracted(c[0], j, m),
        _subtracted(c[1], j, m),
        _subtracted(c[2], j, m),
        _subtracted(c[3], j, m),
        _subtracted(c[4], j, m),
        _subtracted(c[5], j, m),
    )


@always_inline_kernel
def _solved(d, c, r, rho):
    """Return A^-1 c, A^-1 r and the largest multiplier; d: six columns of A, c: six columns of another block."""
    d0, d1, d2, d3, d4, d5 = d
    m0, i0 = _multipliers(d0, 0)
    d1, d2, d3, d4, d5 = (
        _subtracted(d1, 0, m0),
        _subtracted(d2, 0, m0),
        _subtracted(d3, 0, m0),
        _subtracted(d4, 0, m0),
        _subtracted(d5, 0, m0),
    )
    c, r = _all_subtracted(c, 0, m0), _subtracted(r, 0, m0)
    m1, i1 = _multipliers(d1, 1)
    d2, d3, d4, d5 = (
        _subtracted(d2, 1, m1),
        _subtracted(d3, 1, m1),
        _subtracted(d4, 1, m1),
        _subtracted(d5, 1, m1),
    )
    c, r = _all_subtracted(c, 1, m1), _subtracted(r, 1, m1)
    m2, i2 = _multipliers(d2, 2)
    d3, d4, d5 = _subtracted(d3, 2, m2), _subtracted(d4, 2, m2), _subtracted(d5, 2, m2)
    c, r = _all_subtracted(c, 2, m2), _subtracted(r, 2, m2)
    m3, i3 = _multipliers(d3, 3)
    d4, d5 = _subtracted(d4, 3, m3), _subtracted(d5, 3, m3)
    c, r = _all_subtracted(c, 3, m3), _subtracted(r, 3, m3)
    m4, i4 = _multipliers(d4, 4)
    d5 = _subtracted(d5, 4, m4)
    c, r = _all_subtracted(c, 4, m4), _subtracted(r, 4, m4)
    m5, i5 = _multipliers(d5, 5)
    c, r = _all_subtracted(c, 5, m5), _subtracted(r, 5, m5)
    of_forces = larger(larger(m0, m1), m2) * choose(1.0, 1.0 / rho, 0, 3)
    of_moments = larger(larger(m3, m4), m5) * choose(rho, 1.0, 0, 3)
    low, high = choose(i0, choose(i1, i2, 1, 2), 0, 1), choose(i3, choose(i4, i5, 4, 5), 3, 4)
    i = choose(low, high, 0, 3)
    c = c[0] * i, c[1] * i, c[2] * i, c[3] * i, c[4] * i, c[5] * i
    return c, r * i, largest(larger(of_forces, of_moments))


@inline_kernel
def _length(values, at):
    """Return the length rho of (3); 1 if it is not a positive number."""
    step = COLUMN + 1
    displacements = abs(values[at]) + abs(values[at + step]) + abs(values[at + 2 * step])
    rotations = abs(values[at + 3 * step]) + abs(values[at + 4 * step]) + abs(values[at + 5 * step])
    return (rotations / displacements) ** 0.5 if displacements > 0.0 and rotations > 0.0 else 1.0


@always_inline_kernel
def _applied(b, x):
    """Return the product of six columns with the six numbers of x."""
    one = b[0] * spread_lane(x, 0) + b[1] * spread_lane(x, 1)
    two = b[2] * spread_lane(x, 2) + b[3] * spread_lane(x, 3)
    three = b[4] * spread_lane(x, 4) + b[5] * spread_lane(x, 5)
    return one + two + three


@always_inline_kernel
def _subtract_product(values, at, b, x):
    """Subtract the product of two blocks b, x from a block of an array."""
    columns = _columns(values, at)
    difference = (
        columns[0] - _applied(b, x[0]),
        columns[1] - _applied(b, x[1]),
        columns[2] - _applied(b, x[2]),
        columns[3] - _applied(b, x[3]),
        columns[4] - _applied(b, x[4]),
        columns[5] - _applied(b, x[5]),
    )
    _put_columns(difference, values, at)


@internal_kernel
def eliminate_free(tree, work, i):
    """Eliminate a body without a joint: store (2), and add the Schur complement to its linked bodies."""
    values, residual, at = work.values, work.residual, DIAGONAL_BLOCK * i
    if tree.acted[i]:
        _move_rows(tree, values, i)
    rho, r, d = _length(values, at), load6(residual, 6 * i), _columns(values, at)
    if tree.loops:
        _put_inverse(tree, work, i, rho)
    first, end = tree.link_of[i], tree.link_of[i + 1]
    if first == end:
        _, y, worst = _solved(d, d, r, rho)  # the compiler removes unused results
        if not worst <= _MOST:
            y, _ = _solved_with_exchanges(tree, work, i, -1, rho)
        store6(y, residual, 6 * i)
        return
    y = r
    for k in range(first, end):
        x, y, worst = _solved(d, _columns(values, tree.link[k]), r, rho)
        if not worst <= _MOST:
            y, x = _solved_with_exchanges(tree, work, i, tree.link[k], rho)
        _put_columns(x, values, tree.link[k])
    store6(y, residual, 6 * i)
    to = tree.left_of[i]
    for k in range(first, end):
        p, b2 = tree.near[k], _columns(values, tree.link[k] + BLOCK)
        store6(load6(residual, 6 * p) - _applied(b2, y), residual, 6 * p)
        for j in range(first, end):
            _subtract_product(values, tree.left[to], b2, _columns(values, tree.link[j]))
            to += 1


@inline_kernel
def block_of(values, at):
    """Return a 3 x 3 part, row by row, of a block of assembly, which is stored column by column."""
    one, two = at + COLUMN, at + 2 * COLUMN
    return (
        values[at], values[one], values[two], values[at + 1], values[one + 1], values[two + 1],
        values[at + 2], values[one + 2], values[two + 2],
    )  # fmt: skip


@inline_kernel
def _put_block(A, values, at):
    """Store a 3 x 3 part of a block, in columns."""
    for c in range(3):
        for r in range(3):
            values[at + COLUMN * c + r] = A[3 * r + c]


@inline_kernel
def _subtract_block(A, values, at):
    """Subtract a 3 x 3 matrix from a part of a block."""
    for c in range(3):
        for r in range(3):
            values[at + COLUMN * c + r] -= A[3 * r + c]


@inline_kernel
def _inverse_by_first_pivot(A):
    """Return A^-1 by (4); times a, S is W a - v u, so that both divisions are independent of each other."""
    a, u1, u2, v1, w11, w12, v2, w21, w22 = A
    m11, m12, m21, m22 = a * w11 - v1 * u1, a * w12 - v1 * u2, a * w21 - v2 * u1, a * w22 - v2 * u2
    i, s = 1.0 / a, a / (m11 * m22 - m12 * m21)
    m11, m12, m21, m22 = s * m11, s * m12, s * m21, s * m22
    x1, x2 = i * (u1 * m22 - u2 * m21), i * (u2 * m11 - u1 * m12)
    y1, y2 = i * (m22 * v1 - m12 * v2), i * (m11 * v2 - m21 * v1)
    return i + i * (u1 * y1 + u2 * y2), -x1, -x2, -y1, m22, -m12, -y2, -m21, m11


@inline_kernel
def _inverse(A):
    """Return A^-1 (9); the row with the largest number of the first column comes first if its first number is far smaller."""
    one, two = abs(A[3]), abs(A[6])
    if max(one, two) <= _MOST * abs(A[0]):
        return _inverse_by_first_pivot(A)
    if one >= two:
        B = _inverse_by_first_pivot((A[3], A[4], A[5], A[6], A[7], A[8], A[0], A[1], A[2]))
        return B[2], B[0], B[1], B[5], B[3], B[4], B[8], B[6], B[7]
    B = _inverse_by_first_pivot((A[6], A[7], A[8], A[0], A[1], A[2], A[3], A[4], A[5]))
    return B[1], B[2], B[0], B[4], B[5], B[3], B[7], B[8], B[6]


@internal_kernel
def eliminate_point(tree, work, i):
    """Eliminate a POINT as `eliminate_free` does a body."""
    values, residual, link = work.values, work.residual, tree.link
    first, end, to = tree.link_of[i], tree.link_of[i + 1], tree.left_of[i]
    inverse = _inverse(block_of(values, DIAGONAL_BLOCK * i))
    y = apply(inverse, vector_at(residual, 6 * i))
    store_vector(residual, 6 * i, y)
    if end == first + 1:  # what the next node waits for stays in registers
        p, at = 6 * tree.near[first], link[first]
        b2, x = block_of(values, at + tree.back[first]), product(inverse, block_of(values, at))
        store_vector(residual, p, minus(vector_at(residual, p), apply(b2, y)))
        _subtract_block(product(b2, x), values, tree.left[to])
        _put_block(x, values, at)
        return
    for k in range(first, end):
        _put_block(product(inverse, block_of(values, link[k])), values, link[k])
    for k in range(first, end):
        p, b2 = 6 * tree.near[k], block_of(values, link[k] + tree.back[k])
        store_vector(residual, p, minus(vector_at(residual, p), apply(b2, y)))
        for j in range(first, end):
            _subtract_block(product(b2, block_of(values, link[j])), values, tree.left[to])
            to += 1


@internal_kernel
def correct_point(tree, work, i):
    """Store the correction of a POINT in work.rhs, as `correct_free_body` does."""
    rhs, z = work.rhs, vector_at(work.residual, 6 * i)
    for k in range(tree.link_of[i], tree.link_of[i + 1]):
        z = plus(z, apply(block_of(work.values, tree.link[k]), vector_at(rhs, 6 * tree.near[k])))
    store_vector(rhs, 6 * i, times(-1.0, z))
    return (abs(z[0]) + abs(z[1]) + abs(z[2])) / tree.reach[i]


@internal_kernel
def clear_rows(tree, work):
    """Set the blocks and residuals of multipliers (ROWS) to zero, and their diagonal to 1 for unused unknowns of the six."""
    for i in tree.closing:
        for c in range(6):
            work.residual[6 * i + c] = 0.0
            for r in range(6):
                work.values[DIAGONAL_BLOCK * i + COLUMN * c + r] = (
                    1.0 if r == c and r >= tree.rows[i] else 0.0
                )


@internal_kernel
def _put_inverse(tree, work, i, rho):
    """Compute and store A^-1 of a body."""
    values, inverse = work.values, tree.factors[tree.general_index[i]]
    unit = (
        choose(1.0, 0.0, 0, 1),
        choose(1.0, 0.0, 1, 2),
        choose(1.0, 0.0, 2, 3),
        choose(1.0, 0.0, 3, 4),
        choose(1.0, 0.0, 4, 5),
        choose(1.0, 0.0, 5, 6),
    )
    x, _, worst = _solved(_columns(values, DIAGONAL_BLOCK * i), unit, unit[0], rho)
    if not worst <= _MOST:
        _, x = _solved_with_exchanges(tree, work, i, -1, rho)
    store6(x[0], inverse, 0)
    store6(x[1], inverse, 6)
    store6(x[2], inverse, 12)
    store6(x[3], inverse, 18)
    store6(x[4], inverse, 24)
    store6(x[5], inverse, 30)


@internal_kernel
def _solved_with_exchanges(tree, work, i, offset, rho):
    """Return A^-1 r and A^-1 B, with row exchanges; B is the block at `offset`, or the identity if `offset` is -1."""
    values, a, at, n = work.values, tree.blocks, DIAGONAL_BLOCK * i, 13
    for r in range(6):
        unit = 1.0 if r < 3 else 1.0 / rho
        for c in range(6):
            a[n * r + c] = values[at + COLUMN * c + r] * unit * (1.0 if c < 3 else 1.0 / rho)
            b = values[offset + COLUMN * c + r] if offset >= 0 else (1.0 if r == c else 0.0)
            a[n * r + 6 + c] = b * unit
        a[n * r + 12] = work.residual[6 * i + r] * unit
    for j in range(6):
        best = j
        for r in range(j + 1, 6):
            if abs(a[n * r + j]) > abs(a[n * best + j]):
                best = r
        for c in range(j, n):
            a[n * j + c], a[n * best + c] = a[n * best + c], a[n * j + c]
        inverse = 1.0 / a[n * j + j] if a[n * j + j] != 0.0 else 1e300 * 1e300
        for c in range(j, n):
            a[n * j + c] *= inverse
        for r in range(6):
            if r != j:
                factor = a[n * r + j]
                for c in range(j, n):
                    a[n * r + c] -= factor * a[n * j + c]
    solved = 6 * n  # after the matrix: columns of the solution
    for r in range(6):
        unit = 1.0 if r < 3 else 1.0 / rho
        for c in range(7):
            a[solved + COLUMN * c + r] = a[n * r + 6 + c] * unit
    return load(a, solved + 6 * COLUMN), _columns(a, solved)


@internal_kernel
def correct_free_body(tree, work, i):
    """Store the correction of a body in work.rhs, from the corrections of its linked bodies; return its size as a rotation, rad.
    For multipliers the size is 0, or NaN if they are not finite.
    """
    rhs, z = work.rhs, load6(work.residual, 6 * i)
    for k in range(tree.link_of[i], tree.link_of[i + 1]):
        z = z + _applied(_columns(work.values, tree.link[k]), load6(rhs, 6 * tree.near[k]))
    store6(-z, rhs, 6 * i)
    size = abs(z) * choose(1.0 / tree.reach[i], 1.0, 0, 3)
    rotation = (lane(size, 0) + lane(size, 1) + lane(size, 2)) + (
        lane(size, 3) + lane(size, 4) + lane(size, 5)
    )
    return rotation if tree.kind[i] == FREE else 0.0 * rotation  # multipliers: 0 if finite, else NaN


@internal_kernel
def _move_rows(tree, values, i):
    """Move the rows to which joints of other bodies have added into the columns of a body."""
    rows, to = tree.sums[i], DIAGONAL_BLOCK * i
    for r in range(6):
        for c in range(6):
            at = rows + ROW_STRIDE * r + (c if c < 3 else c + 1)
            values[to + COLUMN * c + r] += values[at]
            values[at] = 0.0


@internal_kernel
def carry_free_load(tree, work, load, unknowns, i):
    """Pass the force and the moment that act on a body on to its parent; arguments as in `carry_load` of
    `discretization.trees.elimination`.
    """
    values, inverse, body_load, p = work.values, tree.factors[tree.general_index[i]], load[i], tree.parent[i]
    for r in range(6):
        x = inverse[0, r] * body_load[0]
        for c in range(1, 6):
            x = x + inverse[c, r] * body_load[c]
        unknowns[r] = -1.0 * x
    for r in range(6):
        body_load[r] = 0.0
        if p >= 0:
            for c in range(6):
                load[p, r] = (
                    load[p, r] + values[tree.link[tree.link_of[i]] + BLOCK + COLUMN * c + r] * unknowns[c]
                )


@internal_kernel
def apply_free_load(work, motion, i):
    """Add the motion `motion` of a body due to a load to its solution; work.residual holds y = -z, so `motion` is subtracted."""
    for r in range(6):
        work.residual[6 * i + r] -= motion[r]


@internal_kernel
def carry_free_motion(tree, work, unknowns, motions, i):
    """Compute the motion of a body from the motion of its parent and its independent part `unknowns`, and store it."""
    p = tree.parent[i]
    for r in range(6):
        x = unknowns[i, r]
        if p >= 0:
            for c in range(6):
                x = x - work.values[tree.link[tree.link_of[i]] + COLUMN * c + r] * motions[p, c]
        motions[i, r] = x
