"""Run the cases of a study: in processes of this machine, on the workers of a Dask cluster, or in this process.

Each process of this machine is an executor of its own (`concurrent.futures`), so that its death affects only the cases that it
ran. Dask workers are started by the user, who gives the address of their scheduler or a client; Dask repeats the cases of a dead
worker on others, until more have died than its setting `distributed.scheduler.allowed-failures`.

Small cases are sent in batches that take about `BATCH` seconds and become smaller towards the end. Of each structure the first
case is sent alone; the other cases follow when it has ended, and load the code that it has compiled from the cache. If the worker
of a batch dies, its cases are run again one at a time when all others are done. A case that kills its workers then, too, is
recorded as lost. After a case that does not end at its time limit its process is replaced.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import importlib
import logging
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import types
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from rodsim.extras import extra
from rodsim.studies.cases import Case, Outcome, Recipe, pack, run_batch, run_packed
from rodsim.studies.errors import StudyError, StudyStopped

BATCH = 1.0  # intended time of a batch, s
POLL_INTERVAL = 1.0  # interval between checks of the workers, s
QUIET = 30.0  # time without an outcome until a message is printed, doubled after each, s
PATIENCE = 60.0  # waiting time for a scheduler that does not answer and for its workers, s
MAX_WORKER_DEATHS = 3  # number of deaths of workers after which a case is recorded as lost
MAX_RECONNECTIONS = 5  # largest number of lost schedulers in a row
READY = "ready"  # file by which the first process of this machine reports that it has started
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@contextlib.contextmanager
def open_workers(scheduler: Any = None, workers: int | None = None) -> Iterator[Workers | None]:
    """Provide the workers of a study, which start with the first case; None if cases run in this process (`workers` 0).

    `scheduler`: address of a Dask scheduler, or a `distributed.Client`; None: `workers` processes of this machine, by default one
    for each core.
    """
    opened: Workers | None = None
    if scheduler is not None:
        if workers is not None:
            raise StudyError(
                f"workers = {workers}: the scheduler at {scheduler} has its own; remove one of them"
            )
        extra("distributed", "studies", "a study on a Dask cluster")
        opened = DaskWorkers(scheduler)
    elif workers != 0:
        extra("cloudpickle", "studies", "a study with workers of its own")
        opened = LocalWorkers(workers or _cores())
    try:
        yield opened
    finally:
        if opened is not None:
            opened.close()


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalWorkers:
    """Processes of this machine, each an executor of one process; they start with the first study that has cases to run.

    The processes hold the reading end of a pipe. They end when its writing end is closed: by `close`, or because this process has
    died, however it did. Their temporary files are in one folder, which is removed then.
    """

    deaths: tuple[type[Exception], ...] = (BrokenProcessPool,)  # errors of a batch whose worker died
    losses: tuple[type[Exception], ...] = ()  # errors by which a lost scheduler shows

    def __init__(self, count: int) -> None:
        self.places = count  # number of batches that may be under way
        self._idle: list[concurrent.futures.Executor] = []
        self._busy: dict[Future[Any], concurrent.futures.Executor] = {}
        self._pipe: Any = None  # reading and writing end
        self._scratch = ""

    def start(self, most: int) -> None:
        """Start the processes that are missing, not more than `most`; they import the program meanwhile."""
        while len(self._idle) < min(most, self.places):
            self._idle.append(self._started())

    def _started(self) -> concurrent.futures.Executor:
        """Return an executor of one process, which is started and imports the program."""
        context = multiprocessing.get_context("spawn")
        if self._pipe is None:
            self._pipe = context.Pipe(duplex=False)
            self._scratch = tempfile.mkdtemp(prefix="rodsim-")
        initial_arguments = (self._pipe[0], self._scratch)
        executor = concurrent.futures.ProcessPoolExecutor(1, context, _prepare_process, initial_arguments)
        # a spawned process imports the running script; the study sends by value what the script defines, and a script need not
        # be guarded by `if __name__ == "__main__"`
        without_script = _replaced(sys.modules, {"__main__": types.ModuleType("__main__")})
        with without_script, _replaced(os.environ, dict.fromkeys(THREADS, "1")):
            executor.submit(importlib.import_module, "rodsim.simulation")
        return executor

    def submit(self, *call: Any) -> Future[Any]:
        """Send a function with its arguments to an idle process, which is started if there is none."""
        executor = self._idle.pop() if self._idle else self._started()
        try:
            future = executor.submit(*call)
        except BrokenProcessPool:  # it died while it was idle
            executor.shutdown(wait=False)
            return self.submit(*call)
        self._busy[future] = executor
        return future

    def ended(self, future: Future[Any], usable: bool) -> None:
        """Make the process of a batch idle, or give it up if it is not `usable`; raise StudyError if no process starts at all."""
        executor = self._busy.pop(future)
        if usable:
            self._idle.append(executor)
            return
        executor.shutdown(wait=False)
        if not Path(self._scratch, READY).exists():
            raise StudyError(
                "the workers of the study end before they have started; read what they print, or try workers=0"
            )

    def reconnect(self) -> None:
        """Raise StudyStopped: there is no scheduler that could be lost."""
        raise StudyStopped("the cases of the study were cancelled")

    def close(self) -> None:
        """End all processes, also those that are busy, and remove their temporary files."""
        if self._pipe is not None:
            for end in self._pipe:
                end.close()
            for executor in (*self._idle, *self._busy.values()):
                executor.shutdown(cancel_futures=True)
            shutil.rmtree(self._scratch, ignore_errors=True)


@contextlib.contextmanager
def _replaced(mapping: Any, entries: dict[str, Any]) -> Iterator[None]:
    """Replace entries of a mapping inside the block."""
    before = {name: mapping[name] for name in entries if name in mapping}
    mapping.update(entries)
    try:
        yield
    finally:
        for name in entries:
            del mapping[name]
        mapping.update(before)


def _prepare_process(stop: Any, scratch: str) -> None:
    """Prepare a process for cases: its temporary folder, and a thread that ends it when the pipe `stop` is closed."""

    def end_with_study() -> None:
        with contextlib.suppress(EOFError, OSError):
            stop.recv()
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=end_with_study, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the study, which ends its processes
    tempfile.tempdir = scratch
    with contextlib.suppress(OSError):  # the study may have ended meanwhile
        Path(scratch, READY).touch()


class DaskWorkers:
    """Workers of a Dask scheduler, given by its address or by a client, which is left open."""

    def __init__(self, scheduler: Any) -> None:
        from distributed.scheduler import KilledWorker

        self.deaths: tuple[type[Exception], ...] = (KilledWorker,)
        self.losses: tuple[type[Exception], ...] = (OSError,)
        self._scheduler = scheduler
        self._client: Any = None
        self._lost = 0  # schedulers lost since the last batch ended

    @property
    def places(self) -> int:
        """Return two batches for each thread of a worker: the next one is there when one is done."""
        return 2 * max(1, sum(self._checked_client().nthreads().values()))

    def start(self, most: int) -> None:
        """Connect to the scheduler, whose workers are started by the user; raise StudyStopped if there are none."""
        if self._client is None:
            self._client = self._connected() if isinstance(self._scheduler, str) else self._scheduler
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise StudyStopped("the scheduler has no workers; start some with `dask worker`") from None

    def _connected(self) -> Any:
        """Return a client of the scheduler at the address; raise StudyStopped if none answers."""
        from distributed import Client

        for part in ("client", "core", "comm", "batched"):  # reported by rodsim
            logging.getLogger(f"distributed.{part}").setLevel(logging.CRITICAL)
        last = time.monotonic() + PATIENCE
        while True:
            try:
                return Client(self._scheduler, timeout=min(10.0, PATIENCE))
            except ValueError as error:
                raise StudyError(
                    f"scheduler '{self._scheduler}': {error}; write it as tcp://HOST:8786"
                ) from None
            except OSError:
                if time.monotonic() > last:
                    raise StudyStopped(
                        f"no scheduler answers at '{self._scheduler}'; start one with `dask scheduler`"
                    ) from None
                time.sleep(POLL_INTERVAL)

    def submit(self, *call: Any) -> Future[Any]:
        """Send a function with its arguments to a worker."""
        future: Future[Any] = self._checked_client().get_executor(pure=False).submit(*call)
        return future

    def _checked_client(self) -> Any:
        """Return the client; raise OSError if its scheduler is lost."""
        if self._client.status != "running":
            raise OSError(f"the client of the study is {self._client.status}")
        return self._client

    def ended(self, future: Future[Any], usable: bool) -> None:
        """Record that the scheduler works; Dask replaces the processes of workers."""
        self._lost = 0

    def reconnect(self) -> None:
        """Connect to a new scheduler at the same address; raise StudyStopped if there is none."""
        self._lost += 1
        self.close()
        if not isinstance(self._scheduler, str):
            raise StudyStopped("the client of the study has lost its scheduler")
        if self._lost > MAX_RECONNECTIONS:
            raise StudyStopped(f"the scheduler was lost {self._lost} times in a row")
        self.start(0)

    def close(self) -> None:
        """Close the connection, unless the client is the user's."""
        if self._client is not None and self._client is not self._scheduler:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.close(timeout=5.0)
        self._client = None


