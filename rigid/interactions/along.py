"""A point in a plane of the other frame: g = u_a . d - value, d = p_b - p_a, u_a = R_a U.

Bilinear: the discrete derivative has u_a and d averaged over the step.
"""

from rigid.compilation import small_kernel
from rigid.interactions.kinds import Kind, dual_function, frame, store, value_function, vector
from rigid.linear_algebra import average, dot, minus, times
from rigid.poses import direction, on_point, on_point_and_direction, point


@small_kernel
def factors(y, X):
    """u_a, d."""
    a, b = frame(y, 0), frame(y, 1)
    return direction(a, vector(X, 6)), minus(point(b, vector(X, 3)), point(a, vector(X, 0)))


@small_kernel
def spread(u, d, X, lam, out):
    """lam u on p_b, its opposite on p_a, lam d on u_a."""
    f = times(lam, u)
    store(on_point_and_direction(times(-1.0, f), vector(X, 0), times(lam, d), vector(X, 6)), out, 0)
    store(on_point(f, vector(X, 3)), out, 1)


@value_function
def value(y, X, out):
    """u_a . d - value."""
    u, d = factors(y, X)
    out[0] = dot(u, d) - X[9]


@dual_function
def dual(y0, y1, X, lam, out):
    """Both factors averaged."""
    u0, d0 = factors(y0, X)
    u1, d1 = factors(y1, X)
    spread(average(u0, u1), average(d0, d1), X, lam[0], out)


@dual_function
def bend(y, z, X, lam, out):
    """The gradient is linear in the poses: itself at z."""
    u, d = factors(z, X)
    spread(u, d, X, lam[0], out)


POINT_ALONG_DIRECTION = Kind(
    "point along direction", 2, 1, value, dual, bend, columns=("Xa", "Xb", "Ua", "value")
)
