"""Define entries, the components of a model: frozen dataclasses whose fields declare their type, check and description.

    @component
    class Fan(InteractionComponent):
        \"\"\"A steady force on a point.\"\"\"

        key, word, list_description = "fans", "fan", "what blows"
        on: Anchor = parameter(POINT, "point of a body or a rod")
        thrust: Floats = parameter(VECTOR, "force [N]")

        def make_interactions(self, poses): ...

These fields determine the checks of `add`, the key `fans` in scenes with its schema and its page in the reference, and
the description in result files. They also determine the tables of notebooks, the nodes of rods where the entry attaches,
names and the rigid twin. To add a kind of entry, write such a file, list its class in `register` of `rodsim.model`, and add a
method for Python.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, dataclass_transform

import numpy as np

from discretization.interaction_table import Interaction
from rigid import checks
from rigid.checks import shown, vector
from rigid.errors import ModelError
from rigid.signals import Signal, VectorSignal
from rigid.system import Floats, Frames, Ints
from rodsim.components.model_parts import Anchor, Body, Driven, Ground, Rod, part_of
from rodsim.components.part_lookup import find_part_or_point
from rodsim.components.time_expressions import Components, vector_signal

Attachable = Anchor | Body | Rod | Ground | Driven | str  # a str is a name: "block", "cord.end", "cord@0.3"
PointLike = Anchor | Body | Driven | str
Attachment = Anchor | Body | Ground | Driven

E = TypeVar("E", bound="Component")

NEGLIGIBLE = (0.0, 0.0)  # round-off scale of forces that are small compared with inertia forces


class Place(Protocol):
    """Protocol of a point on a frame (`rodsim.building.placement.Placed`)."""

    @property
    def frame(self) -> int: ...
    @property
    def X(self) -> Floats: ...
    @property
    def world(self) -> Floats: ...


class Poses(Protocol):
    """Protocol of the part of `rodsim.building.placement.Placement` that entries use."""

    r: Floats
    quat: Floats
    v: Floats
    Omega: Floats
    frames: Frames
    meshes: Any  # `rodsim.building.meshing.RodMesh` of each rod by name
    first: dict[str, int]  # frame of the first node of each rod
    gravity: Floats  # (3,) m/s^2

    def place(self, anchor: Anchor) -> Place: ...
    def frame_of(self, part: Attachment) -> int: ...
    def frames_of(self, part: Body | Rod) -> Ints: ...
    def local(self, frame: int, direction: Floats) -> Floats: ...


def distinct_frames(poses: Poses, owner: str, a: Attachment, b: Attachment) -> list[int]:
    """Return the frames of both sides of an entry; ModelError if they are one frame."""
    frames = [poses.frame_of(x) for x in (a, b)]
    if frames[0] == frames[1]:
        raise ModelError(f"{owner}: joins a node to itself; give two points apart")
    return frames


def perpendicular_to(axis: Floats) -> Floats:
    """Return a unit vector (3,) perpendicular to an axis (3,)."""
    normal: Floats = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    return normal / np.linalg.norm(normal)


def angle_directions(poses: Poses, a: int, b: int, axis: Floats) -> tuple[Floats, Floats, Floats]:
    """Return directions U_a, W_a, U_b (3,), frame axes, by which the angle of frame b from a about a world axis is measured.

    U and W are perpendicular to the axis; U is the same in both frames at t = 0.
    """
    u = perpendicular_to(axis)
    return poses.local(a, u), poses.local(a, np.cross(axis, u)), poses.local(b, u)


class CheckContext(NamedTuple):
    """Context of a check: the model, the start of the messages, the kind of entry and its arguments."""

    model: Any  # `rodsim.components.model_data.ModelData`
    owner: str
    kind: type[Component]
    arguments: Mapping[str, Any]

    def check_is_in_model(self, part: Ground | Body | Rod | Driven) -> None:
        """Raise ModelError unless `part` is a part of the model."""
        model = self.model
        tables = (model.bodies, model.rods, model.driven, {model.ground.name: model.ground})
        if all(table.get(part.name) is not part for table in tables):
            raise ModelError(f"{self.owner}: {part} belongs to another model; use parts of this one")


def anchor(context: CheckContext, what: str, value: Any) -> Anchor:
    """Return `value` as a point of the model; a whole body or driven frame stands for its origin."""
    if isinstance(value, Body | Driven):
        value = value.at((0.0, 0.0, 0.0))
    if isinstance(value, Ground):
        raise ModelError(f"{context.owner}: {value} alone is not a point; give model.ground.at(point)")
    if not isinstance(value, Anchor):
        known = value if isinstance(value, Rod) else shown(value)
        raise ModelError(
            f"{context.owner}: {known} is not a point; use body.at(...), rod.at(s) or model.ground.at(...)"
        )
    context.check_is_in_model(value.part)
    return value


def _check_end(context: CheckContext, what: str, value: Any) -> Attachment:
    """Check an end of an entry: a point, or a whole part if the kind of entry accepts one."""
    if context.kind.needs_points(context.arguments):
        return anchor(context, what, value)
    if isinstance(value, Rod):
        raise ModelError(f"{context.owner}: say where on rod '{value.name}': rod.start, rod.end or rod.at(s)")
    if not isinstance(value, Anchor | Ground | Body | Driven):
        raise ModelError(f"{context.owner}: {shown(value)} is not a body, a point or the ground")
    context.check_is_in_model(part_of(value))
    return value


def _check_rod(context: CheckContext, what: str, value: Any) -> Rod:
    """Check that `value` is a rod of the model."""
    if not isinstance(value, Rod):
        raise ModelError(
            f"{context.owner}: {shown(value)} is not a rod; give a rod, or use add_force at a point"
        )
    context.check_is_in_model(value)
    return value


def _check_part(context: CheckContext, what: str, value: Any) -> Body | Rod:
    """Check that `value` is a body or a rod of the model."""
    if not isinstance(value, Body | Rod):
        raise ModelError(f"{context.owner}: {shown(value)} is neither a body nor a rod")
    context.check_is_in_model(value)
    return value


def find_joint(context: CheckContext, what: str, value: Any) -> Any:
    """Return the `JointComponent` of the model that `value` is or names; ModelError if there is none."""
    joints = context.model.joints
    joint = joints.get(value) if isinstance(value, str) else value
    if not isinstance(joint, Component) or joints.get(joint.name) is not joint:
        raise ModelError(
            f"{context.owner}: {shown(value)} is not a joint of this model; give a joint or its name"
        )
    return joint


def _check_varying(context: CheckContext, what: str, value: Any) -> Any:
    """Check a vector that may vary with time: constant, components with formulas, a signal with a direction, or a function."""
    value = vector_signal(f"{context.owner}: {what}", value)
    if isinstance(value, Signal):
        raise ModelError(
            f"{context.owner}: {type(value).__name__} is a scalar; give its direction with `.along(direction)`"
        )
    return value if isinstance(value, VectorSignal) or callable(value) else vector(context.owner, what, value)


# --- types of fields


def plain(value: Any) -> Any:
    """Return a value as words and numbers that JSON can hold."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [plain(x) for x in value]
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return value.described() if hasattr(value, "described") else str(value)


