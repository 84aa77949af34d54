"""A user's script passes strict type checkers, and a misspelt word is reported by them before anything runs."""

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parent / "typed_script.py"
ROOT = Path(__file__).parents[2]
# mistake of a user -> (text of the script, wrong text)
MISTAKES = {
    "joint": ('"spherical"', '"sphericall"'),
    "name": ("from rodsim import Box, ", "from rodsim import Box, Boxx, "),
    "argument": ("n_elements=4", "elements=4"),
    "method": ('result.body("block")', 'result.bodi("block")'),
    "type": ('density=50)', 'density="50")'),
}  # fmt: skip


@pytest.fixture(scope="module")
def write_scripts(tmp_path_factory):
    """Write the script, and one with each mistake."""
    folder = tmp_path_factory.mktemp("scripts")
    text = SCRIPT.read_text(encoding="utf-8")
    (folder / "right.py").write_text(text, encoding="utf-8")
    for name, (correct, instead) in MISTAKES.items():
        assert correct in text
        (folder / f"wrong_{name}.py").write_text(text.replace(correct, instead, 1), encoding="utf-8")
    return folder


def check(scripts, errors, output):
    """Check that the first reported error (file, line) of each script is its mistake, and that the correct
    script has none.
    """
    expected = {}
    for name, (_, instead) in MISTAKES.items():
        file = scripts / f"wrong_{name}.py"
        lines = file.read_text(encoding="utf-8").splitlines()
        expected[file.stem] = next(k for k, line in enumerate(lines, 1) if instead in line)
    reported = {}
    for file, line in errors:
        reported.setdefault(Path(file).stem, line)
    assert reported == expected, output


def test_mypy_accepts_the_script_and_reports_each_error(write_scripts):
    files = sorted(str(path) for path in write_scripts.glob("*.py"))
    command = f"{sys.executable} -m mypy --strict --follow-imports silent --config-file /dev/null".split()
    completed = subprocess.run(
        [*command, "--ignore-missing-imports", "--cache-dir", str(write_scripts / "cache"), "--output", "json", *files],
        capture_output=True, text=True, cwd=write_scripts, env={"MYPYPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    diagnostics = [json.loads(line) for line in completed.stdout.splitlines() if line.startswith("{")]
    errors = [(entry["file"], entry["line"]) for entry in diagnostics if entry["severity"] == "error"]
    check(write_scripts, errors, completed.stdout + completed.stderr)


def test_pyright_accepts_the_script_and_reports_each_error(write_scripts):
    if shutil.which("pyright", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("pyright is not installed")
    (write_scripts / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "extraPaths": [str(ROOT)], "reportMissingTypeStubs": False,
                    "reportUnknownMemberType": False, "reportUnknownVariableType": False, "reportUnknownArgumentType": False})
    )  # fmt: skip
    command = [str(Path(sys.executable).parent / "pyright"), "--pythonpath", sys.executable, "--outputjson"]
    completed = subprocess.run(
        [*command, "-p", str(write_scripts)], capture_output=True, text=True, cwd=write_scripts
    )
    if not completed.stdout.startswith("{"):
        pytest.skip(f"pyright does not run here: {(completed.stderr or completed.stdout)[:200]}")
    diagnostics = json.loads(completed.stdout)["generalDiagnostics"]
    errors = [(x["file"], x["range"]["start"]["line"] + 1) for x in diagnostics if x["severity"] == "error"]
    check(write_scripts, errors, completed.stdout[:4000])


def test_typed_script_runs(tmp_path, capsys):
    module = runpy.run_path(str(SCRIPT))
    assert module["main"](tmp_path) == 0.0
    assert "all laws that can be judged were kept" in capsys.readouterr().out
    assert {"pendulum.yaml", "run.vtkhdf", "run.pvd", "energy.png"} <= {p.name for p in tmp_path.iterdir()}
