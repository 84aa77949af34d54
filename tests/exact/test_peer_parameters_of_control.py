"""Models that are driven by controllers and muscles, with the parameters of Exudyn's and PyElastica's files.

Exudyn's numbers belong to its steps of 1 ms: it dissipates high frequencies, and these models have some. So its numbers are
reproduced twice. `generalized_alpha`, in minimal coordinates and with Exudyn's settings, gives them to 1e-5: parameters and
controller are its own. The same equations integrated with an error of 1e-10 give the numbers that rodsim must converge to.
"""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import rodsim
from examples import reaching_arm, robot
from examples.contact import snake
from rodsim import MassProperties, Model, audit, simulate
from rodsim.interactions import distance, push_distance, real
from tests.support.sections import round_section


def generalized_alpha(derivatives, control, q, p, h, n, rho=0.5):
    """Take n steps h from rest at q, with a control held in each step, and the trapezoidal rule for the states p.

    derivatives(q, v, p, u) -> accelerations, rates of p; control(t, q, v) -> u, called with the end of the step. Returns q, v, p
    and the last u. The initial accelerations are those without control.
    """
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + af - am
    beta = 0.25 * (gamma + 0.5) ** 2
    v, u = np.zeros_like(q), control(0.0, q, np.zeros_like(q)) * 0.0
    a, rate = derivatives(q, v, p, u)
    mean, k = a, len(q)
    for step in range(n):
        u = control((step + 1) * h, q, v)
        guess = np.concatenate([a, rate])
        size = 1.0 + np.abs(guess)

        def end(x, size=size, q=q, v=v, p=p, a=a, rate=rate, mean=mean):
            x = x * size
            new = ((1 - af) * x[:k] + af * a - am * mean) / (1 - am)
            return (
                q + h * v + h * h * ((0.5 - beta) * mean + beta * new),
                v + h * ((1 - gamma) * mean + gamma * new),
                p + 0.5 * h * (rate + x[k:]),
                new,
            )

        def residual(x, size=size, end=end, u=u):
            return (np.concatenate(derivatives(*end(x)[:3], u)) - x * size) / size

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the last digits
            x = fsolve(residual, guess / size, xtol=1e-12)
        assert np.abs(residual(x)).max() < 1e-8
        q, v, p, mean = end(x)
        a, rate = x[:k] * size[:k], x[k:] * size[k:]
    return q, v, p, u


# --- EX/serialRobotTest: six hinges, feedback and compensated weights, in steps of 1 ms

ROBOT = {  # s -> angles, rad, of the equations in minimal coordinates
    0.1: (
        0.000358144554937,
        0.126986161444,
        0.255687984064,
        8.80043280384e-07,
        0.12655392513,
        2.5662716285e-07,
    ),
    0.2: (
        -0.00031746199932,
        0.363833160073,
        0.725569656158,
        6.62525633589e-07,
        0.363657498449,
        1.57348831953e-08,
    ),
}
TORQUES = (
    12.6303655872,
    -76.5610147071,
    -12.9637251391,
    5.47236000638e-05,
    -0.0870921399158,
    6.71803683337e-07,
)  # N m, held until 0.2 s


def mass_matrix(q):
    """Return the mass matrix (6, 6) of the robot, kg m^2, by the velocities of its links."""
    R, origin, axes, points, M = np.eye(3), np.zeros(3), [], [], np.zeros((6, 6))
    for i in range(6):
        axes.append(R[:, 2])
        points.append(origin)
        R, way = robot.link_frame(R, i, q[i])
        origin = origin + way
        center = np.cross(axes, origin + R @ robot.CENTER[i] - points)
        turned = np.array(axes) @ R
        on_link = robot.MASS[i] * center @ center.T + turned * robot.INERTIA[i] @ turned.T
        M[: i + 1, : i + 1] += on_link
    return M


def accelerations(q, v, u):
    """Return the angular accelerations (6,) of the robot with torques u."""
    return np.linalg.solve(mass_matrix(q), u - robot.inverse_dynamics(q, v, np.zeros(6)))


def torques(t, q, v):
    """Return the torques (1) of the example for a period that ends at t."""
    u = np.zeros(6)
    robot.feedback(t - robot.PERIOD, robot.PERIOD, np.concatenate([q, v]), np.zeros(0), u)
    return u


