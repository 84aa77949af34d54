"""Results of a study: its table in memory and on disk, its failures and pictures, and the journal of its cases.

Columns of the table: case, the parameters, the seed if there is one, the measures, error ("" if the case succeeded). It contains
neither computing times nor hosts, so that it is bit-identical however the study was run. The folder of a study:

    cases.jsonl     a line for each case, in the order in which they ended: keys, measures, errors; append-only
    table.csv, table.parquet     the table, written completely or not at all
    results/case-0007-KEY.vtkhdf     saved results, with the first 8 characters of the key

A line of the journal that is incomplete because the process was killed is not valid JSON. It is skipped, and its case is run
again.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from rodsim import html_tables as tables
from rodsim.extras import extra
from rodsim.html_tables import some
from rodsim.results.atomic_write import atomic_file, named
from rodsim.results.lock import Lock
from rodsim.studies.cases import Outcome
from rodsim.studies.errors import StudyError
from rodsim.studies.study import CASE, ERROR, Study, is_grid

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from rodsim.studies.cases import Outcome


@dataclass
class Sweep:
    """Hold the results of a study: a table, its failures and pictures of its columns.

    `sweep` returns it. `frame` is the table (pandas), `dataset` the table with axes and units (xarray), and `failed` contains the
    messages of the failed cases.

    Parameters
    ----------
    study : Study
        The study, with its cases and measures.
    outcomes : list of Outcome
        Outcome of each case that was run.
    folder : Path, optional
        Folder of the study. By default the study is in memory.

    Examples
    --------
    >>> from rodsim import Box, Model
    >>> from rodsim.studies import sweep
    >>> model = Model("free fall", gravity=(0, 0, -10))
    >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1))
    >>> heights = ["final bodies.block.r.z"]
    >>> found = sweep(model, {"t_end": [0.1, 0.2]}, heights, dt=0.1, workers=0, progress=False)
    >>> found
    <Sweep 'study': 2 cases, measures final bodies.block.r.z>
    >>> list(found.frame.columns)
    ['case', 't_end', 'final bodies.block.r.z', 'error']
    """

    study: Study
    outcomes: list[Outcome]
    folder: Path | None = None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Return the table (pandas), with a row for each case."""
        named = [name for name, what in self.study.measures.items() if isinstance(what, str)]
        return make_frame(self.study.rows, self.outcomes, self.study.units, named)

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Return the measures (xarray): an axis for each parameter if the cases are a grid, else over the case number."""
        return make_dataset(self.frame, self.study.columns, self.measures, self.grid)

    @property
    def measures(self) -> list[str]:
        """Return the names of the measures."""
        return [name for name in self.frame.columns if name not in (CASE, ERROR, *self.study.columns)]

    @property
    def grid(self) -> bool:
        """Return whether the data set has an axis for each parameter."""
        return is_grid(self.study.parameters, self.study.design)

    @property
    def failed(self) -> dict[int, str]:
        """Return the error messages of the failed cases, by number of the case."""
        return {outcome.number: outcome.error for outcome in self.outcomes if outcome.error}

    @property
    def seconds(self) -> float:
        """Return the computing time of all cases together, s."""
        return sum(outcome.seconds for outcome in self.outcomes)

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        measures = some(self.measures) or "none"
        return f"<Sweep '{self.study.name}': {len(self.outcomes)} cases{failed}, measures {measures}>"

    def _repr_html_(self) -> str:
        """Return the first rows of the table as HTML, for notebooks."""
        columns = [str(name) for name in self.frame.columns]
        rows = self.frame.head(tables.MOST_ROWS).itertuples(index=False)
        shown = tables.table(columns, rows, many=len(self.frame))
        return tables.page(f"Sweep '{self.study.name}'", shown)

    def result_file(self, number: int) -> Path | None:
        """Return the result file of a case.

        Parameters
        ----------
        number : int
            Number of the case.

        Returns
        -------
        Path or None
            The file; None if the result was not saved.
        """
        return None if self.folder is None else saved_result(self.folder, self.study.cases[number].key)

    def plot(self, *columns: str, path: Path | str, kind: str | None = None, log: Sequence[str] = ()) -> Path:
        """Draw two columns, y over x, or three: the third as colour over both.

        Failed cases are omitted.

        Parameters
        ----------
        *columns : str
            Names of two or three columns of `frame`.
        path : Path or str
            File to write, .png, .pdf or .svg.
        kind : {"curves", "scatter", "heat"}, optional
            "curves" or "scatter" of two columns, "heat" or "scatter" of three. By default curves over a parameter with few
            values, a heat map over two parameters with all combinations, else scatter.
        log : sequence of str, default ()
            Names of the columns whose axis is logarithmic.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        StudyError
            If there is no such column or kind, no case succeeded, or the format given by the ending of `path` is not supported.
        """
        from rodsim.studies.study_plots import draw

        return draw(self.frame, self.study.columns, columns, path, kind, log)

    def write(self, folder: Path | str) -> list[Path]:
        """Write the table as table.csv and table.parquet.

        Parameters
        ----------
        folder : Path or str
            Folder for both files.

        Returns
        -------
        list of Path
            Both files.

        Raises
        ------
        MissingExtra
            If pyarrow is not installed (`pip install 'rodsim[studies]'`).
        """
        return write_table(self.frame, Path(folder))


# --- table


def make_frame(
    rows: Sequence[Mapping[str, Any]],
    outcomes: Sequence[Outcome],
    units: Mapping[str, str],
    measures: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the table; its `attrs["units"]` are units by column. `measures`: columns that exist even if no case has them."""
    pandas = extra("pandas", "studies", "a study")
    measured = [name for outcome in outcomes for name in outcome.measures]
    measures = list(dict.fromkeys([*measures, *measured]))  # also if all cases failed
    columns: dict[str, Any] = {CASE: [outcome.number for outcome in outcomes]}
    for name in rows[0] if rows else ():
        columns[name] = [_cell(rows[outcome.number][name]) for outcome in outcomes]
    for name in measures:
        columns[name] = [outcome.measures.get(name, float("nan")) for outcome in outcomes]
    columns[ERROR] = [outcome.error for outcome in outcomes]
    table = pandas.DataFrame(columns)
    table.attrs["units"] = {name: unit for name, unit in units.items() if name in columns and unit}
    return table


