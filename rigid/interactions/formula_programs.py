"""Evaluate formulas that are stored as numbers: programs in reverse Polish notation, whose operands are on a stack.

A program is its length, then its words: an operation, for some followed by one number. Numbers of an interaction thus define its
functions of place and time, and files hold them as they hold other numbers. All values are complex, so that derivatives follow
from complex steps (`rigid.compilation.real_functions`); a value that is not real is nan.
"""

from __future__ import annotations

from rigid.compilation import real_functions as real
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.kinds import whole

# words followed by a number: a constant, a variable by its index, a power with any exponent, a whole power
CONSTANT, VARIABLE, POWER, WHOLE_POWER = range(4)
NEGATIVE, SUM, DIFFERENCE, PRODUCT, QUOTIENT = range(4, 9)
SQRT, EXP, LOG, SIN, COS, TAN, SINH, COSH, TANH, ATAN = range(9, 19)
DEPTH = 8  # number of operands on the stack


@inline_kernel
def _of_one(word, z, number):
    """Return the value of an operation with one operand."""
    if word == NEGATIVE:
        return -z
    if word == POWER:
        return real.power(z, complex(number, 0.0))
    if word == WHOLE_POWER:
        return real.whole_power(z, int(number))
    if word == SQRT:
        return real.sqrt(z)
    if word == EXP:
        return real.exp(z)
    if word == LOG:
        return real.log(z)
    if word == SIN:
        return real.sin(z)
    if word == COS:
        return real.cos(z)
    if word == TAN:
        return real.tan(z)
    if word == SINH:
        return real.sinh(z)
    if word == COSH:
        return real.cosh(z)
    if word == TANH:
        return real.tanh(z)
    return real.atan(z)


@internal_kernel
def run(X, at, variables):
    """Return the complex value of the program at the offset `at` of the numbers X; variables: four complex numbers."""
    top, end, i = 0j, at + 1 + whole(X[at]), at + 1
    below = 0j, 0j, 0j, 0j, 0j, 0j, 0j
    while i < end:
        word, number = whole(X[i]), 0.0
        i += 1
        if word <= WHOLE_POWER:
            number = X[i].real
            i += 1
        if word in (CONSTANT, VARIABLE):
            below = (top, below[0], below[1], below[2], below[3], below[4], below[5])
            top = complex(number, 0.0)
            if word == VARIABLE:
                top = variables[0] if number == 0.0 else variables[1]
                top = variables[2] if number == 2.0 else top
                top = variables[3] if number == 3.0 else top
        elif SUM <= word <= QUOTIENT:
            a = below[0]
            below = (below[1], below[2], below[3], below[4], below[5], below[6], 0j)
            if word == SUM:
                top = a + top
            elif word == DIFFERENCE:
                top = a - top
            elif word == PRODUCT:
                top = a * top
            else:
                top = a * real.reciprocal(top)
        else:
            top = _of_one(word, top, number)
    return top


@inline_kernel
def _slope_of_one(word, z, value, number):
    """Return the derivative of an operation with one operand z, whose value is known."""
    one = complex(1.0, 0.0)
    if word == NEGATIVE:
        return -one
    if word == POWER:
        return number * real.power(z, complex(number - 1.0, 0.0))
    if word == WHOLE_POWER:
        return number * real.whole_power(z, int(number) - 1) if number > 0.0 else 0.0 * z
    if word == SQRT:
        return 0.5 * real.reciprocal(value)
    if word == EXP:
        return value
    if word == LOG:
        return real.reciprocal(z)
    if word == SIN:
        return real.cos(z)
    if word == COS:
        return -real.sin(z)
    if word == TAN:
        return one + value * value
    if word == SINH:
        return real.cosh(z)
    if word == COSH:
        return real.sinh(z)
    if word == TANH:
        return one - value * value
    return real.reciprocal(one + z * z)


@internal_kernel
def slope_along(X, at, variables, direction):
    """Return the derivative of the program at the offset `at` along a direction, four complex numbers as the variables.

    Each value on the stack has its derivative on a second one.
    """
    top, slope, end, i = 0j, 0j, at + 1 + whole(X[at]), at + 1
    below = 0j, 0j, 0j, 0j, 0j, 0j, 0j
    slopes = 0j, 0j, 0j, 0j, 0j, 0j, 0j
    while i < end:
        word, number = whole(X[i]), 0.0
        i += 1
        if word <= WHOLE_POWER:
            number = X[i].real
            i += 1
        if word in (CONSTANT, VARIABLE):
            below = (top, below[0], below[1], below[2], below[3], below[4], below[5])
            slopes = (slope, slopes[0], slopes[1], slopes[2], slopes[3], slopes[4], slopes[5])
            top, slope = complex(number, 0.0), 0j
            if word == VARIABLE:
                top, slope = variables[3], direction[3]
                if number == 0.0:
                    top, slope = variables[0], direction[0]
                elif number == 1.0:
                    top, slope = variables[1], direction[1]
                elif number == 2.0:
                    top, slope = variables[2], direction[2]
        elif SUM <= word <= QUOTIENT:
            a, of_a = below[0], slopes[0]
            below = (below[1], below[2], below[3], below[4], below[5], below[6], 0j)
            slopes = (slopes[1], slopes[2], slopes[3], slopes[4], slopes[5], slopes[6], 0j)
            if word == SUM:
                top, slope = a + top, of_a + slope
            elif word == DIFFERENCE:
                top, slope = a - top, of_a - slope
            elif word == PRODUCT:
                top, slope = a * top, of_a * top + a * slope
            else:
                inverse = real.reciprocal(top)
                top = a * inverse
                slope = (of_a - top * slope) * inverse
        else:
            value = _of_one(word, top, number)
            slope = slope * _slope_of_one(word, top, value, number)
            top = value
    return slope
