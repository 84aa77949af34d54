"""Multifrontal elimination of planar frames with constraint rows or with several neighbours, as in nets (Duff and Reid 1983).

With the correction z of the frame, the multipliers m of its rows, and the corrections Z of its later neighbours P,

    D z + Gbar^T m = -R - sum of C_P Z_P,   G z = -g - sum of G_P Z_P                                        (1)

is solved for z = -M - sum of T_P Z_P, m = m_0 + sum of N_P Z_P. The Schur complement is added to the blocks of every pair of
later neighbours: (U_P z + Gbar_P^T m) of the rows of P. In a tree there is one P, or the ground.
"""

import math

from discretization.planar.arrays import (
    COINCIDENT,
    D11,
    D12,
    D13,
    D21,
    D22,
    D23,
    D31,
    D32,
    D33,
    LEFT,
    MPSI,
    MX,
    MY,
    R1,
    R2,
    R3,
    ROW,
)
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel
from rigid.lanes import load4, store4

SMALLEST = 1e-14  # limit of a pivot relative to the largest entry: below it rows are taken as dependent


@inline_kernel
def adjugate(b11, b12, b13, b21, b22, b23, b31, b32, b33):
    """Return the adjugate of a 3 x 3 matrix, row by row, and its determinant."""
    c11, c12, c13 = b22 * b33 - b23 * b32, b23 * b31 - b21 * b33, b21 * b32 - b22 * b31
    return (
        c11, b13 * b32 - b12 * b33, b12 * b23 - b13 * b22,
        c12, b11 * b33 - b13 * b31, b13 * b21 - b11 * b23,
        c13, b12 * b31 - b11 * b32, b11 * b22 - b12 * b21,
    ), b11 * c11 + b12 * c12 + b13 * c13  # fmt: skip


@inline_kernel
def inverse(b11, b12, b13, b21, b22, b23, b31, b32, b33):
    """Return the inverse of a 3 x 3 matrix, row by row, and its determinant over the product of its diagonal."""
    a, det = adjugate(b11, b12, b13, b21, b22, b23, b31, b32, b33)
    d = 1.0 / det
    return (
        d * a[0], d * a[1], d * a[2],
        d * a[3], d * a[4], d * a[5],
        d * a[6], d * a[7], d * a[8],
    ), det / (b11 * b22 * b33)  # fmt: skip


@internal_kernel
def _reduce(matrix, n, width):
    """Reduce n equations with `width` - n right-hand sides to the identity by Gauss elimination with row exchanges, in place.

    Returns 0, or 1 if the matrix is singular.
    """
    size = 0.0
    for r in range(n):
        for c in range(n):
            size = max(size, abs(matrix[r, c]))
    for c in range(n):
        best, largest = c, abs(matrix[c, c])
        for r in range(c + 1, n):
            if abs(matrix[r, c]) > largest:
                best, largest = r, abs(matrix[r, c])
        if not largest > SMALLEST * size:
            return 1
        if best != c:
            for k in range(width):
                matrix[c, k], matrix[best, k] = matrix[best, k], matrix[c, k]
        pivot = 1.0 / matrix[c, c]
        for k in range(c, width):
            matrix[c, k] *= pivot
        for r in range(n):
            if r != c and matrix[r, c] != 0.0:
                factor = matrix[r, c]
                for k in range(c, width):
                    matrix[r, k] -= factor * matrix[c, k]
    return 0


@internal_kernel
def _count_neighbours(tables, work, s):
    """Return the number of neighbours of frame s that are eliminated later."""
    if tables.parent[s] == work.hinges.shape[0]:
        return 0
    return 1 + tables.first_next[s + 1] - tables.first_next[s]


@internal_kernel
def _neighbour(tables, work, s, d):
    """Return the elimination index of later neighbour d of frame s, and the number of the block of both."""
    if d == 0:
        return tables.parent[s], s
    i = tables.first_next[s] + d - 1
    return tables.beyond[i], work.hinges.shape[0] + i


