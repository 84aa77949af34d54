"""Sum the Hamiltonian density of a rod over a grid: a canonical constrained system, as 003 sec. 1 announces it.

u_i, P_i at n nodes, kinetic energy at the nodes, elastic energy in the middles of the cells by differences and means,

    H = sum_i d_i T*(q_i, p_i) + sum_e d U(q_mid, du/d),   P_i = d_i p_i,   u_t = dH/dP,  P_t = -dH/du - lam_i dg_i/du,
    g_i = |q_i|^2 - 1,

d is the spacing, d_i = d inside and d/2 at the ends. Source: 003 (30), (31), (33).
"""

from __future__ import annotations

import numpy as np

from discretization.continuum.lagrangian import potential_density
from discretization.continuum.material import Material
from discretization.continuum.quaternions import Array, apply, conjugate, inner, product
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.system import Floats


def energy(rod: Material, d: float, u: Array, P: Array) -> Array:
    """Return H (...) of u, P (..., n, 7)."""
    weights = node_weights(u.shape[-2], d)
    p = P / weights[:, None]
    body = product(conjugate(u[..., 3:]), p[..., 3:])
    rate = apply(np.linalg.inv(rod.J4), body)
    kinetic = 0.5 * (inner(p[..., :3], p[..., :3]) / rod.rho_A + inner(body, rate) / 4)
    q, u_S = 0.5 * (u[..., 1:, 3:] + u[..., :-1, 3:]), (u[..., 1:, :] - u[..., :-1, :]) / d
    elastic = potential_density(rod, q, u_S[..., :3], u_S[..., 3:])
    return (weights * kinetic).sum(-1) + d * elastic.sum(-1)


def node_weights(n: int, d: float) -> Floats:
    """Return the weights (n,) of the nodes: d inside, d/2 at both ends."""
    weights = np.full(n, d)
    weights[[0, -1]] /= 2
    return weights


def gradients(rod: Material, d: float, u: Array, P: Array) -> tuple[Array, Array]:
    """Return dH/du and dH/dP (n, 7) by five-point differences of step 1/2.

    They are exact, since H has degree four in each component. Complex arguments are allowed; a complex step of H would not
    allow them.
    """
    x = np.stack([u, P])
    moves = 0.5 * np.multiply.outer([1.0, -1.0, 2.0, -2.0], np.eye(x.size))
    moved = (x.reshape(-1) + moves).reshape(-1, *x.shape)
    H = energy(rod, d, moved[:, 0], moved[:, 1]).reshape(4, x.size)
    differences = ((8 * (H[0] - H[1]) - (H[2] - H[3])) / 6).reshape(x.shape)
    return differences[0], differences[1]


def flow(rod: Material, d: float, u: Array, P: Array) -> tuple[Array, Array]:
    """Return u_t and P_t (n, 7), with the multipliers that conserve <q_i, P_i> = 0."""
    dH_du, u_t = gradients(rod, d, u, P)
    q, q_t = u[:, 3:], u_t[:, 3:]
    lam = (inner(q_t, P[:, 3:]) - inner(q, dH_du[:, 3:])) / (2 * inner(q, q))
    P_t = -dH_du
    P_t[:, 3:] -= 2 * lam[:, None] * q
    return u_t, P_t


def two_form_rate(rod: Material, d: float, u: Floats, P: Floats, a: Floats, b: Floats) -> float:
    """Return d/dt of sum du(a) . dP(b) - du(b) . dP(a) along the linearised flow; a, b (2, n, 7) are variations of (u, P)."""

    def carried(x: Floats) -> Floats:
        """Return the rate (2, n, 7) of a variation x under the linearised flow."""
        z = np.stack([u, P]) + 1j * COMPLEX_STEP * x
        return np.stack(flow(rod, d, z[0], z[1])).imag / COMPLEX_STEP

    def form(x: Floats, y: Floats) -> float:
        """Return the canonical two-form of the variations x and y."""
        return float((x[0] * y[1]).sum() - (x[1] * y[0]).sum())

    return form(carried(a), b) + form(a, carried(b))


def tangent(u: Floats, P: Floats, x: Floats) -> Floats:
    """Return the part of x (2, n, 7) that satisfies the linearised constraints g_i = 0 and <q_i, P_i> = 0."""
    q, out = u[:, 3:], x.copy()
    out[0, :, 3:] -= inner(q, x[0, :, 3:])[:, None] * q
    out[1, :, 3:] -= (inner(q, x[1, :, 3:]) + inner(out[0, :, 3:], P[:, 3:]))[:, None] * q
    return out
