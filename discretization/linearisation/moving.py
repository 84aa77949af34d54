"""States beside a state: every frame displaced and turned, with what else of a state follows from its frames."""

from __future__ import annotations

import numpy as np

from discretization.system import System
from rigid import quaternions
from rigid.system import Floats, State


def moved(system: System, state: State, x: Floats) -> State:
    """Every frame displaced and turned by x (n, 6); torsion springs are wound on."""
    quat = quaternions.multiply(quaternions.from_rotation_vector(x[:, 3:]), state.quat)
    there = state._replace(r=state.r + x[:, :3], quat=quaternions.normalize(quat))
    return there._replace(angle=angles(system, there))


def angles(system: System, state: State) -> Floats:
    """(s,) of the torsion springs, rad, those nearest to the angles counted in the state."""
    t = system.torsions
    a, b = t.frames.T
    along = quaternions.rotate(state.quat[b], t.Ub)
    c, s = (np.sum(quaternions.rotate(state.quat[a], U) * along, axis=1) for U in (t.Ua, t.Wa))
    angle = np.arctan2(s, c)
    return np.asarray(angle + 2 * np.pi * np.round((state.angle - angle) / (2 * np.pi)))
