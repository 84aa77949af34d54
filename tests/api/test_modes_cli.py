"""`rodsim modes`: printed and written output, initial shapes, rejected input."""

import json

import numpy as np
import pytest

from rodsim import Box, Material, Model, Result, Section, modes
from rodsim.cli.main import main

SCENE = """
name: beam
gravity: [0, 0, {gravity}]
materials:
  steel: {{E: 2.1e11, nu: 0.3, density: 7850}}
rods:
  - name: arm
    curve: [[0, 0, 0], [1, 0, 0]]
    section: {{type: circular, radius: 0.01, material: steel}}
    n_elements: 16
joints:
  - {{name: wall, kind: clamp, a: {{rod: arm, s: 0}}}}
run: {{t_end: 2, dt: 0.005}}
"""


@pytest.fixture
def scene(tmp_path):
    def write(gravity=0.0):
        file = tmp_path / "scene.yaml"
        file.write_text(SCENE.format(gravity=gravity))
        return str(file)

    return write


def test_modes_of_a_scene_are_printed_and_written(scene, tmp_path, capsys):
    out = tmp_path / "modes.vtkhdf"
    assert main(["modes", scene(), "-n", "4", "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    # 1.8751^2/(2 pi) sqrt(EI/(rho A)), Euler and Bernoulli's; rod elements of two nodes are off by their order
    frequency = 1.875104**2 / (2 * np.pi) * np.sqrt(2.1e11 * 0.01**2 / 4 / 7850)
    assert float(printed.splitlines()[1].split()[1]) == pytest.approx(frequency, rel=2e-3)
    assert "rod 'arm', node 16" in printed
    result = Result.load(out)
    assert result.n_outputs == 4 * 24
    assert result.t[0] == 1.0
    assert main(["modes", scene(), "-o", str(out)]) == 2  # not overwritten unless requested
    assert "exists" in capsys.readouterr().err
    assert main(["modes", scene(), "-n", "1", "-o", str(out), "--overwrite"]) == 0


def test_modes_command_prints_json(scene, capsys):
    assert main(["modes", scene(), "-n", "3", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [mode["kind"] for mode in printed["modes"]] == ["oscillates"] * 3


def test_modes_reject_a_non_equilibrium_unless_it_is_searched(scene, capsys):
    assert main(["modes", scene(-9.81)]) == 2
    assert "--equilibrium" in capsys.readouterr().err
    assert main(["modes", scene(-9.81), "-n", "2", "--json", "--equilibrium"]) == 0
    hanging = [mode["Hz"] for mode in json.loads(capsys.readouterr().out)["modes"]]
    assert main(["modes", scene(), "-n", "2", "--json"]) == 0
    straight = [mode["Hz"] for mode in json.loads(capsys.readouterr().out)["modes"]]
    # a sag of 2 mm changes little
    assert hanging == pytest.approx(straight, rel=1e-4)
    assert hanging != straight


def test_rotation_stiffens_a_scene(scene, capsys):
    assert main(["modes", scene(), "-n", "2", "--json", "--spin", "0", "0", "100"]) == 0
    lag, flap = [2 * np.pi * mode["Hz"] for mode in json.loads(capsys.readouterr().out)["modes"]]
    # Southwell: w^2 = w0^2 + 1.193 W^2 out of the plane, less W^2 in it
    w0 = 1.875104**2 * np.sqrt(2.1e11 * 0.01**2 / 4 / 7850)
    assert flap == pytest.approx(np.sqrt(w0**2 + 1.193 * 100**2), rel=5e-3)
    assert lag**2 == pytest.approx(flap**2 - 100**2, rel=1e-3)


def test_modes_of_a_mechanism_are_rigid_and_name_the_moving_part():
    model = Model("chain")
    section = Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000))
    arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
    rod = model.add_rod("rod", [(1, 0, 0), (2, 0, 0)], section, 4)
    model.add_joint("hinge", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint("elbow", "revolute", arm, rod.start, at=(1, 0, 0), axis=(0, 0, 1))
    spectrum = modes(model, 4)
    assert spectrum.kinds == ("rigid", "rigid", "oscillates", "oscillates")
    assert list(spectrum.frequency[:2]) == [0.0, 0.0]
    assert spectrum.largest_part(0).startswith(("rod 'rod'", "body 'arm'"))
    assert spectrum.text().count("rigid") == 2
