"""Compute strains and angular velocities of a rod from u and its derivatives: 003 (2), (3), (6), (18)-(21).

Upper case: components in the axes of the section (material). Lower case: in the inertial axes (spatial).
"""

from __future__ import annotations

import numpy as np

from discretization.continuum.material import E1
from discretization.continuum.quaternions import Array, E, apply, conjugate, product, vector


def Omega(q: Array, q_S: Array) -> Array:
    """Return twist and bending Omega = 2 L(q^c) q_S (..., 3), section axes, 1/m (21).

    With q_t in place of q_S it is the angular velocity W, 1/s.
    """
    return vector(2 * product(conjugate(q), q_S))


def omega(q: Array, q_S: Array) -> Array:
    """Return twist and bending omega = 2 R(q^c) q_S = 2 (q0 q_S - q0_S q + q x q_S) (..., 3), inertial axes, 1/m (21).

    With q_t in place of q_S it is the angular velocity w, 1/s.
    """
    return vector(2 * product(q_S, conjugate(q)))


def omega_S(q: Array, q_S: Array, q_SS: Array) -> Array:
    """Return d omega/dS (..., 3), 1/m^2; with t in place of S it is d w/dt, 1/s^2."""
    return vector(2 * product(q_SS, conjugate(q)) + 2 * product(q_S, conjugate(q_S)))


def Gamma(q: Array, phi_S: Array) -> Array:
    """Return stretch and shear Gamma = E(q)^T phi_S - e1 (..., 3), section axes (7)."""
    return apply(E(q).swapaxes(-1, -2), phi_S) - E1


def gamma(q: Array, phi_S: Array) -> Array:
    """Return stretch and shear gamma = phi_S - E(q) e1 (..., 3), inertial axes (6)."""
    return phi_S - E(q)[..., 0]


def gamma_S(q: Array, q_S: Array, phi_SS: Array) -> Array:
    """Return d gamma/dS = phi_SS - omega x E(q) e1 (..., 3), 1/m (38); |q| = 1."""
    return phi_SS - np.cross(omega(q, q_S), E(q)[..., 0])


def rotated(q: Array, C: Array) -> Array:
    """Return E(q) C E(q)^T (..., 3, 3): D_N (4), D_M (4), I_rho (11)."""
    A = E(q)
    return A @ C @ A.swapaxes(-1, -2)
