"""Spheres and rods against each other: V of D - rho, D the distance of their axes, rho the sum of their radii.

An element of a rod is a row of stations on its chord, each with its nearest point on a segment of the other; where the other
goes on behind the vertex b2 (`minus`), that vertex is taken off, for the next segment is as near there. Two rods are the sum of
all stations of one against all segments of the other, or half of it and half of the reverse.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.gaps import RHO, nearest, of_points, size_of
from rigid.interactions.contact.normal_laws import potential, reach_of
from rigid.interactions.contact.planes import store_on_centre, store_on_node
from rigid.interactions.contact.touching import (
    NOTHING,
    add,
    add_on_station,
    against_line,
    along,
    origin,
    real,
    share_of,
)
from rigid.interactions.kinds import (
    COMPLEX_STEP,
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
from rigid.kinematics.segments import between, nearest_places
from rigid.linear_algebra import average, dot, minus, plus, times

XA, XB = 5, 8  # places of the centres of spheres
MINUS_OF_SPHERE = 8
STATIONS, LENGTH, MINUS_OF_ROD = 5, 6, 7


@small_kernel
def _of_distance(X, d):
    """V, of the line d between the axes."""
    return potential(X, size_of(d) - X[RHO])


@small_kernel
def _of_line(y, X, x, k, minus_last):
    """V of a point x and the segment of frames k and k + 1."""
    a, b = origin(y, k), origin(y, k + 1)
    _, d, _ = nearest(x, a, minus(b, a), 0.0, 1.0)
    V = _of_distance(X, d)
    return V - _of_distance(X, minus(x, b)) if minus_last else V


@value_function
def value_of_spheres(y, X, out):
    out[0] = _of_distance(X, minus(point(frame(y, 0), vector(X, XA)), point(frame(y, 1), vector(X, XB))))


@small_kernel
def between_spheres(y0, y1, X):
    """Of both centres, `of_points`, and the mean place of a's."""
    a0, a1 = point(frame(y0, 0), vector(X, XA)), point(frame(y1, 0), vector(X, XA))
    b0, b1 = point(frame(y0, 1), vector(X, XB)), point(frame(y1, 1), vector(X, XB))
    Q, force, closed, d = of_points(X, a0, a1, b0, b1)
    return Q, force, closed, d, average(a0, a1)


@dual_function
def dual_of_spheres(y0, y1, X, lam, out):
    out[:] = 0.0
    force = times(lam[0], between_spheres(y0, y1, X)[1])
    store_on_centre(force, X, XA, out, 0)
    store(on_point(force, vector(X, XB)), out, 1)


@value_function
def value_of_sphere(y, X, out):
    x = point(frame(y, 0), vector(X, XA))
    out[0] = _of_line(y, X, x, 1, whole(X[MINUS_OF_SPHERE]) == 1)


@small_kernel
def sphere_on_line(y0, y1, X, line, weight, share, out):
    """Its sum of `touching`; line: see `against_line`."""
    x0, x1 = point(frame(y0, 0), vector(X, XA)), point(frame(y1, 0), vector(X, XA))
    return against_line(y0, y1, X, line, (x0, x1, weight, share), out)


@dual_function
def dual_of_sphere(y0, y1, X, lam, out):
    out[:] = 0.0
    line = (1, 2, whole(X[MINUS_OF_SPHERE]) == 1)
    found = sphere_on_line(y0, y1, X, line, lam[0], 0.5, out)
    store_on_centre(found[1], X, XA, out, 0)
    for k in range(1, 3):
        store_on_node(out, k)


@value_function
def value_of_rods(y, X, out):
    m, out[0] = whole(X[STATIONS]), 0.0
    for i in range(m + 1):
        V = _of_line(y, X, along(y, 0, i / m), 2, whole(X[MINUS_OF_ROD]) == 1)
        out[0] += share_of(i, X, STATIONS) * V


