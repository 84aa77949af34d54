"""Start a run from a stored state, with the same parts but other loads, weights or parameters; the changes are recorded."""

from __future__ import annotations

import copy
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discretization.characteristic_length import extent
from discretization.consistent_velocities import prescribe_all_velocities
from discretization.drives import driven_frames
from discretization.initial_rates import with_initial_rates
from discretization.interaction_groups import InteractionGroup, groups_of
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    InteractionTable,
    counted_variable_counts,
    history_variable_counts,
)
from discretization.internal_variables import internal_variables, part, with_counted_angles, with_part
from discretization.memoization import copied
from discretization.state_measures import constraint_residual, element_states, energies, velocity_residual
from discretization.system import System, fingerprint
from rigid import quaternions
from rigid.errors import ModelError, PartName
from rigid.interactions.loads import LOADS
from rigid.interactions.spring import SPRING
from rigid.interactions.torsion_spring import TORSION_SPRING
from rigid.joints import JOINTS
from rigid.system import PERPENDICULAR, Constraints, Floats, Ints, State
from rodsim.building.build import Built
from rodsim.building.equilibrium_checks import part_at
from rodsim.building.initial_velocities import fit_velocities
from rodsim.building.joint_loops import Link, loop_closed_by
from rodsim.building.joint_rows import most_violated
from rodsim.building.phases import phase_of, refuse_released
from rodsim.building.starting_states import StartingState, StartLike, check_start_time, starting_state
from rodsim.components.model_description import ACTING
from rodsim.results.constraint_history import ConstraintHistory
from rodsim.results.gear_history import GEAR, joint_of_rows
from rodsim.results.layout import Layout
from rodsim.results.result import Result
from rodsim.results.steady_rotation import SteadyRotation
from rodsim.results.tendon_paths import PATH

_SAME_FRACTION = 1e-6  # of the length of a rod: nodes nearer than this are the same


_MAX_VIOLATION = 1e-7  # largest constraint violation at the stored state, as a fraction of the model's size
_RATE_ROUNDOFF = 1e-9  # changes of the rates of drives below this fraction of the model's speed are round-off
_SPIN_ROUNDOFF = 1e-6  # rates of joints below this fraction of the speed of a steady rotation are round-off
_MAX_AXIS_ANGLE = 1.2  # rad: axes of joints that are further apart might close in the opposite direction


class Restart(NamedTuple):
    """Hold a start of a run other than the initial state of its model."""

    built: Built  # the model, whose drives continue from the coordinates of its joints
    state: State
    origin: dict[str, Any]  # for the description: source, output, changes


class LinearisationPoint(NamedTuple):
    """Hold a state about which a model is linearised, and the steady rotation if it is from one."""

    built: Built
    state: State
    rotation: SteadyRotation | None
    moved_ground: tuple[Layout, int] | None  # see `StartingState`


def apply_start(
    built: Built,
    start: StartLike,
    start_time: float | None = None,
    at_rest: bool = False,
    owner: str = "simulate",
) -> Restart:
    """Return a start of the model `built` with the state of `start`.

    Ground points that an equilibrium has moved are moved in the returned model, not in `built`.

    Parameters
    ----------
    built : Built
    start : Result, SteadyRotation, State, str or Path
    start_time : float, optional
        Time of a stored state of a result, s; by default the last.
    at_rest : bool
        True if joints may be in other positions than before: an equilibrium closes their gaps.
    owner : str
        Function that has the argument, for messages.

    Raises
    ------
    ModelError
        If `start` lacks a part of the model, a joint does not fit, or `start_time` is not within the times of `start`.
    """
    source = starting_state(owner, built, start, start_time)
    if source.rotation is not None and not at_rest:
        source = source._replace(state=source.rotation.moving)
    old, new = source.layout, built.layout
    other_structure = _fixed_structure(old) != _fixed_structure(new)
    _check_node_positions(old, new)
    if other_structure:
        source = _by_name(built, source)
    stored = source.state
    built = _with_copied_constraints(built)
    state, changes = _transferred_state(built, source)
    moved = _move_ground(built, source)
    built, state = _with_drives(built, state)
    if at_rest:
        refuse_released(owner, built, state)
        _check_turns(built, state)
    else:
        _check_joints(built, state, [joint.name for joint in old.joints])
    if source.rotation is not None and not at_rest:
        _check_rates(built, state, source.rotation)
    if other_structure:
        state, pushed = _fit_to_new_joints(built, state, old)
    else:
        state, pushed = _fit_to_drives(built, state, _drive_rate_jump(built, state, stored))
    origin = _origin(source, moved, _changes(old, new), [*changes, *pushed])
    if source.rotation is not None:
        origin["spin"] = source.rotation.spin.tolist()
    return Restart(built, state, origin)


