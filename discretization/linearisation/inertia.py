"""Compute inertia terms of small motions in steadily rotating axes: mass, gyroscopic and centrifugal matrices.

In axes that rotate with W about the point c a frame rests, or rotates about itself with s; w = W + s, J = R J R^T. With the
displacement u and the spatial rotation eta, both in these axes,

    momentum balance   M_t (u'' + 2 W x u' + W x (W x u)),     at rest M_t W x (W x (r - c))                   (1)
    spin balance       J eta'' + (J W^ + W^ J - (J w)^) eta' + W^ (J W^ - (J w)^) eta,    at rest W x J w      (2)

with W^ = hat(W); (2) is the change of d(J w)/dt, in which w changes by eta' - eta x W and J by eta^ J - J eta^. It has
constant coefficients if J does not change while a frame rotates with s: s = 0, or a frame as round as a rotor.
M_t is the mass of the frames with the shared part of consistent rod masses; it does not couple directions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.linearisation.tangents import StiffnessBlocks
from discretization.system import System
from rigid import quaternions
from rigid.system import Floats, Ints, State


class SteadyMotion(NamedTuple):
    """A motion that is constant in time as seen from rotating axes."""

    W: Floats  # (3,) angular velocity of the axes, rad/s
    center: Floats  # (3,) point on the axis of rotation, m
    spin: Floats  # (n, 3) s, spatial, rad/s; zero for frames at rest in the axes
    ground: bool  # True if fixed frames rotate with the axes

    @property
    def turns(self) -> bool:
        """True if the axes or any frame rotate."""
        return bool(np.any(self.W) or np.any(self.spin))


def motion_at_rest(n: int) -> SteadyMotion:
    """Return the steady motion of n frames at rest."""
    return SteadyMotion(np.zeros(3), np.zeros(3), np.zeros((n, 3)), True)


def cross_matrices(x: Floats) -> Floats:
    """Return matrices hat(x) (..., 3, 3) with hat(x) y = x cross y, for x (..., 3)."""
    out = np.zeros((*x.shape, 3))
    out[..., 2, 1], out[..., 0, 2], out[..., 1, 0] = np.moveaxis(x, -1, 0)
    return out - np.swapaxes(out, -1, -2)


def spatial_inertia(system: System, state: State, R: Floats | None = None) -> Floats:
    """Return the spatial inertias R J R^T (n, 3, 3), kg m^2; `R`: rotation matrices (n, 3, 3) of the state, if known."""
    R = quaternions.to_matrix(state.quat) if R is None else R
    return R @ system.frames.inertia @ np.swapaxes(R, 1, 2)


def translational(system: System) -> tuple[Ints, Ints, Floats]:
    """Return rows, columns (frames) and values, kg, of M_t; entries of the same pair add up."""
    n = len(system.frames.mass)
    pairs, coupling = system.rods.shared_masses
    use = coupling != 0.0
    (a, b), c = pairs[use].T, coupling[use]
    every = np.arange(n)
    return (
        np.concatenate([every, a, b, a, b]),
        np.concatenate([every, a, b, b, a]),
        np.concatenate([system.frames.mass, -c, -c, c, c]),
    )


def mass(system: System, state: State, R: Floats | None = None) -> StiffnessBlocks:
    """Return the mass matrix M as blocks; `R`: rotation matrices (n, 3, 3) of the state, if known."""
    rows, columns, m = translational(system)
    blocks = np.zeros((len(m), 6, 6))
    for k in range(3):
        blocks[:, k, k] = m
    blocks[: len(state.r), 3:, 3:] = spatial_inertia(system, state, R)
    return StiffnessBlocks(rows, columns, blocks)


def gyroscopic(system: System, state: State, motion: SteadyMotion) -> StiffnessBlocks:
    """Return the gyroscopic matrix, which multiplies (u', eta') in (1), (2); skew-symmetric."""
    rows, columns, m = translational(system)
    W, J, Jw = cross_matrices(motion.W), spatial_inertia(system, state), _spins(system, state, motion)
    blocks = np.zeros((len(m), 6, 6))
    blocks[:, :3, :3] = 2.0 * m[:, None, None] * W
    blocks[: len(state.r), 3:, 3:] = J @ W + W @ J - cross_matrices(Jw)
    return StiffnessBlocks(rows, columns, blocks)


def centrifugal(system: System, state: State, motion: SteadyMotion) -> StiffnessBlocks:
    """Return the centrifugal matrix, which multiplies (u, eta) in (1), (2)."""
    rows, columns, m = translational(system)
    W, J, Jw = cross_matrices(motion.W), spatial_inertia(system, state), _spins(system, state, motion)
    blocks = np.zeros((len(m), 6, 6))
    blocks[:, :3, :3] = m[:, None, None] * (W @ W)
    blocks[: len(state.r), 3:, 3:] = W @ (J @ W - cross_matrices(Jw))
    return StiffnessBlocks(rows, columns, blocks)


def steady_inertia_forces(system: System, state: State, motion: SteadyMotion) -> Floats:
    """Return the inertia forces and torques of the steady motion itself, the terms at rest in (1), (2): (n, 6), N and N m.

    They are zero for fixed frames.
    """
    out = np.zeros((len(state.r), 6))
    if not motion.turns:
        return out
    rows, columns, m = translational(system)
    arm = state.r - motion.center
    a = np.cross(motion.W, np.cross(motion.W, arm))
    np.add.at(out[:, :3], rows, m[:, None] * a[columns])
    out[:, 3:] = np.cross(motion.W, _spins(system, state, motion))
    out[system.frames.fixed != 0] = 0.0
    return out


def _spins(system: System, state: State, motion: SteadyMotion) -> Floats:
    """Return the angular momenta J w (n, 3), kg m^2/s."""
    return np.einsum("nij,nj->ni", spatial_inertia(system, state), motion.W + motion.spin)
