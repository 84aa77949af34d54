"""Constant force on a point of a frame, such as gravity: V = -f . p."""

from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, store, value_function, vector
from rigid.kinematics.poses import on_point, point
from rigid.linear_algebra import dot, times


@value_function
def value(y, X, out):
    """Write the potential -f . p."""
    out[0] = -dot(vector(X, 3), point(frame(y, 0), vector(X, 0)))


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the dual: -f on p, for all poses."""
    store(on_point(times(-lam[0], vector(X, 3)), vector(X, 0)), out, 0)


WEIGHT = Kind("weight", 1, 0, value, dual, no_bend, constant=True)