@small_kernel
def _in_reach(y, X, line):
    """Whether the element of frames 0 and 1 is near enough to one of the segments of a line that the law may act."""
    first, count, _ = line
    a0, a1, reach = real(origin(y, 0)), real(origin(y, 1)), X[RHO].real + reach_of(X)
    for j in range(first, first + count - 1):
        b0, b1 = real(origin(y, j)), real(origin(y, j + 1))
        s, t = nearest_places(a0, a1, b0, b1)
        d = between(a0, a1, b0, b1, s, t)
        if dot(d, d) < reach * reach * (1.0 + 1e-9):
            return True
    return False


@small_kernel
def rod_on_line(y0, y1, X, line, weight, share, out):
    """Its sum of `touching`; line: see `against_line`. Most pairs of a list do not touch: these cost two distances."""
    if not (_in_reach(y0, X, line) or _in_reach(y1, X, line)):
        return NOTHING
    m, total = whole(X[STATIONS]), NOTHING
    for i in range(m + 1):
        s = i / m
        station = along(y0, 0, s), along(y1, 0, s), weight * share_of(i, X, STATIONS), share
        found = against_line(y0, y1, X, line, station, out)
        add_on_station(out, 0, s, found)
        total = add(total, found)
    return total


@dual_function
def dual_of_rods(y0, y1, X, lam, out):
    out[:] = 0.0
    rod_on_line(y0, y1, X, (2, 2, whole(X[MINUS_OF_ROD]) == 1), lam[0], 0.5, out)
    for k in range(4):
        store_on_node(out, k)


@small_kernel
def _add_row(K, row, column, factor, force):
    """The derivatives of a force."""
    for i in range(3):
        K[row, column + i] += factor * force[i].imag / COMPLEX_STEP


@small_kernel
def _add_station(K, row, factor, s, force, out):
    """Of the forces on all four nodes, where a station s has this one."""
    _add_row(K, row, 0, -(1.0 - s) * factor, force)
    _add_row(K, row, 3, -s * factor, force)
    for k in range(2, 4):
        _add_row(K, row, 3 * k, factor, origin(out, k))


@tangent_function
def tangent_of_rods(y0, y1, X, lam, out, K):
    """Station by station: six complex steps of those that touch, along the station and the end of the segment. Moved together
    with its beginning they change no force.
    """
    K[:12, :12] = 0.0
    line, m = (2, 2, whole(X[MINUS_OF_ROD]) == 1), whole(X[STATIONS])
    for i in range(m + 1):
        s = i / m
        x0, x1, weight = along(y0, 0, s), along(y1, 0, s), lam[0] * share_of(i, X, STATIONS)
        out[2:4] = 0.0
        if against_line(y0, y1, X, line, (x0, x1, weight, 0.5), out)[0] == 0.0:
            continue
        for j in range(3):
            step = 1j * COMPLEX_STEP
            e = (step if j == 0 else 0j, step if j == 1 else 0j, step if j == 2 else 0j)
            out[2:4] = 0.0
            force = against_line(y0, y1, X, line, (x0, plus(x1, e), weight, 0.5), out)[1]
            for k in range(3):  # with the nodes of the station, and against it the beginning of the segment
                _add_station(K, 3 * k + j, -1.0 if k == 2 else (s if k == 1 else 1.0 - s), s, force, out)
            y1[3, 0, j] += step
            out[2:4] = 0.0
            force = against_line(y0, y1, X, line, (x0, x1, weight, 0.5), out)[1]
            y1[3, 0, j] = y1[3, 0, j].real
            for k in range(2, 4):
                _add_station(K, 3 * k + j, -1.0 if k == 2 else 1.0, s, force, out)
    out[:4, 3, 0] = 1.0


SPHERES = Kind("contact of spheres", 2, 0, value_of_spheres, dual_of_spheres, no_bend, one_sided=True)
SPHERE_ROD = Kind(
    "contact of a sphere and a rod", 3, 0, value_of_sphere, dual_of_sphere, no_bend, one_sided=True, turning=1
)
RODS = Kind("contact of rods", 4, 0, value_of_rods, dual_of_rods, no_bend, one_sided=True, turning=0)
RODS = RODS._replace(tangent=tangent_of_rods)
