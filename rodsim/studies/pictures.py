"""Pictures of a table: curves and scatter of two columns, heat maps and coloured scatter of three."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rodsim.results.errors import checked_path
from rodsim.results.plot import COLORS
from rodsim.results.whole_file import whole_file
from rodsim.studies.errors import StudyError, near
from rodsim.studies.table import CASE, ERROR

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES, HEAT, SCATTER = "curves", "heat", "scatter"
MOST_CURVES = 8
MOST_STEPS = 40  # values of a parameter over which curves are drawn, not points


def draw(
    table: pd.DataFrame,
    parameters: Sequence[str],
    columns: Sequence[str],
    path: Path | str,
    kind: str | None = None,
    log: Sequence[str] = (),
) -> Path:
    """Write the picture of two or three columns; cases that failed are left out, heat maps leave them white.

    kind: "curves", "heat" or "scatter"; by default what fits: over a parameter with few values curves, one for each value of
    the other parameters; over two parameters with all combinations a heat map. log: columns on a logarithmic scale.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    target = checked_path("plot", path)
    if len(columns) not in (2, 3):
        raise StudyError(f"plot: {len(columns)} columns; give two, or three with the one to colour")
    for column in (*columns, *log):
        _check(table, column)
    kind = kind or _fitting(table, parameters, columns)
    if kind not in _KINDS or (kind == HEAT and len(columns) == 2) or (kind == CURVES and len(columns) == 3):
        raise StudyError(
            f"plot: no '{kind}' of {len(columns)} columns; give curves or scatter of two, heat or scatter of three"
        )
    figure = Figure(figsize=(7.5, 5.2), layout="constrained", dpi=110)
    canvas = FigureCanvasAgg(figure)
    if target.suffix.lstrip(".").lower() not in canvas.get_supported_filetypes():
        raise StudyError(f"plot: '{target}': no format '{target.suffix}'; end it in .png, .pdf or .svg")
    ax = figure.subplots()
    done = table[table[ERROR] == ""]
    if not len(done):
        raise StudyError("plot: no case was done; see the column error")
    _KINDS[kind](figure, ax, done, parameters, columns, log)
    ax.set(xlabel=_label(table, columns[0]), ylabel=_label(table, columns[1]))
    for column, scale in zip(columns, (ax.set_xscale, ax.set_yscale), strict=False):
        if column in log:
            scale("log")
    ax.spines[["top", "right"]].set_visible(False)
    failed = len(table) - len(done)
    if failed:
        ax.set_title(f"{failed} of {len(table)} cases failed", fontsize="small", color="grey")
    with whole_file(target) as file:
        figure.savefig(file)
    return target


def _check(table: pd.DataFrame, column: str) -> None:
    known = [name for name in table.columns if name != ERROR]
    if column not in known:
        raise StudyError(f"plot: there is no column '{column}'; {near(column, known, 'there are')}")
    if table[column].dtype.kind not in "iuf":
        raise StudyError(f"plot: '{column}' holds words; choose a column of numbers")


def _label(table: pd.DataFrame, column: str) -> str:
    unit = table.attrs.get("units", {}).get(column, "")
    return f"{column} ({unit})" if unit else column


def _fitting(table: pd.DataFrame, parameters: Sequence[str], columns: Sequence[str]) -> str:
    x, y = columns[:2]
    if len(columns) == 3:
        both = x in parameters and y in parameters
        full = both and len(table[[x, y]].drop_duplicates()) == table[x].nunique() * table[y].nunique()
        return HEAT if full and min(table[x].nunique(), table[y].nunique()) > 1 else SCATTER
    return CURVES if x in parameters and table[x].nunique() <= MOST_STEPS and y not in parameters else SCATTER


def _curves(
    figure: Figure,
    ax: Axes,
    table: pd.DataFrame,
    parameters: Sequence[str],
    columns: Sequence[str],
    log: Sequence[str],
) -> None:
    """y over x, a curve for each combination of the other parameters; over seeds the mean, between smallest and largest."""
    import matplotlib

    x, y = columns
    others = [p for p in parameters if p not in (x, "seed", CASE) and 1 < table[p].nunique() < len(table)]
    groups = list(table.groupby(others, sort=True)) if others else [((), table)]
    chosen = np.unique(np.linspace(0, len(groups) - 1, min(len(groups), MOST_CURVES)).round().astype(int))
    shades = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.9, len(chosen)))
    colors = list(COLORS) if len(chosen) <= len(COLORS) else list(shades)
    for k, number in enumerate(chosen):
        values, group = groups[number]
        at = group.groupby(x, sort=True)[y]
        mean, color = at.mean(), colors[k]
        label = ", ".join(f"{n} = {_short(v)}" for n, v in zip(others, values, strict=True))
        ax.plot(mean.index, mean, ".-", color=color, linewidth=1.3, label=label or None)
        if at.size().max() > 1:
            ax.fill_between(mean.index, at.min(), at.max(), color=color, alpha=0.2, linewidth=0)
    ax.grid(True, color="#dddddd", linewidth=0.6)
    if others:
        title = None if len(groups) <= MOST_CURVES else f"{len(chosen)} of {len(groups)}"
        ax.legend(frameon=False, fontsize="small", title=title)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float | np.number) else str(value)


def _heat(
    figure: Figure,
    ax: Axes,
    table: pd.DataFrame,
    parameters: Sequence[str],
    columns: Sequence[str],
    log: Sequence[str],
) -> None:
    """The mean over all other parameters and seeds, in a rectangle about each pair."""
    x, y, color = columns
    cells = table.pivot_table(index=y, columns=x, values=color, aggfunc="mean")
    edges = [
        _edges(np.asarray(axis, float), name in log) for axis, name in ((cells.columns, x), (cells.index, y))
    ]
    image = ax.pcolormesh(*edges, cells.to_numpy(), cmap="viridis", norm="log" if color in log else None)
    figure.colorbar(image, ax=ax, label=_label(table, color))


def _edges(centers: Any, log: bool) -> Any:
    """Of rectangles about the centers."""
    if len(centers) < 2:
        return np.array([centers[0] - 0.5, centers[0] + 0.5])
    at = np.log(centers) if log else centers
    middles = 0.5 * (at[1:] + at[:-1])
    edges = np.concatenate([[2 * at[0] - middles[0]], middles, [2 * at[-1] - middles[-1]]])
    return np.exp(edges) if log else edges


def _scatter(
    figure: Figure,
    ax: Axes,
    table: pd.DataFrame,
    parameters: Sequence[str],
    columns: Sequence[str],
    log: Sequence[str],
) -> None:
    if len(columns) == 2:
        ax.scatter(table[columns[0]], table[columns[1]], s=14, color=COLORS[0], alpha=0.8, linewidths=0)
    else:
        norm = "log" if columns[2] in log else None
        points = ax.scatter(
            table[columns[0]], table[columns[1]], s=22, c=table[columns[2]], cmap="viridis", norm=norm
        )
        figure.colorbar(points, ax=ax, label=_label(table, columns[2]))
    ax.grid(True, color="#dddddd", linewidth=0.6)


_KINDS: dict[str, Callable[..., None]] = {CURVES: _curves, HEAT: _heat, SCATTER: _scatter}
