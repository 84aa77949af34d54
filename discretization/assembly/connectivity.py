"""List the frames each interaction acts on: the connectivity used to number unknowns, order them and find connected parts."""

from __future__ import annotations

import numpy as np

from discretization.interaction_table import chosen, one_sided, pairs_between, tendons_of, without_loads
from discretization.system import System
from rigid.interactions.constraints import facts
from rigid.system import Ints


def connectivity(system: System, *, loose: bool = False, coupling: bool = False) -> list[Ints]:
    """Return the frames (k, most) of all interactions but loads, table by table, -1: none.

    `loose`: True to leave out interactions that act in contact only.
    `coupling`: True to leave out constraints whose tangent couples no frames.
    """
    generic, constraints = without_loads(system.others), system.constraints.frames
    if loose:
        generic = chosen(generic, ~one_sided(generic))
    if coupling:
        constraints = constraints[couples_frames(system)]
    rods = system.rods
    return [rods.elements.frames, rods.spans.frames, generic.frames, constraints]


def coupled_frames(system: System, *, loose: bool = False, chains: bool = False) -> Ints:
    """Return the (e, 2) pairs of frames that share a block of the matrix; `loose`: as in `connectivity`.

    `chains`: True if a tendon couples neighbouring frames only.
    """
    neighbours: list[Ints] = []
    if chains:
        tendons = tendons_of(system.others)
        frames = system.others.frames[tendons]
        neighbours = [pairs_between(frames[:, k : k + 2]) for k in range(frames.shape[1] - 1)]
        rest = np.ones(len(system.others.kind), bool)
        rest[tendons] = False
        system = system._replace(others=chosen(system.others, rest))
    tables = connectivity(system, loose=loose, coupling=True)
    return np.concatenate([*(pairs_between(frames) for frames in tables), *neighbours])


def couples_frames(system: System) -> np.ndarray:
    """Return the constraints (c,) whose tangent couples their two frames."""
    return ~facts(system.constraints.kind, "constant")
