"""Write files atomically: to a temporary name in the same folder, which is renamed when the file is complete.

Only plain files are ever replaced; a folder, a device, a pipe or a symbolic link is left unchanged.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_KINDS = (
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def check_target(path: Path, *keep: Path | None) -> None:
    """Raise OSError unless `path` is a plain file or a new name in an existing folder, and is not one of `keep`."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"'{path}': no folder '{path.parent}'; make it first")
    if path.is_symlink():
        raise FileExistsError(
            f"'{path}' is a symbolic link to '{path.readlink()}' and is not replaced; give the name of a file"
        )
    if path.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder; give the name of a file")
    if not path.exists():
        return
    mode = path.stat().st_mode
    for is_kind, name in _KINDS:
        if is_kind(mode):
            raise FileExistsError(f"'{path}' is {name} and is not replaced; give the name of a file")
    for other in keep:
        if other is not None and other.exists() and path.samefile(other):
            raise FileExistsError(
                f"'{path}' is read here and is not overwritten; give the name of another file"
            )


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Add the name of the file to errors of the system, for example of a full disk, which libraries report without a name."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        match = re.search(r"errno = (\d+)", str(error))  # HDF5 puts the error number into its text
        number = int(match[1]) if match else getattr(error, "errno", None)
        about = getattr(error, "filename", None)
        if number is not None and (about is None or ".partial" in str(about)):
            raise OSError(number, os.strerror(number), str(path)) from error
        if type(error) is OSError and number is None and str(path) not in str(error):
            raise OSError(f"'{path}': {error}") from error
        raise


@contextmanager
def atomic_file(path: Path | str, *keep: Path | None) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`, with the same ending, which replaces `path` at the end.

    On an error the temporary file is deleted. `keep`: files that must not be overwritten. Raises OSError as `check_target`
    does, and if the file written is empty.
    """
    path = Path(path)
    check_target(path, *keep)
    working = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        with named(path):
            yield working
            if working.stat().st_size == 0:
                raise OSError(f"'{path}' could not be written: the new file is empty")
            os.replace(working, path)
    except BaseException:
        working.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder next to `path`; at the end its files are moved to `path`, on an error it is deleted.

    Other files in `path` are kept.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise FileExistsError(f"'{path}' exists and is not a folder; give another name")
    working = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with named(path):
        working.mkdir()
        try:
            yield working
            path.mkdir(exist_ok=True)
            for file in working.iterdir():
                check_target(path / file.name)
            for file in working.iterdir():
                os.replace(file, path / file.name)
        finally:
            shutil.rmtree(working, ignore_errors=True)
