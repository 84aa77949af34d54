"""Consistent initial velocities: what was given is kept as well as the joints allow, what was not given follows.

Every frame has two quantities, the velocity of one of its points and its angular velocity, each held (given, with a
target) or free (left out, target zero). Of all w = (velocities) with G w = 0 wanted is the one that changes the held
ones d_h least in the kinetic metric M_h, and among these the one with the least kinetic energy of the free ones:

    minimise d_h . M_h d_h/2 subject to G (w* + d) = 0,   then  d_f . M_f d_f/2 at this d_h                  (1)

with the conditions  M_h d_h + G_h^T mu = 0,  G_f^T mu = 0,  M_f d_f + G_f^T nu = 0,  G d = -G w*.           (2)

With a small weight eps on the free ones one matrix serves, and iterating takes the weight out again:

    [S M  G^T] [step]   [-M_h d_h (held), 0 (free)]
    [G    0  ] [mu  ] = [      -G (w* + d)        ]    S = 1 (held), eps (free);   d + step is the next d       (3)

At its fixed point M_h d_h + G_h^T mu = 0 and G_f^T mu = 0, and M_f d_f = -G_f^T (sum of all mu)/eps: that is (2),
exactly. The error falls by about eps m_f/m_h an iteration, at once where the held ones need not change.

Where a held velocity belongs to another point than the centre of mass and the turn is free, or the other way round,
the metric is that of the two quantities apart: m of the point, J about the centre.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bmat, bsr_matrix, coo_matrix, diags
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from discretization.drives import count_drives
from discretization.measures import velocity_residual
from discretization.space.spans import shared_masses
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions import evaluation
from rigid.interactions.constraints import groups_of, rows_of
from rigid.system import COINCIDENT, Floats, Ints, State

LARGEST_LOOP = 1500  # constraints
DEPENDENT = 1e-9  # of unit rows: what is left of one that the others imply
WEIGHT = 1e-6  # eps of (3)
ITERATIONS = 50


class Held(NamedTuple):
    """Which initial velocities of the frames were given."""

    v: NDArray[np.bool_]  # (n,) of the point at `point`
    Omega: NDArray[np.bool_]  # (n,)
    point: Floats  # (n, 3) m, from the frame's origin, inertial axes


def constraint_jacobian(system: System, state: State) -> coo_matrix:
    """G (m, 6 n): derivatives of all constraints to (r, turn) of all frames, spatial; zero columns for fixed
    frames.
    """
    constraints = system.constraints
    gradients = evaluation.gradients(groups_of(constraints), state.r, state.quat).reshape(-1, 2, 6)
    frames = np.repeat(constraints.frames.reshape(-1, 2), rows_of(constraints.kind), axis=0)
    moving = system.frames.fixed[frames] == 0
    rows, columns = np.nonzero(moving)[0], 6 * frames[moving][:, None] + np.arange(6)
    shape = (len(frames), 6 * len(system.frames.mass))
    return coo_matrix((gradients[moving].ravel(), (np.repeat(rows, 6), columns.ravel())), shape=shape)


class Redundancy(NamedTuple):
    """A loop of joints that fixes the same motion more than once."""

    joints: list[int]  # numbers of all joints whose constraints depend on each other
    excess: int  # constraints of theirs that the others imply
    spherical: list[
        int
    ]  # those that may be made spherical, so that nothing is left over; empty: none will do


def redundant_loop(system: System, state: State) -> Redundancy | None:
    """The first loop of joints that fixes a motion twice, in the order of the joints.

    Without loops joints cannot depend on each other. Loops with more than LARGEST_LOOP constraints are not looked at.
    """
    constraints = system.constraints
    n_joints = len(np.unique(constraints.joint))
    edges = np.unique(np.column_stack([constraints.joint, constraints.frames]), axis=0)[:, 1:]
    ones, n = np.ones(len(edges)), len(system.frames.mass)
    n_trees, _ = connected_components(coo_matrix((ones, edges.T), shape=(n, n)), directed=False)
    if n_joints <= n - n_trees or len(state.lam) > LARGEST_LOOP:
        return None
    G = constraint_jacobian(system, state).toarray()
    size = float(np.ptp(state.r, axis=0).max()) or 1.0
    G[:, np.arange(G.shape[1]) % 6 > 2] /= size  # turns in metres
    G /= np.maximum(np.linalg.norm(G, axis=1), 1e-300)[:, None]
    rows = rows_of(constraints.kind)
    joint_of_row, kind_of_row = np.repeat(constraints.joint, rows), np.repeat(constraints.kind, rows)
    basis = np.zeros((0, G.shape[1]))
    for joint in np.unique(joint_of_row):
        new = G[joint_of_row == joint]
        for _ in range(2):  # twice is enough to be orthogonal to the basis
            new = new - (new @ basis.T) @ basis
        values, directions = np.linalg.svd(new, full_matrices=False)[1:]
        if values.min() < DEPENDENT:
            break
        basis = np.concatenate([basis, directions])
    else:
        return None
    before = joint_of_row <= joint
    left, values = np.linalg.svd(G[before])[:2]
    combinations = left[
        :, int((values > DEPENDENT).sum()) :
    ]  # of rows, that vanish: they say who depends on whom
    share = np.linalg.norm(combinations, axis=1)
    loop = np.unique(joint_of_row[before][share > 1e-6])
    return Redundancy(
        [int(j) for j in loop], combinations.shape[1], _made_spherical(G, joint_of_row, kind_of_row, loop)
    )


def _made_spherical(G: Floats, joint_of_row: Ints, kind_of_row: Ints, loop: Ints) -> list[int]:
    """Joints of the loop that end the repetition when only their points stay together; [] where that is not enough."""
    kept, softened = np.isin(joint_of_row, loop), []
    excess = _excess(G[kept])
    for joint in loop[::-1]:  # the one added last first
        mine = joint_of_row == joint
        less = kept & ~(mine & (kind_of_row != COINCIDENT))
        if not (mine & less).any() or (less == kept).all():
            continue
        left_over = _excess(G[less])
        if left_over < excess:
            kept, excess = less, left_over
            softened.append(int(joint))
        if excess == 0:
            return softened
    return []


def _excess(rows: Floats) -> int:
    """How many rows depend on the others."""
    values = np.linalg.svd(rows, compute_uv=False)
    return len(rows) - int((values > DEPENDENT).sum())


def _shared_mass(system: System, size: int) -> coo_matrix:
    """Off-diagonal and diagonal parts of consistent rod masses: -coupling |v_b - v_a|^2/2 as a matrix."""
    pairs, coupling = shared_masses(system.elements, system.spans)
    a, b = (6 * pairs.T[:, :, None] + np.arange(3)).reshape(2, -1)
    c = np.repeat(coupling, 3)
    return coo_matrix(
        (np.concatenate([-c, -c, c, c]), (np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a]))),
        shape=(size, size),
    )


def everything_held(system: System) -> Held:
    """All velocities of all frames were given."""
    n = len(system.frames.mass)
    return Held(np.ones(n, bool), np.ones(n, bool), np.zeros((n, 3)))


def project_velocities(system: System, state: State, held: Held | None = None) -> tuple[State, float]:
    """State with velocities that satisfy all joints (1), and the largest change of a held one (m/s or rad/s).

    held: what was given, by default all; the rest of the velocities in `state` is what is wished for.
    Raises ModelError where two joints fix the same motion, so that the constraint forces are not determined.
    """
    if not len(state.lam) or np.abs(velocity_residual(system, state)).max() == 0.0:
        return state, 0.0
    held = everything_held(system) if held is None else held
    n = len(system.frames.mass)
    # v = v_point - omega x point, where one of the two is held and the other free
    mixed = held.v != held.Omega
    arm = np.where(mixed[:, None], held.point, 0.0)
    identity = np.tile(np.eye(6), (n, 1, 1))
    identity[:, :3, 3:] = _hat(arm)
    to_frames = _block_diagonal(identity)
    G = (constraint_jacobian(system, state) @ to_frames).tocsc()
    R = quaternions.to_matrix(state.quat)
    spatial = R @ system.frames.inertia @ np.swapaxes(R, 1, 2)
    blocks = np.zeros((n, 6, 6))
    blocks[:, :3, :3] = system.frames.mass[:, None, None] * np.eye(3)
    blocks[:, 3:, 3:] = spatial
    omega = quaternions.rotate(state.quat, state.Omega)
    velocity = np.concatenate([state.v + np.cross(omega, arm), omega], axis=1).ravel()
    free = np.repeat(~np.stack([held.v, held.Omega], axis=1).ravel(), 3)
    weight = diags(np.where(free, WEIGHT, 1.0) ** 0.5)
    mass = weight @ (_block_diagonal(blocks) + _shared_mass(system, 6 * n)) @ weight
    matrix = bmat([[mass, G.T], [G, None]], format="csc")
    change, size = np.zeros(6 * n), np.inf
    given = np.zeros(
        len(state.lam)
    )  # what the drives, whose motion is none of the unknowns, do to the joints
    if count_drives(system):
        given = velocity_residual(system, state) - G @ velocity
    try:
        factors = splu(matrix)
        for _ in range(ITERATIONS if free.any() else 1):
            pull = np.where(free, 0.0, mass @ change)
            step = factors.solve(-np.concatenate([pull, G @ (velocity + change) + given]))[: 6 * n]
            change, before, size = change + step, size, np.abs(step).max()
            if size <= 1e-16 * np.abs(change).max() or size > 0.5 * before:  # nothing is gained any more
                break
    except RuntimeError as singular:
        raise ModelError(
            "the joints repeat each other (their constraints are linearly dependent at t = 0); "
            "replace one joint of the loop by one that leaves more motion free"
        ) from singular
    of_frames = (to_frames @ change).reshape(n, 6)
    Omega = state.Omega + quaternions.rotate(quaternions.conjugate(state.quat), of_frames[:, 3:])
    fitted = state._replace(v=state.v + of_frames[:, :3], Omega=Omega)
    return fitted, float(np.abs(change[~free]).max(initial=0.0))


def held_changes(held: Held, before: State, after: State) -> Floats:
    """How far each frame's held velocities are from those wished for, (n, 2): m/s of its point, rad/s."""
    omega0, omega1 = (quaternions.rotate(s.quat, s.Omega) for s in (before, after))
    v0, v1 = before.v + np.cross(omega0, held.point), after.v + np.cross(omega1, held.point)
    linear, angular = (np.linalg.norm(x, axis=1) for x in (v1 - v0, omega1 - omega0))
    return np.stack([np.where(held.v, linear, 0.0), np.where(held.Omega, angular, 0.0)], axis=1)


def _hat(x: Floats) -> Floats:
    """Matrices (n, 3, 3) with hat(x) y = x cross y."""
    return np.cross(x[:, None, :], np.eye(3)).swapaxes(1, 2)


def _block_diagonal(blocks: Floats) -> bsr_matrix:
    n = len(blocks)
    return bsr_matrix((blocks, np.arange(n), np.arange(n + 1)))
