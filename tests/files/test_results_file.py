"""The result file stores every output bit for bit and survives a killed process."""

import os
import signal
import sys
import time

import h5py
import numpy as np
import pytest

from rodsim.results import MemoryWriter, Result, ResultWriter, native_format
from rodsim.results.layout import BodyLayout, Layout, RodLayout
from rodsim.results.outputs import Outputs, joined
from tests.support.processes import said
from tests.support.results_sample import assert_holds, resume_file, sample_layout, sample_output, write


def test_memory_keeps_every_output_bit_for_bit():
    layout = sample_layout()
    writer = MemoryWriter(layout)
    for i in range(5):
        writer.append(*sample_output(layout, i))
    assert_holds(writer.result(), layout, 5)


def test_file_keeps_the_layout(tmp_path):
    layout = sample_layout()
    write(tmp_path / "a.vtkhdf", layout, [0])
    stored = Result.load(tmp_path / "a.vtkhdf").layout
    assert list(stored.description.items()) == list(layout.description.items())
    for kind in ("rods", "bodies", "joints"):
        for a, b in zip(getattr(stored, kind), getattr(layout, kind), strict=True):
            for field, value in vars(b).items():
                assert np.array_equal(getattr(a, field), value), (kind, field)
    for a, b in zip(stored.constraints, layout.constraints, strict=True):
        assert np.array_equal(a, b)
    assert stored.state_shapes() == layout.state_shapes()


def test_model_without_rods_bodies_or_joints_is_stored(tmp_path):
    layout = Layout("empty", [], [], [])
    writer = ResultWriter.create(tmp_path / "a.vtkhdf", layout, 2)
    _, _, state, _, _, audit = sample_output(sample_layout(), 0)
    state = state._replace(**{name: np.zeros(shape) for name, shape in layout.state_shapes().items()})
    writer.append(0.0, 0, state, np.zeros((0, 6)), np.zeros((0, 6)), audit)
    writer.close()
    assert Result.load(tmp_path / "a.vtkhdf").n_outputs == 1


def test_reader_sees_every_output_during_writing(tmp_path):
    layout = sample_layout()
    with ResultWriter.create(tmp_path / "a.vtkhdf", layout, 4) as writer:
        writer.append(*sample_output(layout, 0))
        result = Result.load(tmp_path / "a.vtkhdf")
        for n in range(2, 5):
            writer.append(*sample_output(layout, n - 1))
            assert result.n_outputs == 1  # an opened file does not change while it is read
            assert_holds(result.refresh(), layout, n)


def write_without_end(path, pipe_end):
    """Write outputs without end and send their number to a pipe."""
    layout = sample_layout()
    writer = ResultWriter.create(path, layout, 100_000)
    for i in range(100_000):
        writer.append(*sample_output(layout, i))
        os.write(pipe_end, f"{i + 1}\n".encode())


def killed_run(path, outputs):
    """Run a writer in another process and kill it when it reports `outputs`; return the last reported number."""
    read_end, pipe_end = os.pipe()
    child = os.fork()  # a new process would first import modules for a second
    if child == 0:
        try:
            os.close(read_end)
            write_without_end(path, pipe_end)
        finally:
            os._exit(1)
    os.close(pipe_end)
    with open(read_end) as lines:
        for line in lines:
            if int(line) >= outputs:
                os.kill(child, signal.SIGKILL)
                break
        numbers = lines.read().split()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    return int(numbers[-1]) if numbers else outputs


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("outputs", [1, 8, 40])
def test_killed_run_keeps_every_stored_output(tmp_path, outputs):
    from tests.support.results_vtkhdf import vtk_steps

    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    reported = killed_run(path, outputs)
    assert "a.vtkhdf.journal" in os.listdir(tmp_path)
    assert not path.exists()
    result = Result.load(path)
    assert result.n_outputs in (reported, reported + 1)  # killed between storing and reporting
    assert_holds(result, layout, result.n_outputs)
    resume_file(path, layout, [], 1000)  # the lock of the killed process is released
    assert os.listdir(tmp_path) == ["a.vtkhdf"]
    assert_holds(Result.load(path), layout, result.n_outputs)
    assert [t for t, _ in vtk_steps(path)] == list(result.t)


def test_failed_creation_leaves_an_existing_file_as_it_was(tmp_path):
    path = tmp_path / "a.vtkhdf"
    write(path, sample_layout(), range(2))
    before = path.read_bytes()
    with pytest.raises(TypeError, match="not plain JSON"):
        ResultWriter.create(path, sample_layout(description={"bad": object()}), 3)
    ResultWriter.create(path, sample_layout(), 3).close()  # a run that failed before its first output
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.vtkhdf"]


@pytest.fixture
def _early_in_a_second():
    """Begin a test in the first half of a second of the clock: HDF5 notes seconds in files, in some of its versions."""
    time.sleep(max(0.0, 1.02 - time.time() % 1.0) if time.time() % 1.0 > 0.5 else 0.0)


