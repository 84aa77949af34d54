"""Check the claims of 003 sec. 4 and 5.3: the multisymplectic form of the rod and its local conservation laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.continuum import conservation, hamiltonian, lagrangian, multisymplectic
from discretization.continuum import quaternions as quat
from discretization.continuum.material import Material, material
from discretization.continuum.quaternions import Array, apply, inner, product, pure
from rigid.system import Floats
from rodsim.papers import rod_pde_printed as printed
from rodsim.papers.claims import Line, Study, largest
from rodsim.papers.rod_pde_fields import ROD, Sample, identity
from rodsim.papers.smooth_fields import Waves, derivative, gradient, z_of


def multisymplectic_form(result: Study, x: Sample) -> None:
    """Check the multisymplectic form: (47)-(59), (74), (75)."""
    q, phi = x.q, x.phi
    v_phi, v = lagrangian.stresses(ROD, q.value, phi.S, q.S)
    z = z_of(ROD, x.motion, x.S, x.T)
    identity(
        result,
        "003 (48), (49): second conjugate variables are dL/dphi_S = -n and dL/dq_S = -4 L(q) C4 L(q^c) q_S",
        (gradient(lambda y: x.lagrangian(phi_S=y), phi.S), v_phi),
        (v_phi, -x.n),
        (gradient(lambda y: x.lagrangian(q_S=y), q.S), v),
    )
    right = x.lagrangian(lam=z[..., multisymplectic.LAM])
    gap = largest(printed.lagrangian_of_z(ROD, z, ROD.C_N) - right)
    identity(
        result,
        "003 (52): the Lagrangian of p and v has <v_phi, D_M^-1 v_phi>",
        (printed.lagrangian_of_z(ROD, z, ROD.C_M), right),
        reason=f"with D_N^-1 it is the Lagrangian, to {gap:.0e}",
    )
    pairing = inner(x.p_phi, phi.t) + inner(x.p, q.t) + inner(v_phi, phi.S) + inner(v, q.S)
    identity(
        result,
        "003 (47), (53): S is the Legendre transform in time and space",
        (multisymplectic.S(ROD, z), pairing - right),
    )
    gradient_of_S = gradient(lambda y: multisymplectic.S(ROD, y), z)
    identity(
        result,
        "003 (50), (51), (55), (56): dS/dp = u_t and dS/dv = u_S",
        (gradient_of_S[..., multisymplectic.MOMENTUM], np.concatenate([phi.t, q.t], -1)),
        (gradient_of_S[..., multisymplectic.STRESS], np.concatenate([phi.S, q.S], -1)),
    )
    identity(
        result,
        "003 (58), (59): derivatives of S in phi and q",
        (gradient_of_S[..., multisymplectic.PHI], np.zeros_like(phi.value)),
        (printed.dS_dq(ROD, z), gradient_of_S[..., multisymplectic.Q]),
    )
    z_t, z_S = (derivative(lambda s, t: z_of(ROD, x.motion, s, t), x.S, x.T, axis) for axis in "tS")
    r = multisymplectic.residual(ROD, z, z_t, z_S)
    identity(
        result,
        "003 (40), (54)-(57): the multisymplectic form is a reformulation of (9), (10)",
        (r[..., multisymplectic.PHI], -x.linear_balance),
        (product(r[..., multisymplectic.Q], quat.conjugate(q.value)) / 2, -pure(x.angular_balance)),
        (r[..., 7:], np.zeros_like(r[..., 7:])),
    )
    structure = (multisymplectic.M, multisymplectic.K)
    ranks = [int(np.linalg.matrix_rank(A)) for A in structure]
    result.claim(
        "003 abstract: simple looking formats with constant structure matrices",
        f"M and K are skew and constant, of ranks {ranks[0]} and {ranks[1]} in R^22: singular, lam has no structure",
        all(np.array_equal(A, -A.T) for A in structure) and ranks == [14, 14],
    )
    identity(
        result,
        "003 (74): hidden constraints <p, q> = 0 and <v, q> = 0",
        (multisymplectic.hidden_constraints(z), np.zeros((x.S.size, 2))),
    )
    _multiplier(result, x, z)


def _multiplier(result: Study, x: Sample, z: Floats) -> None:
    """Check (75) with an arbitrary multiplier, so that both sides differ from zero."""
    q, phi = x.q, x.phi
    free = z.copy()
    free[..., multisymplectic.LAM] = x.lam
    v_t_and_p_t = -multisymplectic.grad_S(ROD, free)[..., multisymplectic.Q]
    rate = inner(q.value, v_t_and_p_t) + inner(q.S, z[..., multisymplectic.V]) + inner(q.t, x.p)
    in_print = printed.second_rate(ROD, free)
    identity(
        result,
        "003 (75): <q, v_S + p_t> + <q_S, v> + <q_t, p> = <(E - 1) v_phi, D_N^-1 v_phi - E e1> + lam",
        (in_print, rate),
        reason=f"it is -2 times that, to {largest(rate + 2 * in_print):.0e}; the multiplier, where it vanishes, is right",
    )
    identity(
        result,
        "003 sec. 4.2: lam = -<(E - 1) v_phi, D_N^-1 v_phi - E e1>",
        (multisymplectic.multiplier(ROD, free), x.lam + rate / 2),
    )
    same = ROD._replace(alpha_M=ROD.alpha)  # one alpha, as in 003
    pairings = _curved(x, same, "t", 0) + _curved(x, same, "S", 1)
    g_tt, g_SS = 2 * BUMP_t, 2 * BUMP_S
    gap = largest(pairings - 2 * ROD.alpha * (g_tt - g_SS))
    identity(
        result,
        "003 (75): that is (d_t^2 + d_S^2) g",
        (np.full(x.S.size, g_tt + g_SS), pairings),
        reason=f"<q, p> = 2 alpha g_t, but <q, v> = -2 alpha g_S: it is 2 alpha (d_t^2 - d_S^2) g, to {gap:.0e}",
    )
    size = largest(hamiltonian.multiplier(ROD, q.value, phi.S, q.S) - multisymplectic.multiplier(ROD, z))
    result.claim(
        "003 (24), (73), (75): one multiplier lam in the Lagrangian, the Hamiltonian and S",
        f"(73) and (75) differ by up to {size:.1f}",
        size < 1e-12,
        reason="h and S are continued off |q| = 1 in different ways (D_N^-1 is not its inverse there, nor v that of q_S), and "
        "the multiplier balances what points off the sphere; the motions are the same",
    )


BUMP_t, BUMP_S = -1.0, 0.6


def _curved(x: Sample, rod: Material, axis: str, which: int) -> Floats:
    """Return <q, p>_t (`which` = 0) or <q, v>_S (1) of a field that leaves |q| = 1 to second order at each sample point.

    q is multiplied by 1 + (BUMP_S (S - S0)^2 + BUMP_t (t - t0)^2)/2, so that g_tt = 2 BUMP_t and g_SS = 2 BUMP_S there.
    """

    def pairing(s: Array, t: Array) -> Array:
        """Return <q, p> or <q, v> of the field at (s, t)."""
        phi, q = x.motion.phi(s, t), x.motion.q(s, t)
        ds, dt = (s - x.S)[..., None], (t - x.T)[..., None]
        bump = 1 + (BUMP_S * ds * ds + BUMP_t * dt * dt) / 2
        a = bump * q.value
        if which == 0:
            other = lagrangian.momenta(rod, a, phi.t, bump * q.t + BUMP_t * dt * q.value)[1]
        else:
            other = lagrangian.stresses(rod, a, phi.S, bump * q.S + BUMP_S * ds * q.value)[1]
        return inner(a, other)

    return derivative(pairing, x.S, x.T, axis)


def laws(result: Study, x: Sample) -> None:
    """Check the local and global conservation laws: (42)-(46)."""
    _local(result, x.S, x.T)
    _global(result)


def _local(result: Study, S: Floats, T: Floats) -> None:
    """Check the local laws on arbitrary fields, with the residual that these leave in the equations."""
    fields = Waves(1)
    z, z_t, z_S = fields.z(S, T), fields.z_t(S, T), fields.z_S(S, T)
    r = multisymplectic.residual(ROD, z, z_t, z_S)

    def divergence(density: Callable, flux: Callable) -> Floats:
        """Return d(density)/dt + d(flux)/dS of functions of (S, t)."""
        return derivative(density, S, T, "t") + derivative(flux, S, T, "S")

    energy = divergence(
        lambda s, t: conservation.energy(ROD, fields.z(s, t), fields.z_S(s, t)),
        lambda s, t: conservation.energy_flux(fields.z(s, t), fields.z_t(s, t)),
    )
    momentum = divergence(
        lambda s, t: conservation.material_momentum(fields.z(s, t), fields.z_S(s, t)),
        lambda s, t: conservation.material_momentum_flux(ROD, fields.z(s, t), fields.z_t(s, t)),
    )
    identity(
        result,
        "003 (43)-(45): solutions obey e_t + f_S = 0 and i_t + g_S = 0",
        (energy, -inner(z_t, r)),
        (momentum, -inner(z_S, r)),
        note=", of e_t + f_S and -<z_t, r>, of i_t + g_S and -<z_S, r>, r what a field leaves of (40)",
    )
    U, V = Waves(2), Waves(3)
    second = multisymplectic.hessian_S(ROD, z)

    def left(W: Waves) -> Array:
        """Return the residual of the linearised equations for the variation `W`."""
        motion = apply(multisymplectic.M, W.z_t(S, T)) + apply(multisymplectic.K, W.z_S(S, T))
        return motion - apply(second, W.z(S, T))

    form = divergence(
        lambda s, t: conservation.time_two_form(U.z(s, t), V.z(s, t)),
        lambda s, t: conservation.space_two_form(U.z(s, t), V.z(s, t)),
    )
    identity(
        result,
        "003 (42): variations of a solution obey omega_t + kappa_S = 0",
        (form, inner(U.z(S, T), left(V)) - inner(V.z(S, T), left(U))),
        note=", of both sides with what variations leave of the linearised equations",
    )


def _global(result: Study) -> None:
    """Check (46) on an exact solution: a standing wave of stretch, its ends fixed or free."""
    rod = material(1.3, [0.4, 0.2, 0.2], [2.0, 1.5, 1.5], [0.8, 1.0, 1.0])
    times = np.linspace(0.0, 4.0, 33)
    # integrals of e and of h, the energy (12)
    integrals = {ends: np.array([_integrals(rod, ends, t)[:2] for t in times]) for ends in ("free", "held")}
    scale = float(integrals["free"][0, 1])
    for ends, text in (
        ("free", "003 (46): for suitable ends the integral of e is the energy (12), constant: free ends"),
        ("held", "003 sec. 2.1, (46): the same with displacements held at the ends, as sec. 2.1 assumes"),
    ):
        e, h = integrals[ends].T / scale
        figures = np.ptp(e), np.ptp(h), largest(e - h)
        result.claim(
            text,
            "integral of e changes by {:.1e}, the energy (12) by {:.1e}, they differ by up to {:.1e}, relative".format(
                *figures
            ),
            max(figures) < 1e-9,
            reason="e = h + (u . v)_S/2: held ends carry force, and u . v changes with it; the integral of h stays",
        )
    spread = float(np.ptp([_integrals(rod, "free", t)[2] for t in np.random.default_rng(0).uniform(0, 4, 8)]))
    result.claim(
        "003 (46), above: the global quantities are the integrals of the densities f(z) and i(z)",
        f"the integral of f changes by {spread:.1e}",
        spread < 1e-9,
        reason="(46) itself has e and i",
    )
    lines = [
        Line("integral of e, free ends", times, integrals["free"][:, 0]),
        Line("integral of e, held ends", times, integrals["held"][:, 0]),
        Line("energy (12), held ends", times, integrals["held"][:, 1], "--"),
    ]
    result.panel("Standing wave of stretch", "t", "energy", lines)


def standing_wave(rod: Material, ends: str, s: Floats, t: float) -> tuple[Floats, Floats, Floats]:
    """Return z, z_t, z_S (n, 22) of the exact solution phi = (S + A c(S) cos(w t)) e1.

    c = cos (`ends` "free") or sin ("held") of 2 pi S.
    """
    k = 2 * np.pi
    w, A = k * np.sqrt(rod.C_N[0, 0] / rod.rho_A), 0.05
    shape, slope = (np.cos(k * s), -np.sin(k * s)) if ends == "free" else (np.sin(k * s), np.cos(k * s))
    x, x_S, x_SS = A * shape, A * k * slope, -A * k * k * shape
    c, c_t, c_tt = np.cos(w * t), -w * np.sin(w * t), -w * w * np.cos(w * t)
    EA = rod.C_N[0, 0]
    z, z_t, z_S = (np.zeros((s.size, multisymplectic.SIZE)) for _ in range(3))
    z[:, 3] = 1.0
    z[:, 0], z_t[:, 0], z_S[:, 0] = s + x * c, x * c_t, 1 + x_S * c
    z[:, 7], z_t[:, 7], z_S[:, 7] = rod.rho_A * np.stack([x * c_t, x * c_tt, x_S * c_t])
    z[:, 14], z_t[:, 14], z_S[:, 14] = -EA * np.stack([x_S * c, x_S * c_t, x_SS * c])
    return z, z_t, z_S


def _integrals(rod: Material, ends: str, t: float) -> tuple[float, ...]:
    """Return the integrals of e, of h and of f over the rod."""
    s = np.linspace(0.0, 1.0, 401)
    z, z_t, z_S = standing_wave(rod, ends, s, t)
    densities = (
        conservation.energy(rod, z, z_S),
        conservation.physical_energy(rod, z, z_S),
        conservation.energy_flux(z, z_t),
    )
    return tuple(float(conservation.integral(density, s)) for density in densities)
