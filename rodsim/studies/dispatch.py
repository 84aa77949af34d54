"""Send cases to workers and collect their outcomes; tolerate dead workers and schedulers.

Small cases are sent in batches that take about `BATCH` seconds and become smaller towards the end. The first case of each
structure is sent alone to one worker of each cache of compiled code; later cases load from the cache what it has compiled. If
that worker is gone before Dask has started the case, its address never comes back: the case is sent again, to any worker.

If the worker of a batch dies, Dask repeats the batch on another worker, until more workers have died than Dask's
`distributed.scheduler.allowed-failures`. The cases of the batch are then suspects: they are run one at a time when all others are
done, and a case that kills its workers again is recorded as lost. If a case does not end at its time limit, its worker reports
this and ends its own process.
"""

from __future__ import annotations

import contextlib
import os
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from rodsim.studies import cluster as clusters
from rodsim.studies.cases import Case, Outcome, Recipe, run_batch
from rodsim.studies.cluster import Cluster, Place, place
from rodsim.studies.errors import StudyError, StudyStopped

BATCH = 1.0  # intended time of a batch, s
AHEAD = 2  # batches sent to each worker: the next one is there when one is done
LOOK = 1.0  # interval between checks of the cluster, s
QUIET = 30.0  # time without an outcome until a message is printed, doubled after each, s
MOST_RESTARTS = 5  # largest number of restarts of a cluster without a finished case in between
SENT = 1.0  # time for the last message of a worker to be sent, s


class SchedulerLost(Exception):
    """The scheduler is gone, and the cases that it had are lost."""


def run_on_worker(recipe: Recipe, cases: list[Case], kept: frozenset[int], topic: str) -> list[Outcome]:
    """Run `run_batch` on a worker, which ends its own process if a case does not end at its time limit."""
    from distributed import get_worker

    worker = get_worker()

    def give_up(outcome: Outcome) -> None:
        worker.log_event(topic, [outcome.number, outcome.error, outcome.seconds])
        time.sleep(SENT)
        os._exit(1)

    return run_batch(recipe, cases, kept, give_up)


def run_cases(
    cluster: Cluster,
    recipe: Recipe,
    cases: Sequence[Case],
    took: Callable[[Outcome], None],
    kept: frozenset[int] = frozenset(),
    tell: Callable[[str], None] = lambda words: None,
) -> None:
    """Run all cases; call `took` with each outcome as it arrives, and `tell` with a message if none has arrived for a while.

    `kept`: numbers of the cases whose result files are returned. Raises StudyStopped if the scheduler is gone for good,
    StudyError if the workers cannot run the study at all. The cases whose outcomes `took` has received by then are done.
    """
    if cluster.here:
        for case in cases:
            took(run_batch(recipe, [case], kept)[0])
        return
    left = {case.number: case for case in cases}
    restarts = 0
    while left:
        before = len(left)

        def took_one(outcome: Outcome) -> None:
            if left.pop(outcome.number, None) is not None:  # not run twice after a lost scheduler
                took(outcome)

        try:
            own = cluster.scheduler is None
            _Dispatch(cluster.client(), recipe, list(left.values()), took_one, kept, tell, own).run()
        except SchedulerLost:
            cluster.drop()
            restarts = restarts + 1 if len(left) == before else 0
            if restarts > MOST_RESTARTS:
                raise StudyStopped(f"the scheduler was lost {restarts} times in a row") from None


