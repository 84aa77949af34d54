"""Checksums of the contents of a result file, which detect damaged data.

HDF5's own checksums do not help: a change made through HDF5 leaves no trace in them. A file has

- a CRC-32 of each output, over the arrays of a state and what is stored with it (`rodsim.results.journal`): computed when the
  output is written to the journal, and copied from there;
- a SHA-256 of all these checksums, and one of each dataset that has rows for outputs: they name the arrays that have changed;
- a SHA-256 each of the description, of the model and of the topology of the picture.

Checksums detect damage, not forgery. Files of earlier formats: `rodsim.results.legacy_checksums`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rodsim.results import legacy_checksums
from rodsim.results.hdf5_arrays import dataset_values
from rodsim.results.journal import CRC, checksums, record_type
from rodsim.results.storage import PICTURE, Changed, Series, blocks_of

if TYPE_CHECKING:
    import h5py

ROOT = "rodsim"
CHECKSUMS = f"{ROOT}/{CRC}"  # dataset (n,) of the checksums of the outputs
SHA = "sha256"  # attribute of each dataset with rows for outputs
DESCRIPTION, LAYOUT, TOPOLOGY = "description_digest", "layout_digest", "picture_digest"
_STATIC = {
    DESCRIPTION: "the description",
    LAYOUT: "the model (group 'rodsim/layout')",
    TOPOLOGY: "the topology of the picture (group 'VTKHDF')",
}
_UNCHECKED_ATTRIBUTES = (*_STATIC, SHA, "NSteps")


def write_checksums(file: h5py.File, series: Sequence[Series]) -> None:
    """Write the SHA-256 of everything but the datasets `series`, which have their own."""
    file[CHECKSUMS].attrs[SHA] = sha256_of(file[CHECKSUMS][...])
    for name, digest in _static_checksums(file, {item.path for item in series}).items():
        file[ROOT].attrs[name] = digest


def sha256_of(*arrays: NDArray[Any]) -> str:
    """Return the SHA-256 of the bytes of arrays, one after another."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def find_changes(file: h5py.File, outputs: slice, series: Sequence[Series]) -> list[Changed] | None:
    """Return the parts of these outputs, of the model and of the picture that differ from what was written.

    `series`: datasets of the states. The picture is checked if `outputs` are all. Return None if the file has no checksums.
    """
    if legacy_checksums.CHECKSUM_ROWS in file:
        static = _find_static_changes(file, set(legacy_checksums.checksummed_paths(file)))
        return static + legacy_checksums.find_changes(file, outputs)
    if CHECKSUMS not in file:
        return None
    pictures = _checksummed_datasets(file[PICTURE])
    changes = _find_static_changes(file, {*(item.path for item in series), *pictures})
    crc = file[CHECKSUMS][...]
    if sha256_of(crc) != file[CHECKSUMS].attrs.get(SHA):
        changes.append(Changed("the checksums of the outputs"))
    wrong = find_damaged_records(
        crc, outputs, series, lambda part: {item.name: file[item.path][part] for item in series}
    )
    all_outputs = outputs == slice(0, len(crc))
    if wrong or all_outputs:
        damaged = [item for item in series if not _is_intact(file[item.path])]
        changes += [Changed(item.path, wrong) for item in damaged]
        if wrong and not damaged:
            changes.append(Changed(ROOT, wrong))
    if all_outputs:
        changes += [Changed(path) for path in pictures if not _is_intact(file[path])]
    return changes


def find_damaged_records(
    crc: NDArray[Any], outputs: slice, series: Sequence[Series], read: Any
) -> tuple[int, ...]:
    """Return the first of these outputs whose checksum is wrong, and the number of those; () if there is none.

    `crc` (n,): checksums that were written. `read`: returns the arrays of a block of outputs by name.
    """
    kind, wrong = record_type(series), []
    for part in blocks_of(outputs.stop, kind.itemsize, outputs.start):
        computed = checksums(make_records(kind, part.stop - part.start, read(part)))
        wrong += [part.start + int(k) for k in np.flatnonzero(computed != crc[part])]
    return (wrong[0], len(wrong)) if wrong else ()


