"""A spring-damper in the angle from u_a to u_b about u_a x w_a: V = k (alpha - alpha_0)^2/2.

With c = u_a . u_b, s = w_a . u_b the angle is atan2(s, c); its change over a step is delta = atan2(X, Y),
X = c0 s1 - s0 c1 = cbar (s1 - s0) - sbar (c1 - c0), so that k (alpha_0 + delta/2 - angle0) delta/X does the work of V
exactly: `rigid.springs` (2), (3). V is a function of the poses and counts no turns: alpha is the angle nearest to
`branch`, which whoever marches keeps up. A damper has the moment c delta/h in place of the elastic one.
"""

import cmath
import math

from rigid.compilation import small_kernel
from rigid.interactions.kinds import (
    Kind,
    dissipation,
    dual_function,
    frame,
    no_bend,
    store,
    value_function,
    vector,
)
from rigid.linear_algebra import average, dot, minus, plus, times
from rigid.poses import direction, on_direction
from rigid.system import Floats, TorsionSprings

BRANCH = 11  # where the branch stands among the numbers


@small_kernel
def turned_pair(y, X):
    """c, s, u_a, w_a, u_b."""
    a = frame(y, 0)
    u, w = direction(a, vector(X, 0)), direction(a, vector(X, 3))
    b = direction(frame(y, 1), vector(X, 6))
    return dot(u, b), dot(w, b), u, w, b


@small_kernel
def argument(c, s):
    """Angle of (c, s) and, for a complex step, its first derivative along the imaginary parts.

    A complex logarithm would mix the tiny imaginary parts with the real ones and lose them.
    """
    square = c.real * c.real + s.real * s.real
    return math.atan2(s.real, c.real) + 1j * (c.real * s.imag - s.real * c.imag) / square


@small_kernel
def angle_of(c, s, branch):
    """The angle nearest to the branch."""
    turn = argument(c, s)
    return turn + 2.0 * math.pi * round((branch - turn.real) / (2.0 * math.pi))


def torsion_energies(springs: TorsionSprings, angle: Floats) -> Floats:
    """V (..., s) at angles (..., s) that were counted through full turns."""
    energy: Floats = 0.5 * springs.stiffness * (angle - springs.angle0) ** 2
    return energy


@value_function
def value(y, X, out):
    """k (alpha - angle0)^2/2."""
    c, s, _, _, _ = turned_pair(y, X)
    angle = angle_of(c, s, X[BRANCH]) - X[10]
    out[0] = 0.5 * X[9] * angle * angle


@small_kernel
def turning(y0, y1, X):
    """delta and delta/X of a step, c and s at its start, and the means of c, s, u, w, b."""
    c0, s0, u0, w0, b0 = turned_pair(y0, X)
    c1, s1, u1, w1, b1 = turned_pair(y1, X)
    radii = cmath.sqrt((c0 * c0 + s0 * s0) * (c1 * c1 + s1 * s1))
    cross = c0 * s1 - s0 * c1
    delta = argument(c0 * c1 + s0 * s1, cross)
    ratio = 1.0 + delta * delta / 6.0 + 7.0 * delta**2 * delta**2 / 360.0
    if abs(delta.real) > 1e-3:
        ratio = delta / (cross / radii)
    middle = 0.5 * (c0 + c1), 0.5 * (s0 + s1), average(u0, u1), average(w0, w1), average(b0, b1)
    return delta, ratio / radii, c0, s0, middle


@small_kernel
def spread(moment, middle, X, out):
    """moment (c ds - s dc), with ds = w . db + b . dw and dc = u . db + b . du."""
    c, s, u, w, beta = middle
    fu, fw = (
        on_direction(times(-moment * s, beta), vector(X, 0)),
        on_direction(times(moment * c, beta), vector(X, 3)),
    )
    store((fu[0], plus(fu[1], fw[1]), plus(fu[2], fw[2]), plus(fu[3], fw[3])), out, 0)
    store(on_direction(times(moment, minus(times(c, w), times(s, u))), vector(X, 6)), out, 1)


@dual_function
def dual(y0, y1, X, lam, out):
    """The moment k (alpha_0 + delta/2 - angle0)."""
    delta, ratio, c0, s0, middle = turning(y0, y1, X)
    start = angle_of(c0, s0, X[BRANCH])
    spread(lam[0] * X[9] * (start + 0.5 * delta - X[10]) * ratio, middle, X, out)


TORSION_SPRING = Kind("torsion spring", 2, 0, value, dual, no_bend)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """The moment c delta lam; X: Ua, Wa, Ub, c."""
    delta, ratio, _, _, middle = turning(y0, y1, X)
    spread(lam[0] * X[9] * delta * ratio, middle, X, out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """The moment c dalpha/dt, dalpha/dt = (c s' - s c')/(c^2 + s^2)."""
    c, s, u, w, b = turned_pair(y, X)
    _, _, du, dw, db = turned_pair(z, X)
    dc, ds = dot(du, b) + dot(u, db), dot(dw, b) + dot(w, db)
    square = c * c + s * s
    spread(lam[0] * X[9] * (c * ds - s * dc) / (square * square), (c, s, u, w, b), X, out)


TORSION_DAMPER = dissipation("torsion damper", 2, step_dual, rate_dual)
