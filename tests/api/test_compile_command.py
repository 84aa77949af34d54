"""Command `rodsim compile`.

Kernels are compiled in separate processes and cached; failures are reported, and the other families continue.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import pytest
from numba.core import event

from rodsim.cli.main import main
from rodsim.compiling.ahead_of_time import FAMILIES, compile_ahead
from tests.support import compiling
from tests.support.processes import ROOT, said

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache for started processes."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "rodsim"


def compile_tasks(*tasks, processes=1):
    """Outcomes of the tasks, also by name."""
    also = {task.__name__: task for task in tasks}
    compilation = compile_ahead([], processes=processes, progress=False, also=also)
    names = [outcome.family for outcome in compilation.outcomes]
    assert (names if processes == 1 else sorted(names)) == (list(also) if processes == 1 else sorted(also))
    return compilation, {outcome.family: outcome for outcome in compilation.outcomes}


def test_precompiled_kernels_are_found_by_later_processes(cache):
    _, first = compile_tasks(compiling.quick)
    assert first["quick"].kernels > 0
    assert first["quick"].fault == ""
    assert len(list(cache.glob("*/**/linear_algebra.dot-*.nbi"))) == 1
    _, second = compile_tasks(compiling.quick)
    assert (second["quick"].kernels, second["quick"].fault) == (0, "")
    code = "from tests.support.compiling import quick\nfrom numba.core import event\n"
    code += "with event.install_recorder('numba:compile') as made: quick()\nprint(len(made.buffer))"
    assert said("-c", code) == "0"


@pytest.mark.parametrize("processes", [1, 2])
def test_dead_compiler_process_is_reported_and_others_continue(cache, processes):
    tasks = (compiling.is_killed, compiling.fails, compiling.ends, compiling.quick)
    compilation, by_name = compile_tasks(*tasks, processes=processes)
    assert by_name["is_killed"].fault == "the process died (Killed)"
    assert by_name["ends"].fault == "the process died (exit code 7): last word"
    assert by_name["fails"].fault == "ValueError: no such thing"
    assert by_name["quick"].fault == ""
    assert by_name["quick"].kernels > 0
    assert {outcome.family for outcome in compilation.failed} == {"is_killed", "fails", "ends"}
    assert compilation.not_cached_reason == ""


def test_compile_command_reports_a_full_disk(cache):
    compilation, by_name = compile_tasks(compiling.on_a_full_disk)
    assert by_name["on_a_full_disk"].kernels > 0
    assert compilation.not_cached_reason == "File too large"


@pytest.mark.parametrize("cores", [1, 2])
def test_compilation_uses_one_process_for_each_usable_core(cores, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setenv("RODSIM_TESTS_NOTE", str(tmp_path / "note"))
    compilation = compile_ahead(
        [], progress=False, also={"first": compiling.notes, "second": compiling.notes}
    )
    assert not compilation.failed
    numbers = (tmp_path / "note").read_text().split()
    assert len(numbers) == 2
    assert len(set(numbers)) == cores
    assert str(os.getpid()) not in numbers


@pytest.fixture
def replace_families(monkeypatch):
    """Replace the families of the command by tasks."""

    def set_families(*tasks):
        monkeypatch.setattr(
            "rodsim.compiling.ahead_of_time.FAMILIES", {task.__name__: task for task in tasks}
        )

    return set_families


def test_compile_command_prints_count_duration_and_folder(cache, replace_families, capsys):
    folder = compile_ahead([], progress=False).folder
    assert Path(folder).is_dir()
    replace_families(compiling.quick, compiling.nothing)
    end = rf" in \d+ s{{}}; the code is in {re.escape(folder)}\n"
    for arguments, line in (
        (["quick"], "compiled 1 of 1 families" + end.format("")),
        ([], "compiled 0 of 2 families" + end.format(r" \(2 compiled before\)")),
    ):
        assert main(["compile", *arguments, "--quiet", "--processes", "1"]) == 0
        captured = capsys.readouterr()
        assert re.fullmatch(line, captured.out)
        assert captured.err == ""
    replace_families(compiling.fails, compiling.nothing)
    assert main(["compile"]) == 1
    captured = capsys.readouterr()
    assert re.fullmatch(
        "compiled 0 of 2 families" + end.format(r" \(1 compiled before, 1 failed\)"), captured.out
    )
    assert captured.err == (
        "rodsim: compiling what is not compiled yet ...\n"
        "rodsim: family 'fails' is not compiled: ValueError: no such thing\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "family = 'nonsense' is not known; choose one of schemes, em, "),
        (["em", "--processes", "0"], "processes = 0 is too small; give at least 1"),
    ],
)
def test_compile_command_rejects_unknown_families(arguments, message, capsys):
    assert main(["compile", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_progress_line_names_the_compiled_families(cache, replace_families, capsys):
    replace_families(compiling.quick)
    compile_ahead(processes=1, progress=True)
    shown = capsys.readouterr().err.split("\r")
    assert any("compiling 0/1" in line and "quick" in line for line in shown)
    assert any("compiling 1/1" in line for line in shown)


def run_python(code, *arguments, **environment):
    """Run code in a process; return its exit code, standard output and standard error."""
    completed = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
    )  # fmt: skip
    assert "Traceback" not in completed.stderr
    return completed.returncode, completed.stdout, completed.stderr


COMMAND = "import sys\nfrom rodsim.cli.main import main\nsys.exit(main(['compile', *sys.argv[1:]]))"
LIMIT_FILE_SIZE = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
"""


