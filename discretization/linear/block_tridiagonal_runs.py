"""LU of narrow bands with runs of blocks, as rods between joints are: blocks in registers, other columns one by one.

A run begins behind everything that reaches at most into its first block. Rows that were exchanged before the run then end with
its second block, too, and what is left is block tridiagonal, until a block of the run reaches further than the next six
columns. The same holds behind a block of the run that requires a row exchange: exchanged rows end with the block after the next
one.
"""

from __future__ import annotations

import numpy as np

from discretization.linear.block_tridiagonal import SIZE, block_backward, block_factor, block_forward
from discretization.linear.narrow_band import narrow_backward, narrow_columns, narrow_forward
from rigid.compilation.decorators import internal_kernel
from rigid.system import Ints

MIN_BLOCKS = 2  # smallest number of blocks of a run
_AFTER_OTHERS = 2  # number of blocks of a run that exchanged rows before it may reach into
# Limit of a pivot relative to the entries under it, in any units of the rows: losing five digits of a correction costs no
# iteration.
_PART = 1e-5


def runs_of(start: Ints, weight: Ints, pairs: Ints, size: int) -> Ints:
    """Return the first column and the number of blocks of each run (k, 2), in the order of the columns.

    start, weight (v,): first unknown and number of unknowns of the vertices of a band of `size` columns; pairs (e, 2): vertices
    that share a block, both ways.
    """
    inside = np.flatnonzero(start < size)
    inside = inside[np.argsort(start[inside])]
    reach = start + weight - 1
    between = pairs[(start[pairs] < size).all(axis=1)]
    np.maximum.at(reach, between[:, 0], (start + weight - 1)[between[:, 1]])
    first, so_far = start[inside], np.maximum.accumulate(reach[inside])
    behind = size - first - SIZE
    is_block = (weight[inside] == SIZE) & (so_far < first + 2 * SIZE) & ((behind == 0) | (behind >= SIZE))
    begins = is_block & (np.append(-1, so_far[:-1]) < first + SIZE)
    runs: list[tuple[int, int]] = []
    for k in np.flatnonzero(is_block).tolist():
        if runs and first[k] == runs[-1][0] + SIZE * runs[-1][1]:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        elif begins[k]:
            runs.append((int(first[k]), 1))
    return np.array([run for run in runs if run[1] >= MIN_BLOCKS], np.int64).reshape(-1, 2)


@internal_kernel
def factor_with_runs(values, size, band, runs, done, pivots, first, multipliers):
    """Factor a band with runs of blocks, in the format of `narrow_factor`.

    Returns 0, or the number of the column without a pivot, and how many blocks were eliminated in registers.

    done (k, 2): receives, for each run, the first column and the number of blocks of the longest stretch eliminated in
    registers.
    """
    at, filled, blocks = 0, -1, 0
    for run in range(runs.shape[0]):
        start, end = runs[run, 0], runs[run, 0] + SIZE * runs[run, 1]
        done[run, 0], done[run, 1] = start, 0
        while start < end:
            failed, filled = narrow_columns(
                values, size, band, pivots, first, multipliers, at, start, filled, _PART
            )
            if failed != 0:
                return failed, blocks
            count = block_factor(values, size, band, start, (end - start) // SIZE, filled, pivots, first)
            at, blocks = start + SIZE * count, blocks + count
            if count > 0:
                filled = max(filled, min(at + SIZE, size) - 1)
            if count > done[run, 1]:
                done[run, 0], done[run, 1] = start, count
            # continue behind the block that requires an exchange; if all blocks do, skip some instead of trying each
            start = at + SIZE if count > 0 else min(at + 4 * SIZE, end)
    failed, _ = narrow_columns(values, size, band, pivots, first, multipliers, at, size, filled, _PART)
    return failed, blocks


@internal_kernel
def solve_with_runs(values, size, band, done, pivots, first, rhs):
    """Solve in place of rhs (size,) with the factors of `factor_with_runs`, block by block in the stretches `done`."""
    runs, at = done.shape[0], 0
    for run in range(runs + 1):
        start, count = (done[run, 0], done[run, 1]) if run < runs else (size, 0)
        narrow_forward(values, size, band, pivots, at, start, rhs)
        if count > 0:
            block_forward(values, size, band, start, count, rhs)
        at = start + SIZE * count
    for run in range(runs - 1, -2, -1):
        start, count = (done[run, 0], done[run, 1]) if run >= 0 else (0, 0)
        narrow_backward(values, band, first, start + SIZE * count, at, rhs)
        # rows exchanged before a run may reach into its second block
        by_columns = 0 if start == 0 else min(_AFTER_OTHERS, count)
        if count > by_columns:
            block_backward(values, band, start + SIZE * by_columns, count - by_columns, rhs)
        at = start + SIZE * by_columns
