"""Python front end of the compiled planar step: a stepper with the interface of `discretization.time.stepper.Stepper`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from discretization.memoization import memoized, per_tables
from discretization.planar.arrays import IN_PLANE, StepContext, Tables, allocate_work
from discretization.planar.batch_arrays import batch_key, stack_runs
from discretization.planar.symmetry_input import Symmetry
from discretization.planar.symmetry_plane import SymmetryPlane, find_symmetry_plane
from discretization.planar.tables import build_tables
from discretization.system import System
from discretization.time.stepper import DriveValues, LoadValues
from discretization.time.structured_stepper import StructuredStepper
from rigid.bound_arguments import bind_tuple
from rigid.system import Floats, State

SOLVER = "planar"


class PlanarModel(tuple[SymmetryPlane, Tables]):
    """A model that moves in a plane, prepared for `PlanarStepper`: the plane and the arrays."""

    __slots__ = ()


def planar_model(system: System, symmetry: Symmetry, tolerance: float = 0.0) -> PlanarModel | str:
    """Return the model in its plane, or a text with the reason why it is solved in space. tolerance: as in `Stepper`."""
    return _planar_of(system, symmetry, tolerance, system.gravity)


@memoized(per_tables)
def _planar_of(system: System, symmetry: Symmetry, tolerance: float, gravity: Floats) -> PlanarModel | str:
    """Return the result of `planar_model`; `gravity`: that of the system, since the result depends on it."""
    plane = find_symmetry_plane(system, symmetry)
    if isinstance(plane, str):
        return plane
    tables = build_tables(system, symmetry.state, plane, tolerance)
    return tables if isinstance(tables, str) else PlanarModel((plane, tables))


class PlanarStepper(StructuredStepper):
    """Advance states of a model that moves in a plane: the equations of `em` with three unknowns a frame.

    planar: result of `planar_model` for this system and its initial state.
    """

    def __init__(
        self,
        system: System,
        planar: PlanarModel,
        h: float,
        order: int = 2,
        load_values: LoadValues | None = None,
        halves: bool | None = None,
        earlier: bool = True,
        drive_values: DriveValues | None = None,
    ):
        """Prepare the stepper.

        earlier: True if the predictor of Newton's method may use steps before the last one; models with rods, which oscillate,
        are predicted from the last step alone.
        """
        self.plane, self.tables = planar
        oscillates = len(self.tables.elements.ends) > 0
        count = IN_PLANE * len(self.tables.parent) if earlier and not oscillates else 0
        super().__init__(system, h, order, load_values, halves, count, drive_values)
        self._work = allocate_work(self.tables)
        self._bound_context: Any = None
        self.solver, self.solver_settings = SOLVER, {"plane": self.plane.normal.tolist()}
        self.solver_settings |= self.remembered()

    pace = 0.15  # microseconds a step and frame: 5 and 20 bars

    def _batch_key(self) -> tuple[Any, ...]:
        return batch_key(self)

    @staticmethod
    def stack_runs(steppers: Sequence[Any]) -> Any:
        """Return the arrays of up to eight steppers for `batch_march_kernel`, as `Stepper` does."""
        return stack_runs(steppers)

    def batch_march_kernel(self) -> Any:
        """Return the compiled march of eight runs, as `Stepper` does."""
        from discretization.time.planar_batch_march import march_planar_batch

        return march_planar_batch

    @property
    def solved(self) -> float:
        """Return the residual/noise that counts as solved, as `Stepper` does."""
        return self.tables.solved

    def _models(self, state: State) -> tuple[Any, Any, Any]:
        """Return the planar model; its kernel arguments are unpacked once and reused as long as the model is the same object."""
        models, known = StepContext(self.tables, self._work, self.weights), self._bound_context
        if known is None or any(map(operator.is_not, known[0], models)):
            known = self._bound_context = models, bind_tuple(models)
        return known[1], None, None
