"""Translational masses of rods: which of them is best in which case (docs/evidence/elements.md)."""

import numpy as np
import pytest

from benchmarks.mass_distributions import CASES, errors


def test_consistent_mass_is_best_for_a_freely_tumbling_rod():
    """The error of lumped masses is that of their inertia, twice that of their mean with consistent ones."""
    by_mass = {mass: e[0] for mass, e in errors(CASES["tumbler"], (10,), 40).items()}
    assert by_mass["lumped"] == pytest.approx(2 * by_mass["mean"], rel=0.1)
    assert by_mass["consistent"] < by_mass["mean"] / 10


@pytest.mark.slow
def test_lumped_mass_is_best_for_a_falling_cantilever():
    by_mass = [e[0] for e in errors(CASES["cantilever"], (10,), 40).values()]
    assert list(np.argsort(by_mass)) == [0, 1, 2]


@pytest.mark.slow
def test_mean_mass_is_best_for_a_swinging_blade():
    by_mass = {mass: e[0] for mass, e in errors(CASES["blade"], (10,), 40).items()}
    assert by_mass["mean"] < min(by_mass["lumped"], by_mass["consistent"]) / 4
