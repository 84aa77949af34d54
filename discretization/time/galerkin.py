"""mG(k): the Petrov-Galerkin time elements of 001 sec. 3.1 (Betsch and Steinmann 2002).

On a step z = (q, p) is a polynomial of degree k through equidistant nodes, test functions and multipliers are
polynomials of degree k - 1; with Gauss points xi_g, weights w_g and test functions N~_J, J = 1..k:

    sum_g w_g N~_J (q' - h (T*_p + Psi_p^T mu)) = 0                       (1)
    sum_g w_g N~_J (p' + h (T*_q + dV - F + R(q, q'/h) + G^T gamma + Psi_q^T mu)) = 0    (2)
    sum_g w_g N~_J G q' = 0                                               (3)
    sum_g w_g N~_J (Psi_q q' + Psi_p p') = 0,    Psi = G W p              (4)

The constraints stand differentiated, 001 (14)_2: they hold at the end of a step where the quadrature integrates them
exactly. Order 2k at the nodes.
"""

from __future__ import annotations

import numpy as np

from discretization.time.dense import inner
from discretization.time.discrete_derivatives import (
    add_hidden_gradient,
    constraint_curvature,
    constraint_rate,
    form_gradient,
    pull_back,
    velocity_of,
)
from discretization.time.forcing import account_at, forces_at, scaled
from discretization.time.quadrature import gauss, lagrange
from discretization.time.scheme import RATE, account, residual, update
from rigid.compilation import inner_kernel, small_kernel
from rigid.mechanical import CONSTANT_MASS, INVERSE_MASS, PRODUCTS
from rigid.system import Floats


def shapes(k: int, points: int, tests: int) -> tuple[Floats, Floats, Floats]:
    """Weights (g,), N_I (g, k + 1) and test functions of degree `tests` (g, tests + 1) at the Gauss points."""
    x, w = gauss(points)
    nodes = np.linspace(0.0, 1.0, tests + 1) if tests else np.array([0.5])
    return w, lagrange(np.linspace(0.0, 1.0, k + 1), x)[0], lagrange(nodes, x)[0]


def shape_table(k: int, points: int, tests: int) -> Floats:
    """Options of the element: k, points, then for each Gauss point its weight, N_I, N_I' (k + 1 each) and the tests.

    `tests`: degree of the test functions and multipliers.
    """
    w, N, M = shapes(k, points, tests)
    _, dN = lagrange(np.linspace(0.0, 1.0, k + 1), gauss(points)[0])
    rows = [np.concatenate([[w[g]], N[g], dN[g], M[g]]) for g in range(points)]
    return np.concatenate([[k, points], *rows])


@small_kernel
def interpolate(k, options, at, z0, x, first, stride, out, rate):
    """out, rate = sum N_I z_I, sum N_I' z_I with z_1 = z0 and z_I = x[first + (I - 2) stride :]."""
    for i in range(out.size):
        out[i] = options[at] * z0[i]
        rate[i] = options[at + k + 1] * z0[i]
    for I in range(1, k + 1):
        start = first + (I - 1) * stride
        for i in range(out.size):
            out[i] += options[at + I] * x[start + i]
            rate[i] += options[at + k + 1 + I] * x[start + i]


@inner_kernel
def weak_forms(fn, D, W, h, signal, q, dq, p, dp, gam, mu, e_q, e_p):
    """e_q = q' - h (T*_p + Psi_p^T mu), e_p = p' + h (T*_q + dV - F + R + G^T gam + Psi_q^T mu), ' = d/dxi."""
    n, m = D.n, D.m
    H_q, H_p, V_q, F, pull = (
        W.vector[17, :n],
        W.vector[18, :n],
        W.vector[19, :n],
        W.vector[20, :n],
        W.vector[21, :n],
    )
    velocity_of(fn, D, q, p, W, H_p)
    form_gradient(fn, D, False, q, p, p, W, H_q)
    fn.gradient(q, D, V_q)
    rate = W.vector[RATE, :n]
    scaled(1.0 / h, dq, rate)
    forces_at(fn, D, q, rate, signal, W, F)
    for i in range(n):
        H_q[i] = 0.5 * H_q[i] + V_q[i] - F[i]
    if m > 0:
        pull_back(fn, D, q, gam, W, pull)
        for i in range(n):
            H_q[i] += pull[i]
        add_hidden_gradient(fn, D, False, q, p, mu, 1.0, W, H_q, H_p)
    for i in range(n):
        e_q[i] = dq[i] - h * H_p[i]
        e_p[i] = dp[i] + h * H_q[i]


@inner_kernel
def hidden_rate(fn, D, W, q, dq, p, dp, out):
    """out = Psi_q q' + Psi_p p' = G' W p + G (W' p + W p')."""
    n, m = D.n, D.m
    turned, w, dw = W.vector[16, :m], W.vector[23, :n], W.vector[30, :n]
    velocity_of(fn, D, q, p, W, w)
    velocity_of(fn, D, q, dp, W, dw)
    if D.flags & CONSTANT_MASS == 0:
        add_mass_rate(fn, D, W, q, dq, p, w, dw)
    constraint_rate(fn, D, q, dw, W, out)
    constraint_curvature(fn, D, q, w, dq, W, turned)
    for c in range(m):
        out[c] += turned[c]


