"""Two points in one place: g = p_b - p_a, three rows in inertial components.

The gradient does not depend on the poses: force lam on p_b, -lam on p_a.
"""

from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, store, value_function, vector
from rigid.linear_algebra import minus, times
from rigid.poses import on_point, point


@value_function
def value(y, X, out):
    """p_b - p_a."""
    out[0], out[1], out[2] = minus(point(frame(y, 1), vector(X, 3)), point(frame(y, 0), vector(X, 0)))


@dual_function
def dual(y0, y1, X, lam, out):
    """lam on p_b, -lam on p_a."""
    f = vector(lam, 0)
    store(on_point(times(-1.0, f), vector(X, 0)), out, 0)
    store(on_point(f, vector(X, 3)), out, 1)


COINCIDENT_POINTS = Kind("coincident points", 2, 3, value, dual, no_bend, constant=True, columns=("Xa", "Xb"))
