"""A chain of beads, released upright above a table, falls on it: the table carries three times the weight of the part at rest.

The part that has landed by the time t has the weight lambda g^2 t^2/2, lambda the mass per length. Each bead stops where it
lands; the momentum lambda v dt v of the part that lands in dt adds twice that weight. The number is the impulse of the table
up to some time, from the momentum of the chain, over that of this force, lambda g^2 t^3/2.

The beads are joined by massless rods without force before they land; the lowest ones move aside to make room.
"""

from __future__ import annotations

import numpy as np

from rodsim import Model, Result, Sphere, simulate

G, LENGTH, MASS, RADIUS = 9.81, 0.5, 0.01, 0.004  # m/s^2, m, kg of a bead, m


def model(beads: int = 30) -> Model:
    """Return a chain above the table, slightly bent to determine the direction in which it falls."""
    made = Model("falling chain", gravity=(0.0, 0.0, -G))
    table = made.add_plane("table", made.ground.at((0.0, 0.0, 0.0)), (0, 0, 1))
    step, last, balls = LENGTH / beads, None, []
    for k in range(beads):
        place = (0.1 * step * np.cos(2.4 * k), 0.1 * step * np.sin(2.4 * k), RADIUS + (k + 0.5) * step)
        bead = made.add_body(f"bead {k + 1}", Sphere(RADIUS, mass=MASS), position=place)
        balls.append(made.add_sphere(f"ball {k + 1}", bead, RADIUS))
        if last is not None:
            made.add_joint(f"link {k}", "distance", last, bead)
        last = bead
    made.add_contact("landing", balls, table, stiffness=2e3, restitution=0.1, friction=0.5)
    return made


def run(t_end: float = 0.25, dt: float = 5e-4, progress: bool | None = None) -> Result:
    """Simulate the fall."""
    return simulate(model(), t_end, dt, output_every=5, progress=progress)


def carried(result: Result, k: int) -> float:
    """Return the impulse of the table up to output k, over that of three times the weight of the part at rest on it."""
    mass, t = MASS * len(result.layout.bodies), result.t[k]
    impulse = result.linear_momentum[k, 2] + mass * G * t
    return float(impulse / (mass / LENGTH * G**2 * t**3 / 2))


if __name__ == "__main__":
    result = run()
    for k in range(10, result.n_outputs, 10):
        print(f"t = {result.t[k]:.3f} s: {carried(result, k):.3f}")
