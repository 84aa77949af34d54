"""Rebuild the stepper of a run, with its loads and drives, so that steps can be repeated from any of its outputs.

If the model was built in this process, the functions of its loads and drives exist. Otherwise loads are rebuilt from the
description, and prescribed motions are read from the states at the ends of the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discretization.acting_systems import ActingSystem, acting_system
from discretization.contact.table import contacts_of
from discretization.controls import COUNT
from discretization.drives import count_drives, driven_frames, driven_rows, pack_constraint, pack_frame
from discretization.interaction_table import loads_of
from discretization.internal_variables import part, without_neighbour_list
from discretization.multipliers import count_multipliers
from discretization.planar.symmetry_input import Symmetry
from discretization.solver_selection import select_stepper
from discretization.system import System
from discretization.time.adaptive import FIRST
from discretization.time.contact_stepper import ContactStepper
from discretization.time.em_family import em_integrator
from discretization.time.sampling import ControlFunctions
from discretization.time.step_splitting import steps_before_corner
from discretization.time.stepper import DriveValues, LoadValues, Stepper
from rigid.motions import STEP
from rigid.system import Floats, State
from rodsim.adaptive_steps import adaptive
from rodsim.components.control_laws import law_from_description, law_function
from rodsim.results.audit_recomputation import newton_tolerance
from rodsim.results.event_history import event_numbers
from rodsim.results.layout import Layout
from rodsim.results.node_loads import node_loads
from rodsim.results.sensed_quantities import quantities_of

if TYPE_CHECKING:
    from discretization.time.stepper_base import StepperBase
    from rodsim.results.result import Result

SOLVER_OF_PHASES = "solver_of_phases"  # setting of a run with events: the argument `solver`
_DRIVES = "drives whose motion a file does not store, and more than one step from one output to the next"


class UnknownRun(Exception):
    """Something that acted in the run is not known; the message names it."""


class Replay:
    """Repeat steps of a run.

    Raises UnknownRun if the result does not contain the settings of its run, and ModelError if these settings are not possible.
    """

    def __init__(self, result: Result) -> None:
        layout, settings = result.layout, result.description.get("run", {})
        self._settings = settings
        if layout.system is None or "dt" not in settings or "integrator" not in settings:
            raise UnknownRun("the file does not say how it was run (of an older version)")
        self.system, self.h, self.scheme = (
            layout.system,
            float(settings["dt"]),
            em_integrator(settings["integrator"]),
        )
        # layout (blocks of internal variables), number of coordinates and number of constraints of a chart
        self.shape = layout, 0, 0
        self.loads = _load_values(layout)
        self.control_functions = ControlFunctions(_laws(layout), quantities_of(layout))
        self.drives: DriveValues | None = None
        # drives are read from the state at the end of a step, so that steps are repeated one at a time
        self._reads_drives = bool(count_drives(self.system)) and layout.functions is None
        self._end: State | None = None
        self.drive_perturbation = (
            0.0  # relative change of the values of drives, to measure the effect of rounding
        )
        if layout.functions is not None and layout.functions.drives is not None:
            self._functions: DriveValues = layout.functions.drives
            self.drives = self._drives_from_functions
        elif self._reads_drives:
            self.drives = self._drives_from_end_state
        self._selects_solver, self._symmetry = "solver" in settings, None
        self._has_history = "history" in settings
        if "plane" in settings:  # the run has found its plane with all loads
            none = np.zeros((len(loads_of(self.system.others).kind), 3))
            self._symmetry = Symmetry(result.state(0), none, np.array(settings["plane"]))
        self.corners: Floats = np.array(
            settings.get("corners", ()), float
        )  # older versions did not split steps at corners
        self._tolerance, self._massless_parts = (
            newton_tolerance(result),
            result.description.get("without_inertia", []),
        )
        # older versions took half substeps for clamped parts, too, and did not record it
        self._takes_half_steps = bool(settings.get("halves", count_multipliers(self.system) > 0))
        self._is_adaptive = False  # True if the steps were adaptive: h is then the time between outputs
        self._stepper: StepperBase
        self._whole: Callable[[State], State] | None = None
        self._phases: dict[bytes, tuple[ActingSystem, StepperBase]] | None = None
        if result.description.get("events") and (
            layout.functions is None or layout.functions.stepper is None
        ):
            if count_drives(self.system):
                raise UnknownRun("a file of a run with events does not store the motions of its drives")
            self._phases = {}  # steppers between events, made when they are needed
            self._selects_solver = settings.get(SOLVER_OF_PHASES) == "auto"
        if self.scheme is not None:
            self._is_adaptive = "error" in settings
            if layout.functions is not None and layout.functions.stepper is not None:
                self._stepper = self._with_lengths(layout.functions.stepper())
            elif self._phases is None:
                self._stepper = self._with_lengths(self._em_stepper(self.system))
            return
        # imported only if needed: its kernels take half a second to load
        from discretization.time.mechanical_stepper import MechanicalStepper

        chart, name = settings.get("chart"), str(settings["integrator"])
        values = self.loads, self.drives, self.control_functions

        def make(system: System) -> MechanicalStepper:
            start_state = without_neighbour_list(system, self.system, result.state(0))
            return MechanicalStepper(layout.name, system, start_state, self.h, name, chart, *values)

        plain = make(self.system._replace(contacts=contacts_of()))
        self._stepper, self.shape = plain, (layout, plain.mechanical.n, plain.mechanical.m)
        if len(self.system.contacts.pairs):
            self._stepper = ContactStepper(self.system, self.h, make)
        self._stepper.corners = self.corners

    @property
    def run_stepper(self) -> StepperBase:
        """Stepper of the run."""
        return self._stepper

    @property
    def solver(self) -> str:
        """Solver of the equations of a step, as text."""
        return self._stepper.solver

    def stepper(
        self, h: float, order: int, system: System | None = None, *, earlier: bool | None = None
    ) -> Stepper:
        """Return the stepper of a member of the `em` family with the settings of the run.

        `h`: step, s. `system`: system with the contacts of one list; by default that of the run. `earlier`: as in
        `select_stepper`; by default as in the run.
        """
        assert self.scheme is not None
        stepper = select_stepper(
            self.system if system is None else system,
            h,
            order,
            self.loads,
            tolerance=self._tolerance,
            drive_values=self.drives,
            torque_free_frames=self._massless_parts,
            shortcut=self._selects_solver,
            earlier=self._has_history if earlier is None else earlier,
            halves=self._takes_half_steps,
            symmetry=self._symmetry,
            control_functions=self.control_functions,
            **self.scheme.steps,
        )
        if stepper.sampler is not None and self._whole is not None:
            stepper.sampler.whole = self._whole  # sensors are evaluated at states of the whole model
        return stepper

    def end(self, start: State, first: int, count: int, stored: State, halvings: int) -> State:
        """Return the state after the steps first + 1 ... first + count from `start`.

        `stored`: that state in the result. `halvings`: number of step halvings in the run. Raises UnknownRun if the values of the
        drives during these steps are not known.
        """
        if self._reads_drives:
            complete = (
                steps_before_corner(self.corners, self.h, self.h * np.arange(first, first + count)) == 1
            )
            if (
                not complete
                or count > 1
                or self.scheme is None
                or self.scheme.order > 2
                or halvings
                or self._is_adaptive
            ):
                raise UnknownRun(_DRIVES)
        self._end = stored
        if self._phases is None:
            return self._stepper.advance(start, first, count)[0]
        acts, stepper = self._phase(start)
        end = acts.whole(_many(stepper.advance(acts.state_of(start), first, count)[0]), start)
        remembered = event_numbers(self.shape[0], end.internal)
        of_stored = event_numbers(self.shape[0], stored.internal)
        assert remembered is not None
        assert of_stored is not None
        remembered.table[:] = of_stored.table  # conditions are not evaluated
        return State(*(array[0] for array in end))

    def nothing_happens(self, start: State, end: State) -> bool:
        """Return whether no event happens between two states of a file, or steps with events can be repeated."""
        before, after = (event_numbers(self.shape[0], state.internal) for state in (start, end))
        if self._phases is None or before is None or after is None:
            return True
        return np.array_equal(before.table[:, COUNT], after.table[:, COUNT])

    def _em_stepper(self, system: System) -> StepperBase:
        """Return the stepper of a member of the `em` family, with or without contacts."""
        assert self.scheme is not None
        h = FIRST * self.h if self._is_adaptive else self.h
        make = partial(self.stepper, h, self.scheme.order)
        return ContactStepper(system, h, make) if len(system.contacts.pairs) else make(system)

    def _with_lengths(self, stepper: StepperBase) -> StepperBase:
        """Return the stepper with the lengths of steps of the run."""
        if self._is_adaptive:
            return adaptive(stepper, self.system, self.h, self._settings, self.loads)
        stepper.corners = self.corners
        return stepper

    def _phase(self, state: State) -> tuple[ActingSystem, StepperBase]:
        """Return the system with the joints that act in a state, and the stepper of its steps."""
        assert self._phases is not None
        numbers = event_numbers(self.shape[0], state.internal)
        assert numbers is not None
        key = numbers.on.tobytes()
        if key not in self._phases:
            acts = acting_system(self.system, state)
            self._whole = lambda states: acts.whole(states, state)
            self._phases[key] = acts, self._with_lengths(self._em_stepper(acts.system))
        return self._phases[key]

    def _drives_from_functions(self, times: Floats) -> Floats:
        """Return the values of the drives at these times, each changed up or down by the part `drive_perturbation` of its size.

        The size of a rate is increased as much as finite differences over `STEP` amplify rounding.
        """
        values = self._functions(times)
        if self.drive_perturbation == 0.0:
            return values
        rows = len(driven_rows(self.system.constraints))
        size = np.abs(values)
        row_sizes, frame_sizes = size[:, : 3 * rows].reshape(len(times), rows, 3, 3), size[:, 3 * rows :]
        row_sizes[:, :, 2] += 1.0 / STEP  # dU/dt of a unit vector
        row_sizes[:, :, 1, 1] += row_sizes[:, :, 1, 0] / STEP
        frame_sizes = frame_sizes.reshape(len(times), -1, 5, 3)
        frame_sizes[:, :, 1] += np.abs(frame_sizes[:, :, 0]).max(initial=0.0) / STEP
        frame_sizes[:, :, 2] += 1.0 / STEP
        return values + self.drive_perturbation * size * np.random.default_rng(1).choice(
            [-1.0, 1.0], size.shape
        )

    def _drives_from_end_state(self, times: Floats) -> Floats:
        """Return the values of the drives at the end of the step, (1, rows, 3), as packed by `discretization.drives`."""
        state, constraints = self._end, self.system.constraints
        if state is None or len(times) != 1:
            raise UnknownRun(_DRIVES)
        rows, frames = driven_rows(constraints), driven_frames(self.system.frames.fixed)
        drive_rows = part(self.system, state, "drive")[: len(rows), None]
        parts = [pack_constraint(x[:, :3], x[:, 3], x[:, 4:7], x[:, 7]) for x in drive_rows]
        parts += [
            pack_frame(*(x[None, f] for x in (state.r, state.quat, state.v, state.Omega))) for f in frames
        ]
        return np.concatenate(parts, axis=1)


def _laws(layout: Layout) -> Mapping[str, Any]:
    """Return the functions of the controllers by name. Raise UnknownRun if a file does not store one."""
    if layout.functions is not None:
        return layout.functions.laws
    functions = {}
    for name, described in layout.description.get("controllers", {}).items():
        law = law_from_description(described["law"])
        if law is None:
            raise UnknownRun(f"a file does not store the function of controller '{name}'")
        functions[name] = law_function(law, described["inputs"])
    return functions


def _load_values(layout: Layout) -> LoadValues | None:
    """Return the function of the values of all loads; None without loads. Raise UnknownRun if a file does not store them."""
    if layout.functions is not None:
        return layout.functions.loads
    functions = []
    for load in node_loads(layout):
        if load.value is None:
            raise UnknownRun(f"a file does not store the values of {load.name}")
        functions.append(load.value)
    if not functions:
        return None
    return lambda times: np.stack([value(times) for value in functions], axis=1)


def _many(state: State) -> State:
    """Return one state with a leading axis of length 1."""
    return State(*(array[None] for array in state))
