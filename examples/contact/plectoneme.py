"""A twisted rod forms a plectoneme: a loop whose strands touch; the number of turns is conserved.

A rubber rod of 1 m and 2.5 cm is held at one end; a motor rotates the other end, which is free to move along its axis. It
stays straight up to 8.987 B/(2 pi C) = 1.07 turns (Greenhill, both ends with fixed directions), with the bending stiffness B
and the torsional stiffness C. Then twist becomes writhe: the axis winds about itself, until the strands of the loop touch. At
every time

    twist + writhe = link = turns of the motor                                                          (1)

to round-off, on any mesh. If a strand passed through another, the link would change by two: (1) shows whether contact has
held. The parameters are those of PyElastica's example of self-contact.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats
from rodsim import Model, Result, Section, signals, simulate

RADIUS, YOUNG, RATE = 0.025, 1e6, 0.2  # m, Pa, turns a second
AREA, INERTIA = np.pi * RADIUS**2, np.pi / 4.0 * RADIUS**4
BENDING, TWISTING = YOUNG * INERTIA, 2.0 * YOUNG / 1.5 * INERTIA  # N m^2
BUCKLES = 8.9868 * BENDING / (2.0 * np.pi * TWISTING)  # turns
SECTION = Section.from_stiffness(
    EA=YOUNG * AREA,
    GA=27.0 / 28.0 * YOUNG / 1.5 * AREA,
    GJ=TWISTING,
    EI=BENDING,
    mass_per_length=1.0,
    inertia_per_length=np.array([2.0, 1.0, 1.0]) * INERTIA / AREA,
    radius=RADIUS,
)


def model(n_elements: int = 20, rate: float = RATE) -> Model:
    """Return the model; drag slows the motion, and a force of 1 mN selects the side to which the rod buckles."""
    made = Model("plectoneme")
    rod = made.add_rod("rod", [(0, 0, 0), (0, 1, 0)], SECTION, n_elements, mass="lumped")
    made.add_joint("held", "clamp", rod.start)
    motor = made.add_driven("motor", (0, 1, 0), turn=signals.Steady(2.0 * np.pi * rate), axis=(0, 1, 0))
    made.add_joint("turned", "prismatic", motor, rod.end, at=(0, 1, 0), axis=(0, 1, 0))
    made.add_mass_damping("air", rod, 2.0, rotation=2.0 * 4.0 / RADIUS**2)
    made.add_force("aside", rod.at(0.5), (0, 0, -1e-3))
    made.add_contact("itself", rod, stiffness=3e6, stations=4)
    return made


def run(turns: float = 2.0, n_elements: int = 20, dt: float = 0.02, progress: bool | None = None) -> Result:
    """Rotate the motor by `turns` turns."""
    return simulate(model(n_elements), turns / RATE, dt, output_every=25, progress=progress)


def strands(result: Result, at: int = -1) -> float:
    """Return the least distance of the axes of the strands over the diameter, between middles of elements."""
    r = result.rod("rod").r[at]
    middles: Floats = (r[1:] + r[:-1]) / 2.0
    i, j = np.triu_indices(len(middles), len(middles) // 5)
    return float(np.linalg.norm(middles[i] - middles[j], axis=1).min() / (2.0 * RADIUS))


if __name__ == "__main__":
    result = run()
    rod = result.rod("rod")
    print(f"straight up to {BUCKLES:.3f} turns by Greenhill")
    for k in range(0, result.n_outputs, 4):
        turns = RATE * result.t[k]
        print(
            f"{turns:.1f} turns: twist {rod.twist[k]:.4f} + writhe {rod.writhe[k]:.4f}, missing {abs(rod.link[k] - turns):.1e}; "
            f"end at {rod.r[k, -1, 1]:.3f} m, strands {strands(result, k):.2f} diameters apart"
        )
