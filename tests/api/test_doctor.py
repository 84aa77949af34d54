"""Command `rodsim doctor`.

Working parts are reported as working, faults are named with a remedy, and nothing ends in a traceback.
"""

import importlib.metadata
import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from rodsim.cli.main import main
from rodsim.doctor import health_checks, installed_packages, probes
from rodsim.doctor import probe_processes as asking
from rodsim.doctor.probe_processes import ask

ROOT = Path(__file__).parents[2]
OK, ABSENT, BROKEN = "ok", "-", "BROKEN"


def findings(text, code):
    """Findings of a report by name."""
    report = json.loads(text)
    assert report["ok"] == (code == 0)
    return {finding["name"]: finding for finding in report["findings"]}


@pytest.fixture
def doctor_findings(monkeypatch, capsys):
    """Findings if all probes return the same answer; without an answer the cache is really probed."""

    def run_doctor(answer=None):
        cache = ask("cache") if answer is None else answer
        monkeypatch.setattr(health_checks, "ask", lambda x, *_, **__: cache if x == "cache" else answer or {})
        code = main(["doctor", "--json"])
        return findings(capsys.readouterr().out, code)

    return run_doctor


def test_doctor_finds_no_fault_and_times_a_run():
    completed = subprocess.run(
        [sys.executable, "-m", "rodsim", "doctor", "--json"], capture_output=True, text=True, cwd=ROOT
    )
    checks = findings(completed.stdout, completed.returncode)
    assert "Traceback" not in completed.stderr
    assert [x for x in checks.values() if x["state"] == BROKEN] == []
    assert checks["packages"]["data"]["versions"]["numba"]
    assert {"extra studies", "extra report", "extra notebook"} <= set(checks)
    assert checks["processor"]["data"]["usable"] >= 1
    run = checks["small run"]["data"]
    assert 0.0 < run["again"] < run["first"]
    assert run["energy_balance"] < 1e-12
    assert checks["cache"]["data"]["kernels"] > 0
    assert checks["movies"]["data"]["encoder"] == "libx264"
    for finding in checks.values():  # every fault has a remedy
        assert finding["state"] == OK or finding["cure"]


def test_doctor_reports_an_unwritable_cache_and_a_disabled_compiler(tmp_path, monkeypatch, doctor_findings):
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "cache"))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    checks = doctor_findings()
    assert checks["cache"]["state"] == checks["processor"]["state"] == BROKEN
    assert f"{file}/cache/rodsim/" in checks["cache"]["words"]
    assert "Not a directory" in checks["cache"]["words"]
    assert "NUMBA_CACHE_DIR" in checks["cache"]["cure"]
    assert "unset NUMBA_DISABLE_JIT" in checks["processor"]["cure"]


