"""Newton's cradle: as many balls swing out as were lifted.

Five steel balls of 20 mm hang side by side as pendulums, half a millimetre apart, so that each impact ends before the next
begins. In each impact two equal balls exchange their velocities without loss. Balls lifted by an angle return with all of
their energy, and the same number at the other end rises to the same angle after half a swing. Balls that touch at rest do not
behave so: their impacts overlap, and all five move a little.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats
from rodsim import Model, Result, Sphere, simulate

RADIUS, APART, DOWN, MASS = 0.02, 5e-4, 0.15, 0.26  # m, m, m from the axes to the centres, kg
STIFFNESS, G, N, LIFT = 2.6e6, 9.81, 5, 0.5  # N/m, m/s^2, balls, rad


def model(lifted: int = 1, apart: float = APART) -> Model:
    """Return the model with the first `lifted` balls lifted together."""
    made, balls = Model("cradle", gravity=(0.0, 0.0, -G)), []
    for k in range(N):
        x, angle = (2.0 * RADIUS + apart) * k, LIFT * (k < lifted)
        place = (x - DOWN * np.sin(angle), 0.0, -DOWN * np.cos(angle))
        body = made.add_body(f"ball {k}", Sphere(RADIUS, mass=MASS), place)
        made.add_joint(f"axis {k}", "revolute", made.ground, body, at=(x, 0.0, 0.0), axis=(0, 1, 0))
        balls.append(made.add_sphere(f"ball {k}", body, RADIUS))
    made.add_contact("row", balls, stiffness=STIFFNESS)
    return made


def run(
    lifted: int = 1, t_end: float = 0.6, dt: float = 1e-4, apart: float = APART, progress: bool | None = None
) -> Result:
    """Release the balls."""
    return simulate(model(lifted, apart), t_end, dt, output_every=10, progress=progress)


def angles(result: Result, apart: float = APART) -> Floats:
    """Return the angles (N, T), rad, of the pendulums from the vertical."""
    angles_of_balls = []
    for k in range(N):
        r = result.body(f"ball {k}").r
        angles_of_balls.append(np.arctan2(r[:, 0] - (2.0 * RADIUS + apart) * k, -r[:, 2]))
    return np.array(angles_of_balls)


if __name__ == "__main__":
    for lifted in (1, 2, 3):
        result = run(lifted)
        print(
            f"{lifted} lifted by {LIFT} rad: they rise to {np.round(angles(result).max(axis=1), 3).tolist()} rad"
        )
        change = np.ptp(result.energy["total"]) / np.ptp(result.energy["kinetic"])
        print(f"  energy +-{change:.1e} of what moves")
