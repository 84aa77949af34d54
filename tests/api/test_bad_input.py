"""Bad input on the command line ends with exit code 2, one message and no traceback; a defect of ours shows its traceback."""

import os
import random
import shutil
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from rodsim import Result
from rodsim.cli.errors import USER_ERRORS
from rodsim.cli.main import main
from rodsim.results.errors import ResultError
from rodsim.results.writer import ResultWriter
from tests.support.fuzz_scenes import fuzz
from tests.support.results_sample import sample_layout, sample_output

CHAIN = Path(__file__).parents[2] / "examples" / "scenes" / "chain.yaml"
LINE = "rods: [{name: r, curve: [[0, 0, 0], [1, 0, 0]], section: c}]\n"
SECTION = "sections: {c: {type: circular, radius: 0.01, material: {E: 1e6, nu: 0.4, density: 1000}}}\n"
RUN = "run: {t_end: 1, dt: 0.1}\n"
SPHERE = "bodies: [{name: b, shape: {type: sphere, radius: 1, mass: 1}}]\n"

SCENES = {
    "timestamp": (SPHERE + RUN + "name: !!timestamp 20\n", 3, "'20' cannot be read as !!timestamp"),
    "truth value": (SPHERE + RUN + "name: !!bool foo\n", 3, "'foo' cannot be read as !!bool"),
    "whole number": (SPHERE + "gravity:\n- 0\n- !!int ''\n- 0\n" + RUN, 4, "'' cannot be read as !!int"),
    "NUL": (SPHERE + RUN + 'name: "a\\0b"\n', 3, r"value = 'a\x00b': it contains a control character"),
    "NUL in a body": (RUN + SPHERE.replace("b,", '"a\\0b",'), 2, "body 1: name"),
    "surrogate": (SPHERE + RUN + 'name: "\\ud800"\n', 3, "unable to parse raw data as a unicode string"),
    "quoted number": (SPHERE + 'run:\n  t_end: 1\n  dt: "0.1"\n', 4, "run: dt = '0.1' is not a number"),
    "true as a number": (SPHERE.replace("mass: 1", "mass: true") + RUN, 1, "body 'b': shape"),
    "broken count": (SPHERE + "run: {t_end: 1, dt: 0.1, output_every: 2.0}\n", 2, "output_every = 2.0"),
    "many elements": (LINE.replace("}]", ", n_elements: 1000000000}]") + SECTION + RUN, 1, "n_elements = 1000000000"),
    "far circle": (
        LINE.replace("[[0, 0, 0], [1, 0, 0]]", "{type: circle, radius: 1, center: [9.0e+18, 0, 0]}") + SECTION + RUN,
        1,
        "rod 'r': the curve extends over",
    ),
    "wound helix": (
        LINE.replace("[[0, 0, 0], [1, 0, 0]]", "{type: helix, radius: 1, pitch: 1, turns: 1.0e+7}") + SECTION + RUN,
        1,
        "rod 'r': the curve winds too finely",
    ),
    "tiny axis": (SPHERE.replace("}}]", "}, orientation: {axis: [0, 0, 0], angle_deg: 9}}]") + RUN, 1, "orientation.axis"),
}  # fmt: skip


@pytest.mark.parametrize("case", SCENES)
def test_a_scene_that_slipped_through_is_refused_with_file_line_and_value_in_no_time(case, tmp_path, capsys):
    text, line, words = SCENES[case]
    file = tmp_path / "scene.yaml"
    file.write_text(text)
    began = time.perf_counter()
    assert main(["run", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"{file}:{line}: " in said
    assert words in said
    assert time.perf_counter() - began < 20  # 68 s once
    assert list(tmp_path.iterdir()) == [file]


def test_numbers_without_a_point_are_numbers(tmp_path, capsys):
    """YAML 1.1 takes 1e6 for a text; people and other programs do not."""
    file = tmp_path / "scene.yaml"
    file.write_text(LINE + SECTION + "run: {t_end: 1e-1, dt: 1E-2}\n")
    assert main(["check", str(file)]) == 0
    assert "dt = 0.01 s to t = 0.1 s" in capsys.readouterr().out


def test_mutated_scenes_are_run_or_refused_and_never_crash(tmp_path):
    """What `python -m tests.support.fuzz_scenes 12 --seed 5` does."""
    ends = [(name, how, said) for name, how, said, _, _ in fuzz(12, 5, tmp_path, limit=60.0)]
    assert [end for end in ends if end[1] in ("crash", "slow")] == []
    count = [how for _, how, _ in ends].count
    assert count("ok") >= 15
    assert count("refused") >= 40


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A result file with three outputs to t = 0.1 s: rods 'whip' and 'ring', body 'box'."""
    path = tmp_path_factory.mktemp("sample") / "sample.vtkhdf"
    with ResultWriter.create(path, sample_layout(), 3) as writer:
        for i in range(3):
            writer.append(*sample_output(writer.layout, i))
    return path


COMMANDS = {
    "render --time nan": "t = nan s is not in the result, which goes from 0 to 0.1 s; give a time within",
    "render --time 0 7": "t = 7 s is not in the result",
    "render --speed 2": "--speed is for a movie",
    "render --speed nan -o a.mp4": "speed = nan is not a finite number",
    "render --speed 1e-9 -o a.gif": "give a speed of at least",
    "render -o a.doc": "no format '.doc'",
    "plot -o a.doc": "no format '.doc'",
    "plot --what path --points box:5": "body 'box' has no nodes; give 'box' alone",
    "plot --what path --points whip:9": "the rod has nodes 0 to 8; give one of them",
    "plot --what path --points whip:x": "give the node as a whole number",
    "plot --what path --points top:5": "no rod or body 'top'; there are 'whip', 'ring', 'box'",
    "plot --points whip": "points are for the kinds 'path' and 'distance'",
    "export --every 0": "every = 0 is too small; give at least 1",
    "info --depth 3": "unrecognized arguments",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_options_that_cannot_be_used_are_refused_before_a_file_is_touched(
    command, sample, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(sample, "r.vtkhdf")
    name, *options = command.split()
    assert main([name, "r.vtkhdf", *options]) == 2
    assert COMMANDS[command] in capsys.readouterr().err
    assert os.listdir() == ["r.vtkhdf"]


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
