"""Scenes as plain data: of a file, or as PyYAML has read them, which takes YAML 1.1 at its word."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from rodsim.scenes.errors import Path, SceneError
from rodsim.scenes.old_words import with_new_words
from rodsim.scenes.reading import read, written_as_number

ON = "on"  # the one key of a scene that YAML 1.1 takes for a truth value
_NUMBER_MISSED = "float_type"  # pydantic: a number should stand here


def read_scene(path: str | FilePath) -> dict[str, Any]:
    """The data of the scene file `path`: mappings, lists, texts and numbers, to be changed and given to `sweep`.

    Unlike with PyYAML `on` is a key like others, and 1e-3 and 5.0e7 are numbers. What stands in it is checked where it is used.
    Raises SceneError where the file is missing, not text, not YAML, or not a mapping.
    """
    return dict(read(path).data)


def scene_of(data: Mapping[Any, Any]) -> dict[str, Any]:
    """A copy of the data of a scene, as `read_scene` would give it where PyYAML has read it: keys that are True are `on`, and
    texts such as 5.0e7 are numbers where numbers should stand, and nowhere else.
    """
    # imported where needed: `from rodsim import *` asks for this module, and the schema loads for a third of a second
    from pydantic import ValidationError

    from rodsim.scenes import schema

    found: dict[str, Any] = with_new_words(_with_words(data, ()), {}, "<scene>")[0]
    try:
        schema.Scene.model_validate(found)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            if item["type"] == _NUMBER_MISSED and written_as_number(item["input"]):
                _put_number(found, item["loc"], item["input"])
    return found


def _with_words(value: Any, path: Path) -> Any:
    if isinstance(value, Mapping):
        found: dict[str, Any] = {}
        for key, inside in value.items():
            word = ON if key is True else key
            if not isinstance(word, str) or word in found:
                where = ".".join(map(str, path)) or "the scene"
                raise SceneError([("<scene>", 1, f"{where}: the key {key!r} is no word, or stands twice")])
            found[word] = _with_words(inside, (*path, word))
        return found
    if isinstance(value, list | tuple):
        return [_with_words(item, (*path, k)) for k, item in enumerate(value)]
    return value


def _put_number(data: Any, loc: tuple[str | int, ...], text: str) -> None:
    """The number in the place of its text; `loc` names members of unions too, which are no places."""
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
