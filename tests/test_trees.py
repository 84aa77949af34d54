"""Trees of bodies solved from the tips to the root: the trajectories, forces, memories and laws of the general solver."""

import numpy as np
import pytest
from test_joints import joined

from discretization.shortcuts import em_stepper
from discretization.state_measures import constraint_residual, energies, momenta
from discretization.time.advance import GENERAL
from discretization.time.stepper import Stepper
from discretization.time.tree_stepper import TreeStepper
from discretization.trees.shape import BALL, HINGE, OTHER, UNIVERSAL, WELD, Tree, tree_of
from rigid.joints import JOINTS
from rodsim import Box, Material, Model, Result, Section, audit, simulate
from rodsim.building.initial_velocities import fit_velocities

H = 0.01
KINDS = ("revolute", "spherical", "universal", "prismatic", "revolute", "weld", "cylindrical", "spherical")
# of the sizes that a model of a few metres and 10 m/s has: positions and orientations agree to 1e-13; both solvers round dr to
# 1e-16, so that velocities 2 dr/h - v0 differ by 1e-16/h a step, forces by the change of momenta that this is in a step
SAME = {"r": 1e-13, "quat": 1e-13, "own": 1e-13, "totals": 1e-12}
SAME |= {
    "v": 1e-10,
    "Omega": 2e-10,
    "lam": 1e-6,
    "memory": 1e-6,
}  # of compositions, whose substeps are a tenth of h


def branched(kinds=KINDS, gravity=(1.0, 2.0, -9.0), held=True):
    """Bodies of different shapes on joints beside their middles, about oblique axes; every other joint is told child first."""
    rng = np.random.default_rng(3)
    model = Model("tree", gravity=gravity)
    bodies, places = [], []
    for i, kind in enumerate(kinds):
        parent = -1 if i == 0 else int(rng.integers(max(0, i - 3), i))
        at = np.zeros(3) if i == 0 else places[parent] + (0.3, 0.2, 0.1)
        places.append(np.add(at, (0.4, -0.1, 0.2)))
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


@pytest.mark.exact
def test_what_hangs_at_rest_stays_there_to_the_bit():
    """An equilibrium, hinges and balls: no iteration, no motion."""
    model = Model("rest", gravity=(0.0, 0.0, -9.81))
    at = np.zeros(3)
    last = model.ground
    for k, kind in enumerate(("revolute", "spherical", "weld", "revolute")):
        body = model.add_body(f"body {k}", Box(0.2, 0.3, 1.0, density=300.0), position=at - (0, 0, 0.5))
        model.add_joint(
            f"joint {k}", kind, last, body, at=at, axis=(1, 0.5, 0) if kind == "revolute" else None
        )
        last, at = body, at - (0, 0, 1.0)
    built = model.build()
    settled = Stepper(built.system, H).advance(built.state, 0, 1)[0]
    stepper = em_stepper(built.system, H)
    start = stepper.start(built.state._replace(lam=settled.lam))
    after, report = stepper.advance(start, 0, 50)
    assert isinstance(stepper, TreeStepper)
    assert report.iterations == 0
    assert np.array_equal(after.r, start.r)
    assert not after.v.any()
    assert np.array_equal(after.lam, start.lam)


def test_what_is_clamped_pulls_as_much_in_each_step():
    """What the first step finds is not added again by those that find nothing to do."""
    model = Model("clamped", gravity=(0.0, 0.0, -10.0))
    body = model.add_body("body", Box(1.0, 1.0, 1.0, density=2.0))
    model.add_joint("clamp", "clamp", body, at=(0.5, 0, 0))
    force = simulate(model, 4 * H, H, shortcut=True, progress=False).joint("clamp").force
    assert np.abs(force[1:] - (0.0, 0.0, -20.0)).max() < 1e-9


def test_a_tree_keeps_its_energy_over_ten_thousand_steps():
    """A hinge, a ball and a slider under oblique gravity: what is left of a step must not add up."""
    built = branched(("revolute", "spherical", "revolute")).build()
    stepper = em_stepper(built.system, H)
    state = stepper.start(built.state)
    E = energies(built.system, state).total
    size, worst = 0.0, 0.0
    for k in range(10):
        state, report = stepper.advance(state, 1000 * k, 1000)
        found = energies(built.system, state)
        size = max(size, found.kinetic)
        worst = max(worst, abs(found.total - E))
        assert report.halvings == 0
    assert worst < 2e-13 * size  # as of the general solver: rounding that walks at random
    assert np.abs(constraint_residual(built.system, state)).max() < 1e-14


@pytest.mark.parametrize("order", [2, 4])
def test_a_run_goes_on_to_the_bit_and_says_how_it_was_solved(tmp_path, order):
    name = "em" if order == 2 else f"em{order}"
    whole = simulate(
        branched(), 0.2, H, name, output=tmp_path / "whole.vtkhdf", output_every=2, shortcut=True
    )
    part = tmp_path / "part.vtkhdf"
    simulate(branched(), 0.1, H, name, output=part, output_every=2, shortcut=True)
    again = simulate(branched(), 0.2, H, name, output=part, output_every=2, resume=True, shortcut=False)
    for result in (whole, again, Result.open(part)):
        assert result.description["run"]["solver"] == "tree, 8 bodies"
    one, other = (each.state(each.n_outputs - 1) for each in (whole, again))
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))
    found = audit(Result.open(part))
    assert found.ok, found.text()


