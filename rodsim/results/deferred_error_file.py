"""Provide a file object for HDF5 that defers write errors: the HDF5 library crashes the process if it cannot close its file.

After the first failed write (on a full disk, say) all further data are kept in memory, from which the library can read them back.
The library then closes its file without an error, and `check` or `close` raises the first error.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any


class DeferredErrorFile(io.RawIOBase):
    """New file at `path`, for use as `h5py.File(DeferredErrorFile(path), "w")`, that defers write errors."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "w+b", buffering=0)  # noqa: SIM115, closed in close()
        self._error: OSError | None = None
        self._unwritten: list[
            tuple[int, bytes]
        ] = []  # (offset, data that could not be written), in the order of writing
        self._position = self._length = 0

    def check(self) -> None:
        """Raise the first write error, if there was one."""
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Close the file and raise the first write error, if there was one; a second call does nothing."""
        if not self.closed:
            super().close()
            self._file.close()
            self.check()

    def readable(self) -> bool:
        """Return True: the file can be read."""
        return True

    def writable(self) -> bool:
        """Return True: the file can be written."""
        return True

    def seekable(self) -> bool:
        """Return True: the position can be set."""
        return True

    def tell(self) -> int:
        """Return the position in the file, bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set and return the position, bytes; `offset` counts from the start, the position or the end, as `whence` says."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._length}[whence]
        self._position = start + offset
        return self._position

    def truncate(self, size: int | None = None) -> int:
        """Set and return the length of the file, bytes; by default the position. An error is deferred."""
        self._length = self._position if size is None else size
        if self._error is None:
            try:
                self._file.truncate(self._length)
            except OSError as error:
                self._error = error
        return self._length

    def write(self, data: Any) -> int:
        """Write data at the position and return the number of bytes; data that cannot be written are kept in memory."""
        view = memoryview(data).cast("B")
        written = 0
        if self._error is None:
            try:
                self._file.seek(self._position)
                while written < len(view):  # a raw write may be partial
                    written += self._file.write(view[written:])
            except OSError as error:
                self._error = error
        if written < len(view):
            self._unwritten.append((self._position + written, bytes(view[written:])))
        self._position += len(view)
        self._length = max(self._length, self._position)
        return len(view)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer from the file and the data kept in memory; return the number of bytes."""
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._length - self._position))
        view[:count] = bytes(count)
        self._file.seek(self._position)
        content = self._file.read(count) or b""
        view[: len(content)] = content
        for offset, data in self._unwritten:
            first, last = max(offset, self._position), min(offset + len(data), self._position + count)
            if first < last:
                view[first - self._position : last - self._position] = data[first - offset : last - offset]
        self._position += count
        return count
