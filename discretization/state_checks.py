"""Check arrays before they enter compiled code: states against their system, values of loads and drives.

Kernels do not check their indices: if an array is shorter than its system requires, they access memory outside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.internal_variables import internal_variables
from discretization.state_shapes import Shapes, sizes_of, state_shapes
from discretization.system import System
from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats, State

OF_SYSTEMS = tuple(name for name in State._fields if name != "memory")  # `memory` belongs to the integrator
POSES = ("r", "quat")
_FLOAT = np.dtype(float)


def check_arrays(state: State, shapes: Shapes, *fields: str, in_place: bool = False) -> State:
    """Return the state if all its arrays, or the fields named, can be passed to kernels: `shapes`, float64, C-contiguous.

    `in_place`: True if the arrays are changed in place and must be writable. Raises ModelError that names the field.
    """
    if not isinstance(state, State):
        raise ModelError(f"state: expected a State, got {checks.shown(state)}. {_advice_for(state)}")
    for name in fields or shapes:
        array, shape = getattr(state, name), shapes[name]
        if not (
            type(array) is np.ndarray
            and array.shape == shape
            and array.dtype == _FLOAT
            and (array.flags.carray or not (in_place or _scattered(array)))
        ):
            raise ModelError(f"State.{name} {_describe_fault(name, array, shape)}")
    return state


def check_states(system: System, states: State, *fields: str) -> None:
    """Raise ModelError if fields of one state, or of many at once (..., n, 3), do not have the system's shapes.

    Arrays that are empty for this system may have any empty shape, since files do not store them.
    """
    if not isinstance(states, State):
        raise ModelError(f"state: expected a State, got {checks.shown(states)}. {_advice_for(states)}")
    n, lead = len(system.frames.mass), np.shape(states.r)[:-2]
    shapes: Shapes = {"r": (n, 3), "quat": (n, 4), "v": (n, 3), "Omega": (n, 3)}
    if "internal" in fields:
        shapes["internal"] = (internal_variables(system).size,)
    if not shapes.keys() >= set(fields):
        shapes = state_shapes(sizes_of(system))
    for name in fields:
        actual, shape = np.shape(getattr(states, name)), (*lead, *shapes[name])
        if actual != shape and (shapes[name][0] or np.size(getattr(states, name))):
            raise ModelError(f"State.{name} has shape {actual}, this system needs {shape}; {_ADVICE}")


_ADVICE = "pass a state of this model: that of `Model.build()`, or `state(i)` of one of its results"


def _advice_for(argument: object) -> str:
    """Return the advice for an argument that is not a state."""
    return (
        "Pass what its method state() returns."
        if hasattr(argument, "state")
        else "Pass `state(i)` of a result."
    )


def _scattered(array: np.ndarray) -> bool:
    """Return whether an array is not C-contiguous or not aligned."""
    return not (array.flags.c_contiguous and array.flags.aligned)


def _describe_fault(name: str, array: object, shape: tuple[int, ...]) -> str:
    """Describe the fault of the array of field `name`, with advice."""
    if type(array) is not np.ndarray:
        return f"= {checks.shown(array)} is not a NumPy array; pass one of shape {shape}"
    if array.shape != shape:
        advice = "convert the state by `start` of this stepper first" if name == "memory" else _ADVICE
        return f"has shape {array.shape}, this system needs {shape}; {advice}"
    if array.dtype != _FLOAT:
        return f"is of type {array.dtype}; pass it as float64"
    if _scattered(array):
        return "is not C-contiguous and aligned; pass a copy, `numpy.array(..., order='C')`"
    return "is read-only, but a march changes it in place; pass a copy, or call `advance`"


def evaluate_user_function(
    name: str, function: Callable[[Floats], object], times: Floats, shape: tuple[int, ...]
) -> Floats:
    """Return the values (k, *shape) of a user's function at times (k,), s.

    Raises ModelError if it returns anything else.
    """
    returned, expected = function(times), (len(times), *shape)
    try:
        values = np.ascontiguousarray(returned, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(
            f"{name} returned {checks.shown(returned)}; expected numbers of shape {expected}"
        ) from None
    if values.shape != expected:
        raise ModelError(
            f"{name} returned an array of shape {values.shape} for {len(times)} times; expected {expected}"
        )
    return values