def make_records(kind: np.dtype[Any], count: int, values: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return `count` records with these arrays (count, ...) by name, without their checksums.

    Raises ValueError if an array has another shape.
    """
    records = np.zeros(count, kind)
    for name in kind.names or ():
        if name == CRC:
            continue
        if np.shape(values[name]) != records[name].shape:
            raise ValueError(
                f"'{name}': outputs of shape {np.shape(values[name])}, the file has {records[name].shape}"
            )
        records[name] = values[name]
    return records


def is_description_intact(root: h5py.Group, text: str) -> bool:
    """Return whether the description `text` is the one that was written; True if the file has no checksum of it."""
    return DESCRIPTION not in root.attrs or root.attrs[DESCRIPTION] == _text_checksum(text)


def _checksummed_datasets(group: h5py.Group) -> list[str]:
    """Return the paths of the datasets in a group that have a SHA-256 of their own."""
    paths: list[str] = []

    def look(name: str, item: Any) -> None:
        if SHA in item.attrs:
            paths.append(f"{group.name}/{name}".strip("/"))

    group.visititems(look)
    return paths


def _is_intact(dataset: h5py.Dataset) -> bool:
    """Return whether a dataset is what was written."""
    digest = hashlib.sha256()
    row_bytes = dataset.dtype.itemsize * int(np.prod(dataset.shape[1:], dtype=np.int64))
    for part in blocks_of(len(dataset), row_bytes):
        digest.update(np.ascontiguousarray(dataset[part]).tobytes())
    return bool(digest.hexdigest() == dataset.attrs.get(SHA))


def _find_static_changes(file: h5py.File, grown: set[str]) -> list[Changed]:
    """Return the changed parts among the data that has no rows for outputs; `grown`: paths of the datasets that have."""
    computed = _static_checksums(file, grown)
    return [Changed(_STATIC[name]) for name in computed if file[ROOT].attrs.get(name) != computed[name]]


def _static_checksums(file: h5py.File, grown: set[str]) -> dict[str, str]:
    """Return the SHA-256 of the data that has no rows for outputs: description, model and topology of the picture."""
    text = file[f"{ROOT}/description"].asstr()[()]
    sums = {DESCRIPTION: _text_checksum(text), LAYOUT: _group_checksum(file[ROOT], grown)}
    if PICTURE in file:
        sums[TOPOLOGY] = _group_checksum(file[PICTURE], grown)
    return sums


def _text_checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _group_checksum(group: h5py.Group, grown: set[str]) -> str:
    """Return the SHA-256 of names, shapes, numbers and attributes of all objects in a group, without the datasets `grown`."""
    import h5py

    digest, group_name = hashlib.sha256(), str(group.name).strip("/")
    skipped = {
        *grown,
        CHECKSUMS,
        *(legacy_checksums.UNCHECKED if legacy_checksums.CHECKSUM_ROWS in group.file else ()),
    }

    def add(name: bytes) -> None:
        """Add one object to the checksum; the low-level interface avoids looking up things that rarely exist."""
        item = h5py.h5o.open(group.id, name) if name else group.id
        is_dataset = isinstance(item, h5py.h5d.DatasetID)
        text = name.decode("utf-8", "surrogateescape")
        digest.update(json.dumps([text, "Dataset" if is_dataset else "Group"]).encode())
        if h5py.h5a.get_num_attrs(item):
            attributes = h5py.Dataset(item).attrs if is_dataset else h5py.Group(item).attrs
            for key in sorted(set(attributes) - set(_UNCHECKED_ATTRIBUTES)):
                digest.update(key.encode())
                _add(digest, attributes[key])
        path = f"{group_name}/{text}"
        if is_dataset and path not in skipped:
            is_text = h5py.check_string_dtype(item.dtype) is not None
            _add(digest, h5py.Dataset(item).asstr()[...] if is_text else dataset_values(item))

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
