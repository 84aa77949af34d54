"""Five bodies on an incline of 20 degrees: sticking, sliding, tipping and rolling.

They are side by side on one floor:

- a block held by friction (mu = 0.5, above tan 20 degrees = 0.364);
- a block that slides (mu = 0.2), by g (sin - mu cos) t^2/2;
- a slender block that tips, since its weight acts beside its foot (width over height 0.3);
- a cylinder that rolls by g sin t^2/3;
- a cone that rolls on its side and swings about the line of steepest descent, like a pendulum with
  phi'' = -5 g cos(beta) sin(alpha)/(h (1 + 5 cos(beta)^2)) sin(phi).

Gravity is rotated instead of the floor.
"""

from __future__ import annotations

import numpy as np

from rodsim import Box, Cone, Cylinder, Model, Result, simulate

TILT, G = np.radians(20.0), 9.81
K = 1.5e5  # N/m


def model() -> Model:
    """Return the model: all bodies at the depth of contact of the state of rest."""
    made = Model("incline", gravity=(G * np.sin(TILT), 0.0, -G * np.cos(TILT)))
    floor = made.add_plane("floor", made.ground.at((0, 0, 0)), (0, 0, 1))
    side, half = (0.5**0.5, 0.5**0.5, 0.0, 0.0), np.arctan(0.5)
    angle = 0.5 * (0.5 * np.pi - half)
    # rotation by 0.8 rad of the line in which it touches the floor
    swing = np.array([np.cos(0.4), 0.0, 0.0, np.sin(0.4)])
    lie = np.array([np.cos(angle), 0.0, np.sin(angle), 0.0])
    w, x, y, z = swing[0] * lie[0], -swing[3] * lie[2], swing[0] * lie[2], swing[3] * lie[0]
    bodies = [
        ("sticks", Box(0.1, 0.1, 0.05, mass=0.5), (0.0, 0.0, 0.025), (1.0, 0.0, 0.0, 0.0), 0.5),
        ("slides", Box(0.1, 0.1, 0.05, mass=0.5), (0.0, 0.2, 0.025), (1.0, 0.0, 0.0, 0.0), 0.2),
        ("tips", Box(0.06, 0.1, 0.2, mass=0.5), (0.0, 0.4, 0.1), (1.0, 0.0, 0.0, 0.0), 0.5),
        ("rolls", Cylinder(0.05, 0.12, mass=0.5, surface="fine"), (0.0, 0.6, 0.05), side, 0.5),
        ("swings", Cone(0.05, 0.1, mass=0.5, surface="fine"), (0.0, 0.8, 0.0), (w, x, y, z), 1.0),
    ]
    for name, shape, place, quat, mu in bodies:
        depth = np.array([0.0, 0.0, shape.mass * G * np.cos(TILT) / K])
        body = made.add_body(name, shape, place - depth, quat)
        made.add_contact(name, made.add_solid(name, body), floor, K, friction=mu, damping=5.0)
    return made


def run(t_end: float = 0.7, dt: float = 5e-4, progress: bool | None = None) -> Result:
    """Release the bodies."""
    return simulate(model(), t_end, dt, output_every=10, progress=progress)


def ways(result: Result) -> dict[str, tuple[float, float]]:
    """Return, for each body that moves straight, its computed and its exact displacement, m."""
    t, down = float(result.t[-1]), G * np.sin(TILT)
    by_hand = {
        "sticks": 0.0,
        "slides": 0.5 * (down - 0.2 * G * np.cos(TILT)) * t**2,
        "rolls": down * t**2 / 3.0,
    }
    positions = {name: result.body(name).r[:, 0] for name in by_hand}
    return {name: (float(x[-1] - x[0]), by_hand[name]) for name, x in positions.items()}


if __name__ == "__main__":
    for name, (computed, by_hand) in ways(run()).items():
        print(f"{name}: {computed:.4f} m, by hand {by_hand:.4f} m")
