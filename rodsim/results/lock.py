"""One writer to a file: a lock beside it, which ends with its process however that ends. Readers are not asked.

The lock stands in a file of its own: the result is replaced by a larger one as it grows, and HDF5 asks for locks of
its own where a stranger reads.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def check_locks(path: Path) -> None:
    """OSError where the system has no locks for files."""
    if fcntl is None:
        raise OSError(
            f"'{path}': files that grow, results and journals of studies, are written on Linux and other POSIX systems alone, "
            "which lock files and replace open ones; on Windows use WSL, or keep the result in memory (output=None)"
        )


class Lock:
    """The right to write `path`, until `release`. Raises BlockingIOError, saying who has it, and OSError where the system has no
    such locks: on Windows, where an open file cannot be replaced by a larger one either."""

    def __init__(self, path: Path) -> None:
        check_locks(path)
        self.path = path.with_name(f".{path.name}.lock")
        while True:
            self._file: BinaryIO = open(self.path, "a+b", buffering=0)  # noqa: SIM115, closed in release()
            try:
                self._take(path)
                if os.path.samestat(os.fstat(self._file.fileno()), self.path.stat()):
                    break
            except FileNotFoundError:
                pass  # the writer before has just removed it: what was locked is nobody's any more
            except BaseException:
                self._file.close()
                raise
            self._file.close()
        with contextlib.suppress(OSError):  # a full disk: the lock holds all the same
            self._file.truncate(0)
            self._file.write(json.dumps(_holder()).encode())

    def _take(self, path: Path) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(
                f"'{path}' is being written by {self._who()}; wait for it, stop it, or give another output"
            ) from None
        except OSError:
            pass  # a file system without locks

    def _who(self) -> str:
        self._file.seek(0)
        try:
            holder = json.loads(self._file.read())
            return f"process {holder['pid']} on '{holder['host']}' since {holder['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    @property
    def held(self) -> bool:
        return not self._file.closed

    def release(self) -> None:
        """Give the right back; a second call does nothing."""
        if self.held:
            self.path.unlink(missing_ok=True)
            self._file.close()


def _holder() -> dict[str, int | str]:
    now = datetime.now().astimezone()
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": f"{now:%Y-%m-%d %H:%M:%S %z}"}
