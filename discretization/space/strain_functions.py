"""Scalar functions of the SE(3) strains and their divided differences, without cancellation.

With u = |k|^2/4 = tan^2(theta/2), the three functions of design are

    f(u) = atan(sqrt u)/sqrt u                                                        (1)
    g(u) = (1 + u) f(u) = theta/sin(theta)                                            (2)
    p(u) = (g(u) - 1)/(4 u)                                                           (3)

smooth at u = 0. A discrete derivative needs F[u0, u1] = (F(u1) - F(u0))/(u1 - u0), its tangent F[u0, u1,
u1]. By the product rule of averages g[u0, u1] = (1 + ubar) f[u0, u1] + fbar, so only f and p are evaluated:

- u0, u1 <= 0.1: power series (radius 1), the divided differences by Horner's rule on the quotients;
- else, u0 and u1 apart: the quotient itself (at most one digit is lost);
- else: Taylor series of f about the middle, coefficients from 2 (n+1) u a_{n+1} + (2n+1) a_n =
(-1)^n/(1+u)^{n+1}.
"""

import math

import numpy as np

from rigid.compilation.decorators import kernel, small_kernel

_SERIES_LIMIT = 0.1
_TERMS = 18
_N = np.arange(_TERMS + 1)
F_SERIES = (-1.0) ** _N / (2 * _N + 1)
# g = 1 + sum_{n>=1} (-1)^{n+1} 2/((2n+1)(2n-1)) u^n, and p its quotient by 4 u
P_SERIES = (-1.0) ** _N / (2 * (2 * _N + 3) * (2 * _N + 1))


@small_kernel
def _terms(u):
    """Number of series terms after which u^n is below 1e-17."""
    if u < 1e-17:
        return 2
    return min(_TERMS, 2 + int(-39.2 / math.log(u)))


@small_kernel
def _polynomial(a, n, u):
    """Value and derivative of sum_k a_k u^k, k <= n."""
    value, slope = a[n], 0.0
    for k in range(n - 1, -1, -1):
        slope = slope * u + value
        value = value * u + a[k]
    return value, slope


@small_kernel
def polynomial_differences(a, n, u0, u1):
    """F(u0), F(u1), F'(u1), F[u0,u1], F[u0,u1,u1] of F = sum_k a_k u^k, k <= n."""
    f0, f1, slope, first, second = a[n], a[n], 0.0, 0.0, 0.0
    for k in range(n - 1, -1, -1):
        second = second * u1 + first
        first = first * u1 + f0
        slope = slope * u1 + f1
        f0 = f0 * u0 + a[k]
        f1 = f1 * u1 + a[k]
    return f0, f1, slope, first, second


@kernel
def strain_functions(u):
    """f, f', p, p' at u >= 0."""
    if u <= _SERIES_LIMIT:
        n = _terms(u)
        f, df = _polynomial(F_SERIES, n, u)
        p, dp = _polynomial(P_SERIES, n, u)
        return f, df, p, dp
    root = math.sqrt(u)
    f = math.atan(root) / root
    df = 0.5 * (1.0 / (1.0 + u) - f) / u
    p = 0.25 * ((1.0 + u) * f - 1.0) / u
    dp = (0.25 * (f + (1.0 + u) * df) - p) / u
    return f, df, p, dp


@kernel
def _middle_taylor(u0, u1):
    """f[u0,u1] and f[u0,u1,u1] from the Taylor series of f about (u0 + u1)/2."""
    u, t = 0.5 * (u0 + u1), 0.5 * (u1 - u0)
    root = math.sqrt(u)
    a = math.atan(root) / root
    power = 1.0 / (1.0 + u)
    ratio = -power
    first, second = 0.0, 0.0
    t_before, t_now = 0.0, 1.0  # t^{n-2}, t^{n-1}
    for n in range(1, 16):
        a = (power - (2 * n - 1) * a) / (2 * n * u)
        power *= ratio
        if n % 2 == 1:
            first += a * t_now
            second += 0.5 * (n - 1) * a * t_before
        else:
            second += 0.5 * n * a * t_before
        t_before, t_now = t_now, t_now * t
    return first, second


@kernel
def strain_function_differences(u0, u1):
    """f0, f1, f1', f[u0,u1], f[u0,u1,u1] and p0, p1, p1', p[u0,u1], p[u0,u1,u1] for u0, u1 >= 0."""
    if u0 <= _SERIES_LIMIT and u1 <= _SERIES_LIMIT:
        n = _terms(max(u0, u1))
        f0, f1, df1, F, F1 = polynomial_differences(F_SERIES, n, u0, u1)
        p0, p1, dp1, P, P1 = polynomial_differences(P_SERIES, n, u0, u1)
        return f0, f1, df1, F, F1, p0, p1, dp1, P, P1
    f0, _, p0, _ = strain_functions(u0)
    f1, df1, p1, dp1 = strain_functions(u1)
    du = u1 - u0
    if abs(du) > 0.1 * max(u0, u1):
        F = (f1 - f0) / du
        P = (p1 - p0) / du
        return f0, f1, df1, F, (df1 - F) / du, p0, p1, dp1, P, (dp1 - P) / du
    F, F1 = _middle_taylor(u0, u1)
    u, f, p = 0.5 * (u0 + u1), 0.5 * (f0 + f1), 0.5 * (p0 + p1)
    # 4 (u p) = g - 1 and the product rule of averages: 4 (ubar P + pbar) = G
    P = (0.25 * ((1.0 + u) * F + f) - p) / u
    P1 = (0.25 * (0.5 * F + (1.0 + u) * F1 + 0.5 * df1) - 0.5 * dp1 - 0.5 * P) / u
    return f0, f1, df1, F, F1, p0, p1, dp1, P, P1
