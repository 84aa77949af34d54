"""Midpoint rod element of 003 as an interaction: positions and quaternions are linear between two frames.

Strains are evaluated in the middle. They are homogeneous in q, so that its length there, less than 1, does not matter;
q_a . q_b > 0:

    Gamma = R(q)^T r' - e1,   K = 2 Im(q^c q')/|q|^2,   q = (q_a + q_b)/2,  q' = (q_b - q_a)/L,  r' = (r_b - r_a)/L    (1)

Finite differences on a staggered grid, with q and r at the nodes and stresses between them, give the same equations. In the
invariants of `se3_element`, k = 2 tan(theta/2) n, y = (R_a + R_b)^T r'/2, u = k . k/4, s = k . y, they are

    Gamma = g y - p s k - e1,   K = f k/L,    g = sqrt(1 + u) = 1/cos(theta/2),  f = 2/(1 + g),  p = 1/(4 (1 + g))     (2)

with other functions than those of the logarithm of the relative pose. Their divided differences need no series,

    g[] = 1/(g0 + g1),   f[] = -2 g[]/((1 + g0)(1 + g1)),   p[] = f[]/8                                                (3)

and with n, m the mean stresses times the weight the discrete derivative is that of `se3_element` (5), (6):

    cy = gbar n - pbar (n . kbar) kbar
    ck = fbar m/L + kbar (f[] m . kbar/L + g[] n . ybar - p[] n . avg(s k))/2 - pbar (sbar n + (n . kbar) ybar)        (4)
"""

import numpy as np

from discretization.space.cayley_element import trace_of, turned_columns, twice_axial_of
from discretization.space.rod_gauss_points import (
    LENGTH,
    actuating_stress,
    actuation,
    energy_of,
    stress_between,
    unloaded,
    viscous_between,
    viscous_of_rates,
    weight_of,
)
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, dissipation, dual_function, frame, no_bend, value_function
from rigid.kinematics.poses import mean_pose
from rigid.linear_algebra import average, dot, minus, plus, times


@inline_kernel
def both(a, b, e):
    """Return the three sums a_i . e + b_i . e over the directors i of the poses `a`, `b`."""
    return dot(a[1], e) + dot(b[1], e), dot(a[2], e) + dot(b[2], e), dot(a[3], e) + dot(b[3], e)


@inline_kernel
def invariants(a, b, length):
    """Return y, k, 1 + tr R_a^T R_b and g of two poses."""
    T = 1.0 + trace_of(a, b)
    k = times(2.0 / T, twice_axial_of(a, b))
    y = times(0.5 / length, both(a, b, minus(b[0], a[0])))
    return y, k, T, np.sqrt(1.0 + 0.25 * dot(k, k))


@inline_kernel
def strains_of(at, length):
    """Return Gamma, K of (2) from the invariants `at`."""
    y, k, _, g = at
    Gamma = minus(times(g, y), times(dot(k, y) / (4.0 * (1.0 + g)), k))
    return (Gamma[0] - 1.0, Gamma[1], Gamma[2]), times(2.0 / ((1.0 + g) * length), k)


@inline_kernel
def strain_rates(at, a, b, da, db, length):
    """Return the rates of Gamma and K if the poses a, b have the rates da, db."""
    y, k, T, g = at
    e, de = minus(b[0], a[0]), minus(db[0], da[0])
    dy = times(0.5 / length, plus(both(da, db, e), both(a, b, de)))
    dT = trace_of(da, b) + trace_of(a, db)
    dk = minus(times(2.0 / T, plus(twice_axial_of(da, b), twice_axial_of(a, db))), times(dT / T, k))
    s, ds, dg = dot(k, y), dot(dk, y) + dot(k, dy), 0.25 * dot(k, dk) / g
    f, p = 2.0 / (1.0 + g), 0.25 / (1.0 + g)
    df, dp = -f * dg / (1.0 + g), -p * dg / (1.0 + g)
    dGamma = plus(times(dg, y), times(g, dy))
    dGamma = minus(dGamma, plus(times(dp * s + p * ds, k), times(p * s, dk)))
    return dGamma, times(1.0 / length, plus(times(df, k), times(f, dk)))


@inline_kernel
def on_invariants(start, end, n, m, length):
    """Return cy, ck of (4), the dual on the invariants y, k; `n`, `m`: mean stresses times the weight."""
    (y0, k0, _, g0), (y1, k1, _, g1) = start, end
    G = 1.0 / (g0 + g1)
    F = -2.0 * G / ((1.0 + g0) * (1.0 + g1))
    P, g = 0.125 * F, 0.5 * (g0 + g1)
    f, p = 1.0 / (1.0 + g0) + 1.0 / (1.0 + g1), 0.125 / (1.0 + g0) + 0.125 / (1.0 + g1)
    s0, s1 = dot(k0, y0), dot(k1, y1)
    y, k, s = average(y0, y1), average(k0, k1), 0.5 * (s0 + s1)
    nk = dot(n, k)
    along = F * dot(m, k) / length + G * dot(n, y) - P * dot(n, average(times(s0, k0), times(s1, k1)))
    cy = minus(times(g, n), times(p * nk, k))
    ck = plus(times(f / length, m), times(0.5 * along, k))
    return cy, minus(ck, times(p, plus(times(s, n), times(nk, y))))


