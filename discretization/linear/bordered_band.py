"""Solve band matrices with a border: few rows and columns that reach everywhere, such as those of tendons through many frames.

    [B  U] [x]   [r]        S = D - V^T Z,   Z = B^-1 U,   S y = s - V^T B^-1 r,   x = B^-1 r - Z y              (1)
    [V^T D] [y] = [s]

D is diagonal. The border stands behind all other entries of the matrix: the columns of U, one after the other, then the rows of
V^T, each of the length N of the whole system, and then the diagonal. Z and the LU factors of S are stored with the factors of B.
The transposed system needs no more: U^T B^-T r = Z^T r.
"""

from __future__ import annotations

from typing import NamedTuple

from discretization.linear.block_tridiagonal_runs import solve_with_runs
from discretization.linear.narrow_band import narrow_solve_transposed
from rigid.compilation.decorators import internal_kernel


class Border(NamedTuple):
    """Place of the border of a matrix."""

    rows: int  # number of border rows, and of border columns
    first: int  # address of the first entry of U


def no_border() -> Border:
    """Return the border of a matrix without one."""
    return Border(0, 0)


def entries_of_border(count: int, size: int) -> int:
    """Return the number of matrix entries of a border; size: number N of unknowns with the border."""
    return 2 * count * size + count


def scratch_of_border(count: int, size: int) -> int:
    """Return the number of numbers of Z and S."""
    return count * (size + count)


@internal_kernel
def factor_border(values, size, border, band, factors, saved, exchanged):
    """Compute Z and the LU factors of S in `saved`; `exchanged` (m,) receives the row exchanges. Return 0, or 1 if S is singular.

    size: number N of unknowns; band: half bandwidth of B; factors: what `factor_with_runs` made of B (done, pivots, first rows).
    """
    m, n, first = border.rows, size - border.rows, border.first
    done, pivots, first_rows = factors
    for j in range(m):
        for i in range(n):
            saved[j * size + i] = values[first + j * size + i]
        solve_with_runs(values, n, band, done, pivots, first_rows, saved[j * size : (j + 1) * size])
    at = m * size
    for k in range(m):
        for j in range(m):
            total = values[first + 2 * m * size + k] if j == k else 0.0
            for i in range(n):
                total -= values[first + (m + k) * size + i] * saved[j * size + i]
            saved[at + k * m + j] = total
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if abs(saved[at + i * m + k]) > abs(saved[at + best * m + k]):
                best = i
        exchanged[k] = best
        if saved[at + best * m + k] == 0.0:
            return 1
        if best != k:
            for j in range(m):
                a, b = at + k * m + j, at + best * m + j
                saved[a], saved[b] = saved[b], saved[a]
        for i in range(k + 1, m):
            factor = saved[at + i * m + k] / saved[at + k * m + k]
            saved[at + i * m + k] = factor
            for j in range(k + 1, m):
                saved[at + i * m + j] -= factor * saved[at + k * m + j]
    return 0


@internal_kernel
def solve_bordered(values, size, border, band, factors, saved, exchanged, rhs):
    """Solve (1) in place of rhs (N,); arguments as in `factor_border`."""
    m, n, first = border.rows, size - border.rows, border.first
    done, pivots, first_rows = factors
    solve_with_runs(values, n, band, done, pivots, first_rows, rhs)
    at = m * size
    for k in range(m):
        for i in range(n):
            rhs[n + k] -= values[first + (m + k) * size + i] * rhs[i]
    for k in range(m):
        best = exchanged[k]
        rhs[n + k], rhs[n + best] = rhs[n + best], rhs[n + k]
    for k in range(m):
        for j in range(k):
            rhs[n + k] -= saved[at + k * m + j] * rhs[n + j]
    for k in range(m - 1, -1, -1):
        for j in range(k + 1, m):
            rhs[n + k] -= saved[at + k * m + j] * rhs[n + j]
        rhs[n + k] /= saved[at + k * m + k]
    for j in range(m):
        for i in range(n):
            rhs[i] -= saved[j * size + i] * rhs[n + j]


@internal_kernel
def solve_bordered_transposed(values, size, border, band, factors, saved, exchanged, rhs):
    """Solve the transposed system in place of rhs (N,); arguments as in `factor_border`."""
    m, n, first = border.rows, size - border.rows, border.first
    _, pivots, first_rows = factors
    at = m * size
    for k in range(m):
        for i in range(n):
            rhs[n + k] -= saved[k * size + i] * rhs[i]
    for k in range(m):  # U^T, then L^T
        for j in range(k):
            rhs[n + k] -= saved[at + j * m + k] * rhs[n + j]
        rhs[n + k] /= saved[at + k * m + k]
    for k in range(m - 1, -1, -1):
        for j in range(k + 1, m):
            rhs[n + k] -= saved[at + j * m + k] * rhs[n + j]
    for k in range(m - 1, -1, -1):
        best = exchanged[k]
        rhs[n + k], rhs[n + best] = rhs[n + best], rhs[n + k]
    for k in range(m):
        for i in range(n):
            rhs[i] -= values[first + (m + k) * size + i] * rhs[n + k]
    narrow_solve_transposed(values, n, band, pivots, first_rows, rhs)
