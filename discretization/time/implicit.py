"""Newton's method for implicit one-step schemes of mechanical systems, compiled once for all of them.

The matrix is the complex-step derivative of the residual, exact to round-off. A step ends if the last correction of
coordinates, velocities and momenta is so small that the next one, quadratically smaller, would be round-off. With a given
tolerance it ends if the norm of the residual is below it, as in the papers.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from discretization.linear.static_condensation import FACTORS, condensed_factor, condensed_solve
from discretization.time.dense_algebra import factor, substitute
from discretization.time.energy_tangents import BY_COLOURS, add_energies
from discretization.time.scheme import (
    FORCES,
    GAMMA,
    IMPULSES,
    INCREMENT,
    JOINTS,
    LAMBDA,
    P,
    Q,
    V,
)
from discretization.time.sparsity_pattern import PATTERN, differentiate
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.kinematics.poses import load_quat
from rigid.kinematics.quaternion_maps import G
from rigid.linear_algebra import times
from rigid.mechanics.mechanical_system import C1, F1, F2, I1, I2, WITHOUT_POTENTIAL
from rigid.tuple_references import Reference, by_reference, with_field

SOLVED, NOT_CONVERGED, SINGULAR, NOT_FINITE = 0, 1, 2, 3
REASONS = {
    NOT_CONVERGED: "Newton's iteration did not converge",
    SINGULAR: "the Newton matrix is singular",
    NOT_FINITE: "the residual is not a finite number, or its tangent is not",
}

_ROUND_OFF = 2e-16  # scaled error below which a correction is the last one
_SMALL = 1e-9  # scaled correction of Newton's method after which only round-off is left
_STALLED = 1e-12  # scaled correction that counts as the last one if the corrections have stopped shrinking
_STALLED_FRESH = (
    1e-9  # as _STALLED, with a matrix of the present iterate, or one that proved good: no better one exists
)
_SERVED = 0.05  # contraction rate of the corrections that proves a matrix good
_PROVEN = 1e-3  # contraction rate that proves it good for the last correction at round-off
_DAMPED_LIMIT = 200
_MOST_HALVINGS = 20
ATTEMPTS = 5
_RUNAWAY = 1e6  # growth of |r| that shows that the iteration is on its way to a root at infinity
_ROUNDED = 2e-15
_LEAST = 1e-14


@by_reference
class Solver(NamedTuple):
    """Arrays and settings of Newton's method."""

    x: Any  # (N,) complex unknowns
    r: Any  # (N,) complex residual
    matrix: Any  # (N, N) matrix, then its factors; (0, 0) if the matrix is a band
    constant: Any  # (N, N) columns of the matrix that depend on h alone
    pattern: Any  # `Pattern`; its band is -1 if the matrix is dense
    values: Any  # (entries,) entries of the pattern
    factors: Any  # `Factors` of the entries
    terms: Any  # (N,) sizes of the sums in the rows of r, for the last matrix evaluated
    scale: Any  # (N,) row scales of the factors
    pivots: Any  # (N,) pivot rows of the factors
    rhs: Any  # (N,) residual, then correction
    saved: Any  # (N,) unknowns before a damped correction
    blocks: Any  # (b, 4) kind, first unknown, number, and whether the columns are constant
    nodes: Any  # (b,) node of each block in the step
    tolerance: float  # tolerance of |r|; 0: solve to round-off
    limit: int  # largest number of iterations
    advanced: int  # 1: the initial guess of coordinates is q0 + c h v0
    slope: float  # about the largest entry of G
    corrections_per_matrix: int  # number of corrections that cost about as much as a matrix and its factors
    evaluated: Any  # (1,) number of matrices evaluated so far
    redundant: Any  # (k, 2) unknowns of multipliers of redundant joints, and the entries of their diagonal
    regularisation: Any  # (k,) regularisation that is subtracted from the diagonal, divided by h^2


_SETTINGS = types.float64, types.int64, types.int64, types.float64, types.int64, I1, I2, F1
SOLVER = Reference(
    types.NamedTuple(
        [C1, C1, F2, F2, PATTERN.pointee, F1, FACTORS, F1, F1, I1, F1, F1, I2, F1, *_SETTINGS], Solver
    )
)


