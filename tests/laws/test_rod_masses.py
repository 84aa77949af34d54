"""Translational masses of rods: their rotary inertia, and which of them is best where (docs/numerics.md)."""

import numpy as np
import pytest

from benchmarks.masses import CASES, errors
from discretization.state_measures import momenta
from rodsim import Model, Section


@pytest.mark.parametrize(("mass", "excess"), [("lumped", 2.0), ("mean", 1.0), ("consistent", 0.0)])
@pytest.mark.parametrize("n_elements", [1, 7])
def test_rotary_inertia_of_a_straight_rod_is_too_large_by(mass, excess, n_elements):
    """m L^2/12 (1 + excess/n^2), here of 2 kg/m and 3 m; that of the sections is exact."""
    section = Section.from_stiffness(
        EA=1, GA=1, GJ=1, EI=1, mass_per_length=2, inertia_per_length=(0.3, 0.1, 0.2)
    )
    model = Model("rod")
    model.add_rod(
        "rod",
        [(-1.5, 0, 0), (1.5, 0, 0)],
        section,
        n_elements,
        mass=mass,
        velocity=lambda s: (0, 3 * s - 1.5, 0),
        angular_velocity=(0, 0, 1),
    )
    built = model.build()
    _, momentum = momenta(built.system, built.state)
    assert momentum == pytest.approx(
        [0, 0, 2 * 3**3 / 12 * (1 + excess / n_elements**2) + 0.2 * 3], abs=1e-12
    )


def test_consistent_mass_is_best_where_a_rod_tumbles_freely():
    """The error of lumped masses is that of their inertia, twice that of their mean with consistent ones."""
    found = {mass: e[0] for mass, e in errors(CASES["tumbler"], (10,), 40).items()}
    assert found["lumped"] == pytest.approx(2 * found["mean"], rel=0.1)
    assert found["consistent"] < found["mean"] / 10


@pytest.mark.slow
def test_lumped_mass_is_best_where_a_clamped_rod_falls():
    found = [e[0] for e in errors(CASES["cantilever"], (10,), 40).values()]
    assert list(np.argsort(found)) == [0, 1, 2]


@pytest.mark.slow
def test_mean_mass_is_best_where_a_blade_swings():
    found = {mass: e[0] for mass, e in errors(CASES["blade"], (10,), 40).items()}
    assert found["mean"] < min(found["lumped"], found["consistent"]) / 4
