"""March with bound arguments: advance one state in place, from step to step, as the loop of another program asks for it.

A call of a stepper checks the state, copies it, evaluates loads and unpacks the arrays of the arguments, which takes 25 to 60 us.
A bound march does this once (`rigid.bound_arguments`) and then calls the machine code directly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discretization.time.em import N_COUNTS, STEPS
from discretization.time.newton import CONVERGED
from discretization.time.stepper_base import copy_state
from rigid.bound_arguments import bind_tuple, specialized
from rigid.errors import ModelError
from rigid.system import Floats, State

MOST_BOUND = 8  # numbers of steps whose arguments are bound at the same time


class BoundMarch:
    """March of a stepper that advances one state in place.

    Attributes
    ----------
    state : State
        Its arrays are changed in place, also by the caller between steps.
    step : int
        Number of the step that ends in `state`.
    """

    is_bound = True

    def __init__(
        self,
        models: tuple[Any, Any, Any],
        state: State,
        inputs: Callable[[Floats, Floats], Any],
        values_of: Callable[[Floats], Floats],
        h: float,
        most: int,
        ahead: int,
    ) -> None:
        """Bind the arguments.

        models, state: those of `discretization.time.time_loop.march_and_store`. inputs: (values, starts) -> its inputs.
        values_of: times at which steps of length h, s, begin -> values of loads and drives. most: largest number of steps in a
        call. ahead: as in `discretization.time.stepper_base.StepperBase.bound_march`.
        """
        from discretization.time.time_loop import march_and_store  # imports the kernels of all solvers

        self.state, self.step = state, 0
        self._inputs, self._values_of, self._h, self._most, self._ahead = inputs, values_of, h, most, ahead
        self._values = values_of(np.zeros(1))  # in one step; constant unless `ahead`
        self._counts = np.zeros((3, N_COUNTS), np.int64)
        stored = State(*(np.empty((0, *array.shape)) for array in state))
        self._models = models
        self._states = [bind_tuple(state), bind_tuple(copy_state(state)), bind_tuple(stored)]
        self._arguments: dict[int, tuple[Floats, Floats, list[Any]]] = {}
        self._kernel = specialized(march_and_store, *self._bind(1)[2])
        self._first, self._evaluated = 0, 0  # first step and number of steps of the loads that were evaluated

    def _bind(self, n: int) -> tuple[Floats, Floats, list[Any]]:
        """Return starts, values and bound arguments for n steps."""
        if len(self._arguments) == MOST_BOUND:
            self._arguments.clear()
        starts, values = np.zeros(n), np.tile(self._values, (n, 1, 1))
        state, before, stored = self._states
        inputs = bind_tuple(self._inputs(values, starts))
        self._arguments[n] = starts, values, [*self._models, state, before, inputs, stored, self._counts]
        return self._arguments[n]

    def take(self, n: int) -> int:
        """Take n steps, or as many as can be solved; return the status of the march that took the last one."""
        while n > 0:
            count = min(n, self._most)
            starts, values, arguments = self._arguments.get(count) or self._bind(count)
            if count == 1:
                starts[0] = self._h * self.step
            else:
                starts[:] = self._h * np.arange(self.step, self.step + count)
            if self._ahead:
                self._write_loads(count, values)
            self._counts[0, STEPS] = 0
            try:
                status = self._kernel(*arguments)
            except BaseException:  # an interrupt that arrived during the steps
                self.step += int(self._counts[0, STEPS])
                raise
            if status != CONVERGED:
                self.step += int(self._counts[0, STEPS])
                return int(status)
            self.step += count
            n -= count
        return CONVERGED

    def _write_loads(self, count: int, values: Floats) -> None:
        """Write the loads of the next `count` steps to `values`; those of several steps are evaluated together."""
        first = self.step - self._first
        if self._ahead == 1 or not 0 <= first <= self._evaluated - count:
            first = 0
            try:
                self._evaluate(max(count, self._ahead))
            except ModelError:  # a function that is not defined at a later time
                self._evaluate(count)
        per_step = len(values) // count
        values[...] = self._block[per_step * first : per_step * (first + count)]

    def _evaluate(self, n: int) -> None:
        """Evaluate the loads of the next n steps."""
        self._block = self._values_of(self._h * np.arange(self.step, self.step + n))
        self._first, self._evaluated = self.step, n
