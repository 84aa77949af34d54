"""Contact of capsules with spheres, elements of rods and each other.

A capsule is a rounded segment whose ends are points of one frame.

A point has one nearest point on a segment, as in `gaps`; an element of a rod is represented by its stations. Two capsules that
cross touch at one point, but two that are parallel touch along a line. Let D be the least distance of both segments, D_i that
of an end i of one from the other, and x the cosine of the angle between them:

    V = w U(D) + (1 - w) sum U(D_i)/2,    w = (1 + kappa) y/(y + kappa),    y = 1 - x^2 (0 below 1e-10)             (1)

U is the contact law. Parallel capsules touch at the ends of their common part; end to end they are two spheres; and no force
jumps while the nearest points wander, which move as the inverse of the angle. An interaction has half of the first term and
the ends of its first capsule; a second interaction has both capsules exchanged.

For D, the nearest points s0, t0 and s1, t1 at both ends of a step are joined by a straight line. Along it, with the vectors
d0, d1 between them and u = ds e_a - dt e_b,

    f(tau) = |d1(tau)|^2 - |d0(tau)|^2 - (D1^2 - D0^2),    f(0) = |u1|^2 - 2 d1 . u1 >= 0,    -f(1) = |u0|^2 + 2 d0 . u0 >= 0

and the force acts at its root, as in `gaps` (2) with c = -(d0 . u0 + d1 . u1). The work of (1) follows from the product rule,
where w1 - w0 depends on the scalar product of both segments alone: energy is exact, momenta are conserved.
"""

import cmath

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.contact_sums import (
    NOTHING,
    add,
    add_on_station,
    along,
    contact_contribution,
    origin,
    share_of,
)
from rigid.interactions.contact.gaps import RHO, contact_force, nearest, of_segment, size_of
from rigid.interactions.contact.normal_laws import potential, reach_of
from rigid.interactions.contact.planes import store_on_node
from rigid.interactions.kinds import (
    Kind,
    add_dual,
    dual_function,
    frame,
    no_bend,
    value_function,
    vector,
    whole,
)
from rigid.kinematics.poses import on_direction, on_point, point
from rigid.kinematics.segments import between, nearest_parameters
from rigid.linear_algebra import average, dot, minus, plus, real, times

# kappa and least y of (1): some 6 degrees; below 1e-5 rad the nearest points have no digits
KAPPA, PARALLEL = 0.01, 1e-10
CENTRE = 5  # offset in X of the centre of a sphere
STATIONS = 5  # offset in X of the number of stations of an element, followed by its length


@inline_kernel
def _ends(y, k, X, at):
    """Return both ends of the capsule of frame k in space; `at`: offset of its ends in X."""
    return point(frame(y, k), vector(X, at)), point(frame(y, k), vector(X, at + 3))


@inline_kernel
def _middle(X, at, t):
    """Return the material point at parameter t of a capsule's axis, in its frame."""
    return plus(times(1.0 - t, vector(X, at)), times(t, vector(X, at + 3)))


@inline_kernel
def distance_of(x, segment):
    """Return the distance of a point x from a segment."""
    a, b = segment
    return size_of(nearest(x, a, minus(b, a), 0.0, 1.0)[1])


@inline_kernel
def _far(X, one, other):
    """Return True if two segments are beyond the reach of the contact law; evaluated in real arithmetic."""
    a0, a1, b0, b1 = real(one[0]), real(one[1]), real(other[0]), real(other[1])
    s, t = nearest_parameters(a0, a1, b0, b1)
    d, reach = between(a0, a1, b0, b1, s, t), X[RHO].real + reach_of(X)
    return dot(d, d) > reach * reach * (1.0 + 1e-9)


@inline_kernel
def push_from_line(x0, x1, X, weight, line0, line1, of, fraction, out):
    """Add the dual of a capsule in contact with a point; return the contact contribution, the force on the point.

    x0, x1: the point at both ends of the step. line0, line1: ends of the axis at both ends of the step. `of`: offset of the
    ends of the axis in X, and the capsule's frame. `fraction`: fraction of the distance from the point to the axis at which both
    surfaces touch, measured from the point.
    """
    at, k = of
    Q, force, closed, d, t = of_segment(X, x0, x1, line0[0], line0[1], line1[0], line1[1], 0.0, 1.0)
    if Q != 0.0:
        add_dual(on_point(times(weight, force), _middle(X, at, t)), out, k)
    return contact_contribution(weight, Q, force, closed, minus(average(x0, x1), times(fraction, d)))


# --- a sphere


@value_function
def value_of_sphere_and_capsule(y, X, out):
    """Compute the potential of a sphere and a capsule."""
    x = point(frame(y, 0), vector(X, CENTRE))
    out[0] = potential(X, distance_of(x, _ends(y, 1, X, CENTRE + 3)) - X[RHO])


