"""A user's functions, as functions of a `Kind`: poses of anchors in the place of those of frames, compiled apart.

An anchor of frame k stands at p = r + sum_i X_i d_i and has the axes e_i = sum_j Q_ji d_j; X and Q are the first numbers of an
interaction. Both are linear in the pose, so that a discrete derivative to p and e is one to r and d by the transposed map:

    f = f_p,   f_j = X_j f_p + sum_i Q_ji f_i                                                               (1)

The functions of a kind are those below with the user's in their globals. What they are made of is told by `digest_of`, which
names the folder that keeps their machine code: numba itself watches the file of a function, not what it calls.
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
from rigid.compilation.decorators import compiled_apart, inner_apart, small_kernel
from rigid.compilation.private_folder import make_private
from rigid.interactions.kinds import DUAL, VALUE

ANCHOR = 12  # numbers of an anchor: X, then Q row by row
_FOLDER, _KEPT = "own_kinds", 200
FRAMES, GIVEN, USER = 0, 0, None  # frames, numbers before the user's, his function: others in each kind

_config: Any = numba.config


@small_kernel
def place(y, X, p):
    """Poses p (frames, 4, 3) of the anchors of frames y; of rates the rates."""
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


@small_kernel
def spread(f, X, lam, out):
    """(1): out = lam times the dual f (frames, 4, 3) on the anchors."""
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
    p = np.empty((FRAMES, 4, 3), np.complex128)
    place(y, X, p)
    out[0] = USER(p, X[GIVEN:])  # type: ignore[misc]


def _dual(y0, y1, X, lam, out):
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    f = np.zeros((FRAMES, 4, 3), np.complex128)
    place(y0, X, p0)
    place(y1, X, p1)
    USER(p0, p1, X[GIVEN:], f)  # type: ignore[misc]
    spread(f, X, lam[0], out)


def _step_dual(y0, y1, X, lam, out):
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    f = np.zeros((FRAMES, 4, 3), np.complex128)
    place(y0, X, p0)
    place(y1, X, p1)
    USER(p0, p1, 1.0 / lam[0], X[GIVEN:], f)  # type: ignore[misc]
    spread(f, X, 1.0, out)


_ROLES: dict[str, tuple[Any, Any]] = {
    "value": (_value, VALUE),
    "dual": (_dual, DUAL),
    "step_dual": (_step_dual, DUAL),
    "rate_dual": (_dual, DUAL),
}


def prepared(role: str, function: FunctionType, frames: int, digest: str) -> Any:
    """A function of a kind (`rigid.interactions.kinds`) from the user's in this role."""
    wrapper, signature = _ROLES[role]
    own = {
        **wrapper.__globals__,
        "FRAMES": frames,
        "GIVEN": ANCHOR * frames,
        "USER": compilable(function, digest, {}),
    }
    made = named_by(FunctionType(wrapper.__code__, own), wrapper.__name__, digest)
    made.__doc__ = function.__doc__
    return compiled_apart(signature, made, folder_of(digest))


def named_by(function: FunctionType, name: str, digest: str) -> FunctionType:
    """As one of this module, under a name that no other kind has.

    Machine code that is read from a file asks for the module of the function, which a script may not be by the same name again;
    and it is found by the function's name, which must not be that of another kind, compiled in another process.
    """
    function.__module__ = __name__
    function.__name__ = function.__qualname__ = f"{name}_{digest[:16]}"
    return function


def compilable(function: FunctionType, digest: str, known: dict[FunctionType, Any]) -> Any:
    """The function and what it calls of the script, made known to the compiler; compiled when first called."""
    if _config.DISABLE_JIT:
        return function
    if function not in known:
        known[function] = function  # one that calls itself
        inner = {
            name: compilable(x, digest, known) for name, x in _used(function) if isinstance(x, FunctionType)
        }
        cells = [
            CellType(inner.get(name, cell.cell_contents))
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        ]
        own = FunctionType(
            function.__code__, {**function.__globals__, **inner}, function.__name__, None, tuple(cells)
        )
        known[function] = inner_apart(named_by(own, function.__name__, digest))
    return known[function]


def _used(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Globals and enclosed names that a function reads."""
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def digest_of(frames: int, functions: dict[str, FunctionType], states: int = 0) -> str:
    """SHA-256 of what the functions say, with all that they call and read of the script."""
    digest = hashlib.sha256((f"{frames} with {states}" if states else f"{frames}").encode())
    seen: set[int] = set()

    def add(word: str, thing: Any) -> None:
        digest.update(word.encode())
        if isinstance(thing, FunctionType):
            if id(thing) not in seen:
                seen.add(id(thing))
                digest.update(_said(thing).encode())
                for name, used in sorted(_used(thing), key=lambda pair: pair[0]):
                    add(name, used)
        elif isinstance(thing, np.ndarray):
            digest.update(
                repr((thing.shape, thing.dtype.str)).encode() + np.ascontiguousarray(thing).tobytes()
            )
        elif isinstance(thing, bool | int | float | complex | str | tuple):
            digest.update(repr(thing).encode())
        elif isinstance(thing, ModuleType):
            digest.update(thing.__name__.encode())
        else:
            digest.update(
                f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing))}".encode()
            )

    for role, function in sorted(functions.items()):
        add(role, function)
    return digest.hexdigest()


def _said(function: FunctionType) -> str:
    """What a function does, without comments and its docstring; where there is no source its bytecode."""
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
    """Folder that keeps the machine code of functions of this digest; empty if there is none."""
    if not cache_folder.CACHE_DIRECTORY:
        return ""
    parent = Path(cache_folder.CACHE_DIRECTORY) / _FOLDER
    folder = parent / digest[:16]
    try:
        make_private(parent)
        make_private(folder)
    except OSError as error:
        cache_folder.report_not_kept(error)
        return ""
    with contextlib.suppress(OSError):  # on a read-only disk
        os.utime(folder)
        by_age = sorted(parent.iterdir(), key=lambda each: each.stat().st_mtime_ns, reverse=True)
        for old in by_age[_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
    return str(folder)
