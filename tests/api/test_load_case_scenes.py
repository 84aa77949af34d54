"""Load cases in scenes: `rodsim equilibrium` writes a table of reactions and diagrams."""

import csv

import pytest

from rodsim.cli.main import main

SCENE = """
name: beam
gravity: [0, 0, -9.81]
sections:
  steel: {type: stiffness, EA: 3.0e+7, GA: 4.0e+6, GJ: 1.0e+5, EI: 2.0e+5, mass_per_length: 10, inertia_per_length: 0.1}
rods:
  - {name: beam, curve: [[0, 0, 0], [6, 0, 0]], section: steel, n_elements: 8, element: relative(2)}
joints:
  - {name: A, kind: generic, a: ground, b: beam.start, locked: [x, y, z, rx, rz]}
  - {name: B, kind: generic, a: ground, b: beam.end, locked: ["y", z, rx, rz]}
distributed_loads:
  - {name: snow, on: beam, value: [0, 0, -1000]}
equilibrium:
"""
CASES = """  load_cases:
    - {name: dead, loads: [gravity]}
    - {name: live, loads: {snow: 2.0}}
    - {name: sunk, settlements: [{joint: B, displacement: [0, 0, -0.01]}]}
  combinations:
    - {name: ULS, cases: {dead: 1.35, live: 1.5}}
"""


def table(tmp_path, section, *options):
    """Force along z of support A by load case, after `rodsim equilibrium`."""
    scene = tmp_path / "beam.yaml"
    scene.write_text(SCENE + section)
    assert main(["equilibrium", str(scene), *options]) == 0
    with (tmp_path / "beam-reactions.csv").open() as file:
        return {row["case"]: float(row["Fz"]) for row in csv.DictReader(file) if row["support"] == "A"}


@pytest.mark.parametrize("linear", [True, False])
def test_load_cases_of_a_scene_are_written(linear, tmp_path, capsys):
    folder = tmp_path / "diagrams"
    forces = table(tmp_path, f"  linear: {str(linear).lower()}\n{CASES}", "--diagrams", str(folder))
    expected = {"dead": 10 * 6 * 9.81 / 2, "live": 6000.0, "sunk": 0.0}
    expected["ULS"] = 1.35 * expected["dead"] + 1.5 * expected["live"]
    assert forces == pytest.approx(expected, rel=1e-4 if not linear else 1e-9, abs=0.1)
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.png" for name in sorted(expected)]
    assert "reactions of 4 load cases and combinations" in capsys.readouterr().out


def test_linear_scene_without_cases_has_all_loads(tmp_path):
    forces = table(tmp_path, "  linear: true\n  motions: [{joint: B, displacement: [0, 0, -0.01]}]\n")
    assert forces == pytest.approx({"all": 3000.0 + 10 * 6 * 9.81 / 2})


@pytest.mark.parametrize(
    ("message", "old", "new"),
    [
        ("there is no load 'wind'", "[gravity]", "[wind]"),
        ("there is no load case 'wind'", "{dead: 1.35", "{wind: 1.35"),
        ("has no loads and no settlements", "loads: [gravity]", "loads: []"),
    ],
)
def test_mistakes_in_load_cases_are_reported(message, old, new, tmp_path, capsys):
    scene = tmp_path / "beam.yaml"
    scene.write_text(SCENE + CASES.replace(old, new))
    assert main(["equilibrium", str(scene), "--quiet"]) != 0
    assert message in capsys.readouterr().err
    assert not (tmp_path / "beam-reactions.csv").exists()


def test_tables_are_not_overwritten(tmp_path, capsys):
    table(tmp_path, "  linear: true\n")
    assert main(["equilibrium", str(tmp_path / "beam.yaml"), "--quiet"]) != 0
    assert "exists" in capsys.readouterr().err
    assert main(["equilibrium", str(tmp_path / "beam.yaml"), "--quiet", "--overwrite"]) == 0
