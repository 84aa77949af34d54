"""Describe why a step may have failed: a rotation close to its limit, or circles of a tendon without a tangent."""

from __future__ import annotations

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import is_reeved
from rigid import quaternions
from rigid.interactions.reeved_tendons import PER_STOP, count_of_stops
from rigid.system import State
from rodsim.building.build import Built
from rodsim.building.rotation_limits import describe_largest_rotation


def describe_failed_step(built: Built, h: float, state: State, folded: bool = False) -> str:
    """Describe what is rotated too far, or else a tendon without a tangent, and the remedy; "" if there is no such cause.

    state: that before a step which fails even if it is short; h: its length before it was halved, s; `folded`: as in
    `describe_largest_rotation`.
    """
    return describe_largest_rotation(built, state, folded) or describe_closest_stops(built, state, h)


def describe_closest_stops(built: Built, state: State, h: float) -> str:
    """Describe two stops that have no tangent after a step of length h, s, at the velocities of the state; "" if all have one."""
    table, r = built.system.others, state.r + h * state.v
    for row in np.flatnonzero([is_reeved(INTERACTIONS[kind]) for kind in table.kind]):
        numbers = table.numbers[table.first[row] : table.first[row + 1]]
        count = count_of_stops(numbers)
        stops, frames = numbers[: PER_STOP * count].reshape(-1, PER_STOP), table.frames[row, :count]
        centers = r[frames] + quaternions.rotate(state.quat[frames], stops[:, :3])
        axes = quaternions.rotate(state.quat[frames], stops[:, 3:6])
        for k in range(count - 1):
            axis = axes[k] if stops[k, 9] else axes[k + 1]
            span, needed = centers[k + 1] - centers[k], abs(stops[k + 1, 9] - stops[k, 9])
            if np.linalg.norm(span - (axis @ span) * axis) <= needed:
                return (
                    f"two stops of {built.interaction_names[row]} come closer than {needed:.6g} m, so that their circles have no "
                    "tangent: keep them apart by a contact or a limit, or give a smaller radius"
                )
    return ""
