"""Formulas of 003 as printed, if they differ in form from `discretization.continuum`; the study compares both."""

from __future__ import annotations

import numpy as np

from discretization.continuum.balances import force_S
from discretization.continuum.kinematics import omega
from discretization.continuum.lagrangian import constraint
from discretization.continuum.material import Material
from discretization.continuum.multisymplectic import parts
from discretization.continuum.quaternions import (
    Array,
    E,
    L,
    R,
    apply,
    conjugate,
    hat,
    inner,
    product,
    pure,
)


def solve(A: Array, x: Array) -> Array:
    """Return A^-1 x."""
    return apply(np.linalg.inv(A), x)


def body_momentum_rate(rod: Material, q: Array, q_t: Array, p: Array) -> Array:
    """Return p_t = L(p) J4 L(q^c) q_t/4 of the free rigid body, sec. 2.3."""
    return apply(L(p), apply(rod.J4, product(conjugate(q), q_t))) / 4


def omega_of_matrix(q: Array, q_S: Array) -> Array:
    """Return omega = 2 (-q, q0 1 - hat(q)) q_S, below (38)."""
    block = q[..., :1, None] * np.eye(3) - hat(q[..., 1:])
    return 2 * (-q[..., 1:] * q_S[..., :1] + apply(block, q_S[..., 1:]))


def p_phi_rate(rod: Material, q: Array, phi_S: Array, q_S: Array, phi_SS: Array) -> Array:
    """Return [D_N, hat(omega)] gamma - D_N gamma_S of (38), which is -dn/dS of (62)."""
    return -force_S(rod, q, phi_S, q_S, phi_SS)


def kinetic_gradient(rod: Material, q: Array, p: Array) -> Array:
    """Return the gradient (64) of the kinetic term: -2 R(q) L(p) L(q^c) I4^-1 R(q^c) p."""
    A = apply(
        L(q) @ R(conjugate(q)), solve(rod.J4, product(conjugate(q), product(product(p, conjugate(q)), q)))
    )
    return -2 * product(product(p, product(conjugate(q), A)), q)


def bending_gradient(rod: Material, q: Array, q_S: Array) -> Array:
    """Return the gradient (65) of the bending term: -R(q) L(omega) D_M omega/2."""
    w = pure(omega(q, q_S))
    turned = E(q) @ rod.C_M @ E(q).swapaxes(-1, -2)
    return -product(product(w, pure(apply(turned, w[..., 1:]))), q) / 2


def shear_gradient(q: Array, phi_S: Array, n: Array) -> Array:
    """Return the gradient (67) of the shear term: 2 R(q)(R(phi_S) - L(phi_S))(0, n) + 4 <(1 - E(q)) phi_S, n> q."""
    x = pure(phi_S)
    normal = 4 * inner(phi_S - apply(E(q), phi_S), n)
    return 2 * apply(R(q), apply(R(x) - L(x), pure(n))) + normal[..., None] * q


def hidden_constraint(q: Array, p: Array) -> Array:
    """Return <q, p>/2, the hidden constraint (72)."""
    return inner(q, p) / 2


def lagrangian_of_z(rod: Material, z: Array, stiffness: Array) -> Array:
    """Return the Lagrangian (52) of z; `stiffness` in the term of v_phi: C_M as printed, C_N as it should be."""
    x = parts(z)
    body, bend = product(conjugate(x.q), x.p), product(conjugate(x.q), x.v)
    N = apply(E(x.q).swapaxes(-1, -2), x.v_phi)
    kinetic = inner(x.p_phi, x.p_phi) / rod.rho_A + inner(body, solve(rod.J4, body)) / 4
    elastic = inner(N, solve(stiffness, N)) + inner(bend, solve(rod.C4, bend)) / 4
    return 0.5 * kinetic - 0.5 * elastic - x.lam * constraint(x.q)


def dS_dq(rod: Material, z: Array) -> Array:
    """Return dS/dq, (59)."""
    x = parts(z)
    A = E(x.q)
    rate, curvature = solve(rod.J4, product(conjugate(x.q), x.p)), solve(rod.C4, product(conjugate(x.q), x.v))
    strain = apply(A, solve(rod.C_N, apply(A.swapaxes(-1, -2), x.v_phi))) - A[..., 0]
    v = pure(x.v_phi)
    normal = 2 * inner(apply(A, x.v_phi) - x.v_phi, strain) + 2 * x.lam
    return (
        -product(x.p, rate) / 4
        + product(x.v, curvature) / 4
        + apply(R(x.q), apply(L(v) - R(v), pure(strain)))
        + normal[..., None] * x.q
    )


def second_rate(rod: Material, z: Array) -> Array:
    """Return the right-hand side of (75): <(E(q) - 1) v_phi, D_N^-1 v_phi - E(q) e1> + lam."""
    x = parts(z)
    A = E(x.q)
    strain = apply(A, solve(rod.C_N, apply(A.swapaxes(-1, -2), x.v_phi))) - A[..., 0]
    return inner(apply(A, x.v_phi) - x.v_phi, strain) + x.lam
