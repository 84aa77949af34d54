"""Notify the user, once a process, that kernels are being compiled: the first run of a version takes a while."""

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
    """Listener that writes MESSAGE when one of our kernels is compiled, not when it is read from the cache; it then
    stops listening.
    """

    def on_start(self, started: Any) -> None:
        """Write MESSAGE if the kernel is one of ours."""
        module = started.data["dispatcher"].py_func.__module__ or ""  # None for functions made from text
        if module.split(".")[0] in _OURS:
            event.unregister("numba:compile", self)
            sys.stderr.write(MESSAGE + "\n")
            sys.stderr.flush()

    def on_end(self, ended: Any) -> None:
        """Do nothing."""


@functools.cache
def announce() -> None:
    """Write MESSAGE on stderr when a kernel is first compiled after this call."""
    event.register("numba:compile", _Announcer())
