"""One case after the other, in the process of a worker: run, measure, tell. Nothing here knows of a cluster or a shared disk."""

from __future__ import annotations

import importlib
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rodsim.studies.bases import Base
from rodsim.studies.errors import StudyError
from rodsim.studies.limits import TookTooLong, within
from rodsim.studies.measures import Measure, measure, numbers_of
from rodsim.studies.scratch import temporary_folder

_ONE_AT_A_TIME = threading.Lock()  # one thread a case: a worker may have been started with more


class Case(NamedTuple):
    """A case: its number in the table, its key, its structure, the values of its parameters."""

    number: int
    key: str
    structure: str
    values: dict[str, Any]


class Outcome(NamedTuple):
    """What came of a case. `error`: its message, "" where it was done; `lost`: its worker died, more than once."""

    number: int
    key: str
    measures: dict[str, float]
    error: str = ""
    lost: bool = False
    seconds: float = 0.0
    notes: tuple[str, ...] = ()  # warnings
    file: bytes | None = None  # the result, where it is kept
    samples: tuple[float, ...] = ()  # of the motion, for `converge`


@dataclass(frozen=True)
class Recipe:
    """How to make the result of a case, and what to measure of it."""

    base: Base
    measures: Mapping[str, Measure]
    program: str  # version and sources: a worker must have the same
    sampler: Any = None  # Result -> numbers, see `convergence`
    limit: float | None = None  # s that a case may take


class OtherProgram(StudyError):
    """A worker has another version of the program."""


def run_batch(
    recipe: Recipe,
    cases: Sequence[Case],
    kept: frozenset[int] = frozenset(),
    give_up: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Run cases one by one; what goes wrong in one is its outcome.

    kept: numbers of those whose results come back. give_up: called with the outcome of a case that does not end at its limit; it
    ends the process.
    """
    from rodsim.studies.keys import program

    importlib.import_module(
        "rodsim.simulation"
    )  # by a worker that is started again: no case pays for that by its limit
    if program() != recipe.program:
        raise OtherProgram(
            f"a worker has rodsim {program()}, the study was started with {recipe.program}; install the same there"
        )
    with _ONE_AT_A_TIME:
        return [_run(recipe, case, case.number in kept, give_up) for case in cases]


def _run(recipe: Recipe, case: Case, keep: bool, give_up: Callable[[Outcome], None] | None = None) -> Outcome:
    began = time.perf_counter()
    measures: dict[str, float] = {}
    error, file, samples = "", None, ()
    over = f"it took longer than the limit of {recipe.limit:g} s" if recipe.limit is not None else ""

    def stuck() -> None:
        if give_up is not None:
            give_up(Outcome(case.number, case.key, {}, over, seconds=time.perf_counter() - began))

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        try:
            measures, file, samples = within(recipe.limit, lambda: _measured(recipe, case, keep), stuck)
        except MemoryError:
            error = "out of memory; give each worker more, or start fewer"
        except TookTooLong:
            error = over
        except SystemExit as stop:
            error = f"SystemExit: {stop.code}; a case ends by returning, or by an error: leave sys.exit out"
        except Exception as failure:
            error = _words(failure)
    notes = tuple(dict.fromkeys(str(item.message) for item in told))
    seconds = time.perf_counter() - began
    return Outcome(case.number, case.key, measures, error, False, seconds, notes, file, samples)


def _measured(recipe: Recipe, case: Case, keep: bool) -> Any:
    """Measures, the file and samples of one case."""
    from rodsim.results.result import Result

    with temporary_folder() if keep else nullcontext("") as folder:
        output = Path(folder, "result.vtkhdf") if keep else None
        result = recipe.base.result(case.values, output)
        if not isinstance(result, Result):
            if recipe.measures or keep:
                raise StudyError("a function that returns numbers has no result; leave measures and keep out")
            return numbers_of("", result), None, ()
        samples = () if recipe.sampler is None else tuple(recipe.sampler(result))
        measures = measure(result, recipe.measures)
        return measures, output.read_bytes() if output is not None and output.is_file() else None, samples


def _words(failure: Exception) -> str:
    """The message of an error on one line; errors that are none of ours with their kind."""
    from rigid.errors import ConvergenceError, ModelError

    text = " ".join(str(failure).split())
    ours = isinstance(failure, ModelError | ConvergenceError) or type(failure).__module__.startswith(
        "rodsim."
    )
    return text if ours and text else f"{type(failure).__name__}: {text}"
