"""A body that rotates far in a step lags behind by 1 - 2 atan(theta/2)/theta, which is documented and warned about."""

import warnings

import numpy as np
import pytest

from rodsim import Box, DoubtfulModelWarning, Model, simulate


def spun(theta, integrator="em", t_end=1.0, dt=0.1):
    model = Model("wheel")
    model.add_body("wheel", Box(1, 1, 0.1, mass=1), angular_velocity=(0, 0, theta / dt))
    return simulate(model, t_end, dt, integrator)


def angle(result):
    w, _, _, z = result.body("wheel").quat.T
    return np.unwrap(2.0 * np.arctan2(z, w))[-1]


def test_a_body_that_rotates_by_0_6_rad_in_a_step_lags_by_3_percent_and_is_named():
    with pytest.warns(DoubtfulModelWarning, match=r"body 'wheel' rotates by up to 0.6 rad .* misses 2.8 %"):
        result = spun(0.6)
    assert angle(result) == pytest.approx(10 * 2.0 * np.arctan(0.3), rel=1e-12)


@pytest.mark.parametrize(("theta", "integrator"), [(0.29, "em"), (0.6, "em4")])
def test_small_rotations_and_compositions_are_not_warned_about(theta, integrator):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtfulModelWarning)
        spun(theta, integrator)
