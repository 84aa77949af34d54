"""Evaluate real functions at x + i y, y a complex step: f(x) + i y f'(x), and nan if f(x) is not real.

The functions of `cmath` continue outside the real domain along their branch cuts, where the real part alone is a plausible
number, and some lose imaginary parts of 1e-60. Here y^2 is taken to be below round-off.
"""

import math
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from rigid.compilation.decorators import inline_kernel


@intrinsic
def _made_of(typing_context, value, X):
    """Generate `made_of`: the value, or its real part if X are real."""
    if isinstance(getattr(X, "dtype", X), types.Complex):
        return types.complex128(types.complex128, X), lambda context, builder, _, arguments: arguments[0]

    def real_part(context, builder, _, arguments):
        return context.make_complex(builder, types.complex128, value=arguments[0]).real

    return types.float64(types.complex128, X), real_part


def _made_of_in_python(value, X):
    """Return the value, or its real part if X are real, in place of `_made_of` if the compiler is off."""
    return value if np.iscomplexobj(X) else value.real


# (value, X): complex number computed from the number or numbers X alone, as a number of their type: its real part if X are real
made_of: Any = _made_of_in_python if getattr(numba.config, "DISABLE_JIT", False) else _made_of


@inline_kernel
def along(value, slope, y):
    """Return value + i y slope: nan in both parts if the value is nan, and no 0 inf if nothing is differentiated (y = 0)."""
    if math.isnan(value):
        return complex(math.nan, math.nan)
    return complex(value, 0.0 if y == 0.0 else y * slope)


@inline_kernel
def positive(z):
    """Return z if its real part is positive, else nan, so that 1/z as the derivative of log z has the domain of log z."""
    if z.real > 0.0:
        return complex(z.real, z.imag)
    return complex(math.nan, math.nan)


@inline_kernel
def reciprocal(z):
    """Return 1/z; nan at the pole."""
    x = z.real
    if x == 0.0:
        return complex(math.nan, math.nan)
    return along(1.0 / x, -1.0 / x / x, z.imag)


@inline_kernel
def sqrt(z):
    """Return the square root of z >= 0; nan if z < 0."""
    root = math.sqrt(z.real) if z.real >= 0.0 else math.nan
    return along(root, 0.5 / root, z.imag)


@inline_kernel
def log(z):
    """Return the natural logarithm of z > 0; nan otherwise."""
    x = z.real
    return along(math.log(x) if x > 0.0 else math.nan, 1.0 / x, z.imag)


@inline_kernel
def power(z, w):
    """Return z^w for z > 0, or for z = 0 if w > 0; nan otherwise."""
    x, a = z.real, w.real
    if not (x > 0.0 or (x == 0.0 and a > 0.0)):
        return complex(math.nan, math.nan)
    value = x**a
    result = along(value, a * x ** (a - 1.0), z.imag)
    if w.imag != 0.0 and x > 0.0:
        result += complex(0.0, value * math.log(x) * w.imag)
    return result


@inline_kernel
def whole_power(z, n):
    """Return z^n of an integer n >= 0, by repeated squaring."""
    result, square = complex(1.0, 0.0), complex(z.real, z.imag)
    while n > 0:
        if n % 2 == 1:
            result *= square
        n //= 2
        if n > 0:
            square *= square
    return result


@inline_kernel
def asin(z):
    """Return the arcsine of z, |z| <= 1; nan otherwise."""
    x = z.real
    if not abs(x) <= 1.0:
        return complex(math.nan, math.nan)
    return along(math.asin(x), 1.0 / math.sqrt((1.0 - x) * (1.0 + x)), z.imag)


@inline_kernel
def acos(z):
    """Return the arccosine of z, |z| <= 1; nan otherwise."""
    x = z.real
    if not abs(x) <= 1.0:
        return complex(math.nan, math.nan)
    return along(math.acos(x), -1.0 / math.sqrt((1.0 - x) * (1.0 + x)), z.imag)


@inline_kernel
def atan(z):
    """Return the arctangent of z."""
    x = z.real
    return along(math.atan(x), 1.0 / (1.0 + x * x), z.imag)


@inline_kernel
def asinh(z):
    """Return the inverse hyperbolic sine of z."""
    x = z.real
    return along(math.asinh(x), 1.0 / math.hypot(1.0, x), z.imag)


@inline_kernel
def tan(z):
    """Return the tangent of z, which is not one of its poles."""
    value = math.tan(z.real)
    return along(value, 1.0 + value * value, z.imag)


@inline_kernel
def tanh(z):
    """Return the hyperbolic tangent of z."""
    width = 1.0 / math.cosh(z.real)
    return along(math.tanh(z.real), width * width, z.imag)


@inline_kernel
def sin(z):
    """Return the sine of z."""
    return along(math.sin(z.real), math.cos(z.real), z.imag)


@inline_kernel
def cos(z):
    """Return the cosine of z."""
    return along(math.cos(z.real), -math.sin(z.real), z.imag)


@inline_kernel
def exp(z):
    """Return the exponential of z."""
    value = math.exp(z.real)
    return along(value, value, z.imag)


@inline_kernel
def sinh(z):
    """Return the hyperbolic sine of z."""
    return along(math.sinh(z.real), math.cosh(z.real), z.imag)


@inline_kernel
def cosh(z):
    """Return the hyperbolic cosine of z."""
    return along(math.cosh(z.real), math.sinh(z.real), z.imag)
