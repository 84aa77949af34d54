"""The stepper that `simulate` takes for a model with `em` or its compositions: by its shape where it has one."""

from __future__ import annotations

from discretization.planar.symmetry_input import Symmetry
from discretization.solver_selection import select_stepper
from discretization.time.stepper import Stepper
from rodsim.building.build import Built


def stepper_of(built: Built, h: float, order: int = 2) -> Stepper:
    """Ready to march: it has looked at the types of the model, which is part of no step."""
    symmetry = Symmetry(built.state, built.load_directions)
    stepper = select_stepper(built.system, h, order, built.load_values, symmetry=symmetry)
    stepper.advance(built.state, 0, 1)
    return stepper
