"""Recording, tabulating and storing outputs in batches is bit-identical to single outputs.

Long runs take no memory.
"""

import os
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from discretization.consistent_velocities import project_velocities
from discretization.state_measures import (
    constraint_residual,
    element_states,
    energies,
    momenta,
    translational_momenta,
    velocity_residual,
)
from discretization.time.stepper import Stepper
from discretization.time.stepper_base import Report, Reports
from rigid.errors import ConvergenceError
from rigid.system import State
from rodsim import Box, Material, Model, ModelError, Result, Section, simulate
from rodsim.results import MemoryWriter, recorder
from rodsim.results.drawing import Drawing
from rodsim.results.journal import has_result
from rodsim.results.outputs import stacked
from rodsim.results.recorder import Recorder
from rodsim.results.tabulate import newton_columns, newton_rows
from rodsim.running.march import LEAP, PATIENCE, Progress
from rodsim.running.plan import MAX_OUTPUTS, outputs_after
from tests.support.mechanisms import arms
from tests.support.results_sample import sample_layout, sample_output


def whip(mass="consistent"):
    """Rods, a body and joints of every kind of constraint."""
    model = arms()
    section = Section.circular(0.02, Material(E=1e6, nu=0.3, density=800))
    rod = model.add_rod("whip", [[2, 0, 0], [3, 0, 0]], section, n_elements=5, mass=mass)
    model.add_joint("tip", "spherical", model.bodies["second"].at_world((2, 0, 0)), rod.at(0))
    return model


def built_and_started(model):
    built = model.build()
    return built, project_velocities(built.system, built.state)[0]


def same(a, b):
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(("order", "every"), [(2, 1), (2, 3), (4, 2)])
def test_recorded_states_and_reports_equal_single_steps(order, every):
    built, state = built_and_started(whip())
    stepper = Stepper(built.system, 0.004, order, built.load_values)
    states, reports = stepper.record(state, 7, every, 5)
    assert len(reports) == 5
    for k in range(5):
        state, report = stepper.advance(state, 7 + k * every, every)
        assert same(state, (array[k] for array in states)), k
        assert report == reports[k]


def wound_arm():
    """One element is twisted until a step cannot be solved; steps are halved before."""
    model = Model("torn")
    section = Section.from_stiffness(
        EA=100, GA=100, GJ=1e-3, EI=1e-3, mass_per_length=1, inertia_per_length=1e-3
    )
    arm = model.add_rod("arm", [[0, 0, 0], [1, 0, 0]], section, n_elements=1)
    model.add_joint("wall", "clamp", arm.at(0))
    model.add_moment("wrench", arm.at(1), lambda t: (0.0, 0.0, 100 * t))
    return model


