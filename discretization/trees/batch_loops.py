"""Close loops of trees (`discretization.trees.loops`) for a batch of eight runs, one per SIMD lane.

Columns are computed one after the other. The small matrix is solved separately for each run, because row exchanges differ.
"""

from __future__ import annotations

from discretization.trees.elimination import (
    apply_plain_load,
    carry_plain_load,
    carry_plain_motion,
    correct_plain_body,
)
from discretization.trees.loops import (
    add_conditions,
    add_joint_load_on_ends,
    clear,
    clear_matrix,
    motion_of_body,
    relative_motion,
    solve,
    store_joint_wrench,
    store_right_hand_side,
)
from discretization.trees.spanning_tree import BALL
from rigid.compilation.decorators import internal_kernel
from rigid.lanes import WIDTH


@internal_kernel
def close_batch_loops(batch, tree, loops, work, unknowns, motions):
    """Close the loops of eight runs, as `close_loops` does for one run; `unknowns`, `motions`: scratch arrays for all bodies."""
    for s in range(loops.sets.shape[0]):
        sizes = loops.sets[s]
        first, last, begin, end = sizes[0], sizes[1], sizes[2], sizes[3]
        low = loops.low[sizes[5] : sizes[5] + sizes[4]]
        clear_matrix(loops.matrix, low)
        for k in range(begin, end):
            correct_plain_body(tree, work, loops.bodies[k])
        for j in range(first, last):
            store_right_hand_side(loops, work, j)
            for c in range(3 if loops.joints.kind[j] == BALL else 6):
                _put_column(tree, loops, work, unknowns, motions, j, c)
            add_conditions(loops, j)
        for run in range(WIDTH):
            _solve(batch, batch.loops.matrix, batch.loops.impulse, run, low)
        for j in range(first, last):
            store_joint_wrench(loops, j)
        for k in range(end - 1, begin - 1, -1):
            apply_plain_load(tree, work, loops.loads, loops.unknowns, loops.bodies[k])


@internal_kernel
def _put_column(tree, loops, work, unknowns, motions, j, c):
    """Compute and store column c of joint j in the matrices of all runs."""
    f, k = (
        (1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2)),
        (1.0 * (c == 3), 1.0 * (c == 4), 1.0 * (c == 5)),
    )
    matrix, column, n = loops.matrix, loops.column[j] + c, tree.frame.shape[0]
    add_joint_load_on_ends(loops, loops.loads, j, f, k)
    for i in range(loops.up[j, 0], loops.up[j, 1]):
        carry_plain_load(tree, work, loops.loads, unknowns[loops.above[i]], loops.above[i])
    for i in range(loops.down[j, 0], loops.down[j, 1]):
        carry_plain_motion(tree, unknowns, motions, loops.below[i], n)
    for i in range(loops.near[j, 0], loops.near[j, 1]):
        other = loops.touched[i]
        row, a = loops.column[other], loops.place[other, 1]
        displacement, rotation = relative_motion(
            loops,
            other,
            motion_of_body(motions, loops.place[other, 0]),
            motion_of_body(motions, a if a >= 0 else n),
        )
        matrix[row, column], matrix[row + 1, column], matrix[row + 2, column] = displacement
        if loops.joints.kind[other] != BALL:
            matrix[row + 3, column], matrix[row + 4, column], matrix[row + 5, column] = rotation
    for i in range(loops.up[j, 0], loops.up[j, 1]):
        clear(unknowns[loops.above[i]])
    for i in range(loops.down[j, 0], loops.down[j, 1]):
        clear(motions[loops.below[i]])


@internal_kernel
def _solve(batch, matrix, impulse, run, low):
    """Solve (2) of `discretization.trees.loops` for one run: copy its matrix and right-hand side from the lanes, solve, and copy
    the solution back.
    """
    run_matrix, x, first = batch.matrix, batch.impulse, 0
    for r in range(low.shape[0]):
        x[r] = impulse[r, run]
        while low[first] < r:
            first += 1
        for c in range(first, low[low[r]] + 1):
            run_matrix[r, c] = matrix[r, c, run]
    solve(run_matrix, x, (batch.row_size, batch.column_size, batch.exchanged), low)
    for r in range(low.shape[0]):
        impulse[r, run] = x[r]
