"""Arrays that locate the drives of a model for a step of `em`, allocated once for a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.drives import driven_frames, driven_rows
from rigid.interactions.constraints import CONSTRAINTS, width_of
from rigid.system import Floats, Ints


class DriveWork(NamedTuple):
    """Addresses of the driven constraints and frames of a model."""

    rows: Ints  # (d,) indices of the driven constraints
    frames: Ints  # (f,) indices of the driven frames
    entry: Ints  # (d,) index among the interactions assembled from their duals
    direction: Ints  # (d,) offset of U_a in the parameters of these interactions
    value: Ints  # (d,) offset of the value in these parameters
    change: Floats  # parameters, with the changes over a step in place of the driven ones


def drive_work(system: Any, duals: Any) -> DriveWork:
    """Build the arrays of a system; `duals`: its `GenericAssembly`, which contain all driven constraints."""
    constraints, interacting = system.constraints, duals.interacting
    rows = driven_rows(constraints)
    entry, direction, value = np.zeros((3, len(rows)), np.int64)
    for k, c in enumerate(rows):
        entry[k] = np.flatnonzero(interacting.entries.row == c)[0]
        columns = CONSTRAINTS[constraints.kind[c]].columns
        ends = np.cumsum([width_of(name) for name in columns])
        first = dict(
            zip(columns, interacting.entries.first[entry[k]] + np.concatenate([[0], ends[:-1]]), strict=True)
        )
        direction[k], value[k] = first["Ua"], first["value"]
    frames = driven_frames(system.frames.fixed)
    return DriveWork(rows, frames, entry, direction, value, interacting.numbers.copy())
