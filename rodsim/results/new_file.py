"""Create empty result files, and replace full ones by files with a larger capacity."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rodsim.results import digests, native, older_files, vtkhdf
from rodsim.results.drawing import Drawing
from rodsim.results.layout import Layout
from rodsim.results.storage import COPY_BYTES, Counter, Series, create_series, open_file

if TYPE_CHECKING:
    import h5py

FIRST_BYTES = 2**26  # bytes of room in a new file; doubled each time it is full
MARK = 0x6D6F646E6573746D  # placeholder for the number of outputs until its offset in the file is known


def room_for(layout: Layout, drawing: Drawing, n: int, capacity: int) -> int:
    """Return the number of outputs that a file with n outputs has room for, at most `capacity`.

    It does not depend on whether the run was interrupted and resumed.
    """
    room = max(8, FIRST_BYTES // max(1, sum(item.nbytes for item in all_series(layout, drawing))))
    while room <= n:
        room *= 2
    return min(room, capacity)


def row_series(layout: Layout, drawing: Drawing) -> list[Series]:
    """Return the series to which an output adds rows, without that of the checksums."""
    return [*vtkhdf.series(drawing), *native.series(layout)]


def all_series(layout: Layout, drawing: Drawing) -> list[Series]:
    """Return all series to which an output adds rows; that of the checksums is last."""
    items = row_series(layout, drawing)
    return [*items, digests.series(items)]


def build(path: Path, layout: Layout, drawing: Drawing, capacity: int) -> Path:
    """Write a result file without outputs in the folder of `path`, under a temporary name; return its path."""
    working = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open_file(working, "w") as file:
            vtkhdf.create_counter(file, capacity, MARK)
        counter = Counter.find(working, MARK, capacity)
        with open_file(working, "r+") as file:
            vtkhdf.create(file, drawing, capacity)
            native.create(file, layout, capacity, counter)
            create_series(file, all_series(layout, drawing), capacity)
            digests.seal(file, row_series(layout, drawing))
        _set_counter(working, counter, 0)
    except BaseException:
        working.unlink(missing_ok=True)
        raise
    return working


def _set_counter(path: Path, counter: Counter, n: int) -> None:
    """Set NSteps through HDF5, and check that it is stored at the offset found by `Counter.find`."""
    with open_file(path, "r+") as file:
        steps = file[f"{vtkhdf.ROOT}/Steps"]
        steps.attrs.modify("NSteps", np.int64(n))
        length = steps["Values"].shape[0]
    with open(path, "rb") as raw:
        if not counter.holds(raw, n, length):
            raise RuntimeError(f"'{path}': HDF5 has moved the number of outputs; this is an error in rodsim")


def extend(path: Path, layout: Layout, drawing: Drawing, n: int, capacity: int) -> None:
    """Replace the file by one with room for `capacity` outputs that holds the same n outputs."""
    working = build(path, layout, drawing, capacity)
    try:
        with open_file(path, "r") as old, open_file(working, "r+") as new:
            items = row_series(layout, drawing)
            sealed = digests.is_sealed(old, items)
            for item in all_series(layout, drawing) if sealed else items:
                rows = n * item.shape[0] if item.flat else n
                if item.path in old:
                    _copy_rows(old[item.path], new[item.path], rows)
                else:  # a file of an older version
                    new[item.path][:rows] = older_files.read_own(old[native.ROOT], slice(0, n))
            older_files.mark_lines(new[native.ROOT], older_files.has_lines(old[native.ROOT]))
            if not sealed:  # a file of an older version: checksums are added for all its outputs
                for outputs, found in digests.of_stored(new, items, n):
                    new[digests.ROWS][outputs] = found
            new[vtkhdf.VALUES].id.set_extent((n,))
            new[vtkhdf.VALUES][:n] = old[f"{native.ROOT}/{native.TIME}"][:n]
            counter = Counter(*(int(place) for place in new[native.ROOT].attrs["counter"]))
        _set_counter(working, counter, n)
        with open(working, "rb") as raw:  # otherwise both files could be lost in a power failure
            os.fsync(raw.fileno())
        os.replace(working, path)
    except BaseException:
        working.unlink(missing_ok=True)
        raise


def check_rows(file: h5py.File, items: list[Series], n: int) -> None:
    """Raise ValueError or KeyError if a file does not hold n outputs of the series `items`.

    The number of bits of the stored numbers may differ from that of the series.
    """
    for item in items:
        if item.path == f"{native.ROOT}/{native.OWN}" and older_files.is_older(file[native.ROOT]):
            continue
        dataset = file[item.path]
        rows, tail = (n * item.shape[0], item.shape[1:]) if item.flat else (n, item.shape)
        if (
            dataset.shape[1:] != tail
            or len(dataset) < rows
            or dataset.dtype.kind != np.dtype(item.dtype).kind
        ):
            raise ValueError(f"'{item.path}' has the shape {dataset.shape} of {dataset.dtype}")


def _copy_rows(old: h5py.Dataset, new: h5py.Dataset, rows: int) -> None:
    """Copy the first `rows` rows of a dataset, in blocks of about COPY_BYTES bytes."""
    row_bytes = max(1, old.dtype.itemsize * int(np.prod(old.shape[1:])))
    block = max(1, COPY_BYTES // row_bytes)
    for start in range(0, rows, block):
        stop = min(start + block, rows)
        new[start:stop] = old[start:stop]
