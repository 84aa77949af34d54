"""Advance a multibody model by an integrator of mechanical systems, with the interface of `stepper.Stepper`.

The model is expressed in a chart. Coordinates, momenta and velocities are stored in `State.memory` between calls, and every
call returns the state of the frames.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discretization import interaction_table
from discretization.contact.table import refuse_contacts
from discretization.drives import count_drives, driven_frames, packed_rows
from discretization.interaction_groups import Role, groups_of
from discretization.internal_variables import condensed_indices, part
from discretization.multipliers import multipliers_of
from discretization.redundancy import constraint_jacobian, surplus_rows
from discretization.state_checks import OF_SYSTEMS, check_arrays, evaluate_user_function
from discretization.state_shapes import sizes_of, state_shapes
from discretization.system import System
from discretization.time.drives_in_charts import (
    HOLDING,
    DriveValues,
    drive_works_in,
    frames_to_constraints,
    motion_of,
    store_drives_in_state,
)
from discretization.time.families import FAMILIES
from discretization.time.integrate import March, check_compatibility
from discretization.time.integrators import parse, solves_repeating
from discretization.time.newton import CONVERGED
from discretization.time.sampling import NO_FUNCTIONS, ControlFunctions, Sampler, sample_state
from discretization.time.scheme import Scheme
from discretization.time.stepper_base import Failure, MarchResult, Report, StepperBase, copy_state
from discretization.time.trajectory import Start, Trajectory
from rigid import quaternions
from rigid.charts.multibody import Interactions, Weight, counted, multibody_system
from rigid.errors import ModelError
from rigid.interactions.constraints import rows_of
from rigid.mechanics import mechanical_system
from rigid.mechanics.mechanical_system import CONDENSED, LOSSLESS, VISCOUS, MechanicalSystem
from rigid.system import Floats, Ints, State

# chart name of models -> chart and inertia
CHARTS = {
    "quaternion": ("quaternion", "singular"),
    "quaternion-alpha": ("quaternion", "alpha"),
    "quaternion-gamma": ("quaternion", "gamma"),
    "director": ("director", "singular"),
}


LoadValues = Callable[[Floats], Floats]  # times (k,), s -> values (k, loads, 3)


def default_chart(scheme: Scheme) -> str:
    """Return the chart in which the invariants declared for a scheme hold."""
    return "quaternion" if scheme.singular_mass else "director"


def system_in_chart(
    name: str,
    system: System,
    state: State,
    chart: str,
    load_values: Callable[[Floats], Floats] | None = None,
    parameter: float | None = None,
    drive_values: DriveValues | None = None,
) -> MechanicalSystem:
    """Return the mechanical system of a model; `chart` is a key of `CHARTS`.

    load_values: function of times (k,) that returns the values of the loads (k, loads, 3). parameter: alpha or gamma (kg m^2).
    drive_values: function of times (k,) that returns the prescribed motion, see `discretization.drives`. Without it states can be
    read, but no step can be computed. Raises ModelError for unknown charts.
    """
    if chart not in CHARTS:
        raise ModelError(f"chart '{chart}' is not known; choose one of {', '.join(CHARTS)}")
    refuse_contacts(system.contacts, "a mechanical system")
    # the chart reads the table of constraints itself
    entries = [entry for entry in groups_of(system, state) if entry.table != "constraints"]
    energies, viscous, holding, working = (
        tuple(entry.group for entry in entries if entry.role is role)
        for role in (Role.ENERGY, Role.DISSIPATION, Role.CONSTRAINT, Role.WORK)
    )
    signals = system.signals
    working, viscous = (
        tuple(
            group._replace(row=np.searchsorted(signals, group.row)) if group.kind.signal >= 0 else group
            for group in groups
        )
        for groups in (working, viscous)
    )
    frames = system.frames
    behind = HOLDING * len(driven_frames(frames.fixed))  # rows that hold driven frames come first
    holding = tuple(group._replace(row=group.row + behind) for group in holding)
    weights = tuple(
        Weight(f, np.zeros(3), frames.mass[f] * system.gravity)
        for f in range(len(frames.mass))
        if not frames.fixed[f] and np.any(system.gravity)
    )
    signal = None
    if load_values is not None and len(signals):
        values, shape = load_values, (len(signals), 3)

        def signal(t: float) -> Floats:
            return evaluate_user_function("load_values", values, np.array([t]), shape)[0]

    loose, constraints = frames_to_constraints(system)
    parts = Interactions(
        constraints,
        weights,
        signal,
        energies,
        viscous,
        *system.rods.shared_masses,
        working,
        motion_of(system, state, drive_values),
        holding,
    )
    kind, inertia = CHARTS[chart]
    start = state.r, state.quat, state.v, state.Omega
    mechanical = multibody_system(
        name, loose, *start, parts, chart=kind, inertia=inertia, parameter=parameter
    )
    if np.any(multipliers_of(system).repeats):
        mechanical.info["repeats"] = repeated(system, state)
    return mechanical


# fraction of the inertia seen by multipliers; times h^2, it regularises their diagonal if joints are redundant
SOFT = 1e-8
HELD, HELD_RATE = 1.0, 1e8  # factors for rows that are implied by the others: of g, of G v


def repeated(system: System, state: State) -> Floats:
    """Return the regularisation (2, rows of the joints) of the diagonal of multipliers of redundant joints.

    It is applied by `sparsity_pattern.regularised_diagonal`.

    Rows that are implied by the other rows have a much larger one: they are fulfilled if the others are, and their multipliers
    keep their values.
    """
    frames, multipliers = system.frames, multipliers_of(system)
    inverse = np.empty((len(frames.mass), 6))
    inverse[:, :3] = 1.0 / frames.mass[:, None]
    inverse[:, 3:] = 3.0 / np.trace(frames.inertia, axis1=1, axis2=2)[:, None]
    G = constraint_jacobian(system, state).tocsr()
    rows: Floats = G.multiply(G) @ inverse.ravel()  # approximate diagonal of G M^-1 G^T
    soft = np.outer([SOFT, SOFT], np.where(multipliers.repeats[multipliers.per_row], rows, 0.0))
    surplus = surplus_rows(system, state)
    soft[:, surplus] = np.outer([HELD, HELD_RATE], rows[surplus])
    table = rows_of(
        system.constraints
    ).sum()  # the rows that hold driven frames come after these, and are never redundant
    of_frames = np.zeros((2, HOLDING * len(driven_frames(frames.fixed))))
    return np.concatenate([soft[:, :table], of_frames, soft[:, table:]], axis=1)


class MechanicalStepper(StepperBase):
    """Advance the frames of a model by steps of a scheme."""

    def __init__(
        self,
        name: str,
        system: System,
        state: State,
        h: float,
        integrator: str,
        chart: str | None,
        load_values: Callable[[Floats], Floats] | None,
        drive_values: DriveValues | None = None,
        control_functions: ControlFunctions = NO_FUNCTIONS,
    ):
        """Prepare the stepper; control_functions: what sensors and controllers of the system call."""
        self.scheme = parse(integrator)
        if np.any(multipliers_of(system).repeats) and not solves_repeating(integrator):
            raise ModelError(
                f"model '{name}': some joints are redundant, which '{integrator}' does not support; use 'em', 'em-ggl' or "
                f"one of {', '.join(name for name, family in FAMILIES.items() if family.handles_redundancy)}, or replace "
                "some joints by joints with more degrees of freedom"
            )
        self.chart = default_chart(self.scheme) if chart is None else chart
        check_arrays(state, state_shapes(sizes_of(system)), *OF_SYSTEMS)
        if drive_values is None and count_drives(system):
            raise ModelError(f"model '{name}' has prescribed motion; give its values as `drive_values`")
        self._system, self._drive_values = system, drive_values
        if system.controls.size:
            self._sampled_loads = np.zeros((1, len(system.signals), 3))
            load_values = self._with_sampled_loads(load_values)
        self.mechanical = system_in_chart(
            name, system, state, self.chart, load_values, drive_values=drive_values
        )
        self._counted, self._condensed = self._counted_order(system), condensed_indices(system)
        # failed steps are halved; damping from other initial guesses may end in reflected directors
        self._march = March(self.mechanical, self.scheme, attempts=0)
        self.h = h
        self.sizes = sizes_of(system, chart=3 * self.mechanical.n + 2 * self.mechanical.m)
        self.shapes = state_shapes(self.sizes)
        if system.controls.size:
            self.sampler = Sampler(system, self.shapes, control_functions)

    def check_contact_losses(self) -> None:
        """Raise ModelError if contacts that lose energy would not fit the scheme, given the system during contact."""
        data = self.mechanical.data
        data = data._replace(flags=(data.flags | VISCOUS | CONDENSED) & ~LOSSLESS)
        try:
            check_compatibility(self.scheme, replace(self.mechanical, data=data))
        except ModelError as error:
            raise ModelError(
                "contacts with friction, damping or a restitution below 1 are not supported: "
                f"{error}; or use contacts without losses"
            ) from None

    def start(self, state: State) -> State:
        """Return the initial `state` with its coordinates, momenta and velocities in the chart stored in `State.memory`."""
        q, v = self.mechanical.q0, self.mechanical.v0
        none = np.zeros(2 * self.mechanical.m)
        memory = np.concatenate([q, self.mechanical.momentum(q, v), v, none])
        return check_arrays(
            check_arrays(state, self.shapes, *OF_SYSTEMS)._replace(memory=memory), self.shapes
        )

    def _part_of_step(self, state: State, begin: float, end: float) -> MarchResult:
        """Compute the part of a split step between the times `begin` and `end`, s.

        Schemes that read loads at the ends of a step read them on its side of a corner.
        """
        return self.equal_steps(state, end - begin, np.array([begin]), inside=True)

    def equal_steps(self, state: State, h: float, starts: Floats, inside: bool = False) -> MarchResult:
        """Compute whole steps of length h from the times `starts`, s; the state is not changed.

        `inside`: True to read loads at the ends of a step on its side of a corner. Angles beyond the range of their potential are
        counted again from their present values.
        """
        if self.sampler is None:
            return self._marched(self._march, state, h, starts, inside)
        done, report = 0, Report()
        for t in starts:
            state, failure = self._sampled(self.sampler, state, t)
            if failure is not None:
                return MarchResult(state, done, report, failure)
            marched = self._marched(self._march, state, h, np.array([t]), inside)
            state, done, report = marched.state, done + marched.steps, report.plus(marched.report)
            if marched.failure is not None:
                return MarchResult(state, done, report, marched.failure)
        return MarchResult(state, done, report, None)

    def _with_sampled_loads(self, load_values: LoadValues | None) -> LoadValues:
        """Return a function of times with the present values of the loads that follow controllers."""
        driven = self._system.controls.load

        def values(times: Floats) -> Floats:
            all_values = np.zeros((len(times), *self._sampled_loads.shape[1:]))
            if load_values is not None:
                all_values[...] = load_values(times)
            all_values[:, driven] = self._sampled_loads[:, driven]
            return all_values

        return values

    def _sampled(self, sampler: Sampler, state: State, t: float) -> tuple[State, Failure | None]:
        """Return the state with the samples that are due at time t, s, or the failure of a controller."""
        sampled = copy_state(state)
        status = sample_state(sampler.arrays, sampled, t, self.h, self._sampled_loads)
        return (sampled, None) if status == CONVERGED else (state, sampler.failure())

    @property
    def substeps_per_step(self) -> int:
        """Return the number of substeps of a step, each with its own multipliers."""
        return len(self.scheme.fractions)

    def end_of_first_substep(self, state: State, t: float, h: float) -> State | None:
        """Return the end of the first substep of a step of length h from t, s. None if it fails. `state` is not changed."""
        first = h * self.scheme.fractions[0]
        end, done, _, failure = self._marched(self._one_substep, state, first, np.array([t]))
        return end if done and failure is None else None

    @functools.cached_property
    def _one_substep(self) -> March:
        """Return a march whose steps are substeps of the composition."""
        if self.substeps_per_step == 1:
            return self._march
        return March(self.mechanical, replace(self.scheme, fractions=(1.0,)), attempts=0)

    def _marched(
        self, march: March, state: State, h: float, starts: Floats, inside: bool = False
    ) -> MarchResult:
        """Compute whole steps of length h from the times `starts` with `march`, as `equal_steps` does."""
        check_arrays(state, self.shapes)
        n, m = self.mechanical.n, self.mechanical.m
        ends = np.append(starts, starts[-1] + h)
        done, report = 0, Report()
        while done < len(starts):
            self._count_from(state)
            q, p, v, lam, gam = np.split(state.memory, np.cumsum([n, n, n, m]))
            condensed = state.internal[self._condensed]
            totals = np.concatenate([state.totals, drive_works_in(self._system, state), condensed])
            start = Start(starts[done], q, p, v, lam, gam, totals)
            run, failure = march.run(h, ends[done:], start, inside)
            steps, iterations = len(run.t) - 1, run.iterations[1:]
            done += steps
            report = report.plus(
                Report(int(iterations.sum()), int(iterations.max(initial=0)), len(iterations))
            )
            if steps:
                state = self._state(state, run, starts[done - 1] + h)
            if failure is not None and not (failure.passing and steps):
                cost = Report(failure.iterations, failure.iterations, 1)
                return MarchResult(state, done, report.plus(cost), failure)
        return MarchResult(state, done, report, None)

    def _count_from(self, state: State) -> None:
        """Set the counted angles of the mechanical system to those of `state`."""
        numbers, indices = (
            self.mechanical.data.interaction_arrays.numbers,
            self.mechanical.info["counting"].offsets,
        )
        numbers[indices] = part(self._system, state, "angle")[self._counted]

    def _counted_order(self, system: System) -> Ints:
        """Return the indices, in the block of angles of a state, of the counted angles of the mechanical system, in its order."""
        count = interaction_table.counted_variable_counts(system.others)
        first, none = np.cumsum(count) - count, np.zeros(0, np.int64)
        entries = [
            entry for role in (Role.ENERGY, Role.CONSTRAINT) for entry in groups_of(system, None, role)
        ]
        indices = [
            first[entry.use][:, None] + np.arange(entry.group.kind.n_internal)
            for entry in entries
            if entry.group.kind.n_internal
        ]
        return np.concatenate([none, *(of_kind.ravel() for of_kind in indices)])

    def _state(self, state: State, run: Trajectory, t: float) -> State:
        """Return the state at the time t, s, the end of a march `run` from `state`."""
        last = run.at(-1)
        r, quat, velocity, Omega = frames_of(self.mechanical, run.q, self._velocity(last), state)
        new = State(*(array.copy() for array in state))
        new = new._replace(memory=np.concatenate([last.q, last.p, last.v, last.lam, last.gam]))
        new.r[...], new.quat[...], new.v[...], new.Omega[...] = r, quat, velocity, Omega
        # multipliers of constraints that hold driven frames come after those of the table
        lam, table = (
            last.lam[self.mechanical.info["places"].internal :],
            rows_of(self._system.constraints).sum(),
        )
        new.lam[:table], new.lam[table:] = lam[:table], lam[len(lam) - len(new.lam) + table :]
        new.totals[...], works, new.internal[self._condensed] = np.split(
            last.totals, [2, 2 + self.mechanical.n_drives]
        )
        if self._drive_values is not None:
            shape = packed_rows(self._system), 3
            packed = evaluate_user_function("drive_values", self._drive_values, np.array([t]), shape)[0]
            store_drives_in_state(self._system, packed, works, new)
        if len(self._counted):
            part(self._system, new, "angle")[self._counted] = counted(self.mechanical, run.q)[-1]
        return new

    def _velocity(self, at: Start) -> Floats:
        """Return the velocity (n,) at the end of a step.

        It is computed from the momentum if the mass is regular, since `v` of a variational scheme lies inside the step.
        """
        if self.scheme.singular_mass or self.mechanical.has(mechanical_system.SINGULAR_MASS):
            return at.v
        return self.mechanical.velocity(at.q, at.p)


def frames_of(
    system: MechanicalSystem, q: Floats, v: Floats, before: State
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return r, quat, velocity and Omega of all frames after steps q (N + 1, n) from `before`; fixed frames are unchanged."""
    offsets, chart = system.info["places"], system.info["chart"]
    r, quat, velocity, Omega = (x.copy() for x in (before.r, before.quat, before.v, before.Omega))
    for f, (at, to) in enumerate(zip(offsets.position, offsets.orientation, strict=True)):
        if at >= 0:
            r[f], velocity[f] = q[-1, at : at + 3], v[at : at + 3]
        if to < 0:
            continue
        if chart == "quaternion":
            q_f, rate = q[-1, to : to + 4], v[to : to + 4]
            Omega[f] = 2.0 * quaternions.multiply(quaternions.conjugate(q_f), rate)[1:]
        else:
            R = q[:, to : to + 9].reshape(-1, 3, 3).transpose(0, 2, 1)
            spin = R[-1].T @ v[to : to + 9].reshape(3, 3).T
            Omega[f] = 0.5 * np.array(
                [spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]
            )
            # choose the quaternion of each matrix that is nearer to that of the step before
            quats = np.vstack([before.quat[f], quaternions.from_matrix(R)])
            turned = np.einsum("ij,ij->i", quats[1:], quats[:-1]) < 0.0
            q_f = quats[-1] if turned.sum() % 2 == 0 else -quats[-1]
        quat[f] = quaternions.normalize(q_f)
    return r, quat, velocity, Omega
