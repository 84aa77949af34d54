"""A catheter is pushed through a bend of a vessel: a rod inside a triangulated tube.

The model is ten times as large as life: the vessel, of 40 mm radius, is straight for 0.2 m and then bends by 90 degrees about
an arc of 0.5 m, as a surface of 864 triangles. The catheter, of silicone, 10 mm in radius, lies in its entrance and is pushed
in by 0.6 m within 0.8 s, with a friction coefficient of 0.1. Its tip slides along the outer wall, which bends it: at the end
it is 28.6 mm off the axis, where 30 mm are free; on the way it is pressed into the wall by up to 3.4 mm. The work of pushing
equals motion, bending and friction to round-off.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rodsim import Material, Model, Result, Section, signals, simulate

VESSEL, RADIUS = 0.04, 0.01  # m, radii
ENTRANCE, BEND, ANGLE = 0.2, 0.5, 0.5 * np.pi  # m, m, rad
LENGTH, PUSH, TIME = 0.8, 0.6, 0.8  # m, m, s
AROUND, ALONG = 12, 36  # facets
SILICONE = Section.circular(RADIUS, Material(E=1e6, nu=0.45, density=1100.0, damping_time=5e-3))


def axis(s: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return positions (..., 3) of the axis of the vessel at s, m, and unit normals in the plane of the bend."""
    phi = np.clip((s - ENTRANCE) / BEND, 0.0, ANGLE)
    straight = np.minimum(s, ENTRANCE)
    place = np.stack([straight + BEND * np.sin(phi), 0.0 * s, BEND * (1.0 - np.cos(phi))], axis=-1)
    return place, np.stack([-np.sin(phi), 0.0 * s, np.cos(phi)], axis=-1)


def vessel() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the vertices (n, 3), m, and triangles of the vessel."""
    middle, up = axis(np.linspace(0.0, ENTRANCE + BEND * ANGLE, ALONG + 1))
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    ring = np.cos(angle)[:, None] * up[:, None] + np.sin(angle)[:, None] * np.array([0.0, 1.0, 0.0])
    vertices = (middle[:, None] + VESSEL * ring).reshape(-1, 3)
    i, j = (index.ravel() for index in np.indices((ALONG, AROUND)))
    a, b = i * AROUND + j, i * AROUND + (j + 1) % AROUND
    lower, upper = np.stack([a, b, b + AROUND], axis=1), np.stack([a, b + AROUND, a + AROUND], axis=1)
    return vertices, np.concatenate([lower, upper])


def model(friction: float = 0.1, n_elements: int = 16) -> Model:
    """Return the model: the catheter straight, its tip 50 mm before the bend."""
    made = Model("catheter", gravity=(0.0, 0.0, 0.0))
    vertices, triangles = vessel()
    wall = made.add_mesh("wall", made.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles)
    tip = ENTRANCE - 0.05
    hand = made.add_driven(
        "hand", (tip - LENGTH, 0, 0), displacement=signals.SmoothStep(PUSH, 0.0, TIME).along((1, 0, 0))
    )
    wire = made.add_rod("wire", [(tip - LENGTH, 0, 0), (tip, 0, 0)], SILICONE, n_elements)
    made.add_joint("held", "weld", hand, wire.start)
    made.add_contact("slides", wire, wall, 3e4, friction=friction, damping=1.0, stations=6)
    return made


def run(
    friction: float = 0.1, dt: float = 1e-3, n_elements: int = 16, progress: bool | None = None
) -> Result:
    """Push the catheter in."""
    return simulate(model(friction, n_elements), TIME, dt, output_every=10, progress=progress)


def off_axis(result: Result) -> float:
    """Return the largest distance, m, of a node inside the vessel from the vessel's axis at the end."""
    s = np.linspace(0.0, ENTRANCE + BEND * ANGLE, 2000)
    positions, nodes = axis(s)[0], result.rod("wire").r[-1]
    apart = np.linalg.norm(nodes[:, None] - positions[None], axis=2)[nodes[:, 0] > 0.0]
    return float(apart.min(axis=1).max())


if __name__ == "__main__":
    result = run()
    r = result.rod("wire").r[-1]
    way = r[-1] - r[-2]
    turned = np.degrees(np.arctan2(way[2], way[0]))
    print(f"the tip has turned by {turned:.2f} degrees, at {1e3 * r[-1, 0]:.2f}, {1e3 * r[-1, 2]:.2f} mm")
    print(
        f"at most {1e3 * off_axis(result):.3f} mm off the axis, room is for {1e3 * (VESSEL - RADIUS):.0f} mm"
    )
    print(f"pushed with {result.work[-1]:.4f} J, lost {result.dissipation[-1]:.4f} J")
    print(f"balance {np.ptp(result.energy['total'] + result.dissipation - result.work):.1e} J")
    print(f"{result.newton_iterations.mean():.2f} iterations a step")
