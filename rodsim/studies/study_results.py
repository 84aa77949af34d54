"""Results of a study: its table in several forms, its failures, and pictures of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rodsim import html_tables as tables
from rodsim.html_tables import some
from rodsim.studies import table
from rodsim.studies.cases import Outcome
from rodsim.studies.designs import is_grid
from rodsim.studies.folder import kept_result
from rodsim.studies.study import Study

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


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
        return table.frame(self.study.rows, self.outcomes, self.study.units, named)

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Return the measures (xarray): an axis for each parameter if the cases are a grid, else over the case number."""
        return table.dataset(self.frame, self.study.columns, self.measures, self.grid)

    @property
    def measures(self) -> list[str]:
        """Return the names of the measures."""
        return [
            name for name in self.frame.columns if name not in (table.CASE, table.ERROR, *self.study.columns)
        ]

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
        return None if self.folder is None else kept_result(self.folder, self.study.cases[number].key)

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
        from rodsim.studies.pictures import draw

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
        return table.write(self.frame, Path(folder))
