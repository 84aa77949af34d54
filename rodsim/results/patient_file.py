"""A file for HDF5 that remembers an error instead of raising it: a library that cannot close its file crashes the process.

After the first write that fails (a full disk), what is written stays in memory, where the library finds it again; so
it closes its file as if all were well, and `check` or `close` raises what happened.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any


class PatientFile(io.RawIOBase):
    """A new file at `path`, to be read and written by `h5py.File(PatientFile(path), "w")`."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "w+b", buffering=0)  # noqa: SIM115, closed in close()
        self._error: OSError | None = None
        self._kept: list[
            tuple[int, bytes]
        ] = []  # (place, what could not be written), in the order of writing
        self._at = self._length = 0

    def check(self) -> None:
        """Raise the error, if there was one."""
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Close the file and raise the error, if there was one; a second call does nothing."""
        if not self.closed:
            super().close()
            self._file.close()
            self.check()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        self._at = start + offset
        return self._at

    def truncate(self, size: int | None = None) -> int:
        self._length = self._at if size is None else size
        if self._error is None:
            try:
                self._file.truncate(self._length)
            except OSError as error:
                self._error = error
        return self._length

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        written = 0
        if self._error is None:
            try:
                self._file.seek(self._at)
                while written < len(view):  # a raw write may be partial
                    written += self._file.write(view[written:])
            except OSError as error:
                self._error = error
        if written < len(view):
            self._kept.append((self._at + written, bytes(view[written:])))
        self._at += len(view)
        self._length = max(self._length, self._at)
        return len(view)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._length - self._at))
        view[:count] = bytes(count)
        self._file.seek(self._at)
        found = self._file.read(count) or b""
        view[: len(found)] = found
        for place, data in self._kept:
            first, last = max(place, self._at), min(place + len(data), self._at + count)
            if first < last:
                view[first - self._at : last - self._at] = data[first - place : last - place]
        self._at += count
        return count
