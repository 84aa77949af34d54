"""Python front end of the compiled `em`, `em-ggl` and `em-d` time loops: validates input, allocates arrays, collects
statistics.
"""

from __future__ import annotations

import copy
import functools
import math
import operator
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from discretization.assembly.dissipation_arrays import check_elements, count_dissipation_rows, dissipation_of
from discretization.assembly.multifrontal_selection import number_for_solver
from discretization.assembly.numbering import BAND_LIMIT
from discretization.assembly.thread_team import ThreadTeam, create_team, running_threads
from discretization.assembly.velocity_constraints import velocity_constraint_arrays
from discretization.assembly.workspace import workspace
from discretization.drives import count_drives, packed_rows
from discretization.interaction_groups import Role, groups_of
from discretization.linear.sparse import release_with
from discretization.multipliers import count_multipliers, multipliers_of
from discretization.state_checks import OF_SYSTEMS, check_arrays, evaluate_user_function
from discretization.state_shapes import sizes_of, state_shapes
from discretization.system import System
from discretization.time.bound_march import BoundMarch
from discretization.time.composition import midpoints, substep_fractions
from discretization.time.em import ITERATIONS, MOST_ITERATIONS, N_COUNTS, SOLVES, STEPS, StepContext
from discretization.time.newton import (
    ADVICE,
    CONVERGED,
    FOLDED,
    NOT_CONVERGED,
    REASONS,
    SINGULAR,
    has_blocks_beyond_band,
)
from discretization.time.sampling import NOT_SAMPLED
from discretization.time.step_hooks import step_kernels
from discretization.time.stepper_base import (
    Failure,
    MarchResult,
    Report,
    Reports,
    StepEnds,
    StepperBase,
    copy_state,
)
from discretization.time.thread_turns import turn_released
from discretization.time.velocity_reflection import has_state_reflection, has_velocity_reflection
from rigid.bound_arguments import bind_tuple
from rigid.errors import LastStep, ModelError
from rigid.system import Floats, State

MAX_ITERATIONS = 30
FIRST_MARCH = 5000.0  # microseconds: longest first march
COST = 200.0  # microseconds: cost of giving up the turn; a shorter march keeps it

LoadValues = Callable[[Floats], Floats]  # times (k,) -> (k, loads, 3)
DriveValues = Callable[[Floats], Floats]  # times (k,) -> (k, rows, 3), packed as `discretization.drives` says


