"""Scenes of driven parts, sections, laws and loads: bit-identical to the model of the same calls."""

import numpy as np
import pytest

from discretization.system import fingerprint
from rodsim import Box, Material, Model, Section, SpringLaw
from rodsim.cli.main import main
from rodsim.scenes import SceneError
from rodsim.signals import Sine, SmoothStep, SpinUp

MOTION = """
name: everything that moves
gravity: [0, 0, -9.81]
materials:
  rubber: {E: 2.0e6, nu: 0.45, density: 1100}
rods:
  - {name: rod, curve: [[0, 0, 0], [1, 0, 0]], section: {type: circular, radius: 0.02, material: rubber}, n_elements: 4}
bodies:
  - {name: arm, shape: {type: box, size: [1.0, 0.1, 0.2], density: 100}, position: [0.5, 2, 0]}
  - {name: sledge, shape: {type: box, size: [1.0, 0.1, 0.2], density: 100}, position: [0, 4, 0]}
driven:
  - name: table
    position: [0, 0, 0]
    displacement:
      - {function: sine, amplitude: 0.1, frequency: 2, direction: [0, 0, 1]}
      - {function: smooth step, value: 0.2, t_end: 0.5, direction: [0, 1, 0]}
    turn: {function: spin-up, speed: 3, t_end: 1}
    axis: [0, 0, 1]
joints:
  - {name: root, kind: weld, a: table, b: {rod: rod, s: 0}}
  - {name: hinge, kind: revolute, a: ground, b: arm, at: [0, 2, 0], axis: [0, 0, 1]}
  - {name: rail, kind: prismatic, a: ground, b: sledge, axis: [1, 0, 0], at: [0, 4, 0]}
gears:
  - {name: rack, joints: [rail, hinge], ratios: [1, -0.2]}
drives:
  - {name: motor, joint: hinge, value: {function: sine, amplitude: 0.5, frequency: 1}}
bushings:
  - {name: mount, a: {body: table, at: [0, 0, 1]}, b: {body: arm, at: [0.5, 0, 0]}, stiffness: [10, 10, 10, 1, 1, 1],
     damping: 0.1}
law_springs:
  - {name: cord, a: {ground: [0, 3, 0]}, b: {body: arm, at: [0.5, 0, 0]}, law: {type: table, x: [0, 1, 2], force: [0, 0, 30]},
     damping: {type: polynomial, coefficients: [0, 2, 0, 0.1]}}
limits:
  - {name: stop, a: ground, b: arm, axis: [0, 0, 1], stiffness: 1000, width: 0.02, upper: 0.3}
distributed_loads:
  - {name: wind, on: rod, value: {function: sine, amplitude: 3, frequency: 1, direction: [0, 1, 0]}, following: true,
     between: [0.5, 1]}
run: {t_end: 0.05, dt: 0.01, integrator: em-ggl}
"""


def moving_model():
    model = Model("everything that moves", gravity=(0, 0, -9.81))
    arm = model.add_body("arm", Box(1.0, 0.1, 0.2, density=100), position=(0.5, 2, 0))
    sledge = model.add_body("sledge", Box(1.0, 0.1, 0.2, density=100), position=(0, 4, 0))
    section = Section.circular(0.02, Material(E=2e6, nu=0.45, density=1100))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4)
    both = [Sine(0.1, 2.0).along((0, 0, 1)), SmoothStep(0.2, 0.0, 0.5).along((0, 1, 0))]
    table = model.add_driven("table", displacement=both, turn=SpinUp(3.0, 1.0), axis=(0, 0, 1))
    model.add_joint("root", "weld", table, rod.start)
    hinge = model.add_joint("hinge", "revolute", model.ground, arm, at=(0, 2, 0), axis=(0, 0, 1))
    model.add_joint("rail", "prismatic", model.ground, sledge, axis=(1, 0, 0), at=(0, 4, 0))
    model.add_drive("motor", hinge, Sine(0.5, 1.0))
    model.add_gear("rack", ["rail", "hinge"], [1, -0.2])
    model.add_bushing("mount", table.at((0, 0, 1)), arm.at((0.5, 0, 0)), [10, 10, 10, 1, 1, 1], 0.1)
    law, damping = SpringLaw.table([0, 1, 2], [0, 0, 30]), SpringLaw.polynomial([0, 2, 0, 0.1])
    model.add_spring("cord", model.ground.at((0, 3, 0)), arm.at((0.5, 0, 0)), law=law, damping=damping)
    model.add_limit("stop", model.ground, arm, 1000, 0.02, upper=0.3, axis=(0, 0, 1))
    model.add_distributed_load("wind", rod, Sine(3.0, 1.0).along((0, 1, 0)), following=True, between=(0.5, 1))
    return model


