"""B1 to B4 in rodsim: models through its public API, the march between two outputs on the clock."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks.cases import ChainCase, RodCase, TopCase
from benchmarks.measurement import Measurement
from discretization.measures import energies
from discretization.space.rod_elements import SE3
from discretization.time.stepper import Stepper
from rigid import quaternions
from rigid.system import State
from rodsim import Box, Cone, Model, Section, signals
from rodsim.building import Built

Case = RodCase | ChainCase | TopCase

NAME = "rodsim"


def run(case: Case, resolution: int, h: float, order: int = 2, element: str = SE3) -> Measurement:
    """One run with steps of h of `em` (order 2), or of its composition of order 4 or 6; element: of rods."""
    built = build(case, resolution, element)
    system, state = built.system, built.state
    stepper = Stepper(system, h, order, built.load_values)
    steps = round(case.t_end / h)
    loaded = round(case.t_energy / h) if isinstance(case, RodCase) else 0

    wall = 0.0
    before = energies(system, state).total
    for first, last in ((0, loaded), (loaded, steps)):
        if first == last:
            continue
        before = energies(system, state).total
        begin = process_time()
        state, _ = stepper.advance(state, first, last - first)
        wall += process_time() - begin
    drift = (energies(system, state).total - before) / _energy_scale(case, before)
    name = NAME if order == 2 else f"{NAME} em{order}"
    name += "" if element == SE3 else f" {element}"
    return Measurement(name, case.name, resolution, h, steps, wall, _error(case, state), drift)


def build(case: Case, resolution: int, element: str = SE3) -> Built:
    """The case as arrays, with `resolution` elements or bars."""
    if isinstance(case, RodCase):
        # a rod that tumbles freely: consistent mass, as in Exudyn's beam; one that bends: the default
        return rod_model(case, resolution, "mean" if case.clamped else "consistent", element).build()
    return _MODELS[type(case)](case, resolution).build()


def rod_model(
    case: RodCase,
    n_elements: int,
    mass: str,
    element: str = SE3,
    section: Callable[[Section], Section] = lambda plain: plain,
) -> Model:
    """The rod of `case` with its clamp and loads; section: what else its section has."""
    EA, GA2, GA3, GJ, EI2, EI3 = case.stiffness
    plain = Section.from_stiffness(
        EA=EA,
        GA=(GA2, GA3),
        GJ=GJ,
        EI=(EI2, EI3),
        mass_per_length=case.mass_per_length,
        inertia_per_length=case.inertia_per_length,
    )
    model = Model(case.name, gravity=(0.0, 0.0, -case.gravity))
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
    model = Model(case.name, gravity=(0.0, 0.0, -case.gravity))
    bar = Box(case.bar_length, case.bar_side, case.bar_side, density=case.density)
    last = model.ground.at((0.0, 0.0, 0.0))
    half = 0.5 * case.bar_length
    for i in range(n_bars):
        body = model.add_body(f"bar{i}", bar, position=((i + 0.5) * case.bar_length, 0.0, 0.0))
        model.add_joint(f"joint{i}", "spherical", last, body.at((-half, 0.0, 0.0)))
        last = body.at((half, 0.0, 0.0))
    return model


def _top(case: TopCase, n_bodies: int) -> Model:
    model = Model(case.name, gravity=(0.0, 0.0, -case.gravity))
    cone = Cone(radius=case.radius, height=case.height, density=case.density)
    top = model.add_body("top", cone, orientation=case.quat, angular_velocity=case.omega)
    model.add_joint("tip", "spherical", model.ground.at((0.0, 0.0, 0.0)), top.at((0.0, 0.0, 0.0)))
    return model


_MODELS: dict[type, Callable[[Any, int], Model]] = {ChainCase: chain_model, TopCase: _top}


def _error(case: Case, state: State) -> float:
    """Frame 0 is the ground, the others follow in the order they were added."""
    if isinstance(case, RodCase):
        return case.error(state.r[1], state.r[-1])
    if isinstance(case, TopCase):
        return case.error(state.r[1])
    half = np.array([0.5 * case.bar_length, 0.0, 0.0])
    return case.error(state.r[-1] + np.asarray(quaternions.rotate(state.quat[-1], half)))


def _energy_scale(case: Case, before: float) -> float:
    if isinstance(case, RodCase):
        weight = case.mass_per_length * case.length * case.gravity
        return abs(before) if case.peak else weight * case.length
    return case.energy_scale
