"""The result file keeps every output bit for bit and survives a kill."""

import os
import signal
import struct
import sys

import h5py
import numpy as np
import pytest

import rodsim.results.new_file as new_file
from rodsim.results import MemoryWriter, Result, ResultWriter, native, vtkhdf
from rodsim.results.layout import BodyLayout, Layout, RodLayout
from rodsim.results.outputs import Outputs, joined
from rodsim.results.storage import PAGE
from tests.support.processes import said
from tests.support.results_sample import assert_holds, go_on, sample_layout, sample_output, write


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


def test_reader_sees_every_output_while_the_writer_goes_on(tmp_path):
    layout = sample_layout()
    with ResultWriter.create(tmp_path / "a.vtkhdf", layout, 4) as writer:
        writer.append(*sample_output(layout, 0))
        result = Result.load(tmp_path / "a.vtkhdf")
        for n in range(2, 5):
            writer.append(*sample_output(layout, n - 1))
            assert result.n_outputs == 1  # what was opened does not change under the reader
            assert_holds(result.refresh(), layout, n)


def test_both_counters_are_on_one_page(tmp_path):
    """So that one write moves both, and a kill cannot come between."""
    layout = sample_layout()
    for capacity in (1, 2, 3, 64, 1000, 10**6):
        with ResultWriter.create(tmp_path / "a.vtkhdf", layout, capacity) as writer:
            writer.append(*sample_output(layout, 0))
        with h5py.File(tmp_path / "a.vtkhdf") as file:
            places = file["rodsim"].attrs["counter"]
        assert min(places) // PAGE == (max(places) + 7) // PAGE


def test_kill_between_the_counters_loses_nothing(tmp_path):
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    write(path, layout, range(3), capacity=5)
    with h5py.File(path) as file:
        length = int(file["rodsim"].attrs["counter"][1])
    with open(path, "r+b") as file:  # as if NSteps had been written, the length of Values not
        file.seek(length)
        file.write(struct.pack("<q", 2))
    assert_holds(Result.load(path), layout, 3)
    writer, t, *_ = ResultWriter.resume(path, layout, 5)
    assert t == sample_output(layout, 2)[0]
    writer.close()
    go_on(path, layout, (3, 4), 5)
    assert_holds(Result.load(path), layout, 5)
    with h5py.File(path) as file:
        assert list(file["VTKHDF/Steps/Values"]) == [sample_output(layout, i)[0] for i in range(5)]


def writing(path, first_bytes, told):
    """Write outputs without end and tell their number to a pipe."""
    new_file.FIRST_BYTES = first_bytes
    layout = sample_layout()
    writer = ResultWriter.create(path, layout, 100_000)
    for i in range(100_000):
        writer.append(*sample_output(layout, i))
        os.write(told, f"{i + 1}\n".encode())


def killed_run(path, outputs, first_bytes):
    """Run a writer in another process, kill it when it reports `outputs`; the last number it reported."""
    heard, told = os.pipe()
    child = os.fork()  # a process that is started anew would first load for a second what it needs
    if child == 0:
        try:
            os.close(heard)
            writing(path, first_bytes, told)
        finally:
            os._exit(1)
    os.close(told)
    with open(heard) as lines:
        for line in lines:
            if int(line) >= outputs:
                os.kill(child, signal.SIGKILL)
                break
        rest = lines.read().split()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    return int(rest[-1]) if rest else outputs


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize(("outputs", "first_bytes"), [(1, 2**26), (40, 2**26), (8, 1), (16, 1), (40, 1)])
def test_killed_run_keeps_every_stored_output(tmp_path, outputs, first_bytes):
    """Also while the file is being replaced by a larger one."""
    from tests.support.results_vtkhdf import vtk_steps

    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    reported = killed_run(path, outputs, first_bytes)
    result = Result.load(path)
    assert result.n_outputs in (reported, reported + 1)  # killed between storing and saying so
    assert_holds(result, layout, result.n_outputs)
    with h5py.File(path) as file:  # with the locks and checks of a stranger
        assert file["VTKHDF/Steps"].attrs["NSteps"] == result.n_outputs
    times = [t for t, _ in vtk_steps(path)]
    assert times == list(result.t)
    go_on(path, layout, [], 1000)  # the lock and the half of a file are nobody's
    assert os.listdir(tmp_path) == ["a.vtkhdf"]


