"""Check that straightforward discretisations of the Hamiltonian in space give canonical constrained systems: 003 sec. 1."""

from __future__ import annotations

import numpy as np

from discretization.continuum import hamiltonian, lagrangian
from discretization.continuum.local_laws import LocalLaws, local_laws
from discretization.continuum.material import material
from discretization.continuum.quaternions import E, apply, inner, product
from rigid.system import Floats
from rodsim.papers import semi_discrete_rod as semi
from rodsim.papers.claims import Line, Study, largest, listed, sweep
from rodsim.papers.rod_pde_fields import ROD
from rodsim.papers.smooth_fields import random_motion

SIZES = (8, 16, 32)
LAWS = ("energy", "momentum", "angular_momentum", "material_momentum")


def semi_discretisation(result: Study) -> None:
    """Check consistency, constraints and symplecticity of the discrete Hamiltonian, and the local laws on a grid."""
    spacing = [1 / n for n in SIZES]
    errors = sweep(spacing, lambda d: _rate_error(round(1 / d)))
    result.claim_orders(
        "003 sec. 1: the discretised Hamiltonian approximates the problem, with differences and means in space",
        {"rate": errors.order},
        2,
        f"-dH/du per length tends to -dH/du of (63), (71) with order {errors.order:.2f}: {listed(errors.errors)} "
        f"with {SIZES} elements",
    )
    two_form, lost = _two_form()
    result.claim(
        "003 sec. 1: and leads to canonical Hamiltonian systems with constraints",
        f"the rate of the sum of du . dP is {two_form / lost:.1e} of that on variations that break the constraints",
        two_form < 1e-11 * lost,
    )
    rates = {"rates of both at every node below": _hidden()}
    result.claim_below("003 (37), (72): of which |q|^2 = 1 and <q, p> = 0 stay", rates, 1e-12)
    waves = {1 / n: _waves(n) for n in SIZES}
    curves = {
        name.replace("_", " "): sweep(spacing, lambda d, law: _norm(getattr(waves[d], law)), name)
        for name in LAWS
    }
    result.claim_orders(
        "003 sec. 1, (43): local conservation of energy and momentum besides global: on a grid of states of an exact motion",
        {name: curve.order for name, curve in curves.items()},
        2,
        "; ".join(f"{name} order {curve.order:.2f}" for name, curve in curves.items()),
    )
    line = Line(f"order {errors.order:.2f}", spacing, errors.errors, "o-")
    result.panel("Semi-discrete rod", "element length", "error of the rates", [line], "log")
    lines = [Line(name, spacing, curve.errors, "o-") for name, curve in curves.items()]
    result.panel(
        "Local laws on the grid, waves of stretch and twist", "element length", "residual", lines, "log"
    )
    lines = [Line(f"{n} elements", waves[1 / n].S, waves[1 / n].energy[n // 2]) for n in SIZES]
    result.panel("Local energy law along the rod", "S", "e_t + f_S", lines)


def _state(n: int, seed: int = 1) -> tuple[float, Floats, Floats]:
    """Return the spacing, u and P of a random motion at n + 1 nodes of [0, 1], t = 0."""
    s = np.linspace(0.0, 1.0, n + 1)
    motion = random_motion(seed)
    phi, q = motion.phi(s, 0 * s), motion.q(s, 0 * s)
    p = np.concatenate(lagrangian.momenta(ROD, q.value, phi.t, q.t), axis=-1)
    u = np.concatenate([phi.value, q.value], axis=-1)
    return 1 / n, u, p * semi.node_weights(n + 1, 1 / n)[:, None]


def _rate_error(n: int) -> float:
    """Return the largest difference of the discrete from the variational derivative at the inner nodes."""
    d, u, P = _state(n)
    s = np.linspace(0.0, 1.0, n + 1)
    motion, zero = random_motion(1), np.zeros_like(s)
    phi, q = motion.phi(s, zero), motion.q(s, zero)
    p = P[:, 3:] / semi.node_weights(n + 1, d)[:, None]
    dH_dphi = hamiltonian.dH_dphi(ROD, q.value, phi.S, q.S, phi.SS)
    dH_dq = hamiltonian.dH_dq(ROD, q.value, p, phi.S, q.S, q.SS, zero)
    discrete = semi.gradients(ROD, d, u, P)[0] / d
    return largest((discrete - np.concatenate([dH_dphi, dH_dq], axis=-1))[1:-1])


def _two_form(n: int = 4) -> tuple[float, float]:
    """Return |d/dt of the two-form| for variations, of size 1, that satisfy the constraints, and for arbitrary ones."""
    d, u, P = _state(n)
    a, b = np.random.default_rng(0).standard_normal((2, 2, n + 1, 7))
    bound = [semi.tangent(u, P, x) for x in (a, b)]
    return abs(semi.two_form_rate(ROD, d, u, P, *bound)), abs(semi.two_form_rate(ROD, d, u, P, a, b))


def _hidden(n: int = 8) -> float:
    """Return the largest of |<q, q_t>| and |d<q, P>/dt| over the nodes, along the flow."""
    d, u, P = _state(n)
    u_t, P_t = semi.flow(ROD, d, u, P)
    rates = inner(u[:, 3:], u_t[:, 3:]), inner(u_t[:, 3:], P[:, 3:]) + inner(u[:, 3:], P_t[:, 3:])
    return max(map(largest, rates))


def _waves(n: int) -> LocalLaws:
    """Return the local laws of a rod with two exact travelling waves, of stretch and of twist, on a grid of n by 2 n boxes."""
    rod = material(1.7, [0.4, 0.2, 0.2], [3.0, 2.0, 2.0], [0.9, 1.0, 1.0])
    t, s = np.linspace(0.0, 0.4, n + 1), np.linspace(0.0, 1.0, 2 * n + 1)
    S, T = np.meshgrid(s, t)
    zero, k = np.zeros_like(S), 5.0
    c_N, c_M = np.sqrt(3.0 / 1.7), np.sqrt(0.9 / 0.4)
    stretch, twist = 0.1 * np.cos(k * (S - c_N * T)), 0.4 * np.sin(k * (S + c_M * T))
    tilt = np.array([np.cos(0.3), 0.0, np.sin(0.3), 0.0])  # inclined: angular momentum has a lever
    quat = np.stack([np.cos(twist / 2), np.sin(twist / 2), zero, zero], axis=-1)
    r = apply(E(tilt), np.stack([S + stretch, zero, zero], axis=-1)) + np.array([0.0, 0.3, 0.1])
    v = apply(E(tilt), np.stack([0.1 * k * c_N * np.sin(k * (S - c_N * T)), zero, zero], axis=-1))
    q = product(np.broadcast_to(tilt, quat.shape), quat)
    rate = np.stack([0.4 * k * c_M * np.cos(k * (S + c_M * T)), zero, zero], axis=-1)
    return local_laws(rod, t, s, r, q, v, rate)


def _norm(x: Floats) -> float:
    """Return the root mean square of x."""
    return float(np.sqrt(np.mean(x**2)))