def test_recorded_states_end_before_a_halved_or_failed_step():
    """That step is then taken by the ordinary `advance`, which also raises the error."""
    built, state = built_and_started(wound_arm())
    stepper = Stepper(built.system, 0.01, 2, built.load_values)
    step, before, halved = 0, state, 0
    failed = False
    while not failed and step < 100:
        try:
            states, reports = stepper.record(state, step, 2, 50 - step // 2)
        except ConvergenceError:
            failed = True
            break
        assert same(state, before)  # the input is not changed
        for k, report in enumerate(reports):
            state, expected = stepper.advance(state, step, 2)
            assert report == expected
            assert same(state, (array[k] for array in states))
            step += 2
            halved += report.halvings
        before = State(*(array.copy() for array in state))
    assert failed
    assert step > 4
    assert halved > 0
    with pytest.raises(ConvergenceError):
        stepper.advance(state, step, 2)


@pytest.mark.parametrize("make", [arms, whip])
def test_measures_of_stacked_states_are_bitwise_those_of_single_states(make):
    built, state = built_and_started(make())
    system = built.system
    stepper = Stepper(system, 0.01, 2, built.load_values)
    states, _ = stepper.record(state, 0, 1, 13)
    drawing = Drawing(built.layout)

    def measured(state):
        strains, stresses = element_states(system, state)
        points, arrays = drawing.arrays(state, strains, stresses)
        return [
            strains,
            stresses,
            *energies(system, state),
            energies(system, state).total,
            *momenta(system, state),
            translational_momenta(system, state),
            constraint_residual(system, state),
            velocity_residual(system, state),
            points,
            drawing.points(state),
            *arrays.values(),
        ]

    for rows in (slice(0, 1), slice(2, 5), slice(0, 13)):
        together = measured(State(*(array[rows] for array in states)))
        for k in range(rows.start, rows.stop):
            alone = measured(State(*(array[k] for array in states)))
            for many, one in zip(together, alone, strict=True):
                assert np.array_equal(np.asarray(many)[k - rows.start], one)


@pytest.mark.parametrize("integrator", ["em", "em4", "EML-kappa"])
@pytest.mark.parametrize("output_every", [1, 3])
def test_result_does_not_depend_on_the_batches(integrator, output_every, tmp_path, monkeypatch):
    make = arms if integrator != "em" else whip
    run = {"t_end": 0.2, "dt": 0.01, "integrator": integrator, "output_every": output_every}
    simulate(make(), output=tmp_path / "many.vtkhdf", **run)
    monkeypatch.setattr(recorder, "BATCH_BYTES", 1)
    simulate(make(), output=tmp_path / "single.vtkhdf", **run)
    assert (tmp_path / "many.vtkhdf").read_bytes() == (tmp_path / "single.vtkhdf").read_bytes()


def test_result_in_memory_equals_that_in_a_file(tmp_path):
    run = {"t_end": 0.2, "dt": 0.01, "output_every": 3}
    memory, file = simulate(whip(), **run), simulate(whip(), output=tmp_path / "a.vtkhdf", **run)
    assert list(memory.step) == list(file.step) == [0, 3, 6, 9, 12, 15, 18, 20]
    for i in range(8):
        assert same(memory.state(i), file.state(i))
        assert np.array_equal(memory.strains(i), file.strains(i))
    assert np.array_equal(memory.energy, file.energy)


@pytest.mark.parametrize(
    ("n_steps", "every", "n_outputs"), [(3, 1, 4), (749, 1, 750), (751, 2, 377), (5000, 10, 501)]
)
def test_about_500_outputs_are_stored_by_default(n_steps, every, n_outputs):
    model = Model("still")
    model.add_body("ball", Box(1, 2, 3, density=1))
    result = simulate(model, n_steps * 0.001, 0.001)
    assert result.n_outputs == n_outputs
    assert result.description["run"]["output_every"] == every


def test_resumed_run_keeps_the_outputs_of_its_file(tmp_path):
    """Also if a run to the new end would store fewer outputs."""
    model = Model("still")
    model.add_body("ball", Box(1, 2, 3, density=1), angular_velocity=(1, 2, 3))
    for stop in (0.3, 1.5):
        simulate(model, stop, 0.001, output=tmp_path / "parts.vtkhdf", resume=stop > 0.3)
    simulate(model, 1.5, 0.001, output=tmp_path / "whole.vtkhdf", output_every=1)
    assert (tmp_path / "parts.vtkhdf").read_bytes() == (tmp_path / "whole.vtkhdf").read_bytes()


@pytest.mark.parametrize("every", [1, 3, 4, 7, 100])
def test_future_outputs_are_counted(every):
    for n_steps in range(1, 25):
        outputs = sorted({*range(0, n_steps, every), n_steps})
        for last in range(-1, n_steps + 3):
            assert outputs_after(last, n_steps, every) == sum(step > last for step in outputs)


def test_run_of_1e12_steps_starts_at_once_without_memory(tmp_path):
    """The run stops at its first load; before it, no array is as long as the run."""
    path = tmp_path / "a.vtkhdf"

    def load(t):
        if t > 0.02:
            raise KeyboardInterrupt
        return (0.0, 0.0, 1.0)

    model = Model("long")
    ball = model.add_body("ball", Box(1, 2, 3, density=1))
    model.add_force("push", ball.at_world((0, 0, 0)), load)
    with pytest.raises(KeyboardInterrupt):  # load and compile everything
        simulate(model, 1.0, 1e-3, output=path)
    for every in (None, 10**5):
        tracemalloc.start()
        with pytest.raises(KeyboardInterrupt):
            simulate(model, 1e9, 1e-3, output=path, output_every=every, overwrite=True)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 3e7
        assert path.stat().st_size < 1e8
        assert Result.load(path).n_outputs == 1


def test_invalid_numbers_of_steps_and_outputs_are_rejected(tmp_path):
    model, path = arms(), tmp_path / "a.vtkhdf"
    for dt in (1e-40, 1e-50):
        with pytest.raises(ModelError, match=r"takes .* steps of dt = .*; use dt = 2e-15 or more"):
            simulate(model, 2.0, dt, output=path)
    with pytest.raises(ModelError, match=rf"a file holds at most {MAX_OUTPUTS}; use output_every = 1863 or"):
        simulate(model, 1e9, 1e-3, output=path, output_every=1)
    assert not path.exists()


class Clock:
    """A clock that advances on request."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(recorder.time, "monotonic", lambda: self.now)


def recorder_with_clock(monkeypatch, report):
    """A recorder of a model at rest, its clock, and a function that takes a step of `seconds`."""
    built, state = built_and_started(arms())
    clock = Clock(monkeypatch)
    writer = MemoryWriter(built.layout)
    recorder = Recorder(built.system, 0.01, writer)

    def step(number, seconds, output=True):
        clock.now += seconds
        if output:
            recorder.add([number], stacked([state]), [[report]])
        recorder.flush_if_due()

    return recorder, writer, step


REPORT = Report(6, 4, 2, 1)


def test_outputs_are_delayed_at_most_half_a_second(monkeypatch):
    _, writer, step = recorder_with_clock(monkeypatch, REPORT)
    stored = []
    for k in range(1, 41):
        step(k, 0.04)
        stored.append(writer.n_outputs)
    waiting = np.arange(1, 41) - stored
    assert waiting.max() == 12  # 0.44 s; another 0.04 s would reach half a second
    assert len(set(stored)) <= 5  # outputs are not stored one by one


def test_outputs_of_slow_steps_are_stored_at_once(monkeypatch):
    _, writer, step = recorder_with_clock(monkeypatch, REPORT)
    for k in range(1, 5):
        step(k, 0.6)
        assert writer.n_outputs == k


def test_outputs_do_not_wait_for_the_next_one(monkeypatch):
    _, writer, step = recorder_with_clock(monkeypatch, REPORT)
    step(1, 0.12)
    for k in range(2, 6):
        assert writer.n_outputs == 0
        step(k, 0.12, output=False)
    assert writer.n_outputs == 1


def test_recorder_holds_at_most_one_batch(monkeypatch):
    monkeypatch.setattr(recorder, "BATCH_BYTES", 4000)
    batches, writer, step = recorder_with_clock(monkeypatch, REPORT)
    assert batches.most == 4000 // writer.output_bytes >= 2
    for k in range(1, 4 * batches.most + 1):
        step(k, 0.0)
        assert k - writer.n_outputs < batches.most


def test_interrupted_batch_is_stored_once(monkeypatch):
    recorder, writer, step = recorder_with_clock(monkeypatch, REPORT)
    extend = writer.extend_lazily

    def interrupted(t, steps, states, newton, late, after):
        extend(t[:2], steps[:2], State(*(array[:2] for array in states)), newton[:2], late)
        raise KeyboardInterrupt

    for k in range(1, 6):
        step(k, 0.001)
    monkeypatch.setattr(writer, "extend_lazily", interrupted)
    with pytest.raises(KeyboardInterrupt):
        recorder.flush()
    monkeypatch.setattr(writer, "extend_lazily", extend)
    recorder.flush()
    recorder.flush()
    assert list(writer.result().step) == [1, 2, 3, 4, 5]


def test_lazy_columns_equal_eager_columns():
    built, state = built_and_started(arms())
    at_once, late = MemoryWriter(built.layout), MemoryWriter(built.layout)
    reported = []
    for writer, listener in ((at_once, reported.append), (late, None)):
        recorder = Recorder(built.system, 0.01, writer, listener)
        recorder.most = 2  # outputs in a batch
        for k in range(5):
            recorder.add([k], stacked([state._replace(v=(1.0 + k) * state.v)]), [[Report(6 + k, 4, 2, 1)]])
        recorder.flush()
    one, other = (writer.result() for writer in (at_once, late))
    assert len(reported) == 3
    for name in ("strains", "stresses", "audit", "step", "time"):
        np.testing.assert_array_equal(other._source.read(name), one._source.read(name))
    with pytest.raises(ValueError, match="lazily"):
        late.extend(reported[0])


def test_iterations_are_counted_since_the_output_before():
    built, state = built_and_started(arms())
    writer = MemoryWriter(built.layout)
    recorder = Recorder(built.system, 0.01, writer)
    recorder.add([3], stacked([state]), [[REPORT, Report(9, 5, 3, 2)]])
    recorder.flush()
    result = writer.result()
    columns = [result.audit_column(name)[0] for name in ("newton_mean", "newton_max", "halvings")]
    assert columns == [3.0, 5.0, 3.0]
    assert result.t[0] == 3 * 0.01


def test_failed_run_keeps_all_outputs_before(tmp_path):
    with pytest.raises(ConvergenceError) as caught:
        simulate(wound_arm(), 1.0, 0.01, output=tmp_path / "a.vtkhdf", output_every=2)
    result = caught.value.result
    steps = list(result.step)
    assert steps[:4] == [0, 2, 4, 6]
    assert steps == sorted(set(steps))
    assert os.listdir(tmp_path) == ["a.vtkhdf"]


RUN = """
import sys
from tests.support.mechanisms import arms
from rodsim import simulate
simulate(arms(), 1000.0, 0.01, output=sys.argv[1], output_every=1)
"""


@pytest.mark.exact
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_simulation_resumes_bitwise(tmp_path):
    path = tmp_path / "a.vtkhdf"
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(path)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        until = time.monotonic() + 300
        while not (has_result(path) and Result.load(path).n_outputs > 300):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    n = Result.load(path).n_outputs
    t_end = 0.01 * (n + 20)
    resumed = simulate(arms(), t_end, 0.01, output=path, resume=True)
    uninterrupted = simulate(arms(), t_end, 0.01, output_every=1)
    assert resumed.n_outputs == uninterrupted.n_outputs == n + 21
    looked_at = {*range(0, n, n // 20), *range(n - 2, n + 21)}
    assert all(same(resumed.state(i), uninterrupted.state(i)) for i in looked_at)
    assert np.array_equal(resumed.energy, uninterrupted.energy)
    assert os.listdir(tmp_path) == ["a.vtkhdf"]


@pytest.mark.slow
def test_storing_every_step_costs_no_more_than_the_run(tmp_path):
    """Measured alternately; the machine may be busy, so a factor of two is allowed."""
    section = Section.circular(0.02, Material(E=1e6, nu=0.3, density=800))
    model = Model("rod", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [[0, 0, 0], [1, 0, 0]], section, n_elements=20)
    model.add_joint("wall", "clamp", rod.at(0))

    def seconds(every):
        began = time.perf_counter()
        path = tmp_path / "a.vtkhdf"
        simulate(model, 2.5, 0.005, output=path, output_every=every, overwrite=True, progress=False)
        return time.perf_counter() - began

    seconds(1)
    times = [(seconds(1), seconds(500)) for _ in range(3)]
    all_steps, one = np.min(times, axis=0)
    assert all_steps - one < 2 * one


def test_memory_writer_rejects_states_of_another_model():
    with pytest.raises(ValueError, match=r"State\.r has shape"):
        MemoryWriter(built_and_started(whip())[0].layout).append(*sample_output(sample_layout(), 0))


def test_cost_columns_equal_those_of_single_reports():
    columns = np.array([[6, 0, 7], [4, 0, 5], [2, 0, 3]])
    costs = Reports(*columns)
    reports = [Report(*row) for row in columns.T.tolist()]
    assert list(costs) == reports
    assert list(costs[1:]) == reports[1:]
    rows = np.array([newton_columns([report]) for report in reports])
    np.testing.assert_array_equal(newton_rows(costs), rows)
    np.testing.assert_array_equal(newton_rows(reports), rows)
    np.testing.assert_array_equal(newton_rows([reports[:2]]), [newton_columns(reports[:2])])


def test_march_length_adapts_to_the_response_time():
    line = Progress(10**9, 0, 0.1, 1, False, built_and_started(arms())[0].layout.memory)
    lengths = []
    for seconds in (0.0, 0.9 / (2 * LEAP), 0.3, 0.6, 1.1):
        line.moved(0, seconds * PATIENCE, line.chunk)
        lengths.append(line.chunk)
    # growth by LEAP twice; by two; unchanged; half
    assert lengths == [LEAP, LEAP**2, 2 * LEAP**2, 2 * LEAP**2, LEAP**2]
