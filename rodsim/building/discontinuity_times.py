"""Collect the corners of a model: times at which one of its functions of time jumps or has a kink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rigid.motions import Motion
from rigid.signals import corners_of
from rigid.system import Floats
from rodsim.components.model_data import ModelData


class Discontinuities(NamedTuple):
    """Hold the times after t = 0 at which a step must end, s, increasing."""

    corners: Floats  # (k,) times at which the value or the slope of a load jumps
    knots: Floats  # (l,) these times, and times at which a higher derivative of a load or a motion jumps

    def settings(self, adaptive: bool) -> dict[str, list[float]]:
        """Return the entry for the settings of a run: corners, or knots if steps are adaptive; empty if there are none."""
        times = self.knots if adaptive else self.corners
        return {"corners": times.tolist()} if len(times) else {}


NO_DISCONTINUITIES = Discontinuities(np.zeros(0), np.zeros(0))


def discontinuities_of_model(model: ModelData) -> Discontinuities:
    """Return the corners that loads, winds, drives and driven frames of a model declare.

    Raises
    ------
    ModelError
        If the declaration of a user's function is not a set of times.
    """
    functions = list(_functions_of(model))
    if not functions:
        return NO_DISCONTINUITIES
    return Discontinuities(*(_positive_times(functions, what) for what in Discontinuities._fields))


def _positive_times(functions: list[tuple[str, Any]], what: str) -> Floats:
    """Return the positive times (k,), s, of all functions; `what`: "corners" or "knots"."""
    times = np.unique([t for owner, function in functions for t in corners_of(owner, function, what)])
    return times[times > 0.0]


def _functions_of(model: ModelData) -> Iterator[tuple[str, Any]]:
    """Yield the functions of time of a model, each with the name of its owner for messages."""
    for entry in model.entries:
        inputs = getattr(entry, "inputs", {})
        for value in [*vars(entry).values(), *(inputs.values() if isinstance(inputs, Mapping) else ())]:
            if callable(value) or isinstance(value, Motion):
                yield f"'{entry.name}'", value
    for driven in model.driven.values():
        yield f"driven '{driven.name}'", driven.motion
