"""Curves of a result over its outputs, for matplotlib (`plot`) and for plotly (the page of a report)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.system import Floats
from rodsim.results.audit_columns import ENERGIES
from rodsim.results.result import Result

COLORS = ("#1f6f8b", "#e07a3f", "#5b8c5a", "#8e5572", "#c9a227", "#3d405b")
INK, GREY = "#111111", "#7f8792"
SMALLEST = 1e-17  # lower end of logarithmic axes: residuals are often zero


class Curve(NamedTuple):
    """Name, values at all outputs (T,) and style of a curve; `dash`: "solid", "dash", "dot" or "dashdot"."""

    name: str
    values: Floats
    color: str
    dash: str = "solid"
    width: float = 1.4


def energies(result: Result) -> list[Curve]:
    """Return energies, work, dissipation and numerical dissipation, J; those that are always zero are omitted."""
    E = result.energy
    curves = [
        Curve(name, E[name], color, width=2.0 if name == "total" else 1.4)
        for name, color in zip(ENERGIES, (*COLORS[:4], INK), strict=True)
        if name == "total" or np.any(E[name] != 0)
    ]
    totals = (
        ("work", result.work, "dash"),
        ("dissipation", result.dissipation, "dot"),
        ("algorithmic", result.algorithmic, "dashdot"),
    )
    return curves + [Curve(name, values, GREY, dash) for name, values, dash in totals if np.any(values != 0)]


def energy_defect(result: Result) -> Floats:
    """Return |E - E0 - W + D| (T,), J, where D includes numerical dissipation."""
    E, W, D = result.energy["total"], result.work, result.dissipation + result.algorithmic
    return np.abs((E - E[0]) - (W - W[0]) + (D - D[0]))


def components(values: Floats, letter: str, dash: str = "solid") -> list[Curve]:
    """Return the three components of a vector (T, 3)."""
    return [Curve(f"{letter}{axis}", values[:, k], COLORS[k], dash) for k, axis in enumerate("xyz")]


def residuals(result: Result) -> list[Curve]:
    """Return the residuals of constraints, of their rates, and of the norms of quaternions; those that are zero are omitted."""
    histories = (
        ("|g|, joints", result.constraint_residual),
        ("|G v|, joints", result.velocity_residual),
        ("||q| - 1|", result.quat_norm_error),
    )
    curves = [Curve(name, values, COLORS[k]) for k, (name, values) in enumerate(histories)]
    return [curve for curve in curves if np.any(curve.values > 0)]


def sensors(result: Result) -> list[Curve]:
    """Return the values of all sensors with their units; what controllers read with noise or a delay is dashed."""
    curves = []
    for k, name in enumerate(result.sensors):
        sensor, color = result.sensor(name), COLORS[k % len(COLORS)]
        unit = sensor.units["value"]
        label = f"{name} ({unit})" if unit else name
        curves.append(Curve(label, sensor.value, color))
        if sensor.has_readings:
            curves.append(Curve(f"{label}, as read", sensor.reading, color, "dash", 0.8))
    return curves


def outputs(result: Result) -> list[Curve]:
    """Return the outputs of all controllers."""
    names = [(name, output) for name in result.controllers for output in result.controller(name).outputs]
    return [
        Curve(f"{name}.{output}", result.controller(name).output(output), COLORS[k % len(COLORS)])
        for k, (name, output) in enumerate(names)
    ]
