"""Integrators of the GGL principle: multipliers gam keep the velocity constraint g_v = G(q) M(q)^-1 p as well.

All follow from the functional 002 (33), which holds for M(q); with a constant mass they are the printed ones.
With A(q, pi; gam) = gam . G(q) M(q)^-1 pi and pi = M v:

VI-S, 002 (52), (55), qhat = q0 + h v:
    q1 - q0  = h v + h A_pi(qhat, p1)                                     (1)
    p1 - p0  = h (L_q(q0, v) + F) - h G(q0)^T lam - h A_q(qhat, p1)       (2)
    M(q0) v  = p1 + h A_q(qhat, p1)                                       (3)
    g(q1) = 0,   G(qhat) M(qhat)^-1 p1 = 0                                (4), (5)

VI-A(theta), VI-B(theta, vartheta), 002 (76), qt = (1 - theta) q0 + theta q1, pi = M(qt) v:
    q1 - q0 = h v + h A_pi(qt, pi)                                        (6)
    p1 - p0 = h (L_q(qt, v) + F) - (D1 g_d + D2 g_d)^T lam - h A_q(qt, pi)    (7)
    pi      = theta p0 + (1 - theta) p1 - (theta D1 g_d - (1 - theta) D2 g_d)^T lam   (8)
    g_d = h g(qt) (A)  or  h ((1 - vartheta) g(q0) + vartheta g(q1)) (B),   G(qt) v = 0   (9), (10)

What violates the constraints is multiplied in every step: by VI-A coordinates normal to g = 0 by -(1 - theta)/theta and
momenta normal to it by -theta/(1 - theta), so that only theta = 1/2 stays bounded; by VI-B momenta by
-vartheta/(1 - vartheta), bounded for vartheta <= 1/2. Beyond that the schemes serve for a few steps only.

GGL-EM, 002 (84), discrete derivatives D:
    q1 - q0 = h vbar + h (D_p g_v)^T gam                                  (11)
    p1 - p0 = h (D_q T - D V + F) - h (D g)^T lam - h (D_q g_v)^T gam     (12)
    pbar = D_v T,   g(q1) = 0,   g_v(q1, p1) = 0                          (13)-(15)

Of frames in quaternions GGL-EM is that of `ggl_quaternions`.
"""

from discretization.time.dense import difference, inner, mean
from discretization.time.discrete_derivatives import (
    add_hidden_gradient,
    constraint_rate,
    correction_factor,
    discrete_gradient,
    discrete_kinetic,
    discrete_pull_back,
    mass_solve,
    mass_times,
    pull_back,
    velocity_of,
)
from discretization.time.forcing import account_at, forces_between
from discretization.time.scheme import RATE, account, residual, update
from rigid.compilation import inner_kernel
from rigid.mechanical import CONSTANT_MASS, PRODUCTS, QUATERNIONS

OPTION_A, OPTION_B = 0.0, 1.0


@inner_kernel
def parts(D, x):
    """Views of (q1, p1, v, lam, gam)."""
    n, m = D.n, D.m
    return x[:n], x[n : 2 * n], x[2 * n : 3 * n], x[3 * n : 3 * n + m], x[3 * n + m :]


@inner_kernel
def lagrangian_force(fn, D, W, q, v, signal, out):
    """out = L_q(q, v) + F."""
    n = D.n
    V_q, F = W.vector[10, :n], W.vector[11, :n]
    for i in range(n):
        out[i] = 0.0
    if D.flags & CONSTANT_MASS == 0:
        fn.mass_gradient(q, v, v, D, out)
    fn.gradient(q, D, V_q)
    fn.force(q, signal, D, F)
    for i in range(n):
        out[i] = 0.5 * out[i] - V_q[i] + F[i]


