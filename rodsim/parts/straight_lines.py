"""Straight line between two points, bit-identical to scipy's spline of degree 1 through them, without loading scipy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats


class StraightLine:
    """Straight line r(u) = (a (l - u) + b u)/l from a to b (3,), m; u: distance from a, l: distance of b from a, m."""

    def __init__(self, a: Floats, b: Floats, length: float):
        self._a, self._b, self._length = a, b, length

    def __call__(self, u: ArrayLike) -> Floats:
        """Return points (..., 3), m, at u of any shape; u may lie beyond the ends."""
        u = np.asarray(u, dtype=float)[..., None]
        w = 1.0 / self._length
        return self._a * (w * (self._length - u)) + self._b * (w * u)

    def derivative(self) -> Direction:
        """Return the derivative dr/du as a constant function."""
        # adding 0 turns -0 into 0
        return Direction((self._b - self._a) / self._length + 0.0)


class Direction:
    """Constant vector (3,) as a function of u."""

    def __init__(self, vector: Floats):
        self._vector = vector

    def __call__(self, u: ArrayLike) -> Floats:
        """Return the vector for every u, (..., 3), u of any shape."""
        return np.broadcast_to(self._vector, (*np.shape(u), 3)).copy()
