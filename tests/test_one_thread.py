"""Threads of a BLAS while small dense matrices are solved: one, and as many as before behind that."""

from __future__ import annotations

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from discretization.linear.one_thread import one_thread

FEW, SOME = 60, 61


def threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture
def two():
    with threadpool_limits(limits=2, user_api="blas"):
        if threads() != {2}:
            pytest.skip("this BLAS has one thread")
        yield


def test_inside_there_is_one_and_behind_as_many_as_before(two):
    with one_thread(SOME):
        assert threads() == {1}
        with one_thread(SOME):
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}
    with one_thread(FEW):
        assert threads() == {2}


def test_an_error_inside_leaves_as_many_as_before(two):
    with pytest.raises(ValueError), one_thread(SOME):
        raise ValueError
    assert threads() == {2}


def test_another_thread_neither_waits_nor_sets_it_back(two):
    def other():
        with one_thread(SOME):
            seen.append(threads())

    seen, thread = [], threading.Thread(target=other)
    with one_thread(SOME):
        thread.start()
        thread.join(10.0)
        assert seen == [{1}]
        assert threads() == {1}
    assert threads() == {2}