def describe_time_function(value: Any) -> Any:
    """Describe a function of time for JSON: a constant, the numbers of a signal, or "callable"."""
    if isinstance(value, Components):
        return {
            "signal": "Components",
            "components": [describe_time_function(item) for item in value.components],
        }
    if isinstance(value, VectorSignal):
        return describe_time_function(value.scalar) | {"direction": value.direction.tolist()}
    if isinstance(value, Signal):
        numbers = {name: np.asarray(item).tolist() for name, item in vars(value).items()}
        return {"signal": type(value).__name__, **numbers}
    if callable(value) or (isinstance(value, tuple) and callable(value[0])):  # function, or with rate
        return "callable"
    return np.asarray(value, dtype=float).tolist()


def _name_of(obj: Any) -> str:
    return str(obj.name)


class ParameterType(NamedTuple):
    """Type of a field: its name in scenes, its check, and the description of its values for JSON."""

    word: str  # `rodsim.scenes.components.FIELD_TYPES` has its schema, and how it is read and written
    check: Callable[[CheckContext, str, Any], Any] = lambda context, what, value: value
    describe: Callable[[Any], Any] = plain
    choices: tuple[str, ...] = ()
    synonyms: Mapping[str, str] = MappingProxyType({})  # accepted word -> choice that it stands for
    by_name: Callable[[str, Any, Any], Any] = lambda owner, model, value: value  # replaces names by parts


