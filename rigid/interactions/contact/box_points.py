"""Contact of points with a box: centres of spheres, stations of rods, corners of other boxes.

A box is a core rounded by a radius: everything within that radius of the core touches it, so forces act while the cores are
still apart. Let u_i = d_i . (x - c) be the coordinates of a point x along the axes of the core, a_i half of its sides, and e_i
= u_i -+ a_i the distance by which they lie beyond it, or 0 inside:

    D^2 = sum e_i^2,   D1^2 - D0^2 = sum (e_i0 + e_i1)(e_i1 - e_i0)/(u_i1 - u_i0) (u_i1 - u_i0)                        (1)

The quotient is 1 outside and 0 inside, so that the force is continuous where the nearest face, edge or corner changes. u_i is
bilinear in the poses, so that the work is exact by the product rule. An element of a rod is represented by its stations, as in
`lines`.

A step fails if a point is inside the core at one of its ends.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.contact_sums import (
    NOTHING,
    add,
    add_on_station,
    along,
    contact_contribution,
    mark_failed,
    origin,
    share_of,
)
from rigid.interactions.contact.gaps import RHO, contact_force, size_of
from rigid.interactions.contact.normal_laws import PASSED, potential, reach_of
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
from rigid.kinematics.boxes import depth_of_point, distance_of_point, excess, is_beyond_face
from rigid.kinematics.poses import ZERO, on_point, point
from rigid.linear_algebra import average, dot, minus, plus, real, times

CENTRE, CORE = 5, 8  # offsets in X of the centre of a sphere and of its box
# offsets in X of the number of stations of an element, followed by its length, and of its box
STATIONS, CORE_OF_ROD = 5, 7


@inline_kernel
def box_of(y, k, X, at):
    """Return the core of the box of frame k in space: centre, axes, half of the sides; `at`: offset of its parameters in X."""
    pose = frame(y, k)
    return point(pose, vector(X, at)), (pose[1], pose[2], pose[3]), vector(X, at + 3)


@inline_kernel
def in_reals(box):
    """Return the real parts of a box (centre, axes, half of the sides)."""
    return real(box[0]), (real(box[1][0]), real(box[1][1]), real(box[1][2])), real(box[2])


@inline_kernel
def reach_between(X):
    """Return the distance of two cores below which the contact law acts, m."""
    return (X[RHO].real + reach_of(X)) * (1.0 + 1e-9)


@inline_kernel
def _beyond(x, box):
    """Return w = x - c, its coordinates u along the axes of the box, and the parts e of u that lie outside of the box."""
    w = minus(x, box[0])
    u = dot(box[1][0], w), dot(box[1][1], w), dot(box[1][2], w)
    return w, u, (excess(u[0], box[2][0]), excess(u[1], box[2][1]), excess(u[2], box[2][2]))


@inline_kernel
def of_point(x, box, X):
    """Return the potential V of a point x and a box; NaN if the point is inside the core."""
    if depth_of_point(real(x), in_reals(box)) > 0.0:
        return PASSED
    return potential(X, size_of(_beyond(x, box)[2]) - X[RHO])


@inline_kernel
def inside(x0, x1, box0, box1):
    """Return True if a point is inside the core at the start or at the end of the step."""
    return depth_of_point(real(x0), in_reals(box0)) > 0.0 or depth_of_point(real(x1), in_reals(box1)) > 0.0


@inline_kernel
def push_from_box(x0, x1, boxes, at, j, X, weight, fraction, out):
    """Add the dual of the box of frame j in contact with a point; return the contact contribution, the force on the
    point.

    x0, x1: the point at both ends of the step. `boxes`: the box at both ends. `fraction`: fraction of the distance from the point
    to the core at which both surfaces touch, measured from the point.
    """
    (box0, box1), far = boxes, reach_between(X)
    if (
        distance_of_point(real(x0), in_reals(box0)) > far
        and distance_of_point(real(x1), in_reals(box1)) > far
    ):
        return NOTHING
    (w0, u0, e0), (w1, u1, e1) = _beyond(x0, box0), _beyond(x1, box1)
    D0, D1 = size_of(e0), size_of(e1)
    Q, _, closed = contact_force(X, ZERO, D0, D1)
    if Q == 0.0:
        return NOTHING
    d, w, scale = ZERO, average(w0, w1), 2.0 * Q / (D0 + D1)
    for i in range(3):
        outside = e0[i].real != 0.0, e1[i].real != 0.0
        slope = 0j
        if outside[0] and outside[1] and e0[i].real * e1[i].real > 0.0:
            slope += 1.0
        elif outside[0] or outside[1]:
            slope += (e1[i] - e0[i]) / (u1[i] - u0[i])
        slope *= 0.5 * (e0[i] + e1[i])
        d = plus(d, times(slope, average(box0[1][i], box1[1][i])))
        on_axis = times(-weight * scale * slope, w)
        for c in range(3):
            out[j, 1 + i, c] += on_axis[c]
    force = times(scale, d)
    add_dual(on_point(times(weight, force), vector(X, at)), out, j)
    return contact_contribution(weight, Q, force, closed, minus(average(x0, x1), times(fraction, d)))


# --- a sphere


@value_function
def value_of_sphere_and_box(y, X, out):
    """Compute the potential of a sphere and a box."""
    out[0] = of_point(point(frame(y, 0), vector(X, CENTRE)), box_of(y, 1, X, CORE), X)


@inline_kernel
def sphere_on_box(y0, y1, X, weight, fraction, out):
    """Add the duals of a sphere and a box to `out`, and nothing else; return the contact sums."""
    local = vector(X, CENTRE)
    x0, x1 = point(frame(y0, 0), local), point(frame(y1, 0), local)
    boxes = box_of(y0, 1, X, CORE), box_of(y1, 1, X, CORE)
    if inside(x0, x1, boxes[0], boxes[1]):
        mark_failed(out)
        return NOTHING
    sums = push_from_box(x0, x1, boxes, CORE, 1, X, weight, fraction, out)
    add_dual(on_point(times(-1.0, sums[1]), local), out, 0)
    return sums


@dual_function
def dual_of_sphere_and_box(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a sphere and a box."""
    out[:] = 0.0
    sphere_on_box(y0, y1, X, lam[0], 0.5, out)


