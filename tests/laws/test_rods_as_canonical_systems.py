"""003, 1: rods discretised in space are canonical Hamiltonian systems with constraints, of every order."""

import numpy as np
import pytest

from discretization.time.integrators import parse
from discretization.time.symplecticity import symplectic_defect
from tests.support.rods import free_rod

ELEMENTS = ["lagrange(2)", "relative(2)", "relative(4)", "midpoint"]
H = 0.01


def rod(element):
    return free_rod(element, 4, "lumped").mechanical_system("director")


@pytest.mark.slow
@pytest.mark.parametrize("element", ELEMENTS)
def test_symplectic_step_conserves_the_canonical_two_form_of_a_rod(element):
    """Sum of dq . dp along tangents of g = 0 and G v = 0: the structure matrix is constant, and so is the mass of the chart."""
    system = rod(element)
    moved = system.q0 + 0.1 * np.random.default_rng(0).normal(size=system.n)
    assert system.mass(moved) == pytest.approx(system.mass(system.q0), abs=1e-14)
    assert symplectic_defect(system, parse("GL-SPARK(2)"), H) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("element", ELEMENTS)
def test_energy_momentum_step_does_not_conserve_the_two_form_of_a_rod(element):
    assert symplectic_defect(rod(element), parse("GGL-EM"), H) > 1e-7