@internal_kernel
def guess(D, S, solver, lam, advanced):
    """Set the initial unknowns of a step (002 Table 2: simple or advanced).

    `advanced`: 1 to extrapolate coordinates and increments by the velocities, else 0.
    """
    for b in range(solver.blocks.shape[0]):
        kind, first, count = solver.blocks[b, 0], solver.blocks[b, 1], solver.blocks[b, 2]
        if kind == INCREMENT:
            guess_increments(D, S, solver, first, advanced)
            continue
        for i in range(count):
            value = 0.0
            if kind == Q:
                value = S.q0[i].real
                value += advanced * solver.nodes[b] * S.h * S.v0[i].real
            elif kind == P:
                value = S.p0[i].real
            elif kind == V:
                value = S.v0[i].real
            elif kind in (LAMBDA, IMPULSES):
                value = lam[i].real
            solver.x[first + i] = value


@internal_kernel
def guess_increments(D, S, solver, first, advanced):
    """Set the increments of the frames of a quaternion chart: h times velocity and angular velocity 2 E(q) v.

    `first`: index of the first increment; `advanced`: 0 to set them to 0.
    """
    for f in range(D.frames.entries.size):
        at, to = D.frames.entries[f].position, D.frames.entries[f].orientation
        if at >= 0:
            for i in range(3):
                solver.x[first + i] = advanced * S.h * S.v0[at + i].real
            first += 3
        if to >= 0:
            q, v = load_quat(S.q0, to), load_quat(S.v0, to)
            rotation = times(2.0 * S.h, G(conjugated(q), conjugated(v)))
            for i in range(3):
                # E(q) v is minus G of the conjugates
                solver.x[first + i] = -advanced * rotation[i].real
            first += 3


@inline_kernel
def conjugated(q):
    """Return the conjugate (w, -x) of a quaternion (w, x)."""
    return q[0], times(-1.0, q[1])


@internal_kernel
def evaluate(residual, fn, D, S, W, solver):
    """Compute rhs = r, and return its norm."""
    residual(fn, D, S, W, solver.x, solver.r)
    norm = 0.0
    for i in range(solver.x.size):
        solver.rhs[i] = solver.r[i].real
        norm += solver.rhs[i] * solver.rhs[i]
    return norm**0.5


@internal_kernel
def evaluate_matrix(residual, fn, D, S, W, solver, known):
    """Compute matrix = dr/dx, regularised for redundant joints.

    The residual is not changed, so that the regularisation does not change the solution.
    """
    solver.evaluated[0] += 1
    differentiate_all(residual, fn, D, S, W, solver, known)
    for k in range(solver.regularisation.size):
        i, regularisation = solver.redundant[k, 0], S.h * S.h * solver.regularisation[k]
        if solver.pattern.band >= 0:
            solver.values[solver.redundant[k, 1]] -= regularisation
        else:
            solver.matrix[i, i] -= regularisation


@internal_kernel
def differentiate_all(residual, fn, D, S, W, solver, known):
    """Compute matrix = dr/dx by complex steps.

    `known`: True if the constant columns can be copied from `solver.constant`.
    """
    if solver.pattern.band >= 0:
        solver.values[:] = 0.0
        T = solver.pattern
        if T.energies.form == BY_COLOURS:
            differentiate(residual, fn, D, S, W, solver.x, solver.r, T.colours, solver.values)
            return
        without_energies = with_field(D, "flags", D.flags | WITHOUT_POTENTIAL)
        differentiate(residual, fn, without_energies, S, W, solver.x, solver.r, T.colours, solver.values)
        add_energies(D, S, W, T.energies, solver.x, solver.values)
        return
    n = solver.x.size
    for b in range(solver.blocks.shape[0]):
        first, count, constant = solver.blocks[b, 1], solver.blocks[b, 2], solver.blocks[b, 3]
        for j in range(first, first + count):
            if constant and known:
                for i in range(n):
                    solver.matrix[i, j] = solver.constant[i, j]
                continue
            solver.x[j] += 1j * COMPLEX_STEP
            residual(fn, D, S, W, solver.x, solver.r)
            solver.x[j] = solver.x[j].real
            for i in range(n):
                solver.matrix[i, j] = solver.r[i].imag / COMPLEX_STEP
            if constant:
                for i in range(n):
                    solver.constant[i, j] = solver.matrix[i, j]