SECTIONS = """
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


def with_sections():
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


def loaded(folder, text):
    path = folder / "scene.yaml"
    path.write_text(text)
    return Model.load(path)


@pytest.mark.parametrize(("text", "calls"), [(MOTION, moving_model), (SECTIONS, with_sections)])
def test_scene_equals_the_model_of_the_same_calls(text, calls, tmp_path):
    one, other = loaded(tmp_path, text).build(), calls().build()
    assert fingerprint(one.system) == fingerprint(other.system)
    t = np.array([0.0, 0.123, 0.7])
    assert np.any(one.load_values(t))
    assert np.array_equal(one.load_values(t), other.load_values(t))
    drives = [built.drive_values and built.drive_values(t).tobytes() for built in (one, other)]
    assert drives[0] == drives[1]
    assert one.layout.description == other.layout.description


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (MOTION, "joint: hinge,", "joint: hing,", r"there is no joint 'hing'; did you mean 'hinge'"),
        (MOTION, "joints: [rail,", "joints: [rial,", r"there is no joint 'rial'; did you mean 'rail'"),
        (MOTION, "ratios: [1,", "ratios: [0,", r"gear 'rack': the ratio of 'rail' is 0"),
        (MOTION, "on: rod, value", "on: rad, value", r"there is no rod 'rad'; did you mean 'rod'"),
        (MOTION, "frequency: 1}}", "frequency: 1, direction: [1, 0, 0]}}", r"have no direction; remove it"),
        (MOTION, "frequency: 2, direction: [0, 0, 1]}", "frequency: 2}", r"a displacement needs a direction"),
        (MOTION, "type: table, x", "type: tabel, x", r"spring with a law 'cord'.*type = 'tabel'.*is not known"),
        (MOTION, "function: spin-up", "function: spinup", r"driven frame 'table'.*'spinup'.*is not known"),
        (MOTION, "upper: 0.3", "upper: 0.3, width_: 1", r"limit 'stop': the key 'width_' is not known.*did you mean 'width'"),
        (MOTION, "damping: 0.1}", "damping: [1, 2]}", r"bushing 'mount'"),
        (MOTION, "    axis: [0, 0, 1]\n", "", r"driven 'table': `turn` and `axis` belong together"),
        (SECTIONS, "mass: [0.01, -0.005]", "mass: [0.01]", "section 'plain'"),
        (SECTIONS, "product_of_inertia: 2.0e-6", "product_of_inertia: 2.0", "product_of_inertia = 2 is too large"),
        (SECTIONS, "0.3, 0, 1.5]", "0.3, 0]", "rod 'one'"),
        (SECTIONS, "[[0, 0, 0, 0,", "[[0.1, 0, 0, 0,", r"rest_strains is given at s = \[0.1, 1.0\]; begin with 0"),
        (SECTIONS, "on: two,", "on: too,", r"there is no rod 'too'; did you mean 'two'"),
        (SECTIONS, "ambient: [3, 0, -1]", "ambient: 3", "mass damping 'wind'"),
    ],
)  # fmt: skip
def test_errors_in_scenes_name_the_object(tmp_path, text, old, new, message):
    assert text.count(old) == 1 or old.startswith(("    axis", "frequency"))
    with pytest.raises(SceneError, match=message):
        loaded(tmp_path, text.replace(old, new, 1))


ON_GROUND = """bodies: [{name: a, shape: {type: sphere, radius: 0.1, mass: 1}}]
springs: [{name: stop, a: {ground: [1, 0, 0]}, b: a, stiffness: 1}]
PLURAL:
- {name: stop, ENDS, GIVEN}
run: {t_end: 0.1, dt: 0.1}
rods: [{name: r, curve: [[0, 0, 0], [1, 0, 0]], n_elements: 2, section: {type: circular, radius: 0.01, material: m}}]
materials: {m: {E: 1.0e6, nu: 0.3, density: 1000}}
"""
POINTS = {  # entries with points, and their word
    "limits": ("limit 'stop'", "stiffness: 1, width: 0.1, upper: 2, of: length"),
    "law_springs": ("spring with a law 'stop'", "law: {type: polynomial, coefficients: [0, 1]}"),
    "bushings": ("bushing 'stop'", "stiffness: 1"),
}


@pytest.mark.parametrize("plural", POINTS)
def test_invalid_ends_are_reported_with_line_and_object(plural, tmp_path, capsys):
    """Next to a spring of the same name: the ground, which is not a point; and one node twice, which the
    built model rejects.
    """
    owner, points = POINTS[plural]
    text = ON_GROUND.replace("PLURAL", plural).replace("GIVEN", points)
    scene = tmp_path / "s.yaml"
    for ends, words in (
        ("b: a, a: ground", (owner, "{ground: [x, y, z]}")),
        ("a: {rod: r, s: 0.5}, b: {rod: r, s: 0.5000000000001}", (owner.split(" ")[0],)),
    ):
        scene.write_text(text.replace("ENDS", ends))
        assert main(["check", str(scene)]) == 2
        message = capsys.readouterr().err
        assert all(word in message for word in ("s.yaml:4", *words))
    scene.write_text(text.replace("ENDS", "b: a, a: {ground: [1, 0, 0]}"))
    assert main(["check", str(scene)]) == 0
