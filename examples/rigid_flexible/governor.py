"""A flyball governor with flexible arms: a shaft, two hinged arms with balls, and a slider held by springs.

It follows IFToMM A05, with softer springs. The arms are round rods, which start in rotation with the shaft as one body.
"""

from __future__ import annotations

import numpy as np

from examples.rigid_flexible.converging import Study, converge, show
from rodsim import Box, Material, Model, Section, Sphere

RATE, DROP, ARM = 2 * np.pi, np.pi / 6, 1.0  # rad/s, rad below horizontal, m


def model(E: float, n_elements: int = 6) -> Model:
    """Return the governor with its shaft along z and the hinges at height 1."""
    governor = Model("flyball governor", gravity=(0.0, 0.0, -9.81))
    omega = np.array([0.0, 0.0, RATE])
    shaft = governor.add_body(
        "shaft", Box(0.05, 0.05, 1.0, density=3000.0), (0, 0, 0.5), angular_velocity=omega
    )
    slider = governor.add_body(
        "slider", Box(0.1, 0.1, 0.1, density=3000.0), (0, 0, 0.5), angular_velocity=omega
    )
    governor.add_joint("bearing", "revolute", governor.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1))
    governor.add_joint("guide", "prismatic", shaft, slider, at=(0, 0, 0.5), axis=(0, 0, 1))
    section = Section.circular(0.015, Material(E=E, nu=0.3, density=3000.0))
    for name, side in (("right", 1.0), ("left", -1.0)):
        hinge = np.array([0.05 * side, 0.0, 1.0])
        end = hinge + ARM * np.array([side * np.cos(DROP), 0.0, -np.sin(DROP)])

        def velocity(s: float, hinge: np.ndarray = hinge, end: np.ndarray = end) -> np.ndarray:
            return np.cross(omega, (1 - s) * hinge + s * end)

        arm = governor.add_rod(
            name, [hinge, end], section, n_elements, velocity=velocity, angular_velocity=omega
        )
        ball = governor.add_body(
            f"ball {name}",
            Sphere(0.07, mass=5.0),
            end,
            velocity=velocity(1.0),
            angular_velocity=omega,
        )
        governor.add_joint(f"hinge {name}", "revolute", shaft, arm.start, axis=(0, 1, 0))
        governor.add_joint(f"glue {name}", "weld", arm.end, ball)
        governor.add_spring(
            f"spring {name}", slider.at((0.05 * side, 0, 0)), arm.at(0.5), stiffness=2e3, length=0.5
        )
    return governor


def study(stiffness: tuple[float, ...] = (2e10, 8e10, 3.2e11), t_end: float = 1.0, dt: float = 2e-3) -> Study:
    """Compare arms, balls, slider and shaft with the rigid ones."""
    return converge(model, stiffness, t_end, dt)


if __name__ == "__main__":
    show("Governor", study())
