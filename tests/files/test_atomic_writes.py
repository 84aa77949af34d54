"""Output never destroys data: only plain files are replaced, by complete ones, by one writer at a time."""

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rodsim import Box, Model, simulate
from rodsim.cli.main import main
from rodsim.results import MemoryWriter, Result, ResultWriter, native_format
from rodsim.results.atomic_write import atomic_file, atomic_folder, check_target, named
from rodsim.results.export import export
from rodsim.results.journal import record_type
from rodsim.results.plot import plot
from rodsim.results.render import render, render_movie
from tests.support.full_disk import files_end_at
from tests.support.results_sample import assert_holds, sample_layout, sample_output, write

SCENE = Path(__file__).parents[2] / "examples" / "scenes" / "chain.yaml"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes, limits and locks of POSIX")


@pytest.fixture(scope="module")
def result():
    writer = MemoryWriter(sample_layout())
    for i in range(4):
        writer.append(*sample_output(sample_layout(), i))
    return writer.result()


PRODUCTS = {
    "a.png": lambda result, path: plot(result, "energy", path),
    "a.svg": lambda result, path: plot(result, "energy", path),
    "still.png": lambda result, path: render(result, path, size=(320, 200)),
    "a.gif": lambda result, path: render_movie(result, path, size=(160, 100)),
    "a.mp4": lambda result, path: render_movie(result, path, size=(320, 200)),
    "a.pvd": lambda result, path: export(result, path),
    "vtu.pvd": lambda result, path: export(result, path, "vtu"),
    "a.xdmf": lambda result, path: export(result, path),
    "a.vtkhdf": lambda result, path: write(path, sample_layout(), range(4)),
}


def obstacles(folder, name):
    """Objects at `name` that must not be replaced, with the words of their message."""
    (folder / "data").write_text("the user's")
    path = folder / name
    path.symlink_to(folder / "data")
    yield path, "symbolic link to"
    path.unlink()
    path.symlink_to(folder / "nowhere")
    yield path, "symbolic link to"
    path.unlink()
    os.mkfifo(path)
    yield path, "is a pipe"
    path.unlink()
    path.mkdir()
    yield path, "is a folder"


@pytest.mark.parametrize("name", PRODUCTS)
def test_links_pipes_and_folders_are_not_replaced(name, result, tmp_path):
    for path, words in obstacles(tmp_path, name):
        before = os.lstat(path)
        with pytest.raises(OSError, match=words):
            PRODUCTS[name](result, path)
        assert os.lstat(path).st_ino == before.st_ino
        assert sorted(os.listdir(tmp_path)) == sorted(["data", name])
        assert (tmp_path / "data").read_text() == "the user's"


def test_devices_are_rejected_as_output():
    with pytest.raises(OSError, match="'/dev/null' is a device and is not replaced"):
        check_target(Path("/dev/null"))


def test_forced_run_replaces_neither_links_nor_its_scene(tmp_path, capsys):
    scene, link = tmp_path / "chain.yaml", tmp_path / "link.vtkhdf"
    scene.write_bytes(SCENE.read_bytes())
    link.symlink_to(scene)
    (tmp_path / "folder").symlink_to(tmp_path)
    for output in (scene, link, tmp_path / "folder" / "chain.yaml"):
        assert main(["run", str(scene), "-o", str(output), "--overwrite", "--quiet"]) == 2
        assert str(output) in capsys.readouterr().err
    assert scene.read_bytes() == SCENE.read_bytes()
    assert link.is_symlink()


def test_no_command_overwrites_its_input_result(tmp_path):
    path = tmp_path / "a.h5"
    write(path, sample_layout(), range(2))
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="is read here"):
        export(Result.load(path), tmp_path / "a.xdmf")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.h5"]


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_full_disk_keeps_the_old_file_and_is_reported(name, result, tmp_path):
    first, path = tmp_path / "first", tmp_path / name
    first.mkdir()
    PRODUCTS[name](result, first / name)  # compiled code is also written, once
    shutil.rmtree(first)
    path.write_text("from last time")
    with files_end_at(1500), pytest.raises(OSError, match=path.stem):
        PRODUCTS[name](result, path)
    assert os.listdir(tmp_path) == [name]
    assert path.read_text() == "from last time"


