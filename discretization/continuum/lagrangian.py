"""Evaluate the Lagrangian density of a rod in quaternions, 003 (24)-(27), and its two Legendre transforms (28), (29), (48), (49).

Off |q| = 1 the densities are continued as polynomials in q: the formulas Gamma = E(q)^T phi_S - e1 and L(q^c) q_S are used
unchanged. This is the continuation under which 003 (64)-(66) are derived. The multiplier depends on it, the motion does not.
"""

from __future__ import annotations

from discretization.continuum.kinematics import Gamma
from discretization.continuum.material import Material
from discretization.continuum.quaternions import Array, E, L, apply, conjugate, inner, product


def kinetic_density(rod: Material, q: Array, phi_t: Array, q_t: Array) -> Array:
    """Return the kinetic energy density (...,), J/m (26).

    T = (rho_A |phi_t|^2 + 4 <L(q^c) q_t, J4 L(q^c) q_t>)/2.
    """
    W = product(conjugate(q), q_t)
    return 0.5 * (rod.rho_A * inner(phi_t, phi_t) + 4 * inner(W, apply(rod.J4, W)))


def potential_density(rod: Material, q: Array, phi_S: Array, q_S: Array) -> Array:
    """Return the elastic energy density (...,), J/m (27).

    U = (<Gamma, C_N Gamma> + 4 <L(q^c) q_S, C4 L(q^c) q_S>)/2.
    """
    stretch, bend = Gamma(q, phi_S), product(conjugate(q), q_S)
    return 0.5 * (inner(stretch, apply(rod.C_N, stretch)) + 4 * inner(bend, apply(rod.C4, bend)))


def lagrangian(
    rod: Material, q: Array, phi_t: Array, q_t: Array, phi_S: Array, q_S: Array, lam: Array
) -> Array:
    """Return the Lagrangian density T - U - lam (|q|^2 - 1) (...,), J/m (24)."""
    T, U = kinetic_density(rod, q, phi_t, q_t), potential_density(rod, q, phi_S, q_S)
    return T - U - lam * constraint(q)


def constraint(q: Array) -> Array:
    """Return the constraint g = |q|^2 - 1 (...,) (34)."""
    return inner(q, q) - 1


def momenta(rod: Material, q: Array, phi_t: Array, q_t: Array) -> tuple[Array, Array]:
    """Return p_phi = rho_A phi_t (..., 3), kg/s (28), and p = 4 L(q) J4 L(q^c) q_t (..., 4), kg m/s (29)."""
    return rod.rho_A * phi_t, _four(rod.J4, q, q_t)


def stresses(rod: Material, q: Array, phi_S: Array, q_S: Array) -> tuple[Array, Array]:
    """Return v_phi = dL/dphi_S = -n (..., 3), N (48), and v = dL/dq_S = -4 L(q) C4 L(q^c) q_S (..., 4), N m (49)."""
    return -apply(E(q), apply(rod.C_N, Gamma(q, phi_S))), -_four(rod.C4, q, q_S)


def _four(A: Array, q: Array, q_x: Array) -> Array:
    """Return 4 L(q) A L(q^c) q_x."""
    return 4 * apply(L(q), apply(A, product(conjugate(q), q_x)))