def linearisation_point(
    owner: str, built: Built, start: StartLike, start_time: float | None = None, at_rest: bool = False
) -> LinearisationPoint:
    """Return the state of `start` as it is, for the analysis of small motions about it; parameters as in `apply_start`.

    Raises
    ------
    ModelError
        If the parts differ, or `start_time` is not within the times of `start`.
    """
    source = starting_state(owner, built, start, start_time)
    if source.output is None:
        refuse_released(owner, built, source.state)
    if source.output is None and source.moved_ground is None:
        return LinearisationPoint(built, source.state, source.rotation, None)
    if source.output is not None:
        _check_same_parts(source.layout, built.layout)
    built = _with_copied_constraints(built)
    state = _transferred_state(built, source)[0]
    refuse_released(owner, built, state)
    if source.layout.drives:
        drives = source.layout.internal.part(source.state.internal, "drive")
        state = with_part(built.system, state, "drive", drives)
    if moved := _move_ground(built, source):
        built.layout.description["start"] = _origin(source, moved)
    if at_rest:
        _check_turns(built, state)
    elif source.rotation is None:
        _check_joints(built, state, [joint.name for joint in built.layout.joints])
    return LinearisationPoint(built, state, source.rotation, source.moved_ground)


def _origin(
    source: StartingState, moved: Sequence[str], before: Sequence[str] = (), after: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the record of a start for the description; `before`, `after`: changes around those of moved ground points."""
    stays = [f"the ground side of joint '{name}' stays where the equilibrium has moved it" for name in moved]
    return {
        "model": source.layout.name,
        "output": source.output,
        "t": source.t,
        "changes": [*before, *stays, *after],
        "moved": moved,
    }


def check_start(
    owner: str, built: Built, start: StartLike | None, start_time: float | None
) -> StartLike | None:
    """Return `start`, or the result if it is a path; ModelError if it is not a start of a model with these parts."""
    check_start_time(owner, start, start_time)
    if start is None:
        return None
    start = Result.load(start) if isinstance(start, str | Path) else start
    _frames_by_name(starting_state(owner, built, start, start_time).layout, built.layout)
    return start


def _transferred_state(built: Built, source: StartingState) -> tuple[State, list[str]]:
    """Return the stored state as a state of the model, except for its drives, and messages on what was not carried over."""
    old, new, stored = source.layout, built.layout, source.state
    variables, changes = _internal_variables_at_start(built, source)
    memory = new.memory.joined()
    if source.output is not None:
        # only the parts of the integrator's memory that `em` uses are carried over
        points = old.memory.points if _same_contacts(built.system, old.system) else 0
        memory = new.memory._replace(points=points).joined(**old.memory.parts(stored.memory))
    replaced = {"internal": variables, "memory": memory, "totals": built.state.totals.copy()}
    state = State(**{name: replaced.get(name, array.copy()) for name, array in stored._asdict().items()})
    bodies = {body.name: body for body in old.bodies}
    for body in new.bodies:
        # the reference point keeps its position, even if the centre of mass has changed
        shift = bodies[body.name].reference - body.reference
        if np.any(shift):
            k = body.frame
            state.r[k] += quaternions.rotate(state.quat[k], shift)
            state.v[k] += quaternions.rotate(state.quat[k], np.cross(state.Omega[k], shift))
    return state, changes


def _check_rates(built: Built, state: State, rotation: SteadyRotation) -> None:
    """Raise ModelError if joints do not allow the velocities of the rotation."""
    if not len(state.lam):
        return
    rates = np.abs(velocity_residual(built.system, state))
    speed = float(np.linalg.norm(rotation.spin)) * max(extent(state.r), 1.0)
    if rates.max() <= _SPIN_ROUNDOFF * speed:
        return
    row, other = most_violated(built.system, rates, built.interaction_names)
    worst = "a joint"
    joint = None if other else joint_of_rows(built.layout.joints, int(built.system.constraints.joint[row]))
    if joint is not None:
        worst = f"drive '{joint.name}'" if joint.kind == "drive" else f"{joint.kind} joint '{joint.name}'"
    raise ModelError(
        f"start: {worst} does not let the model rotate with {rotation.spin.tolist()} rad/s. Drive the joint with the same rate, "
        "or find the modes of the rotation instead."
    )


def _with_copied_constraints(built: Built) -> Built:
    """Return `built` with copies of constraints and joints, which may be moved without effect on other runs of the model."""
    constraints: Constraints = copied(built.system.constraints)
    system = built.system._replace(constraints=constraints)
    layout = copy.copy(built.layout)
    layout.description = dict(layout.description)
    layout.joints = [copy.copy(joint) for joint in layout.joints]
    layout.system, layout.constraints = system, constraints
    return built._replace(system=system, layout=layout)


def _copy_turns(built: Built, old: Layout, stored: State, variables: Floats) -> None:
    """Copy the counted angles of tendons and belts that both models have; `variables`: `State.internal` at the start."""
    new, before = built.layout.description.get("others", {}), old.description.get("others", {})
    for name in new.keys() & before.keys():
        if old.system is None or not (
            "first_interaction" in new[name] and "first_interaction" in before[name]
        ):
            continue
        to, of = _counted_of(built.system, new[name]), _counted_of(old.system, before[name])
        if len(to) == len(of):
            internal_variables(built.system).part(variables, "angle")[to] = old.internal.part(
                stored.internal, "angle"
            )[of]


def _counted_of(system: System, described: dict[str, Any]) -> Ints:
    """Return the indices of the counted angles of a tendon or a belt."""
    count = counted_variable_counts(system.others)
    ends = np.cumsum([0, *count])
    first = described["first_interaction"]
    return np.arange(ends[first], ends[first + described["interactions"]])


def _internal_variables_at_start(built: Built, source: StartingState) -> tuple[Floats, list[str]]:
    """Return `State.internal` at the start of a run, except for its drives, and messages on what was not carried over."""
    system, old, stored, changes = built.system, source.layout, source.state, list[str]()
    before, blocks = old.internal, internal_variables(built.system)
    variables = np.zeros(blocks.size)
    if blocks.angle == before.angle:
        blocks.part(variables, "angle")[...] = before.part(stored.internal, "angle")
    else:
        counted = with_counted_angles(system, stored._replace(internal=variables))
        variables = np.array(counted.internal)
        _copy_turns(built, old, stored, variables)
        changes.append(
            "angles are counted from the nearest full turn, but for tendons and belts of the same name"
        )
    if blocks.branch:
        # a new branch begins as if strained at this moment, as at the start of a model
        first = system.rods.first
        relaxes = system.rods.relaxing[first:]
        strain = element_states(system, stored._replace(internal=variables))[0][first:] * relaxes[:, None]
        had = np.zeros(blocks.branch, bool)
        if before.branch and old.n_elements == built.layout.n_elements:
            assert old.system is not None
            had = old.system.spans.relaxation > 0.0
            strain[had] = before.part(stored.internal, "branch")[had]
        blocks.part(variables, "branch")[...] = strain
        if np.any(relaxes & ~had):
            changes.append("branches that relax are new and strained as their rods are")
    elif before.branch:
        changes.append("branches that relax are gone")
    if blocks.settled:
        initial = with_initial_rates(system, stored._replace(internal=built.state.internal))
        frames = {k: f for f, k in enumerate(_frames_by_name(old, built.layout).tolist())}
        history, new = _history_at_start(
            system,
            old.system,
            before.part(stored.internal, "settled"),
            part(system, initial, "settled"),
            frames,
        )
        blocks.part(variables, "settled")[...] = history
        if new:
            changes.append("friction states of new interactions start from their initial values")
    if blocks.bristle and _same_contacts(system, old.system):  # bristles belong to the list of contacts
        blocks.part(variables, "bristle")[...] = before.part(stored.internal, "bristle")
    elif blocks.bristle:
        changes.append("friction states of contacts start from their initial values")
    if blocks.sampled:
        if system.controls.same_layout(None if old.system is None else old.system.controls):
            sampled = before.part(stored.internal, "sampled").copy()
            due = system.controls.offsets()[0]
            sampled[due] = (
                0.0 if source.t is None else sampled[due] - source.t
            )  # the clock of the run starts at zero
            blocks.part(variables, "sampled")[...] = sampled
        else:
            blocks.part(variables, "sampled")[...] = system.controls.start()
            changes.append("controllers start from their initial memory")
    return variables, changes


def _history_at_start(
    system: System, old: System | None, stored: Floats, initial: Floats, frames: Mapping[int, int]
) -> tuple[Floats, bool]:
    """Return the internal variables (k,) that steps update, at the start of a run, and True if some interactions are new.

    frames: number of each frame of the old system in the new one.

    An interaction keeps its stored values if one of the same kind acted between the same frames in the old system. Otherwise it
    has the initial values `initial` (k,).
    """
    values, known = initial.copy(), dict[Any, list[Floats]]()
    if old is not None:
        for (kind, of), part in zip(
            _history_keys(old.others), _split_by_interaction(old.others, stored), strict=True
        ):
            known.setdefault((kind, tuple(frames.get(f, -1) for f in of)), []).append(part)
    new = False
    for key, part in zip(
        _history_keys(system.others), _split_by_interaction(system.others, values), strict=True
    ):
        if values_of_key := known.get(key):
            part[:] = values_of_key.pop(0)
        else:
            new = True
    return values, new


def _history_keys(table: InteractionTable) -> list[tuple[str, tuple[int, ...]]]:
    """Return kind and frames of each interaction with such internal variables."""
    use = np.flatnonzero(history_variable_counts(table))
    kinds = [INTERACTIONS[k] for k in table.kind[use]]
    return [
        (kind.name, tuple(frames[: kind.arity].tolist()))
        for kind, frames in zip(kinds, table.frames[use], strict=True)
    ]


def _split_by_interaction(table: InteractionTable, values: Floats) -> list[Floats]:
    """Split the values (k,) into views, one for each interaction."""
    count = history_variable_counts(table)
    return np.split(values, np.cumsum(count[count > 0])[:-1]) if count.any() else []


def _same_contacts(system: System, old: System | None) -> bool:
    """Return True if there are contacts between surfaces and they are the same as before."""
    if old is None or not len(system.contacts.pairs):
        return False
    return all(map(np.array_equal, system.contacts, old.contacts))


def _with_drives(built: Built, state: State) -> tuple[Built, State]:
    """Return the model with drives that continue from the coordinates of its joints, and the state with driven frames.

    Driven frames have the velocities of their motions. Raises ModelError if a driven frame is not where its motion begins.
    """
    if built.drive_values is None:
        return built, state
    layout, initial = built.layout, built.state
    built = built._replace(drive_values=built.drive_values.starting_at(state))
    size = max(extent(state.r), 1.0)
    v, Omega = state.v.copy(), state.Omega.copy()
    names = layout.drives[len(layout.drives) - len(driven_frames(built.system.frames.fixed)) :]
    for name, f in zip(names, driven_frames(built.system.frames.fixed), strict=True):
        gap = float(np.linalg.norm(state.r[f] - initial.r[f]))
        angle = 2.0 * float(np.arccos(min(abs(float(state.quat[f] @ initial.quat[f])), 1.0)))
        if gap > _MAX_VIOLATION * size or angle > 1e-6:
            raise ModelError(
                f"driven '{name}': begins {gap:.3g} m and {np.degrees(angle):.3g} degrees from where the stored state has it; "
                f"give it position = {_format_numbers(state.r[f])} and orientation = {_format_numbers(state.quat[f])}, "
                "or another motion",
            )
        state.r[f], state.quat[f] = initial.r[f], initial.quat[f]
        v[f], Omega[f] = initial.v[f], initial.Omega[f]
    assert built.drive_values is not None
    state = with_part(built.system, state._replace(v=v, Omega=Omega), "drive", built.drive_values.first())
    return built, state


def _drive_rate_jump(built: Built, state: State, stored: State) -> Floats:
    """Return the jump of the constraint rates (m,), m/s or rad/s, due to drives that begin with other rates than before."""
    if built.drive_values is None or not len(state.lam):
        return np.zeros(1)
    system, blocks = built.system, internal_variables(built.system)
    before = with_part(system, state, "drive", blocks.part(stored.internal, "drive"))
    before = before._replace(v=stored.v, Omega=stored.Omega)
    return velocity_residual(system, state) - velocity_residual(system, before)


def _fit_to_drives(built: Built, state: State, jump: Floats) -> tuple[State, list[str]]:
    """Return the state with velocities that fit drives which begin with other rates than those of the stored state.

    These are the velocities after the impact. The messages say by how much they jump.
    """
    size = max(extent(state.r), 1.0)
    speed = max(
        float(np.abs(state.v).max()), size * float(np.abs(state.Omega).max()), float(np.abs(jump).max())
    )
    if np.abs(jump).max() <= _RATE_ROUNDOFF * speed:
        return state, []
    phase = phase_of(built, state)
    of_phase = phase.state_of(state)
    fitted = fit_velocities(
        phase.built._replace(state=of_phase, prescribed_velocities=prescribe_all_velocities(built.system))
    )
    whole = phase.whole(State(*(array[None] for array in fitted.state)), state)
    return State(*(array[0] for array in whole)), [
        f"velocities jump by up to {fitted.change:.3g} m/s or rad/s, to the rates that drives begin with"
    ]


def _fixed_structure(layout: Layout) -> dict[str, Any]:
    """Return what must not change from one run to the next: rods, bodies, joints, torsion springs, drives, number of frames."""
    return {
        "rods": [(rod.name, len(rod.frames)) for rod in layout.rods],
        "bodies": [body.name for body in layout.bodies],
        "joints": [(joint.name, joint.kind) for joint in layout.joints],
        "torsion springs": layout.n_torsions,
        "drives": layout.drives,
        "frames": layout.n_frames,
    }


def _check_same_parts(old: Layout, new: Layout) -> None:
    """Raise ModelError if two layouts differ in their parts."""
    parts = _fixed_structure(new)
    for what, before in _fixed_structure(old).items():
        if before != parts[what]:
            raise ModelError(
                f"start: the result of '{old.name}' has {what} {before}, model '{new.name}' has {parts[what]}; a run continues "
                "with the same parts; only loads, gravity and parameters may change"
            )


def _frames_by_name(old: Layout, new: Layout) -> Ints:
    """Return the number in the old layout of each frame of the new one, (n,); ModelError if a part is not there."""
    frames = np.zeros(new.n_frames, np.int64)
    for what, before, now in (
        ("rod", {rod.name: rod.frames for rod in old.rods}, {rod.name: rod.frames for rod in new.rods}),
        ("body", _frames_of_bodies(old), _frames_of_bodies(new)),
        ("driven frame", _driven_frames(old), _driven_frames(new)),
    ):
        for name, numbers in now.items():
            if name not in before:
                raise ModelError(
                    f"start: the result of '{old.name}' has no {what} '{name}', which model '{new.name}' has; it has "
                    f"{', '.join(map(repr, before)) or 'none'}. Remove it, or start from a result of a model that has it"
                )
            if len(numbers) != len(before[name]):
                raise ModelError(
                    f"start: rod '{name}' of the result of '{old.name}' has {len(before[name])} nodes, that of model "
                    f"'{new.name}' has {len(numbers)}. Use the same number of elements"
                )
            frames[numbers] = before[name]
    _check_node_positions(old, new)
    return frames


def _check_node_positions(old: Layout, new: Layout) -> None:
    """Raise ModelError if the nodes of a rod are at other fractions of its length than those of the same rod before."""
    before = {rod.name: rod.arclength for rod in old.rods}
    for rod in new.rods:
        arclengths = before.get(rod.name)
        if arclengths is None or len(arclengths) != len(rod.arclength) or len(arclengths) < 3:
            continue
        fractions = [x / x[-1] for x in (arclengths, rod.arclength)]
        k = int(np.argmax(np.abs(fractions[0] - fractions[1])))
        if abs(fractions[0][k] - fractions[1][k]) > _SAME_FRACTION:
            raise ModelError(
                f"start: node {k} of rod '{rod.name}' of model '{new.name}' is at the fraction {fractions[1][k]:.6g} of its "
                f"length, in the result of '{old.name}' at {fractions[0][k]:.6g}. Use the same mesh (`nodes`, anchors, pieces)"
            )


def _frames_of_bodies(layout: Layout) -> dict[str, Ints]:
    """Return the frame of each body by name, as an array."""
    return {body.name: np.array([body.frame]) for body in layout.bodies}


def _driven_frames(layout: Layout) -> dict[str, Ints]:
    """Return the frame of each driven frame by name, as an array."""
    if layout.system is None:
        return {}
    frames = driven_frames(layout.system.frames.fixed)
    names = layout.drives[len(layout.drives) - len(frames) :]
    return {name: np.array([f]) for name, f in zip(names, frames.tolist(), strict=True)}


def _by_name(built: Built, source: StartingState) -> StartingState:
    """Return the source with frames and multipliers of the parts and joints of the model, found by their names."""
    old, new, stored = source.layout, built.layout, source.state
    frames = _frames_by_name(old, new)
    if source.moved_ground is not None and ConstraintHistory(source.moved_ground[0]).motions:
        raise ModelError(
            f"start: equilibria of '{old.name}' have moved ground points of joints, from which a run continues "
            "with the same joints alone"
        )
    lam = np.zeros(new.n_multipliers)
    before = {joint.name: joint for joint in old.joints}
    for joint in new.joints:
        known = before.get(joint.name)
        if known is not None and known.kind == joint.kind and np.ptp(known.rows) == np.ptp(joint.rows):
            lam[slice(*joint.rows)] = stored.lam[slice(*known.rows)]
    rows = {name: getattr(stored, name)[frames].copy() for name in ("r", "quat", "v", "Omega")}
    return source._replace(state=stored._replace(lam=lam, **rows), moved_ground=None)


def _fit_to_new_joints(built: Built, state: State, old: Layout) -> tuple[State, list[str]]:
    """Return the state with velocities that fit joints and drives that the old model did not have.

    These are the velocities after an impact. The messages say by how much they jump, and how the kinetic energy changes.
    """
    before = {(joint.name, joint.kind) for joint in old.joints}
    if all((joint.name, joint.kind) in before for joint in built.layout.joints):
        return state, []
    phase = phase_of(built, state)
    of_phase = phase.state_of(state)
    prescribed = prescribe_all_velocities(built.system)
    fitted = fit_velocities(
        phase.built._replace(state=of_phase, prescribed_velocities=prescribed), warn=False
    )
    if fitted.state is of_phase:
        return state, []
    work = energies(phase.built.system, fitted.state).kinetic - energies(phase.built.system, of_phase).kinetic
    return state._replace(v=fitted.state.v, Omega=fitted.state.Omega), [
        f"velocities jump by up to {fitted.change:.3g} m/s or rad/s to fit joints and drives that are new; the kinetic energy "
        f"changes by {work:.6g} J"
    ]


def _move_ground(built: Built, source: StartingState) -> list[str]:
    """Move the ground points of joints to where equilibria moved them; return the names of these joints."""
    if source.moved_ground is None:
        return []
    old, index = source.moved_ground
    _check_same_parts(old, built.layout)
    standing = ConstraintHistory(old)
    moved = list(dict.fromkeys([*standing.moved_at_start, *standing.motions]))
    for name in moved:
        standing.move(index, name, built.system.constraints, built.layout)
    if moved:
        built.layout.description["fingerprint"] = fingerprint(built.system)
    return moved


def _check_joints(built: Built, state: State, had: Container[str]) -> None:
    """Raise ModelError if a constraint is violated at the stored state; had: joints of the model of that state."""
    constraints = built.system.constraints
    g = np.abs(constraint_residual(built.system, state))
    if not len(g) or g.max() <= _MAX_VIOLATION * max(extent(state.r), 1.0):
        return
    worst, interaction_name = most_violated(built.system, g, built.interaction_names)
    layout = built.layout
    if interaction_name:
        raise ModelError(
            f"{interaction_name}: |g| = {g.max():.3g} at the stored state; leave it as it was in the model of that result"
        )
    joint = joint_of_rows(layout.joints, int(constraints.joint[worst]))
    if joint is None:
        raise ModelError(
            f"a rod that does not stretch: |g| = {g.max():.3g} at the stored state; leave its elements as they were in the model "
            "of that result"
        )
    if joint.name not in had:
        raise ModelError(
            f"{joint.kind} joint '{joint.name}': |g| = {g.max():.3g} at the stored state, which its points or axes do not fit; "
            "give the parts their positions at that time in the model",
            about=[PartName("joint", joint.name)],
        )
    links = [
        Link(layout_of_joint.name, *(part_at(layout, frame).name for frame in layout_of_joint.frames or ()))
        for layout_of_joint in layout.joints
        if layout_of_joint.kind in JOINTS
    ]
    loop = loop_closed_by(links, joint.name)
    of_axes = bool(constraints.kind[worst] == PERPENDICULAR)
    gap = (
        f"its axes are {np.degrees(np.arcsin(min(g.max(), 1.0))):.3g} degrees apart"
        if of_axes
        else f"|g| = {g.max():.3g}"
    )
    raise ModelError(
        f"{joint.kind} joint '{joint.name}': {gap} at the stored state{f', {loop} does not close' if loop else ''}; it is "
        "where it was not in the model of that result, leave its place and its axes as they were",
        about=[PartName("joint", joint.name)],
    )


def _check_turns(built: Built, state: State) -> None:
    """Raise ModelError if the axes that a joint aligns are too far apart to be closed by an equilibrium."""
    constraints = built.system.constraints
    for number, joint in enumerate(built.layout.joints):
        tied = int(np.sum((constraints.joint == number) & (constraints.kind == PERPENDICULAR)))
        if joint.kind not in JOINTS or joint.frames is None or tied < 2:
            continue
        a, b = (
            quaternions.to_matrix(state.quat[f]) @ E for f, E in zip(joint.frames, joint.axes, strict=True)
        )
        cosine = 0.5 * (np.trace(a.T @ b) - 1.0) if tied > 2 else a[:, 2] @ b[:, 2]
        apart = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
        if apart > _MAX_AXIS_ANGLE:
            raise ModelError(
                f"{joint.kind} joint '{joint.name}': its axes are {np.degrees(apart):.3g} degrees apart at the stored state, too "
                "far to close in one step; compute equilibria in between, or move it by `motions`",
                about=[PartName("joint", joint.name)],
            )


def _changes(old: Layout, new: Layout) -> list[str]:
    """Describe what has changed between two models, part by part, in words."""
    changes: list[str] = []
    described_tables: set[str] = set()  # tables of `System` whose changes are described already
    for what, before, after in (
        ("body", old.bodies, new.bodies),
        ("rod", old.rods, new.rods),
        ("joint", old.joints, new.joints),
    ):
        names = (
            [x.name for x in things if getattr(x, "kind", "") not in ("drive", GEAR)]
            for things in (before, after)
        )
        had, has = names
        changes += [f"{what} '{name}' is new" for name in has if name not in had]
        changes += [f"{what} '{name}' is gone" for name in had if name not in has]
    a, b = old.description, new.description
    if a.get("gravity") != b.get("gravity"):
        changes.append(f"gravity {a.get('gravity')} -> {b.get('gravity')}")
    for key, section in ACTING.items():
        before, after, what = a.get(key, {}), b.get(key, {}), section.word
        many = len(changes)
        changes += [f"{what} '{name}' is new" for name in after if name not in before]
        changes += [f"{what} '{name}' is gone" for name in before if name not in after]
        both = [name for name in after if name in before and before[name] != after[name]]
        for name in both:
            if not isinstance(after[name], dict):
                changes.append(f"{what} '{name}': {before[name]} -> {after[name]}")
                continue
            # older files do not have all entries
            keys = [key for key, current in after[name].items() if before[name].get(key, current) != current]
            changes += [
                f"{what} '{name}': other points or pulleys"
                if key == PATH
                else f"{what} '{name}': {key} {before[name].get(key)} -> {after[name][key]}"
                for key in keys
                if key != "first_interaction"
            ]
        if len(changes) > many:
            described_tables.add(section.table)
    if old.system is not None and new.system is not None:
        if (
            _fixed_structure(old)["bodies"] == _fixed_structure(new)["bodies"]
            and old.n_frames == new.n_frames
        ):
            changes += _changed_parts(new, old.system, new.system)
        changes += _changed_numbers(old.system, new.system, described_tables)
    return changes


# table of the entries that make interactions of a kind, by the name of the kind
_TABLES = {
    kind.name: table
    for acting, table in (
        (SPRING, "springs"),
        (TORSION_SPRING, "torsions"),
        *((load, "loads") for load in LOADS),
    )
    for kind in (acting, *(acting.parallel_damper or ())[:1])
}


def _numbers_of(part: InteractionGroup) -> Floats:
    """Return the parameters of a group, without the damping of a parallel damper, which is a group of its own."""
    numbers, of_damper = part.group.numbers, part.group.kind.parallel_damper
    return np.delete(numbers, of_damper[1], axis=1) if of_damper else numbers


def _changed_numbers(a: System, b: System, described_tables: set[str]) -> list[str]:
    """Describe kinds of interactions whose parameters have changed, unless changes of their table are described already."""
    before = {(entry.table, entry.group.kind.name): _numbers_of(entry) for entry in groups_of(a)}
    changes = []
    for entry in groups_of(b):
        numbers = before.get((entry.table, entry.group.kind.name))
        table, now = _TABLES.get(entry.group.kind.name, entry.table), _numbers_of(entry)
        if table in described_tables | {"elements", "spans", "constraints"} or numbers is None:
            continue
        if numbers.shape == now.shape and not np.array_equal(numbers, now):
            changes.append(f"{entry.group.kind.name}: other numbers")
    return changes


def _changed_parts(layout: Layout, a: System, b: System) -> list[str]:
    """Describe changed masses and inertias of bodies, and changed masses, stiffnesses and shapes of rods."""
    changes = []
    for body in layout.bodies:
        k = body.frame
        for what in ("mass", "inertia"):
            x, y = getattr(a.frames, what)[k], getattr(b.frames, what)[k]
            if not np.array_equal(x, y):
                changes.append(f"body '{body.name}': {what} {_format_numbers(x)} -> {_format_numbers(y)}")
    for rod in layout.rods:
        if not np.array_equal(a.frames.mass[rod.frames], b.frames.mass[rod.frames]):
            total = [float(system.frames.mass[rod.frames].sum()) for system in (a, b)]
            changes.append(f"rod '{rod.name}': mass {total[0]:.6g} -> {total[1]:.6g} kg")
        for what in ("stiffness", "damping", "strain0"):
            arrays = [np.concatenate([getattr(x.elements, what), getattr(x.spans, what)]) for x in (a, b)]
            if len(arrays[0]) == len(arrays[1]) and not np.array_equal(
                arrays[0][rod.elements], arrays[1][rod.elements]
            ):
                name = {"strain0": "stress-free shape"}.get(what, what)
                changes.append(f"rod '{rod.name}': other {name}")
    return changes


def _format_numbers(x: Floats) -> str:
    """Format a number or an array for a message."""
    return f"{float(x):.6g}" if np.ndim(x) == 0 else str(np.asarray(x).tolist())
