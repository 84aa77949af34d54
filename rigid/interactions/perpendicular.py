"""Two directions at a given angle: g = u_a . u_b - value, u = R U.

Bilinear: the discrete derivative has u_a and u_b averaged over the step.
"""

from rigid.compilation import small_kernel
from rigid.interactions.kinds import Kind, dual_function, frame, store, value_function, vector
from rigid.linear_algebra import average, dot, times
from rigid.poses import direction, on_direction


@small_kernel
def directions(y, X):
    """u_a, u_b."""
    return direction(frame(y, 0), vector(X, 0)), direction(frame(y, 1), vector(X, 3))


@value_function
def value(y, X, out):
    """u_a . u_b - value."""
    ua, ub = directions(y, X)
    out[0] = dot(ua, ub) - X[6]


@dual_function
def dual(y0, y1, X, lam, out):
    """lam u_b on u_a and lam u_a on u_b, averaged."""
    a0, b0 = directions(y0, X)
    a1, b1 = directions(y1, X)
    store(on_direction(times(lam[0], average(b0, b1)), vector(X, 0)), out, 0)
    store(on_direction(times(lam[0], average(a0, a1)), vector(X, 3)), out, 1)


@dual_function
def bend(y, z, X, lam, out):
    """The gradient is linear in the poses: itself at z."""
    ua, ub = directions(z, X)
    store(on_direction(times(lam[0], ub), vector(X, 0)), out, 0)
    store(on_direction(times(lam[0], ua), vector(X, 3)), out, 1)


PERPENDICULAR_DIRECTIONS = Kind(
    "perpendicular directions", 2, 1, value, dual, bend, columns=("Ua", "Ub", "value")
)
