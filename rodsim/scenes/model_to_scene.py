"""Write a complete `Model` as a scene; if a scene cannot express an object, ModelError names it.

Numbers are written with all digits. Some are stored in a model as results of a check (unit vectors and quaternions, sections,
shapes). For these, candidates are tried, and one is written only if reading it gives bit-identical numbers.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discretization.system import fingerprint
from rigid.checks import direction, unit_quaternion
from rigid.errors import ModelError
from rigid.motions import Motion
from rodsim.building.build import Built
from rodsim.interactions.measures import Measure
from rodsim.model import Model
from rodsim.parts.entry import ENTRIES, Entry, Stated
from rodsim.parts.model_parts import MASSES, Anchor, Body, Driven, Ground, Rod, RodShape
from rodsim.parts.space_curves import Helix
from rodsim.results.errors import checked_path
from rodsim.results.whole_file import check_target, whole_file
from rodsim.scenes.errors import SceneError
from rodsim.scenes.functions import LOADS, MOTIONS, law_data, signal_data
from rodsim.scenes.model_from_scene import loaded_from
from rodsim.scenes.named_curves import RowsAlong
from rodsim.scenes.plain_values import Data, before_check, cannot_be_saved, plain
from rodsim.scenes.reading import parse
from rodsim.scenes.scene_checks import check
from rodsim.scenes.sections import section_data
from rodsim.scenes.shapes import shape_data
from rodsim.scenes.yaml_data import to_yaml


def save(model: Model, path: Path | str) -> Path:
    """Write a scene file from which `rodsim.scenes.model_from_scene.load` makes the same model, and return its path."""
    file = checked_path("save", path)
    check_target(file)
    data = scene_data(model, file.parent)
    text = to_yaml(data)
    _check_same(model, text, file)
    with whole_file(file) as part:
        part.write_text(text, encoding="utf-8")
    return file


def scene_data(model: Model, folder: Path) -> Data:
    """Return the data of the scene of a model; mesh files in `folder` get relative paths, others absolute paths."""
    if model.left_out:
        cannot_be_saved(f"model '{model.name}'", "it is the rigid twin of another. Save that one.")
    lists: Data = {
        "bodies": [_body(body) for body in model.bodies.values()],
        "driven": [_driven(driven) for driven in model.driven.values()],
        "rods": [_rod(rod) for rod in model.rods.values()],
    }
    for entry in model.entries:
        if ENTRIES.get(getattr(type(entry), "key", "")) is not type(entry):
            cannot_be_saved(f"{entry.word} '{entry.name}'", "its kind is a Python function")
    for key, kind in ENTRIES.items():
        lists[key] = [
            _entry(entry, folder) for entry in getattr(model, kind.table).values() if type(entry) is kind
        ]
    others = [item["name"] for key, kind in ENTRIES.items() if kind.table == "others" for item in lists[key]]
    order = list(model.others)
    return {
        "name": model.name,
        "gravity": model.gravity.tolist(),
        **{key: items for key, items in lists.items() if items},
        **({"order": order} if order != others else {}),
        **_settings(model),
    }


def _settings(model: Model) -> Data:
    """Return `run` and `equilibrium` of the scene that the model was read from; an empty `run` if there is none."""
    if model.scene is None:
        return {"run": None}
    scene = check(parse(model.scene, "<scene>"))
    said = {what: getattr(scene, what) for what in ("equilibrium", "run")}
    return {
        what: None if own is None else own.model_dump(exclude_none=True, exclude_unset=True)
        for what, own in said.items()
        if own is not None or what == "run"
    }


def _check_same(model: Model, text: str, file: Path) -> None:
    """Raise ModelError unless reading the text gives a bit-identical model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine = model.build()
        try:
            other = loaded_from(parse(text, str(file)), file.parent).model.build()
        except SceneError as error:
            raise ModelError(f"model '{model.name}': cannot be saved as a scene: {error}") from None
    for owner in differences(mine, other):
        raise ModelError(
            f"model '{model.name}': cannot be saved as a scene: {owner} would be read as something else. Keep the script that "
            "makes it."
        )


