"""An overhand knot: the constants of its braid, the tension of its loop, and equal tensions without friction."""

from functools import cache

import numpy as np
import pytest

from benchmarks.knots import along, braid, curve_of, knot, measured
from examples.contact import knot as example
from rodsim import equilibrium

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


@cache
def computed_braid():
    return braid(200)


def test_a_braid_has_the_published_factor_of_friction():
    """0.492 by Audoly, Clauvelin and Neukirch, 2007."""
    braid = computed_braid()
    assert braid.sigma == pytest.approx(0.492, abs=2e-3)
    assert braid.slope == pytest.approx(1.477, abs=0.01)


def test_loose_knot_tension_follows_the_circle_law_and_its_next_term():
    """T/(B/(2 R^2)) - 1 over epsilon, extrapolated from two knots: 4 a/pi, 1.88; equal beyond the braid and
    at the end.
    """
    wide = equilibrium(knot(along(example.path(40 * example.RADIUS, tail=7.0)), example.RADIUS, 3.0, 7.0))
    narrow = equilibrium(knot(curve_of(wide), 0.4 * example.RADIUS, 4.0, 5.5))
    two = measured(wide, example.RADIUS), measured(narrow, 0.4 * example.RADIUS)
    for example_knot in two:
        assert example_knot.pull == pytest.approx(example_knot.inside, rel=0.015)
    slopes = [(example_knot.inside - 1.0) / example_knot.epsilon for example_knot in two]
    at = [example_knot.epsilon for example_knot in two]
    limit = slopes[1] - at[1] * (slopes[0] - slopes[1]) / (at[0] - at[1])
    assert limit == pytest.approx(4.0 * computed_braid().slope / np.pi, rel=0.12)


def test_frictionless_knot_has_equal_tension_beyond_its_braid():
    """To 5 percent of the force, from elements of 1.5 radii; with friction of 0.1 it is 40 percent (gallery)."""
    pulled = example.pull(example.run(friction=0.0, t_end=0.4, progress=False))
    assert np.abs(pulled.end / pulled.loop - 1.0).max() < 0.08
    assert pulled.epsilon[-1] > pulled.epsilon[0]
