"""A new constraint kind with a nonlinear gradient: `em-ggl` satisfies its velocity constraint. Other kinds:
`test_new_kinds.py`.
"""

import numpy as np
import pytest

from discretization.consistent_velocities import project_velocities
from discretization.state_measures import constraint_residual, energies, momenta, velocity_residual
from discretization.time.stepper import Stepper
from rigid import quaternions
from rigid.interactions import constraints as registry
from rigid.system import Constraints
from tests.support.array_systems import make_state, make_system
from tests.support.ellipsoid import POINT_ON_ELLIPSOID

H, STEPS = 0.01, 50


@pytest.fixture
def registered():
    """Register one more kind and return its number."""
    before = len(registry.CONSTRAINTS)
    registry.register(POINT_ON_ELLIPSOID)
    yield registry.number_of(POINT_ON_ELLIPSOID)
    del registry.CONSTRAINTS[before:]


def pair(number):
    """Two free bodies with a point of one on an ellipsoid of the other."""
    x, u = np.array([[0.2, -0.1, 0.3]]), np.array([[0.6, 0.8, 0.0]])
    r = np.array([[0, 0, 0], [1, 0.2, 0.4]])
    quat = quaternions.normalize(np.array([[1, 0.2, 0.1, 0], [1, 0, -0.3, 0.2]]))
    d = r[1] + quaternions.rotate(quat[1], -x[0]) - quaternions.rotate(quat[0], x[0])
    s = quaternions.rotate(quat[0], u[0]) @ d
    one = Constraints(
        np.array([number]),
        np.array([[1, 2]]),
        x,
        -x,
        u,
        u,
        np.array([(d @ d + s * s) / 2]),
        np.zeros(1, np.int64),
    )
    inertia = np.array([np.diag([0.3, 0.2, 0.4]), np.diag([0.1, 0.25, 0.2])])
    system = make_system(np.array([1.0, 2.0]), inertia, constraints=one)
    spin = np.array([[1.0, 2.0, -0.5], [0.5, -1.0, 3.0]])
    state = make_state(system, r, quat, np.array([[0, 0.5, 1], [1, 0, 0.3]]), spin)
    return system, project_velocities(system, state)[0]


def test_em_ggl_satisfies_velocities_of_a_new_constraint_by_its_dual(registered):
    system, start = pair(registered)
    end, _ = Stepper(system, H, hidden=True).advance(start, 0, STEPS)
    assert np.abs(end.r - start.r).max() > 0.1
    assert np.abs(constraint_residual(system, end)).max() < 1e-14
    assert np.abs(velocity_residual(system, end)).max() < 1e-13
    assert energies(system, end).total == pytest.approx(energies(system, start).total, rel=1e-13)
    for after, before in zip(momenta(system, end), momenta(system, start), strict=True):
        assert after == pytest.approx(before, abs=1e-13 * STEPS)
    without, _ = Stepper(system, H).advance(start, 0, STEPS)  # `em` satisfies only the mean of both ends
    assert np.abs(velocity_residual(system, without)).max() > 1e-6


def test_em_ggl_differentiates_a_dual_by_complex_step(registered):
    """Without the declaration the energy drifts by 2e-8 J, from the means; without the bend term by 5e-4."""
    registry.CONSTRAINTS[registered] = registry.CONSTRAINTS[registered]._replace(steep=False)
    system, start = pair(registered)
    end, _ = Stepper(system, H, hidden=True).advance(start, 0, STEPS)
    assert energies(system, end).total == pytest.approx(energies(system, start).total, abs=1e-6)
