"""Let threads run Python code one at a time, in turns: each thread gives up its turn while its compiled march runs.

The Python code between marches, for set-up and storing, would not be faster in two threads, and much of it is cached between
calls. A thread runs it only in its turn, so that none of it has to be thread-safe.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

_own = threading.local()
_ALONE: Any = contextlib.nullcontext()


class StoppedError(Exception):
    """Raised in a thread that begins or resumes a turn after `ThreadTurns.stop`."""


class ThreadTurns:
    """Turns of a group of threads. at_once: how many of them may march at the same time; None: all."""

    def __init__(self, at_once: int | None = None) -> None:
        self._lock = threading.Lock()
        self._marching: Any = _ALONE if at_once is None else threading.Semaphore(at_once)
        self._stopped = False

    def stop(self) -> None:
        """Stop each thread when its next turn would begin."""
        self._stopped = True

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """Run the context as a turn of this thread."""
        with self._lock:
            self._check()
            _own.turns = self
            try:
                yield
            finally:
                _own.turns = None

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """Give up the turn of this thread during the context, in which it marches, so that other threads can have theirs."""
        began = time.perf_counter()
        self._lock.release()
        _own.marches = True
        try:
            with self._marching:
                _waited(time.perf_counter() - began)
                yield
        finally:
            self._resume()
        self._check()

    @contextlib.contextmanager
    def resumed(self) -> Iterator[None]:
        """Take the turn again during the context, in which the march of this thread calls Python code of rodsim."""
        self._resume()
        try:
            yield
        finally:
            self._lock.release()
            _own.marches = True

    def _resume(self) -> None:
        """Wait for the turn of this thread."""
        began = time.perf_counter()
        self._lock.acquire()
        _own.marches = False
        _waited(time.perf_counter() - began)

    def _check(self) -> None:
        if self._stopped:
            raise StoppedError


def _waited(seconds: float) -> None:
    """Add to the time that this thread has waited, s."""
    _own.waited = getattr(_own, "waited", 0.0) + seconds


def busy_time() -> float:
    """Return a clock, s, that does not advance while this thread waits for its turn."""
    idle: float = getattr(_own, "waited", 0.0)
    return time.perf_counter() - idle


def turn_released() -> Any:
    """Return the context of a march in which other threads can have their turns; it does nothing if this thread is not in a
    turn.
    """
    turns = getattr(_own, "turns", None)
    return _ALONE if turns is None else turns.released()


def turn_resumed() -> Any:
    """Return the context of Python code that a march calls; it does nothing if the march has not given up its turn."""
    return _own.turns.resumed() if getattr(_own, "marches", False) else _ALONE
