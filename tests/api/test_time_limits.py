"""Time limit of a case."""

import sys
import threading
import time

import pytest
from numba import njit
from numba.core import event

from rodsim.studies import cases, sweep
from rodsim.studies.cases import CallDoesNotEnd, TimeLimitExceeded, within


def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "done"


def test_call_within_the_limit_returns_and_raises_nothing_later():
    assert within(None, lambda: 3) == within(5.0, lambda: 3) == 3
    assert within(0.2, lambda: "quick") == "quick"
    assert busy(0.3) == "done"


def test_time_limit_is_not_caught_by_user_code():
    caught = []

    def call():
        try:
            busy(20.0)
        except Exception as error:
            caught.append(error)

    began = time.monotonic()
    with pytest.raises(TimeLimitExceeded):
        within(0.2, call)
    assert 0.2 <= time.monotonic() - began < 5.0
    assert not caught
    assert busy(0.1) == "done"


def test_compile_time_does_not_count():
    def call():
        with event.trigger_event("numba:compile", data={"dispatcher": njit(busy)}):
            busy(0.4)
        return "compiled"

    assert within(0.2, call) == "compiled"
    with pytest.raises(TimeLimitExceeded):
        within(0.2, lambda: (call(), busy(20.0)))


def test_unresponsive_call_is_abandoned(monkeypatch):
    monkeypatch.setattr(cases, "LEAST_GRACE", 0.5)
    free = threading.Event()
    with pytest.raises(CallDoesNotEnd):
        within(0.2, lambda: free.wait(20.0))  # a wait is one bytecode step: no exception interrupts it
    free.set()
    with pytest.raises(TimeLimitExceeded) as ended:
        within(0.2, lambda: busy(20.0))
    assert ended.type is TimeLimitExceeded


def test_profiler_works_after_a_time_limit():
    """CPython 3.11 would search endlessly for a withdrawn exception."""
    with pytest.raises(TimeLimitExceeded):
        within(0.1, lambda: busy(20.0))
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(event))
    try:
        busy(0.0)
    finally:
        sys.setprofile(None)
    assert "call" in calls


def case(x):
    if x == 1:
        busy(20.0)
    if x == 2:
        sys.exit(4)
    return {"y": float(x)}


def test_cases_over_the_limit_or_exiting_fail_and_others_finish():
    study = sweep(case, {"x": [0, 1, 2, 3]}, workers=0, limit=0.3, progress=False)
    assert list(study.failed) == [1, 2]
    assert study.failed[1] == "it took longer than the limit of 0.3 s"
    assert "SystemExit: 4" in study.failed[2]
    assert [outcome.measures.get("y") for outcome in study.outcomes] == [0.0, None, None, 3.0]
