"""Corners of a model: times at which a function of time that acts in it jumps or bends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rigid.motions import Motion
from rigid.signals import corners_of
from rigid.system import Floats
from rodsim.parts.entries import Contents


class Corners(NamedTuple):
    """Times after t = 0 at which a step ends, s, increasing."""

    corners: Floats  # (k,) where the value or the slope of a load jumps
    knots: Floats  # (l,) these, and where a higher derivative of a load or a motion jumps

    def settings(self, adaptive: bool) -> dict[str, list[float]]:
        """What stands with the result of a run; nothing where there are none."""
        times = self.knots if adaptive else self.corners
        return {"corners": times.tolist()} if len(times) else {}


NO_CORNERS = Corners(np.zeros(0), np.zeros(0))


def corners_of_model(model: Contents) -> Corners:
    """All that its loads, winds, drives and driven frames declare.

    Raises
    ------
    ModelError
        A function of the user declares something else than times.
    """
    found = list(_functions_of(model))
    if not found:
        return NO_CORNERS
    return Corners(*(_times(found, what) for what in Corners._fields))


def _times(found: list[tuple[str, Any]], what: str) -> Floats:
    times = np.unique([t for owner, function in found for t in corners_of(owner, function, what)])
    return times[times > 0.0]


def _functions_of(model: Contents) -> Iterator[tuple[str, Any]]:
    """Functions of time, each with what it is of, in words."""
    for entry in model.entries:
        for value in vars(entry).values():
            if callable(value) or isinstance(value, Motion):
                yield f"'{entry.name}'", value
    for driven in model.driven.values():
        yield f"driven '{driven.name}'", driven.motion
