"""Evaluate schemes of Livens' principle with independent q, v, p: the energy-momentum scheme EML, its reductions, and MPL.

EML, 000 (72), in the G-equivariant quaternion form 000 (86):

    q1 - q0 = h vbar                                                      (1)
    p1 - p0 = h (D_q T - D V + F) - h (D g)^T lam                         (2)
    pbar    = D_v T                                                       (3)
    g(q1)   = 0                                                           (4)

EML conserves the generalised energy p . v - T + V; M may be singular or depend on q. REML, 000 (103), eliminates v1 by (1)
and p1 by (3). Null-EML, 000 remark 4.11, uses the rotation vector of the step in place of the quaternion, which
fulfils the internal constraint, and multiplies (2) by the null space matrix G(qbar), which removes its multiplier.

EML-kappa (quaternion chart): a body rotates with the Cayley vector of the step also in (1), with 1/kappa = 2 - 1/|qbar|^2,

    q1 - q0 = (h/kappa) vbar                                              (1k)
    P1 - P0 = (1/kappa) h D_q T + h F - h (D g)^T lam                     (2k)

where all torques of joints, springs and loads enter as 2 E(qbar)^T torque/|qbar|^2. Then the total angular momentum is
conserved even if joints couple positions with quaternions; EML conserves it to second order only.

MPL, 000 (132), is the midpoint rule: all derivatives of L are evaluated at the midpoint.
"""

import cmath
from typing import NamedTuple

from discretization.time.dense_algebra import mean
from discretization.time.discrete_derivatives import (
    DERIVATIVES,
    discrete_gradient,
    discrete_kinetic,
    discrete_pull_back,
    mass_times,
    pull_back,
)
from discretization.time.forcing import Forces, forces_at, forces_between
from discretization.time.rheonomic import end_constraints, set_mean_parameters
from discretization.time.scheme import residual, update
from discretization.time.scratch_vectors import PerConstraint, PerCoordinate, scratch
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.kinematics.poses import load_quat
from rigid.kinematics.quaternion_maps import G, quat_dot, quat_mean
from rigid.linear_algebra import dot, times


class Vectors(NamedTuple):
    """Scratch vectors of Livens' schemes."""

    T_q: PerCoordinate  # D_q T
    T_v: PerCoordinate  # D_v T
    V_q: PerCoordinate  # D V
    F: PerCoordinate
    pull: PerCoordinate  # (D g)^T lam
    qbar: PerCoordinate
    vbar: PerCoordinate
    q1: PerCoordinate  # q1 if it is eliminated from the unknowns, as v1, p1
    v1: PerCoordinate
    p1: PerCoordinate
    balance: PerCoordinate  # residual of (2), before the projection on the null space
    lam: PerConstraint
    g: PerConstraint


vectors = scratch(Vectors, above=(*DERIVATIVES, Forces))


@internal_kernel
def state_of(D, x):
    """Return views of (q1, p1, v1, lam) in the unknowns of the full scheme."""
    n = D.n
    return x[:n], x[n : 2 * n], x[2 * n : 3 * n], x[3 * n : 3 * n + D.m]


@internal_kernel
def momentum_balance(fn, D, S, W, q1, p1, lam, T_q, with_constraints, r):
    """Compute the residual of (2), r = p1 - p0 - h (D_q T - D V + F) + h (D g)^T lam.

    `with_constraints`: False to omit the last term.
    """
    w = vectors(W, D)
    discrete_gradient(fn, D, S.q0, q1, W, w.V_q)
    forces_between(fn, D, S, q1, W, w.F)
    for i in range(D.n):
        r[i] = p1[i] - S.p0[i] - S.h * (T_q[i] - w.V_q[i] + w.F[i])
    if with_constraints:
        set_mean_parameters(D, S)
        discrete_pull_back(fn, D, S.q0, q1, lam, W, w.pull)
        for i in range(D.n):
            r[i] += S.h * w.pull[i]


