"""Real functions at x + i y, y a complex step: f(x) + i y f'(x), and nan where f(x) is not real.

The functions of `cmath` go on outside the real domain along their branch cuts, where the real part alone is a
plausible number, and some lose imaginary parts of 1e-60. Here y^2 is taken to be below round-off.
"""

import math
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from rigid.compilation.decorators import small_kernel


@intrinsic
def _made_of(typing_context, value, X):
    if isinstance(getattr(X, "dtype", X), types.Complex):
        return types.complex128(types.complex128, X), lambda context, builder, _, arguments: arguments[0]

    def real_part(context, builder, _, arguments):
        return context.make_complex(builder, types.complex128, value=arguments[0]).real

    return types.float64(types.complex128, X), real_part


def _made_of_in_python(value, X):
    return value if np.iscomplexobj(X) else value.real


# (value, X): a complex number that is made of the numbers X alone, or of one X, as one of them: its real part where they are real
made_of: Any = _made_of_in_python if getattr(numba.config, "DISABLE_JIT", False) else _made_of


@small_kernel
def along(value, slope, y):
    """value + i y slope; nan throughout where the value is, and no 0 inf where nothing is differentiated."""
    if math.isnan(value):
        return complex(math.nan, math.nan)
    return complex(value, 0.0 if y == 0.0 else y * slope)


@small_kernel
def positive(z):
    """z where it is positive, so that 1/z as the derivative of log z has the domain of log z."""
    if z.real > 0.0:
        return complex(z.real, z.imag)
    return complex(math.nan, math.nan)


@small_kernel
def reciprocal(z):
    """1/z; nan at the pole."""
    x = z.real
    if x == 0.0:
        return complex(math.nan, math.nan)
    return along(1.0 / x, -1.0 / x / x, z.imag)


@small_kernel
def sqrt(z):
    """Of z >= 0."""
    root = math.sqrt(z.real) if z.real >= 0.0 else math.nan
    return along(root, 0.5 / root, z.imag)


@small_kernel
def log(z):
    """Of z > 0."""
    x = z.real
    return along(math.log(x) if x > 0.0 else math.nan, 1.0 / x, z.imag)


@small_kernel
def power(z, w):
    """z^w of z > 0; of z = 0 where w > 0."""
    x, a = z.real, w.real
    if not (x > 0.0 or (x == 0.0 and a > 0.0)):
        return complex(math.nan, math.nan)
    value = x**a
    result = along(value, a * x ** (a - 1.0), z.imag)
    if w.imag != 0.0 and x > 0.0:
        result += complex(0.0, value * math.log(x) * w.imag)
    return result


@small_kernel
def whole_power(z, n):
    """z^n of an integer n >= 0, by repeated squaring."""
    result, square = complex(1.0, 0.0), complex(z.real, z.imag)
    while n > 0:
        if n % 2 == 1:
            result *= square
        n //= 2
        if n > 0:
            square *= square
    return result


@small_kernel
def asin(z):
    """Of |z| <= 1."""
    x = z.real
    if not abs(x) <= 1.0:
        return complex(math.nan, math.nan)
    return along(math.asin(x), 1.0 / math.sqrt((1.0 - x) * (1.0 + x)), z.imag)


@small_kernel
def acos(z):
    """Of |z| <= 1."""
    x = z.real
    if not abs(x) <= 1.0:
        return complex(math.nan, math.nan)
    return along(math.acos(x), -1.0 / math.sqrt((1.0 - x) * (1.0 + x)), z.imag)


@small_kernel
def atan(z):
    """Of all z."""
    x = z.real
    return along(math.atan(x), 1.0 / (1.0 + x * x), z.imag)


@small_kernel
def asinh(z):
    """Of all z."""
    x = z.real
    return along(math.asinh(x), 1.0 / math.hypot(1.0, x), z.imag)


@small_kernel
def tan(z):
    """Of all z but its poles."""
    value = math.tan(z.real)
    return along(value, 1.0 + value * value, z.imag)


@small_kernel
def tanh(z):
    """Of all z."""
    width = 1.0 / math.cosh(z.real)
    return along(math.tanh(z.real), width * width, z.imag)


@small_kernel
def sin(z):
    """Of all z."""
    return along(math.sin(z.real), math.cos(z.real), z.imag)


@small_kernel
def cos(z):
    """Of all z."""
    return along(math.cos(z.real), -math.sin(z.real), z.imag)


@small_kernel
def exp(z):
    """Of all z."""
    value = math.exp(z.real)
    return along(value, value, z.imag)


@small_kernel
def sinh(z):
    """Of all z."""
    return along(math.sinh(z.real), math.cosh(z.real), z.imag)


@small_kernel
def cosh(z):
    """Of all z."""
    return along(math.cosh(z.real), math.sinh(z.real), z.imag)
