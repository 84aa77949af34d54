"""Where the arrays of a result come from: memory, or a file that may still grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rodsim.results import native, older_files
from rodsim.results.drawing import OF_RODS
from rodsim.results.errors import ResultError
from rodsim.results.layout import Layout
from rodsim.results.storage import open_file

VTKHDF = "VTKHDF"  # the other group of a result file, see `rodsim.results.vtkhdf`
Key = Any  # what numpy and h5py take as an index


# What h5py, NumPy, JSON and the checks of a layout raise where bytes of a file have changed.
_DAMAGED = (
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


class Source(Protocol):
    """Where the arrays of a result come from."""

    layout: Layout
    n_outputs: int

    @property
    def path(self) -> Path | None:
        """The file; None: in memory."""

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        """Part `key` of the array `name`; its first axis counts the outputs."""

    def drawn(self, name: str, outputs: slice, rows: int) -> NDArray[Any] | None:
        """What is stored for the eye under `name`, (T, rows, ...); None: nothing is, or by an older rule."""

    def held(self) -> AbstractContextManager[Any]:
        """Within it many parts are read in a row: a file is opened once."""

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        """Part `key` of several arrays."""

    def refresh(self) -> None:
        """Take in outputs that have been added since."""


class MemorySource:
    """Arrays in memory."""

    path: Path | None = None

    def __init__(self, layout: Layout, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.layout = layout
        self._arrays = arrays
        self.n_outputs = len(arrays[native.TIME])

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        return self._arrays[name][key]

    def drawn(self, name: str, outputs: slice, rows: int) -> None:
        return None

    def held(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        return {name: self.read(name, key) for name in names}

    def refresh(self) -> None:
        pass


class FileSource:
    """Arrays in a result file, which is open only while it is read: it may grow or be replaced in between."""

    def __init__(self, path: Path) -> None:
        self._held: Any = None
        self.path = path
        if not path.is_file():  # a device may never end, a FIFO never begin
            if path.exists():
                raise ResultError(f"'{path}' is a folder or a device; give the name of a result file")
            raise FileNotFoundError(f"'{path}': no such result file")
        try:
            file = open_file(path, "r")
        except OSError as error:
            raise ResultError(f"'{path}' cannot be read as HDF5; is it a rodsim result? ({error})") from None
        with file:
            native.check_file(file, path)
            try:
                self.layout = native.read_layout(file)
                self.n_outputs = native.count(file)
                native.check_series(file, self.layout, self.n_outputs)
            except _DAMAGED as error:
                raise ResultError(f"'{path}' is damaged ({error}); run the simulation again") from None

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        return self.read_all([name], key)[name]

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        key = key if isinstance(key, tuple) else (key,)
        first = slice(None) if key[0] is Ellipsis else key[0]
        if isinstance(first, slice):  # the file has room for more outputs than it holds
            first = slice(*first.indices(self.n_outputs))
        with self._open() as file:  # once for all: that takes longer than reading a row
            if len(key) == 1:
                return {name: native.read_rows(file, name, first) for name in names}
            return {name: np.asarray(file[f"{native.ROOT}/{name}"][(first, *key[1:])]) for name in names}

    def drawn(self, name: str, outputs: slice, rows: int) -> NDArray[Any] | None:
        with self._open() as file:
            dataset = file.get(f"{VTKHDF}/{name}")
            means = name.rpartition("/")[2] in OF_RODS and not older_files.has_lines(file[native.ROOT])
            if dataset is None or rows == 0 or means:
                return None
            stored = np.asarray(dataset[outputs.start * rows : outputs.stop * rows])
            return stored.reshape(outputs.stop - outputs.start, rows, *stored.shape[1:])

    def _open(self) -> AbstractContextManager[Any]:
        return open_file(self.path, "r") if self._held is None else nullcontext(self._held)

    @contextmanager
    def held(self) -> Iterator[None]:
        with open_file(self.path, "r") as self._held:
            try:
                yield
            finally:
                self._held = None

    def refresh(self) -> None:
        with self._open() as file:
            self.n_outputs = native.count(file)
