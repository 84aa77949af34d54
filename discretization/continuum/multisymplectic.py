"""Evaluate the multisymplectic formulation M z_t + K z_S = grad S(z) of a rod, 003 (40), (47)-(59), (74), (75).

z = (phi, q, p_phi, p, v_phi, v, lam) in R^22, with the conjugate variables p of time and v of space. `grad_S` is the exact
gradient for every z; (59) agrees with it on the constraints |q| = 1, <q, p> = <q, v> = 0 (its quadratic terms use them).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.continuum.lagrangian import constraint
from discretization.continuum.material import E1, Material
from discretization.continuum.quaternions import (
    Array,
    E,
    L,
    apply,
    conjugate,
    hat,
    inner,
    product,
)
from rigid.system import Floats

SIZE = 22
PHI, Q, P_PHI, P = slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 14)
V_PHI, V, LAM = slice(14, 17), slice(17, 21), 21
CONFIGURATION, MOMENTUM, STRESS = slice(0, 7), slice(7, 14), slice(14, 21)


class Parts(NamedTuple):
    """Components of z."""

    phi: Array
    q: Array
    p_phi: Array
    p: Array
    v_phi: Array
    v: Array
    lam: Array


def parts(z: Array) -> Parts:
    """Split z (..., 22) into its components."""
    return Parts(z[..., PHI], z[..., Q], z[..., P_PHI], z[..., P], z[..., V_PHI], z[..., V], z[..., LAM])


def join(x: Parts) -> Array:
    """Assemble z (..., 22) from its components."""
    return np.concatenate([*x[:-1], np.asarray(x.lam)[..., None]], axis=-1)


def structure(conjugate_part: slice) -> Floats:
    """Return the skew matrix (22, 22) that pairs u with one of its conjugate variables."""
    A = np.zeros((SIZE, SIZE))
    A[conjugate_part, CONFIGURATION] = np.eye(7)
    A[CONFIGURATION, conjugate_part] = -np.eye(7)
    return A


M = structure(MOMENTUM)  # M z_t = (-p_t, u_t, 0, 0)
K = structure(STRESS)  # K z_S = (-v_S, 0, u_S, 0)


def S(rod: Material, z: Array) -> Array:
    """Return S = <p, u_t> + <v, u_S> - Lagrangian (...,), J/m (47), (53)."""
    x = parts(z)
    body, bend = product(conjugate(x.q), x.p), product(conjugate(x.q), x.v)
    N = apply(E(x.q).swapaxes(-1, -2), x.v_phi)
    kinetic = inner(x.p_phi, x.p_phi) / rod.rho_A + inner(body, _solve(rod.J4, body)) / 4
    elastic = inner(N, _solve(rod.C_N, N) - 2 * E1) + inner(bend, _solve(rod.C4, bend)) / 4
    return 0.5 * kinetic - 0.5 * elastic + x.lam * constraint(x.q)


def grad_S(rod: Material, z: Array) -> Array:
    """Return the gradient of S, (..., 22): (54)-(59), exact for every z."""
    x = parts(z)
    A = E(x.q)
    rate = _solve(rod.J4, product(conjugate(x.q), x.p))
    curvature = _solve(rod.C4, product(conjugate(x.q), x.v))
    strain = _solve(rod.C_N, apply(A.swapaxes(-1, -2), x.v_phi)) - E1
    dq = (
        product(x.p, conjugate(rate)) / 4
        - product(x.v, conjugate(curvature)) / 4
        - turned_back(x.q, x.v_phi, strain)
        + 2 * x.lam[..., None] * x.q
    )
    return join(
        Parts(
            np.zeros_like(z[..., PHI]),  # (58)
            dq,  # (59)
            x.p_phi / rod.rho_A,  # (32)
            apply(L(x.q), rate) / 4,  # (32)
            -apply(A, strain),  # (50)
            -apply(L(x.q), curvature) / 4,  # (51)
            constraint(x.q),  # (57)
        )
    )


def turned_back(q: Array, x: Array, y: Array) -> Array:
    """Return the gradient of <E(q)^T x, y> in q (..., 4) (66).

    It is 2 (-(q x x), hat(q x x) - q0 hat(x) - hat(x) hat(q)) y.
    """
    w = np.cross(q[..., 1:], x)
    X = hat(x)
    block = hat(w) - q[..., :1, None] * X - X @ hat(q[..., 1:])
    return 2 * np.concatenate([-inner(w, y)[..., None], apply(block, y)], axis=-1)


def hessian_S(rod: Material, z: Array, step: float = 1e-30) -> Array:
    """Return the second derivatives of S, (..., 22, 22), by complex steps of its gradient."""
    points = z[..., None, :] + 1j * step * np.eye(SIZE)
    return (grad_S(rod, points).imag / step).swapaxes(-1, -2)


def residual(rod: Material, z: Array, z_t: Array, z_S: Array) -> Array:
    """Return M z_t + K z_S - grad S(z) (..., 22) (40): zero on solutions."""
    return apply(M, z_t) + apply(K, z_S) - grad_S(rod, z)


def hidden_constraints(z: Array) -> Array:
    """Return <p, q> and <v, q> (74), (..., 2)."""
    x = parts(z)
    return np.stack([inner(x.p, x.q), inner(x.v, x.q)], axis=-1)


def multiplier(rod: Material, z: Array) -> Array:
    """Return lam = -<(E(q) - 1) v_phi, D_N^-1 v_phi - E(q) e1> (...,) (75): keeps <p, q>_t + <v, q>_S = 0; |q| = 1.

    It differs from the multiplier (73) of the Hamiltonian form: lam depends on how a density is continued off |q| = 1.
    """
    x = parts(z)
    A = E(x.q)
    strain = apply(A, _solve(rod.C_N, apply(A.swapaxes(-1, -2), x.v_phi)) - E1)
    return -inner(apply(A, x.v_phi) - x.v_phi, strain)


def _solve(A: Array, x: Array) -> Array:
    """Return A^-1 x; A is small, well conditioned and constant."""
    return apply(np.linalg.inv(A), x)
