"""Read the scene of a command, with the values that the option --set gives."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rigid.errors import ModelError

if TYPE_CHECKING:
    from rodsim.scenes.model_from_scene import Loaded
    from rodsim.scenes.yaml_data import Source


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add the option --set to a command that reads a scene."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="another value at a path, as parameters.length=0.4, rods.arm.section.radius=0.01 or run.dt=1e-3; may be given "
        "again",
    )


def load_scene(path: str | Path, values: Sequence[str] = ()) -> Loaded:
    """Read, check and build a scene file with other values; `values`: texts PATH=VALUE."""
    from rodsim.scenes.model_from_scene import loaded_from

    return loaded_from(read_scene_with(path, values), Path(path).parent)


def read_scene_with(path: str | Path, values: Sequence[str]) -> Source:
    """Read a scene file and replace values, found by their paths as in studies; VALUE is read as YAML.

    Raises ModelError if a text is not PATH=VALUE or a path leads nowhere, SceneError if the file is not a scene.
    """
    from dataclasses import replace

    from rodsim.scenes.deprecated_keys import new_path
    from rodsim.scenes.reading import read
    from rodsim.scenes.scene_checks import check
    from rodsim.scenes.yaml_data import parse_yaml, to_yaml
    from rodsim.studies.errors import StudyError
    from rodsim.studies.scene_paths import locate, with_values

    source = read(path)
    if not values:
        return source
    replacements: dict[str, Any] = {}
    for text in values:
        key_path, sign, value = text.partition("=")
        if not sign or not key_path.strip():
            raise ModelError(f"--set {text}: is not PATH=VALUE; write it as parameters.length=0.4")
        replacements[key_path.strip()] = parse_yaml(f"value: {value}", f"--set {text}").data["value"]
    complete = check(source).model_dump()
    try:
        located = [(locate(complete, new_path(key_path)), value) for key_path, value in replacements.items()]
    except StudyError as error:
        raise StudyError(f"--set: {error}") from None
    source = with_values(source, complete, located)
    return replace(source, text=to_yaml(source.data))
