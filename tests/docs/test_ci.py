"""Scripts of all checks and of the browser installation.

Different machines are simulated by replaced commands.
"""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCRIPT, BROWSERS = ROOT / ".ci" / "run", ROOT / ".ci" / "browsers"
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
CHECKS = ["make .venv/.installed", "make lint", "make demo", "make test", "make shown"]
PARALLEL = "make docs"  # its position in the order depends on the machine
APT = "apt-get -qq -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60"
UPDATE, INSTALL = f"{APT} update", f"{APT} install -y --no-install-recommends chromium xvfb"


def make_commands(folder, interpreter, tests=""):
    """Create a folder with commands that log their calls; return it for PATH, the log, and the Python of an
    environment.
    """
    path, log = folder / "bin", folder / "log"
    path.mkdir()
    log.touch()
    for name in ("bash", "cat", "dirname", "ln", "mkdir", "mktemp", "rm", "tail"):
        (path / name).symlink_to(shutil.which(name))
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    environment = path / "python3"  # creates an environment with the same Python in it: -m venv FOLDER
    environment.write_text(f'#!{path / "bash"}\nmkdir -p "$3/bin" && ln -s {python} "$3/bin/python"\n')
    environment.chmod(0o755)
    for file, does in [(path / name.replace("_", "-"), does) for name, does in interpreter.items()] + [
        (python, tests)
    ]:
        noted = "" if file.name in ("id", "python") else f'echo "{file.name} $*" >> {log}\n'
        file.write_text(f"#!{path / 'bash'}\n{noted}{does}\n")
        file.chmod(0o755)
    return path, log


def run(folder, tests="", **commands):
    """Exit code and ordered calls, without the parallel one; `commands`: action of each command besides
    logging its call; tests: action of Python.
    """
    (folder / ".ci").mkdir()
    shutil.copy(SCRIPT, folder / ".ci")
    path, log = make_commands(folder, {"make": "", "id": "echo 0", **commands}, tests)
    completed = subprocess.run(
        [path / "bash", folder / ".ci/run"], env={"PATH": str(path)}, capture_output=True
    )
    calls = log.read_text().splitlines()
    assert calls.count(PARALLEL) == 1
    return completed.returncode, [call for call in calls if call != PARALLEL]


@pytest.mark.parametrize(
    ("commands", "calls"),
    [
        ({}, []),
        ({"apt_get": ""}, [UPDATE, INSTALL]),
        ({"apt_get": "exit 100"}, [UPDATE, INSTALL]),
        ({"apt_get": 'case "$*" in *install*) exit 100;; esac'}, [UPDATE, INSTALL]),
        ({"apt_get": "", "id": "echo 1000"}, []),
        ({"apt_get": "", "chromium": ""}, [UPDATE, INSTALL]),
        ({"apt_get": "", "chromium": "", "Xvfb": ""}, []),
    ],
    ids=["no apt", "all well", "no network", "no such package", "no root", "no Xvfb", "all there"],
)
def test_missing_browser_is_not_an_error(commands, calls, tmp_path):
    path, log = make_commands(tmp_path, {"id": "echo 0", **commands})
    completed = subprocess.run([path / "bash", BROWSERS], env={"PATH": str(path)}, capture_output=True)
    assert (completed.returncode, log.read_text().splitlines()) == (0, calls)


def test_all_checks_run_without_system_packages(tmp_path):
    assert run(tmp_path, apt_get="") == (0, CHECKS)


def test_workflow_runs_the_scripts_with_every_supported_python():
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    job = workflow["jobs"]["checks"]
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    versions = [
        line.rsplit(" ", 1)[1]
        for line in classifiers
        if line.startswith("Programming Language :: Python :: 3.")
    ]
    assert job["strategy"]["matrix"]["python"] == versions
    assert [step["run"] for step in job["steps"] if "run" in step] == ["sudo .ci/browsers", ".ci/run"]
    assert all(script.stat().st_mode & 0o111 for script in (SCRIPT, BROWSERS))


@pytest.mark.parametrize(
    "word", ["test_se3_element", "test_integrators", "Unraisable", "test_simd_elements", "test_export"]
)
def test_failing_parallel_jobs_fail_the_script(word, tmp_path):
    code, calls = run(tmp_path, tests=f'case "$*" in *{word}*) exit 3;; esac')
    assert (code, calls) == (1, CHECKS)


@pytest.mark.parametrize("word", ["demo", "docs"])
def test_failing_check_stops_the_script(word, tmp_path):
    begun = f'until [[ "$(<{tmp_path}/log)" == *"{PARALLEL}"* ]]; do :; done'  # else it may be ended before it is called
    code, calls = run(tmp_path, make=f'[ "$1" != {word} ] || {{ {begun}; exit 1; }}')
    assert (code, calls) == (1, CHECKS[:3])
