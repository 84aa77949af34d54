"""Boxes against each other: sums over corners and over edges that cross.

*A corner against a box* is a point: `box_points`.

*An edge across an edge.* With U of the least distance of both and U_i, i = 1 .. 4, of the ends of the one from the other,

    V = U (1 - U_1/U)(1 - U_2/U)(1 - U_3/U)(1 - U_4/U)                                                                (2)

Where an end is next, or edges are parallel, V is 0: this is what the corners have already. A pair of which that holds at both
ends of a step is left out: the nearest points of edges that are nearly parallel run from end to end, and with them the places of
forces that add up to nothing. So what lies flat is held by the corners of the common part of both faces: by corners of the one,
of the other, and where edges cross. A corner and a crossing have a quarter of the stiffness each. A corner next to a corner would
count in both sums: U of their distance is taken off, so that two equal faces that are shifted against each other keep their
energy. Over a step

    V1 - V0 = sum c (U1 - U0),   c = mean of dV/dU + f (U1 - U0)                                                        (3)

over U and all U_i; the mean along the straight line between both ends by Gauss' rule with four points, f what it leaves of
V1 - V0 over the sum of (U1 - U0)^2. Where all changes are small against U that is less than rounding, and f = 0. V is
homogeneous: where U1 = 0 the line is a ray, and no slope depends on how far both are apart then. The forces of U and U_i are
those of `capsules` and `gaps`. A step at whose end cores overlap fails.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.box_points import box_of, in_reals, of_point, push, reach_between
from rigid.interactions.contact.capsules import crossed, distance_of, mean_place
from rigid.interactions.contact.gaps import RHO, of_points, of_segment, pushed, size_of
from rigid.interactions.contact.normal_laws import PASSED, potential
from rigid.interactions.contact.touching import NOTHING, add, piece, real
from rigid.interactions.kinds import Kind, add_dual, dual_function, no_bend, value_function, vector
from rigid.kinematics.boxes import CORNERS, EDGES, corner, ends_of_edge, extent, separation
from rigid.kinematics.poses import on_point
from rigid.kinematics.segments import between, nearest_places
from rigid.linear_algebra import average, cross, dot, minus, plus, times

A, B = 5, 11  # places of the centres of both boxes; half of the sides follow
GAUSS = 0.8611363115940526, 0.3399810435848563  # points of the rule, from -1 to 1, and their weights
WEIGHTS = 0.34785484513745385, 0.6521451548625461
NEAR = 0.01  # of U: changes for which the rule leaves (NEAR/2)^8 of V
ALONG = 1e-12  # square of the sine between edges: below it they are parallel
SHARE = 0.25  # of the stiffness, of a corner and of a crossing


@small_kernel
def _local(X, at, k):
    """A corner in the axes of its frame."""
    x = vector(X, at)
    return (
        x[0] + X[at + 3] * (1.0 - 2.0 * (k & 1)),
        x[1] + X[at + 4] * (1.0 - 2.0 * ((k >> 1) & 1)),
        x[2] + X[at + 5] * (1.0 - 2.0 * ((k >> 2) & 1)),
    )


# --- an edge across an edge


@small_kernel
def _edge(box, k):
    """Both ends."""
    first, last = ends_of_edge(k)
    return corner(box, first), corner(box, last)


@small_kernel
def _behind(edge, n, far, sign):
    """Whether, in real numbers, both ends are beyond a plane."""
    return sign * dot(n, real(edge[0])) > far and sign * dot(n, real(edge[1])) > far


@small_kernel
def _apart(one, other, reach):
    """Whether the law does not act between two edges, in real numbers."""
    a0, a1, b0, b1 = real(one[0]), real(one[1]), real(other[0]), real(other[1])
    s, t = nearest_places(a0, a1, b0, b1)
    d = between(a0, a1, b0, b1, s, t)
    return dot(d, d) > reach * reach


@small_kernel
def _crosses(one, other):
    """Whether, in real numbers, the nearest points of two edges that are not parallel are inside of both; else V is 0."""
    a0, a1, b0, b1 = real(one[0]), real(one[1]), real(other[0]), real(other[1])
    n = cross(minus(a1, a0), minus(b1, b0))
    sizes = dot(minus(a1, a0), minus(a1, a0)) * dot(minus(b1, b0), minus(b1, b0))
    s, t = nearest_places(a0, a1, b0, b1)
    return dot(n, n) > ALONG * sizes and 0.0 < s < 1.0 and 0.0 < t < 1.0


@small_kernel
def _crossing(one, other, D, X):
    """U and U_i of (2)."""
    U = potential(X, D - X[RHO])
    if U == 0.0:
        return 0j, 0j, 0j, 0j, 0j
    return (
        U,
        potential(X, distance_of(one[0], other) - X[RHO]),
        potential(X, distance_of(one[1], other) - X[RHO]),
        potential(X, distance_of(other[0], one) - X[RHO]),
        potential(X, distance_of(other[1], one) - X[RHO]),
    )


@small_kernel
def _energy_of(U):
    """V of (2)."""
    if U[0] == 0.0:
        return 0j
    return U[0] * (1.0 - U[1] / U[0]) * (1.0 - U[2] / U[0]) * (1.0 - U[3] / U[0]) * (1.0 - U[4] / U[0])


@small_kernel
def _slopes(U):
    """Derivatives of V to U and to all U_i."""
    r = U[1] / U[0], U[2] / U[0], U[3] / U[0], U[4] / U[0]
    a, b, c, d = 1.0 - r[0], 1.0 - r[1], 1.0 - r[2], 1.0 - r[3]
    k = b * c * d, a * c * d, a * b * d, a * b * c
    P = a * k[0]
    return P + k[0] * r[0] + k[1] * r[1] + k[2] * r[2] + k[3] * r[3], -k[0], -k[1], -k[2], -k[3]


@small_kernel
def _mean_slopes(U0, U1):
    """The slopes of (3)."""
    mean, size = (0j, 0j, 0j, 0j, 0j), 0.0
    for j in range(4):
        x = 0.5 + (0.5 if j % 2 == 0 else -0.5) * (GAUSS[0] if j < 2 else GAUSS[1])
        y = 1.0 - x
        c = _slopes(
            (
                y * U0[0] + x * U1[0],
                y * U0[1] + x * U1[1],
                y * U0[2] + x * U1[2],
                y * U0[3] + x * U1[3],
                y * U0[4] + x * U1[4],
            )
        )
        w = 0.5 * (WEIGHTS[0] if j < 2 else WEIGHTS[1])
        mean = (
            mean[0] + w * c[0],
            mean[1] + w * c[1],
            mean[2] + w * c[2],
            mean[3] + w * c[3],
            mean[4] + w * c[4],
        )
    left, square = _energy_of(U1) - _energy_of(U0), 0j
    for i in range(5):
        d = U1[i] - U0[i]
        left -= mean[i] * d
        square += d * d
        size += abs(d.real)
    if size < NEAR * (U0[0] + U1[0]).real:
        return mean
    f = left / square
    return (
        mean[0] + f * (U1[0] - U0[0]),
        mean[1] + f * (U1[1] - U0[1]),
        mean[2] + f * (U1[2] - U0[2]),
        mean[3] + f * (U1[3] - U0[3]),
        mean[4] + f * (U1[4] - U0[4]),
    )


@small_kernel
def _end(ends, i, lines, X, local, others, frames, weight, share, out):
    """Of an end of an edge against the other one, whose ends are `others` in their axes, on their boxes, the frames: its `piece`,
    the force on the end. ends, lines: both edges where the step starts and ends.
    """
    (ends0, ends1), (line0, line1), (X0, X1), (at, to) = ends, lines, others, frames
    Q, force, closed, d, t = of_segment(
        X, ends0[i], ends1[i], line0[0], line0[1], line1[0], line1[1], 0.0, 1.0
    )
    if Q == 0.0:
        return NOTHING
    add_dual(on_point(times(-weight, force), local), out, at)
    add_dual(on_point(times(weight, force), plus(times(1.0 - t, X0), times(t, X1))), out, to)
    return piece(weight, Q, force, closed, minus(average(ends0[i], ends1[i]), times(share, d)))


@small_kernel
def _opposite(own):
    """The `piece` of a part of the second box, of the first."""
    return own[0], times(-1.0, own[1]), own[2], own[3]


@small_kernel
def _cross(edges0, edges1, i, k, X, weight, share, out):
    """Of the edge i of the first box and k of the second: their sum of `touching`, forces on the first."""
    (one0, other0), (one1, other1) = edges0, edges1
    if not (_crosses(one0, other0) or _crosses(one1, other1)):
        return NOTHING
    start, end = crossed(one0, other0), crossed(one1, other1)
    D0, D1 = size_of(start[2]), size_of(end[2])
    U0, U1 = _crossing(one0, other0, D0, X), _crossing(one1, other1, D1, X)
    if U0[0] == 0.0 and U1[0] == 0.0:
        return NOTHING
    slopes = _mean_slopes(U0, U1)
    (a, b), (c, e) = ends_of_edge(i), ends_of_edge(k)
    Xa, Xb, Xc, Xe = _local(X, A, a), _local(X, A, b), _local(X, B, c), _local(X, B, e)
    s, t = mean_place(one0, other0, one1, other1, start, end)
    d = average(
        between(one0[0], one0[1], other0[0], other0[1], s, t),
        between(one1[0], one1[1], other1[0], other1[1], s, t),
    )
    Q, force, closed = pushed(X, d, D0, D1)
    w = weight * slopes[0]
    add_dual(on_point(times(-w, force), plus(times(1.0 - s, Xa), times(s, Xb))), out, 0)
    add_dual(on_point(times(w, force), plus(times(1.0 - t, Xc), times(t, Xe))), out, 1)
    x = average(
        plus(times(1.0 - s, one0[0]), times(s, one0[1])), plus(times(1.0 - s, one1[0]), times(s, one1[1]))
    )
    found, ones, others = (
        piece(w, Q, force, closed, minus(x, times(share, d))),
        (one0, one1),
        (other0, other1),
    )
    for j in range(2):
        w, local = weight * slopes[1 + j], Xa if j == 0 else Xb
        found = add(found, _end(ones, j, others, X, local, (Xc, Xe), (0, 1), w, share, out))
        w, local = weight * slopes[3 + j], Xc if j == 0 else Xe
        found = add(found, _opposite(_end(others, j, ones, X, local, (Xa, Xb), (1, 0), w, 1.0 - share, out)))
    return found


# --- two boxes


@small_kernel
def _limits(one, other, X):
    """In real numbers: gap and normal of `separation`, and beyond which places along it edges are too far away."""
    one, other = in_reals(one), in_reals(other)
    gap, n = separation(one, other)
    reach = reach_between(X)
    above = dot(n, other[0]) + extent(n, other) + reach
    below = dot(n, one[0]) - extent(n, one) - reach
    return gap, n, above, below


@value_function
def value_of_boxes(y, X, out):
    one, other = box_of(y, 0, X, A), box_of(y, 1, X, B)
    gap, n, above, below = _limits(one, other, X)
    out[0] = 0.0
    if gap > reach_between(X):
        return
    if gap <= 0.0:
        out[0] = PASSED
        return
    for k in range(CORNERS):
        x = corner(one, k)
        out[0] += SHARE * (of_point(x, other, X) + of_point(corner(other, k), one, X))
        for j in range(CORNERS):
            out[0] -= SHARE * potential(X, size_of(minus(x, corner(other, j))) - X[RHO])
    for i in range(EDGES):
        a = _edge(one, i)
        if _behind(a, n, above, 1.0):
            continue
        for k in range(EDGES):
            b = _edge(other, k)
            if not (_behind(b, n, -below, -1.0) or _apart(a, b, reach_between(X))) and _crosses(a, b):
                out[0] += SHARE * _energy_of(_crossing(a, b, size_of(crossed(a, b)[2]), X))


@small_kernel
def _meet(x0, x1, k, p0, p1, j, X, weight, share, out):
    """Of a corner of the first box and one of the second, on both: their `piece`."""
    d0, d1, far = real(minus(x0, p0)), real(minus(x1, p1)), reach_between(X)
    if dot(d0, d0) > far * far and dot(d1, d1) > far * far:
        return NOTHING
    Q, force, closed, d = of_points(X, x0, x1, p0, p1)
    if Q == 0.0:
        return NOTHING
    add_dual(on_point(times(-weight, force), _local(X, A, k)), out, 0)
    add_dual(on_point(times(weight, force), _local(X, B, j)), out, 1)
    return piece(weight, Q, force, closed, minus(average(x0, x1), times(share, d)))


@small_kernel
def _corners(k, ones, others, X, weight, share, out):
    """Of the corner k of each box against the other one, less that of the first against all corners of the second."""
    x0, x1 = corner(ones[0], k), corner(ones[1], k)
    found = push(x0, x1, others, B, 1, X, weight, share, out)
    add_dual(on_point(times(-1.0, found[1]), _local(X, A, k)), out, 0)
    for j in range(CORNERS):
        p0, p1 = corner(others[0], j), corner(others[1], j)
        found = add(found, _meet(x0, x1, k, p0, p1, j, X, -weight, share, out))
    own = push(corner(others[0], k), corner(others[1], k), ones, A, 0, X, weight, 1.0 - share, out)
    add_dual(on_point(times(-1.0, own[1]), _local(X, B, k)), out, 1)
    return add(found, _opposite(own))


@small_kernel
def box_on_box(y0, y1, X, weight, share, out):
    """Its sum of `touching`, forces on the first box; nothing but duals goes into `out`.

    share: of the distance from the first core to the second, where both touch.
    """
    one0, other0, one1, other1 = (
        box_of(y0, 0, X, A),
        box_of(y0, 1, X, B),
        box_of(y1, 0, X, A),
        box_of(y1, 1, X, B),
    )
    gap0, n0, above0, below0 = _limits(one0, other0, X)
    gap1, n1, above1, below1 = _limits(one1, other1, X)
    reach, found, weight = reach_between(X), NOTHING, SHARE * weight
    if gap0 > reach and gap1 > reach:
        return found
    if gap0 <= 0.0 or gap1 <= 0.0:
        out[0, 0, 0] = PASSED
        return found
    for k in range(CORNERS):
        found = add(found, _corners(k, (one0, one1), (other0, other1), X, weight, share, out))
    for i in range(EDGES):
        a0, a1 = _edge(one0, i), _edge(one1, i)
        if _behind(a0, n0, above0, 1.0) and _behind(a1, n1, above1, 1.0):
            continue
        for k in range(EDGES):
            b0, b1 = _edge(other0, k), _edge(other1, k)
            if _behind(b0, n0, -below0, -1.0) and _behind(b1, n1, -below1, -1.0):
                continue
            if not (_apart(a0, b0, reach) and _apart(a1, b1, reach)):
                found = add(found, _cross((a0, b0), (a1, b1), i, k, X, weight, share, out))
    return found


@dual_function
def dual_of_boxes(y0, y1, X, lam, out):
    out[:] = 0.0
    box_on_box(y0, y1, X, lam[0], 0.5, out)


BOXES = Kind("contact of boxes", 2, 0, value_of_boxes, dual_of_boxes, no_bend, one_sided=True)
