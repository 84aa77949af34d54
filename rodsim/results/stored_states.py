"""Convert between states and the named arrays of a file, with the integrator history part by part
(`discretization.integrator_memory`).

The history of velocities and strains of `em-d` is stored after the internal variables, in the array "own".
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discretization.integrator_memory import WIDTH
from discretization.state_shapes import Shapes, StateSizes, state_shapes
from rigid.system import State
from rodsim.results.layout import Layout, LegacyTables

_LATER_HISTORY = "remembered"  # part of the history that is stored after the internal variables, in "own"
_LAST = (
    "chart",
    "algorithmic",
    "differences",
    "nodes",
    "means",
    "substep",
    "history",
    "record",
    "reference",
    "skin",
    "control",
)  # parts stored after all others, in the order in which versions added them
_FILE_NAMES = {
    "internal": "own"
}  # names of arrays in files, if they differ from those of the fields of a state
_BATCH = 64  # number of outputs read together


def shapes(layout: Layout) -> Shapes:
    """Return the shapes of an output's arrays, in the order of a file."""
    return dict(array_shapes(layout.sizes, layout.older))


@functools.lru_cache(maxsize=256)
def array_shapes(sizes: StateSizes, older: LegacyTables = ()) -> Shapes:
    """Return the shapes of an output's arrays for the sizes of a state; cached, callers must not change it.

    older: as in `Layout`.
    """
    array_shape, memory = state_shapes(sizes), sizes.memory.shapes() | dict(older)
    array_shape = {_FILE_NAMES.get(name, name): shape for name, shape in array_shape.items()}
    array_shape["own"] = (sizes.internal.size + math.prod(memory.pop(_LATER_HISTORY, (0,))),)
    last = {name: memory.pop(name) for name in _LAST if name in memory}
    totals = array_shape.pop("totals")
    del array_shape["memory"]
    return {**array_shape, **memory, "totals": totals, **last}


def parts(layout: Layout, state: State) -> dict[str, NDArray[Any]]:
    """Split a state, or the states of several outputs, into the named arrays of a file; arrays of older versions are zero."""
    values = {_FILE_NAMES.get(name, name): array for name, array in state._asdict().items()}
    values |= layout.memory.parts(values.pop("memory"))
    values |= {name: np.zeros((*state.r.shape[:-2], *shape)) for name, shape in layout.older}
    if _LATER_HISTORY in values:
        rows = values.pop(_LATER_HISTORY)
        values["own"] = np.concatenate([values["own"], rows.reshape(*rows.shape[:-2], -1)], axis=-1)
    return values


def joined(layout: Layout, arrays: Mapping[str, NDArray[Any]]) -> State:
    """Join the named arrays of a file to a state, of one output or of several."""
    variables, later_history = np.split(arrays["own"], [layout.internal.size], axis=-1)
    lead = later_history.shape[:-1]
    memory = layout.memory.joined(
        lead, **{_LATER_HISTORY: later_history.reshape(*lead, layout.n_memory, WIDTH), **arrays}
    )
    values = {"internal": variables, "memory": memory}
    return State(**{name: values[name] if name in values else arrays[name] for name in State._fields})


def read(source: Any, outputs: Any) -> State:
    """Read the states of some outputs, an int or a slice, from a `rodsim.results.array_sources.Source`."""
    return joined(source.layout, source.read_all(shapes(source.layout), outputs))


def state_batches(source: Any) -> Iterator[tuple[int, State]]:
    """Yield the states of all outputs in batches, each with the number of its first output.

    Batches are used because opening a file takes longer than reading a row.
    """
    for k in range(0, source.n_outputs, _BATCH):
        yield k, read(source, slice(k, min(k + _BATCH, source.n_outputs)))


def iterate_states(source: Any) -> Iterator[State]:
    """Yield the states of all outputs of a source, one at a time."""
    for _, some in state_batches(source):
        for i in range(len(some.r)):
            yield State(*(array[i] for array in some))
