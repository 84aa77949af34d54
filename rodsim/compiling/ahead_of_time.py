"""Compile families of kernels in several processes: each takes the next family when it has compiled one."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rigid import checks
from rigid.compilation import cache_folder
from rodsim.compiling.families import FAMILIES
from rodsim.progress_bar import progress_bar

MAX_PROCESSES = 1024
_MAIN = "from rodsim.compiling.worker import main; main()"
_REFRESHED = 0.5  # time between two updates of the progress line, s


class Outcome(NamedTuple):
    """Result of a family: number of kernels that were compiled, processor time (s), and the error, "" if there is none."""

    family: str
    kernels: int
    seconds: float
    fault: str


class Compilation(NamedTuple):
    """Outcomes of all families in the order in which they ended, the time (s), the folder of the compiled code, and why it is
    not kept, "" if it is.
    """

    outcomes: list[Outcome]
    seconds: float
    folder: str
    not_cached_reason: str

    @property
    def failed(self) -> list[Outcome]:
        """Return the outcomes with errors."""
        return [outcome for outcome in self.outcomes if outcome.fault]


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compile_ahead(
    names: Sequence[str] | None = None,
    processes: int | None = None,
    progress: bool | None = None,
    also: Mapping[str, Callable[[], None]] | None = None,
) -> Compilation:
    """Compile families of kernels that are not in the cache yet.

    Nothing is compiled if nothing can be kept: the folder is missing, it cannot be written to, or the compiler is off.

    Parameters
    ----------
    names : sequence of str, optional
        Names in `FAMILIES`. Default: all.
    processes : int, optional
        Number of processes. Default: the number of usable cores.
    progress : bool, optional
        Show a progress line on stderr. Default: if that is a terminal, otherwise a sentence at the start.
    also : mapping of str to callable, optional
        Further tasks: functions at the top level of a module, without arguments.

    Returns
    -------
    Compilation

    Raises
    ------
    ModelError
        If a family is not known, or `processes` is not a number of processes.
    """
    for name in names or ():
        checks.word("compile", "family", name, FAMILIES)
    chosen = {name: FAMILIES[name] for name in FAMILIES if names is None or name in names}
    chosen |= also or {}
    count = usable_cores() if processes is None else processes
    count = checks.count("compile", "processes", count, 1, MAX_PROCESSES)
    began, folder, not_cached_reason = time.perf_counter(), cache_folder.TRIED, _uncacheable_reason()
    if not_cached_reason:
        return Compilation([], 0.0, folder, not_cached_reason)
    outcomes: list[Outcome] = []
    crew = _CompilerPool(chosen, min(count, len(chosen)))
    with crew.working(), _line(progress, len(chosen)) as show:
        at_work: list[str] = []
        while len(outcomes) < len(chosen):
            with contextlib.suppress(queue.Empty):
                event = crew.events.get(timeout=_REFRESHED)
                if isinstance(event, Outcome):
                    outcomes.append(event)
                    at_work.remove(event.family)
                else:
                    at_work.append(event)
            show(len(outcomes), at_work)
    return Compilation(outcomes, time.perf_counter() - began, folder, crew.not_cached_reason)


def _uncacheable_reason() -> str:
    """Return why compiled code cannot be cached; "" if it can be."""
    import numba

    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return "NUMBA_DISABLE_JIT is set, nothing is compiled"
    if not cache_folder.CACHE_DIRECTORY:
        return cache_folder.FAULT
    try:
        with tempfile.TemporaryFile(dir=cache_folder.CACHE_DIRECTORY) as file:
            file.write(bytes(2**20))  # a full disk accepts an empty file
    except OSError as error:
        return cache_folder.reason(error)
    return ""


class _CompilerPool:
    """Processes that compile, each served by a thread."""

    def __init__(self, tasks: Mapping[str, Callable[[], None]], processes: int):
        self.events: queue.Queue[Outcome | str] = queue.Queue()  # families that begin, and outcomes
        self.not_cached_reason = ""
        self._tasks = iter([(name, f"{f.__module__}:{f.__qualname__}") for name, f in tasks.items()])
        self._lock = threading.Lock()
        self._stopped = False
        self._processes: set[_Process] = set()
        self._threads = [threading.Thread(target=self._serve) for _ in range(processes)]

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Start the threads; end all processes when the context ends."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._stopped = True
                for process in self._processes:
                    process.stop()
            for thread in self._threads:
                thread.join()

    def _serve(self) -> None:
        """Give tasks to a process until none is left; start another if it dies."""
        process = None
        while (task := self._next()) is not None:
            family, address = task
            self.events.put(family)
            try:
                process = process or _Process()
                with self._lock:
                    self._processes.add(process)
                    if self._stopped:
                        process.stop()
                answer = process.compile(address)
            except (OSError, _ProcessDiedError) as error:
                outcome = Outcome(family, 0, 0.0, str(error))
                if process is not None:
                    self._forget(process)
                process = None
            else:
                self.not_cached_reason = self.not_cached_reason or answer["not_kept"]
                outcome = Outcome(family, answer["kernels"], answer["seconds"], answer["fault"])
            self.events.put(outcome)
        if process is not None:
            self._forget(process)

    def _next(self) -> tuple[str, str] | None:
        """Return the next family and the address of its task; None if there is none or the threads are stopped."""
        with self._lock:
            return None if self._stopped else next(self._tasks, None)

    def _forget(self, process: _Process) -> None:
        """End a process that has no more to do."""
        with self._lock:
            self._processes.discard(process)
        process.close()


class _ProcessDiedError(Exception):
    """A process ended before it answered."""


class _Process:
    """Process that compiles one family at a time."""

    def __init__(self) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        start = f"import sys; sys.path[:] = {sys.path!r}; {_MAIN}"  # the same copy of the program
        self._process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # with one process a core
        )

    def compile(self, address: str) -> dict[str, Any]:
        """Compile the family at an address and return the answer of the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{address}\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise _ProcessDiedError(self._end())
        reply: dict[str, Any] = json.loads(answer)
        return reply

    def _end(self) -> str:
        """Return how the process ended, with the last line that it printed."""
        code = self._process.wait()
        how = f"exit code {code}" if code >= 0 else signal.strsignal(-code) or f"signal {-code}"
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return ": ".join([f"the process died ({how})", *lines[-1:]])

    def stop(self) -> None:
        """Kill the process."""
        self._process.kill()

    def close(self) -> None:
        """Wait for the end of the process, which has no more to do."""
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()
        self._stderr.close()


@contextlib.contextmanager
def _line(show: bool | None, count: int) -> Iterator[Callable[[int, list[str]], None]]:
    """Yield a function that shows the number of families that have ended, and those at work, on a progress line.

    `show` None: if stderr is a terminal, otherwise a sentence is printed.
    """
    form = "compiling {n_fmt}/{total_fmt} |{bar}| {elapsed} {postfix}"
    bar = progress_bar(show, total=count, bar_format=form)
    if bar is None:
        if show is None:
            print("rodsim: compiling what is not compiled yet ...", file=sys.stderr, flush=True)
        yield lambda done, at_work: None
        return
    with bar:

        def move(done: int, at_work: list[str]) -> None:
            bar.set_postfix_str(", ".join(at_work), refresh=False)
            bar.n = done
            bar.refresh()

        yield move
