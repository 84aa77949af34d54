"""Draw bodies without a surface as three crossed bars along their axes, at the centre of mass."""

from __future__ import annotations

import numpy as np

from rigid.quaternions import to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results.layout import Layout
from rodsim.results.marks import box
from rodsim.results.scene import Surface

LENGTH, THICK = 0.05, 0.008  # length and thickness of a bar, as parts of the size of the scene


class BareBodies:
    """Surfaces of the markers at any state. A marker shows the position and the axes of a body, not its size."""

    def __init__(self, layout: Layout, size: float, first_owner: int) -> None:
        """Prepare the markers; `size`: size of the scene, m; `first_owner`: colour index of the first marker."""
        self.numbers = [k for k, body in enumerate(layout.bodies) if not len(body.faces)]
        self.frames: Ints = np.array([layout.bodies[k].frame for k in self.numbers], dtype=np.int64)
        half = 0.5 * size * np.where(np.eye(3) > 0.0, LENGTH, THICK)
        self._shape = np.concatenate([box(-sides, sides) for sides in half])
        n, triangles = len(self.frames), len(self._shape)
        self._owner: Ints = np.repeat(first_owner + np.arange(n, dtype=np.int64), 3 * triangles)
        self._faces: Ints = np.arange(3 * n * triangles, dtype=np.int64).reshape(-1, 3)

    def points(self, state: State) -> Floats:
        """Return the centres of mass (n, 3) of the marked bodies, m."""
        found: Floats = state.r[self.frames]
        return found

    def surface(self, state: State) -> Surface:
        """Return the triangles of all markers; no two triangles share vertices, so that edges are drawn sharp."""
        R = to_matrix(state.quat[self.frames])
        corners = np.einsum("nij,tcj->ntci", R, self._shape) + state.r[self.frames][:, None, None]
        triangles = corners.reshape(-1, 3, 3)
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        return Surface(triangles.reshape(-1, 3), np.repeat(normals, 3, axis=0), self._faces, self._owner)
