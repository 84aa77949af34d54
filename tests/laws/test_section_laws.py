"""Nonlinear section laws: alone, in an element, and in a moving rod."""

import numpy as np
import pytest

from discretization.space.laws import LAWS
from discretization.space.laws.functions import PARAMETERS
from discretization.space.rod_gauss_points import POINT
from discretization.state_measures import element_states
from rodsim import Material, Model, ModelError, Result, Section, audit, simulate
from tests.support.rod_closed_forms import assembled
from tests.support.rods import SECTION as PLAIN
from tests.support.rods import free_rod, soft

LAW_PARAMETERS = {"stiffening": {"strain": 0.1}, "thinning": {}, "softening": {"moment": 20.0}}
WORDS = list(LAW_PARAMETERS)


def section(law_name, plain=PLAIN):
    return plain.with_law(law_name, **LAW_PARAMETERS[law_name])


def numbers(law_name):
    parameters = section(law_name).law_parameters
    X = np.zeros(POINT)
    X[:36], X[PARAMETERS : PARAMETERS + len(parameters)] = PLAIN.stiffness.ravel(), parameters
    return X


def kernels(law_name):
    return next(law for law in LAWS if law.word == law_name).kernels()


def phi(law_name, x):
    return kernels(law_name).energy(complex(x), numbers(law_name), 0)


def quotient(law_name, x0, x1):
    return kernels(law_name).quotient(complex(x0), complex(x1), numbers(law_name), 0)


@pytest.mark.parametrize("ends", [(0.0, 0.1), (0.3, 0.29), (0.2, 0.2 + 1e-3), (0.0, 3.0), (0.5, 0.02)])
@pytest.mark.parametrize("law_name", WORDS)
def test_discrete_stress_is_the_energy_quotient(law_name, ends):
    x0, x1 = ends
    expected = (phi(law_name, x1) - phi(law_name, x0)).real / (x1 - x0)
    assert quotient(law_name, x0, x1).real == pytest.approx(
        expected, rel=1e-9, abs=1e-12 * PLAIN.stiffness[0, 0]
    )


@pytest.mark.parametrize("x", [-0.2, -1e-9, 0.0, 1e-5, 0.4, 2.0])
@pytest.mark.parametrize("law_name", WORDS)
def test_energy_quotient_at_equal_ends_is_the_derivative_and_smooth(law_name, x):
    slope = phi(law_name, x + 1e-60j).imag / 1e-60
    size = PLAIN.stiffness[0, 0]
    assert quotient(law_name, x, x).real == pytest.approx(slope, rel=1e-12, abs=1e-15 * size)
    near = quotient(law_name, x, x + 1e-9).real
    assert near == pytest.approx(slope, rel=1e-6, abs=1e-7 * size)
    along = quotient(law_name, x, x + 1e-60j).imag / 1e-60
    e = 1e-4
    second = (phi(law_name, x + e + 1e-60j).imag - phi(law_name, x - e + 1e-60j).imag) / 1e-60 / (2 * e)
    assert along == pytest.approx(second / 2, rel=1e-5, abs=1e-6 * size)


def stress_of(law_name, end, element):
    """Stresses of a straight rod of length 1 stretched to `end`."""
    model = Model("rod")
    straight = [(0, 0, 0), (1, 0, 0)]
    model.add_rod(
        "rod", [(0, 0, 0), (end, 0, 0)], section(law_name), 16, stress_free=straight, element=element
    )
    built = model.build()
    return element_states(built.system, built.state)[1]


EA = PLAIN.stiffness[0, 0]
PULLED = [("thinning", x, "se3", EA * (1 - 1 / x)) for x in (0.7, 1.0, 1.01, 1.8)]
PULLED += [("thinning", x, "relative(4)", force) for _, x, _, force in PULLED]
PULLED += [("stiffening", x, "relative(4)", 2 * EA * (x - 1)) for x in (0.9, 1.1)]  # twice as large there


@pytest.mark.parametrize(("law_name", "stretch", "element", "force"), PULLED)
def test_stretched_rod_has_the_force_of_its_law(law_name, stretch, element, force):
    """A section of constant volume, which becomes thinner, and one that stiffens."""
    N = stress_of(law_name, stretch, element)[:, 0]
    assert pytest.approx(force, rel=1e-12, abs=1e-10) == N


@pytest.mark.parametrize("K", [1e-3, 0.3, 2.0])
def test_softening_rod_approaches_its_limit_moment(K):
    plain = Section.circular(0.01, Material(E=1e7, nu=0.3, density=1000.0))
    EI = plain.stiffness[5, 5]
    limit = EI * 0.5
    model = Model("rod")
    model.add_rod(
        "rod",
        lambda s: (np.sin(K * s) / K, (1 - np.cos(K * s)) / K, 0.0),
        plain.with_law("softening", moment=limit),
        24,
        stress_free=[(0, 0, 0), (1, 0, 0)],
        element="relative(4)",
    )
    built = model.build()
    M = element_states(built.system, built.state)[1][:, 5]
    assert pytest.approx(EI * K / np.sqrt(1 + (EI * K / limit) ** 2), rel=2e-5) == M


