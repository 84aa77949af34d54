"""Read the arrays of a result from memory, from a file, or from the journal of a run that has not ended or was killed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rodsim.results import file_checksums, journal, legacy_files, native_format, vtkhdf
from rodsim.results.drawing import ROD_ARRAYS
from rodsim.results.errors import ResultError
from rodsim.results.layout import Layout
from rodsim.results.lazy_columns import LazyColumns
from rodsim.results.output_multipliers import read_multipliers, source_start_multipliers
from rodsim.results.storage import Changed, open_file

Key = Any  # index accepted by numpy and h5py


# Exceptions that h5py, NumPy, JSON and the checks of a layout raise if bytes of a file have changed.
_DAMAGE_ERRORS = (
    AttributeError,
    IndexError,
    KeyError,
    MemoryError,
    OSError,
    OverflowError,
    RuntimeError,
    TypeError,
    ValueError,
)


@contextmanager
def damage_as_result_error(path: Path) -> Iterator[None]:
    """Turn exceptions caused by damaged bytes of the file into ResultError; in the block read only this file."""
    try:
        yield
    except ResultError:
        raise
    except _DAMAGE_ERRORS as error:
        raise ResultError(f"'{path}' is damaged ({error}); run the simulation again") from None


class Source(Protocol):
    """Interface of the storage of a result's arrays."""

    layout: Layout
    n_outputs: int

    @property
    def path(self) -> Path | None:
        """Return the path of the file, also if only its journal exists; None if the arrays are in memory."""

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        """Return part `key` of the array `name`; its first axis counts the outputs."""

    def picture_array(self, name: str, outputs: slice, shape: tuple[int, ...]) -> NDArray[Any] | None:
        """Return the drawn array `name`, (T, *shape); None if there is none, or if an older version formed it differently."""

    def keep_open(self) -> AbstractContextManager[Any]:
        """Return a context manager within which the file is opened only once, for many reads in a row."""

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        """Return part `key` of several arrays, by name."""

    def multipliers(self, rows: slice) -> NDArray[Any]:
        """Return the multipliers (T, k) of some rows at the outputs, see `rodsim.results.output_multipliers`."""

    def start_multipliers(self) -> NDArray[Any] | None:
        """Return all multipliers (m,) at t = 0; None if they are not known."""

    def find_damage(self, outputs: slice) -> list[Changed] | None:
        """Return the parts of these outputs, and of the model, that have changed since they were written; None: not known."""

    def refreshed(self) -> Source:
        """Return the source with the outputs that have been added since."""


