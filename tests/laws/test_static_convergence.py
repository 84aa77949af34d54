"""Static convergence orders of the elements in position and energy, for the 45 degree bend of Bathe and Bolourchi; thin rods."""

import numpy as np
import pytest

from rodsim import equilibrium
from tests.support.statics_models import BENDS, bend

LENGTH = 25.0 * np.pi
TIP, ENERGY = (
    np.array(BENDS[1][2]),
    10695.3743916911,
)  # slenderness 100, load 600: by shooting (tests/support/shooting.py)
# element -> its order in the mesh, intervals
TABLE = {
    "se3": (2, (16, 32)),
    "midpoint": (2, (16, 32)),
    "lagrange(1)": (2, (16, 32)),
    "lagrange(2)": (4, (16, 32)),
    "lagrange(3)": (6, (12, 24)),
    "lagrange(4)": (8, (8, 16)),
    "relative(2)": (4, (16, 32)),
    "relative(4)": (8, (8, 16)),
}


@pytest.mark.parametrize(
    "element", ["se3", *(pytest.param(name, marks=pytest.mark.slow) for name in TABLE if name != "se3")]
)
def test_position_and_energy_converge_at_the_element_order(element):
    """Both have twice the polynomial order: the energy error is the square of the stress error."""
    order, meshes = TABLE[element]
    errors = []
    for n in meshes:
        solution = equilibrium(bend(1.0, 600.0, n, element))
        tip = np.linalg.norm(solution.state().r[-1] - solution.state(0).r[-1] - TIP) / LENGTH
        errors.append((tip, abs(solution.energy["elastic"][-1] / ENERGY - 1.0)))
    orders = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert orders == pytest.approx([order, order], abs=0.1 if order == 2 else 0.15 * order)
    assert max(errors[1]) < 2e-3


THIN = (-23.5593837183, -13.6042437192, 53.4685984423)  # without stretch and shear, by shooting


@pytest.mark.parametrize("element", ["se3", pytest.param("midpoint", marks=pytest.mark.slow)])
def test_thin_rods_do_not_lock(element):
    """Slenderness 1e3 to 1e5 on one mesh: all differ from the thin limit by the same, to 1e-5."""
    results = []
    for width in (0.1, 0.01, 0.001):
        run = equilibrium(bend(width, 600.0 * width**4, 16, element))
        results.append(run.state().r[-1] - run.state(0).r[-1])
    assert np.abs(np.diff(results, axis=0)).max() < 1e-5 * 60
    assert np.linalg.norm(results[-1] - THIN) < 4e-3 * 60
