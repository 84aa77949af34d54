"""Picture of a convergence study: errors over the number of elements and over the step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rodsim.results.errors import checked_path
from rodsim.results.plot import COLORS, SMALLEST
from rodsim.results.whole_file import whole_file
from rodsim.studies.errors import StudyError
from rodsim.studies.refinement import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Panel(NamedTuple):
    """Axes of the picture: label, errors of the measures over elements or step, and the choice (None: no choice)."""

    label: str
    series: list[Series]
    chosen: float | None


def draw(title: str, error: float, panels: list[Panel], path: Path | str) -> Path:
    """Write the picture (.png, .pdf or .svg) and return its path; `error`: requested relative error."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    target = checked_path("converge", path)
    figure = Figure(figsize=(5.2 * len(panels), 4.4), layout="constrained", dpi=110)
    canvas = FigureCanvasAgg(figure)
    if target.suffix.lstrip(".").lower() not in canvas.get_supported_filetypes():
        raise StudyError(f"converge: '{target}': no format '{target.suffix}'; end it in .png, .pdf or .svg")
    all_axes = np.ravel(figure.subplots(1, len(panels), sharey=True))
    for ax, panel in zip(all_axes, panels, strict=True):
        _panel(ax, panel.series, error)
        if panel.chosen is not None:
            ax.axvline(panel.chosen, color="grey", linewidth=0.8, linestyle=":")
            where: dict[str, Any] = {
                "transform": ax.get_xaxis_transform(),
                "fontsize": "small",
                "color": "grey",
            }
            ax.text(panel.chosen, 0.02, f" {panel.chosen:.4g}", **where)
        ax.set_xlabel(panel.label)
    all_axes[0].set_ylabel("relative error")
    figure.suptitle(f"{title}: error and its order", fontsize="medium")
    with whole_file(target) as file:
        figure.savefig(file)
    return target


def _panel(ax: Axes, all_found: list[Series], error: float) -> None:
    """Draw the errors of all measures on logarithmic axes, with the requested error as a line."""
    for k, found in enumerate(all_found):
        label = found.name if found.exact else f"{found.name}: order {found.order:.2f}"
        errors = np.maximum(found.errors, SMALLEST)
        ax.loglog(found.x, errors, ".-", color=COLORS[k % len(COLORS)], linewidth=1.3, label=label)
    ax.axhline(error, color="grey", linewidth=0.8)
    ax.set_xticks(all_found[0].x, [f"{x:.4g}" for x in all_found[0].x])
    ax.minorticks_off()
    ax.grid(True, color="#dddddd", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