@residual
def vis_residual(fn, D, S, W, x, r):
    """(1)-(5)."""
    n, h = D.n, S.h
    q1, p1, v, lam, gam = parts(D, x)
    qhat, A_q, A_p, L_q = W.vector[14, :n], W.vector[15, :n], W.vector[16, :n], W.vector[17, :n]
    pull, Mv = W.vector[18, :n], W.vector[19, :n]
    for i in range(n):
        qhat[i] = S.q0[i] + h * v[i]
        A_q[i] = 0.0
        A_p[i] = 0.0
    add_hidden_gradient(fn, D, True, qhat, p1, gam, h, W, A_q, A_p)
    lagrangian_force(fn, D, W, S.q0, v, S.signal[0], L_q)
    pull_back(fn, D, S.q0, lam, W, pull)
    mass_times(fn, D, S.q0, v, W, Mv)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - h * v[i] - A_p[i]  # (1)
        r[n + i] = p1[i] - S.p0[i] - h * (L_q[i] - pull[i]) + A_q[i]  # (2)
        r[2 * n + i] = Mv[i] - p1[i] - A_q[i]  # (3)
    fn.constraints(q1, D, r[3 * n : 3 * n + D.m])  # (4)
    mass_solve(fn, D, qhat, p1, W, pull)
    constraint_rate(fn, D, qhat, pull, W, r[3 * n + D.m :])  # (5)


@residual
def theta_residual(fn, D, S, W, x, r):
    """(6)-(10); options: theta, vartheta, A or B."""
    n, m, h = D.n, D.m, S.h
    theta, vartheta, option = S.options[0], S.options[1], S.options[2]
    q1, p1, v, lam, gam = parts(D, x)
    qt, pi, A_q, A_p = W.vector[14, :n], W.vector[15, :n], W.vector[16, :n], W.vector[17, :n]
    L_q, pull0, pull1 = W.vector[18, :n], W.vector[19, :n], W.vector[20, :n]
    for i in range(n):
        qt[i] = (1.0 - theta) * S.q0[i] + theta * q1[i]
        A_q[i] = 0.0
        A_p[i] = 0.0
    mass_times(fn, D, qt, v, W, pi)
    add_hidden_gradient(fn, D, True, qt, pi, gam, h, W, A_q, A_p)
    lagrangian_force(fn, D, W, qt, v, S.signal[0], L_q)
    if option == OPTION_A:
        pull_back(fn, D, qt, lam, W, pull1)
        for i in range(n):
            pull0[i] = (1.0 - theta) * pull1[i]
            pull1[i] *= theta
        fn.constraints(qt, D, r[3 * n : 3 * n + m])  # (9)
    else:
        pull_back(fn, D, S.q0, lam, W, pull0)
        pull_back(fn, D, q1, lam, W, pull1)
        for i in range(n):
            pull0[i] *= 1.0 - vartheta
            pull1[i] *= vartheta
        fn.constraints(q1, D, r[3 * n : 3 * n + m])  # (9)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - h * v[i] - A_p[i]  # (6)
        r[n + i] = p1[i] - S.p0[i] - h * (L_q[i] - pull0[i] - pull1[i]) + A_q[i]  # (7)
        mixed = theta * S.p0[i] + (1.0 - theta) * p1[i]
        r[2 * n + i] = pi[i] - mixed + h * (theta * pull0[i] - (1.0 - theta) * pull1[i])  # (8)
    constraint_rate(fn, D, qt, v, W, r[3 * n + m :])  # (10)