class MemorySource:
    """Hold the arrays of a result in memory.

    `lazy`: derived columns and the Newton columns (T, 3) they need; the derived arrays are computed when one of them is first
    read. `after`: function that computes the multipliers of the step after each output when these are first read.
    """

    path: Path | None = None

    def __init__(
        self,
        layout: Layout,
        arrays: Mapping[str, NDArray[Any]],
        lazy: tuple[LazyColumns, NDArray[Any]] | None = None,
        after: Callable[[Source], NDArray[Any]] | None = None,
    ) -> None:
        self.layout, self._after = layout, after
        self._arrays = dict(arrays)
        self._lazy = lazy
        self.n_outputs = len(arrays[native_format.TIME])

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        if name == native_format.LAM_AFTER and name not in self._arrays and self._after is not None:
            self._arrays[name] = self._after(self)
        if name not in self._arrays and self._lazy is not None:
            columns, newton = self._lazy
            self._arrays |= columns.compute(self.layout, self._arrays, newton)
            self._lazy = None
        return self._arrays[name][key]

    def multipliers(self, rows: slice) -> NDArray[Any]:
        return read_multipliers(self, rows)

    def start_multipliers(self) -> NDArray[Any] | None:
        if self.layout.lam_start is None:
            self.layout.lam_start = source_start_multipliers(self)
        return self.layout.lam_start

    def __getstate__(self) -> dict[str, Any]:
        """Functions of a model cannot be pickled: values that depend on them are computed before."""
        self.start_multipliers()
        if self.layout.n_after:
            self.read(native_format.LAM_AFTER)
        return vars(self)

    def picture_array(self, name: str, outputs: slice, shape: tuple[int, ...]) -> None:
        return None

    def keep_open(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        return {name: self.read(name, key) for name in names}

    def find_damage(self, outputs: slice) -> None:
        return None

    def refreshed(self) -> Source:
        return self


class _CachedReads:
    """Cache the groups and datasets of an open file: looking one up takes longer than reading a row."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._datasets: dict[str, Any] = {}

    def __getitem__(self, path: str) -> Any:
        if path not in self._datasets:
            self._datasets[path] = self._file[path]
        return self._datasets[path]

    def __contains__(self, path: str) -> bool:
        return path in self._datasets or path in self._file

    def get(self, path: str) -> Any:
        """Return the group or dataset at `path`; None if there is none."""
        try:
            return self[path]
        except KeyError:
            return None


def open_source(path: Path) -> FileSource | JournalSource:
    """Return the source of a result: its journal if there is one with outputs, otherwise its file.

    `path`: name of the file; that of the journal is accepted, too.
    """
    if path.name.endswith(journal.SUFFIX):
        path = path.with_name(path.name.removesuffix(journal.SUFFIX))
    if journal.journal_of(path).is_file():
        try:
            source = JournalSource(path)
        except FileNotFoundError:  # the run has ended meanwhile
            return FileSource(path)
        if source.n_outputs or not path.is_file():
            return source
    return FileSource(path)


class JournalSource:
    """Read the arrays of a run from its journal, which may grow."""

    def __init__(self, path: Path, file: Path | None = None) -> None:
        """Map the records; the map stays valid when the run ends and removes its journal.

        `path`: the result file. `file`: the journal; by default that of the result file.
        """
        self.path, self.journal = path, journal.journal_of(path) if file is None else file
        with damage_as_result_error(self.journal):
            self.head, self.start = journal.read_head(self.journal)
            with native_format.open_image(self.head) as file:
                native_format.check_file(file, self.journal)
                self.layout = native_format.read_layout(file)
            kind = journal.record_type(native_format.series(self.layout))
            self.stored = journal.read_records(self.journal, self.start, kind)
        self.n_outputs = len(self.stored)

    @property
    def size(self) -> int:
        """Number of bytes of all outputs."""
        return int(self.stored.nbytes)

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        return np.array(self.stored[name][key])

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        return {name: self.read(name, key) for name in names}

    def multipliers(self, rows: slice) -> NDArray[Any]:
        return read_multipliers(self, rows)

    def start_multipliers(self) -> NDArray[Any] | None:
        return self.layout.lam_start

    def picture_array(self, name: str, outputs: slice, shape: tuple[int, ...]) -> None:
        return None

    def keep_open(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def records(self, kind: np.dtype[Any], outputs: slice) -> journal.Records:
        """Return records of some outputs with their checksums; `kind`: their type, which is that of the journal."""
        return np.array(self.stored[outputs])

    def find_damage(self, outputs: slice) -> list[Changed]:
        wrong = file_checksums.find_damaged_records(
            self.stored[journal.CRC],
            outputs,
            native_format.series(self.layout),
            lambda part: self.stored[part],
        )
        return [Changed(self.journal.name, wrong)] if wrong else []

    def refreshed(self) -> Source:
        return open_source(self.path)


class FileSource:
    """Read the arrays of a result file, which is open only during reads: it may grow or be replaced in between."""

    def __init__(self, path: Path) -> None:
        self._held: _CachedReads | None = None
        self.path = path
        if not path.is_file():  # reading a device may never end, reading a FIFO never begin
            if path.exists():
                raise ResultError(f"'{path}' is a folder or a device; give the name of a result file")
            raise FileNotFoundError(f"'{path}': no such result file")
        try:
            file = open_file(path, "r")
        except OSError as error:
            raise ResultError(f"'{path}' cannot be read as HDF5; is it a rodsim result? ({error})") from None
        with file, damage_as_result_error(path):
            native_format.check_file(file, path)
            self.layout = native_format.read_layout(file)
            self.n_outputs = native_format.count(file)
            native_format.check_series(file, self.layout, self.n_outputs)
            self.size = path.stat().st_size

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        return self.read_all([name], key)[name]

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        key = key if isinstance(key, tuple) else (key,)
        first = slice(None) if key[0] is Ellipsis else key[0]
        if isinstance(first, slice):  # files of earlier formats have room for more outputs than they hold
            first = slice(*first.indices(self.n_outputs))
        with (
            damage_as_result_error(self.path),
            self._open() as file,
        ):  # opening takes longer than reading a row
            if len(key) == 1:
                return {name: native_format.read_rows(file, name, first) for name in names}
            return {
                name: np.asarray(file[f"{native_format.ROOT}/{name}"][(first, *key[1:])]) for name in names
            }

    def multipliers(self, rows: slice) -> NDArray[Any]:
        return read_multipliers(self, rows)

    def start_multipliers(self) -> NDArray[Any] | None:
        return self.layout.lam_start

    def picture_array(self, name: str, outputs: slice, shape: tuple[int, ...]) -> NDArray[Any] | None:
        with damage_as_result_error(self.path), self._open() as file:
            if "Points" in file[f"{file_checksums.PICTURE}"]:
                return _read_single_block_array(file, name, outputs, shape)
            if not shape:
                return np.asarray(file[f"{file_checksums.PICTURE}/{name}"][outputs])
            return (
                None if 0 in shape else _read_block_array(file[file_checksums.PICTURE], name, outputs, shape)
            )

    def find_damage(self, outputs: slice) -> list[Changed] | None:
        with damage_as_result_error(self.path), open_file(self.path, "r") as file:
            return file_checksums.find_changes(file, outputs, native_format.series(self.layout))

    def records(self, kind: np.dtype[Any], outputs: slice) -> journal.Records:
        """Return some outputs as records of a journal; files of earlier formats have no checksums that could be copied."""
        values = self.read_all([name for name in kind.names or () if name != journal.CRC], outputs)
        records = file_checksums.make_records(kind, outputs.stop - outputs.start, values)
        with damage_as_result_error(self.path), self._open() as file:
            has_checksums = file_checksums.CHECKSUMS in file
            records[journal.CRC] = (
                file[file_checksums.CHECKSUMS][outputs] if has_checksums else journal.checksums(records)
            )
        return records

    def _open(self) -> AbstractContextManager[Any]:
        """Return the opened file, or the cached one of `keep_open`; both support `[path]`, `in` and `get`."""
        return open_file(self.path, "r") if self._held is None else nullcontext(self._held)

    @contextmanager
    def keep_open(self) -> Iterator[None]:
        with open_file(self.path, "r") as file:
            self._held = _CachedReads(file)
            try:
                yield
            finally:
                self._held = None

    def refreshed(self) -> Source:
        return open_source(self.path)


def _read_block_array(picture: Any, name: str, outputs: slice, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a drawn array (T, *shape) from the blocks of the parts, in their order; zero in blocks that do not have it."""
    count, arrays = outputs.stop - outputs.start, []
    blocks = [picture[key] for key in picture["Assembly"] if key not in vtkhdf.VECTOR_BLOCKS]
    for block in blocks:
        n = int(block["NumberOfPoints"][0])
        if name in block:
            stored = np.asarray(block[name][outputs.start * n : outputs.stop * n])
            arrays.append(stored.reshape(count, n, *stored.shape[1:]))
        else:
            arrays.append(np.zeros((count, n, *shape[1:]), np.float32))
    drawn = np.concatenate(arrays, axis=1) if arrays else np.zeros((count, 0, *shape[1:]))
    if drawn.shape[1:] != shape or drawn.dtype.kind != "f":
        raise ValueError(f"'{name}' has the shape {drawn.shape[1:]} of {drawn.dtype}")
    return drawn


def _read_single_block_array(
    file: Any, name: str, outputs: slice, shape: tuple[int, ...]
) -> NDArray[Any] | None:
    """Return a drawn array (T, *shape) of a file of an earlier format, whose picture is one block."""
    dataset = file.get(f"{file_checksums.PICTURE}/{name}")
    means = name.rpartition("/")[2] in ROD_ARRAYS and not legacy_files.has_interpolation_mark(
        file[native_format.ROOT]
    )
    if dataset is None or 0 in shape or means:
        return None
    rows, count = (shape[0] if shape else 1), outputs.stop - outputs.start
    stored = np.asarray(dataset[outputs.start * rows : outputs.stop * rows])
    if stored.shape != (count * rows, *shape[1:]) or stored.dtype.kind != "f":
        raise ValueError(f"'{name}' has the shape {dataset.shape} of {dataset.dtype}")
    return stored.reshape(count, *shape)
