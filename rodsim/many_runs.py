"""Simulate a prepared model for many sets of parameters in the threads of one process: `simulate_many`."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discretization.time.batched_runs import LEAST
from discretization.time.thread_turns import StoppedError, ThreadTurns
from rigid import checks
from rigid.compilation.compile_notices import announce
from rigid.errors import ModelError
from rigid.lanes import WIDTH
from rodsim.adaptive_steps import check_fit
from rodsim.building.restart import check_start
from rodsim.model import Model
from rodsim.prepared import Prepared, arguments_of
from rodsim.progress_bar import progress_bar
from rodsim.results.result import Result
from rodsim.running.batch import Batch, first_of_batch, named
from rodsim.running.plan import MAX_THREADS, check_arguments, check_output, plan_run
from rodsim.running.run import Run
from rodsim.simulation import simulate

_STEP_SETTINGS = (
    "dt",
    "integrator",
    "chart",
    "tolerance",
    "solver",
)  # settings that decide which kernels are compiled
_SINGLE_RUN_SETTINGS = {
    "output": "give outputs = a folder, for a file of each run",
    "resume": "remove it: all runs start from the beginning",
    "overwrite": "remove it: give outputs = a folder without files of runs",
}


class FailedRun(NamedTuple):
    """A run that did not reach its end."""

    run: int  # number of the run
    changes: Mapping[str, Any]  # parameters of the run
    error: Exception
    result: Result | None  # outputs computed before the failure

    def __str__(self) -> str:
        return f"run {self.run} ({_changes_in_words(self.changes)}): {self.error}"


class ManyResults(Sequence[Result]):
    """Results of many runs by run number; failed runs are listed separately.

    ``many[3]`` is the result of run 3, or raises the error by which it failed. Iteration over all runs does the same.

    Parameters
    ----------
    parameters : sequence of mapping
        Changed parameters of each run.
    results : mapping of int to Result
        Run number -> result, for the runs that reached their end.
    failures : mapping of int to FailedRun
        Run number -> failure, for the other runs.

    Attributes
    ----------
    runs : ndarray (k,)
        Numbers of the runs that reached their end.

    See Also
    --------
    simulate_many : Returns a `ManyResults`.

    Examples
    --------
    >>> from rodsim import Box, Model, simulate_many
    >>> model = Model("falling", gravity=(0, 0, -9.81))
    >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0))
    >>> many = simulate_many(model.prepare(t_end=0.1, dt=0.01), [{}, {"gravity": (0, 0, -1.62)}])
    >>> many.runs
    array([0, 1])
    """

    def __init__(
        self,
        parameters: Sequence[Mapping[str, Any]],
        results: Mapping[int, Result],
        failures: Mapping[int, FailedRun],
    ):
        self.parameters = tuple(parameters)
        self.failures = dict(sorted(failures.items()))
        self._results = dict(sorted(results.items()))
        self.runs = np.array(list(self._results), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.parameters)

    def __getitem__(self, run: Any) -> Any:
        numbers = range(len(self))[run]
        if isinstance(numbers, range):
            return [self[number] for number in numbers]
        if numbers in self.failures:
            raise self.failures[numbers].error
        return self._results[numbers]

    def __iter__(self) -> Iterator[Result]:
        return (self[run] for run in range(len(self)))

    def stack(self, read: Callable[[Result], Any]) -> np.ndarray:
        """Stack one array of each run that reached its end.

        Parameters
        ----------
        read : callable
            Function of a `Result` that returns the wanted array.

        Returns
        -------
        ndarray (k, ...)
            One row for each of `runs`.

        Raises
        ------
        ModelError
            If runs have arrays of different shapes.

        Examples
        --------
        >>> from rodsim import Box, Model, simulate_many
        >>> model = Model("falling", gravity=(0, 0, -9.81))
        >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0))
        >>> many = simulate_many(model.prepare(t_end=0.1, dt=0.01), [{}, {"gravity": (0, 0, -1.62)}])
        >>> many.stack(lambda result: result.body("block").r[-1]).shape
        (2, 3)
        """
        rows = [np.asarray(read(result)) for result in self._results.values()]
        if len({row.shape for row in rows}) > 1:
            run = next(k for k, row in enumerate(rows) if row.shape != rows[0].shape)
            raise ModelError(
                f"stack: run {self.runs[run]} has an array {rows[run].shape} where run {self.runs[0]} has {rows[0].shape}; "
                "read what has the same shape in all, such as the last row"
            )
        return np.stack(rows) if rows else np.zeros(0)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} of them failed" if self.failures else ""
        return f"<{len(self)} runs{failed}>"


def simulate_many(
    prepared: Prepared,
    parameters: Sequence[Mapping[str, Any]],
    *,
    threads: int | None = None,
    outputs: str | Path | None = None,
    progress: bool = False,
    **settings: Any,
) -> ManyResults:
    """Run a prepared model once for each entry of `parameters`; each run is bitwise `prepared.run(entry)`.

    All runs are in one process and march at the same time in threads; they are set up and stored one after the other. Runs of
    some models march side by side, four to eight in one thread, which takes as long as two to four of them one by one. These
    are models solved by "em" in which gravity and loads act on trees of bodies with ball joints, hinges, universal joints and
    welds, also with loops that these close, or on planar bodies with hinges. Other models march one run in
    each thread, which pays if a march takes longer than its set-up, about a millisecond.

    Parameters
    ----------
    prepared : Prepared
        The model, as `Model.prepare` returns it.
    parameters : sequence of mapping
        Changes of each run, path -> value, as in `Prepared.run`; ``{}`` changes nothing.
    threads : int, optional
        Number of threads that march at the same time. Default: one for each core. Each keeps up to eight runs in memory. A
        run uses one thread only; `threads` given to `prepare` is ignored.
    outputs : str or Path, optional
        Folder for a file of each run, run-0000.vtkhdf and so on. Default: keep results in memory.
    progress : bool, default False
        Whether to show a line on stderr.
    **settings
        Settings of `simulate` for all runs, such as start, start_time. By default those given to `prepare`.

    Returns
    -------
    ManyResults
        The results by run number. A run that fails raises nothing; see `ManyResults.failures`.

    Raises
    ------
    ModelError
        If a path, a value or a setting cannot be used: all are checked before anything runs, and the message names the run.
    FileExistsError
        If one of the files exists.

    Examples
    --------
    >>> from rodsim import Box, Model, simulate_many
    >>> model = Model("oscillator")
    >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0), position=(1, 0, 0))
    >>> coil = model.add_spring("coil", model.ground.at((0, 0, 0)), block, stiffness=8.0, length=0.5)
    >>> many = simulate_many(
    ...     model.prepare(t_end=0.1, dt=0.01), [{"springs.coil.stiffness": k} for k in (4.0, 8.0)]
    ... )
    >>> last = many.stack(lambda result: result.body("block").r[-1])  # (2, 3), m
    """
    if not isinstance(prepared, Prepared):
        raise ModelError(
            f"simulate_many: {checks.shown(prepared)} is not a prepared model; give model.prepare(...)"
        )
    run_settings = _checked_settings(prepared, settings)
    checks.flag("simulate_many", "progress", progress)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = cores if threads is None else checks.count("simulate_many", "threads", threads, 1, MAX_THREADS)
    models = _checked_models(prepared, parameters)
    files = _checked_files(outputs, len(models))
    check_arguments(models[0], arguments_of(run_settings))
    if run_settings.get("start") is not None or run_settings.get("start_time") is not None:
        start = run_settings.get("start"), run_settings.get("start_time")
        run_settings["start"] = check_start("simulate_many", models[0].build(), *start)
    results: dict[int, Result] = {}
    failed: dict[int, Exception] = {}
    turns = ThreadTurns(workers)
    announce()
    first = _set_up(models[0], run_settings, alone=len(models) < LEAST)
    if first is not None:  # runs that are simulated alone issue the warning themselves
        check_fit(first.plan.dt, float(run_settings["t_end"]), first.plan.n_steps, first.plan.requested_dt)

    def run(numbers: range) -> range:
        """Simulate a group of runs in one thread, side by side if possible; store results and failures."""
        try:
            with turns.one():
                if first is not None and len(numbers) >= LEAST:
                    batch = Batch(first, {n: models[n] for n in numbers}, {n: files[n] for n in numbers})
                    batch.execute()
                    results.update(batch.results)
                    failed.update(batch.failures)
                    return numbers
                for number in numbers:
                    with named(number, failed):
                        results[number] = simulate(
                            models[number], **{**run_settings, "output": files[number], "progress": False}
                        )
        except StoppedError:
            pass
        return numbers

    bar = progress_bar(progress, total=len(models), unit="run")
    with contextlib.nullcontext() if bar is None else bar:
        pool = ThreadPoolExecutor(min(workers, len(models)), "rodsim-run")
        try:
            for future in as_completed(
                [pool.submit(run, numbers) for numbers in _groups(len(models), first)]
            ):
                done = future.result()
                if bar is not None:
                    bar.update(len(done))
        except BaseException:  # Ctrl-C: running marches end with their current parts
            turns.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            pool.shutdown()
    failures = {
        number: FailedRun(number, dict(parameters[number]), error, getattr(error, "result", None))
        for number, error in failed.items()
    }
    return ManyResults([dict(entry) for entry in parameters], results, failures)


def _set_up(model: Model, run_settings: Mapping[str, Any], alone: bool) -> Run | None:
    """Return the set-up that runs side by side share, None if they run one by one.

    In the latter case one step of one run is taken, so that kernels are compiled before several threads request them. Errors
    are suppressed here; each run reports its own.
    """
    step = {name: run_settings[name] for name in _STEP_SETTINGS if name in run_settings}
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        first = (
            None
            if alone
            else first_of_batch(model, plan_run(model, arguments_of(run_settings)._replace(output=None)))
        )
        if first is None:
            t_end = run_settings["t_end"] if run_settings.get("dt") is None else run_settings["dt"]
            simulate(model, **step, t_end=t_end, progress=False)
        return first
    return None


def _groups(count: int, first: Run | None) -> list[range]:
    """Return the run numbers that one thread takes: groups of eight; the last runs one by one if they are few."""
    if first is None:
        return [range(number, number + 1) for number in range(count)]
    n_grouped = count if count % WIDTH >= LEAST else count - count % WIDTH
    groups = [range(k, min(k + WIDTH, n_grouped)) for k in range(0, n_grouped, WIDTH)]
    return groups + [range(number, number + 1) for number in range(n_grouped, count)]


def _checked_settings(prepared: Prepared, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `simulate` for all runs; raise ModelError for settings of a single run."""
    run_settings = {**prepared.settings(settings), "threads": 1}
    for name, cure in _SINGLE_RUN_SETTINGS.items():
        if run_settings.get(name):
            raise ModelError(
                f"simulate_many: {name} = {checks.shown(run_settings[name])} belongs to a single run; {cure}"
            )
    return run_settings


