"""Local conservation laws of the rod, 003 (41)-(46): identities in the residual of the equations, for arbitrary fields."""

import numpy as np
import pytest

from discretization.continuum import balances, conservation, lagrangian, multisymplectic
from discretization.continuum.kinematics import omega, rotated
from discretization.continuum.quaternions import apply, inner
from rodsim.papers.smooth_fields import (
    Waves,
    derivative,
    random_material,
    random_motion,
    random_points,
    z_of,
)

S, T = random_points(5)
ROD = random_material(3)
ROUND_OFF = 2e-12  # of sums of terms of size 1e2


@pytest.fixture(params=[1, 2])
def fields(request):
    return Waves(request.param)


def law(density, flux):
    """density_t + flux_S, by complex steps."""
    return derivative(density, S, T, "t") + derivative(flux, S, T, "S")


# density and flux of fields at (s, t), and the derivative of z on which the residual does work
WORKS = {
    "energy": (
        lambda f, s, t: conservation.energy(ROD, f.z(s, t), f.z_S(s, t)),
        lambda f, s, t: conservation.energy_flux(f.z(s, t), f.z_t(s, t)),
        "z_t",
    ),
    "physical energy": (
        lambda f, s, t: conservation.physical_energy(ROD, f.z(s, t), f.z_S(s, t)),
        lambda f, s, t: conservation.power_flux(f.z(s, t), f.z_t(s, t)),
        "z_t",
    ),
    "material momentum": (
        lambda f, s, t: conservation.material_momentum(f.z(s, t), f.z_S(s, t)),
        lambda f, s, t: conservation.material_momentum_flux(ROD, f.z(s, t), f.z_t(s, t)),
        "z_S",
    ),
    "wave momentum": (
        lambda f, s, t: conservation.wave_momentum(f.z(s, t), f.z_S(s, t)),
        lambda f, s, t: conservation.wave_momentum_flux(ROD, f.z(s, t), f.z_t(s, t)),
        "z_S",
    ),
}


@pytest.mark.parametrize("name", WORKS)
def test_local_law_of_any_field_is_the_work_of_the_residual(name, fields):
    """z is an arbitrary field: none of the Legendre transforms holds."""
    density, flux, along = WORKS[name]
    z, z_t, z_S = fields.z(S, T), fields.z_t(S, T), fields.z_S(S, T)
    work = inner(getattr(fields, along)(S, T), multisymplectic.residual(ROD, z, z_t, z_S))
    law_defect = law(lambda s, t: density(fields, s, t), lambda s, t: flux(fields, s, t))
    assert np.abs(law_defect + work).max() < ROUND_OFF
    assert np.abs(work).max() > 1


def test_paper_densities_differ_from_physical_ones_by_derivatives(fields):
    def end(s, t):
        z = fields.z(s, t)
        return inner(z[..., multisymplectic.CONFIGURATION], z[..., multisymplectic.STRESS]) / 2

    z, z_t, z_S = fields.z(S, T), fields.z_t(S, T), fields.z_S(S, T)
    gap = conservation.energy(ROD, z, z_S) - conservation.physical_energy(ROD, z, z_S)
    assert np.abs(gap - derivative(end, S, T, "S")).max() < ROUND_OFF
    gap = conservation.energy_flux(z, z_t) - conservation.power_flux(z, z_t)
    assert np.abs(gap + derivative(end, S, T, "t")).max() < ROUND_OFF


def test_two_form_is_conserved_up_to_the_linearised_residual(fields):
    U, V = Waves(11), Waves(12)
    law_defect = law(
        lambda s, t: conservation.time_two_form(U.z(s, t), V.z(s, t)),
        lambda s, t: conservation.space_two_form(U.z(s, t), V.z(s, t)),
    )
    second = multisymplectic.hessian_S(ROD, fields.z(S, T))

    def linearised(W):
        left = apply(multisymplectic.M, W.z_t(S, T)) + apply(multisymplectic.K, W.z_S(S, T))
        return left - apply(second, W.z(S, T))

    defect = inner(U.z(S, T), linearised(V)) - inner(V.z(S, T), linearised(U))
    assert np.abs(law_defect - defect).max() < ROUND_OFF
    assert np.abs(law_defect).max() > 1


def test_physical_energy_flux_is_the_power_of_the_section():
    motion = random_motion(4)
    phi, q = motion.phi(S, T), motion.q(S, T)
    z = z_of(ROD, motion, S, T)
    z_S, z_t = (derivative(lambda s, t: z_of(ROD, motion, s, t), S, T, axis) for axis in "St")
    both = lagrangian.kinetic_density(ROD, q.value, phi.t, q.t)
    both = both + lagrangian.potential_density(ROD, q.value, phi.S, q.S)
    assert np.abs(conservation.physical_energy(ROD, z, z_S) - both).max() < ROUND_OFF
    w, bend = omega(q.value, q.t), omega(q.value, q.S)
    power = inner(balances.force(ROD, q.value, phi.S), phi.t)
    power = power + inner(balances.moment(ROD, q.value, q.S), w)
    assert np.abs(conservation.power_flux(z, z_t) + power).max() < ROUND_OFF
    waves = ROD.rho_A * inner(phi.S, phi.t) + inner(bend, apply(rotated(q.value, ROD.J_rho), w))
    assert np.abs(conservation.wave_momentum(z, z_S) - waves).max() < ROUND_OFF


def test_momentum_laws_are_the_balance_equations():
    m = random_motion(6)
    phi, q = m.phi(S, T), m.q(S, T)
    linear = law(
        lambda s, t: conservation.linear_momentum(ROD, m.phi(s, t).t),
        lambda s, t: conservation.linear_momentum_flux(ROD, m.q(s, t).value, m.phi(s, t).S),
    )
    about = law(
        lambda s, t: conservation.angular_momentum(
            ROD, m.phi(s, t).value, m.q(s, t).value, m.phi(s, t).t, m.q(s, t).t
        ),
        lambda s, t: conservation.angular_momentum_flux(
            ROD, m.phi(s, t).value, m.q(s, t).value, m.phi(s, t).S, m.q(s, t).S
        ),
    )
    force = balances.linear_balance(ROD, q.value, phi.S, q.S, phi.SS, phi.tt)
    moment = balances.angular_balance(ROD, q.value, phi.S, q.S, q.SS, q.t, q.tt)
    assert np.abs(linear - force).max() < ROUND_OFF
    assert np.abs(about - moment - np.cross(phi.value, force)).max() < ROUND_OFF


def test_paper_energy_equals_the_energy_up_to_end_terms():
    """The integral of e over [0, L] equals that of h plus (u . v)/2 at the ends: (46) holds for free and periodic ends."""
    motion = random_motion(8)
    s = np.linspace(0.0, 1.0, 401)
    t = np.full_like(s, 0.4)
    z = z_of(ROD, motion, s, t)
    z_S = derivative(lambda a, b: z_of(ROD, motion, a, b), s, t, "S")
    gap = conservation.integral(
        conservation.energy(ROD, z, z_S) - conservation.physical_energy(ROD, z, z_S), s
    )
    ends = inner(z[[0, -1], multisymplectic.CONFIGURATION], z[[0, -1], multisymplectic.STRESS]) / 2
    assert gap == pytest.approx(ends[1] - ends[0], rel=1e-8)
    assert abs(gap) > 1e-2
