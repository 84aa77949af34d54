"""Threads that run Python one at a time, in turns: each gives its turn away while its compiled march runs.

What Python does between marches, set-up and storing, would not be quicker in two threads, and much of it is kept between calls;
so that nothing of it has to bear two at once, a thread does it in its turn.
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
    """Raised in a thread whose turn comes after `Turns.stop`."""


class Turns:
    """Of some threads. at_once: how many of them may march at the same time; None: all."""

    def __init__(self, at_once: int | None = None) -> None:
        self._lock = threading.Lock()
        self._marching: Any = _ALONE if at_once is None else threading.Semaphore(at_once)
        self._stopped = False

    def stop(self) -> None:
        """End each thread where its next turn would begin."""
        self._stopped = True

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """A turn of this thread."""
        with self._lock:
            self._check()
            _own.turns = self
            try:
                yield
            finally:
                _own.turns = None

    @contextlib.contextmanager
    def given_away(self) -> Iterator[None]:
        """In a turn: the others have theirs while this thread marches."""
        began = time.perf_counter()
        self._lock.release()
        try:
            with self._marching:
                _waited(time.perf_counter() - began)
                yield
        finally:
            began = time.perf_counter()
            self._lock.acquire()
            _waited(time.perf_counter() - began)
        self._check()

    def _check(self) -> None:
        if self._stopped:
            raise StoppedError


def _waited(seconds: float) -> None:
    """This thread did so."""
    _own.waited = getattr(_own, "waited", 0.0) + seconds


def busy() -> float:
    """A clock, s, that stands still where this thread waits for its turn."""
    idle: float = getattr(_own, "waited", 0.0)
    return time.perf_counter() - idle


def others_run() -> Any:
    """Context of a march in which other threads have their turns; nothing where this one is in no turn."""
    turns = getattr(_own, "turns", None)
    return _ALONE if turns is None else turns.given_away()