@internal_kernel
def factor_matrix(solver):
    """Factorise the matrix (LU), its rows scaled by their largest entry; return 0, or 1 if it is singular."""
    T, values, scale = solver.pattern, solver.values, solver.scale
    if T.band < 0:
        return factor(solver.matrix, scale, solver.pivots)
    n = solver.x.size
    for i in range(n):
        scale[i] = 0.0
    for k in range(T.rows.size):
        scale[T.rows[k]] = max(scale[T.rows[k]], abs(values[k]))
    for i in range(n):
        if not scale[i] > 0.0:
            return 1
        scale[i] = 1.0 / scale[i]
    return condensed_factor(T.panels, solver.factors, values, T.rows, scale)


@internal_kernel
def solve_matrix(solver):
    """Compute rhs = matrix^-1 rhs with the factors of `factor_matrix`."""
    if solver.pattern.band < 0:
        substitute(solver.matrix, solver.scale, solver.pivots, solver.rhs)
        return
    condensed_solve(solver.pattern.panels, solver.factors, solver.scale, solver.rhs)


@internal_kernel
def correction_size(S, solver):
    """Return the largest correction in rhs, each block in units of the size of its values, forces in units of |p0|/h.

    Multipliers do not count, as they may be zero but for round-off and the end of the step is among the unknowns; but
    IMPULSES count, because they determine the momenta at the end, in units of |p0|/(h |G|).
    """
    worst = 0.0
    for b in range(solver.blocks.shape[0]):
        kind, first, count = solver.blocks[b, 0], solver.blocks[b, 1], solver.blocks[b, 2]
        if kind in (LAMBDA, GAMMA, JOINTS):
            continue
        size, change = 1e-30, 0.0
        if kind in (FORCES, IMPULSES):
            for i in range(S.p0.size):
                size = max(size, abs(S.p0[i].real / S.h))
        if kind == IMPULSES:
            size /= solver.slope
        for i in range(first, first + count):
            size = max(size, abs(solver.x[i].real))
            change = max(change, abs(solver.rhs[i]))
        if kind == INCREMENT:
            size = max(size, 1.0)
        worst = max(worst, change / size)
    return worst


@internal_kernel
def measure_rows(S, solver):
    """Compute terms_i = sum_j |dr_i/dx_j| |x_j|, the size of the sum in row i of r. Needs the matrix before it is factorised.

    Corrections relative to the unknowns carry no information if velocities or momenta are zero: these count with at least
    |q0|/h and |p0|/h.
    """
    q, p = 0.0, 0.0
    for i in range(S.q0.size):
        q, p = max(q, abs(S.q0[i].real)), max(p, abs(S.p0[i].real))
    T, n = solver.pattern, solver.x.size
    terms = solver.terms
    for i in range(n):
        terms[i] = 0.0
    for b in range(solver.blocks.shape[0]):
        kind, first, count = solver.blocks[b, 0], solver.blocks[b, 1], solver.blocks[b, 2]
        smallest = 0.0
        if kind == V:
            smallest = q / S.h
        elif kind == FORCES:
            smallest = p / S.h
        elif kind == INCREMENT:
            smallest = max(q, 1.0)
        for j in range(first, first + count):
            size = max(abs(solver.x[j].real), smallest)
            if T.band < 0:
                for i in range(n):
                    terms[i] += abs(solver.matrix[i, j]) * size
            else:
                for k in range(T.first[j], T.first[j + 1]):
                    terms[T.rows[k]] += abs(solver.values[k]) * size


@internal_kernel
def is_round_off(solver):
    """Return True if every row of r = rhs is round-off of its terms: |r_i| <= c eps terms_i."""
    for i in range(solver.x.size):  # noqa: SIM110  numba compiles loops
        if not abs(solver.rhs[i]) <= _ROUNDED * solver.terms[i]:  # also False if the residual is not finite
            return False
    return True


@internal_kernel
def state_size(S):
    """Return the sum of |q0| and |p0|."""
    size = 0.0
    for i in range(S.q0.size):
        size += abs(S.q0[i].real) + abs(S.p0[i].real)
    return size


