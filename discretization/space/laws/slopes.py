"""Divided differences f[a, b] = (f(b) - f(a))/(b - a) of elementary functions, f'(a) where both are the same.

None of them subtracts nearly equal numbers: with d = b - a, m = (a + b)/2,

    exp: e^m S(d/2),   sinh: cosh(m) S(d/2),   cosh: sinh(m) S(d/2),   tanh: S(d)/(cosh a cosh b),   S(x) = sinh(x)/x        (1)
    sin: cos(m) s(d/2),   cos: -sin(m) s(d/2),   tan: s(d)/(cos a cos b),                            s(x) = sin(x)/x         (2)
    log: A(z)/m,   z = d/(2 m),   A(x) = artanh(x)/x;     atan: T(z)/(1 + a b),   z = d/(1 + a b),   T(x) = atan(x)/x        (3)
    x^n: sum of a^k b^(n - 1 - k);     x^(n/2): that of the roots over their sum;     x^c: (a b)^(c/2) c S(c l/2) log[a, b]   (4)

with l = d log[a, b]. All are symmetric in a and b, and accept complex steps.
"""

import math

from rigid.compilation import real_functions as real
from rigid.compilation.decorators import inline_kernel


@inline_kernel
def _series(square, sign):
    """Return 1 + sign square/6 + square^2/120 ...: sinh(x)/x (sign 1) or sin(x)/x (sign -1) of square = x^2."""
    total, term, k = 1.0 + 0j, 1.0 + 0j, 2.0
    for _ in range(8):
        term = term * (sign * square / (k * (k + 1.0)))
        total += term
        k += 2.0
    return total


@inline_kernel
def _sinhc(x):
    """Return sinh(x)/x."""
    return _series(x * x, 1.0) if abs(x.real) < 0.5 else real.sinh(x) / x


@inline_kernel
def _sinc(x):
    """Return sin(x)/x."""
    return _series(x * x, -1.0) if abs(x.real) < 0.5 else real.sin(x) / x


@inline_kernel
def _odd_series(square):
    """Return 1 + square/3 + square^2/5 + ...: artanh(x)/x with x^2, atan(x)/x with -x^2."""
    total = 0j
    for k in range(12, -1, -1):
        total = total * square + 1.0 / (2.0 * k + 1.0)
    return total


@inline_kernel
def exp(a, b):
    """Return the divided difference of exp by (1)."""
    return real.exp(0.5 * (a + b)) * _sinhc(0.5 * (b - a))


@inline_kernel
def sinh(a, b):
    """Return the divided difference of sinh by (1)."""
    return real.cosh(0.5 * (a + b)) * _sinhc(0.5 * (b - a))


@inline_kernel
def cosh(a, b):
    """Return the divided difference of cosh by (1)."""
    return real.sinh(0.5 * (a + b)) * _sinhc(0.5 * (b - a))


@inline_kernel
def tanh(a, b):
    """Return the divided difference of tanh by (1)."""
    return _sinhc(b - a) / real.cosh(a) / real.cosh(b)


@inline_kernel
def sin(a, b):
    """Return the divided difference of sin by (2)."""
    return real.cos(0.5 * (a + b)) * _sinc(0.5 * (b - a))


@inline_kernel
def cos(a, b):
    """Return the divided difference of cos by (2)."""
    return -real.sin(0.5 * (a + b)) * _sinc(0.5 * (b - a))


@inline_kernel
def tan(a, b):
    """Return the divided difference of tan by (2)."""
    return _sinc(b - a) / (real.cos(a) * real.cos(b))


@inline_kernel
def log(a, b):
    """Return the divided difference of log by (3) for a, b > 0, else NaN."""
    if not (a.real > 0.0 and b.real > 0.0):
        return complex(math.nan, math.nan)
    z = (b - a) / (a + b)
    if abs(z.real) < 0.2:
        return 2.0 * _odd_series(z * z) / (a + b)
    return (real.log(b) - real.log(a)) / (b - a)


@inline_kernel
def atan(a, b):
    """Return the divided difference of atan by (3)."""
    w = 1.0 + a * b
    if w.real > 0.0:
        z = (b - a) / w
        return (_odd_series(-z * z) if abs(z.real) < 0.2 else real.atan(z) / z) / w
    return (real.atan(b) - real.atan(a)) / (b - a)


@inline_kernel
def whole_power(a, b, n):
    """Return the divided difference of x^n by (4), n > 0."""
    total, power = complex(1.0, 0.0), complex(1.0, 0.0)
    for _ in range(n - 1):
        power = power * b
        total = total * a + power
    return total


@inline_kernel
def half_power(a, b, n):
    """Return the divided difference of x^(n/2) by (4), n > 0 odd."""
    p, q = real.sqrt(a), real.sqrt(b)
    s = p + q
    if s.real == 0.0:
        return complex(math.nan, math.nan) if n == 1 else complex(0.0, 0.0)
    return whole_power(p, q, n) / s


@inline_kernel
def sqrt(a, b):
    """Return the divided difference of the square root by (4)."""
    return half_power(a, b, 1)


@inline_kernel
def power(a, b, c):
    """Return the divided difference of x^c by (4) for a, b > 0."""
    slope = log(a, b)
    middle = real.power(a, complex(0.5 * c)) * real.power(b, complex(0.5 * c))
    return middle * c * _sinhc(0.5 * c * slope * (b - a)) * slope
