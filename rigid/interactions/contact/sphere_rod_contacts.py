"""Contact of spheres and rods with each other.

The potential is V of D - rho, D the distance of their axes, rho the sum of their radii.

An element of a rod is a row of stations on its chord, each with its nearest point on a segment of the other rod. If the other
rod continues behind the vertex b2 (`minus`), the contribution of that vertex is subtracted, because the next segment is as
near there. The potential of two rods is the sum of all stations of one against all segments of the other, or half of it and
half of the reverse.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.contact_sum_derivatives import add_forces, moved, pieces
from rigid.interactions.contact.contact_sums import (
    add,
    add_line_contacts,
    add_on_station,
    along,
    is_differentiated,
    nothing,
    origin,
    share_of,
)
from rigid.interactions.contact.gaps import RHO, nearest, of_points, size_of
from rigid.interactions.contact.normal_laws import potential, reach_of
from rigid.interactions.contact.planes import store_on_centre, store_on_node
from rigid.interactions.kinds import (
    Kind,
    dual_function,
    frame,
    no_bend,
    store,
    tangent_function,
    value_function,
    vector,
    whole,
)
from rigid.kinematics.poses import on_point, point
from rigid.kinematics.segments import between, nearest_parameters
from rigid.linear_algebra import average, dot, minus, real, times

XA, XB = 5, 8  # offsets in X of the centres of both spheres
MINUS_OF_SPHERE = 8
STATIONS, LENGTH, MINUS_OF_ROD = 5, 6, 7


@inline_kernel
def _of_distance(X, d):
    """Return V for the vector d between both axes."""
    return potential(X, size_of(d) - X[RHO])


@inline_kernel
def _of_line(y, X, x, k, minus_last):
    """Return V of a point x and the segment of frames k and k + 1; `minus_last`: True if V of its last vertex is subtracted."""
    a, b = origin(y, k), origin(y, k + 1)
    _, d, _ = nearest(x, a, minus(b, a), 0.0, 1.0)
    V = _of_distance(X, d)
    return V - _of_distance(X, minus(x, b)) if minus_last else V


@value_function
def value_of_spheres(y, X, out):
    """Compute the potential of two spheres."""
    out[0] = _of_distance(X, minus(point(frame(y, 0), vector(X, XA)), point(frame(y, 1), vector(X, XB))))


@inline_kernel
def between_spheres(y0, y1, X):
    """Return the result of `of_points` for the centres of two spheres, and the mean position of the first one."""
    a0, a1 = point(frame(y0, 0), vector(X, XA)), point(frame(y1, 0), vector(X, XA))
    b0, b1 = point(frame(y0, 1), vector(X, XB)), point(frame(y1, 1), vector(X, XB))
    Q, force, closed, d = of_points(X, a0, a1, b0, b1)
    return Q, force, closed, d, average(a0, a1)


@dual_function
def dual_of_spheres(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of two spheres."""
    out[:] = 0.0
    force = times(lam[0], between_spheres(y0, y1, X)[1])
    store_on_centre(force, X, XA, out, 0)
    store(on_point(force, vector(X, XB)), out, 1)


@value_function
def value_of_sphere(y, X, out):
    """Compute the potential of a sphere and an element of a rod."""
    x = point(frame(y, 0), vector(X, XA))
    out[0] = _of_line(y, X, x, 1, whole(X[MINUS_OF_SPHERE]) == 1)


@inline_kernel
def sphere_on_line(y0, y1, X, line, weight, fraction, out):
    """Add the duals of a sphere against a polyline to `out`; return the contact sums; `line`: see
    `add_line_contacts`.
    """
    x0, x1 = point(frame(y0, 0), vector(X, XA)), point(frame(y1, 0), vector(X, XA))
    return add_line_contacts(y0, y1, X, line, (x0, x1, weight, fraction), out)


