"""Real functions by complex steps: exact values and slopes in the domain, NaN outside it."""

import math

import numpy as np
import pytest

from rigid.compilation import real_functions


def functions():
    """Name -> (f', points near the ends of the domain and far from them), f of `real_functions`."""
    return {
        "sqrt": (lambda x: 0.5 / math.sqrt(x), (1e-300, 1e-12, 2.0, 1e200)),
        "log": (lambda x: 1 / x, (1e-300, 1e-12, 1.0 + 1e-12, 1e300)),
        "asin": (lambda x: 1 / math.sqrt((1 - x) * (1 + x)), (-1 + 1e-14, 1e-200, 0.3, 1 - 1e-14)),
        "acos": (lambda x: -1 / math.sqrt((1 - x) * (1 + x)), (-1 + 1e-14, 1e-200, 0.3, 1 - 1e-14)),
        "atan": (lambda x: 1 / (1 + x * x), (-1e8, -0.3, 1e-200, 1e150)),
        "asinh": (lambda x: 1 / math.hypot(1, x), (-1e8, -0.3, 1e-200, 1e200)),
        "tan": (lambda x: 1 / math.cos(x) ** 2, (1e-200, 0.7, 1.57, 100.0)),
        "tanh": (lambda x: 1 / math.cosh(x) ** 2, (-20.0, 1e-200, 0.7, 300.0)),
        "sin": (math.cos, (1e-200, 3.0, 1e5)),
        "cos": (lambda x: -math.sin(x), (1e-200, 3.0, 1e5)),
        "exp": (math.exp, (-700.0, 1e-200, 700.0)),
        "sinh": (math.cosh, (-700.0, 1e-200, 700.0)),
        "cosh": (math.sinh, (-700.0, 1e-200, 700.0)),
        "reciprocal": (lambda x: -1 / x**2, (-1e100, -1e-100, 0.3, 1e100)),
    }


@pytest.mark.parametrize("step", [1e-40, 1e-60])
@pytest.mark.parametrize("name", functions())
def test_complex_steps_give_exact_slopes_near_the_ends_of_the_domain_and_far_from_them(name, step):
    slope, points = functions()[name]
    f = getattr(real_functions, name)
    value = getattr(math, name, lambda x: 1 / x)
    for x in points:
        z = f(complex(x, step))
        assert z.real == pytest.approx(value(x), rel=4e-16)
        assert z.imag == pytest.approx(slope(x) * step, rel=4e-15, abs=0.0)


@pytest.mark.parametrize(("x", "a"), [(1e-100, 1.5), (1e-12, 4 / 3), (0.7, -0.3), (1e100, 2.2)])
def test_complex_steps_of_powers_are_exact_in_base_and_exponent(x, a):
    assert real_functions.power(complex(x, 1e-60), a) == pytest.approx(
        complex(x**a, a * x ** (a - 1) * 1e-60)
    )
    slope = real_functions.power(x, complex(a, 1e-60)).imag / 1e-60
    assert slope == pytest.approx(math.log(x) * x**a, rel=1e-14)
    assert real_functions.whole_power(complex(1.3, 1e-60), 7).imag == pytest.approx(7e-60 * 1.3**6, rel=1e-14)
    assert real_functions.power(complex(0.0, 1e-60), 4 / 3) == 0.0


OUTSIDE = {
    "sqrt": (-1e-300, -1.0),
    "log": (0.0, -1e-300, -1.0),
    "asin": (1.0 + 1e-15, -2.0),
    "acos": (-1.0 - 1e-15, 2.0),
    "positive": (0.0, -1.0),
    "reciprocal": (0.0,),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_values_outside_the_real_domain_are_nan(name):
    for x in OUTSIDE[name]:
        assert np.isnan(getattr(real_functions, name)(complex(x, 1e-60)).real)
        assert np.isnan(real_functions.power(complex(-1.0, 0.0), 4 / 3).real)
