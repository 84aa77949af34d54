"""Shared models and helpers: open chains of bodies."""

import numpy as np

from discretization.planar.symmetry_input import Symmetry
from discretization.solver_selection import select_stepper
from rodsim import MassProperties, Model


def branched(following=False, size=30.0):
    """Unequal bodies on off-centre joints, two on the second one, joint parts in either order, loaded and spinning."""
    model = Model("branched", gravity=(2.0, 0.0, -9.0))
    bodies = [model.ground]
    for k, (on, x, z) in enumerate([(0, 0.0, 0.0), (1, 0.7, 0.4), (2, 1.5, 0.1), (2, 1.4, 0.6)]):
        mass = MassProperties(1.0 + 0.3 * k, np.diag([0.05, 0.06 + 0.01 * k, 0.05]))
        bodies.append(model.add_body(f"body {k}", mass, (x + 0.4, 0.0, z - 0.1 * k)))
        pair = (bodies[-1], bodies[on]) if k == 1 else (bodies[on], bodies[-1])
        model.add_joint(f"joint {k}", "revolute", *pair, at=(x, 0.0, z), axis=(0.0, 1.0, 0.0))
    model.add_force("push", bodies[3].at((0.2, 0.0, 0.1)), (size, 0.0, 0.4 * size), following=following)
    model.add_moment("turn", bodies[2].at((0.0, 0.0, 0.0)), (0.0, 2.0, 0.0))
    return model


def stepper_of(built, h=0.01):
    symmetry = Symmetry(built.state, built.load_directions)
    stepper = select_stepper(built.system, h, 2, built.load_values, symmetry=symmetry)
    assert stepper.solver == "planar"
    assert stepper.tables.is_open_chain
    return stepper
