"""Consistent initial velocities: what was given is kept as well as the joints allow, what was not given follows.

Every frame has two quantities, the velocity of one of its points and its angular velocity, each held (given, with a
target) or free (left out, target zero, or what comes last here). Of all w = (velocities) with G w = 0 wanted is the one that
changes the held ones d_h least in the kinetic metric M_h, and among these the one with the least kinetic energy of the free
ones:

    minimise d_h . M_h d_h/2 subject to G (w* + d) = 0,   then  d_f . M_f d_f/2 at this d_h                  (1)

with the conditions  M_h d_h + G_h^T mu = 0,  G_f^T mu = 0,  M_f d_f + G_f^T nu = 0,  G d = -G w*.           (2)

With a small weight eps on the free ones one matrix serves, and iterating takes the weight out again:

    [S M  G^T] [step]   [-M_h d_h (held), 0 (free)]
    [G    0  ] [mu  ] = [      -G (w* + d)        ]    S = 1 (held), eps (free);   d + step is the next d       (3)

At its fixed point M_h d_h + G_h^T mu = 0 and G_f^T mu = 0, and M_f d_f = -G_f^T (sum of all mu)/eps: that is (2),
exactly. The error falls by about eps m_f/m_h an iteration, at once where the held ones need not change.

Where joints repeat each other the matrix (3) is singular. -delta (mu_after - mu_before) in its lower rows cures that and
changes nothing once mu does not change any more.

The frames of a rod that nothing was given of move together, as one rigid body with six velocities: first the same is done
with these, and what comes out are the targets of everything free. Where the joints leave the rod stiff, as one that turns
with its hub, that is the end of it; where they do not, both ends moved apart, its frames change next, least in (1). Rigid
rods can make joints repeat each other that do not; the first matrix is always the softened one.

Where a held velocity belongs to another point than the centre of mass and the turn is free, or the other way round,
the metric is that of the two quantities apart: m of the point, J about the centre.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for
from numpy.typing import NDArray

from discretization.drives import count_drives
from discretization.multipliers import multipliers_of
from discretization.redundancy import constraint_jacobian
from discretization.state_measures import velocity_residual
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.system import Floats, Ints, State

WEIGHT = 1e-6  # eps of (3)
SOFT = 1e-8  # of the multipliers' diagonal where joints repeat each other
ITERATIONS = 50
SMALL = 250  # unknowns and rows of (3) up to which full matrices are sooner solved than sparse ones


class Held(NamedTuple):
    """Which initial velocities of the frames were given."""

    v: NDArray[np.bool_]  # (n,) of the point at `point`
    Omega: NDArray[np.bool_]  # (n,)
    point: Floats  # (n, 3) m, from the frame's origin, inertial axes
    together: tuple[Ints, ...] = ()  # frames of rods that nothing was given of, rod by rod


def _shared_mass(system: System, size: int) -> scipy.sparse.coo_matrix:
    """Off-diagonal and diagonal parts of consistent rod masses: -coupling |v_b - v_a|^2/2 as a matrix."""
    pairs, coupling = system.rods.shared_masses
    a, b = (6 * pairs.T[:, :, None] + np.arange(3)).reshape(2, -1)
    c = np.repeat(coupling, 3)
    return scipy.sparse.coo_matrix(
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
    still = not (state.v.any() or state.Omega.any() or count_drives(system))
    if still or not len(state.lam) or np.abs(velocity_residual(system, state)).max() == 0.0:
        return state, 0.0
    held = everything_held(system) if held is None else held
    n = len(system.frames.mass)
    # v = v_point - omega x point, where one of the two is held and the other free
    mixed = held.v != held.Omega
    arm = np.where(mixed[:, None], held.point, 0.0)
    identity = np.tile(np.eye(6), (n, 1, 1))
    identity[:, :3, 3:] = _hat(arm)
    small = 6 * n + len(state.lam) <= SMALL
    to_frames = _block_diagonal(identity, small)
    jacobian = constraint_jacobian(system, state)
    G = jacobian.toarray() @ to_frames if small else (jacobian @ to_frames).tocsc()
    R = quaternions.to_matrix(state.quat)
    spatial = R @ system.frames.inertia @ np.swapaxes(R, 1, 2)
    blocks = np.zeros((n, 6, 6))
    blocks[:, :3, :3] = system.frames.mass[:, None, None] * np.eye(3)
    blocks[:, 3:, 3:] = spatial
    omega = quaternions.rotate(state.quat, state.Omega)
    velocity = np.concatenate([state.v + np.cross(omega, arm), omega], axis=1).ravel()
    free = np.repeat(~np.stack([held.v, held.Omega], axis=1).ravel(), 3)
    mass, weight = _block_diagonal(blocks, small), np.sqrt(np.where(free, WEIGHT, 1.0))
    if len(system.rods.shared_masses[0]):
        shared = _shared_mass(system, 6 * n)
        mass = mass + (shared.toarray() if small else shared)
    if small:
        mass = weight[:, None] * mass * weight
    else:
        mass = scipy.sparse.diags(weight) @ mass @ scipy.sparse.diags(weight)
    # what the drives, whose motion is none of the unknowns, do to the joints
    given = (
        velocity_residual(system, state) - G @ velocity if count_drives(system) else np.zeros(len(state.lam))
    )
    repeating = bool(np.any(multipliers_of(system).repeats))
    wish = np.zeros(6 * n)
    if held.together:
        S = _rigidly(state.r, held.together)
        S = S.toarray() if small else S
        of_rods = (abs(S).T @ free.astype(float)) > 0.0
        rigid = S @ _least_change(S.T @ mass @ S, G @ S, G @ velocity + given, of_rods, soft=True)
        wish = np.where(free, rigid, 0.0)
    change = wish + _least_change(mass, G, G @ (velocity + wish) + given, free, repeating)
    of_frames = (to_frames @ change).reshape(n, 6)
    Omega = state.Omega + quaternions.rotate(quaternions.conjugate(state.quat), of_frames[:, 3:])
    fitted = state._replace(v=state.v + of_frames[:, :3], Omega=Omega)
    return fitted, float(np.abs(change[~free]).max(initial=0.0))


def _least_change(mass: Any, G: Any, misfit: Floats, free: NDArray[np.bool_], soft: bool) -> Floats:
    """d of (3), for the weighted metric S M (k, k), G (m, k), G w* (m,) and which of the quantities are free (k,); soft: where
    rows of G may repeat each other.
    """
    light = mass.diagonal()
    inverse = np.divide(1.0, light, out=np.zeros_like(light), where=light > 0.0)
    delta = SOFT * (_squared(G) @ inverse) if soft else None
    k = len(free)
    change: Floats = np.zeros(k)
    mu: Floats = np.zeros(len(misfit))
    size = np.inf
    try:
        solve = _solving(mass, G, delta)
        for _ in range(ITERATIONS if free.any() or soft else 1):
            pull = np.where(free, 0.0, mass @ change)
            rate = misfit + G @ change
            found = solve(-np.concatenate([pull, rate if delta is None else rate + delta * mu]))
            step, mu = found[:k], found[k:]
            change, before, size = change + step, size, np.abs(step).max()
            if size <= 1e-16 * np.abs(change).max() or size > 0.5 * before:  # nothing is gained any more
                break
    except RuntimeError as singular:
        raise ModelError(
            "the joints repeat each other (their constraints are linearly dependent at t = 0); "
            "replace one joint of the loop by one that leaves more motion free"
        ) from singular
    return change


def _squared(G: Any) -> Any:
    return G * G if isinstance(G, np.ndarray) else G.multiply(G)


def _solving(mass: Any, G: Any, delta: Floats | None) -> Callable[[Floats], Floats]:
    """Solutions of (3), by its factors, with -delta in its lower rows. Raises RuntimeError where it is singular."""
    if not isinstance(G, np.ndarray):
        below = None if delta is None else -scipy.sparse.diags(delta)
        solve: Callable[[Floats], Floats] = scipy.sparse.linalg.splu(
            scipy.sparse.bmat([[mass, G.T], [G, below]], format="csc")
        ).solve
        return solve
    m, k = G.shape
    matrix = np.zeros((k + m, k + m))
    matrix[:k, :k], matrix[k:, :k], matrix[:k, k:] = mass, G, G.T
    if delta is not None:
        matrix[range(k, k + m), range(k, k + m)] = -delta
    factors, pivots, singular = scipy.linalg.lapack.dgetrf(matrix)
    if singular:
        raise RuntimeError(f"no pivot in column {singular}")
    return lambda x: scipy.linalg.lapack.dgetrs(factors, pivots, x)[0]


def _rigidly(r: Floats, together: tuple[Ints, ...]) -> scipy.sparse.csr_matrix:
    """(6 n, k): velocities and turns of all frames at r (n, 3), those of a rod from the six of a rigid body."""
    n = len(r)
    own = np.ones(n, bool)
    for frames in together:
        own[frames] = False
    alone = (6 * np.flatnonzero(own)[:, None] + np.arange(6)).ravel()
    rows, columns, values = [alone], [np.arange(len(alone))], [np.ones(len(alone))]
    first = len(alone)
    for frames in together:
        blocks = np.tile(np.eye(6), (len(frames), 1, 1))
        blocks[:, :3, 3:] = -_hat(r[frames] - r[frames].mean(axis=0))  # W x (r - r_mean)
        i, j = np.meshgrid(np.arange(6), np.arange(6), indexing="ij")
        rows.append((6 * frames[:, None, None] + i).ravel())
        columns.append(np.tile(first + j, (len(frames), 1, 1)).ravel())
        values.append(blocks.ravel())
        first += 6
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return scipy.sparse.csr_matrix(entries, shape=(6 * n, first))


def held_changes(held: Held, before: State, after: State) -> Floats:
    """How far each frame's held velocities are from those wished for, (n, 2): m/s of its point, rad/s."""
    omega0, omega1 = (quaternions.rotate(s.quat, s.Omega) for s in (before, after))
    v0, v1 = before.v + np.cross(omega0, held.point), after.v + np.cross(omega1, held.point)
    linear, angular = (np.linalg.norm(x, axis=1) for x in (v1 - v0, omega1 - omega0))
    return np.stack([np.where(held.v, linear, 0.0), np.where(held.Omega, angular, 0.0)], axis=1)


def _hat(x: Floats) -> Floats:
    """Matrices (n, 3, 3) with hat(x) y = x cross y."""
    return np.cross(x[:, None, :], np.eye(3)).swapaxes(1, 2)


def _block_diagonal(blocks: Floats, full: bool) -> Any:
    """(6 n, 6 n) of blocks (n, 6, 6)."""
    n = len(blocks)
    if full:
        matrix = np.zeros((n, 6, n, 6))
        matrix[range(n), :, range(n)] = blocks
        return matrix.reshape(6 * n, 6 * n)
    return scipy.sparse.bsr_matrix((blocks, np.arange(n), np.arange(n + 1)))
