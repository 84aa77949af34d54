"""Advance states of a model with events: find the times at which conditions become true, and apply what happens.

If a condition becomes true in a step, the step is repeated with shorter lengths, by the Illinois method on the margin of the
condition, until the time s is known to `TIME_TOLERANCE` of a step. The state is then that of the integrator
after a step of length s; nothing is interpolated. What happens is applied to it, and the rest of the step is taken by the same
rules, so that outputs stay at multiples of the step.

Releasing a joint changes nothing but the rows that act. Engaging one changes the velocities w, with the kinetic metric M, by an
impulse G^T L of the rows that act afterwards, G w+ + dg/dt = 0 (`discretization.consistent_velocities`). With d = w+ - w-,

    work of drives  -L . dg/dt        dissipation  d . M d/2        T+ - T- = work - dissipation      (1)

The loss is the kinetic energy of the change of the velocities (Carnot); it is counted as dissipation, and by event. The work is
counted like that of a drive, or of a driven frame, in a step.

Forces of joints and contacts are means of a step. `em` reflects the part of the velocities that violates the joints, by impulses
that do not become small with the step. Forces are therefore only used of two whole steps of equal length h that follow each
other. With the margins m0, m1 in their middles, a condition with forces becomes true at the time s after the start of the second,

    m = m1 + (m1 - m0) (s - h/2)/h = 0,    it is true at its end if m(h) > 0                              (2)

or at its start, if m(0) > 0 already. The time is of order 2; that of other conditions has the order of the integrator.

Everything is a function of the state, in which events remember what they need (`discretization.controls`), so that runs can be
resumed bit-identically.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access
from numpy.typing import NDArray

from discretization.characteristic_length import extent
from discretization.consistent_velocities import project_velocities
from discretization.controls import COUNT, HELD, LENGTH, LOSS, MARGIN, MEASURES, QUANTITY, TIME
from discretization.drives import WORK, driven_frames, driven_rows
from discretization.internal_variables import internal_variables, part
from discretization.redundancy import constraint_jacobian
from discretization.state_checks import OF_SYSTEMS, check_arrays
from discretization.state_measures import (
    constraint_residual,
    energies,
    translational_momenta,
    velocity_residual,
)
from discretization.state_shapes import state_shapes
from discretization.system import System
from discretization.time.accepted_steps import AcceptedSteps, AcceptingStepper
from discretization.time.sampling import Quantities, Sampler, measure_all
from discretization.time.step_splitting import NEAR
from discretization.time.stepper_base import Failure, Report, StepperBase, copy_state
from rigid import quaternions
from rigid.bound_arguments import bind_tuple, specialized
from rigid.errors import ModelError
from rigid.interactions.constraints import first_rows
from rigid.system import Floats, Ints, State
from rigid.user_warnings import warn_user
from rodsim.building.build import Built
from rodsim.building.joint_rows import ASSEMBLED, most_violated, owner_of_rows
from rodsim.building.phases import Phase, event_numbers, phase_of
from rodsim.components.controllers import RATE, input_of, output_numbers
from rodsim.components.events import TIME as CLOCK
from rodsim.components.events import ModelEvent, switches_of
from rodsim.components.model_data import ModelData
from rodsim.components.model_warnings import ModelCheckWarning

SAME_LENGTH = 1e-6  # relative difference of lengths of steps that counts as rounding
TIME_TOLERANCE = 1e-10  # of an event, as a fraction of the step
MOST_TRIALS = 80  # steps that are taken to find one event
BISECTIONS = 40  # the last of them are bisections
MOST_EVENTS = 100  # in one step
MOST_STEPS = 64  # that are tried together
CACHED_PHASES = 8


class ActivePhase(NamedTuple):
    """A phase and the stepper that takes its steps."""

    phase: Phase
    stepper: StepperBase


class Margins(NamedTuple):
    """Margins of all events at the ends of k steps."""

    value: Floats  # (k, e) of the values that are read; forces are means
    holds: NDArray[
        np.bool_
    ]  # (k, e) whether the condition holds; for conditions with forces at the end of the step, by (2)


class EventStepper(AcceptingStepper):
    """Advance states of a model with events.

    Parameters
    ----------
    model : ModelData
    built : Built
        Arrays of the whole model.
    h : float
        Step, s.
    make : callable
        Returns the stepper of a `Phase`, without the history of steps before the last one.
    quantities : callable
        Evaluates sensors that are quantities at states of the whole model.
    """

    chart = None

    def __init__(
        self,
        model: ModelData,
        built: Built,
        h: float,
        make: Callable[[Phase], StepperBase],
        quantities: Quantities,
    ) -> None:
        self.h, self._model, self._built, self._make, self._quantities = h, model, built, make, quantities
        self._events, self._sensors = list(model.events.values()), list(model.sensors)
        self._switches = list(switches_of(model.events))
        self._means = built.system.controls.means > 0
        self._phases: OrderedDict[bytes, ActivePhase] = OrderedDict()
        first = self._active(built.state).stepper
        self.solver, self.solver_settings = first.solver, first.solver_settings
        self._first = first
        memory = first.sizes.memory
        self.sizes = first.sizes._replace(
            multipliers=len(built.state.lam), internal=internal_variables(built.system), memory=memory
        )
        self.shapes = state_shapes(self.sizes)
        self._reader = _SensorReader(model, built, self.shapes, quantities)
        self._places = self._output_places()

    @property
    def threads(self) -> int:
        """Return the number of threads that work on a step, as `StepperBase` does."""
        return self._first.threads

    @property
    def steps_of_first_march(self) -> int:
        """Return the number of steps that take at most some milliseconds, as `StepperBase` does."""
        return self._first.steps_of_first_march

    @property
    def substeps_per_step(self) -> int:
        """Return how many substeps a step is made of, as `StepperBase` does."""
        return self._first.substeps_per_step

    @property
    def load_points(self) -> tuple[Floats, Floats]:
        """Return the points in a step at which loads are evaluated, and their weights, as `StepperBase` does."""
        return self._first.load_points

    def start(self, state: State) -> State:
        """Return the state with the memory of the integrator and of the events."""
        check_arrays(state, self.shapes, *OF_SYSTEMS)
        state = state._replace(internal=state.internal.copy())
        active = self._active(state)
        started = active.stepper.start(active.phase.state_of(state))
        state = _only(active.phase.whole(_many(started), state))
        numbers = event_numbers(self._built, state)
        numbers.table[:, [COUNT, TIME, LOSS]] = 0.0
        numbers.stopped[:] = 0.0
        values = self._built.drive_values
        for k, name in enumerate(self._switches):
            if values is not None and name in values.rows:
                numbers.begin[k] = values.start[list(values.rows).index(name)]
        self._clear_released(state)
        self._phases.clear()
        held = numbers.table[:, HELD] > 0.0  # where a run starts from another one
        holds = np.where(self._means, held, self._margins(_many(state), np.zeros(1)).holds[0])
        numbers.table[:, HELD] = holds
        for event, is_new in zip(self._events, holds & ~held, strict=True):
            if is_new:
                warn_user(
                    f"event '{event.name}': its condition {event.when.text} holds at the start. It happens when the condition "
                    "becomes true again",
                    ModelCheckWarning,
                )
        return check_arrays(state, self.shapes)

    def end_of_first_substep(self, state: State, t: float, h: float) -> State | None:
        """Return the end of the first substep of a step without events, as `StepperBase` does."""
        active = self._active(state)
        end = active.stepper.end_of_first_substep(active.phase.state_of(state), t, h)
        return None if end is None else _only(active.phase.whole(_many(end), state))

    # --- steps

    def _steps(self, state: State, h: float, starts: Floats) -> Iterator[AcceptedSteps]:
        """Yield the steps in order, up to the first that cannot be taken."""
        done = 0
        while done < len(starts):
            numbers = event_numbers(self._built, state)
            if numbers.stopped[0] > 0.0:  # the state stays as it is
                count = len(starts) - done
                yield AcceptedSteps(
                    State(*(np.repeat(array[None], count, axis=0) for array in state)), [Report()] * count
                )
                return
            active = self._active(state)
            times = starts[done : done + MOST_STEPS]
            ends, reports, failure = active.stepper.ends(active.phase.state_of(state), h, times)
            count = len(ends.r)
            if count:
                states = active.phase.whole(ends, state)
                margins = self._at_whole_steps(states, times[:count] + h, h, state)
                held = np.concatenate([numbers.table[None, :, HELD] > 0.0, margins.holds[:-1]])
                rises = (margins.holds & ~held & self._changing(state)).any(axis=1)
                accepted = int(np.argmax(rises)) if rises.any() else count
                if accepted:
                    states = State(*(array[:accepted] for array in states))
                    table = event_numbers(self._built, states).table
                    table[..., HELD], table[..., MARGIN] = margins.holds[:accepted], margins.value[:accepted]
                    table[..., LENGTH] = h
                    yield AcceptedSteps(states, reports[:accepted])
                    state, done = _at(states, -1), done + accepted
                if accepted < count:
                    state, report, failed = self._step_with_events(state, h, float(starts[done]))
                    yield AcceptedSteps(_many(state), [report], failed)
                    if failed is not None:
                        return
                    done += 1
                    continue
            if failure is not None:
                yield AcceptedSteps(State(*(array[:0] for array in ends)), [reports[count]], failure)
                return

    def _step_with_events(self, state: State, h: float, start: float) -> tuple[State, Report, Failure | None]:
        """Take one step in which events happen."""
        taken, report, happened = 0.0, Report(), 0
        while True:
            active, length = self._active(state), h - taken
            end, cost, failure = self._take(active, state, start + taken, length)
            report = report.plus(cost)
            if failure is not None:
                return state, report, failure
            crossings = np.full(len(self._events), np.inf)
            if taken == 0.0 and self._means.any():
                crossings = self._crossings(end, start + h, h, state)
            search = _Search(self, active, state, (start + taken, length), crossings, h)
            s, state, rises, failure = search.earliest(end)
            report = report.plus(search.report)
            if failure is None and not rises.any():
                return state, report, None
            while failure is None and rises.any():
                happened += 1
                if happened > MOST_EVENTS:
                    failure = self._chatter(rises, start + taken + s)
                    break
                state, rises, failure = self._apply(state, start + taken + s, rises)
            taken += s
            stopped = event_numbers(self._built, state).stopped[0] > 0.0
            if failure is not None or stopped or h - taken <= NEAR * h:
                return state, report, failure

    def _take(
        self, active: ActivePhase, state: State, start: float, length: float
    ) -> tuple[State, Report, Failure | None]:
        """Take one step of any length."""
        end, _, report, failure = active.stepper.march(
            copy_state(active.phase.state_of(state)), length, np.array([start])
        )
        return (state if failure else _only(active.phase.whole(_many(end), state))), report, failure

    def _margins(self, states: State, times: Floats) -> Margins:
        """Return the margins at states (k, ...) of the whole model at times (k,), s."""
        readings = self._reader.read(states, times)
        margins = [event.when.margin(readings) for event in self._events]
        value, holds = (np.stack(columns, axis=1) for columns in zip(*margins, strict=True))
        return Margins(value, holds)

    def _at_whole_steps(self, states: State, times: Floats, h: float, before: State) -> Margins:
        """Return the margins at the ends (k,) of steps of length h that follow each other; `before`: state before the first.

        After a step of another length conditions with forces are not evaluated: they hold as before.
        """
        margins, means = self._margins(states, times), self._means
        if means.any():
            table = event_numbers(self._built, before).table[means]
            m0 = np.concatenate([table[None, :, MARGIN], margins.value[:-1, means]])
            holds = margins.value[:, means] + 0.5 * (margins.value[:, means] - m0) > 0.0
            other_length = np.abs(table[:, LENGTH] - h) > SAME_LENGTH * h
            holds[0] = np.where(other_length, table[:, HELD] > 0.0, holds[0])
            margins.holds[:, means] = holds
        return margins

    def _crossings(self, end: State, t: float, h: float, before: State) -> Floats:
        """Return the times (e,), since the start of a whole step, at which conditions with forces become true by (2), s."""
        margins, m0 = (
            self._at_whole_steps(_many(end), np.array([t]), h, before),
            event_numbers(self._built, before).table[:, MARGIN],
        )
        m1 = margins.value[0]
        with np.errstate(all="ignore"):
            s = 0.5 * h - m1 * h / (m1 - m0)
        s = np.clip(np.nan_to_num(s, nan=0.0), 0.0, h)
        return np.where(self._means & margins.holds[0], s, np.inf)

    # --- what happens

    def _changing(self, state: State) -> NDArray[np.bool_]:
        """Return for each event whether something would change if it happened, (e,): if not, it does not happen."""
        on, changes = event_numbers(self._built, state).on, []
        for event in self._events:
            switches = any(on[self._switches.index(name)] != acts for name, acts in event.switched)
            places = ((self._places[name], value) for name, value in (event.set or {}).items())
            sets = any(
                state.internal[output] != value or not state.internal[flag]
                for (output, flag), value in places
            )
            changes.append(event.stop or switches or sets)
        return np.array(changes)

    def _apply(
        self, state: State, t: float, happens: NDArray[np.bool_]
    ) -> tuple[State, NDArray[np.bool_], Failure | None]:
        """Return the state after some events, and the events whose conditions this makes true."""
        before = state
        state = state._replace(internal=state.internal.copy())
        numbers = event_numbers(self._built, state)
        events = [self._events[k] for k in np.flatnonzero(happens)]
        numbers.table[happens, COUNT] += 1.0
        numbers.table[happens, TIME] = t
        numbers.table[:, LENGTH] = 0.0
        for event in events:
            for name, acts in event.switched:
                numbers.on[self._switches.index(name)] = acts
            for name, value in (event.set or {}).items():
                output, has_value = self._places[name]
                state.internal[output], state.internal[has_value] = value, 1.0
            if event.stop:
                numbers.stopped[:] = 1.0
        engaged = numbers.on > event_numbers(self._built, before).on
        changed = bool((numbers.on != event_numbers(self._built, before).on).any())
        if engaged.any():
            state, failure = self._engage(state, t, engaged, events)
            if failure is not None:
                return before, happens, failure
        if changed:
            self._clear_released(state)
            state = state._replace(
                lam=state.lam * self._built.system.controls.acting(part(self._built.system, state, "sampled"))
            )
        table = event_numbers(self._built, state).table
        armed = table[:, HELD] == 0.0
        holds = self._margins(_many(state), np.array([t])).holds[0]
        holds[self._means] = (happens | ~armed)[self._means]  # until the end of the next whole step
        table[:, HELD] = holds
        rises = holds & armed & ~happens & self._changing(state)
        return state, rises, None

    def _engage(
        self, state: State, t: float, engaged: NDArray[np.bool_], events: Sequence[ModelEvent]
    ) -> tuple[State, Failure | None]:
        """Return the state after the impulse of joints and drives that begin to act (1)."""
        built = self._built
        self._begin_drives(state, t, engaged)
        phase = self._active(state).phase
        of_phase = phase.state_of(state)
        g = np.abs(constraint_residual(phase.built.system, of_phase))
        if g.max(initial=0.0) > ASSEMBLED * max(extent(state.r), 1.0):
            return state, self._does_not_fit(phase, g, t, events)
        system = phase.built.system
        fitted, _ = project_velocities(system, of_phase)
        works = _works_of_drives(system, of_phase, fitted)
        loss = float(works.sum()) + energies(system, of_phase).kinetic - energies(system, fitted).kinetic
        part(system, of_phase, "drive")[:, WORK] += works
        state.internal[phase.internal] = of_phase.internal
        totals = state.totals + np.array([works.sum(), loss])
        state = state._replace(v=fitted.v, Omega=fitted.Omega, totals=totals)
        number = next(k for k, event in enumerate(self._events) if event in events and event.engage)
        event_numbers(built, state).table[number, LOSS] += loss
        return state, None

    def _begin_drives(self, state: State, t: float, engaged: NDArray[np.bool_]) -> None:
        """Let drives begin at the present coordinates of their joints: write their numbers to the state, in place."""
        values, numbers = self._built.drive_values, event_numbers(self._built, state)
        rows = [] if values is None else list(values.rows)
        for k in np.flatnonzero(engaged):
            name = self._switches[k]
            if name in rows and values is not None:
                motion, drive = self._model.drives[name].motion, values.rows[name]
                moved = np.diff(motion.value(np.array([0.0, t])))[0]
                numbers.begin[k] = drive.coordinate(state) - moved
                U, value, dU, dvalue = drive.numbers(np.array([t]), float(numbers.begin[k]))
                row = part(self._built.system, state, "drive")[rows.index(name)]
                row[:WORK] = [*U[0], value[0], *dU[0], dvalue[0]]

    def _clear_released(self, state: State) -> None:
        """Set the numbers of drives that do not act to zero, except their work, in place."""
        values, numbers = self._built.drive_values, event_numbers(self._built, state)
        rows = [] if values is None else list(values.rows)
        for k in np.flatnonzero(numbers.on == 0.0):
            if self._switches[k] in rows:
                numbers.begin[k] = 0.0
                part(self._built.system, state, "drive")[rows.index(self._switches[k]), :WORK] = 0.0

    def _does_not_fit(self, phase: Phase, g: Floats, t: float, events: Sequence[ModelEvent]) -> Failure:
        """Return the failure of an event that engages a joint in a position in which it does not fit."""
        item, other = most_violated(phase.built.system, g, phase.built.interaction_names)
        rods = [(rod.name, rod.frames) for rod in phase.built.layout.rods]
        what = other or f"'{owner_of_rows(self._model.constraint_names, rods, phase.built.system, item)[1]}'"
        return Failure(
            f"event '{events[0].name}' at t = {t:.6g} s engages {what}, whose points or axes are {g.max():.3g} apart",
            "engage it where it fits, or engage a drive, which begins at the present coordinate",
            final=True,
        )

    def _chatter(self, rises: NDArray[np.bool_], t: float) -> Failure:
        """Return the failure of events that happen again and again."""
        event = self._events[int(np.argmax(rises))]
        return Failure(
            f"event '{event.name}' ({event.when.text}) has happened with others {MOST_EVENTS} times in the step to t = {t:.6g} s",
            "separate the conditions that switch a part on and off, as 'phi > 1.01' and 'phi < 0.99'",
            final=True,
        )

    # --- phases

    def _active(self, state: State) -> ActivePhase:
        """Return the phase of a state and its stepper."""
        numbers = event_numbers(self._built, state)
        key = numbers.on.tobytes() + numbers.begin.tobytes()
        if key in self._phases:
            self._phases.move_to_end(key)
            return self._phases[key]
        phase = phase_of(self._built, state)
        stepper = self._make(phase)
        if hasattr(self, "sizes") and stepper.sizes.memory != self.sizes.memory:
            raise ModelError(
                f"model '{self._model.name}': this integrator remembers other numbers after an event has released or engaged "
                "joints. Use 'em' or 'em-ggl'"
            )
        self._phases[key] = ActivePhase(phase, stepper)
        if len(self._phases) > CACHED_PHASES:
            self._phases.popitem(last=False)
        return self._phases[key]

    def _output_places(self) -> dict[str, tuple[int, int]]:
        """Return the index in `State.internal` of each output, and of the flag that it has been set, by name."""
        controls, first = self._built.system.controls, internal_variables(self._built.system).first("sampled")
        _, memory, outputs = (first + x for x in controls.offsets())
        controllers, places, count = (
            list(self._model.controllers),
            {},
            dict.fromkeys(self._model.controllers, 0),
        )
        for name, output in output_numbers(self._model.controllers):
            k = controllers.index(name)
            places[f"{name}.{output}"] = (int(outputs[k]) + count[name], int(memory[k]))
            count[name] += 1
        return places


def _works_of_drives(system: System, before: State, after: State) -> Floats:
    """Return the work (d,), J, of each driven row and driven frame at an impulse that changes the velocities, by (1)."""
    rows, frames = driven_rows(system.constraints), driven_frames(system.frames.fixed)
    rates = velocity_residual(system, _moving_alone(before, None))
    rates_by_frames = [velocity_residual(system, _moving_alone(before, f)) - rates for f in frames.tolist()]
    if not any(x.any() for x in (rates, *rates_by_frames)):
        return np.zeros(len(rows) + len(frames))
    change = before._replace(v=after.v - before.v, Omega=after.Omega - before.Omega)
    spin = quaternions.rotate(before.quat, np.einsum("nij,nj->ni", system.frames.inertia, change.Omega))
    impulse = np.concatenate([translational_momenta(system, change), spin], axis=1)
    G = constraint_jacobian(system, before)
    multipliers = scipy.sparse.linalg.lsqr(
        G.T.tocsr(), impulse.ravel(), atol=1e-15, btol=1e-15, iter_lim=10 * sum(G.shape)
    )[0]
    of_rows = -(multipliers * rates)[first_rows(system.constraints)[rows]]
    works: Floats = np.array([*of_rows, *(-multipliers @ x for x in rates_by_frames)])
    return works


def _moving_alone(state: State, frame: int | None) -> State:
    """Return a state in which no frame moves, or only one."""
    v, Omega = np.zeros_like(state.v), np.zeros_like(state.Omega)
    if frame is not None:
        v[frame], Omega[frame] = state.v[frame], state.Omega[frame]
    return state._replace(v=v, Omega=Omega)


class _Search:
    """Search of the earliest event in a step, or the rest of one, from a state.

    span: its start and its length, s. crossings: (e,) times since its start at which conditions with forces become true, infinite
    if they do not. h: whole step, s.
    """

    def __init__(
        self,
        stepper: EventStepper,
        active: ActivePhase,
        state: State,
        span: tuple[float, float],
        crossings: Floats,
        h: float,
    ) -> None:
        self._stepper, self._active, self._state, self._crossings = stepper, active, state, crossings
        self._start, self._length = span
        self._least, self._tolerance = NEAR * h, TIME_TOLERANCE * h
        held = event_numbers(stepper._built, state).table[:, HELD] > 0.0
        self._armed = ~held & stepper._changing(state)
        self.report = Report()

    def earliest(self, end: State) -> tuple[float, State, NDArray[np.bool_], Failure | None]:
        """Return the time since the start of the step, s, the state there, the events, and why a trial failed.

        `end`: state at the end of the step, which is returned if no event happens. An event that comes earlier than the shortest
        step that is taken happens at the start.
        """
        a, b, state, none = 0.0, self._length, end, np.zeros(len(self._armed), bool)
        rises, fb = self._evaluate(end, b)
        if not rises.any():
            table = event_numbers(self._stepper._built, end).table
            margins = self._stepper._margins(_many(end), np.array([self._start + b]))
            ends = ~self._stepper._means
            table[ends, HELD] = margins.holds[0, ends]
            return b, end, none, None
        fa, side = self._evaluate(self._state, 0.0)[1], 0
        for trial in range(MOST_TRIALS):
            if b - a <= self._tolerance or b <= self._least:
                break
            usable = (
                np.isfinite(fa) and np.isfinite(fb) and fa < 0.0 < fb and trial < MOST_TRIALS - BISECTIONS
            )
            s = (a * fb - b * fa) / (fb - fa) if usable else 0.5 * (a + b)
            s = min(max(s, a + 0.5 * self._tolerance, self._least), b - 0.5 * self._tolerance)
            if s <= a:
                break
            tried, cost, failure = self._stepper._take(self._active, self._state, self._start, s)
            self.report = self.report.plus(cost)
            if failure is not None:
                return 0.0, self._state, none, failure
            holds, f = self._evaluate(tried, s)
            if holds.any():
                b, fb, state, rises = s, f, tried, holds
                fa, side = fa * (0.5 if side == 1 else 1.0), 1
            else:
                a, fa = s, f
                fb, side = fb * (0.5 if side == -1 else 1.0), -1
        if b <= self._least:
            return 0.0, self._state, rises, None
        if self._length - b <= self._least:
            return self._length, end, rises, None
        return b, state, rises, None

    def _evaluate(self, state: State, s: float) -> tuple[NDArray[np.bool_], float]:
        """Return which events happen by the time s of the step, and the largest margin of those that may happen."""
        margins, means = (
            self._stepper._margins(_many(state), np.array([self._start + s])),
            self._stepper._means,
        )
        value, holds = margins.value[0], margins.holds[0]
        value[means], holds[means] = (s - self._crossings)[means], (s >= self._crossings)[means]
        return holds & self._armed, float(value[self._armed].max(initial=-np.inf))


class _SensorReader:
    """Read the sensors that conditions contain, at states of the whole model."""

    def __init__(self, model: ModelData, built: Built, shapes: Any, quantities: Quantities) -> None:
        self._sensors, self._quantities = list(model.sensors), quantities
        inputs = sorted({name for event in model.events.values() for name in event.when.inputs})
        self._inputs = [(name, *self._column(name)) for name in inputs]
        measure = built.system.controls.measure
        is_quantity = {s: bool(measure[s] == MEASURES.index(QUANTITY)) for _, s, _ in self._inputs}
        self._evaluated: Ints = np.array([s for s, is_one in is_quantity.items() if is_one], np.int64)
        self._measures = not all(is_quantity.values())
        self._values = np.zeros((len(self._sensors), 2))
        if self._measures:
            self._scratch = State(*(np.zeros(shapes[name]) for name in State._fields))
            sampler = Sampler(built.system, shapes)
            self._bound = bind_tuple(sampler.arrays), bind_tuple(self._scratch), self._values
            self._measure = specialized(measure_all, *self._bound)

    def _column(self, name: str) -> tuple[int, int]:
        """Return the number of a sensor, and 1 for its rate, else 0."""
        if name in self._sensors:
            return self._sensors.index(name), 0
        return self._sensors.index(input_of(name).sensor), int(name.endswith(RATE))

    def read(self, states: State, times: Floats) -> dict[str, Floats]:
        """Return the time and the inputs of all conditions (k,) at k states."""
        rows = np.zeros((len(times), *self._values.shape))
        if self._measures:
            for k in range(len(times)):
                for target, array in zip(self._scratch, states, strict=True):
                    if target.shape == array.shape[1:]:
                        target[...] = array[k]
                self._measure(*self._bound)
                rows[k] = self._values
        if len(self._evaluated):
            no_memory = states._replace(memory=states.memory[:, :0])
            rows[:, self._evaluated, 0] = self._quantities(self._evaluated, no_memory)
        return {CLOCK: times} | {name: rows[:, s, is_rate] for name, s, is_rate in self._inputs}


def _many(state: State) -> State:
    """Return one state with a leading axis of length 1."""
    return State(*(array[None] for array in state))


def _only(states: State) -> State:
    """Return the only one of several states."""
    return State(*(array[0] for array in states))


def _at(states: State, k: int) -> State:
    """Return a copy of the k-th of several states."""
    return State(*(array[k].copy() for array in states))
