"""Curves as plotly figures: energies, momenta, residuals and joint forces over time, and paths of equilibria."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats, Ints
from rodsim.reporting.embedded_data import packed, typed
from rodsim.results.columns import ENERGIES
from rodsim.results.plot import COLORS, SMALLEST
from rodsim.results.result import Result

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

JOINTS_DRAWN = 8  # number of joints drawn, those with the largest forces
_GRID = "#e6e9ed"
TOOLS = 30  # height above the curves for the tool bar, pixels; the legend is below it


class Line(NamedTuple):
    """A curve: name, values and line style."""

    name: str
    values: Floats
    color: str
    dash: str = "solid"
    width: float = 1.6


def energies(result: Result, use: Ints, axis: str) -> Figure:
    """Draw energies, work, dissipation and numerical dissipation; curves that are always zero are omitted."""
    E = result.energy[use]
    lines = [
        Line(name, E[name], color, width=2.2 if name == "total" else 1.6)
        for name, color in zip(ENERGIES, (*COLORS[:4], "#111111"), strict=True)
        if name == "total" or np.any(E[name] != 0)
    ]
    for name, values, dash in (
        ("work", result.work, "dash"),
        ("dissipation", result.dissipation, "dot"),
        ("algorithmic", result.algorithmic, "dashdot"),
    ):
        if np.any(values != 0):
            lines.append(Line(name, values[use], "#7f8792", dash))
    return _figure(result.t[use], lines, axis, "energy (J)")


def balance(result: Result, use: Ints, axis: str, scale: float) -> Figure:
    """Draw the energy defect |E - E0 - W + D|, where D includes numerical dissipation, as in the audit.

    `scale`: largest exchanged energy (J), by which the defect is divided; if it is 0, the defect is drawn in J.
    """
    E, W, D = result.energy["total"], result.work, result.dissipation + result.algorithmic
    defect = np.abs((E - E[0]) - (W - W[0]) + (D - D[0])) / (scale if scale > 0 else 1.0)
    return _figure(
        result.t[use],
        [Line("defect", defect[use], COLORS[3])],
        axis,
        "|E − E₀ − W + D| / energy" if scale > 0 else "|E − E₀ − W + D| (J)",
        log=True,
    )


def momentum(values: Floats, t: Floats, axis: str, letter: str, unit: str) -> Figure:
    """Draw the three components of a momentum."""
    lines = [Line(f"{letter}{i}", values[:, k], COLORS[k]) for k, i in enumerate("xyz")]
    return _figure(t, lines, axis, f"{letter} ({unit})")


def residuals(result: Result, use: Ints, axis: str) -> Figure:
    """Draw the residuals of joints and of unit quaternions."""
    found = (
        ("|g|, joints", result.constraint_residual, COLORS[0]),
        ("|G v|, joints", result.velocity_residual, COLORS[1]),
        ("||q| − 1|", result.quat_norm_error, COLORS[2]),
    )
    lines = [Line(name, values[use], color) for name, values, color in found if np.any(values > 0)]
    return _figure(result.t[use], lines, axis, "residuals (SI units)", log=True)


def newton(result: Result, use: Ints, axis: str) -> Figure:
    """Draw the number of Newton iterations per step."""
    return _figure(
        result.t[use],
        [Line("mean since the output before", result.newton_iterations[use], COLORS[5])],
        axis,
        "Newton iterations a step",
    )


def of_joints(t: Floats, named: Iterable[tuple[str, Floats]], axis: str, title: str) -> Figure:
    """Draw the magnitudes of forces or moments of joints."""
    lines = [
        Line(name, values, COLORS[k % len(COLORS)], _DASHES[k // len(COLORS)])
        for k, (name, values) in enumerate(named)
    ]
    return _figure(t, lines, axis, title)


def path(x: ArrayLike, y: ArrayLike, kept: Ints, x_title: str, y_title: str) -> Figure:
    """Draw the points along a path of equilibria; `kept`: outputs of the slider, which marks them on the curve."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    figure = _figure(x, [Line(y_title, y, COLORS[0])], x_title, y_title, markers=True)
    figure.update_layout(meta={"x": x[kept].tolist(), "y": y[kept].tolist()})
    return figure


def figure_data(figures: dict[str, Any]) -> dict[str, Any]:
    """Return the data of the figures for `static/charts.js`."""
    return {name: figure.to_plotly_json() for name, figure in figures.items()}


_DASHES = ("solid", "dash", "dot")


def _figure(
    x: Floats, lines: list[Line], x_title: str, y_title: str, log: bool = False, markers: bool = False
) -> Figure:
    """Return a figure of curves over a common `x`; `log`: logarithmic ordinate; `markers`: mark the points."""
    import plotly.graph_objects as go

    shared = packed(x, "f8")
    traces = []
    for line in lines:
        values = np.maximum(line.values, SMALLEST) if log else line.values
        traces.append(
            go.Scatter(
                x=typed(shared),
                y=typed(packed(values)),
                name=escape(line.name),
                mode="lines+markers" if markers or len(x) < 3 else "lines",
                line={"color": line.color, "dash": line.dash, "width": line.width},
                marker={"size": 5},
            )
        )
    figure = go.Figure(traces)
    figure.update_layout(
        template="none",
        margin={"l": 70, "r": 14, "t": TOOLS + _room_for_names(lines), "b": 46},
        showlegend=len(lines) > 1,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 11}},
        xaxis={"title": {"text": escape(x_title)}, "gridcolor": _GRID, "zeroline": False},
        yaxis={
            "title": {"text": escape(y_title), "standoff": 8},
            "automargin": True,
            "gridcolor": _GRID,
            "zerolinecolor": "#c8ced6",
            "exponentformat": "power",
            "type": "log" if log else "linear",
        },
        hovermode="x unified" if 1 < len(lines) <= 6 else "closest",
    )
    if log and lines:
        found = np.concatenate([np.log10(np.maximum(line.values, SMALLEST)) for line in lines])
        decades = float(np.ptp(found[np.isfinite(found)])) if np.isfinite(found).any() else 0.0
        if decades > 1.5:
            figure.update_yaxes(dtick=float(np.ceil(decades / 6)))
    return figure


def _room_for_names(lines: list[Line]) -> int:
    """Return the height of the legend, pixels, in the narrowest chart of the page."""
    if len(lines) < 2:
        return 0
    wide = sum(50 + 7 * len(line.name) for line in lines)
    return 14 + 20 * min(-(-wide // 350), 4)
