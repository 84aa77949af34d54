"""LU of narrow bands with runs of blocks, as rods are between joints: blocks in registers, what is between them by columns.

A run begins behind what reaches into its first block at most, so that rows that were exchanged before it, too, end with its
second: what is left then is block tridiagonal, until a block of the run reaches further than the next six columns. So it is
behind a block of the run that asks for an exchange of rows: those that are exchanged end with the block after the next one.
"""

from __future__ import annotations

import numpy as np

from discretization.linear.block_band import SIZE, block_factor
from discretization.linear.narrow import narrow_columns
from rigid.compilation.decorators import inner_kernel
from rigid.system import Ints

LEAST = 2  # blocks of a run
_PART = 1e-3  # of what stands under a pivot: three digits less of a correction of `em` cost no iteration


def runs_of(start: Ints, weight: Ints, pairs: Ints, size: int) -> Ints:
    """(k, 2) first columns of runs and how many blocks they have, in the order of the columns.

    start, weight (v,): first unknown and unknowns of the vertices of a band of so many columns; pairs (e, 2) of them that share a
    block, both ways.
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
    found: list[tuple[int, int]] = []
    for k in np.flatnonzero(is_block).tolist():
        if found and first[k] == found[-1][0] + SIZE * found[-1][1]:
            found[-1] = found[-1][0], found[-1][1] + 1
        elif begins[k]:
            found.append((int(first[k]), 1))
    return np.array([run for run in found if run[1] >= LEAST], np.int64).reshape(-1, 2)


@inner_kernel
def factor_with_runs(values, size, band, runs, pivots, first, multipliers):
    """Factors as of `narrow_factor`: 0, or the number of the column without a pivot, and how many blocks were eliminated so."""
    at, filled, blocks = 0, -1, 0
    for run in range(runs.shape[0]):
        start, end = runs[run, 0], runs[run, 0] + SIZE * runs[run, 1]
        while start < end:
            failed, filled = narrow_columns(
                values, size, band, pivots, first, multipliers, at, start, filled, _PART
            )
            if failed != 0:
                return failed, blocks
            done = block_factor(values, size, band, start, (end - start) // SIZE, filled, pivots, first)
            at, blocks = start + SIZE * done, blocks + done
            if done > 0:
                filled = max(filled, min(at + SIZE, size) - 1)
            # behind the block, if there is one, that asks for an exchange; where all do it is not tried on and on
            start = at + SIZE if done > 0 else min(at + 4 * SIZE, end)
    failed, _ = narrow_columns(values, size, band, pivots, first, multipliers, at, size, filled, _PART)
    return failed, blocks
