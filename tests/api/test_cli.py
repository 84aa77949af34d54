"""Command line: exit codes, written files, bit-identical resume, start-up without heavy modules."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rodsim import Result
from rodsim.cli.main import COMMANDS, LISTED, main, parser
from tests.support.studies import coloured

SCENES = Path(__file__).parents[2] / "examples" / "scenes"


def run(scene, out, *options):
    return main(["run", str(SCENES / f"{scene}.yaml"), "-o", str(out), "--quiet", *options])


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [("EML-kappa", "quaternion"), ("GGL-EM", "quaternion-gamma"), ("GL-SPARK(2)", "quaternion-gamma")],
)
def test_scenes_with_dampers_and_viscous_rods_take_any_integrator(integrator, chart, tmp_path, capsys):
    """The example with lumped mass of the cord, which GGL-EM needs, and a follower force on the door."""
    scene, out = tmp_path / "scene.yaml", tmp_path / "out.vtkhdf"
    text = (SCENES / "rod_and_ball.yaml").read_text()
    text = text.replace("n_elements: 24", "n_elements: 4\n    mass: lumped")
    text += "loads:\n  - {name: push, kind: force, on: {body: door, at: [0.15, 0, 0]}, value: [0, 5, 0], following: true}\n"
    scene.write_text(text)
    options = ("--integrator", integrator, "--chart", chart, "--t-end", "0.04")
    assert main(["run", str(scene), "-o", str(out), "--quiet", *options]) == 0
    assert main(["audit", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["energy_balance"] < 1e-3
    assert report["dissipation"] > 0.0
    assert abs(report["work"]) > 1e-3


def test_all_commands_accept_a_result(tmp_path, capsys):
    out = tmp_path / "out.vtkhdf"
    assert run("rod_and_ball", out, "--t-end", "0.1") == 0
    for command in (
        ["info", str(out)],
        ["info", str(out), "--json"],
        ["audit", str(out)],
        ["plot", str(out)],
        ["plot", str(out), "--what", "energy", "-o", str(tmp_path / "energy.svg")],
        ["render", str(out)],
        ["render", str(out), "-o", str(tmp_path / "fast.png"), "--color", "speed", "--camera=-30/20"],
        ["export", str(out), "--format", "pvd"],
        ["export", str(out), "--format", "xdmf", "--every", "2"],
        ["schema"],
        ["check", str(SCENES / "chain.yaml")],
    ):
        assert main(command) == 0, command
    assert {"out-overview.png", "energy.svg", "fast.png", "out.png", "out.pvd", "out.xdmf"} <= {
        f.name for f in tmp_path.iterdir()
    }


def test_resume_with_integrator_and_chart_repeats_the_run_bitwise(tmp_path):
    uninterrupted, parts = tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    by = ["--integrator", "VI-B(0.5, 0.5)", "--chart", "quaternion-gamma"]
    assert run("chain", uninterrupted, "--t-end", "0.1", *by) == 0
    assert run("chain", parts, "--t-end", "0.06", *by) == 0
    assert run("chain", parts, "--t-end", "0.1", "--resume", *by) == 0
    first, second = Result.load(uninterrupted), Result.load(parts)
    assert first.n_outputs == second.n_outputs
    assert first.description["run"]["integrator"] == by[1]
    for one, other in zip(first.states(slice(None)), second.states(slice(None)), strict=True):
        assert np.array_equal(one, other)


def test_the_help_fits_a_terminal_and_is_grouped(capsys):
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert listed == [name for names in LISTED.values() for name in names]


def test_each_command_is_defined_in_its_module():
    [commands] = [a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)]
    assert sorted(commands.choices) == sorted(name for names in COMMANDS.values() for name in names)
    for names in COMMANDS.values():
        for name in names:
            [alone] = [a for a in parser(name)._actions if isinstance(a, argparse._SubParsersAction)]
            assert sorted(alone.choices) == sorted(names)


def options(command):
    """Options of a command with the words that each accepts."""
    [commands] = [a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)]
    return {a.dest: a.choices and set(a.choices) for a in commands.choices[command]._actions}


def test_show_has_all_options_of_the_commands_it_replaces():
    older = [options(name) for name in ("plot", "render", "report", "view")]
    assert options("show") == {
        dest: choices for command_options in older for dest, choices in command_options.items()
    }


@pytest.mark.parametrize(
    ("words", "file", "printed"),
    [
        ([], None, "window"),
        (["--color", "speed"], None, "window"),
        (["--what", "energy"], "energy.png", ""),
        (["--what", "energy", "-o", "a.svg"], "a.svg", ""),
        (["-o", "a.pdf"], "a.pdf", ""),
        (["-o", "a.png", "--time", "0", "0.1", "--camera", "front"], "a.png", ""),
        (["--time", "0.1"], "out.png", ""),
        (["-o", "a.html"], "a.html", ""),
        (["-o", "a.html", "--time", "0.1"], None, "--time does not belong to a web page"),
        (["--what", "energy", "--color", "speed"], None, "--color does not belong to curves"),
        (["--overwrite"], None, "--overwrite does not belong to a window"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else None,
)
def test_show_creates_the_product_of_its_options(words, file, printed, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rodsim.results.viewer.view", lambda *x: print("window", *x[1:]))
    assert run("chain", "out.vtkhdf", "--t-end", "0.1") == 0
    succeeded = main(["show", "out.vtkhdf", *words]) == 0
    captured = capsys.readouterr()
    assert printed in captured.out + captured.err
    assert succeeded == (file is not None or printed == "window")
    if file is not None:
        assert [path.name for path in tmp_path.iterdir() if path.name.endswith(file)]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (["info", str(SCENES / "bundle.yaml")], ["check", str(SCENES / "bundle.yaml")]),
        (["setup", "schema"], ["schema"]),
        (["setup", "completion", "tcsh"], ["completion", "tcsh"]),
        (["validate", "--papers", "--list"], ["reproduce"]),
    ],
    ids=lambda x: x[0],
)
def test_old_command_names_have_the_same_effect(new, old, capsys):
    assert main(new) == 0
    printed = capsys.readouterr().out
    assert main(old) == 0
    assert capsys.readouterr().out == printed != ""


UNSOLVABLE = """
name: torn
rods:
  - {name: arm, curve: [[0, 0, 0], [1, 0, 0]], n_elements: 1,
     section: {type: stiffness, EA: 100, GA: 100, GJ: 0.001, EI: 0.001, mass_per_length: 1, inertia_per_length: 0.001}}
