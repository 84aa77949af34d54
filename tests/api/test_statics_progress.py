"""Searches for equilibria show how far they are, on a terminal or if asked."""

import re

import pytest

from rodsim import Box, Model, equilibrium
from rodsim.cli.main import main

SCENE = """
gravity: [0, 0, -9.81]
bodies: [{name: bar, shape: {type: box, size: [1, 0.1, 0.1], mass: 1}, position: [0.5, 0, 0]}]
joints: [{name: pin, kind: hinge, a: ground, b: bar, at: [0, 0, 0], axis: [0, 1, 0]}]
torsion_springs: [{name: coil, a: ground, b: bar, axis: [0, 1, 0], stiffness: 8}]
equilibrium: {}
"""


def bar(stiffness=8.0):
    """A bar on a hinge with a torsion spring, under its weight."""
    model = Model("bar", gravity=(0, 0, -9.81))
    body = model.add_body("bar", Box(1, 0.1, 0.1, mass=1), (0.5, 0, 0))
    model.add_joint("pin", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_spring("coil", model.ground, body, stiffness, along="rotation", axis=(0, 1, 0))
    return model


def counts(text):
    """Numbers of equilibria, and load factors, in the order in which the line showed them."""
    return re.findall(r"(\d+) equilibria[^\r]*?load factor ([\d.e+-]+), Newton \d+", text)


@pytest.mark.parametrize("method", ["newton", "arc-length"])
def test_a_search_shows_the_load_factors_it_has_reached(method, capsys, monkeypatch):
    result = equilibrium(bar(), method=method, progress=True)
    shown = counts(capsys.readouterr().err)
    assert int(shown[-1][0]) == result.n_outputs
    assert float(shown[-1][1]) == pytest.approx(result.load_factor[-1], rel=1e-5)


def test_nothing_is_shown_where_stderr_is_no_terminal_or_if_it_is_not_wanted(capsys, monkeypatch):
    equilibrium(bar())
    assert counts(capsys.readouterr().err) == []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    equilibrium(bar(), progress=False)
    assert counts(capsys.readouterr().err) == []


def test_the_command_shows_it_on_a_terminal_unless_quiet(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    scene = tmp_path / "bar.yaml"
    scene.write_text(SCENE)
    assert main(["equilibrium", str(scene), "--quiet"]) == 0
    assert counts(capsys.readouterr().err) == []
    assert main(["equilibrium", str(scene), "--overwrite"]) == 0
    assert counts(capsys.readouterr().err)[-1][1] == "1"
