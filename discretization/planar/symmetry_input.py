"""Input of the check whether a model moves in a plane."""

from __future__ import annotations

from typing import NamedTuple

from rigid.system import Floats, State


class Symmetry(NamedTuple):
    """Initial state, load directions and known normal, which together with the system determine whether a model is planar."""

    state: State  # initial state of the model
    directions: Floats  # (loads, 3) constant directions of the loads, in the axes of their values; not finite if unknown
    normal: Floats | None = None  # (3,) unit normal of the plane if a run knows it: only this one is tried
