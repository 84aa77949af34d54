"""Plot curves of a result: energies, momenta, residuals, Newton iterations, contact forces, sensors, paths of points,
and distances.

No display is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rigid.checks import shown
from rigid.system import Floats
from rodsim.results.atomic_write import atomic_file
from rodsim.results.curves import (
    COLORS,
    SMALLEST,
    Curve,
    components,
    energies,
    energy_defect,
    outputs,
    residuals,
    sensors,
)
from rodsim.results.distances import Distance
from rodsim.results.errors import ResultError, UnknownName, check_path
from rodsim.results.result import Result, ResultLike, opened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot(
    result: ResultLike,
    kind: str = "overview",
    path: Path | str | None = None,
    points: Sequence[str] | None = None,
) -> Figure:
    """Draw one kind of plot, or the overview of all.

    Parameters
    ----------
    result : Result, Path or str
        A result, or the path of a result file.
    kind : str, default "overview"
        "overview", "energy", "balance", "momentum", "residuals", "newton", "contacts", "sensors", "controllers", "path",
        "distance" or, for equilibria, "load".
    path : Path or str, optional
        File to write, .png, .pdf or .svg. By default no file is written.
    points : sequence of str, optional
        For "path" names of bodies, or of rods as "name" (both ends) or "name:node"; by default all rods and bodies. For
        "distance" two surfaces or points as in `Result.distance`, or several pairs one after the other.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, which can be modified.

    Raises
    ------
    ResultError
        If `kind`, a point or the ending of `path` is unknown, or if the result has no outputs.

    Examples
    --------
    >>> from rodsim import plot
    >>> figure = plot("run.vtkhdf", "energy", "energy.png")
    >>> figure.axes[0].get_xlabel()
    't (s)'
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    result = opened("plot", result)
    if not isinstance(kind, str) or kind not in ("overview", *KINDS, *OF_POINTS):
        known = ", ".join(f"'{name}'" for name in ("overview", *KINDS, *OF_POINTS))
        cure = f", or plot(path={shown(kind)}) for a file of this name" if Path(str(kind)).suffix else ""
        raise ResultError(f"plot: no kind {shown(kind)}. Use one of {known}{cure}")
    if points is not None and kind not in OF_POINTS:
        raise ResultError(f"plot: points are for the kinds 'path' and 'distance', not '{kind}'; remove them")
    histories = _histories(result, points) if kind == "path" else []
    gaps = _gaps(result, points) if kind == "distance" else []
    figure = Figure(figsize=(11, 7.5) if kind == "overview" else (8, 5), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    if path is not None:
        path = check_path("plot", path)
        endings = figure.canvas.get_supported_filetypes()
        if path.suffix.lstrip(".").lower() not in endings:
            raise ResultError(f"plot to '{path}': no format '{path.suffix}'; end it in .png, .pdf or .svg")
    if kind == "overview":
        axes = figure.subplots(2, 2)
        for name, ax in zip(("energy", "balance", "momentum", "residuals"), axes.flat, strict=True):
            KINDS[name](result, ax)
        figure.suptitle(result.layout.name)
    elif kind == "path":
        _path(result, figure, histories)
    elif kind == "distance":
        _distances(result, figure.subplots(), gaps)
    else:
        KINDS[kind](result, figure.subplots())
    if path is not None:
        with atomic_file(path, result.path) as file:
            figure.savefig(file)
    return figure


def _draw(result: Result, ax: Axes, drawn: Sequence[Curve], label: str, log: bool = False) -> None:
    """Draw curves over time; `log`: on a logarithmic axis, values below SMALLEST are raised to it."""
    for curve in drawn:
        values = np.maximum(curve.values, SMALLEST) if log else curve.values
        style = {"dash": "dashed", "dot": "dotted"}.get(curve.dash, curve.dash)
        ax.plot(result.t, values, linestyle=style, color=curve.color, linewidth=curve.width, label=curve.name)
    if log and ax.lines:
        ax.set_yscale("log")
        # fixed lower limit and minimum range, so that round-off noise looks as small as it is
        largest = max(float(np.nanmax(line.get_ydata(), initial=0.0)) for line in ax.lines)
        ax.set_ylim(SMALLEST / 3, max(3 * largest, 1e-12) if np.isfinite(largest) else None)
    _finish(ax, label)


def _energy(result: Result, ax: Axes) -> None:
    """Plot the energies, the work of the loads, and the physical and algorithmic dissipation."""
    _draw(result, ax, energies(result), "energy (J)")


def _balance(result: Result, ax: Axes) -> None:
    """Plot the residual of the energy balance, relative to the largest energy, on a logarithmic axis."""
    E = result.energy
    scale = max(np.abs(E["total"] - E["total"][0]).max(), E["kinetic"].max(), np.abs(result.work).max())
    defect = energy_defect(result) / (scale if scale > 0 else 1.0)
    curve = Curve("|E - E0 - W + D| / largest energy", defect, COLORS[3])
    _draw(result, ax, [curve], "energy balance, relative", log=True)


def _momentum(result: Result, ax: Axes) -> None:
    """Plot the components of linear and angular momentum that are not zero."""
    every = components(result.linear_momentum, "P") + components(result.angular_momentum, "L", "dash")
    drawn = [curve for curve in every if np.any(curve.values != 0)]
    _draw(result, ax, drawn, "linear (kg m/s), angular (kg m$^2$/s) momentum")


def _residuals(result: Result, ax: Axes) -> None:
    """Plot the residuals of constraints, of their rates, and of the norms of quaternions on a logarithmic axis."""
    _draw(result, ax, residuals(result), "residuals", log=True)


def _newton(result: Result, ax: Axes) -> None:
    """Plot the mean and the largest number of Newton iterations; mark outputs before which steps were halved."""
    ax.plot(result.t, result.audit_column("newton_max"), color=COLORS[1], linewidth=1, label="largest")
    ax.plot(result.t, result.newton_iterations, color=COLORS[0], label="mean")
    halved = np.flatnonzero(result.halvings > 0)
    if len(halved):
        ax.plot(
            result.t[halved], result.newton_iterations[halved], "o", color=COLORS[3], label="steps halved"
        )
    ax.set_ylim(bottom=0)
    _finish(ax, "Newton iterations a step")


def _load(result: Result, ax: Axes) -> None:
    """Plot the load factor over the monitored displacements, or over the largest displacement if there are no monitors."""
    statics = result.description.get("statics")
    if not statics:
        raise ResultError("plot: the kind 'load' is for equilibria; this is a run, plot its 'path'")
    monitors = {name: np.array(values) for name, values in statics["monitors"].items()}
    if not monitors:
        r = result.states(slice(0, result.n_outputs)).r
        monitors = {"largest displacement": np.linalg.norm(r - r[0], axis=2).max(axis=1)}
    for (name, values), color in zip(monitors.items(), COLORS * len(monitors), strict=False):
        ax.plot(values, statics["load_factor"], color=color, marker=".", linewidth=1.4, label=name)
    _finish(ax, "load factor", time=False)
    ax.set_xlabel("displacement (m)")


def _contacts(result: Result, ax: Axes) -> None:
    """Plot the normal forces of all contacts, and their friction forces as dashed lines."""
    if not result.contacts:
        raise ResultError(f"plot: model '{result.layout.name}' has no contacts; plot its 'energy'")
    for name, color in zip(result.contacts, COLORS * len(result.contacts), strict=False):
        contact = result.contact(name)
        ax.plot(result.t, contact.normal_force, color=color, linewidth=1.4, label=name)
        if np.any(contact.tangential_force > 0.0):
            ax.plot(
                result.t,
                contact.tangential_force,
                "--",
                color=color,
                linewidth=1.2,
                label=f"{name}, friction",
            )
    _finish(ax, "forces of contacts (N)")


def _sensors(result: Result, ax: Axes) -> None:
    """Plot the values of all sensors, and what controllers read as dashed lines."""
    if not result.sensors:
        raise ResultError(f"plot: model '{result.layout.name}' has no sensors; plot its 'energy'")
    _draw(result, ax, sensors(result), "sensors")


def _controllers(result: Result, ax: Axes) -> None:
    """Plot the outputs of all controllers."""
    if not result.controllers:
        raise ResultError(f"plot: model '{result.layout.name}' has no controllers; plot its 'energy'")
    _draw(result, ax, outputs(result), "outputs of controllers")


KINDS: dict[str, Callable[[Result, Axes], None]] = {
    "energy": _energy,
    "balance": _balance,
    "momentum": _momentum,
    "residuals": _residuals,
    "newton": _newton,
    "load": _load,
    "contacts": _contacts,
    "sensors": _sensors,
    "controllers": _controllers,
}


OF_POINTS = ("path", "distance")


def _gaps(result: Result, points: Sequence[str] | None) -> list[tuple[str, Floats]]:
    """Return label and distances (T,), m, of each pair of surfaces or points."""
    if isinstance(points, str) or not points or len(points) % 2:
        raise ResultError(
            f"plot: points = {shown(points)}; for a distance give two surfaces or points, or several pairs"
        )
    distances = [Distance(result.layout, *points[k : k + 2]) for k in range(0, len(points), 2)]
    states = result.states(slice(0, result.n_outputs))
    return [
        (f"{points[2 * k]}, {points[2 * k + 1]}", distance.of(states)) for k, distance in enumerate(distances)
    ]


def _distances(result: Result, ax: Axes, gaps: list[tuple[str, Floats]]) -> None:
    """Plot the distances of pairs over time; surfaces penetrate each other where the distance is below the zero line."""
    for (label, values), color in zip(gaps, COLORS * len(gaps), strict=False):
        ax.plot(result.t, values, color=color, linewidth=1.4, label=label)
    if any(np.any(values < 0.0) for _, values in gaps):
        ax.axhline(0.0, color="grey", linewidth=0.8)
    _finish(ax, "distance (m)")


def _path(result: Result, figure: Figure, histories: list[tuple[str, Floats]]) -> None:
    """Plot the coordinates of points over time, with one panel for each coordinate."""
    panels = figure.subplots(3, 1, sharex=True)
    for k, (label, r) in enumerate(histories):
        for i in range(3):
            panels[i].plot(result.t, r[:, i], color=COLORS[k % len(COLORS)], linewidth=1.4, label=label)
    for i, axis in enumerate("xyz"):
        _finish(panels[i], f"{axis} (m)", legend=i == 0, time=i == 2)


def _histories(result: Result, points: Sequence[str] | None) -> list[tuple[str, Floats]]:
    """Return label and positions (T, 3), m, of each body or node named in `points`; by default of all bodies and ends of rods."""
    if isinstance(points, str) or not all(isinstance(name, str) for name in points or ()):
        raise ResultError(f"plot: points = {shown(points)}; give a list of names")
    curves = []
    for name in points if points is not None else [*result.rods, *result.bodies]:
        if name in result.bodies:
            curves.append((name, result.body(name).r))
            continue
        rod_name, _, node = (name, "", "") if name in result.rods else name.rpartition(":")
        if rod_name in result.bodies:
            raise ResultError(f"plot: '{name}': body '{rod_name}' has no nodes; give '{rod_name}' alone")
        if rod_name not in result.rods:
            known = ", ".join(f"'{n}'" for n in (*result.rods, *result.bodies))
            raise UnknownName(f"plot: no rod or body '{rod_name or name}'; there are {known}")
        if name not in result.rods and not node:
            raise ResultError(f"plot: '{name}': no node after the colon; write it as '{rod_name}:0'")
        r = result.rod(rod_name).r
        for i in [_node(name, node, r.shape[1])] if node else [0, r.shape[1] - 1]:
            curves.append((f"{rod_name}, node {i}", r[:, i]))
    return curves


def _node(name: str, text: str, count: int) -> int:
    """Return a node number, 0 ... count - 1, from its text; negative numbers count from the end."""
    try:
        node = int(text)
    except ValueError:
        raise ResultError(f"plot: '{name}': give the node as a whole number, like 'rod:0'") from None
    if not -count <= node < count:
        raise ResultError(
            f"plot: '{name}': the rod has no such node. Expected a number from 0 to {count - 1}."
        )
    return node % count


def _finish(ax: Axes, ylabel: str, legend: bool = True, time: bool = True) -> None:
    """Label the axes and draw grid and legend; `time`: True if the horizontal axis is time."""
    ax.set_ylabel(ylabel)
    if time:
        ax.set_xlabel("t (s)")
    ax.grid(True, color="#dddddd", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if legend and ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small", ncols=2)
