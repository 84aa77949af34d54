"""Import generated modules from files in the folder of machine code, so that numba can cache what it compiles."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import linecache
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from rigid.compilation import cache_folder
from rigid.compilation.user_only_folder import make_private

_PREFIX = "rodsim_system_"
_KEPT_FILES = 200


def load_module(source: str) -> ModuleType:
    """Return the module with this source, from a file that numba's cache can refer to."""
    name = f"{_PREFIX}{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    path = _written(name, source)
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    try:
        # compile the text at hand, not the contents of the file or of Python's cache of it
        exec(compile(source, path, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    return module


def _written(name: str, source: str) -> str:
    """Write the source to a file and return its path, or a name in angle brackets if that fails: numba then caches
    nothing of the module.
    """
    try:
        if cache_folder.CACHE_DIRECTORY:
            path = make_private(Path(cache_folder.CACHE_DIRECTORY) / "systems") / f"{name}.py"
            if not _holds(path, source):
                _write(path, source)
                files = sorted(path.parent.glob(f"{_PREFIX}*.py"), key=_written_at, reverse=True)
                _remove([x for x in files if x != path][_KEPT_FILES - 1 :])
            return str(path)
    except OSError as error:
        cache_folder.report_not_cached(error)
    path_in_words = f"<{name}>"
    linecache.cache[path_in_words] = len(source), None, source.splitlines(keepends=True), path_in_words
    return path_in_words


def _holds(path: Path, source: str) -> bool:
    """Return True if the file exists and has exactly this text."""
    try:
        return path.read_bytes() == source.encode()
    except OSError:
        return False


def _write(path: Path, source: str) -> None:
    """Write the file completely or not at all; numba detects a new file by its time."""
    handle, partial = tempfile.mkstemp(prefix=f"{path.stem}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(source.encode())
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def _written_at(path: Path) -> int:
    """Return the time of the last change, ns; 0 if another process has removed the file."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _remove(sources: Sequence[Path]) -> None:
    """Remove generated modules and what Python and numba have cached of them."""
    if not sources:
        return
    stems = {path.stem for path in sources}
    cached = Path(cache_folder.CACHE_DIRECTORY).glob(f"*/{_PREFIX}*")
    stale = [path for path in cached if path.name.split(".")[0] in stems]
    for path in (*sources, *(Path(importlib.util.cache_from_source(str(x))) for x in sources), *stale):
        with contextlib.suppress(OSError):
            path.unlink()
