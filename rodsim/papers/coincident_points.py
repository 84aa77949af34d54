"""Joints of the published rigid body systems that keep two material points together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import COINCIDENT, Constraints


def coincident_points(frames: ArrayLike, first: ArrayLike, second: ArrayLike) -> Constraints:
    """Return k joints: point `first` (k, 3) of one frame stays at point `second` (k, 3) of the other; `frames` (k, 2)."""
    pairs = np.array(frames)
    k = len(pairs)
    none = np.zeros((k, 3))
    return Constraints(
        kind=np.full(k, COINCIDENT, np.int64),
        frames=pairs,
        Xa=np.array(first, float),
        Xb=np.array(second, float),
        Ua=none,
        Ub=none,
        value=np.zeros(k),
        joint=np.arange(k),
    )
