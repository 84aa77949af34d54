"""Compositions: their order conditions, and the orders of `em`, `em4`, `em6` and `em8` where bodies are joined."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.linalg import expm

from discretization.consistent import project_velocities
from discretization.state_measures import energies, momenta, velocity_residual
from discretization.time.composition import FRACTIONS, fractions_of, midpoints, suzuki
from discretization.time.reversing import reverses
from discretization.time.stepper import Stepper
from rigid.system import State
from rodsim import Box, Material, Model, Section, simulate
from rodsim.results.retaking import take_again
from tests.support.arrays import free_rod
from tests.support.joined_bodies import chain, hinge

T_END = 0.5
MODELS = {"hinge": hinge, "chain": chain}
INTEGRATORS = {2: "em", 4: "em4", 6: "em6", 8: "em8"}
STEPS = {2: (16, 32), 4: (8, 16), 6: (6, 12), 8: (4, 8)}
LARGER = {("hinge", 8): (3, 6)}  # where smaller ones end at the round-off of velocities, 5e-12


def leapfrog(h):
    """A symmetric step of order 2 of x' = (A + B) x."""
    A, B = np.random.default_rng(1).standard_normal((2, 4, 4)) / 2
    return expm(A * h / 2) @ expm(B * h) @ expm(A * h / 2), expm((A + B) * h)


def composed_error(fractions, h):
    made = np.eye(4)
    for fraction in fractions:
        made = leapfrog(fraction * h)[0] @ made
    return np.abs(made - leapfrog(h)[1]).max()


@pytest.mark.parametrize("reversing", [False, True])
@pytest.mark.parametrize("order", FRACTIONS)
def test_fractions_raise_a_symmetric_step_to_their_order(order, reversing):
    """The error of one step has one order more; the matrices do not commute."""
    fractions = fractions_of(order, reversing)
    coarse, fine = (composed_error(fractions, h * (1 if order < 8 else 4)) for h in (0.2, 0.1))
    assert np.log2(coarse / fine) == pytest.approx(order + 1, abs=0.1 if order < 8 else 0.25)


@pytest.mark.parametrize("fractions", [*FRACTIONS.values(), suzuki(4)])
def test_fractions_are_symmetric_and_sum_to_one(fractions):
    assert fractions.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.array_equal(fractions, fractions[::-1])


@pytest.mark.parametrize("order", FRACTIONS)
def test_odd_powers_of_the_fractions_below_the_order_sum_to_zero(order):
    """To the rounding of the fractions; they are not all zero one power further."""
    sums = [math.fsum(FRACTIONS[order] ** power) for power in range(3, order + 2, 2)]
    assert np.abs(sums[:-1]).max(initial=0.0) < 5e-16
    assert abs(sums[-1]) > 5e-4


@pytest.mark.parametrize("fractions", [*FRACTIONS.values(), suzuki(4)])
def test_middles_of_the_substeps_are_symmetric(fractions):
    assert midpoints(fractions) + midpoints(fractions)[::-1] == pytest.approx(np.ones(len(fractions)))


@pytest.mark.parametrize("order", [4, 6, 8])
def test_a_composition_restores_what_its_step_reverses_after_every_two_equal_substeps(order):
    assert np.array_equal(*fractions_of(order, reversing=True).reshape(-1, 2).T)
    assert len(fractions_of(2, reversing=True)) == 1  # `em` itself is not composed


def start_of(name):
    built = MODELS[name]().build()
    return built.system, project_velocities(built.system, built.state)[0]


@cache
def end_of(name, order, n):
    """Positions, velocities and G v after n steps of T_END/n."""
    system, state = start_of(name)
    end, _ = Stepper(system, T_END / n, order).advance(state, 0, n)
    return end.r, np.hstack([end.v, end.Omega]), velocity_residual(system, end)


@pytest.mark.parametrize("order", INTEGRATORS)
@pytest.mark.parametrize("name", MODELS)
def test_joined_bodies_are_integrated_to_the_declared_order(name, order):
    """Positions and velocities against small steps of the highest order; G v at the ends of the steps against 0."""
    exact = end_of(name, 8, 24)
    errors = [
        [np.abs(of - to).max() for of, to in zip(end_of(name, order, n), (*exact[:2], 0.0), strict=True)]
        for n in LARGER.get((name, order), STEPS[order])
    ]
    orders = np.log2(np.divide(*errors))
    # velocities end at 1e-11, so that steps of order 8 are large: 7.7, 8.1 and 8.5, 7.7
    assert orders[:2] == pytest.approx([order, order], abs=0.1 if order < 8 else 0.7)  # near round-off
    assert orders[2] > order - (0.1 if order < 8 else 0.5)


