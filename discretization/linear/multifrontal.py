"""Multifrontal LU of matrices whose band is wide: frames and nets of rods, mechanisms with many loops.

Unknowns come in groups that are eliminated together, such as those of a frame with the multipliers of a joint that holds it.
Groups are eliminated in an order of small degree, each in a separate dense panel, a *front*, stored column by column. The inner
unknowns of a front come first, then the outer ones, with which the matrix or earlier eliminations couple them:

    [ A_ii  A_io ]           A_ii = P L U,    S = A_oo - A_oi A_ii^-1 A_io                                             (1)
    [ A_oi  A_oo ]

The Schur complement S is added to the front of the first outer unknown to be eliminated, its parent (Duff and Reid 1983). Rows
are exchanged only among the inner ones. A pivot far below the entries under it ends the factorisation: the caller then uses a
solver that exchanges all rows.

A front adds the Schur complements of its children in their order, and writes only to its own storage. The result therefore does
not depend on the order of the fronts, nor on how many are processed at the same time (`discretization.assembly.thread_team`).

Among the inner unknowns multipliers are the first columns and the last rows: the rows of their frame determine them, and they
determine those of the frame. So few rows are exchanged, and zeros in the blocks of a joint stay zero and are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy  # scipy loads its submodules on first use

from discretization.linear.sparse import sparse_lu
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel
from rigid.lanes import WIDTH, larger, largest, load, store
from rigid.system import Ints

_PIVOT = 0.1  # a row is exchanged if the diagonal is below this part of the largest inner entry under it
_SAFE = 1e-8  # smallest pivot relative to the largest entry under it: Newton's iteration recovers the digits it costs
_1 = np.uintp(1)


class Fronts(NamedTuple):
    """Layout of k fronts in elimination order for N unknowns. Long lists are int32, which is read faster."""

    inner: Ints  # (k,) number of inner unknowns
    start: Ints  # (k + 1,) first entry of each panel; behind a panel there are dummy entries
    first: Ints  # (k + 1,) offset of the rows and columns of each front in the lists of all
    pivot: Ints  # (k,) offset of the pivots of each front
    row: np.ndarray  # rows of the panels as unknowns of the matrix, front by front
    column: np.ndarray  # columns of the panels as unknowns of the matrix, front by front
    parent: Ints  # (k,) front that S is added to; -1 if there is none
    row_there: (
        np.ndarray
    )  # row of the parent's panel that each row of S is added to, as long as `row`; 0 for inner rows
    column_there: np.ndarray  # column of the parent's panel, likewise
    child: Ints  # (children,) fronts whose S is added, front by front
    first_child: Ints  # (k + 1,) offset in `child` of each front
    entry: np.ndarray  # (entries,) numbers of the entries of the matrix, front by front
    first_entry: Ints  # (k + 1,) offset in `entry` of each front
    place: np.ndarray  # (entries,) offset of each entry in its panel
    flops: int  # number of multiplications and additions of a factorisation


def no_fronts() -> Fronts:
    """Return an empty layout."""
    none, single, short = np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32)
    return Fronts(
        none, single, single, none, short, short, none, short, short, none, single, short, single, short, 0
    )


def scratch_length(fronts: Fronts) -> int:
    """Return the length of the scratch array of a factorisation: two columns, which are read by eights."""
    return int(2 * np.diff(fronts.first).max(initial=0) + 16)


def fronts_of(indptr: Ints, indices: Ints, group: Ints, leads: np.ndarray) -> Fronts:
    """Return the fronts of a matrix in compressed columns with symmetric pattern.

    group (N,): unknowns of one number are eliminated together; leads (N,): True if a column comes first in its group.
    """
    n, count = len(indptr) - 1, int(group.max(initial=-1)) + 1
    column = np.repeat(np.arange(n), np.diff(indptr))
    pairs = np.stack(np.divmod(np.unique(group[indices] * np.int64(count) + group[column]), count), axis=1)
    order = _minimum_degree(pairs[pairs[:, 0] != pairs[:, 1]], count)
    inner, outer = _supernodes(pairs, order)

    by_columns = np.lexsort((~leads, group))
    by_rows = np.lexsort((leads, group))
    bounds = np.searchsorted(group[by_rows], np.arange(count + 1))
    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    front_of = np.empty(count, np.int64)
    sizes = np.zeros((len(inner), 2), np.int64)
    for k, (inner_groups, outer_groups) in enumerate(zip(inner, outer, strict=True)):
        front_of[inner_groups] = k
        for listed, by in ((rows, by_rows), (columns, by_columns)):
            listed += [by[bounds[g] : bounds[g + 1]] for g in inner_groups + outer_groups]
        sizes[k] = [sum(bounds[g + 1] - bounds[g] for g in of) for of in (inner_groups, outer_groups)]
    row, col = np.concatenate(rows), np.concatenate(columns)
    height = sizes.sum(axis=1)
    first, start = _sums(height), _sums(-(-(height**2 + WIDTH) // WIDTH) * WIDTH)
    of_front = np.repeat(np.arange(len(height)), height)
    finders = [_places(of_front * n + listed, first[of_front]) for listed in (row, col)]

    front = np.minimum(front_of[group[indices]], front_of[group[column]])
    i, j = (find(front * n + x) for find, x in zip(finders, (indices, column), strict=True))
    parent = np.array([front_of[outer_groups[0]] if outer_groups else -1 for outer_groups in outer], np.int64)
    is_outer = np.arange(len(row)) - first[of_front] >= sizes[of_front, 0]
    rows_in_parent = [np.zeros(len(row), np.int64) for _ in finders]
    for target, find, unknown in zip(rows_in_parent, finders, (row, col), strict=True):
        target[is_outer] = find(parent[of_front[is_outer]] * n + unknown[is_outer])
    pivots = np.concatenate(
        [np.arange(h - 1, h - 1 - m, -1) for h, m in zip(height, sizes[:, 0], strict=True)]
    )
    place, entry = i + j * height[front], np.argsort(front, kind="stable")
    child = np.argsort(parent, kind="stable")[np.count_nonzero(parent < 0) :]
    return Fronts(
        inner=np.ascontiguousarray(sizes[:, 0]),
        start=start,
        first=first,
        pivot=_sums(sizes[:, 0])[:-1],
        row=row.astype(np.int32),
        column=col.astype(np.int32),
        parent=parent,
        row_there=rows_in_parent[0].astype(np.int32),
        column_there=rows_in_parent[1].astype(np.int32),
        child=child,
        first_child=np.searchsorted(parent[child], np.arange(len(height) + 1)),
        entry=entry.astype(np.int32),
        first_entry=np.searchsorted(front[entry], np.arange(len(height) + 1)),
        place=place[entry].astype(np.int32),
        flops=int(2 * (pivots**2).sum()),
    )


def _sums(sizes: Ints) -> Ints:
    """Return the offsets (k + 1,) of consecutive items of these sizes."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _places(keys: Ints, first: Ints) -> Callable[[Ints], Ints]:
    """Return a function that finds the positions of keys, counted from the first of their front."""
    by_key = np.argsort(keys)
    place = (np.arange(len(keys)) - first)[by_key]
    return lambda sought: place[np.searchsorted(keys[by_key], sought)]


