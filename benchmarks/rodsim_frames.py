"""The beam test models in rodsim: rods with welds between them, equilibria and motions."""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.frames import Frame
from benchmarks.measurement import Measurement
from benchmarks.mechanisms import Triple
from benchmarks.rodsim_stepper import stepper_of
from discretization.state_measures import energies
from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.statics.load_steps import find_equilibrium, follow_load_steps
from rigid.system import State
from rodsim import Model, Newton, Section, equilibrium, simulate
from rodsim.building.build import Built
from rodsim.components.model_parts import Anchor
from rodsim.small_motions.modal_analysis import modes
from rodsim.statics.load_factors import loading_of

NAME = "rodsim"


def run(
    case: Frame, resolution: int, h: float, element: str = "se3", order: int = 2, mass: str = "mean"
) -> Measurement:
    """Compute frequencies, an equilibrium with load steps of at most h, or a motion by steps of h with `em`
    or its composition.
    """
    whole_s = _called(case, resolution, h, element, order, mass)
    model = frame_model(case, resolution, element, mass)
    built = model.build()
    usual = (element, "se3"), (mass, "mean"), (f"em{order}", "em2")
    name = " ".join([NAME, *(setting for setting, most in usual if setting != most)])
    if case.frequencies:
        begin = process_time()
        omega = modes(built, len(case.frequencies)).omega
        wall = process_time() - begin
        error = case.error_of_frequencies(omega)
        return Measurement(name, case.name, resolution, h, 1, wall, error, float("nan"), whole_s)
    if case.t_end is None:
        wall, steps, state = at_rest(model, built, h)
        error = case.error(state.r[_node(built, case.watched)])
        return Measurement(name, case.name, resolution, h, steps, wall, error, float("nan"), whole_s)
    stepper = stepper_of(built, h, order)
    steps = round(case.t_end / h)
    begin = process_time()
    state, _ = stepper.advance(built.state, 0, steps)
    wall = process_time() - begin
    error = case.error(state.r[_node(built, case.watched)])
    return Measurement(
        name, case.name, resolution, h, steps, wall, error, _drift(case, built, state), whole_s
    )


def _called(case: Frame, resolution: int, h: float, element: str, order: int, mass: str) -> float:
    """Seconds of the call of a user, with the model."""
    begin = process_time()
    model = frame_model(case, resolution, element, mass)
    if case.frequencies:
        modes(model, len(case.frequencies))
    elif case.t_end is None:
        equilibrium(model, method=Newton(first_step=h))
    else:
        steps = round(case.t_end / h)
        name = "em" if order == 2 else f"em{order}"
        simulate(model, case.t_end, h, name, output_every=steps, progress=False)
    return process_time() - begin


def at_rest(model: Model, built: Built, h: float) -> tuple[float, int, State]:
    """Seconds in the load steps, their number, and the equilibrium."""
    statics = EquilibriumSystem(built.system, built.state, loading_of(model, built, None, (), 0.0, None))
    steps = [0]

    def reached(point: object) -> None:
        steps[0] += 1

    begin = process_time()
    failure = find_equilibrium(statics) or follow_load_steps(statics, 0.0, 1.0, h, reached).failure
    wall = process_time() - begin
    if failure is not None:
        raise RuntimeError(f"no equilibrium beyond load factor {statics.factor:.3g}")
    return wall, steps[0], statics.state


def frame_model(case: Frame, resolution: int, element: str, mass: str = "mean") -> Model:
    """Each beam is a rod; at each point the first beam carries the others, the clamp and the loads."""
    EA, GA2, GA3, GJ, EI2, EI3 = case.stiffness
    section = Section.from_stiffness(
        EA=EA,
        GA=(GA2, GA3),
        GJ=GJ,
        EI=(EI2, EI3),
        mass_per_length=case.mass_per_length,
        inertia_per_length=case.inertia_per_length,
    )
    model = Model(case.name)
    for i, beam in enumerate(case.beams):
        curve = np.array([beam.start, beam.end])
        n = resolution * beam.elements
        rod = model.add_rod(f"beam{i}", curve, section, n_elements=n, up=case.up, element=element, mass=mass)
        for k, (point, end) in enumerate(((beam.start, rod.start), (beam.end, rod.end))):
            other = _anchor(model, case, point, i)
            if other is not None:
                model.add_joint(f"weld{i}-{k}", "weld", other, end)
    for i, point in enumerate(case.clamps):
        model.add_joint(f"clamp{i}", "clamp", _anchor_held(model, case, point))
    for loads, add in ((case.forces, model.add_force), (case.moments, model.add_moment)):
        for i, (point, value) in enumerate(loads):
            add(f"{add.__name__[4:]}{i}", _anchor_held(model, case, point), value)
    return model


def _anchor_held(model: Model, case: Frame, point: Triple) -> Anchor:
    anchor = _anchor(model, case, point, len(case.beams))
    assert anchor is not None
    return anchor


def _anchor(model: Model, case: Frame, point: Triple, before: int) -> Anchor | None:
    """The point on the first of the beams up to `before` that contains it."""
    for i, beam in enumerate(case.beams[:before]):
        along = np.subtract(beam.end, beam.start)
        s = float(np.dot(np.subtract(point, beam.start), along) / (along @ along))
        distance = np.linalg.norm(np.subtract(point, beam.start) - s * along)
        if distance < 1e-9 and -1e-9 < s < 1.0 + 1e-9:
            return model.rods[f"beam{i}"].at(min(max(s, 0.0), 1.0))
    return None


def _node(built: Built, point: Triple) -> int:
    """The frame at a point of a beam at t = 0; the ground is excluded."""
    return 1 + int(np.argmin(np.linalg.norm(built.state.r[1:] - np.array(point), axis=1)))


def _drift(case: Frame, built: Built, state: State) -> float:
    """Difference between energy and the work of the dead forces, relative to that work."""
    work = 0.0
    for point, force in case.forces:
        k = _node(built, point)
        work += float(np.dot(force, state.r[k] - built.state.r[k]))
    return (energies(built.system, state).total - energies(built.system, built.state).total - work) / work