@dual_function
def dual_of_sphere(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a sphere and an element of a rod."""
    out[:] = 0.0
    line = (1, 2, whole(X[MINUS_OF_SPHERE]) == 1)
    sums = sphere_on_line(y0, y1, X, line, lam[0], 0.5, out)
    store_on_centre(sums[1], X, XA, out, 0)
    for k in range(1, 3):
        store_on_node(out, k)


@value_function
def value_of_rods(y, X, out):
    """Compute the potential of two elements of rods."""
    m, out[0] = whole(X[STATIONS]), 0.0
    for i in range(m + 1):
        V = _of_line(y, X, along(y, 0, i / m), 2, whole(X[MINUS_OF_ROD]) == 1)
        out[0] += share_of(i, X, STATIONS) * V


@inline_kernel
def _in_reach(y, X, line):
    """Return True if the element of frames 0 and 1 is within the reach of the law of one of the segments of a polyline."""
    first, count, _ = line
    a0, a1, reach = real(origin(y, 0)), real(origin(y, 1)), X[RHO].real + reach_of(X)
    for j in range(first, first + count - 1):
        b0, b1 = real(origin(y, j)), real(origin(y, j + 1))
        s, t = nearest_parameters(a0, a1, b0, b1)
        d = between(a0, a1, b0, b1, s, t)
        if dot(d, d) < reach * reach * (1.0 + 1e-9):
            return True
    return False


@inline_kernel
def rod_on_line(y0, y1, X, line, weight, fraction, out):
    """Add the duals of an element against a polyline to `out`; return the contact sums; `line`: see
    `add_line_contacts`.

    Most pairs of a list do not touch: these cost two evaluations of a distance.
    """
    if not (_in_reach(y0, X, line) or _in_reach(y1, X, line)):
        return nothing(origin(y0, 0))
    m, total = whole(X[STATIONS]), nothing(origin(y0, 0))
    for i in range(m + 1):
        s = i / m
        station = along(y0, 0, s), along(y1, 0, s), weight * share_of(i, X, STATIONS), fraction
        sums = add_line_contacts(y0, y1, X, line, station, out)
        add_on_station(out, 0, s, sums)
        total = add(total, sums)
    return total


@dual_function
def dual_of_rods(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of two elements of rods."""
    out[:] = 0.0
    if is_differentiated(y0, y1, X, lam, 4):
        _put_dual_of_rods(y0, y1, X, lam, out)
    else:
        _put_dual_of_rods(y0.real, y1.real, X.real, lam.real, out.real)


@inline_kernel
def _put_dual_of_rods(y0, y1, X, lam, out):
    """Compute `dual_of_rods` in the arithmetic of the arguments, complex or real."""
    rod_on_line(y0, y1, X, (2, 2, whole(X[MINUS_OF_ROD]) == 1), lam[0], 0.5, out)
    for k in range(4):
        store_on_node(out, k)


@inline_kernel
def _add_piece(K, s, weight, piece):
    """Add the contribution of a station s and a segment (`piece_of`) to the tangent matrix of two rods."""
    for node in range(4 if piece[0] != 0.0 else 0):
        on_w = 1.0 - s if node == 0 else (s if node == 1 else (-1.0 if node == 2 else 0.0))
        on_e = 1.0 if node == 3 else (-1.0 if node == 2 else 0.0)
        for m in range(3):
            _, dt, _, _, dforce = moved(piece, on_w, on_e, m)
            add_forces(K, 3 * node + m, (0, 6, 3), s, weight, piece, dt, dforce)


@tangent_function
def tangent_of_rods(y0, y1, X, lam, out, K):
    """Compute the tangent matrix of two elements of rods, contact by contact."""
    K[:12, :12] = 0.0
    m, minus_last = whole(X[STATIONS]), whole(X[MINUS_OF_ROD]) == 1
    for i in range(m + 1):
        s = i / m
        weight = lam[0].real * share_of(i, X, STATIONS).real
        count, first, second = pieces(
            X, (real(along(y0, 0, s)), real(along(y1, 0, s))), y0, y1, 2, minus_last
        )
        if count > 0:
            _add_piece(K, s, weight, first)
        if count > 1:
            _add_piece(K, s, -weight, second)
    out[:4, 3, 0] = 1.0


SPHERES = Kind("contact of spheres", 2, 0, value_of_spheres, dual_of_spheres, no_bend, one_sided=True)
SPHERE_ROD = Kind(
    "contact of a sphere and a rod", 3, 0, value_of_sphere, dual_of_sphere, no_bend, one_sided=True, turning=1
)
RODS = Kind("contact of rods", 4, 0, value_of_rods, dual_of_rods, no_bend, one_sided=True, turning=0)
RODS = RODS._replace(tangent=tangent_of_rods)
