"""Examples of PyElastica in PyElastica: position Verlet; equilibria by damped motions."""

from __future__ import annotations

from time import process_time
from typing import Any

import elastica
import numpy as np

from benchmarks.cases import Floats
from benchmarks.measurement import Measurement
from benchmarks.slender import Slender

NAME = "PyElastica"


class _Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing, elastica.Damping):
    pass


class _Hinge(elastica.ConstraintBase):
    """The first node is fixed, its element rotates."""

    def __init__(self, fixed_position: Floats, fixed_directors: Floats, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._place = np.array(fixed_position)

    def constrain_values(self, system: Any, time: float) -> None:
        system.position_collection[..., 0] = self._place

    def constrain_rates(self, system: Any, time: float) -> None:
        system.velocity_collection[..., 0] = 0.0


def run(case: Slender, resolution: int, h: float) -> Measurement:
    """One run with `resolution` elements and steps of h, to `t_end`, or to `t_rest` for an equilibrium."""
    first = process_time()
    simulator = _Simulator()
    rod = _rod(case, resolution)
    simulator.append(rod)
    constraint = _Hinge if case.hinged else elastica.OneEndFixedBC
    simulator.constrain(rod).using(constraint, constrained_position_idx=(0,), constrained_director_idx=(0,))
    if any(case.gravity):
        simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array(case.gravity))
    if any(case.end_force):
        ends = np.zeros(3), np.array(case.end_force)
        simulator.add_forcing_to(rod).using(elastica.EndpointForces, *ends, ramp_up_time=1e-3 * case.t_rest)
    if case.t_end is None:
        simulator.dampen(rod).using(
            elastica.AnalyticalLinearDamper, uniform_damping_constant=case.damping, time_step=h
        )
    simulator.finalize()
    stepper = elastica.PositionVerlet()
    steps = round((case.t_end or case.t_rest) / h)
    t = np.float64(0.0)
    begin = process_time()
    for _ in range(steps):
        t = stepper.step(simulator, t, np.float64(h))
    wall, whole_s = process_time() - begin, process_time() - first
    error = case.error(rod.position_collection[:, -1])
    return Measurement(NAME, case.name, resolution, h, steps, wall, error, float("nan"), whole_s)


def _rod(case: Slender, n: int) -> Any:
    s = np.linspace(0.0, 1.0, n + 1)
    points = case.curve(s).T
    tangents = np.diff(points, axis=1) / np.linalg.norm(np.diff(points, axis=1), axis=0)
    normal = np.tile(np.array(case.normal)[:, None], (1, n))
    directors = np.stack([normal, np.cross(tangents, normal, axis=0), tangents])
    rod = elastica.CosseratRod.straight_rod(
        n,
        points[:, 0],
        tangents[:, 0],
        np.array(case.normal),
        case.length,
        base_radius=0.1,  # the section below replaces the values that follow from radius, density and moduli
        density=1.0,
        youngs_modulus=1.0,
        shear_modulus=1.0,
        position=points,
        directors=directors,
    )
    element = case.length / n
    EA, GA2, GA3, GJ, EI2, EI3 = case.stiffness
    J1, J2, J3 = case.inertia_per_length
    rod.mass[:] = case.mass_per_length * element
    rod.mass[[0, -1]] *= 0.5
    # Its directors are (d3, d2, d1) of rodsim up to a sign: bending about the normal is about d3 of rodsim.
    for matrix, diagonal in (
        (rod.mass_second_moment_of_inertia, element * np.array([J3, J2, J1])),
        (rod.inv_mass_second_moment_of_inertia, 1.0 / (element * np.array([J3, J2, J1]))),
        (rod.shear_matrix, np.array([GA3, GA2, EA])),
        (rod.bend_matrix, np.array([EI3, EI2, GJ])),
    ):
        matrix[:] = np.diag(diagonal)[:, :, None]
    rod.rest_kappa[...] = rod.kappa
    if case.velocity is not None:
        rod.velocity_collection[...] = case.velocity(s).T
    return rod
