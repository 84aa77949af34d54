"""`em-d` with dampers beside springs and torsion springs: what these take and what the scheme takes are told apart."""

import numpy as np
import pytest

from rodsim import Box, Model, audit, simulate


@pytest.mark.parametrize("damping", [0.0, 0.7])
def test_dampers_beside_springs_and_the_scheme_take_what_the_energy_loses(damping):
    model = Model("damped", gravity=(1.0, -2.0, -9.0))
    arm = model.add_body("arm", Box(0.4, 0.1, 0.2, mass=1.3), (0.2, 0.0, 0.1), angular_velocity=(0, 2.0, 0))
    model.add_joint("pin", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0))
    far = model.ground.at((0.5, 0.4, 0.6))
    model.add_spring("string", far, arm.at((0.2, 0.05, 0.1)), stiffness=400.0, damping=damping)
    model.add_spring("coil", model.ground, arm, 30.0, damping=0.1 * damping, along="rotation", axis=(0, 1, 0))
    found = simulate(model, 0.4, 0.02, "em-d(0.6)", output_every=1, progress=False)
    assert audit(found).ok, audit(found).text()
    E = found.energy["total"]
    by_dampers, by_scheme = found.dissipation[-1], found.algorithmic[-1]
    assert (by_dampers > 0.01 * np.ptp(E)) == (damping > 0.0)
    assert by_scheme > 0.0
    assert (
        np.abs(E + found.dissipation + found.algorithmic - E[0] - found.work).max() < 1e-12 * np.abs(E).max()
    )
