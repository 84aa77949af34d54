"""Evaluate one-step schemes of the Hamiltonian equations in q and p; they need a regular mass.

MPH, 000 (133), and IMS of 004: the midpoint rule,

    q1 - q0 = h W(qbar) pbar                                              (1)
    p1 - p0 = -h (dT*/dq(qbar, pbar) + dV(qbar) - F + G(qbar)^T lam)      (2)
    g(q1)   = 0                                                           (3)

EMH, 000 (146), EMS of 004 and EM-G (Gonzalez 1999; 002 sec. 6.3) use (1)-(3) with discrete derivatives of T*, V and g.
They conserve T* + V, and momentum maps if these derivatives are equivariant. With a constant mass EMH is EM-G.
"""

from typing import NamedTuple

from discretization.time.dense_algebra import mean
from discretization.time.discrete_derivatives import (
    DERIVATIVES,
    discrete_coenergy,
    discrete_gradient,
    discrete_pull_back,
    form_gradient,
    pull_back,
    velocity_of,
)
from discretization.time.forcing import Forces, forces_at, forces_between
from discretization.time.rheonomic import end_constraints, set_mean_parameters
from discretization.time.scheme import residual, update
from discretization.time.scratch_vectors import PerCoordinate, scratch


class Vectors(NamedTuple):
    """Scratch vectors of schemes in q and p."""

    qbar: PerCoordinate
    pbar: PerCoordinate
    T_q: PerCoordinate  # dT*/dq, or D_q T*
    T_p: PerCoordinate
    V_q: PerCoordinate
    F: PerCoordinate
    pull: PerCoordinate  # G^T lam


vectors = scratch(Vectors, above=(*DERIVATIVES, Forces))


@residual
def midpoint_residual(fn, D, S, W, x, r):
    """Evaluate the residual (1)-(3) of the midpoint rule."""
    n, w = D.n, vectors(W, D)
    q1, p1, lam = x[:n], x[n : 2 * n], x[2 * n :]
    mean(S.q0, q1, w.qbar)
    mean(S.p0, p1, w.pbar)
    velocity_of(fn, D, w.qbar, w.pbar, W, w.T_p)
    form_gradient(fn, D, False, w.qbar, w.pbar, w.pbar, W, w.T_q)
    fn.gradient(w.qbar, D, w.V_q)
    forces_at(fn, D, w.qbar, w.T_p, S.signal[0], W, w.F)
    set_mean_parameters(D, S)
    pull_back(fn, D, w.qbar, lam, W, w.pull)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - S.h * w.T_p[i]  # (1)
        r[n + i] = p1[i] - S.p0[i] + S.h * (0.5 * w.T_q[i] + w.V_q[i] - w.F[i] + w.pull[i])  # (2)
    end_constraints(fn, D, S, q1, r[2 * n :])  # (3)


@residual
def energy_momentum_residual(fn, D, S, W, x, r):
    """Evaluate the residual (1)-(3) with discrete derivatives."""
    n, w = D.n, vectors(W, D)
    q1, p1, lam = x[:n], x[n : 2 * n], x[2 * n :]
    discrete_coenergy(fn, D, S.q0, S.p0, q1, p1, W, w.T_q, w.T_p)
    discrete_gradient(fn, D, S.q0, q1, W, w.V_q)
    forces_between(fn, D, S, q1, W, w.F)
    set_mean_parameters(D, S)
    discrete_pull_back(fn, D, S.q0, q1, lam, W, w.pull)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - S.h * w.T_p[i]  # (1)
        r[n + i] = p1[i] - S.p0[i] + S.h * (w.T_q[i] + w.V_q[i] - w.F[i] + w.pull[i])  # (2)
    end_constraints(fn, D, S, q1, r[2 * n :])  # (3)


@update
def hamiltonian_update(fn, D, S, W, x, q, p, v, lam, gam):
    """Store the state of the unknowns (q1, p1, lam); v = W(q) p."""
    n = D.n
    for i in range(n):
        q[i], p[i] = x[i], x[n + i]
    for k in range(D.m):
        lam[k] = x[2 * n + k]
    velocity_of(fn, D, q, p, W, v)
