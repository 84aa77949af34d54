"""A chain of links falls through a hole: released upright above a plate, off the middle, it hits the rim and falls through.

Each link is a ring of capsules on its own body, rotated by a quarter turn relative to the one above it (`link_chain`); the
plate is a mesh with a square hole, a fifth wider than a link. Falling links carry no load; links touch the ones below only
where the rim rotates or stops a link. Links and plate have friction and restitution. The number is how many links are below
the plate at the end: all of them. On a plate without a hole there are none.
"""

from __future__ import annotations

import numpy as np

from examples.contact.link_chain import LONG, MASS, PITCH, SIDES, WIDE, WIRE, G, inertia, oval
from rigid.inertia import MassProperties
from rigid.quaternions import from_axis_angle
from rigid.system import Floats, Ints
from rodsim import Model, Result, simulate

COUNT, ASIDE, ABOVE = 4, 0.005, 0.004  # links; from the middle of the hole, above the plate, m
HOLE, PLATE, THICK = (
    0.016,
    0.06,
    0.001,
)  # m: half sides of the hole and of the plate, radius around its triangles


def plate(hole: float) -> tuple[Floats, Ints]:
    """Return the vertices and triangles of the plate, at z = 0; without a hole it is one square."""
    square = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float)
    if hole == 0.0:
        return PLATE * square, np.array([(0, 1, 2), (0, 2, 3)])
    k = np.arange(4)
    outer, inner = k, 4 + k
    sides = [(outer, np.roll(outer, -1), np.roll(inner, -1)), (outer, np.roll(inner, -1), inner)]
    return np.concatenate([PLATE * square, hole * square]), np.concatenate(
        [np.stack(corners, axis=1) for corners in sides]
    )


def model(hole: float = HOLE) -> Model:
    """Return the model: the chain upright, its lowest link just above the plate."""
    made, below = Model("chain through a hole", gravity=(0.0, 0.0, -G)), []
    vertices, triangles = plate(hole)
    at = made.ground.at((0.0, 0.0, 0.0))
    ground = made.add_mesh("plate", at, vertices=vertices, triangles=triangles, radius=THICK)
    corners, all_sides = oval(), []
    for k in range(COUNT):
        z = ABOVE + THICK + WIRE + LONG + k * PITCH
        orientation = from_axis_angle((0, 0, 1), 0.5 * np.pi * (k % 2) + 0.1)
        body = made.add_body(f"link {k}", MassProperties(MASS, inertia()), (ASIDE, 0.0, z), orientation)
        ring = [
            made.add_solid(f"side {k}.{i}", body.at((0, 0, 0)), [corners[i], corners[i - 1]], radius=WIRE)
            for i in range(SIDES)
        ]
        if below:
            made.add_contact(f"links {k}", below, ring, stiffness=1e5, friction=0.2, restitution=0.5)
        below = ring
        all_sides += ring
    made.add_contact("rim", all_sides, ground, stiffness=1e5, friction=0.2, restitution=0.5)
    return made


def run(hole: float = HOLE, t_end: float = 0.22, dt: float = 5e-4, progress: bool | None = None) -> Result:
    """Release the chain."""
    return simulate(model(hole), t_end, dt, output_every=20, progress=progress)


def through(result: Result) -> int:
    """Return how many links are below the plate."""
    return sum(int(result.body(f"link {k}").r[-1, 2] < -WIDE) for k in range(COUNT))


if __name__ == "__main__":
    result = run()
    print(f"{through(result)} of {COUNT} links are through, on a plate without a hole {through(run(0.0))}")
    balance = np.ptp(result.energy["total"] + result.dissipation)
    print(f"{result.dissipation[-1]:.4f} J lost, balance {balance:.1e} J")
