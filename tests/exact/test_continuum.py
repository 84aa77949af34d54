"""The Hamiltonian and multisymplectic formulas of the rod (003) against complex steps of the densities, on
random motions.

The fields are of size 1 and satisfy no equation of motion; every identity holds to round-off, with |q| = 1 if
needed.
"""

import numpy as np
import pytest

from discretization.continuum import balances, hamiltonian, lagrangian, multisymplectic
from discretization.continuum import quaternions as quat
from discretization.continuum.material import material
from discretization.continuum.quaternions import apply, inner, product, pure
from rigid.errors import ModelError
from rigid.quaternions import multiply, to_matrix
from rodsim.papers.smooth_fields import (
    derivative,
    gradient,
    random_material,
    random_motion,
    random_points,
)

ROUND_OFF = 2e-13  # sums of some hundred terms of size up to 30
S, T = random_points()
ROD = random_material()


class Sample:
    """A random motion at random points, with momenta and multiplier."""

    def __init__(self, seed):
        self.motion = random_motion(seed)
        self.phi, self.q = self.motion.phi(S, T), self.motion.q(S, T)
        self.p_phi, self.p = lagrangian.momenta(ROD, self.q.value, self.phi.t, self.q.t)
        self.lam = np.random.default_rng(seed).standard_normal(S.size)


@pytest.fixture(params=[1, 2, 3])
def sample(request):
    return Sample(request.param)


def close(a, b, tol=ROUND_OFF):
    assert a.shape == b.shape
    return np.abs(a - b).max() < tol * max(1.0, np.abs(b).max())


# --- the fields themselves ---


@pytest.mark.parametrize("name", ["phi", "q"])
def test_derivatives_of_the_fields_are_exact(sample, name):
    jet = getattr(sample, name)
    for axis, first, then_S, then_t in (("S", jet.S, jet.SS, jet.St), ("t", jet.t, jet.St, jet.tt)):
        assert close(derivative(lambda s, t: getattr(sample.motion, name)(s, t).value, S, T, axis), first)
        assert close(derivative(lambda s, t: getattr(sample.motion, name)(s, t).S, S, T, axis), then_S)
        assert close(derivative(lambda s, t: getattr(sample.motion, name)(s, t).t, S, T, axis), then_t)
    assert np.abs(inner(sample.q.value, sample.q.value) - 1).max() < 1e-15


# --- quaternions ---


def test_products_and_rotations_equal_those_of_the_package(sample):
    a, b = sample.q.value, sample.q.S
    assert close(product(a, b), multiply(a, b))
    assert close(apply(quat.R(b), a), multiply(a, b))
    assert close(quat.E(a), to_matrix(a))
    x = sample.phi.value
    assert close(apply(quat.hat(x), sample.phi.S), np.cross(x, sample.phi.S))


# --- the material ---


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"rho_A": 0.0}, "rho_A"),
        ({"alpha": -1.0}, "alpha"),
        ({"C_N": [1.0, 2.0]}, "C_N"),
        ({"C_M": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, "C_M"),
        ({"J_rho": [1.0, 0.0, 1.0]}, "J_rho"),
        ({"J_rho": [1.0, np.nan, 1.0]}, "J_rho"),
    ],
)
def test_invalid_materials_are_rejected(change, word):
    parameters = {"rho_A": 1.0, "J_rho": [1, 1, 1], "C_N": [1, 1, 1], "C_M": [1, 1, 1], **change}
    with pytest.raises(ModelError, match=word):
        material(**parameters)


def test_inertia_and_stiffness_are_extended_by_free_parameters():
    rod = material(1.0, [1, 2, 3], [1, 1, 1], [4, 5, 6], alpha=7.0, alpha_M=8.0)
    assert np.array_equal(rod.J4, np.diag([7.0, 1, 2, 3]))
    assert np.array_equal(rod.C4, np.diag([8.0, 4, 5, 6]))
    assert material(1.0, [1, 2, 3], [1, 1, 1], [4, 5, 6], alpha=7.0).alpha_M == 7.0


# --- Lagrangian and Legendre transforms ---


def lagrangian_of(sample, **change):
    x = {
        "q": sample.q.value,
        "phi_t": sample.phi.t,
        "q_t": sample.q.t,
        "phi_S": sample.phi.S,
        "q_S": sample.q.S,
    }
    x |= change
    return lagrangian.lagrangian(ROD, *x.values(), sample.lam)


@pytest.mark.parametrize("factor", [1.0, 1.2])
def test_momenta_and_stresses_are_derivatives_of_the_lagrangian_on_and_off_the_sphere(sample, factor):
    q = factor * sample.q.value
    p_phi, p = lagrangian.momenta(ROD, q, sample.phi.t, sample.q.t)
    v_phi, v = lagrangian.stresses(ROD, q, sample.phi.S, sample.q.S)
    derivatives = {
        name: gradient(lambda x, name=name: lagrangian_of(sample, q=q, **{name: x}), value)
        for name, value in (
            ("phi_t", sample.phi.t),
            ("q_t", sample.q.t),
            ("phi_S", sample.phi.S),
            ("q_S", sample.q.S),
        )
    }
    assert close(p_phi, derivatives["phi_t"])
    assert close(p, derivatives["q_t"])
    assert close(v_phi, derivatives["phi_S"])
    assert close(v, derivatives["q_S"])


