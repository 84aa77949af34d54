"""Append the outputs of a run to a journal; the result file is made from it when the run ends.

A journal is a head followed by records of one size, one record for each output:

    bytes 0 to 7     b"RODSIMJ1"
    bytes 8 to 15    length of the head, little-endian
    bytes 16 to 23   CRC-32 of the head, little-endian
    head             HDF5 image of what does not grow with the outputs (`native_format.head`), with zeros to a multiple of 8
    records          the arrays of `native_format.series` one after another, and their CRC-32 as a 64-bit number

Records are only appended. A killed process leaves whole records and at most one torn record, which readers ignore and a resumed
run cuts off. On a full disk `append` raises OSError, and the records before stay readable. A journal can be read while it is
written.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rodsim.results.storage import Series

MAGIC = b"RODSIMJ1"
CRC = "crc"  # name of the last field of a record
SUFFIX = ".journal"
_PREAMBLE = 24  # bytes before the head
_ALIGNED = 8  # bytes; records begin at multiples of it

Records = NDArray[Any]  # array of a type of `record_type`


def journal_of(path: Path) -> Path:
    """Return the path of the journal of a result file."""
    return path.parent / (path.name + SUFFIX)


def has_result(path: Path) -> bool:
    """Return True if there is a result file of this name, or the journal of one."""
    return path.exists() or journal_of(path).exists()


def existing(path: Path) -> Path:
    """Return the file that holds the result of this name: the result file, or the journal if there is only that."""
    return path if path.exists() else journal_of(path)


def record_type(series: Sequence[Series]) -> np.dtype[Any]:
    """Return the type of a record: one field for each series, by its name without the group, and the checksum."""
    fields = [(item.name, np.dtype(item.dtype).newbyteorder("<"), item.shape) for item in series]
    return np.dtype([*fields, (CRC, "<u8")])


def checksums(records: Records) -> NDArray[np.uint64]:
    """Return the CRC-32 of each of k records, (k,), over all fields but the checksum itself."""
    size = records.dtype.itemsize
    raw = np.ascontiguousarray(records).view(np.uint8).data
    ends = range(size, size * len(records) + 1, size)
    return np.array([zlib.crc32(raw[end - size : end - _ALIGNED]) for end in ends], np.uint64)


class Journal:
    """Write a journal. The caller holds the lock of the result (`rodsim.results.lock`)."""

    def __init__(self, file: BinaryIO, start: int, n_outputs: int) -> None:
        """Write to an open file whose records begin at the byte `start`; call `create` or `reopen` instead."""
        self._file, self._start = file, start
        self.n_outputs = n_outputs

    @classmethod
    def create(cls, path: Path, head: bytes) -> Journal:
        """Create a journal without records."""
        head += bytes(-len(head) % _ALIGNED)
        file = open(path, "w+b", buffering=0)  # noqa: SIM115, closed in close()
        try:
            numbers = np.array([len(head), zlib.crc32(head)], "<u8").tobytes()
            _write(file, MAGIC + numbers + head)
        except BaseException:
            file.close()
            raise
        return cls(file, _PREAMBLE + len(head), 0)

    @classmethod
    def reopen(cls, path: Path, n_outputs: int, size: int) -> Journal:
        """Open a journal behind its first `n_outputs` records of `size` bytes, and cut off what follows."""
        file = open(path, "r+b", buffering=0)  # noqa: SIM115, closed in close()
        start = _PREAMBLE + int.from_bytes(file.read(_PREAMBLE)[8:16], "little")
        file.truncate(start + n_outputs * size)
        file.seek(0, os.SEEK_END)
        return cls(file, start, n_outputs)

    def append(self, records: Records) -> None:
        """Write records with their checksums. If it fails, `n_outputs` is the number of those that are whole."""
        size = records.dtype.itemsize
        try:
            _write(self._file, np.ascontiguousarray(records).tobytes())
            self.n_outputs += len(records)
        except BaseException:
            self.n_outputs = (self._file.tell() - self._start) // size
            self._file.seek(self._start + self.n_outputs * size)  # the next record replaces a torn one
            raise

    def sync(self) -> None:
        """Write what the operating system has in memory to the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()


def _write(file: BinaryIO, data: bytes) -> None:
    """Write all data: a raw write may be partial."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


class Contents(NamedTuple):
    """Contents of a journal."""

    head: bytes  # HDF5 image
    start: int  # byte at which the records begin


def read_head(path: Path) -> Contents:
    """Read the head of a journal; raise ValueError if it is not what was written."""
    with open(path, "rb") as file:
        preamble = file.read(_PREAMBLE)
        if len(preamble) < _PREAMBLE or not preamble.startswith(MAGIC):
            raise ValueError("it is not a journal of rodsim")
        length, crc = (int(number) for number in np.frombuffer(preamble[8:], "<u8"))
        if length > os.fstat(file.fileno()).st_size:
            raise ValueError("its head is longer than the file")
        head = file.read(length)
    if len(head) < length or zlib.crc32(head) != crc:
        raise ValueError("its head is not what was written")
    return Contents(head, _PREAMBLE + length)


def read_records(path: Path, start: int, kind: np.dtype[Any]) -> Records:
    """Map the records of a journal that are whole; records that a crash of the machine tore at the end are omitted."""
    n = max(0, path.stat().st_size - start) // kind.itemsize
    if n == 0:
        return np.zeros(0, kind)
    records = np.memmap(path, kind, "r", start, (n,))
    while n and checksums(records[n - 1 : n])[0] != records[CRC][n - 1]:
        n -= 1
    return records[:n]
