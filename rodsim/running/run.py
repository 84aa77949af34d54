"""One run, from a model and a plan to a result: `Run`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discretization.internal_variables import without_neighbour_list
from discretization.planar.symmetry_input import Symmetry
from discretization.planar.symmetry_plane import find_symmetry_plane
from discretization.solver_selection import select_stepper
from discretization.system import System
from discretization.time.adaptive import AdaptiveStepper
from discretization.time.contact_stepper import ContactStepper
from discretization.time.sampling import ControlFunctions
from discretization.time.stepper import Stepper
from discretization.time.velocity_reflection import has_velocity_reflection
from rigid.compilation.compile_notices import announce
from rigid.errors import ConvergenceError, ModelError
from rigid.system import State
from rigid.user_warnings import warn_user
from rodsim.adaptive_steps import adaptive
from rodsim.building.build import Built, Placement
from rodsim.building.contact_checks import warn_of_coarse_steps
from rodsim.building.controls import check_periods, sample_times, with_corners
from rodsim.building.initial_velocities import FittedVelocities, fit_velocities
from rodsim.building.joint_rows import describe_loop, names_of_constraints
from rodsim.building.limits import describe_limit
from rodsim.building.load_sampling import SampledLoads
from rodsim.building.massless_rods import check_mass
from rodsim.building.model_checks import warn_of_stretched_starts
from rodsim.building.phases import Phase, phase_of
from rodsim.building.polar_angles import angle_beyond_polar
from rodsim.building.restart import apply_start
from rodsim.building.starting_states import check_start_time
from rodsim.components.model_warnings import ModelCheckWarning
from rodsim.provenance import provenance
from rodsim.results import legacy_files
from rodsim.results.coarse_rotations import describe_coarse_rotation
from rodsim.results.event_history import output_times, stop_times
from rodsim.results.events import Watch
from rodsim.results.gear_history import GEAR
from rodsim.results.layout import Functions
from rodsim.results.output_multipliers import (
    MULTIPLIERS_STORED,
    MultipliersAfter,
    initial_multipliers,
    number_stored,
)
from rodsim.results.recorder import Recorder
from rodsim.results.replay import SOLVER_OF_PHASES
from rodsim.results.result import Result
from rodsim.results.result_file import check_space
from rodsim.results.sensed_quantities import quantities_of
from rodsim.results.writer import MemoryWriter, ResultWriter
from rodsim.running.event_stepper import EventStepper
from rodsim.running.march import Progress, march, march_until
from rodsim.running.plan import Plan

if TYPE_CHECKING:
    from discretization.time.mechanical_stepper import MechanicalStepper
    from rodsim.model import Model


class Run:
    """One run: its arrays, its stepper, its state and its outputs.

    Nothing is written before `open`. `execute` takes all steps, `result` returns the result, `close` is called in any case.

    Parameters
    ----------
    model : Model
    plan : Plan
    first : Run, optional
        A run of the same model with other numbers. What does not depend on them is taken from it.
    fit : callable
        Returns the initial state with velocities that fit the joints.

    Attributes
    ----------
    built : Built
        Arrays of the model.
    stepper : StepperBase
    state : State
        State after step `step`.
    step : int
        Number of the step that ends in `state`.
    recorder : Recorder
        Stores the outputs. It exists once the run is open, as `line` does.
    line : Progress
        The progress line.
    """

    recorder: Recorder
    line: Progress

    def __init__(
        self,
        model: Model,
        plan: Plan,
        first: Run | None = None,
        fit: Callable[[Built], FittedVelocities] = fit_velocities,
    ) -> None:
        announce()
        self.plan, self._model, self._first, self.step = plan, model, first, 0
        self._writer: Any = None  # MemoryWriter or ResultWriter of an open run
        self.built: Built = model.build()
        check_mass(self.built, "simulate")
        if model.contacts and not plan.adaptive:
            warn_of_coarse_steps(model, Placement(model), plan.dt)
        if model.events and plan.scheme is None:
            raise ModelError(
                f"integrator '{plan.arguments.integrator}' does not find events, which model '{model.name}' has; "
                "use 'em' or 'em-ggl'"
            )
        self.state, changes = self._initial_state(fit)
        self.built.layout.functions = Functions(
            self.built.load_values, self.built.drive_values, self.built.laws
        )
        self._loads = SampledLoads(self.built.load_values, self.built.system.controls.load)
        self._initial = self.state
        self._make = self._stepper_maker(self.built, self.state)
        self.stepper = self._new_stepper()
        if model.events:  # read by `rodsim.results.replay`
            self.built.layout.functions = self.built.layout.functions._replace(stepper=self._new_stepper)
        settings = self._start()
        self._watch = self._checked_events()
        self._describe(settings, changes)

    def _initial_state(self, fit: Callable[[Built], FittedVelocities]) -> tuple[State, FittedVelocities]:
        """Return the initial state, and how its velocities were changed to fit the joints; record the origin of a start."""
        plan, arguments = self.plan, self.plan.arguments
        check_start_time("simulate", arguments.start, arguments.start_time)
        if arguments.start is not None:
            self.built, state, origin = apply_start(self.built, arguments.start, arguments.start_time)
            self.built.layout.description["start"] = origin
            return state, FittedVelocities(state, 0.0, {})
        fitted = fit(self.built) if not self._model.events else self._fitted_phase(fit)
        if not plan.n_stored_outputs:
            built = self.built
            warn_of_stretched_starts(self._model, built.layout, built.system.frames.mass, fitted.state.v)
        return fitted.state, fitted

    def _fitted_phase(self, fit: Callable[[Built], FittedVelocities]) -> FittedVelocities:
        """Return the initial state with velocities that fit those joints that act at t = 0."""
        state = self.built.state
        phase = phase_of(self.built, state)
        fitted = fit(phase.built._replace(state=phase.state_of(state)))
        whole = phase.whole(State(*(array[None] for array in fitted.state)), state)
        return fitted._replace(state=State(*(array[0] for array in whole)))

    @property
    def _touching(self) -> bool:
        """Whether contacts decide between steppers."""
        return len(self.built.system.contacts.pairs) > 0

    def _stepper_maker(self, built: Built, initial: State) -> Callable[..., Stepper | MechanicalStepper]:
        """Return a function that makes steppers of the integrator for the system of a model, or for a variant of it.

        initial: state at the start of the run.
        """
        plan, arguments, has_events = self.plan, self.plan.arguments, bool(self._model.events)
        scheme, loads = plan.scheme, self._loads
        functions = ControlFunctions(built.laws, quantities_of(built.layout))
        if scheme is None:
            # imported only here: its kernels take half a second to load
            from discretization.time.mechanical_stepper import MechanicalStepper

            def make(system: System) -> MechanicalStepper:
                """Return a stepper of an integrator of mechanical systems."""
                start_state = (
                    initial
                    if system is built.system
                    else without_neighbour_list(system, built.system, initial)
                )
                values = loads, built.drive_values, functions
                return MechanicalStepper(
                    self._model.name,
                    system,
                    start_state,
                    plan.dt,
                    arguments.integrator,
                    arguments.chart,
                    *values,
                )

            return make
        if arguments.chart is not None:
            raise ModelError(
                f"integrator '{arguments.integrator}' has its own chart; remove chart = '{arguments.chart}'"
            )
        symmetry = Symmetry(initial, built.load_directions) if plan.keeps("plane") else None
        if has_events:
            symmetry = self._symmetry_of_phases(initial)
        torque_free_frames = list(built.idle)  # axes without inertia, which cannot take a torque
        if torque_free_frames and scheme.rho is not None:
            built.layout.description["without_inertia"] = torque_free_frames
        if self._first is not None:
            return partial(self._first._make, load_values=loads, symmetry=symmetry)
        joints = [joint.name for joint in built.layout.joints if joint.kind != GEAR]
        rods = [(rod.name, rod.frames) for rod in built.layout.rods]
        structured = arguments.solver == "auto" if plan.n_stored_outputs == 0 else "solver" in plan.stored
        if has_events:
            structured = plan.stored.get(SOLVER_OF_PHASES, arguments.solver) == "auto"
        return partial(
            select_stepper,
            h=plan.h,
            order=scheme.order,
            load_values=loads,
            tolerance=plan.tolerance,
            drive_values=built.drive_values,
            joint_names=names_of_constraints(joints, rods, built.interaction_names, built.system),
            torque_free_frames=torque_free_frames,
            loop_of=partial(describe_loop, self._model),
            threads=int(arguments.threads),
            shortcut=structured and not self._touching,
            earlier=plan.keeps("history") and not has_events,  # of steps with other joints
            symmetry=symmetry,
            control_functions=functions,
            **scheme.steps,
        )

    def _new_stepper(self) -> Any:
        """Return the stepper of the run; steps of equal length are still to be chosen with `Adaptive` steps."""
        plan, built = self.plan, self.built
        if self._model.events:
            quantities = quantities_of(built.layout)
            return EventStepper(self._model, built, plan.h, self._stepper_of_phase, quantities)
        if self._touching:
            return ContactStepper(built.system, plan.h, self._make)
        first = self._first
        if first is not None and differ_only_in_gravity(built.system, first.built.system):
            return self._make(built.system, beside=first.stepper)
        return self._make(built.system)

    def _symmetry_of_phases(self, initial: State) -> Symmetry | None:
        """Return the plane in which a model with events moves in all phases; None if there is none.

        It is that of the whole model: a part of it may be symmetric about other planes, in which it does not move.
        """
        directions = self.built.load_directions
        plane = find_symmetry_plane(self.built.system, Symmetry(self._initial, directions))
        return None if isinstance(plane, str) else Symmetry(initial, directions, plane.normal)

    def _stepper_of_phase(self, phase: Phase) -> Any:
        """Return the stepper of a phase between two events."""
        make_of_system = self._stepper_maker(phase.built, phase.state_of(self._initial))

        def make(system: System) -> Any:
            """Return a stepper whose sensors are evaluated at states of the whole model."""
            stepper = make_of_system(system)
            if stepper.sampler is not None:
                stepper.sampler.whole = lambda states: phase.whole(states, self.built.state)
            return stepper

        return (
            ContactStepper(phase.built.system, self.plan.h, make)
            if self._touching
            else make(phase.built.system)
        )

    def _start(self) -> dict[str, Any]:
        """Start the stepper; return the settings of the run, which are stored with the result."""
        plan, built, stored = self.plan, self.built, self.plan.stored
        settings: dict[str, Any] = {
            "dt": plan.dt,
            "integrator": plan.arguments.integrator,
            "output_every": plan.every,
            "t_end": float(plan.arguments.t_end),
        }
        if plan.dt != plan.requested_dt or "dt_given" in stored:
            settings["dt_given"] = plan.requested_dt if plan.dt != plan.requested_dt else stored["dt_given"]
        settings |= self.stepper.settings | legacy_files.predictor_settings(stored)
        check_periods(self._model, plan.dt, plan.adaptive)
        if plan.keeps("corners"):  # an older version did not split the steps of this run
            samples = sample_times(self._model, float(plan.arguments.t_end)) if plan.adaptive else ()
            settings |= with_corners(built.corners.settings(plan.adaptive), samples)
        if plan.adaptive and not isinstance(self.stepper, AdaptiveStepper):
            stored_settings = stored if plan.n_stored_outputs else {}
            settings |= plan.step_request.settings(
                built.system, self.state, built.load_values.vary, stored_settings
            )
            self.stepper = adaptive(self.stepper, built.system, plan.dt, settings, self._loads)
        else:
            self.stepper.corners = np.array(settings.get("corners", ()))
        self.state = self.stepper.start(self.state)
        built.layout.remembering(self.stepper.sizes.memory)
        self.stepper.describe_limit = partial(describe_limit, built, plan.h)
        if plan.arguments.threads > 1:
            settings["threads"] = self.stepper.threads
        if plan.tolerance > 0.0:
            settings["tolerance"] = plan.tolerance
        if plan.scheme is not None and plan.scheme.order > 2 and not has_velocity_reflection(built.system):
            settings["halves"] = False
        if self._model.events:
            settings[SOLVER_OF_PHASES] = stored.get(SOLVER_OF_PHASES, plan.arguments.solver)
        if plan.events:
            settings["until"] = " or ".join(str(event) for event in plan.events)
            settings["events"] = [event.described() for event in plan.events]
        if not isinstance(self.stepper, Stepper) and self.stepper.chart is not None:
            settings["chart"] = self.stepper.chart
        if plan.keeps(MULTIPLIERS_STORED):  # files of older versions have none
            built.layout.n_after = number_stored(self.stepper, plan.every, plan.arguments.integrator)
        if built.layout.n_after:
            settings[MULTIPLIERS_STORED] = True
        return settings

    def _checked_events(self) -> Watch | None:
        """Return what watches for events that end the run; raise ModelError if one of `simulate` holds at the start."""
        plan = self.plan
        stops = any(event.stop for event in self._model.events.values())
        if not plan.events and not stops:
            return None
        watch = Watch(plan.events, self.built.layout, self._stopped if stops else None)
        if not (plan.arguments.resume and plan.n_stored_outputs):
            watch.check_start(self.state)
        return watch

    def _stopped(self, states: State) -> int | None:
        """Return the index of the first of many states in which an event of the model has stopped the run."""
        stopped = np.flatnonzero(np.isfinite(stop_times(self.built.layout, states.internal)))
        return int(stopped[0]) if len(stopped) else None

    def time_of(self, step: int, state: State) -> float:
        """Return the time of a state after a step, s: the end of the step, or the time at which an event stopped the run."""
        return float(output_times(self.built.layout, np.array([step]), self.plan.dt, state.internal[None])[0])

    def _describe(self, settings: dict[str, Any], changes: FittedVelocities) -> None:
        """Put what is known before the first step into the layout of the result."""
        built, plan = self.built, self.plan
        if plan.arguments.output is not None and not self._model.events:
            built.layout.lam_start = initial_multipliers(
                built.system, self.state, built.load_values, built.drive_values, plan.dt
            )
        if self._model.events:
            phase = phase_of(built, self.state)
            first = phase.built
            known = initial_multipliers(
                first.system, phase.state_of(self.state), first.load_values, first.drive_values, plan.dt
            )
            built.layout.lam_start = np.zeros(len(self.state.lam))
            built.layout.lam_start[phase.rows] = np.nan if known is None else known
        description = built.layout.description
        description["run"] = settings
        description["provenance"] = provenance(self._model.scene)
        # distance of the nearest velocities that the joints allow from those given (m/s or rad/s), and the parts concerned
        description["velocity_projection"] = changes.change
        description["initial_velocity_change"] = {name: list(x) for name, x in changes.parts.items()}

    def open(self, show: bool | None) -> None:
        """Open the result file, or memory, and the progress line; store the first output, or read that of a resumed run.

        `show`: whether the line is visible, None: if stderr is a terminal.
        """
        plan, layout, output = self.plan, self.built.layout, self.plan.arguments.output
        if output is None:
            self._writer = MemoryWriter(layout)
        elif plan.arguments.resume:
            self._writer, _, self.step, self.state = ResultWriter.resume(
                output, layout, plan.most, plan.arguments.snapshot
            )
        else:
            if not plan.events:  # an event may end the run long before its last output
                check_space(Path(output), layout, plan.most)
            self._writer = ResultWriter.create(output, layout, plan.most, plan.arguments.snapshot)
        self._start_step = self.step
        self.line = Progress(plan.n_steps, self.step, plan.dt, plan.every, show, layout.memory)
        listener = self.line.audit if self.line.shown else None
        after = None
        if layout.n_after and (output is not None or plan.adaptive):
            after = MultipliersAfter(layout, self.separate_stepper, plan.dt)
        self.recorder = Recorder(self.built.system, plan.dt, self._writer, listener, after)
        if output is None or not plan.arguments.resume:
            self.recorder.add_last(0, self.state)

    def separate_stepper(self) -> Any:
        """Return a stepper that shares no work arrays with those of other runs."""
        return self.stepper

    def execute(self) -> None:
        """Take all steps. If one fails, store what was computed; the error has the result so far."""
        try:
            if self._watch is None:
                march(self, self.stepper, self.plan.n_steps, self.line)
            else:
                march_until(self, self._watch, self.line)
        except ConvergenceError as failed:
            failed.result = self.partial_result(failed)
            if failed.reached is not None:
                failed.explain(angle_beyond_polar(self.built, failed.reached.state, failed.t))
            raise
        except OSError:
            with contextlib.suppress(OSError):  # a full disk may fail again
                self.recorder.flush()
            raise
        except BaseException:
            self.recorder.flush()
            raise
        self.recorder.flush()

    def result(self) -> Result:
        """Return the result of the finished run; warn of loads that were zero whenever they were evaluated."""
        dt = self.plan.dt
        self._loads.warn(f"model '{self.built.layout.name}'", self._start_step * dt, self.recorder.last * dt)
        return self._result()

    def partial_result(self, failed: ConvergenceError) -> Result:
        """Return the result of a failed run, including the last state that it reached."""
        if failed.reached is not None and failed.reached.step > self.recorder.last:
            self.recorder.add_report(failed.report)
            self.recorder.add_last(failed.reached.step, failed.reached.state)
        self.recorder.flush()
        return self._result()

    def _result(self) -> Result:
        """Close the writer and return its result; warn of tight bends and of large rotations per step."""
        self._writer.close()
        result: Result = self._writer.result()
        result.layout.functions = self.built.layout.functions
        for words in ("; ".join(map(str, result.tight_bends)), describe_coarse_rotation(result)):
            if words:
                warn_user(f"model '{result.layout.name}': {words}", ModelCheckWarning)
        return result

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._writer is not None:
            self._writer.close()


def differ_only_in_gravity(one: System, other: System) -> bool:
    """Return whether two systems share all tables except gravity (the same array objects)."""
    return all(x is y for name, x, y in zip(System._fields, one, other, strict=True) if name != "gravity")
