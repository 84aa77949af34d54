"""Evaluate specialised partitioned additive Runge-Kutta methods for constrained Hamiltonian systems: 004 (A.1)-(A.7).

    k_i = H_p(Q_i, P_i),   khat_i = -H_q(Q_i, P_i) + F - R(Q_i, k_i)      (1), (2)
    g(Qtilde_i) = 0, i = 1..p                                             (3)
    G(q1) H_p(q1, p1) + g(q1; dX1/dt) = 0, of driven constraints          (4)
    Q_i = q0 + h sum a_ij k_j,   Qtilde_i = q0 + h sum abar_ij k_j
    P_i = p0 + h sum ahat_ij khat_j - h sum atilde_ij G(Qtilde_j)^T Lam_j

The methods are symplectic and symmetric with the coefficients of `discretization.time.tableaux`.
"""

from typing import Annotated, Any, NamedTuple

from discretization.time.discrete_derivatives import (
    DERIVATIVES,
    constraint_rate,
    form_gradient,
    pull_back,
    velocity_of,
)
from discretization.time.forcing import Forces, account_at, forces_at, scaled
from discretization.time.rheonomic import add_explicit_at_end, set_node_parameters
from discretization.time.scheme import account, drives, residual, update
from discretization.time.scratch_vectors import PerCoordinate, Rows, scratch
from rigid.charts.driven_constraints import add_works, place_rates
from rigid.compilation.decorators import inline_kernel, internal_kernel

MOST_STAGES = 11


class Vectors(NamedTuple):
    """Scratch vectors of stages."""

    Q: PerCoordinate
    P: PerCoordinate
    H_p: PerCoordinate  # derivative of T* alone, as H_q
    H_q: PerCoordinate
    V_q: PerCoordinate
    F: PerCoordinate
    Qt: PerCoordinate  # coordinates of a constraint stage
    pulls: Annotated[Any, Rows(MOST_STAGES + 1)]  # G(Qtilde_j)^T Lam_j
    change: PerCoordinate  # h b_i k_i


vectors = scratch(Vectors, above=(*DERIVATIVES, Forces))


@inline_kernel
def combine(x0, h, x, first, n, A, row, s, out):
    """Compute out = x0 + h sum_j A[row + j] x_j, x_j = x[first + j n :]."""
    for i in range(n):
        out[i] = x0[i]
    for j in range(s):
        factor = h * A[row + j]
        for i in range(n):
            out[i] += factor * x[first + j * n + i]


@internal_kernel
def place_constraint_stage(D, S, stages, j):
    """Set the parameters of driven constraints to the time of Qtilde_j; the last stage is the end of the step."""
    set_node_parameters(D, S, S.signal.shape[0] - stages + j)


@internal_kernel
def find_constraint_forces(fn, D, S, W, x):
    """Compute G(Qtilde_j)^T Lam_j of all constraint stages, and store them in `pulls`."""
    n, m, w = D.n, D.m, vectors(W, D)
    s, stages, _, _, _, bar, _, _ = sizes(S)
    for j in range(stages):
        combine(S.q0, S.h, x, 0, n, S.options, bar + j * s, s, w.Qt)
        start = 2 * s * n + j * m
        place_constraint_stage(D, S, stages, j)
        pull_back(fn, D, w.Qt, x[start : start + m], W, w.pulls[j, :n])


@internal_kernel
def add_constraint_forces(D, S, W, row, stages, out):
    """Subtract h sum_j A[row + j] G(Qtilde_j)^T Lam_j from out (n,)."""
    pulls = vectors(W, D).pulls
    for j in range(stages):
        factor = S.h * S.options[row + j]
        for i in range(D.n):
            out[i] -= factor * pulls[j, i]


@internal_kernel
def sizes(S):
    """Return s, the number of constraint stages, and the first indices of A, Ahat, Atilde, Abar, b, btilde in the options."""
    s, stages = int(S.options[0]), int(S.options[1])
    hat = 2 + s * s
    tilde = hat + s * s
    bar = tilde + s * stages
    return s, stages, 2, hat, tilde, bar, bar + stages * s, bar + stages * s + s


