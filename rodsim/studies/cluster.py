"""Cases on a Dask cluster: batches to workers, outcomes back, whatever dies on the way.

Small cases travel in batches that take about as long as `BATCH` and become smaller towards the end. The first case of each
structure goes alone to one worker of each cache of compiled code; the others find there what it has compiled.

A batch whose worker dies is done again by another, by Dask itself, until it has seen more deaths than Dask's
`distributed.scheduler.allowed-failures`. Its cases are then suspects: when all else is done they go one at a time, and the one
that kills its workers again is recorded as lost.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from rodsim.extras import extra
from rodsim.studies.cases import Case, Outcome, Recipe, run_batch
from rodsim.studies.errors import StudyError, StudyStopped
from rodsim.studies.importing import check_guard

BATCH = 1.0  # s
AHEAD = 2  # batches a worker: the next is there when one is done
LOOK = 1.0  # s between looks at the cluster
PATIENCE = 60.0  # s to wait for a scheduler that has gone, and for workers
MOST_RESTARTS = 5  # of a local cluster, without a case done between


class SchedulerLost(Exception):
    """The scheduler is gone, and what was under way with it."""


class Place(NamedTuple):
    """What a worker says of itself."""

    program: str
    host: str
    cache: str  # of compiled code


def place() -> Place:
    """Import what cases need and say where this is; runs on the worker."""
    import socket

    import rodsim.simulation
    from rigid.compilation import CACHE_DIRECTORY
    from rodsim.studies.keys import program

    assert rodsim.simulation is not None
    return Place(program(), socket.gethostname(), CACHE_DIRECTORY)


class Cluster:
    """A scheduler and its workers: our own, one process a core, or one that runs already."""

    def __init__(self, scheduler: str | None = None, workers: int | None = None) -> None:
        self.scheduler, self.workers = scheduler, workers
        if scheduler is not None and workers is not None:
            raise StudyError(
                f"workers = {workers}: the scheduler at {scheduler} has its own; leave one of both out"
            )
        self._client: Any = None
        self._opened = contextlib.ExitStack()
        extra("distributed", "studies", "a study")

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()

    def client(self) -> Any:
        """A client of the cluster, which is started or reached when it is first needed; after `drop` another one."""
        if self._client is None:
            with contextlib.ExitStack() as opened:
                self._client = opened.enter_context(self._connected())
                self._opened = opened.pop_all()
        return self._client

    def drop(self) -> None:
        """End of the client, and of a cluster of our own."""
        self._client = None
        self._opened.close()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        from distributed import Client

        for part in ("client", "core", "comm", "nanny", "utils_perf", "batched"):  # we tell what they would
            logging.getLogger(f"distributed.{part}").setLevel(logging.CRITICAL)
        if self.scheduler is not None:
            with _reached(self.scheduler) as client:
                yield client
            return
        import dask

        # nothing is ever written to disk by the cluster
        quiet = {
            "distributed.worker.memory.target": False,
            "distributed.worker.memory.spill": False,
            "distributed.worker.memory.transfer": False,
        }
        with dask.config.set(quiet), self._local() as local, Client(local) as client:
            yield client

    @contextlib.contextmanager
    def _local(self) -> Iterator[Any]:
        import tempfile

        from dask.system import CPU_COUNT
        from distributed import LocalCluster

        check_guard()
        threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        with (
            tempfile.TemporaryDirectory(prefix="rodsim-", ignore_cleanup_errors=True) as scratch,
            LocalCluster(
                n_workers=self.workers or CPU_COUNT,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",  # any port: None would claim 8787
                silence_logs=logging.CRITICAL,
                local_directory=scratch,
                env=dict.fromkeys(threads, "1"),
            ) as cluster,
        ):
            yield cluster


@contextlib.contextmanager
def _reached(address: str) -> Iterator[Any]:
    """A client of a scheduler that runs; StudyStopped where none answers."""
    from distributed import Client

    began = time.monotonic()
    while True:
        try:
            client = Client(address, timeout=min(10.0, PATIENCE))
            break
        except ValueError as error:
            raise StudyError(f"scheduler '{address}': {error}; give one as tcp://HOST:8786") from None
        except OSError:
            if time.monotonic() - began > PATIENCE:
                raise StudyStopped(
                    f"no scheduler answers at '{address}'; start one with `dask scheduler`"
                ) from None
            time.sleep(LOOK)
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # it may be gone
            client.close(timeout=5.0)


def run_cases(
    cluster: Cluster,
    recipe: Recipe,
    cases: Sequence[Case],
    took: Callable[[Outcome], None],
    kept: frozenset[int] = frozenset(),
) -> None:
    """Run all cases; `took` is called with each outcome as it comes.

    Raises StudyStopped where the scheduler is gone for good, StudyError where workers cannot run the study at all. What
    `took` was given by then is done.
    """
    left = {case.number: case for case in cases}
    restarts = 0
    while left:
        before = len(left)

        def took_one(outcome: Outcome) -> None:
            if left.pop(outcome.number, None) is not None:  # not what a lost scheduler had done twice
                took(outcome)

        try:
            _Dispatch(cluster.client(), recipe, list(left.values()), took_one, kept).run()
        except SchedulerLost:
            cluster.drop()
            restarts = restarts + 1 if len(left) == before else 0
            if restarts > MOST_RESTARTS:
                raise StudyStopped(f"the scheduler was lost {restarts} times in a row") from None


class _Dispatch:
    """Cases that wait, batches under way, and what the batches teach about how long cases take."""

    def __init__(
        self,
        client: Any,
        recipe: Recipe,
        cases: list[Case],
        took: Callable[[Outcome], None],
        kept: frozenset[int],
    ) -> None:
        self._client, self._recipe, self._took, self._kept = client, recipe, took, kept
        self._ready: deque[Case] = deque()
        self._unscouted: dict[str, deque[Case]] = {}
        for case in cases:
            self._unscouted.setdefault(case.structure, deque()).append(case)
        self._suspects: deque[Case] = deque()
        self._alone: Any = None
        self._under_way: dict[Any, list[Case]] = {}
        self._scouts: set[Any] = set()
        self._finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._n_workers = 1
        self._seconds: float | None = None  # a case

    def run(self) -> None:
        """Until nothing is left."""
        self._caches = self._places()
        self._n_workers = max(1, sum(map(len, self._caches)))
        while self._ready or self._unscouted or self._suspects or self._under_way:
            self._send()
            try:
                future = self._finished.get(timeout=LOOK)
            except queue.Empty:
                self._look()
                continue
            self._receive(future)

    def _places(self) -> list[list[str]]:
        """Addresses of the workers, those with one cache of compiled code together."""
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
            found = self._client.run(place, on_error="return")
        except TimeoutError:
            raise StudyStopped("the scheduler has no workers; start some with `dask worker`") from None
        except OSError as error:
            raise SchedulerLost from error
        groups: dict[tuple[str, str], list[str]] = {}
        for address, said in found.items():
            if isinstance(said, ImportError):
                raise StudyError(f"worker {address} cannot run cases: {said}; install rodsim there")
            if not isinstance(said, Place):
                continue  # it died while it was asked
            if said.program != self._recipe.program:
                raise StudyError(
                    f"worker {address} on '{said.host}' has rodsim {said.program}, here it is {self._recipe.program}; "
                    "install the same there"
                )
            groups.setdefault((said.host, said.cache), []).append(address)
        return list(groups.values())

    # --- sending

    def _send(self) -> None:
        if not self._scouts and self._unscouted:
            structure = next(iter(self._unscouted))
            waiting = self._unscouted[structure]
            for group in (self._caches or [[]])[: len(waiting)]:
                self._submit([waiting.popleft()], group[:1], scout=True)
        while self._ready and len(self._under_way) < AHEAD * self._n_workers:
            size = self._batch_size()
            self._submit([self._ready.popleft() for _ in range(min(size, len(self._ready)))])
        if self._suspects and not (self._under_way or self._ready or self._unscouted):
            self._alone = self._submit([self._suspects.popleft()])

    def _batch_size(self) -> int:
        if self._seconds is None:
            return 1
        even = -(-len(self._ready) // (AHEAD * self._n_workers))
        return max(1, min(even, int(BATCH / max(self._seconds, 1e-6))))

    def _submit(self, cases: list[Case], workers: Sequence[str] = (), scout: bool = False) -> Any:
        where = {"workers": list(workers), "allow_other_workers": True} if workers else {}
        kept = self._kept & {case.number for case in cases}
        try:
            future = self._client.submit(run_batch, self._recipe, cases, kept, pure=False, **where)
        except OSError as error:
            raise SchedulerLost from error
        self._under_way[future] = cases
        if scout:
            self._scouts.add(future)
        future.add_done_callback(self._finished.put)
        return future

    # --- receiving

    def _receive(self, future: Any) -> None:
        from distributed.scheduler import KilledWorker

        cases = self._under_way.pop(future)
        if future.status == "finished":
            outcomes = self._result(future)
            self._learn(outcomes)
            for outcome in outcomes:
                self._took(outcome)
        elif future.status == "error":
            error = future.exception(timeout=PATIENCE)
            if not isinstance(error, KilledWorker):
                raise StudyError(
                    f"the workers cannot run the study: {type(error).__name__}: {error}"
                ) from error
            self._suspect(cases, error, future is self._alone)
        else:  # cancelled or lost: so it is where the scheduler is gone
            raise SchedulerLost
        if future in self._scouts:
            self._scouts.remove(future)
            if not self._scouts:  # all caches know this structure
                self._ready.extend(self._unscouted.pop(next(iter(self._unscouted))))
        future.release()

    def _result(self, future: Any) -> list[Outcome]:
        try:
            outcomes: list[Outcome] = future.result(timeout=PATIENCE)
        except Exception as error:  # a scheduler that goes now shows in many ways
            if isinstance(error, StudyError):
                raise
            raise SchedulerLost from error
        return outcomes

    def _suspect(self, cases: list[Case], error: Any, alone: bool) -> None:
        """Cases of a batch that lost too many workers; one that went alone has lost them itself."""
        if alone:
            case = cases[0]
            allowed = getattr(error, "allowed_failures", 3)
            words = f"its worker died {allowed + 1} times while it ran (killed, crashed, or out of memory)"
            self._took(Outcome(case.number, case.key, {}, words, lost=True))
        else:
            self._suspects.extend(cases)

    def _learn(self, outcomes: list[Outcome]) -> None:
        if any(future in self._scouts for future in self._under_way) or not outcomes:
            return
        seconds = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
        self._seconds = seconds if self._seconds is None else 0.5 * (self._seconds + seconds)

    def _look(self) -> None:
        """Whether the scheduler is there, and how many workers."""
        if self._client.status != "running":
            raise SchedulerLost
        try:
            self._n_workers = max(1, len(self._client.nthreads()))
        except Exception as error:
            raise SchedulerLost from error
