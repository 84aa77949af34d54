"""A continuum robot: a steel backbone with discs is bent by a tendon that passes the discs.

The backbone and its load are those of Rucker and Webster (2011): 0.5 m long, 2 mm thick, gravity across it, a tendon at a
distance of 15.06 mm. In the limit of many discs the tendon loads the rod along its whole length, and the tip is that of their
differential equations, here solved to 1e-6 m. The tension grows in 2 s, and the air damps the robot until it rests.

    python -m examples.tendon_robot
"""

from __future__ import annotations

import numpy as np

from rodsim import Model, Result, Section, signals, simulate

LENGTH, RADIUS, OFFSET = 0.5, 1e-3, 0.01506  # m
YOUNG, SHEAR, DENSITY = 200e9, 80e9, 8000.0  # Pa, Pa, kg/m^3
TENSION = 15.0  # N
TIP = np.array([0.182212, 0.0, 0.453229])  # m, of the differential equations
AREA, MOMENT = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4.0
SECTION = Section.from_stiffness(
    EA=YOUNG * AREA,
    GA=SHEAR * AREA,
    GJ=2.0 * SHEAR * MOMENT,
    EI=YOUNG * MOMENT,
    mass_per_length=DENSITY * AREA,
    inertia_per_length=DENSITY * MOMENT,
)


def robot(discs: int = 40) -> Model:
    """Return the robot with this number of discs, at rest without tension."""
    model = Model("tendon robot", gravity=(9.81, 0, 0))
    rod = model.add_rod("backbone", [(0, 0, 0), (0, 0, LENGTH)], SECTION, discs, up=(0, 1, 0))
    model.add_joint("wall", "clamp", rod.start)
    model.add_mass_damping("air", rod, 20.0)
    eyelets = [rod.at(k / discs, (0, OFFSET, 0)) for k in range(discs + 1)]
    model.add_tendon("tendon", eyelets, signals.Ramp(TENSION, t_start=0.0, t_end=2.0))
    return model


def run(discs: int = 40, t_end: float = 4.0, progress: bool = False) -> Result:
    """Integrate until the robot rests."""
    return simulate(robot(discs), t_end, 0.005, output_every=20, progress=progress)


if __name__ == "__main__":
    for discs in (10, 20, 40):
        result = run(discs)
        tip = result.rod("backbone").r[-1, -1]
        print(
            f"{discs} discs: tip at {tip}, {1e3 * np.linalg.norm(tip - TIP):.3f} mm from the differential equations"
        )
    shortened = LENGTH - result.tendon("tendon").length[-1]
    print(f"the tendon was drawn in by {1e3 * shortened:.2f} mm")
