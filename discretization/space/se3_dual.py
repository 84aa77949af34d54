"""The SE(3) rod element as an interaction: its energy and discrete derivative in directors, for every chart.

The formulas are those of `se3_element` with A, B made of the directors a_i, b_i of the two frames, which need not be unit
vectors: invariants C_ij = a_i . b_j and y_i = (a_i + b_i) . e/(2 L), e = r_b - r_a, hence

    k = 2 hat^-1(C^T - C)/(1 + tr C)                                      (1)
    dual on e: sum_i cy_i (abar_i + bbar_i)/(2 L);   on a_i and on b_i: cy_i ebar/(2 L)            (2)
    dual on a_i: sum_j (2/Tbar) Z_ij bbar_j;   on b_j: sum_i (2/Tbar) Z_ij abar_i                  (3)

with cy, ck of `se3_element` (5), (6), Z = hat(ck) - (kbar . ck)/2 I and Tbar = 1 + avg tr C.
"""

from discretization.space.strain_functions import strain_function_differences
from rigid.compilation import small_kernel
from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, store, value_function, vector
from rigid.linear_algebra import average, dot, minus, plus, times

LENGTH, STIFFNESS, STRAIN0 = 0, 1, 37  # places among the numbers: L, C row by row, stress-free strains


@small_kernel
def complex_differences(u0, u1):
    """f0, f1, f[u0,u1], p0, p1, p[u0,u1] with their first derivatives along imaginary parts."""
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


@small_kernel
def invariants(a, b, e, length):
    """(1): y, k, 1 + tr C."""
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


@small_kernel
def strain_of(y, k, f, p, length, X):
    """Gamma, K minus those without stress."""
    u, s = 0.25 * dot(k, k), dot(k, y)
    Gamma = minus(times((1.0 + u) * f, y), times(p * s, k))
    K = times(f / length, k)
    return (
        (Gamma[0] - 1.0 - X[STRAIN0], Gamma[1] - X[STRAIN0 + 1], Gamma[2] - X[STRAIN0 + 2]),
        (K[0] - X[STRAIN0 + 3], K[1] - X[STRAIN0 + 4], K[2] - X[STRAIN0 + 5]),
    )


@small_kernel
def stress_of(Gamma, K, X):
    """N, M."""
    return row_times(X, 0, Gamma, K), row_times(X, 3, Gamma, K)


@small_kernel
def row_times(X, first, Gamma, K):
    """Rows first .. first + 2 of C (Gamma, K)."""
    i = STIFFNESS + 6 * first
    return (
        dot(vector(X, i), Gamma) + dot(vector(X, i + 3), K),
        dot(vector(X, i + 6), Gamma) + dot(vector(X, i + 9), K),
        dot(vector(X, i + 12), Gamma) + dot(vector(X, i + 15), K),
    )


@small_kernel
def row(x, y, z, a, b, c):
    """x a + y b + z c."""
    return plus(times(x, a), plus(times(y, b), times(z, c)))


@value_function
def value(y, X, out):
    """L/2 (Gamma, K) . C (Gamma, K)."""
    a, b, L = frame(y, 0), frame(y, 1), X[LENGTH]
    Y, k, _ = invariants(a, b, minus(b[0], a[0]), L)
    u = 0.25 * dot(k, k)
    f, _, _, p, _, _ = complex_differences(u, u)
    Gamma, K = strain_of(Y, k, f, p, L, X)
    N, M = stress_of(Gamma, K, X)
    out[0] = 0.5 * L * (dot(Gamma, N) + dot(K, M))


@dual_function
def dual(y0, y1, X, lam, out):
    """(2), (3)."""
    a0, b0, a1, b1 = frame(y0, 0), frame(y0, 1), frame(y1, 0), frame(y1, 1)
    L = X[LENGTH]
    e0, e1 = minus(b0[0], a0[0]), minus(b1[0], a1[0])
    Y0, k0, T0 = invariants(a0, b0, e0, L)
    Y1, k1, T1 = invariants(a1, b1, e1, L)
    u0, u1 = 0.25 * dot(k0, k0), 0.25 * dot(k1, k1)
    f0, f1, F, p0, p1, P = complex_differences(u0, u1)
    Gamma0, K0 = strain_of(Y0, k0, f0, p0, L, X)
    Gamma1, K1 = strain_of(Y1, k1, f1, p1, L, X)
    N, M = stress_of(average(Gamma0, Gamma1), average(K0, K1), X)
    N, M = times(lam[0], N), times(lam[0], M)
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


SE3_ELEMENT = Kind("SE(3) rod element", 2, 0, value, dual, no_bend)
