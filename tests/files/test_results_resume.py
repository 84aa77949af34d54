"""A result file is resumed where it stopped, bit for bit, after any change of its storage."""

import os
from dataclasses import replace

import h5py
import numpy as np
import pytest

from rodsim.results import Result, ResultWriter
from rodsim.results.drawing import Drawing
from tests.support.results_sample import (
    assert_holds,
    resume_file,
    sample_layout,
    sample_output,
    without_digests,
    write,
)


@pytest.mark.parametrize(
    ("stored", "capacity", "n", "later"), [(3, 6, 6, 6), (3, 3, 7, 7), (9, 30, 20, 30), (20, 30, 45, 60)]
)
def test_resumed_file_equals_that_of_an_uninterrupted_run(tmp_path, stored, capacity, n, later):
    """Byte for byte."""
    layout, uninterrupted, parts = sample_layout(), tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    write(uninterrupted, layout, range(n), later)
    write(parts, layout, range(stored), capacity)
    writer, t, step, state = ResultWriter.resume(parts, layout, later)
    expected = sample_output(layout, stored - 1)
    assert (t, step) == expected[:2]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(state, expected[2], strict=True))
    writer.close()
    resume_file(parts, layout, range(stored, n), later)
    assert uninterrupted.read_bytes() == parts.read_bytes()
    result = Result.load(parts)
    assert_holds(result, layout, n)
    assert result.find_damage() == []
    assert sorted(os.listdir(tmp_path)) == ["parts.vtkhdf", "whole.vtkhdf"]


def test_older_file_is_resumed_with_its_own_surfaces(tmp_path):
    """Older files have no sides of rectangles and other surfaces of round shapes."""
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    write(path, layout, range(2))
    with h5py.File(path, "r+") as file:
        without_digests(file)
        del file["rodsim/layout/rods/sides"], file["rodsim/layout/rods/sides_start"]
    finer = sample_layout()
    finer.bodies[0] = replace(finer.bodies[0], vertices=np.ones((50, 3)), faces=[[0, 1, 2]])
    resume_file(path, finer, range(2, 6), 6)
    result = Result.load(path)
    assert_holds(result, layout, 6)
    assert result.layout.rods[0].sides.any()  # as written by this version: with the sides and checksums
    assert result.find_damage() == []
    drawing = Drawing(layout)
    points = result.picture_array("Points", slice(0, 6), (drawing.n_points, 3))
    for i in range(6):
        np.testing.assert_allclose(points[i], drawing.points(sample_output(layout, i)[2]), atol=1e-7)


def test_resume_may_lengthen_a_run_but_not_change_it(tmp_path):
    path = tmp_path / "a.vtkhdf"
    write(path, sample_layout({"run": {"t_end": 1.0, "dt": 0.005}}), range(2))
    longer = sample_layout({"run": {"t_end": 2.0, "dt": 0.005}})
    resume_file(path, longer, [], 4)
    assert Result.load(path).description == longer.description
    with pytest.raises(ValueError, match="differs from 'sample' in run"):
        ResultWriter.resume(path, sample_layout({"run": {"t_end": 2.0, "dt": 0.0025}}), 4)


def test_file_copied_by_another_program_is_resumed(tmp_path):
    """A repack moves everything in the file."""
    layout, path = sample_layout(), tmp_path / "a.vtkhdf"
    write(path, layout, range(3), capacity=5)
    with h5py.File(path) as old, h5py.File(tmp_path / "b.vtkhdf", "w") as new:
        new.create_group("something else").attrs["x"] = np.arange(1000)
        for name in reversed(list(old)):
            old.copy(name, new)
    resume_file(tmp_path / "b.vtkhdf", layout, (3, 4), 5)
    assert_holds(Result.load(tmp_path / "b.vtkhdf"), layout, 5)
