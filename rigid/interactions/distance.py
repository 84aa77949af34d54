"""Two points at a given distance: g = d . d/2 - value, d = p_b - p_a.

Quadratic: the discrete derivative has d averaged over the step.
"""

from rigid.compilation import small_kernel
from rigid.interactions.kinds import Kind, dual_function, frame, store, value_function, vector
from rigid.linear_algebra import average, dot, minus, times
from rigid.poses import on_point, point


@small_kernel
def between(y, X):
    """d = p_b - p_a."""
    return minus(point(frame(y, 1), vector(X, 3)), point(frame(y, 0), vector(X, 0)))


@small_kernel
def pull_together(f, X, out):
    """f on p_b, -f on p_a."""
    store(on_point(times(-1.0, f), vector(X, 0)), out, 0)
    store(on_point(f, vector(X, 3)), out, 1)


@value_function
def value(y, X, out):
    """d . d/2 - value."""
    d = between(y, X)
    out[0] = 0.5 * dot(d, d) - X[6]


@dual_function
def dual(y0, y1, X, lam, out):
    """lam dbar."""
    pull_together(times(lam[0], average(between(y0, X), between(y1, X))), X, out)


@dual_function
def bend(y, z, X, lam, out):
    """The gradient is linear in the poses: itself at z."""
    pull_together(times(lam[0], between(z, X)), X, out)


POINTS_AT_DISTANCE = Kind("points at a distance", 2, 1, value, dual, bend, columns=("Xa", "Xb", "value"))
