"""Sums of contact forces over stations and their partners, for potentials and for dissipation.

For each frame, `out` receives the force of the gradient of V, `out[k, 0]`, and a weight `out[k, 1, 0]`. The weight is the part
of the sum of all Q that acts on the frame, positive on the side of the stations, negative on that of their partner. `out[k, 3,
0]` is 1 if the frame has a contribution. A polyline is all its segments minus its inner vertices, which two of them share: a
contact there counts once. If a station passes the vertex b of the segment a b in a step, both are extended to half-lines: the
segment from a through b, and the vertex to all points behind b. Beyond b one cancels the other, so that no energy changes, and
on a straight line the second half-line is what the next segment adds. The contact sums, with signs, are

    Q, force        sum of the resistances, of the forces on the stations                                             (1)
    place           sum of Q c, c the point between the axes that divides their distance as the radii do
    power           sum of Q times what the gap has closed by: V1 - V0
"""

from rigid.compilation.decorators import inline_kernel
from rigid.compilation.real_functions import made_of
from rigid.interactions.contact.gaps import ENDLESS, RHO, is_beyond, of_plane, of_points, of_segment
from rigid.interactions.contact.normal_laws import PASSED, reach_of
from rigid.interactions.kinds import frame, vector, whole
from rigid.kinematics.poses import ZERO, direction, point
from rigid.linear_algebra import average, dot, minus, plus, real, times

NOTHING = (0j, ZERO, ZERO, 0j)
N, P = 5, 8  # offsets in X of the normal and of a point of a plane


@inline_kernel
def nothing(x):
    """Return zero contact sums, `NOTHING`, in the type of the components of a vector x."""
    zero = times(0.0, x)
    return zero[0], zero, zero, zero[0]


@inline_kernel
def is_differentiated(y0, y1, X, lam, arity):
    """Return True if any argument has an imaginary part (a complex step); otherwise real arithmetic is sufficient."""
    imaginary = abs(lam[0].imag)
    for i in range(X.shape[0]):
        imaginary += abs(X[i].imag)
    for k in range(arity):
        for i in range(4):
            for j in range(3):
                imaginary += abs(y0[k, i, j].imag) + abs(y1[k, i, j].imag)
    return imaginary != 0.0


@inline_kernel
def origin(y, k):
    """Return the position r of frame k."""
    return y[k, 0, 0], y[k, 0, 1], y[k, 0, 2]


@inline_kernel
def along(y, k, s):
    """Return (1 - s) r_k + s r_(k + 1), the point s of the chord from frame k to the next."""
    return plus(times(1.0 - s, origin(y, k)), times(s, origin(y, k + 1)))


@inline_kernel
def share_of(i, X, m):
    """Return the length that station i represents; m: offset in X of the number of stations, which the length follows."""
    length = X[m + 1] / whole(X[m])
    return 0.5 * length if i == 0 or i == whole(X[m]) else length


@inline_kernel
def add_at_frame(out, k, weight, Q, force):
    """Add a weighted force and Q to frame k, and mark the frame: a weight that is zero here may have a derivative."""
    for i in range(3):
        out[k, 0, i] += weight * force[i]
    out[k, 1, 0] += weight * Q
    out[k, 3, 0] = 1.0


@inline_kernel
def add_on_station(out, k, s, sums):
    """Add the forces and weights of a station s to the nodes k and k + 1; `sums`: contact sums (1). V decreases along the
    force.
    """
    add_at_frame(out, k, 1.0 - s, sums[0], times(-1.0, sums[1]))
    add_at_frame(out, k + 1, s, sums[0], times(-1.0, sums[1]))


@inline_kernel
def mark_failed(out):
    """Write NaN forces so that the step fails; on two frames, since one of them may be fixed."""
    out[0, 0, 0], out[1, 0, 0] = PASSED, PASSED


@inline_kernel
def has_failed(out):
    """Return True if `mark_failed` has marked the step."""
    return out[0, 0, 0].real != out[0, 0, 0].real


@inline_kernel
def add(one, other):
    """Return the sum of two tuples of contact sums."""
    return one[0] + other[0], plus(one[1], other[1]), plus(one[2], other[2]), one[3] + other[3]


