"""Frames of a multibody model in a chart: offsets of their coordinates, their inertia, and data of prescribed motion.

Tables are structured arrays (records): each is one argument of a compiled function, with named fields.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import MAX_FRAMES

DIRECTORS, QUATERNION = 0, 1
SINGULAR, ALPHA, GAMMA = 0, 1, 2
START, END, DUAL, ROWS = 0, 1, 2, 3  # indices of the scratch arrays
POSES_START, RATES_START, POSES_END, RATES_END = 4, 5, 6, 7  # used if both poses and rates are required
# poses of the frames and (v, Omega, 0, 0) of each at both ends, and the duals on them: `rigid.interactions.hidden_rates`
FRAMES_START, FRAMES_END, MOVING_START, MOVING_END, ON_FRAMES, ON_MOVING = 8, 9, 10, 11, 12, 13
STEP = 14  # 1/h of the step, in its first element; 0 if there is no step

FRAME = np.dtype(
    [
        ("position", np.int64),  # offset of r in the coordinates; -1 if r is constant
        ("orientation", np.int64),  # offset of the quaternion or the directors; -1 if they are constant
        ("mass", np.float64),
        ("parameter", np.float64),  # alpha or gamma
        ("r", np.float64, (3,)),
        ("directors", np.float64, (9,)),
        ("inertia", np.float64, (9,)),  # about the origin of the frame, row-major
    ],
    align=True,
)
SHARED = np.dtype(
    [("a", np.int64), ("b", np.int64), ("coupling", np.float64)]
)  # pairs of frames with the kinetic energy - coupling |v_b - v_a|^2/2
# constraints whose U and value are functions of time: row of g, kind, index among the interactions, offsets of the parameters U
# and value, number of the drive
DRIVEN_ROW = np.dtype(
    [(name, np.int64) for name in ("row", "kind", "entry", "direction", "value", "drive")], align=True
)
# coordinates first .. last - 1 of a driven frame, number of its drive
DRIVEN_FRAME = np.dtype([(name, np.int64) for name in ("first", "last", "drive")], align=True)


class ChartFrames(NamedTuple):
    """Frames of a system in a chart."""

    chart: int  # DIRECTORS or QUATERNION
    form: int  # form of the inertia of quaternions: SINGULAR, ALPHA or GAMMA
    by_torque: int  # 1: discrete derivatives act by torques in averaged directors (EML-kappa)
    entries: Any  # (f,) FRAME
    shared: Any  # (k,) SHARED


class Driven(NamedTuple):
    """Prescribed motion in a chart."""

    drives: int  # number of drives whose work is accumulated
    signal: int  # offset of their values in a row of time signals
    rows: Any  # (d,) DRIVEN_ROW
    frames: Any  # (k,) DRIVEN_FRAME


def records(dtype: np.dtype) -> types.Array:
    """Return the numba type of a table of records of the given dtype."""
    return types.Array(from_dtype(dtype), 1, "C")


FRAMES = types.NamedTuple(
    [types.int64, types.int64, types.int64, records(FRAME), records(SHARED)], ChartFrames
)
DRIVEN = types.NamedTuple([types.int64, types.int64, records(DRIVEN_ROW), records(DRIVEN_FRAME)], Driven)
SCRATCH = types.complex128[:, :, :, ::1]


def table(dtype: np.dtype, count: int = 0) -> Any:
    """Return a zero-filled table of `count` records."""
    return np.zeros(count, dtype).view(np.recarray)


def no_frames() -> ChartFrames:
    """Return empty tables for a system that is not a chart of frames."""
    return ChartFrames(0, 0, 0, table(FRAME), table(SHARED))


def no_drives() -> Driven:
    """Return empty tables for a system without prescribed motion."""
    return Driven(0, 0, table(DRIVEN_ROW), table(DRIVEN_FRAME))


def new_scratch() -> Any:
    """Return scratch arrays (15, MOST_FRAMES, 4, 3) for one interaction.

    They hold poses at both ends, the dual, and the multipliers or rows, at START, END, DUAL and ROWS; then poses and their
    rates at both ends, relative ones and those of the frames; and 1/h.
    """
    return np.zeros((15, MAX_FRAMES, 4, 3), complex)


@inline_kernel
def load_at(x, i):
    """Return the vector x[i:i + 3]."""
    return x[i], x[i + 1], x[i + 2]
