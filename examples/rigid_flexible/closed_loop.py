"""Four flexible bars in a loop of spherical joints, loaded for one second: 000 sec. 5.5 with elastic bars.

The rigid twin has exactly the bars of the paper, since consistent masses of straight rods have the inertia of the continuous
ones. So its centres at t = 2 are the known ones of the rigid loop (`EXACT`), and those of the elastic loop tend to them.
"""

from __future__ import annotations

import numpy as np

from examples.rigid_flexible.converging import Study, converge, show
from rodsim import Material, Model, Result, Section, signals, simulate

CORNERS = np.array([(5.0, -5.0, 0.0), (5.0, 5.0, 0.0), (-5.0, 5.0, 0.0), (-5.0, -5.0, 0.0)])
# middles of the four rigid bars at t = 2, to 1e-10
EXACT = np.array(
    [
        [19.2210678126, 0.0, 0.0],
        [15.0, 3.17220302592, 2.78469772882],
        [10.7789321874, 0.0, 0.0],
        [15.0, -3.17220302592, -2.78469772882],
    ]
)


def model(E: float, n_elements: int = 6) -> Model:
    """Return the loop of bars of length 10, section 1 x 1, density 1; the load acts on the middle of the first bar."""
    loop = Model("closed loop")
    section = Section.rectangle(1.0, 1.0, Material(E=E, nu=0.3, density=1.0))
    bars = [
        loop.add_rod(
            f"bar {k + 1}", [CORNERS[k], CORNERS[(k + 1) % 4]], section, n_elements, mass="consistent"
        )
        for k in range(4)
    ]
    for k in range(4):
        loop.add_joint(f"corner {k + 1}", "spherical", bars[k].end, bars[(k + 1) % 4].start)
    push = signals.Triangle(peak=100.0, t_peak=0.5, t_end=1.0)
    loop.add_force("push", bars[0].at(0.5), push.along((8.0, 0.0, 0.0)))
    loop.add_moment("turn", bars[0].at(0.5), push.along((6.0, 0.0, 0.0)))
    return loop


def rigid(t_end: float = 2.0, dt: float = 0.01) -> Result:
    """Simulate the rigid loop of the paper."""
    return simulate(model(1e6).as_rigid(), t_end, dt)


def study(stiffness: tuple[float, ...] = (2e5, 8e5, 3.2e6), t_end: float = 2.0, dt: float = 5e-3) -> Study:
    """Compare all elastic bars with the rigid ones."""
    return converge(model, stiffness, t_end, dt)


if __name__ == "__main__":
    show("Closed loop", study())
    print(
        f"  rigid bars at t = 2 from the known places: {np.abs(rigid().body('bar 1').r[-1] - EXACT[0]).max():.1e}"
    )
