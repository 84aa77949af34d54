"""Orientation of the facets of a body of revolution in contact with a hull.

It depends on the axis of the body in the axes of the hull, not on the body's own rotation about that axis.

The body is the hull of N points on each of its rims, N a multiple of four. A body that rolls or spins on the hull keeps its
axis a there, so that its facets stay where they are and cause no ripple. They lie in a field of crosses on the sphere of all
a. With b1, b2 two directions across a, and x_k + i y_k their components along axis k of the hull,

    c = sum over k of (x_k + i y_k)^4,   psi = arg(c)/4,   t1 + i t2 = exp(-i psi) (b1 + i b2)                         (1)

does not depend on b1 and b2. Each axis of the hull that is across a points to a point of the rims: a body that lies on the
face of a box touches it with points of its rims, however it is rotated there. (1) is undefined along the eight diagonals of
the axes.

    b1 = e - q (s + a),   q = e . a/(1 + s . a)                                                                       (2)

are directions e across s, rotated with s into a; s is the axis of the hull, in either direction, that is nearest to a.
"""

import cmath
import math

from rigid.compilation.decorators import inline_kernel
from rigid.linear_algebra import average, dot, minus, plus, times

NEAR = 3e-5  # change of a below which the slopes in the middle of a step are exact to round-off
QUARTER = 0.5 * math.pi


@inline_kernel
def next_axis(a):
    """Return the number and the sign of the axis nearest to a direction a; in real arithmetic."""
    x, y, z = abs(a[0].real), abs(a[1].real), abs(a[2].real)
    m = 2
    if x >= y and x >= z:
        m = 0
    elif y >= z:
        m = 1
    return m, 1.0 if a[m].real >= 0.0 else -1.0


@inline_kernel
def _along(m, size):
    """Return a vector of the given size along axis m."""
    k = m % 3
    return (size if k == 0 else 0.0) + 0j, (size if k == 1 else 0.0) + 0j, (size if k == 2 else 0.0) + 0j


@inline_kernel
def _across(a, axis):
    """Return b1 and b2 of (2), their q, s + a, and 1 + s . a."""
    m, sign = axis
    s, e, f = _along(m, sign), _along(m + 1, 1.0), _along(m + 2, sign)
    denominator = 1.0 + dot(s, a)
    q, u, both = dot(e, a) / denominator, dot(f, a) / denominator, plus(s, a)
    return minus(e, times(q, both)), minus(f, times(u, both)), q, u, both, denominator


@inline_kernel
def _cross(b1, b2):
    """Return the real and the imaginary part of c of (1)."""
    c, s = 0j, 0j
    for k in range(3):
        x, y = b1[k] * b1[k] - b2[k] * b2[k], 2.0 * b1[k] * b2[k]
        c += x * x - y * y
        s += 2.0 * x * y
    return c, s


@inline_kernel
def _angle(c, s, near):
    """Return psi; of all values that differ by multiples of a right angle, the one nearest to `near`."""
    size = c.real * c.real + s.real * s.real
    dpsi = (c.real * s.imag - s.real * c.imag) / size if size > 0.0 else 0.0
    psi = 0.25 * math.atan2(s.real, c.real)
    return psi + QUARTER * math.floor((near - psi) / QUARTER + 0.5) + 0.25j * dpsi


@inline_kernel
def facet_axes(a, axis, near):
    """Return t1, t2 and psi of (1)."""
    b1, b2, _, _, _, _ = _across(a, axis)
    c, s = _cross(b1, b2)
    psi = _angle(c, s, near)
    x, y = cmath.cos(psi), cmath.sin(psi)
    return plus(times(x, b1), times(y, b2)), minus(times(x, b2), times(y, b1)), psi


@inline_kernel
def _slope(a, axis, near, k):
    """Return the derivatives of t1 and t2 with respect to a_k."""
    b1, b2, q, u, both, denominator = _across(a, axis)
    m, sign = axis
    c, s = _cross(b1, b2)
    psi = _angle(c, s, near)
    x, y = cmath.cos(psi), cmath.sin(psi)
    along, towards = _along(k, 1.0), _along(m, sign)[k]
    dq = (_along(m + 1, 1.0)[k] - q * towards) / denominator
    du = (_along(m + 2, sign)[k] - u * towards) / denominator
    d1, d2 = (
        times(-1.0, plus(times(dq, both), times(q, along))),
        times(-1.0, plus(times(du, both), times(u, along))),
    )
    dc, ds = 0j, 0j
    for j in range(3):
        re = 4.0 * b1[j] * (b1[j] * b1[j] - 3.0 * b2[j] * b2[j])
        im = 4.0 * b2[j] * (3.0 * b1[j] * b1[j] - b2[j] * b2[j])
        dc += re * d1[j] - im * d2[j]
        ds += im * d1[j] + re * d2[j]
    size = c * c + s * s
    dpsi = 0.25 * (c * ds - s * dc) / size if size.real > 0.0 else 0j
    t1, t2 = plus(times(x, b1), times(y, b2)), minus(times(x, b2), times(y, b1))
    first = plus(plus(times(x, d1), times(y, d2)), times(dpsi, t2))
    return first, minus(minus(times(x, d2), times(y, d1)), times(dpsi, t1))


@inline_kernel
def _missing_part(slopes, change, moved):
    """Return the part of the change `moved` that the slopes along `change` do not give."""
    return minus(
        moved,
        plus(times(change[0], slopes[0]), plus(times(change[1], slopes[1]), times(change[2], slopes[2]))),
    )


@inline_kernel
def _completed(slopes, change, left, square):
    """Return slopes corrected along `change` so that they give the remainder `left` too."""
    return (
        plus(slopes[0], times(change[0] / square, left)),
        plus(slopes[1], times(change[1] / square, left)),
        plus(slopes[2], times(change[2] / square, left)),
    )


@inline_kernel
def mean_slopes(a0, a1, axis, one, other):
    """Return the discrete derivatives of t1 and t2 with respect to a over a step; exact along the step (Gonzalez' gradient).

    `one`, `other`: results of `facet_axes` at both ends of the step.
    """
    a, near, change = average(a0, a1), 0.5 * (one[2] + other[2]).real, minus(a1, a0)
    p, q, r = _slope(a, axis, near, 0), _slope(a, axis, near, 1), _slope(a, axis, near, 2)
    of_first, of_second = (p[0], q[0], r[0]), (p[1], q[1], r[1])
    square = dot(change, change)
    if square.real < NEAR * NEAR:
        return of_first, of_second
    left = _missing_part(of_first, change, minus(other[0], one[0]))
    of_first = _completed(of_first, change, left, square)
    left = _missing_part(of_second, change, minus(other[1], one[1]))
    return of_first, _completed(of_second, change, left, square)