def differences(a: Built, b: Built) -> Iterator[str]:
    """Iterate over the differences of two models, as text: in their descriptions, arrays of their states, or systems."""
    described, other = (_with_whole_paths(built.layout.description) for built in (a, b))
    for what in {**described, **other}:
        mine, theirs = described.get(what), other.get(what)
        if mine == theirs:
            continue
        both = (mine, theirs) if isinstance(mine, dict) and isinstance(theirs, dict) else ({}, {})
        names = [name for name in both[0] if both[0][name] != both[1].get(name)]
        yield f"{what} {', '.join(map(repr, names[:5]))}".rstrip()
    for name, x, y in zip(a.state._fields, a.state, b.state, strict=True):
        if np.asarray(x).tobytes() != np.asarray(y).tobytes():
            yield f"the state ({name})"
    if fingerprint(a.system) != fingerprint(b.system):
        yield "the order of its parts"


def _with_whole_paths(description: Mapping[str, Any]) -> Data:
    """Return a description with absolute paths of mesh files."""
    meshes = {
        name: {**mesh, "file": os.path.abspath(mesh["file"])} if mesh.get("file") else mesh
        for name, mesh in description.get("meshes", {}).items()
    }
    return {**description, **({"meshes": meshes} if meshes else {})}


# --- parts


def _body(body: Body) -> Data:
    """Return the scene data of a body."""
    owner = f"body '{body.name}'"
    if body.stands_for is not None:
        cannot_be_saved(owner, "it stands for a rod. Save the model that has the rod.")
    return {
        "name": body.name,
        "shape": shape_data(owner, body.properties),
        "position": body.position.tolist(),
        "orientation": before_check(owner, "orientation", unit_quaternion, body.orientation),
        **_where_given("velocity", body.velocity),
        **_where_given("angular_velocity", body.angular_velocity),
    }


def _where_given(what: str, value: Any) -> Data:
    """Return {what: value}, or an empty dict if the value is None."""
    return {} if value is None else {what: plain(value)}


def _driven(driven: Driven) -> Data:
    """Return the scene data of a driven frame."""
    owner, motion = f"driven '{driven.name}'", driven.motion
    if motion.attitude is not None:
        cannot_be_saved(owner, "its attitude is a Python function")
    displacement = motion.displacement.given
    several = displacement if isinstance(displacement, list | tuple) else [displacement]
    said: Data = {
        "name": driven.name,
        "position": motion.position.tolist(),
        "orientation": before_check(owner, "orientation", unit_quaternion, motion.orientation),
    }
    if displacement is not None:
        said["displacement"] = [signal_data(owner, "displacement", own, MOTIONS) for own in several]
    if motion.axis is not None:
        said["axis"] = before_check(owner, "axis", direction, motion.axis)
        said["turn"] = signal_data(owner, "turn", motion.angle.given, MOTIONS)
    return said


def _rod(rod: Rod) -> Data:
    """Return the scene data of a rod."""
    owner = f"rod '{rod.name}'"
    masses = [word for word, part in MASSES.items() if part == rod.consistency]
    for what in ("section", "velocity", "angular_velocity"):
        if callable(getattr(rod, what)):
            cannot_be_saved(owner, f"its {what} is a Python function")
    said = {
        "name": rod.name,
        "curve": _curve(owner, rod.initial),
        "section": section_data(owner, rod.section),
        "n_elements": rod.n_elements,
        "closed": rod.closed,
        **_along(owner, "up", rod.initial.up),
        **_twist(owner, "twist_deg", rod.initial.twist),
    }
    free = rod.stress_free
    if free is not rod.initial:
        if free.curve is not rod.initial.curve:
            said["stress_free"] = _curve(owner, free)
            said["stress_free_closed"] = free.curve.closed
        said |= _along(owner, "stress_free_up", free.up)
        said |= _twist(owner, "stress_free_twist_deg", free.twist)
    return {
        **said,
        **_where_given("velocity", rod.velocity),
        **_where_given("angular_velocity", rod.angular_velocity),
        "mass": masses[0],
        "element": rod.element,
        **_along(owner, "rest_strains", rod.rest_strains),
    }


def _curve(owner: str, shape: RodShape) -> Any:
    """Return the scene data of the curve of a rod."""
    given = shape.curve.given
    if isinstance(given, Helix) and given.given is not None:
        return given.given
    if callable(given):
        cannot_be_saved(owner, "its curve is a Python function")
    return plain(given)


def _along(owner: str, what: str, value: Any) -> Data:
    """Return a value along a rod: numbers, or rows of s and numbers."""
    if isinstance(value, RowsAlong):
        return {what: plain(value.given)}
    if callable(value):
        cannot_be_saved(owner, f"its {what} is a Python function")
    return _where_given(what, value)


