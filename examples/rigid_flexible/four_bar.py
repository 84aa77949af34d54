"""A four-bar linkage with a flexible coupler, moved from rest by its weight and a moment on the crank.

Crank 0.3, coupler 0.8, rocker 0.5, ground 0.9. The joints of the rocker are spherical, for the reason given in `slider_crank`;
the remaining freedom is the spin of the rocker about its own axis, which is not excited.
"""

from __future__ import annotations

import numpy as np

from examples.rigid_flexible.converging import Study, converge, show
from rigid.quaternions import from_axis_angle
from rodsim import Box, Material, Model, Section

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.8, 0.5, 0.9  # m


def corners(angle: float = 1.2) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the coupler, in the x-z plane, with the crank at `angle` from x."""
    B = CRANK * np.array([np.cos(angle), 0.0, np.sin(angle)])
    to_D = np.array([GROUND, 0.0, 0.0]) - B
    d = np.linalg.norm(to_D)
    along = (COUPLER**2 - ROCKER**2 + d**2) / (2 * d)
    up = np.array([-to_D[2], 0.0, to_D[0]]) / d
    return B, B + along * to_D / d + np.sqrt(COUPLER**2 - along**2) * up


def model(E: float, n_elements: int = 6) -> Model:
    """Return the linkage in the x-z plane, with gravity along -z."""
    B, C = corners()
    D = np.array([GROUND, 0.0, 0.0])
    linkage = Model("four-bar", gravity=(0.0, 0.0, -9.81))
    bars = []
    for name, a, b in (("crank", np.zeros(3), B), ("rocker", D, C)):
        orientation = from_axis_angle([0.0, 1.0, 0.0], -np.arctan2((b - a)[2], (b - a)[0]))
        bar = Box(float(np.linalg.norm(b - a)), 0.03, 0.03, density=2000.0)
        bars.append(linkage.add_body(name, bar, (a + b) / 2, orientation))
    section = Section.circular(0.01, Material(E=E, nu=0.3, density=2000.0))
    rod = linkage.add_rod("coupler", [B, C], section, n_elements)
    linkage.add_joint("A", "revolute", linkage.ground, bars[0], at=(0, 0, 0), axis=(0, 1, 0))
    linkage.add_joint("B", "revolute", bars[0], rod.start, axis=(0, 1, 0))
    linkage.add_joint("C", "spherical", rod.end, bars[1])
    linkage.add_joint("D", "spherical", linkage.ground, bars[1], at=D)
    linkage.add_moment("motor", bars[0].at((0, 0, 0)), (0.0, 2.0, 0.0))
    return linkage


def study(
    stiffness: tuple[float, ...] = (3.2e10, 1.28e11, 5.12e11), t_end: float = 0.5, dt: float = 1e-3
) -> Study:
    """Compare coupler and bars with the rigid ones."""
    return converge(model, stiffness, t_end, dt)


if __name__ == "__main__":
    show("Four bar", study())
