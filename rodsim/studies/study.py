"""A study: a base, its parameters, the cases of a design, what is measured; `run_study` and `sweep` run it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rodsim.studies import table
from rodsim.studies.bases import SETTINGS, Base, FunctionBase, ModelBase, SceneBase, scene_base
from rodsim.studies.cases import Case, Outcome, Recipe
from rodsim.studies.cluster import Cluster, run_cases
from rodsim.studies.designs import SEED, Parameter, is_grid, rows
from rodsim.studies.errors import StudyError, near
from rodsim.studies.folder import Folder
from rodsim.studies.keys import key, program, structure
from rodsim.studies.measures import Measure, parse
from rodsim.studies.schema import ChosenEntry, DesignEntry, ParameterEntry, PlotEntry
from rodsim.studies.units import unit_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

KEEP = ("none", "all")


@dataclass
class Study:
    """What is studied; checked when it is made: StudyError or SceneError before anything runs."""

    name: str
    base: Base
    parameters: dict[str, Parameter]
    design: DesignEntry
    measures: dict[str, Measure]
    keep: str | ChosenEntry = "none"
    plots: list[PlotEntry] = field(default_factory=list)
    sampler: Any = None

    def __post_init__(self) -> None:
        self.rows = rows(list(self.parameters.values()), self.design)
        self.columns = list(self.rows[0]) if self.rows else []  # parameters, and the seed
        table.check_columns(self.columns, list(self.measures))
        self.units = {name: parameter.unit for name, parameter in self.parameters.items()}
        self._check_seeds()
        self._check_keep()
        self._check_first()
        for plot in self.plots:
            for column in (plot.x, plot.y, plot.color):
                self.check_column(column)
        self.cases = [self._case(number, values) for number, values in enumerate(self.rows)]

    def check_column(self, column: str | None) -> None:
        """Raise StudyError unless the table will have the column; that of a function tells late."""
        known = [table.CASE, *self.columns, *self.measures]
        if column is not None and self.measures and column not in known:
            raise StudyError(f"plot: there is no column '{column}'; {near(column, known, 'there are')}")

    def _case(self, number: int, values: dict[str, Any]) -> Case:
        content = self.base.content(values)
        measured = {name: what for name, what in self.measures.items()}
        return Case(number, key(program(), content, measured, self.sampler), structure(content), values)

    def _check_seeds(self) -> None:
        takes_seed = not isinstance(self.base, SceneBase)
        varies = any(p.random for p in self.parameters.values()) or self.design.type in ("latin_hypercube", "sobol")
        if self.design.seeds is not None and not varies and not takes_seed:
            raise StudyError("design: seeds repeat the same cases; give a parameter `normal` or `uniform`, or leave them out")

    def _check_keep(self) -> None:
        if isinstance(self.keep, str):
            if self.keep not in KEEP:
                raise StudyError(f"keep = '{self.keep}'; give none, all, or which")
            return
        for number in self.keep.cases:
            if number >= len(self.rows):
                raise StudyError(f"keep: there is no case {number}; the last is {len(self.rows) - 1}")
        for column in (self.keep.largest, self.keep.smallest):
            if column is not None and column not in self.measures:
                raise StudyError(f"keep: there is no measure '{column}'; {near(column, self.measures, 'there are')}")

    def _check_first(self) -> None:
        """Every value of every parameter in a scene once, with the first of all others; measures against its parts."""
        first = self.rows[0]
        layout = self.base.layout(first)
        if layout is not None:
            for name, what in self.measures.items():
                if isinstance(what, str):
                    self.units[name] = parse(what, layout).unit
        if isinstance(self.base, SceneBase):
            for name in self.columns:
                for value in _ends([row[name] for row in self.rows]):
                    if name in self.base.places and value != first[name]:
                        try:
                            self.base.load({**first, name: value})
                        except ValueError as error:
                            raise StudyError(f"parameter '{name}' = {value!r}: {error}") from None


def _ends(values: list[Any]) -> list[Any]:
    """Smallest and largest of numbers, and all others."""
    plain = [x for x in values if isinstance(x, int | float) and not isinstance(x, bool)]
    others = [x for k, x in enumerate(values) if (not isinstance(x, int | float)) and x not in values[:k]]
    return ([min(plain), max(plain)] if plain else []) + others[:50]


@dataclass
class Sweep:
    """What a study found: `frame` (pandas), `dataset` (xarray, with units), `failed`, pictures of its columns."""

    study: Study
    outcomes: list[Outcome]
    folder: Path | None = None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table: a row a case."""
        return table.frame(self.study.rows, self.outcomes, self.study.units)

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Measures over the parameters: an axis for each parameter of a grid, else over the case."""
        return table.dataset(self.frame, self.study.columns, self.measures, self.grid)

    @property
    def measures(self) -> list[str]:
        """Names of what was measured."""
        return [name for name in self.frame.columns if name not in (table.CASE, table.ERROR, *self.study.columns)]

    @property
    def grid(self) -> bool:
        """Whether there is an axis for each parameter."""
        return is_grid(self.study.parameters, self.study.design)

    @property
    def failed(self) -> dict[int, str]:
        """Messages of cases that failed, by number."""
        return {outcome.number: outcome.error for outcome in self.outcomes if outcome.error}

    @property
    def seconds(self) -> float:
        """Of computing, all cases together."""
        return sum(outcome.seconds for outcome in self.outcomes)

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<Sweep '{self.study.name}': {len(self.outcomes)} cases{failed}, measures {self.measures}>"

    def result_file(self, number: int) -> Path | None:
        """The result of a case, where it was kept."""
        if self.folder is None:
            return None
        case = self.study.cases[number]
        found = sorted((self.folder / "results").glob(f"case-*-{case.key[:8]}.vtkhdf"))
        return found[0] if found else None

    def plot(self, *columns: str, path: Path | str, kind: str | None = None, log: Sequence[str] = ()) -> Path:
        """A picture of two columns, y over x, or of three: the third as colour over both (.png, .pdf, .svg)."""
        from rodsim.studies.pictures import draw

        return draw(self.frame, self.study.columns, columns, path, kind, log)

    def write(self, folder: Path | str) -> list[Path]:
        """The table as table.csv and table.parquet."""
        return table.write(self.frame, Path(folder))


def run_study(
    study: Study,
    folder: Path | str | None = None,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    retry: bool = False,
) -> Sweep:
    """Run the cases of a study that are not done yet.

    folder: where the journal, the table, results and pictures go, and where done cases are found again; None: in memory.
    scheduler: address of a Dask scheduler; None: a cluster of our own, `workers` processes (default: one a core).
    retry: run cases again that have failed before.

    Raises
    ------
    StudyStopped: the scheduler is gone for good; what was done is in the folder.
    """
    if folder is None and study.keep != "none":
        raise StudyError("keep: results go to a folder; give one")
    cluster = Cluster(scheduler, workers)
    home = None if folder is None else Folder(Path(folder))
    try:
        outcomes = {} if home is None else _known(study, home, retry)
        sweep = Sweep(study, [], None if home is None else home.path)
        try:
            _complete(study, cluster, home, outcomes, progress)
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
    """Outcomes of cases that were done before; those whose worker died are always run again."""
    done = home.done()
    found = {}
    for case in study.cases:
        outcome = done.get(case.key)
        if outcome is not None and not outcome.lost and not (retry and outcome.error):
            found[case.number] = outcome._replace(number=case.number)
    return found


def _complete(
    study: Study, cluster: Cluster, home: Folder | None, outcomes: dict[int, Outcome], progress: bool | None
) -> None:
    """Run what is missing, then again what is to be kept and was not."""
    recipe = Recipe(study.base, study.measures, program(), study.sampler)
    with _Progress(len(study.cases), outcomes, progress) as bar:

        def took(outcome: Outcome) -> None:
            if home is not None:
                home.add(outcome, study.rows[outcome.number])
            outcomes[outcome.number] = outcome._replace(file=None)
            bar.took(outcome)

        def run(cases: list[Case], kept: frozenset[int]) -> None:
            if cases:
                run_cases(cluster, recipe, cases, took, kept)

        every = frozenset(range(len(study.cases))) if study.keep == "all" else frozenset()
        run([case for case in study.cases if case.number not in outcomes], every)
        if home is not None and study.keep != "none":
            chosen = every or _chosen(study.keep, outcomes)
            wanted = [n for n in sorted(chosen) if not outcomes[n].error and home.kept(study.cases[n].key) is None]
            run([study.cases[number] for number in wanted], frozenset(wanted))


def _chosen(keep: str | ChosenEntry, outcomes: Mapping[int, Outcome]) -> frozenset[int]:
    """Numbers of the cases whose results are asked for."""
    assert isinstance(keep, ChosenEntry)
    chosen = set(keep.cases)
    for name, sign in ((keep.largest, -1.0), (keep.smallest, 1.0)):
        if name is not None:
            done = [o for o in outcomes.values() if not o.error and o.measures[name] == o.measures[name]]
            chosen |= {o.number for o in sorted(done, key=lambda o: (sign * o.measures[name], o.number))[: keep.n]}
    return frozenset(chosen)


class _Progress:
    """The bar on stderr: cases done, rate, time left, how many failed."""

    def __init__(self, total: int, known: Mapping[int, Outcome], show: bool | None) -> None:
        self._bar = None
        self._failed = sum(bool(outcome.error) for outcome in known.values())
        self._counted = set(known)
        if show if show is not None else sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=len(known), unit="case", dynamic_ncols=True, smoothing=0.1)
            self._tell()

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def took(self, outcome: Outcome) -> None:
        """One more; a case that is run again for its file counts once."""
        if outcome.number in self._counted:
            return
        self._counted.add(outcome.number)
        self._failed += bool(outcome.error)
        if self._bar is not None:
            self._bar.update(1)
            self._tell()

    def _tell(self) -> None:
        if self._bar is not None and self._failed:
            self._bar.set_postfix_str(f"{self._failed} failed", refresh=False)


def sweep(
    base: Any,
    parameters: Mapping[str, Any],
    measures: Mapping[str, Measure] | Sequence[str] | None = None,
    design: str | Mapping[str, Any] = "grid",
    *,
    n: int | None = None,
    seeds: int | Sequence[int] | None = None,
    folder: Path | str | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    keep: str | Sequence[int] | Mapping[str, Any] = "none",
    progress: bool | None = None,
    retry: bool = False,
    **settings: Any,
) -> Sweep:
    """Run a scene, a model or a function under many parameters, on all cores or on a Dask cluster.

    Parameters
    ----------
    base: a scene, as file or as its data; a function of the parameters that returns a `Model`, the data of a scene, a
    `Result`, or numbers by name; or a `Model`, of which settings of the run are varied.
    parameters: name -> values, or a mapping as in a study file: {"path": ..., "low": 1, "high": 9, "n": 5, "scale": "log"}.
    Of a scene the name is the path unless one is given: "rods.cord.section.radius". Of a function they are its arguments.
    measures: name -> "final rods.cord.end.r.z" or a function of the result that returns a number, or numbers by name; or a
    list of such texts, which are then the names.
    design: "grid" (all combinations), "list" (the first values of all, the second ...), "latin_hypercube" or "sobol" of `n`
    samples between low and high. seeds: how often each case is repeated, or which seeds: other samples, other values of
    parameters with `normal` or `uniform`, and the argument `seed` of a function.
    keep: results as files in `folder`: "none", "all", numbers of cases, or {"largest": measure, "n": 3}.
    folder, scheduler, workers, progress, retry: see `run_study`. Cases that are done in `folder` are not run again.
    settings: t_end, dt, integrator ... of `simulate`; of a scene instead of its own.

    Raises
    ------
    StudyError, SceneError: the study cannot be run as described; nothing has been run.
    StudyStopped: the scheduler is gone for good; what was done is in the folder.

    A script that calls this needs `if __name__ == "__main__":` around the call: workers import it.
    """
    unknown = [name for name in settings if name not in SETTINGS]
    if unknown:
        raise StudyError(f"sweep: there is no '{unknown[0]}'; {near(unknown[0], SETTINGS, 'settings are')}")
    given = {name: _parameter(name, value) for name, value in parameters.items()}
    if not given:
        raise StudyError("sweep: there are no parameters; give at least one")
    entry = {"type": design} if isinstance(design, str) else dict(design)
    entry |= {name: x for name, x in (("n", n), ("seeds", seeds)) if x is not None}
    if isinstance(entry.get("seeds"), range | tuple):
        entry["seeds"] = list(entry["seeds"])
    of_base = _base(base, given, settings)
    study = Study(
        getattr(base, "__name__", "study") if callable(base) else "study",
        of_base,
        given,
        _validated(DesignEntry, "design", entry),
        _measures(measures),
        _keep(keep),
    )
    return run_study(study, folder, scheduler=scheduler, workers=workers, progress=progress, retry=retry)


def _base(base: Any, given: Mapping[str, Parameter], settings: Mapping[str, Any]) -> Base:
    from rodsim.model import Model

    if isinstance(base, Model):
        of_model = ModelBase(base, dict(settings))
        of_model.check(list(given))
        return of_model
    if isinstance(base, str | Path):
        from rodsim.scenes.reading import read

        source, folder = read(base), Path(base).parent
        places = {name: parameter.places for name, parameter in given.items()}
        return scene_base(source.file, source.data, source.lines, folder, places, settings)
    if isinstance(base, Mapping):
        places = {name: parameter.places for name, parameter in given.items()}
        return scene_base("<scene>", dict(base), {}, None, places, settings)
    if callable(base):
        of_function = FunctionBase(base, dict(settings))
        of_function.check(list(given))
        return of_function
    raise StudyError(f"sweep: {base!r:.60} is no scene, model or function; give one")


def _parameter(name: str, given: Any) -> Parameter:
    import numpy as np

    if not isinstance(given, Mapping):
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise StudyError(f"parameter '{name}' = {given!r:.60}: give a list of values, or low, high and n")
        given = {"values": [x.item() if isinstance(x, np.generic) else x for x in given]}
    entry = _validated(ParameterEntry, f"parameter '{name}'", dict(given))
    return made_parameter(name, entry)


def made_parameter(name: str, entry: ParameterEntry) -> Parameter:
    """A parameter, with the unit of its place where none is given."""
    parameter = Parameter(name, entry)
    unit = entry.unit if entry.unit is not None else unit_of(next(iter(parameter.places)))
    return Parameter(name, entry, unit)


def _measures(given: Mapping[str, Measure] | Sequence[str] | None) -> dict[str, Measure]:
    found = {} if given is None else dict(given) if isinstance(given, Mapping) else {text: text for text in given}
    for name, what in found.items():
        if not isinstance(what, str) and not callable(what):
            raise StudyError(f"measure '{name}' = {what!r:.60}: give words as 'final energy.total', or a function")
    return found


def _keep(given: str | Sequence[int] | Mapping[str, Any]) -> str | ChosenEntry:
    if isinstance(given, str):
        return given
    entry = dict(given) if isinstance(given, Mapping) else {"cases": list(given)}
    return _validated(ChosenEntry, "keep", entry)


def _validated(kind: Callable[..., Any], owner: str, data: Mapping[str, Any]) -> Any:
    """pydantic's first complaint as ours."""
    from pydantic import ValidationError

    try:
        return kind(**data)
    except ValidationError as error:
        item = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in item["loc"])
        what = str(item["ctx"]["error"]) if item["type"] == "value_error" else item["msg"]
        told = f" {where} = {item['input']!r:.60}:" if where else ":"
        raise StudyError(f"{owner}:{told} {what}") from None
