"""A spring between two points: V = k (l - l0)^2/2, l = |p_b - p_a|.

Since l1 - l0 = dbar . (d1 - d0)/lbar, the force k (lbar - l0)/lbar dbar does exactly the work of V: `rigid.springs` (1).
"""

import cmath

from rigid.interactions.distance import between, pull_together
from rigid.interactions.kinds import Kind, dual_function, no_bend, value_function
from rigid.linear_algebra import average, dot, times


@value_function
def value(y, X, out):
    """k (l - l0)^2/2."""
    d = between(y, X)
    elongation = cmath.sqrt(dot(d, d)) - X[7]
    out[0] = 0.5 * X[6] * elongation * elongation


@dual_function
def dual(y0, y1, X, lam, out):
    """k (lbar - l0)/lbar dbar on p_b."""
    d0, d1 = between(y0, X), between(y1, X)
    length = 0.5 * (cmath.sqrt(dot(d0, d0)) + cmath.sqrt(dot(d1, d1)))
    if length == 0.0:  # the force has no direction
        pull_together(times(0j, d0), X, out)
        return
    pull_together(times(lam[0] * X[6] * (length - X[7]) / length, average(d0, d1)), X, out)


SPRING = Kind("spring", 2, 0, value, dual, no_bend, columns=("Xa", "Xb", "stiffness", "length0"))
