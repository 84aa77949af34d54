"""Damping relative to a moving medium: motions compared with closed forms, and the energy balance."""

import numpy as np
import pytest

from rigid.signals import Sine
from rodsim import Box, Material, Model, Section, audit, equilibrium, simulate

RATE, WIND = 0.8, np.array([3.0, -1.0, 0.5])
ORDER_2 = 2e-6  # for velocities of some m/s, at these steps


def test_free_body_approaches_the_wind_velocity():
    model = Model("leaf")
    leaf = model.add_body("leaf", Box(0.3, 0.2, 0.1, mass=2.0), velocity=(0, 2, 0))
    model.add_mass_damping("air", leaf, RATE, ambient=WIND)
    result = simulate(model, t_end=2.0, dt=0.005)
    v = WIND + (np.array([0, 2, 0]) - WIND) * np.exp(-RATE * 2.0)
    assert result.state().v[1] == pytest.approx(v, abs=1e-5)
    assert audit(result).energy_balance < 1e-12


def test_varying_wind_work_and_dissipation_balance_the_energy():
    section = Section.circular(0.02, Material(E=2e6, nu=0.45, density=1100))
    model = Model("reed", gravity=(0, 0, -9.81))
    rod = model.add_rod("reed", [(0, 0, 0), (0, 0, 1)], section, 6)
    model.add_joint("root", "clamp", rod.start)
    model.add_mass_damping("air", rod, RATE, ambient=Sine(6.0, 0.7).along((1, 0.3, 0)))
    result = simulate(model, t_end=1.0, dt=0.01)
    change = result.energy["total"] - result.energy["total"][0]
    turned = np.abs(result.work).max() + np.abs(result.dissipation).max()
    assert turned > 1e-2
    assert np.abs(change - result.work + result.dissipation).max() < 1e-11 * turned


def test_supported_part_in_wind_has_its_static_deflection():
    model = Model("vane")
    vane = model.add_body("vane", Box(0.3, 0.2, 0.1, mass=2.0))
    model.add_joint("rail", "prismatic", model.ground, vane, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", model.ground.at((-1, 0, 0)), vane, 40.0)
    model.add_mass_damping("air", vane, RATE, ambient=WIND)
    static_solution = equilibrium(model)
    assert static_solution.joint("rail").displacement[-1] == pytest.approx(
        RATE * 2.0 * WIND[0] / 40.0, rel=1e-12
    )
