"""Imports without the search for garbage among what they make.

Modules, classes and kernels are some hundred thousand objects that last as long as the program. Python looks through all of them
for cycles to free, again and again while they are made, and thrice when the program ends: half the time of a short script.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
from collections.abc import Iterator

FEW = 60_000  # objects that Python looks through: with numpy, numba and h5py there are 55,000
_begun: list[bool] = []  # whether the first import is over


@contextlib.contextmanager
def imports_that_last() -> Iterator[None]:
    """No search for garbage meanwhile; what is there after the first time is left out later if the program has just begun.

    Where it has made much before it imports us, that is not left out: what of it is dropped later has to be found. Nothing is
    changed where a program has turned the search off, or chosen itself what is left out.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        if _begun:
            yield
            return
        _begun.append(True)
        begins = gc.get_freeze_count() == 0 and len(gc.get_objects()) < FEW
        importlib.import_module("rodsim.simulation")  # what nearly every program needs
        yield
        if begins:
            gc.freeze()
    finally:
        gc.enable()
