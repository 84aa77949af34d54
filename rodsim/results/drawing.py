"""Points, lines and triangles of a model, and the arrays on them, for all pictures and files.

Point i is fixed to frame f_i at X_i: p = r[f] + R[f] X, v = v[f] + R[f] (Omega[f] x X). A rod is a poly-line through its frames
(X = 0), a body is its surface. Points of rods come first, then those of bodies; files then have the points of the contact
surfaces that no drawn shape encloses, such as planes and spheres, and those of tendons and belts, which are not fixed to frames.
The lines of rods and tendons are the first cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rigid.quaternions import to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results.contact_forces import ContactForces
from rodsim.results.contact_surfaces import meshes
from rodsim.results.layout import Layout
from rodsim.results.rod_interpolation import LinearInterpolation, node_lengths, rod_interpolation_to
from rodsim.results.tendon_paths import paths_of

Floats32 = NDArray[np.float32]

# Arrays on points that change in time, with the number of their components. They are in single precision because they are used
# for pictures only; the exact numbers are in the `rodsim` group.
POINT_ARRAYS: Mapping[str, int] = {
    "velocity": 3,  # m/s
    "d1": 3,  # directors; d1 is the normal of the section, along the rod
    "d2": 3,
    "d3": 3,
    "quaternion": 4,  # (w, x, y, z)
    "Gamma": 3,  # strains and stresses in section axes, interpolated between elements: `along_rods`
    "K": 3,  # 1/m
    "N": 3,  # N
    "M": 3,  # N m
    "force_n": 3,  # N, inertial axes
    "moment_m": 3,  # N m, inertial axes
}
CONTACT_ARRAYS: Mapping[str, int] = {"contact_force": 3}  # N, on the node or the body; only with contacts
ROD_ARRAYS = ("Gamma", "K", "N", "M", "force_n", "moment_m")  # omitted without rods
# with contacts also "node_length" (m), the tributary length by which a contact force is divided to be a force per length
STATIC_POINT_ARRAYS = ("radius", "width", "height", "arclength", "object")  # width, height: of rectangles
CELL_ARRAYS = ("object", "is_rod")


class Part(NamedTuple):
    """Points and cells of one rod, body or contact surface."""

    name: str
    first: int  # number of its first point in the drawing
    n: int  # number of its points
    line: Ints  # numbers of the points along a rod, counted from `first`; empty for others
    triangles: Ints  # (n, 3) numbers of points, counted from `first`


class Drawing:
    """Topology of a layout, computed once, and its arrays at any state."""

    def __init__(self, layout: Layout, surfaces: bool = False) -> None:
        """Compute the topology.

        `surfaces`: True to include contact surfaces and tendons, for files; pictures draw these separately.
        """
        self.layout = layout
        zero_row = layout.n_elements  # an additional row of zeros for points that belong to no element
        frame: list[Ints] = []
        local: list[Floats] = []
        before: list[Ints] = []
        after: list[Ints] = []
        part: list[Floats] = []
        radius: list[Floats] = []
        sides: list[Floats] = []
        arclength: list[Floats] = []
        counts: list[int] = []
        self.lines: list[Ints] = []
        triangles: list[Ints] = [np.zeros((0, 3), np.int64)]
        start = 0
        for rod in layout.rods:
            n = len(rod.frames)
            ids = np.arange(start, start + n)
            self.lines.append(np.append(ids, start) if rod.closed else ids)
            frame.append(rod.frames)
            local.append(np.zeros((n, 3)))
            between = rod_interpolation_to(layout, rod, rod.arclength)
            before.append(rod.elements[between.before])
            after.append(rod.elements[between.after])
            part.append(between.part)
            radius.append(rod.radius)
            sides.append(rod.sides)
            arclength.append(rod.arclength)
            counts.append(n)
            start += n
        self.n_rod_points = start
        surface_meshes = list(meshes(layout)) if surfaces else []
        solid = [(item.frame, item.vertices, item.faces) for item in layout.bodies] + [
            item[1:] for item in surface_meshes
        ]
        for surface_frame, vertices, faces in solid:
            n = len(vertices)
            triangles.append(faces + start)
            frame.append(np.full(n, surface_frame))
            local.append(vertices)
            before.append(np.full(n, zero_row))
            after.append(np.full(n, zero_row))
            part.append(np.zeros(n))
            radius.append(np.zeros(n))
            sides.append(np.zeros((n, 2)))
            arclength.append(np.zeros(n))
            counts.append(n)
            start += n
        self._n_fixed = start
        self._paths = paths_of(layout) if surfaces else []
        paths: list[Ints] = []
        for path in self._paths:
            paths.append(np.arange(start, start + path.size))
            part.append(np.zeros(path.size))
            radius.append(np.zeros(path.size))
            sides.append(np.zeros((path.size, 2)))
            arclength.append(np.zeros(path.size))
            counts.append(path.size)
            start += path.size
        self.n_points = start
        self.point_arrays = {
            name: size for name, size in POINT_ARRAYS.items() if layout.rods or name not in ROD_ARRAYS
        }
        self._touched = None
        if layout.system is not None and layout.description.get("contacts"):
            self._touched = ContactForces(layout.system, layout.memory)
            self.point_arrays |= CONTACT_ARRAYS
        self.names = [item.name for item in layout.rods] + [item.name for item in layout.bodies]
        self.names += [name for name, *_ in surface_meshes] + [path.name for path in self._paths]
        self.triangles = np.concatenate(triangles)
        none = np.zeros(0, np.int64)
        first_points = np.cumsum([0, *counts])
        shapes = [(line - first, none) for line, first in zip(self.lines, first_points, strict=False)]
        shapes += [(none, faces) for *_, faces in solid]
        shapes += [(np.arange(path.size), none) for path in self._paths]
        self.parts = [
            Part(name, int(first), count, line, np.reshape(faces, (-1, 3)))
            for name, first, count, (line, faces) in zip(
                self.names, first_points[:-1], counts, shapes, strict=True
            )
        ]
        self._frame = np.concatenate([np.zeros(0, np.int64), *frame]).astype(np.int64)
        self._X = np.concatenate([np.zeros((0, 3)), *local])
        ends = [np.concatenate([none, *numbers]).astype(np.int64) for numbers in (before, after)]
        self._lines = LinearInterpolation(
            ends[0], ends[1], np.concatenate([np.zeros(0), *part])[: self._n_fixed]
        )
        owner = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        width_height = np.concatenate([np.zeros((0, 2)), *sides]).astype(np.float32)
        self.static_points: dict[str, NDArray[Any]] = {
            "radius": np.concatenate([np.zeros(0), *radius]).astype(np.float32),
            "width": np.ascontiguousarray(width_height[:, 0]),
            "height": np.ascontiguousarray(width_height[:, 1]),
            "arclength": np.concatenate([np.zeros(0), *arclength]).astype(np.float32),
            "object": owner,
        }
        if self._touched is not None and layout.rods:
            lengths_of_nodes = [node_lengths(layout, rod) for rod in layout.rods]
            zero_lengths = np.zeros(self.n_points - self.n_rod_points)
            self.static_points["node_length"] = np.concatenate([*lengths_of_nodes, zero_lengths]).astype(
                np.float32
            )
        faces_each = [len(faces) for *_, faces in solid]
        n_rods = len(layout.rods)
        first_path = n_rods + len(solid)
        self.lines += paths
        cell_owner = np.concatenate(
            [
                np.arange(n_rods),
                np.arange(first_path, first_path + len(paths)),
                np.repeat(np.arange(n_rods, n_rods + len(faces_each)), faces_each),
            ]
        )
        self.cells: dict[str, NDArray[Any]] = {
            "object": cell_owner.astype(np.int32),
            "is_rod": (cell_owner < n_rods).astype(np.int8),
        }

    def points(self, state: State) -> Floats:
        """Return the positions (..., n_points, 3) of all points, m, in one state or in many (leading axes)."""
        R = to_matrix(state.quat)[..., self._frame, :, :]
        return self._with_paths(state.r[..., self._frame, :] + _rotate(R, self._X), state)

    def _with_paths(self, points: Floats, state: State) -> Floats:
        """Return points with those of tendons and belts, m."""
        paths = [path.points(self.layout, state) for path in self._paths]
        return np.concatenate([points, *paths], axis=-2) if paths else points

    @property
    def reach(self) -> float:
        """Largest distance of a point from the origin of its frame, m."""
        return float(np.linalg.norm(self._X, axis=1).max(initial=0.0))

    def arrays(self, state: State, strains: Floats, stresses: Floats) -> tuple[Floats, dict[str, Floats32]]:
        """Return the positions (..., n_points, 3), m, and the `point_arrays` (..., n_points, components) by name.

        Parameters
        ----------
        state : State
            One state, or many (leading axes).
        strains, stresses : (..., n_elements, 6) arrays
            (Gamma, K) and (N, M) of every rod element.
        """
        frame, X = self._frame, self._X
        # rotations are computed once per frame, then gathered: a body has many vertices and one frame
        R = to_matrix(state.quat)[..., frame, :, :]
        points = state.r[..., frame, :] + _rotate(R, X)
        velocity = state.v[..., frame, :] + _rotate(R, np.cross(state.Omega[..., frame, :], X))
        at_nodes = self._at_nodes(np.concatenate([strains, stresses], axis=-1))
        N, M = at_nodes[..., 6:9], at_nodes[..., 9:12]
        values = {
            "velocity": velocity,
            "d1": R[..., 0],
            "d2": R[..., 1],
            "d3": R[..., 2],
            "quaternion": state.quat[..., frame, :],
            "Gamma": at_nodes[..., 0:3],
            "K": at_nodes[..., 3:6],
            "N": N,
            "M": M,
            "force_n": _rotate(R, N),
            "moment_m": _rotate(R, M),
        }
        if self._touched is not None:
            with np.errstate(all="ignore"):
                values["contact_force"] = self._touched.on_frames(state)[..., frame, :]
        rest = self.n_points - self._n_fixed
        with np.errstate(over="ignore"):  # a diverged run may overflow single precision
            single = {name: np.ascontiguousarray(values[name], np.float32) for name in self.point_arrays}
        if rest:  # tendons have no values
            single = {
                name: np.concatenate([x, np.zeros((*x.shape[:-2], rest, x.shape[-1]), np.float32)], axis=-2)
                for name, x in single.items()
            }
        return self._with_paths(points, state), single

    def _at_nodes(self, element_values: Floats) -> Floats:
        """Interpolate values (..., n_elements, c) of elements to the points, (..., n_points, c)."""
        none = np.zeros((*element_values.shape[:-2], 1, element_values.shape[-1]))
        return self._lines.of(np.concatenate([element_values, none], axis=-2))


def _rotate(R: Floats, x: Floats) -> Floats:
    """Return R x (..., 3) for matrices R (..., 3, 3) and vectors x (..., 3)."""
    return np.einsum("...ij,...j->...i", R, x)
