"""Scalar functions of the SE(3) strains and their divided differences, without cancellation.

With u = |k|^2/4 = tan^2(theta/2), the three functions are

    f(u) = atan(sqrt u)/sqrt u                                                        (1)
    g(u) = (1 + u) f(u) = theta/sin(theta)                                            (2)
    p(u) = (g(u) - 1)/(4 u)                                                           (3)

smooth at u = 0. A discrete derivative needs F[u0, u1] = (F(u1) - F(u0))/(u1 - u0), its tangent F[u0, u1, u1]. By the product
rule of averages g[u0, u1] = (1 + ubar) f[u0, u1] + fbar, so only f and p are evaluated:

- u0, u1 <= 0.1: power series (radius 1), the divided differences by Horner's rule on the quotients;
- else from the functions of half the angle, w = tan^2(theta/4), which is at most 0.04 after three halvings. With
  c = sqrt(1 + u), q = 1/(1 + c):

    w = u q^2,   f(u) = 2 q f(w),   p(u) = q/4 + c q^2 p(w)                           (4)

  by the product and chain rules of divided differences. No number is subtracted from one of similar size.

Arguments are numbers or lanes (`rigid.lanes`). The choice between both is made for all lanes together, by the largest value.
"""

import math

import numpy as np

from rigid.compilation.decorators import always_inline_kernel, inline_kernel
from rigid.lanes import largest, root

_SERIES_LIMIT = 0.1
_TERMS = 18
_N = np.arange(_TERMS + 1)
F_SERIES = (-1.0) ** _N / (2 * _N + 1)
# g = 1 + sum_{n>=1} (-1)^{n+1} 2/((2n+1)(2n-1)) u^n, and p its quotient by 4 u
P_SERIES = (-1.0) ** _N / (2 * (2 * _N + 3) * (2 * _N + 1))


@inline_kernel
def _terms(u):
    """Return the number of series terms after which u^n is below 1e-17."""
    if u < 1e-17:
        return 2
    return min(_TERMS, 2 + int(-39.2 / math.log(u)))


@inline_kernel
def polynomial_differences(a, n, u0, u1):
    """Return F(u0), F(u1), F'(u1), F[u0,u1], F[u0,u1,u1] of F = sum_k a_k u^k, k <= n."""
    none = 0.0 * u0
    f0, f1, slope, first, second = a[n] + none, a[n] + none, none, none, none
    for k in range(n - 1, -1, -1):
        second = second * u1 + first
        first = first * u1 + f0
        slope = slope * u1 + f1
        f0 = f0 * u0 + a[k]
        f1 = f1 * u1 + a[k]
    return f0, f1, slope, first, second


# Five divided differences represent a function x of u below: x(u0), x(u1), x'(u1), x[u0, u1], x[u0, u1, u1].


@inline_kernel
def _times(a, b):
    """Return the divided differences of the product a b."""
    return (
        a[0] * b[0],
        a[1] * b[1],
        a[2] * b[1] + a[1] * b[2],
        a[0] * b[3] + a[3] * b[1],
        a[0] * b[4] + a[3] * b[2] + a[4] * b[1],
    )


@inline_kernel
def _of(f, w):
    """Return the divided differences of f(w(u)) from those of f in w and of w in u."""
    return f[0], f[1], f[2] * w[2], f[3] * w[3], f[4] * w[2] * w[3] + f[3] * w[4]


@inline_kernel
def _half(u0, u1):
    """Return the divided differences of w, q and c of (4)."""
    c0, c1 = root(1.0 + u0), root(1.0 + u1)
    slope, first = 0.5 / c1, 1.0 / (c0 + c1)
    c = c0, c1, slope, first, -slope * first * first
    q0, q1 = 1.0 / (1.0 + c0), 1.0 / (1.0 + c1)
    product = q0 * q1
    q = q0, q1, -slope * q1 * q1, -first * product, (first * slope * q1 - c[4]) * product
    # w = 1 - 2 q; w itself is computed without that difference
    w = u0 * q0 * q0, u1 * q1 * q1, -2.0 * q[2], -2.0 * q[3], -2.0 * q[4]
    return w, q, c


@inline_kernel
def _doubled(f, p, half):
    """Return the divided differences of f and p in u from those in w, by (4)."""
    w, q, c = half
    product = _times(c, _times(q, _times(q, _of(p, w))))
    p = (
        0.25 * q[0] + product[0],
        0.25 * q[1] + product[1],
        0.25 * q[2] + product[2],
        0.25 * q[3] + product[3],
        0.25 * q[4] + product[4],
    )
    return _times((2.0 * q[0], 2.0 * q[1], 2.0 * q[2], 2.0 * q[3], 2.0 * q[4]), _of(f, w)), p


@inline_kernel
def _by_halves(u0, u1):
    """Return the divided differences of f and p, computed by three halvings of the angle."""
    once = _half(u0, u1)
    twice = _half(once[0][0], once[0][1])
    thrice = _half(twice[0][0], twice[0][1])
    w0, w1 = thrice[0][0], thrice[0][1]
    f = polynomial_differences(F_SERIES, _TERMS, w0, w1)
    p = polynomial_differences(P_SERIES, _TERMS, w0, w1)
    f, p = _doubled(f, p, thrice)
    f, p = _doubled(f, p, twice)
    return _doubled(f, p, once)


@always_inline_kernel
def strain_function_differences(u0, u1):
    """Return f0, f1, f1', f[u0,u1], f[u0,u1,u1] and p0, p1, p1', p[u0,u1], p[u0,u1,u1] for u0, u1 >= 0."""
    largest_u = max(largest(u0), largest(u1))
    if largest_u <= _SERIES_LIMIT:
        n = _terms(largest_u)
        f = polynomial_differences(F_SERIES, n, u0, u1)
        p = polynomial_differences(P_SERIES, n, u0, u1)
    else:
        f, p = _by_halves(u0, u1)
    return f[0], f[1], f[2], f[3], f[4], p[0], p[1], p[2], p[3], p[4]


@inline_kernel
def strain_functions(u):
    """Return f, f', p, p' at u >= 0."""
    f, _, slope_f, _, _, p, _, slope_p, _, _ = strain_function_differences(u, u)
    return f, slope_f, p, slope_p
