"""A stopped command saves its results, reports it, and prints the command that resumes."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rodsim import Model, Result, simulate
from rodsim.cli import signal_handling
from rodsim.cli.main import main
from rodsim.results.journal import has_result

ROOT = Path(__file__).parents[2]
INTERRUPTED, TERMINATED = 130, 143  # as in shells: 128 plus the number of the signal
SCENE = ROOT / "examples" / "scenes" / "chain.yaml"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def start_process(folder, *arguments):
    """Run `rodsim` in a separate process, as a queue does."""
    where = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "rodsim", *arguments],
        cwd=folder,
        env=where,
        stderr=subprocess.PIPE,
        text=True,
        # a shell ignores it in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def stop_process(process, number, times=1):
    """Send signals and return the exit code and the last line of standard error."""
    for _ in range(times):
        process.send_signal(number)
    _, message = process.communicate(timeout=60)
    assert "Traceback" not in message
    return process.returncode, message.strip().splitlines()[-1]


def wait_for(path, process):
    end = time.monotonic() + 300
    while not (has_result(path) and Result.load(path).n_outputs > 2):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.exact
@pytest.mark.parametrize(
    ("number", "times", "word", "code"),
    [
        (signal.SIGTERM, 20, "terminated", TERMINATED),  # `timeout` sends two, a queue may send more
        (signal.SIGINT, 1, "interrupted", INTERRUPTED),
    ],
)
def test_stopped_run_is_saved_and_resumes_bitwise(number, times, word, code, tmp_path, monkeypatch):
    path = tmp_path / "out.vtkhdf"
    setting = ["--t-end", "1000", "--dt", "0.01", "--output-every", "10", "--quiet"]
    process = start_process(tmp_path, "run", str(SCENE), "-o", "out.vtkhdf", *setting)
    wait_for(path, process)
    returned, line = stop_process(process, number, times)
    assert returned == code
    assert line.startswith(f"rodsim: {word}, what was computed is in out.vtkhdf; `rodsim run ")
    n = Result.load(path).n_outputs
    assert sorted(os.listdir(tmp_path)) == ["out.vtkhdf"]  # no lock and no partial file
    resume_command = shlex.split(line.split("`")[1])
    end = f"{0.1 * (n + 3):.10g}"  # the printed command, with a shorter run
    resume_command[resume_command.index("--t-end") + 1] = end
    monkeypatch.chdir(tmp_path)
    assert resume_command.pop(0) == "rodsim"
    assert main([*resume_command, "--quiet"]) == 0
    assert main(["run", str(SCENE), "-o", str(tmp_path / "whole.vtkhdf"), *setting[2:], "--t-end", end]) == 0
    one, other = Result.load(path), Result.load(tmp_path / "whole.vtkhdf")
    assert one.n_outputs == other.n_outputs == n + 4
    for a, b in zip(one.states(slice(None)), other.states(slice(None)), strict=True):
        assert np.array_equal(a, b)


def raiser(kind):
    def raise_kind(*arguments, **options):
        raise kind

    return raise_kind


@pytest.mark.parametrize(
    ("kind", "code"), [(KeyboardInterrupt, INTERRUPTED), (signal_handling.Terminated, TERMINATED)]
)
def test_run_stopped_before_its_first_output_restarts(kind, code, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("rodsim.simulation.simulate", raiser(kind))
    path = tmp_path / "out.vtkhdf"
    settings = "--solver general --threads 2 --error 1e-3 --output-dt 0.1 --max-dt 0.05 --tolerance 1e-8 --chart director"
    command = ["run", str(SCENE), "-o", str(path)]
    for option, quiet in (
        ("--dt 0.01", False),
        (settings, True),
        ("--overwrite", False),
        ("--resume", False),
    ):
        if option == "--overwrite":
            path.write_text("of last time")
        assert main([*command, *option.split(), *["--quiet"] * quiet]) == code
        message = capsys.readouterr().err
        assert message.endswith(f"`rodsim {' '.join(command)} {option}` continues it\n")
        assert (f"what was computed is in {path}; " in message) == (option == "--resume")


def send_three_signals():
    """Outcomes of three signals to this process; the last arrive while results are written."""
    count = 0
    with signal_handling.raise_on_sigterm():
        for _ in range(3):
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.01)
            except signal_handling.Terminated:
                count += 1
    return count


@pytest.mark.parametrize(
    ("handler", "times"), [(signal.SIG_DFL, 1), (signal.SIG_IGN, 0)], ids=["default", "ignored"]
)
def test_sigterm_is_handled_once_unless_the_caller_ignores_it(handler, times):
    before = signal.signal(signal.SIGTERM, handler)
    try:
        assert send_three_signals() == times
        assert signal.getsignal(signal.SIGTERM) == handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_stopped_studies_print_the_command_to_resume(tmp_path, monkeypatch, capsys):
    study = ROOT / "examples" / "studies" / "spaghetti.yaml"
    monkeypatch.setattr("rodsim.studies.study_runner.run_study", raiser(signal_handling.Terminated))
    folder = tmp_path / "study"
    assert main(["sweep", str(study), "-o", str(folder)]) == TERMINATED
    message = capsys.readouterr().err
    assert message.endswith(
        f"terminated, what was done is in {folder}; `rodsim sweep {study} --output {folder}` continues it\n"
    )
    monkeypatch.setattr("rodsim.studies.convergence.converge", raiser(signal_handling.Terminated))
    arguments = ["converge", str(SCENE), "--error", "1e-3", "-o", str(folder)]
    assert main(arguments) == TERMINATED
    assert capsys.readouterr().err.endswith(f"`rodsim {shlex.join(arguments)}` continues it\n")
    assert main(arguments[:-2]) == TERMINATED
    assert "nothing is saved without -o" in capsys.readouterr().err


def test_no_file_is_written_without_locks(tmp_path, monkeypatch, capsys):
    """As on Windows: rejected before anything is computed; a run without a file works as everywhere."""
    monkeypatch.setattr("rodsim.results.lock.fcntl", None)
    path = tmp_path / "out.vtkhdf"
    assert main(["run", str(SCENE), "-o", str(path), "--t-end", "0.1"]) == 2
    assert "on Windows use WSL" in capsys.readouterr().err
    with pytest.raises(OSError, match=r"out.vtkhdf': files that grow.* Linux .*output=None"):
        simulate(Model.load(SCENE), 0.1, 0.1, output=path)
    assert os.listdir(tmp_path) == []
