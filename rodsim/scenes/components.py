"""Entries of scenes, the components that join and load parts: a table of field types gives schemas, reads and writes them.

The schema of an entry follows from the fields of its class (`rodsim.components.base`), for all classes in the registry.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from functools import cache
from inspect import signature
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import Field

from rigid.checks import direction
from rigid.motions import Motion as MotionOfTime
from rodsim.components.base import Component, ParameterSpec, ParameterType, add
from rodsim.components.contacts import LAWS
from rodsim.interactions import measures
from rodsim.interactions.measures import Measure, Quantity
from rodsim.scenes.actuator_laws import ActuatorLawScene, actuator_law_data, actuator_law_of
from rodsim.scenes.control_laws import ControlLawScene, control_law_data, control_law_of
from rodsim.scenes.errors import Path, SceneProblem, look_up
from rodsim.scenes.flows import (
    CurrentScene,
    PolarScene,
    WaveScene,
    current_data,
    current_of,
    polar_data,
    polar_of,
    waves_data,
    waves_of,
)
from rodsim.scenes.functions import (
    LOADS,
    MOTIONS,
    Motion,
    ScalarSignal,
    Signal,
    SpringLawScene,
    law_data,
    law_of,
    motion_of,
    scalar_of,
    signal_data,
    value_of,
)
from rodsim.scenes.points import Anchor, Place, PointReader, point_data
from rodsim.scenes.round_trip import Data, invert_check, raise_not_savable
from rodsim.scenes.schema_types import (
    Components,
    Formula,
    Name,
    NotNegative,
    Number,
    Part,
    Positive,
    Vector,
    made,
    numbers,
    schemas,
    union,
)
from rodsim.scenes.tendon_stops import DrumScene, TendonStop, tendon_stop, tendon_stop_data


class MeasureScene(Part):
    """Measure of which an energy is a function: of two points or parts, with directions given at t = 0."""

    of: Literal["distance", "strain", "displacement", "coordinate", "cosine", "angle"]
    """kind of measure"""
    a: Anchor | None = None
    """first point or part; not for a coordinate"""
    b: Anchor
    """second point or part"""
    axis: Vector | None = None
    """axis of a displacement, a coordinate or an angle, fixed to a [1]"""
    direction_a: Vector | None = None
    """direction fixed to a, of a cosine [1]"""
    direction_b: Vector | None = None
    """direction fixed to b, of a cosine [1]"""
    length: Positive | None = None
    """length without strain; default: the initial distance [m]"""


_QUANTITIES: dict[str, Callable[..., Quantity]] = {
    function.__name__: function
    for function in (
        measures.section_force,
        measures.joint_force,
        measures.contact_force,
        measures.energy,
        measures.state,
    )
}
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "point": (Anchor, "point of a rod"),
    "section_force.component": (
        Literal.__getitem__(measures.SECTION_FORCES),
        "normal force N1, shear forces N2 and N3, torque M1, bending moments M2 and M3",
    ),
    "joint": (Name, "name of a joint or drive"),
    "joint_force.component": (
        Literal.__getitem__(measures.JOINT_FORCES),
        "force, or moment about its point on b",
    ),
    "axis": (
        Vector,
        "fixed world direction; default: the axis of the joint, or the sum of all normal forces [1]",
    ),
    "contact": (Name, "name of a contact"),
    "kind": (
        Literal.__getitem__(measures.MODEL_ENERGIES),
        "kind of energy; of a part kinetic, elastic or gravity",
    ),
    "part": (Name, "name of a rod or body; default: the whole model"),
    "interaction": (Name, "name of an interaction"),
    "name": (Name, "name of the state"),
    "index": (Annotated[int, Field(ge=0)], "number of its component if it is a vector [1]"),
}

if TYPE_CHECKING:
    SensedScene = Any
else:
    SensedScene = union("of", [MeasureScene, *schemas("MeasureScene", "of", _QUANTITIES, _ARGUMENTS)])


# --- reading of values: (reader, path, value) -> argument of the entry


def _identity(reader: PointReader, path: Path, value: Any) -> Any:
    """Return a value that is an argument as it is."""
    return value


def _object_reader(word: str, *tables: str) -> Callable[[PointReader, Path, Any], Any]:
    """Return a function that finds an object of the model by its name in these tables."""

    def read(reader: PointReader, path: Path, name: str) -> Any:
        known = {key: x for table in tables for key, x in getattr(reader.model, table).items()}
        return look_up(path, word, name, known)

    return read


def _list_of(read: Callable[[PointReader, Path, Any], Any]) -> Callable[[PointReader, Path, Any], Any]:
    """Return a function that reads each item of a list, or one item, with `read`."""

    def read_all(reader: PointReader, path: Path, value: Any) -> list[Any]:
        items = value if isinstance(value, list) else [value]
        return [read(reader, (*path, k), item) for k, item in enumerate(items)]

    return read_all


def _measures(reader: PointReader, path: Path, value: dict[str, MeasureScene]) -> dict[str, Measure]:
    """Return measures by name."""
    return {name: _measure(reader, (*path, name), measure) for name, measure in value.items()}


def _measure(reader: PointReader, path: Path, measure: MeasureScene) -> Measure:
    """Make a measure with the function of `rodsim.interactions.measures` that has its name."""
    function: Callable[..., Measure] = getattr(measures, measure.of)
    owner = f"measure '{path[-1]}'"
    takes = signature(function).parameters
    ends = {"a": measure.a, "point" if measure.of == "coordinate" else "b": measure.b}
    arguments: dict[str, Any] = {
        what: None if end is None else reader.end((*path, what), end) for what, end in ends.items()
    }
    arguments |= {what: getattr(measure, what) for what in ("axis", "direction_a", "direction_b", "length")}
    arguments = {what: value for what, value in arguments.items() if value is not None}
    for what in arguments:
        if what not in takes:
            raise SceneProblem(path, f"{owner}: '{measure.of}' has no '{what}'; remove it")
    for what, argument in takes.items():
        if what not in arguments and argument.default is argument.empty:
            raise SceneProblem(path, f"{owner}: '{measure.of}' lacks '{what}'; give it")
    return function(**arguments)


def _sensed(reader: PointReader, path: Path, data: Any) -> Measure | Quantity:
    """Make what a sensor measures: a measure of two points, or another quantity."""
    if isinstance(data, MeasureScene):
        return _measure(reader, path, data)
    arguments = {key: x for key, x in data.model_dump(exclude={"of", "point"}).items() if x is not None}
    if getattr(data, "point", None) is not None:
        arguments["point"] = reader.point((*path, "point"), data.point)
    return _QUANTITIES[data.of](**arguments)


# --- writing of values: (owner, key, value) -> scene data


def _numbers(owner: str, key: str, value: Any) -> Any:
    """Return numbers as lists; ModelError for a function."""
    if callable(value):
        raise_not_savable(owner, f"its {key} is a Python function")
    return value


def _name(owner: str, key: str, value: Any) -> Any:
    """Return the name of an object, the names of several as a list."""
    if isinstance(value, list | tuple):
        return [_name(owner, key, x) for x in value]
    return value if isinstance(value, str) else value.name


def _one_or_several(owner: str, key: str, value: Any) -> Any:
    """Return the name of an object, or of several; a list of one as its name."""
    names = _name(owner, key, value)
    return names[0] if isinstance(names, list) and len(names) == 1 else names


def _point(owner: str, key: str, value: Any) -> Any:
    """Return a point or part as an anchor."""
    return point_data(value)


def _varying(owner: str, key: str, value: Any) -> Any:
    """Return the value of a load: numbers, formulas or a function of time."""
    return signal_data(owner, key, value, LOADS) if callable(value) else value


def _scalar(owner: str, key: str, value: Any) -> Any:
    """Return a number, a formula or a scalar function of time."""
    return signal_data(owner, key, value, LOADS) if callable(value) else value


def _motion(owner: str, key: str, value: Any) -> Any:
    """Return a prescribed motion as a function of time."""
    return signal_data(owner, key, value.given if isinstance(value, MotionOfTime) else value, MOTIONS)


def _law(owner: str, key: str, value: Any) -> Any:
    """Return the law of a spring or a damper."""
    return law_data(value)


def _control_law(owner: str, key: str, value: Any) -> Any:
    """Return the law of a controller."""
    return control_law_data(owner, value)


def _actuator_law(owner: str, key: str, value: Any) -> Any:
    """Return the law of an actuator."""
    return actuator_law_data(value)


def _measures_data(owner: str, key: str, value: dict[str, Measure]) -> Data:
    """Return the scene data of measures by name."""
    return {name: _measure_data(measure) for name, measure in value.items()}


def _measure_data(measure: Measure) -> Data:
    """Return the scene data of a measure."""
    names = {"cosine": ("direction_a", "direction_b")}.get(measure.word, ("axis",))
    directions = {
        name: invert_check("measure", name, direction, check)
        for name, check in zip(names, measure.directions, strict=False)
    }
    return {
        "of": "coordinate" if measure.a is None else measure.word,
        "a": None if measure.a is None else point_data(measure.a),
        "b": point_data(measure.b),
        **directions,
        "length": measure.length,
    }


def _sensed_data(owner: str, key: str, value: Measure | Quantity) -> Data:
    """Return the scene data of what a sensor measures."""
    if isinstance(value, Measure):
        return _measure_data(value)
    of = value.of if value.of is None or value.word == "section_force" else _name(owner, key, value.of)
    axis = None if value.axis is None else invert_check("measure", "axis", direction, value.axis)
    data: dict[str, Data] = {
        "section_force": {"component": value.component},
        "joint_force": {"joint": of, "component": value.component, "axis": axis},
        "contact_force": {"contact": of, "axis": axis},
        "energy": {"kind": value.component, "part": of},
        "state": {"interaction": of, "name": value.component, "index": value.index},
    }
    point = {"point": point_data(of)} if value.word == "section_force" else {}
    return {"of": value.word, **point, **data[value.word]}


# --- the types of fields


class FieldType(NamedTuple):
    """A type of fields: its schema, how a value is read, and how it is written."""

    schema: Any
    read: Callable[[PointReader, Path, Any], Any] = _identity
    write: Callable[[str, str, Any], Any] = _numbers


_SIX: Any = numbers(6, 6)
_NAMES: Any = Annotated[list[Name], Field(min_length=1)]
_SURFACES = _list_of(PointReader.surface)
_ROWS: Any = list.__class_getitem__(numbers(1))
_NESTED: Any = Number | numbers(1) | _ROWS | list.__class_getitem__(_ROWS)  # of one to three dimensions
# by the word of a field type (`ParameterType`); those with choices are made in `field_type`
FIELD_TYPES = {
    "end": FieldType(Anchor, PointReader.end, _point),
    "point": FieldType(Anchor, PointReader.point, _point),
    "points of parts": FieldType(
        Annotated[list[TendonStop], Field(min_length=2)],
        _list_of(tendon_stop),
        lambda owner, key, value: list(map(tendon_stop_data, value)),
    ),
    "drums": FieldType(
        Annotated[list[DrumScene], Field(min_length=2)],
        _list_of(tendon_stop),
        lambda owner, key, value: list(map(tendon_stop_data, value)),
    ),
    "rod": FieldType(Name, _object_reader("rod", "rods"), _name),
    "part": FieldType(Name, _object_reader("part", "bodies", "rods"), _name),
    "joint": FieldType(Name, _object_reader("joint", "joints"), _name),
    "joints": FieldType(Annotated[list[Name], Field(min_length=2)], _list_of(_object_reader("joint", "joints")), _name),
    "number": FieldType(Number),
    "positive": FieldType(Positive),
    "not negative": FieldType(NotNegative),
    "vector": FieldType(Vector),
    "place": FieldType(Place, PointReader.place),
    "pair": FieldType(numbers(2, 2)),
    "six": FieldType(_SIX),
    "matrix": FieldType(NotNegative | _SIX | Annotated[list[_SIX], Field(min_length=6, max_length=6)]),
    "axes": FieldType(Annotated[list[Vector], Field(min_length=3, max_length=3)]),
    "ratios": FieldType(numbers(2)),
    "points": FieldType(Annotated[list[Vector], Field(min_length=1)]),
    "triangles": FieldType(Annotated[list[Annotated[list[int], Field(min_length=3, max_length=3)]], Field(min_length=1)]),
    "mesh file": FieldType(Name),
    "bearing matrix": FieldType(_NESTED),
    "speeds": FieldType(numbers(2)),
    "flag": FieldType(bool),
    "varying": FieldType(Components | Signal, lambda reader, path, value: value_of(value), _varying),
    "varying scalar": FieldType(ScalarSignal | Formula | Number, lambda reader, path, value: scalar_of(value), _scalar),
    "varying, not negative": FieldType(
        ScalarSignal | Formula | NotNegative, lambda reader, path, value: scalar_of(value), _scalar
    ),
    "shape along a rod": FieldType(Annotated[list.__class_getitem__(numbers(2, 2)), Field(min_length=2)]),
    "motion": FieldType(Motion, lambda reader, path, value: motion_of(path, value), _motion),
    "law": FieldType(SpringLawScene, lambda reader, path, value: law_of(value), _law),
    "text": FieldType(str),
    "contact law": FieldType(Literal.__getitem__(LAWS) | str),
    "measures": FieldType(dict[Name, MeasureScene], _measures, _measures_data),
    "measure": FieldType(SensedScene, _sensed, _sensed_data),
    "measure of points": FieldType(MeasureScene, _measure, lambda owner, key, value: _measure_data(value)),
    "noise": FieldType(NotNegative | numbers(2, 2)),
    "seed": FieldType(Annotated[int, Field(ge=0)]),
    "control law": FieldType(ControlLawScene, lambda reader, path, value: control_law_of(value), _control_law),
    "actuator law": FieldType(ActuatorLawScene, lambda reader, path, value: actuator_law_of(value), _actuator_law),
    "fluid": FieldType(Name, _object_reader("fluid", "others"), _name),
    "current": FieldType(
        CurrentScene, lambda reader, path, value: current_of(value), lambda owner, key, value: current_data(value)
    ),
    "waves": FieldType(
        list[WaveScene], lambda reader, path, value: waves_of(value), lambda owner, key, value: waves_data(value)
    ),
    "polar": FieldType(
        PolarScene, lambda reader, path, value: polar_of(value), lambda owner, key, value: polar_data(value)
    ),
    "number or table along a rod": FieldType(
        Number | Annotated[list.__class_getitem__(numbers(2, 2)), Field(min_length=2)]
    ),
    "one or three numbers": FieldType(NotNegative | Vector),
    "added mass": FieldType(
        NotNegative | Vector | _SIX | Annotated[list[_SIX], Field(min_length=6, max_length=6)]
    ),
    "varying scalars": FieldType(
        dict[Name, ScalarSignal | Formula | Number],
        lambda reader, path, values: {name: scalar_of(x) for name, x in values.items()},
        lambda owner, key, values: {name: _scalar(owner, name, x) for name, x in values.items()},
    ),
    "inputs": FieldType(list[Name], write=_name),
    "output names": FieldType(_NAMES, write=lambda owner, key, value: [value] if isinstance(value, str) else value),
    "values": FieldType(list[Number]),
    "parameters": FieldType(dict[Name, Number]),
    "condition": FieldType(str),
    "joints or drives": FieldType(Name | _NAMES, write=_one_or_several),
    "settings": FieldType(dict[str, Number]),
    "surfaces": FieldType(Name | _NAMES, _SURFACES, _one_or_several),
    "surface pairs": FieldType(list[Annotated[list[Name], Field(min_length=2, max_length=2)]], _list_of(_SURFACES), _name),
    "friction": FieldType(NotNegative | numbers(2, 2)),
    "drilling": FieldType(NotNegative | Literal["friction"]),
    "count": FieldType(Annotated[int, Field(ge=1)]),
}  # fmt: skip


def field_type(value_type: ParameterType) -> FieldType:
    """Return the type in scenes of a field of entries."""
    if not value_type.choices:
        return FIELD_TYPES[value_type.word]
    one: Any = Literal.__getitem__((*value_type.choices, *value_type.synonyms))
    return FieldType({"choice": one, "choices": list[one], "coordinates": list[one | None]}[value_type.word])


# --- entries


def singular(word: str) -> str:
    """Return the singular of a plural such as meshes, energies or springs."""
    if word.endswith("ies"):
        return word.removesuffix("ies") + "y"
    return word.removesuffix("es" if word.endswith(("shes", "ches", "xes", "sses")) else "s")


@cache
def schema_of(kind: type[Component]) -> type[Part]:
    """Return the schema of one kind of entry."""
    name = kind.schema or "".join(word.capitalize() for word in singular(kind.key).split("_")) + "Scene"
    fields: dict[str, tuple[Any, ...]] = {"name": (Name, f"name of the {kind.word}")}
    for spec in kind.fields().values():
        default = list(spec.default) if isinstance(spec.default, tuple) else spec.default
        default_value = () if default is dataclasses.MISSING else (default,)
        schema = field_type(spec.value_type).schema
        fields[spec.key] = (schema | None if default is None else schema, spec.words, *default_value)
    return made(name, Part, kind.__doc__, fields)


def add_component(
    reader: PointReader, path: Path, kind: type[Component], item: Any, folder: FilePath
) -> None:
    """Read the fields of an entry, each according to its type, and add the entry to the model."""
    fields = kind.fields()
    arguments = kind.canonical({field: getattr(item, spec.key) for field, spec in fields.items()})
    points = kind.needs_points(arguments)
    for field, spec in fields.items():
        value, word = arguments[field], spec.value_type.word
        if value is not None:
            read = PointReader.point if word == "end" and points else field_type(spec.value_type).read
            value = str(folder / value) if word == "mesh file" else value
            arguments[field] = read(reader, (*path, spec.key), value)
    add(reader.model, kind, item.name, **arguments)


def component_data(entry: Component, folder: FilePath) -> Data:
    """Return the scene data of an entry, without fields that have their default."""
    owner = f"{entry.word} '{entry.name}'"
    data: Data = {"name": entry.name}
    for field, spec in entry.fields().items():
        value = _argument(entry, field, spec)
        if value is not None:
            data[spec.key] = field_type(spec.value_type).write(owner, spec.key, value)
            if spec.value_type.word == "mesh file":
                data[spec.key] = _relative(str(value), folder)
    return data


def _argument(entry: Component, field: str, spec: ParameterSpec) -> Any:
    """Return the argument of a field, of the checked field if it is not known; None if it has its default."""
    if spec.value_type.word in ("text", "contact law"):  # sympy expressions are stored as text in the field
        value = getattr(entry, field)
        return None if spec.default is not None and value is spec.default else value
    if field not in entry.arguments:
        value = getattr(entry, field)
        return spec.value_type.describe(value) if spec.value_type.choices and value is not None else value
    value = entry.arguments[field]
    return None if spec.default is not None and value is spec.default else value


def _relative(file: str, folder: FilePath) -> str:
    """Return the path of a mesh file relative to `folder` if it is in there, else the absolute path."""
    absolute, absolute_folder = os.path.abspath(file), os.path.abspath(folder)
    return (
        os.path.relpath(absolute, absolute_folder)
        if absolute.startswith(absolute_folder + os.sep)
        else absolute
    )
