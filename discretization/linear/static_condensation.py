"""LU of block-sparse matrices: static condensation of interior unknowns, then a narrow band.

Rows and columns come in blocks, such as the equations and unknowns of a frame. A column is *interior* if all its rows
belong to its own block. Interior columns of a block are eliminated with row exchanges among all rows of the block: this is full
partial pivoting, because no other row has entries in them. As many rows as the block has columns left over go into the reduced
matrix, where they have entries in the other columns of the block and of its neighbours. The reduced matrix is a band, for
`discretization.linear.narrow_band`. This is Gaussian elimination with another order of columns: nothing is approximated.

A panel holds the rows of a block, row by row, interior columns first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy loads its submodules on first use
from numba import types

from discretization.linear.narrow_band import (
    narrow_factor,
    narrow_scratch,
    narrow_solve,
    narrow_solve_transposed,
)
from rigid.compilation.decorators import kernel
from rigid.system import Ints

_PIVOT = 0.1  # pivot: the row with fewest entries among those with at least this part of the largest
I1, F1, INT32 = types.int64[::1], types.float64[::1], types.int32[::1]


class Panels(NamedTuple):
    """Layout of the panels of a matrix with b blocks and N unknowns."""

    rows: Any  # (N,) rows of the matrix, block by block
    first_row: Any  # (b + 1,) offset in `rows` of each block
    columns: Any  # columns of the panels, block by block, the interior ones first
    first_column: Any  # (b + 1,) offset in `columns` of each block
    interior: Any  # (b,) number of interior columns
    start: Any  # (b + 1,) offset of the first entry of each panel
    place: Any  # (entries,) offset in the panels of each entry of the matrix
    entries: Any  # (N,) number of entries of each of `rows`
    reduced_row: Any  # (b,) first row of a block in the reduced matrix
    reduced: Any  # column of each of `columns` in the reduced matrix; -1 for interior ones
    size: int  # number of rows of the reduced matrix
    band: int  # half bandwidth of the reduced matrix


class Factors(NamedTuple):
    """Arrays of the factors."""

    panels: Any  # after factorisation: nonzeros of L and of the interior rows of U, row by row, without gaps
    where: Any  # unknown of each of these; for L its offset in `ordered`
    first: Any  # (N + 1,) offset of the first nonzero of each row of L
    upper: Any  # (N,) offset of the diagonal of each row of U, its first nonzero
    order: Any  # (N,) rows of the matrix in the order of their pivots
    weight: Any  # (N,) scratch: estimated present number of entries of each row
    ordered: Any  # (N,) right-hand side in the order of the pivots
    band: Any  # (size (3 band + 1) + 8,) reduced matrix and its factors
    pivots: Any  # (size,) row exchanges of the band
    reached: Any  # (size,) first row of every column of U of the band
    multipliers: Any  # (narrow_scratch(band),) scratch
    rhs: Any  # (size,) right-hand side of the reduced matrix


PANELS = types.NamedTuple([I1] * 10 + [types.int64, types.int64], Panels)
FACTORS = types.NamedTuple([F1, INT32, I1, I1, I1, I1, F1, F1, INT32, INT32, F1, F1], Factors)


def panels_of(pattern: scipy.sparse.csc_matrix, block: Ints, order: Sequence[int] | Ints) -> Panels:
    """Return the panels of a matrix with this pattern.

    block (N,): block of every row, and of the column with the same number; order: order of the blocks in the reduced matrix.
    """
    n, count = pattern.shape[0], int(block.max(initial=-1)) + 1
    rows, column = pattern.indices, np.repeat(np.arange(n), np.diff(pattern.indptr))
    outside = np.zeros(n, bool)
    outside[column[block[rows] != block[column]]] = True
    # interior columns with few rows first: they cause the least fill
    by_block = np.lexsort((np.diff(pattern.indptr), outside, block))
    firsts = np.searchsorted(block[by_block], np.arange(count + 1))
    inner = np.bincount(block[~outside], minlength=count)

    n_reduced = np.diff(firsts) - inner
    reduced_row = np.zeros(count, np.int64)
    reduced_row[order] = np.cumsum(n_reduced[order]) - n_reduced[order]
    reduced_of = np.full(n, -1, np.int64)
    for b in range(count):
        reduced_of[by_block[firsts[b] + inner[b] : firsts[b + 1]]] = reduced_row[b] + np.arange(n_reduced[b])

    touched = np.unique(np.column_stack([block[rows], column])[outside[column]], axis=0)
    of_block = np.searchsorted(touched[:, 0], np.arange(count + 1))
    lists = [
        np.concatenate(
            [by_block[firsts[b] : firsts[b] + inner[b]], touched[of_block[b] : of_block[b + 1], 1]]
        )
        for b in range(count)
    ]
    widths = np.array([len(panel) for panel in lists], np.int64)
    heights = np.diff(firsts)
    start = np.concatenate([[0], np.cumsum(widths * heights)])
    columns = np.concatenate([np.zeros(0, np.int64), *lists])
    first_column = np.concatenate([[0], np.cumsum(widths)])
    of_row = np.argsort(block, kind="stable")
    in_panel = np.empty(n, np.int64)
    in_panel[of_row] = np.arange(n) - firsts[block[of_row]]
    # (block, column) pairs in the order of `columns` and back
    keys = np.repeat(np.arange(count), widths) * n + columns
    sorted_keys = np.argsort(keys)
    at = sorted_keys[np.searchsorted(keys[sorted_keys], block[rows] * n + column)]
    panel = block[rows]
    place = start[panel] + in_panel[rows] * widths[panel] + at - first_column[panel]
    reduced = reduced_of[columns]
    outer = reduced >= 0
    owner = np.repeat(np.arange(count), widths)[outer]
    low, high = reduced_row[owner], reduced_row[owner] + n_reduced[owner] - 1
    has_rows = n_reduced[owner] > 0
    reach = np.maximum(np.abs(reduced[outer] - low), np.abs(reduced[outer] - high))[has_rows]
    return Panels(
        of_row,
        firsts.astype(np.int64),
        columns,
        first_column,
        inner.astype(np.int64),
        start,
        place,
        np.bincount(rows, minlength=n)[of_row].astype(np.int64),
        reduced_row,
        reduced,
        int(n_reduced.sum()),
        int(reach.max(initial=0)),
    )


def no_panels() -> Panels:
    """Return empty panels, for a matrix that is not in blocks."""
    none = np.zeros(0, np.int64)
    return Panels(none, none, none, none, none, none, none, none, none, none, 0, 0)


def factors_for(P: Panels) -> Factors:
    """Allocate the arrays of `condensed_factor`."""
    n = len(P.rows)
    return Factors(
        panels=np.zeros(int(P.start[-1]) if n else 0),
        where=np.zeros(int(P.start[-1]) if n else 0, np.int32),
        first=np.zeros(n + 1, np.int64),
        upper=np.zeros(n, np.int64),
        order=np.zeros(n, np.int64),
        weight=np.zeros(n, np.int64),
        ordered=np.zeros(n),
        band=np.zeros(P.size * (3 * P.band + 1) + 8),
        pivots=np.zeros(P.size, np.int32),
        reached=np.zeros(P.size, np.int32),
        multipliers=np.zeros(narrow_scratch(P.band)),
        rhs=np.zeros(P.size),
    )


@kernel
def exchange(x, a, b, count):
    """Exchange x[a : a + count] and x[b : b + count]."""
    for k in range(count):
        x[a + k], x[b + k] = x[b + k], x[a + k]


@kernel
def subtract_row(x, to, source, factor, count):
    """Compute x[to + k] -= factor x[source + k] for k < count."""
    a, b = np.uintp(to), np.uintp(source)
    for k in range(np.uintp(count)):
        x[a + k] -= factor * x[b + k]


@kernel
def choose_pivot(x, weight, start, first, width, j, rows):
    """Return the row of a panel with the fewest entries among those with a large entry in column j; -1 if all are zero."""
    largest = 0.0
    for i in range(j, rows):
        largest = max(largest, abs(x[start + i * width + j]))
    if not largest > 0.0:
        return -1
    best, fewest = -1, 0
    for i in range(j, rows):
        if abs(x[start + i * width + j]) >= _PIVOT * largest and (best < 0 or weight[first + i] < fewest):
            best, fewest = i, weight[first + i]
    return best


@kernel
def eliminate_interior(P, F, b):
    """Eliminate the interior columns of block b by Gaussian elimination; return 0, or 1 if it is singular."""
    x, first, start = F.panels, P.first_row[b], P.start[b]
    rows, width = P.first_row[b + 1] - first, P.first_column[b + 1] - P.first_column[b]
    for i in range(first, first + rows):
        F.weight[i] = P.entries[i]
        F.order[i] = P.rows[i]
    for j in range(P.interior[b]):
        best = choose_pivot(x, F.weight, start, first, width, j, rows)
        if best < 0:
            return 1
        diagonal = start + j * (width + 1)
        if best != j:
            exchange(x, start + j * width, start + best * width, width)
            F.order[first + j], F.order[first + best] = F.order[first + best], F.order[first + j]
            F.weight[first + j], F.weight[first + best] = F.weight[first + best], F.weight[first + j]
        scale = 1.0 / x[diagonal]
        for i in range(j + 1, rows):
            entry = start + i * width + j
            if x[entry] != 0.0:
                factor = x[entry] * scale
                x[entry] = factor
                subtract_row(x, entry + 1, diagonal + 1, factor, width - j - 1)
                F.weight[first + i] += F.weight[first + j] - 1
    return 0


@kernel
def keep_row(P, F, b, i, offset):
    """Store the nonzeros of row i of block b in the panels from `offset` on: L, then an interior row of U.

    Returns the next free offset. The stored rows before need no more room than they had in the panels: no entry is overwritten
    before it is read.
    """
    x, first, at, inner = F.panels, P.first_row[b], P.first_column[b], P.interior[b]
    width = P.first_column[b + 1] - at
    row = P.start[b] + i * width
    F.first[first + i] = offset
    for j in range(min(i, inner)):
        if x[row + j] != 0.0:
            x[offset], F.where[offset] = x[row + j], first + j
            offset += 1
    F.upper[first + i] = offset
    if i < inner:
        for c in range(i, width):
            if c == i or x[row + c] != 0.0:
                x[offset], F.where[offset] = x[row + c], P.columns[at + c]
                offset += 1
    return offset


@kernel
def condensed_factor(P, F, values, rows, scale):
    """Factor the matrix with entries `values` in `rows`, each multiplied by the scale of its row.

    Returns 0, or 1 if the matrix is singular.
    """
    F.panels[:] = 0.0
    for k in range(values.size):
        F.panels[P.place[k]] = values[k] * scale[rows[k]]
    F.band[:] = 0.0
    stride, middle = 3 * P.band, 2 * P.band
    offset = 0
    for b in range(P.interior.size):
        if eliminate_interior(P, F, b):
            return 1
        inner, first_column = P.interior[b], P.first_column[b]
        width = P.first_column[b + 1] - first_column
        for i in range(P.first_row[b + 1] - P.first_row[b]):
            if i >= inner:
                row = P.reduced_row[b] + i - inner
                panel_row = P.start[b] + i * width
                for c in range(inner, width):
                    F.band[P.reduced[first_column + c] * stride + middle + row] = F.panels[panel_row + c]
            offset = keep_row(P, F, b, i, offset)
    F.first[F.upper.size] = offset
    failed = narrow_factor(F.band, P.size, P.band, F.pivots, F.reached, F.multipliers)
    return 1 if failed != 0 else 0


@kernel
def condensed_solve(P, F, scale, rhs):
    """Solve in place of rhs (N,) with the factors of `condensed_factor`."""
    x, y = F.panels, F.ordered
    for b in range(P.interior.size):
        first, inner = P.first_row[b], P.interior[b]
        for i in range(first, P.first_row[b + 1]):
            value = rhs[F.order[i]] * scale[F.order[i]]
            for k in range(F.first[i], F.upper[i]):
                value -= x[k] * y[F.where[k]]
            y[i] = value
        for i in range(first + inner, P.first_row[b + 1]):
            F.rhs[P.reduced_row[b] + i - first - inner] = y[i]
    narrow_solve(F.band, P.size, P.band, F.pivots, F.reached, F.rhs)
    for b in range(P.interior.size):
        first, inner, at = P.first_row[b], P.interior[b], P.first_column[b]
        # `rhs` is not read again: the unknowns overwrite it
        for c in range(at + inner, P.first_column[b + 1]):
            rhs[P.columns[c]] = F.rhs[P.reduced[c]]
        for j in range(inner - 1, -1, -1):
            diagonal = F.upper[first + j]
            value = y[first + j]
            for k in range(diagonal + 1, F.first[first + j + 1]):
                value -= x[k] * rhs[F.where[k]]
            rhs[P.columns[at + j]] = value / x[diagonal]


@kernel
def condensed_solve_transposed(P, F, scale, rhs):
    """Solve with the transposed matrix in place of rhs (N,), with the factors of `condensed_factor`."""
    x, y = F.panels, F.ordered
    for b in range(P.interior.size):
        first, at = P.first_row[b], P.first_column[b]
        for j in range(P.interior[b]):
            diagonal = F.upper[first + j]
            value = rhs[P.columns[at + j]] / x[diagonal]
            y[first + j] = value
            for k in range(diagonal + 1, F.first[first + j + 1]):
                rhs[F.where[k]] -= x[k] * value
    for b in range(P.interior.size):
        for c in range(P.first_column[b] + P.interior[b], P.first_column[b + 1]):
            F.rhs[P.reduced[c]] = rhs[P.columns[c]]
    narrow_solve_transposed(F.band, P.size, P.band, F.pivots, F.reached, F.rhs)
    for b in range(P.interior.size):
        first, inner = P.first_row[b], P.interior[b]
        for i in range(first + inner, P.first_row[b + 1]):
            y[i] = F.rhs[P.reduced_row[b] + i - first - inner]
        # `rhs` is not read again: the unknowns overwrite it
        for i in range(P.first_row[b + 1] - 1, first - 1, -1):
            for k in range(F.first[i], F.upper[i]):
                y[F.where[k]] -= x[k] * y[i]
            rhs[F.order[i]] = scale[F.order[i]] * y[i]
