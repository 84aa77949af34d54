"""Layout of the integrator state, `State.memory`: data that schemes store from step to step, opaque to all other code.

    scheme            part        shape
    em family         acc         (n, 6)  rates of (v, spatial angular velocity) over the last step, for the predictor
    em family, for    history     (6, k)  mean velocities over the last six steps or substeps
    bodies on joints  record      (4,)    description of these steps (`discretization.assembly.predictor`)
    em-d, also        remembered  (k, 6)  memory of velocities and strains (`discretization.assembly.step_dissipation`)
                      algorithmic (2,)    the energy stored in them, J, and the energy dissipated so far, J
    in charts         chart       (c,)    coordinates, momenta, velocities (n,) and multipliers (m,), (m,)
    all, if surfaces  reference   (k, 3)  the points of surfaces at which the list of pairs was made
    may touch         skin        (1,)    skin distance of that list, m (`discretization.time.contact_stepper`)
    all with adaptive control     (c,)    the next step, s, data of the step size control, and a second solution
    steps                                 (`discretization.time.adaptive`)

The k numbers of `history` are six of each frame in space, and three of each frame in the plane, leaves to roots. Parts are stored
one after another, row by row, in this order. Rows of length six, those of frames and then those of `remembered`, have the same
width, so that compiled code numbers them consecutively.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from rigid.system import Floats

WIDTH = 6  # length of a row
MEANS, RECORD = 6, 4  # number of steps in the history, and length of their description


class MemoryLayout(NamedTuple):
    """Sizes of the parts of `State.memory`."""

    frames: int
    rows: int = 0  # rows that `em-d` stores
    chart: int = 0  # numbers that an integrator in charts stores
    points: int = 0  # points of surfaces that may touch
    control: int = 0  # numbers of the step size control
    history: int = 0  # quantities with a history of steps before the last one

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each part by name."""
        trailing = {"reference": (self.points, 3), "skin": (1,)} if self.points else {}
        trailing |= {"control": (self.control,)} if self.control else {}
        if self.chart:
            return {"chart": (self.chart,), **trailing}
        history = {"history": (MEANS, self.history), "record": (RECORD,)} if self.history else {}
        dissipation = {"remembered": (self.rows, WIDTH), "algorithmic": (2,)} if self.rows else {}
        return {"acc": (self.frames, WIDTH), **history, **dissipation, **trailing}

    @property
    def size(self) -> int:
        """Return the length of `State.memory`."""
        return _slices_of(self)[1]

    def parts(self, memory: Floats) -> dict[str, Floats]:
        """Return the parts of one memory or of many (..., size) by name; views if `memory` is contiguous."""
        lead = memory.shape[:-1]
        return {
            name: memory[..., indices].reshape(*lead, *shape) for name, shape, indices in _slices_of(self)[0]
        }

    def joined(self, lead: tuple[int, ...] = (), /, **parts: Any) -> Floats:
        """Assemble the memory (*lead, size) from its parts.

        Parts that are missing or have another shape are zero; parts that the layout does not contain are ignored.
        """
        memory = np.zeros((*lead, self.size))
        for name, values in self.parts(memory).items():
            value = parts.get(name, 0.0)
            if np.ndim(value) == 0 or np.shape(value)[len(lead) :] == values.shape[len(lead) :]:
                values[...] = value
        return memory

    def begun(self, memory: Floats) -> Floats:
        """Return the initial memory of a scheme from an existing one.

        A memory of the scheme's own size is returned unchanged. From that of `em` the part `acc` is copied; others give zeros.
        """
        if np.shape(memory) == (self.size,):
            return memory
        initial, em = np.zeros(self.size), WIDTH * self.frames
        if not self.chart and np.shape(memory) == (em,):
            initial[:em] = memory  # the first part, `acc`
        return initial


@functools.lru_cache(maxsize=256)
def _slices_of(memory: MemoryLayout) -> tuple[list[tuple[str, tuple[int, ...], slice]], int]:
    """Return the name, shape and slice of each part, and the total size."""
    entries, first = [], 0
    for name, shape in memory.shapes().items():
        last = first + math.prod(shape)
        entries.append((name, shape, slice(first, last)))
        first = last
    return entries, first
