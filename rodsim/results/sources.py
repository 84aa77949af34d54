"""Where the arrays of a result come from: memory, or a file that may still grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rodsim.results import digests, native, older_files
from rodsim.results.drawing import OF_RODS
from rodsim.results.errors import ResultError
from rodsim.results.late_columns import LateColumns
from rodsim.results.layout import Layout
from rodsim.results.output_multipliers import read_multipliers, start_of_source
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


@contextmanager
def damage_of(path: Path) -> Iterator[None]:
    """ResultError for what is raised where bytes of the file have changed: within it only this file is read."""
    try:
        yield
    except ResultError:
        raise
    except _DAMAGED as error:
        raise ResultError(f"'{path}' is damaged ({error}); run the simulation again") from None


class Source(Protocol):
    """Where the arrays of a result come from."""

    layout: Layout
    n_outputs: int

    @property
    def path(self) -> Path | None:
        """The file; None: in memory."""

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        """Part `key` of the array `name`; its first axis counts the outputs."""

    def drawn(self, name: str, outputs: slice, shape: tuple[int, ...]) -> NDArray[Any] | None:
        """What is stored for the eye under `name`, (T, *shape); None: nothing is, or by an older rule."""

    def held(self) -> AbstractContextManager[Any]:
        """Within it many parts are read in a row: a file is opened once."""

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        """Part `key` of several arrays."""

    def multipliers(self, rows: slice) -> NDArray[Any]:
        """Multipliers (T, k) of some rows at the outputs, see `rodsim.results.output_multipliers`."""

    def start_multipliers(self) -> NDArray[Any] | None:
        """All multipliers (m,) at t = 0; None: not known."""

    def changed(self, outputs: slice) -> list[digests.Changed] | None:
        """What of these outputs, and of the model, is not what was written; None: not known."""

    def refresh(self) -> None:
        """Take in outputs that have been added since."""


class MemorySource:
    """Arrays in memory.

    late: computes some of them, with the Newton columns given, when one of these is first read. after: computes the multipliers
    of the step after each output when these are first read.
    """

    path: Path | None = None

    def __init__(
        self,
        layout: Layout,
        arrays: Mapping[str, NDArray[Any]],
        late: tuple[LateColumns, NDArray[Any]] | None = None,
        after: Callable[[Source], NDArray[Any]] | None = None,
    ) -> None:
        self.layout, self._after = layout, after
        self._arrays = dict(arrays)
        self._late = late
        self.n_outputs = len(arrays[native.TIME])

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        if name == native.AFTER and name not in self._arrays and self._after is not None:
            self._arrays[name] = self._after(self)
        if name not in self._arrays and self._late is not None:
            columns, newton = self._late
            self._arrays |= columns.found(self.layout, self._arrays, newton)
            self._late = None
        return self._arrays[name][key]

    def multipliers(self, rows: slice) -> NDArray[Any]:
        return read_multipliers(self, rows)

    def start_multipliers(self) -> NDArray[Any] | None:
        if self.layout.lam_start is None:
            self.layout.lam_start = start_of_source(self)
        return self.layout.lam_start

    def __getstate__(self) -> dict[str, Any]:
        # functions of a model stay in their process: what is computed from them goes along
        self.start_multipliers()
        if self.layout.n_after:
            self.read(native.AFTER)
        return vars(self)

    def drawn(self, name: str, outputs: slice, shape: tuple[int, ...]) -> None:
        return None

    def held(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        return {name: self.read(name, key) for name in names}

    def changed(self, outputs: slice) -> None:
        return None

    def refresh(self) -> None:
        pass


class _Held:
    """An open file in which each group and dataset is looked up once: that takes longer than reading a row."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._found: dict[str, Any] = {}

    def __getitem__(self, path: str) -> Any:
        if path not in self._found:
            self._found[path] = self._file[path]
        return self._found[path]

    def __contains__(self, path: str) -> bool:
        return path in self._found or path in self._file

    def get(self, path: str) -> Any:
        """None: there is none."""
        try:
            return self[path]
        except KeyError:
            return None


class FileSource:
    """Arrays in a result file, which is open only while it is read: it may grow or be replaced in between."""

    def __init__(self, path: Path) -> None:
        self._held: _Held | None = None
        self.path = path
        if not path.is_file():  # a device may never end, a FIFO never begin
            if path.exists():
                raise ResultError(f"'{path}' is a folder or a device; give the name of a result file")
            raise FileNotFoundError(f"'{path}': no such result file")
        try:
            file = open_file(path, "r")
        except OSError as error:
            raise ResultError(f"'{path}' cannot be read as HDF5; is it a rodsim result? ({error})") from None
        with file, damage_of(path):
            native.check_file(file, path)
            self.layout = native.read_layout(file)
            self.n_outputs = native.count(file)
            native.check_series(file, self.layout, self.n_outputs)

    def read(self, name: str, key: Key = ...) -> NDArray[Any]:
        return self.read_all([name], key)[name]

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, NDArray[Any]]:
        key = key if isinstance(key, tuple) else (key,)
        first = slice(None) if key[0] is Ellipsis else key[0]
        if isinstance(first, slice):  # the file has room for more outputs than it holds
            first = slice(*first.indices(self.n_outputs))
        with damage_of(self.path), self._open() as file:  # once for all: that takes longer than reading a row
            if len(key) == 1:
                return {name: native.read_rows(file, name, first) for name in names}
            return {name: np.asarray(file[f"{native.ROOT}/{name}"][(first, *key[1:])]) for name in names}

    def multipliers(self, rows: slice) -> NDArray[Any]:
        return read_multipliers(self, rows)

    def start_multipliers(self) -> NDArray[Any] | None:
        return self.layout.lam_start

    def drawn(self, name: str, outputs: slice, shape: tuple[int, ...]) -> NDArray[Any] | None:
        with damage_of(self.path), self._open() as file:
            dataset = file.get(f"{VTKHDF}/{name}")
            means = name.rpartition("/")[2] in OF_RODS and not older_files.has_lines(file[native.ROOT])
            if dataset is None or 0 in shape or means:
                return None
            rows, count = (shape[0] if shape else 1), outputs.stop - outputs.start
            stored = np.asarray(dataset[outputs.start * rows : outputs.stop * rows])
            if stored.shape != (count * rows, *shape[1:]) or stored.dtype.kind != "f":
                raise ValueError(f"'{name}' has the shape {dataset.shape} of {dataset.dtype}")
            return stored.reshape(count, *shape)

    def changed(self, outputs: slice) -> list[digests.Changed] | None:
        with damage_of(self.path), self._open() as file:
            return digests.changed(file, outputs)

    def _open(self) -> AbstractContextManager[Any]:
        """The file, or what is held of it: `[path]`, `in` and `get`."""
        return open_file(self.path, "r") if self._held is None else nullcontext(self._held)

    @contextmanager
    def held(self) -> Iterator[None]:
        with open_file(self.path, "r") as file:
            self._held = _Held(file)
            try:
                yield
            finally:
                self._held = None

    def refresh(self) -> None:
        with damage_of(self.path), self._open() as file:
            self.n_outputs = native.count(file)
