"""Write results to a file that is both VTKHDF and native, or to memory, with the same methods `append` and `extend`."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats, Ints, State
from rodsim.results import digests, native, stored_states, vtkhdf
from rodsim.results.distances import SURFACES
from rodsim.results.drawing import Drawing
from rodsim.results.late_columns import NAMES as LATE
from rodsim.results.late_columns import LateColumns
from rodsim.results.layout import Layout
from rodsim.results.lock import Lock
from rodsim.results.memory_multipliers import after_in_memory
from rodsim.results.new_file import all_series, build, check_rows, extend, room_for, row_series
from rodsim.results.outputs import Outputs
from rodsim.results.result import Result
from rodsim.results.resuming import check_same_model, last_output, plain
from rodsim.results.sources import FileSource, MemorySource, damage_of
from rodsim.results.storage import Counter, RowWriter, Series, in_one_piece, open_file, places_of
from rodsim.results.whole_file import check_target, named

SYNC_EVERY = 5.0  # s between syncs to the disk; they protect against a power cut, a killed process needs none


class MemoryWriter:
    """Store the outputs of a run in memory."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.n_outputs = 0
        self._items, self.output_bytes = native.series_in_memory(layout)
        self._batches: dict[str, list[NDArray[Any]]] = {name: [] for name in self._items}
        self._late: LateColumns | None = None
        self._newton: list[Floats] = []  # Newton columns of outputs with lazy columns

    def append(
        self, t: float, step: int, state: State, strains: Floats, stresses: Floats, audit: Mapping[str, float]
    ) -> None:
        """Store one output; see `ResultWriter.append`."""
        self.extend(Outputs.single(t, step, state, strains, stresses, audit))

    def extend(self, outputs: Outputs) -> None:
        """Store several outputs, with all their columns."""
        if self._late is not None:
            raise ValueError(
                "outputs behind some whose columns are late; give these by `extend_late` as well"
            )
        self.layout.check_state(outputs.state, len(outputs.t))
        self._keep(outputs, _native_values(self.layout, outputs))

    def extend_late(
        self,
        t: Floats,
        steps: Ints,
        states: State,
        newton: Floats,
        late: LateColumns,
        after: Floats | None = None,
    ) -> None:
        """Store k outputs by their states (k, ...); `late` computes the derived columns when they are first read.

        All outputs of a result must be stored in this way. `newton` (k, 3): Newton columns; `after` (k, m): multipliers of the
        step after each output.
        """
        if self.n_outputs and self._late is None:
            raise ValueError("late columns behind outputs that have theirs; give these by `extend` as well")
        self.layout.check_state(states, len(t))
        self._late = late
        self._newton.append(np.array(newton, copy=True))
        none = np.zeros((len(t), 0))
        outputs = Outputs(t, steps, states, none, none, none, after)
        values = _native_values(self.layout, outputs)
        self._keep(outputs, {name: value for name, value in values.items() if name not in LATE})

    def _keep(self, outputs: Outputs, values: Mapping[str, NDArray[Any]]) -> None:
        """Store copies of the arrays `values` of these outputs."""
        for name, of_outputs in values.items():
            self._batches[name].append(np.array(of_outputs, copy=True))
        self.n_outputs += len(outputs.t)

    def close(self) -> None:
        """Do nothing; present because `ResultWriter` has this method."""

    def result(self) -> Result:
        """Return the outputs stored so far as a `Result`."""
        late = None if self._late is None else (self._late, np.concatenate(self._newton))
        arrays = {}
        for name, item in self._items.items():
            if name == native.AFTER and not self._batches[name]:
                continue  # computed if a force is read
            if late is None or name not in LATE:
                batches = self._batches[name]
                if len(batches) == 1 and batches[0].dtype == item.dtype:  # never changed: no copy
                    arrays[name] = batches[0]
                else:
                    arrays[name] = np.concatenate([np.zeros((0, *item.shape), item.dtype), *batches])
        return Result(MemorySource(self.layout, arrays, late, after_in_memory))


