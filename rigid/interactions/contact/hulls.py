"""Hulls against hulls, boxes and capsules: sums over vertices and over edges that cross, as of boxes in `boxes`.

A vertex against a core is a point: `core_points`. It has its part of the stiffness, one over the number of vertices of its faces,
so that what lies flat has that of the law. A vertex next to a vertex would count in both sums: the mean of both parts of U of
their distance is taken off. Edges across each other have the energy (2) of `boxes`, with the greater one of the parts of both
edges, the mean of those of its ends.

A step at whose end cores overlap fails.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.box_points import reach_between
from rigid.interactions.contact.capsules import crossed
from rigid.interactions.contact.core_points import of_point, push_from_core
from rigid.interactions.contact.edge_crossings import (
    cross_edges,
    crosses,
    crossing_of,
    energy_of,
    is_apart,
    is_behind,
    of_partner,
)
from rigid.interactions.contact.gaps import RHO, of_points, size_of
from rigid.interactions.contact.normal_laws import PASSED, potential
from rigid.interactions.contact.touching import NOTHING, add, piece, real
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
from rigid.kinematics.core_pairs import highest, lowest, separation_of_cores
from rigid.kinematics.cores import SIZE, counts_of, ends_of_edge, share_of_vertex, vertex
from rigid.kinematics.poses import on_point, point
from rigid.linear_algebra import average, dot, minus, plus, times

A = 5  # place of the block of the first; that of the second follows


@small_kernel
def second(X):
    """Where its block begins."""
    return A + whole(X[A + SIZE])


@small_kernel
def _local(X, at, k):
    """A vertex, from the origin of its frame."""
    return plus(vector(X, at), vertex(X, at, k))


@small_kernel
def _placed(pose, X, at):
    """Middle and axes, in real numbers."""
    return real(point(pose, vector(X, at))), (real(pose[1]), real(pose[2]), real(pose[3]))


@small_kernel
def _limits(pose, other, X, to):
    """Gap and normal between both, and beyond which places along it nothing of the one reaches the other."""
    a, b = _placed(pose, X, A), _placed(other, X, to)
    gap, n = separation_of_cores(a, b, X, A, to)
    reach = reach_between(X)
    return gap, n, highest(n, b, X, to) + reach, lowest(n, a, X, A) - reach


@small_kernel
def _share_of_edge(X, at, k):
    i, j = ends_of_edge(X, at, k)
    return 0.5 * (share_of_vertex(X, at, i) + share_of_vertex(X, at, j))


@small_kernel
def _greater(a, b):
    """Of two parts; of equal ones the mean, so that it goes both ways."""
    if a.real == b.real:
        return 0.5 * (a + b)
    return a if a.real > b.real else b


@small_kernel
def _edge(pose, X, at, k):
    """Both ends."""
    i, j = ends_of_edge(X, at, k)
    return point(pose, _local(X, at, i)), point(pose, _local(X, at, j))


@value_function
def value_of_hulls(y, X, out):
    one, other, to = frame(y, 0), frame(y, 1), second(X)
    gap, n, above, below = _limits(one, other, X, to)
    out[0] = 0.0
    if gap > reach_between(X):
        return
    if gap <= 0.0:
        out[0] = PASSED
        return
    for i in range(counts_of(X, A)[0]):
        x, share = point(one, _local(X, A, i)), share_of_vertex(X, A, i)
        if dot(n, real(x)) > above:
            continue
        out[0] += share * of_point(x, other, X, to)
        for k in range(counts_of(X, to)[0]):
            both = 0.5 * (share + share_of_vertex(X, to, k))
            out[0] -= both * potential(X, size_of(minus(x, point(other, _local(X, to, k)))) - X[RHO])
    for k in range(counts_of(X, to)[0]):
        x = point(other, _local(X, to, k))
        if dot(n, real(x)) >= below:
            out[0] += share_of_vertex(X, to, k) * of_point(x, one, X, A)
    for i in range(counts_of(X, A)[1]):
        a = _edge(one, X, A, i)
        if is_behind(a, n, above, 1.0):
            continue
        for k in range(counts_of(X, to)[1]):
            b = _edge(other, X, to, k)
            if not (is_behind(b, n, -below, -1.0) or is_apart(a, b, reach_between(X))) and crosses(a, b):
                share = _greater(_share_of_edge(X, A, i), _share_of_edge(X, to, k))
                out[0] += share * energy_of(crossing_of(a, b, size_of(crossed(a, b)[2]), X))


@small_kernel
def _meet(x0, x1, Xa, p0, p1, Xb, X, weight, share, out):
    """Of a vertex of the first and one of the second, their places in their frames: their `piece`."""
    d0, d1, far = real(minus(x0, p0)), real(minus(x1, p1)), reach_between(X)
    if dot(d0, d0) > far * far and dot(d1, d1) > far * far:
        return NOTHING
    Q, force, closed, d = of_points(X, x0, x1, p0, p1)
    if Q == 0.0:
        return NOTHING
    add_dual(on_point(times(-weight, force), Xa), out, 0)
    add_dual(on_point(times(weight, force), Xb), out, 1)
    return piece(weight, Q, force, closed, minus(average(x0, x1), times(share, d)))


@small_kernel
def _of_vertices(ones, others, limits, X, weight, share, out):
    """Of all vertices of each against the other core, less those of both against each other."""
    to, found, ((n0, above0, below0), (n1, above1, below1)) = second(X), NOTHING, limits
    for i in range(counts_of(X, A)[0]):
        Xa = _local(X, A, i)
        x0, x1 = point(ones[0], Xa), point(ones[1], Xa)
        if dot(n0, real(x0)) > above0 and dot(n1, real(x1)) > above1:
            continue
        part = share_of_vertex(X, A, i)
        own = push_from_core(x0, x1, others, to, 1, X, weight * part, share, out)
        add_dual(on_point(times(-1.0, own[1]), Xa), out, 0)
        found = add(found, own)
        for k in range(counts_of(X, to)[0]):
            Xb, both = _local(X, to, k), 0.5 * (part + share_of_vertex(X, to, k))
            p0, p1 = point(others[0], Xb), point(others[1], Xb)
            found = add(found, _meet(x0, x1, Xa, p0, p1, Xb, X, -weight * both, share, out))
    for k in range(counts_of(X, to)[0]):
        Xb = _local(X, to, k)
        x0, x1 = point(others[0], Xb), point(others[1], Xb)
        if dot(n0, real(x0)) < below0 and dot(n1, real(x1)) < below1:
            continue
        own = push_from_core(x0, x1, ones, A, 0, X, weight * share_of_vertex(X, to, k), 1.0 - share, out)
        add_dual(on_point(times(-1.0, own[1]), Xb), out, 1)
        found = add(found, of_partner(own))
    return found


@small_kernel
def _of_edges(ones, others, limits, X, weight, share, out):
    """Of all that cross."""
    to, found, ((n0, above0, below0), (n1, above1, below1)) = second(X), NOTHING, limits
    reach = reach_between(X)
    for i in range(counts_of(X, A)[1]):
        a0, a1, (ia, ja) = _edge(ones[0], X, A, i), _edge(ones[1], X, A, i), ends_of_edge(X, A, i)
        if is_behind(a0, n0, above0, 1.0) and is_behind(a1, n1, above1, 1.0):
            continue
        for k in range(counts_of(X, to)[1]):
            b0, b1, (ib, jb) = _edge(others[0], X, to, k), _edge(others[1], X, to, k), ends_of_edge(X, to, k)
            if is_behind(b0, n0, -below0, -1.0) and is_behind(b1, n1, -below1, -1.0):
                continue
            if is_apart(a0, b0, reach) and is_apart(a1, b1, reach):
                continue
            places = _local(X, A, ia), _local(X, A, ja), _local(X, to, ib), _local(X, to, jb)
            part = weight * _greater(_share_of_edge(X, A, i), _share_of_edge(X, to, k))
            found = add(found, cross_edges((a0, b0), (a1, b1), places, X, part, share, out))
    return found


@small_kernel
def hull_on_hull(y0, y1, X, weight, share, out):
    """Its sum of `touching`, forces on the first; nothing but duals goes into `out`.

    share: of the distance from the first core to the second, where both touch.
    """
    ones, others, to = (frame(y0, 0), frame(y1, 0)), (frame(y0, 1), frame(y1, 1)), second(X)
    gap0, n0, above0, below0 = _limits(ones[0], others[0], X, to)
    gap1, n1, above1, below1 = _limits(ones[1], others[1], X, to)
    if gap0 > reach_between(X) and gap1 > reach_between(X):
        return NOTHING
    if gap0 <= 0.0 or gap1 <= 0.0:
        out[0, 0, 0] = PASSED
        return NOTHING
    limits = (n0, above0, below0), (n1, above1, below1)
    found = _of_vertices(ones, others, limits, X, weight, share, out)
    return add(found, _of_edges(ones, others, limits, X, weight, share, out))


@dual_function
def dual_of_hulls(y0, y1, X, lam, out):
    out[:] = 0.0
    hull_on_hull(y0, y1, X, lam[0], 0.5, out)


HULLS = Kind("contact of hulls", 2, 0, value_of_hulls, dual_of_hulls, no_bend, one_sided=True)