def run_robot(law, t_end, dt=robot.PERIOD, method="em"):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return simulate(robot.robot(law), t_end, dt, method, output_every=1, progress=False)


def held_torques(result):
    return np.array([result.controller("control").output(f"u{i}")[-1] for i in range(6)])


@pytest.mark.slow
def test_exudyn_robot_is_the_one_of_its_file():
    """Exudyn's test states minus the sum of the torques in 100 N m, 0.7681856909852399, and prints the angles."""
    none = np.zeros(0)
    q, _, _, u = generalized_alpha(
        lambda q, v, p, u: (accelerations(q, v, u), none), torques, np.zeros(6), none, 1e-3, 200
    )
    assert -u.sum() / 100 == pytest.approx(0.7681856909852399, rel=1e-5)
    printed = (
        -3.19543456e-04,
        3.63829923e-01,
        7.25569701e-01,
        2.42757634e-07,
        3.63658987e-01,
        -5.07549126e-08,
    )
    assert q == pytest.approx(printed, abs=2e-8)
    y = np.zeros(12)
    for k in range(200):
        u = torques((k + 1) * 1e-3, y[:6], y[6:])
        run = solve_ivp(
            lambda t, y, u=u: np.concatenate([y[6:], accelerations(y[:6], y[6:], u)]),
            (0.0, 1e-3),
            y,
            "DOP853",
            first_step=1e-3,
            rtol=1e-10,
            atol=1e-12,
        )
        y = run.y[:, -1]
        if k == 99:
            assert y[:6] == pytest.approx(ROBOT[0.1], abs=1e-11)
    assert y[:6] == pytest.approx(ROBOT[0.2], abs=1e-11)
    assert u == pytest.approx(TORQUES, abs=1e-7)


def test_exudyn_robot_follows_its_trajectory_with_sampled_feedback():
    result = run_robot(robot.feedback, 0.2, method="em4")
    for t, angles in ROBOT.items():
        assert robot.angles(result)[result.index_at(t)] == pytest.approx(angles, abs=1e-11)
    u = held_torques(result)
    assert u == pytest.approx(TORQUES, abs=1e-7)
    assert -u.sum() / 100 == pytest.approx(0.7681856909852399, rel=2.5e-3)  # with the error of its steps
    balance = result.work - result.energy["total"] + result.energy["total"][0]
    assert np.abs(balance).max() < 1e-11 * np.abs(result.work).max()
    assert audit(result).ok


def test_exudyn_robot_converges_with_the_order_of_the_method():
    errors = []
    for dt in (5e-4, 2.5e-4):
        angles = robot.angles(run_robot(robot.feedback, 0.2, dt))[-1]
        errors.append(np.abs(angles - ROBOT[0.2]).max())
    assert errors[0] < 5e-7
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def test_computed_torque_follows_the_trajectory_a_thousand_times_closer():
    def largest_error(law):
        result = run_robot(law, 1.0)
        wanted = np.array([robot.trajectory(t)[0] for t in result.t])
        return np.abs(robot.angles(result) - wanted).max()

    assert largest_error(robot.feedback) == pytest.approx(18.06e-3, rel=1e-2)
    assert largest_error(robot.computed_torque) < 2e-5


# --- EX/hydraulicActuatorSimpleTest: an arm on a cylinder, whose valve follows its length in steps of 1 ms

CYLINDER = {  # m^2, m^3, Pa, m^3/(s sqrt(Pa)), Pa, Pa, N s/m
    "area": 0.01,
    "volume": 1.0,
    "bulk": 1e11,
    "flow": 2e-5,
    "supply": 2e7,
    "tank": 0.0,
    "damping": 2e5,
}
LEVER, MASS, INERTIA, G = 0.25, 120.0, 40.0, 9.81  # m, kg, kg m^2 about the hinge, m/s^2
START, SAMPLE = LEVER * np.sqrt(2), 1e-3  # m, s


def wanted_length(t):
    """Return the length, m, that the valve should reach."""
    return 0.1 * (min(max(1.0 - np.cos(np.pi * t), 0.5), 1.5) - 0.5) + START


def valve(t, q, v):
    """Return the opening of both valves in the period that ends at t, for the angle q (1,)."""
    opening = 2.0 * (wanted_length(t) - LEVER * np.sqrt(2 + 2 * np.sin(q[0])))
    return np.array([opening, -opening])


