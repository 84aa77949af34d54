"""Contact of points (centres of spheres, stations of rods) with a convex core: a hull of points or a body of revolution.

Cores are described in `rigid.kinematics.cores`. A core is rounded by a radius: everything within that radius of it touches,
and forces act outside of the core. In its axes a point has the position q, and p is the nearest point of the core. With d0 =
q0 - p0, d1 = q1 - p1 at both ends of a step, and w = p1 - p0,

    tau = (|w|^2 + 2 d1 . w)/(2 |w|^2 + 2 d1 . w - 2 d0 . w),   1/2 where w is 0                                      (1)
    D1^2 - D0^2 = 2 dbar . (q1 - q0),   dbar = (d0 + d1)/2 + (1/2 - tau) w                                            (2)

No point of a convex set is nearer than the nearest one, so that d1 . w >= 0 >= d0 . w: tau lies in [0, 1], and (2) is the mean
contact point of `gaps` on the straight line from p0 to p1. It is the root of a linear function here, because the core does not
move in its own axes. d . w is 0 if both points are on one feature.

For a hull, q are the coordinates u_i = d_i . (x - c), bilinear in the poses. For a body of revolution they are r and z, with
the axis a and w = x - c:

    z = a . w,   r^2 = |w|^2 - z^2,   r1 - r0 = (r1^2 - r0^2)/(r0 + r1)                                               (3)

by the product rule in w and a. The body may rotate about its axis by any angle, so that a rolling body feels no ripple.

A step fails if a point is inside the core at one of its ends.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_points import reach_between
from rigid.interactions.contact.contact_sums import (
    NOTHING,
    add,
    add_on_station,
    along,
    contact_contribution,
    mark_failed,
    share_of,
)
from rigid.interactions.contact.gaps import RHO, contact_force, root, size_of
from rigid.interactions.contact.normal_laws import PASSED, potential
from rigid.interactions.contact.planes import store_on_node
from rigid.interactions.kinds import (
    Kind,
    add_dual,
    dual_function,
    frame,
    no_bend,
    value_function,
    vector,
    whole,
)
from rigid.kinematics.cores import AXIS, distance_bound, is_round, nearest_in_core
from rigid.kinematics.poses import ZERO, direction, on_direction, on_point, point
from rigid.linear_algebra import average, dot, minus, plus, real, times

CENTRE, CORE = 5, 8  # offsets in X of the centre of a sphere and of the core that it touches
# offsets in X of the number of stations of an element, followed by its length, and of the core
STATIONS, CORE_OF_ROD = 5, 7
# relative round-off of the product of a position and a distance: smaller products count as 0
ROUNDING = 1e-15


@inline_kernel
def in_core_axes(x, pose, X, at):
    """Return w = x - c and the position of x in the axes of a core; `at`: offset of the core in X."""
    w = minus(x, point(pose, vector(X, at)))
    if is_round(X, at):
        z = dot(direction(pose, vector(X, at + AXIS)), w)
        square = dot(w, w) - z * z
        return w, (root(square) if square.real > 0.0 else 0j, z, 0j)
    return w, (dot(pose[1], w), dot(pose[2], w), dot(pose[3], w))


@inline_kernel
def of_point(x, pose, X, at):
    """Return the potential V of a point x and a core; NaN if the point is inside the core."""
    q = in_core_axes(x, pose, X, at)[1]
    most = distance_bound(real(q), X, at)
    if most < 0.0:
        return PASSED
    if most > reach_between(X):
        return 0j
    return potential(X, size_of(nearest_in_core(q, X, at)[1]) - X[RHO])


@inline_kernel
def _across(d, w, q):
    """Return d . w, with a real part of 0 if it is below round-off; the derivative part of a complex step is kept."""
    product, least = dot(d, w), ROUNDING * ROUNDING * dot(real(q), real(q)) * dot(real(d), real(d))
    return product if product.real * product.real > least else product - product.real


@inline_kernel
def mean_offset(q0, q1, near0, near1):
    """Return dbar of (2)."""
    (p0, d0), (p1, d1) = near0, near1
    w = minus(p1, p0)
    square, mean = dot(w, w), average(d0, d1)
    if square.real < 1e-200:
        return mean
    c0, c1 = _across(d0, w, q0), _across(d1, w, q1)
    return plus(mean, times((-0.5 * (c0 + c1)) / (square + c1 - c0), w))


@inline_kernel
def push_from_core(x0, x1, poses, at, j, X, weight, fraction, out):
    """Add the dual of the core of frame j in contact with a point; return the contact contribution, the force on the
    point.

    x0, x1: the point at both ends of the step. `poses`: poses of frame j at both ends. `fraction`: fraction of the distance from
    the point to the core at which both surfaces touch, measured from the point.
    """
    (w0, q0), (w1, q1) = in_core_axes(x0, poses[0], X, at), in_core_axes(x1, poses[1], X, at)
    far, out0, out1 = reach_between(X), distance_bound(real(q0), X, at), distance_bound(real(q1), X, at)
    if out0 < 0.0 or out1 < 0.0:
        mark_failed(out)
        return NOTHING
    if out0 > far and out1 > far:
        return NOTHING
    near0, near1 = nearest_in_core(q0, X, at), nearest_in_core(q1, X, at)
    D0, D1 = size_of(near0[1]), size_of(near1[1])
    Q, _, closed = contact_force(X, ZERO, D0, D1)
    if Q == 0.0:
        return NOTHING
    w, scale, offset = average(w0, w1), 2.0 * Q / (D0 + D1), mean_offset(q0, q1, near0, near1)
    if is_round(X, at):
        A, both = vector(X, at + AXIS), q0[0] + q1[0]
        a = average(direction(poses[0], A), direction(poses[1], A))
        outwards = 2.0 * offset[0] / both if both.real > 0.0 else 0j
        up = offset[1] - 0.5 * outwards * (q0[1] + q1[1])
        d = plus(times(up, a), times(outwards, w))
        add_dual(on_direction(times(-weight * scale * up, w), A), out, j)
    else:
        d = ZERO
        for i in range(3):
            d = plus(d, times(offset[i], average(poses[0][1 + i], poses[1][1 + i])))
            on_axis = times(-weight * scale * offset[i], w)
            for c in range(3):
                out[j, 1 + i, c] += on_axis[c]
    force = times(scale, d)
    add_dual(on_point(times(weight, force), vector(X, at)), out, j)
    return contact_contribution(weight, Q, force, closed, minus(average(x0, x1), times(fraction, d)))


# --- a sphere


@value_function
def value_of_sphere_and_core(y, X, out):
    """Compute the potential of a sphere and a core."""
    out[0] = of_point(point(frame(y, 0), vector(X, CENTRE)), frame(y, 1), X, CORE)


@inline_kernel
def sphere_on_core(y0, y1, X, weight, fraction, out):
    """Add the duals of a sphere and a core to `out`, and nothing else; return the contact sums."""
    local = vector(X, CENTRE)
    x0, x1 = point(frame(y0, 0), local), point(frame(y1, 0), local)
    sums = push_from_core(x0, x1, (frame(y0, 1), frame(y1, 1)), CORE, 1, X, weight, fraction, out)
    add_dual(on_point(times(-1.0, sums[1]), local), out, 0)
    return sums


@dual_function
def dual_of_sphere_and_core(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a sphere and a core."""
    out[:] = 0.0
    sphere_on_core(y0, y1, X, lam[0], 0.5, out)