class Stepper(StepperBase):
    """Advance states of one system by steps of one length with `em`, `em-ggl`, composed to order 4, 6 or 8, or `em-d`.

    Parameters
    ----------
    system : System
    h : float
        Step, s.
    order : int, default 2
        2, or the order of a composition: 4, 6 or 8.
    load_values : function, optional
        Returns the loads (k, loads, 3) at times (k,), s.
    band_limit : int
        Bandwidth above which the linear solver is sparse.
    hidden : bool, default False
        True for `em-ggl`, for states whose velocities satisfy the joints.
    tolerance : float, default 0
        Relative tolerance of the equations of a step, and therefore of the invariants; 0: round-off.
    drive_values : function, optional
        Returns the values of prescribed motion at times (k,), s.
    joint_names : sequence of str
        Names by joint number, for the message if redundant joints are inconsistent.
    rho : float, optional
        Spectral radius of `em-d` at infinity. By default there is no numerical dissipation.
    torque_free_frames : sequence of int
        Frames whose velocities `em-d` does not damp.
    loop_of : function, optional
        Returns a description of the loop of a joint, for the same message as `joint_names`.
    halves : bool, optional
        Whether a composition takes its substeps in halves. By default if
        `discretization.time.velocity_reflection.has_velocity_reflection`.
    fractions, equations
        Substeps and equations of another scheme (`em_family.EmIntegrator`).
    threads : int, default 1
        Number of threads that work on a step of a model that is solved by fronts.

    Raises
    ------
    ModelError
        If the order needs negative substeps and the model dissipates energy.
    """

    def __init__(
        self,
        system: System,
        h: float,
        order: int = 2,
        load_values: LoadValues | None = None,
        band_limit: int = BAND_LIMIT,
        hidden: bool = False,
        tolerance: float = 0.0,
        drive_values: DriveValues | None = None,
        joint_names: Sequence[str] = (),
        *,
        rho: float | None = None,
        torque_free_frames: Sequence[int] = (),
        loop_of: Callable[[str], str] | None = None,
        halves: bool | None = None,
        fractions: Sequence[float] = (),
        equations: Any = None,
        threads: int = 1,
    ):
        check_step(h)
        if rho is not None:
            check_elements(system)
        self.system, self.h, self.order, self._joint_names, self._loop_of = (
            system,
            h,
            order,
            joint_names,
            loop_of,
        )
        variant, hidden = "-ggl" if hidden else "", hidden and count_multipliers(system) > 0
        # `em` reflects the part of the velocities that violates the joints
        halves = has_velocity_reflection(system) if halves is None else halves
        substeps = np.array(fractions, float)
        reflects_velocities = (halves and not hidden) or has_state_reflection(system)
        self.fractions = (
            substeps if len(substeps) else substep_fractions(order, reflects_velocities=reflects_velocities)
        )
        if self.fractions.min() < 0.0:
            check_conservative(
                system, "with these substeps" if len(substeps) else f"'em{order}{variant}'", variant
            )
        self.numbering = number_for_solver(system, band_limit, hidden)
        release_with(self, self.numbering.handle)
        self.work = workspace(system, self.numbering, tolerance=tolerance)
        self._hidden = velocity_constraint_arrays(system, self.work) if hidden else None
        self._load_values, self._drive_values = load_values, drive_values
        self._drive_rows = rows_of_drives(system, drive_values)
        self.sizes = sizes_of(system, rows=0 if rho is None else count_dissipation_rows(system))
        self.shapes = state_shapes(self.sizes)
        self._plain: System | None = None
        if rho is not None:
            self._dissipate(rho, torque_free_frames)
        if threads > 1 and self.numbering.fronts.inner.size > 0:
            self._team = create_team(self.numbering.fronts, threads, self.work)
            self.work = self.work._replace(team=self._team.words)
        self._own_equations = equations
        self._kernels: Any = None  # compiled once: computing the types of a model takes as long as many steps

    def _dissipate(self, rho: float, torque_free_frames: Sequence[int]) -> None:
        """Replace `system` by the system of one step, whose damping and stress-free strains change from step to step."""
        plain = self.system
        elements = plain.elements._replace(
            damping=plain.elements.damping.copy(), strain0=plain.elements.strain0.copy()
        )
        self._plain = plain
        self.system = plain.with_rods(plain.rods._replace(elements=elements).lumped())
        dissipation = dissipation_of(plain, self.numbering, rho, np.asarray(torque_free_frames, np.int64))
        spans = self.work.spans
        lumped = spans.strings._replace(couples=np.zeros_like(spans.strings.couples))
        all_viscous = spans._replace(viscous=np.ones_like(spans.viscous), strings=lumped)
        self.work = self.work._replace(dissipation=dissipation, spans=all_viscous)

    def start(self, state: State) -> State:
        """Return the state with the memory of this integrator; the memory of another integrator is replaced by a new one."""
        check_arrays(state, self.shapes, *OF_SYSTEMS)
        return check_arrays(
            state._replace(memory=self.sizes.memory.begun(state.memory)), self.shapes, "memory"
        )

    def check_contact_losses(self) -> None:
        """Raise ModelError for compositions, as `StepperBase` defines it: they go backwards in some substeps."""
        if len(self.fractions) > 1:
            variant = "-ggl" if self._hidden is not None else ""
            raise ModelError(
                f"integrator 'em{self.order}{variant}' takes negative substeps, which contacts with friction, damping or a "
                f"restitution below 1 do not allow; use integrator 'em{variant}', or contacts without losses"
            )

    def record(self, state: State, first_step: int, every: int, count: int) -> tuple[State, Sequence[Report]]:
        """Return states (k, ...) after `every`, 2 `every` ... k `every` steps, bit-identical to those of `advance`, and a report
        for each.

        1 <= k <= `count`; k is smaller than `count` if a step must be halved or split. `state` is not changed.
        """
        current, done = copy_state(check_arrays(state, self.shapes)), 0
        count = self._outputs_before_corner(first_step, every, count)
        if count:
            starts: Floats = self.h * np.arange(first_step, first_step + count * every)
            _, counts, states = self._run(current, self.h, starts, count)
            done = int(np.count_nonzero(counts[:, STEPS] == every))
        if done == 0:
            current, report = self.advance(state, first_step, every)
            return State(*(array[None] for array in current)), [report]
        return State(*(array[:done] for array in states)), reports_of(counts[:done])

    def equal_steps(self, state: State, h: float, starts: Floats) -> MarchResult:
        """Take whole steps of length h from `starts`, in place."""
        status, (counts,), _ = self._run(check_arrays(state, self.shapes, in_place=True), h, starts, 1)
        return MarchResult(state, int(counts[STEPS]), _report(counts), self._failure(status))

    @property
    def substeps_per_step(self) -> int:
        """Return how many substeps a step is made of, as `StepperBase` does."""
        return len(self.fractions)

    def end_of_first_substep(self, state: State, t: float, h: float) -> State | None:
        """Return the end of the first substep of a step, as `StepperBase` does."""
        end = copy_state(check_arrays(state, self.shapes))
        stored = State(*(np.empty((1, *array.shape)) for array in end))
        counts = np.zeros((1 + 2, N_COUNTS), dtype=np.int64)
        starts = np.array([t])
        values = self._values(starts, h)[:1]
        status = self._march(end, h * self.fractions[:1], values, starts, stored, counts)
        return end if status == CONVERGED else None

    def ends(self, state: State, h: float, starts: Floats) -> StepEnds:
        """Return the ends of all steps of length h from `starts`, as far as they can be solved."""
        status, counts, states = self._run(
            copy_state(check_arrays(state, self.shapes)), h, starts, len(starts)
        )
        done = int(counts[:, STEPS].sum())
        reports = [_report(row) for row in counts[: done + (status != CONVERGED)].tolist()]
        return StepEnds(State(*(array[:done] for array in states)), reports, self._failure(status))

    def _failure(self, status: int) -> Failure | None:
        """Return the failure that belongs to a status of the march; None for CONVERGED."""
        if status == CONVERGED:
            return None
        if status == NOT_SAMPLED:
            assert self.sampler is not None
            return self.sampler.failure()
        return Failure(
            REASONS[status], self._advice(status), singular=status == SINGULAR, folded=status == FOLDED
        )

    def _advice(self, status: int) -> str:
        """Return advice for a failed step; for redundant joints that may be inconsistent, it names them and their residual g."""
        numbering, work = self.numbering, self.work
        repeating = numbering.repeating
        if not len(repeating) or status not in (NOT_CONVERGED, SINGULAR):
            return ADVICE[status]
        rows = [
            np.abs(work.residual[numbering.row[c] :][: numbering.rows[c]]).max() / work.scale[c]
            for c in repeating
        ]
        joint = multipliers_of(self.system).joint
        numbers = joint[repeating][np.argsort(rows)[::-1]].tolist()
        known = dict(enumerate(self._joint_names))
        names = [known.get(number, str(number)) for number in dict.fromkeys(numbers)]
        repeated = ", ".join(f"'{name}'" for name in names[1:6]) + (" ..." if len(names) > 6 else "")
        loop = self._loop_of(names[0]) if self._loop_of is not None else ""
        if not 0.0 < max(rows) < np.inf:  # the matrix is singular for another reason
            return ADVICE[status]
        return (
            f"joint '{names[0]}' is redundant with {repeated} and inconsistent with them: |g| = {max(rows):.2g} is left over"
            f"{' in ' if loop else ''}{loop}; place them so that they are consistent during the motion, or remove one of "
            f"them; or {ADVICE[status]}"
        )

    def _run(self, state: State, h: float, starts: Floats, parts: int) -> tuple[int, np.ndarray, State]:
        """Take whole steps of length h from `starts`, in place of a checked state.

        Return the status, counts (parts, N_COUNTS) and the state after each part.
        """
        stored = State(*(np.empty((parts, *array.shape)) for array in state))
        counts = np.zeros((parts + 2, N_COUNTS), dtype=np.int64)
        values = self._values(starts, h)
        return self._march(state, h * self.fractions, values, starts, stored, counts), counts[:parts], stored

    @property
    def threads(self) -> int:
        """Return the number of threads that work on a step, as `StepperBase` does."""
        return 1 if self._team is None else len(self._team.scratch)

    _team: ThreadTeam | None = None
    pace = 1.2  # microseconds a step and frame: measured with rods of 3 to 100 elements

    @property
    def steps_of_first_march(self) -> int:
        """Return the number of steps that take some milliseconds, as `StepperBase` does.

        It is 1 for `em-ggl` and `em-d`, whose steps take several times as long.
        """
        if self._hidden is not None or self._plain is not None:
            return 1
        of_step = self.pace * len(self.fractions) * max(1, self.sizes.frames - 1)
        return max(1, int(FIRST_MARCH / of_step))

    def _turn_released(self, values: Floats) -> Any:
        """Return the context of a march: it releases the turn of this thread if the march takes long."""
        is_long = len(values) * (self.sizes.frames - 1) * self.pace >= COST
        return turn_released() if is_long else nullcontext()

    # makes steppers of systems with other numbers, if known; arguments as in `discretization.solver_selection.select_stepper`
    make: Callable[..., Stepper] | None = None

    def with_loads(self, system: System, load_values: LoadValues | None) -> Stepper:
        """Return a stepper of a run that differs in gravity and loads alone, for a march in lanes with others.

        Its work arrays are those of this stepper.
        """
        other = copy.copy(self)
        other.system, other._load_values = system, load_values
        return other

    def values_of(self, starts: Floats) -> Floats:
        """Return the values of the loads (steps, loads, 3) in the steps of length `h` that begin at these times."""
        return self._values(starts, self.h)

    @functools.cached_property
    def batch_key(self) -> tuple[Any, ...]:
        """Return what runs must have in common to march side by side in lanes; () for a model that cannot."""
        plain = self._hidden is None and self._plain is None and self._own_equations is None
        plain = plain and self.sampler is None
        if not plain or len(self.fractions) > 1 or self._drive_values is not None:
            return ()
        return self._batch_key()

    def _batch_key(self) -> tuple[Any, ...]:
        return ()

    @staticmethod
    def stack_runs(steppers: Sequence[Any]) -> Any:
        """Return the arrays of up to eight steppers of this class with equal `batch_key`, for `batch_march_kernel`."""
        raise NotImplementedError

    def batch_march_kernel(self) -> Any:
        """Return the compiled march of eight runs; it is imported on demand because its kernels take time to load."""
        raise NotImplementedError

    @property
    def solved(self) -> float:
        """Return the residual/noise that counts as solved."""
        return float(self.work.solved)

    def _march(
        self,
        state: State,
        substeps: Floats,
        values: Floats,
        starts: Floats,
        stored: State,
        counts: np.ndarray,
    ) -> int:
        """Run the compiled time loop, in place of a checked state; return its status."""
        # imports the kernels of all solvers, which take time to load
        from discretization.time.time_loop import march_and_store

        inputs = self._inputs(substeps, values, np.ascontiguousarray(starts, float))
        models, before = self._models(state), self._scratch(state)
        with self._turn_released(values), running_threads(self._team):
            status = march_and_store(*models, state, before, inputs, stored, counts)
        return int(status)

    def _inputs(self, substeps: Floats, values: Floats, starts: Floats) -> Any:
        """Return the inputs of the compiled time loop."""
        from discretization.time.time_loop import MarchInputs

        sampling = None if self.sampler is None else self.sampler.arrays
        return MarchInputs(substeps, values, starts, self.h, MAX_ITERATIONS, sampling)

    def bound_march(self, state: State, ahead: int = 0) -> Any:
        """Return a march that advances the arrays of `state` in place, as `StepperBase` does."""
        if self._team is not None:  # its threads run while the time loop does
            return super().bound_march(state, ahead)
        state = check_arrays(state, self.shapes, in_place=True)
        inputs = functools.partial(self._inputs, self.h * self.fractions)
        most = self.steps_of_first_march
        return BoundMarch(self._models(state), state, inputs, self.values_of, self.h, most, ahead)

    def raise_if_final(self, status: int, step: int, state: State) -> None:
        """Raise ConvergenceError for a failed controller, as `StepperBase` does."""
        failure = self._failure(status)
        if failure is not None and failure.final:
            error = self._error(failure, LastStep(step, copy_state(state)), Report(), Report())
            raise error from failure.cause

    def _models(self, state: State) -> tuple[Any, Any, Any]:
        """Return the models of the step: planar, of a tree, of any system; two of them are None.

        The arguments are unpacked once and reused as long as the models are the same objects.
        """
        models = self.system, self.numbering, self.work, self._hidden, self._plain
        known = self._bound_context
        if known is None or any(map(operator.is_not, known[0], models)):
            if self._kernels is None:
                of_model = self.system, self.numbering, self._hidden, state, self.work
                self._kernels = step_kernels(*of_model, self._own_equations)
            equations, hooks = self._kernels
            context = StepContext(equations, hooks, has_blocks_beyond_band(self.numbering), *models)
            known = self._bound_context = models, bind_tuple(context)
        return None, None, known[1]

    def _scratch(self, state: State) -> State:
        """Return a scratch state of the same shapes."""
        if self._before is None:
            self._before = copy_state(state)
        return self._before

    _before: State | None = None
    _bound_context: Any = None  # (models, arguments bound to them)

    @property
    def load_points(self) -> tuple[Floats, Floats]:
        """Return the midpoints of the substeps, at which loads are evaluated, and their weights, as `StepperBase` does."""
        return self._midpoints, self.fractions

    @functools.cached_property
    def _midpoints(self) -> Floats:
        """Return the midpoints of the substeps as fractions of the step."""
        return midpoints(self.fractions)

    @functools.cached_property
    def _n_loads(self) -> int:
        return len(self.system.signals)

    def _values(self, starts: Floats, h: float) -> Floats:
        """Return the loads at the middle of each substep of steps from `starts` on, followed by the drives at the end of the
        substep.
        """
        n_loads = self._n_loads
        if self._load_values is not None and n_loads > 0:
            middles = (starts[:, None] + h * self._midpoints).ravel()
            values = evaluate_user_function("load_values", self._load_values, middles, (n_loads, 3))
        else:
            values = np.zeros((len(starts) * len(self.fractions), n_loads, 3))
        if self._drive_values is None:
            return values
        ends = (starts[:, None] + h * np.cumsum(self.fractions)).ravel()
        of_drives = evaluate_user_function("drive_values", self._drive_values, ends, (self._drive_rows, 3))
        return np.concatenate([values, of_drives], axis=1)


