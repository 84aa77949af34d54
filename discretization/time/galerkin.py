"""Evaluate mG(k), the Petrov-Galerkin time elements of 001 sec. 3.1 (Betsch and Steinmann 2002).

On a step z = (q, p) is a polynomial of degree k through equidistant nodes, test functions and multipliers are
polynomials of degree k - 1; with Gauss points xi_g, weights w_g and test functions N~_J, J = 1..k:

    sum_g w_g N~_J (q' - h (T*_p + Psi_p^T mu)) = 0                       (1)
    sum_g w_g N~_J (p' + h (T*_q + dV - F + R(q, q'/h) + G^T gamma + Psi_q^T mu)) = 0    (2)
    sum_g w_g N~_J G q' = 0                                               (3)
    sum_g w_g N~_J (Psi_q q' + Psi_p p') = 0,    Psi = G W p              (4)

The constraints are used in differentiated form, 001 (14)_2: they hold at the end of a step if the quadrature integrates them
exactly. The order is 2k at the nodes. Driven constraints have their explicit rates in (3) and (4): they hold to the order of
the quadrature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.time.dense_algebra import inner
from discretization.time.discrete_derivatives import (
    DERIVATIVES,
    add_hidden_gradient,
    constraint_curvature,
    constraint_rate,
    form_gradient,
    pull_back,
    velocity_of,
)
from discretization.time.forcing import Forces, account_at, forces_at, scaled
from discretization.time.quadrature import gauss, lagrange
from discretization.time.rheonomic import add_explicit_pull, set_node_parameters
from discretization.time.scheme import account, drives, residual, update
from discretization.time.scratch_vectors import PerConstraint, PerCoordinate, scratch
from rigid.charts.driven_constraints import add_values, add_works, place_rates, place_weighted_rates
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.mechanics.mechanical_system import CONSTANT_MASS, INVERSE_MASS, PRODUCTS
from rigid.system import Floats


class Terms(NamedTuple):
    """Scratch vectors of the terms of (1)-(4), ' = d/dxi."""

    H_q: PerCoordinate
    H_p: PerCoordinate
    V_q: PerCoordinate
    F: PerCoordinate
    pull: PerCoordinate  # G^T gam
    v: PerCoordinate  # q'/h
    change: PerCoordinate  # w_g q'
    Wp: PerCoordinate
    dWp: PerCoordinate  # (W p)'
    bent: PerConstraint  # G' W p
    unit: PerCoordinate
    slope: PerCoordinate
    dW: PerCoordinate  # W' p


class Point(NamedTuple):
    """Scratch vectors of a Gauss point, ' = d/dxi."""

    q: PerCoordinate
    dq: PerCoordinate  # q'
    p: PerCoordinate
    dp: PerCoordinate
    gam: PerConstraint
    mu: PerConstraint
    e_q: PerCoordinate  # integrand of (1) behind N~_J
    e_p: PerCoordinate  # integrand of (2) behind N~_J
    G_dq: PerConstraint  # integrand of (3) behind N~_J
    dPsi: PerConstraint  # integrand of (4) behind N~_J


terms = scratch(Terms, above=(*DERIVATIVES, Forces))
point = scratch(Point, above=(Terms,))


def shapes(k: int, points: int, tests: int) -> tuple[Floats, Floats, Floats]:
    """Return weights (g,), N_I (g, k + 1) and test functions of degree `tests` (g, tests + 1) at the Gauss points."""
    x, w = gauss(points)
    nodes = np.linspace(0.0, 1.0, tests + 1) if tests else np.array([0.5])
    return w, lagrange(np.linspace(0.0, 1.0, k + 1), x)[0], lagrange(nodes, x)[0]


def shape_table(k: int, points: int, tests: int) -> Floats:
    """Return the options of the element: k, points, then for each Gauss point its weight, N_I, N_I' (k + 1 each) and the tests.

    `tests`: degree of the test functions and multipliers.
    """
    w, N, M = shapes(k, points, tests)
    _, dN = lagrange(np.linspace(0.0, 1.0, k + 1), gauss(points)[0])
    rows = [np.concatenate([[w[g]], N[g], dN[g], M[g]]) for g in range(points)]
    return np.concatenate([[k, points], *rows])


def slopes_between(points: int) -> Floats:
    """Return derivatives (points, points + 2) at the Gauss points of the polynomial through values there, at 0 and at 1."""
    x = gauss(points)[0]
    slopes: Floats = lagrange(np.concatenate([x, [0.0, 1.0]]), x)[1]
    return slopes


