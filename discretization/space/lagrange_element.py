"""Lagrange rod element of order p = 1 to 4 as an interaction: positions and directors are interpolated from p + 1 frames.

At p Gauss points, ' the derivative along the stress-free length,

    Gamma = D^T r' - e1,   K = axial(D^T D'),   D = (d_1, d_2, d_3):  K_1 = (d_3 . d_2' - d_2 . d_3')/2, cyclic        (1)

Both are bilinear in the poses, so that averages over a step give the discrete derivative, with stresses N, M times the
weight of a point:

    on r':  Dbar N,    on D: rbar' N^T - Dbar' hat(M)/2,    on D':  Dbar hat(M)/2                                      (2)

and l_a, l_a' distribute these to the nodes. With p points, not p + 1, the element does not lock. Interpolated
directors are not unit vectors between the nodes: the error falls with order 2p, but it is large if an element is strongly bent
(that of `relative_element` is not).
"""

from discretization.space.interpolation import SLOPES, VALUES
from discretization.space.rod_gauss_points import (
    LENGTH,
    actuating_stress,
    actuation,
    add,
    clear,
    energy_of,
    order_of,
    slope_at_point,
    stress_between,
    unloaded,
    value_at_point,
    viscous_between,
    viscous_of_rates,
    weight_of,
)
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, dissipation, dual_function, no_bend, value_function
from rigid.linear_algebra import average, dot, minus, plus, times


@inline_kernel
def at_point(y, p, g, length):
    """Return r', d_1 .. d_3, d_1' .. d_3', interpolated at Gauss point g."""
    return (
        slope_at_point(y, 0, p, g, length),
        value_at_point(y, 1, p, g),
        value_at_point(y, 2, p, g),
        value_at_point(y, 3, p, g),
        slope_at_point(y, 1, p, g, length),
        slope_at_point(y, 2, p, g, length),
        slope_at_point(y, 3, p, g, length),
    )


@inline_kernel
def bilinear(a, b):
    """Return Gamma + e1 and K of (1) with the factors with ' taken from b; these are strains if a and b are the same."""
    _, d1, d2, d3, _, _, _ = a
    r, _, _, _, e1, e2, e3 = b
    Gamma = dot(d1, r), dot(d2, r), dot(d3, r)
    K = (
        0.5 * (dot(d3, e2) - dot(d2, e3)),
        0.5 * (dot(d1, e3) - dot(d3, e1)),
        0.5 * (dot(d2, e1) - dot(d1, e2)),
    )
    return Gamma, K


@inline_kernel
def strains_of(at):
    """Return Gamma, K of (1) from the interpolated values `at`."""
    Gamma, K = bilinear(at, at)
    return (Gamma[0] - 1.0, Gamma[1], Gamma[2]), K


@inline_kernel
def strain_rates(at, rate):
    """Return the rates of Gamma and K if the interpolated values `at` have the rates `rate`."""
    (G0, K0), (G1, K1) = bilinear(at, rate), bilinear(rate, at)
    return plus(G0, G1), plus(K0, K1)


@inline_kernel
def mean_of(a, b):
    """Return the averages of the interpolated values a, b at a point."""
    return (
        average(a[0], b[0]),
        average(a[1], b[1]),
        average(a[2], b[2]),
        average(a[3], b[3]),
        average(a[4], b[4]),
        average(a[5], b[5]),
        average(a[6], b[6]),
    )


@inline_kernel
def add_spread(at, N, M, p, g, length, out):
    """Add the dual (2) of one point, with the work N . dGamma + M . dK, to `out` (p + 1, 4, 3); `at`: averages over the step."""
    r, d1, d2, d3, e1, e2, e3 = at
    n = plus(times(N[0], d1), plus(times(N[1], d2), times(N[2], d3)))
    m1, m2, m3 = 0.5 * M[0], 0.5 * M[1], 0.5 * M[2]
    # columns of D hat(M)/2: (m3 d2 - m2 d3, m1 d3 - m3 d1, m2 d1 - m1 d2)
    f1, f2, f3 = (
        minus(times(m3, d2), times(m2, d3)),
        minus(times(m1, d3), times(m3, d1)),
        minus(times(m2, d1), times(m1, d2)),
    )
    g1, g2, g3 = (
        plus(times(N[0], r), minus(times(m2, e3), times(m3, e2))),
        plus(times(N[1], r), minus(times(m3, e1), times(m1, e3))),
        plus(times(N[2], r), minus(times(m1, e2), times(m2, e1))),
    )
    for a in range(p + 1):
        l, dl = VALUES[p, g, a], SLOPES[p, g, a] / length
        add(n, dl, out[a, 0])
        add(g1, l, out[a, 1])
        add(g2, l, out[a, 2])
        add(g3, l, out[a, 3])
        add(f1, dl, out[a, 1])
        add(f2, dl, out[a, 2])
        add(f3, dl, out[a, 3])


