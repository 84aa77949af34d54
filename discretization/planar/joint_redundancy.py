"""Check whether the joints of a planar model are independent in its plane; in space, parallel axes of a loop are not."""

from __future__ import annotations

import numpy as np

from discretization.planar import arrays
from discretization.planar.symmetry_plane import SymmetryPlane
from discretization.redundancy import constraint_jacobian
from discretization.system import System
from rigid.system import State

REDUNDANT_JOINTS = "joints are redundant in the plane, or too many to check"
MOST_ENTRIES = 60_000  # limit of the entries of gradients whose singular values are computed
SMALLEST = 1e-7  # limit of the smallest singular value of rows of unit length


def has_independent_joints(system: System, state: State, plane: SymmetryPlane) -> bool:
    """Return True if the gradients (rows, 3 k) of all joint rows in the plane are independent.

    It is computed for small systems; otherwise the result is False.
    """
    moving = np.flatnonzero(system.frames.fixed == 0)
    rows = sum(2 if row.sort == arrays.COINCIDENT else 1 for row in plane.rows)
    if rows * 3 * len(moving) > MOST_ENTRIES:
        return False
    G = constraint_jacobian(system, state).tocsr()
    mass, inertia = system.frames.mass[moving], np.trace(system.frames.inertia[moving], axis1=1, axis2=2)
    lever = np.where((mass > 0.0) & (inertia > 0.0), np.sqrt(inertia / np.maximum(mass, 1e-300)), 1.0)  # m
    gradients = [
        plane.basis[:2] @ G[row.lam[0] : row.lam[0] + 3].toarray()
        if row.sort == arrays.COINCIDENT
        else np.array(row.factors)[None] @ G[list(row.lam)].toarray()
        for row in plane.rows
    ]
    full = np.concatenate(gradients).reshape(rows, -1, 2, 3)[:, moving]
    turns = (full[:, :, 1] @ plane.normal / lever)[:, :, None]
    flat = np.concatenate([full[:, :, 0] @ plane.basis[:2].T, turns], axis=2).reshape(rows, -1)
    size = np.linalg.norm(flat, axis=1, keepdims=True)
    if not size.all() or rows > flat.shape[1]:
        return False
    return bool(np.linalg.svd(flat / size, compute_uv=False)[-1] > SMALLEST)
