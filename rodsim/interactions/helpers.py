"""Helper functions for a user's kind, in addition to the vectors of `rigid.linear_algebra`.

Poses and duals are arrays (frames, 4, 3). A measure m of two anchors a, b is a scalar with three functions,

    distance(y0, y1, a, b)               m at both ends of a step, and its change m1 - m0 without cancellation
    push_distance(out, y0, y1, a, b, w)  adds w times its discrete derivative: out . (y1 - y0) grows by w (m1 - m0), exactly
    distance_rate(y, z, a, b)            its rate dm/dt at the rates z of the poses

A force F that does the work F dm adds the measure with w = -F. Directions are given by components in the axes of an anchor.
"""

import cmath

from rigid.compilation.decorators import inline_kernel
from rigid.interactions import measures
from rigid.interactions.torsion_spring import argument, rotation_over_step
from rigid.linear_algebra import average, dot, minus, plus

FIRST, SECOND, THIRD = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_ANCHORS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # points of `rigid.interactions.measures`: the anchors themselves


@inline_kernel
def norm(a):
    """Return the norm |a| as the square root of a . a, which accepts complex steps."""
    return cmath.sqrt(dot(a, a))


@inline_kernel
def along(y, k, U):
    """Return the direction sum_i U_i d_i in inertial axes; U (3,): components in the axes of frame k."""
    a = y[k]
    return (
        U[0] * a[1, 0] + U[1] * a[2, 0] + U[2] * a[3, 0],
        U[0] * a[1, 1] + U[1] * a[2, 1] + U[2] * a[3, 1],
        U[0] * a[1, 2] + U[1] * a[2, 2] + U[2] * a[3, 2],
    )


@inline_kernel
def push(out, k, f):
    """Add f to the dual of the position of anchor k: minus the force on it, N."""
    for l in range(3):
        out[k, 0, l] += f[l]


@inline_kernel
def turn(out, k, U, f):
    """Add f to the dual of the direction `along(y, k, U)`."""
    for l in range(3):
        for i in range(3):
            out[k, 1 + i, l] += U[i] * f[l]


@inline_kernel
def distance(y0, y1, a, b):
    """Return the distance of anchors a and b at both ends of a step, and its change, m."""
    d0, d1 = minus(y0[b, 0], y0[a, 0]), minus(y1[b, 0], y1[a, 0])
    l0, l1 = norm(d0), norm(d1)
    change = l1 - l0
    if (l0 + l1).real > 0.0:
        change = dot(plus(d0, d1), minus(d1, d0)) / (l0 + l1)
    return l0, l1, change


@inline_kernel
def push_distance(out, y0, y1, a, b, w):
    """Add w times the discrete derivative of the distance; w: minus the force that drives the anchors apart, N."""
    measures.add_distance(y0, y1, a, b, _ANCHORS, 0, w, out)


@inline_kernel
def distance_rate(y, z, a, b):
    """Return the rate of the distance, m/s; 0 if the anchors coincide."""
    d = minus(y[b, 0], y[a, 0])
    length = norm(d)
    return dot(d, minus(z[b, 0], z[a, 0])) / length if length.real > 0.0 else 0.0j


@inline_kernel
def displacement(y0, y1, a, b, U=THIRD):
    """Return the displacement of anchor b from a along the direction U of a at both ends of a step, and its change, m."""
    d0, d1 = minus(y0[b, 0], y0[a, 0]), minus(y1[b, 0], y1[a, 0])
    u0, u1 = along(y0, a, U), along(y1, a, U)
    change = dot(average(u0, u1), minus(d1, d0)) + dot(average(d0, d1), minus(u1, u0))
    return dot(u0, d0), dot(u1, d1), change


@inline_kernel
def push_displacement(out, y0, y1, a, b, w, U=THIRD):
    """Add w times the discrete derivative of the displacement; w: minus the force on b along U, N."""
    measures.add_displacement(y0, y1, a, b, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, U[0], U[1], U[2]), 0, w, out)


@inline_kernel
def displacement_rate(y, z, a, b, U=THIRD):
    """Return the rate of the displacement, m/s."""
    d, v = minus(y[b, 0], y[a, 0]), minus(z[b, 0], z[a, 0])
    return dot(along(y, a, U), v) + dot(along(z, a, U), d)


@inline_kernel
def _pair(y, a, b, U, W, V):
    """Return cosine and sine of the angle, and the three directions."""
    u, w, v = along(y, a, U), along(y, a, W), along(y, b, V)
    return dot(u, v), dot(w, v), u, w, v


@inline_kernel
def angle(y0, y1, a, b, U=FIRST, W=SECOND, V=FIRST):
    """Return the angle of anchor b from a at both ends of a step, and its change, rad.

    It is that of the direction V of b from U of a, about U x W; by default of the first axes about the third axis of a. At the
    start it is within half a turn of zero; the change is exact if it is within half a turn. A state that adds up the changes
    counts turns.
    """
    start = _pair(y0, a, b, U, W, V)
    change = rotation_over_step(start, _pair(y1, a, b, U, W, V))[0]
    before = argument(start[0], start[1])
    return before, before + change, change


@inline_kernel
def push_angle(out, y0, y1, a, b, w, U=FIRST, W=SECOND, V=FIRST):
    """Add w times the discrete derivative of the angle; w: minus the moment on b, N m."""
    X = (U[0], U[1], U[2], W[0], W[1], W[2], V[0], V[1], V[2], 0.0)
    measures.add_angle(y0, y1, a, b, X, 0, w, out)


@inline_kernel
def angle_rate(y, z, a, b, U=FIRST, W=SECOND, V=FIRST):
    """Return the rate of the angle, rad/s."""
    c, s, u, w, v = _pair(y, a, b, U, W, V)
    _, _, du, dw, dv = _pair(z, a, b, U, W, V)
    return (c * (dot(dw, v) + dot(w, dv)) - s * (dot(du, v) + dot(u, dv))) / (c * c + s * s)
