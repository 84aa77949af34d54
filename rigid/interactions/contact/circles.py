"""Contact of a half-space with a circle fixed to a body (a rim): potential of the gaps of its lowest and its highest point.

Let c be the centre, a the axis and R the radius of the circle, n the normal and p a point of the plane, and w = n x a. The
gaps of both points are

    g = n . (c - p) - rho -+ R S,   S^2 = w . w + e^2                                                                 (1)

A cylinder that lies or leans touches with the lowest point. One that stands touches with both points, which support it in all
directions in which it may tilt. The length e = 1e-8 rounds the edge at S = 0, where no point is the lowest. It changes the gap
by e R at most. n . (c - p) and u = n . a are bilinear in the poses, w . w = (n . n) (a . a) - u^2, and S1 - S0 = (S1^2 -
S0^2)/(S0 + S1), so that the work is exact by the product rule. All forces follow from scalars, so that the momenta are
conserved exactly:

    dV = -(Q + Q') d(n . (c - p)) + (Q - Q') R 2/(S0 + S1) (A n . dn + B a . da - u (a . dn + n . da))               (2)

Here n, a, u, A = a . a, B = n . n are averaged over the step, and Q, Q' belong to the lowest and the highest point. For
friction these points are c -+ R m, where m is the part of n across a, scaled to length 1.
"""

import cmath

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.contact_sums import NOTHING, N, P, add, add_at_frame
from rigid.interactions.contact.gaps import RHO
from rigid.interactions.contact.normal_laws import potential, resistance
from rigid.interactions.contact.planes import CENTRE, on_plane
from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, store, value_function, vector
from rigid.kinematics.poses import direction, on_point_and_direction, point
from rigid.linear_algebra import average, cross, dot, minus, plus, times

AXIS, RADIUS = 14, 17  # offsets in X of the axis and of the radius
EDGE = 1e-8  # e of (1)


@inline_kernel
def _parts(y, X):
    """Return n, a, c - p and w = n x a of one state."""
    plane, body = frame(y, 0), frame(y, 1)
    n, a = direction(plane, vector(X, N)), direction(body, vector(X, AXIS))
    return n, a, minus(point(body, vector(X, CENTRE)), point(plane, vector(X, P))), cross(n, a)


@inline_kernel
def _lean(w):
    """Return S of (1)."""
    return cmath.sqrt(dot(w, w) + EDGE * EDGE)


@value_function
def value_of_circle(y, X, out):
    """Compute the potential of a plane and a circle."""
    n, _, d, w = _parts(y, X)
    g, r = dot(n, d) - X[RHO], X[RADIUS] * _lean(w)
    out[0] = potential(X, g - r) + potential(X, g + r)


@inline_kernel
def _lowest(n, a):
    """Return -m, the unit vector from the centre to the lowest point."""
    across = minus(n, times(dot(n, a) / dot(a, a), a))
    return times(-1.0 / _lean(across), across)


@inline_kernel
def circle_on_plane(y0, y1, X, weight, out):
    """Add the duals of a plane and a circle to `out`; return the contact sums, the force on the circle.

    On return `out[0, 2]` and `out[1, 2]` hold the duals of the normal and of the axis.
    """
    n0, a0, d0, w0 = _parts(y0, X)
    n1, a1, d1, w1 = _parts(y1, X)
    S0, S1, R = _lean(w0), _lean(w1), X[RADIUS]
    g0, g1 = dot(n0, d0) - X[RHO], dot(n1, d1) - X[RHO]
    low = resistance(X, g0 - R * S0, g1 - R * S1)
    if low == 0.0:
        return NOTHING
    n, a, d = average(n0, n1), average(a0, a1), average(d0, d1)
    to_lowest, square = times(R, _lowest(n, a)), dot(n, n)
    x = average(point(frame(y0, 1), vector(X, CENTRE)), point(frame(y1, 1), vector(X, CENTRE)))
    sums = NOTHING
    leaning = 0j
    for i in range(2):
        sign = 1.0 - 2.0 * i
        h0, h1 = g0 - sign * R * S0, g1 - sign * R * S1
        Q = weight * resistance(X, h0, h1)
        if Q != 0.0:
            arm = times(sign, to_lowest)
            c = plus(x, minus(arm, times(dot(n, plus(d, arm)) / square, n)))  # projected onto the plane
            sums = add(sums, (Q, times(Q, n), times(Q, c), Q * (h0 - h1)))
            leaning += 2.0 * sign * Q * R / (S0 + S1)
    add_at_frame(out, 0, 1.0, -sums[0], sums[1])
    u, A, B = (
        0.5 * (dot(n0, a0) + dot(n1, a1)),
        0.5 * (dot(a0, a0) + dot(a1, a1)),
        0.5 * (dot(n0, n0) + dot(n1, n1)),
    )
    for i in range(3):
        out[0, 2, i] += leaning * (A * n[i] - u * a[i]) - sums[0] * d[i]
        out[1, 2, i] += leaning * (B * a[i] - u * n[i])
    return sums


@inline_kernel
def on_circle(force, X, out):
    """Return the dual of frame 1: minus `force` on the centre, and the dual of the axis that `circle_on_plane` left in `out`."""
    return on_point_and_direction(times(-1.0, force), vector(X, CENTRE), frame(out, 1)[2], vector(X, AXIS))


@dual_function
def dual_of_circle(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a plane and a circle."""
    out[:] = 0.0
    sums = circle_on_plane(y0, y1, X, lam[0], out)
    store(on_plane(X, out), out, 0)
    store(on_circle(sums[1], X, out), out, 1)


PLANE_CIRCLE = Kind(
    "contact of a plane and a circle", 2, 0, value_of_circle, dual_of_circle, no_bend, one_sided=True
)
