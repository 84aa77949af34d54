"""Small dense matrices by one thread: those of a BLAS wait for each other, the longer the more others want the processors.

How many there are is the process's, and whoever sets it has to set it back: one thread of Python at a time does.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

_FEW = 60  # unknowns up to which no BLAS shares the work
_setting = threading.Lock()


@contextlib.contextmanager
def one_thread(size: int) -> Iterator[None]:
    """Inside, libraries of linear algebra take one thread for matrices of this size, unless another thread asks for that, too;
    behind, as many as before.
    """
    if size <= _FEW or not _setting.acquire(blocking=False):
        yield
        return
    before: list[tuple[Any, int]] = []
    try:
        before += [(library, library.get_num_threads()) for library in _libraries()]
        for library, _ in before:
            library.set_num_threads(1)
        yield
    finally:
        for library, count in before:
            library.set_num_threads(count)
        _setting.release()


@functools.cache
def _libraries() -> Any:
    from threadpoolctl import (
        ThreadpoolController,
    )  # looks through what is loaded: once, where it is asked for

    return ThreadpoolController().select(user_api="blas").lib_controllers
