"""Batches of runs of a prepared model in threads.

Each bit-identical to the single run; failed runs are reported separately.
"""

import threading
import time

import numpy as np
import pytest

from discretization.time.stepper import Stepper
from discretization.time.thread_turns import (
    StoppedError,
    ThreadTurns,
    busy_time,
    turn_released,
    turn_resumed,
)
from rodsim import Box, ConvergenceError, Model, ModelError, Result, Section, simulate_many
from tests.support.many_runs import DT
from tests.support.prepared import _stored_data

SECTION = Section.from_stiffness(
    EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
)
PUSH, COIL = "loads.push.value", "springs.coil.stiffness"


def swing(**settings):
    """A rod with a body at its end, on a spring."""
    model = Model("swing", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.1, 0)], SECTION, n_elements=2)
    body = model.add_body("body", Box(0.1, 0.1, 0.2, density=500), position=(1.05, 0.1, 0))
    model.add_joint("pin", "spherical", model.ground, rod.start)
    model.add_joint("glue", "weld", rod.end, body)
    model.add_spring("coil", model.ground.at((1, 0, 1)), body.at((0, 0, 0)), 30.0)
    model.add_force("push", body.at((0, 0, 0)), (0, 0, 0))
    return model.prepare(**{"t_end": 12 * DT, "dt": DT, "output_every": 2, **settings})


def two_bars(kind):
    """On hinges they are solved in the plane, on ball joints as a tree: a different march each."""
    model = Model("bars", gravity=(0, 0, -9.81))
    spin = (0, 0, 0) if kind == "revolute" else (1, 0, 2)
    bars = [
        model.add_body(f"bar {k}", Box(1, 0.1, 0.1, density=500), (0.5 + k, 0, 0), angular_velocity=spin)
        for k in range(2)
    ]
    axis = {"axis": (0, 1, 0)} if kind == "revolute" else {}
    model.add_joint("a", kind, model.ground.at((0, 0, 0)), bars[0].at((-0.5, 0, 0)), **axis)
    model.add_joint("b", kind, bars[0].at((0.5, 0, 0)), bars[1].at((-0.5, 0, 0)), **axis)
    return model.prepare(t_end=12 * DT, dt=DT)


