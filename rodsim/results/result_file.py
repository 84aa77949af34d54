"""Write a result file, which is both VTKHDF (for ParaView) and native, from the journal of a run."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import signals_of
from rigid.quaternions import rotate
from rigid.system import Floats
from rodsim.results import file_checksums, native_format, stored_states, vtkhdf
from rodsim.results.array_sources import JournalSource
from rodsim.results.atomic_write import named
from rodsim.results.constraint_history import ConstraintHistory
from rodsim.results.drawing import Drawing
from rodsim.results.errors import ResultError
from rodsim.results.gear_history import GearHistory, history_of
from rodsim.results.journal import CRC, record_type
from rodsim.results.layout import JointLayout, Layout
from rodsim.results.node_loads import node_loads
from rodsim.results.storage import Series, blocks_of, open_file

_SPACE_CHECK_BYTES = (
    2**27
)  # bytes of a journal from which on the space on the disk is checked when a run starts
_FILE_OVERHEAD = 2**16  # bytes for the structure of a file, besides its arrays
_BLOCK_OVERHEAD = 2**14  # bytes for the structure of a block
_MOST_VECTORS = 5_000_000  # joints or loads times outputs; of more, forces are not written

Vectors = tuple[Floats, Floats, Floats]  # points, m, forces, N, and moments, N m, (T, 3) each


def write_file(path: Path, source: JournalSource) -> None:
    """Write the file with the outputs of `source` and replace `path` by it when it is complete.

    Raises
    ------
    OSError: the disk has no room for the file; nothing is left of it.
    """
    working = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with named(path):
        try:
            _write(working, source)
            with open(working, "rb") as file:
                os.fsync(file.fileno())  # or a power cut could take the file and its journal
            os.replace(working, path)
        finally:
            working.unlink(missing_ok=True)


def check_space(path: Path, layout: Layout, n: int) -> None:
    """Raise OSError if the disk has no space for the journal and the file of a run with n outputs; small runs are not checked."""
    journal = n * record_type(native_format.series(layout)).itemsize
    if journal < _SPACE_CHECK_BYTES:
        return
    blocks = vtkhdf.blocks_of(Drawing(layout, surfaces=True))
    need = 2 * journal + n * sum(item.nbytes for block in blocks for item in block.series)
    free = shutil.disk_usage(path.parent).free
    if need > free:
        raise OSError(
            errno.ENOSPC,
            f"{n} outputs and their journal take {need / 1e9:.3g} GB, the disk has {free / 1e9:.3g} GB; store fewer outputs "
            "(output_every) or give a file on another disk",
            str(path),
        )


def _check_free_space(path: Path, size: int) -> None:
    """Raise OSError if a file of `size` bytes cannot be written.

    The HDF5 library ends the process if a disk fills while it closes its file.
    """
    with open(path, "wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        elif shutil.disk_usage(path.parent).free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def _write(path: Path, source: JournalSource) -> None:
    """Write the file without the protection of `write_file`."""
    layout, n, state_series = source.layout, source.n_outputs, native_format.series(source.layout)
    drawing = Drawing(layout, surfaces=True)
    parts = vtkhdf.blocks_of(drawing)
    vectors = {name: list(parts_of_vector) for name, parts_of_vector in _vectors(source) if n}
    vector_blocks = [
        vtkhdf.vectors_at(name, len(parts_of_vector))
        for name, parts_of_vector in vectors.items()
        if parts_of_vector
    ]
    blocks = [*parts, *vector_blocks]
    series = [*state_series, *(item for block in blocks for item in block.series)]
    nbytes = sum(item.nbytes for item in series) + 100 * (len(blocks) + 1)
    _check_free_space(
        path, 2 * len(source.head) + n * nbytes + _BLOCK_OVERHEAD * len(blocks) + _FILE_OVERHEAD
    )
    with open_file(path, "w") as file, native_format.open_image(source.head) as image:
        image.copy(image[native_format.ROOT], file, native_format.ROOT)
        vtkhdf.create(file, blocks, source.stored[native_format.TIME])
        digest = {item.path: hashlib.sha256() for item in series}
        for item in series:
            file.create_dataset(item.path, item.full_shape(n), item.dtype)
        file.create_dataset(file_checksums.CHECKSUMS, data=source.stored[CRC])
        start = None
        for part in blocks_of(n, nbytes):
            arrays = {item.path: source.stored[item.name][part] for item in state_series}
            points, values = _picture_arrays(source, drawing, part)
            start = points[0] if start is None else start
            values[vtkhdf.DISPLACEMENT] = points - start
            for block in parts:
                arrays[block.path("Points")] = points[:, block.points]
                arrays |= {block.path("PointData", k): values[k][:, block.points] for k in block.arrays}
            for block in vector_blocks:
                for k, name in enumerate(("Points", "PointData/force", "PointData/moment")):
                    arrays[block.path(name)] = np.stack(
                        [parts_of_vector[k][part] for parts_of_vector in vectors[block.name]], axis=1
                    )
            for item in series:
                _write_rows(file, item, part, arrays[item.path], digest[item.path])
        for item in series:
            file[item.path].attrs[file_checksums.SHA] = digest[item.path].hexdigest()
        file_checksums.write_checksums(file, series)


def _write_rows(file: Any, item: Series, part: slice, values: Any, digest: Any) -> None:
    """Write the rows of some outputs to one dataset, and add them to its checksum."""
    with np.errstate(over="ignore"):  # a diverged run may overflow single precision
        rows = np.ascontiguousarray(values, item.dtype).reshape(item.full_shape(part.stop - part.start))
    if rows.size:
        file[item.path][item.rows(part)] = rows
    digest.update(rows.tobytes())


def _picture_arrays(source: JournalSource, drawing: Drawing, part: slice) -> tuple[Floats, dict[str, Any]]:
    """Return the points (k, n, 3) of all parts at k outputs, and their arrays by name."""
    layout, records = source.layout, source.stored[part]
    states = stored_states.joined(
        layout, {name: np.ascontiguousarray(records[name]) for name in stored_states.shapes(layout)}
    )
    points, arrays = drawing.arrays(states, records["strains"], records["stresses"])
    return points, dict(arrays)


def _vectors(source: JournalSource) -> Iterator[tuple[str, Iterator[Vectors]]]:
    """Yield the forces of joints and of loads, for the blocks with these names."""
    layout = source.layout
    if len(layout.joints) * source.n_outputs <= _MOST_VECTORS:
        yield vtkhdf.JOINTS, (v for joint in layout.joints for v in _joint_vectors(source, joint))
    if layout.system is not None:
        loads = len(signals_of(layout.system.others))
        if 0 < loads * source.n_outputs <= _MOST_VECTORS:
            yield vtkhdf.LOADS, _load_vectors(source)


def _joint_vectors(source: JournalSource, joint: JointLayout) -> Iterator[Vectors]:
    """Yield the force and moment on part b of a joint at its point there; nothing if they are not known."""
    if joint.frames is None or joint.rows[0] == joint.rows[1]:
        return
    history = history_of(source, joint)
    if isinstance(history, GearHistory):  # its force acts on other joints
        return
    try:
        force, moment = history.force, history.moment
        point = ConstraintHistory(source.layout).sides(joint, slice(None)).points[1]
    except ResultError:
        return
    r, quat = (source.read(name, (slice(None), joint.frames[1])) for name in ("r", "quat"))
    yield r + rotate(quat, point), force, moment


def _load_vectors(source: JournalSource) -> Iterator[Vectors]:
    """Yield force and moment of each load whose values the file describes; functions of a user are not called again."""
    layout, t = source.layout, source.read(native_format.TIME)
    assert layout.system is not None
    interactions = layout.system.others
    controls, sampled = layout.system.controls, layout.internal.part(source.read("own"), "sampled")
    held = controls.load_values(sampled, np.zeros((len(t), len(signals_of(interactions)), 3)))
    for k, (row, load) in enumerate(zip(signals_of(interactions), node_loads(layout), strict=True)):
        if load.value is None:
            continue
        value = held[:, k] if k in controls.load else np.broadcast_to(load.value(t), (len(t), 3))
        kind = INTERACTIONS[int(interactions.kind[row])]
        if kind.arity > 1:  # no force at one point
            continue
        r, quat = (source.read(name, (slice(None), load.frame)) for name in ("r", "quat"))
        if kind.name.startswith("following"):
            value = rotate(quat, value)
        at = interactions.numbers[interactions.first[row] : interactions.first[row] + 3]
        none = np.zeros(value.shape)
        yield r + rotate(quat, at), *((none, value) if kind.torque else (value, none))