# --- an element of a rod, frames 1 and 2


@value_function
def value_of_core_and_rod(y, X, out):
    """Compute the potential of a core and an element of a rod."""
    m, out[0], pose = whole(X[STATIONS]), 0.0, frame(y, 0)
    for i in range(m + 1):
        out[0] += share_of(i, X, STATIONS) * of_point(along(y, 1, i / m), pose, X, CORE_OF_ROD)


@inline_kernel
def rod_on_core(y0, y1, X, weight, fraction, out):
    """Add the dual of the core, and forces and weights of the nodes of an element, to `out`; return the contact sums."""
    m, total, poses = whole(X[STATIONS]), NOTHING, (frame(y0, 0), frame(y1, 0))
    for i in range(m + 1):
        s = i / m
        x0, x1 = along(y0, 1, s), along(y1, 1, s)
        sums = push_from_core(
            x0, x1, poses, CORE_OF_ROD, 0, X, weight * share_of(i, X, STATIONS), fraction, out
        )
        if sums[0] != 0.0:
            add_on_station(out, 1, s, sums)
            total = add(total, sums)
    return total


@dual_function
def dual_of_core_and_rod(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a core and an element of a rod."""
    out[:] = 0.0
    rod_on_core(y0, y1, X, lam[0], 0.5, out)
    for k in range(1, 3):
        store_on_node(out, k)


SPHERE_CORE = Kind(
    "contact of a sphere and a hull", 2, 0, value_of_sphere_and_core, dual_of_sphere_and_core, no_bend,
    one_sided=True,
)  # fmt: skip
CORE_ROD = Kind(
    "contact of a hull and a rod", 3, 0, value_of_core_and_rod, dual_of_core_and_rod, no_bend,
    one_sided=True, turning=1,
)  # fmt: skip