@inline_kernel
def interpolate(k, options, at, z0, x, first, stride, out, rate):
    """Compute out, rate = sum N_I z_I, sum N_I' z_I with z_1 = z0 and z_I = x[first + (I - 2) stride :]."""
    for i in range(out.size):
        out[i] = options[at] * z0[i]
        rate[i] = options[at + k + 1] * z0[i]
    for I in range(1, k + 1):
        start = first + (I - 1) * stride
        for i in range(out.size):
            out[i] += options[at + I] * x[start + i]
            rate[i] += options[at + k + 1 + I] * x[start + i]


@internal_kernel
def weak_forms(fn, D, W, h, signal):
    """Compute e_q and e_p of the `Point` in W, the factors of N~_J in (1) and (2).

    e_q = q' - h (T*_p + Psi_p^T mu), e_p = p' + h (T*_q + dV - F + R + G^T gam + Psi_q^T mu).
    """
    n, m, z, w = D.n, D.m, point(W, D), terms(W, D)
    velocity_of(fn, D, z.q, z.p, W, w.H_p)
    form_gradient(fn, D, False, z.q, z.p, z.p, W, w.H_q)
    fn.gradient(z.q, D, w.V_q)
    scaled(1.0 / h, z.dq, w.v)
    forces_at(fn, D, z.q, w.v, signal, W, w.F)
    for i in range(n):
        w.H_q[i] = 0.5 * w.H_q[i] + w.V_q[i] - w.F[i]
    if m > 0:
        pull_back(fn, D, z.q, z.gam, W, w.pull)
        for i in range(n):
            w.H_q[i] += w.pull[i]
        add_hidden_gradient(fn, D, False, z.q, z.p, z.mu, 1.0, W, w.H_q, w.H_p)
    for i in range(n):
        z.e_q[i] = z.dq[i] - h * w.H_p[i]
        z.e_p[i] = z.dp[i] + h * w.H_q[i]


@internal_kernel
def hidden_rate(fn, D, W, q, dq, p, dp, out):
    """Compute out (m,) = Psi_q q' + Psi_p p' = G' W p + G (W' p + W p')."""
    w = terms(W, D)
    velocity_of(fn, D, q, p, W, w.Wp)
    velocity_of(fn, D, q, dp, W, w.dWp)
    if D.flags & CONSTANT_MASS == 0:
        add_mass_rate(fn, D, W, q, dq, p, w.Wp, w.dWp)
    constraint_rate(fn, D, q, w.dWp, W, out)
    constraint_curvature(fn, D, q, w.Wp, dq, W, w.bent)
    for c in range(D.m):
        out[c] += w.bent[c]


@internal_kernel
def add_mass_rate(fn, D, W, q, dq, p, Wp, out):
    """Add W' p, the change of W(q) along q', to out (n,), row by row from gradients of forms."""
    n, w = D.n, terms(W, D)
    if D.flags & PRODUCTS and D.flags & INVERSE_MASS:
        fn.inverse_mass_rate(q, dq, p, D, w.dW)
        for i in range(n):
            out[i] += w.dW[i]
        return
    has_inverse = D.flags & INVERSE_MASS != 0
    for i in range(n):
        for j in range(n):
            w.unit[j] = 0.0
        w.unit[i] = 1.0
        if has_inverse:
            fn.inverse_mass_gradient(q, w.unit, p, D, w.slope)
        else:
            fn.mass_gradient(q, w.unit, Wp, D, w.slope)
        w.dW[i] = inner(w.slope, dq)
    if not has_inverse:  # W' = -W M' W
        velocity_of(fn, D, q, w.dW, W, w.slope)
        for i in range(n):
            w.dW[i] = -w.slope[i]
    for i in range(n):
        out[i] += w.dW[i]


@inline_kernel
def sum_multipliers(options, at, count, x, first, m, out):
    """Compute out (m,) = sum_J M_J x_J, x_J = x[first + J m :], M_J = options[at + J]."""
    for c in range(m):
        out[c] = 0.0
        for J in range(count):
            out[c] += options[at + J] * x[first + J * m + c]


