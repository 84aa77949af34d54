"""SE(3) rod element as an interaction: energy and discrete derivative in directors, for every chart.

The formulas are those of `se3_element` with A, B formed from the directors a_i, b_i of the two frames, which need not be unit
vectors: invariants C_ij = a_i . b_j and y_i = (a_i + b_i) . e/(2 L), e = r_b - r_a, hence

    k = 2 hat^-1(C^T - C)/(1 + tr C)                                      (1)
    dual on e: sum_i cy_i (abar_i + bbar_i)/(2 L);   on a_i and on b_i: cy_i ebar/(2 L)            (2)
    dual on a_i: sum_j (2/Tbar) Z_ij bbar_j;   on b_j: sum_i (2/Tbar) Z_ij abar_i                  (3)

with cy, ck of `se3_element` (5), (6), Z = hat(ck) - (kbar . ck)/2 I and Tbar = 1 + avg tr C. The viscous stress is computed
from the change of the same strains over the step, or from their rates.
"""

import numpy as np

from discretization.space.elements import Elements
from discretization.space.strain_functions import strain_function_differences
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import (
    Group,
    Kind,
    dissipation,
    dual_function,
    frame,
    group,
    no_bend,
    store,
    value_function,
    vector,
)
from rigid.interactions.pressure import nothing
from rigid.linear_algebra import average, dot, minus, plus, times
from rigid.system import Floats

ACTUATIONS = 7  # number of its loop in `em`, after those of loads (`rigid.interactions.loads`)
# offsets among the numbers: L, C (or the viscosity) row by row, stress-free strains
LENGTH, STIFFNESS, STRAIN0 = 0, 1, 37


@inline_kernel
def complex_differences(u0, u1):
    """Return f0, f1, f[u0,u1], p0, p1, p[u0,u1], with their first derivatives along imaginary parts."""
    x0, x1, d0, d1 = u0.real, u1.real, u0.imag, u1.imag
    f0, f1, df1, F, F1, p0, p1, dp1, P, P1 = strain_function_differences(x0, x1)
    if d0 == 0.0:
        return f0 + 0j, f1 + 1j * d1 * df1, F + 1j * d1 * F1, p0 + 0j, p1 + 1j * d1 * dp1, P + 1j * d1 * P1
    _, _, df0, _, F0, _, _, dp0, _, P0 = strain_function_differences(x1, x0)
    return (
        f0 + 1j * d0 * df0,
        f1 + 1j * d1 * df1,
        F + 1j * (d0 * F0 + d1 * F1),
        p0 + 1j * d0 * dp0,
        p1 + 1j * d1 * dp1,
        P + 1j * (d0 * P0 + d1 * P1),
    )


@inline_kernel
def invariants(a, b, e, length):
    """Return y, k, 1 + tr C of (1); e = r_b - r_a."""
    T = 1.0 + dot(a[1], b[1]) + dot(a[2], b[2]) + dot(a[3], b[3])
    s = 2.0 / T
    k = (
        s * (dot(a[3], b[2]) - dot(a[2], b[3])),
        s * (dot(a[1], b[3]) - dot(a[3], b[1])),
        s * (dot(a[2], b[1]) - dot(a[1], b[2])),
    )
    h = 0.5 / length
    y = (
        h * (dot(a[1], e) + dot(b[1], e)),
        h * (dot(a[2], e) + dot(b[2], e)),
        h * (dot(a[3], e) + dot(b[3], e)),
    )
    return y, k, T


@inline_kernel
def strain_of(y, k, f, p, length):
    """Return Gamma, K from y, k and the strain functions f, p."""
    u, s = 0.25 * dot(k, k), dot(k, y)
    Gamma = minus(times((1.0 + u) * f, y), times(p * s, k))
    return (Gamma[0] - 1.0, Gamma[1], Gamma[2]), times(f / length, k)


@inline_kernel
def unloaded(Gamma, K, X):
    """Return Gamma, K less the stress-free strains."""
    return minus(Gamma, vector(X, STRAIN0)), minus(K, vector(X, STRAIN0 + 3))


@inline_kernel
def stress_of(Gamma, K, X):
    """Return N, M = C (Gamma, K)."""
    return row_times(X, 0, Gamma, K), row_times(X, 3, Gamma, K)


@inline_kernel
def row_times(X, first, Gamma, K):
    """Return rows first .. first + 2 of C (Gamma, K)."""
    i = STIFFNESS + 6 * first
    return (
        dot(vector(X, i), Gamma) + dot(vector(X, i + 3), K),
        dot(vector(X, i + 6), Gamma) + dot(vector(X, i + 9), K),
        dot(vector(X, i + 12), Gamma) + dot(vector(X, i + 15), K),
    )


@inline_kernel
def row(x, y, z, a, b, c):
    """Return x a + y b + z c."""
    return plus(times(x, a), plus(times(y, b), times(z, c)))


