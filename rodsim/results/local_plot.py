"""Plot the residuals of the local laws of a rod over arc length and time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rigid.system import Floats
from rodsim.results.atomic_write import atomic_file
from rodsim.results.errors import check_path
from rodsim.results.local_audit import LawResidual, LocalAudit, RodAudit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DECADES = 6  # decades shown below the largest value
CELLS = 600  # cells along an axis; with more, the largest of neighbouring values is drawn


def plot_local(audited: LocalAudit, folder: Path | str) -> list[Path]:
    """Write one picture for each rod, local-NAME.png, and return the paths.

    `folder` is created if it does not exist.
    """
    folder = check_path("local audit", folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for k, rod in enumerate(audited.rods):
        name = re.sub(r"[^\w.-]+", "-", rod.rod).strip("-.") or str(k)
        path = folder / f"local-{name}.png"
        if path in paths:
            path = folder / f"local-{name}-{k}.png"
        with atomic_file(path, None) as file:
            picture(rod).savefig(file)
        paths.append(path)
    return paths


def picture(rod: RodAudit) -> Figure:
    """Return a figure with one panel for each law: |residual| / size of its terms, with S to the right and time upwards."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 2, squeeze=False)
    for law, ax in zip(rod.laws, axes.flat, strict=False):
        _panel(rod, law, ax, figure)
    for ax in axes.flat[len(rod.laws) :]:
        ax.set_axis_off()
    figure.suptitle(f"{rod.rod}: density_t + flux_S - source over the size of its terms")
    return figure


def _panel(rod: RodAudit, law: LawResidual, ax: Axes, figure: Figure) -> None:
    """Draw the relative residual of one law on a logarithmic colour scale."""
    from matplotlib.colors import LogNorm

    relative = np.abs(law.values) / (law.size if law.size > 0 else 1.0)
    values, t, S = _thinned(relative, rod.t, rod.S)
    top = float(values[np.isfinite(values)].max(initial=0.0)) or 1.0
    shown = np.ma.masked_invalid(np.maximum(values, top * 10.0**-DECADES))
    scale = LogNorm(top * 10.0**-DECADES, top)
    mesh = ax.pcolormesh(S, t, shown, norm=scale, cmap="viridis", shading="nearest", rasterized=True)
    figure.colorbar(mesh, ax=ax)
    ax.set_title(f"{law.law.replace('_', ' ')}, rms {law.relative:.1e}", fontsize="medium")
    ax.set_xlabel("S (m)")
    ax.set_ylabel("t (s)")


def _thinned(field: Floats, t: Floats, S: Floats) -> tuple[Floats, Floats, Floats]:
    """Reduce a field to at most CELLS cells along each axis, taking maxima of neighbours; return it with its t and S."""
    rows, columns = (np.arange(0, n, -(-n // CELLS)) for n in field.shape)
    return np.fmax.reduceat(np.fmax.reduceat(field, rows, axis=0), columns, axis=1), t[rows], S[columns]
