"""Bodies connected by joints, for tests of integrators: nothing in them is symmetric or aligned."""

from __future__ import annotations

import numpy as np

from rigid import quaternions
from rodsim import Box, Model

GRAVITY = (1.0, -2.0, -9.0)


def hinge() -> Model:
    """A bar that swings about an oblique axis off its centre."""
    model = Model("hinge", gravity=GRAVITY)
    turned = quaternions.normalize(np.array([0.9, 0.1, 0.3, 0.2]))
    bar = model.add_body("bar", Box(1, 0.3, 0.2, density=100), position=(0.5, 0.1, 0.2), orientation=turned)
    model.add_joint("pin", "revolute", model.ground, bar, at=(0, 0.3, 0), axis=(0.3, 1, 0.5))
    return model


def chain() -> Model:
    """Three tumbling bodies, a spherical and a revolute joint, a spring from the first to the last; free."""
    model = Model("chain", gravity=GRAVITY)
    turned = quaternions.normalize(np.array([0.95, 0.1, 0.2, 0.1]))
    a = model.add_body(
        "a", Box(1, 0.3, 0.2, density=100), (0.5, 0, 0), velocity=(0, 0.5, 0.3), angular_velocity=(1, 0.5, 2)
    )
    b = model.add_body(
        "b", Box(0.8, 0.2, 0.4, density=120), (1.4, 0.1, 0.1), turned, (0.3, -0.5, 0.3), (-1, 1.5, 1)
    )
    c = model.add_body(
        "c",
        Box(0.6, 0.5, 0.2, density=80),
        (2, 0.4, 0.3),
        velocity=(0.3, -0.5, 0.9),
        angular_velocity=(2, -0.5, 1),
    )
    model.add_joint("ball", "spherical", a, b, at=(1, 0.1, 0.1))
    model.add_joint("pin", "revolute", b, c, at=(1.8, 0.3, 0.1), axis=(0.4, 1, 0.3))
    model.add_spring(
        "cord", a.at_world((0.2, 0.1, 0)), c.at_world((2.2, 0.5, 0.2)), stiffness=60.0, length=1.5
    )
    return model
