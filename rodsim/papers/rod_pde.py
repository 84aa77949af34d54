"""Study of the rod as a Hamiltonian and multisymplectic partial differential equation: claims of 003 on random motions.

Each identity of the paper is evaluated for random fields that do not solve the equations. Both sides are computed
separately, and their difference is reported relative to the second side, or to 1 if that is larger. Round-off passes,
anything else differs.
"""

from __future__ import annotations

import numpy as np

from discretization.continuum import balances, hamiltonian, kinematics, lagrangian
from discretization.continuum import quaternions as quat
from discretization.continuum.quaternions import Array, apply, inner, product, pure
from rigid.system import Floats
from rodsim.papers import rod_pde_printed as printed
from rodsim.papers.claims import Study
from rodsim.papers.rod_pde_fields import ROD, Sample, identity
from rodsim.papers.rod_pde_multisymplectic import laws, multisymplectic_form
from rodsim.papers.rod_pde_semi_discrete import semi_discretisation
from rodsim.papers.smooth_fields import derivative, gradient

NAME = "rod-pde"


def study() -> Study:
    """Check every claim of 003."""
    result = Study(NAME, "Rod in quaternions: Hamiltonian and multisymplectic form", "003")
    sample = Sample()
    _model(result, sample)
    _quaternions(result, sample)
    _rigid_body(result, sample)
    _legendre(result, sample)
    _variational(result, sample)
    _motion(result, sample)
    multisymplectic_form(result, sample)
    laws(result, sample)
    semi_discretisation(result)
    return result


def _model(result: Study, x: Sample) -> None:
    """Check strains and stresses of the rod model: sec. 2.1."""
    A = quat.E(x.q.value)
    A_S, A_t = (derivative(lambda s, t: quat.E(x.motion.q(s, t).value), x.S, x.T, axis) for axis in "St")
    identity(
        result,
        "003 (2), (3)",
        "the rotation turns along the rod with omega (Omega in its axes), in time with w (W)",
        (A @ quat.hat(kinematics.Omega(x.q.value, x.q.S)), A_S),
        (quat.hat(kinematics.omega(x.q.value, x.q.t)) @ A, A_t),
    )
    gam, om = kinematics.gamma(x.q.value, x.phi.S), kinematics.omega(x.q.value, x.q.S)
    D_N, D_M = kinematics.rotated(x.q.value, ROD.C_N), kinematics.rotated(x.q.value, ROD.C_M)

    def psi(y: Array) -> Array:
        """Return the energy function Psi of gamma and omega (..., 6)."""
        return 0.5 * (inner(y[..., :3], apply(D_N, y[..., :3])) + inner(y[..., 3:], apply(D_M, y[..., 3:])))

    found = gradient(psi, np.concatenate([gam, om], axis=-1))
    identity(
        result,
        "003 (7), (8)",
        "stress resultant and couple are the derivatives of the energy function Psi",
        (found[..., :3], balances.force(ROD, x.q.value, x.phi.S)),
        (found[..., 3:], balances.moment(ROD, x.q.value, x.q.S)),
    )


