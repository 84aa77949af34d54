"""Define the shapes of the arrays of a state, for a system or for a file that only stores counts."""

from __future__ import annotations

import functools
from typing import NamedTuple

from discretization.memory import Memory
from discretization.multipliers import count_multipliers
from discretization.own_variables import OwnVariables, own_variables
from discretization.system import System

Shapes = dict[str, tuple[int, ...]]  # shape of every field of a `State`, in its order


class Sizes(NamedTuple):
    """Counts that determine the lengths of a state's arrays."""

    frames: int  # including the ground
    multipliers: int
    own: OwnVariables
    memory: Memory


def sizes_of(system: System, rows: int = 0, chart: int = 0) -> Sizes:
    """Return the sizes for a system and for the memory of an integrator (`discretization.memory`), by default that of `em`."""
    n = len(system.frames.mass)
    return Sizes(n, count_multipliers(system), own_variables(system), Memory(n, rows, chart))


def state_shapes(sizes: Sizes) -> Shapes:
    """Return the shapes of all fields of a state by name."""
    return dict(_shapes_of(sizes))


@functools.lru_cache(maxsize=256)
def _shapes_of(sizes: Sizes) -> Shapes:
    n = sizes.frames
    return {
        "r": (n, 3),
        "quat": (n, 4),
        "v": (n, 3),
        "Omega": (n, 3),
        "lam": (sizes.multipliers,),
        "own": (sizes.own.size,),
        "memory": (sizes.memory.size,),
        "totals": (2,),
    }
