"""Contact of boxes, capsules and hulls with a rigid triangle mesh: sums over vertices and over crossing edges of both.

A vertex of the hull against the mesh is a point, see `mesh_features`: flat ground acts as a plane, however it is triangulated.
A vertex of the mesh against the hull is a point of `core_points`; an edge of each across the other has the energy (2) of
`boxes`. Neither acts where the mesh is flat: their stiffness is multiplied by w,

    of an edge      w = min(1, 4 sin(theta/2)), theta by which its triangles are bent; 1 where it has but one             (1)
    of a vertex     w = the greatest of its edges

A vertex of the mesh next to one of the hull would be counted in both sums: as in `hulls`, U of their distance with the lesser
of both fractions is subtracted. A vertex of the mesh has a quarter of the stiffness, times w; a crossing has the fraction of
the edge of the hull.

Parameters: those of the pair, the core, the number of factors w, these factors of edges and then of vertices, and the
triangles.

A step fails if an edge of the mesh is in the core at one of its ends, or if within it a vertex goes through a face, or an edge
through an edge.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.box_points import reach_between
from rigid.interactions.contact.capsules import nearest_on_segments
from rigid.interactions.contact.contact_sums import NOTHING, add, contact_contribution, mark_failed
from rigid.interactions.contact.core_points import of_point, push_from_core
from rigid.interactions.contact.edge_crossings import (
    cross_edges,
    crossing_of,
    energy_of,
    has_inner_crossing,
    have_passed,
    is_apart,
    with_swapped_bodies,
)
from rigid.interactions.contact.gaps import RHO, of_points, size_of
from rigid.interactions.contact.hulls import A, edge_of, lesser, local_vertex, share_of_edge
from rigid.interactions.contact.mesh_features import COUNTS, OF_EDGE, mesh_vertex, pieces
from rigid.interactions.contact.mesh_points import inside, push_from_mesh
from rigid.interactions.contact.normal_laws import PASSED, potential
from rigid.interactions.kinds import (
    Kind,
    add_dual,
    dual_function,
    frame,
    no_bend,
    value_function,
    vector,
    whole,
)
from rigid.kinematics.core_pairs import are_beside, components_in, has_part_of
from rigid.kinematics.cores import SIZE, counts_of, ends_of_edge, share_of_vertex
from rigid.kinematics.poses import on_point, point
from rigid.linear_algebra import average, dot, minus, real, times

SHARE = 0.25  # fraction of the stiffness that a vertex of the mesh has


@inline_kernel
def weights_of(X):
    """Return the offsets in X of the factors w and of the triangles."""
    at = A + whole(X[A + SIZE])
    return at + 1, at + 1 + whole(X[at])


@inline_kernel
def _first_edge(X, mesh):
    """Return the offset in X of the first edge of the mesh."""
    return mesh + COUNTS + 3 * whole(X[mesh]) + 3 * whole(X[mesh + 1])


@inline_kernel
def _ends(X, mesh, k):
    """Return both ends of edge k, in the axes of the mesh."""
    at = _first_edge(X, mesh) + OF_EDGE * k
    return mesh_vertex(X, mesh + COUNTS, at), mesh_vertex(X, mesh + COUNTS, at + 1)


@inline_kernel
def _corner(X, mesh, k):
    """Return vertex k, in the axes of the mesh."""
    return vector(X, mesh + COUNTS + 3 * k)


@inline_kernel
def _in_core(one, other, p, X):
    """Return the position of a point p of the mesh in the axes of the core; in real arithmetic.

    `one`, `other`: poses of the mesh and of the hull.
    """
    w = minus(real(point(one, p)), real(point(other, vector(X, A))))
    return components_in((real(other[1]), real(other[2]), real(other[3])), w)


@inline_kernel
def _is_far(one, other, p, q, X):
    """Return True if no law acts on the segment between two points p, q of the mesh."""
    return are_beside(_in_core(one, other, p, X), _in_core(one, other, q, X), X, A, reach_between(X))


@inline_kernel
def _is_cut(one, other, X, mesh):
    """Return True if an edge of the mesh intersects the core."""
    for k in range(whole(X[mesh + 2])):
        p, q = _ends(X, mesh, k)
        if has_part_of(_in_core(one, other, p, X), _in_core(one, other, q, X), X, A):
            return True
    return False


@inline_kernel
def energy_of_hull_on_mesh(one, other, X):
    """Return the potential V for given poses of the mesh and of the hull; NaN if an edge of the mesh is in the core."""
    w, mesh = weights_of(X)
    V, reach, edges = 0j, reach_between(X), whole(X[mesh + 2])
    for i in range(counts_of(X, A)[0]):
        u = inside(one, point(other, local_vertex(X, A, i)))
        V += share_of_vertex(X, A, i) * pieces(X, mesh, u, u)[4]
    if V.real != V.real or _is_cut(one, other, X, mesh):
        return PASSED
    for k in range(whole(X[mesh])):
        part = SHARE * X[w + edges + k]
        if part.real == 0.0:
            continue
        if _is_far(one, other, _corner(X, mesh, k), _corner(X, mesh, k), X):
            continue
        p = point(one, _corner(X, mesh, k))
        V += part * of_point(p, other, X, A)
        for i in range(counts_of(X, A)[0]):
            d = minus(p, point(other, local_vertex(X, A, i)))
            V -= lesser(part, share_of_vertex(X, A, i)) * potential(X, size_of(d) - X[RHO])
    for k in range(edges):
        if X[w + k].real == 0.0:
            continue
        p, q = _ends(X, mesh, k)
        if _is_far(one, other, p, q, X):
            continue
        a = point(one, p), point(one, q)
        for i in range(counts_of(X, A)[1]):
            b = edge_of(other, X, A, i)
            if not is_apart(a, b, reach) and has_inner_crossing(a, b):
                part = X[w + k] * share_of_edge(X, A, i)
                V += part * energy_of(crossing_of(a, b, size_of(nearest_on_segments(a, b)[2]), X))
    return V


@inline_kernel
def _add_vertex_pair(places0, places1, locals_, X, weight, fraction, out):
    """Add the duals of a vertex of the mesh and one of the hull; return the contact contribution, the force on the hull.

    places0, places1: both vertices in space at the start and at the end of the step. `locals_`: both vertices in their frames.
    """
    (p0, x0), (p1, x1), (Xp, Xv) = places0, places1, locals_
    d0, d1, far = real(minus(x0, p0)), real(minus(x1, p1)), reach_between(X)
    if dot(d0, d0) > far * far and dot(d1, d1) > far * far:
        return NOTHING
    Q, force, closed, d = of_points(X, x0, x1, p0, p1)
    if Q == 0.0:
        return NOTHING
    add_dual(on_point(times(-weight, force), Xv), out, 1)
    add_dual(on_point(times(weight, force), Xp), out, 0)
    return contact_contribution(weight, Q, force, closed, minus(average(x0, x1), times(fraction, d)))


@inline_kernel
def _add_vertices(poses_a, poses_b, X, weight, fraction, out):
    """Add the duals of all vertices of the hull against the mesh; return the contact sums, forces on the hull."""
    sums, mesh = NOTHING, weights_of(X)[1]
    for i in range(counts_of(X, A)[0]):
        Xv = local_vertex(X, A, i)
        x0, x1 = point(poses_b[0], Xv), point(poses_b[1], Xv)
        contribution = push_from_mesh(
            x0, x1, poses_a, 0, X, mesh, weight * share_of_vertex(X, A, i), fraction, out
        )
        add_dual(on_point(times(-1.0, contribution[1]), Xv), out, 1)
        sums = add(sums, contribution)
    return sums


@inline_kernel
def _add_mesh_vertices(poses_a, poses_b, X, weight, fraction, out):
    """Add the duals of all vertices of the mesh against the hull, minus those of vertices against vertices.

    Return the contact sums, forces on the hull.
    """
    sums, (w, mesh) = NOTHING, weights_of(X)
    edges = whole(X[mesh + 2])
    for k in range(whole(X[mesh])):
        part = SHARE * X[w + edges + k]
        if part.real == 0.0:
            continue
        Xp = _corner(X, mesh, k)
        if _is_far(poses_a[0], poses_b[0], Xp, Xp, X) and _is_far(poses_a[1], poses_b[1], Xp, Xp, X):
            continue
        p0, p1 = point(poses_a[0], Xp), point(poses_a[1], Xp)
        contribution = push_from_core(p0, p1, poses_b, A, 1, X, weight * part, 1.0 - fraction, out)
        add_dual(on_point(times(-1.0, contribution[1]), Xp), out, 0)
        sums = add(sums, with_swapped_bodies(contribution))
        for i in range(counts_of(X, A)[0]):
            Xv, both = local_vertex(X, A, i), lesser(part, share_of_vertex(X, A, i))
            x0, x1 = point(poses_b[0], Xv), point(poses_b[1], Xv)
            sums = add(sums, _add_vertex_pair((p0, x0), (p1, x1), (Xp, Xv), X, -weight * both, fraction, out))
    return sums


@inline_kernel
def _add_edges(poses_a, poses_b, X, weight, fraction, out):
    """Add the duals of all pairs of edges that cross; return the contact sums, forces on the hull."""
    sums, (w, mesh), reach = NOTHING, weights_of(X), reach_between(X)
    for k in range(whole(X[mesh + 2])):
        if X[w + k].real == 0.0:
            continue
        p, q = _ends(X, mesh, k)
        if _is_far(poses_a[0], poses_b[0], p, q, X) and _is_far(poses_a[1], poses_b[1], p, q, X):
            continue
        a0, a1 = (point(poses_a[0], p), point(poses_a[0], q)), (point(poses_a[1], p), point(poses_a[1], q))
        for i in range(counts_of(X, A)[1]):
            b0, b1, (first, last) = (
                edge_of(poses_b[0], X, A, i),
                edge_of(poses_b[1], X, A, i),
                ends_of_edge(X, A, i),
            )
            if is_apart(a0, b0, reach) and is_apart(a1, b1, reach):
                continue
            if have_passed((a0, b0), (a1, b1)):
                mark_failed(out)
                return NOTHING
            local_ends = p, q, local_vertex(X, A, first), local_vertex(X, A, last)
            part = weight * X[w + k] * share_of_edge(X, A, i)
            contribution = cross_edges((a0, b0), (a1, b1), local_ends, X, part, 1.0 - fraction, out)
            sums = add(sums, with_swapped_bodies(contribution))
    return sums


@inline_kernel
def hull_on_mesh(poses_a, poses_b, X, weight, fraction, out):
    """Add the duals of a mesh and a hull to `out`, and nothing else; return the contact sums, forces on the
    hull.

    `poses_a`, `poses_b`: poses of the mesh and of the hull at both ends of the step.
    `fraction`: fraction of the distance from the hull to the mesh at which both surfaces touch.
    """
    mesh = weights_of(X)[1]
    sums = _add_vertices(poses_a, poses_b, X, weight, fraction, out)
    sums = add(sums, _add_mesh_vertices(poses_a, poses_b, X, weight, fraction, out))
    sums = add(sums, _add_edges(poses_a, poses_b, X, weight, fraction, out))
    if _is_cut(poses_a[0], poses_b[0], X, mesh) or _is_cut(poses_a[1], poses_b[1], X, mesh):
        mark_failed(out)
        return NOTHING
    return sums


@value_function
def value_of_hull_and_mesh(y, X, out):
    """Compute the potential of a mesh and a hull."""
    out[0] = energy_of_hull_on_mesh(frame(y, 0), frame(y, 1), X)


@dual_function
def dual_of_hull_and_mesh(y0, y1, X, lam, out):
    """Compute the discrete gradient of the potential of a mesh and a hull."""
    out[:] = 0.0
    poses_a, poses_b = (frame(y0, 0), frame(y1, 0)), (frame(y0, 1), frame(y1, 1))
    hull_on_mesh(poses_a, poses_b, X, lam[0], 0.5, out)


MESH_HULL = Kind(
    "contact of a mesh and a hull",
    2,
    0,
    value_of_hull_and_mesh,
    dual_of_hull_and_mesh,
    no_bend,
    one_sided=True,
)
