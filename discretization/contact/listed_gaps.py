"""Gaps between the pairs of a list: distances of what surfaces go round, less their radii."""

from __future__ import annotations

import numpy as np

from discretization.contact.mesh_search import from_triangles, in_mesh
from discretization.contact.nearest import distances
from discretization.contact.search import Candidates
from discretization.contact.table import BOX, Contacts
from rigid.compilation.decorators import kernel, small_kernel
from rigid.kinematics.boxes import (
    depth_of_point,
    distance_of_boxes,
    distance_of_point,
    distance_of_segment,
)
from rigid.linear_algebra import dot, load3, minus, times
from rigid.system import Floats


def gaps(contacts: Contacts, listed: Candidates, points: Floats) -> Floats:
    """(c,) m, of surfaces through these points (k, 3); below 0 the depth of the one in the other."""
    apart = np.empty(len(listed.pair))
    distances(points, listed.ends, apart)
    sides = np.stack([listed.side, 1 - listed.side], axis=1)
    surfaces = np.take_along_axis(contacts.pairs[listed.pair], sides, 1)
    boxes = contacts.kind[surfaces] == BOX
    use = np.flatnonzero(boxes.any(axis=1))
    found = apart[use]
    from_boxes(np.ascontiguousarray(points), listed.ends[use], boxes[use], found)
    apart[use] = found
    for k in np.flatnonzero(listed.meshed):
        corners = contacts.vertices[contacts.triangles[listed.faces[slice(*listed.first[k : k + 2])]]]
        part = in_mesh(contacts, int(surfaces[k, 1]), points, points[listed.ends[k, :2]])
        each = np.empty(len(corners))
        from_triangles(np.ascontiguousarray(part), np.ascontiguousarray(corners), each)
        apart[k] = each.min()
    return apart - contacts.radius[surfaces].sum(axis=1)


@kernel
def from_boxes(points, ends, boxes, out):
    """Distances of boxes, and of boxes behind segments and points; below 0 by how much they overlap."""
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


@small_kernel
def _box(points, k):
    """Of its four points."""
    x = load3(points[k])
    a, b, c = minus(load3(points[k + 1]), x), minus(load3(points[k + 2]), x), minus(load3(points[k + 3]), x)
    half = dot(a, a) ** 0.5, dot(b, b) ** 0.5, dot(c, c) ** 0.5
    return x, (times(1.0 / half[0], a), times(1.0 / half[1], b), times(1.0 / half[2], c)), half
