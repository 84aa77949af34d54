"""Writers of results: to a file that is VTKHDF and native at once, or to memory, with the same `append`."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats, State
from rodsim.results import native, vtkhdf
from rodsim.results.columns import COLUMNS
from rodsim.results.drawing import Drawing
from rodsim.results.layout import Layout
from rodsim.results.storage import Counter, RowWriter, Series, create_series, open_file, places_of

if TYPE_CHECKING:
    import h5py

    from rodsim.results.result import Result

SYNC_EVERY = 5.0  # s between writes through to the disk; a kill loses nothing without them, a power cut may
COPY_BYTES = 2**24
MARK = 0x6D6F646E6573746D  # stands for the number of outputs until its place in the file is known


def stored_outputs(path: Path | str) -> tuple[int, int]:
    """Number of outputs in a result file, and the step of the last one; (0, -1) where there is none."""
    if not Path(path).is_file():
        return 0, -1
    with open_file(Path(path), "r") as file:
        root = native.check_file(file, Path(path))
        n = native.count(file)
        return n, int(root[native.STEP][n - 1]) if n else -1


def audit_row(audit: Mapping[str, float]) -> Floats:
    """The audit as a row in the order of `COLUMNS`; ValueError where a column is missing or unknown."""
    try:
        row = np.array([audit[name] for name in COLUMNS], dtype=np.float64)
    except KeyError as error:
        raise ValueError(f"audit: no column {error}; give all of {', '.join(COLUMNS)}") from None
    if len(audit) != len(COLUMNS):
        unknown = ", ".join(sorted(set(audit) - set(COLUMNS)))
        raise ValueError(f"audit: unknown column {unknown}; the columns are {', '.join(COLUMNS)}")
    return row


class MemoryWriter:
    """Keeps the outputs of a run in lists."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._rows: dict[str, list[Floats]] = {
            item.path.removeprefix(f"{native.ROOT}/"): [] for item in native.series(layout)
        }

    @property
    def n_outputs(self) -> int:
        return len(self._rows[native.TIME])

    def append(
        self, t: float, step: int, state: State, strains: Floats, stresses: Floats, audit: Mapping[str, float]
    ) -> None:
        """Keep one output; see `ResultWriter.append`."""
        self.layout.check_state(state)
        for name, value in _native_values(t, step, state, strains, stresses, audit).items():
            self._rows[name].append(np.array(value, copy=True))

    def close(self) -> None:
        """Nothing to do; for symmetry with `ResultWriter`."""

    def result(self) -> Result:
        """What was kept so far."""
        from rodsim.results.result import MemorySource, Result

        shapes = {item.path.removeprefix(f"{native.ROOT}/"): item for item in native.series(self.layout)}
        arrays = {
            name: np.array(rows, dtype=shapes[name].dtype).reshape(len(rows), *shapes[name].shape)
            for name, rows in self._rows.items()
        }
        return Result(MemorySource(self.layout, arrays))


class ResultWriter:
    """Appends outputs to a result file; an output is safe from a kill when `append` has returned.

    A new file appears under its own name with its first output, in one step; until then a file of that name
    stays as it was.
    """

    def __init__(self, path: Path, working: Path, layout: Layout, drawing: Drawing) -> None:
        """Use `create` or `resume`."""
        self.path = path
        self.layout = layout
        self._working = working
        self._drawing = drawing
        self._series = _all_series(layout, drawing)
        self._closed = False
        self._open()

    @classmethod
    def create(cls, path: Path | str, layout: Layout, capacity: int) -> ResultWriter:
        """Start a result file with room for `capacity` outputs.

        Raises
        ------
        FileNotFoundError: the folder does not exist.
        ValueError: capacity < 1, or a layout that contradicts itself.
        """
        path = Path(path)
        if capacity < 1:
            raise ValueError(f"'{path}': capacity = {capacity} outputs; give at least 1, the initial state")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"'{path}': no folder '{path.parent}'; make it first")
        if path.is_dir():
            raise IsADirectoryError(f"'{path}' is a folder; give the name of a file")
        drawing = Drawing(layout)
        working = _build(path, layout, drawing, capacity)
        try:
            return cls(path, working, layout, drawing)
        except BaseException:
            working.unlink(missing_ok=True)
            raise

    @classmethod
    def resume(
        cls, path: Path | str, layout: Layout, capacity: int
    ) -> tuple[ResultWriter, float, int, State]:
        """Go on with a result file: the writer, and time, step number and state of its last output.

        `capacity` counts the outputs the file already holds. A file with less room is copied into a larger
        one, which takes its place when it is complete.

        Raises
        ------
        FileNotFoundError: no such file.
        ValueError: not a rodsim result, or the result of another model.
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"'{path}': no result to resume; run without resume first")
        with open_file(path, "r") as file:
            root = native.check_file(file, path)
            stored = native.read_layout(file)
            _check_same_model(stored, layout, path)
            # the file's surfaces stay: how finely a shape is drawn may have changed since
            layout = replace(layout, bodies=stored.bodies)
            n, room = native.count(file), int(root.attrs["capacity"])
            if n < 1:
                raise ValueError(f"'{path}' holds no output to resume from; run without resume")
            t, step = float(root[native.TIME][n - 1]), int(root[native.STEP][n - 1])
            state = State(**{name: root[name][n - 1] for name in layout.state_shapes()})
            counter = Counter(*(int(place) for place in root.attrs["counter"]))
            length = file[vtkhdf.VALUES].shape[0]
        drawing = Drawing(layout)
        with open(path, "rb") as raw:
            in_place = counter.holds(raw, n, length)
        if capacity > room or not in_place:
            _extend(path, layout, drawing, n, max(capacity, room))
        return cls(path, path, layout, drawing), t, step, state

    @property
    def n_outputs(self) -> int:
        """Outputs in the file."""
        return self._n

    def append(
        self, t: float, step: int, state: State, strains: Floats, stresses: Floats, audit: Mapping[str, float]
    ) -> None:
        """Store one output.

        Parameters
        ----------
        t, step : time in s and number of steps since t = 0
        state : of all frames
        strains, stresses : (n_elements, 6), (Gamma, K) and (N, M)
        audit : the columns of `rodsim.results.columns`
        """
        if self._n >= self._capacity:
            raise ValueError(
                f"'{self.path}' has room for {self._capacity} outputs; resume with a larger capacity"
            )
        values: dict[str, NDArray[Any] | np.generic] = {
            f"{native.ROOT}/{name}": value
            for name, value in _native_values(t, step, state, strains, stresses, audit).items()
        }
        points, arrays = self._drawing.arrays(state, strains, stresses)
        values[f"{vtkhdf.ROOT}/Points"] = points
        values.update({f"{vtkhdf.ROOT}/PointData/{name}": value for name, value in arrays.items()})
        values[vtkhdf.VALUES] = np.float64(t)
        for name, value in values.items():
            self._rows.write(name, self._n, value)
        if time.monotonic() - self._synced > SYNC_EVERY:
            self._sync()
        self._rows.count(self._n + 1)
        self._n += 1
        if self._working != self.path:
            self._publish()

    def close(self) -> None:
        """Write through to the disk and let go of the file; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self._sync()
            self._rows.close()
            if self._working != self.path:  # nothing was ever stored
                self._working.unlink(missing_ok=True)

    def result(self) -> Result:
        """The file as a `Result`, with the outputs stored so far."""
        from rodsim.results.result import Result

        return Result.open(self.path)

    def __enter__(self) -> ResultWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open(self) -> None:
        with open_file(self._working, "r") as file:
            root = file[native.ROOT]
            self._n, self._capacity = native.count(file), int(root.attrs["capacity"])
            places = places_of(file, self._series, [vtkhdf.VALUES])
            counter = Counter(*(int(place) for place in root.attrs["counter"]))
        self._rows = RowWriter(self._working, places, counter)
        self._synced = time.monotonic()
        if self._n:
            self._rows.count(self._n)  # a kill may have come between the two places of the counter

    def _publish(self) -> None:
        self._rows.close()
        os.replace(self._working, self.path)
        self._working = self.path
        self._open()

    def _sync(self) -> None:
        os.fsync(self._rows.fileno())
        self._synced = time.monotonic()


