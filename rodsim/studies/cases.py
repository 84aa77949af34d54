"""Run and measure cases one after the other, each within its limit of time; independent of workers and of a shared disk."""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import functools
import importlib
import os
import pickle
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from numba.core import event

from rodsim.studies.errors import StudyError
from rodsim.studies.measures import Measure, measure, numbers_of
from rodsim.studies.study_targets import StudyTarget

T = TypeVar("T")
POLL_INTERVAL = 0.05  # interval between checks of the clock, s
LEAST_GRACE, MOST_GRACE = 1.0, 10.0  # bounds of the time that a case has to end after its limit, s
SENT = 1.0  # time for the outcomes of a process to be sent before it ends, s
_ONE_CASE_LOCK = threading.Lock()  # one case at a time: a worker may have been started with several threads


class Case(NamedTuple):
    """A case: its number in the table, its key (hash), the hash of its structure, and the values of its parameters."""

    number: int
    key: str
    structure: str
    values: dict[str, Any]


class Outcome(NamedTuple):
    """Outcome of a case. `error`: its message, "" if it succeeded; `lost`: True if its worker died more than once."""

    number: int
    key: str
    measures: dict[str, float]
    error: str = ""
    lost: bool = False
    seconds: float = 0.0
    notes: tuple[str, ...] = ()  # messages of warnings
    file: bytes | None = None  # content of the result file, if it is saved
    samples: tuple[float, ...] = ()  # samples of the motion, for `converge`
    stuck: bool = False  # whether the case did not end at its limit, and continues in a thread of its own


@dataclass(frozen=True)
class Recipe:
    """Everything a worker needs besides the case: the study target, the measures and the time limit."""

    base: StudyTarget
    measures: Mapping[str, Measure]
    program: str  # version and hash of the sources, which must be the same on the worker
    sampler: Any = None  # function Result -> numbers, see `convergence`
    limit: float | None = None  # time limit of a case, s


class ProgramMismatch(StudyError):
    """The worker has another version of the program than the study."""


def pack(value: Any) -> bytes:
    """Return a recipe or cases as bytes for a worker; what a script defines is contained in them."""
    import cloudpickle

    packed: bytes = cloudpickle.dumps(value)
    return packed


def run_packed(recipe: bytes, cases: bytes, saved: frozenset[int]) -> tuple[list[Outcome], bool]:
    """Run a batch in a worker; return outcomes as `run_batch`, and whether the process can run another batch.

    A process with a case that does not end is ended after `SENT` seconds.
    """
    outcomes = run_batch(_unpacked(recipe), pickle.loads(cases), saved)
    stuck = any(outcome.stuck for outcome in outcomes)
    if stuck:
        threading.Timer(SENT, os._exit, (1,)).start()
    return outcomes, not stuck


_unpacked = functools.lru_cache(maxsize=1)(pickle.loads)  # cached, so that each process prepares a model once


def run_batch(recipe: Recipe, cases: Sequence[Case], saved: frozenset[int] = frozenset()) -> list[Outcome]:
    """Run cases one by one and return their outcomes; an error in a case becomes its outcome.

    A case that does not end at its time limit is the last one: the outcomes of the cases after it are missing. `saved`: numbers
    of the cases whose result files are returned.
    """
    from rodsim.studies.case_keys import program

    importlib.import_module(
        "rodsim.simulation"
    )  # the import does not count against the limit of the first case
    if program() != recipe.program:
        raise ProgramMismatch(
            f"a worker has rodsim {program()}, the study was started with {recipe.program}; install the same there"
        )
    outcomes: list[Outcome] = []
    with _ONE_CASE_LOCK:
        for case in cases:
            outcomes.append(_run(recipe, case, case.number in saved))
            if outcomes[-1].stuck:
                break
    return outcomes


