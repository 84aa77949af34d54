"""Add couplings between frames that are not neighbours in a tree: hinges that close loops, and springs.

Each acts on two frames by impulses m along rows Gbar. With K of the trees alone, their corrections z, gradients G,

    K z + Gbar^T m = -R,   G z = -g of a hinge,   m = G z of a spring, G: how its impulse grows                    (1)

are solved by the Schur complement of the impulses. With K z_0 = -R and K Z = -Gbar^T

    G Z m = -(g + G z_0) of a hinge,   G Z m - m = -G z_0 of a spring                                              (2)

A column of Z moves only the trees of its two frames; only G Z is stored of it.
"""

from discretization.planar.arrays import G1, G2, LEFT, MX, R1, R2, R3, ROW
from discretization.planar.elimination import SMALLEST, solve, solve_part
from rigid.compilation.decorators import internal_kernel


@internal_kernel
def solve_with_couplings(tables, work, reuse_factors):
    """Compute all corrections, as `discretization.planar.elimination.solve` does, with the couplings between trees.

    Returns 0, or 1 if the matrix is singular, which includes loops whose constraints are not independent.
    """
    n, impulse = work.loops.shape[0], work.impulse
    if n == 0:
        return solve(tables, work, reuse_factors)
    hinged = 2 * tables.closing.shape[0]
    for c in range(hinged):
        row = work.rows[tables.closing[c // 2], c % 2]
        for i in range(LEFT + 1):
            work.columns[c, i] = row[i]
    _save_residuals(tables, work)
    if solve(tables, work, reuse_factors) != 0:
        return 1
    for c in range(n):
        impulse[c] = -work.columns[c, LEFT] - _row_times_correction(tables, work, c, n)
    if not reuse_factors and _factor(tables, work, hinged) != 0:
        return 1
    _solve_factored(work.loops, work.exchanged, work.size, impulse)
    _restore_residuals(tables, work)
    for c in range(n):
        _add_impulse(tables, work, c, impulse[c])
    for c in range(hinged):
        work.impulse_correction[tables.closing[c // 2], c % 2] = impulse[c]
    return solve(tables, work, True)


@internal_kernel
def _save_residuals(tables, work):
    """Save the residuals of all equations, which a solution overwrites."""
    for s in range(work.hinges.shape[0]):
        frame, saved = work.frames[s], work.saved_residuals[s]
        saved[0], saved[1], saved[2] = frame[R1], frame[R2], frame[R3]
        saved[3], saved[4] = work.hinges[s, G1], work.hinges[s, G2]
    for k in range(tables.items.shape[0]):
        for i in range(2):
            work.saved_rows[k, i] = work.rows[tables.items[k], i, LEFT]


@internal_kernel
def _restore_residuals(tables, work):
    """Restore the residuals that `_save_residuals` saved."""
    for s in range(work.hinges.shape[0]):
        frame, saved = work.frames[s], work.saved_residuals[s]
        frame[R1], frame[R2], frame[R3] = saved[0], saved[1], saved[2]
        work.hinges[s, G1], work.hinges[s, G2] = saved[3], saved[4]
    for k in range(tables.items.shape[0]):
        for i in range(2):
            work.rows[tables.items[k], i, LEFT] = work.saved_rows[k, i]


@internal_kernel
def _clear(tables, work, first, last):
    """Set the residuals of the equations of frames `first` to `last` - 1 to zero."""
    for s in range(first, last):
        frame = work.frames[s]
        frame[R1] = frame[R2] = frame[R3] = 0.0
        work.hinges[s, G1] = work.hinges[s, G2] = 0.0
        for k in range(tables.first[s], tables.first[s + 1]):
            work.rows[tables.items[k], 0, LEFT] = work.rows[tables.items[k], 1, LEFT] = 0.0


@internal_kernel
def _add_impulse(tables, work, c, impulse):
    """Add the contribution of an impulse of column c to the residuals of its two frames."""
    row = work.columns[c]
    for side in range(2):
        s = tables.coupled[c, side]
        if s < work.hinges.shape[0]:
            for i in range(3):
                work.frames[s, R1 + ROW * i] += impulse * row[6 + 3 * side + i]


@internal_kernel
def _row_times_correction(tables, work, c, column):
    """Return row c of G times the corrections of the trees that a column moves."""
    total, trees, row = 0.0, tables.trees[column], work.columns[c]
    for side in range(2):
        s = tables.coupled[c, side]
        if (trees[0, 0] <= s and s < trees[0, 1]) or (trees[1, 0] <= s and s < trees[1, 1]):
            for i in range(3):
                total += row[3 * side + i] * work.frames[s, MX + i]
    return total


@internal_kernel
def _factor(tables, work, hinged):
    """Factor the matrix of (2) in units of its rows, with row exchanges; return 0, or 1 if it is singular.

    `hinged`: number of impulses of hinges, which come before those of springs.
    """
    matrix, n = work.loops, work.loops.shape[0]
    for c in range(n):
        trees = tables.trees[c]
        for tree in range(2):
            _clear(tables, work, trees[tree, 0], trees[tree, 1])
        _add_impulse(tables, work, c, 1.0)
        for tree in range(2):
            solve_part(tables, work, trees[tree, 0], trees[tree, 1], True)
        for r in range(n):
            matrix[r, c] = _row_times_correction(tables, work, r, c)
        matrix[c, c] -= 0.0 if c < hinged else 1.0
    for r in range(n):
        largest = 0.0
        for c in range(n):
            largest = max(largest, abs(matrix[r, c]))
        if largest == 0.0:
            return 1
        work.size[r] = 1.0 / largest
        for c in range(n):
            matrix[r, c] *= work.size[r]
    for c in range(n):
        best = c
        for r in range(c + 1, n):
            if abs(matrix[r, c]) > abs(matrix[best, c]):
                best = r
        work.exchanged[c] = best
        if not abs(matrix[best, c]) > SMALLEST:
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


@internal_kernel
def _solve_factored(matrix, exchanged, size, x):
    """Solve for x in place with the factors of `_factor`."""
    n = matrix.shape[0]
    for r in range(n):
        x[r] *= size[r]
    for c in range(n):
        x[c], x[exchanged[c]] = x[exchanged[c]], x[c]
    for r in range(n):
        for c in range(r):
            x[r] -= matrix[r, c] * x[c]
    for r in range(n - 1, -1, -1):
        for c in range(r + 1, n):
            x[r] -= matrix[r, c] * x[c]
        x[r] /= matrix[r, r]
