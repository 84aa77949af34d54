"""Stacked boxes, and a cable that swings in a tube, by MuJoCo.

`benchmarks.stacks` has the same models in rodsim.

MuJoCo's contact is a constraint whose depth decays with a time constant, here two steps, the shortest
allowed. A tube is the set of planes around it, since its meshes are convex.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import mujoco
import numpy as np

from benchmarks.cases import Floats

G = 9.81
SETTINGS: dict[str, dict[str, Any]] = {
    "Euler": {},
    "implicitfast, noslip": {"integrator": "IMPLICITFAST", "noslip": 10},
}
mujoco.set_mju_user_warning(lambda message: None)


def _spec(h: float, gravity: tuple[float, float, float], integrator: str = "EULER", noslip: int = 0) -> Any:
    spec = mujoco.MjSpec()
    option = spec.option
    option.timestep, option.gravity = h, gravity
    option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0
    option.noslip_iterations, option.tolerance, option.iterations = noslip, 1e-12, 200
    return spec


def _surface(h: float, mu: float) -> dict[str, Any]:
    options = {"solref": (2.0 * h, 1.0), "solimp": (0.99, 0.999, 1e-4, 0.5, 2.0), "margin": 0.0}
    return {**options, "condim": 3, "friction": (mu, 0.0, 0.0)} if mu else {**options, "condim": 1}


def stack(
    n: int, size: tuple[float, float, float], tilt: float, mu: float, h: float, t_end: float, **settings: Any
) -> tuple[Floats, Floats, float]:
    """Times, positions (t, n, 3), and processor time (s) for a second of motion; boxes of 1 kg on a plane,
    gravity tilted.
    """
    spec = _spec(h, (G * np.sin(tilt), 0.0, -G * np.cos(tilt)), **settings)
    plane, box = mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_BOX
    spec.worldbody.add_geom(type=plane, size=(10, 10, 1), **_surface(h, mu))
    for k in range(n):
        body = spec.worldbody.add_body(name=f"it {k}", pos=(0, 0, (k + 0.5) * size[2]))
        body.add_freejoint()
        body.add_geom(type=box, size=[0.5 * edge for edge in size], mass=1.0, **_surface(h, mu))
    model = spec.compile()
    data, steps, every = mujoco.MjData(model), round(t_end / h), round(0.1 / h)
    times, positions, begun = [], [], process_time()
    for k in range(steps):
        mujoco.mj_step(model, data)
        if (k + 1) % every == 0:
            times.append((k + 1) * h)
            positions.append(data.xpos[1:].copy())
    return np.array(times), np.array(positions), (process_time() - begun) / t_end


def dropped(
    centres: list[tuple[float, float, float]],
    size: tuple[float, float, float],
    mu: float,
    h: float,
    t_end: float,
) -> tuple[float, float]:
    """Return the largest speed at the end, m/s, and the processor time of the whole call, s, of boxes of 1 kg."""
    begun = process_time()
    spec = _spec(h, (0.0, 0.0, -G))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(10, 10, 1), **_surface(h, mu))
    for k, at in enumerate(centres):
        body = spec.worldbody.add_body(name=f"it {k}", pos=at)
        body.add_freejoint()
        box = mujoco.mjtGeom.mjGEOM_BOX
        body.add_geom(type=box, size=[0.5 * side for side in size], mass=1.0, **_surface(h, mu))
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(t_end / h))
    return float(np.abs(data.qvel.reshape(-1, 6)[:, :3]).max()), process_time() - begun


def cable(
    n: int,
    length: float,
    radius: float,
    tube: float,
    sides: int,
    angle: float,
    mass: float,
    EI: float,
    h: float,
    t_end: float,
) -> tuple[Floats, Floats, Floats, float]:
    """Times, angles about the tube's axis and energies of a cable of n capsules, and processor time (s) for a
    second of motion.
    """
    spec, link_length = _spec(h, (0.0, 0.0, -G)), length / n
    option = {"contype": 1, "conaffinity": 2, **_surface(h, 0.0)}
    for k in range(sides):
        azimuth = 2.0 * np.pi * (k + 0.5) / sides
        out = np.array([0.0, np.sin(azimuth), -np.cos(azimuth)])
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE, pos=tube * out, zaxis=-out, size=(1, 1, 1), **option
        )
    parent, at = spec.worldbody, (tube - radius) * np.array([0.0, np.sin(angle), -np.cos(angle)])
    option = {"contype": 2, "conaffinity": 1, **_surface(h, 0.0)}
    for k in range(n):
        body = parent.add_body(name=f"link {k}", pos=at if k == 0 else (link_length, 0.0, 0.0))
        if k == 0:
            body.add_freejoint()
        else:
            ball = mujoco.mjtJoint.mjJNT_BALL
            body.add_joint(name=f"ball {k}", type=ball, stiffness=(EI / link_length, 0, 0))
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=(0, 0, 0, link_length, 0, 0),
            size=(radius, 0, 0),
            mass=mass / n,
            **option,
        )
        parent = body
    model = spec.compile()
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data, steps, every = mujoco.MjData(model), round(t_end / h), max(round(5e-3 / h), 1)
    times, angles, energies, begun = [], [], [], process_time()
    mujoco.mj_forward(model, data)
    for k in range(steps + 1):
        if k % every == 0:
            mean = data.xipos[1:].mean(axis=0)
            mujoco.mj_energyPos(model, data)
            mujoco.mj_energyVel(model, data)
            times.append(k * h)
            angles.append(np.arctan2(mean[1], -mean[2]))
            energies.append(data.energy.sum())
        mujoco.mj_step(model, data)
    return np.array(times), np.array(angles), np.array(energies), (process_time() - begun) / t_end
