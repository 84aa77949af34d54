"""Command `rodsim new`.

Every template is a scene that runs and passes the audit; nothing is overwritten; names are distinguished.
"""

import ast
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from rodsim import Model, Result, audit, simulate
from rodsim.cli.main import main, parser
from rodsim.scenes import read_scene

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted(file.stem for file in (ROOT / "rodsim" / "templates").glob("*.yaml"))


def run_new(*arguments):
    return main(["new", *arguments])


@pytest.fixture
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("template", TEMPLATES)
def test_templates_run_and_pass_the_audit(template, working_folder):
    assert run_new("mine", "--template", template) == 0
    model, run = Model.load("mine.yaml"), read_scene("mine.yaml")["run"]
    assert model.name == "mine"
    # the checks need only the compiled code of `em`, and the whole run takes seconds
    assert run.get("integrator", "em") == "em"
    assert run["t_end"] / run["dt"] <= 2000
    result = simulate(model, 60 * run["dt"], run["dt"], output_every=5)
    audited = audit(result)
    assert audited.ok, audited.text()
    assert (
        audited.energy_balance < 1e-11
    )  # energies of some mJ; joint forces of N act on positions with a round-off of 1e-15 m
    assert audited.halvings == 0
    assert audited.newton_max <= 8


def test_template_top_is_the_lagrange_top(working_folder):
    """Tilt and azimuth of its axis compared with the two reduced equations of Lagrange's top, solved by
    another integrator.
    """
    run_new("mine", "--template", "top")
    top = Model.load("mine.yaml").bodies["top"]
    m, l = top.properties.mass, top.properties.center[2]
    I1, I3 = top.properties.inertia[0, 0] + m * l**2, top.properties.inertia[2, 2]
    tilt, spin, t_end = np.radians(30.0), 150.0, 1.2

    def rates(_, y):
        theta, theta_rate, _phi = y
        turning = I3 * spin * (np.cos(tilt) - np.cos(theta)) / (I1 * np.sin(theta) ** 2)
        gyration = (I1 * turning * np.cos(theta) - I3 * spin) * turning
        return theta_rate, (gyration + m * 9.81 * l) * np.sin(theta) / I1, turning

    exact = solve_ivp(rates, (0.0, t_end), (tilt, 0.0, 0.0), rtol=1e-10, atol=1e-12, dense_output=True)
    result = simulate(Model.load("mine.yaml"), t_end, 0.001)
    axis = result.body("top").center_of_mass / l
    theta, _, phi = exact.sol(result.t)
    # a step of em is a fifth of a radian of spin: its second-order error grows to some thousandths here
    assert np.abs(np.arccos(axis[:, 2]) - theta).max() < 5e-3
    assert np.abs(np.unwrap(np.arctan2(axis[:, 1], axis[:, 0])) - phi).max() < 2e-2
    nods = np.flatnonzero((theta[1:-1] > theta[:-2]) & (theta[1:-1] > theta[2:]))
    assert 1.8 < (len(nods) - 1) / np.ptp(result.t[nods]) < 2.4  # "about twice a second"


@pytest.mark.parametrize("template", TEMPLATES)
def test_template_suggestions_name_existing_parts(template, working_folder):
    """The suggested Python opens the result, the suggested commands are valid, and the named parts exist."""
    run_new("my scene", "--template", template)
    text = Path("my scene.yaml").read_text()
    assert "$" not in text
    model = Model.load("my scene.yaml")
    for kind, name in re.findall(r'\.(joint|rod|body)\("([^"]+)"\)', text):
        parts = {"joint": {**model.joints, **model.drives}, "rod": model.rods, "body": model.bodies}
        assert name in parts[kind]
    for path in re.findall(r"Result\.open\((.*?)\)", text):
        assert ast.literal_eval(path) == "my scene.vtkhdf"
    commands = re.findall(r"rodsim (?:run|info|compare|show)\b[^:;\n(`]*", text)
    assert len(commands) >= 2
    for command in commands:
        parser().parse_args(shlex.split(command.split("  ")[0])[1:])


def test_suggested_commands_are_valid_and_name_the_written_file(working_folder, capsys):
    assert run_new("a b", "--template", "top") == 0
    suggested = capsys.readouterr().out.split("next:\n")[1].splitlines()
    assert len({line.index("# ") for line in suggested}) == 1  # descriptions are aligned in one column
    commands = [shlex.split(line, comments=True) for line in suggested]
    assert commands == [
        ["rodsim", "run", "a b.yaml"],
        ["rodsim", "show", "a b.vtkhdf", "-o", "a b.png"],
        ["rodsim", "show", "a b.vtkhdf", "--what", "energy"],
        ["rodsim", "audit", "a b.vtkhdf"],
        ["rodsim", "show", "a b.vtkhdf", "-o", "a b.html"],
    ]
    assert main([*commands[0][1:], "--t-end", "0.01", "--quiet"]) == 0
    assert Result.load("a b.vtkhdf").bodies == ["top"]
    for words in commands[1:]:
        parser().parse_args(words[1:])


NAMES = [
    "arm", "no", "Off", "2024-01-01", "end ", "3", "1e3", "a: b", "- a", "null", "it's", 'sa"y', "Löffel", "{a", "a #b", "$file",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_scene_name_equals_the_file_name_for_any_yaml_scalar(name, working_folder):
    assert run_new(name, "--template", "top") == 0
    assert Model.load(f"{name}.yaml").name == name


def test_new_command_overwrites_nothing(working_folder, capsys):
    (working_folder / "mine.yaml").write_text("precious")
    (working_folder / "gone.yaml").symlink_to(working_folder / "elsewhere.yaml")
    for name in ("mine", "mine.yaml", "gone"):
        assert run_new(name) == 2
        assert "exists" in capsys.readouterr().err
    assert (working_folder / "mine.yaml").read_text() == "precious"
    assert not (working_folder / "elsewhere.yaml").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((name, "not a scene name") for name in ("", ".", "..", "folder/", ".yaml")),
        ("arm.vtkhdf", "give 'arm.yaml'"),
        ("no/arm", "no folder 'no'; make it first"),
        ("file/arm", "'file' is not a folder"),
        ("a\nb", "control character"),
        ("a\nb/c", "control character"),
        ("a" * 201, "at most 200"),
    ],
)
def test_invalid_scene_name_is_rejected(name, words, working_folder, capsys):
    (working_folder / "file").write_text("")
    assert run_new(name) == 2
    assert words in capsys.readouterr().err
    assert [file.name for file in working_folder.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("entered", "suggestion"),
    [("cabel", "cable"), ("Cable", "cable"), ("soft_arm", "soft-arm"), ("mech", "mechanism"), ("fork", None)],
)
def test_unknown_template_is_reported_with_suggestion_and_list(entered, suggestion, working_folder, capsys):
    assert run_new("x", "--template", entered) == 2
    message = capsys.readouterr().err
    assert (f"did you mean '{suggestion}'?" in message) == (suggestion is not None)
    listed = dict(line.split(maxsplit=1) for line in message.splitlines() if line.startswith("  "))
    assert sorted(listed) == TEMPLATES
    assert all(len(words) > 20 for words in listed.values())
    assert not list(working_folder.iterdir())
