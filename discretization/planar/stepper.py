"""The Python face of the planar march: a stepper with the face of `discretization.time.stepper.Stepper`."""

from __future__ import annotations

import numpy as np

from discretization.planar.arrays import Tables, work_of
from discretization.planar.march import march_and_keep
from discretization.planar.plane import Plane, plane_of
from discretization.planar.symmetry import Symmetry
from discretization.planar.tables import tables_of
from discretization.state_checks import checked
from discretization.state_shapes import sizes_of, state_shapes
from discretization.system import System
from discretization.time.advance import copy_of
from discretization.time.composition import fractions_of
from discretization.time.em import N_COUNTS
from discretization.time.newton import CURES
from discretization.time.reversing import reverses
from discretization.time.stepper import MAX_ITERATIONS, LoadValues, Stepper, check_conservative, check_step
from rigid.system import Floats, State

SOLVER = "planar"


class Planar(tuple[Plane, Tables]):
    """A model that moves in a plane, ready for `PlanarStepper`: the plane and the arrays."""

    __slots__ = ()


def planar_of(system: System, symmetry: Symmetry, tolerance: float = 0.0) -> Planar | str:
    """The model in its plane; else the reason why it is taken in space, in words. tolerance: as of `Stepper`."""
    plane = plane_of(system, symmetry)
    if isinstance(plane, str):
        return plane
    tables = tables_of(system, symmetry.state, plane, tolerance)
    return tables if isinstance(tables, str) else Planar((plane, tables))


class PlanarStepper(Stepper):
    """Advances states of a model that moves in a plane by steps of `em`, composed to order 2, 4 or 6: the same equations with
    three unknowns a frame. States, memory, reports and failures are those of `Stepper`.

    Parameters: as of `Stepper`; `planar`: of `planar_of` for this system and where it begins.
    """

    def __init__(
        self,
        system: System,
        planar: Planar,
        h: float,
        order: int = 2,
        load_values: LoadValues | None = None,
        halves: bool | None = None,
    ):
        check_step(h)
        if order > 2:
            check_conservative(system, order, "")
        self.system, self.h, self.order = system, h, order
        self.plane, self._tables = planar
        self._work = work_of(self._tables)
        self.fractions = fractions_of(order, reversing=reverses(system) if halves is None else halves)
        self._hidden, self._load_values, self._drive_values = None, load_values, None
        self.solver, self.solver_settings = SOLVER, {"plane": self.plane.normal.tolist()}
        self.sizes = sizes_of(system)
        self.shapes = state_shapes(self.sizes)

    def _cure(self, status: int) -> str:
        return CURES[status]

    def _run(self, state: State, h: float, starts: Floats, parts: int) -> tuple[int, np.ndarray, State]:
        checked(state, self.shapes, in_place=True)
        kept = State(*(np.empty((parts, *array.shape)) for array in state))
        counts = np.zeros((parts, N_COUNTS), dtype=np.int64)
        before = copy_of(state) if len(self.fractions) > 1 else state
        status = march_and_keep(
            self._tables,
            state,
            self._work,
            before,
            h * self.fractions,
            self._values(starts, h),
            MAX_ITERATIONS,
            kept,
            counts,
        )
        return status, counts, kept
