"""Actuate two-node SE(3) elements in a step of `em`: stresses that are constant in the step, and their work.

An actuation with the number u from outside reduces the stress of its element by u b (`discretization.space.se3_dual`). It is a
part of the constant stress of the step, so that forces and tangents cost nothing more. Its work is

    W = u L b . (e1 - e0)                                                                               (1)

The strains e1 are those with which the next step begins. Solvers that take many steps in a loop therefore add (1) there, and
evaluate strains at the end of the last step alone: `hold_actuations` notes u and e0, `work_of_held_step` returns (1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discretization.assembly.element_lanes import E0, STRESS0, strain_change
from discretization.space.se3_dual import ACTUATIONS
from rigid.compilation.decorators import internal_kernel
from rigid.lanes import WIDTH
from rigid.system import Ints

_STRESS, _LENGTH = -6, -7  # offsets of b and L from that of u
_VALUE, _B, _L, _ELEMENT, _COMPONENT = range(5)  # columns of `actuated_elements`
# index in the `count` of a time loop: 1 if the work of the actuations in the substep before is not in the totals yet
WORK_DUE = 4


def actuated_elements(frames: Ints, interacting: Any, signals: Ints) -> Ints:
    """Return rows (a, 5) of the components of b that are not zero: offsets of u, b, L among the numbers, element, component.

    frames (m, 2): those of the elements; interacting: all interactions; signals (l, 4): as in `GenericAssembly`.
    """
    actuations = signals[signals[:, 3] == ACTUATIONS]
    element = {tuple(pair): m for m, pair in enumerate(frames.tolist())} if len(actuations) else {}
    rows = [
        (at, at + _STRESS + i, at + _LENGTH, element[tuple(interacting.entries.frames[e, :2].tolist())], i)
        for e, at, *_ in actuations.tolist()
        for i in np.flatnonzero(interacting.numbers[at + _STRESS : at]).tolist()
    ]
    return np.array(rows, np.int64).reshape(-1, 5)


@internal_kernel
def is_actuated(work):
    """Return whether elements are actuated."""
    return work.generic_groups.actuated.shape[0] > 0


@internal_kernel
def begin_actuations(work):
    """Add the stresses of the actuations to those that are constant in the step; call it after `begin_elements`."""
    actuated, X, lanes = work.generic_groups.actuated, work.generic_groups.interacting.numbers, work.elements
    for k in range(actuated.shape[0]):
        place, i = lanes.lane[actuated[k, _ELEMENT]], actuated[k, _COMPONENT]
        stress = X[actuated[k, _VALUE]] * X[actuated[k, _B]]
        lanes.start[place // WIDTH, STRESS0 + i, place % WIDTH] -= stress


@internal_kernel
def work_of_actuations(work):
    """Return the work (1) of all actuations in the step, J; strains at its end must be known (`write_end_strains`)."""
    actuated, X, total = work.generic_groups.actuated, work.generic_groups.interacting.numbers, 0.0
    for k in range(actuated.shape[0]):
        change = strain_change(work.elements, actuated[k, _ELEMENT], actuated[k, _COMPONENT])
        total += X[actuated[k, _VALUE]] * X[actuated[k, _L]] * X[actuated[k, _B]] * change
    return total


@internal_kernel
def hold_actuations(work):
    """Note u L b and e0 of the step that ends, for `work_of_held_step`."""
    actuated, X, lanes = work.generic_groups.actuated, work.generic_groups.interacting.numbers, work.elements
    for k in range(actuated.shape[0]):
        stress = X[actuated[k, _VALUE]] * X[actuated[k, _B]]
        work.generic_groups.held[k] = stress * X[actuated[k, _L]]
    for group in range(lanes.strain1.shape[0]):
        for i in range(6):
            for j in range(WIDTH):
                lanes.strain1[group, i, j] = lanes.start[group, E0 + i, j]


@internal_kernel
def work_of_held_step(work):
    """Return the work (1) of the step of `hold_actuations`, J, after `begin_elements` at its end."""
    actuated, lanes, total = work.generic_groups.actuated, work.elements, 0.0
    for k in range(actuated.shape[0]):
        place, i = lanes.lane[actuated[k, _ELEMENT]], actuated[k, _COMPONENT]
        group, lane = place // WIDTH, place % WIDTH
        change = lanes.start[group, E0 + i, lane] - lanes.strain1[group, i, lane]
        total += work.generic_groups.held[k] * change
    return total
