"""Named curves of scenes."""

from __future__ import annotations

import numpy as np

from rigid.checks import direction
from rigid.errors import ModelError
from rodsim.curves import Helix
from rodsim.scenes.schema import CircleCurve, HelixCurve


def curve_of(owner: str, curve: CircleCurve | HelixCurve) -> Helix:
    """The curve as a function of s in [0, 1]."""
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
    return Helix(np.array(curve.center), x / size, axis, curve.radius, float(angle), rise)
