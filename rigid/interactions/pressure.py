"""Pressure along a line: a force per current length, normal to it in a plane; each edge puts half of its force on both ends.

With the normal of the plane times the pressure, P, an edge d = r_b - r_a carries P x d, half of it at a and half at b. Over a
step d is averaged. Around a closed polygon the forces are then (r_{i+1} - r_{i-1})/2 at node i, rotated by P. These are the
forces of P times the area that the polygon has in the plane. Its change is the work, exactly, since areas are bilinear.

A single edge has no potential: its value is zero, and its work is counted as that of a load (`Kind.works`).
"""

from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, store, value_function, vector
from rigid.linear_algebra import average, cross, minus, times


@value_function
def nothing(y, X, out):
    """Write zero: there is no energy."""
    out[0] = 0.0


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the dual: minus P x d/2, with d averaged, on both frames."""
    d = average(minus(frame(y0, 1)[0], frame(y0, 0)[0]), minus(frame(y1, 1)[0], frame(y1, 0)[0]))
    f = times(-0.5 * lam[0], cross(vector(X, 0), d))
    none = times(0.0, f)
    store((f, none, none, none), out, 0)
    store((f, none, none, none), out, 1)


PRESSED_EDGE = Kind("pressed edge", 2, 0, nothing, dual, no_bend, works=True)
VARYING_PRESSED_EDGE = PRESSED_EDGE._replace(name="pressed edge whose pressure varies", signal=0)
