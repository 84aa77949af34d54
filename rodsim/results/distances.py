"""Compute distances between surfaces and points of a model, in any of its states.

    between surfaces: least distance of the centre lines, minus the radii
    to a plane: least n . (x - p) over the points x of the other surface, minus its radius

A surface is a sphere, a solid, a plane or a rod, given by its name. A point is given as `NAME@X,Y,Z` on a body, in m, body axes,
from the reference point, or as `NAME@0.3` on a rod, on the chord between two nodes. The name of a body that is not a surface
means its reference point. Rods are round about the chords between their nodes, with the radii of their sections. A negative
distance is minus the penetration depth. For a hull or a body of revolution the depth is measured to the nearest face. Cylinders
and cones have the distance of their facets to solids with corners and to meshes, as in contact. Flat solids, whose points lie
in one plane, have distances to planes only. Meshes have the distance of their triangles.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.contact.feature_edges import find_mesh_features
from discretization.contact.mesh_search import build_triangle_trees, least_distance
from discretization.contact.pair_gaps import surface_distances
from discretization.contact.table import LAW, MESH, Hull, Mesh, Pair, Round, Sphere, contacts_of
from rigid import quaternions
from rigid.solids import Hull as Solid
from rigid.system import Floats, Ints, State
from rodsim.components.point_syntax import parse_point
from rodsim.results.contact_gaps import MinimumGap
from rodsim.results.errors import ResultError, UnknownName
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.rod_interpolation import rod_length

SURFACES = "surfaces"  # key of the description: frame, point in its axes, radius or normal of each surface


class Surface(NamedTuple):
    """Surface or point: k points, and e segments between them; a single point is a segment with equal ends."""

    label: str
    frames: Ints  # (k,) frame of each point
    X: Floats  # (k, 3) m, points, frame axes
    ends: Ints  # (e, 2) end points of each segment
    radius: Floats  # (e,) m, radius around each segment
    normal: Floats | None = None  # (3,) normal of a plane, frame axes
    between: float | None = None  # for a point between the two points: fraction of the way to the second
    circles: Floats = np.zeros((0, 7))  # (c, 7) edge circles of a solid: centre, axis, radius, frame axes
    cornered: bool = False  # True for a solid with corners: more than a point or a segment
    faces: Ints | None = None  # (t, 3) triangles of a mesh; the points are its vertices
    core: Hull | Round | None = (
        None  # solid with corners and its radius; None: another surface, or no interior
    )

    def above(self, state: State, n: Floats, foot: Floats) -> Floats:
        """Return the least height (...) of the surface above a plane, m; `n`: unit normal, `foot`: a point of the plane."""
        heights = np.einsum("...kc,...c->...k", self.points(state) - foot, n)
        least: Floats = (heights[..., self.ends].min(axis=-1) - self.radius).min(axis=-1, initial=np.inf)
        if len(self.circles):
            frames = np.full(len(self.circles), self.frames[0])
            centre = _place_points(state, frames, self.circles[:, :3])
            axis = quaternions.rotate(state.quat[..., frames, :], self.circles[:, 3:6])
            sine = np.linalg.norm(np.cross(axis, n[..., None, :]), axis=-1)
            low = np.einsum("...kc,...c->...k", centre - foot, n) - self.circles[:, 6] * sine
            least = np.minimum(least, low.min(axis=-1) - self.radius[0])
        return least

    def points(self, state: State) -> Floats:
        """Return the points (..., k, 3) in a state, m; (..., 1, 3) for a point between two points."""
        positions: Floats = _place_points(state, self.frames, self.X)
        if self.between is None:
            return positions
        return (1.0 - self.between) * positions[..., :1, :] + self.between * positions[..., 1:, :]


class Distance:
    """Distance between two surfaces or points of a layout.

    Raises UnknownName if a name does not exist, and ResultError if both are the same or have no distance.
    """

    def __init__(self, layout: Layout, a: str, b: str) -> None:
        self.a, self.b = surface_by_name(layout, a), surface_by_name(layout, b)
        if self.a.label == self.b.label:
            raise ResultError(
                f"distance: '{a}' and '{b}' are {self.a.label} both; give two, or use `contact(...).gap` for self-contact"
            )
        if self.b.normal is not None:
            self.a, self.b = self.b, self.a
        if self.a.faces is not None:
            self.a, self.b = self.b, self.a
        if self.b.normal is not None:
            raise ResultError(
                f"distance: '{a}' and '{b}' are both planes, which have no distance; give another surface"
            )
        for one, other in ((self.a, self.b), (self.b, self.a)):
            if one.cornered and other.normal is None and one.core is None:
                raise ResultError(
                    f"distance: {one.label} has a distance only to planes; give a plane for {other.label}, or a point of its body"
                )
        if self.b.faces is not None and self.a.core is not None:
            mesh = Mesh(int(self.b.frames[0]), self.b.X, self.b.faces, float(self.b.radius[0]))
            self._to_core = MinimumGap(contacts_of([self.a.core, mesh], [Pair(0, 1, np.zeros(LAW))]))
        if self.b.faces is not None or self.a.normal is not None:
            return
        if self.a.core is not None and (self.b.core is None or isinstance(self.a.core, Round)):
            self.a, self.b = self.b, self.a  # kernels have cores second, and of two those of revolution
        self._contacts = contacts_of(
            [surface.core or Sphere(0, np.zeros(3), 0.0) for surface in (self.a, self.b)]
        )
        parts = [np.zeros((1, 2), np.int64) if surface.core else surface.ends for surface in (self.a, self.b)]
        i, k = np.indices((len(parts[0]), len(parts[1]))).reshape(2, -1)
        n_points = 4 if self.a.core else len(self.a.X) if self.a.between is None else 1
        self._ends = np.ascontiguousarray(np.concatenate([parts[0][i], parts[1][k] + n_points], axis=1))
        self._radii = self.a.radius[i] + self.b.radius[k]

    def __str__(self) -> str:
        return f"distance of {self.a.label} and {self.b.label}"

    def of(self, state: State) -> Floats:
        """Return the distance (...), m, in one state or in many."""
        if self.a.normal is not None:
            n = quaternions.rotate(state.quat[..., self.a.frames[0], :], self.a.normal)
            return self.b.above(state, n, self.a.points(state))
        if self.b.faces is not None and self.a.faces is not None:
            return self._between_meshes(state)
        if self.b.faces is not None:
            return _mesh_distance(self.a, self.b, state) if self.a.core is None else self._to_core.of(state)
        groups = [
            surface.points(state)
            if surface.core is None
            else _place_points(state, surface.frames[[0] * 4], surface.core.points[:4])
            for surface in (self.a, self.b)
        ]
        points = np.concatenate(groups, axis=-2)
        surfaces = np.tile([0, 1], (len(self._ends), 1))
        least = [
            np.min(
                surface_distances(self._contacts, np.ascontiguousarray(surface), self._ends, surfaces)
                - self._radii
            )
            for surface in points.reshape(-1, *points.shape[-2:])
        ]
        return np.reshape(least, points.shape[:-2])

    def _between_meshes(self, state: State) -> Floats:
        """Return the least distance (...) of the ridges of one mesh from the triangles of the other, m; 0 if a ridge cuts one."""
        least = np.full(state.r.shape[:-2], np.inf)
        for one, other in ((self.a, self.b), (self.b, self.a)):
            assert one.faces is not None
            ends = find_mesh_features(one.X, one.faces).ridges
            single = one._replace(ends=ends, radius=np.full(len(ends), one.radius[0]))
            least = np.minimum(least, _mesh_distance(single, other, state))
        return least


def _mesh_distance(one: Surface, mesh: Surface, state: State) -> Floats:
    """Return the distance (...) of a surface from the triangles of a mesh, m, computed in the axes of the mesh."""
    frame, faces = mesh.frames[0], mesh.faces
    assert faces is not None
    to_frame = quaternions.conjugate(state.quat[..., frame, :])[..., None, :]
    local = quaternions.rotate(to_frame, one.points(state) - state.r[..., frame, None, :])
    flat, trees = local.reshape(-1, *local.shape[-2:]), build_triangle_trees(mesh.X[faces])
    least = [least_distance(trees, tracked[one.ends], one.radius) for tracked in flat]
    distance: Floats = np.reshape(least, state.r.shape[:-2]) - mesh.radius[0]
    return distance


def contact_mesh(layout: Layout, entry: dict[str, Any]) -> tuple[Floats, Ints] | None:
    """Return the vertices (v, 3), m, frame axes, and triangles (t, 3) of a surface of the description.

    `entry`: entry of the surface. Return None if it is not a mesh, or if the contact tables do not contain it.
    """
    if "mesh" not in entry or layout.system is None:
        return None
    contacts = layout.system.contacts
    meshes = np.flatnonzero(contacts.kind == MESH)
    if entry["mesh"] >= len(meshes):
        return None
    faces = contacts.triangles[contacts.meshed == meshes[entry["mesh"]]]
    low = faces.min()
    return contacts.vertices[low : faces.max() + 1], faces - low


def surface_by_name(layout: Layout, text: str) -> Surface:
    """Return the surface or point with this name. Raise UnknownName, with the known names, or ResultError if it is ill-formed."""
    known: dict[str, dict[str, Any]] = layout.description.get(SURFACES, {})
    rods, bodies = {item.name: item for item in layout.rods}, {item.name: item for item in layout.bodies}
    if not isinstance(text, str):
        raise ResultError(f"distance: {text!r} is not a name; write it as 'ball' or 'cord@0.5'")
    if text in known:
        if text in rods:
            raise ResultError(f"distance: '{text}' is a rod and a {known[text]['kind']}; rename one of them")
        return (
            _mesh(layout, text, known[text])
            if "mesh" in known[text]
            else _surface_from_entry(text, known[text])
        )
    if text in rods:
        return _rod(rods[text])
    point = parse_point(text, bodies)
    name, position = point.part, point.position
    if name not in rods and name not in bodies:
        names = ", ".join(f"'{item}'" for item in (*known, *rods, *bodies)) or "none"
        raise UnknownName(f"distance: no surface, rod or body '{name}'; there are {names}")
    if name in rods:
        if point.fraction is None:
            raise ResultError(f"distance: '{text}': give a fraction of the rod's length, as '{name}@0.5'")
        return _rod_point(text, rods[name], point.fraction * rod_length(layout, rods[name]))
    if position is None or len(position) not in (0, 3):
        raise ResultError(f"distance: '{text}': give a point in the body's axes, m, as '{name}@0.1,0,0'")
    body = bodies[name]
    X = np.asarray(body.reference, float) + (np.array(position) if position else 0.0)
    return _point(f"point '{text}'", body.frame, X, 0.0)


def _mesh(layout: Layout, name: str, entry: dict[str, Any]) -> Surface:
    """Return a mesh from its entry `entry` in the description. Raise ResultError if the contact tables do not contain it."""
    mesh = contact_mesh(layout, entry)
    if mesh is None:
        raise ResultError(
            f"distance: mesh '{name}' is not in any contact; name it in a contact with a sphere or a rod"
        )
    vertices, faces = mesh
    n = len(vertices)
    ends, radius = np.column_stack([np.arange(n)] * 2), np.full(n, float(entry["radius"]))
    return Surface(f"mesh '{name}'", np.full(n, entry["frame"]), vertices, ends, radius, faces=faces)


def _surface_from_entry(name: str, entry: dict[str, Any]) -> Surface:
    """Return a sphere, a solid or a plane from its entry `entry` in the description."""
    if "points" in entry:
        X, circles = np.array(entry["points"]).reshape(-1, 3), np.array(entry["circles"]).reshape(-1, 7)
        ends = np.column_stack([np.arange(len(X))] * 2) if len(X) != 2 or len(circles) else np.array([[0, 1]])
        frames, radius = np.full(max(len(X), 1), entry["frame"]), np.full(max(len(ends), 1), entry["radius"])
        if not len(X):  # only circles: their centre is above their lowest point
            X, ends = circles[:1, :3], np.zeros((1, 2), np.int64)
        cornered = len(circles) > 0 or len(X) > 2
        label = f"{entry['kind']} '{name}'"
        core = _core(np.array(entry["points"]).reshape(-1, 3), circles, entry) if cornered else None
        return Surface(label, frames, X, ends, radius, circles=circles, cornered=cornered, core=core)
    point = _point(
        f"{entry['kind']} '{name}'", entry["frame"], np.array(entry["X"]), entry.get("radius", 0.0)
    )
    return point._replace(normal=np.array(entry["normal"]) if "normal" in entry else None)


def _core(points: Floats, circles: Floats, entry: dict[str, Any]) -> Hull | Round | None:
    """Return the core of a solid with corners; None if its points lie in a plane, or if the file is from an older version."""
    frame, radius = entry["frame"], entry["radius"]
    if "profile" in entry:
        return Round(frame, circles[0, :3] * (1.0, 1.0, 0.0), np.array(entry["profile"]), radius)
    return None if len(circles) or Solid(points).is_flat else Hull(frame, points, radius)


def _place_points(state: State, frames: Ints, X: Floats) -> Floats:
    """Return the positions (..., k, 3), m, of points X (k, 3) on frames (k,) in a state, or in many."""
    return state.r[..., frames, :] + quaternions.rotate(state.quat[..., frames, :], X)


def _point(label: str, frame: int, X: Floats, radius: float) -> Surface:
    return Surface(label, np.array([frame]), X.reshape(1, 3), np.zeros((1, 2), np.int64), np.array([radius]))


def _rod(rod: RodLayout) -> Surface:
    """Return the surface of a rod: the chords between its nodes, with the radii of its sections."""
    n = len(rod.frames)
    first = np.arange(n if rod.closed else n - 1)
    ends = np.stack([first, (first + 1) % n], axis=1)
    # a node has the radius of its thicker adjacent interval
    return Surface(f"rod '{rod.name}'", rod.frames, np.zeros((n, 3)), ends, rod.radius[ends].min(axis=1))


def _rod_point(text: str, rod: RodLayout, at: float) -> Surface:
    """Return the point of a rod at the arc length `at`, m; in a closed rod the first node follows the last."""
    s = np.append(rod.arclength, np.inf) if rod.closed else rod.arclength
    if rod.closed and at > rod.arclength[-1]:
        s[-1] = 2.0 * rod.arclength[-1] - rod.arclength[-2]
    k = int(np.clip(np.searchsorted(s, at, "right") - 1, 0, len(s) - 2))
    frames = np.array([rod.frames[k], rod.frames[(k + 1) % len(rod.frames)]])
    fraction = min(1.0, float((at - s[k]) / (s[k + 1] - s[k])))
    return Surface(
        f"point '{text}'", frames, np.zeros((2, 3)), np.zeros((1, 2), np.int64), np.zeros(1), None, fraction
    )
