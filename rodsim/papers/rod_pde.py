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
from rodsim.papers.smooth_fields import gradient

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
    A_S, A_t = (x.derivative(lambda q, phi: quat.E(q.value), axis) for axis in "St")
    identity(
        result,
        "003 (2), (3): the rate of the rotation is omega along the rod (Omega in its axes), w in time (W)",
        (A @ quat.hat(kinematics.Omega(x.q.value, x.q.S)), A_S),
        (quat.hat(x.w) @ A, A_t),
    )

    def psi(y: Array) -> Array:
        """Return the energy function Psi of gamma and omega (..., 6)."""
        gamma, omega = y[..., :3], y[..., 3:]
        return 0.5 * (inner(gamma, apply(x.D_N, gamma)) + inner(omega, apply(x.D_M, omega)))

    energy_gradient = gradient(psi, np.concatenate([x.gamma, x.omega], axis=-1))
    identity(
        result,
        "003 (7), (8): stress resultant and couple are the derivatives of the energy function Psi",
        (energy_gradient[..., :3], x.n),
        (energy_gradient[..., 3:], balances.moment(ROD, x.q.value, x.q.S)),
    )


def _quaternions(result: Study, x: Sample) -> None:
    """Check the identities of quaternion algebra and kinematics: sec. 2.2."""
    a, b, v, w = x.q.value, x.q.S, x.phi.value, x.phi.S
    a_c = quat.conjugate(a)
    identity(
        result,
        "003 (14): p q = L(p) q = R(q) p, and L(p) and R(q) commute",
        (apply(quat.L(a), b), apply(quat.R(b), a)),
        (quat.L(a) @ quat.R(b), quat.R(b) @ quat.L(a)),
    )
    E4 = np.zeros((*a.shape[:-1], 4, 4))
    E4[..., 0, 0], E4[..., 1:, 1:] = 1.0, quat.E(a)
    identity(
        result,
        "003 (15), (16): E is a homomorphism, two to one, and L(q) R(q^c) = R(q^c) L(q) = diag(1, E(q))",
        (quat.L(a) @ quat.R(a_c), E4),
        (quat.E(product(a, x.other)), quat.E(a) @ quat.E(x.other)),
        (quat.E(-a), quat.E(a)),
    )
    one = np.broadcast_to(np.eye(4), (len(a), 4, 4))
    identity(
        result,
        "003 sec. 2.2: L(q) and R(q) of a unit quaternion are orthogonal, with L(q)^T = L(q^c)",
        (quat.L(a) @ quat.L(a).swapaxes(-1, -2), one),
        (quat.R(a) @ quat.R(a).swapaxes(-1, -2), one),
        (quat.L(a).swapaxes(-1, -2), quat.L(a_c)),
    )
    identity(
        result,
        "003 sec. 2.2.1: the bracket of pure quaternions is (0, 2 v x w)",
        (product(pure(v), pure(w)) - product(pure(w), pure(v)), pure(2 * np.cross(v, w))),
    )
    W = 2 * product(a_c, x.q.t)
    A_t = x.derivative(lambda q, phi: quat.E(q.value), "t")
    identity(
        result,
        "003 (17)-(21): q_t = L(q) W/2 = R(q) w/2 with pure W and w, and E_* (L(q^c) q_t) = E^T E_t",
        (W[..., 0], np.zeros_like(x.S)),
        (product(a, W) / 2, x.q.t),
        (product(2 * product(x.q.t, a_c), a) / 2, x.q.t),
        (2 * quat.hat(product(a_c, x.q.t)[..., 1:]), quat.E(a).swapaxes(-1, -2) @ A_t),
    )
    # vector rows of 2 L(q^c) on the tangent space of |q| = 1, (..., 3, 4)
    tangent_map = (2 * quat.L(a_c) @ (np.eye(4) - a[..., :, None] * a[..., None, :]))[..., 1:, :]
    rank = np.linalg.matrix_rank(tangent_map)
    result.claim(
        "003 sec. 1: unit quaternions avoid local coordinates and their changes, for one coordinate more",
        f"the map to angular velocities has rank {rank.min()} to {rank.max()} of 3 at {rank.size} orientations",
        bool(np.all(rank == 3)),
    )


