"""A limit of time for a call in this thread; what numba compiles meanwhile does not count."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from numba.core import event

T = TypeVar("T")
MOST_CASES = 1_000_000  # of a study
LOOK = 0.05  # s between looks at the clock
LEAST_GRACE, MOST_GRACE = 1.0, 10.0  # s that a call has to end when it was told to


class TookTooLong(BaseException):
    """Raised in a call at its limit; no `except Exception` of the call takes it for its own."""


class _Compiling(event.Listener):
    """How long this process has compiled."""

    def __init__(self) -> None:
        self._depth, self._began, self._ended = 0, 0.0, 0.0

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._ended += time.monotonic() - self._began

    @property
    def seconds(self) -> float:
        return self._ended + (time.monotonic() - self._began if self._depth else 0.0)


def within(seconds: float | None, call: Callable[[], T], give_up: Callable[[], None] | None = None) -> T:
    """What `call` returns; TookTooLong where it takes longer than `seconds`.

    The exception comes between two steps of Python. A call that is stuck in one (it sleeps, it waits for another program)
    does not end by it: `give_up` is called a little later, in another thread, and should end the process.
    """
    if seconds is None:
        return call()
    watch = _Watch(seconds, give_up)
    try:
        with event.install_listener("numba:compile", watch.compiling):
            try:
                watch.start()
                return call()
            finally:
                watch.end()
    except TookTooLong:
        watch.end()  # what was raised in there may have come between
        raise


class _Watch:
    """A thread that looks at the clock."""

    def __init__(self, seconds: float, give_up: Callable[[], None] | None) -> None:
        self.compiling = _Compiling()
        self._seconds, self._give_up = seconds, give_up
        self._thread = threading.get_ident()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._fired = False

    def start(self) -> None:
        threading.Thread(target=self._look, daemon=True).start()

    def end(self) -> None:
        """From here on nothing is raised."""
        with self._lock:
            self._ended.set()
            if self._fired:
                _take_back(self._thread)

    def _look(self) -> None:
        began = time.monotonic()
        while time.monotonic() - began - self.compiling.seconds < self._seconds:
            if self._ended.wait(LOOK):
                return
        with self._lock:
            if self._ended.is_set():
                return
            self._fired = True
            _raise_in(self._thread, TookTooLong)
        grace = min(max(self._seconds, LEAST_GRACE), MOST_GRACE)
        if not self._ended.wait(grace) and self._give_up is not None:
            self._give_up()


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def _take_back(thread: int) -> None:
    """What waits to be raised in this thread is raised here. Python offers to forget it, but goes on looking for it at every step
    then, and where a profiler is set CPython 3.11 never ends to look.
    """
    try:
        _raise_in(thread, TookTooLong)  # in place of one that waits
        for _ in range(1000):
            time.sleep(0.0)
    except TookTooLong:
        pass
