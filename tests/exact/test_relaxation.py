"""The standard linear solid: relaxation, creep and vibration against closed forms, energy balance, storage in
states and files.
"""

import numpy as np
import pytest

from discretization.time.stepper import Stepper
from rodsim import ModelError, Result, Section, audit, simulate
from tests.support.relaxation import FRACTION, TAU, bar
from tests.support.rod_closed_forms import H, full_section
from tests.support.rods import free_rod, soft


@pytest.mark.parametrize(("element", "n_elements"), [("se3", 1), ("relative(2)", 2), ("midpoint", 1)])
def test_force_of_a_fixed_bar_relaxes_by_the_closed_form(element, n_elements):
    strain, errors = 0.01, []
    for h in (0.02, 0.01):
        model, _ = bar(1 + strain, True, element=element, n_elements=n_elements)
        result = simulate(model, 0.4, h, output_every=1, progress=False)
        N = result.rod("rod").N[:, 0, 0]
        exact = 1e3 * strain * (1 + FRACTION * np.exp(-result.t / TAU))
        errors.append(np.abs(N - exact).max())
        # the midpoint rule of the branch, to round-off
        a = h / (2 * TAU)
        steps = np.arange(len(result.t))
        assert pytest.approx(1e3 * strain * (1 + FRACTION * ((1 - a) / (1 + a)) ** steps), rel=1e-12) == N
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_loaded_bar_creeps_by_the_closed_form():
    """So light that its inertia is negligible; it begins with the strain of both stiffnesses."""
    F, EA = 5.0, 1e3
    model, rod = bar(1 + F / (EA * (1 + FRACTION)), False, mass=1e-7)
    model.add_force("load", rod.end, (F, 0, 0))
    result = simulate(model, 0.4, 0.004, output_every=1, progress=False)
    creep = TAU * (1 + FRACTION)
    exact = F / EA * (1 - FRACTION / (1 + FRACTION) * np.exp(-result.t / creep))
    assert np.abs(result.rod("rod").r[:, -1, 0] - 1 - exact).max() < 2e-4 * F / EA


@pytest.mark.parametrize("h", [0.005, 0.03])
def test_a_vibrating_bar_has_the_complex_modulus(h):
    """m s^2 + EA (1 + fraction s tau/(1 + s tau)) = 0; the midpoint rule sees s = 2/h (z - 1)/(z + 1)."""
    model, _ = bar(1.02, False)
    result = simulate(model, 40 * h, h, output_every=1, progress=False)
    x = result.rod("rod").r[:, -1, 0] - 1
    m, EA = 1.0, 1e3
    s = np.roots([m * TAU, m, EA * TAU * (1 + FRACTION), EA])
    z = (1 + s * h / 2) / (1 - s * h / 2)
    recurrence = np.poly(z).real
    residual = sum(c * x[k : len(x) - 3 + k] for k, c in enumerate(recurrence[::-1]))
    assert np.abs(residual).max() < 1e-12 * np.abs(recurrence).max()
    assert np.abs(x).max() == pytest.approx(0.02, rel=1e-6)


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
@pytest.mark.parametrize("element", ["se3", "lagrange(2)", "relative(2)", "midpoint"])
def test_relaxing_rod_balances_energy(element, integrator):
    """Bent from its stress-free shape, with coupled stiffness, and viscous as well."""
    section = soft(0.002).with_relaxation(0.05, stiffness=0.01 * full_section(False).stiffness)
    model = free_rod(element, section=section, stress_free=[(0, 0, 0), (1.2, 0, 0)])
    result = simulate(model, 0.3, 0.01, integrator, progress=False)
    E, dissipated = result.audit_column("total"), result.audit_column("dissipation")
    assert np.abs(E + dissipated - E[0]).max() < 1e-12 * E[0]
    assert np.all(np.diff(dissipated) > 0.0)
    assert dissipated[-1] > 0.05 * E[0]
    for name in ("Px", "Py", "Pz", "Lx", "Ly", "Lz"):
        assert np.ptp(result.audit_column(name)) < 1e-11


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_em_has_its_order_with_a_relaxing_branch(element):
    section = Section.from_stiffness(
        EA=30, GA=20, GJ=0.5, EI=(0.8, 0.6), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
    ).with_relaxation(0.1, fraction=1.0)
    built = free_rod(element, 4, section=section).build()

    def end(h):
        return Stepper(built.system, h).advance(built.state, 0, round(0.4 / h))[0]

    exact = end(1 / 3200)
    for field in ("r", "internal"):
        errors = [np.abs(getattr(end(h), field) - getattr(exact, field)).max() for h in (1 / 200, 1 / 400)]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_fast_and_slow_branches_act_as_viscosity_and_stiffness():
    plain = soft()
    limits = (
        (plain.with_relaxation(1e-8, fraction=1e6), soft(0.01)),
        (plain.with_relaxation(1e9, fraction=0.5), None),
    )
    for relaxing, same in limits:
        if same is None:
            same = Section(1.5 * plain.stiffness, plain.mass_per_length, plain.inertia_per_length)
        one, other = (
            simulate(free_rod("relative(2)", section=s), 0.1, 0.01, progress=False).rod("rod").r
            for s in (relaxing, same)
        )
        assert np.abs(one - other).max() < 1e-6


def test_stored_run_resumes_bitwise_and_is_audited(tmp_path):
    def model():
        return free_rod(
            "se3", section=soft().with_relaxation(0.05, fraction=0.5), stress_free=[(0, 0, 0), (1.2, 0, 0)]
        )

    single, parts = tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    simulate(model(), 0.2, H, output=single, output_every=5, progress=False)
    simulate(model(), 0.1, H, output=parts, output_every=5, progress=False)
    simulate(model(), 0.2, H, output=parts, resume=True, progress=False)
    one, other = Result.load(single), Result.load(parts)
    assert np.array_equal(one.state().internal, other.state().internal)
    assert np.array_equal(one.state().r, other.state().r)
    assert one.layout.internal.branch == 8
    report = audit(one)
    assert report.ok
    assert report.energy_balance < 1e-12


def test_unsupported_uses_of_relaxation_are_rejected_with_advice():
    model = free_rod("se3", section=soft().with_relaxation(0.05, fraction=0.5))
    with pytest.raises(ModelError, match="negative substeps, which a rod with a Maxwell branch"):
        simulate(model, 0.1, 0.01, "em4", progress=False)
    with pytest.raises(ModelError, match="give either fraction or stiffness"):
        soft().with_relaxation(0.1)
    with pytest.raises(ModelError, match="smallest eigenvalue of stiffness is -1"):
        soft().with_relaxation(0.1, stiffness=np.diag([1, 1, 1, 1, 1, -1.0]))
    with pytest.raises(ModelError, match="time"):
        soft().with_relaxation(0.0, fraction=1.0)