@value_function
def value(y, X, out):
    """Write the stored energy L/2 (Gamma, K) . C (Gamma, K) to `out[0]`, J."""
    a, b, L = frame(y, 0), frame(y, 1), X[LENGTH]
    Y, k, _ = invariants(a, b, minus(b[0], a[0]), L)
    u = 0.25 * dot(k, k)
    f, _, _, p, _, _ = complex_differences(u, u)
    Gamma, K = strain_of(Y, k, f, p, L)
    Gamma, K = unloaded(Gamma, K, X)
    N, M = stress_of(Gamma, K, X)
    out[0] = 0.5 * L * (dot(Gamma, N) + dot(K, M))


@inline_kernel
def ends_of(y0, y1, L):
    """Return y, k, T, u at both ends of the step, and f, p there with their divided differences."""
    a0, b0, a1, b1 = frame(y0, 0), frame(y0, 1), frame(y1, 0), frame(y1, 1)
    Y0, k0, T0 = invariants(a0, b0, minus(b0[0], a0[0]), L)
    Y1, k1, T1 = invariants(a1, b1, minus(b1[0], a1[0]), L)
    u0, u1 = 0.25 * dot(k0, k0), 0.25 * dot(k1, k1)
    return (Y0, k0, T0, u0), (Y1, k1, T1, u1), complex_differences(u0, u1)


@inline_kernel
def strains_of(start, end, functions, L):
    """Return Gamma, K at both ends of the step."""
    f0, f1, _, p0, p1, _ = functions
    Gamma0, K0 = strain_of(start[0], start[1], f0, p0, L)
    Gamma1, K1 = strain_of(end[0], end[1], f1, p1, L)
    return Gamma0, K0, Gamma1, K1


@inline_kernel
def spread(y0, y1, start, end, functions, L, N, M, out):
    """Write the dual (2), (3), with the work L (N . dGamma + M . dK), to `out` (2, 4, 3)."""
    a0, b0, a1, b1 = frame(y0, 0), frame(y0, 1), frame(y1, 0), frame(y1, 1)
    e0, e1 = minus(b0[0], a0[0]), minus(b1[0], a1[0])
    (Y0, k0, T0, u0), (Y1, k1, T1, u1) = start, end
    f0, f1, F, p0, p1, P = functions
    u, f, p = 0.5 * (u0 + u1), 0.5 * (f0 + f1), 0.5 * (p0 + p1)
    g = 0.5 * ((1.0 + u0) * f0 + (1.0 + u1) * f1)
    G = (1.0 + u) * F + f
    s0, s1 = dot(k0, Y0), dot(k1, Y1)
    y, k, s = average(Y0, Y1), average(k0, k1), 0.5 * (s0 + s1)
    sk = average(times(s0, k0), times(s1, k1))
    Nk, Mk = dot(N, k), dot(M, k)
    alpha = G * dot(N, y) - P * dot(N, sk)
    cy = times(L, minus(times(g, N), times(p * Nk, k)))
    ck = plus(times(f, M), times(0.5 * F * Mk + 0.5 * L * alpha, k))
    ck = minus(ck, times(L * p, plus(times(s, N), times(Nk, y))))
    a1, a2, a3 = average(a0[1], a1[1]), average(a0[2], a1[2]), average(a0[3], a1[3])
    b1, b2, b3 = average(b0[1], b1[1]), average(b0[2], b1[2]), average(b0[3], b1[3])
    h, e = 0.5 / L, average(e0, e1)
    n = plus(
        times(h * cy[0], plus(a1, b1)), plus(times(h * cy[1], plus(a2, b2)), times(h * cy[2], plus(a3, b3)))
    )
    z = times(4.0 / (T0 + T1), ck)
    d = -0.5 * dot(k, z)
    store(
        (
            times(-1.0, n),
            plus(times(h * cy[0], e), row(d, -z[2], z[1], b1, b2, b3)),
            plus(times(h * cy[1], e), row(z[2], d, -z[0], b1, b2, b3)),
            plus(times(h * cy[2], e), row(-z[1], z[0], d, b1, b2, b3)),
        ),
        out,
        0,
    )
    store(
        (
            n,
            plus(times(h * cy[0], e), row(d, z[2], -z[1], a1, a2, a3)),
            plus(times(h * cy[1], e), row(-z[2], d, z[0], a1, a2, a3)),
            plus(times(h * cy[2], e), row(z[1], -z[0], d, a1, a2, a3)),
        ),
        out,
        1,
    )


