"""Objects that last as long as the program: made without the search for garbage among them.

Modules and compiled kernels are some hundred thousand objects. While they are made Python looks through all of them again and
again for cycles to free, a fifth of the time of a short script.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """No search meanwhile; what is there at the end counts as old, to be searched when so much more is made that it is worth it.

    Nothing where a program has turned the search off itself; objects that it has frozen stay so.
    """
    if not gc.isenabled() or not hasattr(gc, "freeze"):
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()  # all of them to those never searched, and from there to the oldest
            gc.unfreeze()
        gc.enable()