# --- an element of a rod, frames 1 and 2


@value_function
def value_of_box_and_rod(y, X, out):
    """Compute the potential of a box and an element of a rod."""
    m, out[0], box = whole(X[STATIONS]), 0.0, box_of(y, 0, X, CORE_OF_ROD)
    for i in range(m + 1):
        out[0] += share_of(i, X, STATIONS) * of_point(along(y, 1, i / m), box, X)


@inline_kernel
def _out_of_reach(y, X, box):
    """Return True if the element is beyond the reach of the law along one axis of the box; evaluated in real arithmetic."""
    return is_beyond_face(real(origin(y, 1)), real(origin(y, 2)), in_reals(box), reach_between(X))


@inline_kernel
def rod_on_box(y0, y1, X, weight, fraction, out):
    """Add the dual of the box, and forces and weights of the nodes of an element, to `out`; return the contact sums."""
    boxes = box_of(y0, 0, X, CORE_OF_ROD), box_of(y1, 0, X, CORE_OF_ROD)
    if _out_of_reach(y0, X, boxes[0]) and _out_of_reach(y1, X, boxes[1]):
        return NOTHING
    m, total = whole(X[STATIONS]), NOTHING
    for i in range(m + 1):
        s = i / m
        x0, x1 = along(y0, 1, s), along(y1, 1, s)
        if inside(x0, x1, boxes[0], boxes[1]):
            mark_failed(out)
            return NOTHING
        sums = push_from_box(
            x0, x1, boxes, CORE_OF_ROD, 0, X, weight * share_of(i, X, STATIONS), fraction, out
        )
        if sums[0] != 0.0:
            add_on_station(out, 1, s, sums)
            total = add(total, sums)
    return total


@dual_function
def dual_of_box_and_rod(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a box and an element of a rod."""
    out[:] = 0.0
    rod_on_box(y0, y1, X, lam[0], 0.5, out)
    for k in range(1, 3):
        store_on_node(out, k)


SPHERE_BOX = Kind(
    "contact of a sphere and a box", 2, 0, value_of_sphere_and_box, dual_of_sphere_and_box, no_bend,
    one_sided=True,
)  # fmt: skip
BOX_ROD = Kind(
    "contact of a box and a rod", 3, 0, value_of_box_and_rod, dual_of_box_and_rod, no_bend,
    one_sided=True, turning=1,
)  # fmt: skip
