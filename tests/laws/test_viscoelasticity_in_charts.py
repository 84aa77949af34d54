"""Relaxing rods under chart schemes: as under `em`, branches are condensed over a step and counted in the energy."""

import numpy as np
import pytest

from rodsim import Model, ModelError, Result, audit, simulate
from rodsim.mechanics import integrate
from tests.support.relaxation import FRACTION, TAU, bar
from tests.support.rods import free_rod, soft

H, STEPS = 0.01, 6
BETWEEN_ENDS = [
    ("EML", "quaternion"),
    ("REML", "director"),
    ("Null-EML", "quaternion"),
    ("EML-kappa", "quaternion"),
    ("EMH", "quaternion-alpha"),
    ("EM-G", "director"),
    ("GGL-EM", "quaternion-alpha"),
    ("GGL-EM", "director"),
]
IN_THE_MIDDLE = [
    ("MPL", "quaternion"),
    ("MPH", "director"),
    ("GL-SPARK(1)", "director"),
    ("mG(1, 1)", "director"),
]


def flying_rod(element="se3", n_elements=2, damping_time=0.002):
    """A rod bent from its stress-free shape in free flight, with viscosity."""
    section = soft(damping_time).with_relaxation(0.05, fraction=0.5)
    straight = [(0, 0, 0), (1.2, 0, 0)]
    return free_rod(element, n_elements, mass="lumped", section=section, stress_free=straight)


def run(integrator, chart=None, h=H, model=None, **options):
    t_end = options.pop("t_end", STEPS * H)
    model = flying_rod() if model is None else model
    return simulate(model, t_end, h, integrator, chart=chart, output_every=1, progress=False, **options)


def trajectory(integrator, chart, h=H, *rod):
    return integrate(flying_rod(*rod).mechanical_system(chart), integrator, h, STEPS * H)


def balance_error(trajectory):
    """Error of energy plus dissipation, relative to the initial energy."""
    E, lost = trajectory.energy(), trajectory.dissipation
    assert np.all(np.diff(lost) > 0.0)
    assert lost[-1] > 0.01 * E[0]
    return np.abs(E + lost - E[0]).max() / E[0]


@pytest.mark.parametrize(("integrator", "chart"), BETWEEN_ENDS)
def test_relaxing_rod_dissipation_equals_its_energy_loss_in_charts(integrator, chart):
    computed = trajectory(integrator, chart)
    # if branches were not counted, or only in part, the error would be some per cent
    assert balance_error(computed) < 1e-12
    turns = chart == "director" or integrator in ("EML-kappa", "GGL-EM")
    for symmetry in computed.system.symmetries:
        if turns or not symmetry.name.startswith("L"):
            assert np.ptp(computed.momentum(symmetry)) < 1e-10, symmetry.name


def test_other_elements_are_condensed_and_audited():
    # without viscosity, in a band
    assert balance_error(trajectory("EMH", "quaternion-alpha", H, "relative(2)", 4, 0.0)) < 1e-12
    result = run("EMH", "quaternion-alpha")
    assert audit(result).ok
    assert audit(result).energy_balance < 1e-12


def test_falling_rod_dissipation_equals_its_energy_loss():
    """Newton's matrix has the entries of the branches from the first step on: the residual reaches round-off."""
    section = soft(0.0).with_relaxation(0.05, fraction=0.5)
    model = Model("held", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(0, 0, 0), (1.2, 0, 0)], section, 4, element="relative(2)", mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    trajectory = integrate(model.mechanical_system("quaternion-alpha"), "EM-G", 0.02, 0.1)
    E, lost = trajectory.energy(), trajectory.dissipation
    assert lost[-1] > 0.01
    assert np.abs(E + lost - E[0]).max() < 1e-13 * lost[-1]


