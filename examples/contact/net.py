"""A ball falls into a net of rubber cords, which throws it up again.

Four cords in each direction, 0.1 m apart and welded to each other at their crossings, are clamped in a frame of 0.5 m. A ball
of 0.2 kg and 160 mm falls between four of them, from 0.2 m above, slightly off the middle. It slides on the cords without
friction, and nothing is viscous: at every output the net has the energy that the ball has lost, to round-off.
"""

from __future__ import annotations

import numpy as np

from rodsim import Material, Model, Result, Section, Sphere, simulate

SIDE, APART, CORDS = 0.5, 0.1, 4  # m, of the frame, from cord to cord
RADIUS, DENSITY, HEIGHT = 0.08, 93.25, 0.2  # ball: radius, m; density, kg/m3; height above the cords, m
CORD = Section.circular(0.003, Material(E=5e6, nu=0.45, density=1100.0))


def model(per_mesh: int = 4) -> Model:
    """Return the model; `per_mesh`: number of elements between two crossings."""
    made = Model("net", gravity=(0.0, 0.0, -9.81))
    n = per_mesh * (CORDS + 1)
    cords = []
    for k in range(CORDS):
        y = (k - (CORDS - 1) / 2) * APART
        for name, points in (
            ("along", [(-SIDE / 2, y, 0.0), (SIDE / 2, y, 0.0)]),
            ("across", [(y, -SIDE / 2, 0.0), (y, SIDE / 2, 0.0)]),
        ):
            cord = made.add_rod(f"{name} {k + 1}", points, CORD, n)
            for side, anchor in (("begin", cord.start), ("end", cord.end)):
                made.add_joint(f"{name} {k + 1} {side}", "clamp", anchor)
            cords.append(cord)
    for i in range(CORDS):
        for j in range(CORDS):
            fractions = (i + 1) / (CORDS + 1), (j + 1) / (CORDS + 1)
            made.add_joint(
                f"knot {i + 1} {j + 1}",
                "weld",
                cords[2 * j].at(fractions[0]),
                cords[2 * i + 1].at(fractions[1]),
            )
    body = made.add_body("ball", Sphere(RADIUS, density=DENSITY), (0.01, 0.005, RADIUS + 0.003 + HEIGHT))
    ball = made.add_sphere("ball", body, RADIUS)
    made.add_contact("caught", ball, cords, stiffness=5e3, stations=8)
    return made


def run(t_end: float = 0.4, dt: float = 5e-4, per_mesh: int = 4, progress: bool | None = None) -> Result:
    """Release the ball."""
    return simulate(model(per_mesh), t_end, dt, output_every=5, progress=progress)


def deepest(result: Result) -> float:
    """Return the depth of the lowest point of the ball below the net at rest, m."""
    return float(-(result.body("ball").r[:, 2].min() - RADIUS))


if __name__ == "__main__":
    result = run()
    z = result.body("ball").r[:, 2]
    print(f"the ball comes {1e3 * deepest(result):.1f} mm below the net")
    print(f"energy changes by {np.ptp(result.energy['total']):.1e} J of {result.energy['total'][0]:.3f} J")
