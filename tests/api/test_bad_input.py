"""Bad input on the command line ends with exit code 2, one message and no traceback; a defect of ours shows its traceback."""

import os
import random
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from rodsim import Result
from rodsim.cli.errors import USER_ERRORS
from rodsim.cli.main import main
from rodsim.results import ResultError
from rodsim.results.writer import ResultWriter
from tests.support.results_sample import sample_layout, sample_output

CHAIN = Path(__file__).parents[2] / "examples" / "scenes" / "chain.yaml"


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A result file with three outputs to t = 0.1 s: rods 'whip' and 'ring', body 'box'."""
    path = tmp_path_factory.mktemp("sample") / "sample.vtkhdf"
    with ResultWriter.create(path, sample_layout(), 3) as writer:
        for i in range(3):
            writer.append(*sample_output(writer.layout, i))
    return path


COMMANDS = {
    "": "",
    "walk": "invalid choice: 'walk'",
    "info r.vtkhdf --depth 3": "unrecognized arguments",
    "run no.yaml": "no such",
    "run chain.yaml -o text.vtkhdf": "exists",
    "run chain.yaml -o no/out.vtkhdf": "no",
    "run chain.yaml -o no.vtkhdf --resume": "no",
    "run chain.yaml -o text.vtkhdf --resume": "text.vtkhdf",
    "run chain.yaml -o a.vtkhdf --dt 0": "dt = 0",
    "run chain.yaml -o a.vtkhdf --integrator RK4": "integrator 'RK4' is not known; choose one of em, em4, em6, em8, em-ggl, "
    "em4-ggl, em6-ggl, em8-ggl, em-d(rho), EML",
    "info text.vtkhdf": "text.vtkhdf",
    "audit no.vtkhdf": "no such",
    "plot chain.yaml": "is a scene, not a result",
    "render r.vtkhdf --time nan": "t = nan s is not in the result, which goes from 0 to 0.1 s; give a time within",
    "render r.vtkhdf --time 0 7": "t = 7 s is not in the result",
    "render r.vtkhdf --speed 2": "--speed is for a movie",
    "render r.vtkhdf --speed nan -o a.mp4": "speed = nan is not a finite number",
    "render r.vtkhdf --speed 1e-9 -o a.gif": "give a speed of at least",
    "render r.vtkhdf -o a.doc": "no format '.doc'",
    "plot r.vtkhdf -o a.doc": "no format '.doc'",
    "plot r.vtkhdf --what path --points box:5": "body 'box' has no nodes; give 'box' alone",
    "plot r.vtkhdf --what path --points whip:9": "the rod has nodes 0 to 8; give one of them",
    "plot r.vtkhdf --what path --points whip:x": "give the node as a whole number",
    "plot r.vtkhdf --what path --points top:5": "no rod or body 'top'; there are 'whip', 'ring', 'box'",
    "plot r.vtkhdf --points whip": "points are for the kinds 'path' and 'distance'",
    "export r.vtkhdf --every 0": "every = 0 is too small; give at least 1",
    "compare chain.yaml": "with what?",
    "compare r.vtkhdf r.vtkhdf --rigid": "is a result and run already",
    "modes chain.yaml --spin 0 0 9 --equilibrium": "",
    "converge chain.yaml --schemes --plot a.png": "",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_make_no_sense_are_refused_before_a_file_is_touched(
    command, sample, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(sample, "r.vtkhdf")
    shutil.copy(CHAIN, "chain.yaml")
    Path("text.vtkhdf").write_bytes(b"something of the user's")
    before = {file: file.read_bytes() for file in Path().iterdir()}
    assert main(command.split()) == 2
    said = capsys.readouterr()
    assert COMMANDS[command] in said.err
    assert said.err or said.out
    assert "Traceback" not in said.err
    assert {file: file.read_bytes() for file in Path().iterdir()} == before


@pytest.mark.parametrize("command", ["run", "check", "audit", "info", "plot", "render", "export"])
@pytest.mark.parametrize("what", [".", "..", "/dev/null", "/dev/zero", "fifo", "fifo.yaml", "no.yaml", ""])
def test_what_is_no_file_is_refused_at_once(command, what, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    os.mkfifo("fifo.yaml")
    assert main([command, what]) == 2
    said = capsys.readouterr().err
    assert said.startswith("rodsim: ")
    if what == "no.yaml" or (what == "fifo.yaml" and command not in ("run", "check", "info")):
        assert "no such" in said or "is a scene, not a result" in said
    else:
        assert "a folder or a device" in said
    assert sorted(os.listdir()) == ["fifo", "fifo.yaml"]


@pytest.mark.parametrize(
    "error", [ValueError, KeyError, RuntimeError, TypeError, IndexError, ZeroDivisionError]
)
def test_a_defect_of_ours_shows_its_traceback(error, monkeypatch):
    def broken(options):
        raise error("inside")

    monkeypatch.setattr("rodsim.scenes.model_from_scene.load", broken)
    with pytest.raises(error, match="inside"):
        main(["check", str(CHAIN)])


def test_every_user_error_is_a_class_of_its_own():
    bare = (Exception, ValueError, KeyError, RuntimeError, LookupError, TypeError, ArithmeticError)
    assert not set(bare) & set(USER_ERRORS)
    assert not any(issubclass(kind, USER_ERRORS) for kind in bare)


@pytest.mark.parametrize(
    "values", [None, np.zeros(2), np.zeros((3, 1)), np.zeros(3, np.float32), np.zeros(3, "S8")]
)
def test_a_result_without_the_times_of_its_outputs_is_damaged(values, sample, tmp_path):
    file = tmp_path / "damaged.vtkhdf"
    shutil.copy(sample, file)
    with h5py.File(file, "r+") as content:
        del content["rodsim/time"]
        if values is not None:
            content["rodsim/time"] = values
    with pytest.raises(ResultError, match=r"damaged.vtkhdf' is damaged .*time.*run the simulation again"):
        Result.load(file)


def damaged(data, dice):
    """A file with bytes changed, cut off, or moved."""
    data = bytearray(data)
    how = dice.randrange(4)
    if how == 0:
        return bytes(data[: dice.randrange(len(data))])
    if how == 1:
        k = dice.randrange(len(data) - 64)
        del data[k : k + dice.choice((1, 8, 64))]
        return bytes(data)
    # where headers, names and layout are, and anywhere
    end = len(data) if how == 2 else min(20_000, len(data))
    for _ in range(dice.choice((1, 3, 30))):
        data[dice.randrange(end)] = dice.randrange(256)
    return bytes(data)


def test_damaged_results_are_read_or_refused_by_name(sample, tmp_path):
    """Of 120 files with bytes lost or changed."""
    data, file, refused = sample.read_bytes(), tmp_path / "damaged.vtkhdf", 0
    unnamed = 0
    for k in range(120):
        file.write_bytes(damaged(data, random.Random(k)))
        try:
            result = Result.load(file)
            if result.n_outputs:
                result.state(-1)
                assert result.rod("whip").r.shape == (result.n_outputs, 9, 3)
        except (ResultError, OSError) as error:
            refused += 1
            unnamed += "damaged.vtkhdf" not in str(error) and not isinstance(error, OSError)
    assert 40 < refused < 120
    assert unnamed == 0