@inline_kernel
def contact_contribution(weight, Q, force, closed, c):
    """Return the contribution of one contact to the contact sums: (Q, force, place, power), all times `weight`.

    `closed`: distance by which the gap has closed. c: contact point.
    """
    return weight * Q, times(weight, force), times(weight * Q, c), weight * Q * closed


@inline_kernel
def _is_far(x, a, b, reach, continues):
    """Return True if x is farther than `reach` from the segment a b; `continues`: True if it is a half-line beyond b."""
    x, a, b = real(x), real(a), real(b)
    e, w = minus(b, a), minus(x, a)
    t = max(dot(w, e) / dot(e, e), 0.0)
    d = minus(w, times(t if continues or t < 1.0 else 1.0, e))
    return dot(d, d) > reach * reach * (1.0 + 1e-9)


@inline_kernel
def passing(x0, x1, a0, b0, a1, b1, reach, shared):
    """Return whether a segment acts on a station, and whether the station passes the vertex b in the step.

    `shared`: True if the contribution of b is subtracted.
    """
    if _is_far(x0, a0, b0, reach, shared) and _is_far(x1, a1, b1, reach, shared):
        return False, False  # true for most stations, and evaluated in real arithmetic
    from_beyond, to_beyond = is_beyond(x0, a0, b0), is_beyond(x1, a1, b1)
    return not (shared and from_beyond and to_beyond), shared and from_beyond != to_beyond


@inline_kernel
def add_line_contacts(y0, y1, X, line, station, out):
    """Add the forces and weights of a polyline in contact with a station; return the contact sums, forces on the station.

    `line`: first frame, number of nodes, and True if the last node is subtracted, too. `station`: its position at both ends of
    the step, its weight, and the fraction of the distance to the segment that belongs to the station.
    """
    first, count, minus_last = line
    x0, x1, weight, fraction = station
    x, sums, reach = average(x0, x1), nothing(x0), X[RHO].real + reach_of(X)
    for j in range(first, first + count - 1):
        a0, b0, a1, b1 = origin(y0, j), origin(y0, j + 1), origin(y1, j), origin(y1, j + 1)
        shared = j < first + count - 2 or minus_last
        acts, passes = passing(x0, x1, a0, b0, a1, b1, reach, shared)
        if not acts:
            continue
        Q, force, closed, d, t = of_segment(X, x0, x1, a0, b0, a1, b1, 0.0, ENDLESS if passes else 1.0)
        if Q != 0.0:
            add_at_frame(out, j, weight * (1.0 - t), -Q, force)
            add_at_frame(out, j + 1, weight * t, -Q, force)
            sums = add(sums, contact_contribution(weight, Q, force, closed, minus(x, times(fraction, d))))
        if shared:
            t = made_of(1.0 + 0j, x0[0])
            if passes:
                Q, force, closed, d, t = of_segment(X, x0, x1, a0, b0, a1, b1, 1.0, ENDLESS)
            else:
                Q, force, closed, d = of_points(X, x0, x1, b0, b1)
            if Q != 0.0:
                add_at_frame(out, j, -weight * (1.0 - t), -Q, force)
                add_at_frame(out, j + 1, -weight * t, -Q, force)
                sums = add(
                    sums, contact_contribution(-weight, Q, force, closed, minus(x, times(fraction, d)))
                )
    return sums


@inline_kernel
def plane_of(y0, y1, X):
    """Return a point and the normal of the plane of frame 0, each at both ends of the step."""
    p, q = frame(y0, 0), frame(y1, 0)
    position, normal = vector(X, P), vector(X, N)
    return point(p, position), point(q, position), direction(p, normal), direction(q, normal)


@inline_kernel
def add_plane_contacts(X, plane, x0, x1, weight, out):
    """Add the force and weight of a plane in contact with a station; return the contact sums, forces on the station.

    `plane`: result of `plane_of`. On return `out[0, 2]` holds the dual of the normal.
    """
    P0, P1, N0, N1 = plane
    Q, closed, n, d = of_plane(X, x0, x1, P0, P1, N0, N1)
    if Q == 0.0:
        return nothing(x0)
    add_at_frame(out, 0, weight, -Q, times(Q, n))
    for i in range(3):
        out[0, 2, i] -= weight * Q * d[i]
    c = minus(average(x0, x1), times(dot(n, d) / dot(n, n), n))  # projected onto the plane
    return contact_contribution(weight, Q, times(Q, n), closed, c)
