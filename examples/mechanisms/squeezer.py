"""Andrews' squeezer (IFToMM benchmark A03, Test Set for IVP Solvers): seven bodies in a plane, driven by a constant torque.

Ten revolute joints, all about z, make three loops that have nine equations more than they need. The drive reaches 1000 rad/s
within 0.03 s. Names of lengths, masses and places are those of the Test Set.

At t = 0.03 s the point F is at (-6.96303942622e-3, -7.18388438694e-4) m and G at (-3.47152190499e-2, 1.77580938723e-2) m.
"""

import numpy as np

from rodsim import MassProperties, Model, simulate

A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
D, DA, E_, EA, RR, RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
SS, SA, SB, SC, SD = 0.035, 0.01874, 0.01043, 0.018, 0.02
TA, TB, U, UA, UB, ZF, ZT, FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
INERTIA = (2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
C0, L0, TORQUE = 4530.0, 0.07785, 0.033
START = (
    -0.0617138900142764,
    0.0,
    0.45527981916307,
    0.222668390165886,
    0.487364979543843,
    -0.222668390165886,
    1.23054744454982,
)  # beta, Theta, gamma, Phi, delta, Omega, epsilon


def along(angle: float, x: float, y: float = 0.0) -> np.ndarray:
    """(x, y) turned by the angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x - s * y, s * x + c * y])


def squeezer() -> Model:
    """Bodies "K1" to "K7"; their axes x, y are those of the Test Set's angles, their origins the centres of mass."""
    beta, theta, gamma, phi, delta, omega, epsilon = START
    angles = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    F = along(beta, RR)
    E = F - along(beta + theta, D)
    G, H = A + along(delta, ZT), A + along(epsilon, 0, -U)
    centres = (
        along(beta, RA),
        F - along(beta + theta, DA),
        B + along(gamma, SB, -SA),
        G + along(phi + delta, 0, -(E_ - EA)),
        A + along(delta, TA, TB),
        H + along(omega + epsilon, ZF - FA),
        A + along(epsilon, -UB, -UA),
    )
    model = Model("squeezer")
    bodies = [
        model.add_body(
            f"K{k + 1}",
            MassProperties(mass, np.eye(3) * inertia),
            (*centre, 0),
            (np.cos(angle / 2), 0, 0, np.sin(angle / 2)),
        )
        for k, (mass, inertia, centre, angle) in enumerate(zip(MASS, INERTIA, centres, angles, strict=True))
    ]
    K1, K2, K3, K4, K5, K6, K7 = bodies
    ground = model.ground
    for name, a, b, at in (
        ("O", ground, K1, (0, 0)),
        ("F", K1, K2, F),
        ("E3", K2, K3, E),
        ("E4", K2, K4, E),
        ("E6", K2, K6, E),
        ("B", ground, K3, B),
        ("G", K4, K5, G),
        ("A5", ground, K5, A),
        ("H", K6, K7, H),
        ("A7", ground, K7, A),
    ):
        model.add_joint(name, "revolute", a, b, at=(*at, 0), axis=(0, 0, 1))
    hook = B + along(gamma, SD, -SC)
    model.add_spring("spring", ground.at((*C, 0)), K3.at_world((*hook, 0)), stiffness=C0, length=L0)
    model.add_moment("drive", K1.at((0, 0, 0)), (0, 0, TORQUE))
    return model


def points(result, index: int = -1) -> dict[str, np.ndarray]:
    """F and G (2,), m, at one output."""
    at = {"F": result.body("K1").point(np.array([RR - RA, 0, 0]))}
    at["G"] = result.body("K5").point(np.array([ZT - TA, -TB, 0]))
    return {name: r[index, :2] for name, r in at.items()}


def main() -> None:
    result = simulate(squeezer(), 0.03, 1e-4, "em4", output_every=300)
    for name, r in points(result).items():
        print(f"{name} at t = 0.03 s: {r}")


if __name__ == "__main__":
    main()
