"""LU of narrow bands, where a LAPACK call spends its time in calls of BLAS on a dozen numbers.

The same storage as `discretization.linear.banded`: column by column, (N, 3 band + 1), entry (i, j) at [j, 2
band + i - j], room for the fill of row exchanges above. A row is exchanged only where the diagonal is below a tenth of the
largest entry under it, or another part that the caller names, which keeps the factors narrow. Eight or four rows are updated at a
time; the multipliers are padded with zeros, so the last ones add nothing to what stands behind them (the array needs a few
entries of slack at its end).
"""

import numba
import numpy as np

from rigid.compilation.decorators import inner_kernel, small_kernel

# Bandwidth up to which this beats LAPACK; without the compiler LAPACK's entry points cannot be called at all.
NARROW = 32 if not getattr(numba.config, "DISABLE_JIT", False) else 10**6
_PIVOT = 0.1
_1, _2, _3, _4, _5, _6, _7 = (np.uintp(k) for k in range(1, 8))


@small_kernel
def update8(values, multipliers, diagonal, i, stride, columns):
    """Rows i .. i + 7 below the diagonal, in all columns to the right: x -= l u. Unsigned indices spare the
    test for negative ones.
    """
    l0, l1, l2, l3 = multipliers[i], multipliers[i + 1], multipliers[i + 2], multipliers[i + 3]
    l4, l5, l6, l7 = multipliers[i + 4], multipliers[i + 5], multipliers[i + 6], multipliers[i + 7]
    here = np.uintp(diagonal)
    for _ in range(columns):
        here += np.uintp(stride)
        u = values[here]
        k = here + np.uintp(1 + i)
        x0, x1, x2, x3 = values[k], values[k + _1], values[k + _2], values[k + _3]
        x4, x5, x6, x7 = values[k + _4], values[k + _5], values[k + _6], values[k + _7]
        values[k] = x0 - l0 * u
        values[k + _1] = x1 - l1 * u
        values[k + _2] = x2 - l2 * u
        values[k + _3] = x3 - l3 * u
        values[k + _4] = x4 - l4 * u
        values[k + _5] = x5 - l5 * u
        values[k + _6] = x6 - l6 * u
        values[k + _7] = x7 - l7 * u


@small_kernel
def update4(values, multipliers, diagonal, i, stride, columns):
    """Rows i .. i + 3, as `update8`."""
    l0, l1, l2, l3 = multipliers[i], multipliers[i + 1], multipliers[i + 2], multipliers[i + 3]
    here = np.uintp(diagonal)
    for _ in range(columns):
        here += np.uintp(stride)
        u = values[here]
        k = here + np.uintp(1 + i)
        x0, x1, x2, x3 = values[k], values[k + _1], values[k + _2], values[k + _3]
        values[k] = x0 - l0 * u
        values[k + _1] = x1 - l1 * u
        values[k + _2] = x2 - l2 * u
        values[k + _3] = x3 - l3 * u


@inner_kernel
def narrow_factor(values, size, band, pivots, first, multipliers):
    """LU factors in place; pivots (size,) int32, first (size,) int32 receives the first row of every column
    of U.

    multipliers: scratch (band + 8,). Returns 0, or the number of the column without a pivot.
    """
    return narrow_columns(values, size, band, pivots, first, multipliers, 0, size, -1, _PIVOT)[0]


@inner_kernel
def narrow_columns(values, size, band, pivots, first, multipliers, start, end, filled, part):
    """Of `narrow_factor` the columns start .. end - 1, those before them are eliminated; filled: the last column that their rows
    reach; part: of the largest entry under a diagonal, below which rows are exchanged.

    Returns 0, or the number of the column without a pivot, and the last column that is reached now.
    """
    width, top = 3 * band + 1, 2 * band
    for j in range(start, end):
        diagonal = j * width + top
        below = min(band, size - 1 - j)
        pivot, largest = 0, abs(values[diagonal])
        under, at = 0.0, 0
        for i in range(1, below + 1):
            x = abs(values[np.uintp(diagonal + i)])
            if x > under:
                under, at = x, i
        if largest < part * under:
            pivot, largest = at, under
        if not largest > 0.0:
            return j + 1, filled
        pivots[j] = pivot
        reach = min(j + pivot + band, size - 1)
        while filled < reach:
            filled += 1
            first[filled] = j
        last = filled
        if pivot != 0:
            for c in range(last - j + 1):
                here = np.uintp(diagonal + c * (width - 1))
                there = here + np.uintp(pivot)
                x = values[here]
                values[here] = values[there]
                values[there] = x
        scale = 1.0 / values[diagonal]
        for i in range(below):
            x = values[diagonal + 1 + i] * scale
            multipliers[i] = x
            values[diagonal + 1 + i] = x
        for i in range(below, below + 8):
            multipliers[i] = 0.0
        for i in range(0, below, 8):
            if below - i > 4:
                update8(values, multipliers, diagonal, i, width - 1, last - j)
            else:
                update4(values, multipliers, diagonal, i, width - 1, last - j)
    return 0, filled


@inner_kernel
def narrow_solve(values, size, band, pivots, first, rhs):
    """Solve in place of rhs (size,) with the factors of `narrow_factor`."""
    width, top = 3 * band + 1, 2 * band
    for j in range(size):
        pivot = pivots[j]
        x = rhs[j + pivot]
        if pivot != 0:
            rhs[j + pivot] = rhs[j]
            rhs[j] = x
        below = j * width + top
        for i in range(1, min(band, size - 1 - j) + 1):
            rhs[np.uintp(j + i)] -= values[np.uintp(below + i)] * x
    for j in range(size - 1, -1, -1):
        diagonal = j * width + top
        x = rhs[j] / values[diagonal]
        rhs[j] = x
        for i in range(first[j] - j, 0):
            rhs[np.uintp(j + i)] -= values[np.uintp(diagonal + i)] * x


@inner_kernel
def narrow_solve_transposed(values, size, band, pivots, first, rhs):
    """Solve with the transposed matrix in place of rhs (size,), with the factors of `narrow_factor`."""
    width, top = 3 * band + 1, 2 * band
    for j in range(size):
        diagonal = j * width + top
        x = rhs[j]
        for i in range(first[j] - j, 0):
            x -= values[np.uintp(diagonal + i)] * rhs[np.uintp(j + i)]
        rhs[j] = x / values[diagonal]
    for j in range(size - 1, -1, -1):
        below, x = j * width + top, rhs[j]
        for i in range(1, min(band, size - 1 - j) + 1):
            x -= values[np.uintp(below + i)] * rhs[np.uintp(j + i)]
        pivot = pivots[j]
        rhs[j] = rhs[j + pivot]
        rhs[j + pivot] = x
