"""Time limit for a call in this thread; compilation by numba does not count."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from numba.core import event

T = TypeVar("T")
MOST_CASES = 1_000_000  # largest number of cases of a study
LOOK = 0.05  # interval between checks of the clock, s
LEAST_GRACE, MOST_GRACE = 1.0, 10.0  # bounds of the time that a call has to end after its limit, s


class TookTooLong(BaseException):
    """Raised in a call at its time limit; a BaseException, so that no `except Exception` in the call catches it."""


class _Compiling(event.Listener):
    """Listener that measures how long this process has compiled."""

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
        """Return the time spent in compilation so far, s."""
        return self._ended + (time.monotonic() - self._began if self._depth else 0.0)


def within(seconds: float | None, call: Callable[[], T], give_up: Callable[[], None] | None = None) -> T:
    """Return the result of `call`; raise TookTooLong in it if it takes longer than `seconds` (None: no limit).

    The exception is raised between two steps of the Python interpreter. It does not end a call that is blocked in one step (it
    sleeps, or waits for another program): then `give_up` is called a little later, in another thread, and should end the process.
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
        watch.end()  # the exception may have interrupted the first `end`
        raise


class _Watch:
    """Thread that checks the clock and raises TookTooLong in the thread that created it."""

    def __init__(self, seconds: float, give_up: Callable[[], None] | None) -> None:
        self.compiling = _Compiling()
        self._seconds, self._give_up = seconds, give_up
        self._thread = threading.get_ident()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._fired = False

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._look, daemon=True).start()

    def end(self) -> None:
        """Stop the clock: after this call no exception is raised."""
        with self._lock:
            self._ended.set()
            if self._fired:
                _take_back(self._thread)

    def _look(self) -> None:
        """Wait until the limit, raise TookTooLong in the watched thread, and call `give_up` if the call still does not end."""
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
    """Schedule an exception in another thread; Python raises it at the thread's next step."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def _take_back(thread: int) -> None:
    """Raise and catch the exception that is pending in this thread.

    Python can also discard a pending exception, but then checks for it at every step, and with a profiler CPython 3.11 never
    stops checking.
    """
    try:
        _raise_in(thread, TookTooLong)  # replaces a pending exception
        for _ in range(1000):
            time.sleep(0.0)
    except TookTooLong:
        pass
