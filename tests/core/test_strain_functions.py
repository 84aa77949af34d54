"""f, g, p of the SE(3) strains and their divided differences are accurate at every angle."""

import mpmath
import numpy as np
import pytest

from discretization.space.strain_functions import strain_function_differences, strain_functions

mpmath.mp.dps = 90


def f_exact(u):
    root = mpmath.sqrt(u)
    return mpmath.atan(root) / root


def p_exact(u):
    return ((1 + u) * f_exact(u) - 1) / (4 * u)


@pytest.mark.parametrize("u", [1e-16, 1e-8, 1e-3, 0.09, 0.1, 0.11, 1.0, 30.0, 198.0, 1e5])
def test_values_and_slopes_are_accurate(u):
    exact = [F for g in (f_exact, p_exact) for F in (g(mpmath.mpf(u)), mpmath.diff(g, mpmath.mpf(u)))]
    error = [abs(float((x - y) / y)) for x, y in zip(strain_functions(u), exact, strict=True)]
    assert max(error) < 3e-15


@pytest.mark.parametrize(
    ("u0", "u1"),
    [(0.0, 1e-16), (1e-9, 1e-9), (1e-12, 1e-5), (0.02, 0.0200000001), (0.09, 0.0999), (0.05, 0.11), (0.5, 0.5), (0.3, 0.300001),
     (1.0, 1.09), (1e-10, 0.4), (3.0, 8.0), (150.0, 151.0)],
)  # fmt: skip
def test_divided_differences_do_not_cancel(u0, u1):
    result = strain_function_differences(u0, u1)
    for F, F1, exact in ((result[3], result[4], f_exact), (result[8], result[9], p_exact)):
        a, b = mpmath.mpf(u0) + mpmath.mpf(10) ** -40, mpmath.mpf(u1)
        expected = (exact(b) - exact(a)) / (b - a) if u0 != u1 else mpmath.diff(exact, b)
        assert abs(float((F - expected) / expected)) < 3e-15
        if u0 != u1:
            slope = mpmath.diff(exact, b)
            second = (slope - expected) / (b - a)
            assert abs(float((F1 - second) / second)) < 1e-14


def test_second_differences_are_the_slopes_of_the_first():
    for u0, u1 in ((0.01, 0.03), (0.4, 0.43), (0.4, 0.9), (20.0, 20.5)):
        step = 1e-6 * u1
        plus, minus = (strain_function_differences(u0, u1 + s) for s in (step, -step))
        middle = strain_function_differences(u0, u1)
        for first, second in ((3, 4), (8, 9)):
            assert abs((plus[first] - minus[first]) / (2 * step) - middle[second]) < 1e-7 * np.abs(
                middle[second]
            )