@dual_function
def dual_of_sphere_and_capsule(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a sphere and a capsule."""
    out[:] = 0.0
    at, X0 = CENTRE + 3, vector(X, CENTRE)
    x0, x1 = point(frame(y0, 0), X0), point(frame(y1, 0), X0)
    lines = _ends(y0, 1, X, at), _ends(y1, 1, X, at)
    force = push_from_line(x0, x1, X, lam[0], lines[0], lines[1], (at, 1), 1.0, out)[1]
    add_dual(on_point(times(-1.0, force), X0), out, 0)


# --- an element of a rod, frames 1 and 2


@value_function
def value_of_capsule_and_rod(y, X, out):
    """Compute the potential of a capsule and an element of a rod."""
    m, out[0], line = whole(X[STATIONS]), 0.0, _ends(y, 0, X, STATIONS + 2)
    for i in range(m + 1):
        V = potential(X, distance_of(along(y, 1, i / m), line) - X[RHO])
        out[0] += share_of(i, X, STATIONS) * V


@dual_function
def dual_of_capsule_and_rod(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a capsule and an element of a rod."""
    out[:] = 0.0
    at, m = STATIONS + 2, whole(X[STATIONS])
    line0, line1 = _ends(y0, 0, X, at), _ends(y1, 0, X, at)
    if _far(X, line0, (origin(y0, 1), origin(y0, 2))) and _far(X, line1, (origin(y1, 1), origin(y1, 2))):
        return
    for i in range(m + 1):
        s, weight = i / m, lam[0] * share_of(i, X, STATIONS)
        x0, x1 = along(y0, 1, s), along(y1, 1, s)
        add_on_station(out, 1, s, push_from_line(x0, x1, X, weight, line0, line1, (at, 0), 1.0, out))
    for k in range(1, 3):
        store_on_node(out, k)


# --- another capsule


A, B = 5, 11  # offsets in X of the ends of both capsules


@inline_kernel
def _cosine(one, other, X):
    """Return x of (1), and the product of the lengths of both axes."""
    U, W = minus(vector(X, A + 3), vector(X, A)), minus(vector(X, B + 3), vector(X, B))
    size = size_of(U) * size_of(W)
    return dot(minus(one[1], one[0]), minus(other[1], other[0])) / size, size


@inline_kernel
def _lean(x):
    """Return y of (1) from the cosine x."""
    y = 1.0 - x * x + 0j
    return y - PARALLEL if y.real > PARALLEL else 0j


@inline_kernel
def _crossing(y):
    """Return w of (1) from y."""
    return (1.0 + KAPPA) * y / (y + KAPPA)


@inline_kernel
def _crossing_slope(x0, x1):
    """Return (w1 - w0)/(x1 - x0)."""
    y0, y1 = _lean(x0), _lean(x1)
    if y0 == 0.0 and y1 == 0.0:
        return 0j
    rise = -(x0 + x1) if y0 != 0.0 and y1 != 0.0 else (y1 - y0) / (x1 - x0)
    return (1.0 + KAPPA) * KAPPA * rise / ((y0 + KAPPA) * (y1 + KAPPA))


@inline_kernel
def nearest_on_segments(one, other):
    """Return s, t of the nearest points of two segments, d between them, and d . e_a, -d . e_b, which vanish except at ends.

    Whether a nearest point is an end or an inner point is decided in real arithmetic.
    """
    e, f, w = minus(one[1], one[0]), minus(other[1], other[0]), minus(one[0], other[0])
    u, v = nearest_parameters(real(one[0]), real(one[1]), real(other[0]), real(other[1]))
    free_s, free_t = 0.0 < u < 1.0, 0.0 < v < 1.0
    ee, ff, ef, we, wf = dot(e, e), dot(f, f), dot(e, f), dot(w, e), dot(w, f)
    s, t = u + 0j, v + 0j
    if free_s and free_t:
        det = ee * ff - ef * ef
        if det.real > 1e-12 * ee.real * ff.real:  # otherwise they are parallel, and every s is admissible
            s = (ef * wf - we * ff) / det
        t = (ef * s + wf) / ff
    elif free_s:
        s = (ef * t - we) / ee
    elif free_t:
        t = (ef * s + wf) / ff
    d = plus(w, minus(times(s, e), times(t, f)))
    return s, t, d, 0j if free_s else dot(d, e), 0j if free_t else -dot(d, f)


@inline_kernel
def mean_parameters(one0, other0, one1, other1, start, end):
    """Return s and t at the root of f, the mean contact point of the step; `start`, `end`: `nearest_on_segments` at both ends
    of it.
    """
    ds, dt = end[0] - start[0], end[1] - start[1]
    if max(abs(ds.real), abs(dt.real)) < 1e-70:
        return start[0] + 0.5 * ds, start[1] + 0.5 * dt
    u0 = minus(times(ds, minus(one0[1], one0[0])), times(dt, minus(other0[1], other0[0])))
    u1 = minus(times(ds, minus(one1[1], one1[0])), times(dt, minus(other1[1], other1[0])))
    p0, p1 = ds * start[3] + dt * start[4], ds * end[3] + dt * end[4]
    first, last, c = dot(u1, u1) - 2.0 * p1, dot(u0, u0) + 2.0 * p0, -p0 - p1
    S = cmath.sqrt(c * c + first * last)
    above, below = (c + S, last + c + S) if c.real >= 0.0 else (first, first + S - c)
    tau = above / below if below != 0.0 else 0.5 + 0j
    return start[0] + tau * ds, start[1] + tau * dt


@inline_kernel
def _of_ends(X, one, other):
    """Return half of the sum of the potentials of both ends of the first segment against the second."""
    V = potential(X, distance_of(one[0], other) - X[RHO]) + potential(X, distance_of(one[1], other) - X[RHO])
    return 0.5 * V


@value_function
def value_of_capsules(y, X, out):
    """Compute the potential of two capsules, half of w U(D) and the ends of the first one, see (1)."""
    one, other = _ends(y, 0, X, A), _ends(y, 1, X, B)
    w = _crossing(_lean(_cosine(one, other, X)[0]))
    out[0] = (1.0 - w) * _of_ends(X, one, other)
    if w != 0.0:
        out[0] += 0.5 * w * potential(X, size_of(nearest_on_segments(one, other)[2]) - X[RHO])


@inline_kernel
def _add_crossing(starts, ends, w, X, weight, fraction, out):
    """Add the duals of U(D), weighted by w; return the contact contribution and the distances of the axes at both ends."""
    (one0, other0), (one1, other1) = starts, ends
    start, end = nearest_on_segments(one0, other0), nearest_on_segments(one1, other1)
    s, t = mean_parameters(one0, other0, one1, other1, start, end)
    D0, D1 = size_of(start[2]), size_of(end[2])
    d = average(
        between(one0[0], one0[1], other0[0], other0[1], s, t),
        between(one1[0], one1[1], other1[0], other1[1], s, t),
    )
    Q, force, closed = contact_force(X, d, D0, D1)
    weight = 0.5 * weight * w
    add_dual(on_point(times(-weight, force), _middle(X, A, s)), out, 0)
    add_dual(on_point(times(weight, force), _middle(X, B, t)), out, 1)
    x = average(
        plus(times(1.0 - s, one0[0]), times(s, one0[1])), plus(times(1.0 - s, one1[0]), times(s, one1[1]))
    )
    return contact_contribution(weight, Q, force, closed, minus(x, times(fraction, d))), D0, D1


@inline_kernel
def capsule_on_capsule(y0, y1, X, weight, fraction, out):
    """Add the duals of two capsules to `out`, and nothing else; return the contact sums, forces on the first
    one.

    `fraction`: fraction of the distance of both axes at which both surfaces touch, measured from the first axis.
    """
    one0, other0, one1, other1 = (
        _ends(y0, 0, X, A),
        _ends(y0, 1, X, B),
        _ends(y1, 0, X, A),
        _ends(y1, 1, X, B),
    )
    sums = NOTHING
    if _far(X, one0, other0) and _far(X, one1, other1):
        return sums
    (x0, size), (x1, _) = _cosine(one0, other0, X), _cosine(one1, other1, X)
    w = 0.5 * (_crossing(_lean(x0)) + _crossing(_lean(x1)))
    for i in range(2):
        contribution = push_from_line(
            one0[i], one1[i], X, 0.5 * weight * (1.0 - w), other0, other1, (B, 1), fraction, out
        )
        add_dual(on_point(times(-1.0, contribution[1]), vector(X, A + 3 * i)), out, 0)
        sums = add(sums, contribution)
    if w == 0.0:
        return sums
    contribution, D0, D1 = _add_crossing((one0, other0), (one1, other1), w, X, weight, fraction, out)
    sums = add(sums, contribution)
    crossing = 0.25 * (potential(X, D0 - X[RHO]) + potential(X, D1 - X[RHO]))
    ends = 0.5 * (_of_ends(X, one0, other0) + _of_ends(X, one1, other1))
    torque = weight * (crossing - ends) * _crossing_slope(x0, x1)
    e, f = minus(one0[1], one0[0]), minus(other0[1], other0[0])
    e, f = average(e, minus(one1[1], one1[0])), average(f, minus(other1[1], other1[0]))
    add_dual(on_direction(times(torque / size, f), minus(vector(X, A + 3), vector(X, A))), out, 0)
    add_dual(on_direction(times(torque / size, e), minus(vector(X, B + 3), vector(X, B))), out, 1)
    return sums[0], sums[1], sums[2], sums[3] + torque * (x1 - x0)


@dual_function
def dual_of_capsules(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of two capsules."""
    out[:] = 0.0
    capsule_on_capsule(y0, y1, X, lam[0], 0.5, out)


SPHERE_CAPSULE = Kind(
    "contact of a sphere and a capsule", 2, 0, value_of_sphere_and_capsule, dual_of_sphere_and_capsule, no_bend,
    one_sided=True,
)  # fmt: skip
CAPSULE_ROD = Kind(
    "contact of a capsule and a rod", 3, 0, value_of_capsule_and_rod, dual_of_capsule_and_rod, no_bend,
    one_sided=True, turning=1,
)  # fmt: skip
CAPSULES = Kind("contact of capsules", 2, 0, value_of_capsules, dual_of_capsules, no_bend, one_sided=True)