@internal_kernel
def newton(residual, fn, D, S, W, solver, known):
    """Solve r(x) = 0 from the guess in x; return (status, iterations, norm of the residual).

    A matrix is reused if `corrections_per_matrix` more corrections that shrink as the last one did would reach round-off.
    `error` is what is left after a correction: its square (as a fraction) with a fresh matrix, else given by the rate of
    contraction. If r is round-off of its own terms, one more correction removes what is left of it, provided that the matrix
    has proved good. If that matrix has made corrections tiny and they stop shrinking, they are only round-off.

    `known`: True if the constant columns of the matrix are in `solver.constant`.
    """
    last, best = 1.0, 1.0
    fresh, exact = True, solver.tolerance > 0.0
    norm = evaluate(residual, fn, D, S, W, solver)
    bound = _RUNAWAY * (norm + 1e-12 * state_size(S))  # the guess may be exact
    for iteration in range(1, solver.limit + 1):
        if not np.isfinite(norm):
            return NOT_FINITE, iteration, norm
        if fresh:
            evaluate_matrix(residual, fn, D, S, W, solver, known or iteration > 1)
            measure_rows(S, solver)
        rounded = not exact and iteration > 1 and (fresh or best <= _PROVEN) and is_round_off(solver)
        if fresh and factor_matrix(solver):
            return SOLVED if rounded else SINGULAR, iteration, norm
        solve_matrix(solver)
        for i in range(solver.x.size):
            solver.x[i] -= solver.rhs[i]
        size = correction_size(S, solver)
        if not np.isfinite(size):
            return NOT_FINITE, iteration, norm
        if rounded:
            return SOLVED, iteration, norm
        rate = size / last if iteration > 1 else 1.0
        error = 100.0 * size * size if fresh else size * min(rate, 1.0)
        best = 1.0 if fresh else min(best, rate)
        negligible = (fresh or best <= _SERVED) and size <= _STALLED_FRESH
        stalled = rate > 0.5 and (size <= _STALLED or negligible)
        if not exact and (error <= _ROUND_OFF or stalled):
            return SOLVED, iteration, norm
        norm = evaluate(residual, fn, D, S, W, solver)
        if norm > bound:
            return NOT_CONVERGED, iteration, norm
        if exact and norm < solver.tolerance:
            return SOLVED, iteration, norm
        too_slow = size * rate**solver.corrections_per_matrix > _ROUND_OFF
        # with a tolerance on |r| every iteration has a fresh matrix, as the papers count iterations
        fresh = exact or (iteration > 1 and too_slow and not (negligible and not fresh))
        last = size
    # round-off cannot be reduced; for a state at rest there is no other measure of it
    rounded = solver.tolerance == 0.0 and norm <= _LEAST * state_size(S)
    return SOLVED if rounded else NOT_CONVERGED, solver.limit, norm


@internal_kernel
def damped_newton(residual, fn, D, S, W, solver):
    """Solve r(x) = 0 by Newton's method with damping; return (status, iterations, norm of the residual).

    Corrections are halved until they reduce the residual, measured in the row scales of the matrix.
    """
    n = solver.x.size
    norm = evaluate(residual, fn, D, S, W, solver)
    for iteration in range(1, _DAMPED_LIMIT + 1):
        if not np.isfinite(norm):
            return NOT_FINITE, iteration, norm
        evaluate_matrix(residual, fn, D, S, W, solver, iteration > 1)
        measure_rows(S, solver)
        if is_round_off(solver):
            return SOLVED, iteration, norm
        if factor_matrix(solver):
            return SINGULAR, iteration, norm
        before = 0.0
        for i in range(n):
            before += (solver.scale[i] * solver.rhs[i]) ** 2
            solver.saved[i] = solver.x[i].real
        solve_matrix(solver)
        for i in range(n):
            solver.x[i] -= solver.rhs[i]
        size = correction_size(S, solver)
        if not np.isfinite(size):
            return NOT_FINITE, iteration, norm
        if size <= _SMALL:
            return SOLVED, iteration, norm
        after = np.inf
        for _ in range(_MOST_HALVINGS):
            norm = evaluate(residual, fn, D, S, W, solver)
            after = 0.0
            for i in range(n):
                after += (solver.scale[i] * solver.rhs[i]) ** 2
            if after < before:
                break
            for i in range(n):
                # saved - correction is x as first tried, so x and `saved` determine the correction
                solver.x[i] = 0.5 * (solver.x[i].real + solver.saved[i])
        if not after < before:
            status = SOLVED if norm <= _LEAST * state_size(S) else NOT_CONVERGED
            return status, iteration, norm
    return NOT_CONVERGED, _DAMPED_LIMIT, norm