def _checked_models(prepared: Prepared, parameters: Sequence[Mapping[str, Any]]) -> list[Model]:
    """Return the model of each run; raise ModelError with the run number if its changes are invalid."""
    if isinstance(parameters, str | bytes | Mapping) or not isinstance(parameters, Sequence):
        raise ModelError(
            f"simulate_many: parameters = {checks.shown(parameters)} is not a sequence; give the changes of each run, such as "
            "[{'springs.coil.stiffness': 20.0}, {'springs.coil.stiffness': 30.0}]"
        )
    if not len(parameters):
        raise ModelError("simulate_many: parameters is empty; give the changes of one run at least")
    models = []
    for number, changes in enumerate(parameters):
        try:
            models.append(prepared.model(changes))
        except ModelError as error:
            raise ModelError(f"simulate_many: run {number}: {error}", choices=error.choices) from error
    return models


def _checked_files(outputs: str | Path | None, count: int) -> list[Path | None]:
    """Return the result file of each run, or None for results in memory; raise if one cannot be written."""
    if outputs is None:
        return [None] * count
    if not isinstance(outputs, str | Path) or "\0" in str(outputs) or not str(outputs):
        raise ModelError(
            f"simulate_many: outputs = {checks.shown(outputs)} is not the name of a folder; give a folder or None"
        )
    folder, digits = Path(outputs), max(4, len(str(count - 1)))
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path | None] = [folder / f"run-{number:0{digits}d}.vtkhdf" for number in range(count)]
    for file in files:
        assert file is not None
        check_output(file)
    return files


def _changes_in_words(changes: Mapping[str, Any]) -> str:
    """Return the changed parameters of a run in words, for messages."""
    return ", ".join(f"{path} = {checks.shown(value)}" for path, value in changes.items()) or "as prepared"
