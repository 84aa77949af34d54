"""Trees of bodies solved from the tips to the root: the trajectories, forces, memories and laws of the general solver."""

import numpy as np
import pytest
from test_joints import joined

from discretization.state_measures import constraint_residual, energies, momenta
from discretization.time.shortcuts import em_stepper
from discretization.time.stepper import GENERAL, Stepper
from discretization.time.tree_stepper import TreeStepper
from discretization.trees.shape import BALL, HINGE, OTHER, Tree, tree_of
from rigid.joints import JOINTS
from rodsim import Box, Model, Result, Section, audit, simulate
from rodsim.building.initial_velocities import fit_velocities

H = 0.01
KINDS = ("revolute", "spherical", "universal", "prismatic", "revolute", "weld", "cylindrical", "spherical")
# of the sizes that a model of a few metres and 10 m/s has: positions and orientations agree to 1e-13; both solvers round dr to
# 1e-16, so that velocities 2 dr/h - v0 differ by 1e-16/h a step, forces by the change of momenta that this is in a step
SAME = {"r": 1e-13, "quat": 1e-13, "v": 2e-11, "Omega": 1e-10, "lam": 2e-6, "memory": 2e-7, "totals": 1e-10}


def branched(kinds=KINDS, gravity=(1.0, 2.0, -9.0), held=True):
    """Bodies of different shapes on joints beside their middles, about oblique axes; every other joint is told child first."""
    rng = np.random.default_rng(3)
    model = Model("tree", gravity=gravity)
    bodies, places = [], []
    for i, kind in enumerate(kinds):
        parent = -1 if i == 0 else int(rng.integers(max(0, i - 3), i))
        at = np.zeros(3) if i == 0 else places[parent] + (0.3, 0.2, 0.1)
        places.append(at + (0.4, -0.1, 0.2))
        shape = Box(0.5 + 0.1 * i, 0.3, 0.2, density=100.0)
        moving = {} if held or i else {"angular_velocity": (1.0, -2.0, 3.0), "velocity": (0.3, 0.2, 0.1)}
        bodies.append(model.add_body(f"body {i}", shape, position=places[i], **moving))
        if i == 0 and not held:
            continue
        more = {"axis": rng.standard_normal(3)} if JOINTS[kind].axis else {}
        if kind == "universal":
            more = {"axis": (1.0, 0.0, 0.0), "second_axis": (0.0, 1.0, 0.0)}
        ends = [model.ground if parent < 0 else bodies[parent], bodies[i]]
        model.add_joint(f"joint {i}", kind, *(ends if i % 2 else ends[::-1]), at=at, **more)
    return model


def loaded():
    """The same with loads, fixed and following, and what acts on one body or along a joint: springs, a bushing, air."""
    model = branched()
    body = list(model.bodies.values())
    axis, ground = model.joints["joint 0"].axis, model.ground
    model.add_force("push", body[2].at((0.1, 0.2, 0.0)), lambda t: (30.0 * np.sin(12.0 * t), 0.0, 9.0))
    model.add_force("rocket", body[4].at((0.0, 0.2, 0.1)), (5.0, -3.0, 2.0), following=True)
    model.add_moment("twist", body[3].at((0, 0, 0)), (0.0, 3.0, 1.0), following=True)
    model.add_torsion_spring("spiral", ground, body[0], axis, 20.0, damping=0.3)
    model.add_spring("cord", ground.at((1.0, 1.0, 1.0)), body[5].at((0.1, 0.1, 0.1)), 80.0)
    model.add_spring("along", body[0].at((0.1, 0.2, 0.1)), body[1].at((0.2, 0.1, 0.0)), 50.0, damping=0.2)
    model.add_bushing("bush", body[0], body[1], [90.0, 80.0, 70.0, 5.0, 4.0, 3.0], 0.1)
    model.add_external_damping("air", body[6], 0.5, 0.3)
    return model


def both(model, order=2, h=H, steps=100):
    """States after so many steps: of the general solver, of the tree."""
    built = model.build()
    state = fit_velocities(built)[0]
    general = Stepper(built.system, h, order, built.load_values)
    tree = em_stepper(built.system, h, order, built.load_values)
    assert isinstance(tree, TreeStepper)
    return [stepper.advance(stepper.start(state), 0, steps)[0] for stepper in (general, tree)]


def differences(one, other):
    """Largest of each field that differs by more than it may."""
    found = {n: np.abs(x - y).max(initial=0.0) for n, x, y in zip(one._fields, one, other, strict=True)}
    return {name: size for name, size in found.items() if size > SAME.get(name, 0.0)}


@pytest.mark.parametrize("kind", JOINTS)
def test_every_joint_gives_the_trajectory_and_the_forces_of_the_general_solver(kind):
    model = joined(kind)
    model.gravity = np.array([1.0, 2.0, -9.0])
    assert not differences(*both(model, h=0.005))


@pytest.mark.parametrize("order", [2, 4, 6])
def test_a_branched_tree_is_that_of_the_general_solver(order):
    model = branched()
    assert tree_of(model.build().system).kind.tolist().count(HINGE) == KINDS.count("revolute")
    assert not differences(*both(model, order, steps=100 if order == 2 else 20))


def test_a_free_tree_is_that_of_the_general_solver_and_keeps_momenta_and_energy():
    model = branched(held=False, gravity=(0.0, 0.0, 0.0))
    one, other = both(model)
    assert not differences(one, other)
    built = model.build()
    state = fit_velocities(built)[0]
    P, L = momenta(built.system, state)
    P1, L1 = momenta(built.system, other)
    assert np.abs(P1 - P).max() < 1e-13 * np.abs(P).max() * 10
    assert np.abs(L1 - L).max() < 1e-13 * np.abs(L).max() * 10
    E, E1 = (energies(built.system, each).total for each in (state, other))
    assert abs(E1 - E) < 1e-13 * E


def test_loads_springs_and_what_acts_along_a_joint_are_those_of_the_general_solver():
    assert not differences(*both(loaded()))
