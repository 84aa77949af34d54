"""User-defined stored energies: parsed and never executed; their discrete derivative; rods that use them."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from discretization.space.laws.expressions import STRAINS, canonical, law_of, parameters_of
from discretization.space.laws.functions import PARAMETERS
from discretization.space.laws.law_evaluation import between, energy_and_stress
from discretization.state_measures import element_states
from rodsim import Model, ModelError, Result, SceneError, audit, simulate
from rodsim.components.section_energies import text_of
from tests.support.rod_closed_forms import assembled, full_section
from tests.support.rods import SECTION as PLAIN
from tests.support.rods import free_rod

SYMBOLS = sp.symbols(STRAINS)
LINEAR = "(EA*Gamma1**2 + GA2*Gamma2**2 + GA3*Gamma3**2 + GJ*K1**2 + EI2*K2**2 + EI3*K3**2)/2"
COUPLED = (
    "EA*(Gamma1 - log(1 + Gamma1)) + (GA2*Gamma2**2 + GA3*Gamma3**2 + GJ*K1**2)/2"
    " + m**2*(sqrt(1 + (EI2*K2**2 + EI3*K3**2)/m**2) - 1) + 300*Gamma1*K2**2 + 20*(cosh(Gamma2*K3) - 1)"
)
# every rule of `writing` and every function of `slopes`
TEXTS = (
    LINEAR,
    COUPLED,
    "exp(Gamma1)*sin(K1) - cos(K1 + 2*Gamma2)/(2 + K2)",
    "tan(Gamma1/2) + tanh(3*K1)*sinh(Gamma3) - atan(5*K2 + Gamma1) + cosh(K3)",
    "(2 + K1)**3 + (2 + K1)**-2 + (3 + K2)**1.5 + (3 + K2)**-0.5 + (2 + K3)**c + -(K1 - K2)**2",
    "((K1 - K2)**2)**2.5 + sqrt(4 + Gamma1)/log(3 + Gamma2) + (2 + Gamma3)**K1 + 2**(K2/3) + pi*K3**0",
)
ENERGIES = {"EA": 3e3, "GA2": 2e3, "GA3": 1e3, "GJ": 50.0, "EI2": 80.0, "EI3": 60.0, "m": 20.0, "c": 1.7}


def law_and_numbers(text):
    text = canonical("test", text)
    names = parameters_of(text)
    return law_of(text), np.concatenate([np.zeros(PARAMETERS), [ENERGIES[name] for name in names]])


def sympy_expression(text):
    return sp.sympify(text, locals=dict(zip(STRAINS, SYMBOLS, strict=True))).subs(ENERGIES)


@pytest.mark.parametrize("distance", [0.0, 1e-13, 1e-7, 1e-3, 0.4])
@pytest.mark.parametrize("text", TEXTS)
def test_discrete_stress_does_the_stored_work(text, distance):
    law, X = law_and_numbers(text)
    rng = np.random.default_rng(3)
    for _ in range(5):
        e0 = rng.uniform(-0.4, 0.4, 6)
        e1 = e0 + distance * rng.uniform(-1, 1, 6)
        stress, _, W = between(law, e0, e1, X)
        size = 1.0 + np.abs(W).max() + np.abs(stress).max()
        assert stress @ (e1 - e0) == pytest.approx(W[1] - W[0], abs=4e-15 * size)
        assert stress == pytest.approx(between(law, e1, e0, X)[0], rel=1e-13, abs=1e-14 * size)


@pytest.mark.parametrize("text", TEXTS)
def test_stress_and_tangent_have_full_precision_between_near_ends(text):
    law, X = law_and_numbers(text)
    W = sympy_expression(text)
    gradient = sp.lambdify(SYMBOLS, [sp.diff(W, s) for s in SYMBOLS])
    hessian = sp.lambdify(SYMBOLS, [[sp.diff(W, s, t) for t in SYMBOLS] for s in SYMBOLS])
    e = np.array([0.21, -0.13, 0.3, 0.37, -0.22, 0.4])
    value, stress, tangent = energy_and_stress(law, e, X)
    size = np.abs(hessian(*e)).max()
    assert value == pytest.approx(float(W.subs(dict(zip(SYMBOLS, e, strict=True)))), rel=1e-13)
    assert stress == pytest.approx(np.array(gradient(*e), float), rel=1e-12, abs=1e-14 * size)
    assert tangent == pytest.approx(np.array(hessian(*e), float), rel=1e-11, abs=1e-13 * size)
    step = np.array([1.0, -2.0, 0.5, 3.0, 1.0, -1.0])
    for d in (1e-11, 1e-9, 1e-7):
        near, at_end, _ = between(law, e - d / 2 * step, e + d / 2 * step, X)
        assert near == pytest.approx(stress, rel=1e-11, abs=1e-13 * size)
        assert at_end == pytest.approx(tangent / 2, rel=1e-5, abs=1e-5 * size)


@pytest.mark.parametrize("ends", [(0.0, 0.9), (-0.6, 0.8), (0.3, 0.31)])
@pytest.mark.parametrize("text", TEXTS)
def test_tangent_is_the_derivative_of_the_stress(text, ends):
    law, X = law_and_numbers(text)
    direction = np.array([0.5, 0.3, -0.6, 0.9, -0.7, 0.4])
    e0, e1 = (x * direction for x in ends)
    _, tangent, _ = between(law, e0, e1, X)
    h = 1e-6
    for j in range(6):
        step = h * np.eye(6)[j]
        difference = (between(law, e0, e1 + step, X)[0] - between(law, e0, e1 - step, X)[0]) / (2 * h)
        assert tangent[:, j] == pytest.approx(difference, rel=1e-6, abs=1e-7 * (1 + np.abs(tangent).max()))


def test_sympy_expression_equals_its_text_to_all_digits():
    Gamma1, K1, k = sp.symbols("Gamma1 K1 k")
    W = sp.Float(0.1) * Gamma1**2 + sp.sqrt(1 + K1**2) * sp.Rational(1, 3) + sp.pi * sp.exp(-k * K1) / Gamma1
    back = sp.sympify(text_of(W), locals={"Gamma1": Gamma1, "K1": K1, "k": k})
    at = {Gamma1: 0.7, K1: 0.3, k: 1.9}
    assert float(back.subs(at)) == pytest.approx(float(W.subs(at)), rel=1e-15)
    same = sp.sympify(LINEAR, locals=dict(zip(STRAINS, SYMBOLS, strict=True)))
    one, other = (PLAIN.with_energy(x) for x in (LINEAR, same))
    assert one.stiffness == pytest.approx(other.stiffness, rel=1e-14)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__",
        "Gamma1.real",
        "K1[0]",
        "(lambda: 1)()",
        "K1 if K2 else K3",
        "K1 and K2",
        "K1 < K2",
        "open('a')",
        "exp(K1, K2)",
        "exp(x=K1)",
        "'a'",
        "1j*K1",
        "True*K1",
        "[K1]",
        "f'{K1}'",
        "(K1 := 2)",
        "K1; K2",
        "K1 +",
        "",
        "9**9**9**9",
        "1/0",
        "K1**100",
        "K1" + " + K1" * 4000,
        "(" * 3000 + "K1" + ")" * 3000,
        3,
    ],
)
def test_non_expressions_are_rejected_and_never_executed(text):
    with pytest.raises(ModelError, match=r"Section\.with_energy"):
        PLAIN.with_energy(text)


def test_invalid_energies_are_rejected_with_a_remedy():
    for W, options, words in (
        (f"{LINEAR} + stiff*K1**4", {}, "W contains 'stiff'.* a parameter; give stiff="),
        (LINEAR, {"stiff": 2.0}, "does not contain the parameter 'stiff'; remove it"),
        (f"{LINEAR} + 5*K1", {}, "has the stress dW/dK1 = 5 at rest"),
        (f"{LINEAR} - GJ*K1**2", {}, "not convex at rest: .* eigenvalue -50"),
        ("EA*Gamma1**2", {}, "not convex at rest"),
        (f"{LINEAR} + log(K1)", {}, "not real and twice differentiable at rest"),
        (f"{LINEAR} + sqrt(K1**2)", {}, "not real and twice differentiable at rest"),
        (
            f"{LINEAR} + {' + '.join(f'a{k}*K1**4' for k in range(20))}",
            {},
            "parameters.*write numbers for all but 12",
        ),
        (sp.Symbol("K1") * sp.Abs(sp.Symbol("K2")), {}, "W contains Abs"),
    ):
        with pytest.raises(ModelError, match=words):
            PLAIN.with_energy(W, **options)


SECTION = PLAIN.with_energy(COUPLED, m=20.0)


@pytest.mark.parametrize("viscous", [False, True])
@pytest.mark.parametrize("element", ["se3", "lagrange(2)", "relative(2)"])
def test_closed_forms_with_an_energy_equal_the_duals(element, viscous):
    """The viscosity couples all strains."""
    section = replace(SECTION, damping=full_section(True).damping) if viscous else SECTION
    by_form, generic_groups = (
        assembled(element, closed, viscous, 0.05, section=section) for closed in (True, False)
    )
    for one, other in list(zip(by_form, generic_groups, strict=True))[:2]:
        assert np.abs(one - other).max() < 1e-12 * np.abs(other).max()
    assert by_form[2] == pytest.approx(generic_groups[2], rel=1e-11)


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_em_conserves_a_user_defined_energy(element, tmp_path):
    simulate(free_rod(element, section=SECTION), 0.4, 0.01, output=tmp_path / "a.vtkhdf", progress=False)
    result = Result.load(tmp_path / "a.vtkhdf")
    E = result.audit_column("total")
    assert np.ptp(E) < 4e-13 * np.abs(E).max()
    for name in ("Px", "Py", "Pz", "Lx", "Ly", "Lz"):
        assert np.ptp(result.audit_column(name)) < 1e-12
    assert audit(result).ok
    linear = simulate(free_rod(element, section=PLAIN), 0.4, 0.01, progress=False)
    assert np.abs(linear.rod("rod").r[-1] - result.rod("rod").r[-1]).max() > 1e-5


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_written_out_energy_equals_the_named_law(element):
    text = f"{LINEAR} + EA*Gamma1**4/(4*strain**2)"
    one, other = (
        simulate(free_rod(element, section=s), 0.2, 0.01, progress=False).rod("rod").r
        for s in (PLAIN.with_energy(text, strain=0.1), PLAIN.with_law("stiffening", strain=0.1))
    )
    assert np.abs(one - other).max() < 1e-12


def test_energy_parameters_may_vary_along_a_rod_and_between_rods():
    model = Model("rods")
    cubic = f"{LINEAR} + b*Gamma1**3"

    def along(s):
        return PLAIN.with_energy(cubic, b=100 * s)

    for name, section, y in (
        ("one", along, 0.0),
        ("two", PLAIN.with_energy(COUPLED, m=9.0), 1.0),
        ("three", PLAIN, 2.0),
    ):
        ends = [(0, y, 0), (1.2, y, 0)]
        model.add_rod(name, ends, section, 4, stress_free=[(0, y, 0), (1, y, 0)], element="relative(2)")
    built = model.build()
    assert len(built.system.spans.texts) == 2
    stress = element_states(built.system, built.state)[1][:, 0]
    x, _ = np.polynomial.legendre.leggauss(2)
    positions = np.array([0.25 + 0.25 * x, 0.75 + 0.25 * x]).ravel()
    assert stress[:4] == pytest.approx(3e3 * 0.2 + 300 * positions * 0.04, rel=1e-12)
    assert stress[4:8] == pytest.approx(3e3 * (1 - 1 / 1.2), rel=1e-12)
    assert stress[8:] == pytest.approx(3e3 * 0.2, rel=1e-12)


SCENE = """
sections:
  rubber:
    type: stiffness
    EA: 3000.0
    GA: 2000.0
    GJ: 50.0
    EI: [80.0, 60.0]
    mass_per_length: 2.0
    inertia_per_length: [0.5, 0.6, 0.7]
    law:
      expression: {expression}
      parameters: {{strain: 0.1}}
    relaxation: {{time: 0.3, fraction: 0.5}}
rods:
  - name: rod
    curve: [[0, 0, 0], [1, 0, 0]]
    section: rubber
    n_elements: 4
run: {{t_end: 0.1, dt: 0.01}}
"""


def test_scenes_accept_energies_and_relaxation(tmp_path):
    path = tmp_path / "rod.yaml"
    path.write_text(SCENE.format(expression=f"{LINEAR} + EA*Gamma1**4/(4*strain**2)"))
    spans = Model.load(path).build().system.spans
    assert len(spans.texts) == 1
    assert 0.1 in spans.parameters[0]
    assert np.all(spans.relaxation == 0.3)
    assert spans.branch[0] == pytest.approx(0.5 * PLAIN.stiffness, rel=1e-13)
    path.write_text(SCENE.format(expression="K1.real"))
    with pytest.raises(SceneError, match=r"rod\.yaml:\d+: .*cannot stand in an expression"):
        Model.load(path)
    path.write_text(SCENE.format(expression="1").replace("expression: 1", "type: soft"))
    with pytest.raises(SceneError, match=r"law: type = 'soft' is not known; use one of .*stiffening"):
        Model.load(path)