# --- Hamiltonian ---


def density_of(sample, **change):
    x = {"q": sample.q.value, "p_phi": sample.p_phi, "p": sample.p, "phi_S": sample.phi.S, "q_S": sample.q.S}
    x |= change
    return hamiltonian.density(ROD, *x.values(), sample.lam)


def test_velocities_are_derivatives_of_the_density_for_any_momentum(sample):
    p = sample.p + sample.q.value  # also off the hidden constraint
    phi_t, q_t = hamiltonian.velocities(ROD, sample.q.value, sample.p_phi, p)
    assert close(phi_t, gradient(lambda x: density_of(sample, p=p, p_phi=x), sample.p_phi))
    assert close(q_t, gradient(lambda x: density_of(sample, p=x), p))
    velocities = hamiltonian.velocities(ROD, sample.q.value, sample.p_phi, sample.p)
    assert close(velocities[0], sample.phi.t)
    assert close(velocities[1], sample.q.t)


def test_partial_derivatives_of_the_density(sample):
    q, phi_S, q_S = sample.q.value, sample.phi.S, sample.q.S
    assert close(hamiltonian.dh_dphi_S(ROD, q, phi_S), gradient(lambda x: density_of(sample, phi_S=x), phi_S))
    assert close(hamiltonian.dh_dq_S(ROD, q, q_S), gradient(lambda x: density_of(sample, q_S=x), q_S))
    gradient_q = gradient(lambda x: density_of(sample, q=x), q)
    assert close(hamiltonian.dh_dq(ROD, q, sample.p, phi_S, q_S, sample.lam), gradient_q)


def test_equations_of_motion_are_the_balances_of_simo_and_reissner(sample):
    """R(q^c)(p_t + dH/dq)/2 with the multiplier (73) is (0, residual of (10)); p_phi_t + dH/dphi is that of (9)."""
    m, q, phi = sample.motion, sample.q, sample.phi
    lam = hamiltonian.multiplier(ROD, q.value, phi.S, q.S)
    p_t = derivative(
        lambda s, t: lagrangian.momenta(ROD, m.q(s, t).value, m.phi(s, t).t, m.q(s, t).t)[1], S, T, "t"
    )
    rates = hamiltonian.momentum_rates(ROD, q.value, sample.p, phi.S, q.S, phi.SS, q.SS, lam)
    defect = product(p_t - rates[1], quat.conjugate(q.value)) / 2
    balance = balances.angular_balance(ROD, q.value, phi.S, q.S, q.SS, q.t, q.tt)
    assert close(defect, pure(balance))
    balance = balances.linear_balance(ROD, q.value, phi.S, q.S, phi.SS, phi.tt)
    assert close(ROD.rho_A * phi.tt - rates[0], balance)
    assert np.abs(balance).max() > 1  # the fields do not solve it: the identity is not trivial


def test_the_hidden_constraint_is_the_rate_of_the_constraint_for_any_momentum(sample):
    p = sample.p + 0.3 * sample.q.value
    _, q_t = hamiltonian.velocities(ROD, sample.q.value, sample.p_phi, p)
    assert close(hamiltonian.hidden_constraint(ROD, sample.q.value, p), 2 * inner(sample.q.value, q_t))


def test_alpha_has_no_effect_on_the_sphere(sample):
    other = ROD._replace(alpha=17.0, alpha_M=0.01)
    p = lagrangian.momenta(other, sample.q.value, sample.phi.t, sample.q.t)[1]
    assert close(p, sample.p)
    assert close(hamiltonian.velocities(other, sample.q.value, sample.p_phi, p)[1], sample.q.t)


# --- multisymplectic form ---


def test_gradient_of_S_is_exact_for_every_z():
    z = np.random.default_rng(0).standard_normal((20, 22))
    assert close(multisymplectic.grad_S(ROD, z), gradient(lambda x: multisymplectic.S(ROD, x), z))


def test_hessian_of_S_is_the_symmetric_derivative_of_its_gradient():
    z = np.random.default_rng(1).standard_normal((20, 22))
    hessian, h = multisymplectic.hessian_S(ROD, z), 1e-6
    assert close(hessian, hessian.swapaxes(-1, -2))
    d = np.random.default_rng(2).standard_normal(22)
    change = multisymplectic.grad_S(ROD, z + h * d) - multisymplectic.grad_S(ROD, z - h * d)
    assert close(apply(hessian, d), change / (2 * h), 1e-8)
