"""The examples of 001 (Galerkin methods in time): their claims, and the figures behind them."""

import importlib

import numpy as np
import pytest

from discretization.time.integrate import integrate
from rodsim.papers import box, physical_pendulum
from rodsim.papers.claims import observed_order
from tests.support.studies import is_drawn

STUDIES = ("spinning_box", "physical_pendulum")

# What does not hold, each with its reason in the report.
KNOWN = {
    ("001 sec. 5.1", "energy conservation of mG(1) requires four Gauss points"),
    ("001 sec. 5.1", "the condition of mG(k) grows as h^-2"),
    ("001 Fig. 7", "continuous and discontinuous multipliers give nearly the same"),
}


T_ORDERS = 2.0  # of the studies of convergence, with the same steps: orders show as well as at t = 5
T_GLOBAL = 1.0  # and of the pendulum by BG(k): they show better than at t = 2


@pytest.fixture(scope="module")
def studies():
    """Every study, run once."""
    modules = {name: importlib.import_module(f"rodsim.papers.{name}") for name in STUDIES}
    with pytest.MonkeyPatch.context() as patch:
        for module in modules.values():
            patch.setattr(module, "T_ORDERS", T_ORDERS)
        patch.setattr(physical_pendulum, "T_GLOBAL", T_GLOBAL)
        return {name: module.study() for name, module in modules.items()}


@pytest.mark.slow
def test_the_known_claims_differ_and_all_others_hold(studies):
    differing = {(c.source, c.statement) for study in studies.values() for c in study.claims if not c.holds}
    assert differing == KNOWN


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_draws_its_picture(studies, name, tmp_path):
    assert is_drawn(studies[name], tmp_path / "picture.png")


# --- 5.1 spinning box ---


def test_box_has_the_moments_of_its_edges():
    system = box.spinning_box()
    p = system.momentum(system.q0, system.v0)
    L = [symmetry(system.q0, p) for symmetry in system.symmetries]
    assert np.abs(np.array(L) - [0.0, 130.0, 29.0]).max() < 1e-13
    assert system.hamiltonian(system.q0, p) == pytest.approx(339.5, rel=1e-15)


@pytest.mark.parametrize("points", box.POINTS)
def test_directors_keep_momentum_and_energy_of_mg1_with_any_number_of_points(points):
    run = box.march("director", 1, points)
    assert box.momentum_drift(run) < 1e-14
    assert box.energy_drift(run) < 1e-14


