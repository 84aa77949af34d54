"""What numba keeps of a kernel on disk, found and loaded in a fraction of the time.

A module has dozens of kernels, a session calls a few. numba looks up the folder of each where it is decorated, and tries whether
it can be written; here that waits for the first call. Before it loads machine code numba sets up all that its compiler knows, the
types and functions of Python and numpy, which takes a quarter of a second; code that is there needs none of it, and the compiler
sets it up by itself where something is left to compile.

Parts of numba that it may change: `tests/test_compilation.py` notices.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import caching
from numba.core.runtime import rtsys

_config: Any = numba.config


class KernelCache(caching.FunctionCache):
    """numba's cache of a kernel, in the folder and with the index that are set where the kernel is decorated."""

    def __init__(self, py_func: Any) -> None:
        self._py_func = py_func
        self._where = _config.CACHE_DIR, caching.IndexDataCacheFile

    def __getattr__(self, name: str) -> Any:
        """What numba's constructor sets, when it is first asked for."""
        if name.startswith("__") or "_where" not in self.__dict__:
            raise AttributeError(name)
        where = self.__dict__.pop("_where")
        before = _config.CACHE_DIR, caching.IndexDataCacheFile
        _config.CACHE_DIR, caching.IndexDataCacheFile = where  # type: ignore[misc]
        try:
            super().__init__(self._py_func)
        finally:
            _config.CACHE_DIR, caching.IndexDataCacheFile = before  # type: ignore[misc]
        return getattr(self, name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept for this signature, or None; what allocates memory must be there before."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)
