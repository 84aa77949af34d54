"""`em-ggl`: what `em` keeps and G v = 0 at the ends of steps; full order of its compositions without halves."""

from functools import cache

import numpy as np
import pytest

from discretization.consistent import project_velocities
from discretization.state_measures import constraint_residual, energies, momenta, velocity_residual
from discretization.time.stepper import Stepper
from rigid import quaternions
from rigid.errors import ModelError
from rigid.system import DISTANCE, Constraints, State
from rodsim import Box, Model, simulate
from tests.support.arrays import free_rod, make_state, make_system
from tests.support.joined_bodies import chain, hinge
from tests.support.mechanisms import flail, slider

H, STEPS = 0.02, 100


def ring():
    """Four bodies in a closed loop of ball joints out of one plane."""
    model = Model("ring")
    corners = np.array([(0, 0, 0), (1, 0.1, 0.2), (1.1, 1, -0.1), (0.1, 0.9, 0.1)])
    bodies = [
        model.add_body(
            f"bar {k}",
            Box(0.8, 0.2, 0.3, density=100 + 10 * k),
            tuple((corners[k] + corners[k - 1]) / 2),
            velocity=(0.2 * k, 0.3, -0.1 * k * k),
            angular_velocity=(1, k, 2 - k),
        )
        for k in range(4)
    ]
    for k in range(4):
        model.add_joint(f"ball {k}", "spherical", bodies[k], bodies[(k + 1) % 4], at=tuple(corners[k]))
    return model


def link():
    """Two bodies with points at a constant distance, as arrays."""
    x = np.array([[0.2, -0.1, 0.3]])
    quat = quaternions.normalize(np.array([[1, 0.2, 0.1, 0], [1, 0, -0.3, 0.2]]))
    r = np.array([[0, 0, 0], [1, 0.2, 0.4]])
    d = r[1] + quaternions.rotate(quat[1], -x[0]) - r[0] - quaternions.rotate(quat[0], x[0])
    constraints = Constraints(
        np.array([DISTANCE]), np.array([[1, 2]]), x, -x, x, x, np.array([d @ d / 2]), np.zeros(1, np.int64)
    )
    inertia = np.array([np.diag([0.3, 0.2, 0.4]), np.diag([0.1, 0.25, 0.2])])
    system = make_system(np.array([1.0, 2.0]), inertia, constraints=constraints)
    spin = np.array([[1.0, 2.0, -0.5], [0.5, -1.0, 3.0]])
    return system, make_state(system, r, quat, np.array([[0, 0.5, 1], [1, 0, 0.3]]), spin)


MODELS = {
    "chain": chain,
    "slider": slider,
    "flail": flail,
    "flail, mean mass": lambda: flail("mean"),
    "flail, consistent mass": lambda: flail("consistent"),
    "ring": ring,
    "link": link,
}


def start_of(name, gravity=False):
    made = MODELS[name]()
    if isinstance(made, Model):
        made = made.build()
        made = made.system, made.state
    system, state = made
    if not gravity:
        system = system._replace(gravity=np.zeros(3))
    return system, project_velocities(system, state)[0]


