"""Commands that are told to stop: Ctrl-C (SIGINT) by a user, SIGTERM by a queue that needs the machine for another job.

Both end a command in one way: what was computed is written, a word says so and how to go on.
"""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from rodsim.cli.exit_codes import INTERRUPTED, TERMINATED


class Terminated(KeyboardInterrupt):
    """SIGTERM, where it comes; whatever cleans up after Ctrl-C cleans up after it."""


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Within it the first SIGTERM raises Terminated, and others are not heard: a queue may send several, while what was computed
    is written. One that the caller ignores stays ignored."""
    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    ):
        yield
        return

    def stop(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def stopped(stop: KeyboardInterrupt, again: Sequence[str] = (), kept: str = "") -> int:
    """Say that a command was stopped, what is kept and which command goes on; the exit code."""
    terminated = isinstance(stop, Terminated)
    words = "terminated" if terminated else "interrupted"
    words += f", {kept}" if kept else ""
    words += f"; `{shlex.join(again)}` goes on" if again else ""
    print(f"\nrodsim: {words}" if again else f"rodsim: {words}", file=sys.stderr)
    return TERMINATED if terminated else INTERRUPTED
