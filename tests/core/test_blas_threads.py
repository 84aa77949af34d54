"""Small linear algebra runs on one BLAS thread, and the previous number of threads is restored."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from discretization.linear import blas_threads as guard
from discretization.linear.blas_threads import MAX_SIZE_OF_ONE_THREAD, one_thread
from rodsim import buckling, equilibrium, modes, simulate_many
from tests.support.buckling import column
from tests.support.fronts import H, net

FEW, SOME = MAX_SIZE_OF_ONE_THREAD, MAX_SIZE_OF_ONE_THREAD + 1


def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(limits=2, user_api="blas"):
        if threads() != {2}:
            pytest.skip("this BLAS has one thread")
        yield


def test_blas_threads_are_one_inside_and_restored_after(two_threads):
    with one_thread(SOME):
        assert threads() == {1}
        with one_thread(SOME):
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}
    with one_thread(FEW):
        assert threads() == {2}


def test_blas_threads_are_restored_after_an_error(two_threads):
    with pytest.raises(ValueError), one_thread(SOME):
        raise ValueError
    assert threads() == {2}


def test_threads_are_restored_by_the_last_user_to_leave(two_threads):
    def other():
        with one_thread(SOME):
            entered.set()
            leave.wait(10.0)
            counts.append(threads())

    entered, leave, counts, thread = threading.Event(), threading.Event(), [], threading.Thread(target=other)
    with one_thread(SOME):
        thread.start()
        assert entered.wait(10.0)
    assert threads() == {1}  # the first user has left, the other one has not
    leave.set()
    thread.join(10.0)
    assert counts == [{1}]
    assert threads() == {2}


def test_thread_number_set_inside_is_not_overwritten(two_threads):
    with one_thread(SOME):
        threadpool_limits(limits=3, user_api="blas")
        inside = threads()
    assert threads() == inside == {3}


class PerThread:
    """A library on OpenMP: each Python thread has its own number of threads."""

    threading_layer = "openmp"

    def __init__(self):
        self._own = threading.local()

    def get_num_threads(self):
        return getattr(self._own, "threads", 4)

    def set_num_threads(self, threads):
        self._own.threads = threads


def test_per_thread_blas_limits_are_set_in_each_thread(monkeypatch):
    def other():
        with one_thread(SOME):
            entered.set()
            leave.wait(10.0)
            counts.append(library.get_num_threads())
        counts.append(library.get_num_threads())

    library = PerThread()
    monkeypatch.setattr(guard, "_libraries", lambda: [library])
    entered, leave, counts, thread = threading.Event(), threading.Event(), [], threading.Thread(target=other)
    with one_thread(SOME):
        thread.start()
        assert entered.wait(10.0)
        assert library.get_num_threads() == 1
    assert library.get_num_threads() == 4
    leave.set()
    thread.join(10.0)
    assert counts == [1, 4]


class Controlled:
    """A library as in threadpoolctl 3.8: only the thread that set the number may change it, until the control
    is cleared.
    """

    controls, threads = -1, 4  # another thread has set it

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, threads):
        if self.controls not in (None, threading.get_ident()):
            raise RuntimeError("another thread controls this library")
        self.controls, self.threads = threading.get_ident(), threads

    def clear_controlling_thread(self, force=False):
        if self.controls not in (None, threading.get_ident()) and not force:
            raise RuntimeError("another thread controls this library")
        self.controls = None


def test_library_controlled_by_one_thread_is_limited_and_released(monkeypatch):
    library = Controlled()
    monkeypatch.setattr(guard, "_libraries", lambda: [library])
    with one_thread(SOME):
        assert (library.threads, library.controls) == (1, None)
    assert (library.threads, library.controls) == (4, None)


WIDE = net(rows=8)  # its tangent has a half bandwidth of 100


@pytest.mark.parametrize(
    "compute",
    [
        lambda: equilibrium(WIDE),
        lambda: modes(WIDE, 12, anyway=True),
        lambda: buckling(column(200.0, 60.0, n=8, element="se3")),
        lambda: buckling(column(200.0, 60.0, n=30, element="se3")),
    ],
    ids=["equilibrium", "modes", "buckling", "larger buckling"],
)
def test_small_systems_start_no_blas_threads(two_threads, compute):
    """The process uses no more processor time than the calling thread: threads that wait for each other would
    add to it.
    """
    compute()
    process, caller = time.process_time(), time.thread_time()
    compute()
    process, caller = time.process_time() - process, time.thread_time() - caller
    assert process - caller < 0.02 * caller + 1e-3  # a single shared product takes 4 ms of waiting


def test_runs_and_modes_in_threads_do_not_change_numpy_in_another_thread(two_threads):
    matrix = np.random.default_rng(1).standard_normal((120, 120))
    errors, frequencies, ended = [], [], threading.Event()

    def invert():
        while not ended.is_set():
            errors.append(np.abs(np.linalg.inv(matrix) @ matrix - np.eye(120)).max())

    def swing():
        frequencies.extend(modes(WIDE, 6, anyway=True).omega for _ in range(3))

    cases = [{"gravity": [0.0, 0.0, -float(k)]} for k in range(1, 7)]
    prepared = WIDE.prepare(t_end=2 * H, dt=H)
    expected = [prepared.run(case).rod("row0").r for case in cases]
    third, workers = threading.Thread(target=invert), [threading.Thread(target=swing) for _ in range(2)]
    for thread in (third, *workers):
        thread.start()
    try:
        results = simulate_many(prepared, cases, threads=2)
        for thread in workers:
            thread.join(60.0)
    finally:
        ended.set()
        third.join(10.0)
    assert threads() == {2}
    assert max(errors) < 1e-10  # condition 1e3
    assert not results.failures
    for one, run in zip(expected, results, strict=True):
        assert np.array_equal(run.rod("row0").r, one)
    assert len(frequencies) == 6
    assert all(np.array_equal(one, frequencies[0]) for one in frequencies)
