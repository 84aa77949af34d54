"""Repeat steps of a run from one output to the next, and compare the end states with the stored ones.

A state holds everything that is needed to resume a run bit-identically. Repeating the steps from an output to the next one
therefore reproduces all numbers of that output: multipliers, accelerations, momenta of a chart, the work of drives, histories
of the integrator, and the length of the steps. On the processor of the run they are bit-identical. On another processor they
differ by rounding. The allowed difference is measured: the steps are taken a third time, from a perturbed start. Each of its
numbers, and each value of a drive, is moved up or down by a part `PERTURBATION` of its size. That moves an end value x by d.
Rounding is a part eps of the numbers, and Newton's residual counts as solved within some rounding levels. So an end value may
differ by

    ROUNDING_FACTOR (eps/PERTURBATION |d| + eps |x|)                                                        (1)

In a run with a tolerance the residual of every equation is tolerance/eps levels instead of RESIDUAL_LEVELS.

Of long runs only a part is repeated, chosen evenly: `STEP_FRACTION` of the steps, or `MIN_STEPS`. If there are more steps than
that between every two outputs, only the last step before an output is repeated. `em` stores the accelerations a of its last
step. With the state 1 at the end, the step h and spatial w1 = R1 Omega1,

    v0 = v1 - h a,   w0 = w1 - h a_w,   r0 = r1 - h (v0 + v1)/2,   R0 = cay(-psi) R1                        (2)

where psi = h (w0 + cay(-psi) w1)/2, equation (2) of `discretization.time.em`, becomes, with
(1 + hat(k)) cay(-2 k) = 1 - hat(k),

    (2 + h/2 hat(w0 - w1)) k = h/2 (w0 + w1),   psi = 2 k                                                   (3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discretization.integrator_memory import MemoryLayout
from discretization.time.step_splitting import ends_of_parts
from rigid import quaternions
from rigid.errors import ConvergenceError, ModelError
from rigid.system import Floats, Ints, State
from rodsim.results.audit_recomputation import (
    EPS,
    RESIDUAL_LEVELS,
    ROUNDING_FACTOR,
    Difference,
    newton_tolerance,
)
from rodsim.results.event_history import expected_times
from rodsim.results.replay import Replay, UnknownRun
from rodsim.results.state_parts import perturb_state, split_state

if TYPE_CHECKING:
    from rodsim.results.layout import Layout
    from rodsim.results.result import Result

PERTURBATION = (
    2.0**-26
)  # relative perturbation: moves the end of a step by more than rounding, and almost linearly
MIN_STEPS, STEP_FRACTION = (
    64,
    1 / 20,
)  # largest number of steps repeated: this number, or this part of the run


@dataclass(frozen=True)
class StepRecomputation:
    """Hold the outcome of repeating steps."""

    steps: int = 0  # number of steps repeated
    last: bool = False  # True if only last steps before outputs were repeated: work is not judged
    reason: str = ""  # why no steps were repeated
    failed: str = ""  # the first steps that could not be repeated, and why
    differences: tuple[Difference, ...] = ()
    same_version: bool = True  # True if this version of rodsim wrote the file


def recompute_steps(result: Result) -> StepRecomputation:
    """Repeat steps between outputs of a result, and compare their ends with the stored states."""
    from rodsim import __version__

    versions = result.description.get("provenance", {}).get("versions", {})
    same_version = versions.get("rodsim", __version__) == __version__
    try:
        recomputer = _StepRecomputer(result)
        recomputer.all()
    except UnknownRun as unknown:
        return StepRecomputation(reason=str(unknown), same_version=same_version)
    except ModelError as error:
        return StepRecomputation(failed=f"the run cannot begin: {error}", same_version=same_version)
    differences = tuple(recomputer.differences.values())
    return StepRecomputation(
        recomputer.done, recomputer.last, recomputer.reason, recomputer.failed, differences, same_version
    )


class _StepRecomputer:
    """Repeat steps and collect the differences, output by output."""

    def __init__(self, result: Result) -> None:
        self._result, self._steps, self._t = result, result.step, result.t
        self._run = Replay(result)
        self._tolerance_factor = max(1.0, newton_tolerance(result) / (RESIDUAL_LEVELS * EPS))
        self.done, self.last, self.reason, self.failed = 0, False, "", ""
        self.differences: dict[str, Difference] = {}

    def all(self) -> None:
        """Repeat as many steps as `MIN_STEPS` and `STEP_FRACTION` allow, or record the reason why none can be repeated."""
        if len(self._steps) < 2:
            self.reason = "there is one output alone"
        elif not np.all(np.abs(self._t - expected_times(self._result, self._run.h)) <= EPS * np.abs(self._t)):
            self.reason = "times and numbers of steps do not agree"
        elif np.diff(self._steps).min() < 1:
            self.reason = "the numbers of steps do not increase"
        else:
            # older versions predicted steps otherwise
            chosen = [] if self._result.layout.older else list(_select_outputs(self._steps))
            quiet = [
                k
                for k in chosen
                if self._run.nothing_happens(self._result.state(k), self._result.state(k + 1))
            ]
            for k in quiet:
                self._try(k, self._compare_from_output, int(self._steps[k + 1] - self._steps[k]))
            if chosen and not quiet:
                self.reason = "an event happens in all steps that would be repeated"
            if not chosen:
                self._last_steps()

    def _last_steps(self) -> None:
        """Repeat the last step before some outputs, chosen evenly."""
        scheme = self._run.scheme
        state = self._result.state(-1)
        if scheme is None or not scheme.plain or state.internal.size or self._result.layout.n_points:
            gap = int(np.diff(self._steps).min())
            self.reason = f"{gap} steps from one output to the next, more than are repeated"
            return
        self.last = True
        outputs = (
            np.linspace(len(self._steps) - 2, 0, min(MIN_STEPS, len(self._steps) - 1)).round().astype(int)
        )
        for k in outputs.tolist():
            self._try(k, self._compare_last_step, 1)

    def _try(self, k: int, differences: Callable[[int], Iterator[Difference]], count: int) -> None:
        """Record the differences at output k + 1 after `count` repeated steps, or why these cannot be taken."""
        try:
            step_differences = list(differences(k))
        except UnknownRun as unknown:
            self.reason = str(unknown)
            return
        except (ConvergenceError, ModelError) as error:
            self.failed = self.failed or f"those before output {k + 1} (t = {self._t[k + 1]:g} s): {error}"
            return
        self.done += count
        for difference in step_differences:
            earlier = self.differences.get(difference.what, difference)
            number = 1 + (earlier.outputs if difference.what in self.differences else 0)
            self.differences[difference.what] = Difference(**{**vars(earlier), "outputs": number})

    def _compare_from_output(self, k: int) -> Iterator[Difference]:
        """Yield the differences at output k + 1, by repeating the steps from output k."""
        run, steps = self._run, self._steps
        stored = self._result.state(k + 1)
        halvings = int(self._result.halvings[k + 1])

        def end(start: State) -> State:
            return run.end(start, int(steps[k]), int(steps[k + 1] - steps[k]), stored, halvings)

        yield from self._compared(k + 1, self._result.state(k), stored, end)

    def _compare_last_step(self, k: int) -> Iterator[Difference]:
        """Yield the differences at output k + 1, by repeating its last step, or substep."""
        assert self._run.scheme is not None
        stored = self._result.state(k + 1)
        full_step = self._run.stepper(self._run.h, self._run.scheme.order)
        last = ends_of_parts(self._run.corners, self._run.h, self._t[k + 1] - self._run.h)[-2:]
        h = float(np.diff(last)[0] * full_step.fractions[-1])
        stepper = self._run.stepper(h, 2, earlier=False)
        plain, stored_layout = stepper.sizes.memory, self._result.layout.memory

        def end(start: State) -> State:
            start_state = State(*(x.copy() for x in _convert_history(start, stored_layout, plain)))
            return _convert_history(
                stepper.march(start_state, h, np.array([self._t[k + 1] - h])).state, plain, stored_layout
            )

        yield from self._compared(
            k + 1,
            _previous_state(self._result.layout, stored, h),
            stored,
            end,
            ("r", "quat", "v", "Omega", "lam", "acc"),
        )

    def _compared(
        self, i: int, start: State, stored: State, end: Callable[[State], State], fields: tuple[str, ...] = ()
    ) -> Iterator[Difference]:
        """Yield the differences between the stored state of output i and `end(start)`.

        `fields`: kinds of numbers to compare; by default all.
        """
        run = self._run
        recomputed = split_state(end(start), *run.shape)
        d: dict[str, Floats] = {}
        for name, values in split_state(stored, *run.shape).items():
            new = recomputed[name]
            if np.array_equal(values, new) or (fields and name.partition(",")[0] not in fields):
                continue
            if not d:
                rate, angular_rate = (np.abs(acc).max() for acc in _accelerations(self._result.layout, start))
                gained = rate + np.abs(run.system.gravity).max(), angular_rate
                free = np.asarray(run.system.frames.fixed == 0, float)
                run.drive_perturbation = PERTURBATION
                try:
                    shifted = end(
                        perturb_state(
                            start, PERTURBATION, (run.h * gained[0], run.h * gained[1]), free, *run.shape
                        )
                    )
                finally:
                    run.drive_perturbation = 0.0
                d = {
                    what: np.abs(x - recomputed[what]) for what, x in split_state(shifted, *run.shape).items()
                }
            allowed = (
                ROUNDING_FACTOR
                * EPS
                * self._tolerance_factor
                * (d[name].max() / PERTURBATION + np.abs(new).max())
            )
            deviation = np.nan_to_num(np.abs(values - new), nan=np.inf)
            if deviation.max() > allowed:
                worst = np.unravel_index(np.argmax(deviation), deviation.shape)
                numbers = float(values[worst]), float(new[worst])
                yield Difference("steps", name, 1, i, float(self._t[i]), *numbers)


def _select_outputs(steps: Ints) -> Iterator[int]:
    """Yield numbers of outputs from which the steps to the next one are repeated: evenly, within bounds, the last first."""
    gaps = np.diff(steps)
    most = max(MIN_STEPS, int(STEP_FRACTION * (steps[-1] - steps[0])))
    count = max(1, min(len(gaps), int(most // np.mean(gaps))))
    for k in np.unique(np.linspace(len(gaps) - 1, 0, count).round().astype(int))[::-1].tolist():
        most -= int(gaps[k])
        if most >= 0:
            yield k


def _accelerations(layout: Layout, state: State) -> tuple[Floats, Floats]:
    """Return the linear and angular accelerations (n, 3) each, m/s^2 and rad/s^2, that `em` stores.

    They are zero for schemes that store none.
    """
    acc = layout.memory.parts(state.memory).get("acc", np.zeros((layout.n_frames, 6)))
    return acc[:, :3], acc[:, 3:]


def _convert_history(state: State, stored_layout: MemoryLayout, target_layout: MemoryLayout) -> State:
    """Return the state with the history of another stepper of `em`, which holds only the accelerations."""
    return state._replace(memory=target_layout.joined(acc=stored_layout.parts(state.memory)["acc"]))


def _previous_state(layout: Layout, state: State, h: float) -> State:
    """Return the start of the step h (s) of `em` that ended in `state`, by (2) and (3)."""
    w1 = quaternions.rotate(state.quat, state.Omega)
    rate, angular_rate = _accelerations(layout, state)
    v0, w0 = state.v - h * rate, w1 - h * angular_rate
    d = w0 - w1
    zero = np.zeros(len(d))
    hat = np.array([[zero, -d[:, 2], d[:, 1]], [d[:, 2], zero, -d[:, 0]], [-d[:, 1], d[:, 0], zero]])
    k = np.linalg.solve(2.0 * np.eye(3) + 0.5 * h * hat.transpose(2, 0, 1), (0.5 * h * (w0 + w1))[..., None])[
        ..., 0
    ]
    rotation = quaternions.normalize(np.concatenate([np.ones((len(k), 1)), -k], axis=1))
    quat = quaternions.normalize(quaternions.multiply(rotation, state.quat))
    Omega = quaternions.rotate(quaternions.conjugate(quat), w0)
    return state._replace(r=state.r - 0.5 * h * (v0 + state.v), quat=quat, v=v0, Omega=Omega)
