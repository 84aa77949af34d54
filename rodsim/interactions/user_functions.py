"""Turn a user's functions into functions of a `Kind`: evaluate them at the poses of anchors, and compile them separately.

An anchor of frame k has the position p = r + sum_i X_i d_i and the axes e_i = sum_j Q_ji d_j; X and Q are the first parameters of
an interaction. Both are linear in the pose, so that the transposed map turns a discrete derivative with respect to p and e into
one with respect to r and d:

    f = f_p,   f_j = X_j f_p + sum_i Q_ji f_i                                                               (1)

The functions of a kind are the functions below, with the user's function in their globals. `digest_of` hashes their contents;
the digest names the folder that stores their machine code, since numba itself watches the file of a function but not the
functions that it calls.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import inspect
import os
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np

from rigid.compilation import cache_folder
from rigid.compilation.decorators import compiled_in_folder, inline_kernel, internal_kernel_in_folder
from rigid.compilation.user_only_folder import make_private
from rigid.interactions.kinds import DUAL, VALUE

ANCHOR = 12  # number of parameters of an anchor: X, then Q row by row
_FOLDER, _MAX_FOLDERS = "own_kinds", 200
FRAMES, FIRST_NUMBER, USER = (
    0,
    0,
    None,
)  # replaced for each kind: number of frames, number of parameters before the user's, the user's function

_config: Any = numba.config


@inline_kernel
def anchor_poses(y, X, p):
    """Compute the poses p (frames, 4, 3) of the anchors from the poses y of the frames, or their rates from rates."""
    for k in range(p.shape[0]):
        at = 12 * k
        for l in range(3):
            p[k, 0, l] = y[k, 0, l]
            for j in range(3):
                p[k, 0, l] += X[at + j] * y[k, 1 + j, l]
            for i in range(3):
                p[k, 1 + i, l] = 0.0
                for j in range(3):
                    p[k, 1 + i, l] += X[at + 3 + 3 * j + i] * y[k, 1 + j, l]


@inline_kernel
def pull_back(f, X, lam, out):
    """Compute out (frames, 4, 3), the dual on the frames, as lam times (1) of the dual f (frames, 4, 3) on the anchors."""
    for k in range(f.shape[0]):
        at = 12 * k
        for l in range(3):
            out[k, 0, l] = lam * f[k, 0, l]
            for j in range(3):
                total = X[at + j] * f[k, 0, l]
                for i in range(3):
                    total += X[at + 3 + 3 * j + i] * f[k, 1 + i, l]
                out[k, 1 + j, l] = lam * total


def _value(y, X, out):
    """Evaluate the user's `value` at the poses of the anchors."""
    p = np.empty((FRAMES, 4, 3), np.complex128)
    anchor_poses(y, X, p)
    out[0] = USER(p, X[FIRST_NUMBER:])  # type: ignore[misc]


def _dual(y0, y1, X, lam, out):
    """Evaluate the user's `dual` or `rate_dual` at the poses of the anchors, times lam."""
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    f = np.zeros((FRAMES, 4, 3), np.complex128)
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    USER(p0, p1, X[FIRST_NUMBER:], f)  # type: ignore[misc]
    pull_back(f, X, lam[0], out)


def _step_dual(y0, y1, X, lam, out):
    """Evaluate the user's `step_dual` at the poses of the anchors, for a step of length 1/lam, s."""
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    f = np.zeros((FRAMES, 4, 3), np.complex128)
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    USER(p0, p1, 1.0 / lam[0], X[FIRST_NUMBER:], f)  # type: ignore[misc]
    pull_back(f, X, 1.0, out)


_ROLES: dict[str, tuple[Any, Any]] = {
    "value": (_value, VALUE),
    "dual": (_dual, DUAL),
    "step_dual": (_step_dual, DUAL),
    "rate_dual": (_dual, DUAL),
}


def compile_function(role: str, function: FunctionType, frames: int, digest: str) -> Any:
    """Return the compiled function of a kind (`rigid.interactions.kinds`) that calls the user's function of this role."""
    wrapper, signature = _ROLES[role]
    namespace = {
        **wrapper.__globals__,
        "FRAMES": frames,
        "FIRST_NUMBER": ANCHOR * frames,
        "USER": make_compilable(function, digest, {}),
    }
    made = give_unique_name(FunctionType(wrapper.__code__, namespace), wrapper.__name__, digest)
    made.__doc__ = function.__doc__
    return compiled_in_folder(signature, made, folder_of(digest))


