"""Draw bodies without a surface as three crossed bars along their axes, at the centre of mass."""

from __future__ import annotations

import numpy as np

from rigid.quaternions import to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results.layout import Layout
from rodsim.results.marks import box
from rodsim.results.scene import Surface

LENGTH, THICK = 0.05, 0.008  # of the scene: of a bar


class BareBodies:
    """Surfaces of the markers at any state; a marker says where a body is, not how large."""

    def __init__(self, layout: Layout, size: float, first_owner: int) -> None:
        """size (m): of the scene; first_owner: number of the colour of the first of them."""
        self.numbers = [k for k, body in enumerate(layout.bodies) if not len(body.faces)]
        self.frames: Ints = np.array([layout.bodies[k].frame for k in self.numbers], dtype=np.int64)
        half = 0.5 * size * np.where(np.eye(3) > 0.0, LENGTH, THICK)
        self._shape = np.concatenate([box(-sides, sides) for sides in half])
        n, triangles = len(self.frames), len(self._shape)
        self._owner: Ints = np.repeat(first_owner + np.arange(n, dtype=np.int64), 3 * triangles)
        self._faces: Ints = np.arange(3 * n * triangles, dtype=np.int64).reshape(-1, 3)

    def points(self, state: State) -> Floats:
        """(n, 3) m, centres of mass."""
        found: Floats = state.r[self.frames]
        return found

    def surface(self, state: State) -> Surface:
        """Triangles of all markers, each with its own corners: edges stay sharp."""
        R = to_matrix(state.quat[self.frames])
        corners = np.einsum("nij,tcj->ntci", R, self._shape) + state.r[self.frames][:, None, None]
        triangles = corners.reshape(-1, 3, 3)
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        return Surface(triangles.reshape(-1, 3), np.repeat(normals, 3, axis=0), self._faces, self._owner)
