"""Draw the picture of a comparison: A as full lines, B as dashed lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rigid.system import Floats
from rodsim.comparing.time_alignment import Pair
from rodsim.results.atomic_write import atomic_file
from rodsim.results.errors import ResultError
from rodsim.results.plot import COLORS, SMALLEST

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_CURVES = 6  # largest number of curves of a kind in one panel


def draw(title: str, points: list[Pair], energies: list[Pair], forces: list[Pair], path: Path) -> Path:
    """Write the picture of a comparison to a file (.png, .pdf, .svg)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8), layout="constrained", dpi=130)
    canvas = FigureCanvasAgg(figure)
    if path.suffix.lstrip(".").lower() not in canvas.get_supported_filetypes():
        raise ResultError(f"compare: '{path}': no format '{path.suffix}'; end it in .png, .pdf or .svg")
    axes = figure.subplots(2, 2).ravel()
    _paths(axes[0], points)
    _distances(axes[1], points)
    _plot_both(axes[2], energies, "energy (J)")
    _plot_both(axes[3], forces, "joint force (N)")
    figure.suptitle(title, fontsize="medium")
    with atomic_file(path) as file:
        figure.savefig(file)
    return path


def _paths(ax: Axes, points: list[Pair]) -> None:
    """Plot the largest-moving coordinates of the points that move most."""
    moving = sorted(points, key=lambda pair: -np.ptp(pair.a, axis=0).max())[: MAX_CURVES // 2]
    curves = []
    for pair in moving:
        extents = np.ptp(pair.a, axis=0)
        curves += [(pair, i) for i in np.argsort(-extents)[:2] if extents[i] > 1e-6 * extents.max()]
    for k, (pair, i) in enumerate(curves):
        _full_and_dashed(ax, k, pair.t, pair.a[:, i], pair.b[:, i], f"{pair.label}: {'xyz'[i]}")
    _finish(ax, "position (m)")


def _full_and_dashed(ax: Axes, k: int, t: Floats, a: Floats, b: Floats, label: str) -> None:
    """Plot the k-th quantity of a panel: values in A as a full line, in B as a dashed line of the same colour."""
    color = COLORS[k % len(COLORS)]
    ax.plot(t, a, color=color, linewidth=1.3, label=label)
    ax.plot(t, b, "--", color=color, linewidth=1.3)


def _distances(ax: Axes, points: list[Pair]) -> None:
    """Plot the distances between A and B of the points, on a logarithmic axis."""
    for k, pair in enumerate(points[: 2 * MAX_CURVES]):
        gap = np.maximum(np.linalg.norm(pair.a - pair.b, axis=1), SMALLEST)
        ax.semilogy(pair.t, gap, color=COLORS[k % len(COLORS)], linewidth=1.2, label=pair.label)
    _finish(ax, "distance of A and B (m)")


def _plot_both(ax: Axes, pairs: list[Pair], what: str) -> None:
    """Plot values, or norms of vectors, in both results."""
    for k, pair in enumerate(pairs[:MAX_CURVES]):
        a, b = (x if x.ndim == 1 else np.linalg.norm(x, axis=1) for x in (pair.a, pair.b))
        _full_and_dashed(ax, k, pair.t, a, b, pair.label)
    if not pairs:
        ax.text(0.5, 0.5, "none in both", ha="center", va="center", transform=ax.transAxes, color="grey")
    _finish(ax, what)


def _finish(ax: Axes, ylabel: str) -> None:
    """Label the axes, and add grid and legend."""
    ax.set(xlabel="t (s)", ylabel=ylabel)
    ax.grid(True, color="#dddddd", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small", ncols=2)
