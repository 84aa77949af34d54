"""Solve band matrices with few blocks outside the band, as contacts between rods make: band LU with GMRES for the far blocks.

With A = B + F, B the band and F its few far blocks, the solution is x = B^-1 (b + z), and the residual is on the rows of F:

    z + F B^-1 z = -F B^-1 b                                                                                          (1)

GMRES (Saad and Schultz 1986) solves it on these rows alone, each in units of its round-off level. Zero blocks, of pairs that do
not touch, are left out. The inertia of a step keeps the number of iterations small, independently of the number of rods. If
GMRES does not converge, the whole matrix is factored as a sparse one. The result does not depend on earlier solutions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # scipy loads its submodules on first use
from numba import objmode

from discretization.linear.block_tridiagonal_runs import solve_with_runs
from discretization.linear.sparse import sparse_lu, sparse_solve, sparse_solve_transposed, sparse_store
from rigid.compilation.decorators import allocating_kernel, internal_kernel, kernel
from rigid.system import Floats, Ints

SIDE = 6  # unknowns of a frame
MOST = 60  # limit of the number of iterations
RELATIVE = 1e-6  # tolerance relative to the right-hand side; Newton's iteration corrects the rest
AT_NOISE = 0.02  # tolerance relative to the convergence tolerance of Newton's iteration
FULL_MATRIX = -1  # instead of the number of acting blocks: the whole matrix was factored


class FarBlocks(NamedTuple):
    """Blocks (SIDE, SIDE) outside the band, in the order of rows and columns; entry (i, j) is at place + i + j stride."""

    row: Ints  # (f,) first row
    column: Ints  # (f,) first column
    place: Ints  # (f,) offset of the first entry
    stride: int  # offset from one column of a block to the next


def no_far_blocks() -> FarBlocks:
    """Return an empty set of far blocks."""
    none = np.zeros(0, np.int64)
    return FarBlocks(none, none, none, 0)


def far_blocks(row: Ints, column: Ints, first: int, stride: int) -> tuple[FarBlocks, int]:
    """Return the far blocks of these first unknowns from the entry `first` on, and the number of entries they need.

    stride: at least SIDE.
    """
    per_group = stride // SIDE
    group, k = np.divmod(np.arange(len(row)), per_group)
    place = first + group * SIDE * stride + k * SIDE
    # contiguous arrays: for another layout the whole time loop would be compiled again
    row, column = np.ascontiguousarray(row), np.ascontiguousarray(column)
    return FarBlocks(row, column, place.astype(np.int64), stride), SIDE * stride * -(-len(row) // per_group)


@kernel
def acting_blocks(values, far, blocks, rows, counts):
    """Write the numbers of the nonzero blocks and the first unknowns of their rows; counts[0], counts[1]: how many."""
    n, m = 0, 0
    for b in range(far.row.size):
        acts = False
        for j in range(SIDE):
            at = far.place[b] + j * far.stride
            for i in range(SIDE):
                acts = acts or values[at + i] != 0.0
        if acts:
            if m == 0 or rows[m - 1] != far.row[b]:
                rows[m] = far.row[b]
                m += 1
            blocks[n] = b
            n += 1
    counts[0], counts[1] = n, m


@internal_kernel
def far_product(values, far, blocks, count, x, rows, m, out):
    """Compute out (m, SIDE), the rows of F x."""
    at_row = -1
    for k in range(m):
        for i in range(SIDE):
            out[SIDE * k + i] = 0.0
    for n in range(count):
        b = blocks[n]
        if at_row < 0 or rows[at_row] != far.row[b]:
            at_row += 1
        for j in range(SIDE):
            u, at = x[far.column[b] + j], far.place[b] + j * far.stride
            for i in range(SIDE):
                out[SIDE * at_row + i] += values[at + i] * u


@internal_kernel
def apply_givens(H, c, s, j):
    """Apply the Givens rotations so far to column j of H, and append the one that makes it end at its diagonal."""
    for i in range(j):
        upper = H[i, j]
        H[i, j] = c[i] * upper + s[i] * H[i + 1, j]
        H[i + 1, j] = c[i] * H[i + 1, j] - s[i] * upper
    size = np.sqrt(H[j, j] * H[j, j] + H[j + 1, j] * H[j + 1, j])
    c[j], s[j] = (H[j, j] / size, H[j + 1, j] / size) if size > 0.0 else (1.0, 0.0)
    H[j, j], H[j + 1, j] = size, 0.0


@internal_kernel
def orthogonalise(V, H, j, w):
    """Subtract the components of w along the rows of V so far and return its remaining size; twice, because of round-off."""
    for i in range(j + 1):
        H[i, j] = 0.0
    for _ in range(2):
        for i in range(j + 1):
            along = 0.0
            for k in range(w.size):
                along += V[i, k] * w[k]
            H[i, j] += along
            for k in range(w.size):
                w[k] -= along * V[i, k]
    square = 0.0
    for k in range(w.size):
        square += w[k] * w[k]
    return np.sqrt(square)


def factor_full_matrix(handle: int, band: Floats, half: int, far: FarBlocks, values: Floats, n: int) -> int:
    """Factor B + F and store the factors under `handle`; return 0, or 1 if the matrix is singular.

    band: entries of B before it was factored.
    """
    width = 3 * half + 1
    nonzero = np.flatnonzero(band[: n * width])
    column, place = np.divmod(nonzero, width)
    i, j = np.divmod(np.arange(SIDE * SIDE), SIDE)
    rows = np.concatenate([column + place - 2 * half, (far.row[:, None] + i).ravel()])
    columns = np.concatenate([column, (far.column[:, None] + j).ravel()])
    entries = np.concatenate([band[nonzero], values[far.place[:, None] + i + j * far.stride].ravel()])
    try:
        sparse_store(
            handle,
            sparse_lu(scipy.sparse.csc_matrix((entries, (rows, columns)), shape=(n, n))),
        )
    except RuntimeError:  # SuperLU's error for a singular matrix
        return 1
    return 0


@allocating_kernel
def solve_full_matrix(handle, band, half, far, values, counts, rhs, transposed):
    """Compute x in place of rhs by the factors of the whole matrix, which are made if there are none yet.

    Returns 0, or 1 if the matrix is singular. band: its entries before factorisation; values: those of the far blocks;
    transposed: True to solve with the transposed matrix.
    """
    n, status = rhs.size, 0
    fresh = counts[0] != FULL_MATRIX
    row, column, place, stride = (
        far.row,
        far.column,
        far.place,
        far.stride,
    )  # object mode cannot receive the tuple `far` of a compiled time loop
    with objmode(status="int64", x="float64[::1]"):
        if fresh:
            status = factor_full_matrix(handle, band, half, FarBlocks(row, column, place, stride), values, n)
        if status:
            x = rhs
        else:
            x = sparse_solve_transposed(handle, rhs) if transposed else sparse_solve(handle, rhs)
    counts[0] = FULL_MATRIX
    for i in range(n):
        rhs[i] = x[i]
    return status


@allocating_kernel
def solve_with_far_blocks(handle, far, half, factors, acting, noise, solved, rhs):
    """Compute x in place of rhs (n,) for a band with far blocks; return 0, or 1 if the matrix is singular.

    factors: entries of the factored band with the far blocks behind them, the runs eliminated by blocks, its pivots, its first
    rows, and its entries before factorisation.

    acting: blocks, rows, counts, see `acting_blocks`. noise (n,): round-off level of each row. solved: convergence tolerance in
    these units.
    """
    values, done, pivots, first, band = factors
    blocks, rows, counts = acting
    n, count, m = rhs.size, counts[0], counts[1]
    if count == FULL_MATRIX:
        return solve_full_matrix(handle, band, half, far, values, counts, rhs, False)
    x = rhs.copy()
    solve_with_runs(values, n, half, done, pivots, first, x)
    size = SIDE * m
    w, s = np.empty(size), np.empty(size)
    target = 0.0
    for i in range(n):
        target += (rhs[i] / (noise[i] + 1e-300)) ** 2
    target = max(RELATIVE * np.sqrt(target), AT_NOISE * solved)
    far_product(values, far, blocks, count, x, rows, m, w)
    remaining = 0.0
    for k in range(m):
        for i in range(SIDE):
            s[SIDE * k + i] = noise[rows[k] + i] + 1e-300
            w[SIDE * k + i] /= -s[SIDE * k + i]
            remaining += w[SIDE * k + i] ** 2
    remaining = np.sqrt(remaining)
    if remaining <= target:
        for i in range(n):
            rhs[i] = x[i]
        return 0
    V, H, g = np.empty((MOST + 1, size)), np.empty((MOST + 1, MOST)), np.zeros(MOST + 1)
    c, sine = np.empty(MOST), np.empty(MOST)
    g[0], used = remaining, 0
    for k in range(size):
        V[0, k] = w[k] / remaining
    while used < MOST and remaining > target:
        x[:] = 0.0
        for k in range(m):
            for i in range(SIDE):
                x[rows[k] + i] = V[used, SIDE * k + i] * s[SIDE * k + i]
        solve_with_runs(values, n, half, done, pivots, first, x)
        far_product(values, far, blocks, count, x, rows, m, w)
        for k in range(size):
            w[k] = V[used, k] + w[k] / s[k]
        H[used + 1, used] = orthogonalise(V, H, used, w)
        if H[used + 1, used] > 0.0:
            for k in range(size):
                V[used + 1, k] = w[k] / H[used + 1, used]
        apply_givens(H, c, sine, used)
        g[used + 1] = -sine[used] * g[used]
        g[used] *= c[used]
        remaining = abs(g[used + 1])
        used += 1
    if not remaining <= target:
        return solve_full_matrix(handle, band, half, far, values, counts, rhs, False)
    for i in range(used - 1, -1, -1):
        for k in range(i + 1, used):
            g[i] -= H[i, k] * g[k]
        g[i] /= H[i, i]
    for i in range(used):
        for k in range(m):
            for j in range(SIDE):
                rhs[rows[k] + j] += g[i] * V[i, SIDE * k + j] * s[SIDE * k + j]
    solve_with_runs(values, n, half, done, pivots, first, rhs)
    return 0
