"""Generated modules: imported from files in the user's cache folder, so that numba can cache what it compiles."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numba
import platformdirs

from rigid.compilation import decorators as compilation
from rigid.compilation import real_functions
from rigid.compilation.private_folder import make_private

_PREFIX = "rodsim_system_"
_KEPT_FILES = 200


def load_module(source: str) -> ModuleType:
    """The generated module, imported from a file so that numba can cache what it compiles."""
    key = hashlib.sha256(f"{numba.__version__}{_helpers()}{source}".encode()).hexdigest()[:16]
    name = f"{_PREFIX}{key}"
    if name in sys.modules:
        return sys.modules[name]
    path = _writable_folder() / f"{name}.py"
    if not _holds(path, source):
        _write(path, source)
        others = sorted(path.parent.glob(f"{_PREFIX}*.py"), key=_written_at, reverse=True)
        _remove([x for x in others if x != path][_KEPT_FILES - 1 :])
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        # the text at hand, not what Python reads from the file or from its own cache of it
        exec(compile(source, str(path), "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        path.unlink(missing_ok=True)
        raise
    return module


def _holds(path: Path, source: str) -> bool:
    """Whether the file is there with this text, not cut off and not another."""
    try:
        return path.read_bytes() == source.encode()
    except OSError:
        return False


def _write(path: Path, source: str) -> None:
    """The file with this text, whole or not at all; numba knows it as new by its time."""
    handle, partial = tempfile.mkstemp(prefix=f"{path.stem}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(source.encode())
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


@functools.cache
def _helpers() -> str:
    """What generated kernels call, of which numba's cache knows nothing."""
    return Path(real_functions.__file__).read_text()


def _writable_folder() -> Path:
    """The user's cache folder, or a temporary one where that cannot be written; never one that others can write."""
    home = Path(platformdirs.user_cache_dir("rodsim"))
    try:
        folder = make_private(make_private(home) / "systems")
    except OSError:
        return _temporary_folder()
    return folder if os.access(folder, os.W_OK) else _temporary_folder()


@functools.cache
def _temporary_folder() -> Path:
    """One folder for all systems of this process, removed at its end."""
    folder = Path(tempfile.mkdtemp(prefix="rodsim-"))

    def discard() -> None:
        _remove(list(folder.glob(f"{_PREFIX}*.py")))
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(discard)
    return folder


def _written_at(path: Path) -> int:
    """Time of the last change; 0 where another process has removed the file."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _remove(sources: Sequence[Path]) -> None:
    """Remove generated modules with what Python and numba have cached of them."""
    if not sources:
        return
    stems = {path.stem for path in sources}
    cached = Path(compilation.CACHE_DIRECTORY).glob(f"*/{_PREFIX}*")
    stale = [path for path in cached if path.name.split(".")[0] in stems]
    for path in (*sources, *(Path(importlib.util.cache_from_source(str(x))) for x in sources), *stale):
        with contextlib.suppress(OSError):
            path.unlink()
