"""Prescribed motion of a model in a chart: driven constraints are used unchanged, a driven frame is held by six of them.

A driven frame keeps its coordinates. Three driven displacements from the ground hold its position. Three driven angles
d_1 . e_2 = d_2 . e_3 = d_3 . e_1 = 0 hold its rotation, with d_i its prescribed axes and e_j its actual ones. Near the
prescribed rotation these have no other solution. This module converts the arrays packed for `em` (`discretization.drives`) to
those of a chart, and stores the results in `State`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.drives import (
    CONSTRAINT_ROWS,
    DRIVEN,
    NUMBERS,
    WORK,
    driven_frames,
    driven_rows,
    packed_rows,
)
from discretization.internal_variables import part
from discretization.state_checks import evaluate_user_function
from discretization.system import System
from rigid import quaternions
from rigid.charts.prescribed_motion import Motion
from rigid.interactions.constraints import number_of
from rigid.interactions.driven_constraints import DRIVEN_ANGLE, DRIVEN_DISPLACEMENT
from rigid.mechanics.mechanical_system import DRIVE_NUMBERS
from rigid.system import Constraints, Floats, Frames, State

DriveValues = Callable[[Floats], Floats]
HOLDING = 6  # number of driven constraints of a driven frame


def frames_to_constraints(system: System) -> tuple[Frames, Constraints]:
    """Return frames and constraints in which driven frames are free and held by driven constraints.

    These constraints come after those of the system.
    """
    frames, constraints = driven_frames(system.frames.fixed), system.constraints
    if not len(frames):
        return system.frames, constraints
    count, unit = HOLDING * len(frames), np.tile(np.eye(3), (2 * len(frames), 1))
    slides = np.tile(np.arange(HOLDING) < 3, len(frames))
    kinds = np.where(slides, number_of(DRIVEN_DISPLACEMENT), number_of(DRIVEN_ANGLE))
    zero = np.zeros((count, 3))
    holding = Constraints(
        kind=kinds.astype(constraints.kind.dtype),
        frames=np.column_stack([np.zeros(count, np.int64), np.repeat(frames, HOLDING)]),
        Xa=zero,
        Xb=zero,
        Ua=unit,
        Ub=np.where(slides[:, None], 0.0, np.roll(unit, -1, axis=0)),
        value=np.zeros(count),
        joint=np.full(count, -1, np.int64),
        Wa=zero,
        Wb=zero,
        repeats=np.zeros(count, np.uint8),
    )
    optional = Constraints._field_defaults
    columns = {
        name: column
        if name in optional and not len(column)
        else np.concatenate([column, getattr(holding, name)])
        for name, column in constraints._asdict().items()
    }
    fixed = np.where(system.frames.fixed == DRIVEN, 0, system.frames.fixed).astype(system.frames.fixed.dtype)
    return system.frames._replace(fixed=fixed), Constraints(**columns)


def motion_of(system: System, state: State, drive_values: DriveValues | None) -> Motion | None:
    """Return the prescribed motion, starting from the values in `state`; None if nothing is driven.

    drive_values: function of times (k,) that returns the prescribed values, packed as in `discretization.drives`.
    """
    rows, frames = driven_rows(system.constraints), driven_frames(system.frames.fixed)
    if not len(rows) + len(frames):
        return None
    values = None
    if drive_values is not None:
        prescribed, shape = drive_values, (packed_rows(system), 3)

        def values(t: float) -> Floats:
            return numbers_of(
                system, evaluate_user_function("drive_values", prescribed, np.array([t]), shape)
            )[0]

    first, drives = len(system.constraints.kind), np.arange(len(frames)) + len(rows)
    return Motion(
        drive_parameters_in(system, state),
        values,
        np.concatenate([rows, first + np.arange(HOLDING * len(frames))]),
        np.concatenate([np.arange(len(rows)), np.repeat(drives, HOLDING)]),
        frames,
        drives,
    )


def drive_parameters_in(system: System, state: State) -> Floats:
    """Return the parameters (..., d, DRIVE_NUMBERS) of driven constraints and of those that hold driven frames.

    They are read from `state`, which is one state or many.
    """
    rows, frames = driven_rows(system.constraints), driven_frames(system.frames.fixed)
    of_constraints = part(system, state, "drive")[..., : len(rows), :DRIVE_NUMBERS]
    poses = (x[..., frames, :] for x in (state.r, state.quat, state.v, state.Omega))
    return np.concatenate([of_constraints, _holding(*poses)], axis=-2)


def numbers_of(system: System, packed: Floats) -> Floats:
    """Return the parameters (k, d, DRIVE_NUMBERS) of driven constraints and of those that hold driven frames, as prescribed.

    packed: (k, rows, 3) prescribed values as packed by `discretization.drives`.
    """
    count = len(driven_rows(system.constraints))
    of_rows, of_frames = _split(packed, count)
    U, value, dU = of_rows[..., 0, :], of_rows[..., 1, :2], of_rows[..., 2, :]
    of_constraints = np.concatenate([U, value[..., :1], dU, value[..., 1:]], axis=-1)
    return np.concatenate([of_constraints, _holding(*_poses(of_frames))], axis=-2)


def store_drives_in_state(system: System, packed: Floats, works: Floats, state: State) -> None:
    """Store the prescribed values (rows, 3) at the end of a step, and the work (drives,) done by the drives, J, in a state."""
    rows, frames = driven_rows(system.constraints), driven_frames(system.frames.fixed)
    stored = part(system, state, "drive")
    stored[: len(rows), :DRIVE_NUMBERS] = numbers_of(system, packed[None])[0, : len(rows)]
    stored[:, WORK] = works
    r, quat, v, Omega = (x[0] for x in _poses(_split(packed[None], len(rows))[1]))
    turned = np.sum(quat * state.quat[frames], axis=1, keepdims=True) < 0.0
    state.r[frames], state.quat[frames] = r, np.where(turned, -quat, quat)
    state.v[frames], state.Omega[frames] = v, Omega


def drive_works_in(system: System, state: State) -> Floats:
    """Return the work done by the drives, (drives,), J."""
    return part(system, state, "drive")[:, WORK]


def _split(packed: Floats, count: int) -> tuple[Floats, Floats]:
    """Split packed values into those of constraints (k, d, 3, 3) and those of frames (k, f, 5, 3)."""
    rows, frames = packed[:, : CONSTRAINT_ROWS * count], packed[:, CONSTRAINT_ROWS * count :]
    return rows.reshape(len(packed), -1, CONSTRAINT_ROWS, 3), frames.reshape(len(packed), -1, 5, 3)


def _poses(frames: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return r, quat, v, Omega, each (k, f, .), of packed frames (k, f, 5, 3)."""
    quat = np.concatenate([frames[..., 4, :1], frames[..., 3, :]], axis=-1)
    return frames[..., 0, :], quat, frames[..., 1, :], frames[..., 2, :]


def _holding(r: Floats, quat: Floats, v: Floats, Omega: Floats) -> Floats:
    """Return the parameters (..., 6 f, DRIVE_NUMBERS) of the constraints that hold frames (..., f, .).

    They are U, value and their rates.
    """
    out = np.zeros((*r.shape[:-1], HOLDING, DRIVE_NUMBERS))
    R = quaternions.to_matrix(quat)
    out[..., :3, :3], out[..., :3, 3], out[..., :3, 7] = np.eye(3), r, v
    out[..., 3:, :3] = np.swapaxes(R, -1, -2)
    spin = np.einsum("...ij,...j->...i", R, Omega)[..., None, :]
    out[..., 3:, 4:7] = np.cross(spin, out[..., 3:, :3])
    return out.reshape(*r.shape[:-2], -1, DRIVE_NUMBERS)


assert NUMBERS == DRIVE_NUMBERS + 1  # the last number is the work
