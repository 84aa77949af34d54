"""The first run of a version compiles its kernels, which takes a while: whoever waits is told so, once a process."""

from __future__ import annotations

import functools
import sys
from typing import Any

from numba.core import event

from rigid.compilation.cache_folder import CACHE_DIRECTORY

_ONCE = "once for this version and machine; " if CACHE_DIRECTORY else ""
MESSAGE = f"rodsim: compiling, {_ONCE}this takes up to a minute ..."
_OURS = {"rigid", "discretization", "rodsim"}


class _Announcer(event.Listener):
    """Writes MESSAGE when one of our kernels is compiled, not where it is read from the cache; then listens no more."""

    def on_start(self, started: Any) -> None:
        module = started.data["dispatcher"].py_func.__module__ or ""  # None for a function made from text
        if module.split(".")[0] in _OURS:
            event.unregister("numba:compile", self)
            sys.stderr.write(MESSAGE + "\n")
            sys.stderr.flush()

    def on_end(self, ended: Any) -> None:
        """Nothing."""


@functools.cache
def announce() -> None:
    """From now on, say on stderr when kernels are compiled, the first time."""
    event.register("numba:compile", _Announcer())
