"""Compute equilibria of a model under growing loads: `equilibrium`. The load factor is the time of the result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, overload

import numpy as np
from numpy.typing import ArrayLike

from discretization.contact.table import refuse_contacts
from discretization.memoization import copied
from discretization.state_measures import element_states
from discretization.statics.contact_statics import (
    ContactEquilibriumSystem,
    DeepestPenetration,
    equilibrium_system_of,
)
from discretization.statics.dynamic_relaxation import MAX_STEPS, relax_with_friction
from discretization.statics.equilibrium_newton import NOT_CONVERGED, NewtonOutcome
from discretization.statics.equilibrium_system import FAILURE_REASONS, EquilibriumSystem, SavedEquilibrium
from discretization.statics.forces import FOLDED, SOLVED
from discretization.statics.load_steps import PathPoint, find_equilibrium, follow_load_steps
from discretization.statics.loading import Loading
from discretization.system import System
from rigid import checks
from rigid.compilation.compile_notices import announce
from rigid.errors import ConvergenceError, ModelError
from rigid.joints import JOINTS
from rigid.system import State
from rodsim._compat import accept_old_arguments
from rodsim.building.build import Built
from rodsim.building.contact_checks import warn_of_friction_at_rest
from rodsim.building.controls import refuse_controllers
from rodsim.building.equilibrium_checks import check_determined, check_supported
from rodsim.building.phases import refuse_released
from rodsim.building.restart import apply_start
from rodsim.building.rotation_limits import describe_largest_rotation
from rodsim.building.starting_states import StartLike, check_start_time
from rodsim.components.model_argument import model_argument_error
from rodsim.components.model_parts import Anchor, Ground, part_of
from rodsim.components.parameter_changes import GRAVITY
from rodsim.equilibrium_methods import ArcLength, MethodName, Newton, method_of
from rodsim.model import Model
from rodsim.provenance import provenance
from rodsim.results.contact_gaps import CONTACTS, PAIRS
from rodsim.running.plan import check_output
from rodsim.small_motions.linear_equations import frame_names
from rodsim.small_motions.zero_energy_motions import describe_free_motions
from rodsim.statics.equilibrium_results import Equilibrium, ProgressLine, Record
from rodsim.statics.equilibrium_stability import (
    Unstable,
    leave_unstable_equilibrium,
    record_stability,
    refuse_unstable,
)
from rodsim.statics.linear_equilibria import LinearEquilibrium, linear_equilibrium
from rodsim.statics.load_factors import check_factors, loading_of, stations
from rodsim.statics.path_following import FIRST_ARC, follow, path_settings

UNSTABLE = ("keep", "stop", "leave")
MAX_RELAXATIONS = 20  # largest number of relaxations on a path of moved ground points
FROM_DRAWN_SHAPE = 8000  # largest number of steps of a relaxation that begins in a crumpled shape
CREEP = 0.02  # load factor by which one such relaxation advances
_DEEP = 0.5  # depth of a contact relative to the sum of the radii: surfaces would go through each other
SHORTER = 8  # attempts, each a quarter of the last: near a limit point round-off decides which succeeds


@overload
def equilibrium(
    model: Model,
    loads: Mapping[str, ArrayLike] | None = None,
    *,
    load_time: float = 0.0,
    motions: Mapping[str, Mapping[str, Any]] | None = None,
    linear: Literal[True],
    load_factors: Mapping[str, float] | None = None,
) -> LinearEquilibrium: ...


@overload
def equilibrium(
    model: Model,
    loads: Mapping[str, ArrayLike] | None = None,
    *,
    constant: Sequence[str] = (),
    load_time: float = 0.0,
    motions: Mapping[str, Mapping[str, Any]] | None = None,
    linear: Literal[False] = False,
    load_factors: Mapping[str, float] | None = None,
    method: MethodName | Newton | ArcLength = "newton",
    start: StartLike | None = None,
    start_time: float | None = None,
    output: str | Path | None = None,
    overwrite: bool = False,
    monitors: Mapping[str, tuple[Anchor | str, ArrayLike]] | None = None,
    unstable: str = "keep",
    progress: bool | None = None,
) -> Equilibrium: ...


@accept_old_arguments
def equilibrium(
    model: Model,
    loads: Mapping[str, ArrayLike] | None = None,
    *,
    constant: Sequence[str] = (),
    load_time: float = 0.0,
    motions: Mapping[str, Mapping[str, Any]] | None = None,
    linear: bool = False,
    load_factors: Mapping[str, float] | None = None,
    method: MethodName | Newton | ArcLength = "newton",
    start: StartLike | None = None,
    start_time: float | None = None,
    output: str | Path | None = None,
    overwrite: bool = False,
    monitors: Mapping[str, tuple[Anchor | str, ArrayLike]] | None = None,
    unstable: str = "keep",
    progress: bool | None = None,
) -> Equilibrium | LinearEquilibrium:
    """Find the equilibrium of a model under its loads and weights, by load steps from its initial shape.

    Loads and gravity are multiplied by a load factor that grows from 0 to 1, in steps as long as Newton's method allows.
    The result holds the equilibrium of every step: its `t` is the load factor, and its last state is the equilibrium sought.
    Friction of contacts with planes acts, except with "arc-length": what touches in the initial shape sticks there, and slides
    from one equilibrium to the next where friction reaches its limit. Other friction is omitted, with a warning.

    Parameters
    ----------
    model : Model
        The model; joints and stiffness hold every part.
    loads : mapping of str to array_like (3,), optional
        Name of a load of the model -> its value at load factor 1, N or N m. Loads that are not named have their value at
        `load_time`.
    constant : sequence of str, default ()
        Names of loads, of entries whose numbers vary in time, or "gravity", that act in full from the beginning.
    load_time : float, default 0.0
        Time at which the loads are evaluated, s.
    motions : mapping of str to mapping, optional
        Name of a joint to the ground -> ``{"displacement": (3,), "rotation": (3,), "about": (3,)}``: displacement of its
        ground side at load factor 1 (m; rotation vector, rad, of several turns if need be; centre of the rotation, m, by
        default the position of the joint). Missing entries are zero. Displacement and rotation may be callables of the load
        factor instead.
    linear : bool, default False
        True: first-order theory. Displacements are linear in the loads, and equilibrium holds in the shape at the start; one
        system of equations is solved. Only `loads`, `load_time`, `motions` and `load_factors` apply then.
    load_factors : mapping of str to float, optional
        Name of a load (at a point, along a rod, of a joint, moving), or "gravity" -> factor. Loads that are not named do not act.
        Default: all loads act in full.
    method : {"newton", "arc-length"}, Newton or ArcLength, default "newton"
        "newton": load factors from 0 to 1. "arc-length": the path of equilibria from factor 0 on, through limit and turning
        points. `Newton` and `ArcLength` have further settings: load factors, where a path ends, which branch it takes.
    start : Result, Equilibrium, State, SteadyRotation, str or Path, optional
        Initial state: the last state of another result of the same parts (or of the file at this path), or a State. The
        unbalanced part of its loads, weights and stresses is applied with the load factor, and gaps of joints whose
        positions have changed close with it: 0 is the stored state, 1 the new equilibrium. A joint that the other result
        had moved stays there; `motions` move it on from there or, as a callable that begins at that position, along a path
        from its position in the model.
    start_time : float, optional
        Time of a stored state of the result `start`, s; the nearest output is used. Default: the last.
    output : str or Path, optional
        Result file to write (`.vtkhdf`). Default: keep the result in memory.
    overwrite : bool, default False
        Whether to replace a file that exists.

    Returns
    -------
    Equilibrium or LinearEquilibrium
        The equilibria as a result, in the file or in memory; with ``linear=True`` a `LinearEquilibrium`.

    Other Parameters
    ----------------
    monitors : mapping of str to tuple, optional
        Name -> (point of a part or its name, world direction (3,)): its displacement in that direction is recorded, m; with
        "arc-length" its turning points are found.
    unstable : {"keep", "stop", "leave"}, default "keep"
        What to do with an unstable equilibrium. "keep": keep it, record it in ``statics["unstable"]``, and warn. "stop": end
        before the first one with a ConvergenceError. "leave": if the last one is unstable, continue to a stable one under
        the same loads, by a small push and a damped motion; ``statics["left"]`` is the number of its steps.
    progress : bool, optional
        Whether to show the load factor reached on stderr. Default: if that is a terminal.

    Raises
    ------
    ModelError
        If the model or an argument is invalid. The message names a part that nothing holds.
    ConvergenceError
        If no further equilibrium is found. Its `t` is the load factor reached; `result` and the file hold the equilibria up
        to there. Without any equilibrium there is no file.
    FileExistsError
        If the file exists and `overwrite` is False.

    Warns
    -----
    UnstableEquilibriumWarning
        If the last equilibrium is unstable; ``statics["unstable"]`` has the number of negative pivots of its stiffness, and
        the load factor from which on equilibria are unstable. Not with "arc-length", which records events instead, nor
        under follower loads.
    RoundedForcesWarning
        If more than 1e-6 of the loads is left unbalanced; ``statics["unbalanced"]`` is that fraction.

    See Also
    --------
    load_cases : Equilibria under load cases and combinations.
    buckling : Load factors at which an equilibrium becomes unstable.
    simulate : ``start=`` begins a motion with an equilibrium.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, equilibrium
    >>> model = Model("cantilever", gravity=(0, 0, -9.81))
    >>> section = Section.circular(0.01, Material(E=2e9, nu=0.3, density=1000))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 8)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> bent = equilibrium(model)
    >>> tip = bent.rod("rod").r[-1, -1]  # m
    """
    if not isinstance(model, Model):
        raise model_argument_error("equilibrium", model)
    checks.by_name("equilibrium", "loads", loads, "{name of a load: (3,)}")
    checks.by_name("equilibrium", "motions", motions, "{name of a joint: {'displacement': (3,)}}")
    checks.by_name("equilibrium", "monitors", monitors, "{name: (point, direction)}")
    if not isinstance(constant, Collection):
        raise ModelError(
            f"equilibrium: constant = {checks.shown(constant)} is not a list; give names of loads"
        )
    if checks.flag("equilibrium", "linear", linear):
        given = {"constant": constant, "start": start, "output": output, "monitors": monitors}
        _refuse_with_linear(
            {name: value for name, value in given.items() if value not in (None, ())}, method, unstable
        )
        announce()
        built = model.build()
        refuse_released("equilibrium", built)
        refuse_controllers("equilibrium", built)
        _refuse_contact(built, "equilibrium, linear=True,", "take linear=False")
        factors = check_factors("equilibrium", built, load_factors)
        return linear_equilibrium(model, built, loads, load_time, motions, factors)
    path_method = method_of(method)
    first_step = checks.number("equilibrium", "first_step", path_method.first_step, positive=True)
    followed = isinstance(path_method, ArcLength)
    checked = path_settings(
        model, monitors, path_method if isinstance(path_method, ArcLength) else ArcLength()
    )
    ends = stations(path_method.factors) if isinstance(path_method, Newton) else ()
    relaxation = isinstance(path_method, Newton) and path_method.relaxation
    if unstable not in UNSTABLE:
        raise ModelError(
            f"equilibrium: unstable = {checks.shown(unstable)} is not known; choose {', '.join(UNSTABLE)}"
        )
    if output is not None:
        check_output(Path(output), False, overwrite)
    line = ProgressLine(progress)
    announce()
    built = model.build()
    refuse_released("equilibrium", built)
    refuse_controllers("equilibrium", built)
    if followed:
        _refuse_contact(built)
    built.layout.description["provenance"] = provenance(model.scene)
    check_determined(built)
    check_supported(built)
    warn_of_friction_at_rest(model, planes=followed)
    check_start_time("equilibrium", start, start_time)
    state, unmoved = built.state, copied(built.system.constraints)
    if start is not None:
        built, state, origin = apply_start(built, start, start_time, at_rest=True, owner="equilibrium")
        built.layout.description["start"] = origin
        constant = [*model.loads, GRAVITY]
    factors = check_factors("equilibrium", built, load_factors)
    loading = loading_of(model, built, loads, constant, load_time, motions, unmoved, factors)
    if followed and start is None:
        _check_growing_loads(built, loading)
    statics = equilibrium_system_of(built.system, state, loading, idle=built.idle, friction=not followed)
    statics.max_rotation = _max_rotation(model)
    if start is not None:
        statics.hold_by_fading_forces()
    settings = {
        "method": "arc-length" if followed else "newton",
        "at": float(load_time),
        "constant": list(constant),
    }
    record = Record(built, loading, settings, checked.monitors, line)
    if unstable == "stop":
        record.check = lambda statics: refuse_unstable(built, statics)

    def reached(point: PathPoint) -> None:
        record.add(point.factor, statics, point.iterations)

    drawn = statics.save()
    try:
        failure: NewtonOutcome | None = NewtonOutcome(NOT_CONVERGED, 0, 0.0)
        crumpled = relaxation and start is None and _is_crumpled(built.system, state)
        if not crumpled:
            failure = find_equilibrium(statics)
        if failure is None:
            record.add(0.0, statics, 0)
        if followed:
            failure = failure or follow(statics, record, checked, min(first_step, FIRST_ARC))
        else:
            for end in ends:
                if failure is None:
                    failure = follow_load_steps(statics, statics.factor, end, first_step, reached).failure
                if failure is not None and relaxation:
                    failure = _continue_by_relaxation(statics, record, failure, end, reached)
                    if failure is not None and crumpled and not record.states:
                        failure = _relax_from_drawn_shape(statics, record, failure, end, drawn)
                if failure is not None:
                    break
    except Unstable as stop:
        raise_stopped(built, stop, record, output)
    if failure is not None:
        raise_not_converged(built, statics, failure, record, output)
    if unstable == "leave":
        leave_unstable_equilibrium(built, statics, record)
    line.close()
    record_stability(built, statics, record, warn=not followed)
    return record.write(output)


def _refuse_with_linear(given: Mapping[str, Any], method: Any, unstable: str) -> None:
    """Raise ModelError if an argument is given that first-order theory does not have."""
    names = [
        *given,
        *(["method"] if method != "newton" else []),
        *(["unstable"] if unstable != "keep" else []),
    ]
    if names:
        raise ModelError(
            f"equilibrium: linear=True solves one system of equations and has no {names[0]}; remove it, or take linear=False"
        )


def _refuse_contact(
    built: Built,
    owner: str = "equilibrium, method 'arc-length',",
    cure: str = "take method='newton'",
) -> None:
    """Raise ModelError if the model has contacts, which an analysis does not support."""
    refuse_contacts(built.system.contacts, owner, cure)


def _check_growing_loads(built: Built, loading: Loading) -> None:
    """Raise ModelError if nothing depends on the load factor, so that there is no path: pressures act in full from 0 on."""
    heavy = built.system.frames.mass[built.system.frames.fixed == 0].any()
    if loading.moves or loading.varying_values.any() or (heavy and loading.varying_gravity.any()):
        return
    raise ModelError(
        f"model '{built.layout.name}': method 'arc-length' has nothing to grow: no load, weight or motion depends on the load "
        "factor, and a pressure acts in full from load factor 0 on. Add a load, or take method='newton', whose pressures may "
        "be changed from call to call with `start`"
    )


def _max_rotation(model: Model) -> float:
    """Return the largest rotation of a part between two equilibria for which the angles of joints are known, rad.

    One side of a joint must rotate by less than half a turn relative to the other.
    """
    rotational_joints = [
        joint for joint in model.joints.values() if {"angle", "angles"} & set(JOINTS[joint.kind].coordinates)
    ]
    if not rotational_joints:
        return np.inf
    grounded = all(
        any(isinstance(part_of(side), Ground) for side in (joint.a, joint.b)) for joint in rotational_joints
    )
    return 3.0 if grounded else 1.5


def _continue_by_relaxation(
    statics: EquilibriumSystem,
    record: Record,
    failure: NewtonOutcome,
    end: float,
    reached: Callable[[PathPoint], None],
) -> NewtonOutcome | None:
    """Continue to load factor `end` by relaxation if load steps fail; return None, or the failure."""
    remaining_failure = _relax(statics, record, failure, end)
    return (
        _relax_in_parts(statics, record, remaining_failure, end, reached)
        if remaining_failure is not None and statics.loading.moves
        else remaining_failure
    )


def _is_crumpled(system: System, state: State) -> bool:
    """Return True if an element of a rod is compressed beyond its own buckling load, pi^2 EI/h^2.

    Load steps would follow the compressed line, as of a line drawn shorter than it is, though each element would fold.
    """
    if not system.rods.n_points:
        return False
    points = system.rods.points
    stiffness = np.minimum(points.stiffness[:, 4, 4], points.stiffness[:, 5, 5])
    thrust = -element_states(system, state)[1][:, 0]
    return bool(np.any((thrust * points.weight**2 > np.pi**2 * stiffness) & (stiffness > 0.0)))


def _relax_from_drawn_shape(
    statics: EquilibriumSystem, record: Record, failure: NewtonOutcome, end: float, drawn: SavedEquilibrium
) -> NewtonOutcome | None:
    """Go from the initial shape to an equilibrium at load factor `end` by relaxation, twice: the second never climbs."""
    for every_way in (False, True):
        statics.restore_saved(drawn)
        if _relax(statics, record, failure, end, FROM_DRAWN_SHAPE, every_way) is None:
            return None
    return failure


def _relax(
    statics: EquilibriumSystem,
    record: Record,
    failure: NewtonOutcome,
    end: float,
    max_steps: int = MAX_STEPS,
    every_way: bool = False,
) -> NewtonOutcome | None:
    """Go from the last equilibrium to one at load factor `end` by relaxation; return None, or the failure."""
    saved = statics.save()
    statics.load_at(end)
    relaxed = relax_with_friction(statics, max_steps, every_way)
    if relaxed.status != SOLVED:
        statics.restore_saved(saved)
        return failure
    _add_relaxed(statics, record, saved[1], relaxed.iterations)
    return None


def _add_relaxed(statics: EquilibriumSystem, record: Record, factor: float, steps: int) -> None:
    """Add an equilibrium that relaxation reached from a load factor, and record that factor and the number of steps."""
    used = record.settings.setdefault("relaxation", {"from": float(factor), "steps": 0})
    used["steps"] += steps
    record.add(statics.factor, statics, steps)


def _relax_in_parts(
    statics: EquilibriumSystem,
    record: Record,
    failure: NewtonOutcome,
    end: float,
    reached: Callable[[PathPoint], None],
) -> NewtonOutcome | None:
    """Continue to load factor `end` by relaxations over small parts of the way, each followed by load steps.

    This is used for moved ground points, with which a relaxation cannot go the whole way. Returns None, or the failure.
    """
    for _ in range(MAX_RELAXATIONS):
        saved = statics.save()
        part = min(CREEP, 0.25 * statics.loading.longest_step(statics.length), end - saved[1])
        for _ in range(SHORTER):
            statics.load_at(saved[1] + part)
            relaxed = relax_with_friction(statics)
            if relaxed.status == SOLVED:
                break
            statics.restore_saved(saved)
            part *= 0.25
        else:
            return failure
        _add_relaxed(statics, record, saved[1], relaxed.iterations)
        if statics.factor >= end:
            return None
        outcome = follow_load_steps(statics, statics.factor, end, 1.0, reached).failure
        if outcome is None:
            return None
        failure = outcome
    return failure


def raise_stopped(built: Built, stop: Unstable, record: Record, output: str | Path | None) -> NoReturn:
    """Raise a ConvergenceError that says at which unstable equilibrium the path was ended."""
    message = (
        f"model '{built.layout.name}': the equilibrium at load factor {stop.factor:.6g} is unstable: {stop.motions}; "
        "unstable='leave' continues to a stable one, unstable='keep' keeps it"
    )
    _raise(record, output, stop.factor, message)


def raise_not_converged(
    built: Built,
    statics: EquilibriumSystem,
    failure: NewtonOutcome,
    record: Record,
    output: str | Path | None,
) -> NoReturn:
    """Raise a ConvergenceError that says how far the load steps came, which motions nothing resists there, and what to do.

    Errors while this is determined do not replace the ConvergenceError.
    """
    reason = FAILURE_REASONS.get(failure.status, "Newton's iteration did not converge")
    message = (
        f"model '{built.layout.name}': no equilibrium found beyond load factor {statics.factor:.6g}: {reason}"
    )
    rotations = _text_or_empty(
        lambda: describe_largest_rotation(built, statics.state, failure.status == FOLDED)
    )
    cure = _text_or_empty(lambda: describe_free_motions(built, statics)) or _text_or_empty(
        lambda: _describe_penetration(built, statics)
    )
    cure = cure or "at a limit of the load there is no equilibrium nearby"
    message = "; ".join(part for part in (message, rotations, cure) if part)
    _raise(record, output, statics.factor, message, failure.iterations, failure.level)


def _describe_penetration(built: Built, statics: EquilibriumSystem) -> str:
    """Return a message with the deepest pair of rods or capsules, its depth and the cure; "" if no pair is that deep."""
    deepest = statics.deepest() if isinstance(statics, ContactEquilibriumSystem) else None
    if deepest is None or deepest.apart > (1.0 - _DEEP) * deepest.reach:
        return ""
    name = frame_names(built.layout)
    one, other = (name(frame) for frame in deepest.frames)
    return (
        f"contact '{_contact_of(built, deepest)}': {one}, and {other} are {deepest.reach - deepest.apart:.3g} m deep in each "
        f"other there, whose axes are {deepest.reach:.3g} m apart where they touch, and would go through each other; give the "
        "contact a larger "
        "`stiffness`, or smaller loads"
    )


def _contact_of(built: Built, deepest: DeepestPenetration) -> str:
    """Return the name of the contact of a pair; pairs are numbered contact by contact."""
    before = 0
    for name, entry in built.layout.description[CONTACTS].items():
        before += int(entry[PAIRS])
        if deepest.pair < before:
            return str(name)
    raise IndexError(deepest.pair)


def _text_or_empty(find: Callable[[], str]) -> str:
    """Return the words that `find` returns, or "" if it fails: the state may be arbitrary."""
    try:
        return find() or ""
    except Exception:
        return ""


def _raise(
    record: Record,
    output: str | Path | None,
    factor: float,
    message: str,
    iterations: int = 0,
    residual: float = 0.0,
) -> NoReturn:
    """Raise a ConvergenceError with the equilibria found so far, in the file, or in memory if it cannot be written."""
    error = ConvergenceError(t=factor, h=0.0, iterations=iterations, residual=residual, message=message)
    try:
        error.result = record.write(output)
    except OSError as failed:
        error.message = f"{error.message}; the result could not be written: {failed}"
        error.args = (error.message,)
        error.result = record.write(None)
    raise error
