"""A chain of links: interlocking rings of capsules, held together by contact alone.

Each link is an oval ring of eight capsules on a rigid body of 30 g, rotated by a quarter turn relative to the one above it.
The sides in contact are inclined, so that a link rests at the lowest point of the one that carries it, at four contacts. At
rest the force between two links is the weight of all links below. Released from a tilted position, the chain swings, links
collide, and the energy is conserved.
"""

from __future__ import annotations

import numpy as np

from rigid.inertia import MassProperties
from rigid.quaternions import from_axis_angle, multiply
from rigid.system import Floats
from rodsim import Model, Result, simulate

WIRE, LONG, WIDE, SIDES = 0.003, 0.018, 0.010, 8  # m: radius of the wire, half axes of the oval
PITCH = 0.02764048  # m, from link to link where they just touch
MASS, STIFFNESS, G = 0.03, 1e5, 9.81


def oval() -> Floats:
    """Return the corners (SIDES, 3), m, of a link along its z axis, in its yz plane."""
    phi = 2.0 * np.pi * np.arange(SIDES) / SIDES
    return np.transpose([np.zeros(SIDES), WIDE * np.sin(phi), LONG * np.cos(phi)])


def inertia() -> Floats:
    """Return the moments of inertia (3,), kg m^2, of a thin wire along the sides."""
    a, b = oval(), np.roll(oval(), -1, axis=0)
    length = np.linalg.norm(b - a, axis=1)
    squares = ((a * a + a * b + b * b) / 3.0 * (length / length.sum())[:, None]).sum(axis=0)
    return MASS * (squares.sum() - squares)


def model(count: int = 6, tilt: float = 0.0) -> Model:
    """Return a straight chain whose first link is held; `tilt`: angle of the chain to the vertical, rad."""
    made, above = Model("chain of links", gravity=(0.0, 0.0, -G)), []
    corners, down = oval(), np.array([np.sin(tilt), 0.0, -np.cos(tilt)])
    lean, quarter = from_axis_angle((0, 1, 0), -tilt), from_axis_angle((0, 0, 1), 0.5 * np.pi)
    for k in range(count):
        quat = multiply(lean, quarter) if k % 2 else lean
        body = made.add_body(
            f"link {k}", MassProperties(MASS, inertia()), tuple(k * PITCH * down), tuple(quat)
        )
        ring = [
            made.add_solid(f"side {k}.{i}", body.at((0, 0, 0)), [corners[i], corners[i - 1]], radius=WIRE)
            for i in range(SIDES)
        ]
        if k:
            made.add_contact(f"link {k}", above, ring, stiffness=STIFFNESS)
        else:
            made.add_joint("held", "weld", made.ground, body, at=(0.0, 0.0, 0.0))
        above = ring
    return made


def run(
    count: int = 6, tilt: float = 1.0, t_end: float = 0.4, dt: float = 2e-4, progress: bool | None = None
) -> Result:
    """Release the chain."""
    return simulate(model(count, tilt), t_end, dt, output_every=10, progress=progress)


def apart(result: Result) -> Floats:
    """Return the distances (count - 1, T), m, between the middles of consecutive links."""
    positions = np.array([result.body(name).r for name in result.bodies])
    return np.linalg.norm(np.diff(positions, axis=0), axis=2)


if __name__ == "__main__":
    result = run()
    print(
        f"{1e3 * apart(result).min():.1f} to {1e3 * apart(result).max():.1f} mm from link to link, {1e3 * PITCH:.1f} at first"
    )
    change = np.ptp(result.energy["total"]) / result.energy["kinetic"].max()
    print(f"energy +-{change:.1e} of what moves")
