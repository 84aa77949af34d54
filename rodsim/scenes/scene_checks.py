"""From plain data to a checked `Scene`; pydantic's complaints become lines that name file, line, object,
value and cure.
"""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from rigid.checks import name_fault
from rodsim.parts.entry import ENTRIES
from rodsim.scenes import schema
from rodsim.scenes.errors import Path, SceneError
from rodsim.scenes.parameter_expressions import evaluated
from rodsim.scenes.reading import Source

PARTS = {
    "materials": "material",
    "sections": "section",
    "rods": "rod",
    "bodies": "body",
    "driven": "driven frame",
}
MOST_PROBLEMS = 10

# Errors of union members that are of another kind than what was given: a text where a list stands.
_OTHER_KIND = ("string_type", "list_type", "model_type", "model_attributes_type", "dict_type")

# In pydantic's words: a kind of Python's, and bounds in all their digits.
_MAPPING = re.compile(r"a valid dictionary( or instance of \w+)?")
_LONG_NUMBER = re.compile(r"\d+\.\d{12,}")

M = typing.TypeVar("M", bound=BaseModel)


def objects() -> dict[str, str]:
    """What one is called of each list or mapping of a scene."""
    return PARTS | {key: kind.word for key, kind in ENTRIES.items()}


@cache
def keys_of(kind: type[BaseModel]) -> Sequence[str]:
    """All keys that may stand in it."""
    found = kind.model_json_schema()
    return sorted({key for own in (found, *found["$defs"].values()) for key in own.get("properties", {})})


def check(source: Source) -> schema.Scene:
    """The scene, its expressions worked out, or a SceneError with up to ten problems, in the order of the file."""
    return checked(evaluated(source), schema.Scene)


def checked(source: Source, kind: type[M]) -> M:
    """The data of a file as a `kind`, or a SceneError."""
    try:
        return kind.model_validate(source.data)
    except ValidationError as error:
        problems: dict[Any, tuple[tuple[bool, int, bool], int, str]] = {}
        for item in error.errors(include_url=False):
            path, missing = _place(source.data, item["loc"])
            line = source.line(path)
            # of a union pydantic tells why each member failed; the deepest one is what the user meant
            word_for_parts = item["type"] == "literal_error" and isinstance(item["input"], dict | list)
            fitting = item["type"] not in _OTHER_KIND and not word_for_parts
            rank = (fitting, len(path), item["type"] != "missing")
            text = _text(source, path, missing, item, kind)
            key = (_object_path(path), path[:3])
            if key not in problems or rank > problems[key][0]:
                problems[key] = (rank, line, text)
        inner = {path for _, path in problems}
        ordered = sorted(
            {
                (line, text)
                for (_, path), (rank, line, text) in problems.items()
                if rank[0] or not any(path == deeper[: len(path)] != deeper for deeper in inner)
            }
        )
        raise SceneError([(source.file, line, text) for line, text in ordered[:MOST_PROBLEMS]]) from None


def name_object(data: Any, path: Path) -> str:
    """The object that `path` leads into, in words: "rod 'arm'"; or the section of the scene."""
    if not path:
        return "scene"
    head = str(path[0]) if str(path[0]).isprintable() else repr(path[0])
    known = objects()
    if head in known and len(path) > 1:
        items, key = data.get(head), path[1]
        item = items[key] if isinstance(items, list) and isinstance(key, int) else None
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(path[1], str):
            return f"{known[head]} {_quoted(path[1])}"
        return f"{known[head]} {path[1] + 1 if name_fault(name) else _quoted(name)}"
    return head


def _quoted(text: Any) -> str:
    """A text of the user in quotes, on one line and without control characters."""
    return f"'{text}'" if str(text).isprintable() else repr(text)


def _object_path(path: Path) -> Path:
    return path[:2]


def _place(data: Any, loc: tuple[Any, ...]) -> tuple[Path, str | None]:
    """Where pydantic's location lies in the data, and the key it misses there; names of union members are
    skipped.
    """
    path: list[str | int] = []
    here: Any = data
    missing: str | None = None
    for k, part in enumerate(loc):
        named = isinstance(here, dict) and isinstance(part, str) and part in here
        counted = isinstance(here, list) and isinstance(part, int) and part < len(here)
        if named or counted:
            here = here[part]
            path.append(part)
        elif k == len(loc) - 1 and isinstance(part, str):
            missing = part
    return tuple(path), missing


def _text(
    source: Source, path: Path, missing: str | None, item: typing.Mapping[str, Any], whole: type[BaseModel]
) -> str:
    who = name_object(source.data, path) if path else source.what
    depth = 2 if path and path[0] in objects() else 1
    what = ".".join(str(part) if str(part).isprintable() else repr(part) for part in path[depth:])
    kind = item["type"]
    value = item.get("input")
    if kind == "missing":
        inside = f" in '{what}'" if what else ""
        return f"{who}: '{missing}' is missing{inside}; give it"
    if kind == "extra_forbidden":
        key = str(path[-1])
        near = difflib.get_close_matches(key, keys_of(whole), 1)
        hint = f"did you mean {near[0]!r}?" if near and near[0] != key else "leave it out"
        return f"{who}: the key {_quoted(key)} is not known here; {hint}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        key = str(item.get("ctx", {}).get("discriminator", "type")).strip("'")
        expected = item.get("ctx", {}).get("expected_tags")
        found = value.get(key) if isinstance(value, dict) else value
        cure = f"give one of {expected}" if expected else f"say which with '{key}:'"
        return f"{who}: {what or 'value'}: {key} = {_short(found)} is not known; {cure}"
    if kind == "value_error":  # one of ours
        message = str(item["ctx"]["error"])
    else:
        message = item["msg"].replace("Input should", "it should")  # pydantic has no other data
        message = _MAPPING.sub("a mapping, as {key: value}", message)
        message = _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.6g}", message)
    return f"{who}: {what or 'value'} = {_short(value)}: {message}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