@internal_kernel
def _neighbour_index(tables, work, s, index):
    """Return the index of the neighbour of frame s with this elimination index, or -1 if there is none."""
    for d in range(_count_neighbours(tables, work, s)):
        if _neighbour(tables, work, s, d)[0] == index:
            return d
    return -1


@internal_kernel
def eliminate_without_rows(tables, work, s, reuse_factors):
    """Eliminate frame s without rows by (1), and store the inverse of its block in place of the block.

    `reuse_factors`: True to use the stored inverse for new residuals. Returns the size of the determinant over the product of the
    diagonal, which is 0 if the block is singular; 1 if `reuse_factors`.
    """
    frame, size = work.frames[s], 1.0
    if not reuse_factors:
        i, size = inverse(
            frame[D11],
            frame[D12],
            frame[D13],
            frame[D21],
            frame[D22],
            frame[D23],
            frame[D31],
            frame[D32],
            frame[D33],
        )
        frame[D11], frame[D12], frame[D13] = i[0], i[1], i[2]
        frame[D21], frame[D22], frame[D23] = i[3], i[4], i[5]
        frame[D31], frame[D32], frame[D33] = i[6], i[7], i[8]
        for d in range(_count_neighbours(tables, work, s)):
            down = work.down[_neighbour(tables, work, s, d)[1]]
            x, y, z = rows_of(down)
            store4(i[0] * x + i[1] * y + i[2] * z, down, 0)
            store4(i[3] * x + i[4] * y + i[5] * z, down, ROW)
            store4(i[6] * x + i[7] * y + i[8] * z, down, 2 * ROW)
    r1, r2, r3 = frame[R1], frame[R2], frame[R3]
    frame[MX] = frame[D11] * r1 + frame[D12] * r2 + frame[D13] * r3
    frame[MY] = frame[D21] * r1 + frame[D22] * r2 + frame[D23] * r3
    frame[MPSI] = frame[D31] * r1 + frame[D32] * r2 + frame[D33] * r3
    _add_schur_complement(tables, work, s, reuse_factors)
    return abs(size)


@internal_kernel
def _add_schur_complement(tables, work, s, reuse_factors):
    """Add the part of the Schur complement of frame s due to its blocks to the blocks of its later neighbours.

    `reuse_factors`: True to change only their right-hand sides.
    """
    frame, count, pair = work.frames[s], _count_neighbours(tables, work, s), tables.first_pair[s]
    x, y, e = frame[MX], frame[MY], frame[MPSI]
    for d in range(count):
        index, block = _neighbour(tables, work, s, d)
        next_, up = work.frames[index], work.up[block]
        if reuse_factors:
            for r in range(3):
                next_[R1 + ROW * r] -= up[r, 0] * x + up[r, 1] * y + up[r, 2] * e
            continue
        down = work.down[block]
        down[0, 3], down[1, 3], down[2, 3] = x, y, e
        subtract_product(next_, D11, up, down)
        for f in range(d + 1, count):
            other = _neighbour(tables, work, s, f)[1]
            subtract_product(work.down[tables.pair[pair]], 0, up, work.down[other])
            subtract_product(work.up[tables.pair[pair]], 0, work.up[other], down)
            pair += 1


@always_inline_kernel
def rows_of(block):
    """Load the three rows of a block, each with its fourth column, as SIMD lanes."""
    return load4(block, 0), load4(block, ROW), load4(block, 2 * ROW)


@inline_kernel
def subtract_product(block, first, up, down):
    """Subtract the product of `up` and `down` from the rows of a block that begins at `first`, including the fourth column."""
    x, y, z = rows_of(down)
    for r in range(3):
        at = first + ROW * r
        store4(load4(block, at) - (up[r, 0] * x + up[r, 1] * y + up[r, 2] * z), block, at)