@pytest.mark.parametrize("size", [1e-2, 0.05])
@pytest.mark.parametrize("element", ["se3", "lagrange(3)", "relative(2)"])
@pytest.mark.parametrize("law_name", WORDS)
def test_closed_forms_with_a_law_equal_the_duals(law_name, element, size):
    by_form, generic_groups = (
        assembled(element, closed, size=size, section=section(law_name)) for closed in (True, False)
    )
    linear = assembled(element, True, size=size, section=PLAIN)
    for one, other, without in list(zip(by_form, generic_groups, linear, strict=True))[:2]:
        assert np.abs(one - other).max() < 1e-12 * np.abs(other).max()
        assert np.abs(one - without).max() > 1e-4 * np.abs(other).max()


@pytest.mark.parametrize("element", ["se3", "lagrange(2)", "relative(2)"])
@pytest.mark.parametrize("law_name", WORDS)
def test_em_conserves_the_energy_of_a_law(law_name, element):
    result = simulate(free_rod(element, section=section(law_name)), 0.4, 0.01, progress=False)
    E = result.audit_column("total")
    # 40 steps that end at the round-off of EA, not of E
    assert np.ptp(E) < 4e-13 * np.abs(E).max()
    for name in ("Px", "Py", "Pz", "Lx", "Ly", "Lz"):
        assert np.ptp(result.audit_column(name)) < 1e-12
    linear = simulate(free_rod(element, section=PLAIN), 0.4, 0.01, progress=False)
    assert np.abs(linear.rod("rod").r[-1] - result.rod("rod").r[-1]).max() > 1e-5


@pytest.mark.parametrize("law_name", WORDS)
def test_section_law_is_stored_and_audited(law_name, tmp_path):
    simulate(
        free_rod("relative(2)", section=section(law_name)),
        0.1,
        0.01,
        output=tmp_path / "a.vtkhdf",
        progress=False,
    )
    result = Result.load(tmp_path / "a.vtkhdf")
    assert audit(result).ok
    assert LAWS[result.layout.system.spans.law[0]].word == law_name


def test_invalid_laws_are_rejected_with_a_remedy():
    with pytest.raises(ModelError, match="law 'softening' takes moment=; give these"):
        PLAIN.with_law("softening")
    with pytest.raises(
        ModelError, match="law = 'plastic' is not known; choose one of stiffening, thinning, softening"
    ):
        PLAIN.with_law("plastic")


def law_below_round_off(law_name):
    """A law whose nonlinear part is below round-off; its rod is the linear one."""
    return PLAIN.with_law(
        law_name, **{"stiffening": {"strain": 1e9}, "softening": {"moment": 1e12}}[law_name]
    )


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("law_name", ["stiffening", "softening"])
def test_se3_rod_with_a_linear_law_moves_as_the_linear_rod(law_name, mass):
    """Here spans are evaluated by duals, there by the arrays of the element."""
    one, other = (
        simulate(free_rod("se3", section=s, mass=mass), 0.2, 0.01, progress=False)
        for s in (law_below_round_off(law_name), PLAIN)
    )
    assert len(one.layout.system.spans.kind) == 8 == len(other.layout.system.elements.length)
    assert np.abs(one.rod("rod").r - other.rod("rod").r).max() < 1e-12
    for column in ("kinetic", "elastic", "total", "Lx", "Ly", "Lz"):
        assert one.audit_column(column) == pytest.approx(other.audit_column(column), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("damping_time", [0.0, 0.01])
def test_viscous_se3_rod_with_a_law_keeps_the_energy_balance(damping_time):
    plain = soft(damping_time)
    result = simulate(
        free_rod("se3", section=section("softening", plain)), 0.3, 0.01, "em-ggl", progress=False
    )
    E, lost = result.audit_column("total"), result.audit_column("dissipation")
    assert np.abs(E + lost - E[0]).max() < 1e-12 * E[0]
    assert (lost[-1] > 0.05 * E[0]) == (damping_time > 0.0)


@pytest.mark.parametrize("integrator", ["EML-kappa", "GGL-EM"])
def test_charts_support_laws_of_se3_rods(integrator):
    """One step in other coordinates: closer to `em` than the law is to the linear one."""

    def end(integrator, section):
        model = free_rod("se3", 4, "lumped", section=section)
        return simulate(model, 0.02, 0.0025, integrator, progress=False).rod("rod").r[-1]

    strong = PLAIN.with_law("stiffening", strain=0.02)
    em, linear = end("em", strong), end("em", PLAIN)
    assert np.abs(end(integrator, strong) - em).max() < 1e-6
    assert np.abs(linear - em).max() > 1e-4
