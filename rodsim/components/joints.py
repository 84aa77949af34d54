"""Components of a model: joints, drives, which prescribe the coordinate of a joint, and gears, which couple coordinates linearly.

The arguments are checked against the kinds of the joints: `rigid.joints.JOINTS`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rigid.checks import direction, number, shown
from rigid.errors import ModelError
from rigid.joints import JOINTS, Joint
from rigid.joints.generic import ROTATIONS, TRANSLATIONS
from rigid.motions import Motion, scalar_motion
from rigid.system import Floats
from rodsim.components.base import (
    END,
    JOINT,
    PLACE,
    Attachment,
    CheckContext,
    Component,
    ParameterType,
    component,
    describe_time_function,
    find_joint,
    parameter,
)
from rodsim.components.model_parts import Ground, part_of
from rodsim.components.time_expressions import scalar_signal

COORDINATES = "angle", "displacement"
_SINGLE = ("angle",), ("displacement",)  # coordinates of joints that may have an inertia
DISTANCE = "distance"  # of a distance joint, for drives

# names that other programs use, and rigid bearings
SYNONYMS = {
    "hinge": "revolute",
    "ball": "spherical",
    "fixed": "weld",
    "radial bearing": "point_on_line",
    "axial bearing": "point_on_plane",
    "self-aligning bearing": "spherical",
}

PERPENDICULAR_COSINE = 1e-9  # largest cosine of the angle of two axes that count as perpendicular
# smallest ratio of a gear; largest quotient of two ratios, beyond which the smaller one is lost in rounding
RATIOS = 1e-50, 1e12


@component
class JointComponent(Component):
    """A joint between two parts; a name without a point is a body or `ground`."""

    key, word, list_description = "joints", "joint", "joints between parts"
    table, tables_without_namesakes = "joints", ("drives", "gears")
    kind: str = parameter(
        ParameterType(
            "choice",
            lambda context, what, value: kind_of(context.owner, value),
            choices=tuple(JOINTS),
            synonyms=SYNONYMS,
        ),
        "kind of the joint, see the table of kinds; hinge: revolute, ball and self-aligning bearing: spherical, fixed: weld, "
        "without b clamp, radial bearing: point_on_line, axial bearing: point_on_plane",
    )
    a: Attachment = parameter(END, "first point or part")
    b: Attachment = parameter(END, "second point or part; not for a clamp", None)
    at: Floats | None = parameter(
        PLACE,
        "world point of the joint at t = 0, or {at: point of a part}; default: that of the anchors [m]",
        None,
    )
    axis: Floats | None = parameter(ParameterType("vector"), "world direction at t = 0, fixed to a [1]", None)
    length: float | None = parameter(
        ParameterType("positive"), "length of a distance joint at t = 0, as a check [m]", None
    )
    second_axis: Floats | None = parameter(
        ParameterType("vector"),
        "world direction at t = 0, fixed to b, of universal and constant-velocity joints [1]",
        None,
    )
    pitch: float | None = parameter(
        ParameterType("number"), "pitch of a screw: displacement per turn, right-handed if positive [m]", None
    )
    locked: tuple[str, ...] = parameter(
        ParameterType("choices", choices=(*TRANSLATIONS, *ROTATIONS)),
        "coordinates that a generic joint locks, in the axes of a",
        None,
    )
    inertia: float | None = parameter(
        ParameterType("positive"),
        "inertia against the rate of its one coordinate, such as that of a rotor: gear ratio^2 I [kg m^2 or kg]",
        None,
    )

    @classmethod
    def owner(cls, name: str, arguments: Mapping[str, Any]) -> str:
        kind = arguments["kind"]
        return f"{kind} joint '{name}'" if isinstance(kind, str) and kind in JOINTS else f"joint '{name}'"

    @classmethod
    def canonical(cls, arguments: Mapping[str, Any]) -> dict[str, Any]:
        canonical_arguments = super().canonical(arguments)
        if arguments["kind"] == "fixed" and arguments.get("b") is None:
            canonical_arguments["kind"] = "clamp"
        return canonical_arguments

    @classmethod
    def needs_points(cls, arguments: Mapping[str, Any]) -> bool:
        return JOINTS[arguments["kind"]].apart

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, joint, b = context.owner, JOINTS[values["kind"]], values["b"]
        if b is None:
            if not joint.to_ground:
                raise ModelError(f"{owner}: b is missing. Give both parts that the joint connects.")
            values["b"] = context.model.ground
        elif joint.to_ground and not isinstance(part_of(b), Ground):
            raise ModelError(
                f"{owner}: b = {b} is not the ground, to which a {values['kind']} fixes a part. Use 'weld' between two parts."
            )
        if joint.apart and values["at"] is not None:
            raise ModelError(f"{owner}: connects the points a and b, which need not coincide. Remove `at=`.")
        values["axis"], values["second_axis"] = check_axes(
            owner, joint, values["axis"], values["second_axis"]
        )
        check_inertia(owner, joint, values["inertia"])
        numbers = (values[word] for word in ("length", "pitch", "locked"))
        values["length"], values["pitch"], values["locked"] = check_numbers(owner, joint, *numbers)

    def __repr__(self) -> str:
        return f"<{self.kind} joint '{self.name}' from {self.a} to {self.b}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks: the two parts and the arguments of the joint."""
        from rodsim.components.html_views import joint_html

        return joint_html(self)


