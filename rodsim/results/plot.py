"""Curves of a result: energies, momenta, residuals, Newton iterations, paths of points. Needs no display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rigid.system import Floats
from rodsim.results.columns import ENERGIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rodsim.results.result import Result

COLORS = ("#1f6f8b", "#e07a3f", "#5b8c5a", "#8e5572", "#c9a227", "#3d405b")
SMALLEST = 1e-17  # log axes start here: zero is a common residual


def plot(
    result: Result,
    kind: str = "overview",
    path: Path | str | None = None,
    points: Sequence[str] | None = None,
) -> Figure:
    """Draw one kind of plot, or the overview of all, and save it where `path` is given (.png, .pdf, .svg).

    Parameters
    ----------
    kind : 'overview', 'energy', 'balance', 'momentum', 'residuals', 'newton' or 'path'
    points : for 'path': names of bodies, or rods as 'name' (both ends) or 'name:node'; default: everything

    Raises
    ------
    ValueError: unknown kind, or a result without outputs. KeyError: unknown body or rod.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if result.n_outputs == 0:
        raise ValueError("plot: the result holds no output; run the simulation first")
    figure = Figure(figsize=(11, 7.5) if kind == "overview" else (8, 5), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    if kind == "overview":
        axes = figure.subplots(2, 2)
        for name, ax in zip(("energy", "balance", "momentum", "residuals"), axes.flat, strict=True):
            KINDS[name](result, ax)
        figure.suptitle(result.layout.name)
    elif kind == "path":
        _path(result, figure, points)
    elif kind in KINDS:
        KINDS[kind](result, figure.subplots())
    else:
        known = ", ".join(f"'{name}'" for name in ("overview", *KINDS, "path"))
        raise ValueError(f"plot: no kind '{kind}'; give one of {known}")
    if path is not None:
        figure.savefig(path)
    return figure


def _energy(result: Result, ax: Axes) -> None:
    E = result.energy
    for name, color in zip(ENERGIES, (*COLORS[:4], "black"), strict=True):
        if name == "total" or np.any(E[name] != 0):
            ax.plot(result.t, E[name], color=color, label=name, linewidth=2 if name == "total" else 1.2)
    if np.any(result.work != 0):
        ax.plot(result.t, result.work, color="grey", linestyle="--", label="work")
    if np.any(result.dissipation != 0):
        ax.plot(result.t, result.dissipation, color="grey", linestyle=":", label="dissipation")
    _finish(ax, "energy (J)")


def _balance(result: Result, ax: Axes) -> None:
    E, W, D = result.energy["total"], result.work, result.dissipation
    defect = np.abs((E - E[0]) - (W - W[0]) + (D - D[0]))
    scale = max(
        float(np.max(np.abs(E - E[0]))), float(result.energy["kinetic"].max()), float(np.abs(W).max())
    )
    _log(
        ax, result.t, defect / scale if scale > 0 else defect, COLORS[3], "|E - E0 - W + D| / largest energy"
    )
    _finish(ax, "energy balance, relative")


def _momentum(result: Result, ax: Axes) -> None:
    for values, name, style in (
        (result.linear_momentum, "P", "-"),
        (result.angular_momentum, "L", "--"),
    ):
        for i, axis in enumerate("xyz"):
            if np.any(values[:, i] != 0):
                ax.plot(result.t, values[:, i], style, color=COLORS[i], linewidth=1.4, label=f"{name}{axis}")
    _finish(ax, "linear (kg m/s), angular (kg m$^2$/s) momentum")


def _residuals(result: Result, ax: Axes) -> None:
    for values, label, color in (
        (result.constraint_residual, "|g|, joints", COLORS[0]),
        (result.velocity_residual, "|G v|, joints", COLORS[1]),
        (result.quat_norm_error, "||q| - 1|", COLORS[2]),
    ):
        if np.any(values > 0):
            _log(ax, result.t, values, color, label)
    _finish(ax, "residuals")


def _newton(result: Result, ax: Axes) -> None:
    ax.plot(result.t, result.audit_column("newton_max"), color=COLORS[1], linewidth=1, label="largest")
    ax.plot(result.t, result.newton_iterations, color=COLORS[0], label="mean")
    halved = np.flatnonzero(result.halvings > 0)
    if len(halved):
        ax.plot(
            result.t[halved], result.newton_iterations[halved], "o", color=COLORS[3], label="steps halved"
        )
    ax.set_ylim(bottom=0)
    _finish(ax, "Newton iterations a step")


KINDS: dict[str, Callable[[Result, Axes], None]] = {
    "energy": _energy,
    "balance": _balance,
    "momentum": _momentum,
    "residuals": _residuals,
    "newton": _newton,
}


def _path(result: Result, figure: Figure, points: Sequence[str] | None) -> None:
    """Coordinates of points over time, one panel for each coordinate."""
    panels = figure.subplots(3, 1, sharex=True)
    for k, (label, r) in enumerate(_histories(result, points)):
        for i in range(3):
            panels[i].plot(result.t, r[:, i], color=COLORS[k % len(COLORS)], linewidth=1.4, label=label)
    for i, axis in enumerate("xyz"):
        _finish(panels[i], f"{axis} (m)", legend=i == 0, time=i == 2)


def _histories(result: Result, points: Sequence[str] | None) -> list[tuple[str, Floats]]:
    found = []
    for name in points if points is not None else [*result.rods, *result.bodies]:
        if name in result.bodies:
            found.append((name, result.body(name).r))
            continue
        rod_name, _, node = name.partition(":")
        if rod_name not in result.rods:
            known = ", ".join(f"'{n}'" for n in (*result.rods, *result.bodies))
            raise KeyError(f"plot: no rod or body '{rod_name}'; there are {known}")
        r = result.rod(rod_name).r
        for i in [_node(name, node, r.shape[1])] if node else [0, r.shape[1] - 1]:
            found.append((f"{rod_name}, node {i}", r[:, i]))
    return found


def _node(name: str, text: str, count: int) -> int:
    try:
        node = int(text)
    except ValueError:
        raise ValueError(f"plot: '{name}': give the node as a whole number, like 'rod:0'") from None
    if not -count <= node < count:
        raise ValueError(f"plot: '{name}': the rod has nodes 0 to {count - 1}")
    return node % count


def _log(ax: Axes, t: Floats, values: Floats, color: str, label: str) -> None:
    ax.semilogy(t, np.maximum(values, SMALLEST), color=color, linewidth=1.2, label=label)
    # a fixed floor and room above it: the noise of round-off shall look as small as it is
    largest = max(float(np.nanmax(line.get_ydata(), initial=0.0)) for line in ax.lines)
    ax.set_ylim(SMALLEST / 3, max(3 * largest, 1e-12) if np.isfinite(largest) else None)


def _finish(ax: Axes, ylabel: str, legend: bool = True, time: bool = True) -> None:
    ax.set_ylabel(ylabel)
    if time:
        ax.set_xlabel("t (s)")
    ax.grid(True, color="#dddddd", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if legend and ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small", ncols=2)