@internal_kernel
def eliminate_with_rows(tables, work, s, reuse_factors):
    """Eliminate frame s with its constraint rows by (1).

    `reuse_factors`: True to solve for other right-hand sides. Returns 0, or 1 if the rows depend on each other.
    """
    n_neighbours, n = (
        0 if reuse_factors else _count_neighbours(tables, work, s),
        0,
    )  # number of neighbours whose blocks are computed
    for k in range(tables.first[s], tables.first[s + 1]):
        n += 2 if tables.sort[tables.items[k]] == COINCIDENT else 1
    failed = (
        _solve_fully_constrained(tables, work, s, n_neighbours)
        if n == 3
        else _solve_bordered(tables, work, s, 3 + n, n_neighbours)
    )
    if failed != 0:
        return 1
    _add_schur_complement(tables, work, s, reuse_factors)
    _add_schur_complement_of_rows(tables, work, s, n_neighbours)
    return 0


@inline_kernel
def _inverse_of_rows(G, at):
    """Return the inverse of three rows of three numbers, row by row, and its conditioning.

    The second value is the size of the determinant over the product of the lengths of the rows.
    """
    a1, a2, a3 = G[0, at], G[0, at + 1], G[0, at + 2]
    b1, b2, b3 = G[1, at], G[1, at + 1], G[1, at + 2]
    c1, c2, c3 = G[2, at], G[2, at + 1], G[2, at + 2]
    x1, x2, x3 = b2 * c3 - b3 * c2, b3 * c1 - b1 * c3, b1 * c2 - b2 * c1
    det = a1 * x1 + a2 * x2 + a3 * x3
    size = (a1 * a1 + a2 * a2 + a3 * a3) * (b1 * b1 + b2 * b2 + b3 * b3) * (c1 * c1 + c2 * c2 + c3 * c3)
    d = 1.0 / det
    return (
        d * x1, d * (a3 * c2 - a2 * c3), d * (a2 * b3 - a3 * b2),
        d * x2, d * (a1 * c3 - a3 * c1), d * (a3 * b1 - a1 * b3),
        d * x3, d * (a2 * c1 - a1 * c2), d * (a1 * b2 - a2 * b1),
    ), abs(det) / math.sqrt(size)  # fmt: skip


@internal_kernel
def _solve_fully_constrained(tables, work, s, n_neighbours):
    """Solve (1) if three rows constrain the frame: the rows give its correction, and its balance gives their multipliers.

    `n_neighbours`: number of neighbours whose blocks are computed. Returns 0, or 1 if the rows depend on each other.
    """
    frame, G, m = work.frames[s], work.matrix, 0
    for k in range(tables.first[s], tables.first[s + 1]):
        item = tables.items[k]
        side = 0 if tables.joined[item, 0] == s else 1
        for i in range(2 if tables.sort[item] == COINCIDENT else 1):
            row = work.rows[item, i]
            for c in range(3):
                G[m, c], G[m, 3 + c] = row[3 * side + c], row[6 + 3 * side + c]
            G[m, 6] = row[LEFT]
            m += 1
    move, size = _inverse_of_rows(G, 0)
    pull, other = _inverse_of_rows(G, 3)  # its transpose solves for the multipliers
    if not min(size, other) > SMALLEST:
        return 1
    g1, g2, g3 = G[0, 6], G[1, 6], G[2, 6]
    x = move[0] * g1 + move[1] * g2 + move[2] * g3
    y = move[3] * g1 + move[4] * g2 + move[5] * g3
    e = move[6] * g1 + move[7] * g2 + move[8] * g3
    frame[MX], frame[MY], frame[MPSI] = x, y, e
    f1 = frame[D11] * x + frame[D12] * y + frame[D13] * e - frame[R1]
    f2 = frame[D21] * x + frame[D22] * y + frame[D23] * e - frame[R2]
    f3 = frame[D31] * x + frame[D32] * y + frame[D33] * e - frame[R3]
    for i in range(3):
        work.particular[s, i] = pull[i] * f1 + pull[3 + i] * f2 + pull[6 + i] * f3
    for d in range(n_neighbours):
        index, block = _neighbour(tables, work, s, d)
        _depend_on_neighbour(tables, work, s, index, block, move, pull)
    return 0