def test_doctor_reports_a_cache_on_a_full_disk(tmp_path, monkeypatch, doctor_findings):
    """An empty file can still be created there."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        cache = doctor_findings()["cache"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (cache["state"], cache["data"]["fault"]) == (BROKEN, "File too large")


def test_doctor_reports_the_cache_of_other_versions(tmp_path, monkeypatch, doctor_findings):
    other = tmp_path / "rodsim" / "0123456789abcdef"
    other.mkdir(parents=True)
    (tmp_path / "rodsim").chmod(0o700)
    (other / "a.nbi").write_bytes(b"x" * 3 * 2**20)
    (tmp_path / "rodsim" / "systems").mkdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    cache = doctor_findings()["cache"]
    assert "of other versions next to it: 1, 3 MiB" in cache["words"]
    data = cache["data"]
    assert (data["older"], data["older_bytes"]) == ([str(other)], 3 * 2**20)
    assert Path(data["folder"]).parent == tmp_path / "rodsim"
    assert (data["kernels"], data["given"], data["fault"]) == (0, True, "")


PROBES = {
    "crashed (SIGSEGV)": "import ctypes; ctypes.string_at(0)",
    "crashed (SIGABRT)": "import os; os.abort()",
    "gave no answer within": "import time; time.sleep(60)",
    "ended with exit code 3": "import os; os._exit(3)",
    "RuntimeError: driver": "raise RuntimeError('driver')",
    "answered after words of a library": "print('{}\\nhello'); print('{\"error\": \"answered after words of a library\"}')",
}


@pytest.mark.parametrize("words", PROBES)
def test_doctor_reports_failed_probes(words, tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text(f"def main(arguments):\n    {PROBES[words]}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(asking, "_PROBES", "failing")
    assert words in ask("x", limit=0.5 if "no answer" in words else 30.0)["error"]


def test_probe_reports_exceptions_and_failed_imports(capsys, monkeypatch):
    monkeypatch.setitem(probes.PROBES, "window", lambda: 1 / 0)
    probes.main(["window"])
    assert json.loads(capsys.readouterr().out) == {"error": "ZeroDivisionError: division by zero"}
    assert ask("libraries", "numpy", "no-such-package")["faults"].keys() == {"no-such-package"}


FFMPEG = {"program": "f", "version": "7", "encoder": "libx264", "fault": ""}
RUN = {"first": 1.0, "again": 0.1, "steps": 200, "elements": 20, "compiled": 0, "energy_balance": 1e-16}
ANSWERS = [  # check: answer of its probe, expected state and words
    ("OpenGL", {"error": "crashed (SIGSEGV)"}, ABSENT, "libegl1"),
    ("OpenGL", {"why": "no OpenGL: install it"}, ABSENT, "install it"),
    ("OpenGL", {"red": 0, "window": "w", "renderer": ""}, ABSENT, "libegl1"),
    ("OpenGL", {"red": 99, "window": "w", "renderer": "r"}, OK, ""),
    ("OpenGL", {"error": "ModuleNotFoundError: vtk"}, ABSENT, "pip install ."),
    ("window", {"why": "no DISPLAY"}, ABSENT, "xvfb-run"),
    ("window", {"error": "OSError: libX11"}, ABSENT, "xvfb-run"),
    ("window", {"screen": ":0"}, OK, ""),
    ("movies", {"error": "RuntimeError: No ffmpeg exe"}, BROKEN, "imageio-ffmpeg"),
    ("movies", {**FFMPEG, "encoder": ""}, BROKEN, "imageio-ffmpeg"),
    ("movies", {**FFMPEG, "fault": "bad"}, BROKEN, "imageio-ffmpeg"),
    ("movies", FFMPEG, OK, ""),
    ("libraries", {"faults": {"vtk": "ImportError: libGL.so.1"}}, BROKEN, "force-reinstall vtk"),
    ("libraries", {"error": "crashed (SIGILL)"}, BROKEN, "force-reinstall"),
    ("libraries", {"faults": {}}, OK, ""),
    ("small run", {"error": "crashed (SIGSEGV)"}, BROKEN, "report"),
    ("small run", {"error": "ModuleNotFoundError: numba"}, BROKEN, "pip install ."),
    ("small run", RUN, OK, "warm"),
    ("small run", {**RUN, "compiled": 7}, OK, "cold, 7 kernels were compiled"),
    ("small run", {**RUN, "energy_balance": 1e-3}, BROKEN, "report"),
    ("small run", {**RUN, "energy_balance": float("nan")}, BROKEN, "report"),
    ("cache", {"error": "ModelError: cache folder"}, BROKEN, "above"),
]


@pytest.mark.parametrize(("check", "answer", "state", "words"), ANSWERS)
def test_doctor_judges_probe_answers_and_names_the_remedy(check, answer, state, words, doctor_findings):
    finding = doctor_findings(answer)[check]
    assert finding["state"] == state
    assert words in finding["words"] + finding["cure"]
    assert state == OK or finding["cure"]


REQUIRES = [
    "numpy>=1.9",  # compared as numbers: 1.26 is newer
    "absent-thing>=2; python_version >= '3'",
    "pytest>=10000; extra == 'test'",
    "absent-extra (>=1.0) ; extra == 'report'",
    "rodsim[report]; extra == 'all'",
    'PyYAML>=6.0.0; extra == "studies"',
]
VERSIONS = {"numpy": "1.26.4+local", "pytest": "9.1rc1", "PyYAML": "6.0"}


def test_doctor_reports_missing_and_old_packages_with_the_install_command(monkeypatch, doctor_findings):
    def version(name):
        if name not in VERSIONS:
            raise importlib.metadata.PackageNotFoundError(name)
        return VERSIONS[name]

    monkeypatch.setattr(importlib.metadata, "requires", lambda name: REQUIRES)
    monkeypatch.setattr(importlib.metadata, "version", version)
    checks = doctor_findings({"error": "asked nobody"})
    names = [name for name in checks if name.startswith(("packages", "extra"))]
    assert names == ["packages", "extra studies", "extra report", "extra test"]
    assert checks["packages"]["state"] == BROKEN
    assert checks["packages"]["cure"] == "pip install 'absent-thing>=2'"
    assert checks["extra studies"]["state"] == OK
    assert checks["extra report"]["state"] == ABSENT
    assert checks["extra report"]["cure"] == "pip install 'rodsim[report]'"
    assert "is too old" in checks["extra test"]["words"]


def test_doctor_reports_a_program_that_is_not_installed(monkeypatch, doctor_findings):
    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", absent)
    checks = doctor_findings({"error": "asked nobody"})
    assert checks["packages"]["state"] == BROKEN
    assert "pip install ." in checks["packages"]["cure"]
    assert checks["libraries"]["state"] == ABSENT


def test_doctor_reports_windows_as_unsupported(monkeypatch, doctor_findings):
    assert doctor_findings({})["rodsim"]["state"] == OK
    monkeypatch.setattr(sys, "platform", "win32")
    finding = doctor_findings({})["rodsim"]
    assert finding["state"] == BROKEN
    assert "WSL" in finding["cure"]


def test_failing_check_does_not_end_the_doctor_report(monkeypatch, capsys):
    monkeypatch.setattr(installed_packages, "packages", lambda: 1 / 0)
    monkeypatch.setattr(health_checks, "ask", lambda *_, **__: {})
    assert main(["doctor"]) == 1
    captured = capsys.readouterr()
    assert "Traceback" not in captured.out + captured.err
    assert "broken: packages" in captured.out
    lines = captured.out.splitlines()
    (failed,) = (k for k, line in enumerate(lines) if "ZeroDivisionError" in line)
    assert lines[failed].split()[:2] == ["packages", BROKEN]
    assert lines[failed + 1].split()[0] == "->"  # its cure
