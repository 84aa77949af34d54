"""A half-space against a sphere or an element of a rod: V of the gap n . (x - p) - rho, of all stations of an element.

n = R N and p = r + R P move with the frame of the plane; n points to where there is room. Stations stand on the chord of the
element. Over a step n and x - p are averaged, which is exact since the gap is bilinear.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.gaps import RHO
from rigid.interactions.contact.normal_laws import potential, reach_of
from rigid.interactions.contact.touching import (
    NOTHING,
    N,
    P,
    add,
    add_on_station,
    against_plane,
    along,
    share_of,
)
from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, store, value_function, vector, whole
from rigid.kinematics.poses import ZERO, direction, on_point, on_point_and_direction, point
from rigid.linear_algebra import dot, minus, times

CENTRE = 11  # place of the centre of a sphere
STATIONS, LENGTH = 11, 12  # of a rod: places of m and L


@small_kernel
def _gap(y, X, x):
    """Of a point x."""
    plane = frame(y, 0)
    return dot(direction(plane, vector(X, N)), minus(x, point(plane, vector(X, P)))) - X[RHO]


@small_kernel
def _of_gap(y, X, x):
    """V of a point x."""
    return potential(X, _gap(y, X, x))


@small_kernel
def on_plane(X, out):
    """The dual of frame 0, from what `against_plane` has left there."""
    left = frame(out, 0)
    return on_point_and_direction(left[0], vector(X, P), left[2], vector(X, N))


@small_kernel
def store_on_centre(force, X, at, out, k):
    """The dual of a force on the centre of a sphere of frame k, the negative of `force`."""
    store(on_point(times(-1.0, force), vector(X, at)), out, k)


@small_kernel
def store_on_node(out, k):
    """The force alone, without the weight."""
    store((frame(out, k)[0], ZERO, ZERO, ZERO), out, k)


@value_function
def value_of_sphere(y, X, out):
    out[0] = _of_gap(y, X, point(frame(y, 1), vector(X, CENTRE)))


@small_kernel
def sphere_on_plane(y0, y1, X, weight, out):
    """Its sum of `touching`."""
    centre = vector(X, CENTRE)
    return against_plane(y0, y1, X, point(frame(y0, 1), centre), point(frame(y1, 1), centre), weight, out)


@dual_function
def dual_of_sphere(y0, y1, X, lam, out):
    out[:] = 0.0
    found = sphere_on_plane(y0, y1, X, lam[0], out)
    store(on_plane(X, out), out, 0)
    store_on_centre(found[1], X, CENTRE, out, 1)


@value_function
def value_of_rod(y, X, out):
    m, out[0] = whole(X[STATIONS]), 0.0
    for i in range(m + 1):
        out[0] += share_of(i, X, STATIONS) * _of_gap(y, X, along(y, 1, i / m))


@small_kernel
def _in_reach(y, X):
    """Whether an end of the element of frames 1 and 2 is near enough to the plane that the law may act."""
    reach = reach_of(X) + 1e-9 * X[RHO].real
    return _gap(y, X, along(y, 1, 0.0)).real < reach or _gap(y, X, along(y, 1, 1.0)).real < reach


@small_kernel
def rod_on_plane(y0, y1, X, weight, out):
    """Its sum of `touching`."""
    if not (_in_reach(y0, X) or _in_reach(y1, X)):
        return NOTHING
    m, total = whole(X[STATIONS]), NOTHING
    for i in range(m + 1):
        s = i / m
        x0, x1 = along(y0, 1, s), along(y1, 1, s)
        found = against_plane(y0, y1, X, x0, x1, weight * share_of(i, X, STATIONS), out)
        if found[0] != 0.0:
            add_on_station(out, 1, s, found)
            total = add(total, found)
    return total


@dual_function
def dual_of_rod(y0, y1, X, lam, out):
    out[:] = 0.0
    rod_on_plane(y0, y1, X, lam[0], out)
    store(on_plane(X, out), out, 0)
    for k in range(1, 3):
        store_on_node(out, k)


PLANE_SPHERE = Kind(
    "contact of a plane and a sphere", 2, 0, value_of_sphere, dual_of_sphere, no_bend, one_sided=True
)
PLANE_ROD = Kind(
    "contact of a plane and a rod", 3, 0, value_of_rod, dual_of_rod, no_bend, one_sided=True, turning=1
)