@internal_kernel
def _depend_on_neighbour(tables, work, s, index, block, move, pull):
    """Compute how the frame and the multipliers of its three rows depend on the corrections of one later neighbour.

    `move`, `pull`: inverses of the gradients at the end of the step and in the mean.
    """
    frame, down, pulls, m = work.frames[s], work.down[block], work.pulls[block], 0
    a, b, c = rows_of(down)
    x = y = e = 0.0 * a
    for k in range(tables.first[s], tables.first[s + 1]):
        item = tables.items[k]
        side = 1 if tables.joined[item, 0] == s else 0
        for i in range(2 if tables.sort[item] == COINCIDENT else 1):
            if tables.joined[item, side] == index:
                gradient = load4(work.rows[item, i], 3 * side)
                x = x + move[m] * gradient
                y = y + move[3 + m] * gradient
                e = e + move[6 + m] * gradient
            m += 1
    f = frame[D11] * x + frame[D12] * y + frame[D13] * e - a
    g = frame[D21] * x + frame[D22] * y + frame[D23] * e - b
    h = frame[D31] * x + frame[D32] * y + frame[D33] * e - c
    for i in range(3):
        store4(pull[i] * f + pull[3 + i] * g + pull[6 + i] * h, pulls, ROW * i)
    store4(x, down, 0)
    store4(y, down, ROW)
    store4(e, down, 2 * ROW)


@internal_kernel
def _solve_bordered(tables, work, s, n, n_neighbours):
    """Solve (1) as n dense equations; return 0, or 1 if they are singular.

    `n_neighbours`: number of neighbours whose blocks are computed.
    """
    frame, matrix = work.frames[s], work.matrix
    balance, last = abs(frame[D11]), n + 3 * n_neighbours
    _put_rows(tables, work, s, balance, n, n_neighbours)
    for d in range(n_neighbours):
        down = work.down[_neighbour(tables, work, s, d)[1]]
        for r in range(3):
            for c in range(3):
                matrix[r, n + 3 * d + c] = -down[r, c]
    for r in range(3):
        matrix[r, last] = -frame[R1 + ROW * r]
    if _reduce(matrix, n, last + 1) != 0:
        return 1
    frame[MX], frame[MY], frame[MPSI] = -matrix[0, last], -matrix[1, last], -matrix[2, last]
    for i in range(n - 3):
        work.particular[s, i] = balance * matrix[3 + i, last]
    for d in range(n_neighbours):
        block = _neighbour(tables, work, s, d)[1]
        for c in range(3):
            for r in range(3):
                work.down[block, r, c] = -matrix[r, n + 3 * d + c]
            for i in range(n - 3):
                work.pulls[block, i, c] = balance * matrix[3 + i, n + 3 * d + c]
    return 0


@internal_kernel
def _put_rows(tables, work, s, balance, n, n_neighbours):
    """Fill the matrix of (1), of n equations, and the right-hand sides of its constraint rows.

    `balance`: factor of the rows and their transposes, so that their size is that of the block.
    """
    frame, matrix, last = work.frames[s], work.matrix, n + 3 * n_neighbours
    for r in range(n):
        for c in range(last + 1):
            matrix[r, c] = 0.0
    for r in range(3):
        for c in range(3):
            matrix[r, c] = frame[D11 + ROW * r + c]
    m = 3
    for k in range(tables.first[s], tables.first[s + 1]):
        item = tables.items[k]
        side = 0 if tables.joined[item, 0] == s else 1
        d = _neighbour_index(tables, work, s, tables.joined[item, 1 - side]) if n_neighbours > 0 else -1
        for i in range(2 if tables.sort[item] == COINCIDENT else 1):
            row = work.rows[item, i]
            for c in range(3):
                matrix[m, c], matrix[c, m] = balance * row[3 * side + c], balance * row[6 + 3 * side + c]
                if d >= 0:
                    matrix[m, n + 3 * d + c] = -balance * row[3 * (1 - side) + c]
            matrix[m, last] = -balance * row[LEFT]
            m += 1


