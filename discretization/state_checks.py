"""Check arrays before they enter compiled code: states against their system, values of loads and drives.

Kernels do not check their indices: if an array is shorter than its system requires, they access memory behind it.
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
    """Return the state if all its arrays, or the fields named, can be passed to kernels: `shapes`, float64, row after row.

    `in_place`: True if the arrays are changed in place and must be writable. Raises ModelError that names the field.
    """
    if not isinstance(state, State):
        raise ModelError(f"state = {checks.shown(state)} is no state; {_cure_of(state)}")
    for name in fields or shapes:
        array, shape = getattr(state, name), shapes[name]
        if not (
            type(array) is np.ndarray
            and array.shape == shape
            and array.dtype == _FLOAT
            and (array.flags.carray or not (in_place or _scattered(array)))
        ):
            raise ModelError(f"State.{name} {_fault(name, array, shape)}")
    return state


def check_states(system: System, states: State, *fields: str) -> None:
    """Raise ModelError if fields of one state, or of many at once (..., n, 3), do not have the system's shapes.

    Arrays that are empty for this system may have any empty shape, since files do not store them.
    """
    if not isinstance(states, State):
        raise ModelError(f"state = {checks.shown(states)} is no state; {_cure_of(states)}")
    n, many = len(system.frames.mass), np.shape(states.r)[:-2]
    shapes: Shapes = {"r": (n, 3), "quat": (n, 4), "v": (n, 3), "Omega": (n, 3)}
    if "own" in fields:
        shapes["own"] = (internal_variables(system).size,)
    if not shapes.keys() >= set(fields):
        shapes = state_shapes(sizes_of(system))
    for name in fields:
        actual, shape = np.shape(getattr(states, name)), (*many, *shapes[name])
        if actual != shape and (shapes[name][0] or np.size(getattr(states, name))):
            raise ModelError(f"State.{name} has shape {actual}, this system needs {shape}; {_CURE}")


_CURE = "give a state of this very model: that of `Model.build()`, or `state(i)` of a result of it"


def _cure_of(argument: object) -> str:
    """Return the advice for an argument that is not a state."""
    return "give what its method state() returns" if hasattr(argument, "state") else "give one of a result"


def _scattered(array: np.ndarray) -> bool:
    """Return whether an array is not C-contiguous or not aligned."""
    return not (array.flags.c_contiguous and array.flags.aligned)


def _fault(name: str, array: object, shape: tuple[int, ...]) -> str:
    """Describe what is wrong with the array of field `name`, and the remedy."""
    if type(array) is not np.ndarray:
        return f"= {checks.shown(array)} is no NumPy array; give one of shape {shape}"
    if array.shape != shape:
        cure = "begin with what `start` of this stepper makes of a state" if name == "memory" else _CURE
        return f"has shape {array.shape}, this system needs {shape}; {cure}"
    if array.dtype != _FLOAT:
        return f"is of type {array.dtype}; give it as float64"
    if _scattered(array):
        return "does not lie row after row in memory; give a copy, `numpy.array(..., order='C')`"
    return "is read-only, and a march changes it; give a copy, or call `advance`"


def evaluate_user_function(
    what: str, function: Callable[[Floats], object], times: Floats, shape: tuple[int, ...]
) -> Floats:
    """Return the values (k, *shape) of a user's function at times (k,), s.

    Raises ModelError if it returns anything else.
    """
    returned, expected = function(times), (len(times), *shape)
    try:
        values = np.ascontiguousarray(returned, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{what} gives {checks.shown(returned)}; give numbers of shape {expected}") from None
    if values.shape != expected:
        raise ModelError(
            f"{what} gives an array of shape {values.shape} at {len(times)} times; give {expected}"
        )
    return values