def check_inertia(owner: str, joint: type[Joint] | Joint, value: Any) -> None:
    """Raise ModelError if an inertia is not positive, or the joint has not exactly one coordinate that may have one."""
    if value is None:
        return
    number(owner, "inertia", value, positive=True)
    if tuple(joint.driven) not in _SINGLE:
        kinds = ", ".join(word for word, kind in JOINTS.items() if tuple(kind.driven) in _SINGLE)
        raise ModelError(
            f"{owner}: inertia = {value:g}, but such a joint has not one coordinate alone. Use a joint of kind {kinds}, or "
            "`add_inerter`"
        )


@component
class Drive(Component):
    """The coordinate of a joint as a function of time, counted from its value at t = 0."""

    key, word, list_description = "drives", "drive", "coordinates of joints as functions of time"
    table, tables_without_namesakes = "drives", ("joints", "gears")
    joint: JointComponent = parameter(JOINT, "name of a revolute, prismatic, cylindrical or distance joint")
    of: str = parameter(
        ParameterType("choice", choices=(*COORDINATES, DISTANCE)),
        "the driven coordinate, if the joint has two",
        None,
    )
    motion: Motion = parameter(
        ParameterType(
            "motion",
            lambda context, what, value: scalar_motion(context.owner, scalar_signal(context.owner, value)),
            lambda motion: describe_time_function(motion.given),
        ),
        "function of time, counted from the coordinate's value at t = 0",
        key="value",
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        driven = lambda kind: JOINTS[kind].driven  # noqa: E731
        values["of"] = chosen_coordinate(
            context.owner, values["joint"], values["of"], "drive", driven, ", or a driven frame"
        )
        drives = [drive.name for drive in context.model.drives.values() if drive.joint is values["joint"]]
        if values["of"] == DISTANCE and drives:
            raise ModelError(
                f"{context.owner}: drive '{drives[0]}' prescribes the distance of joint '{values['joint'].name}' already. "
                "Remove one of them"
            )

    def __repr__(self) -> str:
        return f"<drive '{self.name}' of the {self.of} of joint '{self.joint.name}'>"


def chosen_coordinate(
    owner: str,
    joint: JointComponent,
    of: Any,
    verb: str,
    coordinates: Callable[[str], Sequence[str]],
    otherwise: str = "",
) -> str:
    """Return the coordinate `of` of a joint, or its only one if `of` is None; ModelError if that is not possible.

    `coordinates`: function that returns the available coordinates of a kind of joint. For messages: `verb` is "drive" or
    "couple", `otherwise` names what else to use if the joint has no coordinate.
    """
    choices = coordinates(joint.kind)
    if not choices:
        kinds = ", ".join(kind for kind in JOINTS if coordinates(kind))
        raise ModelError(
            f"{owner}: {joint.kind} joint '{joint.name}' has no coordinate to {verb}; use one of {kinds}{otherwise}"
        )
    if of is None and len(choices) > 1:
        raise ModelError(
            f"{owner}: say which coordinate of '{joint.name}': of={' or '.join(map(repr, choices))}"
        )
    if of is not None and of not in choices:
        raise ModelError(
            f"{owner}: {joint.kind} joint '{joint.name}' has no {of}; {verb} its {' or '.join(choices)}"
        )
    return of or choices[0]


def kind_of(owner: str, kind: Any) -> str:
    """Return `kind` if it is a kind of joint; else raise ModelError, which lists the kinds."""
    if not isinstance(kind, str) or kind not in JOINTS:
        matches = difflib.get_close_matches(str(kind), JOINTS, 1)
        hint = f"; did you mean {matches[0]!r}?" if matches else ""
        raise ModelError(
            f"{owner}: kind = {shown(kind)} is not known; choose one of {', '.join(JOINTS)}{hint}"
        )
    return kind


def check_axes(owner: str, joint: type[Joint], axis: Any, second: Any) -> tuple[Floats | None, Floats | None]:
    """Return the unit directions (3,) of the axes of a joint; None for each axis that it does not have.

    The shafts of a constant-velocity joint without a second axis are aligned. Raises ModelError if an axis is missing,
    superfluous or has a wrong direction.
    """
    if joint.axis and axis is None:
        raise ModelError(f"{owner}: needs a direction; give `axis=`")
    if not joint.axis and axis is not None:
        raise ModelError(f"{owner}: has no axis; remove `axis=`")
    if not joint.second_axis and second is not None:
        raise ModelError(f"{owner}: has no second axis; remove `second_axis=`")
    if axis is None:
        return None, None
    first = direction(owner, "axis", axis)
    if joint.second_axis != "perpendicular":
        return first, None if second is None else _second_shaft(
            owner, first, direction(owner, "second_axis", second)
        )
    if second is None:
        raise ModelError(f"{owner}: rotates about two axes; give `second_axis=`, that of its second part")
    second_direction = direction(owner, "second_axis", second)
    cosine = float(first @ second_direction)
    if abs(cosine) > PERPENDICULAR_COSINE:
        raise ModelError(
            f"{owner}: axis and second_axis are at {np.degrees(np.arccos(cosine)):.6g} degrees; expected 90"
        )
    second_direction = second_direction - cosine * first
    return first, second_direction / np.linalg.norm(second_direction)


def _second_shaft(owner: str, first: Floats, other: Floats) -> Floats:
    """Return the direction (3,) of the second shaft; ModelError if it is opposite to that of the first."""
    if float(first @ other) < -1.0 + PERPENDICULAR_COSINE:
        raise ModelError(
            f"{owner}: second_axis is opposite to axis; give the direction in which the second shaft continues"
        )
    return other


def check_numbers(
    owner: str, joint: type[Joint], length: Any, pitch: Any, locked: Any
) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Return checked length (m), pitch (m) and locked coordinates; ModelError for an argument that the kind does not accept."""
    for word, value in (("length", length), ("pitch", pitch), ("locked", locked)):
        if value is not None and word not in joint.takes:
            raise ModelError(f"{owner}: has no {word}; remove `{word}=`")
    if "pitch" in joint.takes:
        if pitch is None or number(owner, "pitch", pitch) == 0.0:
            raise ModelError(f"{owner}: has no pitch; give `pitch=`, m per turn, not 0")
        pitch = number(owner, "pitch", pitch)
    return (
        None if length is None else number(owner, "length", length, positive=True),
        pitch,
        _check_locked(owner, locked) if "locked" in joint.takes else (),
    )


def _check_locked(owner: str, locked: Any) -> tuple[str, ...]:
    """Check the locked coordinates of a generic joint and return them in canonical order."""
    known = (*TRANSLATIONS, *ROTATIONS)
    names = tuple(locked) if isinstance(locked, Iterable) and not isinstance(locked, str) else ()
    wrong = [name for name in names if not isinstance(name, str) or name not in known]
    if not names or wrong or len(set(names)) < len(names):
        faulty = shown(wrong[0]) if wrong else shown(locked)
        raise ModelError(
            f"{owner}: locked = {faulty}. Name the locked coordinates, each once: some of {', '.join(known)}, in the axes of a."
        )
    return tuple(name for name in known if name in names)


# --- gears


class GearTerm(NamedTuple):
    """One term of a gear: a joint, its coordinate "angle" (rad) or "displacement" (m), and the ratio that multiplies it."""

    joint: JointComponent
    of: str
    ratio: float


@component
class Gear(Component):
    """Joints with coupled coordinates: the sum of ratio times coordinate is constant."""

    key, word, list_description = "gears", "gear", "joints with coupled coordinates"
    table, tables_without_namesakes = "gears", ("joints", "drives")
    joints: tuple[JointComponent, ...] = parameter(
        ParameterType("joints"), "names of the joints whose coordinates are coupled"
    )
    ratios: tuple[float, ...] = parameter(
        ParameterType("ratios"),
        "one for each joint; for a rack the radius of the pinion, with its angle [1, m]",
    )
    of: tuple[str, ...] = parameter(
        ParameterType("coordinates", choices=COORDINATES),
        "coordinate of each joint, if it has two",
        None,
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, joints = context.owner, values["joints"]
        if isinstance(joints, str) or not isinstance(joints, Sequence) or len(joints) < 2:
            raise ModelError(
                f"{owner}: joints = {shown(joints)}: expected two or more joints. Use a drive to prescribe a single coordinate."
            )
        ratios, coordinates = values["ratios"], values["of"]
        coordinates = [None] * len(joints) if coordinates is None else coordinates
        for what, values_of_joints in (("ratios", ratios), ("of", coordinates)):
            if isinstance(values_of_joints, str) or np.shape(np.asarray(values_of_joints, object)) != (
                len(joints),
            ):
                raise ModelError(
                    f"{owner}: {what} = {shown(values_of_joints)}: expected {len(joints)} values, one for each joint"
                )
        coupled = [_gear_term(context, *term) for term in zip(joints, ratios, coordinates, strict=True)]
        _check_gear(owner, coupled, context.model.gears.values())
        values["joints"], values["of"], values["ratios"] = zip(*coupled, strict=True)

    @property
    def terms(self) -> tuple[GearTerm, ...]:
        """Terms of the gear; the sum of ratio times coordinate is constant."""
        return tuple(map(GearTerm, self.joints, self.of, self.ratios))

    def described(self) -> Any:
        return [{"joint": term.joint.name, "of": term.of, "ratio": term.ratio} for term in self.terms]


def _gear_term(context: CheckContext, joint: Any, ratio: Any, of: Any) -> GearTerm:
    """Return a checked term of a gear; `of`: coordinate of the joint, None if the joint has only one."""
    owner, joint_component = context.owner, find_joint(context, "joint", joint)
    known = lambda kind: [name for name in COORDINATES if name in JOINTS[kind].coordinates]  # noqa: E731
    coordinate = chosen_coordinate(owner, joint_component, of, "couple", known)
    value = number(owner, f"ratio of '{joint_component.name}'", ratio)
    if value == 0.0:
        raise ModelError(
            f"{owner}: the ratio of '{joint_component.name}' is 0, which couples nothing; remove this coordinate"
        )
    if abs(value) < RATIOS[0]:
        raise ModelError(
            f"{owner}: the ratio of '{joint_component.name}' is {value:g}, which is too small to compute with. Multiply all "
            "ratios by the same factor, or remove this coordinate."
        )
    return GearTerm(joint_component, coordinate, value)


def _check_gear(owner: str, terms: list[GearTerm], gears: Any) -> None:
    """Raise ModelError if a coordinate occurs twice, a ratio is lost in rounding, or the gear repeats or contradicts another."""
    coordinates = [(term.joint.name, term.of) for term in terms]
    for joint, of in coordinates:
        if coordinates.count((joint, of)) > 1:
            raise ModelError(
                f"{owner}: has the {of} of '{joint}' twice. Give it once, with the sum of its ratios."
            )
    sizes = [abs(term.ratio) for term in terms]
    smallest = terms[sizes.index(min(sizes))]
    if max(sizes) > RATIOS[1] * abs(smallest.ratio):
        raise ModelError(
            f"{owner}: the ratio of '{smallest.joint.name}', {smallest.ratio:g}, is negligible compared with {max(sizes):g}: "
            "it is lost in rounding; remove it, or give ratios of similar size"
        )
    ratios = {key: term.ratio for key, term in zip(coordinates, terms, strict=True)}
    for other in gears:
        other_ratios = {(term.joint.name, term.of): term.ratio for term in other.terms}
        if set(other_ratios) != set(ratios):
            continue
        factors = np.array([ratios[key] / other_ratios[key] for key in ratios])
        if np.ptp(factors) <= 1e-9 * np.abs(factors).max():
            raise ModelError(f"{owner}: repeats gear '{other.name}'; remove one of them")
        if len(ratios) == 2:
            raise ModelError(
                f"{owner}: couples the same joints as gear '{other.name}' with other ratios, so that neither may move; "
                "remove one of them, or clamp the joints"
            )
