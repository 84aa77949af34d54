"""Pictures of a table, with two columns or a third one as colour, and of a refinement: errors over elements and step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rodsim.results.atomic_write import atomic_file
from rodsim.results.errors import check_path
from rodsim.results.plot import COLORS, SMALLEST
from rodsim.studies.errors import StudyError, near
from rodsim.studies.refinement import Series
from rodsim.studies.study import CASE, ERROR

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES, HEAT, SCATTER = "curves", "heat", "scatter"
MAX_CURVES = 8
MAX_STEPS = 40  # most values of a parameter for which curves are drawn instead of points


@dataclass(frozen=True)
class Canvas:
    """Axes to draw on, and the columns to draw, for the cases that succeeded."""

    figure: Figure
    ax: Axes
    table: pd.DataFrame
    parameters: Sequence[str]
    columns: Sequence[str]  # x, y, and the column for the colours
    log: Sequence[str]  # columns on a logarithmic scale

    def paint(self, kind: str) -> None:
        """Draw the picture of this kind, with labels and scales of the axes."""
        _KINDS[kind](self)
        self.ax.set(xlabel=_label(self.table, self.columns[0]), ylabel=_label(self.table, self.columns[1]))
        for column, scale in zip(self.columns, (self.ax.set_xscale, self.ax.set_yscale), strict=False):
            if column in self.log:
                scale("log")
        self.ax.spines[["top", "right"]].set_visible(False)

    def norm(self) -> str | None:
        """Return the scale of the colours: "log", or None for linear."""
        return "log" if self.columns[2] in self.log else None

    def explain(self, colored: Any) -> None:
        """Add the colour bar with its label."""
        self.figure.colorbar(colored, ax=self.ax, label=_label(self.table, self.columns[2]))


def draw(
    table: pd.DataFrame,
    parameters: Sequence[str],
    columns: Sequence[str],
    path: Path | str,
    kind: str | None = None,
    log: Sequence[str] = (),
) -> Path:
    """Write the picture of two or three columns and return its path; failed cases are omitted (white in heat maps).

    `kind`: "curves", "heat" or "scatter". By default curves over a parameter with few values, one for each combination of the
    other parameters; a heat map over two parameters with all combinations; else a scatter plot. `log`: columns on a logarithmic
    scale.
    """
    if len(columns) not in (2, 3):
        raise StudyError(f"plot: {len(columns)} columns; give two, or three with the one to colour")
    for column in (*columns, *log):
        _check(table, column)
    kind = kind or _fitting(table, parameters, columns)
    if kind not in _KINDS or (kind == HEAT and len(columns) == 2) or (kind == CURVES and len(columns) == 3):
        raise StudyError(
            f"plot: no '{kind}' of {len(columns)} columns; give curves or scatter of two, heat or scatter of three"
        )
    figure, target = _figure("plot", path, (7.5, 5.2))
    ax = figure.subplots()
    succeeded = table[table[ERROR] == ""]
    if not len(succeeded):
        raise StudyError("plot: no case was done; see the column error")
    for column in log:
        _check_log(succeeded, column, everywhere=kind == HEAT and column in columns[:2])
    Canvas(figure, ax, succeeded, parameters, columns, log).paint(kind)
    failed = len(table) - len(succeeded)
    if failed:
        ax.set_title(f"{failed} of {len(table)} cases failed", fontsize="small", color="grey")
    with atomic_file(target) as file:
        figure.savefig(file)
    return target


def _figure(owner: str, path: Path | str, size: tuple[float, float]) -> tuple[Figure, Path]:
    """Return an empty figure of this size (inches) and the file to write; raise StudyError if its format is not supported."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    target = check_path(owner, path)
    figure = Figure(figsize=size, layout="constrained", dpi=110)
    if target.suffix.lstrip(".").lower() not in FigureCanvasAgg(figure).get_supported_filetypes():
        raise StudyError(f"{owner}: '{target}': no format '{target.suffix}'; end it in .png, .pdf or .svg")
    return figure, target


def _check(table: pd.DataFrame, column: str) -> None:
    """Raise StudyError unless the table has the column and it contains numbers."""
    known = [name for name in table.columns if name != ERROR]
    if column not in known:
        raise StudyError(f"plot: there is no column '{column}'; {near(column, known, 'there are')}")
    if table[column].dtype.kind not in "iuf":
        raise StudyError(f"plot: '{column}' holds words; choose a column of numbers")


def _check_log(table: pd.DataFrame, column: str, everywhere: bool) -> None:
    """Raise StudyError unless some (or, if `everywhere`, all) numbers of a column are above zero.

    A heat map needs all of them, because the edges of its rectangles lie between the values.
    """
    above = table[column] > 0.0
    if not (above.all() if everywhere else above.any()):
        raise StudyError(
            f"plot: '{column}' goes down to {table[column].min():g}, a logarithmic scale takes what is above 0; "
            "remove it from log"
        )


def _label(table: pd.DataFrame, column: str) -> str:
    """Return the label of an axis: column and unit."""
    unit = table.attrs.get("units", {}).get(column, "")
    return f"{column} ({unit})" if unit else column


def _fitting(table: pd.DataFrame, parameters: Sequence[str], columns: Sequence[str]) -> str:
    """Return the default kind of picture for the columns."""
    x, y = columns[:2]
    if len(columns) == 3:
        both = x in parameters and y in parameters
        full = both and len(table[[x, y]].drop_duplicates()) == table[x].nunique() * table[y].nunique()
        return HEAT if full and min(table[x].nunique(), table[y].nunique()) > 1 else SCATTER
    return CURVES if x in parameters and table[x].nunique() <= MAX_STEPS and y not in parameters else SCATTER