@cache
def travelled(name, order=2, hidden=True):
    """Over the run: changes of energy, P, L, relative to their size; largest |g| and |G v| at the ends of steps."""
    system, start = start_of(name)
    stepper = Stepper(system, H, order, hidden=hidden)
    g, rate, state = [], [], start
    for k in range(STEPS if order == 2 else STEPS // 5):
        state, _ = stepper.advance(state, k, 1)
        g.append(np.abs(constraint_residual(system, state)).max())
        rate.append(np.abs(velocity_residual(system, state)).max())
    energy = energies(system, start)
    (P0, L0), (P1, L1) = momenta(system, start), momenta(system, state)
    of_P = np.sqrt(2 * energy.kinetic * system.frames.mass[system.frames.fixed == 0].sum())
    return (
        abs(energies(system, state).total - energy.total) / energy.kinetic,
        np.abs(P1 - P0).max() / of_P,
        np.abs(L1 - L0).max() / np.linalg.norm(L0),
        max(g),
        max(rate),
    )


@pytest.mark.parametrize("name", MODELS)
def test_em_ggl_keeps_every_invariant_and_both_levels_of_the_joints(name):
    energy, P, L, g, rate = travelled(name)
    assert max(energy, P, L) < 1e-12
    assert g < 1e-13
    assert rate < 1e-12


@pytest.mark.parametrize("name", MODELS)
def test_em_keeps_velocities_of_joints_in_the_mean_of_a_step_only(name):
    """The negative control."""
    energy, _, _, g, rate = travelled(name, hidden=False)
    assert energy < 1e-12
    assert g < 1e-13
    assert rate > 1e-5


@pytest.mark.parametrize("order", [4, 6])
def test_compositions_of_em_ggl_keep_every_invariant(order):
    energy, P, L, g, rate = travelled("chain", order)
    assert max(energy, P, L) < 1e-12
    assert g < 1e-13
    assert rate < 1e-12


@cache
def end_of(order, n):
    """Positions and velocities of the chain with spring and gravity after n steps to t = 0.5."""
    system, state = start_of("chain", gravity=True)
    end, _ = Stepper(system, 0.5 / n, order, hidden=True).advance(state, 0, n)
    return end.r, np.hstack([end.v, end.Omega])


@pytest.mark.parametrize(("order", "steps"), [(2, (16, 32)), (4, (12, 24)), (6, (10, 20))])
def test_em_ggl_has_its_order_in_positions_and_velocities(order, steps):
    exact = end_of(6, 60)
    errors = [[np.abs(of - to).max() for of, to in zip(end_of(order, n), exact, strict=True)] for n in steps]
    assert np.log2(np.divide(*errors)) == pytest.approx([order, order], abs=0.15)


def test_em_ggl_agrees_with_em_on_the_motion():
    """Two different schemes of high order: what they agree on is the motion."""
    system, state = start_of("chain", gravity=True)
    em, _ = Stepper(system, 0.5 / 48, 6).advance(state, 0, 48)
    r, velocities = end_of(6, 60)
    assert em.r == pytest.approx(r, abs=1e-8)
    assert np.hstack([em.v, em.Omega]) == pytest.approx(velocities, abs=1e-6)


def test_a_composition_of_em_ggl_needs_no_halves():
    system, state = start_of("chain")
    assert [Stepper(system, H, order, hidden=True).advance(state, 0, 2)[1].solves for order in (2, 4, 6)] == [
        2,
        10,
        18,
    ]


def test_newton_takes_about_as_many_iterations_as_with_em():
    system, state = start_of("chain", gravity=True)
    em, ggl = (
        Stepper(system, H, 2, hidden=hidden).advance(state, 0, 50)[1].iterations for hidden in (False, True)
    )
    assert ggl < 1.2 * em


@pytest.mark.parametrize("order", [2, 4])
def test_without_joints_em_ggl_is_em_to_the_bit(order):
    system, state = free_rod()
    em, ggl = (Stepper(system, H, order, hidden=hidden).advance(state, 0, 5)[0] for hidden in (False, True))
    assert all(np.array_equal(a, b) for a, b in zip(em, ggl, strict=True))


def test_sparse_and_band_solver_give_the_same_motion():
    system, state = start_of("flail, mean mass")
    band, _ = Stepper(system, H, hidden=True).advance(state, 0, 10)
    sparse, _ = Stepper(system, H, band_limit=2, hidden=True).advance(state, 0, 10)
    assert np.abs(band.r - sparse.r).max() < 1e-12


def test_a_hinge_on_the_ground_keeps_energy_and_its_velocity():
    built = hinge().build()
    system, state = built.system, project_velocities(built.system, built.state)[0]
    energy = energies(system, state).total
    after, _ = Stepper(system, H, hidden=True).advance(state, 0, STEPS)
    assert energies(system, after).total == pytest.approx(energy, abs=1e-12 * energies(system, after).kinetic)
    assert np.abs(velocity_residual(system, after)).max() < 1e-12


def damped_hinge():
    model = hinge()
    model.add_spring(
        "cord",
        model.ground.at((2, 0, 1)),
        model.bodies["bar"].at((0.3, 0, 0)),
        stiffness=40.0,
        length=1.0,
        damping=3.0,
    )
    model.add_force("push", model.bodies["bar"], (1.0, 5.0, -2.0))
    return model


def test_work_and_dissipation_are_accounted_for():
    result = simulate(damped_hinge(), 1.0, H, "em-ggl", output_every=10)
    names = ("total", "work", "dissipation", "kinetic", "velocity_constraint")
    total, work, lost, kinetic, rate = (result.audit_column(name) for name in names)
    assert min(abs(work[-1]), lost[-1]) > 0.1
    assert np.ptp(total - work + lost) < 1e-12 * kinetic.max()
    assert rate[1:].max() < 1e-12


def test_dissipation_refuses_negative_substeps_by_name():
    with pytest.raises(ModelError, match=r"'em4-ggl' takes negative substeps.*use integrator 'em-ggl'"):
        simulate(damped_hinge(), 1.0, H, "em4-ggl")


@pytest.mark.parametrize("integrator", ["em-ggl", "em6-ggl"])
def test_a_resumed_run_is_the_uninterrupted_one_to_the_bit(integrator, tmp_path):
    settings = {"dt": H, "integrator": integrator, "output_every": 4}
    whole = simulate(chain(), 0.24, output=tmp_path / "whole.vtkhdf", **settings)
    simulate(chain(), 0.12, output=tmp_path / "parts.vtkhdf", **settings)
    parts = simulate(chain(), 0.24, output=tmp_path / "parts.vtkhdf", resume=True, **settings)
    for one, other in zip(whole.state(-1), parts.state(-1), strict=True):
        assert np.array_equal(one, other)


def test_a_step_that_fails_is_halved_and_keeps_the_invariants():
    """Five times the usual step of a chain that spins twelve times as fast fails; two halves of it do not."""
    system, state = start_of("chain")
    state = state._replace(v=12 * state.v, Omega=12 * state.Omega)
    energy = energies(system, state)
    after, report = Stepper(system, 5 * H, hidden=True).advance(state, 0, 20)
    assert report.halvings > 0
    assert energies(system, after).total == pytest.approx(energy.total, abs=1e-10 * energy.kinetic)
    assert np.abs(velocity_residual(system, after)).max() < 1e-10


def test_a_step_that_folds_an_element_is_halved():
    """Ends of an element that turn against each other by more than pi in the predicted step."""
    system, state = start_of("flail")
    spin = state.Omega.copy()
    spin[-1], spin[-2] = (0, 0, 60), (0, 0, -60)
    state = state._replace(Omega=spin)
    energy = energies(system, state)
    after, report = Stepper(system, 0.05, hidden=True).advance(state, 0, 2)
    assert report.halvings > 0
    assert energies(system, after).total == pytest.approx(energy.total, abs=1e-11 * energy.kinetic)


def test_a_step_does_not_change_its_input():
    system, state = start_of("slider")
    copy = State(*(array.copy() for array in state))
    Stepper(system, H, 4, hidden=True).advance(state, 0, 3)
    assert all(np.array_equal(a, b) for a, b in zip(state, copy, strict=True))