@inner_kernel
def add_discrete_hidden(fn, D, q0, p0, q1, p1, gam, weight, W, out_q, out_p):
    """out += weight times (D_q g_v)^T gam and (D_p g_v)^T gam.

    Partitioned discrete derivatives of gam . G(q) W(q) p: in p averages over q0 and q1, in q Gonzalez' formula at p0 and
    at p1, averaged. Where g is quadratic and M constant, g_v is bilinear, Gonzalez' correction zero, and these are the
    midpoint derivatives.
    """
    n, m = D.n, D.m
    middle, change, slope, rate = W.vector[20, :n], W.vector[21, :n], W.vector[22, :n], W.vector[23, :n]
    g0, g1 = W.vector[24, :m], W.vector[25, :m]
    mean(q0, q1, middle)
    if D.flags & PRODUCTS and not D.flags & QUATERNIONS:  # directors
        mean(p0, p1, change)
        add_hidden_gradient(fn, D, False, middle, change, gam, weight, W, out_q, out_p)
        return
    difference(q1, q0, change)
    factor = correction_factor(change, q0, q1)
    for end in range(2):
        p, q = (p0, q0) if end == 0 else (p1, q1)
        for i in range(n):
            slope[i] = 0.0
            rate[i] = 0.0
        add_hidden_gradient(fn, D, False, middle, p, gam, 1.0, W, slope, rate)
        hidden_constraint(fn, D, q0, p, W, g0)
        hidden_constraint(fn, D, q1, p, W, g1)
        gap = inner(gam, g1) - inner(gam, g0) - inner(slope, change)
        for i in range(n):
            out_q[i] += 0.5 * weight * (slope[i] + gap * factor * change[i])
            rate[i] = 0.0
            slope[i] = 0.0
        add_hidden_gradient(fn, D, False, q, p, gam, 1.0, W, slope, rate)
        for i in range(n):
            out_p[i] += 0.5 * weight * rate[i]


@inner_kernel
def hidden_constraint(fn, D, q, p, W, out):
    """out = g_v = G(q) W(q) p."""
    w = W.vector[26, : D.n]
    velocity_of(fn, D, q, p, W, w)
    constraint_rate(fn, D, q, w, W, out)


@residual
def ggl_em_residual(fn, D, S, W, x, r):
    """(11)-(15)."""
    n, m, h = D.n, D.m, S.h
    q1, p1, v1, lam, gam = parts(D, x)
    T_q, T_v, A_q, A_p = W.vector[14, :n], W.vector[15, :n], W.vector[16, :n], W.vector[17, :n]
    V_q, F, pull = W.vector[10, :n], W.vector[11, :n], W.vector[12, :n]
    discrete_kinetic(fn, D, S.q0, S.v0, q1, v1, W, T_q, T_v)
    discrete_gradient(fn, D, S.q0, q1, W, V_q)
    forces_between(fn, D, S, q1, W, F)
    discrete_pull_back(fn, D, S.q0, q1, lam, W, pull)
    for i in range(n):
        A_q[i] = 0.0
        A_p[i] = 0.0
    add_discrete_hidden(fn, D, S.q0, S.p0, q1, p1, gam, h, W, A_q, A_p)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - 0.5 * h * (S.v0[i] + v1[i]) - A_p[i]  # (11)
        r[n + i] = p1[i] - S.p0[i] - h * (T_q[i] - V_q[i] + F[i] - pull[i]) + A_q[i]  # (12)
        r[2 * n + i] = 0.5 * (S.p0[i] + p1[i]) - T_v[i]  # (13)
    fn.constraints(q1, D, r[3 * n : 3 * n + m])  # (14)
    hidden_constraint(fn, D, q1, p1, W, r[3 * n + m :])  # (15)


@update
def ggl_update(fn, D, S, W, x, q, p, v, lam, gam):
    """State of unknowns (q1, p1, v, lam, gam)."""
    n, m = D.n, D.m
    for i in range(n):
        q[i], p[i], v[i] = x[i], x[n + i], x[2 * n + i]
    for k in range(m):
        lam[k], gam[k] = x[3 * n + k], x[3 * n + m + k]


@account
def variational_account(fn, D, S, W, x, q1, v1, totals):
    """Loads at qt, of VI-S at q0 (theta = 0), along q1 - q0."""
    change, qt, theta = W.vector[RATE, : D.n], W.vector[14, : D.n], S.options[0]
    for i in range(D.n):
        qt[i] = (1.0 - theta) * S.q0[i] + theta * q1[i]
        change[i] = q1[i] - S.q0[i]
    account_at(fn, D, qt, change, S.signal[0], change, W, totals)
