"""Define driven constraints: the direction U_a, which rotates in frame a, and `value` are functions of time.

    perpendicular  u_a(t) . u_b = 0                  an angle, the target direction rotating in frame a
    along          u_a(t) . (p_b - p_a) = value(t)   a displacement

Both are linear in their driven numbers X = (U_a, value), so that with means Xbar = (X0 + X1)/2 over a step

    g(y1, X1) - g(y0, X0) = D g(y0, y1, Xbar) . (y1 - y0) + (g(y0, dX) + g(y1, dX))/2,   dX = X1 - X0       (1)

exactly, with the discrete derivative of the constraint that is not driven: momenta are conserved, and the last term times the
multiplier is the work of the drive. `Constraints` holds the driven numbers at t = 0, `State.internal` those of a state.
"""

from __future__ import annotations

from rigid.interactions.direction_angle import PERPENDICULAR_DIRECTIONS
from rigid.interactions.point_on_plane import POINT_ALONG_DIRECTION

DRIVEN_ANGLE = PERPENDICULAR_DIRECTIONS._replace(name="driven angle", driven=True)
DRIVEN_DISPLACEMENT = POINT_ALONG_DIRECTION._replace(name="driven displacement", driven=True)
