"""A yarn of 0.2 mm hits three others at 10 m/s, which lie across it, and is caught by them: none passes through another.

In a step of 40 us it moves by twice the distance at which axes touch. A step in which surfaces could have passed each other is
halved, and counted. The number is the least distance of the axes in the run, in units of the distance at which they touch; a
negative value would mean that the yarn is on the other side. Energy and momentum are conserved. A warning at the start of the
run says that so long a step does not resolve the impact.
"""

from __future__ import annotations

import numpy as np

from rodsim import Material, Model, Result, Section, simulate

RADIUS, LENGTH, SPEED = 1e-4, 0.01, 10.0  # m, m, m/s
ASIDE = 0.0015  # m, from each of those that lie to the next


def model(n: int = 6) -> Model:
    """Return the model with `n` elements per yarn."""
    made = Model("yarns")
    section = Section.circular(RADIUS, Material(E=1e9, nu=0.3, density=1000.0))
    half, rods = 0.5 * LENGTH, []
    for k in range(3):
        y = ASIDE * (k - 1)
        rods.append(made.add_rod(f"lying {k + 1}", [(-half, y, 0.0), (half, y, 0.0)], section, n))
    ends = [(0.0, -half, 5e-4), (0.0, half, 5e-4)]
    rods.append(made.add_rod("shot", ends, section, n, velocity=(0.0, 0.0, -SPEED)))
    made.add_contact("each other", rods, stiffness=1e8, stations=36)
    return made


def run(t_end: float = 4e-4, dt: float = 4e-5, progress: bool | None = None) -> Result:
    """Simulate the impact."""
    return simulate(model(), t_end, dt, output_every=1, progress=progress)


def nearest(result: Result) -> float:
    """Return the least height of the moving yarn's axis above the others over the distance at which they touch."""
    shot = result.rod("shot").r
    least = np.inf
    for k in range(3):
        lying = result.rod(f"lying {k + 1}").r
        for one, other in zip(shot, lying, strict=True):
            above = np.interp(ASIDE * (k - 1), one[:, 1], one[:, 2])
            least = min(least, above - np.interp(0.0, other[:, 0], other[:, 2]))
    return float(least / (2.0 * RADIUS))


if __name__ == "__main__":
    result = run()
    print(
        f"least distance {nearest(result):.3f} of that at which they touch, {result.halvings.sum():.0f} steps halved"
    )
    print(
        "m/s",
        [float(round(result.rod(name).v[-1, :, 2].mean(), 3)) for name in ("shot", "lying 1", "lying 2")],
    )