def test_a_run_of_the_general_solver_goes_on_with_it(tmp_path):
    """As do runs of older files, which do not say how they were solved."""
    part = tmp_path / "part.vtkhdf"
    whole = simulate(branched(), 0.1, H, shortcut=False)
    simulate(branched(), 0.05, H, output=part, output_every=1, shortcut=False)
    again = simulate(branched(), 0.1, H, output=part, output_every=1, resume=True, shortcut=True)
    assert "solver" not in again.description["run"]
    one, other = (each.state(each.n_outputs - 1) for each in (whole, again))
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def test_reports_and_results_of_loads_and_springs_pass_the_audit():
    result = simulate(loaded(), 0.2, H, output_every=1, shortcut=True)
    assert result.description["run"]["solver"] == "tree, 8 bodies"
    found = audit(result)
    assert found.ok, found.text()


def closed():
    model = branched()
    body = list(model.bodies.values())
    model.add_joint("loop", "distance", body[3].at((0, 0, 0)), body[7].at((0, 0, 0)))
    return model


def across():
    model = branched()
    body = list(model.bodies.values())
    model.add_spring("across", body[0].at((0, 0, 0)), body[7].at((0, 0, 0)), 10.0)
    return model


def with_rod():
    model = branched()
    model.add_rod("rod", [(0, 0, 3), (1, 0, 3)], Section.circular(0.02, Material(1e7, 0.3, 1e3)), 2)
    return model


def driven():
    model = branched()
    frame = model.add_driven("crank", displacement=lambda t: (0.0, 0.0, float(np.sin(t))))
    model.add_spring("pulled", frame.at((0, 0, 0)), next(iter(model.bodies.values())).at((0, 0, 0)), 10.0)
    return model


def touching():
    model = branched()
    ball = model.add_sphere("ball", list(model.bodies.values())[7], 0.1)
    floor = model.add_plane("floor", model.ground.at((0, 0, -5.0)), (0, 0, 1))
    model.add_contact("contact", ball, floor, stiffness=1e4)
    return model


REFUSED = {
    closed: "joints close a loop",
    across: "a spring or its like acts between bodies that no joint connects",
    with_rod: "it has rods",
    driven: "something moves as it is told",
    touching: "surfaces may touch",
}


@pytest.mark.parametrize("make", REFUSED)
def test_what_is_no_tree_goes_to_the_general_solver_and_the_reason_is_said(make):
    built = make().build()
    assert tree_of(built.system) == REFUSED[make]
    if make is not touching:  # its stepper makes others
        values = {"drive_values": built.drive_values}
        assert em_stepper(built.system, H, 2, built.load_values, **values).solver == GENERAL


def test_other_integrators_and_shortcut_false_take_the_general_solver():
    system = branched().build().system
    assert isinstance(tree_of(system), Tree)
    assert em_stepper(system, H).solver == "tree, 8 bodies"
    for settings in ({"shortcut": False}, {"hidden": True}, {"rho": 0.8}):
        assert em_stepper(system, H, **settings).solver == GENERAL
    run = simulate(touching(), 0.02, H, shortcut=True).description["run"]
    assert "solver" not in run


def test_joints_are_told_apart():
    """Of a ball, a hinge, a cross, a weld, a slide, and a hinge with a spiral spring, which is no closed form."""
    model = branched(("spherical", "revolute", "universal", "weld", "prismatic", "revolute"))
    body = list(model.bodies.values())
    ends = [model.joints["joint 5"].a, model.joints["joint 5"].b]
    model.add_torsion_spring("spiral", *ends, model.joints["joint 5"].axis, 3.0)
    tree = tree_of(model.build().system)
    of_frame = dict(zip(tree.frame.tolist(), tree.kind.tolist(), strict=True))
    assert [of_frame[k + 1] for k in range(len(body))] == [BALL, HINGE, UNIVERSAL, WELD, OTHER, OTHER]


def test_axes_askew_are_no_closed_form():
    """Rows of a weld whose directions are not across each other hold the same, with other multipliers."""
    system = branched(("weld", "weld")).build().system
    Ua = system.constraints.Ua.copy()
    Ua[1] = (Ua[1] + 0.1 * Ua[2]) / np.linalg.norm(Ua[1] + 0.1 * Ua[2])
    left_handed = system.constraints.Ub.copy()
    left_handed[1:4] *= -1.0
    for columns in ({"Ua": Ua}, {"Ub": left_handed}, {"value": 0.1 + system.constraints.value}):
        other = system._replace(constraints=system.constraints._replace(**columns))
        assert tree_of(other).kind[0] == OTHER


CLOSED = {"spherical": 3.95, "revolute": 3.4, "universal": 3.7, "weld": 3.05}  # iterations a step


@pytest.mark.parametrize("kind", CLOSED)
def test_newton_converges_quadratically_on_joints_of_closed_form(kind):
    """Where bodies turn by 0.1 to 0.3 rad a step; a tangent that is wrong anywhere takes more iterations."""
    model = branched(("revolute", kind, "revolute", kind, kind), gravity=(10.0, 20.0, -90.0))
    built = model.build()
    stepper = em_stepper(built.system, H, 2, built.load_values)
    _, report = stepper.advance(stepper.start(built.state), 0, 40)
    assert report.iterations <= CLOSED[kind] * report.solves
    free = Model("free")
    free.add_body("stone", Box(0.1, 0.2, 0.3, density=1000.0), angular_velocity=(1, 2, 3))
    assert str(tree_of(free.build().system)) == "tree, 1 body"
