"""Static joint angles, counted through turns: parts may rotate far under their loads."""

import numpy as np
import pytest

from rodsim import Box, Model, equilibrium

Z = (0, 0, 1)


def wheels(moment, between=False):
    """Two wheels on torsion springs, the second on the ground or on the first; a moment rotates the last."""
    model = Model("wheels")
    first = model.add_body("first", Box(1, 1, 1, mass=1.0))
    second = model.add_body("second", Box(1, 1, 1, mass=1.0))
    model.add_joint("a", "revolute", model.ground, first, at=(0, 0, 0), axis=Z)
    model.add_spring("k", model.ground, first, 4.0, along="rotation", axis=Z)
    before = first if between else model.ground
    model.add_joint("b", "revolute", before, second, at=(0, 0, 0), axis=Z)
    model.add_spring("l", before, second, 2.0, along="rotation", axis=Z)
    model.add_moment("turn", second.at((0, 0, 0)), (0, 0, moment))
    return model


@pytest.mark.parametrize("moment", [4.0, 7.0, -30.0])
def test_static_angle_is_moment_over_stiffness_through_turns(moment):
    result = equilibrium(wheels(moment))
    assert result.joint("b").angle[-1] == pytest.approx(moment / 2.0, rel=1e-12)


def test_angles_between_counter_rotating_parts_are_counted():
    """Opposite moments rotate them against each other, each by more than a turn."""
    model = wheels(16.0, between=True)
    model.add_moment("back", model.bodies["first"].at((0, 0, 0)), (0, 0, -48.0))
    result = equilibrium(model)
    assert result.joint("a").angle[-1] == pytest.approx(-8.0, rel=1e-12)
    assert result.joint("b").angle[-1] == pytest.approx(8.0, rel=1e-12)
    assert np.all(np.abs(np.diff(result.joint("b").angle)) < np.pi)


def test_small_static_rotation_takes_one_load_step():
    assert len(equilibrium(wheels(3.0)).t) == 2
