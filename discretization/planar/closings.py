"""Hinges that close loops of a planar model, put in after the elimination of the trees that are left without them.

With K of the trees, their corrections z, the gradients G of the hinges at the end of the step and Gbar of their impulses m,

    K z + Gbar^T m = -R,   G z = -g   so that   (G Z) m = -(g + G z_0),   K z_0 = -R,   K Z = -Gbar^T              (1)

(Schur complement). A hinge's impulse turns with neither of its frames, so that their blocks are the same with it and without.
A column of Z moves the trees that its hinge joins, no others; of it no more than G Z is kept.
"""

from discretization.planar.arrays import G1, G2, MX, R1
from discretization.planar.elimination import SMALLEST, solve, solve_part
from rigid.compilation.decorators import inner_kernel


@inner_kernel
def solve_closed(tables, work, again):
    """As `discretization.planar.elimination.solve`, of all joints; 1 also where loops are not held independently."""
    n, impulse = work.loops.shape[0], work.impulse
    if n == 0:
        return solve(tables, work, again)
    _keep(tables, work)
    if solve(tables, work, again) != 0:
        return 1
    for c in range(n):
        impulse[c] = -work.rows[tables.closing[c // 2], c % 2, 12] - _along(tables, work, c, n // 2)
    if not again and _factor(tables, work) != 0:
        return 1
    _solve_loops(work.loops, work.exchanged, impulse)
    _put_back(tables, work)
    for c in range(n):
        _pull(tables, work, c, impulse[c])
        work.more[tables.closing[c // 2], c % 2] = impulse[c]
    return solve(tables, work, True)


@inner_kernel
def _keep(tables, work):
    """What is left of all equations, which a solution overwrites."""
    for s in range(work.up.shape[0]):
        own, kept = work.frames[s], work.kept[s]
        kept[0], kept[1], kept[2] = own[R1], own[R1 + 1], own[R1 + 2]
        kept[3], kept[4] = work.hinges[s, G1], work.hinges[s, G2]
    for k in range(tables.items.shape[0]):
        for i in range(2):
            work.kept_rows[k, i] = work.rows[tables.items[k], i, 12]


@inner_kernel
def _put_back(tables, work):
    for s in range(work.up.shape[0]):
        own, kept = work.frames[s], work.kept[s]
        own[R1], own[R1 + 1], own[R1 + 2] = kept[0], kept[1], kept[2]
        work.hinges[s, G1], work.hinges[s, G2] = kept[3], kept[4]
    for k in range(tables.items.shape[0]):
        for i in range(2):
            work.rows[tables.items[k], i, 12] = work.kept_rows[k, i]


@inner_kernel
def _clear(tables, work, first, last):
    """Nothing is left of the equations of these frames."""
    for s in range(first, last):
        own = work.frames[s]
        own[R1] = own[R1 + 1] = own[R1 + 2] = 0.0
        work.hinges[s, G1] = work.hinges[s, G2] = 0.0
        for k in range(tables.first[s], tables.first[s + 1]):
            work.rows[tables.items[k], 0, 12] = work.rows[tables.items[k], 1, 12] = 0.0


@inner_kernel
def _pull(tables, work, c, impulse):
    """Add what an impulse of column c does to its frames."""
    item = tables.closing[c // 2]
    row = work.rows[item, c % 2]
    for side in range(2):
        s = tables.joined[item, side]
        if s < work.up.shape[0]:
            for i in range(3):
                work.frames[s, R1 + i] += impulse * row[6 + 3 * side + i]


@inner_kernel
def _along(tables, work, c, loop):
    """Row c of G by the corrections of the trees that a loop reaches."""
    item, found, trees = tables.closing[c // 2], 0.0, tables.trees[loop]
    row = work.rows[item, c % 2]
    for side in range(2):
        s = tables.joined[item, side]
        if (trees[0, 0] <= s and s < trees[0, 1]) or (trees[1, 0] <= s and s < trees[1, 1]):
            for i in range(3):
                found += row[3 * side + i] * work.frames[s, MX + i]
    return found


@inner_kernel
def _factor(tables, work):
    """Of G Z, row after row with exchanges; 0, or 1: singular."""
    matrix, n = work.loops, work.loops.shape[0]
    for c in range(n):
        loop = c // 2
        for tree in range(2):
            _clear(tables, work, tables.trees[loop, tree, 0], tables.trees[loop, tree, 1])
        _pull(tables, work, c, 1.0)
        for tree in range(2):
            solve_part(tables, work, tables.trees[loop, tree, 0], tables.trees[loop, tree, 1], True)
        for r in range(n):
            matrix[r, c] = _along(tables, work, r, loop)
    size = 0.0
    for r in range(n):
        for c in range(n):
            size = max(size, abs(matrix[r, c]))
    for c in range(n):
        best = c
        for r in range(c + 1, n):
            if abs(matrix[r, c]) > abs(matrix[best, c]):
                best = r
        work.exchanged[c] = best
        if not abs(matrix[best, c]) > SMALLEST * size:
            return 1
        if best != c:
            for k in range(n):
                matrix[c, k], matrix[best, k] = matrix[best, k], matrix[c, k]
        for r in range(c + 1, n):
            if matrix[r, c] != 0.0:
                matrix[r, c] /= matrix[c, c]
                for k in range(c + 1, n):
                    matrix[r, k] -= matrix[r, c] * matrix[c, k]
    return 0


@inner_kernel
def _solve_loops(matrix, exchanged, x):
    """By the factors of `_factor`, in place."""
    n = matrix.shape[0]
    for c in range(n):
        x[c], x[exchanged[c]] = x[exchanged[c]], x[c]
    for r in range(n):
        for c in range(r):
            x[r] -= matrix[r, c] * x[c]
    for r in range(n - 1, -1, -1):
        for c in range(r + 1, n):
            x[r] -= matrix[r, c] * x[c]
        x[r] /= matrix[r, r]
