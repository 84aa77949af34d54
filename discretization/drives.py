"""Store prescribed motion in states and pack it for a step: driven rows (`rigid.interactions.driven_constraints`) and driven
frames.

A driven frame does not move by forces (`Frames.fixed` is DRIVEN): its poses and rates at both ends of a step are prescribed.
The block of drives in `State.internal` has a row for every driven constraint, in their order, then one for every driven frame:

    U_a (3), value, dU_a/dt (3), dvalue/dt, work done so far (J);   of frames all but the work are zero

so that every number of a result follows from its states. The values of the drives at the end of a step are packed in rows of
three, after the loads:

    driven constraint   U;  value, dvalue/dt, 0;  dU/dt
    driven frame        r;  v;  Omega;  q1, q2, q3;  q0, 0, 0
"""

from __future__ import annotations

import numpy as np

from discretization.memoization import memoized, per_structure
from discretization.system import System
from rigid.interactions import evaluation
from rigid.interactions.constraints import facts, groups_of
from rigid.system import Constraints, Floats, Ints, State

DRIVEN = 2  # value in `Frames.fixed`
NUMBERS = 9  # length of a drive's row in a state
WORK = 8  # index of the work in that row, the last
CONSTRAINT_ROWS, FRAME_ROWS = 3, 5  # packed rows of a driven constraint and of a driven frame


def driven_rows(constraints: Constraints) -> Ints:
    """Return the indices of the driven constraints."""
    return (
        np.flatnonzero(facts(constraints.kind, "driven")) if len(constraints.kind) else np.zeros(0, np.int64)
    )


def driven_frames(fixed: np.ndarray) -> Ints:
    """Return the indices of the driven frames."""
    return np.flatnonzero(fixed == DRIVEN)


@memoized(per_structure)
def count_drives(system: System) -> int:
    """Return the number of rows of drives in `State.internal`."""
    kind, fixed = system.constraints.kind, system.frames.fixed
    rows = np.count_nonzero(facts(kind, "driven")) if len(kind) else 0
    return int(rows + np.count_nonzero(fixed == DRIVEN))


def packed_rows(system: System) -> int:
    """Return the number of rows of the values of `drive_values` at one time: driven constraints, then driven frames."""
    constraints, frames = driven_rows(system.constraints), driven_frames(system.frames.fixed)
    return CONSTRAINT_ROWS * len(constraints) + FRAME_ROWS * len(frames)


def pack_constraint(U: Floats, value: Floats, dU: Floats, dvalue: Floats) -> Floats:
    """Pack U (k, 3), value (k,) and their rates into rows (k, CONSTRAINT_ROWS, 3)."""
    return np.stack([U, np.column_stack([value, dvalue, 0.0 * value]), dU], axis=1)


def pack_frame(r: Floats, quat: Floats, v: Floats, Omega: Floats) -> Floats:
    """Pack the motion of a frame at k times into rows (k, FRAME_ROWS, 3)."""
    first = np.column_stack([quat[:, 0], np.zeros((len(r), 2))])
    return np.stack([r, v, Omega, quat[:, 1:], first], axis=1)


def has_driven_parameters(constraints: Constraints) -> bool:
    """Return whether states store some parameters of the constraints, that is whether constraints are driven."""
    return len(driven_rows(constraints)) > 0


def with_driven_parameters(constraints: Constraints, drive: Floats) -> Constraints:
    """Return the constraints with the driven parameters of one state in place of those at t = 0.

    `drive` (d, NUMBERS): their block of `discretization.internal_variables`.
    """
    rows = driven_rows(constraints)
    if not len(rows):
        return constraints
    Ua, value = constraints.Ua.copy(), constraints.value.copy()
    Ua[rows], value[rows] = drive[: len(rows), :3], drive[: len(rows), 3]
    return constraints._replace(Ua=Ua, value=value)


def at_states(constraints: Constraints, state: State, drive: Floats) -> tuple[Constraints, State]:
    """Return many states (T, n, ...) as one state of T copies of the frames, and the constraints of each copy.

    `drive` (..., d, NUMBERS): the drive block of the states. A single state and its constraints are treated in the same way.
    """
    rows = driven_rows(constraints)
    n = state.r.shape[-2]
    copies = int(np.prod(state.r.shape[:-2]))
    drive = drive[..., : len(rows), :].reshape(copies if len(rows) else 0, len(rows), NUMBERS)
    columns = {
        name: np.tile(values, (copies, *[1] * (np.ndim(values) - 1)))
        for name, values in constraints._asdict().items()
    }
    tiled = Constraints(**columns)
    c = len(constraints.kind)
    offset = n * np.repeat(np.arange(copies), c)
    tiled = tiled._replace(frames=tiled.frames + offset[:, None])
    place = (c * np.arange(copies)[:, None] + rows).ravel()
    tiled.Ua[place] = drive[..., :3].reshape(-1, 3)
    tiled.value[place] = drive[..., 3].ravel()
    return tiled, flatten_states(state)


def flatten_states(state: State) -> State:
    """Return many states (T, n, ...) as one state of T copies of the frames."""
    flat = {
        name: np.ascontiguousarray(getattr(state, name)).reshape(-1, getattr(state, name).shape[-1])
        for name in ("r", "quat", "v", "Omega")
    }
    return state._replace(**flat)


def explicit_rates(constraints: Constraints, state: State, drive: Floats) -> Floats:
    """Return the explicit time derivative (..., d) of the driven rows in dg/dt: g(y, dX/dt) of
    `rigid.interactions.driven_constraints`.
    """
    rows, lead = driven_rows(constraints), state.r.shape[:-2]
    drive = drive[..., : len(rows), :]
    moved = np.concatenate([drive[..., 4:8], np.zeros((*drive.shape[:-1], 5))], axis=-1)
    driven = constraints.chosen(rows)
    tiled, flat = at_states(driven, state, moved)
    return evaluation.values(groups_of(tiled), flat.r, flat.quat).reshape(*lead, len(rows))
