"""A spinning satellite with four flexible booms, free of loads, with a nutation.

The booms start straight and rotate with the hub as one body; centrifugal forces stretch them, the nutation bends them. As they
become stiffer the motion tends to that of a free rigid body with the same moments of inertia.
"""

from __future__ import annotations

import numpy as np

from examples.rigid_flexible.converging import Study, converge, show
from rodsim import Box, Material, Model, Section

HUB, BOOM = 0.5, 2.0  # m
OMEGA = np.array([0.2, 0.1, 1.0])  # rad/s: about the axis of most inertia, and a little across


def model(E: float, n_elements: int = 5) -> Model:
    """Return the satellite with booms along x and y and the spin about z."""
    satellite = Model("satellite")
    hub = satellite.add_body(
        "hub", Box(HUB, HUB, HUB, density=300.0), angular_velocity=OMEGA, velocity=(0, 0, 0)
    )
    section = Section.circular(0.02, Material(E=E, nu=0.3, density=1500.0))
    for name, axis in (
        ("east", (1, 0, 0)),
        ("north", (0, 1, 0)),
        ("west", (-1, 0, 0)),
        ("south", (0, -1, 0)),
    ):
        start, end = HUB / 2 * np.array(axis), (HUB / 2 + BOOM) * np.array(axis)

        def velocity(s: float, start: np.ndarray = start, end: np.ndarray = end) -> np.ndarray:
            return np.cross(OMEGA, (1 - s) * start + s * end)

        rod = satellite.add_rod(
            name, [start, end], section, n_elements, velocity=velocity, angular_velocity=OMEGA
        )
        satellite.add_joint(f"root {name}", "weld", hub, rod.start)
    return satellite


def study(stiffness: tuple[float, ...] = (1e9, 4e9, 1.6e10), t_end: float = 10.0, dt: float = 0.02) -> Study:
    """Compare hub and booms with the rigid satellite."""
    return converge(model, stiffness, t_end, dt)


if __name__ == "__main__":
    show("Satellite", study())
