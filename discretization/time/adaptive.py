"""Adaptive steps: those of any stepper, as long as an error of the motion allows.

From one output to the next steps are taken in windows: some of length h, and half as many of 2 h from the same state, which
are thrown away. Where both end at r, R and r', R', the window errs, of order p, by about

    E = max_f (|r - r'| + k_f |angle(R, R')|)/(2^p - 1),   k_f^2 = tr J_f/(2 m_f)                                 (1)

over all frames f. A window of length W of a run of length T may err by its share

    a = error L W/T,   L: the size of the model                                                                  (2)

so that what all windows add up to, if nothing cancels and nothing grows, is `error` L. Positions alone are compared: fast
vibrations that no step resolves have large velocities and small amplitudes, and err by these at most, however long the window.

    h <- h sqrt((a/2E)^(1/p)),   a factor of 1/2 to 2                                                            (3)

is half of the way to where E = a/2, so that steps change smoothly; a window with E > 2 a, or one that cannot be solved, is
taken again with less. Steps of a window are equal and their number is even, since `em` reverses what violates G v = 0 and the
next one restores it. Outputs and the corners and knots of loads and motions are hit: what is left to the next one is divided
into an even number of steps of h at most. Before a window is taken, loads that vary are sampled in each of its steps
(`discretization.time.load_samples`): the window ends before the first pair of steps that does not see how they change, and its
first pair is halved until it does.

Errors grow where neighbouring motions separate. A second solution is therefore kept that takes the same windows with steps of
2 h from its own state, from the start of the run. Where it is at r', R', (1) estimates the error of the whole run with that
growth, and its ratio to the sum of all windows' E is the factor by which errors have grown. It chooses no steps.

The step of the next window and the second solution are part of the state (`discretization.memory`), so that a run that is
resumed from any output takes the same steps, bitwise. Invariants are those of the steps, whatever their lengths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from discretization.state_checks import OF_SYSTEMS, checked
from discretization.state_shapes import Shapes, state_shapes
from discretization.system import System
from discretization.time.advance import Failure, Marched, Report, StepperBase, copy_of
from discretization.time.load_samples import LoadSamples
from rigid import quaternions
from rigid.errors import ConvergenceError, Reached
from rigid.system import Floats, State

# of `State.memory`, see `Memory`; with a second solution also the sum of all windows' errors, and the error before it began
# again where one of its steps could not be solved, both relative to the model's size
STEP, SMALLEST, LARGEST, STEPS, ERROR, N_CONTROL = range(6)
SUM, BEFORE, N_GROWTH = N_CONTROL, N_CONTROL + 1, N_CONTROL + 2
FIRST = 1 / 32  # of the time between outputs: the first step that is tried
LEAST = 2.0**-20  # of it: a step that counts as none
MOST = 2.0  # of what a window may err by: beyond it is taken again
NOISE = 1e-14  # of L: what E is not asked to be less than
_WINDOWS = {2: 8, 4: 4}  # steps
_TOO_EXACT = Failure(
    "the motion errs by more than it may", "give a larger error, or look for what is far too stiff"
)


class Tried(NamedTuple):
    """A window."""

    state: State  # at its end
    error: float  # m
    report: Report
    failure: Failure | None


def model_size(system: System, state: State) -> float:
    """L (m): the diagonal of the box around all that moves and what holds it, or twice the largest k where that is more."""
    frames, held = system.frames, system.constraints
    points = [state.r[frames.fixed == 0]]
    for column, X in enumerate((held.Xa, held.Xb)):
        f = held.frames[:, column]
        points.append(state.r[f] + quaternions.rotate(state.quat[f], X))
    box = np.ptp(np.concatenate(points), axis=0) if len(points[0]) else np.zeros(3)
    return max(float(np.linalg.norm(box)), 2.0 * float(gyration(system).max(initial=0.0)))


def gyration(system: System) -> Floats:
    """k (n,) of all frames, m; 0 of those that do not move by forces, or have no mass."""
    frames = system.frames
    free = (frames.fixed == 0) & (frames.mass > 0.0)
    k: Floats = np.zeros(len(frames.mass))
    k[free] = np.sqrt(np.trace(frames.inertia[free], axis1=1, axis2=2) / (2.0 * frames.mass[free]))
    return k


class AdaptiveStepper(StepperBase):
    """Advances states from output to output: its `h` is the time between them.

    taken: what takes the steps, of order `order`; error: relative to `size` (m), of a run of `duration` (s). knots: times at
    which a step ends, s, increasing; load_values: of loads that are sampled, times (k,) -> (k, loads, 3); None: none are. max_dt:
    the longest step, s; growth: whether a second solution measures how errors grow.
    """

    def __init__(
        self,
        taken: StepperBase,
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
        self.taken, self.h, self.order = taken, h, order
        self._rate = error * size / duration  # m/s
        self._noise = NOISE * size
        self.error, self.size = error, size
        self._gyration = gyration(system)
        self._window = _WINDOWS.get(order, 2)
        self._last_steps: dict[int, float] = {}  # s, the last one before each output
        self._knots, self._most, self._grows = np.asarray(knots, float), min(h, max_dt), growth
        self._samples: LoadSamples | None = None
        if load_values is not None:
            self._samples = LoadSamples(
                system, load_values, *taken.load_points, self._gyration, size, self._rate
            )
        self._n_control = N_CONTROL
        if growth:
            self._n_control = N_GROWTH + sum(math.prod(shape) for shape in taken.shapes.values())
        self.sizes = taken.sizes._replace(memory=taken.sizes.memory._replace(control=self._n_control))
        self.shapes = state_shapes(self.sizes)

    @property
    def threads(self) -> int:
        """Those of what takes the steps."""
        return self.taken.threads

    @property
    def solves_per_step(self) -> int:
        """As of `StepperBase`: at least two between outputs."""
        return 2 * self.taken.solves_per_step

    def end_of_first_solve(self, state: State, t: float, h: float) -> State | None:
        """As of `StepperBase`, of a step as long as the one that ended at t, whatever h is; None if none did here."""
        before = self._last_steps.get(round(t / self.h))
        if before is None or self._next_knot(t, t + before, 0.0) < t + before:
            return None
        inner = state._replace(memory=state.memory[: -self._n_control].copy())
        return self.taken.end_of_first_solve(inner, t, before)

    @property
    def chart(self) -> None:
        """`em` and its kin have their own."""

    def start(self, state: State) -> State:
        """The state with the memory of this integrator and the first step; one that has them stays as it is."""
        checked(state, self.shapes, *OF_SYSTEMS)
        if np.shape(state.memory) == (self.sizes.memory.size,):
            return checked(state, self.shapes)
        begun, control = self.taken.start(state), np.zeros(self._n_control)
        control[STEP] = min(FIRST * self.h, self._most)
        if self._grows:
            control[N_GROWTH:] = _packed(begun)
        return checked(begun._replace(memory=np.concatenate([begun.memory, control])), self.shapes)

    def equal_steps(self, state: State, h: float, starts: Floats) -> Marched:
        """From output to output, h apart; the state is not changed."""
        report = Report()
        for done, t in enumerate(starts.tolist()):
            state, _, cost, failure = self._to_output(state, t, h)
            report = report.plus(cost)
            if failure is not None:
                return Marched(state, done, report, failure)
        return Marched(state, len(starts), report, None)

    def advance(self, state: State, first_step: int, n_steps: int) -> tuple[State, Report]:
        """As of `StepperBase`, whose steps are here from output to output: they are not halved once more."""
        starts: Floats = self.h * np.arange(first_step, first_step + n_steps)
        state, done, report, failure = self.march(checked(state, self.shapes), self.h, starts)
        if failure is not None:
            t, least = float(starts[done]), self.h * LEAST
            message = (
                f"after t = {t:.6g} s: {failure.reason}, even with steps of {least:.3g} s; {failure.cure}"
            )
            reached = Reached(first_step + done, state)
            raise ConvergenceError(
                t,
                least,
                report.most_iterations,
                failure.residual,
                message,
                reached,
                report,
                singular=failure.singular,
            )
        return state, report

    def _to_output(self, state: State, start: float, length: float) -> Marched:
        """From an output to the next one; where it fails, the state as it was."""
        control = state.memory[-self._n_control :].copy()
        now, report = state._replace(memory=state.memory[: -self._n_control].copy()), Report()
        second = _unpacked(control[N_GROWTH:], self.taken.shapes) if self._grows else None
        control[SMALLEST : STEPS + 1] = np.inf, 0.0, 0.0
        t, end, least = start, start + length, LEAST * length
        while True:
            stop = self._next_knot(t, end, least)
            parts = 2 * max(1, math.ceil((stop - t) / (2.0 * control[STEP]) - 1e-9))
            h, count = (stop - t) / parts, min(self._window, parts)
            seen = self._seen(t, h, count)
            if seen == 0 and 0.5 * h >= least:
                control[STEP] = 0.5 * h
                continue
            count = seen or 2
            then, E, cost, failure = self._tried(now, t, h, count)
            report = report.plus(cost)
            ratio = E / max(self._rate * h * count, self._noise)
            aim = h * (0.5 / max(ratio, 1e-12)) ** (1.0 / self.order)
            if ratio > MOST:
                report = report.plus(Report(halvings=1))
                control[STEP] = h * min(max(aim / h, 0.1), 0.7)
                if control[STEP] < least:
                    return Marched(state, 0, report, failure or _TOO_EXACT)
                continue
            control[STEP] = min(
                max(math.sqrt(control[STEP] * aim), 0.5 * control[STEP]), 2.0 * control[STEP], self._most
            )
            control[SMALLEST], control[LARGEST] = min(control[SMALLEST], h), max(control[LARGEST], h)
            control[STEPS] += count
            if second is None:
                control[ERROR] += E / self.size
            else:
                control[SUM] += E / self.size
                second, cost = self._measured(second, then, t, h, count, E, control)
                report = report.plus(cost)
            now, t = then, stop if count == parts else t + h * count
            if t == end:
                self._last_steps[round(end / self.h)] = h
                if second is not None:
                    control[N_GROWTH:] = _packed(second)
                return Marched(now._replace(memory=np.concatenate([now.memory, control])), 1, report, None)

    def _next_knot(self, t: float, end: float, least: float) -> float:
        """The first knot after t and before `end`, or `end`; what is nearer than the smallest step is there."""
        k = int(np.searchsorted(self._knots, t + least, side="right"))
        return float(self._knots[k]) if k < len(self._knots) and self._knots[k] < end - least else end

    def _seen(self, t: float, h: float, count: int) -> int:
        """How many of the steps from t see how loads change in them, in pairs, before the first that does not."""
        if self._samples is None:
            return count
        missed = self._samples.missed(h, t + h * np.arange(count)) > 1.0
        return int(np.argmax(missed)) // 2 * 2 if missed.any() else count

    def _measured(
        self, second: State, then: State, t: float, h: float, count: int, E: float, control: Floats
    ) -> tuple[State, Report]:
        """The second solution after a window in which the first one errs by E; the error of the whole run goes into `control`.
        Where it cannot take the window it begins again from the first one, `then`.
        """
        starts = t + 2.0 * h * np.arange(count // 2)
        state, _, report, failure = self.taken.march(copy_of(second), 2.0 * h, starts)
        if failure is not None:
            control[BEFORE] = control[ERROR] = control[ERROR] + E / self.size
            return copy_of(then), report
        since = self._apart(then, state) / (2.0**self.order - 1.0)
        control[ERROR] = max(control[ERROR], control[BEFORE] + since / self.size)
        return state, report

    def _tried(self, state: State, t: float, h: float, count: int) -> Tried:
        """A window, and (1); of one that cannot be solved, or not with steps of 2 h, it is infinite."""
        fine, _, report, failure = self.taken.march(copy_of(state), h, t + h * np.arange(count))
        if failure is not None:
            return Tried(state, math.inf, report, failure)
        starts = t + 2.0 * h * np.arange(count // 2)
        coarse, _, cost, failure = self.taken.march(copy_of(state), 2.0 * h, starts)
        if failure is not None:
            return Tried(state, math.inf, report.plus(cost), failure)
        E = self._apart(fine, coarse) / (2.0**self.order - 1.0)
        return Tried(fine, E, report.plus(cost), None)

    def _apart(self, a: State, b: State) -> float:
        """m, largest of all frames."""
        moved = np.linalg.norm(a.r - b.r, axis=1)
        # |q - q'| = 2 sin(angle/4)
        turned = np.minimum(*(np.linalg.norm(a.quat + sign * b.quat, axis=1) for sign in (-1.0, 1.0)))
        return float(np.max(moved + 2.0 * self._gyration * turned))


def _packed(state: State) -> Floats:
    """All numbers of a state in one array."""
    return np.concatenate([array.ravel() for array in state])


def _unpacked(numbers: Floats, shapes: Shapes) -> State:
    """The state of these numbers."""
    lengths = [math.prod(shape) for shape in shapes.values()]
    pieces = np.split(numbers, np.cumsum(lengths)[:-1])
    return State(*(piece.reshape(shape).copy() for piece, shape in zip(pieces, shapes.values(), strict=True)))
