"""Four soft fingers lift a box: moments at their tips bend them until they press on it, and the hand rises.

Rubber rods of 120 mm hang from a hand, two on either side of a cube of 40 mm and 30 g that stands on a floor. Moments of up to
0.04 N m at their tips curl them inwards, like pressure in fingers of silicone; then the hand rises by 80 mm. The cube is held
by friction alone, with one bristle per finger, each pressed with 0.414 N. At rest this requires a friction coefficient above
0.178, the weight over the sum of these forces; while the hand accelerates, with up to 5.1 m/s^2, one above 0.27. The cube
rises by 0.58 mm as the fingers curl, and by the 80 mm of the hand. With a friction coefficient of 0.05 it stays on the floor.
"""

from __future__ import annotations

import numpy as np

from rodsim import Box, Material, Model, Result, Section, signals, simulate

SIDE, MASS, G = 0.04, 0.03, 9.81  # cube: edge, m; mass, kg
# fingers: length, radius, distances from the faces and from the middle, m
LENGTH, RADIUS, AWAY, BESIDE = 0.12, 0.006, 0.004, 0.012
LIFT, BEGINS, ENDS = 0.08, 0.2, 0.5  # m, s
RUBBER = Section.circular(RADIUS, Material(E=1e7, nu=0.45, density=1100.0, damping_time=5e-3))


def model(friction: float = 0.8, n_elements: int = 8) -> Model:
    """Return the model: straight fingers, the cube at rest on the floor."""
    made = Model("gripper", gravity=(0.0, 0.0, -G))
    hand = made.add_driven("hand", displacement=signals.SmoothStep(LIFT, BEGINS, ENDS).along((0, 0, 1)))
    body = made.add_body("cube", Box(SIDE, SIDE, SIDE, mass=MASS), (0, 0, SIDE / 2 - MASS * G / 2e3))
    cube = made.add_solid("cube", body, radius=0.001)
    floor = made.add_plane("floor", made.ground.at((0, 0, 0)), (0, 0, 1))
    fingers = []
    for side in (-1, 1):
        for k in (-1, 1):
            x, name = side * (SIDE / 2 + RADIUS + AWAY), f"finger {'left' if side < 0 else 'right'} {k + 1}"
            points = [(x, k * BESIDE, SIDE / 2 - 0.01 + LENGTH), (x, k * BESIDE, SIDE / 2 - 0.01)]
            finger = made.add_rod(name, points, RUBBER, n_elements)
            made.add_joint(f"{name} held", "weld", hand, finger.start)
            curl = signals.SmoothStep(0.04, 0.0, 0.15).along((0, side, 0))
            made.add_moment(f"{name} curls", finger.end, curl)
            fingers.append(finger)
    made.add_contact("stands", cube, floor, 2e3, friction=0.3, damping=1.0)
    made.add_contact("holds", cube, fingers, 2e5, friction=friction, damping=1.0, stations=20)
    return made


def run(
    friction: float = 0.8,
    t_end: float = 0.6,
    dt: float = 1e-3,
    n_elements: int = 8,
    progress: bool | None = None,
) -> Result:
    """Grip the cube and lift it."""
    return simulate(model(friction, n_elements), t_end, dt, output_every=10, progress=progress)


def rise(result: Result) -> float:
    """Return the rise of the cube relative to the hand, m: by the curling of the fingers, less its slip."""
    z = result.body("cube").r[:, 2]
    return float(z[-1] - z[0] - LIFT)


if __name__ == "__main__":
    result = run()
    contact = result.contact("holds")
    press = contact.normal_force[-1] / 4
    print(
        f"the cube rises by {1e3 * rise(result):.3f} mm in the hand, each finger presses with {press:.3f} N"
    )
    print(f"with a friction of 0.05 the hand leaves it behind by {-1e3 * rise(run(0.05)):.2f} mm")
    balance = result.energy["total"] + result.dissipation - result.work
    print(f"balance {np.ptp(balance):.1e} J of {result.work[-1]:.3f} J of work")
