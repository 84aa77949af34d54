"""Gaps between the pairs of a list: distances of cores, segments, points or triangles less the radii of their surfaces."""

from __future__ import annotations

import numpy as np

from discretization.contact.closest_points import distances
from discretization.contact.core_distances import from_hulls, from_surfaces
from discretization.contact.core_parameters import as_hull_on_mesh
from discretization.contact.mesh_search import core_from_triangles, from_triangles
from discretization.contact.neighbour_search import Candidates
from discretization.contact.table import (
    BOX,
    CAPSULE,
    HULL,
    ROUND,
    WITH_CORES,
    Contacts,
    in_frame,
    with_feature_points,
)
from rigid.compilation.decorators import inline_kernel, kernel
from rigid.kinematics.boxes import (
    depth_of_point,
    distance_of_boxes,
    distance_of_point,
    distance_of_segment,
)
from rigid.linear_algebra import dot, load3, minus, times
from rigid.system import Floats, Ints


def gaps(contacts: Contacts, listed: Candidates, points: Floats) -> Floats:
    """Return the gaps (c,), m, of the listed pairs at tracked points (k, 3); a negative gap is the penetration depth."""
    sides = np.stack([listed.side, 1 - listed.side], axis=1)
    surfaces = np.take_along_axis(contacts.pairs[listed.pair], sides, 1)
    points = np.ascontiguousarray(with_feature_points(contacts, points))
    distance = surface_distances(contacts, points, listed.ends, surfaces)
    for k in np.flatnonzero(listed.meshed):
        corners = contacts.vertices[contacts.triangles[listed.faces[slice(*listed.first[k : k + 2])]]]
        one, mesh = surfaces[k].tolist()
        first, triangle_distances = listed.ends[k, 0], np.empty(len(corners))
        cored = contacts.kind[one] in WITH_CORES
        part = in_frame(
            contacts, mesh, points, points[first : first + 4] if cored else points[listed.ends[k, :2]]
        )
        if cored:
            core_from_triangles(
                part, as_hull_on_mesh(contacts, one), np.ascontiguousarray(corners), triangle_distances
            )
        else:
            from_triangles(np.ascontiguousarray(part), np.ascontiguousarray(corners), triangle_distances)
        distance[k] = triangle_distances.min()
    return distance - contacts.radius[surfaces].sum(axis=1)


def surface_distances(contacts: Contacts, points: Floats, ends: Ints, surfaces: Ints) -> Floats:
    """Return the distances (c,), m, of two surfaces (c, 2) without their radii, from their ends (c, 4) among the points (k, 3).

    Cores that penetrate each other have negative distances. Distances from meshes are not computed here, since a list has the
    triangles.
    """
    distance = np.empty(len(ends))
    distances(points, ends, distance)
    kinds = contacts.kind[surfaces]
    cored = np.isin(kinds[:, 1], (HULL, ROUND)) | (kinds == (CAPSULE, BOX)).all(axis=1)
    both = cored & np.isin(kinds[:, 0], (BOX, HULL, ROUND))
    use = np.flatnonzero(~cored & (kinds == BOX).any(axis=1))
    box_distances = distance[use]
    from_boxes(points, ends[use], kinds[use] == BOX, box_distances)
    distance[use] = box_distances
    one = cored & ~both
    distance[one] = from_surfaces(contacts, points, ends[one], surfaces[one, 1])
    distance[both] = from_hulls(contacts, points, ends[both], surfaces[both])
    return distance


@kernel
def from_boxes(points, ends, boxes, out):
    """Write the distances of boxes from boxes, segments and points to `out` (c,); below 0, the overlap.

    The second part of each pair is a box.
    """
    for c in range(out.shape[0]):
        other = _box(points, ends[c, 2])
        if boxes[c, 0]:
            out[c] = distance_of_boxes(_box(points, ends[c, 0]), other)
        elif ends[c, 0] != ends[c, 1]:
            out[c] = distance_of_segment(load3(points[ends[c, 0]]), load3(points[ends[c, 1]]), other)
        else:
            x = load3(points[ends[c, 0]])
            depth = depth_of_point(x, other)
            out[c] = -depth if depth > 0.0 else distance_of_point(x, other)


@inline_kernel
def _box(points, k):
    """Return the centre, axes and half sides of the box whose first of four points is k."""
    x = load3(points[k])
    a, b, c = minus(load3(points[k + 1]), x), minus(load3(points[k + 2]), x), minus(load3(points[k + 3]), x)
    half = dot(a, a) ** 0.5, dot(b, b) ** 0.5, dot(c, c) ** 0.5
    return x, (times(1.0 / half[0], a), times(1.0 / half[1], b), times(1.0 / half[2], c)), half
