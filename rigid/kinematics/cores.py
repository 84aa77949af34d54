"""Convex cores of rounded bodies: hulls of points and bodies of revolution. Find the point of a core nearest to a given point.

A core is a block of parameters behind its centre; offsets count from the centre:

    sort, size    POLYTOPE, FACETS or ROUND; how many parameters the block has
    POLYTOPE      number of vertices, edges, faces; vertices (3 each), their fractions of the stiffness, edges (numbers of
                  both vertices), faces (unit normal, height); coplanar faces are one face. Two vertices are a segment
    FACETS        as POLYTOPE, but for a body of revolution about the third axis, in contact with edges of other cores: `facets`
    ROUND         axis (3), number of corners of the profile, these: radius, height along the axis; convex, from below to above.
                  A flat end begins, or ends, at minus the radius of its rim

A position q has three components: for a polytope the coordinates u along the axes of the frame, for a body of revolution the
distance r from the axis, the height z, and 0. In both cases the core is convex and fixed in these coordinates.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.linear_algebra import dot, minus, plus, times

POLYTOPE, ROUND, FACETS = 0, 1, 2
SORT, SIZE = 3, 4  # offsets of the sort and the size, behind the centre
COUNTS, VERTICES = 5, 8  # offsets in a polytope of its three counts and its vertices
AXIS, CORNERS, PROFILE = 5, 8, 9  # offsets in a body of revolution of its axis, number of corners and profile
VERTEX, EDGE, FACE = 0, 1, 2
BEYOND = 1e300


@inline_kernel
def _whole(x):
    """Return a parameter as an integer."""
    return int(x.real + 0.5)


@inline_kernel
def _real_vector(X, i):
    """Return the real parts of the vector X[i:i + 3]."""
    return X[i].real, X[i + 1].real, X[i + 2].real


@inline_kernel
def is_round(X, at):
    """Return True if the core at offset `at` is a body of revolution (ROUND)."""
    return _whole(X[at + SORT]) == ROUND


@inline_kernel
def is_faceted(X, at):
    """Return True if the core at offset `at` is a faceted body of revolution (FACETS)."""
    return _whole(X[at + SORT]) == FACETS


@inline_kernel
def counts_of(X, at):
    """Return the numbers of vertices, edges and faces of a polytope."""
    return _whole(X[at + COUNTS]), _whole(X[at + COUNTS + 1]), _whole(X[at + COUNTS + 2])


@inline_kernel
def vertex(X, at, k):
    """Return vertex k of a polytope, relative to the centre."""
    i = at + VERTICES + 3 * k
    return X[i], X[i + 1], X[i + 2]


@inline_kernel
def share_of_vertex(X, at, k):
    """Return the fraction of the stiffness of vertex k."""
    return X[at + VERTICES + 3 * _whole(X[at + COUNTS]) + k]


@inline_kernel
def ends_of_edge(X, at, k):
    """Return the numbers of both vertices of edge k."""
    i = at + VERTICES + 4 * _whole(X[at + COUNTS]) + 2 * k
    return _whole(X[i]), _whole(X[i + 1])


@inline_kernel
def face(X, at, k):
    """Return the unit normal and the height of face k."""
    nv, ne, _ = counts_of(X, at)
    i = at + VERTICES + 4 * nv + 2 * ne + 4 * k
    return (X[i], X[i + 1], X[i + 2]), X[i + 3]


@inline_kernel
def _height(q, X, i):
    """Return the height of q above the plane whose parameters begin at X[i]."""
    return q[0] * X[i].real + q[1] * X[i + 1].real + q[2] * X[i + 2].real - X[i + 3].real


@inline_kernel
def _corner(X, at, k):
    """Return corner k of the profile of a body of revolution."""
    i = at + PROFILE + 2 * k
    return X[i], X[i + 1], 0.0 * X[i]


@inline_kernel
def distance_bound(q, X, at):
    """Return a lower bound of the distance of q from the core, in real arithmetic; negative inside.

    It is the height above the plane of the face for which this height is greatest. For a segment it is 0.
    """
    if is_round(X, at):
        most = -BEYOND
        for k in range(_whole(X[at + CORNERS]) - 1):
            a, b = _corner(X, at, k), _corner(X, at, k + 1)
            e = b[0].real - a[0].real, b[1].real - a[1].real
            size = (e[0] * e[0] + e[1] * e[1]) ** 0.5
            most = max(most, ((q[0] - a[0].real) * e[1] - (q[1] - a[1].real) * e[0]) / size)
        return most
    nv, ne, nf = counts_of(X, at)
    first, most = at + VERTICES + 4 * nv + 2 * ne, -BEYOND
    for k in range(nf):
        most = max(most, _height(q, X, first + 4 * k))
    return most if nf > 0 else 0.0


@inline_kernel
def _on_face(q, X, at):
    """Return the number of the face that contains the point nearest to q; -1 if none does."""
    nv, ne, nf = counts_of(X, at)
    first = at + VERTICES + 4 * nv + 2 * ne
    for k in range(nf):
        i = first + 4 * k
        h = _height(q, X, i)
        if h < 0.0:
            continue
        p, inside = minus(q, times(h, _real_vector(X, i))), True
        for j in range(nf):
            if j != k and _height(p, X, first + 4 * j) > 0.0:
                inside = False
                break
        if inside:
            return k
    return -1


@inline_kernel
def _place_along(q, a, b):
    """Return the parameter, from 0 to 1, of the point of a segment nearest to q, and the squared distance."""
    e, w = minus(b, a), minus(q, a)
    t = min(max(dot(w, e) / dot(e, e), 0.0), 1.0)
    d = minus(w, times(t, e))
    return t, dot(d, d)


@inline_kernel
def feature_next_to(q, X, at):
    """Return the type (VERTEX, EDGE or FACE) and number of the feature nearest to a point q outside; in real arithmetic."""
    sort, number, least = VERTEX, 0, BEYOND
    if is_round(X, at):
        count = _whole(X[at + CORNERS]) - 1
        for k in range(count):
            a, b = _corner(X, at, k), _corner(X, at, k + 1)
            t, square = _place_along(q, (a[0].real, a[1].real, 0.0), (b[0].real, b[1].real, 0.0))
            if square < least:
                least = square
                sort, number = (EDGE, k) if 0.0 < t < 1.0 else (VERTEX, k + int(t))
        return sort, number
    number = _on_face(q, X, at)
    if number >= 0:
        return FACE, number
    for k in range(counts_of(X, at)[1]):
        i, j = ends_of_edge(X, at, k)
        t, square = _place_along(
            q, _real_vector(X, at + VERTICES + 3 * i), _real_vector(X, at + VERTICES + 3 * j)
        )
        if square < least:
            least = square
            sort, number = (EDGE, k) if 0.0 < t < 1.0 else (VERTEX, i if t == 0.0 else j)
    return sort, number


@inline_kernel
def nearest_in_core(q, X, at):
    """Return the point of the core nearest to q, which is outside, and the vector from there to q.

    The feature that contains it is determined in real arithmetic.
    """
    real = q[0].real, q[1].real, q[2].real
    sort, number = feature_next_to(real, X, at)
    if sort == FACE:
        n, height = face(X, at, number)
        d = times(dot(n, q) - height, n)
        return minus(q, d), d
    if is_round(X, at):
        a = _corner(X, at, number)
        b = _corner(X, at, number + 1) if sort == EDGE else a
    elif sort == EDGE:
        i, j = ends_of_edge(X, at, number)
        a, b = vertex(X, at, i), vertex(X, at, j)
    else:
        a = vertex(X, at, number)
        b = a
    w, e = minus(q, a), minus(b, a)
    t = dot(w, e) / dot(e, e) if sort == EDGE else 0j
    return plus(a, times(t, e)), minus(w, times(t, e))


@inline_kernel
def signed_distance(q, X, at):
    """Return the distance of q from the core in real arithmetic; inside, minus the depth below the nearest face."""
    most = distance_bound(q, X, at)
    if most < 0.0:
        return most
    d = nearest_in_core((q[0] + 0j, q[1] + 0j, q[2] + 0j), X, at)[1]
    return dot(d, d).real ** 0.5