@pytest.mark.usefixtures("_early_in_a_second")
def test_file_written_in_batches_equals_one_written_one_by_one(tmp_path):
    layout = sample_layout()
    write(tmp_path / "single.vtkhdf", layout, range(41))
    with ResultWriter.create(tmp_path / "batches.vtkhdf", layout, 41) as writer:
        for batch in (range(3), range(3, 30), range(30, 31), range(31, 41)):
            singles = [Outputs.single(*sample_output(layout, i)) for i in batch]
            state = joined([single.state for single in singles])
            writer.extend(
                Outputs(
                    *(
                        {"state": state, "after": None}[name]
                        if name in ("state", "after")
                        else np.concatenate([getattr(single, name) for single in singles])
                        for name in Outputs._fields
                    )
                )
            )
    assert (tmp_path / "single.vtkhdf").read_bytes() == (tmp_path / "batches.vtkhdf").read_bytes()


@pytest.mark.usefixtures("_early_in_a_second")
def test_file_written_in_blocks_equals_one_written_at_once(tmp_path, monkeypatch):
    write(tmp_path / "whole.vtkhdf", sample_layout(), range(11))
    monkeypatch.setattr("rodsim.results.storage.BLOCK_BYTES", 20_000)
    write(tmp_path / "blocks.vtkhdf", sample_layout(), range(11))
    assert (tmp_path / "whole.vtkhdf").read_bytes() == (tmp_path / "blocks.vtkhdf").read_bytes()
    assert Result.load(tmp_path / "whole.vtkhdf").find_damage() == []


def test_long_description_is_kept(tmp_path):
    description = {"points": [[float(i), 0.1 * i, 1 / (i + 1)] for i in range(20_000)]}
    write(tmp_path / "a.vtkhdf", sample_layout(description), [0])
    assert Result.load(tmp_path / "a.vtkhdf").description == description


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda p: ResultWriter.create(p / "no" / "a", sample_layout(), 1), FileNotFoundError, "no folder"),
        (lambda p: ResultWriter.create(p / "a", sample_layout(), 0), ValueError, "capacity = 0"),
        (lambda p: ResultWriter.create(p, sample_layout(), 1), IsADirectoryError, "is a folder"),
        (
            lambda p: ResultWriter.resume(p / "none", sample_layout(), 1),
            FileNotFoundError,
            "no result to resume",
        ),
        (
            lambda p: ResultWriter.resume(p / "good", sample_layout({"E": 1}), 1),
            ValueError,
            "another model.*E",
        ),
        (lambda p: Result.load(p / "none"), FileNotFoundError, "no such result"),
        (lambda p: Result.load(p / "text"), ValueError, "cannot be read as HDF5"),
        (lambda p: Result.load(p / "other"), ValueError, "not a rodsim result"),
        (lambda p: Result.load(p / "good").rod("wihp"), KeyError, "the rods are 'whip', 'ring'"),
        (lambda p: Result.load(p / "good").body("x"), KeyError, "the bodies are 'box'"),
        (lambda p: Result.load(p / "good").joint("x"), KeyError, "the joints are 'hinge'"),
        (lambda p: Result.load(p / "good").state(7), IndexError, "2 outputs"),
        (lambda p: Result.load(p / "good").audit_column("x"), KeyError, "there are kinetic"),
        (lambda p: RodLayout("r", [1, 2], [0, 1], [0, 1], [0, 0]), ValueError, "rod 'r': elements"),
        (lambda p: BodyLayout("b", 1, [0, 0, 0], [[0, 0, 0]], [[0, 1, 2]]), ValueError, "body 'b': faces"),
        (
            lambda p: Layout("m", 2 * sample_layout().rods, [], []),
            ValueError,
            "more than one rod is called 'whip'",
        ),
        (lambda p: native_format.description_text(sample_layout({"x": {1, 2}})), TypeError, "plain JSON"),
    ],
)
def test_file_errors_name_the_object_and_the_remedy(tmp_path, make, error, message):
    (tmp_path / "text").write_text("hello")
    with h5py.File(tmp_path / "other", "w") as file:
        file["x"] = 1
    write(tmp_path / "good", sample_layout(), range(2))
    with pytest.raises(error, match=message):
        make(tmp_path)


def test_append_rejects_inconsistent_arrays(tmp_path):
    layout = sample_layout()
    t, step, state, strains, stresses, audit = sample_output(layout, 0)
    with ResultWriter.create(tmp_path / "a.vtkhdf", layout, 1) as writer:
        with pytest.raises(ValueError, match="no column 'halvings'"):
            writer.append(
                t, step, state, strains, stresses, {k: v for k, v in audit.items() if k != "halvings"}
            )
        with pytest.raises(ValueError, match="unknown column speed"):
            writer.append(t, step, state, strains, stresses, {**audit, "speed": 1.0})
        writer.append(t, step, state, strains, stresses, audit)
        with pytest.raises(ValueError, match="room for 1 outputs"):
            writer.append(t, step, state, strains, stresses, audit)


def test_importing_results_loads_no_heavy_library():
    heavy = ["vtk", "vtkmodules", "pyvista", "matplotlib", "h5py", "meshio"]
    code = "import sys, rodsim.results, rodsim.results.result, rodsim.results.writer\n"
    code += f"print([m for m in {heavy} if m in sys.modules])"
    assert said("-c", code) == "[]"
