"""Dissipative contact forces of spheres, rods, circles and planes, in addition to their energies.

Each interaction has one force at one point for all of its contact points. The laws are those of `friction`. If two round
bodies touch, the radius of a, the first one, determines where the contact point lies between the axes. The partner of a sphere
or an element is a row of nodes of a rod, all its segments minus the inner vertices: if each segment had a force of its own,
friction would double at a node.

In an equilibrium (`bend`) a contact resists with the force stored in its bristle. Rates alone determine nothing else, because
dissipation is evaluated from both ends of a step.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.blocks import move_along, move_back, put_imaginary
from rigid.interactions.contact import circles, planes, sphere_rod_contacts
from rigid.interactions.contact.contact_sum_derivatives import (
    NO_SUMS,
    add_station,
    add_station_on_plane,
)
from rigid.interactions.contact.contact_sums import (
    add,
    along,
    contact_contribution,
    is_differentiated,
    share_of,
)
from rigid.interactions.contact.friction import (
    N_INTERNAL,
    SIZE,
    change,
    is_active,
    mean,
    rotation_by,
    store_internal_variables,
    stored_energy,
    write_dissipative_duals,
    write_dissipative_duals_in,
)
from rigid.interactions.contact.friction_derivatives import friction_force_derivatives
from rigid.interactions.contact.friction_tangents import (
    add_rotation_rows,
    finish_rows,
    slip_terms,
    write_rotations,
)
from rigid.interactions.contact.gaps import RHO
from rigid.interactions.kinds import (
    MAX_FRAMES_OF_CONTACT,
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


@inline_kernel
def scaled_dual(s, f):
    """Return s times the dual f."""
    return times(s, f[0]), times(s, f[1]), times(s, f[2]), times(s, f[3])


@inline_kernel
def share_of_first(X):
    """Return the fraction of the distance of the axes that belongs to a; its radius precedes the parameters of the loss in X."""
    return X[X.shape[0] - SIZE - 1] / X[RHO]


@inline_kernel
def set_weight(out, k, Q):
    """Clear the dual of frame k and set its weight to Q, for a frame on which the whole contact acts."""
    out[k] = 0.0
    out[k, 1, 0] = Q


@inline_kernel
def chord_of(y0, y1, k):
    """Return the chord from node k to the next node, the mean of both ends of the step."""
    a, b = average(along(y0, k, 0.0), along(y1, k, 0.0)), average(along(y0, k, 1.0), along(y1, k, 1.0))
    return minus(b, a)


@inline_kernel
def dissipation_of_sphere_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and a sphere; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = planes.sphere_on_plane(y0, y1, X, 1.0 + 0j, out)
    on_plane, on_sphere = planes.on_plane(X, out), on_point(sums[1], vector(X, planes.CENTRE))
    set_weight(out, 0, -sums[0])
    set_weight(out, 1, sums[0])
    end = write_dissipative_duals(y0, y1, X, lam, (1, 2), sums, ZERO, out)
    add_dual(scaled_dual(end[0], on_plane), out, 0)
    add_dual(scaled_dual(-end[0], on_sphere), out, 1)
    return end


@inline_kernel
def dissipation_of_circle_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and a circle; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = circles.circle_on_plane(y0, y1, X, 1.0 + 0j, out)
    on_plane, on_circle = planes.on_plane(X, out), circles.on_circle(sums[1], X, out)
    set_weight(out, 0, -sums[0])
    set_weight(out, 1, sums[0])
    end = write_dissipative_duals(y0, y1, X, lam, (1, 2), sums, ZERO, out)
    add_dual(scaled_dual(end[0], on_plane), out, 0)
    add_dual(scaled_dual(end[0], on_circle), out, 1)
    return end


@inline_kernel
def dissipation_of_rod_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and an element of a rod; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    if is_differentiated(y0, y1, X, lam, 3):
        return _dissipation_of_rod_on_plane(y0, y1, X, lam, out)
    phi, zeta, slides = _dissipation_of_rod_on_plane(y0.real, y1.real, X.real, lam.real, out.real)
    return phi + 0j, plus(ZERO, zeta), slides


@inline_kernel
def _dissipation_of_rod_on_plane(y0, y1, X, lam, out):
    """Compute the result of `dissipation_of_rod_on_plane` in the arithmetic of the arguments, complex or real."""
    sums = planes.rod_on_plane(y0, y1, X, X.shape[0] - SIZE, 1.0, out)
    on_plane = planes.on_plane(X, out)
    set_weight(out, 0, -sums[0])
    end = write_dissipative_duals_in(y0, y1, X, lam, (1, 3), sums, chord_of(y0, y1, 1), out)
    add_dual(scaled_dual(end[0], on_plane), out, 0)
    return end


@inline_kernel
def dissipation_of_spheres(y0, y1, X, lam, out):
    """Compute the dissipative duals of two spheres; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    Q, force, closed, d, x = sphere_rod_contacts.between_spheres(y0, y1, X)
    sums = contact_contribution(1.0 + 0j, Q, force, closed, minus(x, times(share_of_first(X), d)))
    set_weight(out, 0, Q)
    set_weight(out, 1, -Q)
    end = write_dissipative_duals(y0, y1, X, lam, (1, 2), sums, ZERO, out)
    add_dual(scaled_dual(-end[0], on_point(force, vector(X, sphere_rod_contacts.XA))), out, 0)
    add_dual(scaled_dual(end[0], on_point(force, vector(X, sphere_rod_contacts.XB))), out, 1)
    return end


