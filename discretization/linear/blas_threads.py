"""Limit the BLAS to one thread during small linear algebra.

A threaded BLAS divides even matrices of thirty rows among its threads. They gain nothing there: they wait for each other, and
longer if the processors are busier. Sparse factorisations and Lanczos' iteration call the BLAS only for such matrices.

Most libraries have one number of threads for the whole process: the first user in `one_thread` sets it to one and the last one
to leave restores it, so users in several Python threads may overlap. Meanwhile calls in other threads give the same results.
An OpenMP library has a number for each Python thread, which every user sets for its thread.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

MAX_SIZE_OF_ONE_THREAD = (
    24  # rows up to which no BLAS uses threads: symmetric eigenvalue solvers do from 28 rows on
)
_lock = threading.Lock()
_users = 0
_before: list[tuple[Any, int]] = []  # libraries with one number per process, and their previous numbers


@contextlib.contextmanager
def one_thread(size: int = MAX_SIZE_OF_ONE_THREAD + 1) -> Iterator[None]:
    """Limit all loaded BLAS libraries to one thread inside the context.

    Parameters
    ----------
    size : int
        Rows of the dense matrices. Up to 24 the context does nothing, as no library uses threads. Default: it acts.
    """
    global _users
    if size <= MAX_SIZE_OF_ONE_THREAD:
        yield
        return
    limits = _limited(of_process=False)
    with _lock:
        if _users == 0:
            _before[:] = _limited(of_process=True)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _restore(_before)
        _restore(limits)


def _limited(of_process: bool) -> list[tuple[Any, int]]:
    """Set libraries of one sort to one thread; return them with their previous numbers of threads.

    `of_process`: True for libraries with one number for the process, False for those with a number per thread (OpenMP).
    """
    sort = [library for library in _libraries() if _is_of_process(library) == of_process]
    before = [(library, library.get_num_threads()) for library in sort]
    for library in sort:
        _set(library, 1)
    return before


def _restore(before: list[tuple[Any, int]]) -> None:
    for library, threads in before:
        if library.get_num_threads() == 1:  # otherwise other code has changed it meanwhile
            _set(library, threads)


def _is_of_process(library: Any) -> bool:
    return getattr(library, "threading_layer", None) != "openmp"


def _set(library: Any, threads: int) -> None:
    """Set the number of threads from any Python thread.

    threadpoolctl 3.8 allows only one thread to set it until the controlling thread is cleared.
    """
    clear = getattr(library, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)
    library.set_num_threads(threads)
    if clear is not None:
        clear()


@functools.cache
def _libraries() -> Any:
    """Find the loaded BLAS libraries; the result is cached."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers
