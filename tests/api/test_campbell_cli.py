"""`rodsim campbell`: printed, drawn and JSON output of a scene, rejected input; bearings in scenes."""

import json

import numpy as np
import pytest

from rodsim import Model, campbell
from rodsim.cli.main import main
from rodsim.linear import Unbalance

SCENE = """
name: rotor
run: {t_end: 1, dt: 0.001}
bodies:
  - name: disc
    shape: {type: given, mass: 2.0, inertia: [0.02, 0.013, 0.013]}
bearings:
  - {name: film, a: ground, b: disc, stiffness: [[10000, 50], [-50, 12000]], damping: 6, axis: [1, 0, 0]}
  - name: tilt
    kind: general
    a: ground
    b: disc
    axis: [1, 0, 0]
    y: [0, 0.6, 0.8]
    speeds: [0, 100, 300]
    stiffness: [[3.0e+5, 0, 0, 0, 500, 500], [3.0e+5, 0, 0, 0, 500, 500], [3.0e+5, 0, 0, 0, 700, 500]]
"""
SPEEDS = ["--speeds", "10", "200", "--steps", "5", "-n", "3", "--rotors", "disc"]


@pytest.fixture
def scene(tmp_path):
    file = tmp_path / "rotor.yaml"
    file.write_text(SCENE)
    return str(file)


def test_campbell_of_a_scene_is_printed_and_drawn(scene, tmp_path, capsys):
    picture = tmp_path / "campbell.png"
    assert main(["campbell", scene, *SPEEDS, "--unbalance", "disc", "1e-4", "-o", str(picture)]) == 0
    printed = capsys.readouterr().out
    expected = campbell(
        Model.load(scene), np.linspace(10, 200, 5), 3, rotors="disc", unbalance=Unbalance("disc", 1e-4)
    )
    assert expected.text() in printed
    assert picture.stat().st_size > 20_000


def test_campbell_prints_json_in_rpm(scene, capsys):
    assert main(["campbell", scene, "--speeds", "100", "1900", "--rpm", *SPEEDS[3:], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["speeds"][-1] == pytest.approx(1900 * np.pi / 30)
    critical = printed["critical speeds"]
    assert critical[0]["speed"] == pytest.approx(np.sqrt(1e4 / 2), rel=1e-2)
    assert printed["stability limit"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", "1"], "give two or more"),
        (["--unbalance", "disc", "much"], "much is not a number"),
        (["--unbalance", "disk", "1e-4"], "disk"),
        (["--rotors", "shaft"], "no body or rod 'shaft'"),
        (["--speeds", "10", "400"], "covers 0 to 300 rad/s"),
    ],
)
def test_campbell_rejects(scene, capsys, options, message):
    assert main(["campbell", scene, *SPEEDS, *options]) == 2
    assert message in capsys.readouterr().err


def test_bearings_survive_a_round_trip(scene, tmp_path):
    model = Model.load(scene)
    again = Model.load(model.save(tmp_path / "again.yaml") or tmp_path / "again.yaml")
    for name in ("film", "tilt"):
        one, other = model.others[name], again.others[name]
        assert np.array_equal(one.K, other.K)
        assert np.array_equal(one.C, other.C)
    assert again.others["tilt"].speeds.tolist() == [0, 100, 300]