@residual
def eml_residual(fn, D, S, W, x, r):
    """Evaluate the residual (1)-(4) of EML."""
    n, w = D.n, vectors(W, D)
    q1, p1, v1, lam = state_of(D, x)
    discrete_kinetic(fn, D, S.q0, S.v0, q1, v1, W, w.T_q, w.T_v)
    momentum_balance(fn, D, S, W, q1, p1, lam, w.T_q, True, r[n : 2 * n])  # (2)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - 0.5 * S.h * (S.v0[i] + v1[i])  # (1)
        r[2 * n + i] = 0.5 * (S.p0[i] + p1[i]) - w.T_v[i]  # (3)
    end_constraints(fn, D, S, q1, r[3 * n :])  # (4)


@update
def full_update(fn, D, S, W, x, q, p, v, lam, gam):
    """Store the state of the unknowns (q1, p1, v1, lam)."""
    n = D.n
    for i in range(n):
        q[i], p[i], v[i] = x[i], x[n + i], x[2 * n + i]
    for k in range(D.m):
        lam[k] = x[3 * n + k]


@internal_kernel
def eliminate(fn, D, S, W, q1, v1, p1, T_q):
    """Compute v1 by (1), p1 by (3), and T_q = D_q T."""
    T_v = vectors(W, D).T_v
    for i in range(D.n):
        v1[i] = 2.0 / S.h * (q1[i] - S.q0[i]) - S.v0[i]
    discrete_kinetic(fn, D, S.q0, S.v0, q1, v1, W, T_q, T_v)
    for i in range(D.n):
        p1[i] = 2.0 * T_v[i] - S.p0[i]


@residual
def reml_residual(fn, D, S, W, x, r):
    """Evaluate the residual (2), (4) of REML, with v1 and p1 eliminated."""
    n, w = D.n, vectors(W, D)
    q1, lam = x[:n], x[n:]
    eliminate(fn, D, S, W, q1, w.v1, w.p1, w.T_q)
    momentum_balance(fn, D, S, W, q1, w.p1, lam, w.T_q, True, r[:n])
    end_constraints(fn, D, S, q1, r[n:])


@update
def reml_update(fn, D, S, W, x, q, p, v, lam, gam):
    """Store the state of the unknowns (q1, lam)."""
    n = D.n
    for i in range(n):
        q[i] = x[i]
    eliminate(fn, D, S, W, q, v, p, vectors(W, D).T_q)
    for k in range(D.m):
        lam[k] = x[n + k]


@inline_kernel
def turned(q, theta):
    """Return exp(theta/2) o q, for a rotation vector theta of complex components."""
    square = 0.25 * dot(theta, theta)
    if square.real < 1e-4:
        c = 1.0 - square / 2.0 * (1.0 - square / 12.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)))
        s = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0)))
    else:
        half = cmath.sqrt(square)
        c, s = cmath.cos(half), cmath.sin(half) / half
    x = times(0.5 * s, theta)
    v = q[1]
    return c * q[0] - dot(x, v), (
        c * v[0] + q[0] * x[0] + x[1] * v[2] - x[2] * v[1],
        c * v[1] + q[0] * x[1] + x[2] * v[0] - x[0] * v[2],
        c * v[2] + q[0] * x[2] + x[0] * v[1] - x[1] * v[0],
    )


@internal_kernel
def moved(D, S, x, q1):
    """Compute q1 from increments x, and return the number of increments.

    They are dr for a position, the inertial rotation vector for an orientation.
    """
    at_x = 0
    for f in range(D.frames.entries.size):
        at, to = D.frames.entries[f].position, D.frames.entries[f].orientation
        if at >= 0:
            for i in range(3):
                q1[at + i] = S.q0[at + i] + x[at_x + i]
            at_x += 3
        if to >= 0:
            w, v = turned(load_quat(S.q0, to), (x[at_x], x[at_x + 1], x[at_x + 2]))
            q1[to], q1[to + 1], q1[to + 2], q1[to + 3] = w, v[0], v[1], v[2]
            at_x += 3
    return at_x


@internal_kernel
def joint_multipliers(D, x, lam):
    """Set lam to 0 for the internal constraints, and to the multipliers at the end of x for the joints.

    Return the number of internal constraints.
    """
    joints = 0
    for f in range(D.frames.entries.size):
        if D.frames.entries[f].orientation >= 0:
            joints += 1
    for k in range(joints):
        lam[k] = 0.0
    for k in range(joints, D.m):
        lam[k] = x[x.size - D.m + k]
    return joints


