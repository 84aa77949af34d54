"""Write a result file, which is both VTKHDF (for ParaView) and native, from the records of a run."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from rodsim.results import digests, native, stored_states, vtkhdf
from rodsim.results.drawing import Drawing
from rodsim.results.journal import CRC, Records
from rodsim.results.layout import Layout
from rodsim.results.storage import Series, blocks_of, open_file
from rodsim.results.whole_file import named

_SPARE = 2**16  # bytes for the structure of a file, besides its arrays


def size_of_output(layout: Layout, drawing: Drawing) -> int:
    """Return the number of bytes of one output in the file."""
    return sum(item.nbytes for item in (*native.series(layout), *vtkhdf.series(drawing))) + 200


def write_file(path: Path, head: bytes, layout: Layout, drawing: Drawing, records: Records) -> None:
    """Write the file and replace `path` by it when it is complete.

    Parameters
    ----------
    path : Path
        The result file.
    head : bytes
        HDF5 image of what does not grow (`native.head`); it is copied.
    layout, drawing : Layout, Drawing
        The layout in `head`, and its topology.
    records : array of records
        Outputs with their checksums, which are copied.

    Raises
    ------
    OSError: the disk has no room for the file; nothing is left of it.
    """
    working = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with named(path):
        try:
            _check_room(working, 2 * len(head) + len(records) * size_of_output(layout, drawing) + _SPARE)
            _write(working, head, layout, drawing, records)
            with open(working, "rb") as file:
                os.fsync(file.fileno())  # or a power cut could take the file and its journal
            os.replace(working, path)
        finally:
            working.unlink(missing_ok=True)


def _check_room(path: Path, size: int) -> None:
    """Raise OSError if a file of `size` bytes cannot be written.

    The HDF5 library ends the process if a disk fills while it closes its file.
    """
    with open(path, "wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        elif shutil.disk_usage(path.parent).free < size:
            raise OSError(28, "No space left on device", str(path))


def _write(path: Path, head: bytes, layout: Layout, drawing: Drawing, records: Records) -> None:
    """Write the file without the protection of `write_file`."""
    n, own, pictures = len(records), native.series(layout), vtkhdf.series(drawing)
    with open_file(path, "w") as file, native.opened(head) as image:
        image.copy(image[native.ROOT], file, native.ROOT)
        vtkhdf.create(file, drawing, n)
        digest = {item.path: hashlib.sha256() for item in (*own, *pictures)}
        for item in (*own, *pictures):
            file.create_dataset(item.path, item.full_shape(n), item.dtype)
        file.create_dataset(digests.CHECKSUMS, data=records[CRC])
        for part in blocks_of(n, size_of_output(layout, drawing)):
            block = records[part]
            arrays = {item.path: block[item.name] for item in own}
            arrays |= _drawn(layout, drawing, block)
            for item in (*own, *pictures):
                _put(file, item, part, arrays[item.path], digest[item.path])
        for item in (*own, *pictures):
            file[item.path].attrs[digests.SHA] = digest[item.path].hexdigest()
        digests.seal(file, [*own, *pictures])


def _put(file: Any, item: Series, part: slice, values: Any, digest: Any) -> None:
    """Write the rows of a block of outputs to one dataset, and add them to its checksum."""
    rows = np.ascontiguousarray(values, item.dtype).reshape(item.full_shape(part.stop - part.start))
    if rows.size:
        file[item.path][item.rows(part)] = rows
    digest.update(rows.tobytes())


def _drawn(layout: Layout, drawing: Drawing, records: Records) -> dict[str, Any]:
    """Return the arrays of the picture at some outputs, by the paths of their datasets."""
    states = stored_states.joined(
        layout, {name: np.ascontiguousarray(records[name]) for name in stored_states.shapes(layout)}
    )
    points, arrays = drawing.arrays(states, records["strains"], records["stresses"])
    found = {f"{vtkhdf.ROOT}/PointData/{name}": value for name, value in arrays.items()}
    return {f"{vtkhdf.ROOT}/Points": points, vtkhdf.VALUES: records[native.TIME], **found}
