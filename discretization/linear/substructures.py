"""Inner unknowns of substructures, eliminated before the band solver sees the rest: static condensation.

A substructure, such as a rod element of order p, has a dense panel, column by column: its inner unknowns, which nothing else
acts on, then the outer ones at its two ends,

    [ A_ii  A_io ]           A_ii = P L U,    S = A_oo - A_oi A_ii^-1 A_io                                             (1)
    [ A_oi  A_oo ]

Rows are exchanged among the inner ones only, where the diagonal is below a tenth of the largest entry under it. S is added
to the band of the outer unknowns. The right-hand side goes through the same: y = L^-1 P b_i, b_o - A_oi U^-1 y to the band,
then x_i = U^-1 (y - L^-1 P A_io x_o). The band is that of elements with two ends, whatever the order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.linear.narrow import divide, exchange, pivot_of, update, update_row, update_twice
from rigid.compilation.decorators import inner_kernel
from rigid.system import Ints

_PIVOT = 0.1


class Substructures(NamedTuple):
    """Where the panels stand; k of them."""

    start: Ints  # (k,) first entry of a panel
    first: Ints  # (k,) first inner unknown
    inner: Ints  # (k,) number of inner unknowns
    height: Ints  # (k,) number of all
    ends: Ints  # (k, 2) first unknown of both ends
    split: Ints  # (k,) number of unknowns of the first end
    corners: Ints  # (k, 4) places of the blocks aa, ab, ba, bb of the ends in the band


def no_substructures() -> Substructures:
    """None."""
    none, pairs, fours = (np.zeros(shape, np.int64) for shape in (0, (0, 2), (0, 4)))
    return Substructures(none, none, none, none, pairs, none, fours)


@inner_kernel
def _eliminate(values, start, inner, height, pivots, first, multipliers):
    """(1) of one panel in place, two columns at a time; 0, or 1 if A_ii is singular."""
    second = height + 16
    for j in range(0, inner, 2):
        diagonal, rows = start + j * (height + 1), height - j - 1
        pivot, largest = pivot_of(values, diagonal, inner - j - 1, _PIVOT)
        if not largest > 0.0:
            return 1
        pivots[first + j] = pivot
        exchange(values, diagonal, pivot, height, rows + 1)
        divide(values, diagonal, rows, multipliers, 0)
        if j + 1 == inner:
            update(values, multipliers, diagonal, rows, height, rows)
            return 0
        update(values, multipliers, diagonal, rows, height, 1)
        below, rows = diagonal + height + 1, rows - 1
        pivot, largest = pivot_of(values, below, inner - j - 2, _PIVOT)
        if not largest > 0.0:
            return 1
        pivots[first + j + 1] = pivot
        exchange(values, below, pivot, height, rows + 1)
        divide(values, below, rows, multipliers, second)
        update_row(values, multipliers, below, pivot, height, rows)
        update_twice(values, multipliers, second, diagonal + height, rows, height, rows)
    return 0


@inner_kernel
def condense(values, S, stride, pivots, multipliers):
    """Eliminate the inner unknowns of all substructures and add what is left to the band, whose columns are `stride` apart
    less one. pivots: (N,) int32; multipliers: scratch of `narrow_scratch`, of the largest height. 0, or 1 if singular.
    """
    for k in range(S.start.size):
        start, inner, height = S.start[k], S.inner[k], S.height[k]
        if _eliminate(values, start, inner, height, pivots, S.first[k], multipliers) != 0:
            return 1
        for b in range(2):
            columns = S.split[k] if b == 0 else height - inner - S.split[k]
            skipped = inner + b * S.split[k]
            for a in range(2):
                rows = S.split[k] if a == 0 else height - inner - S.split[k]
                to, source = S.corners[k, 2 * a + b], start + skipped * height + inner + a * S.split[k]
                for j in range(columns):
                    for i in range(rows):
                        values[np.uintp(to + j * stride + i)] += values[np.uintp(source + j * height + i)]
    return 0


@inner_kernel
def reduce_rhs(values, S, pivots, rhs):
    """y in the place of the inner unknowns, what it adds at the ends."""
    for k in range(S.start.size):
        inner, height, first, split = S.inner[k], S.height[k], S.first[k], S.split[k]
        for j in range(inner):
            here, pivot = first + j, pivots[first + j]
            x = rhs[here + pivot]
            if pivot != 0:
                rhs[here + pivot] = rhs[here]
                rhs[here] = x
            below = S.start[k] + j * height
            for i in range(j + 1, inner):
                rhs[np.uintp(first + i)] -= values[np.uintp(below + i)] * x
            for i in range(split):
                rhs[np.uintp(S.ends[k, 0] + i)] -= values[np.uintp(below + inner + i)] * x
            for i in range(height - inner - split):
                rhs[np.uintp(S.ends[k, 1] + i)] -= values[np.uintp(below + inner + split + i)] * x


@inner_kernel
def expand_solution(values, S, rhs):
    """The inner unknowns from those at the ends."""
    for k in range(S.start.size):
        inner, height, first, split = S.inner[k], S.height[k], S.first[k], S.split[k]
        for c in range(height - inner):
            x = rhs[S.ends[k, 0] + c] if c < split else rhs[S.ends[k, 1] + c - split]
            column = S.start[k] + (inner + c) * height
            for i in range(inner):
                rhs[np.uintp(first + i)] -= values[np.uintp(column + i)] * x
        for j in range(inner - 1, -1, -1):
            column = S.start[k] + j * height
            x = rhs[first + j] / values[column + j]
            rhs[first + j] = x
            for i in range(j):
                rhs[np.uintp(first + i)] -= values[np.uintp(column + i)] * x


@inner_kernel
def reduce_rhs_transposed(values, S, rhs):
    """Of the transposed matrix: z = U^-T b_i in the place of the inner unknowns, b_o - (L^-1 P A_io)^T z at the ends."""
    for k in range(S.start.size):
        inner, height, first, split = S.inner[k], S.height[k], S.first[k], S.split[k]
        for c in range(height):
            column, x = S.start[k] + c * height, 0.0
            for i in range(min(c, inner)):
                x += values[np.uintp(column + i)] * rhs[np.uintp(first + i)]
            if c < inner:
                rhs[first + c] = (rhs[first + c] - x) / values[column + c]
            elif c < inner + split:
                rhs[S.ends[k, 0] + c - inner] -= x
            else:
                rhs[S.ends[k, 1] + c - inner - split] -= x


@inner_kernel
def expand_solution_transposed(values, S, pivots, rhs):
    """Of the transposed matrix: x_i = P^T L^-T (z - (A_oi U^-1)^T x_o)."""
    for k in range(S.start.size):
        inner, height, first, split = S.inner[k], S.height[k], S.first[k], S.split[k]
        for j in range(inner - 1, -1, -1):
            column, x = S.start[k] + j * height, rhs[first + j]
            for i in range(j + 1, inner):
                x -= values[np.uintp(column + i)] * rhs[np.uintp(first + i)]
            for i in range(split):
                x -= values[np.uintp(column + inner + i)] * rhs[np.uintp(S.ends[k, 0] + i)]
            for i in range(height - inner - split):
                x -= values[np.uintp(column + inner + split + i)] * rhs[np.uintp(S.ends[k, 1] + i)]
            other = first + j + pivots[first + j]
            rhs[first + j] = rhs[other]
            rhs[other] = x
