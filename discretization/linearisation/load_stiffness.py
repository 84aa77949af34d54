"""Compute weight and loads, and their stiffness, in the linearised equations; find loads without potential.

Loads are groups of the system that `discretization.interaction_groups.with_load_values` returns. If a frame rotates by eta, a
dead force F at x = R X changes its torque x x F by (eta x x) x F, a follower force rotates with the frame, and a dead moment
stays constant. Follower loads and dead moments have no potential: their stiffness matrix is unsymmetric.
"""

from __future__ import annotations

import numpy as np

from discretization.interaction_groups import Role, groups_of, is_load, with_load_values
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import kinds_of_signals
from discretization.linearisation import tangents
from discretization.linearisation.tangents import StiffnessBlocks
from discretization.system import System
from rigid.interactions.kinds import Group
from rigid.interactions.pressure import PRESSED_EDGE
from rigid.system import Floats, State


def weight(system: System) -> Floats:
    """Return the weights of the moving frames, forces and (zero) torques, (n, 6), N and N m."""
    moving, out = system.frames.fixed == 0, np.zeros((len(system.frames.mass), 6))
    out[moving, :3] = system.frames.mass[moving, None] * system.gravity
    return out


def load_groups(system: System, state: State, values: Floats) -> list[Group]:
    """Return the groups of loads with these values (l, 3)."""
    return [
        interaction.group
        for interaction in groups_of(with_load_values(system, values), state, Role.WORK)
        if is_load(interaction)
    ]


def applied_forces(system: System, state: State, values: Floats) -> Floats:
    """Return forces and torques of loads with these values (l, 3) plus weight, (n, 6), N and N m."""
    return weight(system) - tangents.forces(load_groups(system, state, values), state, np.zeros(0))


def stiffness(system: System, state: State, values: Floats) -> StiffnessBlocks:
    """Return the stiffness of loads with these values (l, 3): the derivative of minus their forces with respect to (dr, eta)."""
    return tangents.stiffness(load_groups(system, state, values), state, np.zeros(0))


def loads_without_potential(system: System, values: Floats) -> list[int]:
    """Return the indices of loads that are not zero and have no potential."""
    if not np.any(values):
        return []
    without = np.array(
        [not (kind.constant or kind.potential) for kind in kinds_of_signals(system.others)], bool
    )
    return [int(k) for k in np.flatnonzero(without & np.any(values != 0.0, axis=1))]


def has_open_pressure_edges(system: System) -> bool:
    """Return True if edges under pressure do not form closed loops with constant pressure.

    That is so if only one edge ends at a node, or if the pressures on both sides of a node differ.
    """
    interactions = system.others
    if not len(interactions.kind):
        return False
    use = np.flatnonzero(interactions.kind == INTERACTIONS.index(PRESSED_EDGE))
    if not len(use):
        return False
    frames, P = (
        interactions.frames[use, :2],
        interactions.numbers[interactions.first[use][:, None] + np.arange(3)],
    )
    sums = np.zeros((len(system.frames.mass), 3))
    np.add.at(sums, frames[:, 0], P)
    np.subtract.at(sums, frames[:, 1], P)
    return bool(np.abs(sums).max() > 1e-9 * np.abs(P).max(initial=0.0))
