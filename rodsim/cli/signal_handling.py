"""Stop commands by signals: Ctrl-C (SIGINT) from a user, or SIGTERM from a batch queue that needs the machine for another job.

Both end a command in the same way: the results so far are saved, and a message says so and how to continue.
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
    """Raised by SIGTERM; a KeyboardInterrupt, so that it is handled like Ctrl-C."""


@contextlib.contextmanager
def raise_on_sigterm() -> Iterator[None]:
    """Raise Terminated at the first SIGTERM inside the block, and ignore later ones.

    A batch queue may send several signals while the results are saved. If the caller ignores or handles SIGTERM, nothing is
    changed.
    """
    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    ):
        yield
        return

    received = False

    def stop(number: int, frame: Any) -> None:
        # SIG_IGN from here on would be a race: Python prints a traceback if the next signal has already come
        nonlocal received
        if not received:
            received = True
            raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def report_stop(stop: KeyboardInterrupt, resume_command: Sequence[str] = (), saved: str = "") -> int:
    """Print that a command was stopped, what is saved (`saved`) and the command to continue (`resume_command`); return the exit
    code.
    """
    terminated = isinstance(stop, Terminated)
    message = "terminated" if terminated else "interrupted"
    message += f", {saved}" if saved else ""
    message += f"; `{shlex.join(resume_command)}` continues it" if resume_command else ""
    print(f"\nrodsim: {message}" if resume_command else f"rodsim: {message}", file=sys.stderr)
    return TERMINATED if terminated else INTERRUPTED
