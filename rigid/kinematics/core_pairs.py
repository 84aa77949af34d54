"""Distances of polytopes from each other and from segments, in real arithmetic.

A polytope is its centre, the axes of its frame, and its block of parameters of `cores`.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.kinematics.cores import BEYOND, VERTICES, counts_of, ends_of_edge, signed_distance, vertex
from rigid.kinematics.segments import between, nearest_parameters
from rigid.linear_algebra import dot, minus, plus, times


@inline_kernel
def turned(axes, u):
    """Return the vector with the components u in the axes of a frame."""
    return plus(times(u[0], axes[0]), plus(times(u[1], axes[1]), times(u[2], axes[2])))


@inline_kernel
def components_in(axes, x):
    """Return the components of a vector x in the axes of a frame."""
    return dot(axes[0], x), dot(axes[1], x), dot(axes[2], x)


@inline_kernel
def vertex_position(pose, X, at, k):
    """Return the position of vertex k; `pose`: centre and axes."""
    return plus(pose[0], turned(pose[1], vertex(X, at, k)))


@inline_kernel
def lowest(n, pose, X, at):
    """Return the least n . x over the vertices of a polytope."""
    u, least, first = components_in(pose[1], n), BEYOND, at + VERTICES
    for k in range(counts_of(X, at)[0]):
        i = first + 3 * k
        least = min(least, u[0] * X[i].real + u[1] * X[i + 1].real + u[2] * X[i + 2].real)
    return dot(n, pose[0]) + least


@inline_kernel
def highest(n, pose, X, at):
    """Return the greatest n . x over the vertices of a polytope."""
    return -lowest(times(-1.0, n), pose, X, at)


@inline_kernel
def are_beside(a, b, X, at, far):
    """Return True if two points in the axes of a core lie farther than `far` above one of its faces."""
    nv, ne, nf = counts_of(X, at)
    first = at + VERTICES + 4 * nv + 2 * ne
    for k in range(nf):
        i = first + 4 * k
        n, height = (X[i].real, X[i + 1].real, X[i + 2].real), X[i + 3].real + far
        if dot(n, a) > height and dot(n, b) > height:
            return True
    return False


@inline_kernel
def has_part_of(a, b, X, at):
    """Return True if a segment, given by its ends in the axes of a core with faces, intersects the interior of the core."""
    nv, ne, nf = counts_of(X, at)
    first, low, high = at + VERTICES + 4 * nv + 2 * ne, 0.0, 1.0
    for k in range(nf):
        i = first + 4 * k
        n = X[i].real, X[i + 1].real, X[i + 2].real
        begin, end = dot(n, a) - X[i + 3].real, dot(n, b) - X[i + 3].real
        if begin >= 0.0 and end >= 0.0:
            return False
        if begin >= 0.0:
            low = max(low, begin / (begin - end))
        elif end >= 0.0:
            high = min(high, begin / (begin - end))
    return nf > 0 and low < high


@inline_kernel
def _edge(pose, X, at, k):
    """Return both ends of edge k of a polytope."""
    i, j = ends_of_edge(X, at, k)
    return vertex_position(pose, X, at, i), vertex_position(pose, X, at, j)


@inline_kernel
def nearest_edges(one, other, X, at, to):
    """Return the vector from the second to the first polytope between the nearest points of their edges, and its square."""
    least, nearest = BEYOND, (0.0, 0.0, 0.0)
    for i in range(counts_of(X, at)[1]):
        a0, a1 = _edge(one, X, at, i)
        for k in range(counts_of(X, to)[1]):
            b0, b1 = _edge(other, X, to, k)
            s, t = nearest_parameters(a0, a1, b0, b1)
            d = between(a0, a1, b0, b1, s, t)
            square = dot(d, d)
            if square < least:
                least, nearest = square, d
    return nearest, least


@inline_kernel
def _from_faces(one, X, at, other, to):
    """Return the greatest gap along the normal of a face of the first polytope (`one`), and that normal."""
    nv, ne, nf = counts_of(X, at)
    most, normal = -BEYOND, one[1][0]
    for k in range(nf):
        i = at + VERTICES + 4 * nv + 2 * ne + 4 * k
        n = turned(one[1], (X[i].real, X[i + 1].real, X[i + 2].real))
        gap = lowest(n, other, X, to) - dot(n, one[0]) - X[i + 3].real
        if gap > most:
            most, normal = gap, n
    return most, normal


@inline_kernel
def separation_of_cores(one, other, X, at, to):
    """Return a gap between two polytopes along a direction, and that direction, which points to the first.

    If the gap is negative, they overlap, by that amount or less. The nearest points of convex bodies that are apart lie in a
    face of one of them, or on an edge of each.
    """
    most, n = _from_faces(other, X, to, one, at)
    gap, m = _from_faces(one, X, at, other, to)
    if gap > most:
        most, n = gap, times(-1.0, m)
    if most > 0.0:
        return most, n
    d, square = nearest_edges(one, other, X, at, to)
    if square > 0.0:
        d = times(1.0 / square**0.5, d)
        gap = lowest(d, one, X, at) - highest(d, other, X, to)
        if gap > most:
            most, n = gap, d
    return most, n


@inline_kernel
def distance_of_cores(one, other, X, at, to):
    """Return the least distance of two polytopes; if negative, the amount by which they overlap."""
    apart, _ = separation_of_cores(one, other, X, at, to)
    if apart <= 0.0:
        return apart
    least = nearest_edges(one, other, X, at, to)[1] ** 0.5
    for k in range(counts_of(X, at)[0]):
        w = minus(vertex_position(one, X, at, k), other[0])
        least = min(least, signed_distance(components_in(other[1], w), X, to))
    for k in range(counts_of(X, to)[0]):
        w = minus(vertex_position(other, X, to, k), one[0])
        least = min(least, signed_distance(components_in(one[1], w), X, at))
    return least
