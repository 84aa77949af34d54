"""Define the shapes of the arrays of a state, for a system or for a file that only stores counts."""

from __future__ import annotations

import functools
from typing import NamedTuple

from discretization.integrator_memory import MemoryLayout
from discretization.internal_variables import InternalVariables, internal_variables
from discretization.multipliers import count_multipliers
from discretization.system import System

Shapes = dict[str, tuple[int, ...]]  # shape of every field of a `State`, in its order


class StateSizes(NamedTuple):
    """Counts that determine the lengths of a state's arrays."""

    frames: int  # including the ground
    multipliers: int
    internal: InternalVariables
    memory: MemoryLayout


def sizes_of(system: System, rows: int = 0, chart: int = 0) -> StateSizes:
    """Return the sizes for a system and for the memory of an integrator (`discretization.integrator_memory`), by default that
    of `em`.
    """
    n = len(system.frames.mass)
    return StateSizes(n, count_multipliers(system), internal_variables(system), MemoryLayout(n, rows, chart))


def state_shapes(sizes: StateSizes) -> Shapes:
    """Return the shapes of all fields of a state by name."""
    return dict(_shapes_of(sizes))


@functools.lru_cache(maxsize=256)
def _shapes_of(sizes: StateSizes) -> Shapes:
    """Cached part of `state_shapes`."""
    n = sizes.frames
    return {
        "r": (n, 3),
        "quat": (n, 4),
        "v": (n, 3),
        "Omega": (n, 3),
        "lam": (sizes.multipliers,),
        "internal": (sizes.internal.size,),
        "memory": (sizes.memory.size,),
        "totals": (2,),
    }
