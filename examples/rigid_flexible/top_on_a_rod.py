"""A spinning disc at the end of a flexible rod that stands on its other end: a top with a flexible axle.

As the rod becomes stiffer, precession and nutation of the disc tend to those of the rigid top. The rod starts straight, in
rotation with the disc as one body.
"""

from __future__ import annotations

import numpy as np

from examples.rigid_flexible.converging import Study, converge, show
from rigid.quaternions import from_axis_angle, rotate
from rodsim import Cylinder, Material, Model, Section

LENGTH, TILT, SPIN, PRECESSION = 0.3, 0.6, 60.0, 2.0  # m, rad, rad/s


def model(E: float, n_elements: int = 6) -> Model:
    """Return the top with its tip at the origin and its axis tilted in the x-z plane."""
    top = Model("top on a rod", gravity=(0.0, 0.0, -9.81))
    turned = from_axis_angle([0.0, 1.0, 0.0], TILT)
    axis = rotate(turned, [0.0, 0.0, 1.0])
    omega = SPIN * axis + np.array([0.0, 0.0, PRECESSION])
    section = Section.circular(0.008, Material(E=E, nu=0.3, density=2000.0))
    rod = top.add_rod(
        "axle",
        [(0, 0, 0), LENGTH * axis],
        section,
        n_elements,
        velocity=lambda s: np.cross(omega, s * LENGTH * axis),
        angular_velocity=omega,
    )
    disc = top.add_body(
        "disc",
        Cylinder(0.1, 0.02, density=2000.0),
        LENGTH * axis,
        turned,
        velocity=np.cross(omega, LENGTH * axis),
        angular_velocity=omega,
    )
    top.add_joint("tip", "spherical", top.ground, rod.start)
    top.add_joint("hub", "weld", rod.end, disc)
    return top


def study(stiffness: tuple[float, ...] = (2e10, 8e10, 3.2e11), t_end: float = 1.0, dt: float = 1e-3) -> Study:
    """Compare disc and axle with the rigid top."""
    return converge(model, stiffness, t_end, dt)


if __name__ == "__main__":
    show("Top on a rod", study())
