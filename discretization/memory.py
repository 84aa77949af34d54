"""What schemes remember from step to step, in one array, `State.memory`: opaque to all but the scheme that wrote it.

    scheme            part        shape
    em and its kin    acc         (n, 6)  rates of (v, spatial angular velocity) over the last step: the predictor's
    em besides, of    differences (5, k)  of these and of multipliers, divided (`discretization.assembly.extrapolation`);
    trees, and of                         in a plane of what they are there, from the tips to the roots
    bodies in a plane nodes       (12,)   largest differences; middles of the last six steps, s from now on; 0: none
    in substeps       means       (8, k)  mean velocities over the last eight (`discretization.assembly.mean_velocities`)
                      substep     (5,)    and what these are of
    em-d besides      remembered  (k, 6)  of velocities and strains (`discretization.assembly.step_dissipation`)
                      algorithmic (2,)    the energy in these, J, and what has been dissipated, J
    in charts         chart       (c,)    coordinates, momenta, velocities (n,) and multipliers (m,), (m,)
    all, with what    reference   (k, 3)  the points of surfaces where the list of pairs was made
    may touch         skin        (1,)    m, of that list (`discretization.time.contact_stepper`)
    all whose steps   control     (c,)    the next step, s, how steps were chosen, and a second solution
    choose themselves                     (`discretization.time.adaptive`)

Part stands behind part, row behind row, in this order. Rows of six are all of one width, so that compiled code counts them
through: those of frames, then what is remembered.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from rigid.system import Floats

WIDTH = 6  # of a row
DIFFERENCES, NODES = 5, 12  # what is remembered of steps before the last one
MEANS, SUBSTEP = 8, 5  # and of substeps
_OLDER = 3, 8  # differences and nodes that older versions had


class Memory(NamedTuple):
    """How long a memory is, and what is in it."""

    frames: int
    rows: int = 0  # that `em-d` remembers
    chart: int = 0  # numbers that an integrator of mechanical systems keeps
    points: int = 0  # of surfaces that may touch
    control: int = 0  # numbers of steps that choose themselves
    earlier: int = 0  # numbers of which there is something of steps before the last one
    means: int = 0  # and of substeps
    older: int = 0  # as `earlier`, in files of older versions: with fewer differences

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of its parts."""
        listed = {"reference": (self.points, 3), "skin": (1,)} if self.points else {}
        listed |= {"control": (self.control,)} if self.control else {}
        if self.chart:
            return {"chart": (self.chart,), **listed}
        before = {"differences": (DIFFERENCES, self.earlier), "nodes": (NODES,)} if self.earlier else {}
        if self.older:
            before = {"differences": (_OLDER[0], self.older), "nodes": (_OLDER[1],)}
        before |= {"means": (MEANS, self.means), "substep": (SUBSTEP,)} if self.means else {}
        more = {"remembered": (self.rows, WIDTH), "algorithmic": (2,)} if self.rows else {}
        return {"acc": (self.frames, WIDTH), **before, **more, **listed}

    @property
    def size(self) -> int:
        """Of `State.memory`."""
        return _places_of(self)[1]

    def parts(self, memory: Floats) -> dict[str, Floats]:
        """Of one memory or of many (..., size); views where it is contiguous."""
        lead = memory.shape[:-1]
        return {name: memory[..., own].reshape(*lead, *shape) for name, shape, own in _places_of(self)[0]}

    def joined(self, lead: tuple[int, ...] = (), /, **parts: Any) -> Floats:
        """The memory (*lead, size) of these parts; those left out or of another shape are zero, others are none of its own."""
        memory = np.zeros((*lead, self.size))
        for name, values in self.parts(memory).items():
            given = parts.get(name, 0.0)
            if np.ndim(given) == 0 or np.shape(given)[len(lead) :] == values.shape[len(lead) :]:
                values[...] = given
        return memory

    def begun(self, memory: Floats) -> Floats:
        """What a scheme begins with: its own memory as it is, of that of `em` what its kin understand, of others nothing."""
        if np.shape(memory) == (self.size,):
            return memory
        begun, em = np.zeros(self.size), WIDTH * self.frames
        if not self.chart and np.shape(memory) == (em,):
            begun[:em] = memory  # its first part
        return begun


@functools.lru_cache(maxsize=256)
def _places_of(memory: Memory) -> tuple[list[tuple[str, tuple[int, ...], slice]], int]:
    """Name, shape and place of each part, and the size of all together."""
    found, first = [], 0
    for name, shape in memory.shapes().items():
        last = first + math.prod(shape)
        found.append((name, shape, slice(first, last)))
        first = last
    return found, first
