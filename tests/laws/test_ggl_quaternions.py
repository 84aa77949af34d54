"""GGL-EM in quaternions: its motion, which equals that of `em-ggl`, its matrix, its compositions."""

import numpy as np
import pytest

from discretization.time.integrate import solver_for
from discretization.time.integrators import parse
from rodsim import Box, Model, simulate
from rodsim.mechanics import integrate
from tests.support.joined_bodies import chain
from tests.support.mechanisms import flail, slider


@pytest.mark.parametrize("build", [chain, slider, flail])
def test_ggl_em_in_quaternions_moves_as_em_ggl(build):
    """The equations agree, with other unknowns: spherical, revolute, prismatic joints, a spring, a rod, gravity."""
    other = simulate(build(), 0.4, 0.02, "em-ggl")
    run = simulate(build(), 0.4, 0.02, "GGL-EM", chart="quaternion-alpha")
    for name in build().bodies:
        a, b = run.body(name), other.body(name)
        assert a.center_of_mass == pytest.approx(b.center_of_mass, abs=1e-11)
        assert a.Omega == pytest.approx(b.Omega, abs=1e-10)


def bars(count):
    """A chain of bars on ball joints."""
    model = Model("bars", gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(count):
        bar = model.add_body(f"bar {k}", Box(1, 0.2, 0.1, density=100), position=(k + 0.5, 0, 0))
        model.add_joint(f"ball {k}", "spherical", last, bar, at=(k, 0, 0))
        last = bar
    return model


def test_newton_matrix_bandwidth_does_not_grow_with_the_chain():
    bands = []
    for count in (8, 32):
        fitted = parse("GGL-EM").fitted(bars(count).mechanical_system("quaternion-gamma"))
        bands.append(solver_for(*fitted)[0].pattern.band)
    assert 0 < bands[1] <= bands[0] < 60


def test_compositions_conserve_what_the_step_conserves():
    run = integrate(slider().mechanical_system("quaternion-gamma"), "GGL-EM(order=4)", 0.02, 0.4)
    energy = run.hamiltonian()
    assert np.ptp(energy) < 1e-12 * energy[0]
    assert run.velocity_residual().max() < 1e-12
    for symmetry in run.system.symmetries:
        assert np.ptp(run.momentum(symmetry)) < 1e-11, symmetry.name
