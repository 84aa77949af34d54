"""Newton's method and the march of implicit one-step schemes of mechanical systems, compiled once for all of them.

The matrix is the complex-step derivative of the residual, exact to round-off. A step ends when the last
correction of coordinates, velocities and momenta is so small that the next one, quadratically smaller, would be
round-off; or, with a given tolerance, when the norm of the residual is below it, as the papers have it.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from discretization.time.dense import solve
from discretization.time.scheme import (
    FORCES,
    GAMMA,
    INCREMENT,
    JOINTS,
    LAMBDA,
    RESIDUAL,
    STEP,
    UPDATE,
    WORK,
    P,
    Q,
    Step,
    V,
)
from rigid.compilation import explicit_kernel, small_kernel
from rigid.mechanical import DATA, F1, F2, FUNCTIONS, I2

SOLVED, NOT_CONVERGED, SINGULAR, NOT_FINITE = 0, 1, 2, 3
REASONS = {
    NOT_CONVERGED: "Newton's iteration did not converge",
    SINGULAR: "the Newton matrix is singular",
    NOT_FINITE: "the residual is not a finite number",
}

_EPS = 1e-60  # complex step: its square underflows, nothing is subtracted
_SMALL = 1e-8  # scaled correction after which the error left is round-off
_STALLED = 1e-6  # the same where corrections have stopped shrinking

C1 = types.complex128[::1]


class Solver(NamedTuple):
    """Arrays and settings of Newton's method."""

    x: Any  # (N,) complex, unknowns
    r: Any  # (N,) complex
    matrix: Any  # (N, N)
    rhs: Any  # (N,)
    blocks: Any  # (b, 3): kind, first unknown, number
    nodes: Any  # (b,) place of each block in the step
    tolerance: float  # of |r|; 0: to round-off
    limit: int  # most iterations
    advanced: int  # 1: the guess of coordinates is q0 + c h v0


SOLVER = types.NamedTuple([C1, C1, F2, F1, I2, F1, types.float64, types.int64, types.int64], Solver)


@small_kernel
def guess(S, solver, lam):
    """Initial unknowns of a step (002 Table 2: simple or advanced)."""
    for b in range(solver.blocks.shape[0]):
        kind, first, count = solver.blocks[b, 0], solver.blocks[b, 1], solver.blocks[b, 2]
        for i in range(count):
            if kind == Q:
                value = S.q0[i]
                if solver.advanced:
                    value += solver.nodes[b] * S.h * S.v0[i]
            elif kind == P:
                value = S.p0[i]
            elif kind == V:
                value = S.v0[i]
            elif kind == LAMBDA:
                value = lam[i]
            else:
                value = 0j
            solver.x[first + i] = value.real


@small_kernel
def evaluate_matrix(residual, fn, D, S, W, solver):
    """matrix = dr/dx and rhs = r, by complex steps."""
    n = solver.x.size
    for j in range(n):
        solver.x[j] += 1j * _EPS
        residual(fn, D, S, W, solver.x, solver.r)
        solver.x[j] = solver.x[j].real
        for i in range(n):
            solver.matrix[i, j] = solver.r[i].imag / _EPS
    for i in range(n):
        solver.rhs[i] = solver.r[i].real


@small_kernel
def equilibrate(A, x):
    """Divide each row of A x = b by its largest entry, so that pivots compare."""
    for i in range(x.size):
        largest = 0.0
        for j in range(x.size):
            largest = max(largest, abs(A[i, j]))
        if largest > 0.0:
            for j in range(x.size):
                A[i, j] /= largest
            x[i] /= largest


@small_kernel
def correction_size(solver):
    """Largest correction in rhs, each block in units of the size of its values; multipliers and forces do not count."""
    worst = 0.0
    for b in range(solver.blocks.shape[0]):
        kind, first, count = solver.blocks[b, 0], solver.blocks[b, 1], solver.blocks[b, 2]
        if kind in (LAMBDA, GAMMA, FORCES, JOINTS):
            continue
        size, change = 1e-30, 0.0
        for i in range(first, first + count):
            size = max(size, abs(solver.x[i].real))
            change = max(change, abs(solver.rhs[i]))
        if kind == INCREMENT:
            size = max(size, 1.0)
        worst = max(worst, change / size)
    return worst


@small_kernel
def newton(residual, fn, D, S, W, solver):
    """Solve r(x) = 0 from the guess in x: (status, iterations, norm of the residual)."""
    last = 1e300
    n = solver.x.size
    norm = 0.0
    for iteration in range(1, solver.limit + 1):
        if n > 0:
            evaluate_matrix(residual, fn, D, S, W, solver)
        norm = 0.0
        for i in range(n):
            norm += solver.rhs[i] * solver.rhs[i]
        norm = norm**0.5
        if not np.isfinite(norm):
            return NOT_FINITE, iteration, norm
        if solver.tolerance > 0.0 and norm < solver.tolerance:
            return SOLVED, iteration - 1, norm
        equilibrate(solver.matrix, solver.rhs)
        if solve(solver.matrix, solver.rhs):
            return SINGULAR, iteration, norm
        for i in range(n):
            solver.x[i] -= solver.rhs[i]
        size = correction_size(solver)
        if not np.isfinite(size):
            return NOT_FINITE, iteration, norm
        if solver.tolerance == 0.0 and (size <= _SMALL or (size <= _STALLED and size > 0.1 * last)):
            return SOLVED, iteration, norm
        last = size
    return NOT_CONVERGED, solver.limit, norm


@explicit_kernel(
    types.Tuple([types.int64, types.int64, types.float64])(
        RESIDUAL, UPDATE, FUNCTIONS, DATA, WORK, SOLVER, types.float64, F1, types.float64[:, :, :, ::1],
        F1, F2, F2, F2, F2, F2, types.int64[::1], C1, C1, C1, C1, C1,
    )
)  # fmt: skip
def march(
    residual, update, fn, D, W, solver, h, fractions, signals, options, q, p, v, lam, gam, iterations,
    q0, p0, v0, lam1, gam1,
):  # fmt: skip
    """Steps 1.. from row 0 of q, p, v, lam, gam into the rows after it; (status, step reached, |r|).

    fractions: substeps of a composition; signals (steps, substeps, nodes, s).
    """
    q1, p1, v1 = W.vector[34, : D.n], W.vector[35, : D.n], W.vector[29, : D.n]
    for step in range(q.shape[0] - 1):
        for i in range(D.n):
            q0[i], p0[i], v0[i] = q[step, i], p[step, i], v[step, i]
        for k in range(D.m):
            lam1[k], gam1[k] = lam[step, k], gam[step, k]
        for part in range(fractions.size):
            S = Step(fractions[part] * h, q0, p0, v0, signals[step, part], options)
            guess(S, solver, lam1)
            status, count, norm = newton(residual, fn, D, S, W, solver)
            iterations[step + 1] += count
            if status != SOLVED:
                return status, step, norm
            update(fn, D, S, W, solver.x, q1, p1, v1, lam1, gam1)
            for i in range(D.n):
                q0[i], p0[i], v0[i] = q1[i].real, p1[i].real, v1[i].real
        for i in range(D.n):
            q[step + 1, i], p[step + 1, i], v[step + 1, i] = q0[i].real, p0[i].real, v0[i].real
        for k in range(D.m):
            lam[step + 1, k], gam[step + 1, k] = lam1[k].real, gam1[k].real
    return SOLVED, q.shape[0] - 1, 0.0
