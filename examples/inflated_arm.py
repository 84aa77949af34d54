"""A soft arm with three chambers along it, whose pressures rise one after the other: the tip moves on a circle.

The chambers lie at angles of 120 degrees around the axis of a silicone cylinder, whose fibres keep them from widening. Pressures
p_k = P (1 - cos(phi - 2 pi k/3))/2 have a constant sum and a moment of constant size that rotates with phi. In the limit of many
points along the chambers the arm is an arc of the curvature kappa = 3 A P d/(4 EI), stretched by 3 A P/(2 EA).

    python -m examples.inflated_arm
"""

from __future__ import annotations

import numpy as np

from rodsim import Material, Model, Result, Section, equilibrium, simulate

LENGTH, RADIUS = 0.3, 0.015  # m
AREA, OFFSET = 1e-4, 0.009  # area of a chamber, m^2, and distance of its axis from that of the arm, m
PRESSURE, PERIOD = 1.2e5, 8.0  # greatest pressure, Pa; time of one revolution, s
SILICONE = Section.circular(RADIUS, Material(E=0.5e6, nu=0.45, density=1100.0, damping_time=0.1))


def arm(points: int = 24) -> Model:
    """Return the arm with this number of elements, and chambers through all nodes."""
    model = Model("inflated arm")
    rod = model.add_rod("arm", [(0, 0, 0), (0, 0, -LENGTH)], SILICONE, points, up=(1, 0, 0))
    model.add_joint("wall", "clamp", rod.start)
    for k in range(3):
        angle = 2.0 * np.pi * k / 3
        place = (0.0, OFFSET * np.cos(angle), OFFSET * np.sin(angle))
        along = [rod.at(i / points, place) for i in range(points + 1)]
        wave = f"1 - cos(2*pi*t/{PERIOD} - {angle})"
        model.add_chamber(f"chamber {k}", along, AREA, pressure=f"{0.5 * PRESSURE}*min(t, 1)*({wave})")
    return model


def radius_of_arc() -> float:
    """Return the distance of the tip from the axis, m, of the arc in the limit of many points."""
    stiffness = SILICONE.stiffness
    curvature = 0.75 * AREA * PRESSURE * OFFSET / stiffness[5, 5]
    stretch = 1.0 + 1.5 * AREA * PRESSURE / stiffness[0, 0]
    return float(stretch * (1.0 - np.cos(curvature * LENGTH)) / curvature)


def radius_at_rest(points: int, time: float) -> float:
    """Return the distance of the tip from the axis, m, of the arm at rest under the pressures of a time, s."""
    tip = equilibrium(arm(points), load_time=time, progress=False).rod("arm").r[-1, -1]
    return float(np.hypot(tip[0], tip[1]))


def run(t_end: float = 9.0, progress: bool = False) -> Result:
    """Integrate the ramp of the pressures and one revolution."""
    return simulate(arm(), t_end, 0.005, output_every=20, progress=progress)


if __name__ == "__main__":
    for points in (12, 24, 48):
        error = max(abs(radius_at_rest(points, time) - radius_of_arc()) for time in (2.0, 5.3))
        print(f"{points} points: the tip at rest is {1e3 * error:.3f} mm from the circle of the arc")
    tip = run().rod("arm").r[:, -1]
    print(f"distance from the axis in motion: {1e3 * np.hypot(tip[-1, 0], tip[-1, 1]):.2f} mm")
