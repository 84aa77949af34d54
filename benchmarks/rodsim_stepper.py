"""The stepper that `simulate` chooses for a model with `em` or its compositions.

A structured one if the model allows it.
"""

from __future__ import annotations

from discretization.planar.symmetry_input import Symmetry
from discretization.solver_selection import select_stepper
from discretization.time.stepper import Stepper
from rodsim.building.build import Built


def stepper_of(built: Built, h: float, order: int = 2) -> Stepper:
    """Stepper ready to march: the types of the model are already known, which is not part of a step."""
    symmetry = Symmetry(built.state, built.load_directions)
    stepper = select_stepper(built.system, h, order, built.load_values, symmetry=symmetry)
    stepper.advance(built.state, 0, 1)
    return stepper
