"""The first run of a version compiles its kernels, which takes a while: whoever waits is told so, once a process."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from numba.core import event

MESSAGE = "rodsim: compiling, once for this version and machine; this takes up to a minute ..."
_OURS = {"rigid", "discretization", "rodsim"}


class _Announcer(event.Listener):
    """Writes MESSAGE when one of our kernels is compiled, not where it is read from the cache."""

    told = False

    def on_start(self, started: Any) -> None:
        dispatcher = started.data["dispatcher"]
        if not _Announcer.told and dispatcher.py_func.__module__.split(".")[0] in _OURS:
            _Announcer.told = True
            sys.stderr.write(MESSAGE + "\n")
            sys.stderr.flush()

    def on_end(self, ended: Any) -> None:
        """Nothing."""


@contextlib.contextmanager
def announced() -> Iterator[None]:
    """Say on stderr when the body has kernels compiled."""
    with event.install_listener("numba:compile", _Announcer()):
        yield
