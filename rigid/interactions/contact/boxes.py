"""Contact of two boxes: sums over corners, and over pairs of edges that cross.

*A corner against a box* is a point against a box: `box_points`.

*An edge across an edge.* Let U be the potential of the least distance of both, and U_i, i = 1 .. 4, that of the distance of an
end of one edge from the other edge:

    V = U (1 - U_1/U)(1 - U_2/U)(1 - U_3/U)(1 - U_4/U)                                                                (2)

If an end is the nearest point, or if the edges are parallel, V is 0: that contact is already represented by the corners. A
pair for which this holds at both ends of a step is omitted: the nearest points of nearly parallel edges move from end to end,
and with them the points of application of forces whose sum is zero. So a box that lies flat is supported at the
corners of the common part of both faces: at corners of one box, at corners of the other, and where edges cross. A corner and a
crossing have a quarter of the stiffness each. A corner next to a corner would be counted in both sums: U of their distance is
subtracted, so that two equal faces that are shifted against each other keep their energy. Over a step

    V1 - V0 = sum c (U1 - U0),   c = mean of dV/dU + f (U1 - U0)                                                        (3)

summed over U and all U_i. The mean is taken along the straight line between both ends by Gauss' rule with four points; f is
the remainder of V1 - V0 divided by the sum of (U1 - U0)^2. If all changes are small compared with U, the remainder is below
round-off and f = 0. V is homogeneous: if U1 = 0 the line is a ray, and the slopes do not depend on how far apart both are
then. The forces of U and U_i are those of `capsules` and `gaps`. A step fails if the cores overlap at one of its ends.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_points import box_of, in_reals, of_point, push_from_box, reach_between
from rigid.interactions.contact.capsules import nearest_on_segments
from rigid.interactions.contact.contact_sums import NOTHING, add, contact_contribution, mark_failed
from rigid.interactions.contact.edge_crossings import (
    cross_edges,
    crossing_of,
    energy_of,
    has_inner_crossing,
    is_apart,
    is_behind,
    with_swapped_bodies,
)
from rigid.interactions.contact.gaps import RHO, of_points, size_of
from rigid.interactions.contact.normal_laws import PASSED, potential
from rigid.interactions.kinds import Kind, add_dual, dual_function, no_bend, value_function, vector
from rigid.kinematics.boxes import CORNERS, EDGES, corner, ends_of_edge, extent, separation
from rigid.kinematics.poses import on_point
from rigid.linear_algebra import average, dot, minus, real, times

A, B = 5, 11  # offsets in X of the centres of both boxes, each followed by half of the sides
SHARE = 0.25  # fraction of the stiffness that a corner and a crossing have


@inline_kernel
def _local(X, at, k):
    """Return corner k of a box in the axes of its frame; `at`: offset of the box in X."""
    x = vector(X, at)
    return (
        x[0] + X[at + 3] * (1.0 - 2.0 * (k & 1)),
        x[1] + X[at + 4] * (1.0 - 2.0 * ((k >> 1) & 1)),
        x[2] + X[at + 5] * (1.0 - 2.0 * ((k >> 2) & 1)),
    )


# --- an edge across an edge


@inline_kernel
def _edge(box, k):
    """Return both ends of edge k of a box."""
    first, last = ends_of_edge(k)
    return corner(box, first), corner(box, last)


@inline_kernel
def _local_ends(i, k, X):
    """Return both ends of edge i of the first box and of edge k of the second, each in its frame."""
    (a, b), (c, e) = ends_of_edge(i), ends_of_edge(k)
    return _local(X, A, a), _local(X, A, b), _local(X, B, c), _local(X, B, e)


# --- two boxes


@inline_kernel
def _limits(one, other, X):
    """Return the gap and normal n of `separation`, and the bounds along n beyond which edges are too far away; in real
    arithmetic.

    The upper bound applies to the first box, the lower one to the second.
    """
    one, other = in_reals(one), in_reals(other)
    gap, n = separation(one, other)
    reach = reach_between(X)
    above = dot(n, other[0]) + extent(n, other) + reach
    below = dot(n, one[0]) - extent(n, one) - reach
    return gap, n, above, below


@value_function
def value_of_boxes(y, X, out):
    """Compute the potential of two boxes."""
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
        if is_behind(a, n, above, 1.0):
            continue
        for k in range(EDGES):
            b = _edge(other, k)
            if not (is_behind(b, n, -below, -1.0) or is_apart(a, b, reach_between(X))) and has_inner_crossing(
                a, b
            ):
                out[0] += SHARE * energy_of(crossing_of(a, b, size_of(nearest_on_segments(a, b)[2]), X))


@inline_kernel
def _add_vertex_pair(x0, x1, k, p0, p1, j, X, weight, fraction, out):
    """Add the duals of a corner k of the first box and a corner j of the second; return their contact contribution."""
    d0, d1, far = real(minus(x0, p0)), real(minus(x1, p1)), reach_between(X)
    if dot(d0, d0) > far * far and dot(d1, d1) > far * far:
        return NOTHING
    Q, force, closed, d = of_points(X, x0, x1, p0, p1)
    if Q == 0.0:
        return NOTHING
    add_dual(on_point(times(-weight, force), _local(X, A, k)), out, 0)
    add_dual(on_point(times(weight, force), _local(X, B, j)), out, 1)
    return contact_contribution(weight, Q, force, closed, minus(average(x0, x1), times(fraction, d)))


@inline_kernel
def _add_corners(k, boxes_a, boxes_b, X, weight, fraction, out):
    """Add the duals of corner k of each box against the other box, minus corner k of the first against all corners of the
    second.

    Return the contact sums, forces on the first box.
    """
    x0, x1 = corner(boxes_a[0], k), corner(boxes_a[1], k)
    sums = push_from_box(x0, x1, boxes_b, B, 1, X, weight, fraction, out)
    add_dual(on_point(times(-1.0, sums[1]), _local(X, A, k)), out, 0)
    for j in range(CORNERS):
        p0, p1 = corner(boxes_b[0], j), corner(boxes_b[1], j)
        sums = add(sums, _add_vertex_pair(x0, x1, k, p0, p1, j, X, -weight, fraction, out))
    contribution = push_from_box(
        corner(boxes_b[0], k), corner(boxes_b[1], k), boxes_a, A, 0, X, weight, 1.0 - fraction, out
    )
    add_dual(on_point(times(-1.0, contribution[1]), _local(X, B, k)), out, 1)
    return add(sums, with_swapped_bodies(contribution))


@inline_kernel
def box_on_box(y0, y1, X, weight, fraction, out):
    """Add the duals of two boxes to `out`, and nothing else; return the contact sums, forces on the first box.

    `fraction`: fraction of the distance from the first core to the second at which both surfaces touch.
    """
    one0, other0, one1, other1 = (
        box_of(y0, 0, X, A),
        box_of(y0, 1, X, B),
        box_of(y1, 0, X, A),
        box_of(y1, 1, X, B),
    )
    gap0, n0, above0, below0 = _limits(one0, other0, X)
    gap1, n1, above1, below1 = _limits(one1, other1, X)
    reach, sums, weight = reach_between(X), NOTHING, SHARE * weight
    if gap0 > reach and gap1 > reach:
        return sums
    if gap0 <= 0.0 or gap1 <= 0.0:
        mark_failed(out)
        return sums
    for k in range(CORNERS):
        sums = add(sums, _add_corners(k, (one0, one1), (other0, other1), X, weight, fraction, out))
    for i in range(EDGES):
        a0, a1 = _edge(one0, i), _edge(one1, i)
        if is_behind(a0, n0, above0, 1.0) and is_behind(a1, n1, above1, 1.0):
            continue
        for k in range(EDGES):
            b0, b1 = _edge(other0, k), _edge(other1, k)
            if is_behind(b0, n0, -below0, -1.0) and is_behind(b1, n1, -below1, -1.0):
                continue
            if not (is_apart(a0, b0, reach) and is_apart(a1, b1, reach)):
                local_ends = _local_ends(i, k, X)
                sums = add(sums, cross_edges((a0, b0), (a1, b1), local_ends, X, weight, fraction, out))
    return sums


@dual_function
def dual_of_boxes(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of two boxes."""
    out[:] = 0.0
    box_on_box(y0, y1, X, lam[0], 0.5, out)


BOXES = Kind("contact of boxes", 2, 0, value_of_boxes, dual_of_boxes, no_bend, one_sided=True)
