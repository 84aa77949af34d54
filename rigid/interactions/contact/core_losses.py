"""Compute the dissipative contact forces of hulls and bodies of revolution: one force at one point for each pair.

The laws are those of `friction`.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.box_losses import lost_by_two
from rigid.interactions.contact.core_points import rod_on_core, sphere_on_core
from rigid.interactions.contact.friction import resist, store_own
from rigid.interactions.contact.hulls import hull_on_hull
from rigid.interactions.contact.losses import chord_of, loss_kind, scaled_dual, set_weight, share_of_first
from rigid.interactions.contact.round_hulls import round_on_hull
from rigid.interactions.kinds import add_dual, dual_function, frame


@small_kernel
def _lost_by_sphere(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a core; return the result of `resist`."""
    out[:] = 0.0
    found = sphere_on_core(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return lost_by_two(y0, y1, X, lam, found, out)


@small_kernel
def _lost_by_rod(y0, y1, X, lam, out):
    """Compute the dissipative duals of a core and an element of a rod; return the result of `resist`."""
    out[:] = 0.0
    found = rod_on_core(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    on_core = frame(out, 0)
    set_weight(out, 0, -found[0])
    end = resist(y0, y1, X, lam, (1, 3), found, chord_of(y0, y1, 1), out)
    add_dual(scaled_dual(end[0], on_core), out, 0)
    return end


@small_kernel
def _lost_by_hulls(y0, y1, X, lam, out):
    """Compute the dissipative duals of two hulls; return the result of `resist`."""
    out[:] = 0.0
    found = hull_on_hull(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return lost_by_two(y0, y1, X, lam, found, out)


@small_kernel
def _lost_by_round(y0, y1, X, lam, out):
    """Compute the dissipative duals of a hull and a body of revolution; return the result of `resist`."""
    out[:] = 0.0
    found = round_on_hull(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return lost_by_two(y0, y1, X, lam, found, out)


@dual_function
def of_sphere_on_core(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a core."""
    _lost_by_sphere(y0, y1, X, lam, out)


@dual_function
def sphere_on_core_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a sphere and a core at the end of a step."""
    store_own(_lost_by_sphere(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_core(y0, y1, X, lam, out):
    """Compute the dissipative duals of a core and an element of a rod."""
    _lost_by_rod(y0, y1, X, lam, out)


@dual_function
def rod_on_core_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a core and an element of a rod at the end of a step."""
    store_own(_lost_by_rod(y0, y1, X, lam, out), out)


@dual_function
def of_hulls(y0, y1, X, lam, out):
    """Compute the dissipative duals of two hulls."""
    _lost_by_hulls(y0, y1, X, lam, out)


@dual_function
def hulls_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of two hulls at the end of a step."""
    store_own(_lost_by_hulls(y0, y1, X, lam, out), out)


@dual_function
def of_round(y0, y1, X, lam, out):
    """Compute the dissipative duals of a hull and a body of revolution."""
    _lost_by_round(y0, y1, X, lam, out)


@dual_function
def round_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a hull and a body of revolution at the end of a step."""
    store_own(_lost_by_round(y0, y1, X, lam, out), out)


SPHERE_CORE_LOSS = loss_kind("a sphere and a hull", 2, of_sphere_on_core, sphere_on_core_settled)
CORE_ROD_LOSS = loss_kind("a hull and a rod", 3, of_rod_on_core, rod_on_core_settled)
HULLS_LOSS = loss_kind("hulls", 2, of_hulls, hulls_settled)
ROUND_HULLS_LOSS = loss_kind("a hull and a round body", 2, of_round, round_settled)
