"""Read scenes as plain data, from a file, or from data read by PyYAML, which follows YAML 1.1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from rodsim.scenes.errors import Path, SceneError
from rodsim.scenes.reading import complete, read
from rodsim.scenes.yaml_data import Source, written_as_number

ON = "on"  # the only key of a scene that YAML 1.1 reads as a boolean
_NUMBER_MISSED = "float_type"  # error type of pydantic: a number is expected


def read_scene(path: str | FilePath) -> dict[str, Any]:
    """Return the data of a scene file, to be changed and passed to `sweep`.

    Unlike with PyYAML, `on` is an ordinary key, and 1e-3 and 5.0e7 are numbers. The content is checked when it is used.

    Parameters
    ----------
    path : str or Path
        Scene file, YAML or JSON.

    Returns
    -------
    dict
        Mappings, lists, texts and numbers, as in the file.

    Raises
    ------
    SceneError
        If the file is missing, not text, not YAML, or not a mapping.
    """
    return dict(read(path).data)


def scene_of(data: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a copy of the data of a scene, with data read by PyYAML converted to that of `read_scene`.

    The key True becomes `on`, and texts such as 5.0e7 become numbers in fields that expect numbers, and nowhere else.
    """
    # imported here: `from rodsim import *` imports this module, and loading the schema takes a third of a second
    from pydantic import ValidationError

    from rodsim.scenes import schema

    copied: dict[str, Any] = complete(Source("<scene>", _with_words(data, ()), {})).data
    try:
        schema.Scene.model_validate(copied)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            if item["type"] == _NUMBER_MISSED and written_as_number(item["input"]):
                _put_number(copied, item["loc"], item["input"])
    return copied


def _with_words(value: Any, path: Path) -> Any:
    """Copy data as dicts and lists, with the key True replaced by `on`; SceneError for a repeated key or one that is not text."""
    if isinstance(value, Mapping):
        copied: dict[str, Any] = {}
        for key, inside in value.items():
            word = ON if key is True else key
            if not isinstance(word, str) or word in copied:
                where = ".".join(map(str, path)) or "the scene"
                raise SceneError([("<scene>", 1, f"{where}: the key {key!r} is not a text, or occurs twice")])
            copied[word] = _with_words(inside, (*path, word))
        return copied
    if isinstance(value, list | tuple):
        return [_with_words(item, (*path, k)) for k, item in enumerate(value)]
    return value


def _put_number(data: Any, loc: tuple[str | int, ...], text: str) -> None:
    """Replace a text by its number in place; names of union members in pydantic's location `loc` are skipped."""
    around: Any = None
    last: str | int = ""
    for part in loc:
        is_place = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if is_place:
            around, last, data = data, part, data[part]
    if data == text:
        around[last] = float(text)
