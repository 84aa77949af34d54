"""Interactions given as the text of an energy."""

import numpy as np
import pytest
import sympy as sp

from discretization.interaction_kinds import INTERACTIONS
from examples import user_interaction as example
from rigid.compilation.decorators import address_of
from rigid.errors import ModelError
from rodsim import Model, PointMass, SceneError, measures, modes, simulate
from rodsim.interactions import kernel_calls
from tests.support.user_kinds import BRICK, DT, T_END, bodies, bodies_with_expressions, poses, run


@pytest.mark.parametrize(
    ("text", "named", "words"),
    [
        ("k*d**2", ("d",), "give k="),
        ("d**2", ("d", "e"), "does not contain the measure 'e'"),
        ("open('x')", ("d",), "is not known in an expression"),
        ("d**2 + sin", ("d", "sin"), "'sin' cannot name a measure"),
        ("d.real", ("d",), "cannot stand in an expression"),
        ("d**", ("d",), "cannot be read"),
    ],
)
def test_invalid_energy_expressions_are_rejected(text, named, words):
    model = bodies(2)
    named_measures = {name: measures.distance(*model.bodies.values()) for name in named}
    with pytest.raises(ModelError, match=f"energy 'it'.*{words}"):
        model.add_energy("it", text, named_measures)


def test_energy_not_finite_at_the_start_is_rejected():
    model = bodies(2)
    model.add_energy("it", "log(d - 100)", {"d": measures.distance(*model.bodies.values())})
    with pytest.raises(ModelError, match="energy 'it': its energy or its forces are not finite at t = 0"):
        model.build()


def test_expression_strains_give_stress_and_accept_prestress():
    """The forces are the stress dV/de on the gradients of the strains; prestress adds C de and keeps C."""
    rng = np.random.default_rng(5)
    system = bodies_with_expressions().build().system
    for k in range(len(system.others.kind)):
        kind = INTERACTIONS[system.others.kind[k]]
        X = system.others.numbers[system.others.first[k] : system.others.first[k + 1]][None].copy()
        energy, y = kind.strain_energy, poses(rng, kind.arity)
        e = np.zeros(energy.count, complex)
        kernel_calls._value(address_of(energy.strains), y, X[0], e)
        stress, C = energy.stress(X, e[None].real), energy.stiffness(X, e[None].real)[0]
        out = np.zeros((kind.arity, 4, 3), complex)
        kernel_calls._dual(address_of(energy.dual), y, y, X[0], stress[0].astype(complex), out)
        assert np.abs(kernel_calls.dual(kind, y, y, X[0]) - out).max() < 1e-13 * np.abs(out).max()
        de = rng.normal(size=(1, energy.count))
        prestressed = energy.prestressed(X, e[None].real, de)
        assert energy.stress(prestressed, e[None].real)[0] - stress[0] == pytest.approx(
            C @ de[0], abs=1e-13 * np.abs(C).max()
        )
        assert np.array_equal(energy.stiffness(prestressed, e[None].real)[0], C)
        f = kernel_calls.dual(kind, y, y, prestressed[0])
        kernel_calls._dual(address_of(energy.dual), y, y, X[0], (stress[0] + C @ de[0]).astype(complex), out)
        assert np.abs(f - out).max() < 1e-13 * np.abs(out).max()


def test_sympy_expression_equals_its_text():
    d, k = sp.symbols("d k")
    results = []
    for energy in (k * (d - sp.Rational(1, 3)) ** 4 / 7 + sp.exp(-d), "k*(d - 1/3)**4/7 + exp(-d)"):
        model = bodies(2)
        model.add_energy("it", energy, {"d": measures.distance(*model.bodies.values())}, k=3.0)
        results.append(run(model).state().r)
    assert np.abs(results[0] - results[1]).max() < 1e-14


def test_coordinate_measures_are_in_world_axes():
    """A weight as an energy of the height: the body falls as under gravity, also far from the origin."""
    far = np.array([1e3, -2e3, 5e2])
    falling = Model("falls")
    body = falling.add_body("body", BRICK, far, angular_velocity=(1, 2, 3))
    weight = 9.0 * body.properties.mass
    falling.add_energy("weight", "w*z", {"z": measures.coordinate(body, (0, 0, 1))}, w=weight)
    result = run(falling)
    assert result.state().r[1] - far == pytest.approx([0, 0, -0.5 * 9.0 * T_END**2], abs=1e-11)


MASS_MEASURES = {
    "distance": lambda ground, mass: measures.distance(ground, mass),
    "displacement of it": lambda ground, mass: measures.displacement(ground, mass, (0, 0, 1)),
    "coordinate": lambda ground, mass: measures.coordinate(mass, (0, 0, 1)),
    "displacement from it": lambda ground, mass: measures.displacement(mass, ground.at((0, 1, 1)), (0, 0, 1)),
    "cosine": lambda ground, mass: measures.cosine(ground, (0, 0, 1), mass, (0, 1, 1)),
    "angle": lambda ground, mass: measures.angle(ground, mass, (0, 0, 1)),
    "distance of a lever": lambda ground, mass: measures.distance(ground, mass.at((0.1, 0, 0))),
}


