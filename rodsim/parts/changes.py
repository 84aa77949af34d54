"""Numbers of a model by their paths, as in scenes: "gravity", "springs.coil.stiffness", "loads.push.value"."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from rigid.checks import shown, vector
from rigid.errors import ModelError
from rigid.inertia import MassProperties
from rodsim.parts.entries import Contents
from rodsim.parts.entry import ENTRIES, Entry, checked_entry
from rodsim.parts.model_parts import Body, make_body
from rodsim.parts.surface_entries import SURFACES_ON_PARTS

M = TypeVar("M", bound=Contents)

GRAVITY, BODIES = "gravity", "bodies"
OF_BODIES = ("velocity", "angular_velocity", "shape")
# what stands in a field that may change: no parts, places, directions and choices, which say what acts on what
_SORTS = ("number", "positive", "not negative", "varying", "matrix", "six", "law", "parameters")
_HELD = ("joints", *(own.key for own in SURFACES_ON_PARTS))  # other entries are made of them


def fields_of(kind: type[Entry]) -> dict[str, str]:
    """Fields with numbers of a kind of entries, by their keys in paths."""
    if kind.key in _HELD:
        return {}
    return {own.key: name for name, own in kind.fields().items() if own.sort.word in _SORTS}


def changeable(model: Contents) -> list[str]:
    """All paths of numbers of a model that may change."""
    found = [GRAVITY, *(f"{BODIES}.{name}.{key}" for name in model.bodies for key in OF_BODIES)]
    for key, kind in ENTRIES.items():
        for name, entry in getattr(model, kind.table).items():
            if type(entry) is kind:
                found += [f"{key}.{name}.{field}" for field in fields_of(kind)]
    return found


def check_paths(owner: str, model: Contents, paths: Iterable[str]) -> None:
    """Raise ModelError for what is no path of a number of this model, with those that are near."""
    known = changeable(model)
    for path in paths:
        if path not in known:
            near = difflib.get_close_matches(str(path), known, 3, 0.0)
            raise ModelError(
                f"{owner}: {shown(path)} is no number that may change; near it are {', '.join(near)}",
                choices=known,
            )


def change(model: M, values: Mapping[str, Any]) -> M:
    """Put other numbers into a model whose tables are its own, checked as where its parts are made."""
    bodies: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        if path == GRAVITY:
            model.gravity = vector(f"model '{model.name}'", GRAVITY, value)
            continue
        key, rest = path.split(".", 1)
        name, field = rest.rsplit(".", 1)
        if key == BODIES:
            bodies.setdefault(name, {})[field] = value
            continue
        kind = ENTRIES[key]
        table = getattr(model, kind.table)
        given = {**_given(table[name]), fields_of(kind)[field]: value}
        # some are checked against the others of their kind
        setattr(model, kind.table, {other: entry for other, entry in table.items() if other != name})
        table[name] = checked_entry(model, kind, name, given)
        setattr(model, kind.table, table)
    # entries hold the bodies as they were: only now may others stand in their place
    for name, changed in bodies.items():
        model.bodies[name] = _body(model.bodies[name], changed)
    return model


def _given(entry: Entry) -> dict[str, Any]:
    """What it was made of; of one in a rigid twin, which nobody gave, its fields."""
    if entry.given:
        return dict(entry.given)
    fields = entry.fields().items()
    words = {name: own.sort.describe for name, own in fields if own.sort.word == "choice"}
    return {name: words.get(name, lambda x: x)(getattr(entry, name)) for name, _ in fields}


def _body(body: Body, changed: Mapping[str, Any]) -> Body:
    given: dict[str, Any] = {
        "velocity": body.velocity,
        "angular_velocity": body.angular_velocity,
        "shape": body.properties,
    }
    given |= changed
    made = make_body(
        body.name,
        given["shape"],
        body.position,
        body.orientation,
        given["velocity"],
        given["angular_velocity"],
    )
    shape: MassProperties = made.properties
    if shape.center.tobytes() != body.properties.center.tobytes():
        raise ModelError(
            f"{body}: its new shape has its centre at {shape.center}, not at {body.properties.center}; joints would be "
            "elsewhere on it: build another model"
        )
    return dataclasses.replace(made, stands_for=body.stands_for)