class ResultWriter:
    """Append outputs to a result file; an output survives a killed process once `append` or `extend` has returned.

    A new file appears under its name together with its first outputs, atomically; until then an existing file of that name
    stays unchanged. The file is locked against other writers until `close`.
    """

    def __init__(
        self, path: Path, working: Path, layout: Layout, drawing: Drawing, capacity: int, lock: Lock
    ) -> None:
        """Open the rows of a complete file for writing; call `create` or `resume` instead."""
        self.path = path
        self.layout = layout
        self._working = working
        self._drawing = drawing
        self._capacity = capacity
        self._lock = lock
        self._series = all_series(layout, drawing)
        self.output_bytes = sum(item.nbytes for item in self._series)
        self._synced = time.monotonic()
        self._rows, self._n, self._room = _open_rows(working, self._series)
        if self._n:
            self._rows.count(self._n)  # a kill may have hit between the writes of the two counters

    @classmethod
    def create(cls, path: Path | str, layout: Layout, capacity: int) -> ResultWriter:
        """Create a result file for at most `capacity` outputs; its size grows with them.

        Raises
        ------
        FileNotFoundError: the folder does not exist.
        FileExistsError: `path` is a device, a pipe or a symbolic link.
        BlockingIOError: another writer has locked the file.
        ValueError: capacity < 1, or the layout contradicts itself.
        """
        path = Path(path)
        if capacity < 1:
            raise ValueError(f"'{path}': capacity = {capacity} outputs; give at least 1, the initial state")
        check_target(path)
        drawing = Drawing(layout, surfaces=True)
        with _locked(path) as lock, named(path):
            working = build(path, layout, drawing, room_for(layout, drawing, 0, capacity))
            try:
                return cls(path, working, layout, drawing, capacity, lock)
            except BaseException:
                working.unlink(missing_ok=True)
                raise

    @classmethod
    def resume(
        cls, path: Path | str, layout: Layout, capacity: int
    ) -> tuple[ResultWriter, float, int, State]:
        """Resume a result file; return the writer, and time (s), step number and state of its last output.

        `capacity` includes the outputs the file already holds. If the file differs from the one that a run to the new end
        would have written, it is copied to a new file of that form, which replaces it when it is complete.

        Raises
        ------
        FileNotFoundError: the file does not exist.
        BlockingIOError: another writer has locked the file.
        ResultError: the file is not a rodsim result, or the result of another model.
        """
        path = Path(path)
        if not path.exists():
            raise FileNotFoundError(f"'{path}': no result to resume; run without resume first")
        check_target(path)
        FileSource(path)  # raises unless the file is a readable result
        with _locked(path) as lock, named(path):
            return cls._resume(path, layout, capacity, lock)

    @classmethod
    def _resume(
        cls, path: Path, layout: Layout, capacity: int, lock: Lock
    ) -> tuple[ResultWriter, float, int, State]:
        """Resume a locked file, see `resume`."""
        with damage_of(path), open_file(path, "r") as file:
            root = native.check_file(file, path)
            stored = native.read_layout(file)
            check_same_model(stored, layout, path)
            # the file's surfaces are kept: the resolution of shapes may have changed between versions; so are its arrays
            layout = replace(layout, bodies=stored.bodies, older=stored.older)
            if SURFACES not in stored.description:  # an older file
                layout.description.pop(SURFACES, None)
            room = int(root.attrs["capacity"])
            n, t, step, state = last_output(file, path, stored)
            counter = Counter(*(int(place) for place in root.attrs["counter"]))
            length = file[vtkhdf.VALUES].shape[0]
            drawing = Drawing(layout, surfaces=True)
            items = row_series(layout, drawing)
            check_rows(file, items, n)
            as_written = digests.is_sealed(file, items) and in_one_piece(file, items)
        with open(path, "rb") as raw:
            in_place = as_written and counter.holds(raw, n, length)
        wanted = room_for(layout, drawing, n, max(capacity, n))
        if wanted > room or not in_place or stored.description != plain(layout):
            extend(path, layout, drawing, n, max(wanted, room))
        return cls(path, path, layout, drawing, max(capacity, n), lock), t, step, state

    @property
    def n_outputs(self) -> int:
        """Number of outputs in the file."""
        return self._n

    def append(
        self, t: float, step: int, state: State, strains: Floats, stresses: Floats, audit: Mapping[str, float]
    ) -> None:
        """Store one output.

        Parameters
        ----------
        t, step : time, s, and number of steps since t = 0
        state : state of all frames
        strains, stresses : (n_elements, 6) arrays (Gamma, K), 1 and 1/m, and (N, M), N and N m
        audit : values of the columns of `rodsim.results.columns`
        """
        self.extend(Outputs.single(t, step, state, strains, stresses, audit))

    def extend(self, outputs: Outputs) -> None:
        """Store several outputs.

        If it is interrupted, `n_outputs` tells how many outputs the file holds.
        """
        count = len(outputs.t)
        if self._n + count > self._capacity:
            raise ValueError(
                f"'{self.path}' has room for {self._capacity} outputs; resume with a larger capacity"
            )
        done = 0
        with named(self.path):
            while done < count:
                if self._n == self._room:
                    self._grow()
                part = slice(done, min(count, done + self._room - self._n))
                self._store(outputs.part(part))
                done = part.stop

    def _store(self, outputs: Outputs) -> None:
        """Store outputs for which the file has room."""
        if outputs.after is None and self.layout.n_after:
            outputs = outputs._replace(after=np.full((len(outputs.t), self.layout.n_after), np.nan))
        values = {
            f"{native.ROOT}/{name}": value for name, value in _native_values(self.layout, outputs).items()
        }
        points, arrays = self._drawing.arrays(outputs.state, outputs.strains, outputs.stresses)
        values[f"{vtkhdf.ROOT}/Points"] = points
        values.update({f"{vtkhdf.ROOT}/PointData/{name}": value for name, value in arrays.items()})
        values[vtkhdf.VALUES] = outputs.t
        rows = {name: self._rows.as_stored(name, value) for name, value in values.items()}
        rows[digests.ROWS] = digests.of_outputs([rows[item.path] for item in self._series[:-1]])
        for name, value in rows.items():
            self._rows.write(name, self._n, value)
        if time.monotonic() - self._synced > SYNC_EVERY:
            self._sync()
        n = self._n + len(outputs.t)
        self._rows.count(n)
        self._n = n
        if self._working != self.path:
            os.replace(self._working, self.path)  # the file stays open under its new name
            self._working = self.path

    def close(self) -> None:
        """Sync the file to the disk, close it and release its lock; a second call does nothing."""
        if self._lock.held:
            try:
                with named(self.path):
                    self._sync()
            finally:
                self._rows.close()
                if self._working != self.path:  # nothing was ever stored
                    self._working.unlink(missing_ok=True)
                self._lock.release()

    def result(self) -> Result:
        """Return the file as a `Result`, with the outputs stored so far."""
        return Result.load(self.path)

    def __enter__(self) -> ResultWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _grow(self) -> None:
        """Replace the file by a copy with about twice the room, at most the capacity.

        Bytes are copied, since HDF5 would return cached data if a reader in this process has the file open.
        """
        working = build(self.path, self.layout, self._drawing, self._room_for(self._n))
        try:
            rows, _, room = _open_rows(working, self._series)
            try:
                self._rows.copy(rows, self._n)
                rows.count(self._n)
                os.fsync(rows.fileno())  # or a power cut could take both files
                os.replace(working, self.path)  # `rows` stays open under its new name
            except BaseException:
                rows.close()
                raise
        except BaseException:
            working.unlink(missing_ok=True)
            raise
        self._rows.close()
        self._rows, self._room = rows, room

    def _room_for(self, n: int) -> int:
        return room_for(self.layout, self._drawing, n, self._capacity)

    def _sync(self) -> None:
        os.fsync(self._rows.fileno())
        self._synced = time.monotonic()


