"""Compute the dissipative contact forces of boxes: one force at one point for all corners, crossings and stations of a pair.

A pair has one bristle, at the weighted mean of its contact points: only `drilling` resists a rotation about the normal. The
laws are those of `friction`; the `..._DISSIPATION` kinds of a box with a sphere, a rod and a box are defined here.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_points import rod_on_box, sphere_on_box
from rigid.interactions.contact.boxes import box_on_box
from rigid.interactions.contact.friction import store_internal_variables, write_dissipative_duals
from rigid.interactions.contact.sphere_rod_dissipation import (
    chord_of,
    dissipation_kind,
    scaled_dual,
    set_weight,
    share_of_first,
)
from rigid.interactions.kinds import add_dual, dual_function, frame
from rigid.kinematics.poses import ZERO


@inline_kernel
def dissipation_of_two(y0, y1, X, lam, sums, out):
    """Add the dissipative duals of two bodies to `out` and return phi, the bristle and whether it slides (see
    `friction.write_dissipative_duals`).

    `out`: on entry the duals of the potential, on return those of the dissipation. `sums`: contact sums, forces
    on the first body.
    """
    one, other = frame(out, 0), frame(out, 1)
    set_weight(out, 0, sums[0])
    set_weight(out, 1, -sums[0])
    end = write_dissipative_duals(y0, y1, X, lam, (1, 2), sums, ZERO, out)
    add_dual(scaled_dual(end[0], one), out, 0)
    add_dual(scaled_dual(end[0], other), out, 1)
    return end


@inline_kernel
def _dissipation_of_boxes(y0, y1, X, lam, out):
    """Compute the dissipative duals of two boxes; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = box_on_box(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return dissipation_of_two(y0, y1, X, lam, sums, out)


@inline_kernel
def _dissipation_of_sphere_on_box(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a box; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = sphere_on_box(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return dissipation_of_two(y0, y1, X, lam, sums, out)


@inline_kernel
def _dissipation_of_rod_on_box(y0, y1, X, lam, out):
    """Compute the dissipative duals of a box and an element of a rod; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = rod_on_box(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    on_box = frame(out, 0)
    set_weight(out, 0, -sums[0])
    end = write_dissipative_duals(y0, y1, X, lam, (1, 3), sums, chord_of(y0, y1, 1), out)
    add_dual(scaled_dual(end[0], on_box), out, 0)
    return end


@dual_function
def of_boxes(y0, y1, X, lam, out):
    """Compute the dissipative duals of two boxes."""
    _dissipation_of_boxes(y0, y1, X, lam, out)


@dual_function
def update_boxes(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of two boxes at the end of a step."""
    store_internal_variables(_dissipation_of_boxes(y0, y1, X, lam, out), out)


@dual_function
def of_sphere_on_box(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a box."""
    _dissipation_of_sphere_on_box(y0, y1, X, lam, out)


@dual_function
def update_sphere_on_box(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a sphere and a box at the end of a step."""
    store_internal_variables(_dissipation_of_sphere_on_box(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_box(y0, y1, X, lam, out):
    """Compute the dissipative duals of a box and an element of a rod."""
    _dissipation_of_rod_on_box(y0, y1, X, lam, out)


@dual_function
def update_rod_on_box(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a box and an element of a rod at the end of a step."""
    store_internal_variables(_dissipation_of_rod_on_box(y0, y1, X, lam, out), out)


SPHERE_BOX_DISSIPATION = dissipation_kind("a sphere and a box", 2, of_sphere_on_box, update_sphere_on_box)
BOXES_DISSIPATION = dissipation_kind("boxes", 2, of_boxes, update_boxes)
BOX_ROD_DISSIPATION = dissipation_kind("a box and a rod", 3, of_rod_on_box, update_rod_on_box)
