"""One-step schemes of the Hamiltonian equations in q and p; they need a regular mass.

MPH, 000 (133), and IMS of 004: the midpoint rule,

    q1 - q0 = h W(qbar) pbar                                              (1)
    p1 - p0 = -h (dT*/dq(qbar, pbar) + dV(qbar) - F + G(qbar)^T lam)      (2)
    g(q1)   = 0                                                           (3)

EMH, 000 (146), EMS of 004 and EM-G (Gonzalez 1999; 002 sec. 6.3): the same with discrete derivatives of T*, V and g;
they keep T* + V, and momentum maps where these derivatives are equivariant. With a constant mass EMH is EM-G.
"""

from discretization.time.dense import mean
from discretization.time.discrete_derivatives import (
    discrete_coenergy,
    discrete_gradient,
    discrete_pull_back,
    form_gradient,
    pull_back,
    velocity_of,
)
from discretization.time.forcing import forces_at, forces_between
from discretization.time.scheme import residual, update


@residual
def midpoint_residual(fn, D, S, W, x, r):
    """(1)-(3)."""
    n = D.n
    q1, p1, lam = x[:n], x[n : 2 * n], x[2 * n :]
    q, p, T_q, T_p = W.vector[16, :n], W.vector[17, :n], W.vector[14, :n], W.vector[15, :n]
    V_q, F, pull = W.vector[10, :n], W.vector[11, :n], W.vector[12, :n]
    mean(S.q0, q1, q)
    mean(S.p0, p1, p)
    velocity_of(fn, D, q, p, W, T_p)
    form_gradient(fn, D, False, q, p, p, W, T_q)
    fn.gradient(q, D, V_q)
    forces_at(fn, D, q, T_p, S.signal[0], W, F)
    pull_back(fn, D, q, lam, W, pull)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - S.h * T_p[i]  # (1)
        r[n + i] = p1[i] - S.p0[i] + S.h * (0.5 * T_q[i] + V_q[i] - F[i] + pull[i])  # (2)
    fn.constraints(q1, D, r[2 * n :])  # (3)


@residual
def energy_momentum_residual(fn, D, S, W, x, r):
    """(1)-(3) with discrete derivatives."""
    n = D.n
    q1, p1, lam = x[:n], x[n : 2 * n], x[2 * n :]
    T_q, T_p = W.vector[14, :n], W.vector[15, :n]
    V_q, F, pull = W.vector[10, :n], W.vector[11, :n], W.vector[12, :n]
    discrete_coenergy(fn, D, S.q0, S.p0, q1, p1, W, T_q, T_p)
    discrete_gradient(fn, D, S.q0, q1, W, V_q)
    forces_between(fn, D, S, q1, W, F)
    discrete_pull_back(fn, D, S.q0, q1, lam, W, pull)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - S.h * T_p[i]
        r[n + i] = p1[i] - S.p0[i] + S.h * (T_q[i] + V_q[i] - F[i] + pull[i])
    fn.constraints(q1, D, r[2 * n :])


@update
def hamiltonian_update(fn, D, S, W, x, q, p, v, lam, gam):
    """State of unknowns (q1, p1, lam); v = W(q) p."""
    n = D.n
    for i in range(n):
        q[i], p[i] = x[i], x[n + i]
    for k in range(D.m):
        lam[k] = x[2 * n + k]
    velocity_of(fn, D, q, p, W, v)
