"""The energy-momentum step: invariants at round-off, order 2, 4, 6, exact solutions, restart to the bit."""

import numpy as np
import pytest

from discretization.state_measures import energies, momenta
from discretization.time.stepper import Stepper
from rigid import quaternions
from rigid.system import State
from rodsim import Model, Sphere, simulate
from tests.support.arrays import asymmetric_top, free_rod

SYSTEMS = {"body": (asymmetric_top, 0.02), "rod": (free_rod, 0.02)}
ORDERS = [2, 4, 6]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_em_conserves_energy_and_momenta(name, order):
    make, h = SYSTEMS[name]
    system, state = make()
    after, _ = Stepper(system, h, order).advance(state, 0, 300)
    before_P, before_L = momenta(system, state)
    P, L = momenta(system, after)
    energy = energies(system, state).total
    # 300 steps of round-off; the linear momentum of the body is zero
    assert abs(energies(system, after).total - energy) < 1e-12 * energy
    assert np.abs(P - before_P).max() < 1e-12
    assert np.abs(L - before_L).max() < 1e-12 * np.linalg.norm(before_L)
    assert np.abs(np.linalg.norm(after.quat, axis=1) - 1).max() < 1e-15


def test_free_asymmetric_body_approaches_the_exact_solution():
    """Attitude at t = 0.1 of the body J = diag(6, 8, 3), Omega0 = (10, 20, 20): Jacobi's elliptic
    functions.
    """
    exact = [0.19544703333727887, 0.61427117054739361, 0.73098487729427010, 0.22390287037256214]
    system, state = asymmetric_top()
    after, _ = Stepper(system, 0.1 / 256, 6).advance(state, 0, 256)
    assert np.abs(after.quat[1] - exact).max() < 1e-11
    assert (
        np.abs(after.Omega[1] - [24.485755354502755, 13.236370466398553, -0.59852132422474882]).max() < 1e-9
    )


def body_errors(order):
    exact = np.array([0.19544703333727887, 0.61427117054739361, 0.73098487729427010, 0.22390287037256214])
    system, state = asymmetric_top()
    counts = {2: (64, 128), 4: (32, 64), 6: (24, 48)}[order]
    return [
        np.abs(Stepper(system, 0.1 / n, order).advance(state, 0, n)[0].quat[1] - exact).max() for n in counts
    ]


def rod_errors(order):
    """Against the same mesh integrated with a far smaller step."""
    system, state = free_rod()
    t_end = 0.2
    exact = Stepper(system, t_end / 1200, 6).advance(state, 0, 1200)[0].r
    counts = {2: (160, 320), 4: (80, 160), 6: (160, 320)}[order]
    return [np.abs(Stepper(system, t_end / n, order).advance(state, 0, n)[0].r - exact).max() for n in counts]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("errors", [body_errors, rod_errors])
def test_observed_order_is_the_declared_one(errors, order):
    coarse, fine = errors(order)
    assert abs(np.log2(coarse / fine) - order) < 0.1


@pytest.mark.parametrize("order", ORDERS)
def test_a_run_in_two_parts_is_the_same_to_the_bit(order):
    system, state = free_rod()
    whole, _ = Stepper(system, 0.02, order).advance(state, 0, 20)
    part, _ = Stepper(system, 0.02, order).advance(state, 0, 7)
    rest, _ = Stepper(system, 0.02, order).advance(State(*(np.array(a) for a in part)), 7, 13)
    assert all(np.array_equal(a, b) for a, b in zip(whole, rest, strict=True))


def test_a_step_does_not_change_its_input():
    system, state = free_rod()
    copy = [array.copy() for array in state]
    Stepper(system, 0.02).advance(state, 0, 3)
    assert all(np.array_equal(a, b) for a, b in zip(state, copy, strict=True))


def test_em_is_time_reversible():
    system, state = free_rod()
    there, _ = Stepper(system, 0.02).advance(state, 0, 20)
    turned = there._replace(v=-there.v, Omega=-there.Omega)
    back, _ = Stepper(system, 0.02).advance(turned, 0, 20)
    assert np.abs(back.r - state.r).max() < 1e-10
    assert np.abs(np.abs(np.sum(back.quat * state.quat, axis=1)) - 1).max() < 1e-10


def test_sparse_and_band_solver_give_the_same_motion():
    system, state = free_rod()
    band, _ = Stepper(system, 0.02).advance(state, 0, 10)
    sparse, _ = Stepper(system, 0.02, band_limit=2).advance(state, 0, 10)
    assert np.abs(band.r - sparse.r).max() < 1e-12


def test_a_common_rigid_motion_of_the_start_moves_the_result():
    system, state = free_rod()
    g = quaternions.normalize([0.3, -0.5, 0.2, 0.8])
    moved = state._replace(
        r=quaternions.rotate(g, state.r),
        v=quaternions.rotate(g, state.v),
        quat=quaternions.multiply(g, state.quat),
    )
    plain, _ = Stepper(system, 0.02).advance(state, 0, 20)
    after, _ = Stepper(system, 0.02).advance(moved, 0, 20)
    assert np.abs(quaternions.rotate(g, plain.r) - after.r)[1:].max() < 1e-11


@pytest.mark.parametrize("kind", ["force", "moment"])
def test_a_body_at_rest_takes_its_first_load(kind):
    """The residual of a body at rest rounds as its load does, which nothing else tells: v = F t/m, omega = M t/J."""
    model = Model("ball")
    ball = model.add_body("ball", Sphere(0.1, density=1000))
    getattr(model, f"add_{kind}")("push", ball, (0.7, 0.2, -0.1))
    result = simulate(model, 0.01, 1e-3)
    mass, inertia = ball.properties.mass, ball.properties.inertia[0, 0]
    rate = result.body("ball").v[-1] * mass if kind == "force" else result.body("ball").omega[-1] * inertia
    assert rate == pytest.approx(np.array([0.7, 0.2, -0.1]) * 0.01, rel=1e-9)
    assert result.halvings.sum() == 0
