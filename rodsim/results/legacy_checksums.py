"""Check the outputs of files of formats 1 and 2, which have another checksum for each array of each output.

With the 64-bit words x_0, x_1 ... of an array (32-bit words for single precision) it is

    D = sum_i mix(x_i + (i + 1) gamma)  mod 2^64                                                            (1)

mix and gamma = 0x9e3779b97f4a7c15 are those of the generator SplitMix64.

Source: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014, figure 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rodsim.results.storage import Changed, Series, blocks_of

if TYPE_CHECKING:
    import h5py


CHECKSUM_ROWS, CHECKSUM_COLUMNS = "rodsim/digests", "rodsim/digest_columns"
UNCHECKED = (CHECKSUM_ROWS, "VTKHDF/Steps/Values")  # datasets that have no checksum in these files
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def checksummed_paths(file: h5py.File) -> list[str]:
    """Return the paths of the datasets that have checksums."""
    return [str(name) for name in file[CHECKSUM_COLUMNS].asstr()[...]]


def find_changes(file: h5py.File, outputs: slice) -> list[Changed]:
    """Return the arrays that differ from what was written at some of these outputs."""
    changes = []
    for column, path in enumerate(checksummed_paths(file)):
        item, wrong = _series(file, path), []
        for part in blocks_of(outputs.stop, item.nbytes, outputs.start):
            rows = np.asarray(file[path][item.rows(part)]).reshape(part.stop - part.start, *item.shape)
            differ = row_checksums(rows) != file[CHECKSUM_ROWS][part.start : part.stop, column]
            wrong += [part.start + int(k) for k in np.flatnonzero(differ)]
        if wrong:
            changes.append(Changed(path, (wrong[0], len(wrong))))
    return changes


def row_checksums(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the checksums (1) of the rows (k, ...) of one array at k outputs, (k,)."""
    word = np.uint32 if rows.dtype.itemsize == 4 else np.uint64
    width = int(np.prod(rows.shape[1:], dtype=np.int64))
    integers = np.ascontiguousarray(rows).reshape(len(rows), width).view(word).astype(np.uint64)
    z = integers + np.arange(1, integers.shape[1] + 1, dtype=np.uint64) * _GAMMA
    for shift, factor in _MIXING:
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((z ^ (z >> np.uint64(31))).sum(axis=1, dtype=np.uint64))


def _series(file: h5py.File, path: str) -> Series:
    """Return a dataset as a `Series`; those of VTKHDF have the rows of all outputs on one axis."""
    dataset = file[path]
    if not path.startswith("VTKHDF/"):
        return Series(path, dataset.shape[1:], dataset.dtype)
    points = int(file["VTKHDF/NumberOfPoints"][0])
    return Series(path, (points, *dataset.shape[1:]), dataset.dtype, flat=True)
