"""Compute scalar measures of two frames and their discrete derivatives; an energy of measures is a function of these scalars.

    distance      l = |p_b - p_a|                    l1 - l0 = dbar . (d1 - d0)/lbar
    strain        (l - L)/L
    displacement  u_a . (p_b - p_a)                  bilinear: both factors averaged
    cosine        u_a . u_b                          bilinear: both factors averaged
    angle         of u_b from u_a about u_a x w_a    as in `torsion_spring`, within half a turn of a middle               (1)

Each measure is a function that returns its value, a function `add_...`, which adds w times its discrete derivative to the dual
`out`, and, some of them, a function `..._over_step` that returns its change over a step. Frames a, b are indices among the frames
of the interaction; X[at:] holds X_a, X_b (distance), X_a, X_b, L (strain), X_a, X_b, U_a (displacement), U_a, U_b (cosine), U_a,
W_a, U_b and the middle (angle).
"""

import cmath

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import frame, vector
from rigid.interactions.torsion_spring import angle_of, rotation_over_step
from rigid.kinematics.poses import direction, point
from rigid.linear_algebra import average, dot, minus, plus, times

# number of numbers X of each measure
WIDTHS = {"distance": 6, "strain": 7, "displacement": 9, "cosine": 6, "angle": 10}


@inline_kernel
def clear_duals(out, arity):
    """Set the duals of all frames to zero."""
    for k in range(arity):
        for i in range(4):
            for l in range(3):
                out[k, i, l] = 0.0


@inline_kernel
def add_force(out, k, X, at, f):
    """Add the force f on the point X[at:] of frame k to the dual `out`."""
    for l in range(3):
        out[k, 0, l] += f[l]
        for i in range(3):
            out[k, 1 + i, l] += X[at + i] * f[l]


@inline_kernel
def add_on_direction(out, k, X, at, f):
    """Add f, work-conjugate to the direction X[at:] of frame k, to the dual `out`."""
    for l in range(3):
        for i in range(3):
            out[k, 1 + i, l] += X[at + i] * f[l]


@inline_kernel
def _apart(y, a, b, X, at):
    """Return p_b - p_a."""
    return minus(point(frame(y, b), vector(X, at + 3)), point(frame(y, a), vector(X, at)))


@inline_kernel
def distance(y, a, b, X, at):
    """Return the distance l."""
    d = _apart(y, a, b, X, at)
    return cmath.sqrt(dot(d, d))


@inline_kernel
def add_distance(y0, y1, a, b, X, at, w, out):
    """Add w times the discrete derivative of the distance; add nothing if both lengths are zero: it has no direction."""
    d0, d1 = _apart(y0, a, b, X, at), _apart(y1, a, b, X, at)
    mean = 0.5 * (cmath.sqrt(dot(d0, d0)) + cmath.sqrt(dot(d1, d1)))
    if mean == 0.0:
        return
    f = times(w / mean, average(d0, d1))
    add_force(out, b, X, at + 3, f)
    add_force(out, a, X, at, times(-1.0, f))


@inline_kernel
def distance_over_step(y0, y1, a, b, X, at):
    """Return the change of the distance from the poses y0 to y1, without the difference of two lengths."""
    d0, d1 = _apart(y0, a, b, X, at), _apart(y1, a, b, X, at)
    lengths = cmath.sqrt(dot(d0, d0)) + cmath.sqrt(dot(d1, d1))
    return 0.0 * lengths if lengths == 0.0 else dot(plus(d0, d1), minus(d1, d0)) / lengths


@inline_kernel
def strain(y, a, b, X, at):
    """Return the strain (l - L)/L."""
    return (distance(y, a, b, X, at) - X[at + 6]) / X[at + 6]


@inline_kernel
def add_strain(y0, y1, a, b, X, at, w, out):
    """Add w times the discrete derivative of the strain: that of the distance over L."""
    add_distance(y0, y1, a, b, X, at, w / X[at + 6], out)


@inline_kernel
def displacement(y, a, b, X, at):
    """Return the displacement u . d."""
    return dot(direction(frame(y, a), vector(X, at + 6)), _apart(y, a, b, X, at))


@inline_kernel
def add_displacement(y0, y1, a, b, X, at, w, out):
    """Add w times the discrete derivative of the displacement: u and d averaged."""
    U = vector(X, at + 6)
    u = times(w, average(direction(frame(y0, a), U), direction(frame(y1, a), U)))
    d = times(w, average(_apart(y0, a, b, X, at), _apart(y1, a, b, X, at)))
    add_force(out, b, X, at + 3, u)
    add_force(out, a, X, at, times(-1.0, u))
    add_on_direction(out, a, X, at + 6, d)


@inline_kernel
def displacement_over_step(y0, y1, a, b, X, at):
    """Return the change of the displacement from the poses y0 to y1."""
    U = vector(X, at + 6)
    u0, u1 = direction(frame(y0, a), U), direction(frame(y1, a), U)
    d0, d1 = _apart(y0, a, b, X, at), _apart(y1, a, b, X, at)
    return dot(average(u0, u1), minus(d1, d0)) + dot(minus(u1, u0), average(d0, d1))


@inline_kernel
def cosine(y, a, b, X, at):
    """Return the cosine u_a . u_b."""
    return dot(direction(frame(y, a), vector(X, at)), direction(frame(y, b), vector(X, at + 3)))


@inline_kernel
def add_cosine(y0, y1, a, b, X, at, w, out):
    """Add w times the discrete derivative of the cosine: the mean of each direction acts on the other."""
    Ua, Ub = vector(X, at), vector(X, at + 3)
    ua = average(direction(frame(y0, a), Ua), direction(frame(y1, a), Ua))
    ub = average(direction(frame(y0, b), Ub), direction(frame(y1, b), Ub))
    add_on_direction(out, a, X, at, times(w, ub))
    add_on_direction(out, b, X, at + 3, times(w, ua))


@inline_kernel
def _pair(y, a, b, X, at):
    """Return c, s, u_a, w_a, u_b: cosine and sine of the angle and the three directions."""
    A, B = frame(y, a), frame(y, b)
    u, w, v = direction(A, vector(X, at)), direction(A, vector(X, at + 3)), direction(B, vector(X, at + 6))
    return dot(u, v), dot(w, v), u, w, v


@inline_kernel
def angle(y, a, b, X, at):
    """Return the angle nearest to the middle."""
    pair = _pair(y, a, b, X, at)
    return angle_of(pair[0], pair[1], X[at + 9])


@inline_kernel
def angle_over_step(y0, y1, a, b, X, at):
    """Return the change of the angle from the poses y0 to y1, less than half a revolution."""
    return rotation_over_step(_pair(y0, a, b, X, at), _pair(y1, a, b, X, at))[0]


@inline_kernel
def add_angle(y0, y1, a, b, X, at, w, out):
    """Add w times the discrete derivative of the angle, computed as in `torsion_spring.spread`."""
    _, ratio, _, _, middle = rotation_over_step(_pair(y0, a, b, X, at), _pair(y1, a, b, X, at))
    c, s, u, v, beta = middle
    m = w * ratio
    add_on_direction(out, a, X, at, times(-m * s, beta))
    add_on_direction(out, a, X, at + 3, times(m * c, beta))
    add_on_direction(out, b, X, at + 6, plus(times(m * c, v), times(-m * s, u)))