CASES = {
    "a rod": (swing, [{}, {COIL: 20.0}, {PUSH: (0, 1, 0), COIL: 40.0}, {"gravity": (0, 0, 0)}, {}]),
    "in a plane": (lambda: two_bars("revolute"), [{"gravity": (0, 0, -g)} for g in (1.0, 2.0, 9.81)]),
    "a tree": (lambda: two_bars("spherical"), [{"gravity": (0, 0, -g)} for g in (1.0, 2.0, 9.81)]),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_batched_runs_equal_single_runs_bitwise(case, threads):
    make, parameters = CASES[case]
    prepared = make()
    many = simulate_many(prepared, parameters, threads=threads)
    assert many.runs.tolist() == list(range(len(parameters)))
    assert not many.failures
    for changes, result in zip(parameters, many, strict=True):
        assert _stored_data(result) == _stored_data(prepared.run(changes))


def test_arrays_of_all_runs_are_stacked():
    many = simulate_many(swing(), [{COIL: 20.0}, {COIL: 30.0}], threads=2)
    r = many.stack(lambda result: result.body("body").r)
    assert r.shape == (2, 7, 3)
    assert np.array_equal(r[1], many[1].body("body").r)
    assert r[0, -1, 2] < r[1, -1, 2]
    assert len(many[:]) == 2
    with pytest.raises(ModelError, match=r"run 1 has an array \(1, 3\) where run 0 has \(2, 3\)"):
        many.stack(lambda result: result.body("body").r[: 2 if result is many[0] else 1])


def test_each_run_may_have_a_file(tmp_path):
    prepared, parameters = swing(), [{COIL: 20.0}, {COIL: 30.0}]
    many = simulate_many(prepared, parameters, threads=2, outputs=tmp_path / "runs")
    assert {file.name for file in (tmp_path / "runs").iterdir()} == {"run-0000.vtkhdf", "run-0001.vtkhdf"}
    for number, changes in enumerate(parameters):
        stored = Result.load(tmp_path / "runs" / f"run-{number:04d}.vtkhdf").body("body").r
        assert np.array_equal(stored, prepared.run(changes).body("body").r)
        assert np.array_equal(stored, many[number].body("body").r)
    with pytest.raises(FileExistsError, match=r"run-0000\.vtkhdf"):
        simulate_many(prepared, parameters, outputs=tmp_path / "runs")


def test_failing_run_is_reported_and_others_continue():
    def push(t):
        return (0.0, 0.0, 0.0) if t < 6 * DT else (0.0, 1e12, 0.0)

    parameters = [{}, {PUSH: push, COIL: 20.0}, {COIL: 40.0}]
    many = simulate_many(swing(), parameters, threads=2)
    assert many.runs.tolist() == [0, 2]
    assert list(many.failures) == [1]
    failed = many.failures[1]
    assert isinstance(failed.error, ConvergenceError)
    assert "run 1" in str(failed)
    assert f"{COIL} = 20.0" in str(failed)
    assert failed.result.t[-1] == 6 * DT
    assert many.stack(lambda result: result.t).shape == (2, 7)
    with pytest.raises(ConvergenceError):
        many[1]
    assert repr(many) == "<3 runs, 1 of them failed>"


def test_python_threads_run_during_a_march(monkeypatch):
    """Without the interpreter lock: a counting thread continues during one call of a long march."""
    model = Model("long", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.1, 0)], SECTION, n_elements=2)
    model.add_joint("pin", "clamp", rod.start)
    counted, inside, end = [0], [], threading.Event()

    def count():
        while not end.is_set():
            counted[0] += 1
            time.sleep(0)

    march = Stepper._march

    def watched(self, *arguments):
        before = counted[0]
        status = march(self, *arguments)
        inside.append(counted[0] - before)
        return status

    prepared = model.prepare(t_end=10000 * 1e-3, dt=1e-3, output_every=5000, solver="general")
    prepared.run()  # compiled
    monkeypatch.setattr(Stepper, "_march", watched)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        prepared.run()
    finally:
        end.set()
        thread.join()
    # with the lock it waits 5 ms for each turn of the other thread, which gets one at the end of the march
    assert max(inside) > 20


def test_march_lock_admits_one_thread_unless_released():
    turns, entered, most, together = ThreadTurns(), [], [0], threading.Barrier(2)

    def run():
        with turns.one():
            for _ in range(20):
                entered.append(1)
                most[0] = max(most[0], len(entered))
                time.sleep(0)
                entered.pop()
                with turn_released():
                    time.sleep(0)
            with turn_released():
                together.wait(10.0)  # both are inside at once

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert not together.broken
    turns.stop()
    with pytest.raises(StoppedError), turns.one():
        pass
    with turn_released():  # in no turn
        pass


def test_python_that_a_march_calls_waits_for_its_turn():
    turns, begun, holds, order = ThreadTurns(), threading.Event(), threading.Event(), []

    def march():
        with turns.one():
            with turn_released():
                begun.set()
                holds.wait(10.0)
                with turn_resumed():
                    order.append("called")
                order.append("marches")
            with turn_resumed():  # its turn already
                order.append("ends")

    thread = threading.Thread(target=march)
    thread.start()
    begun.wait(10.0)
    with turns.one():
        holds.set()
        time.sleep(0.05)
        order.append("other")
    thread.join()
    assert order == ["other", "called", "marches", "ends"]
    with turn_resumed():  # in no turn
        pass


def test_march_clock_excludes_waiting_for_the_lock():
    turns, free = ThreadTurns(1), threading.Event()

    def hold():
        with turns.one():
            free.wait(10.0)

    with turns.one():
        other, began, real = threading.Thread(target=hold), busy_time(), time.perf_counter()
        other.start()
        with turn_released():
            while other.is_alive() and not turns._lock.locked():
                time.sleep(0.001)
            threading.Timer(0.3, free.set).start()
        passed, elapsed = busy_time() - began, time.perf_counter() - real
    other.join()
    assert elapsed > 0.2
    assert passed < elapsed - 0.2