def test_full_disk_ends_a_command_with_exit_2(result, tmp_path):
    """Also if HDF5 cannot close its file, which would crash the process at its end."""
    path = tmp_path / "a.vtkhdf"
    assert main(["run", str(SCENE), "--quiet", "--t-end", "0.05", "-o", str(path)]) == 0
    completed = subprocess.run(
        [sys.executable, "-m", "rodsim", "export", str(path), "--format", "xdmf"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (completed.returncode, os.listdir(tmp_path)) == (2, ["a.vtkhdf"])
    assert "a.h5': File too large" in completed.stderr


def test_file_appears_only_when_complete(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with atomic_file(path) as file:
        assert file.suffix == ".txt"
        file.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]
    with pytest.raises(OSError, match="empty"), atomic_file(path) as file:
        file.touch()
    assert path.read_text() == "new"


def test_atomic_folder_write_keeps_other_files(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    for name in ("mine", "1"):
        (folder / name).write_text("old")

    def write_one_of_two(working):
        (working / "1").write_text("new")
        (working / "no" / "2").write_text("new")

    with pytest.raises(FileNotFoundError), atomic_folder(folder) as working:
        write_one_of_two(working)
    assert (folder / "1").read_text() == "old"
    with atomic_folder(folder) as working:
        (working / "1").write_text("new")
    assert {file.name: file.read_text() for file in folder.iterdir()} == {"mine": "old", "1": "new"}
    assert os.listdir(tmp_path) == ["a"]


def test_library_errors_are_given_the_file_name():
    for error in (
        OSError(28, "No space left on device"),
        RuntimeError("Can't decrement id ref count (file write failed: errno = 28, error message = 'x'"),
        PermissionError(28, "x", ".a.123.partial.png"),
    ):
        with pytest.raises(OSError) as caught, named(Path("a.png")):
            raise error
        assert (caught.value.filename, caught.value.errno) == ("a.png", 28)
    with pytest.raises(RuntimeError, match="of another kind"), named(Path("a.png")):
        raise RuntimeError("of another kind")
    with pytest.raises(FileNotFoundError, match="other"), named(Path("a.png")):
        raise FileNotFoundError(2, "x", "other.png")


def bar():
    model = Model("bar", gravity=(0, 0, -9.81))
    body = model.add_body("bar", Box(1.0, 0.1, 0.1, density=1000))
    model.add_joint("pin", "spherical", model.ground, body, at=(0.5, 0, 0))
    return model


def test_simulate_overwrites_only_if_requested(tmp_path):
    path = tmp_path / "a.vtkhdf"
    path.write_text("the user's")
    with pytest.raises(FileExistsError, match="exists; overwrite it, resume it"):
        simulate(bar(), 0.02, 0.01, output=path)
    assert path.read_text() == "the user's"
    assert simulate(bar(), 0.02, 0.01, output=path, overwrite=True).n_outputs == 3
    with pytest.raises(ValueError, match="cannot both"):
        simulate(bar(), 0.02, 0.01, output=path, overwrite=True, resume=True)


def test_full_disk_during_a_run_keeps_outputs_and_can_be_resumed(tmp_path, capsys):
    """The journal grows until the disk is full; the file that cannot be created is named with the remedy."""
    path, complete = tmp_path / "a.vtkhdf", tmp_path / "whole.vtkhdf"
    command = ["run", str(SCENE), "--quiet", "--t-end", "0.2", "--output-every", "1"]
    assert main([*command, "-o", str(complete)]) == 0
    result = Result.load(complete)
    head = len(native_format.head(result.layout))
    one = record_type(native_format.series(result.layout)).itemsize
    with files_end_at(head + 7 * one):
        assert main([*command, "-o", str(path)]) == 2
    message = capsys.readouterr().err
    assert f"'{path}': File too large; all outputs are in 'a.vtkhdf.journal'; free space and run" in message
    stored = Result.load(path)
    assert stored.n_outputs in (6, 7)
    assert stored.find_damage() == []
    assert sorted(os.listdir(tmp_path)) == ["a.vtkhdf.journal", "whole.vtkhdf"]
    assert main([*command, "-o", str(path), "--resume"]) == 0
    assert path.read_bytes() == complete.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.vtkhdf", "whole.vtkhdf"]


def test_full_standard_output_gives_exit_2():
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with open("/dev/full", "w") as full:
        completed = subprocess.run(
            [sys.executable, "-m", "rodsim", "schema"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert completed.returncode == 2
    assert completed.stderr == "rodsim: 'standard output': No space left on device\n"


WRITER = """
import sys, time
from tests.support.results_sample import sample_layout, sample_output
from rodsim.results import ResultWriter

layout = sample_layout()
writer = ResultWriter.create(sys.argv[1], layout, 10)
writer.append(*sample_output(layout, 0))
print("ready", flush=True)
time.sleep(60)
"""


def test_second_writer_is_rejected_while_the_first_lives(tmp_path):
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        assert process.stdout.readline() == b"ready\n"
        owner = rf"process {process.pid} on '{socket.gethostname()}' since \d{{4}}-\d\d-\d\d \d\d:\d\d"
        with pytest.raises(BlockingIOError, match=owner):
            ResultWriter.create(path, layout, 3)
        with pytest.raises(BlockingIOError, match=owner):
            ResultWriter.resume(path, layout, 3)
        assert_holds(Result.load(path), layout, 1)  # readers do not lock
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert os.listdir(tmp_path) != ["a.vtkhdf"]  # the lock of the dead process
    writer, *_ = ResultWriter.resume(path, layout, 3)
    with pytest.raises(BlockingIOError, match=f"process {os.getpid()} "):
        ResultWriter.create(path, layout, 3)
    writer.close()
    assert os.listdir(tmp_path) == ["a.vtkhdf"]


def test_failed_writer_leaves_no_lock(tmp_path):
    with pytest.raises(TypeError):
        ResultWriter.create(tmp_path / "a.vtkhdf", sample_layout({"bad": object()}), 3)
    write(tmp_path / "b.vtkhdf", sample_layout({"E": 1}), range(1))
    with pytest.raises(ValueError, match="another model"):
        ResultWriter.resume(tmp_path / "b.vtkhdf", sample_layout({"E": 2}), 3)
    assert os.listdir(tmp_path) == ["b.vtkhdf"]
