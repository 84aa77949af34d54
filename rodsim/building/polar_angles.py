"""Name the airfoil whose angle of attack left its polar, after a step that failed."""

from __future__ import annotations

import numpy as np

from discretization.interaction_groups import groups_of, with_load_values
from rigid.interactions import evaluation
from rigid.interactions.airfoil import AIRFOIL, FLOW, POLAR_ROW, angle_of_attack
from rigid.interactions.flow_fields import end_of_flow
from rigid.system import State
from rodsim.building.build import Built

NEAR = 5.0  # degrees from the end of a polar, within which a step may have left it


def angle_beyond_polar(built: Built, state: State, t: float) -> str:
    """Return a text on the strip whose angle of attack is closest to the end of its polar or beyond it; "" if none is near."""
    system, worst, text = built.system, NEAR, ""
    groups = groups_of(with_load_values(system, built.load_values(np.array([t]))[0]), state)
    for acting in (entry for entry in groups if entry.group.kind is AIRFOIL):
        group = acting.group._replace(
            kind=AIRFOIL._replace(bend=angle_of_attack), row=np.arange(len(acting.use))
        )
        angles = np.degrees(evaluation.resistances([group], state)[:, 0, 0])
        for X, angle, use, frame in zip(group.numbers, angles, acting.use, group.frames[:, 1], strict=True):
            at = end_of_flow(X, FLOW)
            first, last = np.degrees(X[[at + 1, at + 1 + POLAR_ROW * (int(X[at]) - 1)]])
            margin = min(angle - first, last - angle)
            if last - first < 360.0 and margin < worst:
                rod = next(rod for rod in built.layout.rods if frame in rod.frames)
                s = rod.arclength[rod.frames.tolist().index(frame)] / rod.arclength[-1]
                worst, text = (
                    margin,
                    (
                        f"{built.interaction_names[use]}: the angle of attack at s = {s:.3g} is {angle:.4g} deg, and its polar "
                        f"covers {first:.4g} to {last:.4g} deg; give a polar from -180 to 180 deg"
                    ),
                )
    return text