joints: [{name: wall, kind: clamp, a: {rod: arm, s: 0}}]
loads:
  - {name: wrench, kind: moment, on: {rod: arm, s: 1}, value: {function: ramp, value: 100, t_end: 1, direction: [0, 0, 1]}}
run: {t_end: 1, dt: 0.01}
"""


def test_failed_run_exits_with_3_and_keeps_its_outputs(tmp_path, capsys):
    """One element is twisted beyond half a revolution, which its strains cannot describe."""
    scene, out = tmp_path / "torn.yaml", tmp_path / "torn.vtkhdf"
    scene.write_text(UNSOLVABLE)
    assert main(["run", str(scene), "-o", str(out), "--quiet"]) == 3
    message = capsys.readouterr().err
    assert "more elements" in message
    assert str(out) in message
    result = Result.load(out)
    assert result.n_outputs > 3
    assert np.all(np.isfinite(result.rod("arm").r[-1]))


def test_check_counts_all_parts_of_a_scene(capsys):
    assert main(["check", str(SCENES / "planetary_gear.yaml")]) == 0
    printed = capsys.readouterr().out
    assert "0 rods, 3 bodies, 3 joints, 0 springs, 1 torsion spring, 0 loads, 1 drive, 2 gears; em" in printed


HEAVY = {"numpy", "numba", "scipy", "h5py", "vtk", "pyvista", "matplotlib", "pydantic", "yaml"}
TABLES = (
    "from rodsim import Model, Section, Material; Model('a')._repr_html_(); import rodsim.results.html; "
    "Section.circular(0.1, Material(E=1e9, nu=0.3, density=1e3))._repr_html_()"
)
LIGHT = {  # command, and the modules that it must not import
    "help": ("import rodsim.cli.main as m; m.parser().format_help()", HEAVY),
    "new": (
        "from rodsim.cli.main import main; assert main(['new', 'a']) == 0",
        HEAVY - {"numpy", "scipy", "numba", "pydantic", "yaml"},
    ),
    # parts of the installation may be broken
    "doctor": ("from rodsim.cli.main import main; import rodsim.doctor.health_checks", HEAVY),
    "tables of a notebook": (TABLES, {"plotly", "xarray", "pandas", "IPython", "matplotlib", "vtk"}),
}


@pytest.mark.parametrize("name", LIGHT)
def test_quick_commands_import_no_heavy_module(name, tmp_path):
    code, heavy = LIGHT[name]
    command = [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"]
    where = {**os.environ, "PYTHONPATH": str(SCENES.parents[1])}
    completed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=where)
    assert not heavy & set(completed.stdout.split())


def test_studies_are_listed_run_and_drawn(tmp_path, capsys):
    from rodsim.papers.claims_report import STUDIES

    assert main(["reproduce"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in STUDIES)
    assert main(["reproduce", "mass-spring", "-o", str(tmp_path)]) == 0
    report = capsys.readouterr().out
    assert "PASS    000" in report
    assert "measured: " in report
    assert coloured(tmp_path / "mass-spring.png") > 1000