def give_unique_name(function: FunctionType, name: str, digest: str) -> FunctionType:
    """Rename a function: assign it to this module, under a name that no other kind has.

    Machine code that is loaded from a file refers to the module of the function, and a script need not have the same module name
    again. It is found by the function's name, which must differ from that of another kind compiled in another process.
    """
    function.__module__ = __name__
    function.__name__ = function.__qualname__ = f"{name}_{digest[:16]}"
    return function


def make_compilable(function: FunctionType, digest: str, known: dict[FunctionType, Any]) -> Any:
    """Make a function, and the functions of the script that it calls, known to the compiler; it compiles them when first called.

    `known`: functions that are known already; new ones are added.
    """
    if _config.DISABLE_JIT:
        return function
    if function not in known:
        known[function] = function  # for a function that calls itself
        inner = {
            name: make_compilable(x, digest, known)
            for name, x in _referenced(function)
            if isinstance(x, FunctionType)
        }
        cells = [
            CellType(inner.get(name, cell.cell_contents))
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        ]
        made = FunctionType(
            function.__code__, {**function.__globals__, **inner}, function.__name__, None, tuple(cells)
        )
        known[function] = internal_kernel_in_folder(give_unique_name(made, function.__name__, digest))
    return known[function]


def _referenced(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the globals and enclosed variables that a function reads."""
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a code object and the code objects in it refer to."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def digest_of(frames: int, functions: dict[str, FunctionType], states: int = 0) -> str:
    """Return the SHA-256 hash of the contents of functions, including everything of the script that they call and read."""
    digest = hashlib.sha256((f"{frames} with {states}" if states else f"{frames}").encode())
    visited: set[int] = set()

    def add(word: str, value: Any) -> None:
        digest.update(word.encode())
        if isinstance(value, FunctionType):
            if id(value) not in visited:
                visited.add(id(value))
                digest.update(_syntax_of(value).encode())
                for name, used in sorted(_referenced(value), key=lambda pair: pair[0]):
                    add(name, used)
        elif isinstance(value, np.ndarray):
            digest.update(
                repr((value.shape, value.dtype.str)).encode() + np.ascontiguousarray(value).tobytes()
            )
        elif isinstance(value, bool | int | float | complex | str | tuple):
            digest.update(repr(value).encode())
        elif isinstance(value, ModuleType):
            digest.update(value.__name__.encode())
        else:
            digest.update(
                f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value))}".encode()
            )

    for role, function in sorted(functions.items()):
        add(role, function)
    return digest.hexdigest()


def _syntax_of(function: FunctionType) -> str:
    """Return the syntax tree of a function as text, without comments and its docstring; its bytecode if there is no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, SyntaxError, IndexError):
        return repr(
            (
                function.__code__.co_code,
                [x for x in function.__code__.co_consts if not isinstance(x, CodeType)],
            )
        )
    assert isinstance(tree, ast.FunctionDef | ast.Expr | ast.Assign)
    if isinstance(tree, ast.FunctionDef):
        tree.decorator_list = []
        if ast.get_docstring(tree) is not None:
            tree.body = tree.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def folder_of(digest: str) -> str:
    """Return the folder that stores the machine code of functions with this digest; "" if it cannot be made."""
    if not cache_folder.CACHE_DIRECTORY:
        return ""
    parent = Path(cache_folder.CACHE_DIRECTORY) / _FOLDER
    folder = parent / digest[:16]
    try:
        make_private(parent)
        make_private(folder)
    except OSError as error:
        cache_folder.report_not_cached(error)
        return ""
    with contextlib.suppress(OSError):  # the disk may be read-only
        os.utime(folder)
        by_age = sorted(parent.iterdir(), key=lambda old_folder: old_folder.stat().st_mtime_ns, reverse=True)
        for old in by_age[_MAX_FOLDERS:]:
            shutil.rmtree(old, ignore_errors=True)
    return str(folder)
