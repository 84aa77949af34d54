"""Largest and smallest strains and stresses of rods over all elements, both ends and all outputs, without thinning."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.system import Floats
from rodsim.reporting.motion import COMPONENTS
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.result import Result
from rodsim.results.rod_interpolation import element_arc_lengths, rod_interpolation_to, rod_length

BLOCK = 4_000_000  # largest count of numbers read at once
_COLUMNS = {"Gamma": 0, "K": 3, "N": 6, "M": 9}


class Extreme(NamedTuple):
    """An extreme value: value, arc length `s` of the element or end (m), and time `t`."""

    value: float
    s: float
    t: float


class Extremes(NamedTuple):
    """Smallest and largest value of one component of one rod."""

    rod: str
    words: str
    unit: str
    low: Extreme
    high: Extreme


def extremes(result: Result) -> list[Extremes]:
    """Return the extremes of all components of all rods that are not zero (to 1e-9 of their vector's largest component)."""
    layout, t = result.layout, result.t
    if not layout.rods:
        return []
    block = max(1, BLOCK // (12 * max(1, layout.n_elements)))
    best: dict[tuple[int, int], Floats] = {}
    for start in range(0, result.n_outputs, block):
        outputs = slice(start, min(start + block, result.n_outputs))
        values = np.concatenate(
            [result.element_values(name, outputs) for name in ("strains", "stresses")], axis=-1
        )
        for sign in (0, 1):
            for k, rod in enumerate(layout.rods):
                extremum = _extremum(*_append_ends(layout, rod, values[:, rod.elements]), t[outputs], sign)
                if (k, sign) in best:
                    old = best[k, sign]
                    better = (extremum[0] > old[0]) if sign else (extremum[0] < old[0])
                    extremum = np.where(better, extremum, old)
                best[k, sign] = extremum
    rows = []
    for k, rod in enumerate(layout.rods):
        low, high = best[k, 0], best[k, 1]
        for _, array, component, description, unit in COMPONENTS:
            column = _COLUMNS[array] + component
            kind = slice(_COLUMNS[array], _COLUMNS[array] + 3)
            size = max(np.abs(low[0][kind]).max(), np.abs(high[0][kind]).max())
            if max(abs(low[0][column]), abs(high[0][column])) > 1e-9 * size:
                ends = (Extreme(*(float(row[column]) for row in end)) for end in (low, high))
                rows.append(Extremes(rod.name, description, unit, *ends))
    return rows


def _extremum(values: Floats, s: Floats, t: Floats, sign: int) -> Floats:
    """Return the largest (sign 1) or smallest (sign 0) of values (T, m, 12), as (3, 12): value, arc length, time."""
    flat = values.reshape(-1, values.shape[-1])
    at = (
        np.nanargmax(_replace_nonfinite(flat, -np.inf), axis=0)
        if sign
        else np.nanargmin(_replace_nonfinite(flat, np.inf), axis=0)
    )
    output, element = np.divmod(at, values.shape[1])
    return np.stack([flat[at, np.arange(flat.shape[1])], s[element], t[output]])


def _replace_nonfinite(values: Floats, instead: float) -> Floats:
    """Return values in which those that are not finite are replaced by `instead`."""
    return np.where(np.isfinite(values), values, instead)


def _append_ends(layout: Layout, rod: RodLayout, values: Floats) -> tuple[Floats, Floats]:
    """Append the values at both ends of a rod to values (T, m, 12) of elements, unless it is closed; add the arc lengths."""
    s = element_arc_lengths(layout, rod)
    if rod.closed:
        return values, s
    ends = np.array([0.0, rod_length(layout, rod)])
    at_ends = rod_interpolation_to(layout, rod, ends).of(values)
    return np.concatenate([values, at_ends], axis=1), np.append(s, ends)
