"""Accept the names that the public interface had before 1.0, with a `DeprecationWarning`.

`OLD_NAMES` lists every old name. Functions and methods whose arguments were renamed are decorated with `accept_old_arguments`,
classes whose methods were renamed with `accept_old_methods`; the modules `rodsim` and `rodsim.signals` call `old_attribute`, and
`rodsim.scenes.deprecated_keys` and `new_command_line` read scenes and command lines. All of it will be removed in 1.0.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

from rigid.errors import ModelError
from rigid.user_warnings import warn_user

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type[Any])


class OldName(NamedTuple):
    """A name that has been replaced.

    Attributes
    ----------
    where : str
        Function ("simulate", "Model.add_force"), class ("Model"), module ("rodsim"), "scene" or "command line" that had it.
    old : str
        Argument, method, attribute, key or option.
    new : str
        The new name; for attributes of a module "module.name".
    convert : callable or None
        Converts the value of the old argument to that of the new one.
    merge : callable or None
        Used if the old argument is a part of the new one: returns the new value from the old value and the value of the new
        argument (None if not given). Both may then be given.
    owner : str
        Used if the old argument is a part of the new one: the class that has it as a field.
    """

    where: str
    old: str
    new: str
    convert: Callable[[Any], Any] | None = None
    merge: Callable[[Any, Any], Any] | None = None
    owner: str = ""


def _as_part_of_friction(field: str) -> Callable[[Any, Any], Any]:
    """Return a function that merges an old argument of `Model.add_contact` into its friction."""

    def merge(value: Any, friction: Any) -> Any:
        from rodsim.components.friction import merged_friction

        return merged_friction(field, value, friction)

    return merge


def _as_part_of_steps(field: str) -> Callable[[Any, Any], Any]:
    """Return a function that merges an old argument of `simulate` into its steps `dt`."""

    def merge(value: Any, dt: Any) -> Any:
        from rodsim.adaptive_steps import merged_adaptive

        return merged_adaptive(field, value, dt)

    return merge


def _as_part_of_method(field: str) -> Callable[[Any, Any], Any]:
    """Return a function that merges an old argument of `equilibrium` into its method."""

    def merge(value: Any, method: Any) -> Any:
        from rodsim.equilibrium_methods import merged_method

        return merged_method(field, value, method)

    return merge


# module -> names that moved there from `rodsim`
_MOVED = {
    "rodsim.linear": "frequency_response mode_shapes state_space",
    "rodsim.mechanics": (
        "MechanicalSystem Start Symmetry Trajectory integrate multibody_system rotating_body symbolic_system"
    ),
    "rodsim.scenes": "read_scene",
    "rodsim.studies": "cheapest_scheme converge sweep",
    "rodsim.warnings": (
        "DamagedFileWarning InitialVelocityWarning RedundantJointsWarning RoundedForcesWarning "
        "StepWarning UnstableEquilibriumWarning"
    ),
}

# old name -> new name of objects that were also in `rodsim`, and later in the module of the new name
_RENAMED = {
    "Push": "rodsim.linear.ForceInput",
    "Probe": "rodsim.linear.MotionOutput",
    "Reaction": "rodsim.linear.JointForceOutput",
    "Part": "rodsim.mechanics.PotentialTerm",
    "system_of": "rodsim.mechanics.system_from_object",
    "DoubtfulModelWarning": "rodsim.warnings.ModelCheckWarning",
}


def _solver_of_shortcut(shortcut: Any) -> Any:
    """Convert the old argument `shortcut` of `simulate` to `solver`."""
    return (
        {True: "auto", False: "general"}.get(shortcut, shortcut) if isinstance(shortcut, bool) else shortcut
    )


def _events_of_until(until: Any) -> Any:
    """Convert the old argument `until` of `simulate` to `events`."""
    return None if until is None else [until]


def _events_of_scene(until: Any) -> Any:
    """Convert the old key `until` of `run`, {touch: [...]} or {nearer: [a, b], than: distance}, to `events`."""
    if not isinstance(until, Mapping):
        return [] if until is None else [until]
    words = {"touch": "contact_begins", "nearer": "distance_below", "than": "distance"}
    return [{words.get(key, key): value for key, value in until.items()}]


OLD_NAMES: list[OldName] = [
    OldName("rodsim", "Law", "rodsim.SpringLaw"),
    OldName("Model", "add_torsion_spring", "add_spring"),
    OldName("Model", "add_law_spring", "add_spring"),
    *(
        OldName("rodsim", name, f"{place}.{name}")
        for place, names in _MOVED.items()
        for name in names.split()
    ),
    *(
        OldName(place, old, new)
        for old, new in _RENAMED.items()
        for place in ("rodsim", new.rpartition(".")[0])
    ),
    OldName("Model", "rigidified", "as_rigid"),
    OldName("Result", "changed", "find_damage"),
    OldName("Result", "held", "keep_open"),
    OldName("Result", "drawn", "picture_array"),
    OldName("Audit", "promises", "invariants"),
    OldName("Audit", "retaken", "step_recomputation"),
    OldName("Audit", "of_scheme", "chart_based"),
    OldName("Audit", "of_velocities", "velocity_based"),
    OldName("Audit", "in_file", "from_file"),
    OldName("ContactHistory", "first_touch", "first_contact"),
    OldName("SchemeChoice", "found", "refinements"),
    OldName("SchemeChoice", "refused", "rejected"),
    OldName("StepHistory", "asked", "requested_error"),
    OldName("Modes", "most", "largest_part"),
    OldName("rodsim", "first_touch", "rodsim.ContactBegins"),
    OldName("rodsim", "nearer", "rodsim.DistanceBelow"),
    OldName("DistanceBelow.__init__", "than", "distance"),
    OldName("simulate", "until", "events", _events_of_until),
    OldName("scene", "run.until", "run.events", _events_of_scene),
    OldName("Result", "open", "load"),
    OldName("simulate", "shortcut", "solver", _solver_of_shortcut),
    OldName("scene", "run.shortcut", "run.solver", _solver_of_shortcut),
    OldName("simulate", "at", "start_time"),
    OldName("equilibrium", "at", "load_time"),
    OldName("equilibrium", "start_at", "start_time"),
    OldName("buckling", "t", "load_time"),
    OldName("linearise", "state", "start"),
    OldName("linearise", "t", "load_time"),
    OldName("modes", "state", "start"),
    OldName("modes", "t", "load_time"),
    OldName("steady_rotation", "state", "start"),
    OldName("state_space", "state", "start"),
    OldName("state_space", "t", "load_time"),
    OldName("frequency_response", "state", "start"),
    OldName("frequency_response", "t", "load_time"),
    OldName("integrate", "h", "dt"),
    OldName("ForceInput.__init__", "anchor", "on"),
    OldName("MotionOutput.__init__", "anchor", "on"),
    OldName("Model", "add_external_damping", "add_mass_damping"),
    OldName("Model", "add_joint_friction", "add_joint_damping"),
    OldName("Model.add_force", "anchor", "on"),
    OldName("Model.add_moment", "anchor", "on"),
    OldName("Model.add_distributed_load", "rod", "on"),
    OldName("Model.add_pressure", "rod", "on"),
    OldName("Model.add_mass_damping", "part", "on"),
    *(
        OldName("Model.add_contact", field, "friction", merge=_as_part_of_friction(field), owner="Friction")
        for field in ("tangential_stiffness", "rolling", "drilling", "anisotropy")
    ),
    *(
        OldName("simulate", field, "dt", merge=_as_part_of_steps(field), owner="Adaptive")
        for field in ("error", "output_dt", "max_dt")
    ),
    *(
        OldName("equilibrium", field, "method", merge=_as_part_of_method(field), owner=owner)
        for field, owner in (
            ("stop", "ArcLength"),
            ("branch", "ArcLength"),
            ("most_points", "ArcLength"),
            ("factors", "Newton"),
            ("relaxation", "Newton"),
            ("first_step", "Newton"),
        )
    ),
    OldName("scene", "static", "equilibrium"),
    OldName("scene", "equilibrium.at", "equilibrium.load_time"),
    OldName("command line", "static", "equilibrium"),
    OldName("command line", "--force", "--overwrite"),
    OldName("command line", "--shortcut", "--solver=auto"),
    OldName("command line", "--no-shortcut", "--solver=general"),
    OldName("scene", "external_dampings", "mass_dampings"),
    OldName("scene", "joint_frictions", "joint_dampings"),
    OldName("scene", "mass_dampings.part", "mass_dampings.on"),
    OldName("scene", "distributed_loads.rod", "distributed_loads.on"),
    OldName("scene", "pressures.rod", "pressures.on"),
]


class OldNameWarning(DeprecationWarning):
    """Warn of a name that will be removed in 1.0."""


def warn_of_old_name(old: str, new: str) -> None:
    """Issue an OldNameWarning at the line of the user's code."""
    warn_user(f"{old} was renamed to {new}; the old name will be removed in 1.0", OldNameWarning)


