"""The capstan of `examples/contact/capstan.py` in MuJoCo: a planar chain of capsules over a rotating drum.

Links are joined by hinges with the bending stiffness of the rope, EI over a link; both programs have the same
masses, friction, load, speed and air resistance. MuJoCo's chain has no stretch. Its contact is a constraint
with a reference acceleration (`time`: time constant of the depth) in place of a spring; `impratio` is the
relative stiffness of friction.
"""

from __future__ import annotations

from time import process_time
from typing import Any, NamedTuple

import mujoco
import numpy as np

from examples.contact.capstan import DRUM, MU, REACH, ROPE, TAIL

NAME = "MuJoCo"
LINE, EI, LOAD, SPEED, AIR = 0.02, 1e-5, 1.0, 0.4, 500.0  # kg/m, N m^2, N, rad/s, 1/s
mujoco.set_mju_user_warning(lambda message: None)


class Settings(NamedTuple):
    """Settings of MuJoCo."""

    drum: str = "capsule"  # or cylinder: analytic contact, or general convex contact
    balls: bool = False  # contact geometry: balls at the joints in place of capsules
    integrator: str = "implicitfast"
    cone: str = "elliptic"
    impratio: float = 10.0
    noslip: int = 0  # iterations
    time: float = 2.0  # time constant of the contact, in steps


class Capstan(NamedTuple):
    """Result of a run."""

    ratio: float  # holding force over load, mean over the second half
    spread: float  # its standard deviation there, from step to step
    smoothed: float  # standard deviation of means over a millisecond
    drift: float  # mean of the last quarter over that of the third, less 1
    slipped: float  # m, displacement of the rope's end in the second half
    depth: float  # m, largest depth there
    seconds: float  # processor time, s, of a second of motion


def run(n: int, h: float, t_end: float = 0.6, settings: Settings = Settings()) -> Capstan:  # noqa: B008
    """Run a rope of n links."""
    model, length = _compiled(n, h, settings)
    data = mujoco.MjData(model)
    drum, last = model.joint("axle").dofadr[0], model.body(f"link {n - 1}").id
    masses = model.body_mass.copy()
    masses[model.body("drum").id] = 0.0
    velocity, steps = np.zeros(6), round(t_end / h)
    tension, ends, deep, begun = np.empty(steps), np.empty(steps), 0.0, process_time()
    for k in range(steps):
        t = (k + 0.5) * h
        x = min(t / 0.05, 1.0)
        data.qvel[drum] = SPEED * x
        data.xfrc_applied[:] = 0.0
        for body in range(model.body("link 0").id, last + 1):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
            data.xfrc_applied[body, :3] = -AIR * masses[body] * velocity[3:]
        force = LOAD * x * x * x * (10.0 + x * (6.0 * x - 15.0))
        data.xfrc_applied[last, 2] -= force
        arm = data.xmat[last].reshape(3, 3) @ np.array([0.5 * length, 0.0, 0.0])
        data.xfrc_applied[last, 3:] += np.cross(arm, (0.0, 0.0, -force))
        mujoco.mj_step(model, data)
        tension[k] = np.linalg.norm(data.sensordata[:3])
        ends[k] = data.xipos[last, 2]
        if k > steps // 2 and data.ncon:
            deep = max(deep, -float(min(contact.dist for contact in data.contact)))
    seconds = (process_time() - begun) / t_end
    half, quarter = tension[steps // 2 :] / LOAD, steps // 4
    window = max(round(1e-3 / h), 1)
    means = half[: len(half) // window * window].reshape(-1, window).mean(axis=1)
    drift = tension[-quarter:].mean() / tension[-2 * quarter : -quarter].mean() - 1.0
    return Capstan(
        float(half.mean()),
        float(half.std()),
        float(means.std()),
        float(drift),
        float(np.ptp(ends[steps // 2 :])),
        deep,
        seconds,
    )


def _compiled(n: int, h: float, settings: Settings) -> tuple[Any, float]:
    """The model, and the length of a link: chords of the half circle, with straight ends."""
    length = (np.pi * REACH + 2.0 * TAIL) / n
    spec = mujoco.MjSpec()
    option = spec.option
    option.timestep, option.gravity = h, (0.0, 0.0, 0.0)
    option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{settings.integrator.upper()}")
    option.cone = getattr(mujoco.mjtCone, f"mjCONE_{settings.cone.upper()}")
    option.impratio, option.noslip_iterations = settings.impratio, settings.noslip
    option.tolerance, option.iterations = 1e-12, 200
    spec.compiler.degree = False
    surface = {
        "condim": 3,
        "friction": (MU, 0.0, 0.0),
        "solref": (settings.time * h, 1.0),
        "solimp": (0.99, 0.999, 1e-4, 0.5, 2.0),
    }
    drum = spec.worldbody.add_body(name="drum", mass=1e6, inertia=(1e6, 1e6, 1e6), explicitinertial=True)
    drum.add_joint(name="axle", type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0.0, 1.0, 0.0))
    kind = getattr(mujoco.mjtGeom, f"mjGEOM_{settings.drum.upper()}")
    drum.add_geom(
        type=kind, fromto=(0, -0.2, 0, 0, 0.2, 0), size=(DRUM, 0, 0), contype=1, conaffinity=2, **surface
    )
    directions = _directions(n, length)
    parent, place, before = spec.worldbody, np.array([-REACH, 0.0, -round(TAIL / length) * length]), 0.0
    for k, angle in enumerate(directions):
        # rotated about y so that its x axis is along the link
        half = 0.5 * (angle - before)
        body = parent.add_body(
            name=f"link {k}",
            pos=place if k == 0 else (length, 0.0, 0.0),
            quat=(np.cos(half), 0.0, np.sin(half), 0.0),
            mass=LINE * length,
            inertia=(LINE * length * ROPE**2, LINE * length**3 / 12.0, LINE * length**3 / 12.0),
            ipos=(0.5 * length, 0.0, 0.0),
            explicitinertial=True,
        )
        stiff = EI / length if k else 0.0
        body.add_joint(
            name=f"hinge {k}",
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=(0.0, 1.0, 0.0),
            stiffness=(stiff, 0.0, 0.0),
            damping=(1e-3 * stiff, 0.0, 0.0),
        )
        if settings.balls:
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                pos=(0.5 * length, 0, 0),
                size=(ROPE, 0, 0),
                contype=2,
                conaffinity=1,
                **surface,
            )
        else:
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                fromto=(0, 0, 0, length, 0, 0),
                size=(ROPE, 0, 0),
                contype=2,
                conaffinity=1,
                **surface,
            )
        if k == 0:
            body.add_site(name="end", pos=(0.0, 0.0, 0.0))
        parent, before = body, angle
    spec.add_sensor(
        name="held", type=mujoco.mjtSensor.mjSENS_FORCE, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="end"
    )
    return spec.compile(), length


def _directions(n: int, length: float) -> list[float]:
    """Angles about y of the x axes of the links: up, over the drum, down; chords touch it at their midpoints."""
    angle_per_link = 2.0 * np.arctan(0.5 * length / REACH)
    up, angles = round(TAIL / length), []
    for k in range(n):
        angle = -0.5 * np.pi + angle_per_link * max(0.0, k - up + 0.5)
        angles.append(float(min(angle, 0.5 * np.pi)))
    return angles