def _curves(canvas: Canvas) -> None:
    """Draw y over x, a curve for each combination of the other parameters; over seeds the mean with the range as a band."""
    import matplotlib

    ax, table, (x, y) = canvas.ax, canvas.table, canvas.columns
    group_columns = [
        p for p in canvas.parameters if p not in (x, "seed", CASE) and 1 < table[p].nunique() < len(table)
    ]
    groups = list(table.groupby(group_columns, sort=True)) if group_columns else [((), table)]
    chosen = np.unique(np.linspace(0, len(groups) - 1, min(len(groups), MAX_CURVES)).round().astype(int))
    shades = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.9, len(chosen)))
    colors = list(COLORS) if len(chosen) <= len(COLORS) else list(shades)
    for k, number in enumerate(chosen):
        values, group = groups[number]
        at = group.groupby(x, sort=True)[y]
        mean, color = at.mean(), colors[k]
        label = ", ".join(f"{n} = {_short(v)}" for n, v in zip(group_columns, values, strict=True))
        ax.plot(mean.index, mean, ".-", color=color, linewidth=1.3, label=label or None)
        if at.size().max() > 1:
            ax.fill_between(mean.index, at.min(), at.max(), color=color, alpha=0.2, linewidth=0)
    ax.grid(True, color="#dddddd", linewidth=0.6)
    if group_columns:
        title = None if len(groups) <= MAX_CURVES else f"{len(chosen)} of {len(groups)}"
        ax.legend(frameon=False, fontsize="small", title=title)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float | np.number) else str(value)


def _heat(canvas: Canvas) -> None:
    """Draw the mean over all other parameters and seeds as a coloured rectangle around each pair (x, y)."""
    x, y, color = canvas.columns
    cells = canvas.table.pivot_table(index=y, columns=x, values=color, aggfunc="mean")
    edges = [
        _edges(np.asarray(axis, float), name in canvas.log)
        for axis, name in ((cells.columns, x), (cells.index, y))
    ]
    canvas.explain(canvas.ax.pcolormesh(*edges, cells.to_numpy(), cmap="viridis", norm=canvas.norm()))


def _edges(centers: Any, log: bool) -> Any:
    """Return the edges (n + 1) of rectangles around n centers, midway between them; `log`: midway on a logarithmic scale."""
    if len(centers) < 2:
        return np.array([centers[0] - 0.5, centers[0] + 0.5])
    at = np.log(centers) if log else centers
    middles = 0.5 * (at[1:] + at[:-1])
    edges = np.concatenate([[2 * at[0] - middles[0]], middles, [2 * at[-1] - middles[-1]]])
    return np.exp(edges) if log else edges


def _scatter(canvas: Canvas) -> None:
    """Draw a point for each case, coloured by the third column if there is one."""
    ax, (x, y, *color) = canvas.ax, (canvas.table[column] for column in canvas.columns)
    if color:
        canvas.explain(ax.scatter(x, y, s=22, c=color[0], cmap="viridis", norm=canvas.norm()))
    else:
        ax.scatter(x, y, s=14, color=COLORS[0], alpha=0.8, linewidths=0)
    ax.grid(True, color="#dddddd", linewidth=0.6)


_KINDS: dict[str, Callable[[Canvas], None]] = {CURVES: _curves, HEAT: _heat, SCATTER: _scatter}


# --- refinements


class Panel(NamedTuple):
    """Axes of the picture: label, errors of the measures over elements or step, and the choice (None: no choice)."""

    label: str
    series: list[Series]
    chosen: float | None


def draw_errors(title: str, error: float, panels: list[Panel], path: Path | str) -> Path:
    """Write the picture (.png, .pdf or .svg) and return its path; `error`: requested relative error."""
    figure, target = _figure("converge", path, (5.2 * len(panels), 4.4))
    all_axes = np.ravel(figure.subplots(1, len(panels), sharey=True))
    for ax, panel in zip(all_axes, panels, strict=True):
        _panel(ax, panel.series, error)
        if panel.chosen is not None:
            ax.axvline(panel.chosen, color="grey", linewidth=0.8, linestyle=":")
            layout_options: dict[str, Any] = {
                "transform": ax.get_xaxis_transform(),
                "fontsize": "small",
                "color": "grey",
            }
            ax.text(panel.chosen, 0.02, f" {panel.chosen:.4g}", **layout_options)
        ax.set_xlabel(panel.label)
    all_axes[0].set_ylabel("relative error")
    figure.suptitle(f"{title}: error and its order", fontsize="medium")
    with atomic_file(target) as file:
        figure.savefig(file)
    return target


def _panel(ax: Axes, all_found: list[Series], error: float) -> None:
    """Draw the errors of all measures on logarithmic axes, with the requested error as a line."""
    for k, refined in enumerate(all_found):
        label = refined.name if refined.exact else f"{refined.name}: order {refined.order:.2f}"
        errors = np.maximum(refined.errors, SMALLEST)
        ax.loglog(refined.x, errors, ".-", color=COLORS[k % len(COLORS)], linewidth=1.3, label=label)
    ax.axhline(error, color="grey", linewidth=0.8)
    ax.set_xticks(all_found[0].x, [f"{x:.4g}" for x in all_found[0].x])
    ax.minorticks_off()
    ax.grid(True, color="#dddddd", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
