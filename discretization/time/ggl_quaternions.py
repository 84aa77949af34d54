"""Evaluate GGL-EM, 002 (84), for frames in quaternions: conserves energy, momenta and both levels of constraints.

002 is restricted to constant masses; its functional (33) holds for M(q) with g_v = G(q) W(q) p. Discrete derivatives in (q, p)
that are exact and rotate with the system do not exist if positions are coupled with quaternions. Points rotate by
psi = 2 tan(theta/2) n over a step, q1 - q0 by zeta = 4 tan(theta/4) n. For a common rotation of a joint's frames

    sum f . (psi x r) + zeta . sum tau = 0   and   sum r x f + sum tau = 0   only if   n . sum r x f = 0,

while a joint's forces f do rotate its frames about each other. So quaternions are stretched as in EML-kappa,
1/kappa = 2 - 1/|qbar|^2 = zeta/psi, and all interactions act by torques in averaged directors,
F = 2 E(qbar)^T tau/|qbar|^2, so that kappa (q1 - q0) . F = psi . tau. With A = gam . g_v:

    q1 - q0 = (h/kappa) (D_p T* + D_p A)                                                             (1)
    p1 - p0 = -(h/kappa) (D_q T* + D_q A) - h (F_V + F_g lam + F_A) + h F                            (2)
    g(q1)   = 0,   g_v(q1, p1) = 0                                                                   (3), (4)

D_q, D_p of T* and of A through G(q) p, q . p, p: these are bilinear, so that midpoints are exact and rotate with the system;
F_A through the poses: `rigid.charts.hidden_constraints`. Positions have kappa = 1. Then

    T*1 - T*0 + A1 - A0 + V1 - V0 + lam . (g1 - g0) = 0,   P1 = P0,   L1 = L0,

separately for each frame and its neighbours. If q . p = 0, T* does not depend on alpha, and the motion is that of `em-ggl`.
"""

from typing import NamedTuple

from discretization.time import livens
from discretization.time.discrete_derivatives import (
    constraint_rate,
    discrete_coenergy,
    velocity_of,
)
from discretization.time.forcing import account_between
from discretization.time.livens import momentum_balance
from discretization.time.rheonomic import (
    add_explicit_at_end,
    add_hidden_works,
    add_works_between,
    end_constraints,
    set_mean_parameters,
)
from discretization.time.scheme import account, drives, residual, update
from discretization.time.scratch_vectors import PerConstraint, PerCoordinate, scratch
from rigid.charts.hidden_constraints import Ends, Parts, add_discrete_hidden
from rigid.compilation.decorators import internal_kernel
from rigid.kinematics.poses import load_quat
from rigid.kinematics.quaternion_maps import quat_dot, quat_mean


class Vectors(NamedTuple):
    """Scratch vectors of GGL-EM."""

    v: PerCoordinate  # W p
    H_q: PerCoordinate  # D_q T* + D_q A, then the term in place of D_q T in (2)
    H_p: PerCoordinate
    F_A: PerCoordinate
    change: PerCoordinate  # kappa (q1 - q0)
    rate: PerConstraint  # g_v


vectors = scratch(Vectors, above=(livens.Vectors,))


@internal_kernel
def hidden_constraint(fn, D, q, p, W, out):
    """Compute out (m,) = g_v: G(q) W(q) p for the joints, q . p for the unit lengths of quaternions.

    For a unit length, q . p and G(q) W(q) p are zero together.
    """
    v = vectors(W, D).v
    velocity_of(fn, D, q, p, W, v)
    constraint_rate(fn, D, q, v, W, out)
    row = 0
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to >= 0:
            out[row] = quat_dot(load_quat(q, to), load_quat(p, to))
            row += 1


@internal_kernel
def shortening(S, q1, to):
    """Return 1/kappa of the frame whose quaternion begins at index `to`."""
    middle = quat_mean(load_quat(S.q0, to), load_quat(q1, to))
    return 2.0 - 1.0 / quat_dot(middle, middle)


@residual
def ggl_em_residual(fn, D, S, W, x, r):
    """Evaluate the residual (1)-(4)."""
    n, m, h, w = D.n, D.m, S.h, vectors(W, D)
    q1, p1, lam, gam = x[:n], x[n : 2 * n], x[2 * n : 2 * n + m], x[2 * n + m :]
    discrete_coenergy(fn, D, S.q0, S.p0, q1, p1, W, w.H_q, w.H_p)
    for i in range(n):
        w.F_A[i] = 0.0
    set_mean_parameters(D, S)
    add_discrete_hidden(Ends(S.q0, S.p0, q1, p1), gam, D, Parts(w.H_q, w.H_p, w.F_A))
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to < 0:
            continue
        factor = shortening(S, q1, to)
        for i in range(to, to + 4):
            w.H_q[i] *= factor
            w.H_p[i] *= factor
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - h * w.H_p[i]  # (1)
        w.H_q[i] = -w.H_q[i] - w.F_A[i]
    momentum_balance(fn, D, S, W, q1, p1, lam, w.H_q, True, r[n : 2 * n])  # (2)
    end_constraints(fn, D, S, q1, r[2 * n : 2 * n + m])  # (3)
    hidden_constraint(fn, D, q1, p1, W, r[2 * n + m :])  # (4)
    add_explicit_at_end(D, S, q1, r[2 * n + m :])


@update
def ggl_em_update(fn, D, S, W, x, q, p, v, lam, gam):
    """Store the state of the unknowns (q1, p1, lam, gam); v = W(q) p."""
    n, m = D.n, D.m
    for i in range(n):
        q[i], p[i] = x[i], x[n + i]
    for k in range(m):
        lam[k], gam[k] = x[2 * n + k], x[2 * n + m + k]
    velocity_of(fn, D, q, p, W, v)


@account
def ggl_em_account(fn, D, S, W, x, q1, v1, totals):
    """Add work and dissipation of the forces between the ends to totals.

    The displacement is kappa (q1 - q0), along which a torque does the work psi . tau.
    """
    change = vectors(W, D).change
    for i in range(D.n):
        change[i] = q1[i] - S.q0[i]
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to >= 0:
            factor = shortening(S, q1, to)
            for i in range(to, to + 4):
                change[i] /= factor
    account_between(fn, D, S, q1, change, W, totals)


@drives
def ggl_em_drives(fn, D, S, W, x, q1, p1, lam, gam, works):
    """Add the work of the drives, (1) and (2) of `discretization.time.rheonomic`, to works (drives,)."""
    rate = vectors(W, D).rate
    add_works_between(D, S, q1, lam, works)
    set_mean_parameters(D, S)
    hidden_constraint(fn, D, S.q0, S.p0, W, rate)
    add_hidden_works(D, 1.0, gam, rate, works)
    hidden_constraint(fn, D, q1, p1, W, rate)
    add_hidden_works(D, -1.0, gam, rate, works)