@dual_function
def dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the discrete gradient of the energy to `out` (2, 4, 3): the dual of the stress of the mean strains."""
    L = X[LENGTH]
    start, end, functions = ends_of(y0, y1, L)
    Gamma0, K0, Gamma1, K1 = strains_of(start, end, functions, L)
    Gamma, K = unloaded(average(Gamma0, Gamma1), average(K0, K1), X)
    N, M = stress_of(Gamma, K, X)
    spread(y0, y1, start, end, functions, L, times(lam[0], N), times(lam[0], M), out)


SE3_ELEMENT = Kind("SE(3) rod element", 2, 0, value, dual, no_bend)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the change of the strains to `out` (2, 4, 3).

    X: L, viscosity row by row.
    """
    L = X[LENGTH]
    start, end, functions = ends_of(y0, y1, L)
    Gamma0, K0, Gamma1, K1 = strains_of(start, end, functions, L)
    N, M = stress_of(minus(Gamma1, Gamma0), minus(K1, K0), X)
    spread(y0, y1, start, end, functions, L, times(lam[0], N), times(lam[0], M), out)


@dual_function
def actuation_dual(y0, y1, X, lam, out):
    """Write the dual of minus the stress that actuates the element to `out` (2, 4, 3).

    X: order 1, L, the stress (6) where the number from outside, which follows, is 1; as `rod_gauss_points.actuating_stress`.
    """
    L, w = X[1], -lam[0] * X[8]
    start, end, functions = ends_of(y0, y1, L)
    spread(y0, y1, start, end, functions, L, times(w, vector(X, 2)), times(w, vector(X, 5)), out)


SE3_ACTUATION = Kind(
    "actuation of an SE(3) rod element",
    *(2, 0, nothing, actuation_dual, no_bend),
    works=True,
    signal=8,
    loop=ACTUATIONS,
    potential=True,
)


@inline_kernel
def strain_rates(y, z, at, functions, L):
    """Return the rates of Gamma and K if the poses y have the rates z.

    The product rule is applied to (1) and to Gamma = g y - p (k . y) k - e1.
    """
    a, b, da, db = frame(y, 0), frame(y, 1), frame(z, 0), frame(z, 1)
    e, de = minus(b[0], a[0]), minus(db[0], da[0])
    Y, k, T, u = at
    h = 0.5 / L
    dY = (
        h * (dot(plus(da[1], db[1]), e) + dot(plus(a[1], b[1]), de)),
        h * (dot(plus(da[2], db[2]), e) + dot(plus(a[2], b[2]), de)),
        h * (dot(plus(da[3], db[3]), e) + dot(plus(a[3], b[3]), de)),
    )
    dT = dot(da[1], b[1]) + dot(da[2], b[2]) + dot(da[3], b[3])
    dT += dot(a[1], db[1]) + dot(a[2], db[2]) + dot(a[3], db[3])
    dw = (
        dot(da[3], b[2]) - dot(da[2], b[3]) + dot(a[3], db[2]) - dot(a[2], db[3]),
        dot(da[1], b[3]) - dot(da[3], b[1]) + dot(a[1], db[3]) - dot(a[3], db[1]),
        dot(da[2], b[1]) - dot(da[1], b[2]) + dot(a[2], db[1]) - dot(a[1], db[2]),
    )
    dk = minus(times(2.0 / T, dw), times(dT / T, k))
    f, _, df, p, _, dp = functions
    s, ds, du = dot(k, Y), dot(dk, Y) + dot(k, dY), 0.5 * dot(k, dk)
    dGamma = plus(times((f + (1.0 + u) * df) * du, Y), times((1.0 + u) * f, dY))
    dGamma = minus(dGamma, plus(times(dp * du * s + p * ds, k), times(p * s, dk)))
    return dGamma, times(1.0 / L, plus(times(df * du, k), times(f, dk)))


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the strain rates to `out` (2, 4, 3).

    y: poses; z: their rates.
    """
    L = X[LENGTH]
    at, _, functions = ends_of(y, y, L)
    dGamma, dK = strain_rates(y, z, at, functions, L)
    N, M = stress_of(dGamma, dK, X)
    spread(y, y, at, at, functions, L, times(lam[0], N), times(lam[0], M), out)


VISCOUS_SE3_ELEMENT = dissipation("viscous SE(3) rod element", 2, step_dual, rate_dual)


def energies_of(elements: Elements) -> Group:
    """Return the group of the stored energies of the elements."""
    return group(
        SE3_ELEMENT, elements.frames, _numbers(elements.length, elements.stiffness, elements.strain0)
    )


def dissipations_of(elements: Elements) -> Group:
    """Return the group of the dissipations of the elements whose material is viscous."""
    use = np.any(elements.damping, axis=(1, 2))
    numbers = _numbers(elements.length[use], elements.damping[use])
    return group(VISCOUS_SE3_ELEMENT, elements.frames[use], numbers)


def _numbers(length: Floats, matrices: Floats, *columns: Floats) -> Floats:
    return np.column_stack([length, matrices.reshape(-1, 36), *columns])
