"""Common base class of the structure-exploiting steppers of `em`."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from discretization.assembly.predictor import weights_of
from discretization.integrator_memory import MEANS
from discretization.state_shapes import sizes_of, state_shapes
from discretization.system import System
from discretization.time.composition import substep_fractions
from discretization.time.newton import ADVICE
from discretization.time.stepper import (
    DriveValues,
    LoadValues,
    Stepper,
    check_conservative,
    check_step,
    rows_of_drives,
)
from discretization.time.stepper_base import MarchResult, Report
from discretization.time.velocity_reflection import has_velocity_reflection
from rigid.system import Floats, State


class StructuredStepper(Stepper):
    """Advance states of systems with a special structure by steps of `em`, composed to order 2 to 8.

    States, memory, reports, failures and parameters are those of `Stepper`.
    """

    def __init__(
        self,
        system: System,
        h: float,
        order: int,
        load_values: LoadValues | None,
        halves: bool | None,
        history: int = 0,
        drive_values: DriveValues | None = None,
    ):
        """Prepare the stepper; history: number of velocities whose means the predictor of Newton's method stores."""
        check_step(h)
        if order > 2:
            check_conservative(system, f"'em{order}'", "")
        self.system, self.h, self.order = system, h, order
        self.fractions = substep_fractions(
            order, reflects_velocities=has_velocity_reflection(system) if halves is None else halves
        )
        self._hidden, self._load_values, self._drive_values = None, load_values, drive_values
        self._drive_rows = rows_of_drives(system, drive_values)
        self._halves = halves
        self._plain = self._own_equations = None
        self.sizes = sizes = sizes_of(system)
        self.sizes = sizes._replace(memory=sizes.memory._replace(history=history))
        self.shapes = state_shapes(self.sizes)
        self.weights = weights_of(self.fractions) if history else np.zeros((0, MEANS))

    def remembered(self) -> dict[str, list[float]]:
        """Return the number of velocities with a history as a setting of the solver, if there are any."""
        count = self.sizes.memory.history
        return {"history": [float(count)]} if count else {}

    @functools.cached_property
    def _general(self) -> Stepper:
        general = Stepper(
            self.system,
            self.h,
            self.order,
            self._load_values,
            drive_values=self._drive_values,
            halves=self._halves,
        )
        general.sampler = self.sampler
        return general

    def _begun(self, state: State) -> State:
        """Return the state with the memory of this stepper if it has only the memory that `em` has for any system."""
        plain = np.shape(state.memory) == (self.sizes.memory._replace(history=0).size,)
        return self.start(state) if plain else state

    def advance(self, state: State, first_step: int, n_steps: int) -> tuple[State, Report]:
        """Advance the state by some steps, as `Stepper.advance` does."""
        return super().advance(self._begun(state), first_step, n_steps)

    def record(self, state: State, first_step: int, every: int, count: int) -> tuple[State, Sequence[Report]]:
        """Return states at several outputs, as `Stepper.record` does."""
        return super().record(self._begun(state), first_step, every, count)

    def end_of_first_substep(self, state: State, t: float, h: float) -> State | None:
        """Return the end of the first substep, as `Stepper.end_of_first_substep` does."""
        return super().end_of_first_substep(self._begun(state), t, h)

    def equal_steps(self, state: State, h: float, starts: Floats) -> MarchResult:
        """Take whole steps of equal length; a step with a singular matrix is taken by the general solver.

        If parts are supported only by each other, elimination one by one is singular, while the whole matrix is not.
        """
        marched = super().equal_steps(state, h, starts)
        if marched.failure is None or not marched.failure.singular:
            return marched
        general, at = self._general, slice(marched.steps, marched.steps + 1)
        acc = self.sizes.memory.parts(state.memory)["acc"].ravel().copy()
        step = general.equal_steps(state._replace(memory=acc), h, starts[at])
        step = step._replace(state=self.start(step.state))
        return step._replace(steps=marched.steps + step.steps, report=marched.report.plus(step.report))

    def with_loads(self, system: System, load_values: LoadValues | None) -> Stepper:
        """Return a stepper of a run that differs in gravity and loads alone, as `Stepper.with_loads` does."""
        other = super().with_loads(system, load_values)
        vars(other).pop("_general", None)
        return other

    def _advice(self, status: int) -> str:
        return ADVICE[status]
