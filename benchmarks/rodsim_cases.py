"""B1 to B4 in rodsim: models through its public API; the march between two outputs is timed."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks.cases import ChainCase, Floats, RodCase, TopCase, steps_a_part
from benchmarks.measurement import Measurement
from benchmarks.rodsim_stepper import stepper_of
from discretization.space.rod_elements import SE3
from discretization.state_measures import energies
from rigid import quaternions
from rigid.system import State
from rodsim import Box, Cone, Model, Section, signals, simulate
from rodsim.building.build import Built

Case = RodCase | ChainCase | TopCase

NAME = "rodsim"


def run(case: Case, resolution: int, h: float, order: int = 2, element: str = SE3) -> Measurement:
    """One run with steps of h of `em` (order 2), or of its composition of order 4, 6 or 8; element: that of
    the rods.
    """
    begin = process_time()
    simulate(
        model_of(case, resolution, element),
        case.t_end,
        h,
        "em" if order == 2 else f"em{order}",
        output_every=round(case.t_end / h),
        progress=False,
    )
    whole_s = process_time() - begin
    built = build(case, resolution, element)
    system, state = built.system, built.state
    stepper = stepper_of(built, h, order)
    steps = steps_a_part(case.t_end, h, case.instants)
    unloaded = round(case.t_energy / case.t_end * case.instants) if isinstance(case, RodCase) else 0

    wall, energy, ends = 0.0, [energies(system, state).total], []
    while len(ends) < case.instants:
        begin = process_time()
        states, _ = stepper.record(state, len(ends) * steps, steps, case.instants - len(ends))
        wall += process_time() - begin
        for k in range(len(states.r)):
            state = State(*(array[k].copy() for array in states))
            energy.append(energies(system, state).total)
            ends.append(watched(case, state))
    before = energy[unloaded]
    drift = (energy[-1] - before) / _energy_scale(case, before)
    name = NAME if order == 2 else f"{NAME} em{order}"
    name += "" if element == SE3 else f" {element}"
    error = case.error(*np.array(ends).transpose(1, 0, 2))
    total = steps * case.instants
    return Measurement(name, case.name, resolution, h, total, wall, error, drift, whole_s)


def model_of(case: Case, resolution: int, element: str = SE3) -> Model:
    """The case as a model, with `resolution` elements or bars."""
    if isinstance(case, RodCase):
        # free tumbling rod: consistent mass, as in Exudyn's beam; bending rod: the default
        return rod_model(case, resolution, "mean" if case.clamped else "consistent", element)
    return _MODELS[type(case)](case, resolution)


def build(case: Case, resolution: int, element: str = SE3) -> Built:
    """Build the case as arrays."""
    return model_of(case, resolution, element).build()


def rod_model(
    case: RodCase,
    n_elements: int,
    mass: str,
    element: str = SE3,
    section: Callable[[Section], Section] = lambda plain: plain,
) -> Model:
    """The rod of `case` with its clamp and loads; section: further data of its section."""
    EA, GA2, GA3, GJ, EI2, EI3 = case.stiffness
    plain = Section.from_stiffness(
        EA=EA,
        GA=(GA2, GA3),
        GJ=GJ,
        EI=(EI2, EI3),
        mass_per_length=case.mass_per_length,
        inertia_per_length=case.inertia_per_length,
    )
    model = Model(case.name, gravity=case.weight)
    rod = model.add_rod(
        "rod",
        np.array([case.start, case.end]),
        section(plain),
        n_elements=n_elements,
        mass=mass,
        element=element,
    )
    if case.clamped:
        model.add_joint("clamp", "clamp", rod.start, model.ground)
    if case.peak:
        pulse = signals.Triangle(peak=case.peak, t_peak=case.t_peak, t_end=case.t_unloaded)
        model.add_force("force", rod.start, pulse.along(case.force))
        model.add_moment("moment", rod.start, pulse.along(case.moment))
    return model


def chain_model(case: ChainCase, n_bars: int) -> Model:
    model = Model(case.name, gravity=case.weight)
    bar = Box(case.bar_length, case.bar_side, case.bar_side, density=case.density)
    last = model.ground.at((0.0, 0.0, 0.0))
    half = 0.5 * case.bar_length
    for i in range(n_bars):
        r = ((i + 0.5) * case.bar_length, 0.0, 0.0)
        turning = {"velocity": (0.0, case.spin * r[0], 0.0), "angular_velocity": (0.0, 0.0, case.spin)}
        body = model.add_body(f"bar{i}", bar, position=r, **(turning if case.spin else {}))
        parent = last, body.at((-half, 0.0, 0.0))
        if case.axes:
            model.add_joint(f"joint{i}", "revolute", *parent, axis=case.axes[i])
        else:
            model.add_joint(f"joint{i}", "spherical", *parent)
        last = body.at((half, 0.0, 0.0))
    return model


def _top(case: TopCase, n_bodies: int) -> Model:
    model = Model(case.name, gravity=(0.0, 0.0, -case.gravity))
    cone = Cone(radius=case.radius, height=case.height, density=case.density)
    top = model.add_body("top", cone, orientation=case.quat, angular_velocity=case.omega)
    model.add_joint("tip", "spherical", model.ground.at((0.0, 0.0, 0.0)), top.at((0.0, 0.0, 0.0)))
    return model


_MODELS: dict[type, Callable[[Any, int], Model]] = {ChainCase: chain_model, TopCase: _top}


def watched(case: Case, state: State) -> list[Floats]:
    """Points (3,) at which errors are evaluated.

    Frame 0 is the ground, the others follow in the order they were added.
    """
    if isinstance(case, RodCase):
        return [state.r[1], state.r[-1]]
    if isinstance(case, TopCase):
        return [state.r[1]]
    half = np.array([0.5 * case.bar_length, 0.0, 0.0])
    return [state.r[-1] + np.asarray(quaternions.rotate(state.quat[-1], half))]


def _energy_scale(case: Case, before: float) -> float:
    if isinstance(case, RodCase):
        weight = case.mass_per_length * case.length * case.gravity
        return abs(before) if case.peak else weight * case.length
    return case.energy_scale
