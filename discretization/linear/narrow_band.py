"""LU of band matrices, without LAPACK and without threads.

LAPACK's `dgbtrf` spends its time in BLAS calls on a few dozen numbers. Above a half bandwidth of 64 a threaded BLAS divides
these among threads, which then wait for each other.

The storage is that of LAPACK, column by column: (N, 3 band + 1) in C order, entry (i, j) at [j, 2 band + i - j], with room
above for the fill of row exchanges. A row is exchanged only if the diagonal is below a fraction of the largest entry under it,
which keeps the factors narrow; the fraction is a tenth unless the caller passes another one. Two columns are eliminated and
eight rows updated at a time, as SIMD lanes (`rigid.lanes`). The multipliers are padded with zeros, so the last lanes add
nothing to the entries behind the column (the array needs eight entries of slack at its end).
"""

import numpy as np

from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.lanes import WIDTH, choose, larger, largest, load, store

_PIVOT = 0.1


@inline_kernel
def update(values, multipliers, diagonal, rows, stride, columns):
    """Subtract a pivot row times its multipliers from the `rows` rows below, in all columns to the right: x -= l u."""
    for i in range(0, rows, WIDTH):
        l, address = load(multipliers, i), diagonal
        for _ in range(columns):
            address += stride
            at = address + 1 + i
            store(load(values, at) - l * values[np.uintp(address)], values, at)


@inline_kernel
def update_twice(values, multipliers, second, diagonal, rows, stride, columns):
    """Subtract two pivot rows from the rows below both: x -= l u + m w.

    The multipliers l begin at entry 1, m at entry `second`; w is under u.
    """
    for i in range(0, rows, 2 * WIDTH):
        l, m, address = load(multipliers, i + 1), load(multipliers, second + i), diagonal
        if rows - i > WIDTH:
            l_next, m_next = load(multipliers, i + 1 + WIDTH), load(multipliers, second + i + WIDTH)
            for _ in range(columns):
                address += stride
                u, w, at = values[np.uintp(address)], values[np.uintp(address + 1)], address + 2 + i
                x, y = load(values, at), load(values, at + WIDTH)
                store(x - l * u - m * w, values, at)
                store(y - l_next * u - m_next * w, values, at + WIDTH)
        else:
            for _ in range(columns):
                address += stride
                u, w, at = values[np.uintp(address)], values[np.uintp(address + 1)], address + 2 + i
                store(load(values, at) - l * u - m * w, values, at)


@inline_kernel
def update_row(values, multipliers, diagonal, pivot, stride, columns):
    """Subtract a pivot row from the row of the next pivot and from the row it was exchanged with, right of its column."""
    u = multipliers[pivot]
    multipliers[pivot] = multipliers[0]
    for c in range(1, columns + 1):
        address = np.uintp(diagonal + c * stride)
        values[address] -= u * values[address - np.uintp(1)]


@inline_kernel
def pivot_of(values, diagonal, below, part):
    """Return the offset of a column's pivot below the diagonal, and its size; part: see `narrow_columns`."""
    size, max_value = abs(values[diagonal]), choose(load(values, diagonal + 1), 0.0, 0, below)
    for i in range(WIDTH, below, WIDTH):
        max_value = larger(max_value, choose(load(values, diagonal + 1 + i), 0.0, 0, below - i))
    if size >= part * abs(largest(larger(max_value, max_value))):
        return 0, size
    under, at = 0.0, 0
    for i in range(1, below + 1):
        x = abs(values[np.uintp(diagonal + i)])
        if x > under:
            under, at = x, i
    return at, under


@inline_kernel
def exchange(values, diagonal, pivot, stride, columns):
    """Exchange the row of the diagonal and that of the pivot, in `columns` columns."""
    if pivot != 0:
        for c in range(columns):
            source = np.uintp(diagonal + c * stride)
            target = source + np.uintp(pivot)
            x = values[source]
            values[source] = values[target]
            values[target] = x


@inline_kernel
def divide(values, diagonal, below, multipliers, at):
    """Divide a column by its pivot and copy it into the multipliers from `at` on, with eight zeros behind them."""
    scale = 1.0 / values[diagonal]
    for i in range(0, below, WIDTH):
        x = load(values, diagonal + 1 + i)
        scaled = x * scale
        store(scaled, multipliers, at + i)
        store(choose(scaled, x, 0, below - i), values, diagonal + 1 + i)
    store(0.0, multipliers, at + below)


