"""Points against a convex core, a hull of points or a body of revolution (`rigid.kinematics.cores`): spheres, stations of rods.

All that is no further from the core than a radius, which rounds it, touches: forces act outside of the core. In its axes a point
has a place q, and p is the point of the core next to it; with d0 = q0 - p0, d1 = q1 - p1 at both ends of a step, w = p1 - p0,

    tau = (|w|^2 + 2 d1 . w)/(2 |w|^2 + 2 d1 . w - 2 d0 . w),   1/2 where w is 0                                      (1)
    D1^2 - D0^2 = 2 dbar . (q1 - q0),   dbar = (d0 + d1)/2 + (1/2 - tau) w                                            (2)

In a convex set no point is nearer than the nearest one, so that d1 . w >= 0 >= d0 . w: tau is in [0, 1], and (2) is the mean
contact point of `gaps` on the straight line from p0 to p1. There it is the root of a linear function, for the core does not move
in its own axes. d . w is 0 where both points are on one feature.

Of a hull q are the coordinates u_i = d_i . (x - c), bilinear in the poses. Of a body of revolution they are r and z, with the
axis a and w = x - c

    z = a . w,   r^2 = |w|^2 - z^2,   r1 - r0 = (r1^2 - r0^2)/(r0 + r1)                                               (3)

by the product rule in w and a: the body may turn about its axis as it likes, so that what rolls feels no ripple.

A step at whose end a point is in the core fails.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.box_points import reach_between
from rigid.interactions.contact.gaps import RHO, pushed, root, size_of
from rigid.interactions.contact.normal_laws import PASSED, potential
from rigid.interactions.contact.planes import store_on_node
from rigid.interactions.contact.touching import NOTHING, add, add_on_station, along, fail, piece, share_of
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
from rigid.kinematics.cores import AXIS, beyond, is_round, nearest_in_core
from rigid.kinematics.poses import ZERO, direction, on_direction, on_point, point
from rigid.linear_algebra import average, dot, minus, plus, real, times

CENTRE, CORE = 5, 8  # of a sphere and of the core it touches
STATIONS, CORE_OF_ROD = 5, 7  # of an element, its length is the next, and of the core
ROUNDING = 1e-15  # of a place and a distance: what is less is 0


@small_kernel
def seen(x, pose, X, at):
    """x - c, and its place in the axes of a core."""
    w = minus(x, point(pose, vector(X, at)))
    if is_round(X, at):
        z = dot(direction(pose, vector(X, at + AXIS)), w)
        square = dot(w, w) - z * z
        return w, (root(square) if square.real > 0.0 else 0j, z, 0j)
    return w, (dot(pose[1], w), dot(pose[2], w), dot(pose[3], w))


@small_kernel
def of_point(x, pose, X, at):
    """V."""
    q = seen(x, pose, X, at)[1]
    most = beyond(real(q), X, at)
    if most < 0.0:
        return PASSED
    if most > reach_between(X):
        return 0j
    return potential(X, size_of(nearest_in_core(q, X, at)[1]) - X[RHO])


@small_kernel
def _across(d, w, q):
    """d . w, 0 where that is rounding; what a change of a number makes of it stays."""
    found, least = dot(d, w), ROUNDING * ROUNDING * dot(real(q), real(q)) * dot(real(d), real(d))
    return found if found.real * found.real > least else found - found.real


@small_kernel
def mean_offset(q0, q1, near0, near1):
    """dbar of (2)."""
    (p0, d0), (p1, d1) = near0, near1
    w = minus(p1, p0)
    square, mean = dot(w, w), average(d0, d1)
    if square.real < 1e-200:
        return mean
    c0, c1 = _across(d0, w, q0), _across(d1, w, q1)
    return plus(mean, times((-0.5 * (c0 + c1)) / (square + c1 - c0), w))


@small_kernel
def push_from_core(x0, x1, poses, at, j, X, weight, share, out):
    """Of a point, where it starts and ends, against the core of frame j, on which it acts: its `piece`, the force on the point.

    share: of the distance from the point to the core, how far from it both touch.
    """
    (w0, q0), (w1, q1) = seen(x0, poses[0], X, at), seen(x1, poses[1], X, at)
    far, out0, out1 = reach_between(X), beyond(real(q0), X, at), beyond(real(q1), X, at)
    if out0 < 0.0 or out1 < 0.0:
        fail(out)
        return NOTHING
    if out0 > far and out1 > far:
        return NOTHING
    near0, near1 = nearest_in_core(q0, X, at), nearest_in_core(q1, X, at)
    D0, D1 = size_of(near0[1]), size_of(near1[1])
    Q, _, closed = pushed(X, ZERO, D0, D1)
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
            turn = times(-weight * scale * offset[i], w)
            for c in range(3):
                out[j, 1 + i, c] += turn[c]
    force = times(scale, d)
    add_dual(on_point(times(weight, force), vector(X, at)), out, j)
    return piece(weight, Q, force, closed, minus(average(x0, x1), times(share, d)))


# --- a sphere


@value_function
def value_of_sphere_and_core(y, X, out):
    out[0] = of_point(point(frame(y, 0), vector(X, CENTRE)), frame(y, 1), X, CORE)


@small_kernel
def sphere_on_core(y0, y1, X, weight, share, out):
    """Its sum of `touching`; nothing but duals goes into `out`."""
    local = vector(X, CENTRE)
    x0, x1 = point(frame(y0, 0), local), point(frame(y1, 0), local)
    found = push_from_core(x0, x1, (frame(y0, 1), frame(y1, 1)), CORE, 1, X, weight, share, out)
    add_dual(on_point(times(-1.0, found[1]), local), out, 0)
    return found


@dual_function
def dual_of_sphere_and_core(y0, y1, X, lam, out):
    out[:] = 0.0
    sphere_on_core(y0, y1, X, lam[0], 0.5, out)


# --- an element of a rod, frames 1 and 2


@value_function
def value_of_core_and_rod(y, X, out):
    m, out[0], pose = whole(X[STATIONS]), 0.0, frame(y, 0)
    for i in range(m + 1):
        out[0] += share_of(i, X, STATIONS) * of_point(along(y, 1, i / m), pose, X, CORE_OF_ROD)


@small_kernel
def rod_on_core(y0, y1, X, weight, share, out):
    """Its sum of `touching`: duals on the core, forces and weights on the nodes."""
    m, total, poses = whole(X[STATIONS]), NOTHING, (frame(y0, 0), frame(y1, 0))
    for i in range(m + 1):
        s = i / m
        x0, x1 = along(y0, 1, s), along(y1, 1, s)
        found = push_from_core(
            x0, x1, poses, CORE_OF_ROD, 0, X, weight * share_of(i, X, STATIONS), share, out
        )
        if found[0] != 0.0:
            add_on_station(out, 1, s, found)
            total = add(total, found)
    return total


@dual_function
def dual_of_core_and_rod(y0, y1, X, lam, out):
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
