"""The rigid test models of the peers in rodsim, through its public API."""

from __future__ import annotations

import warnings
from time import process_time

import numpy as np

from benchmarks.measurement import Measurement
from benchmarks.mechanisms import GROUND, Joint, Mechanism
from benchmarks.rodsim_stepper import stepper_of
from discretization.state_measures import energies
from rigid import quaternions
from rigid.errors import RedundantJointsWarning
from rodsim import MassProperties, Model, simulate

NAME = "rodsim"


def run(case: Mechanism, resolution: int, h: float, order: int = 2) -> Measurement:
    """One run with steps of h of `em` (order 2), or of its composition of order 4 or 6."""
    name = "em" if order == 2 else f"em{order}"
    with warnings.catch_warnings():
        if case.redundant:  # as known
            warnings.simplefilter("ignore", RedundantJointsWarning)
        begin, total_steps = process_time(), round(case.t_end / h)
        simulate(
            mechanism_model(case),
            case.t_end,
            case.t_end / total_steps,
            name,
            output_every=total_steps,
            progress=False,
        )
        whole_s = process_time() - begin
        built = mechanism_model(case).build()
    stepper = stepper_of(built, h, order)
    steps = round(case.t_end / h)
    before = energies(built.system, built.state).total
    begin = process_time()
    state, _ = stepper.advance(built.state, 0, steps)
    wall = process_time() - begin
    frame = 1 + [b.name for b in case.bodies].index(case.watched)  # frame 0 is the ground
    r = state.r[frame] + quaternions.rotate(state.quat[frame], np.array(case.point))
    scale = sum(b.mass for b in case.bodies) * float(np.linalg.norm(case.gravity)) * case.scale
    drift = (energies(built.system, state).total - before) / scale
    name = NAME if order == 2 else f"{NAME} em{order}"
    return Measurement(name, case.name, resolution, h, steps, wall, case.error(np.asarray(r)), drift, whole_s)


def mechanism_model(case: Mechanism) -> Model:
    """The case as a model."""
    model = Model(case.name, gravity=case.gravity)
    for b in case.bodies:
        model.add_body(
            b.name,
            MassProperties(b.mass, np.array(b.inertia)),
            position=b.r,
            orientation=b.quat,
            velocity=b.v,
            angular_velocity=b.omega,
        )
    for i, joint in enumerate(case.joints):
        _add_joint(model, case, f"joint{i}", joint)
    for i, s in enumerate(case.springs):
        ends = (_at(model, s.a, s.from_), _at(model, s.b, s.to))
        model.add_spring(f"spring{i}", *ends, stiffness=s.stiffness, length=s.length, damping=s.damping)
    return model


def _add_joint(model: Model, case: Mechanism, name: str, joint: Joint) -> None:
    if joint.kind == "distance":
        centres = [(0.0, 0.0, 0.0) if p == GROUND else case.body(p).r for p in (joint.a, joint.b)]
        model.add_joint(name, "distance", _at(model, joint.a, centres[0]), _at(model, joint.b, centres[1]))
        return
    parts = _part(model, joint.a), _part(model, joint.b)
    model.add_joint(name, joint.kind, *parts, joint.at, joint.axis, second_axis=joint.second)


def _part(model: Model, name: str):  # type: ignore[no-untyped-def]
    return model.ground if name == GROUND else model.bodies[name]


def _at(model: Model, name: str, point):  # type: ignore[no-untyped-def]
    return model.ground.at(point) if name == GROUND else model.bodies[name].at_world(point)
