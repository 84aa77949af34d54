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
from rigid.errors import ModelError
from rodsim.building.build import Built
from rodsim.components.base import COMPONENT_TYPES
from rodsim.model import Model
from rodsim.results.atomic_write import atomic_file, check_target
from rodsim.results.errors import check_path
from rodsim.scenes.components import component_data
from rodsim.scenes.errors import SceneError
from rodsim.scenes.model_from_scene import loaded_from
from rodsim.scenes.parts import PART_KINDS
from rodsim.scenes.reading import parse
from rodsim.scenes.round_trip import Data, plain, raise_not_savable
from rodsim.scenes.scene_checks import check
from rodsim.scenes.yaml_data import to_yaml


def save(model: Model, path: Path | str) -> Path:
    """Write a scene file from which `rodsim.scenes.model_from_scene.load` makes the same model, and return its path."""
    file = check_path("save", path)
    check_target(file)
    data = scene_data(model, file.parent)
    text = to_yaml(data)
    _check_same(model, text, file)
    with atomic_file(file) as part:
        part.write_text(text, encoding="utf-8")
    return file


def scene_data(model: Model, folder: Path) -> Data:
    """Return the data of the scene of a model; mesh files in `folder` get relative paths, others absolute paths."""
    if model.left_out:
        raise_not_savable(f"model '{model.name}'", "it is the rigid twin of another. Save that one.")
    lists: Data = {
        head: [kind.data(part) for part in getattr(model, head).values()] for head, kind in PART_KINDS.items()
    }
    for entry in model.entries:
        if COMPONENT_TYPES.get(getattr(type(entry), "key", "")) is not type(entry):
            raise_not_savable(f"{entry.word} '{entry.name}'", "its kind is a Python function")
    for key, kind in COMPONENT_TYPES.items():
        lists[key] = [
            component_data(entry, folder)
            for entry in getattr(model, kind.table).values()
            if type(entry) is kind
        ]
    names_in_lists = [
        item["name"] for key, kind in COMPONENT_TYPES.items() if kind.table == "others" for item in lists[key]
    ]
    order = list(model.others)
    return {
        "name": model.name,
        "gravity": model.gravity.tolist(),
        **{key: plain(items) for key, items in lists.items() if items},
        **({"order": order} if order != names_in_lists else {}),
        **_settings(model),
    }


def _settings(model: Model) -> Data:
    """Return `run` and `equilibrium` of the scene that the model was read from; an empty `run` if there is none."""
    if model.scene is None:
        return {"run": None}
    scene = check(parse(model.scene, "<scene>"))
    sections = {what: getattr(scene, what) for what in ("equilibrium", "run")}
    return {
        what: None if section is None else section.model_dump(exclude_none=True, exclude_unset=True)
        for what, section in sections.items()
        if section is not None or what == "run"
    }


def _check_same(model: Model, text: str, file: Path) -> None:
    """Raise ModelError unless reading the text gives a bit-identical model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original = model.build()
        try:
            other = loaded_from(parse(text, str(file)), file.parent).model.build()
        except SceneError as error:
            raise ModelError(f"model '{model.name}': cannot be saved as a scene: {error}") from None
    for owner in differences(original, other):
        raise ModelError(
            f"model '{model.name}': cannot be saved as a scene: {owner} would be read as something else. Keep the script that "
            "makes it."
        )


def differences(a: Built, b: Built) -> Iterator[str]:
    """Iterate over the differences of two models, as text: in their descriptions, arrays of their states, or systems."""
    described, other = (_with_whole_paths(built.layout.description) for built in (a, b))
    for what in {**described, **other}:
        value, other_value = described.get(what), other.get(what)
        if value == other_value:
            continue
        both = (value, other_value) if isinstance(value, dict) and isinstance(other_value, dict) else ({}, {})
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
