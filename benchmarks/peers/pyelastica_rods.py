"""B1, B2 in PyElastica: its Cosserat rod, position Verlet, loads as compiled forcing."""

from __future__ import annotations

from time import process_time
from typing import Any

import elastica
import numba
import numpy as np

from benchmarks.cases import Floats, RodCase, steps_a_part
from benchmarks.measurement import Measurement

NAME = "PyElastica"


class _Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):
    pass


class _EndLoad(elastica.NoForces):
    """The triangle of B1: a force on the first node, a moment (inertial components) on the first element."""

    def __init__(self, case: RodCase) -> None:
        super().__init__()
        self._profile = (case.peak, case.t_peak, case.t_unloaded)
        self._force, self._moment = np.array(case.force), np.array(case.moment)

    def apply_forces(self, system: Any, time: float = 0.0) -> None:
        _add_force(system.external_forces, self._force, _triangle(time, *self._profile))

    def apply_torques(self, system: Any, time: float = 0.0) -> None:
        f = _triangle(time, *self._profile)
        _add_moment(system.external_torques, system.director_collection, self._moment, f)


@numba.njit(cache=True)
def _triangle(t: float, peak: float, t_peak: float, t_end: float) -> float:
    if t <= 0.0 or t >= t_end:
        return 0.0
    if t <= t_peak:
        return peak * t / t_peak
    return peak * (t_end - t) / (t_end - t_peak)


@numba.njit(cache=True)
def _add_force(out: Floats, direction: Floats, f: float) -> None:
    for i in range(3):
        out[i, 0] += f * direction[i]


@numba.njit(cache=True)
def _add_moment(out: Floats, directors: Floats, direction: Floats, f: float) -> None:
    for i in range(3):  # torques are in element axes, the rows of `directors`
        for j in range(3):
            out[i, 0] += f * directors[i, j, 0] * direction[j]


def run(case: RodCase, resolution: int, h: float) -> Measurement:
    """One run with `resolution` elements and steps of h."""
    first = process_time()
    simulator = _Simulator()
    rod = _rod(case, resolution)
    simulator.append(rod)
    if case.clamped:
        simulator.constrain(rod).using(
            elastica.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
        )
    if case.gravity:
        simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=case.weight)
    if case.peak:
        simulator.add_forcing_to(rod).using(_EndLoad, case)
    simulator.finalize()
    stepper = elastica.PositionVerlet()
    steps = steps_a_part(case.t_end, h, case.instants)
    unloaded = round(case.t_energy / case.t_end * case.instants)
    t, wall, looking = np.float64(0.0), 0.0, 0.0
    rod.compute_internal_forces_and_torques(t)  # the strains in the energy
    before, ends = _energy(rod, case), []
    for part in range(case.instants):
        begin = process_time()
        if part == unloaded:
            before = _energy(rod, case)
        looking += process_time() - begin
        begin = process_time()
        for _ in range(steps):
            t = stepper.step(simulator, t, np.float64(h))
        wall += process_time() - begin
        ends.append(rod.position_collection[:, [0, -1]].T.copy())
    whole_s = process_time() - first - looking
    after = _energy(rod, case)
    scale = abs(before) if case.peak else case.mass_per_length * case.length * case.gravity * case.length
    error, total = case.error(*np.array(ends).transpose(1, 0, 2)), steps * case.instants
    drift = (after - before) / scale
    return Measurement(NAME, case.name, resolution, h, total, wall, error, drift, whole_s)


def _rod(case: RodCase, n_elements: int) -> Any:
    axis = np.subtract(case.end, case.start) / case.length
    rod = elastica.CosseratRod.straight_rod(
        n_elements,
        np.array(case.start),
        axis,
        np.array([0.0, 0.0, 1.0]),
        case.length,
        base_radius=0.1,  # the section below replaces the values that follow from radius, density and moduli
        density=1.0,
        youngs_modulus=1.0,
        shear_modulus=1.0,
    )
    element = case.length / n_elements
    EA, GA2, GA3, GJ, EI2, EI3 = case.stiffness
    J1, J2, J3 = case.inertia_per_length
    rod.mass[:] = case.mass_per_length * element
    rod.mass[[0, -1]] *= 0.5
    # Its third director is the tangent, that of rodsim the first; sections are symmetric, so 2 and 3 may swap.
    for matrix, diagonal in (
        (rod.mass_second_moment_of_inertia, element * np.array([J2, J3, J1])),
        (rod.inv_mass_second_moment_of_inertia, 1.0 / (element * np.array([J2, J3, J1]))),
        (rod.shear_matrix, np.array([GA2, GA3, EA])),
        (rod.bend_matrix, np.array([EI2, EI3, GJ])),
    ):
        matrix[:] = np.diag(diagonal)[:, :, None]
    return rod


def _energy(rod: Any, case: RodCase) -> float:
    kinetic = rod.compute_translational_energy() + rod.compute_rotational_energy()
    elastic = rod.compute_bending_energy() + rod.compute_shear_energy()
    potential = -float(rod.mass @ (case.weight @ rod.position_collection))
    return float(kinetic + elastic + potential)
