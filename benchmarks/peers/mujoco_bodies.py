"""B3, B4 in MuJoCo: ball joints, or hinges of a chain in its plane; minimal coordinates, RK4, contacts and constraints off."""

from __future__ import annotations

from time import process_time
from typing import Any

import mujoco
import numpy as np

from benchmarks.cases import ChainCase, Floats, TopCase, steps_a_part
from benchmarks.measurement import Measurement

NAME = "MuJoCo"
# A diverged run would leave a log file in the working directory.
mujoco.set_mju_user_warning(lambda message: None)


def run(
    case: ChainCase | TopCase, resolution: int, h: float, integrator: str = "RK4", hinges: bool = False
) -> Measurement:
    """One run with steps of h; `resolution` is the number of bodies and is only a label of the result.

    `integrator`: RK4, or one of MuJoCo's first-order schemes, which evaluate the dynamics once a step (Euler,
    implicit, implicitfast). hinges: a chain rotates about y alone, or about its axes.
    """
    first = process_time()
    model = _compile(case, h, integrator, hinges)
    data = mujoco.MjData(model)
    if isinstance(case, TopCase):
        data.qpos[:] = case.quat
        data.qvel[:] = _rotation(np.array(case.quat)).T @ case.omega  # a ball joint's rates are body-fixed
    elif case.spin:
        data.qvel[:3] = 0.0, 0.0, case.spin  # rates of the first bar; the others rotate with it
    before = _energy(model, data)
    steps = steps_a_part(case.t_end, h, case.instants)
    last, half = model.nbody - 1, np.array([0.5, 0.0, 0.0])
    wall, ends = 0.0, []
    for _ in range(case.instants):
        begin = process_time()
        mujoco.mj_step(model, data, nstep=steps)
        wall += process_time() - begin
        mujoco.mj_kinematics(model, data)  # positions are those before the step until they are computed
        end = data.xipos[last].copy()
        if isinstance(case, ChainCase):
            end += data.ximat[last].reshape(3, 3) @ (case.bar_length * half)
        ends.append(end)
    whole_s = process_time() - first
    after = _energy(model, data)
    drift = (after - before) / case.energy_scale
    name = " ".join([NAME, *(["hinges"] if hinges else []), *([] if integrator == "RK4" else [integrator])])
    error, total = case.error(np.array(ends)), steps * case.instants
    return Measurement(name, case.name, resolution, h, total, wall, error, drift, whole_s)


def _compile(case: ChainCase | TopCase, h: float, integrator: str, hinges: bool) -> Any:
    """Build the model by calls, contacts and constraints off; XML stops at some 500 nested bodies."""
    spec = mujoco.MjSpec()
    spec.option.timestep = h
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    spec.option.gravity = (0.0, 0.0, -case.gravity) if isinstance(case, TopCase) else case.weight
    spec.option.disableflags = int(
        mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    )
    if isinstance(case, TopCase):
        _add_body(spec.worldbody, (0.0, 0.0, 0.0), case.mass, case.inertia, (0.0, 0.0, case.offset))
        return spec.compile()
    parent = spec.worldbody
    for i in range(case.n_bars):  # each bar's frame is at the joint towards the pinned end
        at = (case.bar_length if i else 0.0, 0.0, 0.0)
        axis = case.axes[i] if case.axes else (0.0, 1.0, 0.0)
        centre = (0.5 * case.bar_length, 0.0, 0.0)
        parent = _add_body(parent, at, case.mass, case.inertia, centre, axis if hinges else None)
    return spec.compile()


def _add_body(
    parent: Any,
    at: tuple[float, float, float],
    mass: float,
    inertia: tuple[float, float, float],
    centre: tuple[float, float, float],
    axis: tuple[float, float, float] | None = None,
) -> Any:
    body = parent.add_body(pos=at, mass=mass, inertia=inertia, ipos=centre, explicitinertial=True)
    if axis is not None:
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
    else:
        body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
    return body


def _energy(model: Any, data: Any) -> float:
    mujoco.mj_forward(model, data)
    mujoco.mj_energyPos(model, data)
    mujoco.mj_energyVel(model, data)
    return float(data.energy.sum())


def _rotation(quat: Floats) -> Floats:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quat)
    return matrix.reshape(3, 3)
