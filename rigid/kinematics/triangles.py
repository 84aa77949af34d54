"""Distances of triangles from points and segments, in real arithmetic."""

from rigid.compilation.decorators import inline_kernel
from rigid.kinematics.segments import between, clip_to_unit, nearest_parameters
from rigid.linear_algebra import cross, dot, minus, plus, times


@inline_kernel
def outward(p, q, c):
    """Return the in-plane vector of the triangle p q c that is normal to its side p q and points away from c."""
    e, g = minus(q, p), minus(c, p)
    return minus(times(dot(g, e) / dot(e, e), e), g)


@inline_kernel
def is_above(x, a, b, c):
    """Return True if the orthogonal projection of x onto the plane of the triangle lies inside the triangle."""
    if dot(outward(a, b, c), minus(x, a)) >= 0.0:
        return False
    return dot(outward(b, c, a), minus(x, b)) < 0.0 and dot(outward(c, a, b), minus(x, c)) < 0.0


@inline_kernel
def height_above(x, a, b, c):
    """Return the signed height of a point x over the plane of the triangle."""
    n = cross(minus(b, a), minus(c, a))
    return dot(n, minus(x, a)) / dot(n, n) ** 0.5


@inline_kernel
def _from_side(x, p, q):
    """Return the squared distance of a point from a segment."""
    e, w = minus(q, p), minus(x, p)
    d = minus(w, times(clip_to_unit(dot(w, e) / dot(e, e)), e))
    return dot(d, d)


@inline_kernel
def distance_from_triangle(x, a, b, c):
    """Return the distance of a point x from a triangle."""
    if is_above(x, a, b, c):
        return abs(height_above(x, a, b, c))
    return min(_from_side(x, a, b), _from_side(x, b, c), _from_side(x, c, a)) ** 0.5


@inline_kernel
def _between_segments(x, y, p, q):
    """Return the squared distance of two segments."""
    s, t = nearest_parameters(x, y, p, q)
    d = between(x, y, p, q, s, t)
    return dot(d, d)


@inline_kernel
def segment_from_triangle(x, y, a, b, c):
    """Return the distance of a segment, whose ends may coincide, from a triangle; 0 if it goes through the triangle."""
    ends = min(distance_from_triangle(x, a, b, c), distance_from_triangle(y, a, b, c))
    if x[0] == y[0] and x[1] == y[1] and x[2] == y[2]:
        return ends
    g, h = height_above(x, a, b, c), height_above(y, a, b, c)
    if g * h <= 0.0 and g != h and is_above(plus(x, times(g / (g - h), minus(y, x))), a, b, c):
        return 0.0
    sides = min(_between_segments(x, y, a, b), _between_segments(x, y, b, c), _between_segments(x, y, c, a))
    return min(ends, sides**0.5)
