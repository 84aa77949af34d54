"""Contact of two edges of different bodies that cross: potential and slopes (2), (3) of `boxes`.

Nothing acts if an end is the nearest point, or if both edges are parallel.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.capsules import distance_of, mean_parameters, nearest_on_segments
from rigid.interactions.contact.contact_sums import NOTHING, add, contact_contribution
from rigid.interactions.contact.gaps import RHO, contact_force, of_segment, size_of
from rigid.interactions.contact.normal_laws import potential
from rigid.interactions.kinds import add_dual
from rigid.kinematics.poses import on_point
from rigid.kinematics.segments import between, nearest_parameters
from rigid.linear_algebra import average, cross, dot, minus, plus, real, times

GAUSS = 0.8611363115940526, 0.3399810435848563  # points of Gauss' rule on [-1, 1]; its weights are `WEIGHTS`
WEIGHTS = 0.34785484513745385, 0.6521451548625461
NEAR = 0.01  # relative change of U for which the rule leaves a remainder of (NEAR/2)^8 of V
ALONG = 1e-12  # squared sine of the angle between two edges below which they count as parallel


@inline_kernel
def is_behind(edge, n, far, sign):
    """Return True if both ends of an edge lie beyond a plane with normal n; evaluated in real arithmetic.

    `far`: height of the plane along n. `sign`: 1.0 for beyond it along n, -1.0 for beyond it against n (with `far` negated).
    """
    return sign * dot(n, real(edge[0])) > far and sign * dot(n, real(edge[1])) > far


@inline_kernel
def is_apart(one, other, reach):
    """Return True if two edges are farther apart than `reach`, so that the law does not act; evaluated in real arithmetic."""
    a0, a1, b0, b1 = real(one[0]), real(one[1]), real(other[0]), real(other[1])
    s, t = nearest_parameters(a0, a1, b0, b1)
    d = between(a0, a1, b0, b1, s, t)
    return dot(d, d) > reach * reach


@inline_kernel
def has_inner_crossing(one, other):
    """Return True if two edges are not parallel and their nearest points are inner points of both; otherwise V is 0.

    The decision is made in real arithmetic.
    """
    a0, a1, b0, b1 = real(one[0]), real(one[1]), real(other[0]), real(other[1])
    n = cross(minus(a1, a0), minus(b1, b0))
    sizes = dot(minus(a1, a0), minus(a1, a0)) * dot(minus(b1, b0), minus(b1, b0))
    s, t = nearest_parameters(a0, a1, b0, b1)
    return dot(n, n) > ALONG * sizes and 0.0 < s < 1.0 and 0.0 < t < 1.0


@inline_kernel
def have_passed(start, end):
    """Return True if two edges that cross at both ends of a step have gone through each other; evaluated in real arithmetic."""
    if not (has_inner_crossing(start[0], start[1]) and has_inner_crossing(end[0], end[1])):
        return False
    return (
        dot(real(nearest_on_segments(start[0], start[1])[2]), real(nearest_on_segments(end[0], end[1])[2]))
        < 0.0
    )


@inline_kernel
def crossing_of(one, other, D, X):
    """Return U and U_1 .. U_4 of (2); D: least distance of both edges. All are 0 if U is 0."""
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


@inline_kernel
def energy_of(U):
    """Return V of (2) from U and U_1 .. U_4."""
    if U[0] == 0.0:
        return 0j
    return U[0] * (1.0 - U[1] / U[0]) * (1.0 - U[2] / U[0]) * (1.0 - U[3] / U[0]) * (1.0 - U[4] / U[0])


@inline_kernel
def _slopes(U):
    """Return the derivatives of V with respect to U and U_1 .. U_4."""
    r = U[1] / U[0], U[2] / U[0], U[3] / U[0], U[4] / U[0]
    a, b, c, d = 1.0 - r[0], 1.0 - r[1], 1.0 - r[2], 1.0 - r[3]
    k = b * c * d, a * c * d, a * b * d, a * b * c
    P = a * k[0]
    return P + k[0] * r[0] + k[1] * r[1] + k[2] * r[2] + k[3] * r[3], -k[0], -k[1], -k[2], -k[3]


@inline_kernel
def mean_slopes(U0, U1):
    """Return the slopes c of (3) with respect to U and U_1 .. U_4; U0, U1: their values at both ends of the step."""
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
    remainder, square = energy_of(U1) - energy_of(U0), 0j
    for i in range(5):
        d = U1[i] - U0[i]
        remainder -= mean[i] * d
        square += d * d
        size += abs(d.real)
    if size < NEAR * (U0[0] + U1[0]).real:
        return mean
    f = remainder / square
    return (
        mean[0] + f * (U1[0] - U0[0]),
        mean[1] + f * (U1[1] - U0[1]),
        mean[2] + f * (U1[2] - U0[2]),
        mean[3] + f * (U1[3] - U0[3]),
        mean[4] + f * (U1[4] - U0[4]),
    )


@inline_kernel
def _add_end(ends, i, lines, X, local, line_ends, frames, weight, fraction, out):
    """Add the duals of end i of an edge against another edge; return the contact contribution, the force on the end.

    `ends`, `lines`: the edge with that end, and the other edge, each at both ends of the step. `local`: the end in its frame.
    `line_ends`: both ends of the other edge in their frame. `frames`: frame of the end, and frame of the other edge.
    """
    (ends0, ends1), (line0, line1), (X0, X1), (at, to) = ends, lines, line_ends, frames
    Q, force, closed, d, t = of_segment(
        X, ends0[i], ends1[i], line0[0], line0[1], line1[0], line1[1], 0.0, 1.0
    )
    if Q == 0.0:
        return NOTHING
    add_dual(on_point(times(-weight, force), local), out, at)
    add_dual(on_point(times(weight, force), plus(times(1.0 - t, X0), times(t, X1))), out, to)
    return contact_contribution(
        weight, Q, force, closed, minus(average(ends0[i], ends1[i]), times(fraction, d))
    )


@inline_kernel
def with_swapped_bodies(contribution):
    """Return a contact contribution computed with the force on the second body as one with the force on the first body."""
    return contribution[0], times(-1.0, contribution[1]), contribution[2], contribution[3]


@inline_kernel
def cross_edges(edges0, edges1, local_ends, X, weight, fraction, out):
    """Add the duals of an edge of the first core and one of the second; return the contact sums, forces on the
    first.

    edges0, edges1: both edges at the start and at the end of the step. `local_ends`: their four ends in their frames. `fraction`:
    fraction of the distance from the first edge to the second at which both surfaces touch.
    """
    (one0, other0), (one1, other1) = edges0, edges1
    if not (has_inner_crossing(one0, other0) or has_inner_crossing(one1, other1)):
        return NOTHING
    start, end = nearest_on_segments(one0, other0), nearest_on_segments(one1, other1)
    D0, D1 = size_of(start[2]), size_of(end[2])
    U0, U1 = crossing_of(one0, other0, D0, X), crossing_of(one1, other1, D1, X)
    if U0[0] == 0.0 and U1[0] == 0.0:
        return NOTHING
    slopes = mean_slopes(U0, U1)
    Xa, Xb, Xc, Xe = local_ends
    s, t = mean_parameters(one0, other0, one1, other1, start, end)
    d = average(
        between(one0[0], one0[1], other0[0], other0[1], s, t),
        between(one1[0], one1[1], other1[0], other1[1], s, t),
    )
    Q, force, closed = contact_force(X, d, D0, D1)
    w = weight * slopes[0]
    add_dual(on_point(times(-w, force), plus(times(1.0 - s, Xa), times(s, Xb))), out, 0)
    add_dual(on_point(times(w, force), plus(times(1.0 - t, Xc), times(t, Xe))), out, 1)
    x = average(
        plus(times(1.0 - s, one0[0]), times(s, one0[1])), plus(times(1.0 - s, one1[0]), times(s, one1[1]))
    )
    sums, edge_a, edge_b = (
        contact_contribution(w, Q, force, closed, minus(x, times(fraction, d))),
        (one0, one1),
        (other0, other1),
    )
    for j in range(2):
        w, local = weight * slopes[1 + j], Xa if j == 0 else Xb
        sums = add(sums, _add_end(edge_a, j, edge_b, X, local, (Xc, Xe), (0, 1), w, fraction, out))
        w, local = weight * slopes[3 + j], Xc if j == 0 else Xe
        sums = add(
            sums,
            with_swapped_bodies(
                _add_end(edge_b, j, edge_a, X, local, (Xa, Xb), (1, 0), w, 1.0 - fraction, out)
            ),
        )
    return sums
