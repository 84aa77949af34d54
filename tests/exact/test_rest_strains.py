"""Stress-free strains of rods."""

import numpy as np
import pytest

from rodsim import Model, ModelError, Section

SECTION = Section.from_stiffness(
    EA=3e3, GA=2e3, GJ=5, EI=(8, 6), mass_per_length=2.0, inertia_per_length=(0.05, 0.03, 0.02)
)


def built(section=SECTION, **settings):
    model = Model("rod")
    model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 6, up=(0, 0, 1), **settings)
    return model.build().system


@pytest.mark.parametrize("center", [(0.0, 0.0), (0.1, -0.05)])
def test_a_curvature_at_rest_is_that_of_an_arc(center):
    """A rod that is straight at first, also with its centre of mass off its curve."""
    section = SECTION.with_centers(center, center)
    R = 0.8

    def arc(s):
        return R * np.sin(s / R), R * (1 - np.cos(s / R)), 0.0

    one = built(section, rest_strains=(0, 0, 0, 0, 0, 1 / R))
    other = built(section, stress_free=arc, stress_free_up=(0, 0, 1))
    assert one.elements.strain0 == pytest.approx(other.elements.strain0, abs=1e-9)
    assert np.abs(one.elements.strain0).max() > 1.0


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_strains_at_rest_may_change_along_the_rod(element):
    system = built(rest_strains=lambda s: (0.1 * s, 0, 0, s, 0, 2.0), element=element)
    strain0 = system.elements.strain0 if element == "se3" else system.spans.strain0
    s = strain0[:, 3]
    assert np.all(np.diff(s) > 0.0)
    assert strain0[:, 0] == pytest.approx(0.1 * s)
    assert strain0[:, 5] == pytest.approx(np.full(6, 2.0))
    assert s.mean() == pytest.approx(0.5)


def test_invalid_rest_strains_are_rejected():
    with pytest.raises(ModelError, match=r"rod 'rod': rest_strains = .* is not a list of 6"):
        built(rest_strains=(1, 2, 3))
