"""States beside a state: every frame displaced and turned, with what else of a state follows from its frames."""

from __future__ import annotations

import numpy as np

from discretization import others
from discretization.gears import counted_rows
from discretization.own_variables import counted_by_others, part, with_part
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.system import Floats, State


def moved(system: System, state: State, x: Floats) -> State:
    """Every frame displaced and turned by x (n, 6); torsion springs are wound on."""
    quat = quaternions.multiply(quaternions.from_rotation_vector(x[:, 3:]), state.quat)
    there = state._replace(r=state.r + x[:, :3], quat=quaternions.normalize(quat))
    own = others.with_counted(system.others, counted_by_others(system, there))
    more = evaluation.values(others.counting(own), there.r, there.quat)
    return with_part(system, there, "angle", np.concatenate([angles(system, there), more]))


def angles(system: System, state: State) -> Floats:
    """(s,) of the torsion springs and of geared joints, rad, those nearest to the angles counted in the state."""
    t, g = system.torsions, system.constraints.chosen(counted_rows(system.constraints))
    pairs, U, W, of_b = t.frames, t.Ua, t.Wa, t.Ub
    if len(g.kind):
        third = np.cross(g.Ua / np.linalg.norm(g.Ua, axis=1)[:, None], g.Wa)
        columns = (pairs, g.frames), (U, g.Wa), (W, third), (of_b, g.Ub)
        pairs, U, W, of_b = (np.concatenate(both) for both in columns)
    a, b = pairs.T
    along = quaternions.rotate(state.quat[b], of_b)
    c, s = (np.sum(quaternions.rotate(state.quat[a], u) * along, axis=1) for u in (U, W))
    angle = np.arctan2(s, c)
    counted = part(system, state, "angle")[: len(angle)]
    return np.asarray(angle + 2 * np.pi * np.round((counted - angle) / (2 * np.pi)))
