"""A robot with six hinges follows a trajectory: feedback with the weights compensated, or computed torque.

The Puma 560 has the parameters of Exudyn's serialRobotTest, in the convention of Denavit and Hartenberg. From the axes of a link
to those of the next lead a rotation q_i about z, a displacement (a, 0, d) along the rotated axes, and a twist about x. The angles
q shall follow q_d(t), pieces of constant acceleration. Every millisecond a controller reads q and its rates v and sets

    u = P (q_d - q) + D (v_d - v) + G(q)                                                                 (1)
    u = ID(q, v, a_d + k_p (q_d - q) + k_d (v_d - v))                                                    (2)

with the torques G of the weights and the inverse dynamics ID, the recursion of Newton and Euler. With (2) the error e = q_d - q
would follow e'' + k_d e' + k_p e = 0 if it were sampled continuously. It lags behind by the time that an output is held.

    python -m examples.robot
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rigid import quaternions
from rodsim import MassProperties, Model, Result, measures, simulate

Array = NDArray[np.float64]
GRAVITY = np.array([0.0, 0.0, 9.81])  # as in the source: it hangs
PERIOD = 1e-3  # s
A, OFFSET, TWIST = np.array(  # m, m, rad
    [
        (0.0, 0.0, np.pi / 2),
        (0.4318, 0.0, 0.0),
        (0.0203, 0.15, -np.pi / 2),
        (0.0, 0.4318, np.pi / 2),
        (0.0, 0.0, -np.pi / 2),
        (0.0, 0.0, 0.0),
    ]
).T
MASS = np.array([20.0, 17.4, 4.8, 0.82, 0.34, 0.09])  # kg
CENTER = np.array(  # m
    [(0, 0, 0), (-0.3638, 0.006, 0.2275), (-0.0203, -0.0141, 0.07), (0, 0.019, 0), (0, 0, 0), (0, 0, 0.032)]
)
# kg m^2. No body has the moments of the first and third link of the source: (1e-8, 0.35, 1e-8) and (0.066, 0.086, 0.0125). The
# first link only rotates about its y axis. SHIFTED is moved from the second link to the third, across the axis of their hinge:
# both rotate alike about all directions perpendicular to it, so that the motion is the same.
SHIFTED = 0.005
INERTIA = np.array(
    [
        (0.35, 0.35, 0.35),
        (0.13 - SHIFTED, 0.524 - SHIFTED, 0.539),
        (0.066 + SHIFTED, 0.086, 0.0125 + SHIFTED),
        (0.0018, 0.0013, 0.0018),
        (0.0003, 0.0004, 0.0003),
        (0.00015, 0.00015, 4e-5),
    ]
)
P = np.array([40000.0, 40000.0, 40000.0, 100.0, 100.0, 10.0])  # N m
D = np.array([400.0, 400.0, 100.0, 1.0, 1.0, 0.05])  # N m s
K_P, K_D = 1e4, 200.0  # 1/s^2, 1/s
STATIONS = np.pi * np.array(
    [(0, 0, 0, 0, 0, 0), (0, 1 / 8, 1 / 4, 0, 1 / 8, 0), (1 / 2, -1 / 8, -1 / 8, 0, 1 / 4, 0), (0,) * 6]
)
TIMES = np.array([0.0, 0.25, 0.5, 1.0])  # s, at the stations


def link_frame(R: Array, i: int, q: float) -> tuple[Array, Array]:
    """Return the axes (3, 3) of link i and the way (3,) to its origin from that of the link before, whose axes are R."""
    c, s, ct, st = np.cos(q), np.sin(q), np.cos(TWIST[i]), np.sin(TWIST[i])
    turned = R @ np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])
    return turned @ np.array([(1.0, 0.0, 0.0), (0.0, ct, -st), (0.0, st, ct)]), turned @ (
        A[i],
        0.0,
        OFFSET[i],
    )


def inverse_dynamics(q: Array, v: Array, a: Array, gravity: Array = GRAVITY) -> Array:
    """Return the torques (6,), N m, of the hinges for angles, rates and accelerations (6,)."""
    R, origin, w, dw, acceleration = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), -gravity
    joints, forces = [], []
    for i in range(6):
        z = R[:, 2]
        joints.append((z, origin))
        dw, w = dw + a[i] * z + np.cross(w, v[i] * z), w + v[i] * z
        R, way = link_frame(R, i, q[i])
        center, J = R @ CENTER[i], (R * INERTIA[i]) @ R.T
        of_center = way + center
        force = MASS[i] * (acceleration + np.cross(dw, of_center) + np.cross(w, np.cross(w, of_center)))
        forces.append((force, J @ dw + np.cross(w, J @ w), origin + of_center))
        acceleration = acceleration + np.cross(dw, way) + np.cross(w, np.cross(w, way))
        origin = origin + way
    u, force, moment = np.zeros(6), np.zeros(3), np.zeros(3)  # the moment about the origin of the world
    for i in reversed(range(6)):
        f, m, at = forces[i]
        force, moment = force + f, moment + m + np.cross(at, f)
        z, at = joints[i]
        u[i] = z @ (moment - np.cross(at, force))
    return u


def trajectory(t: float) -> tuple[Array, Array, Array]:
    """Return angles, rates and accelerations (6,) at time t: up and down again with a constant acceleration in each piece."""
    k = min(int(np.searchsorted(TIMES, t, side="right")), len(TIMES) - 1)
    span = TIMES[k] - TIMES[k - 1]
    x, way = min((t - TIMES[k - 1]) / span, 1.0), STATIONS[k] - STATIONS[k - 1]
    if x < 0.5:
        return STATIONS[k - 1] + 2 * x * x * way, 4 * x / span * way, 4 / span**2 * way
    return STATIONS[k] - 2 * (1 - x) ** 2 * way, 4 * (1 - x) / span * way, -4 / span**2 * way * (x < 1.0)


def feedback(t: float, h: float, measured: Array, memory: Array, outputs: Array) -> None:
    """Set the torques (1), with the trajectory at the end of the period as in Exudyn."""
    q, v = measured[:6], measured[6:]
    wanted, rate, _ = trajectory(t + h)
    outputs[:] = P * (wanted - q) + D * (rate - v) + inverse_dynamics(q, np.zeros(6), np.zeros(6))


def computed_torque(t: float, h: float, measured: Array, memory: Array, outputs: Array) -> None:
    """Set the torques (2) for the middle of the period in which they are held."""
    wanted, rate, acceleration = trajectory(t + 0.5 * h)
    q, v = measured[:6] + 0.5 * h * measured[6:], measured[6:] + 0.5 * h * acceleration
    outputs[:] = inverse_dynamics(q, v, acceleration + K_P * (wanted - q) + K_D * (rate - v))


def robot(law: Callable[..., Any]) -> Model:
    """Return the robot at rest with all angles zero, driven by a law."""
    model = Model("Puma 560", gravity=GRAVITY)
    R, origin, before = np.eye(3), np.zeros(3), "ground"
    for i in range(6):
        at, axis = origin, R[:, 2]
        R, way = link_frame(R, i, 0.0)
        origin = origin + way
        link = MassProperties(MASS[i], INERTIA[i], center=CENTER[i])
        model.add_body(f"link {i}", link, origin, quaternions.from_matrix(R))
        model.add_joint(f"hinge {i}", "revolute", before, f"link {i}", at=at, axis=axis)
        model.add_sensor(f"q{i}", measures.angle(before, f"link {i}", axis=axis))
        before = f"link {i}"
    inputs = [f"q{i}" for i in range(6)]
    names = [f"u{i}" for i in range(6)]
    controller = model.add_controller(
        "control", law, inputs + [f"{x}.rate" for x in inputs], period=PERIOD, outputs=names
    )
    for i in range(6):
        model.add_joint_force(f"motor {i}", f"hinge {i}", controller.output(f"u{i}"))
    return model


def angles(result: Result) -> Array:
    """Return the angles (T, 6), rad, of a run."""
    return np.stack([result.sensor(f"q{i}").value for i in range(6)], axis=1)


if __name__ == "__main__":
    for law in (feedback, computed_torque):
        run = simulate(robot(law), 1.0, PERIOD, output_every=1, progress=False)
        error = angles(run) - np.array([trajectory(t)[0] for t in run.t])
        print(f"{law.__name__}: largest error {1e3 * np.abs(error).max():.3f} mrad")
