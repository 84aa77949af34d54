"""Dissipative contact forces of spheres, rods, circles and planes, in addition to their energies.

Each interaction has one force at one point for all of its contact points. The laws are those of `friction`. If two round
bodies touch, the radius of a, the first one, determines where the contact point lies between the axes. The partner of a sphere
or an element is a row of nodes of a rod, all its segments minus the inner vertices: if each segment had a force of its own,
friction would double at a node.

In an equilibrium (`bend`) a contact resists with the force stored in its bristle. Rates alone determine nothing else, because
dissipation is evaluated from both ends of a step.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.blocks import move_along, move_back, put_imaginary
from rigid.interactions.contact import circles, lines, planes
from rigid.interactions.contact.friction import (
    OWN,
    SIZE,
    acts,
    change,
    kept,
    mean,
    resist,
    resist_in,
    store_own,
    turned_by,
)
from rigid.interactions.contact.friction_slopes import slopes_of_answer
from rigid.interactions.contact.friction_tangents import add_turns, carried_by, finish_rows, put_turns
from rigid.interactions.contact.gaps import RHO
from rigid.interactions.contact.touching import add, along, piece, share_of, takes_steps
from rigid.interactions.contact.touching_slopes import (
    NO_SUMS,
    add_station,
    add_station_on_plane,
)
from rigid.interactions.kinds import (
    MOST_FRAMES,
    Condensed,
    Kind,
    add_dual,
    dissipation,
    dual_function,
    tangent_function,
    vector,
    whole,
)
from rigid.kinematics.poses import ZERO, on_point
from rigid.linear_algebra import average, minus, plus, real, times


@small_kernel
def scaled_dual(s, f):
    """Return s times the dual f."""
    return times(s, f[0]), times(s, f[1]), times(s, f[2]), times(s, f[3])


@small_kernel
def share_of_first(X):
    """Return the fraction of the distance of the axes that belongs to a; its radius precedes the parameters of the loss in X."""
    return X[X.shape[0] - SIZE - 1] / X[RHO]


@small_kernel
def set_weight(out, k, Q):
    """Clear the dual of frame k and set its weight to Q, for a frame on which the whole contact acts."""
    out[k] = 0.0
    out[k, 1, 0] = Q


@small_kernel
def chord_of(y0, y1, k):
    """Return the chord from node k to the next node, the mean of both ends of the step."""
    a, b = average(along(y0, k, 0.0), along(y1, k, 0.0)), average(along(y0, k, 1.0), along(y1, k, 1.0))
    return minus(b, a)


@small_kernel
def lost_by_sphere_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and a sphere; return the result of `resist`."""
    out[:] = 0.0
    found = planes.sphere_on_plane(y0, y1, X, 1.0 + 0j, out)
    on_plane, on_sphere = planes.on_plane(X, out), on_point(found[1], vector(X, planes.CENTRE))
    set_weight(out, 0, -found[0])
    set_weight(out, 1, found[0])
    end = resist(y0, y1, X, lam, (1, 2), found, ZERO, out)
    add_dual(scaled_dual(end[0], on_plane), out, 0)
    add_dual(scaled_dual(-end[0], on_sphere), out, 1)
    return end


@small_kernel
def lost_by_circle_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and a circle; return the result of `resist`."""
    out[:] = 0.0
    found = circles.circle_on_plane(y0, y1, X, 1.0 + 0j, out)
    on_plane, on_circle = planes.on_plane(X, out), circles.on_circle(found[1], X, out)
    set_weight(out, 0, -found[0])
    set_weight(out, 1, found[0])
    end = resist(y0, y1, X, lam, (1, 2), found, ZERO, out)
    add_dual(scaled_dual(end[0], on_plane), out, 0)
    add_dual(scaled_dual(end[0], on_circle), out, 1)
    return end


@small_kernel
def lost_by_rod_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and an element of a rod; return the result of `resist`."""
    out[:] = 0.0
    if takes_steps(y0, y1, X, lam, 3):
        return _lost_by_rod_on_plane(y0, y1, X, lam, out)
    phi, zeta, slides = _lost_by_rod_on_plane(y0.real, y1.real, X.real, lam.real, out.real)
    return phi + 0j, plus(ZERO, zeta), slides


@small_kernel
def _lost_by_rod_on_plane(y0, y1, X, lam, out):
    """Compute the result of `lost_by_rod_on_plane` in the arithmetic of the arguments, complex or real."""
    found = planes.rod_on_plane(y0, y1, X, X.shape[0] - SIZE, 1.0, out)
    on_plane = planes.on_plane(X, out)
    set_weight(out, 0, -found[0])
    end = resist_in(y0, y1, X, lam, (1, 3), found, chord_of(y0, y1, 1), out)
    add_dual(scaled_dual(end[0], on_plane), out, 0)
    return end


