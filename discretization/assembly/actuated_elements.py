"""Actuate two-node SE(3) elements in a step of `em`: stresses that are constant in the step, and their work.

An actuation with the number u from outside reduces the stress of its element by u b (`discretization.space.se3_dual`). It is a
part of the constant stress of the step, so that forces and tangents cost nothing more. Its work is

    W = u L b . (e1 - e0)                                                                               (1)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discretization.assembly.element_lanes import STRESS0, strain_change
from discretization.space.se3_dual import ACTUATIONS
from rigid.compilation.decorators import internal_kernel
from rigid.lanes import WIDTH
from rigid.system import Ints

_STRESS, _LENGTH = -6, -7  # offsets of b and L from that of u


def actuated_elements(frames: Ints, entries: Any, numbers: Ints, loop: Ints) -> Ints:
    """Return offset of u among the parameters, and number of the element, of each actuation, (a, 2).

    frames (m, 2): those of the elements; entries, loop (e,): all interactions; numbers (e,): offsets of the numbers from outside.
    """
    use = np.flatnonzero(loop == ACTUATIONS)
    element = {tuple(pair): m for m, pair in enumerate(frames.tolist())} if len(use) else {}
    rows = [(entries.first[e] + numbers[e], element[tuple(entries.frames[e, :2].tolist())]) for e in use]
    return np.array(rows, np.int64).reshape(-1, 2)


@internal_kernel
def is_actuated(work):
    """Return whether elements are actuated."""
    return work.generic_groups.actuated.shape[0] > 0


@internal_kernel
def begin_actuations(work):
    """Add the stresses of the actuations to those that are constant in the step; call it after `begin_elements`."""
    actuated, X, lanes = work.generic_groups.actuated, work.generic_groups.interacting.numbers, work.elements
    for k in range(actuated.shape[0]):
        at, place = actuated[k, 0], lanes.lane[actuated[k, 1]]
        for i in range(6):
            lanes.start[place // WIDTH, STRESS0 + i, place % WIDTH] -= X[at] * X[at + _STRESS + i]


@internal_kernel
def work_of_actuations(work):
    """Return the work (1) of all actuations in the step, J; strains at its end must be known (`write_end_strains`)."""
    actuated, X, total = work.generic_groups.actuated, work.generic_groups.interacting.numbers, 0.0
    for k in range(actuated.shape[0]):
        at = actuated[k, 0]
        for i in range(6):
            change = strain_change(work.elements, actuated[k, 1], i)
            total += X[at] * X[at + _LENGTH] * X[at + _STRESS + i] * change
    return total
