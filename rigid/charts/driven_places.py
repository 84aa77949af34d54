"""What is driven in a chart: constraints and frames whose motion is given, and where compiled code finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rigid.charts.places import Places
from rigid.interactions.constraints import CONSTRAINTS, first_rows, width_of
from rigid.interactions.kinds import Interacting
from rigid.kinematics.chart_frames import (
    DRIVEN_FRAME,
    DRIVEN_ROW,
    Driven,
    table,
)
from rigid.system import Constraints, Floats, Ints


class Motion(NamedTuple):
    """What is driven: constraints whose numbers are functions of time, and frames that such constraints hold alone.

    Each has one work; of a frame it is without the change of its own kinetic energy, as if it had no mass.
    """

    numbers: Floats  # (d, DRIVE_NUMBERS) at the start: U, value, dU/dt, dvalue/dt
    values: Callable[[float], Floats] | None  # t -> the same; None: states are read, no steps are made
    rows: Ints  # (d,) numbers of the constraints
    drive: Ints  # (d,) which drive each belongs to
    frames: Ints  # (k,) frames that are driven
    drive_of_frame: Ints  # (k,)


def driven_of(
    motion: Motion, constraints: Constraints | None, interacting: Interacting, places: Places, signal: int
) -> Driven:
    """Where compiled code finds what is driven; `signal`: numbers of the loads before it."""
    assert constraints is not None
    first, rows = places.internal + first_rows(constraints), table(DRIVEN_ROW, len(motion.rows))
    for k, c in enumerate(motion.rows):
        which, entry = _entry(interacting, first[c])
        at, here = interacting.each[entry].first, {}
        for name in CONSTRAINTS[constraints.kind[c]].columns:
            here[name] = at
            at += width_of(name)
        rows[k] = first[c], which, entry, here["Ua"], here["value"], motion.drive[k]
    frames = table(DRIVEN_FRAME, len(motion.frames))
    for k, f in enumerate(motion.frames):
        frames[k] = places.position[f], places.orientation[f] + places.size, motion.drive_of_frame[k]
    drives = int(max([*motion.drive, *motion.drive_of_frame], default=-1)) + 1
    return Driven(drives, signal, rows, frames)


def _entry(interacting: Interacting, row: int) -> tuple[int, int]:
    """Kind and number of the constraint whose row of g this is."""
    for which, kind in enumerate(interacting.kinds):
        if kind.rows:
            found = np.flatnonzero(interacting.each.row[kind.first : kind.last] == row)
            if len(found):
                return which, int(kind.first + found[0])
    raise AssertionError(f"no constraint has row {row}")
