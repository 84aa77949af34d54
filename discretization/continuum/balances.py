"""Evaluate the equations of Simo and Reissner, 003 (9), (10), without external loads: every formulation must reproduce them."""

from __future__ import annotations

import numpy as np

from discretization.continuum.kinematics import gamma, gamma_S, omega, omega_S, rotated
from discretization.continuum.material import Material
from discretization.continuum.quaternions import Array, apply


def force(rod: Material, q: Array, phi_S: Array) -> Array:
    """Return the force n = D_N gamma (..., 3), N (7)."""
    return apply(rotated(q, rod.C_N), gamma(q, phi_S))


def moment(rod: Material, q: Array, q_S: Array) -> Array:
    """Return the moment m = D_M omega (..., 3), N m (8)."""
    return apply(rotated(q, rod.C_M), omega(q, q_S))


def force_S(rod: Material, q: Array, phi_S: Array, q_S: Array, phi_SS: Array) -> Array:
    """Return dn/dS = [hat(omega), D_N] gamma + D_N gamma_S (..., 3), N/m (62); |q| = 1."""
    D, w, g = rotated(q, rod.C_N), omega(q, q_S), gamma(q, phi_S)
    turned = np.cross(w, apply(D, g)) - apply(D, np.cross(w, g))
    return turned + apply(D, gamma_S(q, q_S, phi_SS))


def moment_S(rod: Material, q: Array, q_S: Array, q_SS: Array) -> Array:
    """Return dm/dS = omega x D_M omega + D_M omega_S (..., 3), N; |q| = 1."""
    D, w = rotated(q, rod.C_M), omega(q, q_S)
    return np.cross(w, apply(D, w)) + apply(D, omega_S(q, q_S, q_SS))


def linear_balance(rod: Material, q: Array, phi_S: Array, q_S: Array, phi_SS: Array, phi_tt: Array) -> Array:
    """Return the residual rho_A phi_tt - dn/dS (..., 3), N/m (9)."""
    return rod.rho_A * phi_tt - force_S(rod, q, phi_S, q_S, phi_SS)


def angular_balance(
    rod: Material, q: Array, phi_S: Array, q_S: Array, q_SS: Array, q_t: Array, q_tt: Array
) -> Array:
    """Return the residual I_rho w_t + w x (I_rho w) - dm/dS - phi_S x n (..., 3), N (10)."""
    inertia, w = rotated(q, rod.J_rho), omega(q, q_t)
    rate = apply(inertia, omega_S(q, q_t, q_tt)) + np.cross(w, apply(inertia, w))
    return rate - moment_S(rod, q, q_S, q_SS) - np.cross(phi_S, force(rod, q, phi_S))
