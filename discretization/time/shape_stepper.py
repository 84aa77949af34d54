"""What steppers have in common that solve the step of `em` by a special shape of the system."""

from __future__ import annotations

import functools

from discretization.state_shapes import sizes_of, state_shapes
from discretization.system import System
from discretization.time.advance import Marched
from discretization.time.composition import fractions_of
from discretization.time.newton import CURES
from discretization.time.reversing import reverses
from discretization.time.stepper import LoadValues, Stepper, check_conservative, check_step
from rigid.system import Floats, State


class ShapeStepper(Stepper):
    """Advances states of systems of one shape by steps of `em`, composed to order 2 to 8: states, memory, reports and failures
    are those of `Stepper`, as are the parameters.
    """

    def __init__(
        self, system: System, h: float, order: int, load_values: LoadValues | None, halves: bool | None
    ):
        check_step(h)
        if order > 2:
            check_conservative(system, f"'em{order}'", "")
        self.system, self.h, self.order = system, h, order
        self.fractions = fractions_of(order, reversing=reverses(system) if halves is None else halves)
        self._hidden, self._load_values, self._drive_values = None, load_values, None
        self._halves = halves
        self._plain = self._own_equations = None
        self.sizes = sizes_of(system)
        self.shapes = state_shapes(self.sizes)

    @functools.cached_property
    def _general(self) -> Stepper:
        return Stepper(self.system, self.h, self.order, self._load_values, halves=self._halves)

    def march(self, state: State, h: float, starts: Floats) -> Marched:
        """As of `Stepper`, which takes a step whose parts are held only by each other: what is eliminated one by one is singular
        then.
        """
        marched = super().march(state, h, starts)
        if marched.failure is None or not marched.failure.singular:
            return marched
        taken = self._general.march(state, h, starts[marched.steps : marched.steps + 1])
        return taken._replace(steps=marched.steps + taken.steps, report=marched.report.plus(taken.report))

    def beside(self, system: System, load_values: LoadValues | None) -> Stepper:
        """As of `Stepper`."""
        other = super().beside(system, load_values)
        vars(other).pop("_general", None)
        return other

    def _cure(self, status: int) -> str:
        return CURES[status]
