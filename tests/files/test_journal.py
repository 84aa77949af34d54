"""The journal of a run.

It keeps complete outputs after any failure, and every reader finds it under the name of the result file.
"""

import os
import random
import re
import shutil
import signal
import sys
import time

import numpy as np
import pytest

from rodsim import ModelError, Result, audit, recover, simulate
from rodsim.cli.main import main
from rodsim.results import ResultWriter, native_format
from rodsim.results.journal import record_type
from tests.support import damaged_files
from tests.support.full_disk import files_end_at
from tests.support.results_sample import assert_holds, resume_file, sample_layout, sample_output, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and locks of POSIX")


def journal(path):
    return path.with_name(path.name + ".journal")


def killed_journal(path, n, capacity=1000):
    """A journal of n sample outputs, as a killed run leaves it; the lock of the dead process is released."""
    child = os.fork()
    if child == 0:
        writer = ResultWriter.create(path, sample_layout(), capacity)
        for i in range(n):
            writer.append(*sample_output(sample_layout(), i))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def test_reader_sees_every_output_during_and_after_the_run(tmp_path):
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    with ResultWriter.create(path, layout, 4) as writer:
        writer.append(*sample_output(layout, 0))
        first = Result.load(path)
        for n in range(2, 5):
            writer.append(*sample_output(layout, n - 1))
            assert first.n_outputs == 1
            assert_holds(first.refresh(), layout, n)
        assert os.path.exists(journal(path))
    assert sorted(os.listdir(tmp_path)) == ["a.vtkhdf"]
    assert_holds(first, layout, 1)  # an opened file stays readable
    assert_holds(first.refresh(), layout, 4)


@pytest.mark.parametrize("torn", [1, 100, 20_000])
def test_torn_journal_record_is_ignored_and_truncated(torn, tmp_path):
    path, complete = tmp_path / "a.vtkhdf", tmp_path / "whole.vtkhdf"
    killed_journal(path, 5)
    with open(journal(path), "ab") as file:
        file.write(random.Random(torn).randbytes(torn))
    assert_holds(Result.load(path), sample_layout(), 5)
    resume_file(path, sample_layout(), range(5, 8), 1000)
    write(complete, sample_layout(), range(8), 1000)
    assert path.read_bytes() == complete.read_bytes()


def test_journal_record_of_zeros_is_ignored(tmp_path):
    path = tmp_path / "a.vtkhdf"
    killed_journal(path, 5)
    size = journal(path).stat().st_size
    killed_journal(tmp_path / "b.vtkhdf", 6)
    one = journal(tmp_path / "b.vtkhdf").stat().st_size - size
    os.truncate(journal(path), size + 2 * one)
    assert_holds(Result.load(path), sample_layout(), 5)


