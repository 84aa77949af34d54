"""A spring-damper between two points: V = k (l - l0)^2/2, l = |p_b - p_a|, and the force c dl/dt along the line.

Since l1 - l0 = dbar . (d1 - d0)/lbar, the force k (lbar - l0)/lbar dbar does exactly the work of V, and c (l1 - l0)/(h lbar)
dbar takes c (l1 - l0)^2/h: `rigid.springs` (1).
"""

import cmath

from rigid.interactions.distance import between, pull_together
from rigid.interactions.kinds import Kind, dissipation, dual_function, no_bend, value_function
from rigid.linear_algebra import average, dot, minus, times


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


@dual_function
def step_dual(y0, y1, X, lam, out):
    """c (l1 - l0) lam/lbar dbar on p_b; X: Xa, Xb, c."""
    d0, d1 = between(y0, X), between(y1, X)
    d, length = average(d0, d1), 0.5 * (cmath.sqrt(dot(d0, d0)) + cmath.sqrt(dot(d1, d1)))
    if length == 0.0:
        pull_together(times(0j, d), X, out)
        return
    elongation = dot(d, minus(d1, d0)) / length
    pull_together(times(lam[0] * X[6] * elongation / length, d), X, out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """c dl/dt d/l on p_b, dl/dt = d . d'/l."""
    d = between(y, X)
    square = dot(d, d)
    if square == 0.0:
        pull_together(times(0j, d), X, out)
        return
    pull_together(times(lam[0] * X[6] * dot(d, between(z, X)) / square, d), X, out)


DAMPER = dissipation("damper", 2, step_dual, rate_dual)
