"""Which frames an interaction acts on: one list for whoever numbers unknowns, orders them or asks what hangs on what."""

from __future__ import annotations

import numpy as np

from discretization.interaction_table import chosen, one_sided, pairs_between, without_loads
from discretization.system import System
from rigid.interactions.constraints import facts
from rigid.system import Ints


def incidence(system: System, *, loose: bool = False, coupling: bool = False) -> list[Ints]:
    """Frames (k, most) of all interactions but loads, table by table, -1: none.

    loose: without those that act on contact alone; coupling: without constraints whose tangent couples no frames.
    """
    others, constraints = without_loads(system.others), system.constraints.frames
    if loose:
        others = chosen(others, ~one_sided(others))
    if coupling:
        constraints = constraints[couples_frames(system)]
    rods = system.rods
    return [rods.elements.frames, rods.spans.frames, others.frames, constraints]


def coupled(system: System, *, loose: bool = False) -> Ints:
    """(e, 2) pairs of frames that share a block of the matrix."""
    each = incidence(system, loose=loose, coupling=True)
    return np.concatenate([pairs_between(frames) for frames in each])


def couples_frames(system: System) -> np.ndarray:
    """Constraints (c,) whose tangent couples both of their frames."""
    return ~facts(system.constraints.kind, "constant")