@pytest.mark.parametrize(
    ("code", "variable", "place", "reason"),
    [
        (COMMAND, "NUMBA_CACHE_DIR", "file", "Not a directory"),
        (LIMIT_FILE_SIZE + COMMAND, "XDG_CACHE_HOME", "empty", "File too large"),
        pytest.param(
            COMMAND, "XDG_CACHE_HOME", "locked", "Permission denied",
            marks=pytest.mark.skipif(os.getuid() == 0, reason="root can write everywhere"),
        ),
    ],
    ids=["no folder", "full disk", "read-only"],
)  # fmt: skip
def test_compile_command_reports_an_unusable_cache(code, variable, place, reason, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "locked").mkdir(mode=0o500)
    environment = {"NUMBA_CACHE_DIR": "", variable: str(tmp_path / place)}
    returned, out, err = run_python(code, **environment)
    assert (returned, out) == (1, "")
    assert re.match(
        rf"rodsim: compiled code cannot be kept in '{re.escape(str(tmp_path / place))}.*': {reason}\.", err
    )
    assert err.count("\n") == 1
    assert not list(tmp_path.rglob("*.nbi"))


def test_without_the_compiler_nothing_is_compiled(tmp_path):
    returned, out, err = run_python(COMMAND, NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert (returned, out) == (1, "")
    assert err == "rodsim: NUMBA_DISABLE_JIT is set, so nothing is compiled; unset it\n"
    code = "from rodsim.compiling.ahead_of_time import compile_ahead; print(*compile_ahead(['em'])[::3])"
    _, out, _ = run_python(code, NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert out == "[] NUMBA_DISABLE_JIT is set, nothing is compiled\n"


def is_running(number):
    """True if the process exists and has not ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_stops_the_compile_command_and_its_processes(number, code, tmp_path, cache):
    note = tmp_path / "note"
    start = "from tests.support import compiling\nfrom rodsim.compiling import ahead_of_time\n"
    start += "ahead_of_time.FAMILIES = {'waits': compiling.waits}\n"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "RODSIM_TESTS_NOTE": str(note)}
    process = subprocess.Popen(
        [sys.executable, "-c", start + COMMAND],
        stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell ignores it in the background
    )  # fmt: skip
    end = time.monotonic() + 120
    while not (note.exists() and note.read_text()):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    worker = int(note.read_text())
    assert is_running(worker)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert not is_running(worker)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_the_second_run_of_a_family_compiles_nothing(name):
    FAMILIES[name]()
    with event.install_recorder("numba:compile") as recorded:
        FAMILIES[name]()
    assert not recorded.buffer
