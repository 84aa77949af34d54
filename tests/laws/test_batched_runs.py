"""Batched runs: each run is bit-identical to the single run, regardless of the other runs of the batch."""

import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pytest

from benchmarks.structured_solvers import five_bars
from discretization.time.batched_runs import RunBatch, RunParts
from rodsim import Box, ConvergenceError, Model, Section, signals, simulate_many
from rodsim.warnings import StepWarning
from tests.support.many_runs import DT
from tests.support.mechanisms import looped
from tests.support.prepared import _stored_data

SECTION = Section.from_stiffness(
    EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
)
PUSH, TWIST = "loads.push.value", "loads.twist.value"


def pushes(count, size=1.0):
    """Return parameters that differ from run to run."""
    return [{PUSH: (0.1 * k, size * k, -0.2), TWIST: (0.1, 0, 0.02 * size * k)} for k in range(count)]


def tree(loads=False):
    """Bodies on joints with closed forms in a branched tree; one joint names its bodies in reverse order."""
    model = Model("tree", gravity=(0, 0, -9.81))
    kinds = {
        "spherical": {},
        "revolute": {"axis": (0, 1, 0)},
        "universal": {"axis": (0, 1, 0), "second_axis": (0, 0, 1)},
        "weld": {},
    }
    parents, bodies = [model.ground.at((0, 0, 0))], []
    for k, (kind, options) in enumerate(kinds.items()):
        bodies.append(
            model.add_body(
                kind, Box(1, 0.1, 0.2, density=5), position=(0.5 + k, 0, 0), angular_velocity=(0.3, 0.1, 0.2)
            )
        )
        ends = parents[-1], bodies[-1].at((-0.5, 0, 0))
        model.add_joint(f"by {kind}", kind, *(reversed(ends) if k % 2 else ends), **options)
        parents.append(bodies[-1].at((0.5, 0, 0)))
    branch = model.add_body("branch", Box(0.2, 0.2, 1, density=5), position=(1, 0, -0.5))
    model.add_joint("at branch", "revolute", branch.at((0, 0, 0.5)), parents[1], axis=(1, 0, 0))
    if loads:
        model.add_force("push", bodies[-1].at((0.5, 0, 0.1)), (0, 1, 0), following=True)
        model.add_moment("twist", branch.at((0, 0, 0)), (0.1, 0, 0))
    return model.prepare(t_end=16 * DT, dt=DT, output_every=2)


def loops():
    """Loops closed by every joint kind with a closed form, in pairs."""
    closed = looped(("ball at the ground", "hinge", "universal", "weld", "ball, over others"))
    return closed.prepare(t_end=16 * DT, dt=DT, output_every=2)


def loop_at_the_first_body():
    """A loop closed by a ball joint at the first body of the tree."""
    closed = looped(("ball at a root",), bridge=False)
    return closed.prepare(t_end=16 * DT, dt=DT, output_every=2)


def linked_loops():
    """Three linked loops closed by ball joints; not all of them share a body."""
    return five_bars(3).prepare(t_end=16 * DT, dt=DT, output_every=2)


def hinges(following=False):
    """A planar chain of hinges; one names its bodies in reverse order."""
    model = Model("hinges", gravity=(0, 0, -9.81))
    parent = model.ground.at((0, 0, 0))
    for k in range(3):
        body = model.add_body(f"bar {k}", Box(1, 0.1, 0.1, density=5), position=(0.5 + k, 0, 0))
        ends = parent, body.at((-0.5, 0, 0))
        model.add_joint(f"hinge {k}", "revolute", *(reversed(ends) if k == 1 else ends), axis=(0, 1, 0))
        parent = body.at((0.5, 0, 0))
    model.add_force("push", parent, (1, 0, 0), following=following)
    return model.prepare(t_end=16 * DT, dt=DT, output_every=2)


def planar_pushes(*sizes):
    """Return loads in the plane of the chain."""
    return [{PUSH: (size, 0, -0.2), "gravity": (0.1 * k, 0, -9.81)} for k, size in enumerate(sizes)]


