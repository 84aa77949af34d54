"""Checksums ("digests") of the contents of a result file, which detect damaged data.

HDF5's own checksums require chunks that the library writes. Rows are written without the library (`rodsim.results.storage`), so
that their checksums are stored next to them. Every output has one checksum for each series: with the 64-bit words x_0, x_1 ...
of its bytes (32-bit words for single precision),

    D = sum_i mix(x_i + (i + 1) gamma)  mod 2^64                                                            (1)

mix and gamma = 0x9e3779b97f4a7c15 are those of the generator SplitMix64. If two words are exchanged, signs are reversed or
numbers are doubled, the sum differs except in one case in 2^64. The sum detects damage, not forgery. Data that does not grow
with the number of outputs, the model and the topology of pictures, has one SHA-256 checksum each.

Source: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014, figure 17.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rodsim.results.plain_datasets import numbers_of
from rodsim.results.storage import COPY_BYTES, Series

if TYPE_CHECKING:
    import h5py

Digests = NDArray[np.uint64]

ROOT, PICTURE = "rodsim", "VTKHDF"
ROWS, COLUMNS = f"{ROOT}/digests", f"{ROOT}/digest_columns"
DESCRIPTION, LAYOUT, TOPOLOGY = "description_digest", "layout_digest", "picture_digest"
_COUNTED = f"{PICTURE}/Steps/Values"  # grows with the rows, and repeats their times
_NOT_OURS = (DESCRIPTION, LAYOUT, TOPOLOGY, "NSteps")
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_BLOCK = 2**14  # number of words processed at once: they fit into a core's cache


class Changed(NamedTuple):
    """Part of a file that differs from what was written."""

    what: str
    outputs: tuple[int, ...] = ()  # for a series: the first changed output, and the number of changed outputs

    def __str__(self) -> str:
        if not self.outputs:
            return self.what
        first, count = self.outputs
        return f"'{self.what}' at output {first}" + (f" and at {count - 1} more" if count > 1 else "")

    @property
    def of_picture(self) -> bool:
        """True if the part is used for pictures only."""
        return f"'{PICTURE}'" in self.what or self.what.startswith(f"{PICTURE}/")


def series(items: Sequence[Series]) -> Series:
    """Return the dataset of the checksums of outputs, with one column for each of `items`."""
    return Series(ROWS, (len(items),), np.uint64)


def of_rows(rows: NDArray[Any]) -> Digests:
    """Return the checksums (1) of the rows (k, ...) of one series at k outputs, (k,)."""
    count = len(rows)
    width = rows.dtype.itemsize * int(np.prod(rows.shape[1:], dtype=np.int64))
    word = np.uint32 if rows.dtype.itemsize == 4 else np.uint64
    words = np.ascontiguousarray(rows).reshape(-1).view(word).reshape(count, width // np.dtype(word).itemsize)
    digests = np.zeros(count, np.uint64)
    wide = min(_BLOCK, words.shape[1])
    high = _BLOCK // max(1, wide)
    z, shifted = np.empty((2, max(1, high * wide)), np.uint64)
    for column in range(0, words.shape[1], max(1, wide)):
        places = np.arange(column + 1, min(column + wide, words.shape[1]) + 1, dtype=np.uint64) * _GAMMA
        for first in range(0, count, high):
            part = words[first : first + high, column : column + wide]
            mixed = _mix(np.add(part, places, out=z[: part.size].reshape(part.shape)), shifted)
            digests[first : first + high] += mixed.sum(axis=1, dtype=np.uint64)
    return digests


def _mix(z: Digests, scratch: Digests) -> Digests:
    """Apply the finaliser of SplitMix64 in place."""
    shifted = scratch[: z.size].reshape(z.shape)
    for shift, factor in _MIXING:
        z ^= np.right_shift(z, np.uint64(shift), out=shifted)
        z *= np.uint64(factor)
    z ^= np.right_shift(z, np.uint64(31), out=shifted)
    return z


def of_outputs(rows: Sequence[NDArray[Any]]) -> Digests:
    """Return the checksums (k, series) of k outputs; `rows`: one array (k, ...) for each series."""
    return np.stack([of_rows(each) for each in rows], axis=1)


def seal(file: h5py.File, items: Sequence[Series]) -> None:
    """Write the names of the checksum columns, and the checksums of the data that does not grow."""
    import h5py

    names = np.array([item.path for item in items], dtype=object)
    file.create_dataset(COLUMNS, data=names, dtype=h5py.string_dtype())
    for name, digest in _of_static(file, set(names)).items():
        file[ROOT].attrs[name] = digest


def is_sealed(file: h5py.File, items: Sequence[Series]) -> bool:
    """Return whether the file has checksums of exactly these series."""
    return ROWS in file and columns_of(file) == [item.path for item in items]


def columns_of(file: h5py.File) -> list[str]:
    """Return the paths of the series that have checksums."""
    return [str(name) for name in file[COLUMNS].asstr()[...]]


def of_stored(file: h5py.File, items: Sequence[Series], n: int) -> Iterator[tuple[slice, Digests]]:
    """Yield the checksums of the first n outputs in the file, block by block: the outputs of the block, and its checksums."""
    for outputs in _blocks(items, slice(0, n)):
        yield outputs, of_outputs([_rows(file, item, outputs) for item in items])


def changed(file: h5py.File, outputs: slice) -> list[Changed] | None:
    """Return the parts of these outputs, of the model and of the picture that differ from what was written.

    Return None if the file has no checksums.
    """
    if ROWS not in file:
        return None
    columns, n = columns_of(file), outputs.stop - outputs.start
    found = _changed_static(file, set(columns))
    wrong = np.zeros((n, len(columns)), bool)
    items = [_series_of(file, path) for path in columns]
    for part in _blocks(items, outputs):
        stored = file[ROWS][part.start : part.stop]
        own = of_outputs([_rows(file, item, part) for item in items])
        wrong[part.start - outputs.start : part.stop - outputs.start] = stored != own
    for path, column in zip(columns, wrong.T, strict=True):
        where = np.flatnonzero(column)
        if len(where):
            found.append(Changed(path, (outputs.start + int(where[0]), len(where))))
    return found


def description_is_whole(root: h5py.Group, text: str) -> bool:
    """Return whether the description `text` is the one that was written; True if the file has no checksum of it."""
    return DESCRIPTION not in root.attrs or root.attrs[DESCRIPTION] == _of_text(text)


def _changed_static(file: h5py.File, grown: set[str]) -> list[Changed]:
    """Return the changed parts among the data that does not grow; `grown`: paths of the series."""
    words = {
        DESCRIPTION: "the description",
        LAYOUT: "the model (group 'rodsim/layout')",
        TOPOLOGY: "the topology of the picture (group 'VTKHDF')",
    }
    own = _of_static(file, grown)
    return [Changed(words[name]) for name in own if file[ROOT].attrs.get(name) != own[name]]


def _of_static(file: h5py.File, grown: set[str]) -> dict[str, str]:
    """Return the checksums of the data that does not grow: description, model and topology of the picture."""
    text = file[f"{ROOT}/description"].asstr()[()]
    return {
        DESCRIPTION: _of_text(text),
        LAYOUT: _of_group(file[ROOT], grown),
        TOPOLOGY: _of_group(file[PICTURE], grown),
    }


def _of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _of_group(group: h5py.Group, grown: set[str]) -> str:
    """Return the SHA-256 of names, shapes, numbers and attributes of all objects in a group, without the series `grown`."""
    import h5py

    digest, whole = hashlib.sha256(), str(group.name).strip("/")

    def add(name: bytes) -> None:
        """Add one object to the checksum; the low-level interface avoids looking up things that rarely exist."""
        item = h5py.h5o.open(group.id, name) if name else group.id
        is_dataset = isinstance(item, h5py.h5d.DatasetID)
        text = name.decode("utf-8", "surrogateescape")
        digest.update(json.dumps([text, "Dataset" if is_dataset else "Group"]).encode())
        if h5py.h5a.get_num_attrs(item):
            attributes = h5py.Dataset(item).attrs if is_dataset else h5py.Group(item).attrs
            for key in sorted(set(attributes) - set(_NOT_OURS)):
                digest.update(key.encode())
                _add(digest, attributes[key])
        path = f"{whole}/{text}"
        if is_dataset and path not in grown and path not in (ROWS, _COUNTED):
            is_text = h5py.check_string_dtype(item.dtype) is not None
            _add(digest, h5py.Dataset(item).asstr()[...] if is_text else numbers_of(item))

    add(b"")
    h5py.h5o.visit(group.id, add)
    return digest.hexdigest()


def _add(digest: Any, value: Any) -> None:
    """Add a value, an array of numbers or of texts, to a checksum."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        digest.update(json.dumps(array.tolist(), default=str).encode())
        return
    digest.update(json.dumps([array.dtype.str, array.shape]).encode())
    digest.update(np.ascontiguousarray(array).tobytes())


def _series_of(file: h5py.File, path: str) -> Series:
    """Return the layout of a series in the file; the series of VTKHDF have the rows of all outputs on one axis."""
    dataset = file[path]
    if not path.startswith(f"{PICTURE}/"):
        return Series(path, dataset.shape[1:], dataset.dtype)
    points = int(file[f"{PICTURE}/NumberOfPoints"][0])
    return Series(path, (points, *dataset.shape[1:]), dataset.dtype, flat=True)


def _rows(file: h5py.File, item: Series, outputs: slice) -> NDArray[Any]:
    """Return the rows (k, ...) of a series at k outputs."""
    if not item.flat:
        return np.asarray(file[item.path][outputs])
    n = item.shape[0]
    stored = np.asarray(file[item.path][outputs.start * n : outputs.stop * n])
    return stored.reshape(outputs.stop - outputs.start, *item.shape)


def _blocks(items: Sequence[Series], outputs: slice) -> Iterator[slice]:
    """Yield consecutive blocks of outputs, each of about `COPY_BYTES`."""
    size = max(1, COPY_BYTES // max(1, sum(item.nbytes for item in items)))
    for start in range(outputs.start, outputs.stop, size):
        yield slice(start, min(start + size, outputs.stop))
