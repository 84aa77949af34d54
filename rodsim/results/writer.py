"""Write the outputs of a run to a journal, from which the result file is made at the end, or to memory."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats, Ints, State
from rodsim.results import file_checksums, journal, native_format, stored_states
from rodsim.results.array_sources import FileSource, JournalSource, MemorySource, open_source
from rodsim.results.atomic_write import check_target, named
from rodsim.results.distances import SURFACES
from rodsim.results.journal import CRC, Journal, checksums, journal_of, record_type
from rodsim.results.layout import Layout
from rodsim.results.lazy_columns import NAMES as LATE
from rodsim.results.lazy_columns import LazyColumns
from rodsim.results.lock import Lock
from rodsim.results.memory_multipliers import multipliers_after
from rodsim.results.outputs import Outputs
from rodsim.results.result import Result
from rodsim.results.result_file import write_file
from rodsim.results.resume_state import check_same_model, last_output
from rodsim.results.snapshots import Snapshots
from rodsim.results.storage import blocks_of

SYNC_EVERY = 5.0  # s between syncs to the disk; they protect against a power cut, a killed process needs none


class MemoryWriter:
    """Store the outputs of a run in memory."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.n_outputs = 0
        self._items, self.output_bytes = native_format.series_in_memory(layout)
        self._batches: dict[str, list[NDArray[Any]]] = {name: [] for name in self._items}
        self._lazy: LazyColumns | None = None
        self._newton: list[Floats] = []  # Newton columns of outputs with lazy columns

    def append(
        self, t: float, step: int, state: State, strains: Floats, stresses: Floats, audit: Mapping[str, float]
    ) -> None:
        """Store one output; see `ResultWriter.append`."""
        self.extend(Outputs.single(t, step, state, strains, stresses, audit))

    def extend(self, outputs: Outputs) -> None:
        """Store several outputs, with all their columns."""
        if self._lazy is not None:
            raise ValueError("outputs after lazily computed ones; add these by `extend_lazily` as well")
        self.layout.check_state(outputs.state, len(outputs.t))
        self._store(outputs, _native_values(self.layout, outputs))

    def extend_lazily(
        self,
        t: Floats,
        steps: Ints,
        states: State,
        newton: Floats,
        lazy: LazyColumns,
        after: Floats | None = None,
    ) -> None:
        """Store k outputs by their states (k, ...); `lazy` computes the derived columns when they are first read.

        All outputs of a result must be stored in this way. `newton` (k, 3): Newton columns; `after` (k, m): multipliers of the
        step after each output.
        """
        if self.n_outputs and self._lazy is None:
            raise ValueError("lazy columns after computed ones; add these by `extend` as well")
        self.layout.check_state(states, len(t))
        self._lazy = lazy
        self._newton.append(np.array(newton, copy=True))
        none = np.zeros((len(t), 0))
        outputs = Outputs(t, steps, states, none, none, none, after)
        values = _native_values(self.layout, outputs)
        self._store(outputs, {name: value for name, value in values.items() if name not in LATE})

    def _store(self, outputs: Outputs, values: Mapping[str, NDArray[Any]]) -> None:
        """Store copies of the arrays `values` of these outputs."""
        for name, rows in values.items():
            self._batches[name].append(np.array(rows, copy=True))
        self.n_outputs += len(outputs.t)

    def close(self) -> None:
        """Do nothing; present because `ResultWriter` has this method."""

    def result(self) -> Result:
        """Return the outputs stored so far as a `Result`."""
        lazy = None if self._lazy is None else (self._lazy, np.concatenate(self._newton))
        arrays = {}
        for name, item in self._items.items():
            if name == native_format.LAM_AFTER and not self._batches[name]:
                continue  # computed if a force is read
            if lazy is None or name not in LATE:
                batches = self._batches[name]
                if len(batches) == 1 and batches[0].dtype == item.dtype:  # never changed: no copy
                    arrays[name] = batches[0]
                else:
                    arrays[name] = np.concatenate([np.zeros((0, *item.shape), item.dtype), *batches])
        return Result(MemorySource(self.layout, arrays, lazy, multipliers_after))


