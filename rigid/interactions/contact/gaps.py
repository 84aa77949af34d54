"""Discrete force of a gap over a step between a point and a point, a segment or a plane.

Its work is exact, and it is normal at a material point that is touched.

The distance D of a point x and a segment a + t e is the least over t. With t0, t1 its nearest points at both ends of a step,
change = t1 - t0, d(t) = x - a - t e, and c0 = e0 . d0(t0), c1 = e1 . d1(t1), which are 0 except at the ends of the segment,

    f(tau) = |d1(t)|^2 - |d0(t)|^2 - (D1^2 - D0^2),   t = t0 + tau change
    f(0) = change (change |e1|^2 + 2 c1) >= 0,   f(1) = -change (change |e0|^2 - 2 c0) <= 0                           (1)

and f is quadratic: with c = 2 f(1/2) - (f(0) + f(1))/2 = change (c0 + c1) and S = sqrt(c^2 - f(0) f(1)) its root in [0, 1] is

    tau = (c + S)/(-f(1) + c + S) if c >= 0, f(0)/(f(0) + S - c) else                                                 (2)

At this material point the squared distance has changed by D1^2 - D0^2. With dbar the mean of d0(t) and d1(t), the force Q 2
dbar/(D0 + D1), Q of `normal_laws`, therefore does the work V0 - V1. There is no cancellation, and the ends of the step may be
exchanged. Which point is nearest is decided in real arithmetic.

The gap of a plane, g = n . (x - p) - rho, is bilinear: the product rule gives its discrete derivative.
"""

import cmath
import math

from rigid.compilation.decorators import inline_kernel
from rigid.compilation.real_functions import made_of
from rigid.interactions.contact.normal_laws import resistance
from rigid.linear_algebra import average, dot, minus, square_root, times

RHO = 4  # offset in X of the sum of the radii, behind the parameters of the law
ENDLESS = 1e300  # upper end of a half-line


@inline_kernel
def root(z):
    """Return sqrt z, bit-identical to `cmath`, but faster if the imaginary part is that of a complex step."""
    if z.real > 0.0 and abs(z.imag) < 1e-20 * z.real:
        real_root = math.sqrt(z.real)
        return complex(real_root, 0.5 * z.imag / real_root)
    return cmath.sqrt(z)


@inline_kernel
def size_of(d):
    """Return |d|."""
    return square_root(dot(d, d))


@inline_kernel
def nearest(x, a, e, low, high):
    """Return t of the point of a + t e, low <= t <= high, nearest to x, d = x - a - t e, and e . d, which is 0 at an inner
    point.
    """
    w = minus(x, a)
    t = dot(w, e) / dot(e, e)
    inside = low < t.real < high
    if not inside:
        t = made_of((low if t.real <= low else high) + 0j, t)
    d = minus(w, times(t, e))
    return t, d, made_of(0j, t) if inside else dot(e, d)


@inline_kernel
def mean_contact_parameter(t0, t1, c0, c1, E0, E1):
    """Return the mean contact point t of (2), between t0 and t1; E0, E1: |e|^2 at both ends of the step."""
    change = t1 - t0
    if abs(change.real) < 1e-100:
        e0, e1 = square_root(E0), square_root(E1)
        return (e0 * t0 + e1 * t1) / (e0 + e1)
    sign = 1.0 if change.real > 0.0 else -1.0
    start, end = sign * (change * E1 + 2.0 * c1), sign * (change * E0 - 2.0 * c0)  # (1) divided by |change|
    c = sign * (c0 + c1)
    S = square_root(c * c + start * end)
    tau = (c + S) / (end + c + S) if c.real >= 0.0 else start / (start + S - c)
    return t0 + tau * change


@inline_kernel
def contact_force(X, d, D0, D1):
    """Return Q, the force Q 2 d/(D0 + D1), and D0 - D1, by which the gap has closed."""
    rho = X[RHO]
    Q = resistance(X, D0 - rho, D1 - rho)
    if Q == 0.0 or (D0 + D1).real == 0.0:  # coincident centres: the force has no direction
        return made_of(0j, D0), times(0.0, d), made_of(0j, D0)
    return Q, times(2.0 * Q / (D0 + D1), d), D0 - D1


@inline_kernel
def of_points(X, x0, x1, p0, p1):
    """Return, for two points x and p, Q, the force on x, the distance by which the gap has closed, and the mean of x - p."""
    d0, d1 = minus(x0, p0), minus(x1, p1)
    d = average(d0, d1)
    Q, force, closed = contact_force(X, d, size_of(d0), size_of(d1))
    return Q, force, closed, d


@inline_kernel
def is_beyond(x, a, b):
    """Return True if the point nearest to x on the line through a and b is b or lies beyond b."""
    return dot(minus(x, b), minus(b, a)).real >= 0.0


@inline_kernel
def of_segment(X, x0, x1, a0, b0, a1, b1, low, high):
    """Return, for a point x and a segment, Q, the force on x, the closed distance, the mean of x minus its contact point, and
    t.

    The segment is a + t (b - a) with low <= t <= high; t is its contact point.
    """
    e0, e1 = minus(b0, a0), minus(b1, a1)
    t0, d0, c0 = nearest(x0, a0, e0, low, high)
    t1, d1, c1 = nearest(x1, a1, e1, low, high)
    t = mean_contact_parameter(t0, t1, c0, c1, dot(e0, e0), dot(e1, e1))
    d = average(minus(minus(x0, a0), times(t, e0)), minus(minus(x1, a1), times(t, e1)))
    Q, force, closed = contact_force(X, d, size_of(d0), size_of(d1))
    return Q, force, closed, d, t


@inline_kernel
def of_plane(X, x0, x1, p0, p1, n0, n1):
    """Return, for a point x and a plane, Q, the distance by which the gap has closed, and the means of n and x - p."""
    d0, d1 = minus(x0, p0), minus(x1, p1)
    g0, g1 = dot(n0, d0) - X[RHO], dot(n1, d1) - X[RHO]
    return resistance(X, g0, g1), g0 - g1, average(n0, n1), average(d0, d1)