def test_changed_bit_of_a_journal_is_detected(tmp_path):
    path = tmp_path / "a.vtkhdf"
    killed_journal(path, 6)
    data = bytearray(journal(path).read_bytes())
    size = len(data)
    for place in (size // 2, size - 40):
        data[place] ^= 1
    journal(path).write_bytes(data)
    with pytest.warns(UserWarning, match=r"'a.vtkhdf.journal' at output \d"):
        result = Result.load(path)
    assert result.n_outputs == 5  # the last record equals an incomplete one
    for place in (3, 12, 100):
        broken = bytearray(data)
        broken[place] ^= 1
        journal(path).write_bytes(broken)
        with pytest.raises(ValueError, match=r"a.vtkhdf.journal' is damaged \(.*run the simulation again"):
            Result.load(path)


def test_recover_equals_the_file_of_the_completed_run(tmp_path, capsys):
    path, complete = tmp_path / "a.vtkhdf", tmp_path / "whole.vtkhdf"
    killed_journal(path, 5)
    write(complete, sample_layout(), range(5), 1000)
    assert recover(path).n_outputs == 5
    assert path.read_bytes() == complete.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.vtkhdf", "whole.vtkhdf"]
    with pytest.raises(
        FileNotFoundError, match=r"no journal 'a.vtkhdf.journal' to recover; it is a result file already"
    ):
        recover(path)
    assert main(["recover", str(tmp_path / "none.vtkhdf")]) == 2
    assert "there is no such run" in capsys.readouterr().err
    killed_journal(path, 3)
    assert main(["recover", str(journal(path))]) == 0
    assert_holds(Result.load(path), sample_layout(), 3)


def test_failed_conversion_keeps_the_journal_and_names_the_next_command(tmp_path):
    path = tmp_path / "a.vtkhdf"
    killed_journal(path, 5)
    size = journal(path).stat().st_size
    words = r"all outputs are in 'a.vtkhdf.journal'; free space and run `rodsim recover"
    with files_end_at(size + 100), pytest.raises(OSError, match=words):
        recover(path)
    assert os.listdir(tmp_path) == ["a.vtkhdf.journal"]
    assert recover(path).n_outputs == 5


def test_new_run_replaces_a_file_at_its_first_output(tmp_path):
    path = tmp_path / "a.vtkhdf"
    write(path, sample_layout(), range(3))
    before = path.read_bytes()
    writer = ResultWriter.create(path, sample_layout(), 9)
    assert path.read_bytes() == before
    writer.append(*sample_output(sample_layout(), 0))
    assert Result.load(path).n_outputs == 1
    assert not path.exists()
    writer.close()
    assert Result.load(path).n_outputs == 1


def test_snapshot_is_readable_by_paraview_during_the_run(tmp_path):
    from tests.support.results_vtkhdf import vtk_steps

    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    seen = []
    with ResultWriter.create(path, layout, 9, snapshot=2) as writer:
        for i in range(7):
            writer.append(*sample_output(layout, i))
            seen.append(len(vtk_steps(path)) if path.exists() else 0)
            assert_holds(Result.load(path), layout, i + 1)
    assert seen == [0, 2, 2, 4, 4, 6, 6]
    write(tmp_path / "whole.vtkhdf", layout, range(7), 9)
    assert path.read_bytes() == (tmp_path / "whole.vtkhdf").read_bytes()


COMMANDS = {
    "info": ["info", "{file}"],
    "audit": ["audit", "{file}"],
    "compare": ["compare", "{file}", "{whole}"],
    "export": ["export", "{file}", "--format", "pvd", "-o", "{folder}/out.pvd"],
    "plot": ["plot", "{file}", "-o", "{folder}/out.png"],
    "report": ["report", "{file}", "-o", "{folder}/out.html"],
}


@pytest.fixture(scope="module")
def killed_run_folder(tmp_path_factory):
    """The journal of a killed run, and the file of the complete run."""
    folder = tmp_path_factory.mktemp("killed")
    damaged_files.run(folder / "whole.vtkhdf")
    child = os.fork()
    if child == 0:
        ResultWriter.close = lambda self: os.kill(os.getpid(), signal.SIGKILL)
        damaged_files.run(folder / "run.vtkhdf")
    os.waitpid(child, 0)
    assert journal(folder / "run.vtkhdf").exists()
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_accept_the_file_name_of_a_journal(name, killed_run_folder, tmp_path, capsys):
    words = {
        "file": killed_run_folder / "run.vtkhdf",
        "whole": killed_run_folder / "whole.vtkhdf",
        "folder": tmp_path,
    }
    assert main([word.format(**words) for word in COMMANDS[name]]) == 0, capsys.readouterr()
    assert not (killed_run_folder / "run.vtkhdf").exists()


def test_killed_run_is_audited_and_resumed_bitwise(killed_run_folder, tmp_path):
    path = tmp_path / "run.vtkhdf"
    journal(path).write_bytes(journal(killed_run_folder / "run.vtkhdf").read_bytes())
    recovered, complete = Result.load(path), Result.load(killed_run_folder / "whole.vtkhdf")
    assert audit(recovered).ok
    for one, other in zip(recovered.states(slice(None)), complete.states(slice(None)), strict=True):
        assert np.array_equal(one, other)
    begun = simulate(damaged_files.model(), 0.02, damaged_files.H, start=path, progress=False)
    assert np.array_equal(begun.state(0).r, complete.state(-1).r)
    with pytest.raises(FileExistsError, match=r"run.vtkhdf.journal' exists; overwrite it, resume it"):
        simulate(damaged_files.model(), 0.02, damaged_files.H, output=path, progress=False)
    damaged_files.run(path, 2 * damaged_files.STEPS, resume=True)
    damaged_files.run(tmp_path / "again.vtkhdf", 2 * damaged_files.STEPS)
    assert sorted(os.listdir(tmp_path)) == ["again.vtkhdf", "run.vtkhdf"]
    for one, other in zip(
        Result.load(path).states(slice(None)),
        Result.load(tmp_path / "again.vtkhdf").states(slice(None)),
        strict=True,
    ):
        assert np.array_equal(one, other)


def write_until_killed(path):
    """Write sample outputs until this process is killed."""
    layout, most = sample_layout(), 10**9
    if journal(path).exists():
        writer, *_ = ResultWriter.resume(path, layout, most)
    else:
        writer = ResultWriter.create(path, layout, most)
    for i in range(writer.n_outputs, most):
        writer.append(*sample_output(layout, i))


@pytest.mark.slow
def test_forty_kills_lose_no_output(tmp_path):
    path, dice, least = tmp_path / "a.vtkhdf", random.Random(3), 0
    for kill in range(40):
        process = os.fork()
        if process == 0:
            write_until_killed(path)
        time.sleep(0.02 + 0.06 * dice.random())
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        if not journal(path).exists():
            continue
        if kill % 3 == 0:
            with open(journal(path), "ab") as file:
                file.write(b"torn")
        result = Result.load(path)
        assert result.n_outputs >= least
        least = result.n_outputs
    assert least >= 5
    assert_holds(Result.load(path), sample_layout(), least)


def test_commands_survive_a_damaged_journal_and_the_audit_reports_it(killed_run_folder, tmp_path):
    """Removed, lost or changed bytes; a journal without its end equals that of a run killed earlier."""
    content = journal(killed_run_folder / "run.vtkhdf").read_bytes()
    path, sound = tmp_path / "damaged.vtkhdf", killed_run_folder / "whole.vtkhdf"
    for k in range(12):
        journal(path).write_bytes(content)
        how = damaged_files.by_bytes(journal(path), random.Random(k))
        damaged = journal(path).read_bytes()
        for command in (["info"], ["audit"], ["compare"], ["resume"]):
            path.unlink(missing_ok=True)
            journal(path).write_bytes(damaged)
            code, message = damaged_files.tried(path, sound, tmp_path, command)
            assert code is not None, (how, command, message)
            if command == ["audit"] and code == 0:
                assert Result.load(path).n_outputs <= damaged_files.STEPS, how


def test_run_exceeding_the_disk_is_rejected_before_its_first_step(tmp_path, monkeypatch):
    """The estimate is computed from the sizes of the journal and the file of a short run, times its outputs."""
    model, path, sizes = damaged_files.model(), tmp_path / "run.vtkhdf", []
    for n in (50, 250):
        simulate(model, n * damaged_files.H, damaged_files.H, output=path, output_every=1, overwrite=True)
        record = record_type(native_format.series(Result.load(path).layout)).itemsize
        sizes.append(path.stat().st_size + n * record)
    one = (sizes[1] - sizes[0]) / 200
    path.unlink()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10**9))
    words = r"1000001 outputs and their journal take (\d\.\d+) GB, the disk has 1 GB; store fewer"
    with pytest.raises(OSError, match=words) as caught:
        simulate(model, 1e4, 0.01, output=path, output_every=1)
    match = re.search(words, str(caught.value))
    assert match
    assert 0.9 < float(match[1]) / (1e-3 * one) <= 1.0  # without the offsets of VTK
    assert os.listdir(tmp_path) == []
    assert simulate(model, 0.02, 0.01, output=path, output_every=1).n_outputs == 3


