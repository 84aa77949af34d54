"""Small motions of a system's rods about a shape: stiffness and mass matrices in (dr, turn) of every frame.

    K_ab = d(force, torque on a)/d(dr, eta)_b,   d_k -> d_k + eta x d_k,   by complex steps of the elements' duals     (1)
    M = diag(m, R J R^T) - coupling |sum a_i v_i|^2 of consistent masses                                              (2)

eta is the spatial turn. Without stress (1) is symmetric and the Hessian of the energy; small motions obey
M d2x/dt2 + K x = 0.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import block_diag, coo_matrix, csr_matrix

from discretization.space import se3_dual, spans
from discretization.system import System
from rigid import quaternions
from rigid.interactions.kinds import COMPLEX_STEP, Group
from rigid.mechanical import call
from rigid.system import Floats, State


def stiffness_matrix(system: System, state: State) -> csr_matrix:
    """(1) of all rod elements, (6n, 6n)."""
    groups = [*spans.energies_of(system.spans), se3_dual.energies_of(system.elements)]
    n = 6 * len(state.r)
    rows, columns = [np.zeros(0, int)], [np.zeros(0, int)]
    values: list[Floats] = [np.zeros(0)]
    directors = np.swapaxes(quaternions.to_matrix(state.quat), 1, 2)
    poses = np.concatenate([state.r[:, None], directors], axis=1)
    for own in groups:
        for frames, X in zip(own.frames, own.numbers, strict=True):
            block = _element_stiffness(own, poses[frames], X)
            at = (6 * frames[:, None] + np.arange(6)).ravel()
            rows.append(np.repeat(at, len(at)))
            columns.append(np.tile(at, len(at)))
            values.append(block.ravel())
    entries = tuple(np.concatenate(x) for x in (values, rows, columns))
    return coo_matrix((entries[0], entries[1:]), shape=(n, n)).tocsr()


def _element_stiffness(own: Group, poses: Floats, X: Floats) -> Floats:
    """(1) of one element, (6 arity, 6 arity)."""
    arity = own.kind.arity
    place = poses - np.array([1.0, 0, 0, 0])[:, None] * poses[0, 0]  # far from the origin no digits are lost
    K, dual, lam = np.empty((6 * arity, 6 * arity)), np.zeros((arity, 4, 3), complex), np.ones(1, complex)
    for j in range(6 * arity):
        b, axis = j // 6, np.eye(3)[j % 3]
        y = place.astype(complex)
        if j % 6 < 3:
            y[b, 0] += 1j * COMPLEX_STEP * axis
        else:
            y[b, 1:] += 1j * COMPLEX_STEP * np.cross(axis, place[b, 1:])
        call(own.kind.dual, (y, y, X, lam, dual))
        torque = np.cross(y[:, 1:], dual[:, 1:]).sum(axis=1)
        K[:, j] = np.concatenate([dual[:, 0], torque], axis=1).ravel().imag / COMPLEX_STEP
    return K


def mass_matrix(system: System, state: State) -> csr_matrix:
    """(2) of all frames, (6n, 6n)."""
    R = quaternions.to_matrix(state.quat)
    spin = R @ system.frames.inertia @ np.swapaxes(R, 1, 2)
    blocks = [
        np.eye(3) * m if k == 0 else J for m, J in zip(system.frames.mass, spin, strict=True) for k in (0, 1)
    ]
    pairs, coupling = spans.shared_masses(system.elements, system.spans)
    a, b = (6 * pairs.T[:, :, None] + np.arange(3)).reshape(2, -1)
    c = np.repeat(coupling, 3)
    n = 6 * len(state.r)
    shared = coo_matrix(
        (
            np.concatenate([-c, -c, c, c]),
            (np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a])),
        ),
        shape=(n, n),
    )
    return csr_matrix(block_diag(blocks) + shared)
