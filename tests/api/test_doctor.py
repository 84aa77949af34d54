"""`rodsim doctor`: what works is found to work, what is broken is named with a cure, and nothing ends in a traceback."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rigid.compilation import cache_folder
from rodsim.cli.main import main
from rodsim.doctor import examination, installed, probes
from rodsim.doctor import probe_processes as asking
from rodsim.doctor.probe_processes import ask
from rodsim.doctor.report_lines import ABSENT, BROKEN, OK, Finding

ROOT = Path(__file__).parents[2]


def doctor(*arguments, **environment):
    """Exit code and findings by name."""
    done = subprocess.run(
        [sys.executable, "-m", "rodsim", "doctor", "--json", *arguments],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] == (done.returncode == 0)
    return done.returncode, {finding["name"]: finding for finding in report["findings"]}


def test_a_sound_machine_is_found_sound_and_its_run_is_timed():
    code, found = doctor()
    assert code == 0, [x for x in found.values() if x["state"] == BROKEN]
    assert found["packages"]["data"]["versions"]["numba"]
    assert {"extra studies", "extra report", "extra notebook"} <= set(found)
    assert found["processor"]["data"]["usable"] >= 1
    run = found["small run"]["data"]
    assert 0.0 < run["again"] < run["first"]
    assert run["energy_balance"] < 1e-12
    assert found["cache"]["data"]["kernels"] > 0
    assert found["movies"]["data"]["encoder"] == "libx264"
    for finding in found.values():  # what is not as it should be has a cure
        assert finding["state"] == OK or finding["cure"]


def test_a_cache_that_cannot_be_written_is_broken_with_a_cure(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "cache"))
    found = examination._cache()
    assert found.state == BROKEN
    assert f"{file}/cache/rodsim/" in found.words
    assert "Not a directory" in found.words
    assert "NUMBA_CACHE_DIR" in found.cure


def test_a_cache_on_a_full_disk_is_broken(tmp_path, monkeypatch):
    """An empty file can still be made there."""
    monkeypatch.setattr(cache_folder, "TRIED", str(tmp_path))
    monkeypatch.setattr(cache_folder, "FAULT", "")
    assert probes.cache()["fault"] == ""
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        assert probes.cache()["fault"] == "File too large"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_the_cache_of_other_versions_is_told_with_its_size(tmp_path):
    other = tmp_path / "rodsim" / "0123456789abcdef"
    other.mkdir(parents=True)
    (tmp_path / "rodsim").chmod(0o700)
    (other / "a.nbi").write_bytes(b"x" * 3 * 2**20)
    (tmp_path / "rodsim" / "systems").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "rodsim.doctor.probes", "cache"],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["older"] == [str(other)]
    assert found["older_bytes"] == 3 * 2**20
    assert Path(found["folder"]).parent == tmp_path / "rodsim"
    assert (found["kernels"], found["given"], found["fault"]) == (0, True, "")


def test_a_switched_off_compiler_is_broken(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    found = examination._processor()
    assert found.state == BROKEN
    assert "unset NUMBA_DISABLE_JIT" in found.cure


PROBES_THAT_FAIL = {
    "crashed (SIGSEGV)": "import ctypes; ctypes.string_at(0)",
    "crashed (SIGABRT)": "import os; os.abort()",
    "gave no answer within": "import time; time.sleep(60)",
    "ended with exit code 3": "import os; os._exit(3)",
    "RuntimeError: driver": "raise RuntimeError('driver')",
}


@pytest.mark.parametrize("said", PROBES_THAT_FAIL)
def test_a_probe_that_crashes_hangs_or_fails_is_told_in_words(said, tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text(f"def main(arguments):\n    {PROBES_THAT_FAIL[said]}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(asking, "_PROBES", "failing")
    assert said in ask("x", limit=0.5 if "no answer" in said else 30.0)["error"]


def test_libraries_may_print_before_a_probe_answers(tmp_path, monkeypatch):
    (tmp_path / "talking.py").write_text(
        'def main(arguments):\n    print("{}\\nhello")\n    print(\'{"a": 1}\')\n'
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(asking, "_PROBES", "talking")
    assert ask("x") == {"a": 1}


def test_a_probe_names_what_it_raises_and_what_cannot_be_imported(capsys, monkeypatch):
    monkeypatch.setitem(probes.PROBES, "window", lambda: 1 / 0)
    probes.main(["window"])
    assert json.loads(capsys.readouterr().out) == {"error": "ZeroDivisionError: division by zero"}
    assert ask("libraries", "numpy", "no-such-package")["faults"].keys() == {"no-such-package"}


ANSWERS = [
    ("_opengl", {"error": "crashed (SIGSEGV)"}, ABSENT, "libegl1"),
    ("_opengl", {"why": "no OpenGL: install it"}, ABSENT, "install it"),
    ("_opengl", {"red": 0, "window": "w", "renderer": ""}, ABSENT, "libegl1"),
    ("_opengl", {"red": 99, "window": "w", "renderer": "r"}, OK, ""),
    ("_window", {"why": "no DISPLAY"}, ABSENT, "xvfb-run"),
    ("_window", {"error": "OSError: libX11"}, ABSENT, "xvfb-run"),
    ("_window", {"screen": ":0"}, OK, ""),
    ("_ffmpeg", {"error": "RuntimeError: No ffmpeg exe"}, BROKEN, "imageio-ffmpeg"),
    ("_ffmpeg", {"program": "f", "version": "7", "encoder": "", "fault": ""}, BROKEN, "imageio-ffmpeg"),
    (
        "_ffmpeg",
        {"program": "f", "version": "7", "encoder": "libx264", "fault": "bad"},
        BROKEN,
        "imageio-ffmpeg",
    ),
    ("_ffmpeg", {"program": "f", "version": "7", "encoder": "libx264", "fault": ""}, OK, ""),
    ("_libraries", {"faults": {"vtk": "ImportError: libGL.so.1"}}, BROKEN, "force-reinstall vtk"),
    ("_libraries", {"error": "crashed (SIGILL)"}, BROKEN, "force-reinstall"),
    ("_libraries", {"faults": {}}, OK, ""),
    ("_opengl", {"error": "ModuleNotFoundError: vtk"}, ABSENT, "pip install ."),
    ("_run", {"error": "crashed (SIGSEGV)"}, BROKEN, "report"),
    ("_run", {"error": "ModuleNotFoundError: numba"}, BROKEN, "pip install ."),
    ("_cache", {"error": "ModelError: cache folder"}, BROKEN, "above"),
]


@pytest.mark.parametrize(("check", "answer", "state", "cure"), ANSWERS)
def test_what_a_probe_answers_is_judged_and_cured(check, answer, state, cure, monkeypatch):
    monkeypatch.setattr(examination, "ask", lambda *_, **__: answer)
    found = getattr(examination, check)()
    assert found.state == state
    assert cure in found.cure


def test_a_run_that_does_not_keep_its_energy_is_broken(monkeypatch):
    answer = {
        "first": 1.0,
        "again": 0.1,
        "steps": 200,
        "elements": 20,
        "compiled": 0,
        "energy_balance": 1e-16,
    }
    for balance, state in ((1e-16, OK), (1e-3, BROKEN), (float("nan"), BROKEN)):
        monkeypatch.setattr(examination, "ask", lambda *_, b=balance, **__: {**answer, "energy_balance": b})
        assert examination._run().state == state


def test_a_run_says_whether_it_was_cold_or_warm(monkeypatch):
    answer = {"first": 1.0, "again": 0.1, "steps": 200, "elements": 20, "energy_balance": 0.0}
    monkeypatch.setattr(examination, "ask", lambda *_, **__: {**answer, "compiled": 7})
    assert "cold, 7 kernels were compiled" in examination._run().words
    monkeypatch.setattr(examination, "ask", lambda *_, **__: {**answer, "compiled": 0})
    assert "warm" in examination._run().words


REQUIRES = [
    "numpy>=1.26",
    "absent-thing>=2; python_version >= '3'",
    "pytest>=10000; extra == 'test'",
    "absent-extra (>=1.0) ; extra == 'report'",
    "rodsim[report]; extra == 'all'",
    'PyYAML; extra == "studies"',
]


def test_missing_and_old_packages_are_named_by_extra_with_the_line_that_cures_it(monkeypatch):
    monkeypatch.setattr(installed.metadata, "requires", lambda name: REQUIRES)
    found = {finding.name: finding for finding in installed.packages()}
    assert list(found) == ["packages", "extra studies", "extra report", "extra test"]
    assert found["packages"].state == BROKEN
    assert found["packages"].cure == "pip install 'absent-thing>=2'"
    assert found["extra studies"].state == OK
    assert (found["extra report"].state, found["extra report"].cure) == (
        ABSENT,
        "pip install 'rodsim[report]'",
    )
    assert "is too old" in found["extra test"].words


def test_versions_are_compared_as_numbers():
    order = ["0.9", "0.10", "1", "1.2rc1", "1.10.0", "2024.6"]
    assert sorted(order, key=installed._numbers) == order
    assert installed._numbers("1.0") == installed._numbers("1")
    assert installed._numbers("3.1.1+local") == (3, 1, 1)


def test_a_program_that_was_not_installed_is_said_so(monkeypatch):
    def absent(name):
        raise installed.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(installed.metadata, "requires", absent)
    assert [finding.state for finding in installed.packages()] == [BROKEN]
    assert installed.needed() == []
    assert examination._libraries().state == ABSENT


def test_a_check_that_fails_itself_does_not_end_the_report(monkeypatch, capsys):
    monkeypatch.setattr(installed, "packages", lambda: 1 / 0)
    monkeypatch.setattr(examination, "ask", lambda *_, **__: {})
    assert main(["doctor"]) == 1
    said = capsys.readouterr()
    assert "ZeroDivisionError" in said.out
    assert "Traceback" not in said.out + said.err
    assert "broken: packages" in said.out


def test_the_report_itself_imports_nothing_that_may_be_broken():
    code = (
        "import sys; from rodsim.cli.main import main; import rodsim.doctor.examination; "
        "print(sorted(m for m in sys.modules if m in ('numpy', 'numba', 'scipy', 'vtk', 'h5py', 'yaml')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_a_finding_has_its_cure_on_the_next_line():
    lines = Finding("cache", BROKEN, "full", "empty it").lines(8)
    assert lines[0].split() == ["cache", BROKEN, "full"]
    assert lines[1].split() == ["->", "empty", "it"]
