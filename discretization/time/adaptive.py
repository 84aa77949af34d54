"""Choose the step lengths of any stepper from an estimate of the error of the motion.

From one output to the next, steps are taken in windows: some steps of length h, and half as many of 2 h from the same state.
The longer steps are discarded. If the two end at r, R and r', R', the error of the window at order p is about

    E = max_f (|r - r'| + k_f |angle(R, R')|)/(2^p - 1),   k_f^2 = tr J_f/(2 m_f)                                 (1)

over all frames f. The error allowed in a window of length W, in a run of length T, is its fraction

    a = error L W/T,   L: the size of the model                                                                  (2)

so that the errors of all windows add up to `error` L if none cancels and none grows. Only positions and rotations are compared:
fast vibrations that no step resolves have large velocities and small amplitudes, and contribute at most these amplitudes to the
error, for windows of any length.

    h <- h sqrt((a/2E)^(1/p)),   a factor of 1/2 to 2                                                            (3)

goes half of the way to the step with E = a/2, so that steps change smoothly. A window with E > 2 a, or one that cannot be solved,
is repeated with a smaller step. The steps of a window are equal and their number is even, because `em` reflects the part of the
velocities that violates G v = 0 and the next step restores it. Steps end exactly at outputs and at the corners and knots of loads
and prescribed motions: the time left to the next one is divided into an even number of steps of at most h. Before a window is
computed, time-dependent loads are sampled in each of its steps (`discretization.time.load_samples`). The window ends before the
first pair of steps that does not resolve the change of the loads; if this is its first pair, h is halved until it does.

Errors grow if neighbouring motions separate. A second solution is therefore integrated from the start of the run. It takes the
same windows with steps of 2 h from its own state. With its r', R', (1) estimates the error of the whole run including this
growth; the ratio of this error to the sum of E over all windows is the factor by which errors have grown. It does not influence
the steps.

The step of the next window and the second solution are part of the state (`discretization.integrator_memory`), so that a run
that is resumed from any output takes the same steps, bit-identically. The invariants are those of the steps,
regardless of their lengths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from discretization.state_checks import OF_SYSTEMS, check_arrays
from discretization.state_shapes import Shapes, state_shapes
from discretization.system import System
from discretization.time.load_samples import LoadSamples
from discretization.time.stepper_base import Failure, MarchResult, Report, StepperBase, copy_state
from rigid import quaternions
from rigid.errors import ConvergenceError, LastStep
from rigid.system import Floats, State

# columns of the part `control` of `State.memory`, see `MemoryLayout`; with a second solution also the sum of the errors of all
# windows, and the error up to its last restart (after a step that it could not solve), both relative to the size of the model
STEP, SMALLEST, LARGEST, STEPS, ERROR, N_CONTROL = range(6)
SUM, BEFORE, N_GROWTH = N_CONTROL, N_CONTROL + 1, N_CONTROL + 2
FIRST = 1 / 32  # fraction of the time between outputs: the first step that is tried
LEAST = 2.0**-20  # fraction of the same time: smallest step
MOST = 2.0  # ratio of error to allowed error of a window beyond which it is repeated
NOISE = 1e-14  # part of L: round-off level; E need not be smaller
_WINDOWS = {2: 8, 4: 4}  # order of the scheme: steps of a window
_TOO_EXACT = Failure(
    "the error of the motion exceeds the allowed one",
    "allow a larger error, or look for parts that are far too stiff",
)


class TrialWindow(NamedTuple):
    """A window that was computed and its error."""

    state: State  # at the end of the window
    error: float  # error E of the window, m
    report: Report
    failure: Failure | None


def model_size(system: System, state: State) -> float:
    """Return the characteristic size L of the model, m.

    L is the diagonal of the box around all moving frames and the points of constraints, or twice the largest radius of gyration k
    if that is larger.
    """
    frames, constraints = system.frames, system.constraints
    points = [state.r[frames.fixed == 0]]
    for column, X in enumerate((constraints.Xa, constraints.Xb)):
        f = constraints.frames[:, column]
        points.append(state.r[f] + quaternions.rotate(state.quat[f], X))
    box = np.ptp(np.concatenate(points), axis=0) if len(points[0]) else np.zeros(3)
    return max(float(np.linalg.norm(box)), 2.0 * float(gyration(system).max(initial=0.0)))


def gyration(system: System) -> Floats:
    """Return the radii of gyration k (n,) of all frames, m; 0 for frames that are fixed or driven, or have no mass."""
    frames = system.frames
    free = (frames.fixed == 0) & (frames.mass > 0.0)
    k: Floats = np.zeros(len(frames.mass))
    k[free] = np.sqrt(np.trace(frames.inertia[free], axis1=1, axis2=2) / (2.0 * frames.mass[free]))
    return k


class AdaptiveStepper(StepperBase):
    """Advance states from output to output with adaptive steps; its `h` is the time between outputs.

    `stepper`: stepper that computes the steps, of order `order`. `error`: allowed error relative to `size` (m), for a run of
    `duration` (s). `knots`: increasing times at which a step must end, s. `load_values`: function of times (k,) that returns the
    loads to be sampled (k, loads, 3); None: no loads are sampled. `max_dt`: longest step, s. `growth`: True to measure with a
    second solution how errors grow.
    """

    def __init__(
        self,
        stepper: StepperBase,
        system: System,
        h: float,
        order: int,
        error: float,
        size: float,
        duration: float,
        *,
        knots: Floats | Sequence[float] = (),
        load_values: Callable[[Floats], Floats] | None = None,
        max_dt: float = math.inf,
        growth: bool = False,
    ) -> None:
        self.inner, self.h, self.order = stepper, h, order
        self._rate = error * size / duration  # m/s
        self._noise = NOISE * size
        self.error, self.size = error, size
        self._gyration = gyration(system)
        self._window = _WINDOWS.get(order, 2)
        self._last_steps: dict[int, float] = {}  # s, length of the last step before each output
        self._knots, self._max_step, self._grows = np.asarray(knots, float), min(h, max_dt), growth
        self._samples: LoadSamples | None = None
        if load_values is not None:
            self._samples = LoadSamples(
                system, load_values, *stepper.load_points, self._gyration, size, self._rate
            )
        self._n_control = N_CONTROL
        if growth:
            self._n_control = N_GROWTH + sum(math.prod(shape) for shape in stepper.shapes.values())
        self.sizes = stepper.sizes._replace(memory=stepper.sizes.memory._replace(control=self._n_control))
        self.shapes = state_shapes(self.sizes)

    @property
    def threads(self) -> int:
        """Return the number of threads of the inner stepper."""
        return self.inner.threads

    @property
    def substeps_per_step(self) -> int:
        """Return a lower bound of the solves per step, as `StepperBase` defines them: at least two steps are taken between
        outputs.
        """
        return 2 * self.inner.substeps_per_step

    def end_of_first_substep(self, state: State, t: float, h: float) -> State | None:
        """Return the end of the first substep, as `StepperBase` does, for a step as long as the one that ended at t.

        The argument h is ignored. Return None if this stepper took no step that ended at t, or if a knot would shorten the step.
        """
        before = self._last_steps.get(round(t / self.h))
        if before is None or self._next_knot(t, t + before, 0.0) < t + before:
            return None
        inner = state._replace(memory=state.memory[: -self._n_control].copy())
        return self.inner.end_of_first_substep(inner, t, before)

    @property
    def chart(self) -> None:
        """Return None: the `em` family uses its own coordinates."""

    def start(self, state: State) -> State:
        """Return the state with the memory of this integrator and the first step; return a state that has them unchanged."""
        check_arrays(state, self.shapes, *OF_SYSTEMS)
        if np.shape(state.memory) == (self.sizes.memory.size,):
            return check_arrays(state, self.shapes)
        started, control = self.inner.start(state), np.zeros(self._n_control)
        control[STEP] = min(FIRST * self.h, self._max_step)
        if self._grows:
            control[N_GROWTH:] = _packed(started)
        return check_arrays(started._replace(memory=np.concatenate([started.memory, control])), self.shapes)

    def equal_steps(self, state: State, h: float, starts: Floats) -> MarchResult:
        """Advance from output to output, h apart; do not change the given state."""
        report = Report()
        for done, t in enumerate(starts.tolist()):
            state, _, cost, failure = self._to_output(state, t, h)
            report = report.plus(cost)
            if failure is not None:
                return MarchResult(state, done, report, failure)
        return MarchResult(state, len(starts), report, None)

    def advance(self, state: State, first_step: int, n_steps: int) -> tuple[State, Report]:
        """Advance the state by `n_steps` outputs, as `StepperBase.advance` does for steps; intervals are not subdivided a second
        time.
        """
        starts: Floats = self.h * np.arange(first_step, first_step + n_steps)
        state, done, report, failure = self.march(check_arrays(state, self.shapes), self.h, starts)
        if failure is not None:
            t, min_length = float(starts[done]), self.h * LEAST
            message = f"after t = {t:.6g} s: {failure.reason}, even with steps of {min_length:.3g} s; {failure.advice}"
            reached = LastStep(first_step + done, state)
            raise ConvergenceError(
                t,
                min_length,
                report.most_iterations,
                failure.residual,
                message,
                reached,
                report,
                singular=failure.singular,
            )
        return state, report

    def _to_output(self, state: State, start: float, length: float) -> MarchResult:
        """Advance from one output to the next; return the unchanged state if this fails."""
        control = state.memory[-self._n_control :].copy()
        current, report = state._replace(memory=state.memory[: -self._n_control].copy()), Report()
        second = _unpacked(control[N_GROWTH:], self.inner.shapes) if self._grows else None
        control[SMALLEST : STEPS + 1] = np.inf, 0.0, 0.0
        t, end, min_length = start, start + length, LEAST * length
        while True:
            knot = self._next_knot(t, end, min_length)
            parts = 2 * max(1, math.ceil((knot - t) / (2.0 * control[STEP]) - 1e-9))
            h, count = (knot - t) / parts, min(self._window, parts)
            resolved = self._resolved_steps(t, h, count)
            if resolved == 0 and 0.5 * h >= min_length:
                control[STEP] = 0.5 * h
                continue
            count = resolved or 2
            trial, E, cost, failure = self._try_window(current, t, h, count)
            report = report.plus(cost)
            ratio = E / max(self._rate * h * count, self._noise)
            target = h * (0.5 / max(ratio, 1e-12)) ** (1.0 / self.order)
            if ratio > MOST:
                report = report.plus(Report(halvings=1))
                control[STEP] = h * min(max(target / h, 0.1), 0.7)
                if control[STEP] < min_length:
                    return MarchResult(state, 0, report, failure or _TOO_EXACT)
                continue
            control[STEP] = min(
                max(math.sqrt(control[STEP] * target), 0.5 * control[STEP]),
                2.0 * control[STEP],
                self._max_step,
            )
            control[SMALLEST], control[LARGEST] = min(control[SMALLEST], h), max(control[LARGEST], h)
            control[STEPS] += count
            if second is None:
                control[ERROR] += E / self.size
            else:
                control[SUM] += E / self.size
                second, cost = self._advance_second(second, trial, t, h, count, E, control)
                report = report.plus(cost)
            current, t = trial, knot if count == parts else t + h * count
            if t == end:
                self._last_steps[round(end / self.h)] = h
                if second is not None:
                    control[N_GROWTH:] = _packed(second)
                return MarchResult(
                    current._replace(memory=np.concatenate([current.memory, control])), 1, report, None
                )

    def _next_knot(self, t: float, end: float, min_length: float) -> float:
        """Return the first knot after t and before `end`, or `end`; knots within the smallest step of t or `end` are skipped."""
        k = int(np.searchsorted(self._knots, t + min_length, side="right"))
        return float(self._knots[k]) if k < len(self._knots) and self._knots[k] < end - min_length else end

    def _resolved_steps(self, t: float, h: float, count: int) -> int:
        """Return how many steps from t on, in pairs, resolve the change of the loads, before the first pair that does not."""
        if self._samples is None:
            return count
        unresolved = self._samples.unresolved(h, t + h * np.arange(count)) > 1.0
        return int(np.argmax(unresolved)) // 2 * 2 if unresolved.any() else count

    def _advance_second(
        self, second: State, reference: State, t: float, h: float, count: int, E: float, control: Floats
    ) -> tuple[State, Report]:
        """Advance the second solution over a window in which the first one has the error E; write the error of the run to
        `control`.

        If the second solution cannot take the window, it is restarted from the first one, `reference`.
        """
        starts = t + 2.0 * h * np.arange(count // 2)
        state, _, report, failure = self.inner.march(copy_state(second), 2.0 * h, starts)
        if failure is not None:
            control[BEFORE] = control[ERROR] = control[ERROR] + E / self.size
            return copy_state(reference), report
        change = self._distance(reference, state) / (2.0**self.order - 1.0)
        control[ERROR] = max(control[ERROR], control[BEFORE] + change / self.size)
        return state, report

    def _try_window(self, state: State, t: float, h: float, count: int) -> TrialWindow:
        """Compute a window and its error (1), which is infinite if the window cannot be solved with steps of h or of 2 h."""
        fine, _, report, failure = self.inner.march(copy_state(state), h, t + h * np.arange(count))
        if failure is not None:
            return TrialWindow(state, math.inf, report, failure)
        starts = t + 2.0 * h * np.arange(count // 2)
        coarse, _, cost, failure = self.inner.march(copy_state(state), 2.0 * h, starts)
        if failure is not None:
            return TrialWindow(state, math.inf, report.plus(cost), failure)
        E = self._distance(fine, coarse) / (2.0**self.order - 1.0)
        return TrialWindow(fine, E, report.plus(cost), None)

    def _distance(self, a: State, b: State) -> float:
        """Return the largest distance of two states over all frames, as in (1) without the division, m."""
        moved = np.linalg.norm(a.r - b.r, axis=1)
        # |q - q'| = 2 sin(angle/4)
        turned = np.minimum(*(np.linalg.norm(a.quat + sign * b.quat, axis=1) for sign in (-1.0, 1.0)))
        return float(np.max(moved + 2.0 * self._gyration * turned))


def _packed(state: State) -> Floats:
    """Return all numbers of a state in one array."""
    return np.concatenate([array.ravel() for array in state])


def _unpacked(numbers: Floats, shapes: Shapes) -> State:
    """Return the state that `_packed` stored in these numbers, with arrays of these shapes."""
    lengths = [math.prod(shape) for shape in shapes.values()]
    pieces = np.split(numbers, np.cumsum(lengths)[:-1])
    return State(*(piece.reshape(shape).copy() for piece, shape in zip(pieces, shapes.values(), strict=True)))