@value_function
def value(y, X, out):
    """Write the stored energy to `out[0]`, J: the sum over the points of weight times W."""
    p, L = order_of(X), X[LENGTH]
    V = 0j
    for g in range(p):
        Gamma, K = strains_of(at_point(y, p, g, L))
        Gamma, K = unloaded(Gamma, K, X, g)
        V += weight_of(X, g) * energy_of(Gamma, K, X, g)
    out[0] = V


@dual_function
def dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the discrete gradient of the energy to `out` (p + 1, 4, 3).

    Its stress is that between the strains at both ends of the step.
    """
    p, L = order_of(X), X[LENGTH]
    clear(out, p + 1)
    for g in range(p):
        start, end = at_point(y0, p, g, L), at_point(y1, p, g, L)
        (Gamma0, K0), (Gamma1, K1) = strains_of(start), strains_of(end)
        N, M = stress_between(Gamma0, K0, Gamma1, K1, X, g)
        w = lam[0] * weight_of(X, g)
        add_spread(mean_of(start, end), times(w, N), times(w, M), p, g, L, out)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the change of the strains to `out` (p + 1, 4, 3)."""
    p, L = order_of(X), X[LENGTH]
    clear(out, p + 1)
    for g in range(p):
        start, end = at_point(y0, p, g, L), at_point(y1, p, g, L)
        (Gamma0, K0), (Gamma1, K1) = strains_of(start), strains_of(end)
        N, M = viscous_between(Gamma0, K0, Gamma1, K1, X, g)
        w = lam[0] * weight_of(X, g)
        add_spread(mean_of(start, end), times(w, N), times(w, M), p, g, L, out)


@dual_function
def actuation_dual(y0, y1, X, lam, out):
    """Write the dual of the actuating stress to `out` (p + 1, 4, 3)."""
    p, L = order_of(X), X[LENGTH]
    clear(out, p + 1)
    for g in range(p):
        start, end = at_point(y0, p, g, L), at_point(y1, p, g, L)
        N, M = actuating_stress(X, lam, g)
        add_spread(mean_of(start, end), N, M, p, g, L, out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the strain rates to `out` (p + 1, 4, 3).

    y: poses; z: their rates.
    """
    p, L = order_of(X), X[LENGTH]
    clear(out, p + 1)
    for g in range(p):
        at = at_point(y, p, g, L)
        Gamma, K = strain_rates(at, at_point(z, p, g, L))
        N, M = viscous_of_rates(Gamma, K, X, g)
        w = lam[0] * weight_of(X, g)
        add_spread(at, times(w, N), times(w, M), p, g, L, out)


@value_function
def strains(y, X, out):
    """Write Gamma, K of all points, less the stress-free strains, to `out` (6 p,)."""
    p, L = order_of(X), X[LENGTH]
    for g in range(p):
        Gamma, K = strains_of(at_point(y, p, g, L))
        Gamma, K = unloaded(Gamma, K, X, g)
        for i in range(3):
            out[6 * g + i], out[6 * g + 3 + i] = Gamma[i], K[i]


ORDERS = range(1, 5)
_NAMES = {p: f"Lagrange rod element of order {p}" for p in ORDERS}
ENERGIES = {p: Kind(_NAMES[p], p + 1, 0, value, dual, no_bend) for p in ORDERS}
DISSIPATIONS = {p: dissipation(f"viscous {_NAMES[p]}", p + 1, step_dual, rate_dual) for p in ORDERS}
STRAINS = {p: Kind(f"strains, {_NAMES[p]}", p + 1, 6 * p, strains, no_bend, no_bend) for p in ORDERS}
ACTUATIONS = {p: actuation(_NAMES[p], p, actuation_dual) for p in ORDERS}
