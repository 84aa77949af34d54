"""What is asked whether a model moves in a plane."""

from __future__ import annotations

from typing import NamedTuple

from rigid.system import Floats, State


class Symmetry(NamedTuple):
    """What, besides a system, says whether it moves in a plane."""

    state: State  # where it begins
    directions: Floats  # (loads, 3) along which the loads act at all times, in the axes of their values; not finite: unknown
    normal: Floats | None = None  # of the plane, where a run knows it: it alone is tried
