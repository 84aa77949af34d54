"""Geometry of boxes: corners, edges, and distances. A box is its centre, three unit axes and half of the length of each side."""

from rigid.compilation.decorators import inline_kernel
from rigid.kinematics.segments import between, nearest_parameters
from rigid.linear_algebra import cross, dot, minus, plus, times

CORNERS, EDGES = 8, 12
# squared sine of the angle between two axes below which their cross product has no direction
PARALLEL = 1e-20


@inline_kernel
def corner(box, k):
    """Return corner k, 0 .. 7, of a box; bit i of k gives the side along axis i."""
    x, axes, half = box
    for i in range(3):
        x = plus(x, times(half[i] * (1.0 - 2.0 * ((k >> i) & 1)), axes[i]))
    return x


@inline_kernel
def ends_of_edge(k):
    """Return the numbers of the corners at both ends of edge k, 0 .. 11; four edges are parallel to each axis."""
    i, j = k // 4, k % 4
    first = ((j >> i) << (i + 1)) | (j & ((1 << i) - 1))
    return first, first | (1 << i)


@inline_kernel
def excess(u, half):
    """Return the signed distance by which a coordinate is outside of a box; 0 inside."""
    if u.real > half.real:
        return u - half
    if u.real < -half.real:
        return u + half
    return 0.0 * u


@inline_kernel
def extent(n, box):
    """Return half of the extent of a box along the unit vector n."""
    half_extent = 0.0
    for i in range(3):
        half_extent += box[2][i] * abs(dot(n, box[1][i]))
    return half_extent


@inline_kernel
def separation(one, other):
    """Return the greatest gap between two boxes along a direction n, and n, which points to the first box.

    If the gap is negative, the boxes overlap by that amount. Boxes that are apart are separated along a normal of a face or
    along a vector normal to two edges.
    """
    w, most, normal = minus(one[0], other[0]), -1e300, one[1][0]
    for k in range(15):
        if k < 3:
            n = one[1][k]
        elif k < 6:
            n = other[1][k - 3]
        else:
            n = cross(one[1][(k - 6) // 3], other[1][(k - 6) % 3])
            square = dot(n, n)
            if square < PARALLEL:
                continue
            n = times(1.0 / square**0.5, n)
        along = dot(n, w)
        gap = abs(along) - extent(n, one) - extent(n, other)
        if gap > most:
            most, normal = gap, times(1.0 if along > 0.0 else -1.0, n)
    return most, normal


@inline_kernel
def distance_of_point(x, box):
    """Return the distance of a point from a box; 0 inside."""
    w, square = minus(x, box[0]), 0.0
    for i in range(3):
        e = excess(dot(box[1][i], w), box[2][i])
        square += e * e
    return square**0.5


@inline_kernel
def depth_of_point(x, box):
    """Return the depth of a point in a box below the nearest face; not above 0 outside."""
    w, least = minus(x, box[0]), 1e300
    for i in range(3):
        least = min(least, box[2][i] - abs(dot(box[1][i], w)))
    return least


@inline_kernel
def is_beyond_face(a, b, box, reach):
    """Return True if a segment lies farther than `reach` beyond one face of a box, which proves that it is at least that far
    away.
    """
    u, v = minus(a, box[0]), minus(b, box[0])
    for i in range(3):
        x, y = dot(box[1][i], u), dot(box[1][i], v)
        if min(x, y) > box[2][i] + reach or max(x, y) < -box[2][i] - reach:
            return True
    return False


@inline_kernel
def distance_of_segment(a, b, box):
    """Return the distance of a segment from a box; if negative, the distance by which it must move to come out."""
    w, middle = minus(b, a), times(0.5, plus(a, b))
    size = dot(w, w) ** 0.5
    e = times(1.0 / size, w) if size > 0.0 else box[1][0]
    other = cross(e, box[1][0])  # an arbitrary direction normal to the segment
    if dot(other, other) < 0.5:
        other = cross(e, box[1][1])
    other = times(1.0 / dot(other, other) ** 0.5, other)
    apart, _ = separation((middle, (e, other, cross(e, other)), (0.5 * size, 0.0, 0.0)), box)
    if apart <= 0.0:
        return apart
    least = min(distance_of_point(a, box), distance_of_point(b, box))
    for i in range(EDGES):
        first, last = ends_of_edge(i)
        p, q = corner(box, first), corner(box, last)
        s, t = nearest_parameters(a, b, p, q)
        d = between(a, b, p, q, s, t)
        least = min(least, dot(d, d) ** 0.5)
    return least


@inline_kernel
def distance_of_boxes(one, other):
    """Return the least distance of two boxes; if negative, the amount by which they overlap."""
    apart, _ = separation(one, other)
    if apart <= 0.0:
        return apart
    least = 1e300
    for k in range(CORNERS):
        least = min(least, distance_of_point(corner(one, k), other), distance_of_point(corner(other, k), one))
    for i in range(EDGES):
        a, b = ends_of_edge(i)
        a0, a1 = corner(one, a), corner(one, b)
        for k in range(EDGES):
            a, b = ends_of_edge(k)
            b0, b1 = corner(other, a), corner(other, b)
            s, t = nearest_parameters(a0, a1, b0, b1)
            d = between(a0, a1, b0, b1, s, t)
            least = min(least, dot(d, d) ** 0.5)
    return least