Workers = LocalWorkers | DaskWorkers


def run_cases(
    workers: Workers | None,
    recipe: Recipe,
    cases: Sequence[Case],
    on_outcome: Callable[[Outcome], None],
    saved: frozenset[int] = frozenset(),
    notify: Callable[[str], None] = lambda words: None,
) -> None:
    """Run all cases; call `on_outcome` with each outcome, and `notify` with a message if none has arrived for a while.

    `workers`: None to run the cases in this process. `saved`: numbers of the cases whose result files are returned.

    Raises
    ------
    StudyStopped
        If the scheduler is gone for good; the cases whose outcomes `on_outcome` has received are done.
    StudyError
        If the workers cannot run the study at all.
    """
    if workers is None:
        for case in cases:
            on_outcome(run_batch(recipe, [case], saved)[0])
    else:
        _Dispatch(workers, recipe, cases, on_outcome, saved, notify).run()


class _Dispatch:
    """State of a dispatch: waiting cases, batches on workers, and the measured time of a case."""

    def __init__(
        self,
        workers: Workers,
        recipe: Recipe,
        cases: Sequence[Case],
        on_outcome: Callable[[Outcome], None],
        saved: frozenset[int],
        notify: Callable[[str], None],
    ) -> None:
        self._workers, self._on_outcome, self._saved, self._notify = workers, on_outcome, saved, notify
        self._recipe, self._limited = pack(recipe), recipe.limit is not None
        self._ready: deque[Case] = deque()
        self._waiting: dict[str, list[Case]] = {}  # by structure: cases that wait for its first one
        for case in cases:
            if case.structure not in self._waiting:
                self._waiting[case.structure] = []
                self._ready.append(case)
            else:
                self._waiting[case.structure].append(case)
        self._suspects: deque[Case] = deque()  # cases whose worker has died, run one at a time
        self._deaths: Counter[int] = Counter()  # number of a case -> deaths of its workers
        self._died = 0  # deaths of all workers
        self._alone: Future[Any] | None = None  # the suspect that is under way
        self._batches: dict[Future[Any], list[Case]] = {}
        self._seconds: float | None = None  # mean time of a case, s
        self._last, self._patience = time.monotonic(), QUIET

    def run(self) -> None:
        """Run until no case is left."""
        self._workers.start(len(self._ready) + sum(map(len, self._waiting.values())))
        while self._ready or self._suspects or self._batches:
            try:
                self._send()
            except self._workers.losses:
                self._requeue()
            done, _ = concurrent.futures.wait(self._batches, POLL_INTERVAL, FIRST_COMPLETED)
            for future in done:
                self._receive(future)
            self._report(bool(done))

    def _send(self) -> None:
        """Send batches to the workers that are free, and at last single suspects."""
        free = self._workers.places - len(self._batches) if self._ready else 0
        for _ in range(free):
            if self._ready:
                self._submit([self._ready.popleft() for _ in range(self._batch_size())])
        if self._suspects and not (self._batches or self._ready):
            self._alone = self._submit([self._suspects.popleft()])

    def _batch_size(self) -> int:
        """Return the number of cases of the next batch, from the mean time of a case and the number of waiting cases."""
        if self._seconds is None or any(self._waiting.values()):
            return 1
        even = -(-len(self._ready) // (2 * self._workers.places))
        return max(1, min(even, int(BATCH / max(self._seconds, 1e-6))))

    def _submit(self, cases: list[Case]) -> Future[Any]:
        """Send a batch to a worker and return its future."""
        saved = self._saved & {case.number for case in cases}
        try:
            future = self._workers.submit(run_packed, self._recipe, pack(cases), saved)
        except self._workers.losses:
            self._ready.extend(cases)
            raise
        self._batches[future] = cases
        return future

    def _receive(self, future: Future[Any]) -> None:
        """Process a batch that has ended: its outcomes, or the error by which it ended."""
        cases = self._batches.pop(future, None)
        if cases is None:
            return  # sent again, because the scheduler was lost
        try:
            outcomes, usable = future.result()
        except CancelledError:
            self._ready.extend(cases)
            self._requeue()
            return
        except self._workers.deaths as error:
            self._workers.ended(future, usable=False)
            self._suspect(cases, error, future is self._alone)
            return
        except StudyError:
            raise
        except Exception as error:
            raise StudyError(
                f"the workers cannot run the study: {type(error).__name__}: {error}; install the same rodsim there"
            ) from error
        self._workers.ended(future, usable)
        self._update_mean_time(outcomes)
        self._ready.extendleft(reversed(cases[len(outcomes) :]))  # behind a case that did not end
        for case, outcome in zip(cases, outcomes, strict=False):
            self._finish_case(case, outcome)

    def _requeue(self) -> None:
        """Put all cases that are under way back, because the scheduler was lost, and connect to the next one."""
        for cases in self._batches.values():
            self._ready.extend(cases)
        self._batches.clear()
        self._workers.reconnect()

    def _finish_case(self, case: Case, outcome: Outcome) -> None:
        """Hand on the outcome of a case, and release the cases that wait for the first of their structure."""
        self._ready.extend(self._waiting.pop(case.structure, ()))
        self._on_outcome(outcome)

    def _suspect(self, cases: list[Case], error: Exception, alone: bool) -> None:
        """Make suspects of the cases of a batch whose worker died; record one that was `alone` as lost after
        `MAX_WORKER_DEATHS`.
        """
        n_deaths = getattr(error, "allowed_failures", 0) + 1
        self._died += n_deaths
        for case in cases:
            self._deaths[case.number] += n_deaths
            n = self._deaths[case.number]
            if alone and n >= MAX_WORKER_DEATHS:
                message = f"its worker died {n} times while it ran (killed, crashed, or out of memory)"
                self._finish_case(case, Outcome(case.number, case.key, {}, message, lost=True))
            else:
                self._suspects.append(case)
                self._ready.extend(self._waiting.pop(case.structure, ()))

    def _update_mean_time(self, outcomes: Sequence[Outcome]) -> None:
        """Update the mean time of a case; first cases of a structure do not count, as their times include compilation."""
        if outcomes and not any(self._waiting.values()):
            seconds = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
            self._seconds = seconds if self._seconds is None else 0.5 * (self._seconds + seconds)

    def _report(self, changed: bool) -> None:
        """Print a message if no batch has ended for a while."""
        now = time.monotonic()
        if changed:
            self._last, self._patience = now, QUIET
        elif now - self._last > self._patience:
            self._patience *= 2.0
            n = sum(map(len, self._batches.values()))
            deaths_note = f", {self._died} workers have died" if self._died else ""
            first = ", the first of their kind: they may have to be compiled" if self._waiting else ""
            without = "" if self._limited else "; a limit of time for a case (`limit`) ends what hangs"
            self._notify(
                f"no case has ended for {now - self._last:.0f} s: {n} under way{deaths_note}{first}{without}"
            )
