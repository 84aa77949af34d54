"""Run a mechanism with increasingly stiff parts and compare each run with the rigid twin; used by all examples of this folder.

The difference decreases as 1/E for the following reason. A rod under the forces of the motion, f per length, and its own
inertia follows

    rho A w'' + E I w'''' = f(t),   first frequency omega_1^2 = c E I/(rho A L^4)                             (1)

and starts unbent. If f changes slowly compared with omega_1, w = w_s(t) - w_s(0) cos(omega_1 t), with the static deflection
w_s ~ f L^4/(E I) ~ (f/rho A)/omega_1^2. This is an oscillation about a state that itself differs from the rigid one by a part
proportional to 1/E. The effect of the bent rod on the slow motion is of the same order. So all differences are proportional to
1/E, or 1/omega_1^2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rodsim import Comparison, Model, compare, simulate


class Study(NamedTuple):
    """Differences from the rigid twin by stiffness, relative to the range of motion of the points."""

    stiffness: Sequence[float]
    differences: list[float]  # root of the mean square over time of the point that is farthest apart
    rate: float  # d log(difference)/d log(1/stiffness)
    last: Comparison  # of the stiffest

    def text(self) -> str:
        """Return one line for each stiffness."""
        lines = [
            f"  stiffness {k:9.3g}: apart by {gap:.3e} of the way"
            for k, gap in zip(self.stiffness, self.differences, strict=True)
        ]
        return "\n".join([*lines, f"  proportional to stiffness^-{self.rate:.2f}"])


def converge(
    model: Callable[[float], Model],
    stiffness: Sequence[float],
    t_end: float,
    dt: float,
    points: Sequence[str] | None = None,
) -> Study:
    """Run the mechanism with each stiffness, and its rigid twin once."""
    twin = simulate(model(stiffness[0]).as_rigid(), t_end, dt)
    differences = []
    for k in stiffness:
        comparison = compare(twin, simulate(model(k), t_end, dt), points, names=("rigid", f"stiffness {k:g}"))
        differences.append(max(row.rms / row.scale for row in comparison.rows if row.kind == "point"))
    rate = -np.polyfit(np.log(stiffness), np.log(differences), 1)[0] if len(stiffness) > 1 else np.nan
    return Study(stiffness, differences, float(rate), comparison)


def show(title: str, study: Study, soft: Comparison | None = None) -> None:
    """Print the study and draw the comparison with the stiffest parts, or with `soft` ones, where differences are larger."""
    print(title)
    print(study.text())
    folder = Path("out")
    folder.mkdir(exist_ok=True)
    print(f"  picture: {(soft or study.last).plot(folder / (title.lower().replace(' ', '_') + '.png'))}")
