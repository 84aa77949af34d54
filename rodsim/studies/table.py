"""Table of a study, a row for each case, as pandas DataFrame, xarray Dataset, CSV and Parquet.

Columns: case, the parameters, the seed if there is one, the measures, error ("" if the case succeeded). The table contains
neither computing times nor hosts, so that it is bit-identical however the study was run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rodsim.extras import extra
from rodsim.results.whole_file import whole_file
from rodsim.studies.errors import StudyError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from rodsim.studies.cases import Outcome

CASE, ERROR = "case", "error"


def frame(
    rows: Sequence[Mapping[str, Any]],
    outcomes: Sequence[Outcome],
    units: Mapping[str, str],
    measures: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the table; its `attrs["units"]` are units by column. `measures`: columns that exist even if no case has them."""
    pandas = extra("pandas", "studies", "a study")
    found = [name for outcome in outcomes for name in outcome.measures]
    measures = list(dict.fromkeys([*measures, *found]))  # also if all cases failed
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


def write(table: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the table as .csv and .parquet, each completely or not at all; return both paths."""
    arrow = extra("pyarrow", "studies", "a study")
    parquet = extra("pyarrow.parquet", "studies", "a study")
    paths = [folder / "table.csv", folder / "table.parquet"]
    with whole_file(paths[0]) as file:
        table.to_csv(file, index=False)  # floats with all their digits
    units = {"units": json.dumps(table.attrs["units"])}
    own = arrow.Table.from_pandas(table, preserve_index=False)
    with whole_file(paths[1]) as file:
        parquet.write_table(own.replace_schema_metadata({**(own.schema.metadata or {}), **units}), file)
    return paths


def dataset(
    table: pd.DataFrame, parameters: Sequence[str], measures: Sequence[str], grid: bool
) -> xr.Dataset:
    """Return the measures over an axis for each parameter if `grid`, else over the case with the parameters as coordinates."""
    xarray = extra("xarray", "studies", "a study")
    units = table.attrs["units"]
    columns = [*measures, ERROR]
    axes = {name: table[name].drop_duplicates().tolist() for name in parameters}
    if grid and parameters and len(table) == np.prod([len(axis) for axis in axes.values()]):
        shape = [len(axis) for axis in axes.values()]
        arrays = {name: (list(axes), table[name].to_numpy().reshape(shape)) for name in columns}
        found = xarray.Dataset(arrays, coords=axes)
    else:
        arrays = {name: ([CASE], table[name].to_numpy()) for name in columns}
        coords = {CASE: table[CASE].to_numpy()} | {
            name: ([CASE], table[name].to_numpy()) for name in parameters
        }
        found = xarray.Dataset(arrays, coords=coords)
    for name in found.variables:
        if name in units:
            found[name].attrs["units"] = units[str(name)]
    return found


def check_columns(parameters: Sequence[str], measures: Sequence[str]) -> None:
    """Raise StudyError if two columns would have the same name."""
    seen = {CASE: "the table's own", ERROR: "the table's own"}
    for kind, names in (("a parameter", parameters), ("a measure", measures)):
        for name in names:
            if name in seen:
                raise StudyError(f"'{name}' is {kind} and {seen[name]}; choose another name for one of them")
            seen[name] = kind
