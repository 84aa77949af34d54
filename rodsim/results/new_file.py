"""Result files before their first output, and with more room than they had."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rodsim.results import native, older_files, vtkhdf
from rodsim.results.drawing import Drawing
from rodsim.results.layout import Layout
from rodsim.results.storage import COPY_BYTES, Counter, Series, create_series, open_file

if TYPE_CHECKING:
    import h5py

FIRST_BYTES = 2**26  # room in a new file; doubled whenever it is full
MARK = 0x6D6F646E6573746D  # stands for the number of outputs until its place in the file is known


def room_for(layout: Layout, drawing: Drawing, n: int, capacity: int) -> int:
    """Outputs that a file of n outputs has room for: the same whether a run was stopped in between or not."""
    room = max(8, FIRST_BYTES // max(1, sum(item.nbytes for item in all_series(layout, drawing))))
    while room <= n:
        room *= 2
    return min(room, capacity)


def all_series(layout: Layout, drawing: Drawing) -> list[Series]:
    return [*vtkhdf.series(drawing), *native.series(layout)]


def build(path: Path, layout: Layout, drawing: Drawing, capacity: int) -> Path:
    """An empty result file beside `path`, complete but for outputs."""
    working = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open_file(working, "w") as file:
            vtkhdf.create_counter(file, capacity, MARK)
        counter = Counter.find(working, MARK, capacity)
        with open_file(working, "r+") as file:
            vtkhdf.create(file, drawing, capacity)
            native.create(file, layout, capacity, counter)
            create_series(file, all_series(layout, drawing), capacity)
        _set_counter(working, counter, 0)
    except BaseException:
        working.unlink(missing_ok=True)
        raise
    return working


def _set_counter(path: Path, counter: Counter, n: int) -> None:
    """Set NSteps the ordinary way, and check that it was found where `Counter.find` saw it."""
    with open_file(path, "r+") as file:
        steps = file[f"{vtkhdf.ROOT}/Steps"]
        steps.attrs.modify("NSteps", np.int64(n))
        length = steps["Values"].shape[0]
    with open(path, "rb") as raw:
        if not counter.holds(raw, n, length):
            raise RuntimeError(f"'{path}': HDF5 has moved the number of outputs; this is an error in rodsim")


def extend(path: Path, layout: Layout, drawing: Drawing, n: int, capacity: int) -> None:
    """Replace the file by one with more room and the same n outputs."""
    working = build(path, layout, drawing, capacity)
    try:
        with open_file(path, "r") as old, open_file(working, "r+") as new:
            for item in all_series(layout, drawing):
                rows = n * item.shape[0] if item.flat else n
                if item.path in old:
                    _copy_rows(old[item.path], new[item.path], rows)
                else:  # of an older file
                    new[item.path][:rows] = older_files.read_own(old[native.ROOT], slice(0, n))
            older_files.mark_lines(new[native.ROOT], older_files.has_lines(old[native.ROOT]))
            new[vtkhdf.VALUES].id.set_extent((n,))
            new[vtkhdf.VALUES][:n] = old[f"{native.ROOT}/{native.TIME}"][:n]
            counter = Counter(*(int(place) for place in new[native.ROOT].attrs["counter"]))
        _set_counter(working, counter, n)
        with open(working, "rb") as raw:  # or a power cut could take both files
            os.fsync(raw.fileno())
        os.replace(working, path)
    except BaseException:
        working.unlink(missing_ok=True)
        raise


def _copy_rows(old: h5py.Dataset, new: h5py.Dataset, rows: int) -> None:
    row_bytes = max(1, old.dtype.itemsize * int(np.prod(old.shape[1:])))
    block = max(1, COPY_BYTES // row_bytes)
    for start in range(0, rows, block):
        stop = min(start + block, rows)
        new[start:stop] = old[start:stop]