def reports_of(counts: np.ndarray) -> Reports:
    """Return the reports for counts (k, N_COUNTS)."""
    return Reports(*(counts[:, column] for column in (ITERATIONS, MOST_ITERATIONS, SOLVES)))


def _report(counts: np.ndarray | list[int]) -> Report:
    return Report(int(counts[ITERATIONS]), int(counts[MOST_ITERATIONS]), int(counts[SOLVES]))


def check_step(h: float) -> None:
    """Raise ModelError unless h is a valid step."""
    if not 0.0 < h < math.inf:
        raise ModelError(f"the time step dt = {h} s must be a positive number")


def rows_of_drives(system: System, drive_values: DriveValues | None) -> int:
    """Return the number of rows of `drive_values` at one time; raise ModelError if the function is missing."""
    if not count_drives(system):
        return 0
    if drive_values is None:
        raise ModelError("the model has prescribed motion; give its values as `drive_values`")
    return packed_rows(system)


def check_conservative(system: System, name: str, variant: str) -> None:
    """Raise ModelError if something dissipates, because the integrator takes negative substeps; name: name of the integrator in
    messages.
    """
    resisting = [entry.group.kind for entry in groups_of(system, None, Role.DISSIPATION)]
    dissipative = [
        f"the {kind.name}"
        for kind in resisting
        if kind.state_equations is None or not kind.state_equations.conserves
    ]
    if np.any(system.spans.relaxation):
        dissipative.insert(0, "a rod with a Maxwell branch")
    if dissipative:
        raise ModelError(
            f"integrator {name} takes negative substeps, which {dissipative[0]} does not allow; "
            f"use integrator 'em{variant}'"
        )
