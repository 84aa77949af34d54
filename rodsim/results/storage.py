"""Describe and open the datasets of a result file that have one row for each output."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import h5py

PICTURE = "VTKHDF"  # group of the file that programs such as ParaView read
LIBVER = ("earliest", "v108")
BLOCK_BYTES = 2**24  # bytes that are read or written at once


class Series(NamedTuple):
    """Describe one dataset to which every output adds an array of `shape`."""

    path: str  # path of the dataset in the file
    shape: tuple[int, ...]  # shape of the array that one output adds
    dtype: Any
    flat: bool = False  # True: rows of all outputs on one axis, as in VTKHDF: (n * shape[0], *shape[1:])

    @property
    def name(self) -> str:
        """Name of the dataset without its groups."""
        return self.path.rpartition("/")[2]

    @property
    def nbytes(self) -> int:
        """Number of bytes of one output."""
        return np.dtype(self.dtype).itemsize * math.prod(self.shape)

    def full_shape(self, n: int) -> tuple[int, ...]:
        """Return the shape of the dataset with n outputs."""
        if self.flat:
            return (n * self.shape[0], *self.shape[1:])
        return (n, *self.shape)

    def rows(self, outputs: slice) -> slice:
        """Return the rows of the dataset that hold these outputs."""
        count = self.shape[0] if self.flat else 1
        return slice(outputs.start * count, outputs.stop * count)


class Changed(NamedTuple):
    """Part of a result that differs from what was written."""

    what: str
    outputs: tuple[int, ...] = ()  # the first changed output, and the number of changed outputs

    def __str__(self) -> str:
        if not self.outputs:
            return self.what
        first, count = self.outputs
        return f"'{self.what}' at output {first}" + (f" and at {count - 1} more" if count > 1 else "")

    @property
    def of_picture(self) -> bool:
        """True if the part is used for pictures only."""
        return f"'{PICTURE}'" in self.what or self.what.startswith(f"{PICTURE}/")


def blocks_of(n: int, nbytes: int, first: int = 0) -> list[slice]:
    """Return consecutive blocks of the outputs first ... n - 1 of `nbytes` bytes each, of about `BLOCK_BYTES`."""
    size = max(1, BLOCK_BYTES // max(1, nbytes))
    return [slice(start, min(start + size, n)) for start in range(first, n, size)]


def open_file(path: Path | str, mode: str) -> h5py.File:
    """Open an HDF5 file without locks: a reader must not stop a running simulation."""
    import h5py

    try:
        return h5py.File(path, mode, libver=LIBVER, locking=False)
    except OSError as error:
        if mode != "r" or "locking flag" not in str(error):
            raise
        return h5py.File(
            path, mode
        )  # this process has the file open with locks: HDF5 requires the same mode again
