"""The whole mechanical system: frames, joints, springs, loads (rigid) and rod elements (discretization)."""

from __future__ import annotations

from typing import NamedTuple

from discretization.space.elements import Elements
from rigid.system import Constraints, Floats, Frames, Loads, Springs, TorsionSprings


class System(NamedTuple):
    """A model ready for an integrator; frame 0 is the ground."""

    frames: Frames
    elements: Elements
    constraints: Constraints
    springs: Springs
    torsions: TorsionSprings
    loads: Loads
    gravity: Floats  # (3,) m/s^2
