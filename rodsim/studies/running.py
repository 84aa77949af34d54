"""Run the cases of a study that are not done yet and write its table (`run_study`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rodsim.studies.cases import Case, Outcome, Recipe
from rodsim.studies.errors import StudyError
from rodsim.studies.folder import Folder
from rodsim.studies.keys import program
from rodsim.studies.progress import Progress
from rodsim.studies.study import Study
from rodsim.studies.study_results import Sweep
from rodsim.studies.workers import Workers, open_workers, run_cases

if TYPE_CHECKING:
    from rodsim.studies.study_schema import ChosenEntry


def run_study(
    study: Study,
    folder: Path | str | None = None,
    *,
    scheduler: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
    retry: bool = False,
    limit: float | None = None,
) -> Sweep:
    """Run the cases of a study that are not done yet with workers of its own, and return all its results.

    `scheduler`: address of a Dask scheduler, or a client; None: `workers` processes (default: one for each core; 0: this one).
    The other arguments are those of `run_with`.
    """
    with open_workers(scheduler, workers) as opened:
        return run_with(opened, study, folder, progress, retry, limit)


def run_with(
    workers: Workers | None,
    study: Study,
    folder: Path | str | None = None,
    progress: bool | None = None,
    retry: bool = False,
    limit: float | None = None,
) -> Sweep:
    """Run the cases of a study that are not done yet, and return all its results; the workers stay for the next study.

    `folder`: folder of the journal, the table, results and pictures, in which finished cases are looked up; None: in memory.
    `retry`: True to run failed cases again. `limit`: time limit of a case without compilation (s); None: that of the study.

    Raises
    ------
    StudyStopped
        If the scheduler is gone for good; the finished cases are in the folder.
    """
    if folder is None and study.keep != "none":
        raise StudyError("keep: results go to a folder; give one")
    home = None if folder is None else Folder(Path(folder))
    try:
        outcomes = {} if home is None else _known(study, home, retry)
        sweep = Sweep(study, [], None if home is None else home.path)
        try:
            _complete(study, workers, home, outcomes, progress, study.limit if limit is None else limit)
        finally:
            sweep.outcomes = [outcomes[number] for number in sorted(outcomes)]
            if home is not None and sweep.outcomes:
                sweep.write(home.path)
                sweep.__dict__.pop("frame", None)
        return sweep
    finally:
        if home is not None:
            home.close()


def _known(study: Study, home: Folder, retry: bool) -> dict[int, Outcome]:
    """Return the outcomes of cases that were done before, by number; cases whose worker died are always run again."""
    done = home.done()
    found = {}
    for case in study.cases:
        outcome = done.get(case.key)
        if outcome is not None and not outcome.lost and not (retry and outcome.error):
            found[case.number] = outcome._replace(number=case.number)
    return found


def _complete(
    study: Study,
    workers: Workers | None,
    home: Folder | None,
    outcomes: dict[int, Outcome],
    progress: bool | None,
    limit: float | None,
) -> None:
    """Run the missing cases, then run again the cases whose results are to be saved and are not."""
    recipe = Recipe(study.base, study.measures, program(), study.sampler, limit)
    with Progress(len(study.cases), outcomes, progress) as bar:

        def took(outcome: Outcome) -> None:
            if home is not None:
                home.add(outcome, study.rows[outcome.number])
            outcomes[outcome.number] = outcome._replace(file=None)
            bar.took(outcome)

        def run(cases: list[Case], kept: frozenset[int]) -> None:
            if cases:
                run_cases(workers, recipe, cases, took, kept, bar.tell)

        every = frozenset(range(len(study.cases))) if study.keep == "all" else frozenset()
        run([case for case in study.cases if case.number not in outcomes], every)
        if home is not None and study.keep != "none":
            chosen = every or _chosen(study.keep, outcomes)
            wanted = [
                n for n in sorted(chosen) if not outcomes[n].error and home.kept(study.cases[n].key) is None
            ]
            run([study.cases[number] for number in wanted], frozenset(wanted))


def _chosen(keep: str | ChosenEntry, outcomes: Mapping[int, Outcome]) -> frozenset[int]:
    """Return the numbers of the cases whose results are to be saved."""
    assert not isinstance(keep, str)
    chosen = set(keep.cases)
    for name, sign in ((keep.largest, -1.0), (keep.smallest, 1.0)):
        if name is not None:
            done = [o for o in outcomes.values() if not o.error and o.measures[name] == o.measures[name]]
            chosen |= {
                o.number for o in sorted(done, key=lambda o: (sign * o.measures[name], o.number))[: keep.n]
            }
    return frozenset(chosen)
