"""Scenes with centres off the curve, strains at rest and damping against a wind: the model of the same calls, to the bit."""

import numpy as np
import pytest

from discretization.system import fingerprint
from rodsim import Material, Model, Section
from rodsim.scenes.errors import SceneError
from rodsim.scenes.model_from_scene import load

SCENE = """
name: sections
materials:
  rubber: {E: 2.0e6, nu: 0.45, density: 1100}
sections:
  plain: {type: rectangle, width: 0.03, height: 0.02, material: rubber,
          centers: {mass: [0.01, -0.005], stiffness: [0.004, 0], product_of_inertia: 2.0e-6}}
  given: {type: stiffness, EA: 3000, GA: 2000, GJ: 5, EI: [8, 6], mass_per_length: 2, inertia_per_length: 0.05,
          relaxation: {time: 0.1, fraction: 0.5}, centers: {stiffness: [0, 0.1]}}
rods:
  - {name: one, curve: [[0, 0, 0], [1, 0, 0]], section: plain, n_elements: 4, rest_strains: [0.01, 0, 0, 0.3, 0, 1.5]}
  - {name: two, curve: [[0, 1, 0], [1, 1, 0]], section: given, n_elements: 4, element: relative(2),
     rest_strains: [[0, 0, 0, 0, 0, 0, 1], [1, 0.1, 0, 0, 0, 0, 2]]}
pressures:
  - {name: gas, on: two, pressure: -3, normal: [0, 0, 1]}
mass_dampings:
  - {name: wind, on: one, rate: 0.7, ambient: [3, 0, -1]}
run: {t_end: 0.05, dt: 0.01}
"""


def by_calls():
    model = Model("sections")
    section = Section.rectangle(0.03, 0.02, Material(E=2e6, nu=0.45, density=1100))
    section = section.with_centers((0.01, -0.005), (0.004, 0.0), 2e-6)
    rod = model.add_rod("one", [(0, 0, 0), (1, 0, 0)], section, 4, rest_strains=(0.01, 0, 0, 0.3, 0, 1.5))
    other = Section.from_stiffness(
        EA=3000, GA=2000, GJ=5, EI=(8, 6), mass_per_length=2, inertia_per_length=0.05
    )
    other = other.with_relaxation(0.1, 0.5).with_centers(stiffness=(0.0, 0.1))

    def strains(s):
        return (0.1 * s, 0, 0, 0, 0, 1 + s)

    two = model.add_rod("two", [(0, 1, 0), (1, 1, 0)], other, 4, element="relative(2)", rest_strains=strains)
    model.add_pressure("gas", two, -3.0, (0, 0, 1))
    model.add_mass_damping("wind", rod, 0.7, ambient=(3, 0, -1))
    return model


def written(tmp_path, text):
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    return path


def test_a_scene_of_sections_is_the_model_of_the_same_calls(tmp_path):
    one, other = load(written(tmp_path, SCENE)).model.build(), by_calls().build()
    assert fingerprint(one.system) == fingerprint(other.system)
    assert np.array_equal(one.load_values(np.zeros(1)), other.load_values(np.zeros(1)))
    assert np.any(one.load_values(np.zeros(1)))
    assert one.layout.description == other.layout.description


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mass: [0.01, -0.005]", "mass: [0.01]", "section 'plain'"),
        ("product_of_inertia: 2.0e-6", "product_of_inertia: 2.0", "product_of_inertia = 2 is too large"),
        ("0.3, 0, 1.5]", "0.3, 0]", "rod 'one'"),
        ("[[0, 0, 0, 0,", "[[0.1, 0, 0, 0,", r"rest_strains is given at s = \[0.1, 1.0\]; begin with 0"),
        ("on: two,", "on: too,", r"there is no rod 'too'; did you mean 'two'"),
        ("ambient: [3, 0, -1]", "ambient: 3", "mass damping 'wind'"),
    ],
)
def test_what_is_wrong_in_sections_is_named(tmp_path, old, new, message):
    assert SCENE.count(old) == 1
    with pytest.raises(SceneError, match=message):
        load(written(tmp_path, SCENE.replace(old, new)))
