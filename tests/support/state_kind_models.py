"""Shared models and helpers: kinds with internal states."""

import numpy as np

from rodsim import Box, Model
from tests.support.state_kinds import BEAD

H = 0.01
BRICK = Box(0.5, 0.3, 0.2, density=100.0)
MASS = 0.5 * 0.3 * 0.2 * 100.0
REST = 2.0
NO_WEIGHT = (0.0, 0.0, 0.0)
K, TAU, P, I = 30.0, 0.2, 25.0, 60.0
# of (l - rest, its rate, x)
BY_LAG = np.array([[0, 1, 0], [0, 0, -K / MASS], [1 / TAU, 0, -1 / TAU]])
BY_SERVO = np.array([[0, 1, 0], [-P / MASS, 0, -I / MASS], [1, 0, 0]])


def spinning() -> Model:
    """A spinning slender body and a second body that slides along it, both free."""
    model = Model("spinning", gravity=NO_WEIGHT)
    one = model.add_body("one", BRICK, angular_velocity=(0.4, 0.3, 2.0))
    two = model.add_body("two", BRICK, position=(0.8, 0.05, 0), velocity=(0.3, 0.4, 0.2))
    model.add_interaction("line", BEAD, one, two.at((0, -0.05, 0)), k=300.0, s=0.8)
    return model