def adapt_check(check: Callable[..., Any], **limits: Any) -> Callable[[CheckContext, str, Any], Any]:
    """Adapt a check of `rigid.checks` to the signature of `ParameterType.check`."""
    return lambda context, what, value: check(context.owner, what, value, **limits)


def choice(*words: str) -> ParameterType:
    """Return the field type of a choice among these words."""
    return ParameterType(
        "choice", lambda context, what, value: checks.word(context.owner, what, value, words), choices=words
    )


def _resolve_name(owner: str, model: Any, value: Any) -> Any:
    """Replace a name by the part or point of the model that it names; other values are unchanged."""
    return find_part_or_point(owner, model, value) if isinstance(value, str) else value


END = ParameterType("end", _check_end, by_name=_resolve_name)  # `a` and `b`
POINT, PART = (
    ParameterType("point", anchor, by_name=_resolve_name),
    ParameterType("part", _check_part, by_name=_resolve_name),
)
ROD, JOINT = (
    ParameterType("rod", _check_rod, _name_of, by_name=_resolve_name),
    ParameterType("joint", find_joint, _name_of),
)
NUMBER = ParameterType("number", adapt_check(checks.number))
POSITIVE = ParameterType("positive", adapt_check(checks.number, positive=True))
NOT_NEGATIVE = ParameterType("not negative", adapt_check(checks.number, at_least=0.0))
VECTOR, DIRECTION = (
    ParameterType("vector", adapt_check(vector)),
    ParameterType("vector", adapt_check(checks.direction)),
)
PLACE, SIX = ParameterType("place", adapt_check(vector)), ParameterType("six", adapt_check(vector, length=6))
PAIR, FLAG = (
    ParameterType("pair", adapt_check(vector, length=2)),
    ParameterType("flag", adapt_check(checks.flag)),
)
VARYING = ParameterType(
    "varying", _check_varying, describe_time_function
)  # vector, constant or a function of time


class ParameterSpec(NamedTuple):
    """Declaration of a field: type, description (with the unit in brackets for numbers), key and default."""

    value_type: ParameterType
    words: str
    key: str  # key in scenes, if it is not the field's name
    default: Any  # `dataclasses.MISSING`: the field is required
    result_key: str = ""  # key in descriptions of result files, if it is not the key in scenes

    @property
    def required(self) -> bool:
        """True if the field has no default."""
        return self.default is dataclasses.MISSING


def parameter(
    value_type: ParameterType,
    words: str,
    default: Any = dataclasses.MISSING,
    key: str = "",
    result_key: str = "",
) -> Any:
    """Declare a field of an entry that the user gives; with the default None it is optional."""
    spec = ParameterSpec(value_type, words, key, default, result_key)
    return dataclasses.field(default=default, metadata={"parameter": spec})


@dataclass_transform(
    frozen_default=True, eq_default=False, kw_only_default=True, field_specifiers=(parameter,)
)
def component(kind: type[E]) -> type[E]:
    """Turn the class of an entry into a frozen dataclass."""
    return dataclasses.dataclass(frozen=True, eq=False, kw_only=True, repr=False)(kind)


# --- entries


