"""Validation case of Andrews' squeezer: seven bodies, ten revolute joints, three loops, nine redundant equations, one torque."""

from __future__ import annotations

import warnings

import numpy as np

from rigid.errors import RedundantJointsWarning
from rigid.inertia import MassProperties
from rodsim.model import Model
from rodsim.simulation import simulate
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values

# names of lengths, masses and points as in the Test Set for IVP Solvers
A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
D, DA, E, EA, RR, RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
SA, SB, SC, SD = 0.01874, 0.01043, 0.018, 0.02
TA, TB, U, UA, UB, ZF, ZT, FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
INERTIA = (2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
SPRING, LENGTH, TORQUE, T_END = 4530.0, 0.07785, 0.033, 0.03
# beta, Theta, gamma, Phi, delta, Omega, epsilon at the start, and their values and rates at t = 0.03
START = (
    -0.0617138900142764,
    0.0,
    0.45527981916307,
    0.222668390165886,
    0.487364979543843,
    -0.222668390165886,
    1.23054744454982,
)
ANGLES = (
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    1.048080741042263,
)
RATES = (
    1139.920302151208,
    -1424.379294994111,
    11.03291221937134,
    19.29337464421385,
    0.5735699284790808,
    -19.29337464421385,
    0.3231791658026955,
)


def along(angle: float, x: float, y: float = 0.0) -> np.ndarray:
    """Return (x, y) rotated by the angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x - s * y, s * x + c * y])


def squeezer() -> Model:
    """Return the model with bodies K1 to K7, whose origins are the centres of mass."""
    beta, theta, gamma, phi, delta, omega, epsilon = START
    angles = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    F, G, H = along(beta, RR), A + along(delta, ZT), A + along(epsilon, 0, -U)
    elbow = F - along(beta + theta, D)
    centres = (
        along(beta, RA),
        F - along(beta + theta, DA),
        B + along(gamma, SB, -SA),
        G + along(phi + delta, 0, EA - E),
        A + along(delta, TA, TB),
        H + along(omega + epsilon, ZF - FA),
        A + along(epsilon, -UB, -UA),
    )
    model = Model("Andrews' squeezer")
    K = [
        model.add_body(
            f"K{k + 1}",
            MassProperties(MASS[k], np.eye(3) * INERTIA[k]),
            (*centres[k], 0.0),
            (np.cos(angles[k] / 2), 0.0, 0.0, np.sin(angles[k] / 2)),
        )
        for k in range(7)
    ]
    pins = (
        ("O", model.ground, K[0], (0.0, 0.0)),
        ("F", K[0], K[1], F),
        ("E3", K[1], K[2], elbow),
        ("E4", K[1], K[3], elbow),
        ("E6", K[1], K[5], elbow),
        ("B", model.ground, K[2], B),
        ("G", K[3], K[4], G),
        ("A5", model.ground, K[4], A),
        ("H", K[5], K[6], H),
        ("A7", model.ground, K[6], A),
    )
    for name, a, b, at in pins:
        model.add_joint(name, "revolute", a, b, at=(*at, 0.0), axis=(0, 0, 1))
    hook = B + along(gamma, SD, -SC)
    model.add_spring("spring", model.ground.at((*C, 0)), K[2].at_world((*hook, 0)), SPRING, length=LENGTH)
    model.add_moment("drive", K[0].at((0, 0, 0)), (0.0, 0.0, TORQUE))
    return model


def squeezed(level: int) -> Values:
    """Compute all coordinates of the Test Set, and the energy balance with the work of the torque."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantJointsWarning)
        run = simulate(squeezer(), T_END, T_END / (150, 300)[level], "em6", output_every=1)
    turns, rates = [], []
    for k in range(7):
        body = run.body(f"K{k + 1}")
        angle = np.unwrap(2 * np.arctan2(body.quat[:, 3], body.quat[:, 0]))
        turns.append(angle[-1] - angle[0])
        rates.append(body.Omega[-1, 2])
    energy, drive = run.energy["total"], TORQUE * turns[0]
    return {
        "angles": relative(np.array(turns)) + START,
        "rates": relative(np.array(rates)),
        "work - energy": (drive - energy[-1] + energy[0]) / drive,
    }


def relative(x: np.ndarray) -> np.ndarray:
    """Return angles or rates (7,) as in the Test Set: K2, K4 and K6 are counted relative to K1, K5 and K7."""
    return np.array([x[0], x[1] - x[0], x[2], x[3] - x[4], x[4], x[5] - x[6], x[6]])


CASES = (
    Case(
        "squeezer",
        "IFToMM A03: Andrews' squeezer of revolute joints, 1000 rad/s after 0.03 s",
        "Test Set for IVP Solvers, Andrews' squeezing mechanism, PSIDE with tolerance 1e-14",
        {
            # sixteen digits are given, but meshes and orders here, and an extrapolation method, agree on a mechanism that is
            # 1e-12 s behind them: 1.2e-9 in beta and Theta at 1100 and 1400 rad/s, 6e-7 in rates that change by 6e5 rad/s^2
            "angles": ReferenceValue(ANGLES, 2e-9, 1.0),
            "rates": ReferenceValue(RATES, 9e-7, 1e3),
            "work - energy": ReferenceValue(0.0, 1e-11, 1.0),
        },
        squeezed,
        Meshes("em6, h = 2e-4", "em6, h = 1e-4", 6, 1e-5),
    ),
)