def _quaternions(result: Study, x: Sample) -> None:
    """Check the identities of quaternion algebra and kinematics: sec. 2.2."""
    a, b, v, w = x.q.value, x.q.S, x.phi.value, x.phi.S
    identity(
        result,
        "003 (14)",
        "p q = L(p) q = R(q) p, and L(p) and R(q) commute",
        (apply(quat.L(a), b), apply(quat.R(b), a)),
        (quat.L(a) @ quat.R(b), quat.R(b) @ quat.L(a)),
    )
    E4 = np.zeros((*a.shape[:-1], 4, 4))
    E4[..., 0, 0], E4[..., 1:, 1:] = 1.0, quat.E(a)
    identity(
        result,
        "003 (15), (16)",
        "E is a homomorphism, two to one, and L(q) R(q^c) = R(q^c) L(q) = diag(1, E(q))",
        (quat.L(a) @ quat.R(quat.conjugate(a)), E4),
        (quat.E(product(a, x.other)), quat.E(a) @ quat.E(x.other)),
        (quat.E(-a), quat.E(a)),
    )
    one = np.broadcast_to(np.eye(4), (len(a), 4, 4))
    identity(
        result,
        "003 sec. 2.2",
        "L(q) and R(q) of a unit quaternion are orthogonal, with L(q)^T = L(q^c)",
        (quat.L(a) @ quat.L(a).swapaxes(-1, -2), one),
        (quat.R(a) @ quat.R(a).swapaxes(-1, -2), one),
        (quat.L(a).swapaxes(-1, -2), quat.L(quat.conjugate(a))),
    )
    identity(
        result,
        "003 sec. 2.2.1",
        "the bracket of pure quaternions is (0, 2 v x w)",
        (product(pure(v), pure(w)) - product(pure(w), pure(v)), pure(2 * np.cross(v, w))),
    )
    W = 2 * product(quat.conjugate(a), x.q.t)
    A_t = derivative(lambda s, t: quat.E(x.motion.q(s, t).value), x.S, x.T, "t")
    identity(
        result,
        "003 (17)-(21)",
        "q_t = L(q) W/2 = R(q) w/2 with pure W and w, and E_* (L(q^c) q_t) = E^T E_t",
        (W[..., 0], np.zeros_like(x.S)),
        (product(a, W) / 2, x.q.t),
        (product(2 * product(x.q.t, quat.conjugate(a)), a) / 2, x.q.t),
        (2 * quat.hat(product(quat.conjugate(a), x.q.t)[..., 1:]), quat.E(a).swapaxes(-1, -2) @ A_t),
    )
    rank = np.linalg.matrix_rank(_tangent_map(a))
    result.claim(
        "003 sec. 1",
        "unit quaternions avoid local coordinates and their changes, for one coordinate more",
        f"the map to angular velocities has rank {rank.min()} to {rank.max()} of 3 at {rank.size} orientations",
        bool(np.all(rank == 3)),
    )


def _tangent_map(q: Floats) -> Floats:
    """Return the vector rows of 2 L(q^c) on the tangent space of |q| = 1 (..., 3, 4)."""
    onto = np.eye(4) - q[..., :, None] * q[..., None, :]
    return np.asarray((2 * quat.L(quat.conjugate(q)) @ onto)[..., 1:, :])


def _rigid_body(result: Study, x: Sample) -> None:
    """Check the equations of the rigid body in quaternions: sec. 2.3."""
    a, p = x.q.value, x.p
    other = ROD._replace(alpha=23.0)
    identity(
        result,
        "003 (23)",
        "the Legendre map is invertible for any alpha, which has no significance on |q| = 1",
        (lagrangian.momenta(other, a, x.phi.t, x.q.t)[1], p),
        (hamiltonian.velocities(other, a, x.p_phi, p)[1], x.q.t),
    )
    free = -gradient(lambda y: _kinetic(y, p), a)
    identity(
        result,
        "003 sec. 2.3",
        "the free body: q_t = L(q) J4^-1 L(q^c) p/4",
        (gradient(lambda y: _kinetic(a, y), p), apply(quat.L(a), _rate(a, p)) / 4),
    )
    identity(
        result,
        "003 sec. 2.3",
        "the free body: p_t = L(p) J4 L(q^c) q_t/4",
        (printed.body_momentum_rate(ROD, a, x.q.t, p), free),
        reason="the gradient is L(p) J4^-1 L(q^c) p/4 = L(p) L(q^c) q_t where <q, p> = 0, to "
        f"{_gap(product(p, product(quat.conjugate(a), x.q.t)), free):.0e}",
    )


def _kinetic(q: Array, p: Array) -> Array:
    """Return half of <L(q^c) p, J4^-1 L(q^c) p>/4."""
    body = product(quat.conjugate(q), p)
    return inner(body, printed.solve(ROD.J4, body)) / 8


def _rate(q: Array, p: Array) -> Array:
    """Return J4^-1 L(q^c) p (..., 4)."""
    return printed.solve(ROD.J4, product(quat.conjugate(q), p))


