"""Two points joined by a straight line: what a spline of degree 1 through them is, to the bit, without scipy's splines."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats


class StraightLine:
    """r(u) = (a (l - u) + b u)/l, u the length from a, l that of b; points (3,) in m."""

    def __init__(self, a: Floats, b: Floats, length: float):
        self._a, self._b, self._length = a, b, length

    def __call__(self, u: ArrayLike) -> Floats:
        """Points (..., 3) at u of any shape, beyond the ends too."""
        u = np.asarray(u, dtype=float)[..., None]
        w = 1.0 / self._length
        return self._a * (w * (self._length - u)) + self._b * (w * u)

    def derivative(self) -> Direction:
        """dr/du."""
        # -0 as a sum is 0
        return Direction((self._b - self._a) / self._length + 0.0)


class Direction:
    """The same vector (3,) everywhere."""

    def __init__(self, vector: Floats):
        self._vector = vector

    def __call__(self, u: ArrayLike) -> Floats:
        """(..., 3) at u of any shape."""
        return np.broadcast_to(self._vector, (*np.shape(u), 3)).copy()
