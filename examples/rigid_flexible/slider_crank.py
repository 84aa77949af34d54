"""A slider-crank with a flexible coupler, moved from rest by a constant moment on the crank.

The coupler, a round steel-like rod of length 0.6, bends under its own inertia. It has spherical joints at both ends, because
in a planar mechanism revolute joints would be redundant. The slider's path differs from that of the rigid mechanism by a part
proportional to 1/E.
"""

from __future__ import annotations

import numpy as np

from examples.rigid_flexible.converging import Study, converge, show
from rodsim import Box, Material, Model, Section

CRANK, COUPLER = 0.2, 0.6  # m


def model(E: float, n_elements: int = 6) -> Model:
    """Return the mechanism: the crank along y at the start, the coupler down to the slider on the x axis."""
    machine = Model("slider-crank")
    crank = machine.add_body("crank", Box(CRANK, 0.03, 0.03, density=2000.0), (0, CRANK / 2, 0), TURNED)
    reach = np.sqrt(COUPLER**2 - CRANK**2)
    slider = machine.add_body("slider", Box(0.08, 0.08, 0.08, density=1000.0), (reach, 0, 0))
    section = Section.circular(0.01, Material(E=E, nu=0.3, density=2000.0))
    rod = machine.add_rod("coupler", [(0, CRANK, 0), (reach, 0, 0)], section, n_elements)
    machine.add_joint("bearing", "revolute", machine.ground, crank, at=(0, 0, 0), axis=(0, 0, 1))
    machine.add_joint("crank pin", "spherical", crank, rod.start)
    machine.add_joint("slider pin", "spherical", rod.end, slider)
    machine.add_joint("guide", "prismatic", machine.ground, slider, at=(reach, 0, 0), axis=(1, 0, 0))
    machine.add_moment("motor", crank.at((0, 0, 0)), (0.0, 0.0, -1.0))
    return machine


TURNED = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # the crank's long axis along y


def study(
    stiffness: tuple[float, ...] = (8e9, 3.2e10, 1.28e11), t_end: float = 0.4, dt: float = 1e-3
) -> Study:
    """Compare coupler and slider with the rigid ones."""
    return converge(model, stiffness, t_end, dt)


if __name__ == "__main__":
    show("Slider crank", study())
