"""Evaluate the constrained Hamiltonian formulation of a rod, 003 (30)-(39), (60)-(73). Canonical: x_t = J dH/dx, J constant.

Notation: n = D_N gamma, omega = 2 R(q^c) q_S, and pure quaternions for vectors of R^3. Docstrings state if a formula holds
only on |q| = 1 or on the hidden constraints <q, p> = 0, <q, q_S> = 0.
"""

from __future__ import annotations

import numpy as np

from discretization.continuum.balances import force, force_S, moment, moment_S
from discretization.continuum.kinematics import omega
from discretization.continuum.lagrangian import constraint, potential_density
from discretization.continuum.material import Material
from discretization.continuum.quaternions import (
    Array,
    E,
    L,
    R,
    apply,
    conjugate,
    inner,
    product,
    pure,
)


def velocities(rod: Material, q: Array, p_phi: Array, p: Array) -> tuple[Array, Array]:
    """Return phi_t = p_phi/rho_A (..., 3), m/s, and q_t = L(q) J4^-1 L(q^c) p/4 (..., 4), 1/s (32), (35)."""
    return p_phi / rod.rho_A, apply(L(q), _body_rate(rod, q, p)) / 4


def density(rod: Material, q: Array, p_phi: Array, p: Array, phi_S: Array, q_S: Array, lam: Array) -> Array:
    """Return the energy density h (...,), J/m (31).

    h = (|p_phi|^2/rho_A + <L(q^c) p, J4^-1 L(q^c) p>/4)/2 + U + lam (|q|^2 - 1).
    """
    body = product(conjugate(q), p)
    kinetic = 0.5 * (inner(p_phi, p_phi) / rod.rho_A + inner(body, _body_rate(rod, q, p)) / 4)
    return kinetic + potential_density(rod, q, phi_S, q_S) + lam * constraint(q)


def dh_dphi_S(rod: Material, q: Array, phi_S: Array) -> Array:
    """Return dh/dphi_S = n = D_N gamma (..., 3) (61); |q| = 1."""
    return force(rod, q, phi_S)


def dh_dq_S(rod: Material, q: Array, q_S: Array) -> Array:
    """Return dh/dq_S = 2 R(q) D_M omega (..., 4) (69); |q| = 1, <q, q_S> = 0."""
    return 2 * product(pure(moment(rod, q, q_S)), q)


def dh_dq(rod: Material, q: Array, p: Array, phi_S: Array, q_S: Array, lam: Array) -> Array:
    """Return dh/dq (..., 4), the sum of (64)/8, 2 (65), (67)/2 and 2 lam q; |q| = 1, <q, p> = 0, <q, q_S> = 0."""
    bend = product(pure(omega(q, q_S)), pure(moment(rod, q, q_S)))
    return (
        -product(p, _body_rate(rod, q, p)) / 4  # (64)
        - apply(R(q), bend)  # (65)
        + _shear_torque(rod, q, phi_S)  # (67)
        + 2 * lam[..., None] * q
    )


def dH_dphi(rod: Material, q: Array, phi_S: Array, q_S: Array, phi_SS: Array) -> Array:
    """Return the variational derivative -dn/dS (..., 3), N/m (63), printed with the opposite sign; |q| = 1."""
    return -force_S(rod, q, phi_S, q_S, phi_SS)


def dH_dq(rod: Material, q: Array, p: Array, phi_S: Array, q_S: Array, q_SS: Array, lam: Array) -> Array:
    """Return the variational derivative dh/dq - d(dh/dq_S)/dS (..., 4), N (71); |q| = 1, <q, p> = 0."""
    w = pure(omega(q, q_S))
    m, m_S = pure(moment(rod, q, q_S)), pure(moment_S(rod, q, q_S, q_SS))
    # D_M omega_S = m_S - omega x m
    bent = product(w, m) + m_S - pure(np.cross(w[..., 1:], m[..., 1:]))
    return (
        -product(p, _body_rate(rod, q, p)) / 4
        - 2 * product(bent, q)
        + 2 * lam[..., None] * q
        + _shear_torque(rod, q, phi_S)
    )


def momentum_rates(
    rod: Material,
    q: Array,
    p: Array,
    phi_S: Array,
    q_S: Array,
    phi_SS: Array,
    q_SS: Array,
    lam: Array,
) -> tuple[Array, Array]:
    """Return p_phi_t = dn/dS (38), printed with the opposite sign, and p_t = -dH/dq (39); |q| = 1, <q, p> = 0."""
    return -dH_dphi(rod, q, phi_S, q_S, phi_SS), -dH_dq(rod, q, p, phi_S, q_S, q_SS, lam)


def hidden_constraint(rod: Material, q: Array, p: Array) -> Array:
    """Return g_t = <q, p>/(2 alpha) (72), printed without alpha; |q| = 1."""
    return inner(q, p) / (2 * rod.alpha)


def multiplier(rod: Material, q: Array, phi_S: Array, q_S: Array) -> Array:
    """Return lam = -<omega, D_M omega> - <(1 - E(q)) phi_S, n> (...,), N (73): keeps <q, p> = 0 in time."""
    n = force(rod, q, phi_S)
    bend = inner(omega(q, q_S), moment(rod, q, q_S))
    return -bend - inner(phi_S - apply(E(q), phi_S), n)


def _body_rate(rod: Material, q: Array, p: Array) -> Array:
    """Return J4^-1 L(q^c) p: twice the angular velocity, section axes, as a quaternion."""
    return apply(np.linalg.inv(rod.J4), product(conjugate(q), p))


def _shear_torque(rod: Material, q: Array, phi_S: Array) -> Array:
    """Return the gradient of <Gamma, C_N Gamma>/2 in q (67).

    It is R(q)(R(phi_S) - L(phi_S))(0, n) + 2 <(1 - E(q)) phi_S, n> q.
    """
    n = force(rod, q, phi_S)
    normal = 2 * inner(phi_S - apply(E(q), phi_S), n)
    return product(2 * pure(np.cross(n, phi_S)), q) + normal[..., None] * q
