"""The examples of 000 (Livens energy-momentum schemes): their claims, and the figures behind them."""

import importlib
import io
from functools import partial

import numpy as np
import pytest

from rodsim.papers import claims_report as report
from rodsim.papers import closed_loop, free_body, heavy_top, mass_spring, spring_pendulum
from rodsim.papers.claims import Study, drift, observed_order
from tests.support.studies import is_drawn, unconfirmed_statements

STUDIES = ("mass_spring", "spring_pendulum", "free_body", "heavy_top", "closed_loop")

# Claims that do not hold, each with its reason in the report.
KNOWN = {
    ("000 remark 4.5", "the integrator conserves the momentum maps of the system's symmetries"),
    ("rodsim", "EML runs to t = 10 with h = 0.05, the step of the run to t = 2"),
    ("000 (114)", "about the tip J1 = J2 = J0, J3 = J0 + m l^2"),
    ("000 Fig. 16", "EML conserves the total angular momentum exactly after the load has ended"),
    (
        "rodsim",
        "EML and EML-kappa stay near the motion to t = 10: T, which the motion conserves, changes with order 2",
    ),
}
# Claims about measured times, which a busy machine can distort.
TIMED = {"REML reduces the effort of EML by nearly 50 %", "Null-EML is notably cheaper again"}

# Trajectories of the paper's own program: step -> (q, p, v, lambda).
MASS_SPRING_EML = {
    5: [
        0.455316150351, 1.55531615035, -0.389437992218, 1.4657707416, 0.389200184584, 0.389200184584,
        0.732885370798, 0.732885370798, -0.343685186214, -1.26824964683,
    ],
    50: [
        -0.614053245601, 0.485946754399, -0.0238754490063, -0.240455967087, -1.20421870889, -1.20421870889,
        -0.120227983544, -0.120227983544, -1.08399072535, 0.0787863603852,
    ],
    100: [
        0.869890660899, 1.9698906609, 0.304267983434, 0.355237241731, -0.551483627316, -0.551483627316,
        0.177618620865, 0.177618620865, -0.729102248181, 1.13782626604,
    ],
}  # fmt: skip
HEAVY_TOP_EML = {
    10: [
        0.685507574491, 0.414423734698, 0.175223963204, 0.572388763126,
        -0.0989240938199, -0.0102463959316, -0.0125395010452, 0.129699157951,
        -38.5550418852, 11.5819619923, -25.9665220804, 51.5427182053, 21.0767210587,
    ],
    100: [
        0.908357509955, -0.287280636255, -0.0400578763599, -0.301250455075,
        0.0503083078193, 0.00706909294835, 0.012250559761, 0.14334919438,
        20.8401363649, -2.39837738257, 18.90626139, 64.3562713186, 20.0263200886,
    ],
    200: [
        0.58006227945, 0.393584961818, -0.00404106218983, -0.713163585446,
        0.118540808849, 0.0159064312943, -0.00887213852435, 0.105195971985,
        48.3882610421, 0.283465316165, -24.6873497348, 44.8761304989, 20.1180174421,
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def studies():
    """Every study, run once."""
    return {name: importlib.import_module(f"rodsim.papers.{name}").study() for name in STUDIES}


def test_every_claim_holds_except_known_differences(studies):
    assert {claim for claim in unconfirmed_statements(*studies.values()) if claim[1] not in TIMED} == KNOWN


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_draws_its_picture(studies, name, tmp_path):
    assert is_drawn(studies[name], tmp_path / "picture.png")


# --- the report ---


def report_of(monkeypatch, holds, reason):
    """Number of unexplained differences and text that `reproduce` reports of a study of one claim."""
    result = Study("sample", "Sample", "nowhere")
    result.claim("nowhere: it holds", "measured", holds, reason)
    monkeypatch.setattr(report, "run_study", lambda name: result)
    stream = io.StringIO()
    return report.reproduce(["mass-spring"], None, stream), stream.getvalue()


@pytest.mark.parametrize(
    ("holds", "reason", "unexplained", "verdict"),
    [
        (True, "", 0, "PASS"),
        (True, "why", 0, "PASS"),
        (False, "why", 0, "DIFFERS"),
        (False, "", 1, "DIFFERS"),
    ],
)
def test_a_difference_counts_as_unexplained_without_a_reason(
    monkeypatch, holds, reason, unexplained, verdict
):
    count, text = report_of(monkeypatch, holds, reason)
    assert count == unexplained
    assert verdict in text
    assert ("reason: why" in text) == (bool(reason) and not holds)  # a claim that holds needs no explanation


# --- 5.1 mass-spring ---


@pytest.mark.parametrize(
    ("run", "printed", "error"),
    [  # printed to 12 digits; v of the top is of size 60
        (mass_spring.run, MASS_SPRING_EML, 1e-10),
        (partial(heavy_top.run, "EML"), HEAVY_TOP_EML, 1e-9),
    ],
)
def test_trajectories_are_those_of_the_papers_program(run, printed, error):
    run = run()
    for k, values in printed.items():
        ours = np.concatenate([run.q[k], run.p[k], run.v[k], run.lam[k]])
        assert np.abs(ours - values).max() < error


# --- 5.2 spring pendulum ---


def test_gonzalez_derivatives_in_coordinates_break_a_cyclic_momentum_and_midpoints_do_not():
    broken, conserving = (spring_pendulum.run(name) for name in ("EML", "MPL"))
    (symmetry,) = broken.system.symmetries
    losses = [drift(broken.momentum(symmetry))]
    losses += [drift(spring_pendulum.run(h=h).momentum(symmetry)) for h in (0.005, 0.0025)]
    assert observed_order([4, 2, 1], losses) == pytest.approx(2, abs=0.1)
    assert drift(conserving.momentum(symmetry)) < 1e-14


# --- 5.3 free body ---


def test_reduced_schemes_cost_less():
    times = free_body.cost(0.005)
    assert times["Null-EML"] < times["REML"] < times["EML"]


def test_alternating_part_of_the_momentum_grows_with_eml_and_not_with_the_midpoint_rule():
    growth = {}
    for name in ("EML", "MPL"):
        part = free_body.alternating(free_body.integrate(free_body.free_body(), name, 0.005, 10.0))
        growth[name] = part[-100:].max() / part[:100].max()
    assert growth["EML"] > 5
    assert growth["MPL"] < 1.1


# --- 5.4 heavy top ---


def test_moments_about_the_tip_give_the_published_spin_rate():
    assert heavy_top.moments() == pytest.approx(
        [0.0045062219624928597] * 2 + [0.00053014376029327761], rel=1e-14
    )
    assert heavy_top.spin_rate() == pytest.approx(135.6, rel=1e-14)


# --- 5.5 closed loop ---


def test_violation_of_angular_momentum_by_eml_is_of_second_order():
    steps = [0.1, 0.05, 0.025]
    drifts = [closed_loop.angular_drift(closed_loop.run("EML", h, 2.0)).max() for h in steps]
    assert observed_order(steps, drifts) == pytest.approx(2, abs=0.02)


def test_exact_motion_of_the_loop_is_that_of_a_scheme_of_order_6():
    errors = []
    for h in (0.05, 0.025):
        run = closed_loop.accurate(h)
        errors.append(np.abs(closed_loop.centres(run)[-1] - closed_loop.EXACT).max())
        energy = run.total_energy()[-1]
    assert observed_order([2, 1], errors) == pytest.approx(6, abs=0.2)
    assert errors[-1] < 1e-10
    assert energy == pytest.approx(closed_loop.KINETIC, abs=1e-8)
