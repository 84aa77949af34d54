"""Define driven constraints: the direction U_a, which rotates in frame a, and `value` are functions of time.

    perpendicular  u_a(t) . u_b = 0                  an angle, the target direction rotating in frame a
    along          u_a(t) . (p_b - p_a) = value(t)   a displacement
    apart          u |p_b - p_a|^2/2 = value(t)      a distance l: u = 1, the first number of U_a, and value = l^2/2

All are linear in their driven numbers X = (U_a, value), so that with means Xbar = (X0 + X1)/2 over a step

    g(y1, X1) - g(y0, X0) = D g(y0, y1, Xbar) . (y1 - y0) + (g(y0, dX) + g(y1, dX))/2,   dX = X1 - X0       (1)

exactly, with the discrete derivative of the constraint that is not driven: momenta are conserved, and the last term times the
multiplier is the work of the drive. `Constraints` holds the driven numbers at t = 0, `State.internal` those of a state.
"""

from __future__ import annotations

from rigid.interactions.direction_angle import PERPENDICULAR_DIRECTIONS
from rigid.interactions.distance import POINTS_AT_DISTANCE, add_central_force, between
from rigid.interactions.kinds import dual_function, value_function
from rigid.interactions.point_on_plane import POINT_ALONG_DIRECTION
from rigid.linear_algebra import average, dot, times

_FACTOR, _VALUE = 6, 9  # offsets of u and of the value among the numbers of a distance


@value_function
def distance_value(y, X, out):
    """Write the constraint u d . d/2 - value."""
    d = between(y, X)
    out[0] = 0.5 * X[_FACTOR] * dot(d, d) - X[_VALUE]


@dual_function
def distance_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of lam . g: the force lam u dbar on p_b, its opposite on p_a."""
    add_central_force(times(lam[0] * X[_FACTOR], average(between(y0, X), between(y1, X))), X, out)


@dual_function
def distance_bend(y, z, X, lam, out):
    """Write the change of the gradient along z."""
    add_central_force(times(lam[0] * X[_FACTOR], between(z, X)), X, out)


DRIVEN_ANGLE = PERPENDICULAR_DIRECTIONS._replace(name="driven angle", driven=True)
DRIVEN_DISPLACEMENT = POINT_ALONG_DIRECTION._replace(name="driven displacement", driven=True)
DRIVEN_DISTANCE = POINTS_AT_DISTANCE._replace(
    name="driven distance",
    value=distance_value,
    dual=distance_dual,
    bend=distance_bend,
    columns=("Xa", "Xb", "Ua", "value"),
    driven=True,
)