def test_failed_creation_leaves_an_existing_file_as_it_was(tmp_path):
    path = tmp_path / "a.vtkhdf"
    write(path, sample_layout(), range(2))
    before = path.read_bytes()
    with pytest.raises(TypeError, match="not plain JSON"):
        ResultWriter.create(path, sample_layout(description={"bad": object()}), 3)
    ResultWriter.create(path, sample_layout(), 3).close()  # a run that failed before its first output
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.vtkhdf"]


def test_unused_capacity_takes_no_space(tmp_path):
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    write(path, layout, range(2), capacity=10**12)
    stat = path.stat()
    assert stat.st_size < 1.1 * new_file.FIRST_BYTES
    if hasattr(stat, "st_blocks"):
        assert stat.st_blocks * 512 < 2e6


def test_file_is_never_much_larger_than_twice_what_it_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(new_file, "FIRST_BYTES", 1)
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    with ResultWriter.create(path, layout, 10**12) as writer:
        for i in range(70):
            writer.append(*sample_output(layout, i))
            held = max(8, i + 1) * (writer.output_bytes + 100)  # offsets of VTKHDF
            assert path.stat().st_size < 2 * held + 60_000  # headers and layout
    assert_holds(Result.load(path), layout, 70)
    assert os.listdir(tmp_path) == ["a.vtkhdf"]


def test_file_written_in_batches_equals_one_written_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(new_file, "FIRST_BYTES", 1)
    layout = sample_layout()
    write(tmp_path / "single.vtkhdf", layout, range(41))
    with ResultWriter.create(tmp_path / "batches.vtkhdf", layout, 41) as writer:
        for batch in (range(3), range(3, 30), range(30, 31), range(31, 41)):
            singles = [Outputs.single(*sample_output(layout, i)) for i in batch]
            state = joined([each.state for each in singles])
            writer.extend(
                Outputs(
                    *(
                        {"state": state, "after": None}[name]
                        if name in ("state", "after")
                        else np.concatenate([getattr(each, name) for each in singles])
                        for name in Outputs._fields
                    )
                )
            )
    assert (tmp_path / "single.vtkhdf").read_bytes() == (tmp_path / "batches.vtkhdf").read_bytes()


def test_numbers_of_all_outputs_are_written_in_blocks(tmp_path, monkeypatch):
    write(tmp_path / "whole.vtkhdf", sample_layout(), range(2), capacity=11)
    monkeypatch.setattr(vtkhdf, "BLOCK", 3)
    write(tmp_path / "blocks.vtkhdf", sample_layout(), range(2), capacity=11)
    assert (tmp_path / "whole.vtkhdf").read_bytes() == (tmp_path / "blocks.vtkhdf").read_bytes()


@pytest.mark.parametrize("first_bytes", [2**26, 1], ids=["is written", "grows"])
def test_file_may_be_open_in_h5py_while_it(first_bytes, tmp_path, monkeypatch):
    """HDF5 remembers what it has read of a file that is open in the same process."""
    monkeypatch.setattr(new_file, "FIRST_BYTES", first_bytes)
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    with ResultWriter.create(path, layout, 100) as writer:
        writer.append(*sample_output(layout, 0))
        with h5py.File(path) as file:
            assert file["VTKHDF/Steps"].attrs["NSteps"] == 1
            assert file["rodsim/time"][1] == 0.0
            for i in range(1, 20):
                writer.append(*sample_output(layout, i))
        assert_holds(Result.load(path), layout, 20)


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
        (lambda p: native.description_text(sample_layout({"x": {1, 2}})), TypeError, "plain JSON"),
    ],
)
def test_errors_name_the_object_and_the_cure(tmp_path, make, error, message):
    (tmp_path / "text").write_text("hello")
    with h5py.File(tmp_path / "other", "w") as file:
        file["x"] = 1
    write(tmp_path / "good", sample_layout(), range(2))
    with pytest.raises(error, match=message):
        make(tmp_path)


def test_append_refuses_what_does_not_fit(tmp_path):
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