class ResultWriter:
    """Append outputs to the journal of a result; an output survives a killed process once `append` or `extend` has returned.

    `close` makes the result file, and so does every snapshot for programs such as ParaView. The journal of a new run appears
    together with its first outputs and replaces the file of an earlier run; until then that file stays unchanged. The result is
    locked against other writers until `close`.
    """

    def __init__(
        self, path: Path, layout: Layout, head: bytes, capacity: int, lock: Lock, snapshots: Snapshots
    ) -> None:
        """Set up a writer without a journal; call `create` or `resume` instead."""
        self.path, self.layout = path, layout
        self._head, self._capacity, self._lock, self._snapshots = head, capacity, lock, snapshots
        self._kind = record_type(native_format.series(layout))
        self._synced = time.monotonic()
        self._working = path.with_name(f".{path.name}.{os.getpid()}.partial")  # name of the journal at first
        self._journal: Journal

    @classmethod
    def create(
        cls, path: Path | str, layout: Layout, capacity: int, snapshot: int | str | None = None
    ) -> ResultWriter:
        """Create a journal for at most `capacity` outputs; `snapshot`: see `Snapshots.of`.

        Raises
        ------
        FileNotFoundError: the folder does not exist.
        FileExistsError: `path` is a device, a pipe or a symbolic link.
        BlockingIOError: another writer has locked the result.
        ValueError: capacity < 1, or the layout contradicts itself.
        """
        path = Path(path)
        if capacity < 1:
            raise ValueError(f"'{path}': capacity = {capacity} outputs; give at least 1, the initial state")
        check_target(path)
        head = native_format.head(layout)
        with _locked(path) as lock, named(path):
            writer = cls(path, layout, head, capacity, lock, Snapshots.of(snapshot))
            writer._begin()
            return writer

    @classmethod
    def resume(
        cls, path: Path | str, layout: Layout, capacity: int, snapshot: int | str | None = None
    ) -> tuple[ResultWriter, float, int, State]:
        """Resume a result; return the writer, and time (s), step number and state of its last output.

        `capacity` includes the outputs that are stored. The journal of a killed run is continued. A file, and a journal whose
        run had another end, are copied to a new journal.

        Raises
        ------
        FileNotFoundError: there is neither file nor journal.
        BlockingIOError: another writer has locked the result.
        ResultError: the file is not a rodsim result, or the result of another model.
        """
        path = Path(path)
        if not path.exists() and not journal_of(path).exists():
            raise FileNotFoundError(f"'{path}': no result to resume; run without resume first")
        check_target(path)
        open_source(path)  # raises unless it is a readable result
        with _locked(path) as lock, named(path):
            source = open_source(path)
            check_same_model(source.layout, layout, path)
            # the stored surfaces are kept: the resolution of shapes may have changed between versions; so are its arrays
            layout = replace(layout, bodies=source.layout.bodies, older=source.layout.older)
            if SURFACES not in source.layout.description:  # an older file
                layout.description.pop(SURFACES, None)
            last = last_output(source)
            head, most = native_format.head(layout), max(capacity, last.n)
            writer = cls(path, layout, head, most, lock, Snapshots.of(snapshot))
            writer._resume(source)
        return writer, last.t, last.step, last.state

    def _begin(self) -> None:
        """Create the journal under its first name."""
        try:
            self._journal = Journal.create(self._working, self._head)
        except BaseException:
            self._working.unlink(missing_ok=True)
            raise

    def _resume(self, source: FileSource | JournalSource) -> None:
        """Open the journal of `source`, or copy its outputs to a new one."""
        if isinstance(source, JournalSource) and source.head.startswith(self._head):
            self._journal = Journal.reopen(source.journal, source.n_outputs, self._kind.itemsize)
            self._working = source.journal
            return
        self._begin()
        try:
            for part in blocks_of(source.n_outputs, self._kind.itemsize):
                self._journal.append(source.records(self._kind, part))
            self._journal.sync()
            self._show()
        except BaseException:
            self._journal.close()
            self._working.unlink(missing_ok=True)
            raise

    @property
    def n_outputs(self) -> int:
        """Number of stored outputs."""
        return self._journal.n_outputs

    @property
    def output_bytes(self) -> int:
        """Number of bytes of one output in the journal."""
        return self._kind.itemsize

    def append(
        self, t: float, step: int, state: State, strains: Floats, stresses: Floats, audit: Mapping[str, float]
    ) -> None:
        """Store one output.

        Parameters
        ----------
        t, step : time, s, and number of steps since t = 0
        state : state of all frames
        strains, stresses : (n_elements, 6) arrays (Gamma, K), 1 and 1/m, and (N, M), N and N m
        audit : values of the columns of `rodsim.results.audit_columns`
        """
        self.extend(Outputs.single(t, step, state, strains, stresses, audit))

    def extend(self, outputs: Outputs) -> None:
        """Store several outputs.

        If it is interrupted, `n_outputs` is the number of stored outputs.
        """
        count = len(outputs.t)
        if self.n_outputs + count > self._capacity:
            raise ValueError(
                f"'{self.path}' has room for {self._capacity} outputs; resume with a larger capacity"
            )
        if outputs.after is None and self.layout.n_after:
            outputs = outputs._replace(after=np.full((count, self.layout.n_after), np.nan))
        records = file_checksums.make_records(self._kind, count, _native_values(self.layout, outputs))
        records[CRC] = checksums(records)
        with named(self.path):
            self._journal.append(records)
            if time.monotonic() - self._synced > SYNC_EVERY:
                self._journal.sync()
                self._synced = time.monotonic()
            self._show()
        if self._snapshots.is_due(self.n_outputs):
            self.snapshot()

    def _show(self) -> None:
        """Give the journal its name if it has outputs; it replaces the result file."""
        journal = journal_of(self.path)
        if self._working != journal and self.n_outputs:
            os.replace(self._working, journal)  # the file stays open under its new name
            self._working = journal
            self.path.unlink(missing_ok=True)

    def snapshot(self) -> None:
        """Write a result file with the outputs stored so far; the run may continue."""
        source = JournalSource(self.path, self._working)
        source.layout = self.layout
        write_file(self.path, source)

    def close(self) -> None:
        """Make the result file, remove the journal and release the lock; a second call does nothing.

        Raises OSError if the disk has no room for the file; the journal is kept.
        """
        if not self._lock.held:
            return
        try:
            if self.n_outputs:
                with named(self.path):
                    self._journal.sync()
                    self._show()
                _convert(self.snapshot, self.path)
            self._journal.close()
            self._working.unlink(missing_ok=True)
        finally:
            self._journal.close()
            self._lock.release()

    def result(self) -> Result:
        """Return the outputs stored so far as a `Result`, without checking what was just written."""
        return Result(open_source(self.path))

    def __enter__(self) -> ResultWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def recover(path: Path | str) -> Result:
    """Make the result file of a run that was killed from its journal.

    Parameters
    ----------
    path : Path or str
        The file that was named as `output` of the run.

    Returns
    -------
    Result
        All outputs that the run had stored.

    Raises
    ------
    FileNotFoundError: there is no journal of this name.
    BlockingIOError: the run has not ended.
    ResultError: the journal cannot be read.
    OSError: the disk has no room for the file; the journal is kept.

    Examples
    --------
    >>> from rodsim import recover
    >>> recover("killed.vtkhdf").n_outputs
    6
    """
    path = Path(path)
    path = path.with_name(path.name.removesuffix(journal.SUFFIX))
    journal_path = journal_of(path)
    if not journal_path.is_file():
        reason = "it is a result file already" if path.is_file() else "there is no such run"
        raise FileNotFoundError(f"'{path}': no journal '{journal_path.name}' to recover; {reason}")
    with _locked(path) as lock:
        source = JournalSource(path)
        _convert(lambda: write_file(path, source), path)
        journal_path.unlink()
        lock.release()
    return Result.load(path)


def _convert(write: Callable[[], None], path: Path) -> None:
    """Call `write`, which makes the result file; if it fails, the error says where the outputs are."""
    try:
        write()
    except OSError as error:
        name = journal_of(path).name
        message = f"{error.strerror or error}; all outputs are in '{name}'; free space and run `rodsim recover {path}`"
        raise OSError(error.errno, message, str(path)) from error


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[Lock]:
    """Lock a result and delete the temporary files of killed writers; release the lock if the block fails."""
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
    after = {} if outputs.after is None else {native_format.LAM_AFTER: outputs.after}
    return {
        **stored_states.parts(layout, outputs.state),
        **after,
        "strains": outputs.strains,
        "stresses": outputs.stresses,
        native_format.AUDIT: outputs.audit,
        native_format.TIME: outputs.t,
        native_format.STEP: outputs.step,
    }
