"""Make named curves of scenes, and functions from tables of values along a rod."""

from __future__ import annotations

from typing import Any

import numpy as np

from rigid.checks import direction
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.parts.space_curves import Helix
from rodsim.scenes.schema import CircleCurve, HelixCurve


def curve_of(owner: str, curve: CircleCurve | HelixCurve, center: Floats) -> Helix:
    """Return the curve as a function of s in [0, 1], about `center` (3,), m."""
    circle = isinstance(curve, CircleCurve)
    axis = direction(
        owner, "normal" if circle else "axis", curve.normal if isinstance(curve, CircleCurve) else curve.axis
    )
    start = direction(owner, "start", curve.start)
    x = start - (start @ axis) * axis
    size = np.linalg.norm(x)
    if size < 1e-9:
        raise ModelError(f"{owner}: start = {curve.start} is along the axis; give a direction across it")
    angle = np.radians(curve.angle_deg) if isinstance(curve, CircleCurve) else 2 * np.pi * curve.turns
    rise = 0.0 if isinstance(curve, CircleCurve) else curve.pitch * curve.turns
    made = Helix(center, x / size, axis, curve.radius, float(angle), rise)
    made.given = {**curve.model_dump(), "center": center.tolist()}
    return made


class RowsAlong:
    """Piecewise linear function of s in [0, 1] through rows (s, value or values)."""

    def __init__(self, table: Floats, given: list[list[float]]):
        """Store the rows; `given`: rows as written in a scene, with angles in degrees."""
        self.table, self.given = table, given

    def __call__(self, x: float) -> Any:
        """Return the value or the values (k,) at s = x."""
        s = self.table[:, 0]
        each = np.array([np.interp(x, s, column) for column in self.table.T[1:]])
        return each if len(each) > 1 else each[0]


def table_along(
    owner: str, what: str, rows: list[list[float]], given: list[list[float]] | None = None
) -> RowsAlong:
    """Check that s increases from 0 to 1 and return the function of the rows.

    `given`: rows as written in the scene; None if they are the same.
    """
    table = np.array(rows, dtype=float)
    s = table[:, 0]
    if s[0] != 0.0 or s[-1] != 1.0 or np.any(np.diff(s) <= 0.0):
        raise ModelError(
            f"{owner}: {what} is given at s = {s.tolist()}; begin with 0, increase and end with 1"
        )
    return RowsAlong(table, rows if given is None else given)
