"""Compute the dissipative contact forces of boxes: one force at one point for all corners, crossings and stations of a pair.

A pair has one bristle, at the weighted mean of its contact points: only `drilling` resists a rotation about the normal. The
laws are those of `friction`; `_LOSS` kinds of a box with a sphere, a rod and a box are defined here.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.box_points import rod_on_box, sphere_on_box
from rigid.interactions.contact.boxes import box_on_box
from rigid.interactions.contact.friction import resist, store_own
from rigid.interactions.contact.losses import (
    chord_of,
    loss_kind,
    scaled_dual,
    set_weight,
    share_of_first,
)
from rigid.interactions.kinds import add_dual, dual_function, frame
from rigid.kinematics.poses import ZERO


@small_kernel
def lost_by_two(y0, y1, X, lam, found, out):
    """Add the dissipative duals of two bodies to `out` and return phi, the bristle and whether it slides (see
    `friction.resist`).

    `out`: on entry the duals of the potential, on return those of the dissipation. `found`: contact sums of `touching`, forces
    on the first body.
    """
    one, other = frame(out, 0), frame(out, 1)
    set_weight(out, 0, found[0])
    set_weight(out, 1, -found[0])
    end = resist(y0, y1, X, lam, (1, 2), found, ZERO, out)
    add_dual(scaled_dual(end[0], one), out, 0)
    add_dual(scaled_dual(end[0], other), out, 1)
    return end


@small_kernel
def _lost_by_boxes(y0, y1, X, lam, out):
    """Compute the dissipative duals of two boxes; return the result of `resist`."""
    out[:] = 0.0
    found = box_on_box(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return lost_by_two(y0, y1, X, lam, found, out)


@small_kernel
def _lost_by_sphere_on_box(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a box; return the result of `resist`."""
    out[:] = 0.0
    found = sphere_on_box(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return lost_by_two(y0, y1, X, lam, found, out)


@small_kernel
def _lost_by_rod_on_box(y0, y1, X, lam, out):
    """Compute the dissipative duals of a box and an element of a rod; return the result of `resist`."""
    out[:] = 0.0
    found = rod_on_box(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    on_box = frame(out, 0)
    set_weight(out, 0, -found[0])
    end = resist(y0, y1, X, lam, (1, 3), found, chord_of(y0, y1, 1), out)
    add_dual(scaled_dual(end[0], on_box), out, 0)
    return end


@dual_function
def of_boxes(y0, y1, X, lam, out):
    """Compute the dissipative duals of two boxes."""
    _lost_by_boxes(y0, y1, X, lam, out)


@dual_function
def boxes_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of two boxes at the end of a step."""
    store_own(_lost_by_boxes(y0, y1, X, lam, out), out)


@dual_function
def of_sphere_on_box(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a box."""
    _lost_by_sphere_on_box(y0, y1, X, lam, out)


@dual_function
def sphere_on_box_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a sphere and a box at the end of a step."""
    store_own(_lost_by_sphere_on_box(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_box(y0, y1, X, lam, out):
    """Compute the dissipative duals of a box and an element of a rod."""
    _lost_by_rod_on_box(y0, y1, X, lam, out)


@dual_function
def rod_on_box_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a box and an element of a rod at the end of a step."""
    store_own(_lost_by_rod_on_box(y0, y1, X, lam, out), out)


SPHERE_BOX_LOSS = loss_kind("a sphere and a box", 2, of_sphere_on_box, sphere_on_box_settled)
BOXES_LOSS = loss_kind("boxes", 2, of_boxes, boxes_settled)
BOX_ROD_LOSS = loss_kind("a box and a rod", 3, of_rod_on_box, rod_on_box_settled)
