"""What contacts of boxes lose: one force of all corners, crossings and stations of a pair, at one point. See `friction`.

A pair has one bristle, at the middle of what presses: a turn about the normal it does not resist but by `drilling`.
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
    """Of two bodies with the duals of their energy in `out`, and their sum of `touching`."""
    one, other = frame(out, 0), frame(out, 1)
    set_weight(out, 0, found[0])
    set_weight(out, 1, -found[0])
    end = resist(y0, y1, X, lam, (1, 2), found, ZERO, out)
    add_dual(scaled_dual(end[0], one), out, 0)
    add_dual(scaled_dual(end[0], other), out, 1)
    return end


@small_kernel
def _lost_by_boxes(y0, y1, X, lam, out):
    out[:] = 0.0
    found = box_on_box(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return lost_by_two(y0, y1, X, lam, found, out)


@small_kernel
def _lost_by_sphere_on_box(y0, y1, X, lam, out):
    out[:] = 0.0
    found = sphere_on_box(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return lost_by_two(y0, y1, X, lam, found, out)


@small_kernel
def _lost_by_rod_on_box(y0, y1, X, lam, out):
    out[:] = 0.0
    found = rod_on_box(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    on_box = frame(out, 0)
    set_weight(out, 0, -found[0])
    end = resist(y0, y1, X, lam, (1, 3), found, chord_of(y0, y1, 1), out)
    add_dual(scaled_dual(end[0], on_box), out, 0)
    return end


@dual_function
def of_boxes(y0, y1, X, lam, out):
    _lost_by_boxes(y0, y1, X, lam, out)


@dual_function
def boxes_settled(y0, y1, X, lam, out):
    store_own(_lost_by_boxes(y0, y1, X, lam, out), out)


@dual_function
def of_sphere_on_box(y0, y1, X, lam, out):
    _lost_by_sphere_on_box(y0, y1, X, lam, out)


@dual_function
def sphere_on_box_settled(y0, y1, X, lam, out):
    store_own(_lost_by_sphere_on_box(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_box(y0, y1, X, lam, out):
    _lost_by_rod_on_box(y0, y1, X, lam, out)


@dual_function
def rod_on_box_settled(y0, y1, X, lam, out):
    store_own(_lost_by_rod_on_box(y0, y1, X, lam, out), out)


SPHERE_BOX_LOSS = loss_kind("a sphere and a box", 2, of_sphere_on_box, sphere_on_box_settled)
BOXES_LOSS = loss_kind("boxes", 2, of_boxes, boxes_settled)
BOX_ROD_LOSS = loss_kind("a box and a rod", 3, of_rod_on_box, rod_on_box_settled)
