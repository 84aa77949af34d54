"""Curves as plotly figures: energies, momenta, residuals and joint forces over time, and paths of equilibria."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats, Ints
from rodsim.reporting.embedded_data import packed, typed
from rodsim.results.curves import COLORS, SMALLEST, Curve, energy_defect
from rodsim.results.result import Result

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

JOINTS_DRAWN = 8  # number of joints drawn, those with the largest forces
_GRID = "#e6e9ed"
TOOLS = 30  # height above the curves for the tool bar, pixels; the legend is below it


def over_time(
    result: Result, curves: list[Curve], use: Ints, axis: str, title: str, log: bool = False
) -> Figure:
    """Draw curves over time at the outputs `use`."""
    some = [curve._replace(values=curve.values[use]) for curve in curves]
    return _figure(result.t[use], some, axis, title, log=log)


def balance(result: Result, use: Ints, axis: str, scale: float) -> Figure:
    """Draw the energy defect |E - E0 - W + D|, where D includes numerical dissipation, as in the audit.

    `scale`: largest exchanged energy (J), by which the defect is divided; if it is 0, the defect is drawn in J.
    """
    defect = Curve("defect", energy_defect(result) / (scale if scale > 0 else 1.0), COLORS[3])
    title = "|E − E₀ − W + D| / energy" if scale > 0 else "|E − E₀ − W + D| (J)"
    return over_time(result, [defect], use, axis, title, log=True)


def joint_curves(t: Floats, named: Iterable[tuple[str, Floats]], axis: str, title: str) -> Figure:
    """Draw the magnitudes of forces or moments of joints."""
    lines = [
        Curve(name, values, COLORS[k % len(COLORS)], _DASHES[k // len(COLORS)])
        for k, (name, values) in enumerate(named)
    ]
    return _figure(t, lines, axis, title)


def path(x: ArrayLike, y: ArrayLike, points: Ints, x_title: str, y_title: str) -> Figure:
    """Draw the points along a path of equilibria; `points`: outputs of the slider, which marks them on the curve."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    figure = _figure(x, [Curve(y_title, y, COLORS[0])], x_title, y_title, markers=True)
    figure.update_layout(meta={"x": x[points].tolist(), "y": y[points].tolist()})
    return figure


def figure_data(figures: dict[str, Any]) -> dict[str, Any]:
    """Return the data of the figures for `static/charts.js`."""
    return {name: figure.to_plotly_json() for name, figure in figures.items()}


_DASHES = ("solid", "dash", "dot")


def _figure(
    x: Floats, lines: list[Curve], x_title: str, y_title: str, log: bool = False, markers: bool = False
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
        margin={"l": 70, "r": 14, "t": TOOLS + _legend_height(lines), "b": 46},
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
        exponents = np.concatenate([np.log10(np.maximum(line.values, SMALLEST)) for line in lines])
        decades = float(np.ptp(exponents[np.isfinite(exponents)])) if np.isfinite(exponents).any() else 0.0
        if decades > 1.5:
            figure.update_yaxes(dtick=float(np.ceil(decades / 6)))
    return figure


def _legend_height(lines: list[Curve]) -> int:
    """Return the height of the legend, pixels, in the narrowest chart of the page."""
    if len(lines) < 2:
        return 0
    text_width = sum(50 + 7 * len(line.name) for line in lines)
    return 14 + 20 * min(-(-text_width // 350), 4)