@pytest.mark.parametrize("measure", MASS_MEASURES)
def test_measure_rotating_a_point_mass_is_rejected(measure):
    model = Model("mass")
    mass = model.add_body("mass", PointMass(1.0), (1, 0, 0))
    model.add_energy("it", "e**2", {"e": MASS_MEASURES[measure](model.ground, mass)})
    if measure in ("distance", "displacement of it", "coordinate"):
        model.build()
        return
    with pytest.raises(ModelError, match="'it'"):
        model.build()


def test_strain_refers_to_the_given_length():
    """Without a given length it refers to the initial distance."""
    results = []
    for length in (None, 0.5):
        model = bodies(2)
        a, b = model.bodies.values()
        model.add_energy("it", "e**2", {"e": measures.strain(a, b, length)})
        results.append(run(model, t_end=DT).energy["spring"][0])
    gap = np.hypot(1.0, 0.2)
    assert results == pytest.approx([0.0, (gap / 0.5 - 1) ** 2], abs=1e-13)


def test_angle_measure_is_positive_about_its_axis():
    model = Model("turn")
    body = model.add_body("body", BRICK, angular_velocity=(0, 0, 0.5))
    model.add_energy("it", "m*a", {"a": measures.angle(model.ground, body, (0, 0, 1))}, m=1e-3)
    energies = run(model).energy["spring"]
    assert energies[-1] == pytest.approx(1e-3 * 0.5 * T_END, rel=1e-2)


def test_needles_oscillate_at_the_closed_form_frequency():
    computed_modes = modes(example.needles(), 2)
    assert 2 * np.pi * computed_modes.frequency == pytest.approx(example.frequencies(), rel=1e-9)
    result = example.run(example.needles((0.9, 0.2)), 0.5)
    assert np.ptp(result.energy["total"]) < 1e-15


def test_bistable_flap_stays_or_snaps_through():
    result = example.run(example.flap(0.05), 3.0)
    a = example.angles_of(result, 1)[:, 0]
    # as far on the other side: (a/W)^2 - 1 changes its sign
    assert a.max() == pytest.approx(np.sqrt(2 * example.W**2 - 0.05**2), abs=1e-3)
    assert a.min() == pytest.approx(0.05, abs=1e-3)
    assert np.ptp(result.energy["total"]) < 1e-14
    over = example.angles_of(example.run(example.flap(0.05, -2.0), 1.0), 1)[:, 0]
    assert over.min() < -example.W


def test_example_draws_its_picture(tmp_path):
    assert example.picture(tmp_path / "own.png").stat().st_size > 20_000


SCENE = """
bodies: [{name: flap, shape: {type: box, size: [0.2, 0.1, 0.01], mass: 0.2}, angular_velocity: [0, 1, 0]}]
energies:
  - name: snap
    energy: H*((a/W)**2 - 1)**2
    measures: {a: {of: angle, a: ground, b: flap, axis: [0, 1, 0]}}
    parameters: {H: 0.05, W: 0.6}
run: {t_end: 0.05, dt: 0.01}
"""


def test_scene_accepts_the_text_of_an_energy(tmp_path):
    path = tmp_path / "flap.yaml"
    path.write_text(SCENE)
    entry = Model.load(path).others["snap"]
    assert entry.energy == "H * ((a / W) ** 2 - 1) ** 2"
    assert entry.parameters == {"H": 0.05, "W": 0.6}
    path.write_text(SCENE.replace("of: angle", "of: distance"))
    with pytest.raises(SceneError, match=r":6: measure 'a': 'distance' has no 'axis'; remove it"):
        Model.load(path)
    path.write_text(SCENE.replace(", axis: [0, 1, 0]", ""))
    with pytest.raises(SceneError, match=r":6: measure 'a': 'angle' lacks 'axis'; give it"):
        Model.load(path)
    path.write_text(SCENE.replace("energy: H", "energy: __import__('os')*H"))
    with pytest.raises(SceneError, match="is not known in an expression"):
        Model.load(path)


def test_angle_of_an_expression_unwraps_without_dissipation():
    """The strain drops by a whole turn in one step, on which `em-d` dissipates nothing."""
    model = Model("detent")
    body = model.add_body("body", BRICK, angular_velocity=(0, 0, 12.0))
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_energy("it", "-m*cos(2*a)", {"a": measures.angle(model.ground, body, (0, 0, 1))}, m=0.05)
    result = simulate(model, 2.0, 0.01, "em-d(0.2)", progress=False)
    assert result.algorithmic_dissipation[-1] < 1e-3 * result.energy["kinetic"][0]