def _twist(owner: str, what: str, value: Any) -> Data:
    """Return a twist in degrees or rows of s and degrees; in radians if no number of degrees gives it exactly."""
    if isinstance(value, RowsAlong):
        return {what: plain(value.given)}
    if callable(value):
        cannot_be_saved(owner, f"its {what.removesuffix('_deg')} is a Python function")
    degrees = round(float(np.degrees(value)), 9)
    return {what: degrees if np.radians(degrees) == value else {"rad": float(value)}}


# --- what joins and loads them


def _entry(entry: Entry, folder: Path) -> Data:
    """Return the scene data of an entry, without fields that have their default."""
    owner = f"{entry.word} '{entry.name}'"
    said: Data = {"name": entry.name}
    for field, own in entry.fields().items():
        known = field in entry.given
        value = entry.given[field] if known else getattr(entry, field)
        if value is None or (known and own.default is not None and value is own.default):
            continue
        if not known and own.sort.choices:
            value = own.sort.describe(value)
        if own.sort.word in ("text", "contact law"):  # sympy expressions are stored as text in the field
            value = getattr(entry, field)
        said[own.key] = _value(owner, own, value, folder)
    return said


def _value(owner: str, own: Stated, value: Any, folder: Path) -> Any:
    """Return the value of a field as scene data, according to the type of the field."""
    word = own.sort.word
    if word in ("end", "point"):
        return _anchor(value)
    if word in ("rod", "part", "joint"):
        return value if isinstance(value, str) else value.name
    if word == "joints":
        return [x if isinstance(x, str) else x.name for x in value]
    if word == "surfaces":
        names = _names(value)
        return names[0] if len(names) == 1 else names
    if word == "surface pairs":
        return [_names(pair) for pair in value]
    if word == "varying":
        return (
            signal_data(owner, own.key, value, LOADS) if callable(value) else _numbers(owner, own.key, value)
        )
    if word == "motion":
        return signal_data(owner, own.key, value.given if isinstance(value, Motion) else value, MOTIONS)
    if word == "law":
        return law_data(value)
    if word == "measures":
        return {name: _measure(measure) for name, measure in value.items()}
    if word == "parameters":
        return plain(value)
    if word == "mesh file":
        return _mesh_file(str(value), folder)
    return _numbers(owner, own.key, value)


def _numbers(owner: str, what: str, value: Any) -> Any:
    """Return numbers as lists; ModelError for a function."""
    if callable(value):
        cannot_be_saved(owner, f"its {what} is a Python function")
    return plain(value)


def _names(surfaces: Any) -> list[str]:
    """Return the names of one surface or several."""
    several = surfaces if isinstance(surfaces, list | tuple) else [surfaces]
    return [x if isinstance(x, str) else x.name for x in several]


def _anchor(thing: Any) -> Any:
    """Return a point or part as the anchor of a scene."""
    if isinstance(thing, Ground):
        return "ground"
    if isinstance(thing, Body | Driven):
        return {"body": thing.name} if thing.name == "ground" else thing.name
    assert isinstance(thing, Anchor)
    if isinstance(thing.part, Ground):
        return {"ground": thing.X.tolist()}
    if isinstance(thing.part, Rod):
        offset = {"offset": thing.X.tolist()} if np.any(thing.X) else {}
        return {"rod": thing.part.name, "s": thing.s, **offset}
    return {"body": thing.part.name, "at": thing.X.tolist()}


def _measure(measure: Measure) -> Data:
    """Return the scene data of a measure."""
    names = {"cosine": ("direction_a", "direction_b")}.get(measure.word, ("axis",))
    of = "coordinate" if measure.a is None else measure.word
    return {
        "of": of,
        **({} if measure.a is None else {"a": _anchor(measure.a)}),
        "b": _anchor(measure.b),
        **{
            name: before_check("measure", name, direction, own)
            for name, own in zip(names, measure.directions, strict=False)
        },
        **({} if measure.length is None else {"length": measure.length}),
    }


def _mesh_file(file: str, folder: Path) -> str:
    """Return the path of a mesh file relative to `folder` if it is in there, else the absolute path."""
    whole, there = os.path.abspath(file), os.path.abspath(folder)
    return os.path.relpath(whole, there) if whole.startswith(there + os.sep) else whole
