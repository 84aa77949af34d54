"""Validate plain data as a `Scene`, and convert pydantic's errors to messages with file, line, object, value and remedy."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from rigid.checks import LARGEST
from rodsim.expressions import number_of
from rodsim.scenes import schema
from rodsim.scenes.errors import Path, SceneError
from rodsim.scenes.for_loops import expand_for_loops
from rodsim.scenes.object_names import name_object, objects, quoted
from rodsim.scenes.parameters import SIGN, Parameters, evaluated, is_expression
from rodsim.scenes.yaml_data import Source

MOST_PROBLEMS = 10

# Errors of union members whose type does not match the input, such as text for a list.
_OTHER_KIND = ("string_type", "list_type", "model_type", "model_attributes_type", "dict_type")

# Keys of other programs -> keys of a scene.
_FOREIGN = {
    "beams": "rods",
    "cables": "rods",
    "constraints": "joints",
    "duration": "t_end",
    "forces": "loads",
    "links": "bodies",
    "moments": "loads",
    "motors": "drives",
    "rho": "density",
    "rigid_bodies": "bodies",
    "step": "dt",
    "strings": "rods",
    "time_step": "dt",
    "timestep": "dt",
    "torques": "loads",
    "youngs_modulus": "E",
}

# Message and remedy by the type of pydantic's error; names in braces are filled in from its context.
_WORDS = {
    "bool_type": "is neither true nor false. Write true or false.",
    "dict_type": "is not a mapping. Write it as {{key: value}}.",
    "extra_forbidden": "is not known here; remove it",
    "finite_number": "is not a finite number. Give a finite number.",
    "float_type": "is not a number. Give a number, such as 0.5.",
    "greater_than": "is too small; give a number above {gt:.6g}",
    "greater_than_equal": "is too small; give at least {ge:.6g}",
    "int_from_float": "is not a whole number. Give a whole number, such as 2.",
    "int_type": "is not a whole number. Give a whole number, such as 2.",
    "less_than": "is too large; give a number below {lt:.6g}",
    "less_than_equal": "is too large; give at most {le:.6g}",
    "list_type": "is not a list. Write it as [...].",
    "literal_error": "is not known; choose one of {expected}",
    "missing": "is missing; give it",
    "model_attributes_type": "is not a mapping. Write it as {{key: value}}.",
    "model_type": "is not a mapping. Write it as {{key: value}}.",
    "string_too_long": "has too many characters; give at most {max_length}",
    "string_too_short": "is too short; give at least {min_length} characters",
    "string_type": "is not a text. Give a text, in quotes if it may be read as a number.",
    "too_long": "has {actual_length} entries; give at most {max_length}",
    "too_short": "has {actual_length} entries; give at least {min_length}",
}

M = typing.TypeVar("M", bound=BaseModel)


@cache
def keys_of(kind: type[BaseModel]) -> Sequence[str]:
    """Return all keys that occur in a schema, sorted."""
    schema = kind.model_json_schema()
    return sorted(
        {
            key
            for object_schema in (schema, *schema["$defs"].values())
            for key in object_schema.get("properties", {})
        }
    )


def check(source: Source) -> schema.Scene:
    """Write out repeated entries, evaluate expressions and validate a scene; SceneError has at most ten problems, by lines."""
    source = expand_for_loops(source)
    parameters = Parameters(source.data)
    return checked(evaluated(source, parameters), schema.Scene, parameters)


def checked(source: Source, kind: type[M], parameters: Mapping[str, float] | None = None) -> M:
    """Validate the data of a file against the schema `kind` and return the result, or raise SceneError.

    `parameters`: those of expressions of time.
    """
    try:
        return kind.model_validate(source.data, context=parameters)
    except ValidationError as error:
        problems: dict[Path, tuple[tuple[bool, int, bool], tuple[str, int], str]] = {}
        for item in error.errors(include_url=False):
            path, missing = _place(source.data, item["loc"])
            line = source.place(path)
            # for a union pydantic reports why each member failed; the deepest error belongs to the member that was meant
            word_for_parts = item["type"] == "literal_error" and isinstance(item["input"], dict | list)
            fitting = item["type"] not in _OTHER_KIND and not word_for_parts
            rank = (fitting, len(path), item["type"] != "missing")
            text = _text(source, path, missing, item, kind)
            part = path[:3]  # of an object of the scene
            if part not in problems or rank > problems[part][0]:
                problems[part] = (rank, line, text)
        ordered = sorted(
            {
                (line, text)
                for path, (rank, line, text) in problems.items()
                if rank[0] or not any(path == deeper[: len(path)] != deeper for deeper in problems)
            }
        )
        raise SceneError([(*line, text) for line, text in ordered[:MOST_PROBLEMS]]) from None


def _place(data: Any, loc: tuple[Any, ...]) -> tuple[Path, str | None]:
    """Return the path of pydantic's location in the data, and the missing key there or None.

    Names of union members in the location are skipped.
    """
    path: list[str | int] = []
    here: Any = data
    missing: str | None = None
    for k, part in enumerate(loc):
        named = isinstance(here, dict) and isinstance(part, str) and part in here
        is_index = isinstance(here, list) and isinstance(part, int) and part < len(here)
        if named or is_index:
            here = here[part]
            path.append(part)
        elif k == len(loc) - 1 and isinstance(part, str):
            missing = part
    return tuple(path), missing


def _text(
    source: Source, path: Path, missing: str | None, item: typing.Mapping[str, Any], schema: type[BaseModel]
) -> str:
    """Return the message for one error of pydantic: object, key, value and remedy; `schema`: schema of the file."""
    owner = name_object(source.data, path) if path else source.what
    depth = 2 if path and path[0] in objects() else 1
    what = ".".join(str(part) if str(part).isprintable() else repr(part) for part in path[depth:])
    kind = item["type"]
    value = item.get("input")
    if kind == "missing":
        inside = f" in '{what}'" if what else ""
        return f"{owner}: '{missing}' is missing{inside}; give it"
    if kind == "extra_forbidden":
        key = str(path[-1])
        known = keys_of(schema)
        near = difflib.get_close_matches(key, known, 1)
        if near == [key]:  # the key of another object; here a unit may be missing in its name
            near = sorted(name for name in known if name.startswith(f"{key}_"))[:1]
        if _FOREIGN.get(key.lower()) in known:
            near = [_FOREIGN[key.lower()]]
        hint = f"did you mean {near[0]!r}?" if near else "remove it"
        return f"{owner}: the key {quoted(key)} is not known here; {hint}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        key = str(item.get("ctx", {}).get("discriminator", "type")).strip("'")
        expected = item.get("ctx", {}).get("expected_tags")
        tag = value.get(key) if isinstance(value, dict) else value
        cure = f"use one of {expected}" if expected else f"say which with '{key}:'"
        return f"{owner}: {what or 'value'}: {key} = {_short(tag)} is not known; {cure}"
    if kind in ("float_type", "int_type") and isinstance(value, str) and is_expression(value):
        try:
            number_of(value[len(SIGN) :], Parameters(source.data))
        except ValueError as error:
            return f"{owner}: {what} = {_short(value)}: {error}"
    return f"{owner}: {what or 'value'} = {_short(value)}{complaint(item)}"


def complaint(item: typing.Mapping[str, Any]) -> str:
    """Return error and remedy for one error of pydantic, as text that follows the value."""
    kind, context = item["type"], item.get("ctx", {})
    if kind == "value_error":  # raised by a validator of the schema
        return f": {context['error']}"
    if kind == "greater_than_equal" and 0.0 < context["ge"] <= 1.0 / LARGEST and item["input"] <= 0.0:
        return " is not positive; give a number above 0"
    if kind == "string_type" and isinstance(item["input"], bool | int | float):
        read = (
            ", as YAML reads on and yes as true, off and no as false"
            if isinstance(item["input"], bool)
            else ""
        )
        return f" is not a text; put it in quotes{read}"
    if kind in _WORDS:
        return f" {_WORDS[kind].format(**context)}"
    return f": {item['msg']}"  # written in the schema: `custom_error_message`


def _short(value: Any) -> str:
    """Return the representation of a value, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
