"""Where a step of `em` finds the drives of a model, allocated once for it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.drives import driven_frames, driven_rows
from rigid.interactions.constraints import CONSTRAINTS, width_of
from rigid.system import Floats, Ints


class DriveWork(NamedTuple):
    """Driven constraints and frames of a model."""

    rows: Ints  # (d,) numbers of the constraints
    frames: Ints  # (f,)
    entry: Ints  # (d,) place among the constraints that go by their duals
    direction: Ints  # (d,) where U_a stands in their numbers
    value: Ints  # (d,) where the value stands
    change: Floats  # numbers like those, with the changes of a step in the place of what is driven


def drive_work(system: Any, duals: Any) -> DriveWork:
    """Of a system whose constraints by duals are `duals`."""
    constraints, interacting = system.constraints, duals.interacting
    rows = driven_rows(constraints)
    entry, direction, value = np.zeros((3, len(rows)), np.int64)
    for k, c in enumerate(rows):
        entry[k] = np.flatnonzero(interacting.each.row == c)[0]
        columns = CONSTRAINTS[constraints.kind[c]].columns
        ends = np.cumsum([width_of(name) for name in columns])
        first = dict(
            zip(columns, interacting.each.first[entry[k]] + np.concatenate([[0], ends[:-1]]), strict=True)
        )
        direction[k], value[k] = first["Ua"], first["value"]
    frames = driven_frames(system.frames.fixed)
    return DriveWork(rows, frames, entry, direction, value, interacting.numbers.copy())
