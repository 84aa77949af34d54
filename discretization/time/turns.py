"""Threads that run Python one at a time, in turns: each gives its turn away while its compiled march runs.

What Python does between marches, set-up and storing, would not be quicker in two threads, and much of it is kept between calls;
so that nothing of it has to bear two at once, a thread does it in its turn.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

_own = threading.local()
_ALONE: Any = contextlib.nullcontext()


class StoppedError(Exception):
    """Raised in a thread whose turn comes after `Turns.stop`."""


class Turns:
    """Of some threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
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
        """In a turn: the others have theirs meanwhile."""
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()
        self._check()

    def _check(self) -> None:
        if self._stopped:
            raise StoppedError


def others_run() -> Any:
    """Context in which other threads have their turns; nothing where this one is in no turn."""
    turns = getattr(_own, "turns", None)
    return _ALONE if turns is None else turns.given_away()
