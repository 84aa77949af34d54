"""The frames of a multibody model in a chart: where their coordinates stand, their inertia, and the loads on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from rigid.compilation import small_kernel
from rigid.interactions.kinds import MOST_FRAMES, MOST_ROWS

DIRECTORS, QUATERNION = 0, 1
SINGULAR, ALPHA, GAMMA = 0, 1, 2

F1, F2, I1, I2 = types.float64[::1], types.float64[:, ::1], types.int64[::1], types.int64[:, ::1]
I64 = types.int64


class ChartFrames(NamedTuple):
    """Frames in a chart; a place of -1 among the coordinates: there is none, the value is that of `r` or `directors`."""

    chart: int  # DIRECTORS, QUATERNION
    form: int  # of the inertia of quaternions: SINGULAR, ALPHA, GAMMA
    by_torque: int  # 1: discrete derivatives act by torques in averaged directors (EML-kappa)
    position: Any  # (f,) place of r
    orientation: Any  # (f,) place of the quaternion or the directors
    r: Any  # (f, 3)
    directors: Any  # (f, 9)
    mass: Any  # (f,)
    inertia: Any  # (f, 9) about the origin of the frame, row by row
    parameter: Any  # (f,) alpha or gamma
    shared: Any  # (k, 2) pairs of frames that share mass: kinetic energy - coupling |v_b - v_a|^2/2
    coupling: Any  # (k,) kg


class ChartLoads(NamedTuple):
    """Forces and moments; their values come with the step."""

    kind: Any  # (l,) of `rigid.system`
    frame: Any  # (l,)
    following: Any  # (l,)
    X: Any  # (l, 3) point of application


class Scratch(NamedTuple):
    """Poses and duals of one interaction."""

    y0: Any  # (arity, 4, 3)
    y1: Any
    dual: Any
    row: Any  # (3,) multipliers or rows of it


POSES, C1 = types.complex128[:, :, ::1], types.complex128[::1]
FRAMES = types.NamedTuple([I64, I64, I64, I1, I1, F2, F2, F1, F2, F1, I2, F1], ChartFrames)
LOADS = types.NamedTuple([I1, I1, I1, F2], ChartLoads)
SCRATCH = types.NamedTuple([POSES, POSES, POSES, C1], Scratch)


def no_frames() -> ChartFrames:
    """Of a system that is no chart of frames."""
    none, zero = np.zeros(0, np.int64), np.zeros(0)
    vectors, matrices, pairs = np.zeros((0, 3)), np.zeros((0, 9)), np.zeros((0, 2), np.int64)
    return ChartFrames(0, 0, 0, none, none, vectors, matrices, zero, matrices, zero, pairs, zero)


def no_loads() -> ChartLoads:
    """No loads."""
    none = np.zeros(0, np.int64)
    return ChartLoads(none, none, none, np.zeros((0, 3)))


def scratch() -> Scratch:
    """Room for one interaction."""
    poses = [np.zeros((MOST_FRAMES, 4, 3), complex) for _ in range(3)]
    return Scratch(*poses, np.zeros(MOST_ROWS, complex))


@small_kernel
def load_at(x, i):
    """Vector from x[i:i + 3]."""
    return x[i], x[i + 1], x[i + 2]