def _rigid_body(result: Study, x: Sample) -> None:
    """Check the equations of the rigid body in quaternions: sec. 2.3."""
    a, p = x.q.value, x.p
    other = ROD._replace(alpha=23.0)
    identity(
        result,
        "003 (23): the Legendre map is invertible for any alpha, which has no significance on |q| = 1",
        (lagrangian.momenta(other, a, x.phi.t, x.q.t)[1], p),
        (hamiltonian.velocities(other, a, x.p_phi, p)[1], x.q.t),
    )
    body_rate = printed.solve(ROD.J4, product(quat.conjugate(a), p))
    identity(
        result,
        "003 sec. 2.3: the free body: q_t = L(q) J4^-1 L(q^c) p/4",
        (gradient(lambda y: _kinetic(a, y), p), apply(quat.L(a), body_rate) / 4),
    )
    free = -gradient(lambda y: _kinetic(y, p), a)
    gap = _gap(product(p, product(quat.conjugate(a), x.q.t)), free)
    identity(
        result,
        "003 sec. 2.3: the free body: p_t = L(p) J4 L(q^c) q_t/4",
        (printed.body_momentum_rate(ROD, a, x.q.t, p), free),
        reason=f"the gradient is L(p) J4^-1 L(q^c) p/4 = L(p) L(q^c) q_t where <q, p> = 0, to {gap:.0e}",
    )


def _kinetic(q: Array, p: Array) -> Array:
    """Return half of <L(q^c) p, J4^-1 L(q^c) p>/4."""
    body = product(quat.conjugate(q), p)
    return inner(body, printed.solve(ROD.J4, body)) / 8


