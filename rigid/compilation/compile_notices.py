"""Notify the user which kernels are being compiled and how long that takes: the first run of a version takes a while.

A family is a group of kernels that are compiled together; the module of a kernel determines its family. Each family is announced
once a process.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from numba.core import event

from rigid.compilation.cache_folder import CACHE_DIRECTORY

# processor time for the kernels of a family if the cache is empty, s, rounded to 5 s (`python -m benchmarks.compiling`)
SECONDS = {
    "model": 5,
    "time step": 25,
    "tree": 30,
    "planar": 25,
    "contact": 15,
    "statics": 20,
    "modes": 5,
    "interaction": 5,
}
_MODEL, _STEP = "model", "time step"
# family by the beginning of the module's name; the first that fits counts
_FAMILIES = (
    ("rodsim.interactions.", "interaction"),
    ("rodsim.", _MODEL),
    ("discretization.statics.", "statics"),
    ("discretization.linearisation.", "modes"),
    ("discretization.contact.", "contact"),
    ("rigid.interactions.contact.", "contact"),
    ("discretization.planar.mirror_symmetry.", _MODEL),  # of every model, planar or not
    ("discretization.planar.", "planar"),
    ("discretization.time.planar_", "planar"),
    ("discretization.trees.", "tree"),
    ("discretization.time.tree_", "tree"),
    ("discretization.time.time_loop.", ""),  # of all solvers: the step that it calls decides
    ("discretization.space.", _MODEL),
    ("discretization.assembly.", _MODEL),
    ("discretization.", _STEP),
    ("rigid.charts.", _STEP),
    ("rigid.mechanics.", _STEP),
    ("rigid.", _MODEL),
)


def family_of(module: str) -> str:
    """Return the family of the kernels of a module; "" if they have none, or are not ours."""
    return next((family for beginning, family in _FAMILIES if f"{module}.".startswith(beginning)), "")


def message_of(family: str) -> str:
    """Return the sentence that announces the compilation of a family."""
    once = ", once for this version and machine" if CACHE_DIRECTORY else ""
    return f"rodsim: compiling the {family} kernels, about {SECONDS[family]} s{once} ..."


class FamilyListener(event.Listener):
    """Listener that determines the family of each kernel that is compiled for itself, with all kernels that it calls.

    The outermost kernel determines the family. If it has none, the first kernel that it calls of a family other than those of
    models does.
    """

    def __init__(self) -> None:
        self.depth = 0  # number of kernels that are being compiled, each called by the one before
        self._known = False

    def on_start(self, started: Any) -> None:
        """Call `began` if the family becomes known."""
        module = started.data["dispatcher"].py_func.__module__  # None for functions made from text
        family, outermost = family_of(module or ""), self.depth == 0
        self.depth += 1
        if outermost:
            self._known = False
        if not self._known and family and (outermost or family != _MODEL):
            self._known = True
            self.began(family)

    def on_end(self, ended: Any) -> None:
        """Count the kernels that are being compiled."""
        self.depth -= 1

    def began(self, family: str) -> None:
        """Take note of the compilation of a kernel of this family, not one that is read from the cache."""


class _Announcer(FamilyListener):
    """Listener that announces each family when one of its kernels is first compiled."""

    def __init__(self) -> None:
        super().__init__()
        self._announced: set[str] = set()

    def began(self, family: str) -> None:
        """Write the sentence on stderr, in place of a progress line if there is one."""
        if family in self._announced:
            return
        self._announced.add(family)
        cleared = "\r\x1b[K" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{cleared}{message_of(family)}\n")
        sys.stderr.flush()


@functools.cache
def announce() -> None:
    """Announce on stderr what is compiled after this call."""
    event.register("numba:compile", _Announcer())
