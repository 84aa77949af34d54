"""Flyball governor (IFToMM benchmark A05): a free spinning shaft, two arms with heavy ends, and a slider held by stiff springs.

Shaft and arms measure 1 x 0.01 x 0.01 m, the slider is a cube of 0.1 m, all of 3000 kg/m^3. At the end of each arm is a mass
of 5 kg. Spring-dampers of 8e5 N/m and 4e4 N s/m connect the slider and the middle of each arm. The shaft starts with 2 pi
rad/s and is not driven: its angular momentum is conserved, the dampers dissipate energy.

The slider is at 0.5014209224 m for t = 1 s, and the shaft rotates with 6.2711257419 rad/s.
"""

import numpy as np

from rigid import quaternions
from rodsim import Box, MassProperties, Model, simulate

ALPHA, RATE, ARM, BALL, DENSITY = np.pi / 6, 2 * np.pi, 1.0, 5.0, 3000.0


def arm_with_ball() -> MassProperties:
    """Return the mass properties of an arm along x from its middle, with the ball as a point mass at its end."""
    rod = Box(ARM, 0.01, 0.01, density=DENSITY)
    mass = rod.mass + BALL
    centre = np.array([BALL * ARM / 2 / mass, 0, 0])
    across = rod.mass * centre[0] ** 2 + BALL * (ARM / 2 - centre[0]) ** 2
    inertia = rod.inertia + np.diag([0, across, across])
    return MassProperties(mass, inertia, centre)


def governor() -> Model:
    """Return the model.

    Bodies: "shaft", "slider", "arm 1", "arm 2". Joints: "rail" (shaft to slider) and "bearing" (of the shaft).
    """
    model = Model("governor", gravity=(0, 0, -9.81))
    spin = (0, 0, RATE)
    shaft = model.add_body("shaft", Box(0.01, 0.01, 1, density=DENSITY), (0, 0, 0.5), angular_velocity=spin)
    cube = Box(0.1, 0.1, 0.1, density=DENSITY)
    slider = model.add_body("slider", cube, (0, 0, 0.5), angular_velocity=spin)
    model.add_joint("bearing", "revolute", model.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint("rail", "prismatic", shaft, slider, at=(0, 0, 0.5), axis=(0, 0, 1))
    for k, side in enumerate((1, -1), start=1):
        hinge = np.array([0.05 * side, 0, 1])
        direction = np.array([side * np.cos(ALPHA), 0, -np.sin(ALPHA)])
        turned = quaternions.from_rotation_vector((0, ALPHA if side > 0 else np.pi - ALPHA, 0))
        middle = hinge + ARM / 2 * direction
        arm = model.add_body(
            f"arm {k}", arm_with_ball(), middle, turned, np.cross(spin, middle), angular_velocity=spin
        )
        model.add_joint(f"hinge {k}", "revolute", shaft, arm, at=hinge, axis=(0, 1, 0))
        anchor = slider.at((0.05 * side, 0, 0))
        model.add_spring(f"spring {k}", anchor, arm.at((0, 0, 0)), stiffness=8e5, length=0.5, damping=4e4)
    return model


def main() -> None:
    result = simulate(governor(), 1.0, 0.002, "em-ggl")
    print(f"slider at t = 1 s: {result.body('slider').r[-1, 2]:.8f} m")


if __name__ == "__main__":
    main()
