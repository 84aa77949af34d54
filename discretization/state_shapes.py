"""How large the arrays of a state are: the one place that knows, of a system or of a file that only counts."""

from __future__ import annotations

import functools
from typing import NamedTuple

from discretization.memory import Memory
from discretization.multipliers import count_multipliers
from discretization.own_variables import OwnVariables, own_variables
from discretization.system import System

Shapes = dict[str, tuple[int, ...]]  # of every field of a `State`, in its order


class Sizes(NamedTuple):
    """What the lengths of a state's arrays count."""

    frames: int  # with the ground
    multipliers: int
    own: OwnVariables
    memory: Memory


def sizes_of(system: System, rows: int = 0, chart: int = 0) -> Sizes:
    """Of a system, and of what an integrator remembers (`discretization.memory`), by default that of `em`."""
    n = len(system.frames.mass)
    return Sizes(n, count_multipliers(system), own_variables(system), Memory(n, rows, chart))


def state_shapes(sizes: Sizes) -> Shapes:
    """Of all fields."""
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