@inline_kernel
def spread(y0, y1, start, end, n, m, length, out):
    """Write the dual on both frames, with the work n . dGamma + m . dK, to `out` (2, 4, 3)."""
    cy, ck = on_invariants(start, end, n, m, length)
    a, b = mean_pose(frame(y0, 0), frame(y1, 0)), mean_pose(frame(y0, 1), frame(y1, 1))
    h, e, k = 0.5 / length, minus(b[0], a[0]), average(start[1], end[1])
    z = times(4.0 / (start[2] + end[2]), ck)
    d = -0.5 * dot(k, z)
    on_a, on_b = turned_columns(times(-1.0, z), d, b[1], b[2], b[3]), turned_columns(z, d, a[1], a[2], a[3])
    for j in range(3):
        force = h * (cy[0] * (a[1][j] + b[1][j]) + cy[1] * (a[2][j] + b[2][j]) + cy[2] * (a[3][j] + b[3][j]))
        out[0, 0, j], out[1, 0, j] = -force, force
        for i in range(3):
            out[0, 1 + i, j] = h * cy[i] * e[j] + on_a[i][j]
            out[1, 1 + i, j] = h * cy[i] * e[j] + on_b[i][j]


@value_function
def value(y, X, out):
    """Write the stored energy to `out[0]`, J: weight times W."""
    Gamma, K = strains_of(invariants(frame(y, 0), frame(y, 1), X[LENGTH]), X[LENGTH])
    Gamma, K = unloaded(Gamma, K, X, 0)
    out[0] = weight_of(X, 0) * energy_of(Gamma, K, X, 0)


@dual_function
def dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the discrete gradient of the energy to `out` (2, 4, 3).

    Its stress is that between the strains at both ends of the step.
    """
    L = X[LENGTH]
    start, end = (
        invariants(frame(y0, 0), frame(y0, 1), L),
        invariants(frame(y1, 0), frame(y1, 1), L),
    )
    (Gamma0, K0), (Gamma1, K1) = strains_of(start, L), strains_of(end, L)
    N, M = stress_between(Gamma0, K0, Gamma1, K1, X, 0)
    w = lam[0] * weight_of(X, 0)
    spread(y0, y1, start, end, times(w, N), times(w, M), L, out)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the change of the strains to `out` (2, 4, 3)."""
    L = X[LENGTH]
    start, end = (
        invariants(frame(y0, 0), frame(y0, 1), L),
        invariants(frame(y1, 0), frame(y1, 1), L),
    )
    (Gamma0, K0), (Gamma1, K1) = strains_of(start, L), strains_of(end, L)
    N, M = viscous_between(Gamma0, K0, Gamma1, K1, X, 0)
    w = lam[0] * weight_of(X, 0)
    spread(y0, y1, start, end, times(w, N), times(w, M), L, out)


@dual_function
def actuation_dual(y0, y1, X, lam, out):
    """Write the dual of the actuating stress to `out` (2, 4, 3)."""
    L = X[LENGTH]
    start = invariants(frame(y0, 0), frame(y0, 1), L)
    end = invariants(frame(y1, 0), frame(y1, 1), L)
    N, M = actuating_stress(X, lam, 0)
    spread(y0, y1, start, end, N, M, L, out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the strain rates to `out` (2, 4, 3).

    y: poses; z: their rates.
    """
    L = X[LENGTH]
    a, b = frame(y, 0), frame(y, 1)
    at = invariants(a, b, L)
    Gamma, K = strain_rates(at, a, b, frame(z, 0), frame(z, 1), L)
    N, M = viscous_of_rates(Gamma, K, X, 0)
    w = lam[0] * weight_of(X, 0)
    spread(y, y, at, at, times(w, N), times(w, M), L, out)


@value_function
def strains(y, X, out):
    """Write Gamma, K less the stress-free strains to `out` (6,)."""
    Gamma, K = strains_of(invariants(frame(y, 0), frame(y, 1), X[LENGTH]), X[LENGTH])
    Gamma, K = unloaded(Gamma, K, X, 0)
    for i in range(3):
        out[i], out[3 + i] = Gamma[i], K[i]


ORDERS = (1,)
ENERGIES = {1: Kind("midpoint rod element", 2, 0, value, dual, no_bend)}
DISSIPATIONS = {1: dissipation("viscous midpoint rod element", 2, step_dual, rate_dual)}
STRAINS = {1: Kind("strains, midpoint rod element", 2, 6, strains, no_bend, no_bend)}
ACTUATIONS = {1: actuation("midpoint rod element", 1, actuation_dual)}
