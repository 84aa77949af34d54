"""Change numbers of a model by path, written as in scenes: "gravity", "springs.coil.stiffness", "rods.cord.section.radius"."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from rigid.checks import shown, vector
from rigid.errors import ModelError
from rodsim.components.base import COMPONENT_TYPES, Component, make_component
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Anchor, Body, check_section, make_body
from rodsim.components.sections import Section
from rodsim.components.surfaces import SURFACES_ON_PARTS

M = TypeVar("M", bound=ModelData)

GRAVITY, BODIES, RODS, SECTION, FLUIDS = "gravity", "bodies", "rods", "section", "fluids"
OF_BODIES = ("velocity", "angular_velocity", "shape")
# field types that may change; parts, positions, directions and choices may not, since they define what acts on what
_CHANGEABLE_TYPES = (
    *("number", "positive", "not negative", "varying", "varying scalar", "varying, not negative"),
    *("matrix", "bearing matrix", "six", "law", "parameters"),
)
_REFERENCED = (
    "joints",
    *(surface.key for surface in SURFACES_ON_PARTS),
)  # entries that other entries refer to


def fields_of(kind: type[Component]) -> dict[str, str]:
    """Return the fields of a kind of entry whose numbers may change: key in paths -> field name."""
    if kind.key in _REFERENCED:
        return {}
    return {
        spec.key: name for name, spec in kind.fields().items() if spec.value_type.word in _CHANGEABLE_TYPES
    }


def changeable(model: ModelData) -> list[str]:
    """Return the paths of all numbers of a model that may change."""
    paths = [GRAVITY, *(f"{BODIES}.{name}.{key}" for name in model.bodies for key in OF_BODIES)]
    for name, rod in model.rods.items():
        numbers = rod.section.numbers if isinstance(rod.section, Section) else ()
        paths += [_section_path(name), *(f"{_section_path(name)}.{number}" for number in numbers)]
    for key, kind in COMPONENT_TYPES.items():
        for name, entry in getattr(model, kind.table).items():
            if type(entry) is kind:
                paths += [f"{key}.{name}.{field}" for field in fields_of(kind)]
    return paths


def check_paths(owner: str, model: ModelData, paths: Iterable[str]) -> None:
    """Raise ModelError, with the closest known paths, if a path does not name a changeable number of the model."""
    known = changeable(model)
    for path in paths:
        if path not in known:
            near = difflib.get_close_matches(str(path), known, 3, 0.0)
            raise ModelError(
                f"{owner}: {shown(path)} is not a number that may change; similar paths are {', '.join(near)}",
                choices=known,
            )


def change(model: M, values: Mapping[str, Any]) -> M:
    """Set numbers of a model in place and return it; numbers are checked like arguments of `Model`.

    The model must not share its tables with another one. `values`: path -> new value.
    """
    bodies: dict[str, dict[str, Any]] = {}
    _change_sections(model, values)
    for path, value in values.items():
        if path == GRAVITY:
            model.gravity = vector(f"model '{model.name}'", GRAVITY, value)
            continue
        key, remaining = path.split(".", 1)
        if key == RODS:
            continue
        name, field = remaining.rsplit(".", 1)
        if key == BODIES:
            bodies.setdefault(name, {})[field] = value
            continue
        kind = COMPONENT_TYPES[key]
        table = getattr(model, kind.table)
        before = table[name]
        made = _make_again(model, kind, name, {**_arguments_of(before), fields_of(kind)[field]: value})
        if kind.key == FLUIDS:  # the parts in it refer to it
            _ReferenceUpdater(model, {id(before): made}).update_all()
    # checks compare the bodies that entries refer to with those in the model, so bodies are replaced last
    for name, changed in bodies.items():
        model.bodies[name] = _body(model.bodies[name], changed)
    return model


def _section_path(rod: str) -> str:
    """Return the path of the section of a rod."""
    return f"{RODS}.{rod}.{SECTION}"


def _change_sections(model: ModelData, values: Mapping[str, Any]) -> None:
    """Replace the rods whose section changes, and make all entries that refer to them again."""
    replacements: dict[int, Any] = {}
    for name, rod in model.rods.items():
        path, section = _section_path(name), rod.section
        if path in values:
            section = check_section(str(rod), values[path])
        inside = {key[len(path) + 1 :]: x for key, x in values.items() if key.startswith(f"{path}.")}
        if inside:
            if not isinstance(section, Section):
                raise ModelError(f"{rod}: its section varies along it and has no numbers; give {path} alone")
            section = section.with_numbers(inside)
        if section is not rod.section:
            replacements[id(rod)] = dataclasses.replace(rod, section=section)
    if replacements:
        model.rods = {name: replacements.get(id(rod), rod) for name, rod in model.rods.items()}
        _ReferenceUpdater(model, replacements).update_all()


class _ReferenceUpdater:
    """Update entries that refer to replaced rods, directly or through other entries."""

    def __init__(self, model: ModelData, replacements: dict[int, Any]):
        """Store the model and the replacements; `replacements`: id of the old object -> new object."""
        self._model, self._replacements = model, replacements

    def update_all(self) -> None:
        """Replace every entry that refers to an old rod by one that refers to the new rod."""
        for table in dict.fromkeys(kind.table for kind in COMPONENT_TYPES.values()):
            for entry in list(getattr(self._model, table).values()):
                self._of(entry)

    def _of(self, obj: Any) -> Any:
        """Return the replacement of an object, or the object itself; anchors, lists and entries are searched as well."""
        if id(obj) in self._replacements:
            return self._replacements[id(obj)]
        if isinstance(obj, Anchor):
            part = self._of(obj.part)
            return obj if part is obj.part else dataclasses.replace(obj, part=part)
        if isinstance(obj, list | tuple):
            items = [self._of(x) for x in obj]
            return obj if all(x is y for x, y in zip(items, obj, strict=True)) else type(obj)(items)
        return self._remade(obj) if isinstance(obj, Component) else obj

    def _remade(self, entry: Component) -> Component:
        """Return an entry; make it again and store it in its table if an object that it refers to was replaced."""
        arguments = _arguments_of(entry)
        updated = {field: self._of(value) for field, value in arguments.items()}
        # an argument given by name is an object in the field
        references = [getattr(entry, field) for field in entry.fields()]
        same = all(x is self._of(x) for x in references) and all(
            updated[field] is x for field, x in arguments.items()
        )
        made = entry if same else _make_again(self._model, type(entry), entry.name, updated)
        self._replacements[id(entry)] = made
        return made


def _make_again(
    model: ModelData, kind: type[Component], name: str, arguments: Mapping[str, Any]
) -> Component:
    """Make the entry of this name again from the arguments `arguments`, checked against the other entries of its table."""
    table = getattr(model, kind.table)
    setattr(model, kind.table, {other: entry for other, entry in table.items() if other != name})
    made = table[name] = make_component(model, kind, name, arguments)
    setattr(model, kind.table, table)
    return made


def _arguments_of(entry: Component) -> dict[str, Any]:
    """Return the arguments an entry was made from; its fields if it belongs to a rigid twin and has no arguments."""
    if entry.arguments:
        return dict(entry.arguments)
    fields = entry.fields().items()
    words = {name: spec.value_type.describe for name, spec in fields if spec.value_type.word == "choice"}
    return {name: words.get(name, lambda x: x)(getattr(entry, name)) for name, _ in fields}


def _body(body: Body, changed: Mapping[str, Any]) -> Body:
    """Return a body with another velocity, angular velocity or shape; ModelError if its centre of mass would move."""
    velocities = (changed.get(what, getattr(body, what)) for what in OF_BODIES[:2])
    shape = changed.get(OF_BODIES[2], body.properties)
    made = make_body(body.name, shape, body.position, body.orientation, *velocities)
    if made.properties.center.tobytes() != body.properties.center.tobytes():
        raise ModelError(
            f"{body}: its new shape has its centre at {made.properties.center}, not at {body.properties.center}; joints would be "
            "elsewhere on it: build another model"
        )
    return dataclasses.replace(made, replaced_rod=body.replaced_rod)
