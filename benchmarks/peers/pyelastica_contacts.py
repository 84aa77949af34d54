"""Contact cases of PyElastica in PyElastica, with any number of elements and any step.

Its friction validation cases, parallel rods, bouncing ball and rod at a cylinder.
"""

from __future__ import annotations

from time import process_time
from typing import Any, NamedTuple

import elastica
import numpy as np

RADIUS, G = 0.025, 9.80665
ALONG, UP = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])


class FinalState(NamedTuple):
    """Result of a run."""

    translation: float  # J, of the rod at the end
    rotation: float  # J
    place: float  # m, position along the initial motion: of the first of two rods, the ball, the cylinder
    loop_s: float  # processor time of the steps, s
    whole_s: float  # the same with set-up


class _Simulator(elastica.BaseSystemCollection, elastica.Forcing, elastica.Contact, elastica.Damping):
    pass


def on_the_ground(
    n: int,
    h: float,
    t_end: float,
    *,
    E: float = 1e9,
    slope: float = 0.0,
    inertia: float = 1.0,
    speed: float = 0.0,
    force: float = 0.0,
    couple: float = 0.0,
    static: tuple[float, float, float] = (0.4, 0.4, 0.4),
) -> FinalState:
    """A rod of 1 m and 1 kg on a plane; kinetic coefficients are half of the static ones, forward, backward
    and sideways.
    """
    first = process_time()
    simulator, density = _Simulator(), 1.0 / (np.pi * RADIUS**2)
    rod = elastica.CosseratRod.straight_rod(
        n, np.zeros(3), ALONG, UP, 1.0, RADIUS, density, youngs_modulus=E, shear_modulus=E / 1.5
    )
    rod.shear_matrix[...] = 1e4 * np.eye(3)[:, :, None]
    rod.mass_second_moment_of_inertia[...] *= inertia
    rod.inv_mass_second_moment_of_inertia[...] /= inertia
    rod.velocity_collection[0] += speed
    simulator.append(rod)
    simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=-G * UP)
    if force:
        simulator.add_forcing_to(rod).using(elastica.UniformForces, force=force, direction=ALONG)
    if couple:
        simulator.add_forcing_to(rod).using(elastica.UniformTorques, torque=couple, direction=ALONG)
    normal = np.array([np.sin(slope), np.cos(slope), 0.0])
    ground = elastica.Plane(plane_origin=-RADIUS * normal, plane_normal=normal)
    simulator.append(ground)
    simulator.detect_contact_between(rod, ground).using(
        elastica.RodPlaneContactWithAnisotropicFriction,
        k=10.0,
        nu=1e-4,
        slip_velocity_tol=1e-4 if not speed else 1e-6,
        static_mu_array=np.array(static),
        kinetic_mu_array=0.5 * np.array(static),
    )
    simulator.finalize()
    loop = _loop(simulator, t_end, h)
    energies = rod.compute_translational_energy(), rod.compute_rotational_energy()
    return FinalState(*map(float, energies), 0.0, loop, process_time() - first)


def parallel_rods(n: int, h: float) -> FinalState:
    """One rod falls on another with 5 cm/s; without the damping of the file, 0.2 percent of the speed in
    these 10 s.
    """
    first = process_time()
    simulator, rods = _Simulator(), []
    for z, speed in ((0.2, -0.05), (0.0, 0.0)):
        rod = elastica.CosseratRod.straight_rod(
            n,
            z * ALONG,
            UP,
            ALONG,
            0.5,
            0.01,
            1750,
            youngs_modulus=3e5,
            shear_modulus=2e5,
        )
        rod.velocity_collection[2] += speed
        simulator.append(rod)
        rods.append(rod)
    # the 3n - 2 neighbouring pairs together are as stiff as those of the file
    k = 1e3 * 148 / (3 * n - 2)
    simulator.detect_contact_between(*rods).using(elastica.RodRodContact, k=k, nu=0.001)
    simulator.finalize()
    loop = _loop(simulator, 10.0, h)
    place = float(rods[0].compute_position_center_of_mass()[2])
    return FinalState(float(rods[1].compute_translational_energy()), 0.0, place, loop, process_time() - first)


def bouncing_ball(n: int, h: float) -> FinalState:
    """The release has no contact of a ball and a plane: an upright cylinder of the same height and mass is
    equivalent here.
    """
    first, simulator = process_time(), _Simulator()
    ball = elastica.Cylinder(
        start=np.array([0.0, 0.95, 0.0]),
        direction=UP,
        normal=ALONG,
        base_length=0.1,
        base_radius=0.05,
        density=1000.0 * 4 / 3 * 0.05 / 0.1,
    )
    ball.velocity_collection[1] += 1.0
    simulator.append(ball)
    simulator.add_forcing_to(ball).using(elastica.GravityForces, acc_gravity=-G * UP)
    plane = elastica.Plane(plane_origin=np.zeros(3), plane_normal=UP)
    simulator.append(plane)
    simulator.detect_contact_between(ball, plane).using(elastica.CylinderPlaneContact, k=1e4, nu=0.0)
    simulator.finalize()
    loop = _loop(simulator, 2.0, h)
    energy = float(np.sum(ball.compute_translational_energy()))
    return FinalState(energy, 0.0, float(ball.position_collection[1, 0]), loop, process_time() - first)


def rod_at_cylinder(n: int, h: float) -> FinalState:
    """A parallel rod and cylinder; the pairs together are as stiff as those of the file."""
    first, simulator = process_time(), _Simulator()
    rod = elastica.CosseratRod.straight_rod(
        n, np.zeros(3), ALONG, UP, 0.5, 0.1, 1750, youngs_modulus=3e5, shear_modulus=1e5
    )
    rod.velocity_collection[0] -= 0.2
    simulator.append(rod)
    start = np.array([-1.0, 0.0, 0.0])
    cylinder = elastica.Cylinder(
        start=start, direction=ALONG, normal=UP, base_length=0.5, base_radius=0.1, density=1750
    )
    simulator.append(cylinder)
    k, nu = 5e4 * 50 / n, 0.1 * 50 / n
    simulator.detect_contact_between(rod, cylinder).using(elastica.RodCylinderContact, k=k, nu=nu)
    simulator.dampen(rod).using(
        elastica.AnalyticalLinearDamper, damping_constant=1e-2, time_step=np.float64(h)
    )
    simulator.finalize()
    loop = _loop(simulator, 10.0, h)
    place = float(cylinder.position_collection[0, 0])
    return FinalState(float(rod.compute_translational_energy()), 0.0, place, loop, process_time() - first)


def _loop(simulator: Any, t_end: float, h: float) -> float:
    """Processor time of the steps, s."""
    stepper, t = elastica.PositionVerlet(), np.float64(0.0)
    begin = process_time()
    for _ in range(round(t_end / h)):
        t = stepper.step(simulator, t, np.float64(h))
    return process_time() - begin
