"""How far polytopes are from each other and from segments, in real numbers. Each is its middle, the axes of its frame and its
block of `cores`.
"""

from rigid.compilation.decorators import small_kernel
from rigid.kinematics.cores import BEYOND, VERTICES, counts_of, ends_of_edge, signed_distance, vertex
from rigid.kinematics.segments import between, nearest_places
from rigid.linear_algebra import dot, minus, plus, times


@small_kernel
def turned(axes, u):
    """From the axes of a frame."""
    return plus(times(u[0], axes[0]), plus(times(u[1], axes[1]), times(u[2], axes[2])))


@small_kernel
def seen_in(axes, x):
    """In the axes of a frame."""
    return dot(axes[0], x), dot(axes[1], x), dot(axes[2], x)


@small_kernel
def place_of_vertex(own, X, at, k):
    """The k-th."""
    return plus(own[0], turned(own[1], vertex(X, at, k)))


@small_kernel
def lowest(n, own, X, at):
    """Least n . x of its points."""
    u, least, first = seen_in(own[1], n), BEYOND, at + VERTICES
    for k in range(counts_of(X, at)[0]):
        i = first + 3 * k
        least = min(least, u[0] * X[i].real + u[1] * X[i + 1].real + u[2] * X[i + 2].real)
    return dot(n, own[0]) + least


@small_kernel
def highest(n, own, X, at):
    """Greatest n . x of its points."""
    return -lowest(times(-1.0, n), own, X, at)


@small_kernel
def are_beside(a, b, X, at, far):
    """Whether two places in the axes of a core are further than this above one of its faces."""
    nv, ne, nf = counts_of(X, at)
    first = at + VERTICES + 4 * nv + 2 * ne
    for k in range(nf):
        i = first + 4 * k
        n, height = (X[i].real, X[i + 1].real, X[i + 2].real), X[i + 3].real + far
        if dot(n, a) > height and dot(n, b) > height:
            return True
    return False


@small_kernel
def has_part_of(a, b, X, at):
    """Whether a segment, by its ends in the axes of a core with faces, goes through the inside of it."""
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


@small_kernel
def _edge(own, X, at, k):
    """Both ends."""
    i, j = ends_of_edge(X, at, k)
    return place_of_vertex(own, X, at, i), place_of_vertex(own, X, at, j)


@small_kernel
def nearest_edges(one, other, X, at, to):
    """From the second to the first between the nearest points of two edges, and the square of that."""
    least, found = BEYOND, (0.0, 0.0, 0.0)
    for i in range(counts_of(X, at)[1]):
        a0, a1 = _edge(one, X, at, i)
        for k in range(counts_of(X, to)[1]):
            b0, b1 = _edge(other, X, to, k)
            s, t = nearest_places(a0, a1, b0, b1)
            d = between(a0, a1, b0, b1, s, t)
            square = dot(d, d)
            if square < least:
                least, found = square, d
    return found, least


@small_kernel
def _from_faces(own, X, at, other, to):
    """Greatest gap along the normal of a face of the first, and that normal."""
    nv, ne, nf = counts_of(X, at)
    most, found = -BEYOND, own[1][0]
    for k in range(nf):
        i = at + VERTICES + 4 * nv + 2 * ne + 4 * k
        n = turned(own[1], (X[i].real, X[i + 1].real, X[i + 2].real))
        gap = lowest(n, other, X, to) - dot(n, own[0]) - X[i + 3].real
        if gap > most:
            most, found = gap, n
    return most, found


@small_kernel
def separation_of_cores(one, other, X, at, to):
    """A gap between them along a direction, and that, which points to the first; below 0: they overlap, by that or less.

    Of convex bodies that are apart the nearest points are in a face of one of them, or on an edge of each.
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


@small_kernel
def distance_of_cores(one, other, X, at, to):
    """Least one; below 0, by how much they overlap."""
    apart, _ = separation_of_cores(one, other, X, at, to)
    if apart <= 0.0:
        return apart
    least = nearest_edges(one, other, X, at, to)[1] ** 0.5
    for k in range(counts_of(X, at)[0]):
        w = minus(place_of_vertex(one, X, at, k), other[0])
        least = min(least, signed_distance(seen_in(other[1], w), X, to))
    for k in range(counts_of(X, to)[0]):
        w = minus(place_of_vertex(other, X, to, k), one[0])
        least = min(least, signed_distance(seen_in(one[1], w), X, at))
    return least
