"""Contact of a half-space with a sphere or an element of a rod: potential V of the gap n . (x - p) - rho.

n = R N and p = r + R P move with the frame of the plane; n points into the free space. The potential of an element is the sum
over its stations, which lie on its chord. Over a step n and x - p are averaged, which is exact since the gap is bilinear. On
an element with many nodes, these nodes are the stations, each with its part of the element's length: a uniform pressure then
acts on nodes as inertia and weight do, and a straight rod stays straight.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.blocks import move_along, move_back, put_imaginary
from rigid.interactions.contact.contact_sums import (
    N,
    P,
    add,
    add_on_station,
    add_plane_contacts,
    along,
    is_differentiated,
    nothing,
    origin,
    plane_of,
    share_of,
)
from rigid.interactions.contact.gaps import RHO, of_plane
from rigid.interactions.contact.normal_laws import potential, reach_of
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
from rigid.kinematics.poses import direction, on_point, on_point_and_direction, point
from rigid.linear_algebra import dot, minus, plus, times

CENTRE = 11  # offset in X of the centre of a sphere
STATIONS, LENGTH, OF_NODES = (
    11,
    12,
    13,
)  # offsets in X, for a rod, of m, L and, if m = 1, of the optional parts of both nodes


@inline_kernel
def _gap(y, X, x):
    """Return the gap of a point x."""
    plane = frame(y, 0)
    return dot(direction(plane, vector(X, N)), minus(x, point(plane, vector(X, P)))) - X[RHO]


@inline_kernel
def _of_gap(y, X, x):
    """Return V of a point x."""
    return potential(X, _gap(y, X, x))


@inline_kernel
def on_plane(X, out):
    """Return the dual of frame 0 from the force and the dual of the normal that `add_plane_contacts` has left in `out`."""
    left = frame(out, 0)
    return on_point_and_direction(left[0], vector(X, P), left[2], vector(X, N))


@inline_kernel
def store_on_centre(force, X, at, out, k):
    """Store the dual of a force on the centre of a sphere of frame k in `out`; the dual is the negative of `force`."""
    store(on_point(times(-1.0, force), vector(X, at)), out, k)


@inline_kernel
def store_on_node(out, k):
    """Store the force of node k alone in `out`, and clear its weight."""
    force = frame(out, k)[0]
    none = times(0.0, force)
    store((force, none, none, none), out, k)


@value_function
def value_of_sphere(y, X, out):
    """Compute the potential of a plane and a sphere."""
    out[0] = _of_gap(y, X, point(frame(y, 1), vector(X, CENTRE)))


@inline_kernel
def sphere_on_plane(y0, y1, X, weight, out):
    """Add the duals of a plane and a sphere to `out`; return the contact sums."""
    centre = vector(X, CENTRE)
    x0, x1 = point(frame(y0, 1), centre), point(frame(y1, 1), centre)
    return add_plane_contacts(X, plane_of(y0, y1, X), x0, x1, weight, out)


@dual_function
def dual_of_sphere(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a plane and a sphere."""
    out[:] = 0.0
    sums = sphere_on_plane(y0, y1, X, lam[0], out)
    store(on_plane(X, out), out, 0)
    store_on_centre(sums[1], X, CENTRE, out, 1)


@inline_kernel
def share_on_plane(i, X, count):
    """Return the length that station i represents, m; `count`: number of parameters of the energy, which come first in X."""
    return X[OF_NODES + i] if count > OF_NODES else share_of(i, X, STATIONS)


@value_function
def value_of_rod(y, X, out):
    """Compute the potential of a plane and an element of a rod."""
    m, out[0] = whole(X[STATIONS]), 0.0
    for i in range(m + 1):
        out[0] += share_on_plane(i, X, X.shape[0]) * _of_gap(y, X, along(y, 1, i / m))


