"""Evaluate integrators of the GGL principle: multipliers gam enforce the velocity constraint g_v = G(q) M(q)^-1 p as well.

All follow from the functional 002 (33), which holds for M(q); with a constant mass they are the printed schemes.
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

Violations of the constraints are multiplied in every step. VI-A multiplies coordinates normal to g = 0 by
-(1 - theta)/theta and momenta normal to it by -theta/(1 - theta), so that only theta = 1/2 stays bounded. VI-B multiplies
momenta by -vartheta/(1 - vartheta), bounded for vartheta <= 1/2. Beyond that the schemes serve for a few steps only.

GGL-EM, 002 (84), discrete derivatives D:
    q1 - q0 = h vbar + h (D_p g_v)^T gam                                  (11)
    p1 - p0 = h (D_q T - D V + F) - h (D g)^T lam - h (D_q g_v)^T gam     (12)
    pbar = D_v T,   g(q1) = 0,   g_v(q1, p1) = 0                          (13)-(15)

For frames in quaternions GGL-EM is replaced by the scheme of `discretization.time.ggl_quaternions`.
"""

from typing import NamedTuple

from discretization.time.dense_algebra import difference, inner, mean
from discretization.time.discrete_derivatives import (
    DERIVATIVES,
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
from discretization.time.forcing import Forces, account_at, forces_between
from discretization.time.rheonomic import (
    add_explicit,
    add_explicit_at_end,
    add_explicit_pull,
    add_hidden_works,
    add_works_between,
    end_constraints,
    set_end_parameters,
    set_mean_parameters,
    set_node_parameters,
    set_start_parameters,
)
from discretization.time.scheme import account, drives, residual, update
from discretization.time.scratch_vectors import PerConstraint, PerCoordinate, scratch
from rigid.charts.hidden_constraints import add_discrete_derivative_in_directors, copy_bilinear
from rigid.compilation.decorators import internal_kernel
from rigid.mechanics.mechanical_system import CONSTANT_MASS, PRODUCTS, QUATERNIONS

OPTION_A, OPTION_B = 0.0, 1.0


class Rates(NamedTuple):
    """Scratch vectors of g_v and its discrete derivatives."""

    v: PerCoordinate  # W p
    v1: PerCoordinate  # W p1
    qbar: PerCoordinate
    change: PerCoordinate  # q1 - q0
    slope: PerCoordinate  # derivative of gam . g_v in q
    rate: PerCoordinate  # derivative of gam . g_v in p
    start: PerConstraint  # g_v at q0, and scratch for multipliers
    end: PerConstraint


class Vectors(NamedTuple):
    """Scratch vectors of residuals."""

    qhat: PerCoordinate
    qt: PerCoordinate
    pi: PerCoordinate
    A_q: PerCoordinate  # h times the derivatives of A
    A_p: PerCoordinate
    L_q: PerCoordinate  # L_q + F, force of the Lagrangian and the loads
    T_q: PerCoordinate
    T_v: PerCoordinate
    V_q: PerCoordinate
    F: PerCoordinate
    pull: PerCoordinate  # G^T lam
    pull0: PerCoordinate  # (D1 g_d)^T lam/h
    pull1: PerCoordinate  # (D2 g_d)^T lam/h
    v1: PerCoordinate  # M^-1 p1
    Mv: PerCoordinate
    change: PerCoordinate  # q1 - q0


rates = scratch(Rates, above=(*DERIVATIVES, Forces))
vectors = scratch(Vectors, above=(Rates,))


@internal_kernel
def parts(D, x):
    """Return views of (q1, p1, v, lam, gam) in the unknowns x."""
    n, m = D.n, D.m
    return x[:n], x[n : 2 * n], x[2 * n : 3 * n], x[3 * n : 3 * n + m], x[3 * n + m :]


@internal_kernel
def lagrangian_force(fn, D, W, q, v, signal, out):
    """Compute out (n,) = L_q(q, v) + F."""
    w = vectors(W, D)
    for i in range(D.n):
        out[i] = 0.0
    if D.flags & CONSTANT_MASS == 0:
        fn.mass_gradient(q, v, v, D, out)
    fn.gradient(q, D, w.V_q)
    fn.force(q, signal, D, w.F)
    for i in range(D.n):
        out[i] = 0.5 * out[i] - w.V_q[i] + w.F[i]


@residual
def vis_residual(fn, D, S, W, x, r):
    """Evaluate the residual (1)-(5) of VI-S."""
    n, h, w = D.n, S.h, vectors(W, D)
    q1, p1, v, lam, gam = parts(D, x)
    for i in range(n):
        w.qhat[i] = S.q0[i] + h * v[i]
        w.A_q[i] = 0.0
        w.A_p[i] = 0.0
    set_end_parameters(D, S)
    add_hidden_gradient(fn, D, True, w.qhat, p1, gam, h, W, w.A_q, w.A_p)
    add_explicit_pull(D, S, S.signal.shape[0] - 1, w.qhat, h, gam, w.A_q)
    lagrangian_force(fn, D, W, S.q0, v, S.signal[0], w.L_q)
    set_start_parameters(D, S)
    pull_back(fn, D, S.q0, lam, W, w.pull)
    mass_times(fn, D, S.q0, v, W, w.Mv)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - h * v[i] - w.A_p[i]  # (1)
        r[n + i] = p1[i] - S.p0[i] - h * (w.L_q[i] - w.pull[i]) + w.A_q[i]  # (2)
        r[2 * n + i] = w.Mv[i] - p1[i] - w.A_q[i]  # (3)
    end_constraints(fn, D, S, q1, r[3 * n : 3 * n + D.m])  # (4)
    mass_solve(fn, D, w.qhat, p1, W, w.v1)
    constraint_rate(fn, D, w.qhat, w.v1, W, r[3 * n + D.m :])  # (5)
    add_explicit_at_end(D, S, w.qhat, r[3 * n + D.m :])


@residual
def theta_residual(fn, D, S, W, x, r):
    """Evaluate the residual (6)-(10) of VI-A or VI-B; the options are theta, vartheta, and OPTION_A or OPTION_B."""
    n, m, h, w = D.n, D.m, S.h, vectors(W, D)
    theta, vartheta, option = S.options[0], S.options[1], S.options[2]
    q1, p1, v, lam, gam = parts(D, x)
    for i in range(n):
        w.qt[i] = (1.0 - theta) * S.q0[i] + theta * q1[i]
        w.A_q[i] = 0.0
        w.A_p[i] = 0.0
    mass_times(fn, D, w.qt, v, W, w.pi)
    set_node_parameters(D, S, 0)
    add_hidden_gradient(fn, D, True, w.qt, w.pi, gam, h, W, w.A_q, w.A_p)
    add_explicit_pull(D, S, 0, w.qt, h, gam, w.A_q)
    lagrangian_force(fn, D, W, w.qt, v, S.signal[0], w.L_q)
    if option == OPTION_A:
        pull_back(fn, D, w.qt, lam, W, w.pull)
        for i in range(n):
            w.pull0[i] = (1.0 - theta) * w.pull[i]
            w.pull1[i] = theta * w.pull[i]
        fn.constraints(w.qt, D, r[3 * n : 3 * n + m])  # (9)
    else:
        set_start_parameters(D, S)
        pull_back(fn, D, S.q0, lam, W, w.pull0)
        set_end_parameters(D, S)
        pull_back(fn, D, q1, lam, W, w.pull1)
        for i in range(n):
            w.pull0[i] *= 1.0 - vartheta
            w.pull1[i] *= vartheta
        fn.constraints(q1, D, r[3 * n : 3 * n + m])  # (9)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - h * v[i] - w.A_p[i]  # (6)
        r[n + i] = p1[i] - S.p0[i] - h * (w.L_q[i] - w.pull0[i] - w.pull1[i]) + w.A_q[i]  # (7)
        mixed = theta * S.p0[i] + (1.0 - theta) * p1[i]
        r[2 * n + i] = w.pi[i] - mixed + h * (theta * w.pull0[i] - (1.0 - theta) * w.pull1[i])  # (8)
    set_node_parameters(D, S, 0)
    constraint_rate(fn, D, w.qt, v, W, r[3 * n + m :])  # (10)
    add_explicit(D, S, 0, w.qt, r[3 * n + m :])


@internal_kernel
def add_discrete_hidden(fn, D, S, W, q1, p1, gam, out_q, out_p):
    """Add h (D_q g_v)^T gam to out_q and h (D_p g_v)^T gam to out_p.

    Partitioned discrete derivatives of gam . G(q) W(q) p: in p averages over q0 and q1, in q Gonzalez' formula at p0 and
    at p1, averaged. If g is quadratic and M constant, g_v is bilinear, Gonzalez' correction is zero, and these are the
    midpoint derivatives.
    """
    n, w = D.n, rates(W, D)
    slope, rate = w.slope, w.rate
    mean(S.q0, q1, w.qbar)
    if D.flags & PRODUCTS and not D.flags & QUATERNIONS:  # directors
        mean(S.p0, p1, w.change)
        has_other_forms = copy_bilinear(gam, D, w.start)
        add_hidden_gradient(fn, D, False, w.qbar, w.change, w.start, S.h, W, out_q, out_p)
        if not has_other_forms:
            return
        for i in range(n):
            slope[i] = 0.0
            rate[i] = 0.0
        velocity_of(fn, D, S.q0, S.p0, W, w.v)
        velocity_of(fn, D, q1, p1, W, w.v1)
        add_discrete_derivative_in_directors(S.q0, w.v, q1, w.v1, gam, D, slope, rate)
        velocity_of(fn, D, w.qbar, rate, W, w.v)
        for i in range(n):
            out_q[i] += S.h * slope[i]
            out_p[i] += S.h * w.v[i]
        return
    difference(q1, S.q0, w.change)
    factor = correction_factor(w.change, S.q0, q1)
    for end in range(2):
        p, q = (S.p0, S.q0) if end == 0 else (p1, q1)
        for i in range(n):
            slope[i] = 0.0
            rate[i] = 0.0
        add_hidden_gradient(fn, D, False, w.qbar, p, gam, 1.0, W, slope, rate)
        hidden_constraint(fn, D, S.q0, p, W, w.start)
        hidden_constraint(fn, D, q1, p, W, w.end)
        gap = inner(gam, w.end) - inner(gam, w.start) - inner(slope, w.change)
        for i in range(n):
            out_q[i] += 0.5 * S.h * (slope[i] + gap * factor * w.change[i])
            rate[i] = 0.0
            slope[i] = 0.0
        add_hidden_gradient(fn, D, False, q, p, gam, 1.0, W, slope, rate)
        for i in range(n):
            out_p[i] += 0.5 * S.h * rate[i]


@internal_kernel
def hidden_constraint(fn, D, q, p, W, out):
    """Compute out (m,) = g_v = G(q) W(q) p."""
    v = rates(W, D).v
    velocity_of(fn, D, q, p, W, v)
    constraint_rate(fn, D, q, v, W, out)


@residual
def ggl_em_residual(fn, D, S, W, x, r):
    """Evaluate the residual (11)-(15) of GGL-EM."""
    n, m, h, w = D.n, D.m, S.h, vectors(W, D)
    q1, p1, v1, lam, gam = parts(D, x)
    discrete_kinetic(fn, D, S.q0, S.v0, q1, v1, W, w.T_q, w.T_v)
    discrete_gradient(fn, D, S.q0, q1, W, w.V_q)
    forces_between(fn, D, S, q1, W, w.F)
    set_mean_parameters(D, S)
    discrete_pull_back(fn, D, S.q0, q1, lam, W, w.pull)
    for i in range(n):
        w.A_q[i] = 0.0
        w.A_p[i] = 0.0
    add_discrete_hidden(fn, D, S, W, q1, p1, gam, w.A_q, w.A_p)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - 0.5 * h * (S.v0[i] + v1[i]) - w.A_p[i]  # (11)
        r[n + i] = p1[i] - S.p0[i] - h * (w.T_q[i] - w.V_q[i] + w.F[i] - w.pull[i]) + w.A_q[i]  # (12)
        r[2 * n + i] = 0.5 * (S.p0[i] + p1[i]) - w.T_v[i]  # (13)
    end_constraints(fn, D, S, q1, r[3 * n : 3 * n + m])  # (14)
    hidden_constraint(fn, D, q1, p1, W, r[3 * n + m :])  # (15)
    add_explicit_at_end(D, S, q1, r[3 * n + m :])


@update
def ggl_update(fn, D, S, W, x, q, p, v, lam, gam):
    """Store the state of the unknowns (q1, p1, v, lam, gam)."""
    n, m = D.n, D.m
    for i in range(n):
        q[i], p[i], v[i] = x[i], x[n + i], x[2 * n + i]
    for k in range(m):
        lam[k], gam[k] = x[3 * n + k], x[3 * n + m + k]


@account
def variational_account(fn, D, S, W, x, q1, v1, totals):
    """Add work and dissipation of the loads along q1 - q0 to totals.

    The loads are evaluated at qt; for VI-S at q0 (theta = 0).
    """
    w, theta = vectors(W, D), S.options[0]
    for i in range(D.n):
        w.qt[i] = (1.0 - theta) * S.q0[i] + theta * q1[i]
        w.change[i] = q1[i] - S.q0[i]
    account_at(fn, D, w.qt, w.change, S.signal[0], w.change, W, totals)


@drives
def ggl_em_drives(fn, D, S, W, x, q1, p1, lam, gam, works):
    """Add the work of the drives, (1) and (2) of `discretization.time.rheonomic`, to works (drives,)."""
    rate = rates(W, D).end
    add_works_between(D, S, q1, lam, works)
    set_mean_parameters(D, S)
    hidden_constraint(fn, D, S.q0, S.p0, W, rate)
    add_hidden_works(D, 1.0, gam, rate, works)
    hidden_constraint(fn, D, q1, p1, W, rate)
    add_hidden_works(D, -1.0, gam, rate, works)
