"""Energies of few strains: stress, stiffness and prestress are derived from V for every kind; parameters of several
interactions at once.
"""

import numpy as np
import pytest

from discretization.interaction_groups import registered_kinds
from discretization.interaction_table import is_dissipation
from rigid.mechanics.mechanical_system import call
from tests.support.interactions import dual, names, numbers, poses, value

ENERGIES = [
    kind
    for kind in registered_kinds()["others"]
    if not (is_dissipation(kind) or kind.works or kind.one_sided or kind.rows)
]
STRAINED = [kind for kind in ENERGIES if kind.strain_energy is not None]
ANGLES = [(0.0, 1e-9), (1e-3, 0.1), (1.0, 1.2), (0.3, 2.5)]


def random_parameters(kind, seed=1, count=3):
    """Random parameters (count, w) of interactions of a kind."""
    return np.array([numbers(kind, np.random.default_rng(seed + k)) for k in range(count)])


def strains(kind, y, X):
    out = np.zeros(kind.strain_energy.count, complex)
    call(kind.strain_energy.strains, (np.ascontiguousarray(y, complex), X, out))
    return out


def dual_of_strains(kind, y0, y1, X, lam):
    """The dual of lam . e, real."""
    out = np.zeros((2, 4, 3), complex)
    ends = [np.ascontiguousarray(y, complex) for y in (y0, y1)]
    call(kind.strain_energy.dual, (*ends, X, np.array(lam, complex), out))
    return out.real


def test_every_energy_of_the_interaction_table_declares_its_strains():
    assert [kind.name for kind in ENERGIES if kind.strain_energy is None] == []


@pytest.mark.parametrize("kind", STRAINED, ids=names)
def test_energy_force_is_the_stress_on_its_strains(kind):
    rng = np.random.default_rng(2)
    for X in random_parameters(kind):
        y = poses(rng, 0.9)[0]
        stress = kind.strain_energy.stress(X[None], strains(kind, y, X).real[None])[0]
        force = dual_of_strains(kind, y, y, X, stress)
        assert np.abs(force - dual(kind, y, y, X, [1.0]).real).max() < 1e-12 * (1.0 + np.abs(force).max())


@pytest.mark.parametrize("angles", ANGLES)
@pytest.mark.parametrize("kind", STRAINED, ids=names)
def test_stress_work_in_a_step_is_stress_times_strain_change(kind, angles):
    rng = np.random.default_rng(3)
    X, y0, y1 = random_parameters(kind)[0], poses(rng, angles[0])[0], poses(rng, angles[1])[0]
    lam = rng.normal(size=kind.strain_energy.count)
    e0, e1 = strains(kind, y0, X).real, strains(kind, y1, X).real
    missing = np.sum(dual_of_strains(kind, y0, y1, X, lam) * (y1 - y0)) - lam @ (e1 - e0)
    if kind.strain_energy.period:
        period = kind.strain_energy.period * lam[0]
        missing -= period * np.round(missing / period)
    assert abs(missing) < 1e-13 * (1.0 + np.abs(lam) @ (np.abs(e0) + np.abs(e1)))


@pytest.mark.parametrize("kind", STRAINED, ids=names)
def test_stiffness_is_the_derivative_of_the_stress(kind):
    rng = np.random.default_rng(4)
    X, e, d = random_parameters(kind), *rng.normal(size=(2, 3, kind.strain_energy.count))
    h = 1e-6
    change = (kind.strain_energy.stress(X, e + h * d) - kind.strain_energy.stress(X, e - h * d)) / (2 * h)
    product = np.einsum("kij,kj->ki", kind.strain_energy.stiffness(X, e), d)
    assert np.abs(change).min() > 1e-3
    assert np.abs(product - change).max() < 1e-7 * np.abs(change).max()


@pytest.mark.parametrize("kind", STRAINED, ids=names)
def test_prestress_adds_to_the_stress_and_keeps_the_stiffness(kind):
    """The force of an energy with these parameters includes it."""
    rng = np.random.default_rng(5)
    energy, X, y = kind.strain_energy, random_parameters(kind), poses(rng, 0.9)[0]
    e = np.array([strains(kind, y, row).real for row in X])
    before, de = X.copy(), rng.normal(size=e.shape)
    prestressed = energy.prestressed(X, e, de)
    assert np.array_equal(X, before)
    assert prestressed.shape == X.shape
    C = energy.stiffness(X, e)
    added = np.einsum("kij,kj->ki", C, de)
    assert energy.stiffness(prestressed, e) == pytest.approx(C, rel=1e-12, abs=1e-12)
    assert energy.stress(prestressed, e) == pytest.approx(energy.stress(X, e) + added, rel=1e-11, abs=1e-11)
    for k, row in enumerate(prestressed):
        force = dual(kind, y, y, row, [1.0]).real
        assert force == pytest.approx(
            dual_of_strains(kind, y, y, row, energy.stress(prestressed, e)[k]), rel=1e-11, abs=1e-11
        )


@pytest.mark.parametrize("kind", STRAINED, ids=names)
def test_prestressed_energy_does_the_work_of_its_value(kind):
    """Also from one piece of a law to another; the angle does not pass half a turn."""
    rng = np.random.default_rng(11)
    energy, X, y0, y1 = kind.strain_energy, random_parameters(kind), poses(rng, 0.5)[0], poses(rng, 1.5)[0]
    e = np.array([strains(kind, y0, row).real for row in X])
    for row in energy.prestressed(X, e, rng.normal(size=e.shape)):
        change = (value(kind, y1, row) - value(kind, y0, row))[0].real
        work = np.sum(dual(kind, y0, y1, row, [1.0]).real * (y1 - y0))
        assert work == pytest.approx(change, rel=1e-12, abs=1e-12)
