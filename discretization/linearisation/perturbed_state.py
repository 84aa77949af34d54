"""Perturb a state: displace and rotate every frame, and update what depends on the frames."""

from __future__ import annotations

from discretization import interaction_table
from discretization.internal_variables import part, with_part
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.system import Floats, State


def perturb_state(system: System, state: State, x: Floats) -> State:
    """Return the state with every frame displaced and rotated by x (n, 6), m and rad; counted angles are updated."""
    quat = quaternions.multiply(quaternions.from_rotation_vector(x[:, 3:]), state.quat)
    moved = state._replace(r=state.r + x[:, :3], quat=quaternions.normalize(quat))
    interactions = interaction_table.with_counted_variables(system.others, part(system, moved, "angle"))
    return with_part(
        system,
        moved,
        "angle",
        evaluation.values(interaction_table.counted_variable_groups(interactions), moved.r, moved.quat),
    )