@residual
def mg_residual(fn, D, S, W, x, r):
    """Evaluate the residual (1)-(4); the unknowns are (q, p) at the nodes 2..k + 1, then gamma_1..k, mu_1..k."""
    n, m, h, z = D.n, D.m, S.h, point(W, D)
    k, points = int(S.options[0]), int(S.options[1])
    for i in range(r.size):
        r[i] = 0.0
    multipliers = 2 * n * k
    for g in range(points):
        at = 2 + g * (3 + 3 * k)
        weight = S.options[at]
        interpolate(k, S.options, at + 1, S.q0, x, 0, 2 * n, z.q, z.dq)
        interpolate(k, S.options, at + 1, S.p0, x, n, 2 * n, z.p, z.dp)
        tests = at + 3 + 2 * k
        sum_multipliers(S.options, tests, k, x, multipliers, m, z.gam)
        sum_multipliers(S.options, tests, k, x, multipliers + k * m, m, z.mu)
        set_node_parameters(D, S, g)
        weak_forms(fn, D, W, h, S.signal[g])
        constraint_rate(fn, D, z.q, z.dq, W, z.G_dq)
        hidden_rate(fn, D, W, z.q, z.dq, z.p, z.dp, z.dPsi)
        if D.driven.rows.size > 0:
            add_explicit_pull(D, S, g, z.q, h, z.mu, z.e_p)
            add_driven_rates(fn, D, S, W, g)
        for J in range(k):
            factor = weight * S.options[tests + J]
            for i in range(n):
                r[2 * n * J + i] += factor * z.e_q[i]  # (1)
                r[2 * n * J + n + i] += factor * z.e_p[i]  # (2)
            for c in range(m):
                r[multipliers + J * m + c] += factor * z.G_dq[c]  # (3)
                r[multipliers + (k + J) * m + c] += factor * z.dPsi[c]  # (4)


@internal_kernel
def account_point(fn, D, W, h, weight, signal, q, dq, totals):
    """Add weight (F . q', R(q, q'/h) . q') of one Gauss point to totals (work, dissipation)."""
    w = terms(W, D)
    scaled(weight, dq, w.change)
    scaled(1.0 / h, dq, w.v)
    account_at(fn, D, q, w.v, signal, w.change, W, totals)


@account
def mg_account(fn, D, S, W, x, q1, v1, totals):
    """Add sum_g w_g (F . q', R . q') to totals (work, dissipation): q' is among the test functions."""
    z = point(W, D)
    k, points = int(S.options[0]), int(S.options[1])
    for g in range(points):
        at = 2 + g * (3 + 3 * k)
        interpolate(k, S.options, at + 1, S.q0, x, 0, 2 * D.n, z.q, z.dq)
        account_point(fn, D, W, S.h, S.options[at], S.signal[g], z.q, z.dq, totals)


@internal_kernel
def add_driven_rates(fn, D, S, W, g):
    """Add to (3) and (4) the terms of driven constraints at Gauss point g, ' = d/dxi: with X' = h dX/dt,

        g(q; X')   and   G(q; X') W p + G(q; dX/dt) q' + g(q; (dX/dt)')

    (dX/dt)' is the derivative of the polynomial through the values of dX/dt at the Gauss points and both ends, so that over a
    step it sums to their difference.
    """
    z, w = point(W, D), terms(W, D)
    k, points = int(S.options[0]), int(S.options[1])
    place_rates(D, S.signal[g])
    add_values(D, z.q, S.h, z.G_dq)
    constraint_rate(fn, D, z.q, z.dq, W, w.bent)
    add_driven_rows(D, 1.0, w.bent, z.dPsi)
    constraint_rate(fn, D, z.q, w.Wp, W, w.bent)
    add_driven_rows(D, S.h, w.bent, z.dPsi)
    place_weighted_rates(D, S.options, 2 + points * (3 + 3 * k) + g * (points + 2), S.signal)
    add_values(D, z.q, 1.0, z.dPsi)


@internal_kernel
def add_driven_rows(D, factor, rate, out):
    """Add factor times `rate` of the driven rows to out (m,); without the change of its parameters g is linear in them."""
    for k in range(D.driven.rows.size):
        row = D.driven.rows[k].row
        out[row] += factor * rate[row]


@drives
def mg_drives(fn, D, S, W, x, q1, p1, lam, gam, works):
    """Add the work h sum_g w_g gamma . g(q; dX/dt) of the drives to works (drives,)."""
    n, m, z = D.n, D.m, point(W, D)
    k, points = int(S.options[0]), int(S.options[1])
    for g in range(points):
        at = 2 + g * (3 + 3 * k)
        interpolate(k, S.options, at + 1, S.q0, x, 0, 2 * n, z.q, z.dq)
        sum_multipliers(S.options, at + 3 + 2 * k, k, x, 2 * n * k, m, z.gam)
        place_rates(D, S.signal[g])
        add_works(D, z.q, S.h * S.options[at], z.gam, works)


@update
def mg_update(fn, D, S, W, x, q, p, v, lam, gam):
    """Store the state at the last node; the multipliers are those of the last test function."""
    n, m = D.n, D.m
    k = int(S.options[0])
    last = 2 * n * (k - 1)
    for i in range(n):
        q[i], p[i] = x[last + i], x[last + n + i]
    for c in range(m):
        lam[c] = x[2 * n * k + (k - 1) * m + c]
        gam[c] = x[2 * n * k + (2 * k - 1) * m + c]
    velocity_of(fn, D, q, p, W, v)
