"""The history of an integrator: one array of a state, whose parts are saved by name in files."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest

from discretization.integrator_memory import MemoryLayout
from discretization.state_shapes import sizes_of
from discretization.time.stepper import Stepper
from rodsim import Box, Model, Result, audit, simulate
from tests.support.mechanisms import swung
from tests.support.results_sample import without_digests

H = 0.02
SCHEMES = ("em", "em-d(0.5)", "EML-kappa")


def swing() -> Model:
    model = Model("swing", gravity=(0, 0, -9.81))
    bar = model.add_body("bar", Box(1.0, 0.1, 0.2, density=300), position=(0.5, 0, 0))
    model.add_spring("one", bar.at((-0.5, 0, 0)), model.ground.at((0, 0, 1)), 500.0)
    model.add_spring("other", bar.at((0.5, 0, 0)), model.ground.at((1, 0.2, 1)), 300.0)
    return model


def run(integrator: str, t_end: float = 10 * H, **settings) -> Result:
    return simulate(swing(), t_end, H, integrator, output_every=5, progress=False, **settings)


@pytest.mark.parametrize("memory", [MemoryLayout(3, 5), MemoryLayout(3, 0, 17), MemoryLayout(3, history=4)])
def test_integrator_history_starts_with_em_accelerations_or_empty(memory):
    em = np.arange(1.0, 1 + MemoryLayout(3).size)
    initial = memory.parts(memory.begun(em))
    assert {name for name, x in initial.items() if x.any()} == ({"acc"} & set(memory.shapes()))
    assert np.array_equal(initial.get("acc", em).ravel(), em)
    history = np.arange(1.0, 1 + memory.size)
    assert memory.begun(history) is history
    assert not memory.begun(np.ones(memory.size + 1)).any()


@pytest.mark.parametrize(
    "memory",
    [
        MemoryLayout(3),
        MemoryLayout(3, 5),
        MemoryLayout(3, 0, 17),
        MemoryLayout(3, history=18),
    ],
)
def test_history_parts_are_views_that_join_to_the_memory(memory: MemoryLayout) -> None:
    some = np.arange(2.0 * memory.size).reshape(2, -1)
    parts = memory.parts(some)
    assert {name: x.shape[1:] for name, x in parts.items()} == memory.shapes()
    assert all(np.shares_memory(x, some) for x in parts.values())
    assert np.array_equal(memory.joined((2,), **parts), some)
    assert np.array_equal(np.concatenate([x.reshape(2, -1) for x in parts.values()], axis=1), some)


def test_histories_of_other_sizes_are_joined_by_name() -> None:
    """Parts with equal name and shape are copied, the rest is zero."""
    other, memory = MemoryLayout(3, history=12), MemoryLayout(3, history=18)
    restored = memory.parts(memory.joined(**other.parts(1.0 + np.arange(other.size))))
    assert np.array_equal(restored["acc"].ravel(), 1.0 + np.arange(18))
    assert not restored["history"].any()
    assert restored["record"].all()


def doors(tmp_path, n_steps: int, **settings) -> Result:
    path = tmp_path / "doors.vtkhdf"
    return simulate(swung(), n_steps * H, H, "em", output=path, progress=False, **settings)


COUNT = 24  # velocities of three bodies and of the ground
OLDER = {
    "n_earlier": {"differences": (3, COUNT), "nodes": (8,)},
    "n_foretold": {"differences": (5, COUNT), "nodes": (12,)},
    "n_means": {"means": (8, COUNT), "substep": (5,)},
}


def make_older_file(path, attribute: str) -> None:
    """Give the file the arrays of a predictor of an older version, whose numbers are meaningless to this one."""
    with h5py.File(path, "r+") as file:
        root = file["rodsim"]
        n = len(root["time"])
        root["layout"].attrs[attribute] = root["layout"].attrs["n_history"]
        del root["layout"].attrs["n_history"], root["history"], root["record"]
        for name, shape in OLDER[attribute].items():
            values = np.random.default_rng(1).normal(size=(n, *shape))
            root.create_dataset(name, data=values, maxshape=(None, *shape), chunks=True)
        description = json.loads(root["description"][()])
        count = description["run"].pop("history")
        description["run"][next(iter(OLDER[attribute]))] = count
        del root["description"]
        root["description"] = json.dumps(description)
        without_digests(file)


@pytest.mark.parametrize("attribute", list(OLDER))
def test_runs_of_older_versions_are_audited_and_resumed(attribute, tmp_path) -> None:
    """Without their history they give the same states to round-off."""
    doors(tmp_path, 10)
    path = tmp_path / "doors.vtkhdf"
    make_older_file(path, attribute)
    result = Result.load(path)
    assert {name for name, _ in result.layout.older} == set(OLDER[attribute])
    report = audit(result)
    assert "the last one before" in report.text()
    assert report.ok, report.text()
    with h5py.File(path) as file:
        before = {name: file["rodsim"][name][:11] for name in OLDER[attribute]}
    started = simulate(swung(), 5 * H, H, "em", start=result, progress=False).body("bar 2").r[-1]
    resumed = doors(tmp_path, 20, resume=True)
    assert audit(Result.load(path)).ok
    with h5py.File(path) as file:
        for name, values in before.items():
            assert np.array_equal(file["rodsim"][name][:11], values)
            assert not file["rodsim"][name][11:21].any()
    uninterrupted = doors(tmp_path, 20, overwrite=True)
    assert started == pytest.approx(uninterrupted.body("bar 2").r[15], abs=1e-12)
    assert resumed.body("bar 2").r == pytest.approx(uninterrupted.body("bar 2").r, abs=1e-12)


def test_history_stores_the_accelerations_of_the_last_step() -> None:
    built = swing().build()
    memory = sizes_of(built.system).memory
    state, _ = Stepper(built.system, H).advance(built.state, 0, 3)
    end, _ = Stepper(built.system, H).advance(state, 3, 1)
    acc = memory.parts(end.memory)["acc"]
    assert acc[1, :3] == pytest.approx((end.v - state.v)[1] / H, abs=1e-12)
    assert not acc[0].any()


@pytest.mark.parametrize("integrator", SCHEMES)
def test_files_store_the_history_by_name(integrator: str, tmp_path) -> None:
    stored = run(integrator, output=tmp_path / "run.vtkhdf")
    names = {"em": {"acc"}, "em-d(0.5)": {"acc", "algorithmic"}, "EML-kappa": {"chart"}}[integrator]
    with h5py.File(stored.path) as file:
        assert {"acc", "algorithmic", "chart"} & set(file["rodsim"]) == names
    for one, other in zip(stored.states(slice(None)), run(integrator).states(slice(None)), strict=True):
        assert np.array_equal(one, other)


def test_file_of_a_chart_with_accelerations_is_resumed(tmp_path) -> None:
    """Older versions stored them with the chart, which did not read them."""
    uninterrupted, path = run("EML-kappa", 20 * H, output=tmp_path / "whole.vtkhdf"), tmp_path / "old.vtkhdf"
    n = run("EML-kappa", output=path).layout.n_frames
    with h5py.File(path, "r+", libver=("earliest", "v108"), locking=False) as file:
        without_digests(file)
        root = file["rodsim"]
        root["acc"] = np.zeros((len(root["chart"]), n, 6))
    assert audit(Result.load(path)).ok
    run("EML-kappa", 20 * H, output=path, resume=True)
    loaded = Result.load(path)
    assert loaded.find_damage() == []
    for one, other in zip(loaded.states(slice(None)), uninterrupted.states(slice(None)), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("before", SCHEMES)
@pytest.mark.parametrize("integrator", SCHEMES)
def test_run_starts_from_the_state_of_every_scheme(before: str, integrator: str) -> None:
    first = run(before)
    second = run(integrator, start=first)
    memory = second.layout.memory.parts(second.state(0).memory)
    assert np.array_equal(second.state(0).r, first.state(-1).r)
    if integrator != "EML-kappa":
        acc = first.layout.memory.parts(first.state(-1).memory).get("acc", 0.0)
        assert np.array_equal(memory.pop("acc"), np.broadcast_to(acc, (2, 6)))
        assert not any(part.any() for part in memory.values())