@pytest.mark.parametrize("chart", box.CHARTS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_mg_keeps_angular_momentum_with_k_points_in_both_charts(chart, k):
    run = box.march(chart, k, k, t_end=2.0)
    assert box.momentum_drift(run) < 5e-14


@pytest.mark.parametrize("k", [1, 2, 3])
def test_mg_keeps_the_energy_in_quaternions_with_2k_points_and_not_with_one_less(k):
    assert box.energy_drift(box.march("quaternion", k, 2 * k, 0.2, 2.0)) < 2e-14
    assert box.energy_drift(box.march("quaternion", k, 2 * k - 1, 0.2, 2.0)) > 1e-9


def test_mg1_in_quaternions_loses_momentum_with_the_points_that_keep_the_energy():
    run = box.march("quaternion", 1, 2)
    assert box.energy_drift(run) < box.EXACT_ZERO
    assert box.momentum_drift(run) > 1e-6
    assert box.energy_drift(box.march("quaternion", 1, 1)) > 1e-6


def test_rational_kinetic_energy_is_kept_ever_better_with_more_points():
    """A point adds two powers of h: with h = 0.05 and rates of about 5, more than a factor of 100."""
    system = box.rational(box.spinning_box())
    found = [box.energy_drift(integrate(system, "mG", 0.05, 5.0, k=1, gauss=points)) for points in (2, 3, 4)]
    assert found[0] > 100 * found[1] > 1e4 * found[2] > 1e4 * box.EXACT_ZERO


@pytest.mark.parametrize("t", box.EXACT)
def test_reference_is_the_exact_orientation_to_round_off(t):
    assert np.abs(box.orientation(t, "quaternion") - box.EXACT[t]).max() < 1e-13


@pytest.mark.parametrize(("chart", "h"), [("quaternion", 0.0125), ("director", 0.01)])
def test_mg3_gives_the_exact_orientation_to_3e_11(chart, h):
    run = box.march(chart, 3, 6, h, 2.0)
    for t, exact in box.EXACT.items():
        assert np.abs(run.q[round(t / h)] - box.in_chart(exact, chart)).max() < 3e-11


@pytest.mark.parametrize("chart", box.CHARTS)
@pytest.mark.parametrize(("k", "largest"), [(1, 2e-3), (2, 3e-6), (3, 1.2e-8)])
def test_mg_converges_with_order_2k(chart, k, largest):
    steps, errors = box.mg_errors(chart, k, T_ORDERS)
    assert observed_order(steps, errors) == pytest.approx(2 * k, abs=0.05)
    assert errors[-1] < largest


@pytest.mark.parametrize("multipliers", box.MULTIPLIERS)
@pytest.mark.parametrize(("k", "order", "largest"), [(1, 2, 1e-2), (2, 2, 5e-3), (3, 4, 2e-6)])
def test_bg_converges_with_orders_2_2_4(multipliers, k, order, largest):
    steps, _, errors = box.bg_errors("quaternion", k, multipliers, T_ORDERS, box.elements_bg(k, T_ORDERS))
    assert observed_order(steps, errors) == pytest.approx(order, abs=0.12)
    assert errors[-1] < largest


def test_bg3_keeps_momentum_and_energy_only_to_order_4():
    runs = [box.solve("quaternion", 3, n, 2.0, "discontinuous") for n in (40, 80)]
    for quantity in (box.momentum_drift, box.energy_drift):
        found = [quantity(run) for run in runs]
        assert observed_order([2.0, 1.0], found) == pytest.approx(4, abs=0.1)
        assert found[-1] > 1e-8


@pytest.mark.parametrize(("multipliers", "power"), [("continuous", -1), ("discontinuous", -2)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_condition_of_bg_grows_by_the_continuity_of_its_multipliers(multipliers, power, k):
    assert observed_order(*box.bg_condition(k, multipliers)) == pytest.approx(power, abs=0.1)


@pytest.mark.parametrize("chart", box.CHARTS)
@pytest.mark.parametrize(("undifferentiated", "power"), [(False, -1), (True, -2)])
def test_condition_of_mg_grows_as_1_over_h_and_by_one_power_more_with_rows_times_h(
    chart, undifferentiated, power
):
    for k in (1, 2, 3):
        steps, numbers = box.mg_condition(chart, k, undifferentiated)
        assert observed_order(steps[1:], numbers[1:]) == pytest.approx(power, abs=0.05)


@pytest.mark.parametrize("chart", box.CHARTS)
@pytest.mark.parametrize(("k", "order", "best"), [(1, 2, 1.2e-3), (2, 2, 6e-4), (3, 4, 7e-8)])
def test_bg_recovers_the_initial_momentum_from_the_orientations_at_both_ends(chart, k, order, best):
    errors = np.array([box.recovered(chart, k, n) for n in (16, 32)])
    assert observed_order([2.0, 1.0], errors[:, 0]) == pytest.approx(order, abs=0.15)
    assert errors[-1, 0] < best
    assert np.all(errors[-1] < errors[0] / 3.5)


# --- 5.2 physical pendulum ---


def test_potential_of_the_pendulum_is_mass_times_height_and_vanishes_at_the_start():
    system = physical_pendulum.physical_pendulum()
    assert system.hamiltonian(system.q0, np.zeros(7)) == 0.0
    assert system.gradient(system.q0) == pytest.approx([0.0, 0.0, 981.0, 0.0, 0.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("chart", physical_pendulum.CHARTS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_pendulum_keeps_hamiltonian_constraints_and_their_rates_with_2k_points(chart, k):
    run = physical_pendulum.march(chart, k)
    assert physical_pendulum.energy_drift(run) < 3e-14
    for part in (*physical_pendulum.constraints(run), *physical_pendulum.rates(run)):
        assert np.abs(part).max() < 2e-13


def test_one_point_loses_hamiltonian_and_rate_of_the_external_constraint_in_quaternions():
    run = physical_pendulum.march("quaternion", 1, 1)
    assert physical_pendulum.energy_drift(run) > 1e-6
    assert np.abs(physical_pendulum.rates(run)[1]).max() > 1e-3


def test_bg1_satisfies_constraints_in_the_mean_and_to_order_2_at_the_nodes():
    runs = [physical_pendulum.solve("quaternion", 1, n, 2.0) for n in (20, 40, 80)]
    assert max(physical_pendulum.means(run).max() for run in runs) < 1e-13
    for part in range(2):
        sizes = [np.abs(physical_pendulum.constraints(run)[part]).max() for run in runs]
        assert observed_order([4.0, 2.0, 1.0], sizes) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize("chart", physical_pendulum.CHARTS)
def test_mg3_gives_the_exact_angle_to_1e_11(chart):
    run = physical_pendulum.march(chart, 3, h=0.025)
    assert max(physical_pendulum.angle_error(run, t) for t in physical_pendulum.EXACT) < 1e-11


@pytest.mark.parametrize("chart", physical_pendulum.CHARTS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_mg_converges_to_the_exact_angle_with_order_2k(chart, k):
    assert observed_order(*physical_pendulum.angle_errors("mG", chart, k, T_ORDERS)) == pytest.approx(
        2 * k, abs=0.05
    )


@pytest.mark.parametrize("chart", physical_pendulum.CHARTS)
@pytest.mark.parametrize(("k", "order"), [(1, 2), (2, 2), (3, 4)])
def test_bg_converges_to_the_exact_angle_with_orders_2_2_4(chart, k, order):
    assert observed_order(*physical_pendulum.angle_errors("BG", chart, k, T_GLOBAL)) == pytest.approx(
        order, abs=0.05
    )
