"""A row of dominoes on a floor: the first is pushed over, and all fall.

Six blocks of 8 x 24 x 48 mm and 10 g stand on a floor with friction, at distances of three thicknesses; without a push they
stay at rest. The first block gets the velocity of tipping about its foot and falls against the second, and so on: corners
touch faces, edges slide along them. Contact between blocks is without loss; on the floor friction and impacts dissipate:
energy plus dissipation is constant to round-off. The wave runs at 0.75 m/s from one domino to the next.
"""

from __future__ import annotations

import numpy as np

from rodsim import Box, Model, Result, simulate

THICK, WIDE, HIGH, APART = 0.008, 0.024, 0.048, 0.024  # m
MASS, K, G, N = 0.01, 1e4, 9.81, 6
PUSH = 12.5  # rad/s
FALLS = np.radians(12.0)  # a domino that leans so far has been hit


def model(push: float = PUSH) -> Model:
    """Return the model: all blocks standing, at the depth of contact of the state of rest."""
    made = Model("dominoes", gravity=(0.0, 0.0, -G))
    floor = made.add_plane("floor", made.ground.at((0, 0, 0)), (0, 0, 1))
    solids = []
    for k in range(N):
        rate = push * (k == 0)
        body = made.add_body(
            f"domino {k}",
            Box(THICK, WIDE, HIGH, mass=MASS),
            (APART * k, 0.0, 0.5 * HIGH - MASS * G / K),
            velocity=(0.5 * HIGH * rate, 0.0, 0.0),
            angular_velocity=(0.0, rate, 0.0),
        )
        solids.append(made.add_solid(f"domino {k}", body, radius=0.001))
    made.add_contact("stand", solids, floor, K, friction=0.3, restitution=0.3)
    made.add_contact("push", solids, stiffness=K)
    return made


def run(push: float = PUSH, t_end: float = 0.4, dt: float = 2e-4, progress: bool | None = None) -> Result:
    """Push the first block."""
    return simulate(model(push), t_end, dt, output_every=10, progress=progress)


def tilts(result: Result) -> np.ndarray:
    """Return the angles (N, T), rad, of the blocks from the vertical."""
    quats = np.array([result.body(f"domino {k}").quat for k in range(N)])
    return np.arccos(np.clip(1.0 - 2.0 * (quats[..., 1] ** 2 + quats[..., 2] ** 2), -1.0, 1.0))


def speed(result: Result) -> float:
    """Return the speed of the wave, m/s, from the second domino to the last."""
    times = [
        float(np.interp(FALLS, angles[: np.argmax(angles)], result.t[: np.argmax(angles)]))
        for angles in tilts(result)
    ]
    return APART * (N - 2) / (times[-1] - times[1])


if __name__ == "__main__":
    result = run()
    print(
        f"{speed(result):.3f} m/s; tilts at the end {np.round(np.degrees(tilts(result)[:, -1])).tolist()} degrees"
    )
    print(
        f"lost {result.dissipation[-1]:.4f} J, balance {np.ptp(result.energy['total'] + result.dissipation):.1e} J"
    )
