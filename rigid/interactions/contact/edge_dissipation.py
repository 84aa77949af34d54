"""Compute the dissipative contact forces of two crossing edges: one force at the point where both touch.

The laws are those of `friction`.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_dissipation import dissipation_of_two
from rigid.interactions.contact.edges import edge_on_edge
from rigid.interactions.contact.friction import store_internal_variables
from rigid.interactions.contact.sphere_rod_dissipation import dissipation_kind, share_of_first
from rigid.interactions.kinds import dual_function


@inline_kernel
def _dissipation_of_edges(y0, y1, X, lam, out):
    """Compute the dissipative duals of two edges; return the result of `write_dissipative_duals`."""
    out[:] = 0.0
    sums = edge_on_edge(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return dissipation_of_two(y0, y1, X, lam, sums, out)


@dual_function
def of_edges(y0, y1, X, lam, out):
    """Compute the dissipative duals of two edges."""
    _dissipation_of_edges(y0, y1, X, lam, out)


@dual_function
def update_edges(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of two edges at the end of a step."""
    store_internal_variables(_dissipation_of_edges(y0, y1, X, lam, out), out)


EDGES_DISSIPATION = dissipation_kind("two edges", 2, of_edges, update_edges)
