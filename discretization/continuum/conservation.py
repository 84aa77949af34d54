"""Evaluate the local conservation laws of a rod, density_t + flux_S = 0, 003 (41)-(46).

For any fields, with r = M z_t + K z_S - grad S(z), zero on solutions:

    e_t + f_S = -<z_t, r>        energy               (43), (44)
    i_t + g_S = -<z_S, r>        material momentum    (43), (45)
    <U, M V>_t + <U, K V>_S = <U, r'(V)> - <V, r'(U)>,    r'(U) = M U_t + K U_S - S'' U   (42)

(44), (45) are h and u_S . p except for derivatives of terms that may not vanish at the ends,

    e = h + (u . v)_S/2,   f = u_t . v - (u . v)_t/2,   i = u_S . p - (u . p)_S/2,   g = S - u_t . p + (u . p)_t/2,

so that the integral of e is the energy (12) if u . v is equal at both ends: free or periodic ones. The pairs
(h, u_t . v) and (u_S . p, S - u_t . p) satisfy the same laws, and f = -(n . phi_t + m . w) is then the power through a section.
Momentum and angular momentum in space follow from (9), (10).
"""

from __future__ import annotations

import numpy as np

from discretization.continuum.balances import force, moment
from discretization.continuum.kinematics import omega, rotated
from discretization.continuum.material import Material
from discretization.continuum.multisymplectic import CONFIGURATION, MOMENTUM, STRESS, K, M, S
from discretization.continuum.quaternions import Array, apply, inner


def energy(rod: Material, z: Array, z_S: Array) -> Array:
    """Return the energy density e = S - z_S^T K^T z/2 (...,), J/m (44)."""
    return S(rod, z) - 0.5 * inner(z, apply(K, z_S))


def energy_flux(z: Array, z_t: Array) -> Array:
    """Return the energy flux f = z_t^T K^T z/2 (...,), W (44)."""
    return 0.5 * inner(z, apply(K, z_t))


def material_momentum(z: Array, z_S: Array) -> Array:
    """Return the material momentum density i = z_S^T M^T z/2 (...,), kg/s (45).

    It is the momentum of the waves along the rod and is conserved if the rod is uniform.
    """
    return 0.5 * inner(z, apply(M, z_S))


def material_momentum_flux(rod: Material, z: Array, z_t: Array) -> Array:
    """Return the material momentum flux g = S - z_t^T M^T z/2 (...,), N (45)."""
    return S(rod, z) - 0.5 * inner(z, apply(M, z_t))


def physical_energy(rod: Material, z: Array, z_S: Array) -> Array:
    """Return h = S - u_S . v (...,), J/m: kinetic and elastic energy per length (12), (31)."""
    return S(rod, z) - inner(z_S[..., CONFIGURATION], z[..., STRESS])


def power_flux(z: Array, z_t: Array) -> Array:
    """Return u_t . v = -(n . phi_t + m . w) (...,), W: the power through a section towards increasing S."""
    return inner(z_t[..., CONFIGURATION], z[..., STRESS])


def wave_momentum(z: Array, z_S: Array) -> Array:
    """Return the wave momentum density u_S . p = phi_S . p_phi + omega . I_rho w (...,), kg/s."""
    return inner(z_S[..., CONFIGURATION], z[..., MOMENTUM])


def wave_momentum_flux(rod: Material, z: Array, z_t: Array) -> Array:
    """Return the wave momentum flux S - u_t . p (...,), N."""
    return S(rod, z) - inner(z_t[..., CONFIGURATION], z[..., MOMENTUM])


def time_two_form(U: Array, V: Array) -> Array:
    """Return the two-form omega(U, V) = <U, M V> of two variations of z (41)."""
    return inner(U, apply(M, V))


def space_two_form(U: Array, V: Array) -> Array:
    """Return the two-form kappa(U, V) = <U, K V> of two variations of z (41)."""
    return inner(U, apply(K, V))


def linear_momentum(rod: Material, phi_t: Array) -> Array:
    """Return the momentum density p_phi (..., 3), kg/s; its flux is -n."""
    return rod.rho_A * phi_t


def linear_momentum_flux(rod: Material, q: Array, phi_S: Array) -> Array:
    """Return the momentum flux -n (..., 3), N."""
    return -force(rod, q, phi_S)


def angular_momentum(rod: Material, phi: Array, q: Array, phi_t: Array, q_t: Array) -> Array:
    """Return the angular momentum density phi x p_phi + I_rho w (..., 3), kg m/s, about the origin."""
    return np.cross(phi, rod.rho_A * phi_t) + apply(rotated(q, rod.J_rho), omega(q, q_t))


def angular_momentum_flux(rod: Material, phi: Array, q: Array, phi_S: Array, q_S: Array) -> Array:
    """Return the angular momentum flux -(phi x n + m) (..., 3), N m."""
    return -np.cross(phi, force(rod, q, phi_S)) - moment(rod, q, q_S)


def integral(density: Array, S_grid: Array) -> Array:
    """Integrate a density (..., n) sampled at S_grid (n,), m, by Simpson's rule (46)."""
    from scipy.integrate import simpson

    return np.asarray(simpson(density, x=S_grid, axis=-1))
