"""Local laws from stored states: second-order approximation of the continuum laws, for arbitrary fields."""

import numpy as np
import pytest

from discretization.continuum import conservation, lagrangian
from discretization.continuum.kinematics import Omega
from discretization.continuum.local_laws import local_laws
from discretization.continuum.material import Material
from rigid.errors import ModelError
from rodsim.papers.smooth_fields import derivative, random_material, random_motion, z_of

LAWS = ("energy", "momentum", "angular_momentum", "material_momentum")
GRAVITY = np.array([0.3, -0.7, 1.1])
ROD = random_material(7)


def grid(n, uneven=0.0):
    """n steps of t in [0, 0.4], 2 n elements of S in [0, 1]; `uneven` stretches both smoothly."""
    t, s = np.linspace(0, 1, n + 1), np.linspace(0, 1, 2 * n + 1)
    return 0.4 * (t + uneven * t * t) / (1 + uneven), (s + uneven * s * s) / (1 + uneven)


def sampled(motion, t, s):
    """States of a motion at the grid points."""
    phi, q = motion.phi(*np.meshgrid(s, t)), motion.q(*np.meshgrid(s, t))
    return phi.value, q.value, phi.t, Omega(q.value, q.t)


def exact(motion, t, s):
    """density_t + flux_S - source of the continuum at the grid points, by complex steps."""
    S, T = np.meshgrid(s, t)

    def law(density, flux):
        return derivative(density, S, T, "t") + derivative(flux, S, T, "S")

    def energy(s, t):
        phi, q = motion.phi(s, t), motion.q(s, t)
        both = lagrangian.kinetic_density(ROD, q.value, phi.t, q.t)
        both = both + lagrangian.potential_density(ROD, q.value, phi.S, q.S)
        return both - ROD.rho_A * phi.value @ GRAVITY

    def z_and(s, t, axis):
        # exact derivatives of u along an axis; those of the conjugate variables are not needed
        phi, q = motion.phi(s, t), motion.q(s, t)
        z = z_of(ROD, motion, s, t)
        z_x = np.zeros_like(z)
        z_x[..., :7] = np.concatenate([getattr(phi, axis), getattr(q, axis)], axis=-1)
        return z, z_x

    def wave_flux(s, t):
        return (
            conservation.wave_momentum_flux(ROD, *z_and(s, t, "t"))
            - ROD.rho_A * motion.phi(s, t).value @ GRAVITY
        )

    phi = motion.phi(S, T).value
    force = ROD.rho_A * np.broadcast_to(GRAVITY, phi.shape)
    return {
        "energy": law(energy, lambda s, t: conservation.power_flux(*z_and(s, t, "t"))),
        "momentum": law(
            lambda s, t: conservation.linear_momentum(ROD, motion.phi(s, t).t),
            lambda s, t: conservation.linear_momentum_flux(ROD, motion.q(s, t).value, motion.phi(s, t).S),
        )
        - force,
        "angular_momentum": law(
            lambda s, t: conservation.angular_momentum(
                ROD, motion.phi(s, t).value, motion.q(s, t).value, motion.phi(s, t).t, motion.q(s, t).t
            ),
            lambda s, t: conservation.angular_momentum_flux(
                ROD, motion.phi(s, t).value, motion.q(s, t).value, motion.phi(s, t).S, motion.q(s, t).S
            ),
        )
        - np.cross(phi, force),
        "material_momentum": law(lambda s, t: conservation.wave_momentum(*z_and(s, t, "S")), wave_flux),
    }


def norm(x):
    return float(np.sqrt(np.mean(x**2)))


@pytest.mark.parametrize("uneven", [0.0, 0.5])
def test_box_differences_converge_to_the_local_laws_with_order_2(uneven):
    motion, sizes = random_motion(3), (8, 16, 32)
    errors = {name: [] for name in LAWS}
    for n in sizes:
        t, s = grid(n, uneven)
        laws = local_laws(ROD, t, s, *sampled(motion, t, s), gravity=GRAVITY)
        right = exact(motion, laws.t, laws.S)
        for name in LAWS:
            assert norm(right[name]) > 0.1  # not a solution: the law is not 0 = 0
            errors[name].append(norm(getattr(laws, name) - right[name]))
    for name in LAWS:
        orders = np.log2(np.array(errors[name][:-1]) / errors[name][1:])
        assert orders == pytest.approx([2, 2], abs=0.2), name


def test_local_laws_are_independent_of_quaternion_signs():
    motion, (t, s) = random_motion(2), grid(6)
    r, quat, v, Om = sampled(motion, t, s)
    sign = np.random.default_rng(0).choice([-1.0, 1.0], quat.shape[:2])[..., None]
    right, laws = (local_laws(ROD, t, s, r, q, v, Om) for q in (quat, sign * quat))
    for name in LAWS:
        assert np.abs(getattr(laws, name) - getattr(right, name)).max() < 1e-11


def test_sections_of_a_varying_rod_enter_by_half_elements():
    """Momentum of a box with a jump of the section at its node: the mean of both masses."""
    t, s = np.array([0.0, 0.1]), np.array([0.0, 1.0, 3.0])
    rho = np.array([2.0, 5.0])
    rod = Material(rho, *(np.broadcast_to(np.eye(3), (2, 3, 3)) for _ in range(3)))
    r = np.stack([np.stack([s, 0 * s, 0 * s], -1)] * 2)
    quat = np.broadcast_to([1.0, 0, 0, 0], (2, 3, 4))
    v = np.zeros((2, 3, 3))
    v[1, 1, 0] = 1.0
    laws = local_laws(rod, t, s, r, quat, v, 0 * v)
    assert laws.momentum[0, 0, 0] == pytest.approx((0.5 * 2.0 + 1.0 * 5.0) / 1.5 / 0.1)
    assert laws.energy[0, 0] == pytest.approx((0.5 * 2.0 + 1.0 * 5.0) / 1.5 / 2 / 0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": [0.0]}, "two times"),
        ({"S": [0.0, 1.0]}, "three nodes"),
        ({"t": [0.0, 0.0]}, "t is not strictly increasing"),
        ({"S": [0.0, 2.0, 1.0]}, "S is not strictly increasing"),
        ({"v": np.zeros((2, 3, 4))}, "v has shape"),
    ],
)
def test_invalid_grid_is_rejected(change, message):
    arguments = {"t": [0.0, 1.0], "S": [0.0, 1.0, 2.0], "r": np.zeros((2, 3, 3)), "quat": np.ones((2, 3, 4))}
    arguments |= {"v": np.zeros((2, 3, 3)), "Omega": np.zeros((2, 3, 3)), **change}
    with pytest.raises(ModelError, match=message):
        local_laws(ROD, *arguments.values())
