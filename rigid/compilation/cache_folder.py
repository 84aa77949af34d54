"""Choose the folder that caches machine code; without one the program runs, but compiles at each start.

numba's file cache watches the file of a kernel, but neither the helpers that the kernel calls nor NUMBA_BOUNDSCHECK. The name of
the folder is therefore a hash of the sources of all kernels and of that switch, also if the user names its parent in
NUMBA_CACHE_DIR.

Files in the folder are executed. It is private (`user_only_folder`) unless the user names its parent; a folder that others can
write to is not read.

Folders of other versions that were not used for 30 days are removed, unless the user names their parent. The time of the last use
is that of the file `STAMP` in a folder, which is updated once a day.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import sys
import time
from pathlib import Path

import numba
import platformdirs

from rigid.compilation.user_only_folder import make_private

DAY = 24 * 3600.0  # s
UNUSED = 30 * DAY  # time since the last use after which the folder of another version is removed, s
STAMP = "used"
REMEDY = "Set NUMBA_CACHE_DIR to a folder with free space that only you can write to, or mend this one"


def _hash_of_sources() -> str:
    """Return a hash of the sources of `rigid` and `discretization`, and of those files of `rodsim` that have kernels."""
    digest = hashlib.sha256(numba.__version__.encode())
    if numba.config.BOUNDSCHECK:  # type: ignore[attr-defined]
        digest.update(b"with checks of every index")
    for package in ("rigid", "discretization", "rodsim"):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for file in sorted(Path(folder).glob("**/*.py")):
                text = file.read_bytes()
                if package != "rodsim" or b"rigid.compilation.decorators" in text:
                    digest.update(text)
    return digest.hexdigest()[:16]


def _make_folder() -> tuple[str, str, str]:
    """Make the folder; return its path, empty if there is none, the path that was tried, and why there is none."""
    named, folder = os.environ.get("NUMBA_CACHE_DIR", ""), Path("~/.cache/rodsim")
    try:
        if named:
            folder = Path(named, "rodsim", _hash_of_sources()).absolute()
            folder.mkdir(parents=True, exist_ok=True)
        else:
            user_cache = Path(platformdirs.user_cache_dir("rodsim"))
            if not user_cache.is_absolute():  # older versions of platformdirs, if the user has no home folder
                raise FileNotFoundError("this user has no home folder")
            folder = user_cache / _hash_of_sources()
            make_private(user_cache)
            make_private(folder)
            _remove_unused(folder)
    except OSError as error:
        return "", str(folder), reason(error)
    except RuntimeError as error:  # raised by platformdirs if the user has no home folder
        return "", str(folder), str(error)
    return str(folder), str(folder), ""


def is_version_folder(name: str) -> bool:
    """Return True if a folder of this name holds the code of a version: its name is a hash of 16 hexadecimal digits."""
    return re.fullmatch("[0-9a-f]{16}", name) is not None


def _remove_unused(folder: Path) -> None:
    """Note that our folder is used and remove the folders beside it that were not used for 30 days, at most once a day.

    Errors are ignored: another process may remove the same folders, or nothing can be written.
    """
    now, stamp = time.time(), folder / STAMP
    with contextlib.suppress(OSError):
        if 0.0 <= now - stamp.stat().st_mtime < DAY:
            return
    with contextlib.suppress(OSError):
        stamp.touch(mode=0o600)
        for sibling in [*os.scandir(folder.parent)]:
            ours = is_version_folder(sibling.name) and sibling.is_dir(follow_symlinks=False)
            if ours and now - _last_used(Path(sibling)) > UNUSED:
                import shutil

                shutil.rmtree(sibling, ignore_errors=True)


def _last_used(folder: Path) -> float:
    """Return the time of the last use of a folder, s: that of its stamp, of the folder itself in versions without a stamp."""
    try:
        return (folder / STAMP).stat().st_mtime
    except OSError:
        return folder.stat().st_mtime


def reason(error: OSError) -> str:
    """Return the text of the error without its number and path."""
    return error.strerror or str(error)


# path of the folder, empty if there is none; the folder that was tried; why there is none
CACHE_DIRECTORY, TRIED, FAULT = _make_folder()


_reported: set[str] = set()


def why_not_cached() -> str:
    """Return why compiled code of this process is not cached; "" if it is, as far as is known."""
    return FAULT or next(iter(_reported), "")


def report_not_cached(error: OSError | str = "") -> None:
    """Report on stderr, once a process, that compiled code is not cached: in which folder, why, and what to do.

    `error`: the error or its text, by default that of the folder.
    """
    if not _reported:
        cause = reason(error) if isinstance(error, OSError) else error or FAULT
        _reported.add(cause)
        sys.stderr.write(
            f"rodsim: compiled code cannot be kept in '{TRIED}': {cause}. Every start compiles again, which takes up to "
            f"a minute. {REMEDY}.\n"
        )
        sys.stderr.flush()
