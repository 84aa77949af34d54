"""Describe prescribed motion in a chart: driven constraints and frames, and their offsets for compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rigid.charts.coordinate_layout import CoordinateLayout
from rigid.interactions.constraints import CONSTRAINTS, first_rows, width_of
from rigid.interactions.kinds import InteractionArrays
from rigid.kinematics.chart_frames import (
    DRIVEN_FRAME,
    DRIVEN_ROW,
    Driven,
    table,
)
from rigid.system import Constraints, Floats, Ints


class Motion(NamedTuple):
    """Prescribed motion: constraints whose parameters are functions of time, and frames held by such constraints alone.

    One work is counted for each drive. The work on a driven frame excludes the change of the frame's kinetic energy, as if the
    frame had no mass.
    """

    numbers: Floats  # (d, DRIVE_NUMBERS) parameters at the start: U, value, dU/dt, dvalue/dt
    values: Callable[[float], Floats] | None  # t -> parameters as `numbers`; None: no steps are made
    rows: Ints  # (d,) indices of the driven constraints
    drive: Ints  # (d,) index of the drive of each driven constraint
    frames: Ints  # (k,) indices of the driven frames
    drive_of_frame: Ints  # (k,) index of the drive of each driven frame


def offsets_of_motion(
    motion: Motion,
    constraints: Constraints | None,
    interaction_arrays: InteractionArrays,
    layout: CoordinateLayout,
    signal: int,
) -> Driven:
    """Return the offsets of driven constraints and frames for compiled code.

    `signal`: number of values of the loads, which precede the drives' parameters in a row of time signals.
    """
    assert constraints is not None
    first, rows = layout.internal + first_rows(constraints), table(DRIVEN_ROW, len(motion.rows))
    for k, c in enumerate(motion.rows):
        kind_index, entry = _entry(interaction_arrays, first[c])
        at, column_offsets = interaction_arrays.entries[entry].first, {}
        for name in CONSTRAINTS[constraints.kind[c]].columns:
            column_offsets[name] = at
            at += width_of(name)
        rows[k] = first[c], kind_index, entry, column_offsets["Ua"], column_offsets["value"], motion.drive[k]
    frames = table(DRIVEN_FRAME, len(motion.frames))
    for k, f in enumerate(motion.frames):
        frames[k] = layout.position[f], layout.orientation[f] + layout.size, motion.drive_of_frame[k]
    drives = int(max([*motion.drive, *motion.drive_of_frame], default=-1)) + 1
    return Driven(drives, signal, rows, frames)


def _entry(interaction_arrays: InteractionArrays, row: int) -> tuple[int, int]:
    """Return the indices of kind and interaction of the constraint that has this row of g."""
    for kind_index, kind in enumerate(interaction_arrays.kinds):
        if kind.rows:
            matches = np.flatnonzero(interaction_arrays.entries.row[kind.first : kind.last] == row)
            if len(matches):
                return kind_index, int(kind.first + matches[0])
    raise AssertionError(f"no constraint has row {row}")