@pytest.mark.parametrize(("integrator", "chart"), [("EML-kappa", "quaternion"), *IN_THE_MIDDLE])
def test_positions_and_branches_converge_to_em_at_order_2(integrator, chart):
    misses = []
    for h in (0.004, 0.002):
        one, other = (run(*scheme, h=h, t_end=0.04).state() for scheme in ((integrator, chart), ("em", None)))
        misses.append([np.abs(one.r - other.r).max(), np.abs(one.internal - other.internal).max()])
    assert np.min(misses) > 1e-10
    assert np.log2(misses[0]) - np.log2(misses[1]) == pytest.approx([2.0, 2.0], abs=0.4)


@pytest.mark.parametrize(("integrator", "chart"), IN_THE_MIDDLE)
def test_midstep_dissipation_grows_and_the_balance_has_order_2(integrator, chart):
    coarse, fine = (balance_error(trajectory(integrator, chart, h)) for h in (0.004, 0.002))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.5)


@pytest.mark.parametrize(
    ("integrator", "chart"), [("EML-kappa", None), ("MPH", "quaternion-alpha"), ("GL-SPARK(1)", "director")]
)
def test_held_bar_force_relaxes_by_the_midpoint_rule(integrator, chart):
    """This is exp(-t/tau) to second order, and agrees with `em` to the last digit."""
    h, strain = 0.02, 0.01
    result = run(integrator, chart, h=h, t_end=0.2, model=bar(1 + strain, True)[0])
    a = h / (2 * TAU)
    exact = 1e3 * strain * (1 + FRACTION * ((1 - a) / (1 + a)) ** np.arange(11))
    assert result.rod("rod").N[:, 0, 0] == pytest.approx(exact, rel=1e-11)
    assert exact[-1] == pytest.approx(1e3 * strain * (1 + FRACTION * np.exp(-0.2 / TAU)), rel=1e-3)


def test_chart_run_resumes_bitwise_and_exchanges_states_with_em(tmp_path):
    uninterrupted = run("EML-kappa", t_end=0.04)
    for t_end, resume in ((0.02, False), (0.04, True)):
        run("EML-kappa", t_end=t_end, output=tmp_path / "parts.vtkhdf", resume=resume)
    parts = Result.load(tmp_path / "parts.vtkhdf")
    for field in ("r", "v", "internal", "totals", "memory"):
        assert np.array_equal(getattr(parts.state(), field), getattr(uninterrupted.state(), field)), field
    continued = run("EML-kappa", t_end=0.02, start=run("em", t_end=0.02))
    last = run("em", t_end=0.02, start=continued)
    for before, after in ((run("em", t_end=0.02), continued), (continued, last)):
        assert np.array_equal(before.state().internal, after.state(0).internal)
        assert audit(after).ok
    longer = run("em", t_end=0.06).state()
    assert np.abs(last.state().internal - longer.internal).max() < 1e-2 * np.abs(longer.internal).max()


def test_trajectory_resumes_from_any_step_and_leaves_the_system_unchanged():
    system = flying_rod().mechanical_system("director")
    uninterrupted = integrate(system, "EM-G", H, 4 * H)
    assert np.ptp(uninterrupted.energy() + uninterrupted.dissipation) < 1e-11 * uninterrupted.energy()[0]
    resumed = integrate(system, "EM-G", H, 2 * H, start=uninterrupted.at(2))
    assert np.array_equal(resumed.q[-1], uninterrupted.q[-1])
    assert np.array_equal(resumed.totals[-1], uninterrupted.totals[-1])
    assert np.array_equal(integrate(system, "EM-G", H, H).q[-1], uninterrupted.q[1])


@pytest.mark.parametrize(
    ("integrator", "words"),
    [
        ("mG(2)", r"evaluates forces at 4 points of a step.*use GGL-EM.*mG\(1, 1\)"),
        ("Lobatto-IIIA-B(2)", "evaluates forces at 2 points"),
        ("EMH(order=4)", "negative substeps"),
        ("VI-S", "is variational"),
    ],
)
def test_schemes_that_cannot_condense_over_a_step_reject_relaxation(integrator, words):
    with pytest.raises(ModelError, match=words):
        run(integrator, "director")
