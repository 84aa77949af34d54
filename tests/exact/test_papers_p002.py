"""The examples of 002 secs. 6.1, 6.2 (GGL schemes): their claims, and the figures behind them."""

import importlib
from functools import cache

import numpy as np
import pytest

from discretization.time.integrate import integrate
from rigid.errors import ConvergenceError
from rodsim.papers import gyroscopic_top, pendulum
from rodsim.papers.claims import drift, observed_order
from tests.support.studies import is_drawn

STUDIES = ("pendulum", "gyroscopic_top")

# What does not hold, each with its reason in the report.
KNOWN = {
    "pendulum": {
        ("002 Fig. 14", "VI-B keeps the secondary constraint (94) on momenta"),
        ("002 Figs. 4, 5", "VI-A and VI-B oscillate slightly in lambda and gamma, respectively"),
        ("002 sec. 4.3.1", "VI-A can be used for theta in (0, 1)"),
        ("002 sec. 4.3.2", "VI-B can be used for vartheta in (0, 1], vartheta = 1 included"),
    },
    "gyroscopic_top": {("002 sec. 6.2", "VI-B keeps the velocity constraints on momenta")},
}


@pytest.fixture(scope="module")
def study_of():
    """A study by name, run once."""
    return cache(lambda name: importlib.import_module(f"rodsim.papers.{name}").study())


@pytest.fixture(scope="module")
def swings():
    """The pendulum with the paper's step."""
    return {
        name: integrate(pendulum.pendulum(), name, pendulum.H, pendulum.T_END) for name in pendulum.SCHEMES
    }


@pytest.fixture(scope="module")
def tops():
    """The gyroscopic top with the step of 002 Fig. 17."""
    return {
        name: integrate(gyroscopic_top.top_for(name), name, 0.002, 1.0) for name in gyroscopic_top.SCHEMES
    }


@pytest.mark.parametrize("name", STUDIES)
def test_every_claim_holds_but_the_known_ones(study_of, name):
    differing = {(claim.source, claim.statement) for claim in study_of(name).claims if not claim.holds}
    assert differing == KNOWN[name]


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_draws_its_picture(study_of, name, tmp_path):
    assert is_drawn(study_of(name), tmp_path / "picture.png")


# --- 002 sec. 6.1, pendulum ---


def test_pendulum_by_vi_s_follows_the_trajectory_of_the_papers_program(swings):
    assert pendulum.distance_to_published(swings["VI-S"]) < 1e-9  # printed to 12 digits


@pytest.mark.parametrize("method", pendulum.THETA_METHODS + pendulum.HIGH_ORDER, ids=lambda m: m.label)
def test_pendulum_converges_to_the_exact_motion_with_the_order_of_the_scheme(method):
    h, q, p = pendulum.exact_errors(method)
    assert (observed_order(h, q), observed_order(h, p)) == pytest.approx((method.order,) * 2, abs=0.1)
    assert q[-1] < {1: 2.2e-4, 2: 1.1e-4, 4: 2.4e-7, 6: 2.6e-11, 8: 1.8e-11}[method.order]
    assert p[-1] < {1: 7e-4, 2: 4e-4, 4: 1e-6, 6: 1.1e-10, 8: 8e-11}[method.order]


@pytest.mark.parametrize("name", pendulum.SCHEMES)
def test_every_ggl_scheme_keeps_the_angular_momentum_of_the_pendulum(swings, name):
    assert drift(swings[name].momentum(swings[name].system.symmetries[0])) < 2e-14


def test_ggl_em_keeps_energy_and_both_constraints_of_the_pendulum(swings):
    run = swings["GGL-EM"]
    assert drift(run.energy()) < 1e-13
    assert run.position_residual().max() < 1e-15
    assert run.velocity_residual().max() < 5e-15


@pytest.mark.parametrize(("name", "order"), [("VI-S", 1), ("VI-A", 2), ("VI-B", 1)])
def test_energy_of_variational_schemes_fluctuates_by_their_order(name, order):
    steps = [0.02, 0.01, 0.005]
    found = [drift(integrate(pendulum.pendulum(), name, h, 5.0).energy()) for h in steps]
    assert observed_order(steps, found) == pytest.approx(order, abs=0.1)


def test_vi_s_keeps_both_constraints_and_vi_a_neither(swings):
    assert swings["VI-S"].position_residual().max() < 1e-15
    assert swings["VI-S"].velocity_residual().max() < 5e-15
    assert swings["VI-A"].position_residual().max() > 1e-4
    assert swings["VI-A"].velocity_residual().max() > 1e-4


def test_vi_b_keeps_the_velocity_constraint_for_its_velocity_and_to_first_order_for_momenta(swings):
    assert swings["VI-B"].position_residual().max() < 1e-15
    assert pendulum.scheme_velocity_residual(swings["VI-B"]).max() < 5e-15
    steps = [0.0125, 0.00625, 0.003125]
    found = [integrate(pendulum.pendulum(), "VI-B", h, 5.0).velocity_residual().max() for h in steps]
    assert observed_order(steps, found) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("theta", [0.3, 0.7])
def test_violation_by_vi_a_off_the_midpoint_grows_by_the_ratio_of_its_weights(theta):
    ratio = max(theta, 1 - theta) / min(theta, 1 - theta)
    assert pendulum.violation_growth(theta) == pytest.approx(ratio, rel=5e-3)