@small_kernel
def lost_by_spheres(y0, y1, X, lam, out):
    """Compute the dissipative duals of two spheres; return the result of `resist`."""
    out[:] = 0.0
    Q, force, closed, d, x = lines.between_spheres(y0, y1, X)
    found = piece(1.0 + 0j, Q, force, closed, minus(x, times(share_of_first(X), d)))
    set_weight(out, 0, Q)
    set_weight(out, 1, -Q)
    end = resist(y0, y1, X, lam, (1, 2), found, ZERO, out)
    add_dual(scaled_dual(-end[0], on_point(force, vector(X, lines.XA))), out, 0)
    add_dual(scaled_dual(end[0], on_point(force, vector(X, lines.XB))), out, 1)
    return end


@small_kernel
def _nodes(X):
    """Return the number of nodes of the partner, which precedes the radius of a in X."""
    return whole(X[X.shape[0] - SIZE - 2])


@small_kernel
def lost_by_sphere_on_line(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a row of nodes; return the result of `resist`."""
    out[:] = 0.0
    nodes = _nodes(X)
    found = lines.sphere_on_line(y0, y1, X, (1, nodes, False), 1.0 + 0j, share_of_first(X), out)
    set_weight(out, 0, found[0])
    end = resist(y0, y1, X, lam, (1, nodes + 1), found, ZERO, out)
    add_dual(scaled_dual(-end[0], on_point(found[1], vector(X, lines.XA))), out, 0)
    return end


@small_kernel
def lost_by_rod_on_line(y0, y1, X, lam, out):
    """Compute the dissipative duals of an element of a rod and a row of nodes; return the result of `resist`."""
    out[:] = 0.0
    if takes_steps(y0, y1, X, lam, _nodes(X) + 2):
        return _lost_by_rod_on_line(y0, y1, X, lam, out)
    phi, zeta, slides = _lost_by_rod_on_line(y0.real, y1.real, X.real, lam.real, out.real)
    return phi + 0j, plus(ZERO, zeta), slides


@small_kernel
def _lost_by_rod_on_line(y0, y1, X, lam, out):
    """Compute the result of `lost_by_rod_on_line` in the arithmetic of the arguments, complex or real."""
    nodes = _nodes(X)
    found = lines.rod_on_line(y0, y1, X, (2, nodes, False), 1.0, share_of_first(X), out)
    return resist_in(y0, y1, X, lam, (2, nodes + 2), found, chord_of(y0, y1, 0), out)


@small_kernel
def _put_rows(y0, y1, X, lam, sides, found, first, out, K):
    """Complete the rows of K along positions and rotations; on entry K holds the changes of the contact sums.

    `first`: first frame of the rod at the stations.
    """
    if not acts(found):
        K[: 6 * sides[1], : 6 * sides[1]] = 0.0
        return
    sums, way, of_frame = (
        carried_by(y0, y1, sides, found, out),
        real(chord_of(y0, y1, first)),
        out[0, 3, 0] != 0.0,
    )
    by = slopes_of_answer(y0, y1, X, X.shape[0] - SIZE, lam, found, sums[4], way, of_frame)
    finish_rows(y0, y1, lam, sides, found, sums, first, by, out, K)
    add_turns(sides, found[0], sums[1], by, out, K)


@tangent_function
def tangent_of_rod_on_line(y0, y1, X, lam, out, K):
    """Compute the tangent matrix of an element and a row of nodes: positions contact by contact, rotations from the slip."""
    nodes, m, found = _nodes(X), whole(X[lines.STATIONS]), NO_SUMS
    sides, share = (2, nodes + 2), share_of_first(X)
    K[: 6 * sides[1], : 6 * sides[1]] = 0.0
    out[:] = 0.0
    for i in range(m + 1):
        weight = share_of(i, X, lines.STATIONS)
        found = add(found, add_station(X, y0, y1, nodes, i / m, weight, share, K, out))
    put_turns(y0, y1, sides[1], out)
    _put_rows(y0, y1, X, lam, sides, found, 0, out, K)


@tangent_function
def tangent_of_rod_on_plane(y0, y1, X, lam, out, K):
    """Compute the tangent matrix of a plane and an element: rows of the rod alone, or all columns of the dual if the plane
    moves.
    """
    K[:18, :18] = 0.0
    if out[0, 3, 0] != 0.0:
        for k in range(3):
            for j in range(6):
                move_along(y1, k, j)
                lost_by_rod_on_plane(y0, y1, X, lam, out)
                put_imaginary(out, y0, y1, 3, K, 6 * k + j)
                move_back(y1, k)
        for k in range(3):
            out[k, 3, 0] = 1.0
        return
    out[:] = 0.0
    m, found = whole(X[planes.STATIONS]), NO_SUMS
    for i in range(m + 1):
        weight = planes.share_on_plane(i, X, X.shape[0] - SIZE)
        found = add(found, add_station_on_plane(X, y0, y1, i / m, weight, K, out))
    put_turns(y0, y1, 3, out)
    psi = turned_by(mean(y0, y1, 0), change(y0, y1, 0))
    set_weight(out, 0, -found[0])  # the whole contact acts on the plane
    for i in range(3):
        out[0, 2, i] = psi[i]
    _put_rows(y0, y1, X, lam, (1, 3), found, 1, out, K)


@dual_function
def of_sphere_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and a sphere."""
    lost_by_sphere_on_plane(y0, y1, X, lam, out)


@dual_function
def sphere_on_plane_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a plane and a sphere at the end of a step."""
    store_own(lost_by_sphere_on_plane(y0, y1, X, lam, out), out)


@dual_function
def of_circle_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and a circle."""
    lost_by_circle_on_plane(y0, y1, X, lam, out)


@dual_function
def circle_on_plane_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a plane and a circle at the end of a step."""
    store_own(lost_by_circle_on_plane(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and an element of a rod."""
    lost_by_rod_on_plane(y0, y1, X, lam, out)


@dual_function
def rod_on_plane_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a plane and an element of a rod at the end of a step."""
    store_own(lost_by_rod_on_plane(y0, y1, X, lam, out), out)


@dual_function
def of_spheres(y0, y1, X, lam, out):
    """Compute the dissipative duals of two spheres."""
    lost_by_spheres(y0, y1, X, lam, out)


@dual_function
def spheres_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of two spheres at the end of a step."""
    store_own(lost_by_spheres(y0, y1, X, lam, out), out)


@dual_function
def of_sphere_on_line(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a row of nodes."""
    lost_by_sphere_on_line(y0, y1, X, lam, out)


@dual_function
def sphere_on_line_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a sphere and a row of nodes at the end of a step."""
    store_own(lost_by_sphere_on_line(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_line(y0, y1, X, lam, out):
    """Compute the dissipative duals of an element of a rod and a row of nodes."""
    lost_by_rod_on_line(y0, y1, X, lam, out)


@dual_function
def rod_on_line_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of an element of a rod and a row of nodes at the end of a step."""
    store_own(lost_by_rod_on_line(y0, y1, X, lam, out), out)


def loss_kind(name: str, arity: int, dual: object, settle: object) -> Kind:
    """Return the kind of a dissipation with friction; its dual between equal poses is the force stored in its bristle.

    `settle`: dual function that computes the internal variables at the end of a step.
    """
    kind = dissipation(f"loss of contact of {name}", arity, dual, dual)
    return kind._replace(own=OWN, condensed=Condensed(settle=settle, kept=kept, slides=True), one_sided=True)


def rod_loss(station_frames: int, nodes: int) -> Kind:
    """Return the dissipation of a sphere (1 frame) or the stations of an element (2 frames) against 2 or more nodes of another
    rod.

    The number of nodes is one of the parameters X, so that the functions are compiled once for all numbers.
    """
    name = f"{'a sphere' if station_frames == 1 else 'an element'} and {nodes} nodes"
    if station_frames == 1:
        functions = of_sphere_on_line, sphere_on_line_settled
        return loss_kind(name, nodes + 1, *functions)
    functions = of_rod_on_line, rod_on_line_settled
    return loss_kind(name, nodes + 2, *functions)._replace(tangent=tangent_of_rod_on_line)


PLANE_SPHERE_LOSS = loss_kind("a plane and a sphere", 2, of_sphere_on_plane, sphere_on_plane_settled)
PLANE_CIRCLE_LOSS = loss_kind("a plane and a circle", 2, of_circle_on_plane, circle_on_plane_settled)
PLANE_ROD_LOSS = loss_kind("a plane and a rod", 3, of_rod_on_plane, rod_on_plane_settled)
PLANE_ROD_LOSS = PLANE_ROD_LOSS._replace(tangent=tangent_of_rod_on_plane)
# dissipation of each kind of contact with a plane
WITH_PLANES = {
    planes.PLANE_SPHERE: PLANE_SPHERE_LOSS,
    circles.PLANE_CIRCLE: PLANE_CIRCLE_LOSS,
    planes.PLANE_ROD: PLANE_ROD_LOSS,
}
SPHERES_LOSS = loss_kind("spheres", 2, of_spheres, spheres_settled)
# keys: number of frames of the station, number of nodes
ROD_LOSSES = {(s, m): rod_loss(s, m) for s in (1, 2) for m in range(2, MOST_FRAMES - s + 1)}