@component
class Component:
    """Base class of the components that join or load parts of a model."""

    key: ClassVar[str]  # key of its list in scenes
    word: ClassVar[str]  # name of one entry, in messages
    list_description: ClassVar[str]  # name of all entries: the text under their list in the schema
    table: ClassVar[str] = "others"  # dictionary of the model that stores it by name
    tables_without_namesakes: ClassVar[tuple[str, ...]] = ()  # other tables that must not contain its name
    kind_described: ClassVar[str]  # kind in descriptions of result files, if it is not `word`
    plural: ClassVar[str]  # plural in texts, if it is not the key
    schema: ClassVar[str] = ""  # name of its schema in scenes, if it does not follow from the key
    arguments: ClassVar[
        Mapping[str, Any]
    ] = {}  # arguments of the user by field; `make_component` stores them with each entry
    # left out of the keys of studies, since it determines the fields
    NOT_IN_KEYS: ClassVar[tuple[str, ...]] = ("arguments",)
    name: str

    def __init_subclass__(cls) -> None:
        if "plural" not in vars(cls):
            cls.plural = getattr(cls, "key", "").replace("_", " ")
        if "kind_described" not in vars(cls):
            cls.kind_described = getattr(cls, "word", "")

    @classmethod
    @cache
    def fields(cls) -> Mapping[str, ParameterSpec]:
        """Return the declarations of the fields that the user gives in addition to the name, by field, with their keys."""
        specs = {f.name: f.metadata.get("parameter") for f in dataclasses.fields(cls)}
        return {
            name: spec._replace(key=spec.key or name, result_key=spec.result_key or spec.key or name)
            for name, spec in specs.items()
            if spec
        }

    @classmethod
    def owner(cls, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the kind and name of the entry, for the start of a message."""
        return f"{cls.word} '{name}'"

    @classmethod
    def canonical(cls, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with each synonym of a choice replaced by that choice, which results and files use."""
        canonical_arguments = dict(arguments)
        for field, spec in cls.fields().items():
            if spec.value_type.synonyms and isinstance(word := canonical_arguments.get(field), str):
                canonical_arguments[field] = spec.value_type.synonyms.get(word, word)
        return canonical_arguments

    @classmethod
    def needs_points(cls, arguments: Mapping[str, Any]) -> bool:
        """Return True if `a` and `b` must be points, False if they may be whole parts."""
        return False

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        """Check the values of the fields against each other and add values that follow from them, in place."""

    @property
    def references(self) -> Iterator[Any]:
        """Iterate over the parts, anchors and other entries in its fields."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, _PARTS):
                yield value

    def required_nodes(self, rod: Rod) -> Iterable[float]:
        """Return the fractions of the rod's length at which the entry needs a node."""
        return [x.s for x in self.references if isinstance(x, Anchor) and x.part is rod]

    def with_rigid_rods(self, changed: dict[str, Any], section: Callable[[Anchor], Floats]) -> Any:
        """Return a copy with some fields changed, for a model whose rods are rigid; None: the entry is left out there.

        `section`: returns the quaternion (4,) of the cross-section at an anchor on a rod.
        """
        return dataclasses.replace(self, **changed)

    def described(self) -> Any:
        """Return the entry as words and numbers that JSON can hold."""
        arguments = {
            spec.result_key: spec.value_type.describe(value)
            for name, spec in self.fields().items()
            if (value := getattr(self, name)) is not None
        }
        return ({"kind": self.kind_described} if self.table == "others" else {}) | arguments

    def __repr__(self) -> str:
        names = ", ".join(
            str(x) if not isinstance(x, Component) else f"{x.word} '{x.name}'" for x in self.references
        )
        return f"<{self.word} '{self.name}' of {names}>"


_PARTS = Anchor, Body, Rod, Ground, Driven, Component


class FollowedOutput(NamedTuple):
    """An output of a controller that an external value of an interaction follows."""

    row: int  # number of the interaction among those with external values
    output: Any  # `rodsim.components.controllers.Output`
    direction: Floats  # (3,) external value for the output 1


class ExternalValues(NamedTuple):
    """External values of consecutive interactions of one entry (`rodsim.components.varying_values.scaled_input`)."""

    interactions: int  # number of the interactions
    # times (k,), s -> values (k, interactions, 3), (k, 1, 3) or (k, 3); those that follow controllers are zero
    function: Callable[[Floats], Floats]
    user_value: Any  # what the user gave
    followed: Sequence[FollowedOutput] = ()  # their rows count from the first of these interactions
    described: Mapping[str, Any] | None = None  # value, factor and base for files; None: not known there


class InteractionComponent(Component):
    """Base class of entries without a table for their kind: they make rows of `discretization.interaction_table`."""

    @property
    def kind(self) -> str:
        """Name of the kind in messages."""
        return self.word

    @abstractmethod
    def make_interactions(self, poses: Poses) -> list[Interaction]:
        """Return the interactions of the entry, made from the poses of the frames at t = 0 when the model is built."""

    @property
    def states(self) -> dict[str, int]:
        """Names of its states, if it is one interaction with states, and their lengths; 0: a single number."""
        return {}

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        """Return the values that its interactions receive from outside in each step; here none.

        They belong to interactions whose kind declares a signal (`rigid.interactions.kinds.Kind.signal`), in their order.
        """
        return ()


COMPONENT_TYPES: dict[
    str, type[Component]
] = {}  # registered kinds by their key in scenes, in the order of scenes


def register(*kinds: type[Component]) -> None:
    """Register kinds of entries for scenes; ModelError if a key is taken by another kind."""
    for kind in kinds:
        if COMPONENT_TYPES.setdefault(kind.key, kind) is not kind:
            raise ModelError(f"there are already entries called '{kind.key}' in scenes; choose another key")


def add(model: Any, kind: type[E], name: str, /, **arguments: Any) -> E:
    """Make an entry from checked arguments (`arguments`, by field), store it in its table of the model, and return it."""
    checks.name(f"name of the {kind.word}", name)
    for table in (kind.table, *kind.tables_without_namesakes):
        if name in getattr(model, table):
            other = getattr(model, table)[name]
            raise ModelError(f"there is already a {other.word} '{name}'; choose another name")
    made = make_component(model, kind, name, arguments)
    getattr(model, kind.table)[name] = made
    return made


def make_component(model: Any, kind: type[E], name: str, arguments: Mapping[str, Any]) -> E:
    """Make an entry from checked arguments without storing it in the model; its attribute `arguments` holds the arguments."""
    fields = kind.fields()
    arguments = kind.canonical(
        {
            field: arguments.get(field, None if spec.required else spec.default)
            for field, spec in fields.items()
        }
    )
    owner = kind.owner(name, arguments)
    arguments |= {
        field: spec.value_type.by_name(owner, model, arguments[field])
        for field, spec in fields.items()
        if arguments[field] is not None
    }
    context = CheckContext(model, owner, kind, arguments)
    values: dict[str, Any] = {}
    # choices first, since the checks of other fields may depend on them
    for field, spec in sorted(fields.items(), key=lambda item: item[1].value_type.word != "choice"):
        value = arguments[field]
        is_absent = value is None and spec.default is None
        values[field] = None if is_absent else spec.value_type.check(context, spec.key, value)
    kind.complete(context, values)
    if "a" in values and "b" in values:
        _check_apart(context.owner, values["a"], values["b"])
    made = kind(name=name, **values)
    object.__setattr__(made, "arguments", arguments)
    return made


def _check_apart(owner: str, a: Any, b: Any) -> None:
    """Raise ModelError if both ends are on the same part, unless they are different points of one rod."""
    pa, pb = part_of(a), part_of(b)
    same_node = isinstance(pa, Rod) and isinstance(a, Anchor) and isinstance(b, Anchor) and a.s != b.s
    if pa is pb and not same_node:
        raise ModelError(f"{owner}: joins {pa} to itself; give two parts")


def check_new_part(model: Any, name: str) -> None:
    """Raise ModelError unless a part may have this name."""
    checks.name("name of the part", name)
    if name == model.ground.name:
        raise ModelError("'ground' is the name of the ground; choose another one")
    for what, table in (("body", model.bodies), ("rod", model.rods), ("driven frame", model.driven)):
        if name in table:
            raise ModelError(f"there is already a {what} '{name}'; choose another name")
