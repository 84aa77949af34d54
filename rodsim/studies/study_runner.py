"""Describe a study by arguments (`sweep`) or by a file (`read_study`), and run its cases that are not done yet (`run_study`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from rigid.lazy_modules import LazyModule
from rodsim.studies.case_keys import program
from rodsim.studies.cases import Case, Outcome, Recipe
from rodsim.studies.errors import StudyError, near
from rodsim.studies.measures import Measure, named_measures
from rodsim.studies.study import SEED, Parameter, Study, made_parameter
from rodsim.studies.study_results import StudyFolder, Sweep
from rodsim.studies.study_targets import SETTINGS, FunctionTarget, ModelTarget, StudyTarget, read_scene_target
from rodsim.studies.workers import Workers, open_workers, run_cases

if TYPE_CHECKING:
    from rodsim.scenes.yaml_data import Source
    from rodsim.studies import study_schema as schema
    from rodsim.studies.study_schema import ChosenEntry

else:
    schema = LazyModule("rodsim.studies.study_schema")


def sweep(
    base: Any,
    parameters: Mapping[str, Any],
    measures: Mapping[str, Measure] | Sequence[str] | None = None,
    design: str | Mapping[str, Any] = "grid",
    *,
    n: int | None = None,
    seeds: int | Sequence[int] | None = None,
    folder: Path | str | None = None,
    scheduler: Any = None,
    workers: int | None = None,
    keep: str | Sequence[int] | Mapping[str, Any] = "none",
    progress: bool | None = None,
    retry: bool = False,
    limit: float | None = None,
    **settings: Any,
) -> Sweep:
    """Run a scene, a model or a function with many parameter values, on all cores or on a Dask cluster.

    Workers do not import the script that calls it: the functions and classes that it defines are sent to them.

    Parameters
    ----------
    base : str, Path, mapping, Model or callable
        A scene, as a file or as data (from `read_scene`, PyYAML or written by hand). Or a function of the parameters that
        returns a `Model`, the data of a scene, a `Result`, or numbers by name. Or a `Model`: its run settings and numbers, given
        by their paths (`Prepared.changeable`), are varied.
    parameters : mapping of str to sequence or mapping
        Name -> values, or a mapping as in a study file: {"path": ..., "low": 1, "high": 9, "n": 5, "scale": "log"}. For a scene
        the name is the path unless one is given: "rods.cord.section.radius". For a function the names are its arguments.
    measures : mapping of str to str or callable, or sequence of str, optional
        Name -> "final rods.cord.end.r.z", or a function of the result that returns a number or numbers by name; or a list of
        such texts, which are then also the names. By default none.
    design : str or mapping, default "grid"
        "grid" (all combinations), "list" (the first values of all parameters, then the second ...), "latin_hypercube" or "sobol"
        (`n` samples between low and high); or a mapping with the keys "type", "n" and "seeds".
    n : int, optional
        Number of samples of "latin_hypercube" and "sobol"; for "sobol" a power of two.
    seeds : int or sequence of int, optional
        Number of repetitions of each case, or the seeds themselves. A seed determines the samples, the values of parameters with
        `normal` or `uniform`, and the argument `seed` of a function.
    folder : Path or str, optional
        Folder for the journal, the table, results and pictures. Cases already done there are not run again. By default
        everything stays in memory.
    scheduler : str or distributed.Client, optional
        Dask scheduler: its address, or a client that is connected to it. By default processes of this machine.
    workers : int, optional
        Number of processes of this machine, by default one for each core. 0: run the cases in this process, one after the other.
    progress : bool, optional
        Show a progress bar on stderr, by default if stderr is a terminal. False: no messages at all.
    keep : str, sequence of int or mapping, default "none"
        Results that are saved as files in `folder`: "none", "all", numbers of cases, or {"largest": measure, "n": 3}.
    retry : bool, default False
        Run cases again that have failed before.
    limit : float, optional
        Time limit of a case without compilation, s; a case that takes longer fails. By default none.
    **settings : Any
        `t_end`, `dt`, `error`, `output_dt`, `max_dt`, `integrator`, `chart`, `tolerance`, `solver` and `output_every` of
        `simulate`; they replace those of a scene.

    Returns
    -------
    Sweep
        `frame` is the table with a row for each case.

    Raises
    ------
    StudyError, SceneError
        If the study cannot be run as described; nothing has been run.
    StudyStopped
        If the scheduler is gone for good; the finished cases are in the folder.

    Examples
    --------
    >>> from rodsim import Box, Model
    >>> from rodsim.studies import sweep
    >>> model = Model("free fall", gravity=(0, 0, -10))
    >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1))
    >>> heights = ["final bodies.block.r.z"]
    >>> found = sweep(model, {"t_end": [0.1, 0.2]}, heights, dt=0.1, workers=0, progress=False)
    >>> found.frame[heights[0]].round(6).tolist()
    [-0.05, -0.2]
    """
    unknown = [name for name in settings if name not in SETTINGS]
    if unknown:
        raise StudyError(f"sweep: there is no '{unknown[0]}'; {near(unknown[0], SETTINGS, 'settings are')}")
    checked = {name: _parameter(name, value) for name, value in parameters.items()}
    if not checked:
        raise StudyError("sweep: there are no parameters; give at least one")
    entry: dict[str, Any] = {"type": design} if isinstance(design, str) else dict(design)
    entry |= {name: x for name, x in (("n", n), ("seeds", seeds)) if x is not None}
    if isinstance(entry.get("seeds"), range | tuple):
        entry["seeds"] = list(entry["seeds"])
    drawn = [SEED] if entry.get("seeds") is not None else []
    target = _base(base, checked, drawn, settings)
    study = Study(
        getattr(base, "__name__", "study") if callable(base) else "study",
        target,
        checked,
        _validated(schema.DesignEntry, "design", entry),
        named_measures(measures),
        _validated_keep(keep),
        limit=limit,
    )
    return run_study(study, folder, scheduler=scheduler, workers=workers, progress=progress, retry=retry)


def _base(
    base: Any, checked: Mapping[str, Parameter], drawn: list[str], settings: Mapping[str, Any]
) -> StudyTarget:
    """Return the study target of a model, scene or function; raise StudyError for anything else. `drawn`: the seed, if any."""
    from rodsim.model import Model

    if isinstance(base, Model):
        model_target = ModelTarget(base, dict(settings))
        model_target.check(list(checked))
        return model_target
    if isinstance(base, str | Path | Mapping):
        paths = {name: parameter.places for name, parameter in checked.items()}
        return read_scene_target(base, paths, settings)
    if callable(base):
        function_target = FunctionTarget(base, dict(settings))
        function_target.check([*checked, *drawn])
        return function_target
    raise StudyError(f"sweep: {base!r:.60} is not a scene, a model or a function")


def _parameter(name: str, values: Any) -> Parameter:
    """Return the parameter described by a sequence of values or by a mapping as in a study file."""
    import numpy as np

    if not isinstance(values, Mapping):
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise StudyError(
                f"parameter '{name}' = {values!r:.60}: give a list of values, or low, high and n"
            )
        values = {"values": [x.item() if isinstance(x, np.generic) else x for x in values]}
    entry = _validated(schema.ParameterEntry, f"parameter '{name}'", dict(values))
    return made_parameter(name, entry)


def _validated_keep(option: str | Sequence[int] | Mapping[str, Any]) -> str | schema.ChosenEntry:
    """Return the choice of the results to save, validated unless it is text."""
    if isinstance(option, str):
        return option
    entry = dict(option) if isinstance(option, Mapping) else {"cases": list(option)}
    return _validated(schema.ChosenEntry, "keep", entry)


def _validated(kind: Callable[..., Any], owner: str, data: Mapping[str, Any]) -> Any:
    """Validate data with a pydantic model; raise its first error as StudyError."""
    from pydantic import ValidationError

    from rodsim.scenes.scene_checks import complaint

    try:
        return kind(**data)
    except ValidationError as error:
        item = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in item["loc"])
        value = "" if item["type"] == "missing" else f" = {item['input']!r:.60}"
        raise StudyError(f"{owner}:{f' {location}{value}' if location else ''}{complaint(item)}") from None


# --- files


def read_study(path: str | Path, keep: Any = None, plots: list[schema.PlotEntry] | None = None) -> Study:
    """Read and check a study file; the path of its scene is relative to it.

    `keep`, `plots`: replace those of the file. Raises SceneError, with file, line and remedy, if the study or scene is invalid.
    """
    from rodsim.scenes.reading import read
    from rodsim.scenes.scene_checks import checked

    source = read(path, "study")
    entry = checked(source, schema.StudyEntry)
    parameters = {name: made_parameter(name, value) for name, value in entry.parameters.items()}
    settings = {"t_end": entry.t_end, "dt": entry.dt, "integrator": entry.integrator}
    try:
        paths = {name: parameter.places for name, parameter in parameters.items()}
        base = read_scene_target(Path(path).parent / entry.scene, paths, settings)
        return Study(
            entry.name,
            base,
            parameters,
            entry.design,
            dict(entry.measures),
            entry.keep if keep is None else keep,
            entry.plots if plots is None else plots,
            limit=entry.limit,
        )
    except StudyError as error:
        raise source.error(_where(source, str(error)), str(error)) from None


def _where(source: Source, text: str) -> tuple[str, ...]:
    """Return the keys of the entry of the file to which the beginning of a message refers; empty if there is none."""
    for head, word in (("parameters", "parameter"), ("measures", "measure")):
        for name, item in (source.data.get(head) or {}).items():
            if text.startswith((f"{word} '{name}'", f"{word} '{item}'")):
                return (head, name)
    head = text.partition(":")[0].partition(" ")[0]
    head = "plots" if head == "plot" else head
    return (head,) if head in source.data and head != SEED else ()


# --- cases that are not done yet


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
        raise StudyError("keep: results are saved in a folder; give `folder`")
    study_folder = None if folder is None else StudyFolder(Path(folder))
    try:
        outcomes = {} if study_folder is None else _known(study, study_folder, retry)
        sweep = Sweep(study, [], None if study_folder is None else study_folder.path)
        try:
            _complete(
                study, workers, study_folder, outcomes, progress, study.limit if limit is None else limit
            )
        finally:
            sweep.outcomes = [outcomes[number] for number in sorted(outcomes)]
            if study_folder is not None and sweep.outcomes:
                sweep.write(study_folder.path)
                sweep.__dict__.pop("frame", None)
        return sweep
    finally:
        if study_folder is not None:
            study_folder.close()


def _known(study: Study, study_folder: StudyFolder, retry: bool) -> dict[int, Outcome]:
    """Return the outcomes of cases that were done before, by number; cases whose worker died are always run again."""
    outcomes = study_folder.done()
    known = {}
    for case in study.cases:
        outcome = outcomes.get(case.key)
        if outcome is not None and not outcome.lost and not (retry and outcome.error):
            known[case.number] = outcome._replace(number=case.number)
    return known


def _complete(
    study: Study,
    workers: Workers | None,
    study_folder: StudyFolder | None,
    outcomes: dict[int, Outcome],
    progress: bool | None,
    limit: float | None,
) -> None:
    """Run the missing cases, then run again the cases whose results are to be saved and are not."""
    recipe = Recipe(study.base, study.measures, program(), study.sampler, limit)
    hidden = None if progress is None else not progress  # None: shown if stderr is a terminal
    failed = {number for number, outcome in outcomes.items() if outcome.error}
    bar_settings: dict[str, Any] = {
        "unit": "case",
        "dynamic_ncols": True,
        "smoothing": 0.1,
        "disable": hidden,
    }
    with tqdm(total=len(study.cases), initial=len(outcomes), **bar_settings) as bar:

        def on_outcome(outcome: Outcome) -> None:
            if study_folder is not None:
                study_folder.add(outcome, study.rows[outcome.number])
            bar.update(
                outcome.number not in outcomes
            )  # a case that is run again for its result file counts once
            outcomes[outcome.number] = outcome._replace(file=None)
            (failed.add if outcome.error else failed.discard)(outcome.number)
            bar.set_postfix_str(f"{len(failed)} failed" if failed else "", refresh=False)

        def notify(message: str) -> None:
            if progress is not False:
                bar.write(f"rodsim: {message}", file=sys.stderr)

        def run(cases: list[Case], saved: frozenset[int]) -> None:
            if cases:
                run_cases(workers, recipe, cases, on_outcome, saved, notify)

        every = frozenset(range(len(study.cases))) if study.keep == "all" else frozenset()
        run([case for case in study.cases if case.number not in outcomes], every)
        if study_folder is not None and study.keep != "none":
            chosen = every or _chosen(study.keep, outcomes)
            numbers = [
                n
                for n in sorted(chosen)
                if not outcomes[n].error and study_folder.find_result(study.cases[n].key) is None
            ]
            run([study.cases[number] for number in numbers], frozenset(numbers))


def _chosen(keep: str | ChosenEntry, outcomes: Mapping[int, Outcome]) -> frozenset[int]:
    """Return the numbers of the cases whose results are to be saved."""
    assert not isinstance(keep, str)
    chosen = set(keep.cases)
    for name, sign in ((keep.largest, -1.0), (keep.smallest, 1.0)):
        if name is not None:
            succeeded = [o for o in outcomes.values() if not o.error and o.measures[name] == o.measures[name]]
            chosen |= {
                o.number
                for o in sorted(succeeded, key=lambda o: (sign * o.measures[name], o.number))[: keep.n]
            }
    return frozenset(chosen)