def _open_rows(path: Path, series: list[Series]) -> tuple[RowWriter, int, int]:
    """Return a writer of the rows of a file, the number of its outputs, and the number for which it has room."""
    with open_file(path, "r") as file:
        root = file[native.ROOT]
        places = places_of(file, series, [vtkhdf.VALUES])
        counter = Counter(*(int(place) for place in root.attrs["counter"]))
        n, room = native.count(file), int(root.attrs["capacity"])
    return RowWriter(path, places, counter), n, room


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[Lock]:
    """Lock a file and delete the temporary files of killed writers; release the lock if the block fails."""
    lock = Lock(path)
    try:
        for file in path.parent.iterdir():
            if re.fullmatch(rf"\.{re.escape(path.name)}\.\d+\.partial", file.name):
                file.unlink()
        yield lock
    except BaseException:
        lock.release()
        raise


def _native_values(layout: Layout, outputs: Outputs) -> dict[str, NDArray[Any]]:
    """Return the arrays of the native group by name, one row per output."""
    after = {} if outputs.after is None else {native.AFTER: outputs.after}
    return {
        **stored_states.parts(layout, outputs.state),
        **after,
        "strains": outputs.strains,
        "stresses": outputs.stresses,
        native.AUDIT: outputs.audit,
        native.TIME: outputs.t,
        native.STEP: outputs.step,
    }