def flow(opening, p):
    """Return the flow, m^3/s, from the supply, or to the tank if the opening is negative."""
    drop = CYLINDER["supply"] - p if opening >= 0 else p - CYLINDER["tank"]
    return opening * CYLINDER["flow"] * np.sign(drop) * np.sqrt(abs(drop))


def arm_equations(q, v, p, u):
    """Return the angular acceleration (1,) and the rates (2,) of the pressures."""
    slope = LEVER**2 * np.cos(q[0]) / (LEVER * np.sqrt(2 + 2 * np.sin(q[0])))
    area, speed = CYLINDER["area"], slope * v[0]
    pull = (p[1] - p[0]) * area + CYLINDER["damping"] * speed
    rates = [flow(u[k], p[k]) - side * area * speed for k, side in ((0, 1), (1, -1))]
    acceleration = (-MASS * G * 0.5 * np.cos(q[0]) - pull * slope) / INERTIA
    return np.array([acceleration]), CYLINDER["bulk"] / CYLINDER["volume"] * np.array(rates)


def exudyn_norm(q, p):
    """Return the number of Exudyn's test: norm of the displacements, and of the pressures in MPa."""
    return np.linalg.norm([0.5 * np.cos(q) - 0.5, 0.5 * np.sin(q), q]) + 1e-6 * np.linalg.norm(p)


def hydraulic_reference():
    """Return angle, rate and pressures (4,) at 0.4 s."""
    y = np.array([0.0, 0.0, 2e6, 2e6])
    for k in range(400):
        u = valve((k + 1) * SAMPLE, y[:1], y[1:2])
        run = solve_ivp(
            lambda t, y, u=u: np.concatenate([y[1:2], *arm_equations(y[:1], y[1:2], y[2:], u)]),
            (0.0, SAMPLE),
            y,
            "DOP853",
            rtol=1e-11,
            atol=[1e-14, 1e-14, 1e-6, 1e-6],
        )
        y = run.y[:, -1]
    return y


@rodsim.interaction("cylinder", 2, tuple(CYLINDER), states=("p0", "p1"), inputs=("opening",))
class CYLINDER_KIND:
    """Two chambers with oil; the valve of the second one opens as that of the first one closes."""

    def evolve(y0, y1, x0, x1, h, X, out):
        speed = distance(y0, y1, 0, 1)[2] / h
        for k in range(2):
            side, p = 1.0 - 2.0 * k, 0.5 * (x0[k] + x1[k])
            valve = side * X[7]
            drop = X[4] - p if valve.real >= 0.0 else p - X[5]
            root = real.sqrt(drop) if drop.real >= 0.0 else -real.sqrt(-drop)
            out[k] = (x1[k] - x0[k]) / h - X[2] / X[1] * (valve * X[3] * root - side * X[0] * speed)

    def step_dual(y0, y1, x0, x1, h, X, out):
        pull = 0.5 * X[0] * (x0[1] + x1[1] - x0[0] - x1[0]) + X[6] * distance(y0, y1, 0, 1)[2] / h
        push_distance(out, y0, y1, 0, 1, pull)


def opened(t, h, measured, memory, outputs):
    """Open the valve in proportion to the error of the length."""
    outputs[0] = 2.0 * (wanted_length(t + h) - measured[0])


def hydraulic_arm():
    """Return the arm, 1 m long, on its hinge and its cylinder."""
    model = Model("arm on a cylinder", gravity=(0, -G, 0))
    arm = model.add_body("arm", MassProperties(MASS, (1.0, 10.0, 10.0)), (0.5, 0, 0))
    model.add_joint("hinge", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 0, 1))
    ends = f"ground@0,{-LEVER},0", arm.at((LEVER - 0.5, 0, 0))
    length = model.add_sensor("length", rodsim.measures.distance(*ends))
    valve = model.add_controller("valve", opened, [length], period=SAMPLE)
    model.add_interaction(
        "cylinder", CYLINDER_KIND, *ends, **CYLINDER, opening=valve.output(), p0=2e6, p1=2e6
    )
    return model


