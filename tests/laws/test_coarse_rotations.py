"""A body that rotates far in a step lags by 1 - 2 atan(theta/2)/theta: this is documented, and a warning reports it."""

import warnings

import numpy as np
import pytest

from rodsim import Box, Model, simulate
from rodsim.warnings import ModelCheckWarning


def spinning_wheel(theta, integrator="em", dt=0.1, **options):
    model = Model("wheel")
    for name, part in (("slow", 0.1), ("wheel", 1.0)):
        model.add_body(name, Box(1, 1, 0.1, mass=1), angular_velocity=(0, 0, part * theta / 0.1))
    return simulate(model, 1.0, dt, integrator, **options)


def angle(result):
    w, _, _, z = result.body("wheel").quat.T
    return np.unwrap(2.0 * np.arctan2(z, w))[-1]


def test_body_rotating_0_6_rad_per_step_lags_3_percent_and_is_named():
    message = r"body 'wheel' rotates by up to 0.6 rad .* misses 2.8 %. Use dt = 0.05 s or less"
    with pytest.warns(ModelCheckWarning, match=message):
        result = spinning_wheel(0.6)
    assert angle(result) == pytest.approx(10 * 2.0 * np.arctan(0.3), rel=1e-12)


def test_rotation_above_0_3_rad_per_step_is_reported():
    """A wheel spins up."""
    model = Model("wheel")
    wheel = model.add_body("wheel", Box(1, 1, 0.1, mass=6))
    model.add_moment("motor", wheel, (0, 0, 3.3))  # 3.3 rad/s^2 about z
    with pytest.warns(ModelCheckWarning, match=r"rotates by up to 0.33 rad"):
        simulate(model, 1.0, 0.1)


@pytest.mark.parametrize(
    ("theta", "options"),
    [(0.29, {}), (0.6, {"integrator": "em4"}), (0.6, {"dt": None, "error": 0.01, "output_dt": 0.1})],
)
def test_small_rotations_compositions_and_adaptive_steps_do_not_warn(theta, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelCheckWarning)
        spinning_wheel(theta, **options)