def _gap(a: Array, b: Array) -> float:
    """Return the largest difference of a and b, relative to the largest entry of b."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def _legendre(result: Study, x: Sample) -> None:
    """Check densities, momenta and the Legendre transform: sec. 3 up to (32)."""
    q, phi = x.q, x.phi
    inertia = kinematics.rotated(q.value, ROD.J_rho)
    kinetic = (ROD.rho_A * inner(phi.t, phi.t) + inner(x.w, apply(inertia, x.w))) / 2
    potential = (inner(x.gamma, apply(x.D_N, x.gamma)) + inner(x.omega, apply(x.D_M, x.omega))) / 2
    identity(
        result,
        "003 (26), (27): kinetic and potential density (12) in quaternions",
        (lagrangian.kinetic_density(ROD, q.value, phi.t, q.t), kinetic),
        (lagrangian.potential_density(ROD, q.value, phi.S, q.S), potential),
    )
    ranks = [_rank_of_mass(q.value, alpha) for alpha in (ROD.alpha, 0.0)]
    result.claim(
        "003 (25): extended by alpha the Lagrangian is regular",
        f"second derivatives in q_t have rank {ranks[0]} of 4, with alpha = 0 rank {ranks[1]}",
        ranks == [4, 3],
    )
    identity(
        result,
        "003 (28), (29): conjugate momenta are rho_A phi_t and 4 L(q) J4 L(q^c) q_t",
        (gradient(lambda y: x.lagrangian(phi_t=y), phi.t), x.p_phi),
        (gradient(lambda y: x.lagrangian(q_t=y), q.t), x.p),
    )
    pairing = inner(x.p_phi, phi.t) + inner(x.p, q.t)
    identity(
        result,
        "003 (31): h is the Legendre transform of the augmented Lagrangian",
        (x.density(), pairing - x.lagrangian()),
    )
    identity(
        result,
        "003 (32), (35): velocities are the derivatives of h in the momenta",
        (gradient(lambda y: x.density(p_phi=y), x.p_phi), phi.t),
        (gradient(lambda y: x.density(p=y), x.p), q.t),
    )


def _rank_of_mass(q: Floats, alpha: float) -> int:
    """Return the least rank of 4 L(q) J4 L(q^c) over the points."""
    J4 = ROD._replace(alpha=alpha).J4
    return int(np.linalg.matrix_rank(4 * quat.L(q) @ J4 @ quat.L(quat.conjugate(q)), tol=1e-9).min())


def _variational(result: Study, x: Sample) -> None:
    """Check the variational derivatives of H: appendix 5.1."""
    q, phi = x.q, x.phi
    identity(result, "003 (61): dh/dphi_S = n", (gradient(lambda y: x.density(phi_S=y), phi.S), x.n))
    n_S = x.derivative(lambda q, phi: balances.force(ROD, q.value, phi.S), "S")
    formula = balances.force_S(ROD, q.value, phi.S, q.S, phi.SS)
    identity(result, "003 (62): its derivative is [hat(omega), D_N] gamma + D_N gamma_S", (formula, n_S))
    identity(
        result,
        "003 (63): dH/dphi = [hat(omega), D_N] gamma + D_N gamma_S",
        (formula, -n_S),
        reason="by (60) it is -d(dh/dphi_S)/dS, the opposite",
    )
    off = x.p + 0.5 * q.value
    exact, exact_off = (gradient(lambda y, p=p: 8 * _kinetic(y, p), q.value) for p in (x.p, off))
    wrong = _gap(printed.kinetic_gradient(ROD, q.value, off), exact_off)
    identity(
        result,
        "003 (64): gradient of the kinetic term: -2 R(q) L(p) L(q^c) I4^-1 R(q^c) p",
        (printed.kinetic_gradient(ROD, q.value, x.p), exact),
        note=f"; uses <q, p> = 0, else off by {wrong:.1g}",
    )

    def bend(y: Array) -> Array:
        """Return <L(q^c) q_S, C4 L(q^c) q_S> with q = `y`."""
        w = product(quat.conjugate(y), q.S)
        return inner(w, apply(ROD.C4, w))

    identity(
        result,
        "003 (65): gradient of the bending term: -R(q) L(omega) D_M omega/2",
        (printed.bending_gradient(ROD, q.value, q.S), gradient(bend, q.value)),
    )

    def stretch(y: Array) -> Array:
        """Return <Gamma, C_N Gamma> with q = `y`."""
        strain = kinematics.Gamma(y, phi.S)
        return inner(strain, apply(ROD.C_N, strain))

    identity(
        result,
        "003 (66), (67): gradient of <Gamma, C_N Gamma>, and its simplified form",
        (printed.shear_gradient(q.value, phi.S, x.n), gradient(stretch, q.value)),
    )
    D_M_S = x.derivative(lambda q, phi: _four(kinematics.rotated(q.value, ROD.C_M)), "S")
    w, D_M = pure(x.omega), _four(x.D_M)
    C = 0.5 * (quat.L(w) - quat.R(w))
    identity(result, "003 (68): dD_M/dS = [L(omega) - R(omega), D_M]/2", (C @ D_M - D_M @ C, D_M_S))
    stress = hamiltonian.dh_dq_S(ROD, q.value, q.S)
    exact = gradient(lambda y: x.density(q_S=y), q.S)
    identity(result, "003 (69): dh/dq_S = 2 R(q) D_M omega", (stress, exact))
    stress_S = x.derivative(lambda q, phi: hamiltonian.dh_dq_S(ROD, q.value, q.S), "S")
    w_S = pure(kinematics.omega_S(q.value, q.S, q.SS))
    bent = product(w, apply(D_M, w)) + 2 * apply(D_M, w_S)
    identity(
        result,
        "003 (70): its derivative is R(q)(L(omega) D_M omega + 2 D_M omega_S)",
        (product(bent, q.value), stress_S),
    )
    exact = gradient(lambda y: x.density(q=y), q.value) - stress_S
    derivative = hamiltonian.dH_dq(ROD, q.value, x.p, phi.S, q.S, q.SS, x.lam)
    identity(result, "003 (71): the variational derivative dH/dq", (derivative, exact))


def _four(D: Array) -> Array:
    """Return diag(0, D) (..., 4, 4)."""
    out = np.zeros((*D.shape[:-2], 4, 4), D.dtype)
    out[..., 1:, 1:] = D
    return out


def _motion(result: Study, x: Sample) -> None:
    """Check the equations of motion (38), (39), (72), (73) against the balances of Simo and Reissner."""
    q, phi = x.q, x.phi
    rate = printed.p_phi_rate(ROD, q.value, phi.S, q.S, phi.SS)
    identity(
        result,
        "003 (38): equation (9) is reproduced from p_phi_t = [D_N, hat(omega)] gamma - D_N gamma_S",
        (ROD.rho_A * phi.tt - rate, x.linear_balance),
        reason="the sign of (63); with [hat(omega), D_N] gamma + D_N gamma_S (9) follows",
    )
    identity(
        result,
        "003 (38), below: omega = 2 (-q, q0 1 - hat(q)) q_S",
        (printed.omega_of_matrix(q.value, q.S), x.omega),
        reason="that is Omega, in section axes; omega has q0 1 + hat(q), as the vector form next to it",
    )
    lam = hamiltonian.multiplier(ROD, q.value, phi.S, q.S)
    p_t = x.derivative(lambda q, phi: lagrangian.momenta(ROD, q.value, phi.t, q.t)[1], "t")
    _, rate_of_p = hamiltonian.momentum_rates(ROD, q.value, x.p, phi.S, q.S, phi.SS, q.SS, lam)
    identity(
        result,
        "003 (39), (73): with lambda in (39) and R(q^c)/2 from the left one reproduces (10)",
        (product(p_t - rate_of_p, quat.conjugate(q.value)) / 2, pure(x.angular_balance)),
    )
    off = x.p + 0.3 * q.value
    g_t = 2 * inner(q.value, hamiltonian.velocities(ROD, q.value, x.p_phi, off)[1])
    identity(
        result,
        "003 (72): g_t = <q, p>/2",
        (printed.hidden_constraint(q.value, off), g_t),
        reason="it is <q, p>/(2 alpha): with alpha = 1 as printed; the constraint <q, p> = 0 is the same",
    )
    hidden = inner(q.t, x.p) + inner(q.value, rate_of_p)
    identity(result, "003 (73): the multiplier preserves <q, p> = 0", (hidden, np.zeros_like(hidden)))
