"""The examples of 001 (Galerkin methods in time): their claims, and the figures behind them."""

import importlib

import numpy as np
import pytest

from rodsim.mechanics import integrate
from rodsim.papers import box_runs, physical_pendulum
from tests.support.studies import is_drawn, unconfirmed_statements

STUDIES = ("spinning_box", "physical_pendulum")

# Claims that do not hold, each with its reason in the report.
KNOWN = {
    ("001 sec. 5.1", "energy conservation of mG(1) requires four Gauss points"),
    ("001 sec. 5.1", "the condition of mG(k) grows as h^-2"),
    ("001 Fig. 7", "continuous and discontinuous multipliers give nearly the same"),
}


T_ORDERS = 2.0  # end time of the convergence studies, with the same steps: orders are as clear as at t = 5
T_GLOBAL = 1.0  # that of the pendulum by BG(k): orders are clearer than at t = 2


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
    assert unconfirmed_statements(*studies.values()) == KNOWN


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_draws_its_picture(studies, name, tmp_path):
    assert is_drawn(studies[name], tmp_path / "picture.png")


# --- 5.1 spinning box ---


def test_box_has_the_moments_of_its_edges():
    system = box_runs.spinning_box()
    p = system.momentum(system.q0, system.v0)
    L = [symmetry(system.q0, p) for symmetry in system.symmetries]
    assert np.abs(np.array(L) - [0.0, 130.0, 29.0]).max() < 1e-13
    assert system.hamiltonian(system.q0, p) == pytest.approx(339.5, rel=1e-15)


def test_error_of_rational_kinetic_energy_falls_with_more_points():
    """A point adds two powers of h: with h = 0.05 and rates of about 5, more than a factor of 100."""
    system = box_runs.rational(box_runs.spinning_box())
    drifts = [
        box_runs.energy_drift(integrate(system, "mG", 0.05, 5.0, k=1, gauss=points)) for points in (2, 3, 4)
    ]
    assert drifts[0] > 100 * drifts[1] > 1e4 * drifts[2] > 1e4 * box_runs.EXACT_ZERO


@pytest.mark.parametrize("t", box_runs.EXACT)
def test_reference_is_the_exact_orientation_to_round_off(t):
    assert np.abs(box_runs.orientation(t, "quaternion") - box_runs.EXACT[t]).max() < 1e-13


@pytest.mark.parametrize("chart", box_runs.CHARTS)
@pytest.mark.parametrize(("undifferentiated", "power"), [(False, -1), (True, -2)])
def test_condition_of_mg_grows_as_1_over_h_and_by_one_power_more_with_rows_times_h(
    chart, undifferentiated, power
):
    for k in (1, 2, 3):
        assert box_runs.mg_condition(chart, k, undifferentiated).order == pytest.approx(power, abs=0.05)


# --- 5.2 physical pendulum ---


@pytest.mark.parametrize("chart", physical_pendulum.CHARTS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_pendulum_conserves_hamiltonian_constraints_and_their_rates_with_2k_points(chart, k):
    run = physical_pendulum.march(chart, k)
    assert physical_pendulum.energy_drift(run) < 3e-14
    for part in (*physical_pendulum.constraints(run), *physical_pendulum.rates(run)):
        assert np.abs(part).max() < 2e-13