class _Dispatch:
    """State of a dispatch: waiting cases, batches on workers, and the measured time of a case."""

    def __init__(
        self,
        client: Any,
        recipe: Recipe,
        cases: list[Case],
        took: Callable[[Outcome], None],
        kept: frozenset[int],
        tell: Callable[[str], None],
        own: bool,
    ) -> None:
        self._own, self._manned = (
            own,
            time.monotonic(),
        )  # whether the cluster is local; last time at which there was a worker
        self._client, self._recipe, self._took, self._kept, self._tell = client, recipe, took, kept, tell
        self._ready: deque[Case] = deque()
        self._unscouted: dict[str, deque[Case]] = {}
        for case in cases:
            self._unscouted.setdefault(case.structure, deque()).append(case)
        self._suspects: deque[Case] = deque()
        self._alone: Any = None
        self._under_way: dict[Any, list[Case]] = {}
        self._scouts: set[Any] = set()
        self._bound: dict[Any, str] = {}  # scout -> address of its worker
        self._finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._n_workers = 1
        self._seconds: float | None = None  # mean time of a case, s
        self._topic = f"rodsim-{uuid.uuid4().hex}"  # topic on which workers report that they end
        self._seen: set[str] = set()  # addresses of all workers seen so far
        self._last, self._patience = time.monotonic(), QUIET

    def run(self) -> None:
        """Run until no case is left."""
        self._caches = self._places()
        self._seen = {address for group in self._caches for address in group}
        self._manned = time.monotonic()
        self._n_workers = max(1, sum(map(len, self._caches)))
        if self._recipe.limit is not None:
            self._client.subscribe_topic(self._topic, lambda event: self._finished.put(event[1]))
        while self._ready or self._unscouted or self._suspects or self._under_way:
            self._send()
            try:
                future = self._finished.get(timeout=LOOK)
            except queue.Empty:
                self._look()
                continue
            if isinstance(future, list | tuple):
                self._stuck(*future)
            else:
                self._receive(future)
            self._last, self._patience = time.monotonic(), QUIET

    def _places(self) -> list[list[str]]:
        """Return the addresses of the workers, grouped by their cache of compiled code."""
        try:
            self._client.wait_for_workers(1, timeout=clusters.PATIENCE)
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
                continue  # the worker died during the query
            if said.program != self._recipe.program:
                raise StudyError(
                    f"worker {address} on '{said.host}' has rodsim {said.program}, here it is {self._recipe.program}; "
                    "install the same there"
                )
            groups.setdefault((said.host, said.cache or address), []).append(address)
        return list(groups.values())

    # --- sending

    def _send(self) -> None:
        """Send scouts of the next structure, then batches, and at last single suspects."""
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
        """Return the number of cases of the next batch, from the mean time of a case and the number of waiting cases."""
        if self._seconds is None:
            return 1
        even = -(-len(self._ready) // (AHEAD * self._n_workers))
        return max(1, min(even, int(BATCH / max(self._seconds, 1e-6))))

    def _submit(self, cases: list[Case], workers: Sequence[str] = (), scout: bool = False) -> Any:
        """Submit a batch, preferably to `workers`, and return its future; `scout`: True if it is the first of its structure."""
        where = {"workers": list(workers), "allow_other_workers": True} if workers else {}
        kept = self._kept & {case.number for case in cases}
        given = (self._recipe, cases, kept, self._topic)
        try:
            future = self._client.submit(run_on_worker, *given, pure=False, **where)
        except OSError as error:
            raise SchedulerLost from error
        self._under_way[future] = cases
        if scout:
            self._scouts.add(future)
        if workers:
            self._bound[future] = workers[0]
        future.add_done_callback(self._finished.put)
        return future

    # --- receiving

    def _receive(self, future: Any) -> None:
        """Process a finished batch: its outcomes, or the error by which it ended."""
        from distributed.scheduler import KilledWorker

        if future not in self._under_way:
            return  # the batch was sent again, or did not end at its limit
        cases = self._under_way.pop(future)
        if future.status == "finished":
            outcomes = self._result(future)
            self._learn(outcomes)
            for outcome in outcomes:
                self._took(outcome)
        elif future.status == "error":
            error = future.exception(timeout=clusters.PATIENCE)
            if not isinstance(error, KilledWorker):
                raise StudyError(
                    f"the workers cannot run the study: {type(error).__name__}: {error}"
                ) from error
            self._suspect(cases, error, future is self._alone)
        else:  # cancelled or lost: the scheduler is gone
            raise SchedulerLost
        self._end(future)
        future.release()

    def _end(self, future: Any) -> None:
        """Forget a finished scout; when the last one of a structure has ended, release the other cases of this structure."""
        self._bound.pop(future, None)
        if future in self._scouts:
            self._scouts.remove(future)
            if not self._scouts:  # all caches have the code of this structure
                self._ready.extend(self._unscouted.pop(next(iter(self._unscouted))))

    def _stuck(self, number: int, words: str, seconds: float) -> None:
        """Record a case that did not end at its limit, whose worker ends; put the other cases of its batch back."""
        for future, cases in list(self._under_way.items()):
            found = [case for case in cases if case.number == number]
            if found:
                self._drop(future)
                self._end(future)
                self._ready.extendleft(case for case in reversed(cases) if case.number != number)
                self._took(Outcome(number, found[0].key, {}, words, seconds=seconds))

    def _drop(self, future: Any) -> None:
        """Remove a batch and cancel it; its outcome is no longer expected."""
        del self._under_way[future]
        with contextlib.suppress(Exception):  # the scheduler may be gone
            future.cancel()

    def _result(self, future: Any) -> list[Outcome]:
        """Return the outcomes of a finished batch; raise SchedulerLost if they cannot be fetched."""
        try:
            outcomes: list[Outcome] = future.result(timeout=clusters.PATIENCE)
        except Exception as error:  # a scheduler that is lost here causes various errors
            if isinstance(error, StudyError):
                raise
            raise SchedulerLost from error
        return outcomes

    def _suspect(self, cases: list[Case], error: Any, alone: bool) -> None:
        """Make suspects of the cases of a batch that lost too many workers; record a case that was `alone` as lost."""
        if alone:
            case = cases[0]
            allowed = getattr(error, "allowed_failures", 3)
            words = f"its worker died {allowed + 1} times while it ran (killed, crashed, or out of memory)"
            self._took(Outcome(case.number, case.key, {}, words, lost=True))
        else:
            self._suspects.extend(cases)

    def _learn(self, outcomes: list[Outcome]) -> None:
        """Update the mean time of a case; not while scouts run, whose times include compilation."""
        if any(future in self._scouts for future in self._under_way) or not outcomes:
            return
        seconds = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
        self._seconds = seconds if self._seconds is None else 0.5 * (self._seconds + seconds)

    def _look(self) -> None:
        """Check the scheduler and the workers, send lost scouts again, and report if no outcome has come for a while."""
        if self._client.status != "running":
            raise SchedulerLost
        try:
            there = set(self._client.nthreads())
            lost = [future for future, address in self._bound.items() if address not in there]
            taken = {key for keys in self._client.processing().values() for key in keys} if lost else set()
        except Exception as error:
            raise SchedulerLost from error
        self._n_workers = max(1, len(there))
        self._seen |= there
        if there:
            self._manned = time.monotonic()
        elif self._own and time.monotonic() - self._manned > clusters.PATIENCE:
            raise SchedulerLost  # a local cluster that starts no more workers is replaced
        for future in lost:
            if future.status == "pending" and future.key not in taken:
                self._send_again(future)
        quiet = time.monotonic() - self._last
        if quiet > self._patience:
            self._patience *= 2.0
            self._tell(self._still(quiet, there))

    def _send_again(self, future: Any) -> None:
        """Send a scout again, to any worker, because the worker that it waits for is gone."""
        cases, scout = self._under_way[future], future in self._scouts
        self._drop(future)
        self._scouts.discard(future)
        del self._bound[future]
        self._submit(cases, scout=scout)

    def _still(self, quiet: float, there: set[str]) -> str:
        """Return the message that no case has ended for `quiet` seconds; `there`: addresses of the present workers."""
        n = sum(map(len, self._under_way.values()))
        gone = len(self._seen - there)
        died = f", {gone} have died" if gone else ""
        if not there:
            return f"no case has ended for {quiet:.0f} s: there are no workers{died}; start some, or stop the study"
        compiling = ", the first of their kind: they may have to be compiled" if self._scouts else ""
        without = (
            "" if self._recipe.limit is not None else "; a limit of time for a case (`limit`) ends what hangs"
        )
        return f"no case has ended for {quiet:.0f} s: {n} under way on {len(there)} workers{died}{compiling}{without}"
