"""Read the argument `start`: a result, a state, a steady rotation or the path of a result file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from discretization.state_checks import OF_SYSTEMS, check_states
from rigid import checks
from rigid.errors import ModelError
from rigid.system import State
from rodsim.building.build import Built
from rodsim.results import stored_states
from rodsim.results.layout import Layout
from rodsim.results.result import Result
from rodsim.results.resume_state import describe_fault
from rodsim.results.steady_rotation import SteadyRotation

StartLike = Result | SteadyRotation | State | str | Path

_TIME_TOLERANCE = 1e-9  # tolerance of times, as a fraction of the largest time of a result
_EXPECTED = (
    "Expected a Result, an Equilibrium, the path of a result file, a State or what `steady_rotation` returns"
)


class StartingState(NamedTuple):
    """Hold an initial state and its origin.

    Attributes
    ----------
    state : State
    layout : Layout
        Layout of the model to which the state belongs.
    output : int or None
        Number of the output of a result; None if the state is not from a result.
    t : float or None
        Time of that output, s.
    moved_ground : tuple of Layout and int, or None
        Layout and output of a result whose equilibria may have moved ground points of joints.
    rotation : SteadyRotation or None
    """

    state: State
    layout: Layout
    output: int | None = None
    t: float | None = None
    moved_ground: tuple[Layout, int] | None = None
    rotation: SteadyRotation | None = None


def starting_state(
    owner: str, built: Built, start: StartLike, start_time: float | None = None
) -> StartingState:
    """Return the state that `start` stands for, for a model that is built.

    Parameters
    ----------
    owner : str
        Function that has the argument, for messages.
    built : Built
    start : Result, SteadyRotation, State, str or Path
    start_time : float, optional
        Time of a stored state of a result, s; by default the last.

    Raises
    ------
    ModelError
        If `start` is none of these, does not fit the model, or is damaged.
    """
    if isinstance(start, str | Path):
        start = Result.load(start)
    if isinstance(start, Result):
        return _of_result(owner, start, start_time)
    if start_time is not None and isinstance(start, SteadyRotation | State):
        kind = "a State" if isinstance(start, State) else "a steady rotation"
        raise ModelError(
            f"{owner}: start_time = {checks.shown(start_time)}, but start is {kind}, which has no times. Leave "
            "start_time out, or give the result as start."
        )
    if isinstance(start, SteadyRotation):
        state = _checked_state(owner, built, start.state)
        return StartingState(state, built.layout, moved_ground=start.moved_ground, rotation=start)
    if isinstance(start, State):
        return StartingState(_checked_state(owner, built, start), built.layout)
    advice = ". Call its method state()" if callable(getattr(start, "state", None)) else ""
    raise ModelError(f"{owner}: start = {checks.shown(start)}. {_EXPECTED}{advice}.")


def check_start_time(owner: str, start: StartLike | None, start_time: float | None) -> None:
    """Raise ModelError if a time is given without anything that has states at times."""
    if start is None and start_time is not None:
        raise ModelError(
            f"{owner}: start_time = {checks.shown(start_time)} has no meaning without start. Give start as well."
        )


def _of_result(owner: str, start: Result, start_time: float | None) -> StartingState:
    """Return the state of a result at a time (s), by default its last; ModelError if it has none or it is damaged."""
    if start.n_outputs < 1:
        raise ModelError(f"{owner}: start: the result holds no output")
    index = start.n_outputs - 1 if start_time is None else _index_at(owner, start, start_time)
    stored = start.state(index)
    _check_undamaged(owner, start, index, stored)
    layout = start.layout
    return StartingState(stored, layout, index, float(start.t[index]), moved_ground=(layout, index))


def _check_undamaged(owner: str, start: Result, index: int, stored: State) -> None:
    """Raise ModelError if a stored state was changed after it was written, or if no step can begin with it."""
    changed = start.find_damage(slice(index, index + 1)) or []
    wrong = [
        f"{fault_of_part} is not what was written"
        for fault_of_part in changed
        if not fault_of_part.of_picture
    ]
    fault = wrong[0] if wrong else describe_fault(stored_states.parts(start.layout, stored))
    if fault:
        where = f"'{start.path}'" if start.path else f"the result of '{start.layout.name}'"
        raise ModelError(
            f"{owner}: start: {where} is damaged, {fault} (output {index}); give another start_time, or run that simulation again"
        )


def _index_at(owner: str, start: Result, start_time: float) -> int:
    """Return the number of the output nearest to a time (s); ModelError if the time is outside those of the result."""
    time, t = checks.number(owner, "start_time", start_time), start.t
    # a damaged time is reported when the run is continued from it
    low, high = float(np.nanmin(t)), float(np.nanmax(t))
    rounding = _TIME_TOLERANCE * max(abs(low), abs(high))
    if not low - rounding <= time <= high + rounding:
        raise ModelError(
            f"{owner}: start_time = {time:g} is not within the times of '{start.layout.name}', {low:g} to {high:g} s. "
            "Choose a time in this range, or remove start_time to use the last output."
        )
    return start.index_at(time)


def _checked_state(owner: str, built: Built, state: State) -> State:
    """Return the state with arrays of floats; ModelError unless it is one state of the model."""
    name = f"{owner}, model '{built.layout.name}': start:"
    try:
        check_states(built.system, state, *OF_SYSTEMS)
    except ModelError as error:
        raise ModelError(f"{name} {error}") from None
    if np.ndim(state.r) != 2:
        raise ModelError(
            f"{name} State.r has shape {np.shape(state.r)}, expected {built.state.r.shape}. Give one state, such as "
            "`result.state(-1)`."
        )
    arrays = {}
    for field in OF_SYSTEMS:
        array = np.asarray(getattr(state, field))
        if array.dtype.kind not in "fiu":
            raise ModelError(f"{name} State.{field} is of type {array.dtype}, expected float64.")
        arrays[field] = np.ascontiguousarray(array, dtype=float)
    fault = describe_fault(arrays)
    if fault:
        raise ModelError(f"{name} {fault}. Give a state of a result.")
    return state._replace(**arrays)
