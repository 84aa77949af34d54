"""Contact of a point with both sides of a rigid triangle mesh; exact over steps that cross any number of triangles.

In the axes of the mesh a point u has the energy

    W(u) = sum i_f U(D_f) + sum i_e U(D_e) + sum i_v U(D_v)                                                           (1)

over faces, edges and vertices. D is the distance from the plane, the line or the point, U the contact law. The indices follow
from U(faces) - U(inner edges) + U(inner vertices), where each term has the distance of a convex set, once all terms that
cancel are removed. The index of a face is 1 if the point is above it, else 0. The index of an edge, if the point is between
its ends, is one for each of its faces that the point is beyond, minus one for each face but the first. The index of a vertex
is one for each face whose nearest point it is, minus (number of faces - 1) for each edge whose nearest point it is, plus what
is left of 1 after all of them. On flat ground one face has the index 1 and all others are 0; on a ridge the edge has the index
1; in a valley two faces minus their edge remain. Indices change across planes, where W is continuous with a continuous slope.

Within a step u moves along a straight line, which is cut where it crosses such planes. On each piece d, the vector from the
nearest point to u, goes from d0 to d1, and the piece, the fraction ds of the step, adds

    force += i ds Q (d0 + d1)/(D0 + D1),    Q of `normal_laws` between D0 - rho and D1 - rho                          (2)

d is linear on a piece, so that (d0 + d1) . (d1 - d0) = D1^2 - D0^2: the work is W0 - W1. On flat ground all pieces have the
same normal, and for any law their sum is the force of one plane.

u_i = d_i . (x - r) is bilinear in the poses: by the product rule the work is exact, and both momenta are conserved.

A step fails if a point goes through a face within it. The sum of the indices of all touched features is the Euler number of
that part of the surface: 1 for a patch, 2 if two walls are touched, 0 for a ring. The edges of a ring cancel the forces of its
faces: an object too large for its funnel would fall through. So a step also fails if that sum is not positive at its end.

If a path touches a plane exactly, as that of a ball above a vertex does, the round-off of one triangle could contradict that
of its neighbour: indices are therefore evaluated at points shifted by ASIDE.

Parameters, behind those of the pair, in this order:
- numbers of vertices, faces, edges and stars;
- coordinates of the vertices (3 each);
- three vertex numbers of each face;
- for each edge the vertex numbers p, q, c of a triangle with the side p q and those of the other triangle (the same again if
  there is only one);
- for each star a vertex, its numbers of edges and faces; then for each edge the other end and 1 minus its number of faces, and
  for each face both other corners.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.gaps import RHO, size_of
from rigid.interactions.contact.normal_laws import PASSED, is_active, potential, reach_of, resistance
from rigid.interactions.kinds import vector, whole
from rigid.kinematics.poses import ZERO
from rigid.kinematics.triangles import outward
from rigid.linear_algebra import average, cross, dot, minus, plus, real, times

# multiples of rho: a shift that is not aligned with any mesh
ASIDE = 1e-11 * 0.5710, 1e-11 * 0.3391, 1e-11 * 0.7477
NOWHERE = 2.0 + 0j
COUNTS = 4  # number of counts: vertices, faces, edges, stars
OF_EDGE = 6
NO_PIECES = (0j, ZERO, ZERO, 0j, 0j, 0.0, False)


@inline_kernel
def _crossing(f0, f1):
    """Return the parameter in [0, 1] at which a linear function from f0 to f1 changes its sign; NOWHERE if it does not."""
    if (f0.real < 0.0) == (f1.real < 0.0):
        return NOWHERE
    return f0 / (f0 - f1)


@inline_kernel
def mesh_vertex(X, first, k):
    """Return the coordinates of the vertex whose number is X[k]; `first`: offset of the vertices in X."""
    return vector(X, first + 3 * whole(X[k]))


@inline_kernel
def _add_piece(X, sums, index, begin, end, d0, d1, mean):
    """Return the sums `sums` with the contribution (2) of a piece from `begin` to `end` added, see `pieces`.

    `index`: i of (2). d0, d1: vectors from the nearest point at both ends of the piece. `mean`: d in the middle of the step,
    which may be in another piece, so that flat ground is touched where a plane would be.
    """
    D0, D1 = size_of(d0), size_of(d1)
    rho = X[RHO]
    Q = index * resistance(X, D0 - rho, D1 - rho)
    if Q == 0.0 or (D0 + D1).real == 0.0:
        return sums
    weight, last = (end - begin) * Q, end.real >= 1.0 and is_active(X, D1 - rho)
    return (
        sums[0] + weight,
        plus(sums[1], times(weight / (D0 + D1), plus(d0, d1))),
        plus(sums[2], times(weight, mean)),
        sums[3] + Q * (D0 - D1),
        sums[4] + index * (end - begin) * potential(X, D0 - rho),
        sums[5] + (index if last else 0.0),
        sums[6] or last,
    )


@inline_kernel
def _on_path(path, s):
    """Return the point at parameter s of a path."""
    return plus(times(1.0 - s, path[0]), times(s, path[1]))


@inline_kernel
def _add_face(X, a, b, c, path, aside, sums):
    """Return the sums `sums` with the contribution of a face added; the point is above it while it is between its sides.

    The sums become NaN (`PASSED`) if the path goes through the face.
    """
    low, high = 0j, 1.0 + 0j
    for k in range(3):
        m, p = (
            (outward(a, b, c), a) if k == 0 else ((outward(b, c, a), b) if k == 1 else (outward(c, a, b), c))
        )
        f0, f1 = dot(m, minus(aside[0], p)) + 0j, dot(m, minus(aside[1], p)) + 0j
        s = _crossing(f0, f1)
        if s.real > 1.5:
            if f0.real >= 0.0:
                return sums
        elif f0.real < 0.0:
            high = s if s.real < high.real else high
        else:
            low = s if s.real > low.real else low
    if low.real >= high.real:
        return sums
    n = cross(minus(b, a), minus(c, a))
    n = times(1.0 / size_of((n[0] + 0j, n[1] + 0j, n[2] + 0j)), n)
    h0, h1 = dot(n, minus(_on_path(path, low), a)), dot(n, minus(_on_path(path, high), a))
    if h0.real * h1.real <= 0.0:
        return PASSED, sums[1], sums[2], sums[3], PASSED, sums[5], sums[6]
    mean = times(dot(n, minus(average(path[0], path[1]), a)), n)
    return _add_piece(X, sums, 1.0, low, high, times(h0, n), times(h1, n), mean)


@inline_kernel
def _from_line(u, p, e):
    """Return the vector to u from the nearest point of the line through p along e."""
    w = minus(u, p)
    return minus(w, times(dot(w, e) / dot(e, e), e))


@inline_kernel
def _index_of_edge(x, p, q, m, k):
    """Return the index in (1) of the edge p q with k faces; the point is beyond face i if it lies on the side of m[i]."""
    e = minus(q, p)
    if dot(e, minus(x, p)).real <= 0.0 or dot(e, minus(x, q)).real >= 0.0:
        return 0.0
    index = 1.0 - k
    for i in range(k):
        index += 1.0 if dot(m[i], minus(x, p)).real >= 0.0 else 0.0
    return index


@inline_kernel
def _add_edge(X, p, q, m, k, path, aside, sums):
    """Return the sums `sums` with the contribution of the edge p q with k faces added; m: see `_index_of_edge`."""
    e, begin = minus(q, p), 0j
    while True:
        end = 1.0 + 0j
        for j in range(2 + k):
            n, at = (e, p if j == 0 else q) if j < 2 else (m[j - 2], p)
            s = _crossing(dot(n, minus(aside[0], at)) + 0j, dot(n, minus(aside[1], at)) + 0j)
            if begin.real < s.real < end.real:
                end = s
        middle = 0.5 * (begin + end).real
        index = _index_of_edge(_on_path(aside, middle), p, q, m, k)
        if index != 0.0:
            d0, d1 = _from_line(_on_path(path, begin), p, e), _from_line(_on_path(path, end), p, e)
            mean = _from_line(average(path[0], path[1]), p, e)
            sums = _add_piece(X, sums, index, begin, end, d0, d1, mean)
        if end.real >= 1.0:
            return sums
        begin = end


@inline_kernel
def _index_of_vertex(X, x, v, star, first):
    """Return the index in (1) of the vertex v; `star`: offset of its star in X."""
    edges, faces = whole(X[star + 1]), whole(X[star + 2])
    at, w = star + 3, minus(x, v)
    index = 1.0 - faces
    for _ in range(edges):
        index += whole(-X[at + 1])
        if dot(w, minus(mesh_vertex(X, first, at), v)).real <= 0.0:
            index -= whole(-X[at + 1])
        at += 2
    for _ in range(faces):
        if dot(w, minus(mesh_vertex(X, first, at), v)).real <= 0.0:
            index += 1.0 if dot(w, minus(mesh_vertex(X, first, at + 1), v)).real <= 0.0 else 0.0
        at += 2
    return index


@inline_kernel
def _add_vertex(X, v, star, first, path, aside, sums):
    """Return the sums `sums` with the contribution of the vertex v added; `star`: offset of its star in X."""
    begin = 0j
    while True:
        end = 1.0 + 0j
        for j in range(whole(X[star + 1])):
            e = minus(mesh_vertex(X, first, star + 3 + 2 * j), v)
            s = _crossing(dot(e, minus(aside[0], v)) + 0j, dot(e, minus(aside[1], v)) + 0j)
            if begin.real < s.real < end.real:
                end = s
        middle = 0.5 * (begin + end).real
        index = _index_of_vertex(X, _on_path(aside, middle), v, star, first)
        if index != 0.0:
            d0, d1 = minus(_on_path(path, begin), v), minus(_on_path(path, end), v)
            sums = _add_piece(X, sums, index, begin, end, d0, d1, minus(average(path[0], path[1]), v))
        if end.real >= 1.0:
            return sums
        begin = end


@inline_kernel
def _outside(low, high, a, b, c):
    """Return True if the bounding box of three points is disjoint from the box with the corners low, high."""
    a, b, c = real(a), real(b), real(c)
    disjoint = False
    for i in range(3):
        disjoint = disjoint or max(a[i], b[i], c[i]) < low[i] or min(a[i], b[i], c[i]) > high[i]
    return disjoint


@inline_kernel
def box_around(X, one, other):
    """Return the corners of the box outside of which no feature acts on any point of the segment between two points."""
    far, a, b = (X[RHO].real + reach_of(X)) * (1.0 + 1e-9), real(one), real(other)
    low = min(a[0], b[0]) - far, min(a[1], b[1]) - far, min(a[2], b[2]) - far
    return low, (max(a[0], b[0]) + far, max(a[1], b[1]) + far, max(a[2], b[2]) + far)


@inline_kernel
def is_clear_of_box(X, at, low, high):
    """Return True if no face of the mesh at offset `at` intersects the bounding box low, high."""
    first = at + COUNTS
    face = first + 3 * whole(X[at])
    for _ in range(whole(X[at + 1])):
        a, b, c = (
            mesh_vertex(X, first, face),
            mesh_vertex(X, first, face + 1),
            mesh_vertex(X, first, face + 2),
        )
        if not _outside(low, high, a, b, c):
            return False
        face += 3
    return True


@inline_kernel
def pieces(X, at, u0, u1):
    """Return the contact sums of a point that moves from u0 to u1, in the axes of the mesh, over all pieces of its path.

    They are: the sum of Q, the force (2), the sum of Q d, the power, W of (1) if u0 = u1, the sum of the indices of all
    features touched at the end, and whether any is. Q is NaN if the step must fail.
    """
    sums, (low, high) = NO_PIECES, box_around(X, u0, u1)
    shift = times(X[RHO].real, ASIDE)
    path, aside = (u0, u1), (plus(u0, shift), plus(u1, shift))
    first = at + COUNTS
    k = first + 3 * whole(X[at])
    for _ in range(whole(X[at + 1])):
        a, b, c = mesh_vertex(X, first, k), mesh_vertex(X, first, k + 1), mesh_vertex(X, first, k + 2)
        k += 3
        if not _outside(low, high, a, b, c):
            sums = _add_face(X, a, b, c, path, aside, sums)
    if sums[0].real != sums[0].real:
        return sums
    for _ in range(whole(X[at + 2])):
        p, q = mesh_vertex(X, first, k), mesh_vertex(X, first, k + 1)
        if not _outside(low, high, p, q, q):
            one = outward(p, q, mesh_vertex(X, first, k + 2))
            two = outward(
                mesh_vertex(X, first, k + 3), mesh_vertex(X, first, k + 4), mesh_vertex(X, first, k + 5)
            )
            count = 1 if whole(X[k + 2]) == whole(X[k + 5]) else 2
            sums = _add_edge(X, p, q, (one, two), count, path, aside, sums)
        k += OF_EDGE
    for _ in range(whole(X[at + 3])):
        v = mesh_vertex(X, first, k)
        if not _outside(low, high, v, v, v):
            sums = _add_vertex(X, v, k, first, path, aside, sums)
        k += 3 + 2 * (whole(X[k + 1]) + whole(X[k + 2]))
    if sums[6] and sums[5] < 0.5:
        return PASSED, sums[1], sums[2], sums[3], sums[4], sums[5], True
    return sums