def narrow_scratch(band: int) -> int:
    """Return the length of the scratch array: the multipliers of two columns, which are read by eights."""
    return 2 * band + 40


@internal_kernel
def narrow_factor(values, size, band, pivots, first, multipliers):
    """Factor a band matrix in place; pivots (size,) int32, first (size,) int32 receives the first row of every column of U.

    multipliers: scratch of `narrow_scratch`. Returns 0, or the number of the column without a pivot.
    """
    return narrow_columns(values, size, band, pivots, first, multipliers, 0, size, -1, _PIVOT)[0]


@internal_kernel
def narrow_columns(values, size, band, pivots, first, multipliers, start, end, filled, part):
    """Eliminate the columns start .. end - 1 as `narrow_factor` does, two at a time; those before them are eliminated.

    filled: the last column that the rows above reach; part: rows are exchanged if the diagonal is below this part of the
    largest entry under it.

    Returns 0, or the number of the column without a pivot, and the last column that is reached now.
    """
    width, top, second, j = 3 * band + 1, 2 * band, band + 20, start
    stride = width - 1
    while j < end:
        diagonal, below = j * width + top, min(band, size - 1 - j)
        pivot, largest = pivot_of(values, diagonal, below, part)
        if not largest > 0.0:
            return j + 1, filled
        pivots[j] = pivot
        while filled < min(j + pivot + band, size - 1):
            filled += 1
            first[filled] = j
        last = filled
        exchange(values, diagonal, pivot, stride, last - j + 1)
        divide(values, diagonal, below, multipliers, 0)
        j += 1
        if j == end:
            update(values, multipliers, diagonal, below, stride, last - j + 1)
            break
        update(values, multipliers, diagonal, below, stride, 1)
        under, below = diagonal + width, min(band, size - 1 - j)
        pivot, largest = pivot_of(values, under, below, part)
        if not largest > 0.0:
            return j + 1, filled
        pivots[j] = pivot
        while filled < min(j + pivot + band, size - 1):
            filled += 1
            first[filled] = j
        exchange(values, under, pivot, stride, filled - j + 1)
        divide(values, under, below, multipliers, second)
        update_row(values, multipliers, under, pivot, stride, last - j)
        update_twice(values, multipliers, second, diagonal + stride, below, stride, last - j)
        if filled > last:  # columns that only the second row reaches
            for i in range(0, below, WIDTH):
                store(load(multipliers, second + i), multipliers, i)
            update(values, multipliers, under + (last - j) * stride, below, stride, filled - last)
        j += 1
    return 0, filled


@internal_kernel
def narrow_forward(values, size, band, pivots, start, end, rhs):
    """Compute rhs (size,) <- L^-1 rhs for the columns start .. end - 1."""
    width, top = 3 * band + 1, 2 * band
    for j in range(start, end):
        pivot = pivots[j]
        x = rhs[j + pivot]
        if pivot != 0:
            rhs[j + pivot] = rhs[j]
            rhs[j] = x
        below = j * width + top
        for i in range(1, min(band, size - 1 - j) + 1):
            rhs[np.uintp(j + i)] -= values[np.uintp(below + i)] * x


@internal_kernel
def narrow_backward(values, band, first, start, end, rhs):
    """Compute rhs <- U^-1 rhs for the columns end - 1 .. start."""
    width, top = 3 * band + 1, 2 * band
    for j in range(end - 1, start - 1, -1):
        diagonal = j * width + top
        x = rhs[j] / values[diagonal]
        rhs[j] = x
        for i in range(first[j] - j, 0):
            rhs[np.uintp(j + i)] -= values[np.uintp(diagonal + i)] * x


@internal_kernel
def narrow_solve(values, size, band, pivots, first, rhs):
    """Solve in place of rhs (size,) with the factors of `narrow_factor`."""
    narrow_forward(values, size, band, pivots, 0, size, rhs)
    narrow_backward(values, band, first, 0, size, rhs)


@internal_kernel
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
