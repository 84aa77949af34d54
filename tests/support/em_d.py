"""Shared models and helpers: `em-d`."""

import numpy as np

from discretization.consistent_velocities import project_velocities
from discretization.time.stepper import Stepper
from rigid import quaternions
from rodsim import Box, Model

H = 0.02


def start_of(model):
    built = model.build()
    return built.system, project_velocities(built.system, built.state)[0]


def history(system, state, h, rho, steps):
    """The states after every step."""
    stepper = Stepper(system, h, rho=rho)
    states = [stepper.start(state)]
    for k in range(steps):
        states.append(stepper.advance(states[-1], k, 1)[0])
    return states


def hinged():
    """Two bodies with an off-axis hinge and torsion spring, connected to a third body by a spring."""
    model, axis = Model("hinged", gravity=(0, 0, 0)), (0.2, 1, 0.4)
    turned = quaternions.normalize(np.array([0.9, 0.2, -0.1, 0.3]))
    a = model.add_body("a", Box(0.7, 0.4, 0.3, density=80), (0, 0, 0), turned, angular_velocity=(1, -1, 2))
    b = model.add_body("b", Box(0.2, 0.4, 0.3, density=80), (0.5, 0, 0.3), turned)
    c = model.add_body("c", Box(0.3, 0.2, 0.4, density=90), (-1, 0, 0), angular_velocity=(1, 2, 0))
    model.add_joint("pin", "revolute", a, b, at=(0.3, 0.1, 0.2), axis=axis)
    model.add_spring("twist", a, b, 2, along="rotation", axis=axis, angle=0.3)
    model.add_spring("spring", a.at((-0.3, 0.1, 0)), c.at((-0.8, 0, 0.1)), stiffness=20, length=0.45)
    return model