def test_journal_without_complete_outputs_is_ignored(tmp_path):
    path = tmp_path / "a.vtkhdf"
    killed_journal(path, 1)
    torn = journal(path).read_bytes()[:-8]
    write(path, sample_layout(), range(3))
    journal(path).write_bytes(torn)
    assert Result.load(path).n_outputs == 3


def test_killed_run_resumes_to_another_end_time(tmp_path):
    path = tmp_path / "a.vtkhdf"
    ends = [{"run": {"t_end": end, "dt": 0.005}} for end in (1.0, 2.0)]
    child = os.fork()
    if child == 0:
        writer = ResultWriter.create(path, sample_layout(ends[0]), 9)
        writer.append(*sample_output(sample_layout(), 0))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    resume_file(path, sample_layout(ends[1]), range(1, 4), 9)
    assert Result.load(path).description == ends[1]
    assert_holds(Result.load(path), sample_layout(), 4)


def test_snapshot_is_written_after_an_interval(tmp_path):
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    with ResultWriter.create(path, layout, 9, snapshot="0.001 s") as writer:
        for i in range(2):
            time.sleep(0.01)
            writer.append(*sample_output(layout, i))
        assert path.exists()
    for wrong in (0, -1, 2.5, "a while", "0 s", True):
        with pytest.raises(
            ModelError, match=r"neither a number of outputs nor a time; give for example 100 or"
        ):
            simulate(damaged_files.model(), 0.02, 0.01, output=path, overwrite=True, snapshot=wrong)


def test_failed_write_keeps_the_output_count_and_can_be_resumed(tmp_path):
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    killed_journal(tmp_path / "b.vtkhdf", 4)
    size = journal(tmp_path / "b.vtkhdf").stat().st_size + 200  # four outputs and a part of the next
    os.unlink(journal(tmp_path / "b.vtkhdf"))
    (tmp_path / ".b.vtkhdf.lock").unlink()
    with ResultWriter.create(path, layout, 9) as writer:
        for i in range(4):
            writer.append(*sample_output(layout, i))
        with files_end_at(size), pytest.raises(OSError, match=r"a.vtkhdf"):
            writer.append(*sample_output(layout, 4))
        assert writer.n_outputs == 4
        assert_holds(Result.load(path), layout, 4)
        for i in range(4, 9):
            writer.append(*sample_output(layout, i))
    write(tmp_path / "whole.vtkhdf", layout, range(9))
    assert path.read_bytes() == (tmp_path / "whole.vtkhdf").read_bytes()