@internal_kernel
def end_state(D, S, W, x, q1, p1):
    """Compute q1 and p1 from the stages, with the constraint forces stored in `pulls`."""
    n = D.n
    s, stages, _, _, _, _, b, bt = sizes(S)
    combine(S.q0, S.h, x, 0, n, S.options, b, s, q1)
    combine(S.p0, S.h, x, s * n, n, S.options, b, s, p1)
    add_constraint_forces(D, S, W, bt, stages, p1)


@residual
def spark_residual(fn, D, S, W, x, r):
    """Evaluate the residual (1)-(4); the unknowns are k_i, khat_i, Lam_0..p."""
    n, m, h, w = D.n, D.m, S.h, vectors(W, D)
    s, stages, a, hat, tilde, bar, _, _ = sizes(S)
    find_constraint_forces(fn, D, S, W, x)
    for i in range(s):
        combine(S.q0, h, x, 0, n, S.options, a + i * s, s, w.Q)
        combine(S.p0, h, x, s * n, n, S.options, hat + i * s, s, w.P)
        add_constraint_forces(D, S, W, tilde + i * stages, stages, w.P)
        velocity_of(fn, D, w.Q, w.P, W, w.H_p)
        form_gradient(fn, D, False, w.Q, w.P, w.P, W, w.H_q)
        fn.gradient(w.Q, D, w.V_q)
        forces_at(fn, D, w.Q, x[i * n : (i + 1) * n], S.signal[i], W, w.F)
        for l in range(n):
            r[i * n + l] = x[i * n + l] - w.H_p[l]  # (1)
            r[(s + i) * n + l] = x[(s + i) * n + l] + 0.5 * w.H_q[l] + w.V_q[l] - w.F[l]  # (2)
    row = 2 * s * n
    for i in range(1, stages):
        combine(S.q0, h, x, 0, n, S.options, bar + i * s, s, w.Q)
        place_constraint_stage(D, S, stages, i)
        fn.constraints(w.Q, D, r[row : row + m])  # (3)
        row += m
    end_state(D, S, W, x, w.Q, w.P)
    velocity_of(fn, D, w.Q, w.P, W, w.H_p)
    constraint_rate(fn, D, w.Q, w.H_p, W, r[row : row + m])  # (4)
    add_explicit_at_end(D, S, w.Q, r[row : row + m])


@update
def spark_update(fn, D, S, W, x, q, p, v, lam, gam):
    """Store the state at the end of the step; lam is the last multiplier."""
    n, m = D.n, D.m
    s, stages, _, _, _, _, _, _ = sizes(S)
    find_constraint_forces(fn, D, S, W, x)
    end_state(D, S, W, x, q, p)
    velocity_of(fn, D, q, p, W, v)
    for k in range(m):
        lam[k] = x[2 * s * n + (stages - 1) * m + k]


@account
def spark_account(fn, D, S, W, x, q1, v1, totals):
    """Add h sum b_i F_i . k_i and h sum b_i R_i . k_i of the stages to totals (work, dissipation).

    P and Q have the same weights b.
    """
    n, w = D.n, vectors(W, D)
    s, _, a, _, _, _, b, _ = sizes(S)
    for i in range(s):
        combine(S.q0, S.h, x, 0, n, S.options, a + i * s, s, w.Q)
        k = x[i * n : (i + 1) * n]
        scaled(S.h * S.options[b + i], k, w.change)
        account_at(fn, D, w.Q, k, S.signal[i], w.change, W, totals)


@drives
def spark_drives(fn, D, S, W, x, q1, p1, lam, gam, works):
    """Add the work of the drives to works (drives,).

    It is h sum btilde_j Lam_j . g(Qtilde_j; dX_j/dt), which equals -h sum btilde_j G^T Lam_j . dQ/dt.
    """
    n, m, w = D.n, D.m, vectors(W, D)
    s, stages, _, _, _, bar, _, bt = sizes(S)
    for j in range(stages):
        combine(S.q0, S.h, x, 0, n, S.options, bar + j * s, s, w.Qt)
        start = 2 * s * n + j * m
        place_rates(D, S.signal[S.signal.shape[0] - stages + j])
        add_works(D, w.Qt, S.h * S.options[bt + j], x[start : start + m], works)
