"""Compute the dissipative contact forces of two crossing edges: one force at the point where both touch.

The laws are those of `friction`.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.box_losses import lost_by_two
from rigid.interactions.contact.edges import edge_on_edge
from rigid.interactions.contact.friction import store_own
from rigid.interactions.contact.losses import loss_kind, share_of_first
from rigid.interactions.kinds import dual_function


@small_kernel
def _lost_by_edges(y0, y1, X, lam, out):
    """Compute the dissipative duals of two edges; return the result of `resist`."""
    out[:] = 0.0
    found = edge_on_edge(y0, y1, X, 1.0 + 0j, share_of_first(X), out)
    return lost_by_two(y0, y1, X, lam, found, out)


@dual_function
def of_edges(y0, y1, X, lam, out):
    """Compute the dissipative duals of two edges."""
    _lost_by_edges(y0, y1, X, lam, out)


@dual_function
def edges_settled(y0, y1, X, lam, out):
    """Compute the internal variables of the friction of two edges at the end of a step."""
    store_own(_lost_by_edges(y0, y1, X, lam, out), out)


EDGES_LOSS = loss_kind("two edges", 2, of_edges, edges_settled)