def test_exudyn_hydraulic_arm_is_the_one_of_its_file():
    q, _, p, _ = generalized_alpha(arm_equations, valve, np.zeros(1), np.full(2, 2e6), SAMPLE, 400)
    assert exudyn_norm(q[0], p) == pytest.approx(7.130440021870293, rel=2e-6)


def test_exudyn_hydraulic_arm_rises_as_its_equations():
    reference = hydraulic_reference()
    errors = []
    for dt in (1e-3, 5e-4):
        result = simulate(hydraulic_arm(), 0.4, dt, output_every=1, progress=False)
        x, y, _ = result.body("arm").r[-1]
        angle, pressures = np.arctan2(y, x), result.state().internal[-2:]
        errors.append([angle - reference[0], *(pressures - reference[2:])])
    coarse, fine = np.abs(errors)
    assert fine == pytest.approx(coarse / 4, rel=0.02)
    assert np.all(fine < [1.3e-7, 60.0, 60.0])  # rad, Pa of 3e6 to 6e6
    assert exudyn_norm(angle, pressures) == pytest.approx(
        7.130440021870293, rel=5e-3
    )  # with the error of its steps
    assert audit(result).ok


# --- PE/ContinuumSnakeCase: its muscles as a controller, on a free rod: they are internal


def free_snake(n):
    """Return the snake without its ground; a controller sets the couples of its elements in each step."""
    section = round_section(snake.RADIUS, snake.DENSITY, snake.E)
    s = 1.0 - (np.arange(n) + 0.5) / n
    model = Model("free snake")
    rod = model.add_rod("snake", [(0, 0, 0), (0, 0, snake.LENGTH)], section, n)

    def wave(t, h, measured, memory, outputs):
        phase = snake.WAVE * ((t + 0.5 * h) / snake.PERIOD - s)
        couples = min((t + 0.5 * h) / snake.PERIOD, 1.0) * snake.BETA(s) * np.sin(phase)
        outputs[:] = np.diff(couples, prepend=0.0, append=0.0)

    names = [f"node {i}" for i in range(n + 1)]
    model.add_sensor("head", rodsim.measures.coordinate(rod.end, axis=(1, 0, 0)))
    muscles = model.add_controller("muscles", wave, ["head"], outputs=names)
    for i, name in enumerate(names):
        model.add_moment(name, rod.at(i / n), muscles.output(name).along((0, -1, 0)))
    return model


def test_pyelastica_muscles_bend_a_free_snake_and_conserve_its_momenta():
    """One period; elements and steps halved together."""
    shapes = []
    for n in (10, 20, 40):
        result = simulate(free_snake(n), snake.PERIOD, 0.1 / n, output_every=10, progress=False)
        assert audit(result).ok
        energy, work = result.energy["total"], result.work
        assert np.abs(energy - energy[0] - work).max() < 1e-11 * np.abs(work).max()
        size = np.pi * snake.RADIUS**2 * snake.DENSITY * snake.LENGTH * snake.LENGTH / snake.PERIOD
        assert np.abs(result.linear_momentum).max() < 1e-11 * size
        assert np.abs(result.angular_momentum).max() < 1e-11 * size * snake.LENGTH
        shapes.append(result.rod("snake").r[-1, :: n // 10])
    first, second = (np.abs(b - a).max() for a, b in pairwise(shapes))
    assert first / second == pytest.approx(4.0, abs=0.25)
    assert second < 5e-4
    assert np.linalg.norm(shapes[-1][-1] - shapes[-1][0]) == pytest.approx(0.2497, abs=2e-4)


# --- PE/ArmWithBasisFunctions/hierarchically_activated_arm_tip_sensor: the arm and the point at which its sensor looks


def test_pyelastica_arm_reaches_its_point_with_feedback_of_its_tip():
    """The curvature of the couples that the controller has found puts the tip there too, with the error of the elements."""
    distances = []
    for n in (20, 40):
        result = reaching_arm.run(n, 14.0)
        u = np.array([result.controller("brain").output(f"u{k}")[-1] for k in range(4)])
        tip = result.rod("arm").r[-1, -1, :2]
        assert tip == pytest.approx(reaching_arm.TARGET, abs=2e-6)
        distances.append(np.linalg.norm(reaching_arm.tip_by_curvature(u) - reaching_arm.TARGET))
    assert distances[1] < 2e-4
    assert distances[0] / distances[1] == pytest.approx(4.0, abs=0.4)