@inner_kernel
def add_mass_rate(fn, D, W, q, dq, p, w, out):
    """out += W' p, the change of W(q) along q', row by row from gradients of forms."""
    n = D.n
    row, slope, change = W.vector[31, :n], W.vector[32, :n], W.vector[33, :n]
    if D.flags & PRODUCTS and D.flags & INVERSE_MASS:
        fn.inverse_mass_rate(q, dq, p, D, change)
        for i in range(n):
            out[i] += change[i]
        return
    own = D.flags & INVERSE_MASS != 0
    for i in range(n):
        for j in range(n):
            row[j] = 0.0
        row[i] = 1.0
        if own:
            fn.inverse_mass_gradient(q, row, p, D, slope)
        else:
            fn.mass_gradient(q, row, w, D, slope)
        change[i] = inner(slope, dq)
    if not own:
        velocity_of(fn, D, q, change, W, row)
        for i in range(n):
            change[i] = -row[i]
    for i in range(n):
        out[i] += change[i]


@small_kernel
def sum_multipliers(options, at, count, x, first, m, out):
    """out = sum_J M_J x_J, x_J = x[first + J m :], M_J = options[at + J]."""
    for c in range(m):
        out[c] = 0.0
        for J in range(count):
            out[c] += options[at + J] * x[first + J * m + c]


@residual
def mg_residual(fn, D, S, W, x, r):
    """(1)-(4); unknowns (q, p) at the nodes 2..k + 1, then gamma_1..k, mu_1..k."""
    n, m, h = D.n, D.m, S.h
    k, points = int(S.options[0]), int(S.options[1])
    q, dq, p, dp = W.vector[10, :n], W.vector[11, :n], W.vector[12, :n], W.vector[13, :n]
    gam, mu, e_q, e_p = W.vector[14, :m], W.vector[15, :m], W.vector[26, :n], W.vector[27, :n]
    G_dq, psi_t = W.vector[24, :m], W.vector[25, :m]
    for i in range(r.size):
        r[i] = 0.0
    multipliers = 2 * n * k
    for g in range(points):
        at = 2 + g * (3 + 3 * k)
        weight = S.options[at]
        interpolate(k, S.options, at + 1, S.q0, x, 0, 2 * n, q, dq)
        interpolate(k, S.options, at + 1, S.p0, x, n, 2 * n, p, dp)
        tests = at + 3 + 2 * k
        sum_multipliers(S.options, tests, k, x, multipliers, m, gam)
        sum_multipliers(S.options, tests, k, x, multipliers + k * m, m, mu)
        weak_forms(fn, D, W, h, S.signal[g], q, dq, p, dp, gam, mu, e_q, e_p)
        constraint_rate(fn, D, q, dq, W, G_dq)
        hidden_rate(fn, D, W, q, dq, p, dp, psi_t)
        for J in range(k):
            factor = weight * S.options[tests + J]
            for i in range(n):
                r[2 * n * J + i] += factor * e_q[i]  # (1)
                r[2 * n * J + n + i] += factor * e_p[i]  # (2)
            for c in range(m):
                r[multipliers + J * m + c] += factor * G_dq[c]  # (3)
                r[multipliers + (k + J) * m + c] += factor * psi_t[c]  # (4)


@inner_kernel
def account_point(fn, D, W, h, weight, signal, q, dq, totals):
    """totals += weight (F . q', R(q, q'/h) . q') of one Gauss point."""
    change, rate = W.vector[RATE, : D.n], W.vector[13, : D.n]
    scaled(weight, dq, change)
    scaled(1.0 / h, dq, rate)
    account_at(fn, D, q, rate, signal, change, W, totals)


@account
def mg_account(fn, D, S, W, x, q1, v1, totals):
    """sum_g w_g (F . q', R . q'): q' is among the test functions."""
    n = D.n
    k, points = int(S.options[0]), int(S.options[1])
    q, dq = W.vector[10, :n], W.vector[11, :n]
    for g in range(points):
        at = 2 + g * (3 + 3 * k)
        interpolate(k, S.options, at + 1, S.q0, x, 0, 2 * n, q, dq)
        account_point(fn, D, W, S.h, S.options[at], S.signal[g], q, dq, totals)


@update
def mg_update(fn, D, S, W, x, q, p, v, lam, gam):
    """State at the last node; multipliers are those of the last test function."""
    n, m = D.n, D.m
    k = int(S.options[0])
    last = 2 * n * (k - 1)
    for i in range(n):
        q[i], p[i] = x[last + i], x[last + n + i]
    for c in range(m):
        lam[c] = x[2 * n * k + (k - 1) * m + c]
        gam[c] = x[2 * n * k + (2 * k - 1) * m + c]
    velocity_of(fn, D, q, p, W, v)
