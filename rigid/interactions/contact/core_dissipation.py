"""Compute the dissipative contact forces of hulls and bodies of revolution: one force at one point for each pair.

The laws are those of `friction`.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_dissipation import dissipation_of_two
from rigid.interactions.contact.core_points import rod_on_core, sphere_on_core
from rigid.interactions.contact.friction import store_internal_variables, write_dissipative_duals
from rigid.interactions.contact.hulls import hull_on_hull
from rigid.interactions.contact.round_hulls import round_on_hull
from rigid.interactions.contact.sphere_rod_dissipation import (
    chord_of,
    dissipation_kind,
    scaled_dual,
    set_weight,
    share_of_first,
)
from rigid.interactions.kinds import add_dual, dual_function, frame


@inline_kernel
def _dissipation_of_sphere(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a core; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = sphere_on_core(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return dissipation_of_two(y0, y1, X, lam, sums, out)


@inline_kernel
def _dissipation_of_rod(y0, y1, X, lam, out):
    """Compute the dissipative duals of a core and an element of a rod; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = rod_on_core(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    on_core = frame(out, 0)
    set_weight(out, 0, -sums[0])
    end = write_dissipative_duals(y0, y1, X, lam, (1, 3), sums, chord_of(y0, y1, 1), out)
    add_dual(scaled_dual(end[0], on_core), out, 0)
    return end


@inline_kernel
def _dissipation_of_hulls(y0, y1, X, lam, out):
    """Compute the dissipative duals of two hulls; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = hull_on_hull(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return dissipation_of_two(y0, y1, X, lam, sums, out)


@inline_kernel
def _dissipation_of_round(y0, y1, X, lam, out):
    """Compute the dissipative duals of a hull and a body of revolution; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = round_on_hull(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return dissipation_of_two(y0, y1, X, lam, sums, out)


@dual_function
def of_sphere_on_core(y0, y1, X, lam, out):
    """Compute the dissipative duals of a sphere and a core."""
    _dissipation_of_sphere(y0, y1, X, lam, out)


@dual_function
def update_sphere_on_core(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a sphere and a core at the end of a step."""
    store_internal_variables(_dissipation_of_sphere(y0, y1, X, lam, out), out)


@dual_function
def of_rod_on_core(y0, y1, X, lam, out):
    """Compute the dissipative duals of a core and an element of a rod."""
    _dissipation_of_rod(y0, y1, X, lam, out)


@dual_function
def update_rod_on_core(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a core and an element of a rod at the end of a step."""
    store_internal_variables(_dissipation_of_rod(y0, y1, X, lam, out), out)


@dual_function
def of_hulls(y0, y1, X, lam, out):
    """Compute the dissipative duals of two hulls."""
    _dissipation_of_hulls(y0, y1, X, lam, out)


@dual_function
def update_hulls(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of two hulls at the end of a step."""
    store_internal_variables(_dissipation_of_hulls(y0, y1, X, lam, out), out)


@dual_function
def of_round(y0, y1, X, lam, out):
    """Compute the dissipative duals of a hull and a body of revolution."""
    _dissipation_of_round(y0, y1, X, lam, out)


@dual_function
def update_round(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of a hull and a body of revolution at the end of a step."""
    store_internal_variables(_dissipation_of_round(y0, y1, X, lam, out), out)


SPHERE_CORE_DISSIPATION = dissipation_kind("a sphere and a hull", 2, of_sphere_on_core, update_sphere_on_core)
CORE_ROD_DISSIPATION = dissipation_kind("a hull and a rod", 3, of_rod_on_core, update_rod_on_core)
HULLS_DISSIPATION = dissipation_kind("hulls", 2, of_hulls, update_hulls)
ROUND_HULLS_DISSIPATION = dissipation_kind("a hull and a round body", 2, of_round, update_round)
