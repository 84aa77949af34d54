"""`em-d(rho)` under weights and loads: what is free keeps the laws of its centre of mass."""

import numpy as np
import pytest

from discretization.state_measures import momenta
from rodsim import audit, simulate
from tests.support.em_d import H, hinged, history, start_of

GRAVITY = np.array([0.3, -0.5, -9.81])


def centre(system, state):
    m = np.where(system.frames.fixed == 0, system.frames.mass, 0.0)
    return m @ state.r / m.sum(), m @ state.v / m.sum()


def test_a_free_group_falls_with_its_weight_and_its_angular_momentum_about_its_centre_stays():
    system, state = start_of(hinged())
    system = system._replace(gravity=GRAVITY)
    states = history(system, state, H, 0.3, 10)
    r0, v0 = centre(system, states[0])
    own = []
    for k, current in enumerate(states):
        r, v = centre(system, current)
        t = H * k
        assert v == pytest.approx(v0 + GRAVITY * t, abs=1e-12)
        assert r == pytest.approx(r0 + v0 * t + 0.5 * GRAVITY * t * t, abs=1e-12)
        P, L = momenta(system, current)
        own.append(L - np.cross(r, P))
    assert np.ptp(own, axis=0).max() < 1e-11


def test_work_of_a_force_on_one_part_of_a_free_group_is_in_the_balance_of_the_energy():
    model = hinged()
    model.add_force("tow", model.bodies["b"].at((0.6, 0.1, 0.3)), (3, -9, 5))
    found = simulate(model, 10 * H, H, "em-d(0.3)", output_every=1, progress=False)
    assert np.ptp(found.work) > 0.1
    assert found.algorithmic[-1] > 1e-6
    assert audit(found).energy_balance < 1e-12