@residual
def null_residual(fn, D, S, W, x, r):
    """Evaluate the residual of Null-EML: (2) in the null space of the internal constraints, and (4) of the joints."""
    w = vectors(W, D)
    q1, balance = w.q1, w.balance
    moved(D, S, x, q1)
    internal = joint_multipliers(D, x, w.lam)
    eliminate(fn, D, S, W, q1, w.v1, w.p1, w.T_q)
    momentum_balance(fn, D, S, W, q1, w.p1, w.lam, w.T_q, internal < D.m, balance)
    row = 0
    for f in range(D.frames.entries.size):
        at, to = D.frames.entries[f].position, D.frames.entries[f].orientation
        if at >= 0:
            for i in range(3):
                r[row + i] = balance[at + i]
            row += 3
        if to >= 0:
            r[row], r[row + 1], r[row + 2] = G(
                quat_mean(load_quat(S.q0, to), load_quat(q1, to)), load_quat(balance, to)
            )
            row += 3
    if internal < D.m:
        end_constraints(fn, D, S, q1, w.g)
        for k in range(internal, D.m):
            r[row] = w.g[k]
            row += 1


@update
def null_update(fn, D, S, W, x, q, p, v, lam, gam):
    """Store the state of the increments; the internal multipliers follow from the part of (2) along qbar."""
    w = vectors(W, D)
    moved(D, S, x, q)
    internal = joint_multipliers(D, x, lam)
    eliminate(fn, D, S, W, q, v, p, w.T_q)
    momentum_balance(fn, D, S, W, q, p, lam, w.T_q, internal < D.m, w.balance)
    k = 0
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to >= 0:
            middle = quat_mean(load_quat(S.q0, to), load_quat(q, to))
            lam[k] = -quat_dot(middle, load_quat(w.balance, to)) / (S.h * quat_dot(middle, middle))
            k += 1


@residual
def kappa_residual(fn, D, S, W, x, r):
    """Evaluate the residual (1k), (2k), (3), (4) of EML-kappa."""
    n, w = D.n, vectors(W, D)
    q1, p1, v1, lam = state_of(D, x)
    discrete_kinetic(fn, D, S.q0, S.v0, q1, v1, W, w.T_q, w.T_v)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - 0.5 * S.h * (S.v0[i] + v1[i])
        r[2 * n + i] = 0.5 * (S.p0[i] + p1[i]) - w.T_v[i]  # (3)
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to < 0:
            continue
        middle = quat_mean(load_quat(S.q0, to), load_quat(q1, to))
        factor = 2.0 - 1.0 / quat_dot(middle, middle)
        for i in range(to, to + 4):
            r[i] = q1[i] - S.q0[i] - 0.5 * S.h * factor * (S.v0[i] + v1[i])  # (1k)
            w.T_q[i] *= factor
    momentum_balance(fn, D, S, W, q1, p1, lam, w.T_q, True, r[n : 2 * n])  # (2k)
    end_constraints(fn, D, S, q1, r[3 * n :])  # (4)


@residual
def mpl_residual(fn, D, S, W, x, r):
    """Evaluate the residual of MPL, 000 (132)."""
    n, w = D.n, vectors(W, D)
    q1, p1, v1, lam = state_of(D, x)
    mean(S.q0, q1, w.qbar)
    mean(S.v0, v1, w.vbar)
    mass_times(fn, D, w.qbar, w.vbar, W, w.T_v)
    fn.mass_gradient(w.qbar, w.vbar, w.vbar, D, w.T_q)
    fn.gradient(w.qbar, D, w.V_q)
    forces_at(fn, D, w.qbar, w.vbar, S.signal[0], W, w.F)
    set_mean_parameters(D, S)
    pull_back(fn, D, w.qbar, lam, W, w.pull)
    for i in range(n):
        r[i] = q1[i] - S.q0[i] - S.h * w.vbar[i]
        r[n + i] = p1[i] - S.p0[i] - S.h * (0.5 * w.T_q[i] - w.V_q[i] + w.F[i] - w.pull[i])
        r[2 * n + i] = 0.5 * (S.p0[i] + p1[i]) - w.T_v[i]
    end_constraints(fn, D, S, q1, r[3 * n :])