def _minimum_degree(pairs: Ints, count: int) -> Ints:
    """Return the groups in an order of small degree: that of SuperLU for a matrix with this graph."""
    graph = scipy.sparse.coo_matrix(
        (-np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count)
    ).tocsc()
    dominant = scipy.sparse.coo_matrix(
        (1.0 - graph.sum(axis=0).A1, (np.arange(count), np.arange(count)))
    ).tocsc()
    factors = sparse_lu(
        graph + dominant,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.argsort(factors.perm_c)


def _supernodes(pairs: Ints, order: Ints) -> tuple[list[list[int]], list[list[int]]]:
    """Return the inner and the outer groups of every front, in elimination order.

    A group shares the front of the next of its outer groups if the outer groups of both are the same except that one.
    """
    position = np.argsort(order)
    later: list[set[int]] = [set() for _ in order]
    for a, b in pairs.tolist():
        if position[a] < position[b]:
            later[a].add(b)
    parent: dict[int, int] = {}
    for g in order.tolist():
        if later[g]:
            parent[g] = min(later[g], key=position.__getitem__)
            later[parent[g]] |= later[g] - {parent[g]}
    inner: list[list[int]] = []
    shared: dict[int, list[int]] = {}  # groups that precede a group in its front
    for g in order.tolist():
        members = [*shared.get(g, []), g]
        if g in parent and len(later[g]) == len(later[parent[g]]) + 1 and parent[g] not in shared:
            shared[parent[g]] = members
        else:
            inner.append(members)
    outer = [sorted(later[members[-1]], key=position.__getitem__) for members in inner]
    order_of_fronts = _children_first(inner, outer)
    return [inner[k] for k in order_of_fronts], [outer[k] for k in order_of_fronts]


def _children_first(inner: list[list[int]], outer: list[list[int]]) -> list[int]:
    """Return the fronts in an order in which the descendants of each come right before it, so that data is still in the cache."""
    of = {group: k for k, members in enumerate(inner) for group in members}
    children: list[list[int]] = [[] for _ in inner]
    waiting: list[int] = []
    for k, outer_groups in enumerate(outer):
        (children[of[outer_groups[0]]] if outer_groups else waiting).append(k)
    order: list[int] = []
    while waiting:  # from the roots to the leaves; reversed at the end
        order.append(waiting.pop())
        waiting += children[order[-1]]
    return order[::-1]


@inline_kernel
def _update(values, multipliers, second, diagonal, i, height, columns):
    """Update eight rows from i + 2 under the diagonal in all columns to the right but one: x -= l u + m w."""
    l, m = load(multipliers, i), load(multipliers, second + i)
    if largest(larger(l, m)) == 0.0:
        return
    column = np.uintp(diagonal + height)
    for _ in range(columns):
        column += np.uintp(height)
        u, w = values[column], values[column + _1]
        if u == 0.0 and w == 0.0:
            continue
        at = column + np.uintp(2 + i)
        store(load(values, at) - l * u - m * w, values, at)


@internal_kernel
def _pivot(values, diagonal, inside, rows, height):
    """Exchange the row of the pivot of a column and divide the column by it; return its offset, or -1 if it is too small.

    The pivot is one of the diagonal and the first `inside` of the `rows` entries under it.
    """
    pivot, largest, under, at = 0, abs(values[diagonal]), 0.0, 0
    for i in range(1, inside + 1):
        x = abs(values[np.uintp(diagonal + i)])
        if x > under:
            under, at = x, i
    if largest < _PIVOT * under:
        pivot, largest = at, under
    for i in range(inside + 1, rows + 1):
        under = max(under, abs(values[np.uintp(diagonal + i)]))
    if not (largest > 0.0 and largest >= _SAFE * under):
        return -1
    if pivot != 0:
        for c in range(rows + 1):
            source = np.uintp(diagonal + c * height)
            target = source + np.uintp(pivot)
            x = values[source]
            values[source] = values[target]
            values[target] = x
    scale = 1.0 / values[diagonal]
    for i in range(1, rows + 1):
        values[np.uintp(diagonal + i)] *= scale
    return pivot


@internal_kernel
def _eliminate_one(values, diagonal, rows, height):
    """Subtract the column of a pivot, divided by it, times the pivot row from all columns to the right."""
    for c in range(1, rows + 1):
        column = diagonal + c * height
        u = values[np.uintp(column)]
        if u != 0.0:
            for i in range(1, rows + 1):
                values[np.uintp(column + i)] -= values[np.uintp(diagonal + i)] * u


@internal_kernel
def _eliminate(values, start, inner, height, pivots, multipliers):
    """Eliminate one panel by (1) in place, two columns at a time; return 0, or 1 if a pivot is too small.

    pivots: a view of the part that belongs to the panel.
    """
    second = height + 8
    for j in range(0, inner, 2):
        diagonal, rows = start + j * (height + 1), height - j - 1
        pivots[j] = _pivot(values, diagonal, inner - j - 1, rows, height)
        if pivots[j] < 0:
            return 1
        if j + 1 == inner:
            _eliminate_one(values, diagonal, rows, height)
            return 0
        for i in range(rows):
            multipliers[i] = values[np.uintp(diagonal + 1 + i)]
        below = diagonal + height + 1
        u = values[np.uintp(below - 1)]
        for i in range(rows):
            values[np.uintp(below + i)] -= multipliers[i] * u
        rows -= 1
        pivot = _pivot(values, below, inner - j - 2, rows, height)
        if pivot < 0:
            return 1
        pivots[j + 1] = pivot
        # the rest of this row and of the row it is exchanged with has not been updated by the first column yet
        u = multipliers[pivot]
        multipliers[pivot] = multipliers[0]
        for c in range(1, rows + 1):
            column = np.uintp(below + c * height)
            values[column] -= u * values[column - _1]
        for i in range(rows):
            multipliers[i] = multipliers[i + 1]
            multipliers[second + i] = values[np.uintp(below + 1 + i)]
        for i in range(rows, rows + 8):
            multipliers[i] = multipliers[second + i] = 0.0
        for i in range(0, rows, 8):
            _update(values, multipliers, second, diagonal, i, height, rows)
    return 0


@always_inline_kernel
def begin_front(values, F, f, panels):
    """Copy the entries of the matrix into the panel of front f."""
    start = F.start[f]
    for i in range(start, F.start[f + 1]):
        panels[np.uintp(i)] = 0.0
    for e in range(F.first_entry[f], F.first_entry[f + 1]):
        index = np.uintp(e)
        panels[np.uintp(start + F.place[index])] = values[np.uintp(F.entry[index])]


@always_inline_kernel
def assemble_child(F, f, child, panels):
    """Add the Schur complement S of a child to the panel of front f."""
    start, first, inner = F.start[child], F.first[child], F.inner[child]
    height = F.first[child + 1] - first
    above, stride = F.start[f], F.first[f + 1] - F.first[f]
    for c in range(inner, height):
        source, to = start + c * height, above + F.column_there[first + c] * stride
        for i in range(inner, height):
            panels[np.uintp(to + F.row_there[np.uintp(first + i)])] += panels[np.uintp(source + i)]


@always_inline_kernel
def eliminate_front(F, f, panels, pivots, multipliers):
    """Eliminate front f by (1); return 0, or 1 if a pivot is too small."""
    height, inner, at = F.first[f + 1] - F.first[f], F.inner[f], F.pivot[f]
    return _eliminate(panels, F.start[f], inner, height, pivots[at : at + inner], multipliers)


@internal_kernel
def fronts_factor(values, F, panels, pivots, multipliers):
    """Factor the matrix with entries `values` into panels (start[-1] + 8,); return 0, or 1 if a pivot is too small.

    pivots: (N,) int32; multipliers: scratch of `scratch_length`.
    """
    for f in range(F.inner.size):
        begin_front(values, F, f, panels)
        for k in range(F.first_child[f], F.first_child[f + 1]):
            assemble_child(F, f, F.child[k], panels)
        if eliminate_front(F, f, panels, pivots, multipliers) != 0:
            return 1
    return 0


@inline_kernel
def _subtract(panels, column, u, x, first, end):
    """Compute x -= u times a column, from the row `first` on; up to seven dummy rows of x behind `end` change, too."""
    for i in range(first, end, WIDTH):
        store(load(x, i) - load(panels, column + i) * u, x, i)


@always_inline_kernel
def begin_reduction(F, f, rhs, x):
    """Copy the right-hand side of the inner unknowns of front f into x, with zeros for the outer ones."""
    first, inner = F.first[f], F.inner[f]
    for i in range(inner):
        x[np.uintp(i)] = rhs[np.uintp(F.row[np.uintp(first + i)])]
    for i in range(inner, F.first[f + 1] - first):
        x[np.uintp(i)] = 0.0


@always_inline_kernel
def assemble_rows(F, child, outer, x):
    """Add the right-hand side that a child leaves for its outer rows to the rows of its parent."""
    first = F.first[child]
    for i in range(first + F.inner[child], F.first[child + 1]):
        x[np.uintp(F.row_there[np.uintp(i)])] += outer[np.uintp(i)]


@always_inline_kernel
def reduce_rows(F, f, panels, pivots, rhs, outer, x):
    """Compute L^-1 P of the inner rows of front f in place of rhs, and the remaining right-hand side of the outer ones."""
    start, first, inner = F.start[f], F.first[f], F.inner[f]
    height, at = F.first[f + 1] - first, F.pivot[f]
    for j in range(inner):
        row = j + pivots[at + j]
        u = x[row]
        x[row] = x[j]
        x[j] = u
        if u != 0.0:
            _subtract(panels, start + j * height, u, x, j + 1, height)
    for i in range(inner):
        rhs[np.uintp(F.row[np.uintp(first + i)])] = x[np.uintp(i)]
    for i in range(inner, height):
        outer[np.uintp(first + i)] = x[np.uintp(i)]


@always_inline_kernel
def solve_columns(F, f, panels, rhs, x):
    """Solve for the inner unknowns of front f; those of its outer columns are known."""
    start, first, inner = F.start[f], F.first[f], F.inner[f]
    height = F.first[f + 1] - first
    for i in range(inner):
        x[np.uintp(i)] = rhs[np.uintp(F.row[np.uintp(first + i)])]
    for i in range(0, inner, WIDTH):
        solution = load(x, i)
        for c in range(height - 1, inner - 1, -1):
            known = rhs[np.uintp(F.column[np.uintp(first + c)])]
            solution = solution - load(panels, start + c * height + i) * known
        store(solution, x, i)
    for c in range(inner - 1, -1, -1):
        column = start + c * height
        u = x[c] / panels[column + c]
        for i in range(c):
            x[np.uintp(i)] -= panels[np.uintp(column + i)] * u
        x[c] = u
    for i in range(inner):
        rhs[F.column[first + i]] = x[i]


@internal_kernel
def fronts_solve(F, panels, pivots, rhs, outer, x):
    """Solve in place of rhs (N,) with the factors of `fronts_factor`; outer (first[-1],), x (largest height + 8,): scratch."""
    for f in range(F.inner.size):
        begin_reduction(F, f, rhs, x)
        for k in range(F.first_child[f], F.first_child[f + 1]):
            assemble_rows(F, F.child[k], outer, x)
        reduce_rows(F, f, panels, pivots, rhs, outer, x)
    for f in range(F.inner.size - 1, -1, -1):
        solve_columns(F, f, panels, rhs, x)


@internal_kernel
def fronts_solve_transposed(F, panels, pivots, rhs, x):
    """Solve with the transposed matrix in place of rhs (N,), with the factors of `fronts_factor`; x: as in `fronts_solve`."""
    for f in range(F.inner.size):
        start, first, inner = F.start[f], F.first[f], F.inner[f]
        height = F.first[f + 1] - first
        for c in range(height):
            column, u = start + c * height, rhs[F.column[first + c]]
            for i in range(min(c, inner)):
                u -= panels[np.uintp(column + i)] * x[np.uintp(i)]
            if c < inner:
                x[c] = u / panels[column + c]
            else:
                rhs[F.column[first + c]] = u
        for i in range(inner):
            rhs[F.row[first + i]] = x[i]
    for f in range(F.inner.size - 1, -1, -1):
        start, first, inner, at = F.start[f], F.first[f], F.inner[f], F.pivot[f]
        height = F.first[f + 1] - first
        for i in range(height):
            x[i] = rhs[F.row[first + i]]
        for j in range(inner - 1, -1, -1):
            column, u = start + j * height, x[j]
            for i in range(j + 1, height):
                u -= panels[np.uintp(column + i)] * x[np.uintp(i)]
            other = j + pivots[at + j]
            x[j] = x[other]
            x[other] = u
        for i in range(inner):
            rhs[F.row[first + i]] = x[i]
