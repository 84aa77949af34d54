"""The frames of a multibody model in a chart: where their coordinates stand, their inertia, and the loads on them.

Tables are arrays of records: one argument of a compiled function each, with names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from rigid.compilation.decorators import small_kernel
from rigid.interactions.kinds import MOST_FRAMES

DIRECTORS, QUATERNION = 0, 1
SINGULAR, ALPHA, GAMMA = 0, 1, 2
START, END, DUAL, ROWS = 0, 1, 2, 3  # places of the scratch
POSES_START, RATES_START, POSES_END, RATES_END = 4, 5, 6, 7  # where poses and rates are both wanted
# frames as they stand and (v, Omega, 0, 0) of each at both ends, and what acts on them: `rigid.interactions.hidden_rates`
FRAMES_START, FRAMES_END, MOVING_START, MOVING_END, ON_FRAMES, ON_MOVING = 8, 9, 10, 11, 12, 13
STEP = 14  # 1/h of the step, its first number; 0: there is none

FRAME = np.dtype(
    [
        ("position", np.int64),  # place of r among the coordinates; -1: there is none, r does not change
        ("orientation", np.int64),  # place of the quaternion or the directors; -1: they do not change
        ("mass", np.float64),
        ("parameter", np.float64),  # alpha or gamma
        ("r", np.float64, (3,)),
        ("directors", np.float64, (9,)),
        ("inertia", np.float64, (9,)),  # about the origin of the frame, row by row
    ],
    align=True,
)
SHARED = np.dtype(
    [("a", np.int64), ("b", np.int64), ("coupling", np.float64)]
)  # energy - coupling |v_b - v_a|^2/2
DRIVEN_ROW = np.dtype(
    [(name, np.int64) for name in ("row", "kind", "entry", "direction", "value", "drive")], align=True
)  # of a constraint whose U and value are functions of time: its row of g, its place among the interactions, where the numbers
# stand, and the number of its drive
DRIVEN_FRAME = np.dtype([(name, np.int64) for name in ("first", "last", "drive")], align=True)  # coordinates


class ChartFrames(NamedTuple):
    """Frames in a chart."""

    chart: int  # DIRECTORS, QUATERNION
    form: int  # of the inertia of quaternions: SINGULAR, ALPHA, GAMMA
    by_torque: int  # 1: discrete derivatives act by torques in averaged directors (EML-kappa)
    each: Any  # (f,) FRAME
    shared: Any  # (k,) SHARED


class Driven(NamedTuple):
    """What moves as it is told in a chart."""

    drives: int  # how many works are counted
    signal: int  # where their numbers begin in a row of time signals
    rows: Any  # (d,) DRIVEN_ROW
    frames: Any  # (k,) DRIVEN_FRAME


def records(dtype: np.dtype) -> types.Array:
    """The type of a table of such records."""
    return types.Array(from_dtype(dtype), 1, "C")


FRAMES = types.NamedTuple(
    [types.int64, types.int64, types.int64, records(FRAME), records(SHARED)], ChartFrames
)
DRIVEN = types.NamedTuple([types.int64, types.int64, records(DRIVEN_ROW), records(DRIVEN_FRAME)], Driven)
SCRATCH = types.complex128[:, :, :, ::1]


def table(dtype: np.dtype, count: int = 0) -> Any:
    """An empty table of records."""
    return np.zeros(count, dtype).view(np.recarray)


def no_frames() -> ChartFrames:
    """Of a system that is no chart of frames."""
    return ChartFrames(0, 0, 0, table(FRAME), table(SHARED))


def no_drives() -> Driven:
    """Of a system in which nothing is driven."""
    return Driven(0, 0, table(DRIVEN_ROW), table(DRIVEN_FRAME))


def new_scratch() -> Any:
    """Room for one interaction: poses at both ends, dual, and its multipliers or rows, at START, END, DUAL and ROWS; and poses
    and their rates at both ends, relative ones and those of the frames; 1/h.
    """
    return np.zeros((15, MOST_FRAMES, 4, 3), complex)


@small_kernel
def load_at(x, i):
    """Vector from x[i:i + 3]."""
    return x[i], x[i + 1], x[i + 2]
