"""Units of the numbers in a scene, from the last word of their path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_UNITS = {
    "m": "radius outer_radius inner_radius width height length pitch position curve center at size",
    "Pa": "E G",
    "kg/m^3": "density",
    "N": "EA GA",
    "N m^2": "GJ EI",
    "kg/m": "mass_per_length",
    "kg m": "inertia_per_length",
    "kg": "mass",
    "m/s": "velocity",
    "rad/s": "angular_velocity",
    "s": "dt t_end t_start t_peak damping_time times",
    "m/s^2": "gravity",
    "Hz": "frequency",
    "deg": "angle_deg twist_deg",
}
_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}


def unit_of(path: str, values: Sequence[Any] = ()) -> str:
    """Return the unit of the value at `path` of a scene; "" if it is not known from the path, or if the values are text."""
    if any(isinstance(value, str) for value in values):
        return ""
    word = re.split(r"\.", re.sub(r"(\[-?\d+\])+$", "", path))[-1]
    return _OF.get(word, "")
