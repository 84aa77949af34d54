"""Lock a result file so that only one process writes it. Readers need no lock.

The lock is released when its process ends, however it ends. It is a separate file next to the result, for two reasons: a growing
result file is replaced by a larger one, and HDF5 requests locks itself when another program reads the file.
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
    """Raise OSError if the operating system has no file locks."""
    if fcntl is None:
        raise OSError(
            f"'{path}': files that grow, results and journals of studies, are written only on Linux and other POSIX systems, "
            "which lock files and replace open ones; on Windows use WSL, or keep the result in memory (output=None)"
        )


class Lock:
    """Hold the exclusive right to write `path` until `release`.

    Raises BlockingIOError, which names the process that holds the lock, and OSError if the system has no file locks: on Windows,
    where an open file cannot be replaced by a larger one either.
    """

    def __init__(self, path: Path) -> None:
        check_locks(path)
        self.path = path.with_name(f".{path.name}.lock")
        while True:
            self._file: BinaryIO = open(self.path, "a+b", buffering=0)  # noqa: SIM115, closed in release()
            try:
                self._acquire(path)
                if os.path.samestat(os.fstat(self._file.fileno()), self.path.stat()):
                    break
            except FileNotFoundError:
                pass  # the previous writer has just removed the file: the lock obtained is on a deleted file, try again
            except BaseException:
                self._file.close()
                raise
            self._file.close()
        with contextlib.suppress(OSError):  # on a full disk the lock is valid all the same
            self._file.truncate(0)
            self._file.write(json.dumps(_holder()).encode())

    def _acquire(self, path: Path) -> None:
        """Lock the open lock file; raise BlockingIOError if another process holds the lock."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(
                f"'{path}' is being written by {self._describe_holder()}; wait for it, stop it, or give another output"
            ) from None
        except OSError:
            pass  # the file system has no locks

    def _describe_holder(self) -> str:
        """Return a description of the process that holds the lock, read from the lock file."""
        self._file.seek(0)
        try:
            holder = json.loads(self._file.read())
            return f"process {holder['pid']} on '{holder['host']}' since {holder['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    @property
    def held(self) -> bool:
        """Return True until the lock is released."""
        return not self._file.closed

    def release(self) -> None:
        """Release the lock and remove its file; a second call does nothing."""
        if self.held:
            self.path.unlink(missing_ok=True)
            self._file.close()


def _holder() -> dict[str, int | str]:
    """Return process number, host and time, which the lock file stores."""
    now = datetime.now().astimezone()
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": f"{now:%Y-%m-%d %H:%M:%S %z}"}