def changed_parameters(k):
    """Return another velocity, which the joints change, another mass, or both."""
    changes = {"bodies.weld.angular_velocity": (0.1 * (k // 2), 0, 0.2)}
    return changes | ({"bodies.branch.shape": Box(0.2, 0.2, 1, density=9)} if k % 2 else {})


def stored_data(result):
    """Return everything that a run stores, and the cost of its steps."""
    return _stored_data(result), result.newton_iterations.tolist(), result.halvings.tolist()


@pytest.fixture(autouse=True)
def _little_by_little(monkeypatch):
    monkeypatch.setattr("rodsim.running.batch._FIRST", 1)
    monkeypatch.setattr("rodsim.running.march.LEAP", 2)


@pytest.fixture
def marched(monkeypatch):
    """Record how many runs each march advances together."""
    counts, march = [], RunBatch.march

    def watched(self, states, starts, parts):
        counts.append(sum(state is not None for state in states))
        return march(self, states, starts, parts)

    monkeypatch.setattr(RunBatch, "march", watched)
    return counts


def huge_force(t, force=1e4):
    """Force, N, that moves a body so far in a step that the step must be halved."""
    return (0.0, 0.0, 0.0 if t < 5 * DT or t > 6 * DT else force)


def huge_force_on_third_run(force):
    """Apply the large force to the third of six runs."""
    thrown = partial(huge_force, force=force)
    return [{PUSH: thrown} if k == 2 else pushes for k, pushes in enumerate(planar_pushes(*range(6)))]


def loads_with_corners(count):
    """Return load functions with different corners, some of them in the same step; the last has none."""
    pulses = [signals.Pulse(1.0, (2.3 + 2 * (k // 2)) * DT, (12.4 + 0.1 * k) * DT) for k in range(count - 1)]
    return [{PUSH: pulse.along((0, 0, 1))} for pulse in pulses] + [{PUSH: (0, 0, 1)}]


def rod():
    """A clamped rod, whose runs are not batched."""
    model = Model("rod", gravity=(0, 0, -9.81))
    elastic_rod = model.add_rod("rod", [(0, 0, 0), (1, 0.1, 0)], SECTION, n_elements=3)
    model.add_joint("hold", "clamp", elastic_rod.start)
    model.add_force("push", elastic_rod.end, (0, 1, 0))
    return model.prepare(t_end=8 * DT, dt=DT)


class Case(NamedTuple):
    """A batch: model, parameters, number of lanes, and the runs whose steps are halved."""

    make: Callable
    parameters: list
    options: dict | None = None
    lanes: tuple[int, ...] = (6,)
    halved: int | None = None


FALLS = [{"gravity": (0, k, -9.81)} for k in range(6)]
# the prediction that everything stays at rest is nearer to the solution than this, but is not accepted
TOLERANT = {"tolerance": 1e-3}
CASES = {
    "two groups, the second one too few": Case(lambda: tree(loads=True), pushes(11), lanes=(8,)),
    "tree": Case(tree, FALLS),
    "tree with loops": Case(loops, FALLS),
    "loop at the first body": Case(loop_at_the_first_body, FALLS),
    "loops in a row": Case(linked_loops, FALLS),
    "tree with loads": Case(lambda: tree(loads=True), pushes(6)),
    "tree with velocities and masses of each": Case(tree, [changed_parameters(k) for k in range(6)]),
    "hinges in a plane": Case(hinges, planar_pushes(*range(6))),
    "hinges in a plane, some quick": Case(hinges, planar_pushes(0, 1, 100, 1e3, 3e3, 1e4)),
    "a load that turns with its hinge": Case(lambda: hinges(following=True), planar_pushes(*range(6))),
    "tree, at rest": Case(tree, FALLS, TOLERANT),
    "hinges at rest": Case(hinges, planar_pushes(*range(6)), TOLERANT),
    "two that move in a plane": Case(
        hinges, [{PUSH: (k, 0.1 * k * (k % 3), 1)} for k in range(6)], lanes=(4,)
    ),
    "a rod": Case(rod, [{PUSH: (0, k, 0)} for k in range(6)], lanes=()),
}
for every in (1, 2, 16):
    options = {"output_every": every}
    CASES[f"a tree with jumps, {every}"] = Case(lambda: tree(loads=True), loads_with_corners(6), options)
    CASES[f"hinges with jumps, {every}"] = Case(hinges, loads_with_corners(6), options)
    CASES[f"a tree of which one leaves, {every}"] = Case(
        lambda: tree(loads=True), huge_force_on_third_run(1e4), options, (5, 6), 2
    )
    CASES[f"hinges of which one leaves, {every}"] = Case(
        hinges, huge_force_on_third_run(1e5), options, (5, 6), 2
    )


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_batched_runs_are_bitwise_equal_to_single_runs(name, marched):
    """A run of the batch may be halved, rejoin the batch or continue alone."""
    case = CASES[name]
    prepared, options = case.make(), case.options or {}
    many = simulate_many(prepared, case.parameters, threads=2, **options)
    assert not many.failures
    assert set(marched) <= set(case.lanes)
    assert bool(marched) == bool(case.lanes)
    for changes, result in zip(case.parameters, many, strict=True):
        alone = prepared.run(changes, **options)
        assert stored_data(result) == stored_data(alone)
        assert result.description["run"] == alone.description["run"]
    if case.halved is not None:
        assert many[case.halved].halvings.sum() > 0


@pytest.mark.parametrize("case", ["tree with loops", "loop at the first body"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_runs_with_loops_stay_in_the_batch_once_they_move(case, monkeypatch):
    """A failure in the batch would be hidden, because such runs are repeated alone."""
    far, march = [], RunBatch.march

    def watched(self, states, starts, parts):
        marched = march(self, states, starts, parts)
        far.append([len(lane.states.r) == parts for lane in marched])
        return marched

    monkeypatch.setattr(RunBatch, "march", watched)
    simulate_many(CASES[case].make(), CASES[case].parameters, threads=1)
    assert len(far) > 4
    assert all(all(moving) for moving in far[1:])  # the first march starts from rest, run by run


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_run_rejoins_its_batch_unless_it_failed(marched):
    def end(t):
        return (0.0, 0.0 if t < 3 * DT else 1e12, 0.0)

    prepared, parameters = tree(loads=True), pushes(7)
    parameters[2] = {PUSH: huge_force}
    parameters[4] = {PUSH: end}
    many = simulate_many(prepared, parameters, threads=1)
    assert list(many.failures) == [4]
    assert isinstance(many.failures[4].error, ConvergenceError)
    with pytest.raises(ConvergenceError) as alone:
        prepared.run(parameters[4])
    assert stored_data(many.failures[4].result) == stored_data(alone.value.result)
    for run in many.runs:
        assert stored_data(many[run]) == stored_data(prepared.run(parameters[run]))
    assert {6, 7} <= set(marched)


def test_batched_runs_warn_once_of_shortened_steps_and_per_run_of_loads(marched):
    prepared = hinges()
    parameters = [{PUSH: (1, 0, 0)}] * 4 + [{PUSH: lambda t: (0.0, 0.0, 0.0)}]
    with pytest.warns(StepWarning) as recorded:
        many = simulate_many(prepared, parameters, threads=1, t_end=0.01, dt=0.003)
    messages = [str(warning.message) for warning in recorded if warning.category is StepWarning]
    assert marched
    assert [result.t[-1] for result in many] == pytest.approx([0.01] * 5)
    assert sum("t_end = 0.01 s is not a multiple of dt = 0.003 s" in text for text in messages) == 1
    assert sum("model 'hinges': a load is zero at all 4 times" in text for text in messages) == 1
    assert len(messages) == 2


def test_interrupt_ends_all_batched_runs(monkeypatch):
    class Bar(contextlib.nullcontext):
        """A progress bar that interrupts the run at its second update."""

        done = 0

        def update(self, count):
            Bar.done += count
            if Bar.done > count:
                raise KeyboardInterrupt

    monkeypatch.setattr("rodsim.many_runs.progress_bar", lambda show, **_: Bar())
    with pytest.raises(KeyboardInterrupt):
        simulate_many(tree(loads=True), pushes(30), threads=1)
    assert 0 < Bar.done < 30
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rodsim-run")]


def test_run_without_progress_leaves_the_batch(monkeypatch):
    """The matrix of such a run needs a row exchange in each step."""
    met, prepared = [], tree(loads=True)
    march = RunBatch.march

    def empty_marches(self, states, starts, parts):
        met.append(len(starts))
        return [RunParts(of_run.states, of_run.reports[:0]) for of_run in march(self, states, starts, parts)]

    expected = [stored_data(result) for result in simulate_many(prepared, pushes(5), threads=1)]
    monkeypatch.setattr(RunBatch, "march", empty_marches)
    outputs = [stored_data(result) for result in simulate_many(prepared, pushes(5), threads=1)]
    assert outputs == expected
    assert len(met) < 10


@pytest.mark.parametrize("threads", [1, 2])
def test_files_of_batched_runs_equal_those_of_single_runs(threads, tmp_path, marched):
    prepared, parameters, alone = tree(loads=True), pushes(5), tmp_path / "alone.vtkhdf"
    simulate_many(prepared, parameters, threads=threads, outputs=tmp_path, output_every=7)
    assert marched
    for number, changes in enumerate(parameters):
        prepared.run(changes, output=alone, overwrite=True, output_every=7)
        assert (tmp_path / f"run-{number:04d}.vtkhdf").read_bytes() == alone.read_bytes()