@inline_kernel
def _nodes(X):
    """Return the number of nodes of the partner, which precedes the radius of a in X."""
    return whole(X[X.shape[0] - SIZE - 2])


@inline_kernel
def dissipation_of_sphere_on_line(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a row of nodes; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    nodes = _nodes(X)
    sums = sphere_rod_contacts.sphere_on_line(y0, y1, X, (1, nodes, False), 1.0 + 0j, share_of_first(X), out)
    set_weight(out, 0, sums[0])
    end = write_dissipative_duals(y0, y1, X, lam, (1, nodes + 1), sums, ZERO, out)
    add_dual(scaled_dual(-end[0], on_point(sums[1], vector(X, sphere_rod_contacts.XA))), out, 0)
    return end


@inline_kernel
def dissipation_of_rod_on_line(y0, y1, X, lam, out):
    """Compute the dissipative duals of an element of a rod and a row of nodes; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    if is_differentiated(y0, y1, X, lam, _nodes(X) + 2):
        return _dissipation_of_rod_on_line(y0, y1, X, lam, out)
    phi, zeta, slides = _dissipation_of_rod_on_line(y0.real, y1.real, X.real, lam.real, out.real)
    return phi + 0j, plus(ZERO, zeta), slides


@inline_kernel
def _dissipation_of_rod_on_line(y0, y1, X, lam, out):
    """Compute the result of `dissipation_of_rod_on_line` in the arithmetic of the arguments, complex or real."""
    nodes = _nodes(X)
    sums = sphere_rod_contacts.rod_on_line(y0, y1, X, (2, nodes, False), 1.0, share_of_first(X), out)
    return write_dissipative_duals_in(y0, y1, X, lam, (2, nodes + 2), sums, chord_of(y0, y1, 0), out)


@inline_kernel
def _put_rows(y0, y1, X, lam, sides, sums, first, out, K):
    """Complete the rows of K along positions and rotations; on entry K holds the changes of the contact sums.

    `first`: first frame of the rod at the stations.
    """
    if not is_active(sums):
        K[: 6 * sides[1], : 6 * sides[1]] = 0.0
        return
    carried, chord, of_frame = (
        slip_terms(y0, y1, sides, sums, out),
        real(chord_of(y0, y1, first)),
        out[0, 3, 0] != 0.0,
    )
    by = friction_force_derivatives(y0, y1, X, X.shape[0] - SIZE, lam, sums, carried[4], chord, of_frame)
    finish_rows(y0, y1, lam, sides, sums, carried, first, by, out, K)
    add_rotation_rows(sides, sums[0], carried[1], by, out, K)


@tangent_function
def tangent_of_rod_on_line(y0, y1, X, lam, out, K):
    """Compute the tangent matrix of an element and a row of nodes: positions contact by contact, rotations from the slip."""
    nodes, m, sums = _nodes(X), whole(X[sphere_rod_contacts.STATIONS]), NO_SUMS
    sides, fraction = (2, nodes + 2), share_of_first(X)
    K[: 6 * sides[1], : 6 * sides[1]] = 0.0
    out[:] = 0.0
    for i in range(m + 1):
        weight = share_of(i, X, sphere_rod_contacts.STATIONS)
        sums = add(sums, add_station(X, y0, y1, nodes, i / m, weight, fraction, K, out))
    write_rotations(y0, y1, sides[1], out)
    _put_rows(y0, y1, X, lam, sides, sums, 0, out, K)


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
                dissipation_of_rod_on_plane(y0, y1, X, lam, out)
                put_imaginary(out, y0, y1, 3, K, 6 * k + j)
                move_back(y1, k)
        for k in range(3):
            out[k, 3, 0] = 1.0
        return
    out[:] = 0.0
    m, sums = whole(X[planes.STATIONS]), NO_SUMS
    for i in range(m + 1):
        weight = planes.share_on_plane(i, X, X.shape[0] - SIZE)
        sums = add(sums, add_station_on_plane(X, y0, y1, i / m, weight, K, out))
    write_rotations(y0, y1, 3, out)
    psi = rotation_by(mean(y0, y1, 0), change(y0, y1, 0))
    set_weight(out, 0, -sums[0])  # the whole contact acts on the plane
    for i in range(3):
        out[0, 2, i] = psi[i]
    _put_rows(y0, y1, X, lam, (1, 3), sums, 1, out, K)


@dual_function
def of_sphere_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and a sphere."""
    dissipation_of_sphere_on_plane(y0, y1, X, lam, out)


@dual_function
def update_sphere_on_plane(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a plane and a sphere at the end of a step."""
    store_internal_variables(dissipation_of_sphere_on_plane(y0, y1, X, lam, out), out)


@dual_function
def of_circle_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and a circle."""
    dissipation_of_circle_on_plane(y0, y1, X, lam, out)


@dual_function
def update_circle_on_plane(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a plane and a circle at the end of a step."""
    store_internal_variables(dissipation_of_circle_on_plane(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_plane(y0, y1, X, lam, out):
    """Compute the dissipative duals of a plane and an element of a rod."""
    dissipation_of_rod_on_plane(y0, y1, X, lam, out)


@dual_function
def update_rod_on_plane(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a plane and an element of a rod at the end of a step."""
    store_internal_variables(dissipation_of_rod_on_plane(y0, y1, X, lam, out), out)


@dual_function
def of_spheres(y0, y1, X, lam, out):
    """Compute the dissipative duals of two spheres."""
    dissipation_of_spheres(y0, y1, X, lam, out)


@dual_function
def update_spheres(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of two spheres at the end of a step."""
    store_internal_variables(dissipation_of_spheres(y0, y1, X, lam, out), out)


@dual_function
def of_sphere_on_line(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a row of nodes."""
    dissipation_of_sphere_on_line(y0, y1, X, lam, out)


@dual_function
def update_sphere_on_line(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a sphere and a row of nodes at the end of a step."""
    store_internal_variables(dissipation_of_sphere_on_line(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_line(y0, y1, X, lam, out):
    """Compute the dissipative duals of an element of a rod and a row of nodes."""
    dissipation_of_rod_on_line(y0, y1, X, lam, out)


@dual_function
def update_rod_on_line(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of an element of a rod and a row of nodes at the end of a step."""
    store_internal_variables(dissipation_of_rod_on_line(y0, y1, X, lam, out), out)


def dissipation_kind(name: str, arity: int, dual: object, update_internal: object) -> Kind:
    """Return the kind of a dissipation with friction; its dual between equal poses is the force stored in its bristle.

    `update_internal`: dual function that computes the internal variables at the end of a step.
    """
    kind = dissipation(f"loss of contact of {name}", arity, dual, dual)
    return kind._replace(
        n_internal=N_INTERNAL,
        condensed=Condensed(update_internal=update_internal, stored_energy=stored_energy, slides=True),
        one_sided=True,
    )


def rod_dissipation(station_frames: int, nodes: int) -> Kind:
    """Return the dissipation of a sphere (1 frame) or the stations of an element (2 frames) against 2 or more nodes of another
    rod.

    The number of nodes is one of the parameters X, so that the functions are compiled once for all numbers.
    """
    name = f"{'a sphere' if station_frames == 1 else 'an element'} and {nodes} nodes"
    if station_frames == 1:
        functions = of_sphere_on_line, update_sphere_on_line
        return dissipation_kind(name, nodes + 1, *functions)
    functions = of_rod_on_line, update_rod_on_line
    return dissipation_kind(name, nodes + 2, *functions)._replace(tangent=tangent_of_rod_on_line)


PLANE_SPHERE_DISSIPATION = dissipation_kind(
    "a plane and a sphere", 2, of_sphere_on_plane, update_sphere_on_plane
)
PLANE_CIRCLE_DISSIPATION = dissipation_kind(
    "a plane and a circle", 2, of_circle_on_plane, update_circle_on_plane
)
PLANE_ROD_DISSIPATION = dissipation_kind("a plane and a rod", 3, of_rod_on_plane, update_rod_on_plane)
PLANE_ROD_DISSIPATION = PLANE_ROD_DISSIPATION._replace(tangent=tangent_of_rod_on_plane)
# dissipation of each kind of contact with a plane
PLANE_DISSIPATIONS = {
    planes.PLANE_SPHERE: PLANE_SPHERE_DISSIPATION,
    circles.PLANE_CIRCLE: PLANE_CIRCLE_DISSIPATION,
    planes.PLANE_ROD: PLANE_ROD_DISSIPATION,
}
SPHERES_DISSIPATION = dissipation_kind("spheres", 2, of_spheres, update_spheres)
# keys: number of frames of the station, number of nodes
ROD_DISSIPATIONS = {
    (s, m): rod_dissipation(s, m) for s in (1, 2) for m in range(2, MAX_FRAMES_OF_CONTACT - s + 1)
}