def _native_values(
    t: float, step: int, state: State, strains: Floats, stresses: Floats, audit: Mapping[str, float]
) -> dict[str, Any]:
    values = {name: value for name, value in state._asdict().items() if name != "chart" or len(value)}
    values.update(
        strains=strains,
        stresses=stresses,
        audit=audit_row(audit),
        time=np.float64(t),
        step=np.int64(step),
    )
    return values


def _all_series(layout: Layout, drawing: Drawing) -> list[Series]:
    return [*vtkhdf.series(drawing), *native.series(layout)]


def _build(path: Path, layout: Layout, drawing: Drawing, capacity: int) -> Path:
    """An empty result file beside `path`, complete but for outputs."""
    working = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open_file(working, "w") as file:
            vtkhdf.create_counter(file, capacity, MARK)
        counter = Counter.find(working, MARK, capacity)
        with open_file(working, "r+") as file:
            vtkhdf.create(file, drawing, capacity)
            native.create(file, layout, capacity, counter)
            create_series(file, _all_series(layout, drawing), capacity)
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


def _extend(path: Path, layout: Layout, drawing: Drawing, n: int, capacity: int) -> None:
    """Replace the file by one with more room and the same n outputs."""
    working = _build(path, layout, drawing, capacity)
    try:
        with open_file(path, "r") as old, open_file(working, "r+") as new:
            for item in _all_series(layout, drawing):
                rows = n * item.shape[0] if item.flat else n
                _copy_rows(old[item.path], new[item.path], rows)
            new[vtkhdf.VALUES].id.set_extent((n,))
            new[vtkhdf.VALUES][:n] = old[f"{native.ROOT}/{native.TIME}"][:n]
            counter = Counter(*(int(place) for place in new[native.ROOT].attrs["counter"]))
        _set_counter(working, counter, n)
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


def _without_end(layout: Layout) -> dict[str, Any]:
    """The description as JSON gives it back, but for the end of the run: a run may be made longer."""
    description = json.loads(native.description_text(layout))
    if isinstance(description.get("run"), dict):
        description["run"].pop("t_end", None)
    return description


def _check_same_model(stored: Layout, layout: Layout, path: Path) -> None:
    """Raise ValueError unless both describe the same model."""
    old, new = _without_end(stored), _without_end(layout)
    if old != new:
        keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
        raise ValueError(
            f"'{path}' is the result of another model ('{stored.name}' differs from '{layout.name}' in "
            f"{', '.join(keys)}); give another output, or do not resume"
        )
    same = (
        stored.state_shapes() == layout.state_shapes()
        and stored.n_elements == layout.n_elements
        and [rod.name for rod in stored.rods] == [rod.name for rod in layout.rods]
        and [body.name for body in stored.bodies] == [body.name for body in layout.bodies]
        and all(np.array_equal(a.frames, b.frames) for a, b in zip(stored.rods, layout.rods, strict=True))
        and all(a.frame == b.frame for a, b in zip(stored.bodies, layout.bodies, strict=True))
    )
    if not same:
        raise ValueError(
            f"'{path}' is the result of another model (its rods, bodies or numbers of frames and joints "
            f"differ from those of '{layout.name}'); give another output, or do not resume"
        )
