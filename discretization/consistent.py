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

Where joints repeat each other the matrix (3) is singular. -delta (mu_after - mu_before) in its lower rows cures that and
changes nothing once mu does not change any more.

Where a held velocity belongs to another point than the centre of mass and the turn is free, or the other way round,
the metric is that of the two quantities apart: m of the point, J about the centre.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bmat, bsr_matrix, coo_matrix, diags
from scipy.sparse.linalg import splu

from discretization.drives import count_drives
from discretization.measures import velocity_residual
from discretization.redundancy import constraint_jacobian
from discretization.space.spans import shared_masses
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.system import Floats, State

WEIGHT = 1e-6  # eps of (3)
SOFT = 1e-8  # of the multipliers' diagonal where joints repeat each other
ITERATIONS = 50


class Held(NamedTuple):
    """Which initial velocities of the frames were given."""

    v: NDArray[np.bool_]  # (n,) of the point at `point`
    Omega: NDArray[np.bool_]  # (n,)
    point: Floats  # (n, 3) m, from the frame's origin, inertial axes


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
    still = not (np.any(state.v) or np.any(state.Omega) or count_drives(system))
    if still or not len(state.lam) or np.abs(velocity_residual(system, state)).max() == 0.0:
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
    repeating = bool(np.any(system.constraints.repeats))
    soft = SOFT * (G.multiply(G) @ (1.0 / mass.diagonal())) if repeating else None
    matrix = bmat([[mass, G.T], [G, None if soft is None else -diags(soft)]], format="csc")
    change, size, mu = np.zeros(6 * n), np.inf, np.zeros(len(state.lam))
    # what the drives, whose motion is none of the unknowns, do to the joints
    given = velocity_residual(system, state) - G @ velocity if count_drives(system) else 0.0 * mu
    try:
        factors = splu(matrix)
        for _ in range(ITERATIONS if free.any() or repeating else 1):
            pull = np.where(free, 0.0, mass @ change)
            rate = G @ (velocity + change) + given
            found = factors.solve(-np.concatenate([pull, rate if soft is None else rate + soft * mu]))
            step, mu = found[: 6 * n], found[6 * n :]
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
