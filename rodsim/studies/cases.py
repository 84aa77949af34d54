"""Run and measure cases one after the other in a worker process; independent of a cluster and of a shared disk."""

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

_ONE_AT_A_TIME = threading.Lock()  # one case at a time: a worker may have been started with several threads


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


@dataclass(frozen=True)
class Recipe:
    """Everything a worker needs besides the case: the study target, the measures and the time limit."""

    base: Base
    measures: Mapping[str, Measure]
    program: str  # version and hash of the sources, which must be the same on the worker
    sampler: Any = None  # function Result -> numbers, see `convergence`
    limit: float | None = None  # time limit of a case, s


class OtherProgram(StudyError):
    """The worker has another version of the program than the study."""


def run_batch(
    recipe: Recipe,
    cases: Sequence[Case],
    kept: frozenset[int] = frozenset(),
    give_up: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Run cases one by one and return their outcomes; an error in a case becomes its outcome.

    `kept`: numbers of the cases whose result files are returned. `give_up`: called with the outcome of a case that does not end
    at its time limit; it must end the process.
    """
    from rodsim.studies.keys import program

    importlib.import_module(
        "rodsim.simulation"
    )  # imported before the clock starts: in a restarted worker the import does not count against the time limit of a case
    if program() != recipe.program:
        raise OtherProgram(
            f"a worker has rodsim {program()}, the study was started with {recipe.program}; install the same there"
        )
    with _ONE_AT_A_TIME:
        return [_run(recipe, case, case.number in kept, give_up) for case in cases]


def _run(recipe: Recipe, case: Case, keep: bool, give_up: Callable[[Outcome], None] | None = None) -> Outcome:
    """Run one case within its time limit and return its outcome, with errors and warnings as text."""
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
    """Run a case and return its measures, the content of its result file (or None) and its samples."""
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
    """Return the message of an error on one line; an error from outside rodsim is preceded by its type."""
    from rigid.errors import ConvergenceError, ModelError

    text = " ".join(str(failure).split())
    ours = isinstance(failure, ModelError | ConvergenceError) or type(failure).__module__.startswith(
        "rodsim."
    )
    return text if ours and text else f"{type(failure).__name__}: {text}"
