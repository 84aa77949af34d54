"""`rodsim completion`: bash accepts the script and completes with it; the command itself stays quick."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from rodsim.cli import setup
from rodsim.cli.main import main, parser

DRIVER = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
$(complete -p rodsim | sed 's/.*-F //; s/ .*//')
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    file = tmp_path_factory.mktemp("completion") / "rodsim.bash"
    with pytest.MonkeyPatch.context() as patch:
        from io import StringIO

        patch.setattr("sys.stdout", printed := StringIO())
        assert main(["completion", "bash"]) == 0
    file.write_text(printed.getvalue())
    return file


def complete(script, *words, cwd="."):
    """Completions that bash proposes for the last word."""
    completed = subprocess.run(
        ["bash", "--norc", "-c", DRIVER, "bash", str(script), "rodsim", *words],
        capture_output=True, text=True, check=True, cwd=cwd,
    )  # fmt: skip
    assert completed.stderr == ""
    return set(completed.stdout.split("\n")) - {""}


def test_completion_script_is_valid_bash(script):
    completed = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True)
    assert (completed.returncode, completed.stderr) == (0, "")


def test_all_commands_and_options_are_completed(script):
    group = parser()._subparsers._group_actions[0]
    assert complete(script, "") >= set(group.choices)
    for command, command_parser in group.choices.items():
        options = {
            x for action in command_parser._actions for x in action.option_strings if x.startswith("--")
        }
        assert complete(script, command, "--") == options


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("do",), {"doctor"}),
        (("plot", "a.vtkhdf", "--what", "en"), {"energy"}),
        (("run", "a.yaml", "--integrator", "em-"), {"em-ggl", "em-d(rho)"}),
        (("run", "a.yaml", "--integrator", "GGL"), {"GGL-EM"}),
        (("run", "a.yaml", "--chart", "dir"), {"director"}),
        (("new", "a", "--template", "s"), {"soft-arm"}),
        (("render", "a.vtkhdf", "--color", "cur"), {"curvature"}),
        (("render", "a.vtkhdf", "--camera", "f"), {"front"}),
        (("completion", "z"), {"zsh"}),
        (("compile", "em-"), {"em-ggl", "em-d"}),
        (("run", "my"), {"my scene.yaml", "my.yaml", "my folder"}),
        (("run", "my.yaml", "-o", "my."), {"my.yaml"}),
        (("compare", "my.yaml", "my."), {"my.yaml"}),
        (("reproduce", "-o", "my"), {"my folder"}),
        (("validate", "euler"), {"euler-column"}),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else None,
)
def test_bash_completes_choices_and_files(words, expected, script, tmp_path):
    (tmp_path / "my folder").mkdir()
    for name in ("my.yaml", "my scene.yaml", "other.yaml"):
        (tmp_path / name).touch()
    completions = complete(script, *words, cwd=tmp_path)
    if words[0] == "validate":
        from rodsim.validation.registry import CASES

        expected = {name for name in CASES if name.startswith("euler")}
    assert completions == expected


@pytest.mark.parametrize(("shell", "mark"), [("zsh", "#compdef rodsim"), ("tcsh", "complete rodsim")])
def test_other_shells_have_completion_scripts(shell, mark, capsys):
    assert main(["completion", shell]) == 0
    printed = capsys.readouterr().out
    assert mark in printed
    assert "em6-ggl" in printed
    assert "soft-arm" in printed


def test_all_file_arguments_are_completed_as_files():
    """A new command whose file argument has another name would be missed here."""
    words = {"file", "scene", "folder", "result", "picture"}
    for command, action in setup._arguments(parser()):
        help_words = set((action.help or "").replace(",", " ").replace(";", " ").replace("(", " ").split())
        takes = action.nargs != 0 and action.type is None and action.choices is None
        if takes and help_words & words and not isinstance(action, argparse._SubParsersAction):
            assert action.dest in {*setup.FILES, "name", "integrator", "chart"}, (command, action.dest)


def test_completion_without_its_library_names_the_package(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "completion needs shtab: pip install 'rodsim[shell]'" in capsys.readouterr().err


def test_documented_command_installs_where_bash_searches(capsys):
    assert main(["completion", "--help"]) == 0
    printed = capsys.readouterr().out
    for shell in setup.SHELLS:
        assert f"rodsim completion {shell} >" in printed
    page = (Path(__file__).parents[2] / "docs" / "howto" / "install.md").read_text()
    assert "rodsim completion bash > ~/.local/share/bash-completion/completions/rodsim" in page
