"""The force of a gap over a step: a point against a point, a segment, a plane; exact, and normal at a point that is touched.

The distance D of a point x and a segment a + t e is the least over t. With t0, t1 its nearest points at both ends of a step,
change = t1 - t0, d(t) = x - a - t e, and c0 = e0 . d0(t0), c1 = e1 . d1(t1), which are 0 but at the ends of the segment,

    f(tau) = |d1(t)|^2 - |d0(t)|^2 - (D1^2 - D0^2),   t = t0 + tau change
    f(0) = change (change |e1|^2 + 2 c1) >= 0,   f(1) = -change (change |e0|^2 - 2 c0) <= 0                           (1)

and f is quadratic: with c = 2 f(1/2) - (f(0) + f(1))/2 = change (c0 + c1) and S = sqrt(c^2 - f(0) f(1)) its root in [0, 1] is

    tau = (c + S)/(-f(1) + c + S) if c >= 0, f(0)/(f(0) + S - c) else                                                 (2)

At this material point the square of the distance has changed by D1^2 - D0^2, so that with dbar the mean of d0(t) and d1(t) the
force Q 2 dbar/(D0 + D1), Q of `normal_laws`, does the work V0 - V1. Nothing is subtracted that is nearly the same, and the ends
of the step may be exchanged. What is nearest is found in real numbers.

Of a plane the gap g = n . (x - p) - rho is bilinear: the product rule.
"""

import cmath
import math

from rigid.compilation.decorators import small_kernel
from rigid.compilation.real_functions import made_of
from rigid.interactions.contact.normal_laws import resistance
from rigid.linear_algebra import average, dot, minus, square_root, times

RHO = 4  # place of the sum of the radii, behind the law
ENDLESS = 1e300  # end of a segment that goes on for ever


@small_kernel
def root(z):
    """sqrt z to the bits of `cmath`; quicker where the imaginary part is that of a complex step."""
    if z.real > 0.0 and abs(z.imag) < 1e-20 * z.real:
        found = math.sqrt(z.real)
        return complex(found, 0.5 * z.imag / found)
    return cmath.sqrt(z)


@small_kernel
def size_of(d):
    """|d|."""
    return square_root(dot(d, d))


@small_kernel
def nearest(x, a, e, low, high):
    """t of the point of a + t e, low <= t <= high, next to x, d = x - a - t e there, and e . d, which is 0 between them."""
    w = minus(x, a)
    t = dot(w, e) / dot(e, e)
    inside = low < t.real < high
    if not inside:
        t = made_of((low if t.real <= low else high) + 0j, t)
    d = minus(w, times(t, e))
    return t, d, made_of(0j, t) if inside else dot(e, d)


@small_kernel
def touched(t0, t1, c0, c1, E0, E1):
    """Between t0 and t1: (2), with E = |e|^2."""
    change = t1 - t0
    if abs(change.real) < 1e-100:
        e0, e1 = square_root(E0), square_root(E1)
        return (e0 * t0 + e1 * t1) / (e0 + e1)
    sign = 1.0 if change.real > 0.0 else -1.0
    start, end = sign * (change * E1 + 2.0 * c1), sign * (change * E0 - 2.0 * c0)  # (1) over |change|
    c = sign * (c0 + c1)
    S = square_root(c * c + start * end)
    tau = (c + S) / (end + c + S) if c.real >= 0.0 else start / (start + S - c)
    return t0 + tau * change


@small_kernel
def pushed(X, d, D0, D1):
    """Q, the force Q 2 d/(D0 + D1), and what the gap has closed by."""
    rho = X[RHO]
    Q = resistance(X, D0 - rho, D1 - rho)
    if Q == 0.0 or (D0 + D1).real == 0.0:  # centres in one point: pushed nowhere
        return made_of(0j, D0), times(0.0, d), made_of(0j, D0)
    return Q, times(2.0 * Q / (D0 + D1), d), D0 - D1


@small_kernel
def of_points(X, x0, x1, p0, p1):
    """Of a point x and a point p: Q, the force on x, what the gap has closed by, and x - p averaged."""
    d0, d1 = minus(x0, p0), minus(x1, p1)
    d = average(d0, d1)
    Q, force, closed = pushed(X, d, size_of(d0), size_of(d1))
    return Q, force, closed, d


@small_kernel
def is_beyond(x, a, b):
    """Whether the point next to x on the line through a and b is b or lies behind it."""
    return dot(minus(x, b), minus(b, a)).real >= 0.0


@small_kernel
def of_segment(X, x0, x1, a0, b0, a1, b1, low, high):
    """Of a point x and a + t (b - a), low <= t <= high: the same, x less the point of the segment, and where t that is."""
    e0, e1 = minus(b0, a0), minus(b1, a1)
    t0, d0, c0 = nearest(x0, a0, e0, low, high)
    t1, d1, c1 = nearest(x1, a1, e1, low, high)
    t = touched(t0, t1, c0, c1, dot(e0, e0), dot(e1, e1))
    d = average(minus(minus(x0, a0), times(t, e0)), minus(minus(x1, a1), times(t, e1)))
    Q, force, closed = pushed(X, d, size_of(d0), size_of(d1))
    return Q, force, closed, d, t


@small_kernel
def of_plane(X, x0, x1, p0, p1, n0, n1):
    """Of a point x and the plane through p with the normal n: Q, what the gap has closed by, n and x - p averaged."""
    d0, d1 = minus(x0, p0), minus(x1, p1)
    g0, g1 = dot(n0, d0) - X[RHO], dot(n1, d1) - X[RHO]
    return resistance(X, g0, g1), g0 - g1, average(n0, n1), average(d0, d1)
