"""Python front end of the compiled planar step: a stepper with the interface of `discretization.time.stepper.Stepper`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from discretization.memo import memo, of_tables
from discretization.planar.arrays import IN_PLANE, Advancing, Tables, work_of
from discretization.planar.plane import Plane, plane_of
from discretization.planar.runs import key_of, lanes_of
from discretization.planar.symmetry import Symmetry
from discretization.planar.tables import tables_of
from discretization.system import System
from discretization.time.shape_stepper import ShapeStepper
from discretization.time.stepper import DriveValues, LoadValues
from rigid.settled import settled
from rigid.system import Floats, State

SOLVER = "planar"


class Planar(tuple[Plane, Tables]):
    """A model that moves in a plane, prepared for `PlanarStepper`: the plane and the arrays."""

    __slots__ = ()


def planar_of(system: System, symmetry: Symmetry, tolerance: float = 0.0) -> Planar | str:
    """Return the model in its plane, or a text with the reason why it is solved in space. tolerance: as in `Stepper`."""
    return _planar_of(system, symmetry, tolerance, system.gravity)


@memo(of_tables)
def _planar_of(system: System, symmetry: Symmetry, tolerance: float, gravity: Floats) -> Planar | str:
    """Return the result of `planar_of`; `gravity`: that of the system, since the result depends on it."""
    plane = plane_of(system, symmetry)
    if isinstance(plane, str):
        return plane
    tables = tables_of(system, symmetry.state, plane, tolerance)
    return tables if isinstance(tables, str) else Planar((plane, tables))


class PlanarStepper(ShapeStepper):
    """Advance states of a model that moves in a plane: the equations of `em` with three unknowns a frame.

    planar: result of `planar_of` for this system and its initial state.
    """

    def __init__(
        self,
        system: System,
        planar: Planar,
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
        self._work = work_of(self.tables)
        self._settled: Any = None
        self.solver, self.solver_settings = SOLVER, {"plane": self.plane.normal.tolist()}
        self.solver_settings |= self.remembered()

    pace = 0.15  # microseconds a step and frame: 5 and 20 bars

    def _key_of_lanes(self) -> tuple[Any, ...]:
        return key_of(self)

    @staticmethod
    def lanes_of(steppers: Sequence[Any]) -> Any:
        """Return the arrays of up to eight steppers for `march_of_lanes`, as `Stepper` does."""
        return lanes_of(steppers)

    def march_of_lanes(self) -> Any:
        """Return the compiled march of eight runs, as `Stepper` does."""
        from discretization.time.planar_run_march import march_planar_runs

        return march_planar_runs

    @property
    def solved(self) -> float:
        """Return the residual/noise that counts as solved, as `Stepper` does."""
        return self.tables.solved

    def _models(self, state: State) -> tuple[Any, Any, Any]:
        """Return the planar model; its kernel arguments are unpacked once and reused as long as the model is the same object."""
        models, known = Advancing(self.tables, self._work, self.weights), self._settled
        if known is None or any(map(operator.is_not, known[0], models)):
            known = self._settled = models, settled(models)
        return known[1], None, None
