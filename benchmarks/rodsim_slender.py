"""The examples of PyElastica in rodsim."""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.measurement import Measurement
from benchmarks.rodsim_frames import NAME, at_rest
from benchmarks.rodsim_stepper import stepper_of
from benchmarks.slender import Slender
from discretization.state_measures import energies
from rodsim import Model, Newton, Section, equilibrium, simulate


def run(case: Slender, resolution: int, h: float, element: str = "se3", order: int = 2) -> Measurement:
    """Compute an equilibrium with load steps of at most h, or a motion by steps of h."""
    first, total_steps = process_time(), round((case.t_end or 1.0) / h)
    if case.t_end is None:
        equilibrium(slender_model(case, resolution, element), method=Newton(first_step=h))
    else:
        named, known = "em" if order == 2 else f"em{order}", slender_model(case, resolution, element)
        simulate(known, case.t_end, case.t_end / total_steps, named, output_every=total_steps, progress=False)
    whole_s = process_time() - first
    model = slender_model(case, resolution, element)
    built = model.build()
    name = " ".join([NAME, *([] if element == "se3" else [element]), *([] if order == 2 else [f"em{order}"])])
    if case.t_end is None:
        wall, steps, state = at_rest(model, built, h)
        error = case.error(state.r[-1])
        return Measurement(name, case.name, resolution, h, steps, wall, error, float("nan"), whole_s)
    stepper = stepper_of(built, h, order)
    steps = round(case.t_end / h)
    before = energies(built.system, built.state).total
    begin = process_time()
    state, _ = stepper.advance(built.state, 0, steps)
    wall = process_time() - begin
    drift = (energies(built.system, state).total - before) / energy_scale(case, before)
    return Measurement(name, case.name, resolution, h, steps, wall, case.error(state.r[-1]), drift, whole_s)


def energy_scale(case: Slender, before: float) -> float:
    """Energy to which errors are relative: the weight times the length, or the initial energy."""
    weight = case.mass_per_length * case.length * float(np.linalg.norm(case.gravity))
    return weight * case.length or abs(before)


def slender_model(case: Slender, n_elements: int, element: str) -> Model:
    """The rod, its support, and its load."""
    EA, GA2, GA3, GJ, EI2, EI3 = case.stiffness
    section = Section.from_stiffness(
        EA=EA,
        GA=(GA2, GA3),
        GJ=GJ,
        EI=(EI2, EI3),
        mass_per_length=case.mass_per_length,
        inertia_per_length=case.inertia_per_length,
    )
    if case.thinning:
        section = section.with_law("thinning")
    model = Model(case.name, gravity=case.gravity)
    straight = np.allclose(case.curve(np.array([0.5])), 0.5 * case.curve(np.array([1.0])))
    curve = case.curve(np.array([0.0, 1.0])) if straight else lambda s: case.curve(np.array(s))
    velocity = None if case.velocity is None else lambda s: case.velocity(np.array(s))  # type: ignore[misc]
    rod = model.add_rod(
        "rod", curve, section, n_elements=n_elements, up=case.normal, velocity=velocity, element=element
    )
    model.add_joint("held", "spherical" if case.hinged else "clamp", rod.start, model.ground)
    if any(case.end_force):
        model.add_force("pull", rod.end, case.end_force)
    return model
