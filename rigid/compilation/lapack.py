"""LAPACK's functions, as scipy ships them, by their addresses.

scipy's module of pointers is loaded without its package: `import scipy.linalg` takes .15 s, most of it for array interfaces,
numpy's Fortran parser and its tests. Who imports the package later gets the same module. Where it cannot be loaded alone, the
package is imported.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import scipy
from numba.extending import get_cython_function_address

MODULE = "scipy.linalg.cython_lapack"


def lapack_addresses(*names: str) -> list[int]:
    """Where the functions of these names are."""
    known = MODULE in sys.modules
    if not known:
        _load_alone()
    try:
        return [get_cython_function_address(MODULE, name) for name in names]
    finally:
        if not known and "scipy.linalg" not in sys.modules:
            sys.modules.pop(MODULE, None)  # the package, once imported, has to note it as its own


def _load_alone() -> None:
    """Among the modules of this process, if this scipy lets it."""
    with contextlib.suppress(Exception):
        spec = PathFinder.find_spec(MODULE, [str(Path(scipy.__path__[0], "linalg"))])
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules[MODULE] = module