def _cell(value: Any) -> Any:
    """Return the value of a parameter for the table; lists and mappings as JSON text."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def write_table(table: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the table as .csv and .parquet, each completely or not at all; return both paths."""
    arrow = extra("pyarrow", "studies", "a study")
    parquet = extra("pyarrow.parquet", "studies", "a study")
    paths = [folder / "table.csv", folder / "table.parquet"]
    with atomic_file(paths[0]) as file:
        table.to_csv(file, index=False)  # floats with all their digits
    units = {"units": json.dumps(table.attrs["units"])}
    arrow_table = arrow.Table.from_pandas(table, preserve_index=False)
    with atomic_file(paths[1]) as file:
        parquet.write_table(
            arrow_table.replace_schema_metadata({**(arrow_table.schema.metadata or {}), **units}), file
        )
    return paths


def make_dataset(
    table: pd.DataFrame, parameters: Sequence[str], measures: Sequence[str], grid: bool
) -> xr.Dataset:
    """Return the measures over an axis for each parameter if `grid`, else over the case with the parameters as coordinates."""
    extra("xarray", "studies", "a study")
    units = table.attrs["units"]
    axes = {name: table[name].drop_duplicates().tolist() for name in parameters}
    if grid and parameters and len(table) == np.prod([len(axis) for axis in axes.values()]):
        columns = table.set_index(list(parameters))[[*measures, ERROR]]
        dataset = columns.to_xarray().reindex(axes)  # in the order of the values, not sorted
    else:
        columns = table.set_index(CASE)[[*measures, ERROR, *parameters]]
        dataset = columns.to_xarray().set_coords(list(parameters))
    for name in dataset.variables:
        if name in units:
            dataset[name].attrs["units"] = units[str(name)]
    return dataset


JOURNAL = "cases.jsonl"
RESULTS = "results"


# --- journal


class StudyFolder:
    """Folder of a study, locked against other writers until `close`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise StudyError(f"'{path}' is not a folder; give the name of a folder for the study")
        path.mkdir(parents=True, exist_ok=True)
        self._journal = path / JOURNAL
        self._lock = Lock(self._journal)
        self._file: IO[str] | None = None

    def done(self) -> dict[str, Outcome]:
        """Return the outcomes by key, of all studies that have written to this folder."""
        outcomes: dict[str, Outcome] = {}
        text = self._journal.read_text("utf-8", "replace") if self._journal.exists() else ""
        for line in text.splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):  # skip incomplete lines
                outcome = _outcome(json.loads(line))
                outcomes[outcome.key] = outcome
        return outcomes

    def add(self, outcome: Outcome, values: dict[str, Any]) -> None:
        """Append an outcome to the journal, and save its result file if it has one; `values`: parameters of the case."""
        if outcome.file is not None:
            target = self.result(outcome.key, outcome.number)
            target.parent.mkdir(exist_ok=True)
            with atomic_file(target) as file:
                file.write_bytes(outcome.file)
        if self._file is None:
            written = self._journal.read_bytes() if self._journal.exists() else b""
            self._file = open(self._journal, "a", encoding="utf-8")  # noqa: SIM115, closed in close()
            self._file.write("\n" if written and not written.endswith(b"\n") else "")
        record = {
            "key": outcome.key,
            "case": outcome.number,
            "values": values,
            "measures": outcome.measures,
            "error": outcome.error,
            "lost": outcome.lost,
            "seconds": round(outcome.seconds, 6),
            "notes": outcome.notes,
            "samples": outcome.samples,
        }
        with named(self._journal):
            self._file.write(dumps(record) + "\n")
            self._file.flush()

    def result(self, key: str, number: int) -> Path:
        """Return the path for the result of a case; it contains the key, because the number may differ in another study."""
        return self.path / RESULTS / f"case-{number:04d}-{key[:8]}.vtkhdf"

    def find_result(self, key: str) -> Path | None:
        """Return the saved result file of a case; None if there is none."""
        return saved_result(self.path, key)

    def close(self) -> None:
        """Close the journal and release the lock."""
        try:
            if self._file is not None:
                with named(self._journal):
                    self._file.close()  # writes the buffer again if the disk was full
        finally:
            self._lock.release()


def saved_result(folder: Path, key: str) -> Path | None:
    """Return the saved result file of a case in the folder of a study; None if there is none."""
    return next(iter(sorted((folder / RESULTS).glob(f"case-*-{key[:8]}.vtkhdf"))), None)


def _outcome(record: dict[str, Any]) -> Outcome:
    """Return the outcome stored in a line of the journal, without its result file."""
    return Outcome(
        int(record["case"]),
        str(record["key"]),
        {str(name): float(x) for name, x in record["measures"].items()},
        str(record["error"]),
        bool(record["lost"]),
        float(record["seconds"]),
        tuple(record["notes"]),
        None,
        tuple(float(x) for x in record["samples"]),
    )


def dumps(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON; nan, inf and -inf become the texts "nan", "inf", "-inf", which `float` reads."""
    return json.dumps(_plain(value), default=str, allow_nan=False, indent=indent)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(name): _plain(x) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(x) for x in value]
    return repr(float(value)) if isinstance(value, float) and not math.isfinite(value) else value