@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
def test_vi_b_is_singular_with_the_multiplier_at_the_end_only(theta):
    with pytest.raises(ConvergenceError, match="singular") as caught:
        integrate(pendulum.pendulum(), "VI-B", 0.005, 0.05, theta=theta, vartheta=1.0)
    assert caught.value.singular
    assert pendulum.failure("VI-B", 0.005, theta=theta, vartheta=1.0) == "singular"


@pytest.mark.parametrize("s", [1, 2, 3])
def test_gauss_and_lobatto_spark_are_one_method_under_constant_mass_and_weight(s):
    gauss = integrate(pendulum.pendulum(), "GL-SPARK", 0.05, 2.0, s=s)
    lobatto = integrate(pendulum.pendulum(), "Lobatto-IIIA-B", 0.05, 2.0, s=s + 1)
    assert np.abs(gauss.q - lobatto.q).max() < 1e-13
    assert np.abs(gauss.p - lobatto.p).max() < 1e-11


# --- 002 sec. 6.2, top in directors ---


def precession(t, vector):
    """Steady precession about the vertical."""
    angle = gyroscopic_top.PRECESSION * t
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ vector


def test_spin_rate_of_112_gives_steady_precession():
    assert pytest.approx(135.609, abs=1e-3) == gyroscopic_top.SPIN
    axis, steps, errors = precession(0.1, gyroscopic_top.AXIS), [2e-3, 1e-3, 5e-4], []
    for h in steps:
        run = integrate(gyroscopic_top.director_top(), "mG", h, 0.1, k=3)
        errors.append(np.abs(run.q[-1, :3] - gyroscopic_top.LENGTH * axis).max())
        assert np.abs(run.q[-1, 9:12] - run.q[-1, :3] / gyroscopic_top.LENGTH).max() < 1e-11
    assert observed_order(steps, errors) == pytest.approx(6, abs=0.1)
    assert errors[-1] < 2e-13


@pytest.mark.parametrize("name", gyroscopic_top.SCHEMES)
def test_top_converges_to_steady_precession_with_the_order_of_the_scheme(name):
    centre = precession(gyroscopic_top.T_ORDER, gyroscopic_top.LENGTH * gyroscopic_top.AXIS)
    momentum = gyroscopic_top.MASS * gyroscopic_top.PRECESSION * np.cross([0.0, 0.0, 1.0], centre)
    steps = [128, 256, 512] if name == "VI-S" else [32, 64, 128]
    errors = np.array([gyroscopic_top.errors_at_end(name, n, momentum) for n in steps])
    h = [gyroscopic_top.T_ORDER / n for n in steps]
    order = gyroscopic_top.ORDERS[name]
    assert observed_order(h, errors[:, 0]) == pytest.approx(order, abs=0.05)
    assert observed_order(h, errors[:, 1]) == pytest.approx(order, abs=0.05)
    assert errors[steps.index(128)].max() < {1: 2e-6, 2: 3e-9}[order]


@pytest.mark.parametrize("name", gyroscopic_top.SCHEMES)
def test_height_of_the_top_varies_with_a_coarse_step_by_at_most_some_per_cent(tops, name):
    height = gyroscopic_top.height(tops[name])
    assert 1e-3 < np.abs(height / gyroscopic_top.HEIGHT - 1).max() < 0.05


@pytest.mark.parametrize("name", gyroscopic_top.SCHEMES)
def test_every_scheme_keeps_the_angular_momentum_of_the_top_about_the_vertical(tops, name):
    momentum = gyroscopic_top.vertical_momentum(tops[name])
    top, c = gyroscopic_top, np.cos(gyroscopic_top.TILT)
    spin = top.INERTIA * (top.PRECESSION * c + top.SPIN)  # about the axis of the top
    assert momentum[0] == pytest.approx(top.INERTIA_TIP * top.PRECESSION * (1 - c**2) + spin * c, rel=1e-13)
    assert drift(momentum) < 1e-14 * momentum[0]


def test_ggl_em_keeps_energy_and_constraints_of_the_top(tops):
    run = tops["GGL-EM"]
    assert drift(run.energy()) < 1e-13 * run.energy()[0]
    assert run.position_residual().max() < 1e-15
    assert run.velocity_residual().max() < 1e-12  # rad/s, of 136


def test_vi_s_violates_velocity_constraints_but_the_linear_ones(tops):
    residual = np.abs(gyroscopic_top.hidden_constraints(tops["VI-S"])).max(axis=0)
    assert residual[:6].max() > 1e-3
    assert residual[6:].max() < 1e-15


def test_vi_b_keeps_the_velocity_constraints_of_the_top_for_its_velocity_only(tops):
    of_scheme = gyroscopic_top.hidden_constraints(tops["VI-B"], of_scheme=True)
    assert np.abs(of_scheme).max() < 1e-12
    assert np.abs(gyroscopic_top.hidden_constraints(tops["VI-B"])).max() > 10


def test_bobenko_suris_scheme_keeps_length_of_the_axis_and_momentum_about_it(tops):
    run = tops["BS99"]
    assert drift(np.einsum("ij,ij->i", run.q, run.q)) < 1e-14
    assert drift(np.einsum("ij,ij->i", run.p, run.q)) < 1e-15