@functools.cache
def _renamed(where: str) -> Mapping[str, OldName]:
    """Return the rows of a function, class, module or other place, by old name."""
    return {row.old: row for row in OLD_NAMES if row.where == where}


def accept_old_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function or method take arguments by their old names.

    Raises ModelError if an argument is given by its old and by its new name.
    """
    where = function.__qualname__
    rows = _renamed(where)
    if not rows:
        raise ValueError(f"{where}: no argument has an old name; add it to OLD_NAMES")

    names = list(inspect.signature(function).parameters)
    merged = {row.new for row in rows.values() if row.merge is not None}

    @functools.wraps(function)
    def accepting(*args: P.args, **kwargs: P.kwargs) -> R:
        if not rows.keys().isdisjoint(kwargs):  # the new argument may be given by position
            by_position = {name: value for name, value in zip(names, args, strict=False) if name in merged}
            kwargs = new_arguments(where, {**by_position, **kwargs})  # type: ignore[assignment]
            renamed = {name: kwargs.pop(name) for name in by_position}
            args = tuple(renamed.get(name, value) for name, value in zip(names, args, strict=False))  # type: ignore[assignment]
        return function(*args, **kwargs)

    return accepting


def new_arguments(where: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of a function with new names in place of old ones, which issue a DeprecationWarning.

    Raises ModelError if an argument is given by its old and by its new name.
    """
    renamed, rows = dict(arguments), _renamed(where)
    for old in [name for name in rows if name in arguments]:  # in the order of the table
        row, value = rows[old], renamed.pop(old)
        if row.merge is not None:
            warn_of_old_name(f"{where}({old}=...)", f"{row.new}={row.owner}(..., {old}=...)")
            renamed[row.new] = row.merge(value, renamed.get(row.new))
            continue
        if row.new in renamed:
            raise ModelError(
                f"{where}: both {old}= and {row.new}= are given, which are the same; use {row.new}="
            )
        warn_of_old_name(f"{where}({old}=...)", f"{row.new}=")
        renamed[row.new] = value if row.convert is None else row.convert(value)
    return renamed