@inline_kernel
def _in_reach(y, X):
    """Return True if an end of the element of frames 1 and 2 is within the reach of the law of the plane."""
    reach = reach_of(X) + 1e-9 * X[RHO].real
    return _gap(y, X, along(y, 1, 0.0)).real < reach or _gap(y, X, along(y, 1, 1.0)).real < reach


@inline_kernel
def rod_on_plane(y0, y1, X, count, weight, out):
    """Add the duals of a plane and an element to `out`; return the contact sums; `count`: see `share_on_plane`."""
    total = nothing(origin(y0, 1))
    if not (_in_reach(y0, X) or _in_reach(y1, X)):
        return total
    m, plane = whole(X[STATIONS]), plane_of(y0, y1, X)
    for i in range(m + 1):
        s = i / m
        x0, x1 = along(y0, 1, s), along(y1, 1, s)
        sums = add_plane_contacts(X, plane, x0, x1, weight * share_on_plane(i, X, count), out)
        if sums[0] != 0.0:
            add_on_station(out, 1, s, sums)
            total = add(total, sums)
    return total


@inline_kernel
def _put_dual_of_rod(y0, y1, X, lam, out):
    """Compute `dual_of_rod` in the arithmetic of the arguments, complex or real."""
    out[:] = 0.0
    rod_on_plane(y0, y1, X, X.shape[0], lam[0], out)
    store(on_plane(X, out), out, 0)
    for k in range(1, 3):
        store_on_node(out, k)


@dual_function
def dual_of_rod(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a plane and an element of a rod."""
    if is_differentiated(y0, y1, X, lam, 3):
        _put_dual_of_rod(y0, y1, X, lam, out)
    else:
        out[:] = 0.0
        _put_dual_of_rod(y0.real, y1.real, X.real, lam.real, out.real)


@inline_kernel
def _add_station(K, s, slope, n, n1):
    """Add the derivatives of the forces on both nodes with respect to both positions at the end of the step, for one station.

    `slope`: decrease of the force per unit of the gap at the end. n: mean normal. n1: normal at the end.
    """
    for k in range(2):
        for l in range(2):
            factor = slope * (s if k == 1 else 1.0 - s) * (s if l == 1 else 1.0 - s)
            for j in range(3):
                for i in range(3):
                    K[6 * (k + 1) + j, 6 * (l + 1) + i] += factor * n1[j].real * n[i].real


@tangent_function
def tangent_of_rod(y0, y1, X, lam, out, K):
    """Compute the tangent matrix of a plane and an element, station by station, by one complex step along the normal.

    If the plane moves, all columns of the dual are computed by complex steps.
    """
    K[:18, :18] = 0.0
    if out[0, 3, 0] != 0.0:
        for k in range(3):
            for j in range(6 if k == 0 else 3):
                move_along(y1, k, j)
                _put_dual_of_rod(y0, y1, X, lam, out)
                put_imaginary(out, y0, y1, 3, K, 6 * k + j)
                move_back(y1, k)
        for k in range(3):
            out[k, 3, 0] = 1.0
        return
    m, (P0, P1, n0, n1) = whole(X[STATIONS]), plane_of(y0, y1, X)
    up = times(1j * COMPLEX_STEP, n1)
    for i in range(m + 1):
        s = i / m
        Q, _, n, _ = of_plane(X, along(y0, 1, s), plus(along(y1, 1, s), up), P0, P1, n0, n1)
        if Q.imag != 0.0:
            slope = -lam[0].real * share_on_plane(i, X, X.shape[0]).real * Q.imag / COMPLEX_STEP
            _add_station(K, s, slope, n, n1)
    for k in range(1, 3):
        out[k, 3, 0] = 1.0


PLANE_SPHERE = Kind(
    "contact of a plane and a sphere", 2, 0, value_of_sphere, dual_of_sphere, no_bend, one_sided=True
)
PLANE_ROD = Kind(
    "contact of a plane and a rod", 3, 0, value_of_rod, dual_of_rod, no_bend, one_sided=True, turning=1
)
PLANE_ROD = PLANE_ROD._replace(tangent=tangent_of_rod)
