"""Files of format 1, which stored internal variables in four arrays, are read, audited and resumed."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from rodsim import Box, Model, Result, Section, audit, signals, simulate
from tests.support.results_sample import without_digests

SOFT = Section.from_stiffness(
    EA=60.0, GA=40.0, GJ=3.0, EI=(2.0, 4.0), mass_per_length=1.5, inertia_per_length=(0.5, 0.2, 0.3)
)
RUNS = {"em": {}, "em-d": {"integrator": "em-d(0.5)"}}


def model() -> Model:
    """A driven hinge with a torsion spring, and a rod that relaxes: every block has entries."""
    new_model = Model("older", gravity=(0.0, 0.3, -9.81))
    arm = new_model.add_body("arm", Box(1.0, 0.1, 0.2, density=300.0), position=(0.5, 0.0, 0.0))
    new_model.add_joint("pin", "revolute", new_model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0))
    new_model.add_drive("motor", "pin", signals.Sine(0.3, 1.0))
    new_model.add_spring("coil", new_model.ground, arm, 5.0, along="rotation", axis=(0, 1, 0))
    rod = new_model.add_rod("rod", [(0, 1, 0), (1, 1, 0)], SOFT.with_relaxation(0.1, fraction=0.5), 3)
    new_model.add_joint("clamp", "clamp", rod.start)
    return new_model


def run(path: Path, t_end: float, name: str, resume: bool = False) -> Result:
    return simulate(
        model(), t_end, 0.01, output=path, output_every=2, resume=resume, progress=False, **RUNS[name]
    )


def make_older(path: Path) -> None:
    """Rewrite a file in format 1."""
    layout = Result.load(path).layout
    with h5py.File(path, "r+", libver=("earliest", "v108"), locking=False) as file:
        without_digests(file)
        root = file["rodsim"]
        variables = root["own"][...]
        del root["own"]
        for name, rows in layout.internal._asdict().items():
            if rows:
                root[name] = layout.internal.part(variables, name)
        if layout.n_memory:
            root["memory"] = variables[:, layout.internal.size :].reshape(len(variables), -1, 6)
        root.attrs["format"] = 1


@pytest.mark.parametrize("name", RUNS)
def test_format_1_file_is_audited_and_resumed_bitwise(name: str, tmp_path: Path) -> None:
    uninterrupted, old = tmp_path / "whole.vtkhdf", tmp_path / "old.vtkhdf"
    expected = run(uninterrupted, 0.2, name)
    first = run(old, 0.1, name)
    blocks = first.layout.internal
    assert all(count > 0 for count in blocks[:3])  # later formats have further blocks
    assert (first.layout.n_memory > 0) == (name == "em-d")
    make_older(old)
    stored = Result.load(old)
    for k in range(stored.n_outputs):
        for one, other in zip(stored.state(k), expected.state(k), strict=True):
            assert np.array_equal(one, other)
    assert np.array_equal(stored.drive_work("motor"), expected.drive_work("motor")[: stored.n_outputs])
    assert audit(stored).ok
    resumed = run(old, 0.2, name, resume=True)
    with h5py.File(old) as file:
        assert file["rodsim"].attrs["format"] == 3
        assert "angle" not in file["rodsim"]
    assert resumed.n_outputs == expected.n_outputs
    for one, other in zip(resumed.states(slice(None)), expected.states(slice(None)), strict=True):
        assert np.array_equal(one, other)