def _run(recipe: Recipe, case: Case, keep: bool) -> Outcome:
    """Run one case within its time limit and return its outcome, with errors and warnings as text."""
    start_time = time.perf_counter()
    measures: dict[str, float] = {}
    error, file, samples, stuck = "", None, (), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            measures, file, samples = within(recipe.limit, lambda: _measured(recipe, case, keep))
        except MemoryError:
            error = "out of memory; give each worker more, or start fewer"
        except TimeLimitExceeded as over:
            error, stuck = (
                f"it took longer than the limit of {recipe.limit:g} s",
                isinstance(over, CallDoesNotEnd),
            )
        except SystemExit as stop:
            error = f"SystemExit: {stop.code}; a case ends by returning, or by an error: remove sys.exit"
        except Exception as failure:
            error = _one_line_message(failure)
    notes = tuple(dict.fromkeys(str(item.message) for item in caught))
    seconds = time.perf_counter() - start_time
    return Outcome(case.number, case.key, measures, error, False, seconds, notes, file, samples, stuck)


def _measured(recipe: Recipe, case: Case, keep: bool) -> Any:
    """Run a case and return its measures, the content of its result file (or None) and its samples."""
    from rodsim.results.result import Result

    with tempfile.TemporaryDirectory(prefix="rodsim-") if keep else contextlib.nullcontext("") as folder:
        output = Path(folder, "result.vtkhdf") if keep else None
        result = recipe.base.result(case.values, output)
        if not isinstance(result, Result):
            if recipe.measures or keep:
                raise StudyError("a function that returns numbers has no result; remove measures and keep")
            return numbers_of("", result), None, ()
        samples = () if recipe.sampler is None else tuple(recipe.sampler(result))
        measures = measure(result, recipe.measures)
        return measures, output.read_bytes() if output is not None and output.is_file() else None, samples


def _one_line_message(failure: Exception) -> str:
    """Return the message of an error on one line; an error from outside rodsim is preceded by its type."""
    from rigid.errors import ConvergenceError, ModelError

    text = " ".join(str(failure).split())
    is_known = isinstance(failure, ModelError | ConvergenceError) or type(failure).__module__.startswith(
        "rodsim."
    )
    return text if is_known and text else f"{type(failure).__name__}: {text}"


# --- limit of time


class TimeLimitExceeded(BaseException):
    """Raised in a call at its time limit; a BaseException, so that no `except Exception` in the call catches it."""


class CallDoesNotEnd(TimeLimitExceeded):
    """The call has not ended after its time limit, either."""


class _Compiling(event.Listener):
    """Listener that measures how long this process has compiled."""

    def __init__(self) -> None:
        self._depth, self._began, self._ended = 0, 0.0, 0.0

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._ended += time.monotonic() - self._began

    @property
    def seconds(self) -> float:
        """Return the time spent in compilation so far, s."""
        return self._ended + (time.monotonic() - self._began if self._depth else 0.0)


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """Return the result of `call`; raise TimeLimitExceeded after `seconds` without compilation (None: no limit).

    With a limit the call runs in a thread. At the limit TimeLimitExceeded is raised in this thread, between two steps of the
    Python interpreter. A call that is blocked in one step (it sleeps, or waits for another program) does not end by this: then
    CallDoesNotEnd is raised a little later, and the thread continues.
    """
    if seconds is None:
        return call()
    compiling = _Compiling()
    ended: concurrent.futures.Future[T] = concurrent.futures.Future()

    def run() -> None:
        try:
            ended.set_result(call())
        except BaseException as error:
            if not ended.done():  # the limit may come between the end of the call and that of the thread
                ended.set_exception(error)

    thread = threading.Thread(target=run, daemon=True)
    with event.install_listener("numba:compile", compiling):
        start_time = time.monotonic()
        thread.start()
        try:
            while not ended.done() and time.monotonic() - start_time - compiling.seconds < seconds:
                concurrent.futures.wait([ended], POLL_INTERVAL)
        finally:
            if not ended.done():  # at the limit, or if this thread is interrupted
                _raise_in(thread, TimeLimitExceeded)
        concurrent.futures.wait([ended], min(max(seconds, LEAST_GRACE), MOST_GRACE))
    if not ended.done():
        raise CallDoesNotEnd
    return ended.result()


def _raise_in(thread: threading.Thread, kind: type[BaseException]) -> None:
    """Schedule an exception in another thread; Python raises it at the thread's next step."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(kind))
