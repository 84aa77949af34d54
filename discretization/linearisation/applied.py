"""Loads and weight in the linear equations: what they apply, and how that changes as frames move.

A force F at x = R X gives the torque x x F; where the frame turns by eta it changes by

    dead:       0,  (eta x x) x F = F^ x^ eta       following:   eta x F,  eta x (x x F)                       (1)

A dead moment does not change, a following one by eta x T. Follower loads and dead moments have no potential: the matrix
is unsymmetric.
"""

from __future__ import annotations

import numpy as np

from discretization.linearisation.inertia import hats
from discretization.linearisation.tangents import Blocks
from discretization.system import System
from rigid import quaternions
from rigid.system import FORCE, Floats, State


def _turned(system: System, state: State, values: Floats) -> tuple[Floats, Floats]:
    """Loads (l, 3) and their levers, inertial axes."""
    loads = system.loads
    quat = state.quat[loads.frame]
    following = (loads.following != 0)[:, None]
    F = np.where(following, quaternions.rotate(quat, values), values)
    return F, np.where((loads.kind == FORCE)[:, None], quaternions.rotate(quat, loads.X), 0.0)


def per_load(system: System, state: State, values: Floats) -> Floats:
    """(l, 6): force and torque of each load on its frame."""
    F, x = _turned(system, state, values)
    force = (system.loads.kind == FORCE)[:, None]
    return np.concatenate([np.where(force, F, 0.0), np.where(force, np.cross(x, F), F)], axis=1)


def applied(system: System, state: State, values: Floats) -> Floats:
    """(n, 6): loads of these values (l, 3), and weight."""
    out = np.zeros((len(state.r), 6))
    if len(values):
        np.add.at(out, system.loads.frame, per_load(system, state, values))
    moving = system.frames.fixed == 0
    out[moving, :3] += system.frames.mass[moving, None] * system.gravity
    return out


def stiffness(system: System, state: State, values: Floats) -> Blocks:
    """Minus (1), as a block of its frame."""
    loads, blocks = system.loads, np.zeros((len(values), 6, 6))
    if not len(values):
        return Blocks(loads.frame, loads.frame, blocks)
    F, x = _turned(system, state, values)
    force, following = loads.kind == FORCE, loads.following != 0
    blocks[force & ~following, 3:, 3:] = -(hats(F) @ hats(x))[force & ~following]
    use = force & following
    blocks[use, :3, 3:], blocks[use, 3:, 3:] = hats(F)[use], hats(np.cross(x, F))[use]
    use = ~force & following
    blocks[use, 3:, 3:] = hats(F)[use]
    return Blocks(loads.frame, loads.frame, blocks)


def without_potential(system: System, values: Floats) -> list[int]:
    """Numbers of the loads that act and have no potential."""
    alone = (system.loads.kind != FORCE) | (system.loads.following != 0)
    return [int(k) for k in np.flatnonzero(alone & np.any(values != 0.0, axis=1))]
