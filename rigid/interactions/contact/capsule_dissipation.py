"""Compute the dissipative contact forces of two capsules: one force at one point for each of their two interactions.

The laws are those of `friction`. In contact with spheres and rods a capsule is treated as a core, which is its axis:
`core_dissipation`.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_dissipation import dissipation_of_two
from rigid.interactions.contact.capsules import capsule_on_capsule
from rigid.interactions.contact.friction import store_internal_variables
from rigid.interactions.contact.sphere_rod_dissipation import dissipation_kind, share_of_first
from rigid.interactions.kinds import dual_function


@inline_kernel
def _dissipation_of_capsules(y0, y1, X, lam, out):
    """Compute the dissipative duals of two capsules; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = capsule_on_capsule(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return dissipation_of_two(y0, y1, X, lam, sums, out)


@dual_function
def of_capsules(y0, y1, X, lam, out):
    """Compute the dissipative duals of two capsules."""
    _dissipation_of_capsules(y0, y1, X, lam, out)


@dual_function
def update_capsules(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of two capsules at the end of a step."""
    store_internal_variables(_dissipation_of_capsules(y0, y1, X, lam, out), out)


CAPSULES_DISSIPATION = dissipation_kind("capsules", 2, of_capsules, update_capsules)
