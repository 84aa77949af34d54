"""PyElastica's continuum snake in PyElastica: its ContinuumSnakeCase, with any number of elements and any step."""

from __future__ import annotations

from time import process_time
from typing import Any, NamedTuple

import elastica
import numpy as np

from benchmarks.cases import Floats
from examples.contact import snake


class Crawl(NamedTuple):
    """Result of a run."""

    speed: float  # m/s, forward speed of the mass centre in the last period
    ends: Floats  # (2, 3), m, tail and head at the end
    loop_s: float  # processor time of the steps, s
    whole_s: float  # the same with set-up


class _Simulator(elastica.BaseSystemCollection, elastica.Forcing, elastica.Contact, elastica.Damping):
    pass


def run(n: int, h: float, periods: int = 2) -> Crawl:
    """Run n elements with steps of h."""
    first = process_time()
    simulator = _Simulator()
    rod = _rod(n)
    simulator.append(rod)
    simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array([0.0, -snake.G, 0.0]))
    _add_muscles(simulator, rod)
    _add_ground(simulator, rod)
    simulator.dampen(rod).using(elastica.AnalyticalLinearDamper, damping_constant=2e-3, time_step=h)
    simulator.finalize()
    stepper, steps, t = elastica.PositionVerlet(), round(periods * snake.PERIOD / h), np.float64(0.0)
    last = steps - round(snake.PERIOD / h)
    begin = process_time()
    for step in range(steps):
        if step == last:
            before = _mass_centre(rod)
        t = stepper.step(simulator, t, np.float64(h))
    ended = process_time()
    speed = (_mass_centre(rod) - before)[2] / snake.PERIOD
    ends = rod.position_collection[:, [0, -1]].T.copy()
    return Crawl(float(speed), ends, ended - begin, ended - first)


def _mass_centre(rod: Any) -> Floats:
    centre: Floats = rod.position_collection @ rod.mass / rod.mass.sum()
    return centre


def _rod(n: int) -> Any:
    return elastica.CosseratRod.straight_rod(
        n,
        np.zeros(3),
        np.array([0.0, 0.0, 1.0]),
        np.array([0.0, 1.0, 0.0]),
        snake.LENGTH,
        snake.RADIUS,
        snake.DENSITY,
        youngs_modulus=snake.E,
        shear_modulus=snake.E / 1.5,
    )


def _add_muscles(simulator: Any, rod: Any) -> None:
    simulator.add_forcing_to(rod).using(
        elastica.MuscleTorques,
        base_length=snake.LENGTH,
        b_coeff=np.array(snake.COUPLES),
        period=snake.PERIOD,
        wave_number=2.0 * np.pi,
        phase_shift=0.0,
        rest_lengths=rod.rest_lengths,
        ramp_up_time=snake.PERIOD,
        direction=np.array([0.0, 1.0, 0.0]),
        with_spline=True,
    )


def _add_ground(simulator: Any, rod: Any) -> None:
    ground = elastica.Plane(
        plane_origin=np.array([0.0, -snake.RADIUS, 0.0]), plane_normal=np.array([0.0, 1.0, 0.0])
    )
    simulator.append(ground)
    simulator.detect_contact_between(rod, ground).using(
        elastica.RodPlaneContactWithAnisotropicFriction,
        k=1.0,
        nu=1e-6,
        slip_velocity_tol=1e-8,
        static_mu_array=np.zeros(3),
        kinetic_mu_array=snake.FRICTION * np.array([snake.FORTH, snake.BACK, snake.ASIDE]),
    )
