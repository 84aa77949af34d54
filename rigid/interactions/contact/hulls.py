"""Contact of hulls with hulls, boxes and capsules: sums over vertices and over edges that cross, as for boxes in `boxes`.

A vertex against a core is a point: `core_points`. It has a fraction of the stiffness, one over the number of vertices of its
faces, so that a body that lies flat has the stiffness of the law. A vertex next to a vertex would be counted in both sums: U
of their distance, with the lesser of both fractions, is subtracted, so that the greater one is left, however many vertices are
next to one. Edges that cross have the energy (2) of `boxes`, with the greater of the fractions of both edges; the fraction of
an edge is the mean of those of its ends.

A step fails if the cores overlap at one of its ends.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_points import reach_between
from rigid.interactions.contact.capsules import nearest_on_segments
from rigid.interactions.contact.contact_sums import NOTHING, add, contact_contribution, mark_failed
from rigid.interactions.contact.core_points import of_point, push_from_core
from rigid.interactions.contact.edge_crossings import (
    cross_edges,
    crossing_of,
    energy_of,
    has_inner_crossing,
    is_apart,
    with_swapped_bodies,
)
from rigid.interactions.contact.gaps import RHO, of_points, size_of
from rigid.interactions.contact.normal_laws import PASSED, potential
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
from rigid.kinematics.core_pairs import components_in, highest, lowest, separation_of_cores
from rigid.kinematics.cores import SIZE, VERTICES, counts_of, ends_of_edge, share_of_vertex, vertex
from rigid.kinematics.poses import on_point, point
from rigid.linear_algebra import average, dot, minus, plus, real, times

A = 5  # offset in X of the first core; the second follows


@inline_kernel
def second(X):
    """Return the offset in X of the second core."""
    return A + whole(X[A + SIZE])


@inline_kernel
def local_vertex(X, at, k):
    """Return vertex k of the core at offset `at`, relative to the origin of its frame."""
    return plus(vector(X, at), vertex(X, at, k))


@inline_kernel
def _placed(pose, X, at):
    """Return the centre and the axes of a core in space; in real arithmetic."""
    return real(point(pose, vector(X, at))), (real(pose[1]), real(pose[2]), real(pose[3]))


@inline_kernel
def _limits(pose, other, X, to):
    """Return the gap of both cores, and for each core the data of `_is_far`; in real arithmetic.

    These data are: the height of its centre along the normal, the normal in its axes, the height beyond which it cannot reach
    the other core, and a sign. The sign is 1.0 if that height is an upper bound, -1.0 if it is a lower one.
    """
    a, b = _placed(pose, X, A), _placed(other, X, to)
    gap, n = separation_of_cores(a, b, X, A, to)
    reach = reach_between(X)
    of_first = dot(n, a[0]), components_in(a[1], n), highest(n, b, X, to) + reach, 1.0
    return gap, of_first, (dot(n, b[0]), components_in(b[1], n), lowest(n, a, X, A) - reach, -1.0)


@inline_kernel
def _is_far(side, X, at, k):
    """Return True if vertex k of a core is beyond its bound; `side`: data of `_limits`."""
    height, u, limit, sign = side
    i = at + VERTICES + 3 * k
    return sign * (height + u[0] * X[i].real + u[1] * X[i + 1].real + u[2] * X[i + 2].real - limit) > 0.0


@inline_kernel
def _are_far(side, X, at, k):
    """Return True if both ends of edge k of a core are beyond its bound."""
    i, j = ends_of_edge(X, at, k)
    return _is_far(side, X, at, i) and _is_far(side, X, at, j)


@inline_kernel
def share_of_edge(X, at, k):
    """Return the fraction of the stiffness of edge k, the mean of those of its ends."""
    i, j = ends_of_edge(X, at, k)
    return 0.5 * (share_of_vertex(X, at, i) + share_of_vertex(X, at, j))


@inline_kernel
def lesser(a, b):
    """Return the lesser of two fractions; their mean if they are equal, so that derivatives are symmetric."""
    if a.real == b.real:
        return 0.5 * (a + b)
    return a if a.real < b.real else b


@inline_kernel
def _greater(a, b):
    """Return the greater of two fractions; their mean if they are equal, so that derivatives are symmetric."""
    if a.real == b.real:
        return 0.5 * (a + b)
    return a if a.real > b.real else b


@inline_kernel
def edge_of(pose, X, at, k):
    """Return both ends of edge k of a core in space."""
    i, j = ends_of_edge(X, at, k)
    return point(pose, local_vertex(X, at, i)), point(pose, local_vertex(X, at, j))


@inline_kernel
def energy_of_cores(one, other, X):
    """Return the potential V of two cores at given poses; NaN if they overlap."""
    to, V = second(X), 0j
    gap, side, opposite = _limits(one, other, X, to)
    if gap > reach_between(X):
        return V
    if gap <= 0.0:
        return PASSED
    for i in range(counts_of(X, A)[0]):
        if _is_far(side, X, A, i):
            continue
        x, weight = point(one, local_vertex(X, A, i)), share_of_vertex(X, A, i)
        V += weight * of_point(x, other, X, to)
        for k in range(counts_of(X, to)[0]):
            both = lesser(weight, share_of_vertex(X, to, k))
            V -= both * potential(X, size_of(minus(x, point(other, local_vertex(X, to, k)))) - X[RHO])
    for k in range(counts_of(X, to)[0]):
        if not _is_far(opposite, X, to, k):
            x = point(other, local_vertex(X, to, k))
            V += share_of_vertex(X, to, k) * of_point(x, one, X, A)
    for i in range(counts_of(X, A)[1]):
        if _are_far(side, X, A, i):
            continue
        a = edge_of(one, X, A, i)
        for k in range(counts_of(X, to)[1]):
            if _are_far(opposite, X, to, k):
                continue
            b = edge_of(other, X, to, k)
            if not is_apart(a, b, reach_between(X)) and has_inner_crossing(a, b):
                weight = _greater(share_of_edge(X, A, i), share_of_edge(X, to, k))
                V += weight * energy_of(crossing_of(a, b, size_of(nearest_on_segments(a, b)[2]), X))
    return V


@value_function
def value_of_hulls(y, X, out):
    """Compute the potential of two hulls."""
    out[0] = energy_of_cores(frame(y, 0), frame(y, 1), X)


@inline_kernel
def _add_vertex_pair(x0, x1, Xa, p0, p1, Xb, X, weight, fraction, out):
    """Add the duals of a vertex of the first hull and one of the second; return their contact contribution.

    x0, x1 and p0, p1: both vertices at both ends of the step. Xa, Xb: both vertices in their frames.
    """
    d0, d1, far = real(minus(x0, p0)), real(minus(x1, p1)), reach_between(X)
    if dot(d0, d0) > far * far and dot(d1, d1) > far * far:
        return NOTHING
    Q, force, closed, d = of_points(X, x0, x1, p0, p1)
    if Q == 0.0:
        return NOTHING
    add_dual(on_point(times(-weight, force), Xa), out, 0)
    add_dual(on_point(times(weight, force), Xb), out, 1)
    return contact_contribution(weight, Q, force, closed, minus(average(x0, x1), times(fraction, d)))


@inline_kernel
def _add_vertices(poses_a, poses_b, limits, X, weight, fraction, out):
    """Add the duals of all vertices of each hull against the other core, minus those of vertices against vertices.

    Return the contact sums, forces on the first hull.
    """
    to, sums, ((side0, opposite0), (side1, opposite1)) = second(X), NOTHING, limits
    for i in range(counts_of(X, A)[0]):
        if _is_far(side0, X, A, i) and _is_far(side1, X, A, i):
            continue
        Xa = local_vertex(X, A, i)
        x0, x1 = point(poses_a[0], Xa), point(poses_a[1], Xa)
        part = share_of_vertex(X, A, i)
        contribution = push_from_core(x0, x1, poses_b, to, 1, X, weight * part, fraction, out)
        add_dual(on_point(times(-1.0, contribution[1]), Xa), out, 0)
        sums = add(sums, contribution)
        for k in range(counts_of(X, to)[0]):
            Xb, both = local_vertex(X, to, k), lesser(part, share_of_vertex(X, to, k))
            p0, p1 = point(poses_b[0], Xb), point(poses_b[1], Xb)
            sums = add(sums, _add_vertex_pair(x0, x1, Xa, p0, p1, Xb, X, -weight * both, fraction, out))
    for k in range(counts_of(X, to)[0]):
        if _is_far(opposite0, X, to, k) and _is_far(opposite1, X, to, k):
            continue
        Xb = local_vertex(X, to, k)
        x0, x1 = point(poses_b[0], Xb), point(poses_b[1], Xb)
        contribution = push_from_core(
            x0, x1, poses_a, A, 0, X, weight * share_of_vertex(X, to, k), 1.0 - fraction, out
        )
        add_dual(on_point(times(-1.0, contribution[1]), Xb), out, 1)
        sums = add(sums, with_swapped_bodies(contribution))
    return sums


@inline_kernel
def _add_edges(poses_a, poses_b, limits, X, weight, fraction, out):
    """Add the duals of all pairs of edges that cross; return the contact sums, forces on the first hull."""
    to, sums, ((side0, opposite0), (side1, opposite1)) = second(X), NOTHING, limits
    reach = reach_between(X)
    for i in range(counts_of(X, A)[1]):
        if _are_far(side0, X, A, i) and _are_far(side1, X, A, i):
            continue
        a0, a1, (ia, ja) = edge_of(poses_a[0], X, A, i), edge_of(poses_a[1], X, A, i), ends_of_edge(X, A, i)
        for k in range(counts_of(X, to)[1]):
            if _are_far(opposite0, X, to, k) and _are_far(opposite1, X, to, k):
                continue
            b0, b1, (ib, jb) = (
                edge_of(poses_b[0], X, to, k),
                edge_of(poses_b[1], X, to, k),
                ends_of_edge(X, to, k),
            )
            if is_apart(a0, b0, reach) and is_apart(a1, b1, reach):
                continue
            local_ends = (
                local_vertex(X, A, ia),
                local_vertex(X, A, ja),
                local_vertex(X, to, ib),
                local_vertex(X, to, jb),
            )
            part = weight * _greater(share_of_edge(X, A, i), share_of_edge(X, to, k))
            sums = add(sums, cross_edges((a0, b0), (a1, b1), local_ends, X, part, fraction, out))
    return sums


@inline_kernel
def core_on_core(poses_a, poses_b, X, weight, fraction, out):
    """Add the duals of two cores to `out`, and nothing else; return the contact sums, forces on the first core.

    `poses_a`, `poses_b`: poses of both cores at both ends of the step.
    `fraction`: fraction of the distance from the first core to the second at which both surfaces touch.
    """
    to = second(X)
    gap0, side0, opposite0 = _limits(poses_a[0], poses_b[0], X, to)
    gap1, side1, opposite1 = _limits(poses_a[1], poses_b[1], X, to)
    if gap0 > reach_between(X) and gap1 > reach_between(X):
        return NOTHING
    if gap0 <= 0.0 or gap1 <= 0.0:
        mark_failed(out)
        return NOTHING
    limits = (side0, opposite0), (side1, opposite1)
    sums = _add_vertices(poses_a, poses_b, limits, X, weight, fraction, out)
    return add(sums, _add_edges(poses_a, poses_b, limits, X, weight, fraction, out))


@inline_kernel
def hull_on_hull(y0, y1, X, weight, fraction, out):
    """Add the duals of two hulls, frames 0 and 1, to `out`; return the contact sums, see `core_on_core`."""
    poses_a, poses_b = (frame(y0, 0), frame(y1, 0)), (frame(y0, 1), frame(y1, 1))
    return core_on_core(poses_a, poses_b, X, weight, fraction, out)


@dual_function
def dual_of_hulls(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of two hulls."""
    out[:] = 0.0
    hull_on_hull(y0, y1, X, lam[0], 0.5, out)


HULLS = Kind("contact of hulls", 2, 0, value_of_hulls, dual_of_hulls, no_bend, one_sided=True)
