"""Boxes against spheres and each other: sums over corners and over edges that cross.

A box here is a core, all that is no further from it than a radius, which rounds it, touches: forces act while cores are apart.

*A point against a box*, a sphere's centre or a corner of another. With u_i = d_i . (x - c) its coordinates along the axes of the
core, a_i half of its sides and e_i = u_i -+ a_i by how much they are beyond it, or 0,

    D^2 = sum e_i^2,   D1^2 - D0^2 = sum (e_i0 + e_i1)(e_i1 - e_i0)/(u_i1 - u_i0) (u_i1 - u_i0)                        (1)

The quotient is 1 outside, 0 inside, so that nothing jumps where another face, edge or corner is next; u_i is bilinear in the
poses: by the product rule the work is exact.

*An edge across an edge.* With U of the least distance of both and U_i, i = 1 .. 4, of the ends of the one from the other,

    V = U (1 - U_1/U)(1 - U_2/U)(1 - U_3/U)(1 - U_4/U)                                                                (2)

Where an end is next, or edges are parallel, V is 0: this is what the corners have already. So what lies flat is held by the
corners of the common part of both faces: by corners of the one, of the other, and where edges cross. A corner and a crossing
have a quarter of the stiffness each. A corner next to a corner would count in both sums: U of their distance is taken off,
so that two equal faces that are shifted against each other keep their energy. Over a step

    V1 - V0 = sum c (U1 - U0),   c = mean of dV/dU + f (U1 - U0)                                                        (3)

over U and all U_i; the mean along the straight line between both ends by Gauss' rule with four points, f what it leaves of
V1 - V0 over the sum of (U1 - U0)^2. Where all changes are small against U that is less than rounding, and f = 0. V is
homogeneous: where U1 = 0 the line is a ray, and no slope depends on how far both are apart then. The forces of U and U_i are
those of `capsules` and `gaps`.

A step at whose end cores overlap fails.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.capsules import crossed, distance_of, mean_place
from rigid.interactions.contact.gaps import RHO, of_points, of_segment, pushed, size_of
from rigid.interactions.contact.normal_laws import PASSED, potential, reach_of
from rigid.interactions.contact.touching import NOTHING, add, piece, real
from rigid.interactions.kinds import Kind, add_dual, dual_function, frame, no_bend, value_function, vector
from rigid.kinematics.boxes import (
    CORNERS,
    EDGES,
    corner,
    depth_of_point,
    distance_of_point,
    ends_of_edge,
    excess,
    extent,
    separation,
)
from rigid.kinematics.poses import ZERO, on_point, point
from rigid.kinematics.segments import between, nearest_places
from rigid.linear_algebra import average, dot, minus, plus, times

A, B = 5, 11  # places of the centres of both boxes; half of the sides follow
CENTRE, CORE = 5, 8  # of a sphere and its box
GAUSS = 0.8611363115940526, 0.3399810435848563  # points of the rule, from -1 to 1, and their weights
WEIGHTS = 0.34785484513745385, 0.6521451548625461
NEAR = 0.01  # of U: changes for which the rule leaves (NEAR/2)^8 of V
SHARE = 0.25  # of the stiffness, of a corner and of a crossing


@small_kernel
def _box(y, k, X, at):
    """The core of frame k."""
    pose = frame(y, k)
    return point(pose, vector(X, at)), (pose[1], pose[2], pose[3]), vector(X, at + 3)


@small_kernel
def _in_reals(box):
    return real(box[0]), (real(box[1][0]), real(box[1][1]), real(box[1][2])), real(box[2])


@small_kernel
def _local(X, at, k):
    """A corner in the axes of its frame."""
    x = vector(X, at)
    return (
        x[0] + X[at + 3] * (1.0 - 2.0 * (k & 1)),
        x[1] + X[at + 4] * (1.0 - 2.0 * ((k >> 1) & 1)),
        x[2] + X[at + 5] * (1.0 - 2.0 * ((k >> 2) & 1)),
    )


@small_kernel
def _reach(X):
    """Distance of cores below which the law acts."""
    return (X[RHO].real + reach_of(X)) * (1.0 + 1e-9)


# --- a point


@small_kernel
def _beyond(x, box):
    """x - c, its coordinates, and those of which are outside."""
    w = minus(x, box[0])
    u = dot(box[1][0], w), dot(box[1][1], w), dot(box[1][2], w)
    return w, u, (excess(u[0], box[2][0]), excess(u[1], box[2][1]), excess(u[2], box[2][2]))


@small_kernel
def _of_point(x, box, X):
    """V."""
    if depth_of_point(real(x), _in_reals(box)) > 0.0:
        return PASSED
    return potential(X, size_of(_beyond(x, box)[2]) - X[RHO])


@small_kernel
def _push(ends, local, k, boxes, at, j, X, weight, out):
    """Of a point of frame k, where it starts and ends, against the box of frame j, on both: their `piece`."""
    (x0, x1), (box0, box1), far = ends, boxes, _reach(X)
    if (
        distance_of_point(real(x0), _in_reals(box0)) > far
        and distance_of_point(real(x1), _in_reals(box1)) > far
    ):
        return NOTHING
    (w0, u0, e0), (w1, u1, e1) = _beyond(x0, box0), _beyond(x1, box1)
    D0, D1 = size_of(e0), size_of(e1)
    Q, _, closed = pushed(X, ZERO, D0, D1)
    if Q == 0.0:
        return NOTHING
    d, w, scale = ZERO, average(w0, w1), 2.0 * Q / (D0 + D1)
    for i in range(3):
        outside = e0[i].real != 0.0, e1[i].real != 0.0
        slope = 0j
        if outside[0] and outside[1] and e0[i].real * e1[i].real > 0.0:
            slope += 1.0
        elif outside[0] or outside[1]:
            slope += (e1[i] - e0[i]) / (u1[i] - u0[i])
        slope *= 0.5 * (e0[i] + e1[i])
        d = plus(d, times(slope, average(box0[1][i], box1[1][i])))
        turn = times(-weight * scale * slope, w)
        for c in range(3):
            out[j, 1 + i, c] += turn[c]
    force = times(scale, d)
    add_dual(on_point(times(-weight, force), local), out, k)
    add_dual(on_point(times(weight, force), vector(X, at)), out, j)
    return piece(weight, Q, force, closed, minus(average(x0, x1), times(0.5, d)))


@value_function
def value_of_sphere_and_box(y, X, out):
    out[0] = _of_point(point(frame(y, 0), vector(X, CENTRE)), _box(y, 1, X, CORE), X)


@small_kernel
def sphere_on_box(y0, y1, X, weight, out):
    """Its sum of `touching`, into which nothing of `out` but duals goes."""
    local = vector(X, CENTRE)
    x0, x1 = point(frame(y0, 0), local), point(frame(y1, 0), local)
    box0, box1 = _box(y0, 1, X, CORE), _box(y1, 1, X, CORE)
    if depth_of_point(real(x0), _in_reals(box0)) > 0.0 or depth_of_point(real(x1), _in_reals(box1)) > 0.0:
        out[0, 0, 0] = PASSED
        return NOTHING
    return _push((x0, x1), local, 0, (box0, box1), CORE, 1, X, weight, out)


@dual_function
def dual_of_sphere_and_box(y0, y1, X, lam, out):
    out[:] = 0.0
    sphere_on_box(y0, y1, X, lam[0], out)


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
def _end(ends, i, lines, X, local, at, others, to, weight, out):
    """Of an end of an edge against the other one, whose ends are `others` in their axes, on their boxes: its `piece`, the force
    on the end. ends, lines: both edges where the step starts and ends.
    """
    (ends0, ends1), (line0, line1), (X0, X1) = ends, lines, others
    Q, force, closed, d, t = of_segment(
        X, ends0[i], ends1[i], line0[0], line0[1], line1[0], line1[1], 0.0, 1.0
    )
    if Q == 0.0:
        return NOTHING
    add_dual(on_point(times(-weight, force), local), out, at)
    add_dual(on_point(times(weight, force), plus(times(1.0 - t, X0), times(t, X1))), out, to)
    return piece(weight, Q, force, closed, minus(average(ends0[i], ends1[i]), times(0.5, d)))


@small_kernel
def _cross(edges0, edges1, i, k, X, weight, out):
    """Of the edge i of the first box and k of the second: their sum of `touching`, forces on the first."""
    (one0, other0), (one1, other1) = edges0, edges1
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
    found, ones, others = piece(w, Q, force, closed, minus(x, times(0.5, d))), (one0, one1), (other0, other1)
    for j in range(2):
        own = _end(ones, j, others, X, Xa if j == 0 else Xb, 0, (Xc, Xe), 1, weight * slopes[1 + j], out)
        found = add(found, own)
        own = _end(others, j, ones, X, Xc if j == 0 else Xe, 1, (Xa, Xb), 0, weight * slopes[3 + j], out)
        found = add(found, (own[0], times(-1.0, own[1]), own[2], own[3]))
    return found


# --- two boxes


@small_kernel
def _limits(one, other, X):
    """In real numbers: gap and normal of `separation`, and beyond which places along it edges are too far away."""
    one, other = _in_reals(one), _in_reals(other)
    gap, n = separation(one, other)
    reach = _reach(X)
    above = dot(n, other[0]) + extent(n, other) + reach
    below = dot(n, one[0]) - extent(n, one) - reach
    return gap, n, above, below


@value_function
def value_of_boxes(y, X, out):
    one, other = _box(y, 0, X, A), _box(y, 1, X, B)
    gap, n, above, below = _limits(one, other, X)
    out[0] = 0.0
    if gap > _reach(X):
        return
    if gap <= 0.0:
        out[0] = PASSED
        return
    for k in range(CORNERS):
        x = corner(one, k)
        out[0] += SHARE * (_of_point(x, other, X) + _of_point(corner(other, k), one, X))
        for j in range(CORNERS):
            out[0] -= SHARE * potential(X, size_of(minus(x, corner(other, j))) - X[RHO])
    for i in range(EDGES):
        a = _edge(one, i)
        if _behind(a, n, above, 1.0):
            continue
        for k in range(EDGES):
            b = _edge(other, k)
            if not (_behind(b, n, -below, -1.0) or _apart(a, b, _reach(X))):
                out[0] += SHARE * _energy_of(_crossing(a, b, size_of(crossed(a, b)[2]), X))


@small_kernel
def _meet(x0, x1, k, p0, p1, j, X, weight, out):
    """Of a corner of the first box and one of the second, on both: their `piece`."""
    d0, d1, far = real(minus(x0, p0)), real(minus(x1, p1)), _reach(X)
    if dot(d0, d0) > far * far and dot(d1, d1) > far * far:
        return NOTHING
    Q, force, closed, d = of_points(X, x0, x1, p0, p1)
    if Q == 0.0:
        return NOTHING
    add_dual(on_point(times(-weight, force), _local(X, A, k)), out, 0)
    add_dual(on_point(times(weight, force), _local(X, B, j)), out, 1)
    return piece(weight, Q, force, closed, minus(average(x0, x1), times(0.5, d)))


@small_kernel
def box_on_box(y0, y1, X, weight, out):
    """Its sum of `touching`, forces on the first box; nothing but duals goes into `out`."""
    one0, other0, one1, other1 = _box(y0, 0, X, A), _box(y0, 1, X, B), _box(y1, 0, X, A), _box(y1, 1, X, B)
    gap0, n0, above0, below0 = _limits(one0, other0, X)
    gap1, n1, above1, below1 = _limits(one1, other1, X)
    reach, found, weight = _reach(X), NOTHING, SHARE * weight
    if gap0 > reach and gap1 > reach:
        return found
    if gap0 <= 0.0 or gap1 <= 0.0:
        out[0, 0, 0] = PASSED
        return found
    for k in range(CORNERS):
        x0, x1 = corner(one0, k), corner(one1, k)
        found = add(found, _push((x0, x1), _local(X, A, k), 0, (other0, other1), B, 1, X, weight, out))
        for j in range(CORNERS):
            found = add(found, _meet(x0, x1, k, corner(other0, j), corner(other1, j), j, X, -weight, out))
        x0, x1 = corner(other0, k), corner(other1, k)
        own = _push((x0, x1), _local(X, B, k), 1, (one0, one1), A, 0, X, weight, out)
        found = add(found, (own[0], times(-1.0, own[1]), own[2], own[3]))
    for i in range(EDGES):
        a0, a1 = _edge(one0, i), _edge(one1, i)
        if _behind(a0, n0, above0, 1.0) and _behind(a1, n1, above1, 1.0):
            continue
        for k in range(EDGES):
            b0, b1 = _edge(other0, k), _edge(other1, k)
            if _behind(b0, n0, -below0, -1.0) and _behind(b1, n1, -below1, -1.0):
                continue
            if not (_apart(a0, b0, reach) and _apart(a1, b1, reach)):
                found = add(found, _cross((a0, b0), (a1, b1), i, k, X, weight, out))
    return found


@dual_function
def dual_of_boxes(y0, y1, X, lam, out):
    out[:] = 0.0
    box_on_box(y0, y1, X, lam[0], out)


SPHERE_BOX = Kind(
    "contact of a sphere and a box", 2, 0, value_of_sphere_and_box, dual_of_sphere_and_box, no_bend,
    one_sided=True,
)  # fmt: skip
BOXES = Kind("contact of boxes", 2, 0, value_of_boxes, dual_of_boxes, no_bend, one_sided=True)
