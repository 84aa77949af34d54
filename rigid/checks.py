"""Checks of what users give: each error names the object, the value and the cure."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rigid.errors import ModelError
from rigid.system import Floats


def vector(owner: str, what: str, value: ArrayLike, length: int = 3) -> Floats:
    """`value` as a finite array of `length` floats."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (length,) or not np.all(np.isfinite(array)):
        raise ModelError(f"{owner}: {what} = {value!r} is not a list of {length} finite numbers")
    return array


def direction(owner: str, what: str, value: ArrayLike) -> Floats:
    """`value` scaled to a unit vector."""
    array = vector(owner, what, value)
    size = np.linalg.norm(array)
    if size == 0.0:
        raise ModelError(f"{owner}: {what} = {value!r} has no direction; give a vector that is not zero")
    return array / size


def number(
    owner: str, what: str, value: float, positive: bool = False, at_least: float | None = None
) -> float:
    """`value` as a finite float, on demand positive or not below a bound."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        x = float("nan")
    if not np.isfinite(x):
        raise ModelError(f"{owner}: {what} = {value!r} is not a finite number")
    if positive and x <= 0.0:
        raise ModelError(f"{owner}: {what} = {value!r} is not positive; give a number above 0")
    if at_least is not None and x < at_least:
        raise ModelError(f"{owner}: {what} = {value!r} is below {at_least:g}; give at least {at_least:g}")
    return x


def unit_quaternion(owner: str, what: str, value: ArrayLike) -> Floats:
    """`value` as a unit quaternion (w, x, y, z); a length off by more than 1e-6 is an error."""
    q = vector(owner, what, value, 4)
    size = np.linalg.norm(q)
    if abs(size - 1.0) > 1e-6:
        raise ModelError(
            f"{owner}: {what} = {value!r} has length {size:.6g}; give a unit quaternion (w, x, y, z)"
        )
    return q / size
