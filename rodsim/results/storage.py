"""Store time series in an HDF5 file that stays valid if the process is killed at any moment.

Every series is a contiguous dataset with room for a number of outputs, allocated when the file is created.
Storing rows therefore needs no new HDF5 structure, only bytes at known offsets, which are written directly and not
through the library. Then the counters in the file are increased; a row is valid once they include it. The file on the disk is
thus a complete HDF5 file before, between and after all writes, and holds every row that was written. Unused room is
a hole in the file (a sparse file) and occupies no disk space. It is bounded: a full file is copied into one with
twice the room, which replaces it when it is complete.

Old-style object headers (`LIBVER`) have no checksum and no "open for writing" mark, so the file can be read
at any time.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import h5py

LIBVER = ("earliest", "v108")
HEAD = 2**16  # bytes at the start of a file that contain the first headers
PAGE = 4096  # bytes, a page of the disk cache
COPY_BYTES = 2**24  # bytes copied at once


class Series(NamedTuple):
    """Describe one dataset to which every output adds an array of `shape`."""

    path: str  # path of the dataset in the file
    shape: tuple[int, ...]  # shape of the array that one output adds
    dtype: Any
    flat: bool = (
        False  # True: rows of all outputs on one axis, as in VTKHDF: (capacity * shape[0], *shape[1:])
    )

    @property
    def nbytes(self) -> int:
        """Number of bytes of one output."""
        return np.dtype(self.dtype).itemsize * math.prod(self.shape)

    def full_shape(self, capacity: int) -> tuple[int, ...]:
        """Return the shape of the dataset with room for `capacity` outputs."""
        if self.flat:
            return (capacity * self.shape[0], *self.shape[1:])
        return (capacity, *self.shape)


def open_file(path: Path | str, mode: str) -> h5py.File:
    """Open the HDF5 file at `path` without locks: a reader must not stop a running simulation."""
    import h5py

    try:
        return h5py.File(path, mode, libver=LIBVER, locking=False)
    except OSError as error:
        if mode != "r" or "locking flag" not in str(error):
            raise
        return h5py.File(
            path, mode
        )  # this process has the file open with locks: HDF5 requires the same mode again


def create_series(file: h5py.File, series: Sequence[Series], capacity: int) -> None:
    """Create every dataset of `series`: contiguous, allocated now, not filled."""
    import h5py

    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.CONTIGUOUS)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    plist.set_obj_track_times(False)
    for item in series:
        parent, _, name = item.path.rpartition("/")
        group = file.require_group(parent)
        space = h5py.h5s.create_simple(item.full_shape(capacity))
        h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(np.dtype(item.dtype)), space, plist)


def create_growing(group: h5py.Group, name: str, capacity: int) -> None:
    """Create a one-dimensional float64 dataset of length 1 with room for `capacity`, all in one chunk allocated now.

    Unlike a contiguous dataset it can be extended, which changes one number in its header and nothing else.
    """
    import h5py

    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((longest(capacity),))
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    plist.set_obj_track_times(False)
    space = h5py.h5s.create_simple((1,), (longest(capacity),))
    h5py.h5d.create(group.id, name.encode(), h5py.h5t.IEEE_F64LE, space, plist)


def longest(capacity: int) -> int:
    """Return the maximal length of a growing dataset; not 1, so that (length, maximum) is a rare pattern in a header."""
    return max(capacity, 2)


class Counter(NamedTuple):
    """Hold the two byte offsets at which a file stores the number of its outputs; VTK requires it twice."""

    steps: int  # offset of the attribute Steps/NSteps
    length: int  # offset of the length in the header of Steps/Values

    @classmethod
    def find(cls, path: Path, mark: int, capacity: int) -> Counter:
        """Find the offsets in a file that holds only the two counters, with NSteps = `mark` and one value.

        Raises RuntimeError if they cannot be distinguished from other bytes.
        """
        head = path.read_bytes()[:HEAD]
        places = []
        for pattern in (struct.pack("<q", mark), struct.pack("<qq", 1, longest(capacity))):
            place = head.find(pattern)
            if place < 0 or head.find(pattern, place + 1) >= 0:
                raise RuntimeError(
                    f"'{path}': this version of HDF5 ({_hdf5()}) does not lay files out as expected"
                )
            places.append(place)
        return cls(*places)

    def write(self, file: BinaryIO, n: int) -> None:
        """Set both counters to n >= 1 outputs, in one write if both offsets are on one page of the disk cache.

        VTK copies all of Values into an array of NSteps numbers, so Values must never be the longer of the
        two: if two writes are needed, NSteps is written first.
        """
        number = struct.pack("<q", n)
        first, last = min(self), max(self)
        if first // PAGE == (last + 7) // PAGE:
            file.seek(first)
            both = bytearray(file.read(last + 8 - first))
            both[self.steps - first : self.steps - first + 8] = number
            both[self.length - first : self.length - first + 8] = number
            file.seek(first)
            file.write(both)
            return
        for place in self:
            file.seek(place)
            file.write(number)

    def holds(self, file: BinaryIO, steps: int, length: int) -> bool:
        """Return True if the file has these numbers at the two offsets; False after a repack by another program."""
        found = []
        for place in self:
            file.seek(place)
            found.append(file.read(8))
        return found == [struct.pack("<q", steps), struct.pack("<q", length)]


def _hdf5() -> str:
    import h5py

    return str(h5py.version.hdf5_version)


class RowWriter:
    """Write rows of an existing file at their offsets, and then its counter."""

    def __init__(self, path: Path, places: Mapping[str, tuple[int, Series]], counter: Counter) -> None:
        self._places = places
        self._counter = counter
        self._file: BinaryIO = open(path, "r+b", buffering=0)  # noqa: SIM115, closed in close()

    def as_stored(self, path: str, values: NDArray[Any]) -> NDArray[Any]:
        """Convert outputs (k, ...) of the series `path` to the data type of the file; raise ValueError for another shape."""
        item = self._places[path][1]
        rows = np.asarray(values, dtype=item.dtype, order="C")
        if rows.shape[1:] != item.shape:
            raise ValueError(f"series '{path}': output of shape {rows.shape[1:]}, the file has {item.shape}")
        return rows

    def write(self, path: str, first: int, rows: NDArray[Any]) -> None:
        """Store rows returned by `as_stored` as outputs `first`, `first` + 1 ... of the series `path`."""
        offset, item = self._places[path]
        if rows.nbytes == 0:
            return
        view = rows.reshape(-1).view(np.uint8).data
        self._file.seek(offset + first * item.nbytes)
        while len(view) > 0:  # a raw write may be partial
            view = view[self._file.write(view) :]

    def copy(self, to: RowWriter, n: int) -> None:
        """Copy the first n outputs to another file, a block at a time."""
        for path, (offset, item) in self._places.items():
            place, left = to._places[path][0], n * item.nbytes
            self._file.seek(offset)
            to._file.seek(place)
            while left > 0:
                block = memoryview(self._file.read(min(left, COPY_BYTES)))
                if len(block) == 0:
                    raise OSError(f"series '{path}': the file ends before its outputs do")
                left -= len(block)
                while len(block) > 0:
                    block = block[to._file.write(block) :]

    def count(self, n: int) -> None:
        """Set the counter of the file to n outputs."""
        self._counter.write(self._file, n)

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()


def in_one_piece(file: h5py.File, series: Sequence[Series]) -> bool:
    """Return True if every series is contiguous, as `create_series` made it; False after a repack by another program."""
    return all(file[item.path].id.get_offset() is not None for item in series if item.nbytes)


def places_of(
    file: h5py.File, series: Sequence[Series], growing: Sequence[str]
) -> dict[str, tuple[int, Series]]:
    """Return for each series its offset in the file, in bytes, and the series with the data type of the file.

    `growing`: paths of datasets made by `create_growing`.
    """
    places = {}
    for item in series:
        dataset = file[item.path]
        offset = dataset.id.get_offset()
        # an older file may store a series in double precision
        places[item.path] = (offset or 0, item._replace(dtype=dataset.dtype))
    for path in growing:
        chunk = file[path].id.get_chunk_info(0)
        places[path] = (chunk.byte_offset, Series(path, (), np.float64))
    return places