@pytest.mark.parametrize("order", INTEGRATORS)
def test_a_chain_keeps_its_invariants_under_compositions(order):
    """Energy, and the momenta that oblique gravity leaves, to the round-off of 25 steps."""
    system, state = start_of("chain")
    after, _ = Stepper(system, 0.02, order).advance(state, 0, 25)
    g = system.gravity
    energy = energies(system, state)
    assert energies(system, after).total == pytest.approx(energy.total, abs=1e-12 * energy.kinetic)
    lost = np.cross(g, momenta(system, after)[0] - momenta(system, state)[0])
    assert np.abs(lost).max() < 1e-10


@pytest.mark.parametrize("order", [4, 8])
def test_a_chain_in_two_parts_is_the_same_to_the_bit(order):
    system, state = start_of("chain")
    stepper = Stepper(system, 0.02, order)
    whole, _ = stepper.advance(state, 0, 12)
    part, _ = stepper.advance(state, 0, 5)
    rest, _ = Stepper(system, 0.02, order).advance(State(*(np.array(a) for a in part)), 5, 7)
    assert all(np.array_equal(a, b) for a, b in zip(whole, rest, strict=True))


@pytest.mark.parametrize("integrator", ["em4", "em8"])
def test_a_resumed_composition_is_the_uninterrupted_one_to_the_bit(integrator, tmp_path):
    settings = {"dt": 0.02, "integrator": integrator, "output_every": 4}
    whole = simulate(chain(), 0.24, output=tmp_path / "whole.vtkhdf", **settings)
    simulate(chain(), 0.12, output=tmp_path / "parts.vtkhdf", **settings)
    parts = simulate(chain(), 0.24, output=tmp_path / "parts.vtkhdf", resume=True, **settings)
    for one, other in zip(whole.state(-1), parts.state(-1), strict=True):
        assert np.array_equal(one, other)


def rooted(how):
    """A soft rod under gravity, from its root, which cannot move, or can."""
    model = Model("rooted rod", gravity=(0.0, 1.0, -9.81))
    section = Section.circular(0.02, Material(E=1e5, nu=0.3, density=1000.0))
    rod = model.add_rod("rod", [(0, 0, 0), (0.6, 0, 0.1)], section, 4)
    if how == "driven":
        hub = model.add_driven("hub", turn=lambda t: t * t, axis=(0, 0, 1))
        model.add_joint("root", "weld", hub, rod.start, at=(0, 0, 0))
    elif how == "weld":
        model.add_joint("root", "weld", model.ground, rod.start, at=(0, 0, 0))
    else:
        model.add_joint(
            "root",
            "revolute" if how == "turned" else "clamp",
            rod.start,
            *([model.ground] if how == "turned" else []),
            at=(0, 0, 0),
            axis=(0, 1, 0) if how == "turned" else None,
        )
    if how == "turned":
        model.add_drive("turn", model.joints["root"], lambda t: t * t)
    if how == "tip":
        tip = model.add_body("tip", Box(0.1, 0.1, 0.1, density=500), (0.6, 0, 0.1))
        model.add_joint("pin", "spherical", rod.end, tip, at=(0.6, 0, 0.1))
    return model


@pytest.mark.parametrize(
    ("how", "moves"), [("clamp", False), ("weld", False), ("driven", True), ("turned", True), ("tip", True)]
)
def test_what_is_clamped_to_the_ground_reverses_nothing(how, moves):
    """It stands still; what a drive moves, or another joint holds, does not."""
    built = rooted(how).build()
    assert reverses(built.system) is moves
    drives = {"drive_values": built.drive_values, "load_values": built.load_values}
    assert len(Stepper(built.system, 0.01, 4, **drives).fractions) == (10 if moves else 5)


@pytest.mark.parametrize("order", [4, 6, 8])
def test_a_clamped_rod_has_the_full_order_without_halves(order):
    built = rooted("clamp").build()

    def end(order, n):
        state, _ = Stepper(built.system, 0.05 / n, order).advance(built.state, 0, n)
        return np.hstack([state.r, state.v / 100.0])

    exact = end(8, 100)
    errors = [np.abs(end(order, n) - exact).max() for n in (20, 40)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.4)


def test_a_run_that_took_halves_at_a_clamp_is_retaken_with_them():
    """Files of older versions do not say that there are none."""
    model = rooted("clamp")
    run = simulate(model, 0.04, 0.02, "em4", output_every=1, progress=False)
    assert take_again(run).steps == 2
    assert not take_again(run).differences
    assert run.description["run"].pop("halves") is False
    assert take_again(run).differences


@pytest.mark.parametrize(("order", "substeps"), [(2, 1), (4, 5), (6, 9), (8, 17)])
def test_only_joints_cost_a_composition_twice_the_substeps(order, substeps):
    system, state = free_rod()
    assert Stepper(system, 0.02, order).advance(state, 0, 3)[1].solves == 3 * substeps
    system, state = start_of("hinge")
    twice = 1 if order == 2 else 2
    assert Stepper(system, 0.02, order).advance(state, 0, 3)[1].solves == 3 * substeps * twice
