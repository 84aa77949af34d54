"""How large the arrays of a state are: the one place that knows, of a system or of a file that only counts."""

from __future__ import annotations

from typing import NamedTuple

from discretization.multipliers import count_multipliers
from discretization.own_variables import OwnVariables, own_variables
from discretization.system import System

Shapes = dict[str, tuple[int, ...]]  # of every field of a `State`, in its order


class Sizes(NamedTuple):
    """What the lengths of a state's arrays count."""

    frames: int  # with the ground
    multipliers: int
    own: OwnVariables
    chart: int = 0  # numbers that an integrator of mechanical systems keeps


def sizes_of(system: System, chart: int = 0, memory: int = 0) -> Sizes:
    """Of a system, and of what an integrator keeps besides: numbers in its chart, rows of memory."""
    own = own_variables(system)._replace(memory=memory)
    return Sizes(len(system.frames.mass), count_multipliers(system), own, chart)


def state_shapes(sizes: Sizes) -> Shapes:
    """Of all fields; those that nothing needs have no rows."""
    n = sizes.frames
    return {
        "r": (n, 3),
        "quat": (n, 4),
        "v": (n, 3),
        "Omega": (n, 3),
        "lam": (sizes.multipliers,),
        "own": (sizes.own.size,),
        "acc": (n, 6),
        "totals": (2,),
        "chart": (sizes.chart,),
        "algorithmic": (2 if sizes.own.memory else 0,),
    }