@internal_kernel
def _add_schur_complement_of_rows(tables, work, s, n_neighbours):
    """Add the part of the Schur complement due to the multipliers of frame s to its later neighbours.

    `n_neighbours`: number of neighbours whose blocks are changed; 0: only right-hand sides.
    """
    n, count = 0, _count_neighbours(tables, work, s)
    for e in range(n_neighbours):
        pulls = work.pulls[_neighbour(tables, work, s, e)[1]]
        pulls[0, 3], pulls[1, 3], pulls[2, 3] = (
            work.particular[s, 0],
            work.particular[s, 1],
            work.particular[s, 2],
        )
    for k in range(tables.first[s], tables.first[s + 1]):
        item = tables.items[k]
        side = 1 if tables.joined[item, 0] == s else 0  # side of the other frame
        index = tables.joined[item, side]
        d = _neighbour_index(tables, work, s, index)
        for i in range(2 if tables.sort[item] == COINCIDENT else 1):
            if d >= 0:
                row, next_ = work.rows[item, i], work.frames[index]
                lever = row[6 + 3 * side], row[7 + 3 * side], row[8 + 3 * side]
                if n_neighbours == 0:
                    multiplier = work.particular[s, n]
                    next_[R1] += lever[0] * multiplier
                    next_[R2] += lever[1] * multiplier
                    next_[R3] += lever[2] * multiplier
                for e in range(n_neighbours):
                    pull = load4(work.pulls[_neighbour(tables, work, s, e)[1]], ROW * n)
                    if e == d:
                        _add_on_lever(next_, D11, lever, pull)
                    elif d < e:
                        _add_on_lever(work.down[_pair(tables, s, d, e, count)], 0, lever, pull)
                    else:
                        _add_on_lever(work.up[_pair(tables, s, e, d, count)], 0, lever, pull)
            n += 1


@inline_kernel
def _add_on_lever(block, first, lever, pull):
    """Add a multiplier that depends on the corrections of another frame to the rows of a block that begins at `first`.

    `lever`: gradient of the multiplier's row. `pull`: the multiplier per correction of the other frame.
    """
    store4(load4(block, first) + lever[0] * pull, block, first)
    store4(load4(block, first + ROW) + lever[1] * pull, block, first + ROW)
    store4(load4(block, first + 2 * ROW) + lever[2] * pull, block, first + 2 * ROW)


@internal_kernel
def _pair(tables, s, d, e, count):
    """Return the number of the block of the later neighbours d < e of frame s; `count`: number of its neighbours."""
    return tables.pair[tables.first_pair[s] + d * (2 * count - d - 1) // 2 + e - d - 1]


@internal_kernel
def back_substitute_front(tables, work, s):
    """Compute the corrections of frame s and of the multipliers of its rows from those of its later neighbours."""
    frame, n = work.frames[s], 0
    x, y, e = -frame[MX], -frame[MY], -frame[MPSI]
    for k in range(tables.first[s], tables.first[s + 1]):
        for i in range(2 if tables.sort[tables.items[k]] == COINCIDENT else 1):
            work.impulse_correction[tables.items[k], i] = work.particular[s, n]
            n += 1
    for d in range(_count_neighbours(tables, work, s)):
        index, block = _neighbour(tables, work, s, d)
        next_, down = work.frames[index], work.down[block]
        u, v, w = next_[MX], next_[MY], next_[MPSI]
        x -= down[0, 0] * u + down[0, 1] * v + down[0, 2] * w
        y -= down[1, 0] * u + down[1, 1] * v + down[1, 2] * w
        e -= down[2, 0] * u + down[2, 1] * v + down[2, 2] * w
        n = 0
        for k in range(tables.first[s], tables.first[s + 1]):
            for i in range(2 if tables.sort[tables.items[k]] == COINCIDENT else 1):
                pull = work.pulls[block, n]
                work.impulse_correction[tables.items[k], i] += pull[0] * u + pull[1] * v + pull[2] * w
                n += 1
    frame[MX], frame[MY], frame[MPSI] = x, y, e
