"""Consistent initial velocities: the nearest ones, in the metric of the kinetic energy, that the joints
allow.

minimise  (v - v*)^T M (v - v*)/2  subject to  G v = 0:   [M  G^T] [dv ]   [   0   ]
                                                          [G   0 ] [mu ] = [-G v*  ]                      (1)
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import bmat, bsr_matrix, coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from discretization.measures import velocity_residual
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.system import ALONG, COINCIDENT, PERPENDICULAR, Floats, Ints, State, rows_of

LARGEST_LOOP = 1500  # constraints


def constraint_jacobian(system: System, state: State) -> coo_matrix:
    """G (m, 6 n): derivatives of all constraints to (r, turn) of all frames, spatial; zero columns for fixed
    frames.
    """
    constraints = system.constraints
    n = len(system.frames.mass)
    a, b = constraints.frames.reshape(-1, 2).T
    xa, xb = (
        quaternions.rotate(state.quat[a], constraints.Xa),
        quaternions.rotate(state.quat[b], constraints.Xb),
    )
    ua, ub = (
        quaternions.rotate(state.quat[a], constraints.Ua),
        quaternions.rotate(state.quat[b], constraints.Ub),
    )
    d = state.r[b] + xb - state.r[a] - xa
    rows, first = rows_of(constraints.kind), np.cumsum(rows_of(constraints.kind)) - rows_of(constraints.kind)
    entries: list[tuple[Ints, Ints, Floats]] = []

    def add(row: Ints, frame: Ints, offset: int, vector: Floats) -> None:
        columns = 6 * frame[:, None] + offset + np.arange(3)
        entries.append((np.repeat(row, 3), columns.ravel(), vector.ravel()))

    for axis in range(3):
        use = np.flatnonzero(constraints.kind == COINCIDENT)
        e = np.broadcast_to(np.eye(3)[axis], (len(use), 3))
        row = first[use] + axis
        add(row, b[use], 0, e)
        add(row, a[use], 0, -e)
        add(row, b[use], 3, np.cross(xb[use], e))
        add(row, a[use], 3, -np.cross(xa[use], e))
    use = np.flatnonzero(constraints.kind == PERPENDICULAR)
    turn = np.cross(ua[use], ub[use])
    add(first[use], a[use], 3, turn)
    add(first[use], b[use], 3, -turn)
    use = np.flatnonzero((constraints.kind != PERPENDICULAR) & (constraints.kind != COINCIDENT))
    along = (constraints.kind[use] == ALONG)[:, None]
    force = np.where(along, ua[use], d[use])
    add(first[use], b[use], 0, force)
    add(first[use], a[use], 0, -force)
    add(first[use], b[use], 3, np.cross(xb[use], force))
    add(first[use], a[use], 3, np.cross(force, np.where(along, d[use] + xa[use], xa[use])))
    i, j, x = (np.concatenate(part) for part in zip(*entries, strict=True))
    keep = np.repeat(system.frames.fixed == 0, 6)[j]
    return coo_matrix((x[keep], (i[keep], j[keep])), shape=(int(rows.sum()), 6 * n))


def dependent_joints(system: System, state: State) -> list[int]:
    """Numbers of joints that repeat, in a closed loop of frames, what the joints before them fix already.

    Without loops joints cannot depend on each other. Loops with more than LARGEST_LOOP constraints are not looked at.
    """
    constraints = system.constraints
    n_joints = len(np.unique(constraints.joint))
    edges = np.unique(np.column_stack([constraints.joint, constraints.frames]), axis=0)[:, 1:]
    ones, n = np.ones(len(edges)), len(system.frames.mass)
    n_trees, _ = connected_components(coo_matrix((ones, edges.T), shape=(n, n)), directed=False)
    if n_joints <= n - n_trees or len(state.lam) > LARGEST_LOOP:
        return []
    G = constraint_jacobian(system, state).toarray()
    size = float(np.ptp(state.r, axis=0).max()) or 1.0
    G[:, np.arange(G.shape[1]) % 6 > 2] /= size  # turns in metres
    G /= np.maximum(np.linalg.norm(G, axis=1), 1e-300)[:, None]
    # row by row, so that of two joints that say the same the later one is named
    joint_of_row = np.repeat(constraints.joint, rows_of(constraints.kind))
    found, basis = [], np.zeros((0, G.shape[1]))
    for joint in np.unique(joint_of_row):
        new = G[joint_of_row == joint]
        for _ in range(2):  # twice is enough to be orthogonal to the basis
            new = new - (new @ basis.T) @ basis
        values, directions = np.linalg.svd(new, full_matrices=False)[1:]
        if values.min() < 1e-9:
            found.append(int(joint))
        basis = np.concatenate([basis, directions[values >= 1e-9]])
    return found


def _shared_mass(system: System, size: int) -> coo_matrix:
    """Off-diagonal and diagonal parts of consistent rod masses: -coupling |v_b - v_a|^2/2 as a matrix."""
    a, b = (6 * system.elements.frames.reshape(-1, 2).T[:, :, None] + np.arange(3)).reshape(2, -1)
    c = np.repeat(system.elements.coupling, 3)
    return coo_matrix(
        (np.concatenate([-c, -c, c, c]), (np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a]))),
        shape=(size, size),
    )


def project_velocities(system: System, state: State) -> tuple[State, float]:
    """State with velocities that satisfy all joints (1), and the largest change of a velocity (m/s or rad/s).

    Raises ModelError where two joints fix the same motion, so that the constraint forces are not determined.
    """
    if not len(state.lam) or np.abs(velocity_residual(system, state)).max() == 0.0:
        return state, 0.0
    n = len(system.frames.mass)
    G = constraint_jacobian(system, state).tocsc()
    R = quaternions.to_matrix(state.quat)
    spatial = R @ system.frames.inertia @ np.swapaxes(R, 1, 2)
    blocks = np.zeros((n, 6, 6))
    blocks[:, :3, :3] = system.frames.mass[:, None, None] * np.eye(3)
    blocks[:, 3:, 3:] = spatial
    omega = quaternions.rotate(state.quat, state.Omega)
    velocity = np.concatenate([state.v, omega], axis=1).ravel()
    mass = bsr_matrix((blocks, np.arange(n), np.arange(n + 1))) + _shared_mass(system, 6 * n)
    matrix = bmat([[mass, G.T], [G, None]], format="csc")
    try:
        correction = splu(matrix).solve(np.concatenate([np.zeros(6 * n), -(G @ velocity)]))
    except RuntimeError as singular:
        raise ModelError(
            "the joints repeat each other (their constraints are linearly dependent at t = 0); "
            "replace one joint of the loop by one that leaves more motion free"
        ) from singular
    change = correction[: 6 * n].reshape(n, 6)
    Omega = state.Omega + quaternions.rotate(quaternions.conjugate(state.quat), change[:, 3:])
    return state._replace(v=state.v + change[:, :3], Omega=Omega), float(np.abs(change).max())