def _gap(a: Array, b: Array) -> float:
    """Return the largest difference of a and b, relative to the largest entry of b."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def _legendre(result: Study, x: Sample) -> None:
    """Check densities, momenta and the Legendre transform: sec. 3 up to (32)."""
    q, phi = x.q, x.phi
    w, om = kinematics.omega(q.value, q.t), kinematics.omega(q.value, q.S)
    gam, inertia = kinematics.gamma(q.value, phi.S), kinematics.rotated(q.value, ROD.J_rho)
    D_N, D_M = (kinematics.rotated(q.value, C) for C in (ROD.C_N, ROD.C_M))
    identity(
        result,
        "003 (26), (27)",
        "kinetic and potential density (12) in quaternions",
        (
            lagrangian.kinetic_density(ROD, q.value, phi.t, q.t),
            (ROD.rho_A * inner(phi.t, phi.t) + inner(w, apply(inertia, w))) / 2,
        ),
        (
            lagrangian.potential_density(ROD, q.value, phi.S, q.S),
            (inner(gam, apply(D_N, gam)) + inner(om, apply(D_M, om))) / 2,
        ),
    )
    ranks = [_rank_of_mass(q.value, alpha) for alpha in (ROD.alpha, 0.0)]
    result.claim(
        "003 (25)",
        "extended by alpha the Lagrangian is regular",
        f"second derivatives in q_t have rank {ranks[0]} of 4, with alpha = 0 rank {ranks[1]}",
        ranks == [4, 3],
    )
    identity(
        result,
        "003 (28), (29)",
        "conjugate momenta are rho_A phi_t and 4 L(q) J4 L(q^c) q_t",
        (gradient(lambda y: x.lagrangian(phi_t=y), phi.t), x.p_phi),
        (gradient(lambda y: x.lagrangian(q_t=y), q.t), x.p),
    )
    pairing = inner(x.p_phi, phi.t) + inner(x.p, q.t)
    identity(
        result,
        "003 (31)",
        "h is the Legendre transform of the augmented Lagrangian",
        (x.density(), pairing - x.lagrangian()),
    )
    identity(
        result,
        "003 (32), (35)",
        "velocities are the derivatives of h in the momenta",
        (gradient(lambda y: x.density(p_phi=y), x.p_phi), phi.t),
        (gradient(lambda y: x.density(p=y), x.p), q.t),
    )


def _rank_of_mass(q: Floats, alpha: float) -> int:
    """Return the least rank of 4 L(q) J4 L(q^c) over the points."""
    J4 = ROD._replace(alpha=alpha).J4
    return int(np.linalg.matrix_rank(4 * quat.L(q) @ J4 @ quat.L(quat.conjugate(q)), tol=1e-9).min())


def _variational(result: Study, x: Sample) -> None:
    """Check the variational derivatives of H: appendix 5.1."""
    q, phi, m = x.q, x.phi, x.motion
    n = balances.force(ROD, q.value, phi.S)
    identity(result, "003 (61)", "dh/dphi_S = n", (gradient(lambda y: x.density(phi_S=y), phi.S), n))
    n_S = derivative(lambda s, t: balances.force(ROD, m.q(s, t).value, m.phi(s, t).S), x.S, x.T, "S")
    formula = balances.force_S(ROD, q.value, phi.S, q.S, phi.SS)
    identity(result, "003 (62)", "its derivative is [hat(omega), D_N] gamma + D_N gamma_S", (formula, n_S))
    identity(
        result,
        "003 (63)",
        "dH/dphi = [hat(omega), D_N] gamma + D_N gamma_S",
        (formula, -n_S),
        reason="by (60) it is -d(dh/dphi_S)/dS, the opposite",
    )
    kinetic = gradient(lambda y: 8 * _kinetic(y, x.p), q.value)
    off = x.p + 0.5 * q.value
    wrong = _gap(
        printed.kinetic_gradient(ROD, q.value, off), gradient(lambda y: 8 * _kinetic(y, off), q.value)
    )
    identity(
        result,
        "003 (64)",
        "gradient of the kinetic term: -2 R(q) L(p) L(q^c) I4^-1 R(q^c) p",
        (printed.kinetic_gradient(ROD, q.value, x.p), kinetic),
        note=f"; uses <q, p> = 0, else off by {wrong:.1g}",
    )

    def bend(y: Array) -> Array:
        """Return <L(q^c) q_S, C4 L(q^c) q_S> with q = `y`."""
        w = product(quat.conjugate(y), q.S)
        return inner(w, apply(ROD.C4, w))

    identity(
        result,
        "003 (65)",
        "gradient of the bending term: -R(q) L(omega) D_M omega/2",
        (printed.bending_gradient(ROD, q.value, q.S), gradient(bend, q.value)),
    )

    def stretch(y: Array) -> Array:
        """Return <Gamma, C_N Gamma> with q = `y`."""
        strain = kinematics.Gamma(y, phi.S)
        return inner(strain, apply(ROD.C_N, strain))

    identity(
        result,
        "003 (66), (67)",
        "gradient of <Gamma, C_N Gamma>, and its simplified form",
        (printed.shear_gradient(q.value, phi.S, n), gradient(stretch, q.value)),
    )
    D = derivative(lambda s, t: _four(kinematics.rotated(m.q(s, t).value, ROD.C_M)), x.S, x.T, "S")
    w = pure(kinematics.omega(q.value, q.S))
    C = 0.5 * (quat.L(w) - quat.R(w))
    D_M = _four(kinematics.rotated(q.value, ROD.C_M))
    identity(result, "003 (68)", "dD_M/dS = [L(omega) - R(omega), D_M]/2", (C @ D_M - D_M @ C, D))
    stress = hamiltonian.dh_dq_S(ROD, q.value, q.S)
    identity(
        result,
        "003 (69)",
        "dh/dq_S = 2 R(q) D_M omega",
        (stress, gradient(lambda y: x.density(q_S=y), q.S)),
    )
    stress_S = derivative(lambda s, t: hamiltonian.dh_dq_S(ROD, m.q(s, t).value, m.q(s, t).S), x.S, x.T, "S")
    w_S = pure(kinematics.omega_S(q.value, q.S, q.SS))
    bent = product(w, apply(D_M, w)) + 2 * apply(D_M, w_S)
    identity(
        result,
        "003 (70)",
        "its derivative is R(q)(L(omega) D_M omega + 2 D_M omega_S)",
        (product(bent, q.value), stress_S),
    )
    identity(
        result,
        "003 (71)",
        "the variational derivative dH/dq",
        (
            hamiltonian.dH_dq(ROD, q.value, x.p, phi.S, q.S, q.SS, x.lam),
            gradient(lambda y: x.density(q=y), q.value) - stress_S,
        ),
    )


def _four(D: Array) -> Array:
    """Return diag(0, D) (..., 4, 4)."""
    out = np.zeros((*D.shape[:-2], 4, 4), D.dtype)
    out[..., 1:, 1:] = D
    return out


def _motion(result: Study, x: Sample) -> None:
    """Check the equations of motion (38), (39), (72), (73) against the balances of Simo and Reissner."""
    q, phi = x.q, x.phi
    linear = balances.linear_balance(ROD, q.value, phi.S, q.S, phi.SS, phi.tt)
    angular = balances.angular_balance(ROD, q.value, phi.S, q.S, q.SS, q.t, q.tt)
    identity(
        result,
        "003 (38)",
        "equation (9) is reproduced from p_phi_t = [D_N, hat(omega)] gamma - D_N gamma_S",
        (ROD.rho_A * phi.tt - printed.p_phi_rate(ROD, q.value, phi.S, q.S, phi.SS), linear),
        reason="the sign of (63); with [hat(omega), D_N] gamma + D_N gamma_S (9) follows",
    )
    identity(
        result,
        "003 (38), below",
        "omega = 2 (-q, q0 1 - hat(q)) q_S",
        (printed.omega_of_matrix(q.value, q.S), kinematics.omega(q.value, q.S)),
        reason="that is Omega, in section axes; omega has q0 1 + hat(q), as the vector form beside it",
    )
    lam = hamiltonian.multiplier(ROD, q.value, phi.S, q.S)
    p_t = x.momentum_rate()
    _, found = hamiltonian.momentum_rates(ROD, q.value, x.p, phi.S, q.S, phi.SS, q.SS, lam)
    defect = product(p_t - found, quat.conjugate(q.value)) / 2
    identity(
        result,
        "003 (39), (73)",
        "with lambda in (39) and R(q^c)/2 from the left one reproduces (10)",
        (defect, pure(angular)),
    )
    off = x.p + 0.3 * q.value
    rate = 2 * inner(q.value, hamiltonian.velocities(ROD, q.value, x.p_phi, off)[1])
    identity(
        result,
        "003 (72)",
        "g_t = <q, p>/2",
        (printed.hidden_constraint(q.value, off), rate),
        reason="it is <q, p>/(2 alpha): with alpha = 1 as printed; the constraint <q, p> = 0 is the same",
    )
    hidden = inner(q.t, x.p) + inner(q.value, found)
    identity(
        result,
        "003 (73)",
        "the multiplier keeps <q, p> = 0",
        (hidden, np.zeros_like(hidden)),
    )


if __name__ == "__main__":
    from rodsim.papers.claims_report import main

    main(NAME)
