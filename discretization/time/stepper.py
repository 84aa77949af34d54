"""The Python face of the compiled march: validates, allocates, halves steps that fail, raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discretization.assembly import workspace
from discretization.linear.sparse import sparse_forget
from discretization.numbering import BAND_LIMIT, number
from discretization.system import System
from discretization.time.composition import midpoints, substeps
from discretization.time.em import march
from discretization.time.newton import REASONS
from discretization.time.recording import march_and_keep
from rigid.errors import ConvergenceError, ModelError
from rigid.system import Floats, State

MAX_HALVINGS = 10
MAX_ITERATIONS = 30

LoadValues = Callable[[Floats], Floats]  # times (k,) -> (k, loads, 3)


class Report(NamedTuple):
    """What an advance over several steps cost."""

    iterations: int  # of Newton, all substeps
    most_iterations: int  # in one substep
    substeps: int
    halvings: int


class Stepper:
    """Advances states of one system by steps of one length with `em`, composed to order 2, 4 or 6.

    Parameters: `h` s; `load_values(times)` gives the loads (k, loads, 3) at `times` (k,), s; `band_limit`:
    bandwidth above which the linear solver is sparse.

    Raises ModelError where the order needs negative substeps and the model dissipates energy.
    """

    def __init__(
        self,
        system: System,
        h: float,
        order: int = 2,
        load_values: LoadValues | None = None,
        band_limit: int = BAND_LIMIT,
    ):
        if not (np.isfinite(h) and h > 0.0):
            raise ModelError(f"the time step dt = {h} s must be a positive number")
        if order > 2:
            _check_conservative(system, order)
        self.system, self.h, self.order = system, h, order
        self.numbering = number(system, band_limit)
        self.work = workspace(system, self.numbering)
        self._load_values = load_values

    def __del__(self) -> None:
        if hasattr(self, "numbering"):
            sparse_forget(self.numbering.handle)

    def advance(self, state: State, first_step: int, n_steps: int) -> tuple[State, Report]:
        """State after the steps first_step + 1 ... first_step + n_steps; step k ends at t = k h. `state` is
        not changed.

        Raises ConvergenceError where a step fails even after MAX_HALVINGS halvings; its attributes `state`
        and `step` hold what was reached before.
        """
        state = State(*(array.copy() for array in state))
        statistics = np.zeros(4, dtype=np.int64)
        iterations = most = done_substeps = halvings = 0
        step, last = first_step, first_step + n_steps
        fractions = len(substeps(self.order, 1.0))
        while step < last:
            before = State(*(array.copy() for array in state)) if fractions > 1 else state
            statistics[:] = 0
            start: Floats = self.h * np.arange(step, last)
            status = self._march(state, self.h, start, statistics)
            iterations += int(statistics[1])
            most = max(most, int(statistics[2]))
            done_substeps += int(statistics[0])
            step += int(statistics[0]) // fractions
            if status == 0:
                continue
            if fractions > 1:
                # substeps of the failed step have been taken: repeat the whole steps before it, which is the
                # same to the bit
                state = before
                self._march(state, self.h, start[: int(statistics[0]) // fractions], statistics)
            try:
                count = self._halve(state, self.h * step, self.h, 1, statistics)
            except ConvergenceError as error:
                error.state, error.step = state, step  # type: ignore[attr-defined]
                raise
            halvings += count
            most = max(most, int(statistics[2]))
            step += 1
        return state, Report(iterations, most, done_substeps, halvings)

    def record(self, state: State, first_step: int, every: int, count: int) -> tuple[State, list[Report]]:
        """States (k, ...) after `every`, 2 `every` ... k `every` steps, to the bit those of `advance`, and a report
        for each; 1 <= k <= `count`, fewer where a step must be halved. `state` is not changed.
        """
        current = State(*(array.copy() for array in state))
        kept = State(*(np.empty((count, *array.shape)) for array in state))
        statistics = np.zeros((count, 4), dtype=np.int64)
        starts: Floats = self.h * np.arange(first_step, first_step + count * every)
        march_and_keep(
            self.system,
            self.numbering,
            current,
            self.work,
            substeps(self.order, self.h),
            self._values(starts, self.h),
            MAX_ITERATIONS,
            every,
            kept,
            statistics,
        )
        done = int(np.sum(statistics[:, 0] == every * len(substeps(self.order, self.h))))
        if done == 0:
            current, report = self.advance(state, first_step, every)
            return State(*(array[None] for array in current)), [report]
        reports = [
            Report(iterations=int(row[1]), most_iterations=int(row[2]), substeps=int(row[0]), halvings=0)
            for row in statistics[:done]
        ]
        return State(*(array[:done] for array in kept)), reports

    def _march(self, state: State, h: float, starts: Floats, statistics: np.ndarray) -> int:
        return march(
            self.system,
            self.numbering,
            state,
            self.work,
            substeps(self.order, h),
            self._values(starts, h),
            MAX_ITERATIONS,
            statistics,
        )

    def _values(self, starts: Floats, h: float) -> Floats:
        """Of the loads at the middle of each substep of steps from `starts` on."""
        middles = (starts[:, None] + midpoints(self.order, h)).ravel()
        n_loads = len(self.system.loads.kind)
        if self._load_values is None or n_loads == 0:
            return np.zeros((len(middles), n_loads, 3))
        return np.ascontiguousarray(self._load_values(middles), dtype=float)

    def _halve(self, state: State, t: float, h: float, depth: int, statistics: np.ndarray) -> int:
        """Two half steps in place of one; returns the number of halvings. On failure `state` is as it was."""
        kept = State(*(array.copy() for array in state))
        count = 1
        for start in (t, t + h / 2):
            status = self._march(state, h / 2, np.array([start]), statistics)
            if status == 0:
                continue
            if depth >= MAX_HALVINGS:
                for array, old in zip(state, kept, strict=True):
                    array[...] = old
                raise ConvergenceError(
                    t,
                    h / 2,
                    int(statistics[2]),
                    float("nan"),
                    f"t = {t:.6g} s: {REASONS[status]}, even with a step of {h / 2:.3g} s; "
                    "try a smaller dt, more elements, or look for loads or springs that are far too stiff",
                )
            try:
                count += self._halve(state, start, h / 2, depth + 1, statistics)
            except ConvergenceError:
                for array, old in zip(state, kept, strict=True):
                    array[...] = old
                raise
        return count


def _check_conservative(system: System, order: int) -> None:
    for what, values in (
        ("a rod with viscous material", system.elements.damping),
        ("a damped spring", system.springs.damping),
        ("a damped torsion spring", system.torsions.damping),
    ):
        if np.any(values):
            raise ModelError(
                f"integrator 'em{order}' takes negative substeps, which {what} does not allow; use integrator 'em'"
            )
