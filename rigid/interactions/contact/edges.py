"""Contact of two crossing edges of meshes on different bodies, with the energy (2) of `boxes`.

Nothing acts if an end of an edge is the nearest point: the vertex there has an energy of its own, see `mesh_points`. A step
fails if one edge goes through the other within it.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_points import reach_between
from rigid.interactions.contact.capsules import nearest_on_segments
from rigid.interactions.contact.contact_sums import NOTHING, mark_failed
from rigid.interactions.contact.edge_crossings import (
    cross_edges,
    crossing_of,
    energy_of,
    has_inner_crossing,
    have_passed,
    is_apart,
)
from rigid.interactions.contact.gaps import size_of
from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, value_function, vector
from rigid.kinematics.poses import point

A, B = 5, 11  # offsets in X of both ends of each edge


@inline_kernel
def _edge(y, k, X, at):
    """Return both ends of the edge of frame k in space; `at`: offset of its ends in X."""
    return point(frame(y, k), vector(X, at)), point(frame(y, k), vector(X, at + 3))


@value_function
def value_of_edges(y, X, out):
    """Compute the potential of two crossing edges."""
    a, b = _edge(y, 0, X, A), _edge(y, 1, X, B)
    out[0] = 0.0
    if not is_apart(a, b, reach_between(X)) and has_inner_crossing(a, b):
        out[0] = energy_of(crossing_of(a, b, size_of(nearest_on_segments(a, b)[2]), X))


@inline_kernel
def edge_on_edge(y0, y1, X, weight, fraction, out):
    """Add the duals of two edges to `out`, and nothing else; return the contact sums, forces on the first edge.

    `fraction`: fraction of the distance from the first edge to the second at which both surfaces touch.
    """
    a0, a1, b0, b1 = _edge(y0, 0, X, A), _edge(y1, 0, X, A), _edge(y0, 1, X, B), _edge(y1, 1, X, B)
    reach = reach_between(X)
    if is_apart(a0, b0, reach) and is_apart(a1, b1, reach):
        return NOTHING
    if have_passed((a0, b0), (a1, b1)):
        mark_failed(out)
        return NOTHING
    local_ends = vector(X, A), vector(X, A + 3), vector(X, B), vector(X, B + 3)
    return cross_edges((a0, b0), (a1, b1), local_ends, X, weight, fraction, out)


@dual_function
def dual_of_edges(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of two edges."""
    out[:] = 0.0
    edge_on_edge(y0, y1, X, lam[0], 0.5, out)


EDGES = Kind("contact of two edges", 2, 0, value_of_edges, dual_of_edges, no_bend, one_sided=True)
