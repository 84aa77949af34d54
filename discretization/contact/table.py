"""Tables of contact surfaces (spheres, rods, solids, meshes) and of the pairs of surfaces that may touch each other.

A surface is defined by points that move with frames. A sphere has its centre, a rod the chords between its nodes, a capsule the
chord between two points of one frame, a box its centre and three points in the middles of its sides along its axes. Hulls
and bodies of revolution have a middle and three points at the distance of the farthest of their other points. Then follow the
vertices, or the corners of the profile. A mesh consists of all triangles of one frame; its four points span a
tetrahedron around it, so that no vertex moves further than the point that moves furthest. If it meets another mesh, its corners
and ridges are two more surfaces, listed after all others: their points follow from those of their mesh (`with_feature_points`),
so that no state stores them. Which parts are near enough to act changes in a run; `discretization.contact.neighbour_search`
finds them in a configuration, and `discretization.contact.interactions` builds the interactions between them. Planes need no
search: their interactions are stored in `System.others`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rigid import quaternions
from rigid.errors import ModelError
from rigid.system import Floats, Ints

# kinds of surfaces; the stations of a pair are on the surface with the smaller kind number
SPHERE, ROD, CAPSULE, BOX, HULL, ROUND, MESH, CORNERS, RIDGES = 0, 1, 2, 3, 4, 5, 6, 7, 8
OF_HULLS = (
    (CAPSULE, BOX),
    (CAPSULE, HULL),
    (BOX, HULL),
    (HULL, HULL),
)  # kinds of two surfaces whose contact is one of two hulls
OF_ROUNDS = tuple((kind, ROUND) for kind in (CAPSULE, BOX, HULL, ROUND))  # the second is a hull with facets
ON_MESHES = (CAPSULE, BOX, HULL)  # kinds of surfaces treated as hulls in contact with meshes
OF_MESHES = (CORNERS, RIDGES)  # kinds whose points follow from those of the mesh on their frame
WITH_CORES = (BOX, HULL, ROUND)  # the search uses only their first point, the middle
FIRST, SECOND, BOTH = 0, 1, 2  # surface whose stations are used; BOTH: each surface with half the stiffness
BARRIER, POLYNOMIAL = 1, 2  # laws: barrier (with an activation distance), cubic polynomial
LAW, LOSS = 4, 11  # counts of the numbers of a law and of a loss
SPANNED = 3.0  # edges of the tetrahedron of a mesh, in sides of the box around it
_BOX = np.array([[i, j, k] for i in (0.0, 1.0) for j in (0.0, 1.0) for k in (0.0, 1.0)])
ROUND_AXIS = (0.0, 0.0, 1.0)  # axis of bodies of revolution, frame axes


class Contacts(NamedTuple):
    """Contact tables: s surfaces through k points, p pairs of surfaces."""

    kind: Ints  # (s,) SPHERE, ROD, CAPSULE, BOX, HULL, ROUND, MESH, CORNERS or RIDGES
    first: Ints  # (s + 1,) points of surface i are first[i] .. first[i + 1] - 1, in order along a rod
    radius: Floats  # (s,) radius of each surface, m
    frames: Ints  # (k,) frame of each point
    X: Floats  # (k, 3) position of each point relative to the origin of its frame, frame axes, m; zero for nodes
    length: Floats  # (k,) stress-free length of the segment that begins at the point, m; 0: none begins there
    pairs: Ints  # (p, 2) surfaces of each pair; twice the same for self-contact of a rod
    law: Floats  # (p, LAW) law, k, n, activation distance; for polynomials law and three coefficients
    loss: Floats  # (p, LOSS) numbers of friction and dissipation
    stations: Ints  # (p,) intervals between the stations of an element
    side: Ints  # (p,) FIRST, SECOND or BOTH
    apart: Ints  # (x, 2) parts connected by joints, which never touch: first points of segments, points of spheres
    vertices: Floats = np.zeros((0, 3))  # (v, 3) vertices of all meshes, each in the axes of its frame, m
    triangles: Ints = np.zeros((0, 3), np.int64)  # (t, 3) vertices of each triangle, mesh by mesh
    meshed: Ints = np.zeros(0, np.int64)  # (t,) surface of each triangle

    @property
    def tracked(self) -> int:
        """Number of points that do not follow from others: those of all surfaces but corners and ridges."""
        of_meshes = (self.kind[:, None] == OF_MESHES).any(axis=1)
        return int(self.first[len(self.kind) - np.count_nonzero(of_meshes)])


def contact_frames(contacts: Contacts) -> Ints:
    """Return the frames (k,) of the points of all surfaces that may touch another."""
    surface = np.repeat(np.arange(len(contacts.kind)), np.diff(contacts.first))
    frames: Ints = contacts.frames[np.isin(surface, contacts.pairs)]
    return frames


class Sphere(NamedTuple):
    """Sphere."""

    frame: int
    X: Sequence[float] | Floats  # (3,) centre, frame axes, m
    radius: float

    @property
    def points(self) -> Floats:
        """Centre (1, 3), frame axes, m."""
        return np.reshape(np.asarray(self.X, float), (1, 3))


class Rod(NamedTuple):
    """Rod surface: a closed one has as many lengths as nodes, an open one has one less."""

    frames: Sequence[int] | Ints
    lengths: Sequence[float] | Floats
    radius: float

    @property
    def points(self) -> Floats:
        """Nodes (n, 3), at the origins of their frames, m."""
        return np.zeros((len(self.frames), 3))


class Capsule(NamedTuple):
    """Capsule: all points within the radius of a segment."""

    frame: int
    X: Floats  # (2, 3) ends of the axis, frame axes, m
    radius: float

    @property
    def points(self) -> Floats:
        """Both ends of the axis (2, 3), frame axes, m."""
        return np.asarray(self.X, float)


class Box(NamedTuple):
    """Box: a core, with axes along those of the frame, rounded with the radius."""

    frame: int
    X: Floats  # (3,) centre, frame axes, m
    half: Floats  # (3,) half sides of the core, m
    radius: float

    @property
    def points(self) -> Floats:
        """Centre and middles of three sides (4, 3), frame axes, m."""
        return self.X + np.concatenate([np.zeros((1, 3)), np.diag(self.half)])


class Hull(NamedTuple):
    """Hull: a core, the convex hull of its vertices, rounded with the radius."""

    frame: int
    X: Floats  # (v, 3) vertices, frame axes, m
    radius: float

    @property
    def points(self) -> Floats:
        """Middle, three points as far from it as the farthest vertex, and the vertices (4 + v, 3), m."""
        return _around(self.X.mean(axis=0), self.X)


class Round(NamedTuple):
    """Convex body of revolution: a core with an axis along the third axis of its frame, rounded with the radius."""

    frame: int
    X: Floats  # (3,) a point of the axis, frame axes, m
    profile: (
        Floats  # (c, 2) corners from bottom to top: radius, height above X, m; see `rigid.kinematics.cores`
    )
    radius: float

    @property
    def points(self) -> Floats:
        """Middle, three points as far from it as the farthest corner, and the corners of the profile (4 + c, 3), m."""
        middle = 0.5 * (self.profile[:, 1].min() + self.profile[:, 1].max())
        corners = np.stack([self.profile[:, 0], 0.0 * self.profile[:, 0], self.profile[:, 1]], axis=1)
        return _around(self.X + np.array([0.0, 0.0, middle]), self.X + corners)


def _around(centre: Floats, X: Floats) -> Floats:
    """Return the points of a core (4 + n, 3): its centre, three points at the largest distance of X (n, 3), and X."""
    far = float(np.linalg.norm(X - centre, axis=1).max())
    return np.concatenate([centre[None], centre + far * np.eye(3), X])


class Mesh(NamedTuple):
    """Triangle mesh: all points within the radius of its triangles."""

    frame: int
    vertices: Floats  # (v, 3) vertices, frame axes, m
    triangles: Ints  # (t, 3) vertices of each triangle
    radius: float

    @property
    def points(self) -> Floats:
        """Corners of a tetrahedron around the mesh (4, 3), frame axes, m."""
        return _tetrahedron(self.vertices)


class Corners(NamedTuple):
    """Balls about the corners of the mesh on the same frame."""

    frame: int
    X: Floats  # (c, 3) corners, frame axes, m
    radius: float

    @property
    def points(self) -> Floats:
        """All corners (c, 3), frame axes, m."""
        return self.X


class Ridges(NamedTuple):
    """Cylinders about the ridges of the mesh on the same frame."""

    frame: int
    X: Floats  # (r, 2, 3) both ends of each ridge, frame axes, m
    radius: float

    @property
    def points(self) -> Floats:
        """Both ends of each ridge (2 r, 3), frame axes, m."""
        return np.reshape(self.X, (-1, 3))


Surface = Sphere | Rod | Capsule | Box | Hull | Round | Mesh | Corners | Ridges
KINDS: tuple[type[Surface], ...] = (Sphere, Rod, Capsule, Box, Hull, Round, Mesh, Corners, Ridges)


class Pair(NamedTuple):
    """Pair of surfaces, named by their numbers, with law, losses and stations."""

    one: int
    other: int
    law: Sequence[float] | Floats
    loss: Sequence[float] | Floats = (0.0,) * LOSS
    stations: int = 4
    side: int = BOTH


def contacts_of(
    surfaces: Sequence[Surface] = (),
    pairs: Sequence[Pair] = (),
    apart: Sequence[tuple[int, int]] = (),
) -> Contacts:
    """Return the contact tables of surfaces and pairs; corners and ridges must follow all other surfaces.

    Raises ModelError if a pair names a surface that does not exist, or the same two surfaces as another pair.
    """
    positions = [surface.points for surface in surfaces]
    frames = [_frames_of(surface, len(at)) for surface, at in zip(surfaces, positions, strict=True)]
    lengths = [_lengths_of(surface, len(at)) for surface, at in zip(surfaces, positions, strict=True)]
    meshes = [(k, surface) for k, surface in enumerate(surfaces) if isinstance(surface, Mesh)]
    count = [len(indices) for indices in frames]
    first_vertex = np.cumsum([0, *(len(mesh.vertices) for _, mesh in meshes)])
    kind = [KINDS.index(type(surface)) for surface in surfaces]
    table = Contacts(
        np.array(kind, np.int64),
        np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
        np.array([surface.radius for surface in surfaces], float),
        np.concatenate([np.zeros(0), *frames]).astype(np.int64),
        np.concatenate([np.zeros((0, 3)), *positions]),
        np.concatenate([np.zeros(0), *lengths]),
        np.array([(pair.one, pair.other) for pair in pairs], np.int64).reshape(-1, 2),
        _rows([pair.law for pair in pairs], LAW),
        _rows([pair.loss for pair in pairs], LOSS),
        np.array([pair.stations for pair in pairs], np.int64),
        np.array([pair.side for pair in pairs], np.int64),
        np.array(apart, np.int64).reshape(-1, 2),
        np.concatenate([np.zeros((0, 3)), *(mesh.vertices for _, mesh in meshes)]),
        np.concatenate(
            [
                np.zeros((0, 3), np.int64),
                *(mesh.triangles + k for (_, mesh), k in zip(meshes, first_vertex, strict=False)),
            ]
        ),
        np.repeat(
            np.array([k for k, _ in meshes], np.int64), [len(mesh.triangles) for _, mesh in meshes] or 0
        ),
    )
    _check_pairs(table)
    return table


def _rows(rows: Sequence[Sequence[float] | Floats], size: int) -> Floats:
    """Return the rows as one array (p, size); a row shared by many pairs is converted once."""
    distinct_rows = {id(row): row for row in rows}
    number = {key: k for k, key in enumerate(distinct_rows)}
    distinct = np.array(list(distinct_rows.values()), float).reshape(-1, size)
    array: Floats = distinct[np.array([number[id(row)] for row in rows], np.int64)]
    return array


def _frames_of(surface: Surface, n: int) -> Ints:
    """Return the frames (n,) of the points of a surface."""
    return (
        np.asarray(surface.frames, np.int64)
        if isinstance(surface, Rod)
        else np.full(n, surface.frame, np.int64)
    )


def _lengths_of(surface: Surface, n: int) -> Floats:
    """Return the lengths (n,), m, of the segments that begin at the points of a surface; 0: none begins there."""
    if isinstance(surface, Rod):
        return np.pad(np.asarray(surface.lengths, float), (0, n - len(surface.lengths)))
    if isinstance(surface, Capsule):
        return np.array([float(np.linalg.norm(surface.X[1] - surface.X[0])), 0.0])
    return np.zeros(n)


def _tetrahedron(vertices: Floats) -> Floats:
    """Return the corners (4, 3), m, of a tetrahedron around vertices.

    Its first corner is one of their bounding box, and its edges from there are SPANNED times the sides of the box.
    """
    low, sides = vertices.min(axis=0), np.ptp(vertices, axis=0)
    sides = SPANNED * np.maximum(sides, 1e-3 * sides.max())
    return low + np.concatenate([np.zeros((1, 3)), np.diag(sides)])


def _check_pairs(contacts: Contacts) -> None:
    """Raise ModelError for pairs of surfaces that do not exist, touch themselves or occur more than once."""
    if not len(contacts.pairs):
        return
    surfaces, both = len(contacts.kind), np.sort(contacts.pairs, axis=1)
    if np.any((both < 0) | (both >= surfaces)):
        raise ModelError(
            f"contacts: a pair names surface {both.max()}, but there are {surfaces} surfaces, counted from 0"
        )
    alone = both[:, 0] == both[:, 1]
    if np.any(contacts.kind[both[alone, 0]] != ROD):
        raise ModelError(
            "contacts: a sphere, a solid or a mesh cannot touch itself. Give two surfaces, or one rod."
        )
    unique, count = np.unique(both, axis=0, return_counts=True)
    if np.any(count > 1):
        i, j = unique[np.argmax(count)]
        raise ModelError(
            f"contacts: surfaces {i} and {j} occur {count.max()} times as a pair. Remove all but one."
        )


def refuse_contacts(contacts: Contacts, who: str, instead: str = "run `simulate`") -> None:
    """Raise ModelError if there are pairs.

    who: name of the feature that does not support pairs of surfaces; instead: what supports them.
    """
    if len(contacts.pairs):
        raise ModelError(
            f"{who} does not support contacts between surfaces, of which the model has {len(contacts.pairs)} pairs. "
            f"Remove them, or {instead}."
        )


def points_of(contacts: Contacts, r: Floats, quat: Floats) -> Floats:
    """Return the tracked points (..., k, 3) for frames at r (..., n, 3) with orientations quat (..., n, 4)."""
    tracked = contacts.tracked
    frames, X = contacts.frames[:tracked], contacts.X[:tracked]
    points: Floats = r[..., frames, :]
    levers = np.flatnonzero(np.any(X, axis=1))
    if len(levers):
        points[..., levers, :] += quaternions.rotate(quat[..., frames[levers], :], X[levers])
    return points


def bounding_values(contacts: Contacts, values: Floats) -> Floats:
    """Return the bounds (..., b, 3) of a field that is linear over each surface, from its values (..., k, 3) at tracked points.

    The bounds are these values. For meshes they are the values at the corners of the box around them, which is smaller than the
    tetrahedron.
    """
    at = contacts.first[:-1][contacts.kind == MESH]
    if not len(at):
        return values
    arms = (values[..., at[:, None] + (1, 2, 3), :] - values[..., at, None, :]) / SPANNED
    of_boxes = values[..., at, None, :] + np.einsum("ba,...mac->...mbc", _BOX, arms)
    remaining = np.delete(values, (at[:, None] + np.arange(4)).ravel(), axis=-2)
    return np.concatenate([remaining, of_boxes.reshape(*values.shape[:-2], len(_BOX) * len(at), 3)], axis=-2)


def _mesh_under(contacts: Contacts, surface: int) -> int:
    """Return the mesh on the frame of a mesh, or of corners or ridges."""
    if contacts.kind[surface] == MESH:
        return surface
    begins = contacts.frames[contacts.first[:-1]]
    on_frame = (contacts.kind == MESH) & (begins == begins[surface])
    return int(np.flatnonzero(on_frame)[0])


def _axes(contacts: Contacts, mesh: int, points: Floats) -> Floats:
    """Return the axes (3, 3), as rows, of the frame of a mesh from the tracked points."""
    at = contacts.first[mesh]
    axes: Floats = points[at + 1 : at + 4] - points[at]
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return axes


def in_frame(contacts: Contacts, surface: int, points: Floats, positions: Floats) -> Floats:
    """Return positions (..., 3) in the axes of the frame of a surface: a mesh, corners or ridges.

    points (k, 3): tracked points; positions (..., 3): in space, m.
    """
    mesh = _mesh_under(contacts, surface)
    at = contacts.first[mesh]
    transformed: Floats = contacts.X[at] + (positions - points[at]) @ _axes(contacts, mesh, points).T
    return transformed


def from_frame(contacts: Contacts, surface: int, points: Floats, X: Floats) -> Floats:
    """Return positions (..., 3) in space of positions X (..., 3) in the frame of a surface: a mesh, corners or ridges."""
    mesh = _mesh_under(contacts, surface)
    at = contacts.first[mesh]
    transformed: Floats = points[at] + (X - contacts.X[at]) @ _axes(contacts, mesh, points)
    return transformed


def with_feature_points(contacts: Contacts, points: Floats) -> Floats:
    """Return all points (k, 3) from the tracked ones: corners and ridges move with their mesh."""
    point_groups = [points[: contacts.tracked]]
    for surface in np.flatnonzero(np.isin(contacts.kind, OF_MESHES)).tolist():
        point_groups.append(
            from_frame(
                contacts, surface, points, contacts.X[contacts.first[surface] : contacts.first[surface + 1]]
            )
        )
    return np.concatenate(point_groups) if len(point_groups) > 1 else point_groups[0]


def box_around(contacts: Contacts, surface: int) -> Floats:
    """Return the corners (8, 3) of a box around a mesh, its corners or its ridges, frame axes, m."""
    first, last = contacts.first[surface : surface + 2]
    X = contacts.X[first:last]
    if contacts.kind[surface] == MESH:
        low, sides = X[0], np.diagonal(X[1:] - X[0]) / SPANNED
    else:
        low, sides = X.min(axis=0), np.ptp(X, axis=0)
    corners: Floats = low + _BOX * sides
    return corners


def scale_law(law: Floats, factor: Floats | float) -> Floats:
    """Return laws (..., LAW) with their forces multiplied by `factor` (...)."""
    scaled = law.copy()
    scaled[..., 1] *= factor
    scaled[..., 2:] *= np.where(law[..., 0] == POLYNOMIAL, factor, 1.0)[..., None]
    return scaled


def slopes(law: Floats, depth: Floats | float) -> Floats:
    """Return the stiffnesses (...) of powers and polynomials (..., LAW) at a depth (...): the derivative of the force."""
    _, k, n, last = np.moveaxis(law, -1, 0)
    polynomial = law[..., 0] == POLYNOMIAL
    of_power = k * n * depth ** np.maximum(np.where(polynomial, 0.0, n) - 1.0, 0.0)
    return np.where(polynomial, k + depth * (2.0 * n + 3.0 * last * depth), of_power)


def search_distances(contacts: Contacts) -> Floats:
    """Return the distances (p,), m, of centre lines or of middles of cores below which there may be forces."""
    barrier = contacts.law[:, 0] == BARRIER
    around = contacts.radius + np.linalg.norm(half_sides(contacts, contacts.first[:-1]), axis=-1)
    cored = np.isin(contacts.kind, (HULL, ROUND))
    around[cored] += np.linalg.norm(sizes_of(contacts, contacts.first[:-1][cored]), axis=-1)
    distances: Floats = around[contacts.pairs].sum(axis=1) + np.where(barrier, contacts.law[:, 3], 0.0)
    return distances


def median_search_distance(reach: Floats) -> float:
    """Return the median search distance, m, which half of all pairs do not exceed; 0 if there are none.

    A skin is chosen by it, not by the largest: with balls in a bowl that is a ball of 30 m, all would be near.
    """
    return float(np.quantile(reach, 0.5, method="lower")) if len(reach) else 0.0


def sizes_of(contacts: Contacts, points: Ints) -> Floats:
    """Return how far hulls and bodies of revolution extend from their middles, the points (...), as vectors (..., 3), m."""
    extents: Floats = contacts.X[points + 1] - contacts.X[points]
    return extents


def half_sides(contacts: Contacts, points: Ints) -> Floats:
    """Return the half sides (..., 3), m, of the cores of boxes with centres in these points (...); 0 for other points."""
    surface = np.searchsorted(contacts.first, points, side="right") - 1
    box = contacts.kind[surface] == BOX
    sides = np.minimum(points[..., None] + (1, 2, 3), len(contacts.X) - 1)
    arms = np.diagonal(contacts.X[sides] - contacts.X[points][..., None, :], axis1=-2, axis2=-1)
    half: Floats = np.where(box[..., None], arms, 0.0)
    return half