def accept_old_methods(kind: C) -> C:
    """Give a class its old methods and properties, which call the new ones."""
    for row in _renamed(kind.__name__).values():
        if row.old in vars(kind):  # defined in the class, because its arguments differ
            continue
        setattr(kind, row.old, _old_member(row, vars(kind).get(row.new)))
    return kind


def _old_member(row: OldName, member: Any) -> Any:
    """Return a method or property that warns and calls the new one.

    `member`: the new method, property or default of a field; None for a field without a default.
    """
    if isinstance(member, classmethod):
        return classmethod(_old_class_method(row))
    is_method = inspect.isfunction(member)

    def old(self: Any, *args: Any, **kwargs: Any) -> Any:
        warn_of_old_name(f"{row.where}.{row.old}", row.new)
        value = getattr(self, row.new)
        return value(*args, **kwargs) if is_method else value

    old.__name__, old.__doc__ = row.old, f"Old name of `{row.new}`."
    return old if is_method else property(old)


def _old_class_method(row: OldName) -> Callable[..., Any]:
    """Return the function of a class method that warns and calls the new one."""

    def old(kind: Any, *args: Any, **kwargs: Any) -> Any:
        warn_of_old_name(f"{row.where}.{row.old}", row.new)
        return getattr(kind, row.new)(*args, **kwargs)

    old.__name__, old.__doc__ = row.old, f"Old name of `{row.new}`."
    return old


def old_attribute(module: str, name: str) -> Any:
    """Return the object that a module had under an old name; raise AttributeError if there was none."""
    row = _renamed(module).get(name)
    if row is None:
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    warn_of_old_name(f"{module}.{name}", row.new)
    place, attribute = row.new.rsplit(".", 1)
    return getattr(importlib.import_module(place), attribute)


def new_command_line(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of the command line with new words in place of old commands and options."""
    rows, renamed = _renamed("command line"), list(arguments)
    for place, word in enumerate(arguments):
        if word in rows and (place == 0 or word.startswith("--")):
            renamed[place] = rows[word].new
            warn_of_old_name(f"'{word}'", f"'{renamed[place]}'")
    return renamed
