"""Name kernels that are made in a function by what they enclose, and number functions differently in each process.

Machine code is linked by names. numba makes them of module, name, argument types and a number that it counts in each process,
and a definition that is loaded second gives way to the first of the same name. Code that two processes have compiled and a
third one loads can therefore meet under one name: two kernels that one function has made of different numbers, or two of
numba's own helpers. The third process would then call the wrong one.

Here each kernel with a closure gets a name with a digest of the contents of its closure, which is equal in all processes.
Therefore the cache finds it, too: numba would tell enclosed kernels apart by numbers of the process, and compile them in every
process. numba's counter starts anywhere among 2^48 numbers.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core import bytecode, types

MARK = "_with_"  # between the name of a kernel and the digest of what it encloses


def name_by_contents(function: Callable[..., Any]) -> None:
    """Add a digest of what a function encloses to its name, unless it encloses nothing or is named so already.

    A function that encloses something without a text of its own, such as an intrinsic, keeps its name: numba then
    distinguishes it, and compiles it in each process.
    """
    if (
        not isinstance(function, FunctionType)
        or function.__closure__ is None
        or MARK in function.__qualname__
    ):
        return
    texts = [_text_in(cell) for cell in function.__closure__]
    if None not in texts:
        described = [
            f"{name} = {text}" for name, text in zip(function.__code__.co_freevars, texts, strict=True)
        ]
        digest = hashlib.sha256("\n".join(described).encode()).hexdigest()[:12]
        function.__qualname__ += f"{MARK}{digest}"


def is_named_by_contents(function: FunctionType) -> bool:
    """Return True if the name of a function says what it encloses."""
    return MARK in function.__qualname__


def _text_in(cell: CellType) -> str | None:
    """Return the text of what a cell contains, equal in all processes; None if there is none."""
    try:
        return _text_of(cell.cell_contents)
    except ValueError:  # a function that calls itself
        return "not set yet"


def _text_of(value: Any) -> str | None:
    """Return a text for a value that other values do not have; None if there is none."""
    function = getattr(value, "py_func", None) or getattr(value, "source", None) or value
    if isinstance(function, FunctionType):
        return f"{function.__module__}.{function.__qualname__}"
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {np.ascontiguousarray(value).tobytes().hex()}"
    if isinstance(value, tuple):
        parts = [_text_of(part) for part in value]
        return None if None in parts else f"({', '.join(part for part in parts if part is not None)})"
    if value is None or isinstance(value, bool | int | float | complex | str | np.generic | types.Type):
        return repr(value)
    return None


def number_functions_anywhere() -> None:
    """Let numba's numbers of functions start at a random one, so that no two processes have the same."""
    if isinstance(getattr(bytecode.FunctionIdentity, "_unique_ids", None), itertools.count):
        bytecode.FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(6), "little"))
