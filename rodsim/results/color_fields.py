"""Quantities by which pictures are coloured: names, values at the points of a drawing, and colours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.checks import shown
from rigid.system import Floats, State
from rodsim.results.drawing import CONTACT_ARRAYS, ROD_ARRAYS, Drawing
from rodsim.results.errors import ResultError
from rodsim.results.layout import Layout

PRESSURE = "pressure"  # contact force on a node over its tributary length
NO_VALUE = np.array([0.80, 0.81, 0.83])  # colour of bodies if only rods have the quantity


class Field(NamedTuple):
    """Quantity: name of an array of `Drawing.arrays`, its component (None: norm of the vector), and label of the colour bar."""

    array: str
    component: int | None
    label: str


FIELDS: dict[str, Field] = {
    "speed": Field("velocity", None, "speed (m/s)"),
    "strain": Field("Gamma", None, "|Gamma|, stretch and shear"),
    "curvature": Field("K", None, "|K|, bending and twist (1/m)"),
    "force": Field("N", None, "|N| (N)"),
    "moment": Field("M", None, "|M| (N m)"),
    "contact": Field("contact_force", None, "force of contact on a node or a body (N)"),
    PRESSURE: Field("contact_force", None, "force of contact over length (N/m)"),
    **{
        f"{array}{i + 1}": Field(array, i, f"{array}{i + 1}{unit}")
        for array, unit in (("Gamma", ""), ("K", " (1/m)"), ("N", " (N)"), ("M", " (N m)"))
        for i in range(3)
    },
}


def names(layout: Layout) -> list[str]:
    """Return the names of the quantities that a model has."""
    none = {
        *(() if layout.rods else ROD_ARRAYS),
        *(() if layout.description.get("contacts") else CONTACT_ARRAYS),
    }
    every = [name for name, field in FIELDS.items() if field.array not in none]
    return every if layout.rods else [name for name in every if name != PRESSURE]


def field_of(name: str, drawing: Drawing) -> Field:
    """Return the field called `name`. Raise ResultError, with the known names, if it does not exist or the model lacks it."""
    if not isinstance(name, str) or name not in FIELDS:
        raise ResultError(f"render: no quantity {shown(name)} to colour by. Use one of {', '.join(FIELDS)}")
    field = FIELDS[name]
    if (field.array in ROD_ARRAYS or name == PRESSURE) and not drawing.layout.rods:
        raise ResultError(
            f"render: '{name}' is a quantity of rods, and model '{drawing.layout.name}' has none; give 'speed'"
        )
    if field.array not in drawing.point_arrays:
        raise ResultError(
            f"render: '{name}' is a quantity of contacts, and model '{drawing.layout.name}' has none; give 'speed'"
        )
    return field


def values(field: Field, drawing: Drawing, state: State, strains: Floats, stresses: Floats) -> Floats:
    """Return the values (n_points,) at all points of the drawing; nan on bodies if only rods have the quantity."""
    array = drawing.arrays(state, strains, stresses)[1][field.array].astype(float)
    result = np.linalg.norm(array, axis=1) if field.component is None else array[:, field.component]
    if field == FIELDS[PRESSURE]:
        result[: drawing.n_rod_points] /= drawing.static_points["node_length"][: drawing.n_rod_points]
    if field.array in ROD_ARRAYS or field == FIELDS[PRESSURE]:
        result[drawing.n_rod_points :] = np.nan
    return result


def limits(field: Field, all_values: Floats) -> tuple[float, float]:
    """Return the limits of the colour bar: from 0 on for norms, symmetric about 0 if values have both signs."""
    finite = all_values[np.isfinite(all_values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if field.component is None:
        low = 0.0
    elif low < 0 < high:
        high = max(-low, high)
        low = -high
    if not high > low:  # all values are equal
        low, high = (low - 1, high + 1) if low else (0.0, 1.0)
    return low, high


def color_map(field: Field, low: float, high: float) -> Floats:
    """Return colours (256, 3) from low to high; for a component with both signs the middle is white, at 0."""
    import matplotlib

    both_signs = field.component is not None and low < 0 < high
    shades: Floats = matplotlib.colormaps["coolwarm" if both_signs else "viridis"](np.linspace(0, 1, 256))
    return shades[:, :3]


def colors(values: Floats, low: float, high: float, shades: Floats) -> Floats:
    """Return the colours (n, 3) of values `values` (n,); `shades`: colours from low to high."""
    x = np.clip((values - low) / (high - low), 0, 1) * (len(shades) - 1)
    known = np.isfinite(x)
    rgb = shades[np.where(known, x, 0).round().astype(int)]
    return np.where(known[:, None], rgb, NO_VALUE)
