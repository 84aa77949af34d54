"""ZERO of `rigid.structural_zero`: its rules; with it, spatial formulas reduce to planar ones without extra
operations.
"""

import operator
import re

import numba
import numpy as np
import pytest

from rigid.linear_algebra import apply, cross, dot, product
from rigid.structural_zero import ZERO

X, Y = 0.7, -1.3

kernel = numba.njit
compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="looks at what numba makes of kernels")


def run(function, *arguments):
    """Result of a kernel as floats."""
    return np.array([float(value) for value in np.atleast_1d(np.array(function(*arguments), object))])


@kernel
def sums(x):
    return x + ZERO, ZERO + x, x - ZERO, ZERO - x


@kernel
def products(x):
    y = 1.0
    return y + x * ZERO, y + ZERO * x, y + ZERO / x, y + (-ZERO), y + ZERO * ZERO, y + (ZERO - ZERO)


@kernel
def in_place(x):
    a, b, c = x, x, 1.0
    a += ZERO
    b -= ZERO
    return a, b, c


@kernel
def branched(x):
    return ZERO if x < 0.0 else x


@kernel
def in_a_vector(x, y):
    """Return a tuple that mixes numbers and ZERO where numbers are expected."""
    a = (x, y, ZERO) if x > 0.0 else (y, x, 2.0)
    return dot(a, (1.0, 1.0, 1.0))


@kernel
def passed_on(x, y):
    return x, x + y


def test_symbolic_zero_leaves_a_kernel_as_a_number():
    assert run(passed_on, ZERO, X).tolist() == [0.0, X]


@pytest.mark.parametrize("x", [X, 3])
def test_a_sum_with_zero_is_the_other_term_and_a_product_is_zero(x):
    assert run(sums, x).tolist() == [x, x, x, -x]
    assert run(products, x).tolist() == [1.0] * 6
    assert run(in_place, x).tolist() == [x, x, 1.0]


def test_zero_becomes_a_number_if_branches_differ():
    assert branched(-X) + 1.0 == 1.0
    assert branched(X) == X
    assert in_a_vector(X, Y) == X + Y
    assert in_a_vector(-X, Y) == Y - X + 2.0


@compiled_only
def test_nothing_is_divided_by_zero():
    @kernel
    def quotient(x):
        return x / ZERO

    with pytest.raises(Exception, match="truediv"):
        quotient(X)


@kernel
def planar_results(x, y, c, s):
    """Results of spatial vector algebra for vectors and rotations of a plane."""
    R = (c, -s, ZERO, s, c, ZERO, ZERO, ZERO, 1.0)
    a, b = (x, y, ZERO), (y, x, ZERO)
    Ra = apply(R, a)
    RR = product(R, R)
    moment = cross(Ra, b)
    return Ra[0], Ra[1], moment[2], RR[0], RR[1], dot(Ra, b)


@kernel
def spatial_results(x, y, c, s):
    R = (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
    a, b = (x, y, 0.0), (y, x, 0.0)
    Ra = apply(R, a)
    RR = product(R, R)
    moment = cross(Ra, b)
    return Ra[0], Ra[1], moment[2], RR[0], RR[1], dot(Ra, b)


def test_planar_results_are_bitwise_those_in_space():
    rng = np.random.default_rng(2)
    for x, y, angle in rng.standard_normal((200, 3)):
        arguments = x, y, np.cos(angle), np.sin(angle)
        assert planar_results(*arguments) == spatial_results(*arguments)


def multiplications(function):
    """Count the multiplications in the assembly text of a kernel."""
    function(X, Y, np.cos(X), np.sin(X))
    [text] = function.inspect_llvm().values()
    return len(re.findall(r" fmul ", text))


@compiled_only
def test_compiled_code_has_no_multiplication_by_zero():
    """R a: 4; R R: 4 of two numbers; a x b: 2; a . b: 2. In space all nine and three numbers are multiplied."""
    assert multiplications(planar_results) <= 12
    assert multiplications(spatial_results) > multiplications(planar_results)


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_rules_of_zero_hold_in_interpreted_code(name):
    function = getattr(operator, name)
    expected = function(0.0, X), function(X, 0.0)
    assert (float(function(ZERO, X)), float(function(X, ZERO))) == expected
    assert float(-ZERO) == float(ZERO / X) == 0.0
    lanes = np.array([X, Y])
    assert np.array_equal(function(lanes, ZERO) + np.zeros(2), function(lanes, 0.0))
    assert np.array_equal(function(ZERO, lanes) + np.zeros(2), function(0.0, lanes))
    assert repr(ZERO) == "ZERO"
