"""Prescribed motion in a system: driven rows (`rigid.interactions.driven`) and driven frames, and what a state keeps of them.

A driven frame is one that does not move by forces (`Frames.fixed` is DRIVEN): its poses and rates at both ends of a step are
given. Their block of `State.own` has a row for every driven constraint, in their order, then one for every driven frame:

    U_a (3), value, dU_a/dt (3), dvalue/dt, work done so far (J);   of frames all but the work are zero

so that every number of a result follows from its states. What the drives give to a step at its end is packed in rows of three,
behind the loads: U; value, dvalue/dt, 0; dU/dt of a driven constraint, r; v; Omega; q1, q2, q3; q0, 0, 0 of a driven frame.
"""

from __future__ import annotations

import numpy as np

from discretization.known_facts import known
from discretization.system import System
from rigid.interactions import evaluation
from rigid.interactions.constraints import facts, groups_of
from rigid.system import Constraints, Floats, Ints, State

DRIVEN = 2  # in `Frames.fixed`
NUMBERS = 9  # of a drive in a state
WORK = 8  # the last of them
CONSTRAINT_ROWS, FRAME_ROWS = 3, 5  # packed


def driven_rows(constraints: Constraints) -> Ints:
    """Numbers of the driven constraints."""
    return (
        np.flatnonzero(facts(constraints.kind, "driven")) if len(constraints.kind) else np.zeros(0, np.int64)
    )


def driven_frames(fixed: np.ndarray) -> Ints:
    """Numbers of the driven frames."""
    return np.flatnonzero(fixed == DRIVEN)


@known
def count_drives(system: System) -> int:
    """Rows of drives in `State.own`."""
    kind, fixed = system.constraints.kind, system.frames.fixed
    rows = np.count_nonzero(facts(kind, "driven")) if len(kind) else 0
    return int(rows + np.count_nonzero(fixed == DRIVEN))


def packed_rows(system: System) -> int:
    """Rows of what `drive_values` gives for a time: of driven constraints, then of driven frames."""
    constraints, frames = driven_rows(system.constraints), driven_frames(system.frames.fixed)
    return CONSTRAINT_ROWS * len(constraints) + FRAME_ROWS * len(frames)


def pack_constraint(U: Floats, value: Floats, dU: Floats, dvalue: Floats) -> Floats:
    """(k, CONSTRAINT_ROWS, 3) of U (k, 3), value (k,) and their rates."""
    return np.stack([U, np.column_stack([value, dvalue, 0.0 * value]), dU], axis=1)


def pack_frame(r: Floats, quat: Floats, v: Floats, Omega: Floats) -> Floats:
    """(k, FRAME_ROWS, 3) of the motion of a frame."""
    first = np.column_stack([quat[:, 0], np.zeros((len(r), 2))])
    return np.stack([r, v, Omega, quat[:, 1:], first], axis=1)


def varying(constraints: Constraints) -> bool:
    """Whether some numbers of the constraints are kept by the states: what is driven."""
    return len(driven_rows(constraints)) > 0


def as_driven(constraints: Constraints, drive: Floats) -> Constraints:
    """The constraints with the driven numbers of one state in the place of those at t = 0; drive (d, NUMBERS): their block of
    `discretization.own_variables`.
    """
    rows = driven_rows(constraints)
    if not len(rows):
        return constraints
    Ua, value = constraints.Ua.copy(), constraints.value.copy()
    Ua[rows], value[rows] = drive[: len(rows), :3], drive[: len(rows), 3]
    return constraints._replace(Ua=Ua, value=value)


def at_states(constraints: Constraints, state: State, drive: Floats) -> tuple[Constraints, State]:
    """Many states (T, n, ...) of such constraints as one state of T copies of the frames, with the constraints of each; drive
    (..., d, NUMBERS): what they keep of them.

    Of one state: it and its constraints.
    """
    rows = driven_rows(constraints)
    n = state.r.shape[-2]
    copies = int(np.prod(state.r.shape[:-2]))
    drive = drive[..., : len(rows), :].reshape(copies if len(rows) else 0, len(rows), NUMBERS)
    each = {
        name: np.tile(values, (copies, *[1] * (np.ndim(values) - 1)))
        for name, values in constraints._asdict().items()
    }
    own = Constraints(**each)
    c = len(constraints.kind)
    offset = n * np.repeat(np.arange(copies), c)
    own = own._replace(frames=own.frames + offset[:, None])
    place = (c * np.arange(copies)[:, None] + rows).ravel()
    own.Ua[place] = drive[..., :3].reshape(-1, 3)
    own.value[place] = drive[..., 3].ravel()
    return own, flattened(state)


def flattened(state: State) -> State:
    """Many states (T, n, ...) as one of T copies of the frames."""
    flat = {
        name: np.ascontiguousarray(getattr(state, name)).reshape(-1, getattr(state, name).shape[-1])
        for name in ("r", "quat", "v", "Omega")
    }
    return state._replace(**flat)


def explicit_rates(constraints: Constraints, state: State, drive: Floats) -> Floats:
    """Part (..., d) of dg/dt of the driven rows that is there without motion: g(y, dX/dt) of `rigid.interactions.driven`."""
    rows, lead = driven_rows(constraints), state.r.shape[:-2]
    drive = drive[..., : len(rows), :]
    moved = np.concatenate([drive[..., 4:8], np.zeros((*drive.shape[:-1], 5))], axis=-1)
    alone = constraints.chosen(rows)
    own, flat = at_states(alone, state, moved)
    return evaluation.values(groups_of(own), flat.r, flat.quat).reshape(*lead, len(rows))
