"""Short rubber rods fall into a box of planes and onto each other, and come to rest there.

Five planes are the floor and the walls. All rods touch each other and the planes, with restitution and friction. The
dissipated energy is recorded: the sum of energy and dissipation is the initial energy to round-off, and no rod leaves the box.
"""

from __future__ import annotations

import numpy as np

from rodsim import Material, Model, Result, Section, simulate

RADIUS, LENGTH, SIDE = 0.015, 0.18, 0.26  # m; the box is SIDE wide


def model(layers: int = 3) -> Model:
    """Return the model with `layers` layers of two rods each; every second layer lies across the others."""
    made = Model("box of rods", gravity=(0.0, 0.0, -9.81))
    section = Section.circular(RADIUS, Material(E=1e6, nu=0.45, density=1000.0))
    planes = [made.add_plane("floor", made.ground.at((0.0, 0.0, 0.0)), (0, 0, 1))]
    for name, x, y in (("left", -1, 0), ("right", 1, 0), ("front", 0, -1), ("back", 0, 1)):
        foot = made.ground.at((0.5 * SIDE * x, 0.5 * SIDE * y, 0.0))
        planes.append(made.add_plane(name, foot, (-x, -y, 0)))
    rods = []
    for k in range(2 * layers):
        layer, side = divmod(k, 2)
        middle = np.array([0.004 * k, 0.05 * (2 * side - 1), 0.03 + 0.05 * layer])
        along = np.array([0.5 * LENGTH, 0.01 * (1 - 2 * side), 0.01])
        if layer % 2:
            middle[:2], along[:2] = middle[[1, 0]], along[[1, 0]]
        ends = [tuple(middle - along), tuple(middle + along)]
        rods.append(made.add_rod(f"rod {k + 1}", ends, section, 3))
    made.add_contact("walls", rods, planes, stiffness=1e5, restitution=0.5, friction=0.3, rest_speed=0.02)
    made.add_contact("rods", rods, stiffness=1e5, restitution=0.5, friction=0.3, stations=5, rest_speed=0.02)
    return made


def run(t_end: float = 0.4, dt: float = 1e-3, progress: bool | None = None) -> Result:
    """Simulate the fall."""
    return simulate(model(), t_end, dt, output_every=5, progress=progress)


if __name__ == "__main__":
    result = run()
    print(f"lost {result.dissipation[-1]:.4f} J of {result.energy['total'][0]:.4f} J")
