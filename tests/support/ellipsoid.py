"""A constraint kind that the package does not have, as a user would write it: value and dual, and the declaration that it is
more than quadratic in the poses.

A point of b on an ellipsoid of revolution about u_a around a point of a: g = (d . d + s^2)/2 - value, s = u_a . d.
Since s1^2 - s0^2 = 2 sbar (s1 - s0), the dual is lam (dbar + sbar ubar) on d and lam sbar dbar on u_a.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, store, value_function, vector
from rigid.kinematics.poses import direction, on_point, on_point_and_direction, point
from rigid.linear_algebra import average, dot, minus, plus, times


@inline_kernel
def factors(y, X):
    """u_a, d, s."""
    a, b = frame(y, 0), frame(y, 1)
    u, d = direction(a, vector(X, 6)), minus(point(b, vector(X, 3)), point(a, vector(X, 0)))
    return u, d, dot(u, d)


@value_function
def value(y, X, out):
    """(d . d + s^2)/2 - value."""
    _, d, s = factors(y, X)
    out[0] = 0.5 * (dot(d, d) + s * s) - X[9]


@dual_function
def dual(y0, y1, X, lam, out):
    """All factors averaged."""
    (u0, d0, s0), (u1, d1, s1) = factors(y0, X), factors(y1, X)
    u, d, s = average(u0, u1), average(d0, d1), lam[0] * 0.5 * (s0 + s1)
    f = plus(times(lam[0], d), times(s, u))
    store(on_point_and_direction(times(-1.0, f), vector(X, 0), times(s, d), vector(X, 6)), out, 0)
    store(on_point(f, vector(X, 3)), out, 1)


POINT_ON_ELLIPSOID = Kind(
    "point on ellipsoid", 2, 1, value, dual, no_bend, columns=("Xa", "Xb", "Ua", "value"), steep=True
)
