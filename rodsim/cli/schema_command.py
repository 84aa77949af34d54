"""Command `rodsim schema`: print the JSON schema of scenes."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rodsim.cli.exit_codes import OK


def add_parsers(commands: Any) -> None:
    """Add the command, which has no options, to `commands`."""
    parser = commands.add_parser("schema", help="JSON schema of scenes")
    parser.set_defaults(act=schema)


def schema(options: argparse.Namespace) -> int:
    """Print the JSON schema of scenes and return the exit code: rodsim schema."""
    from rodsim.scenes.schema import Scene

    json_schema = with_repeats(with_expressions(Scene.model_json_schema()))
    print(json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **json_schema}, indent=2))
    return OK


def with_expressions(schema: Any) -> Any:
    """Return the schema of scene files, in which any number may be replaced by an expression."""
    if isinstance(schema, list):
        return [with_expressions(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") not in ("number", "integer"):
        return {key: with_expressions(part) for key, part in schema.items()}
    number = {key: part for key, part in schema.items() if key not in _ABOUT}
    about = {key: part for key, part in schema.items() if key in _ABOUT}
    return {"anyOf": [number, _EXPRESSION], **about}


def with_repeats(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of scene files, in which any entry of a list may have the key `for`."""
    one = {"anyOf": [{"type": "number"}, {"type": "string"}]}
    values = {"anyOf": [{"type": "string"}, {"type": "array", "items": one}]}
    for part in schema["properties"].values():
        kind = part.get("items", {}).get("$ref", "").removeprefix("#/$defs/")
        if kind:
            schema["$defs"][kind]["properties"]["for"] = {
                "type": "object",
                "additionalProperties": values,
                "description": "repeat this entry: variables and their values, as {i: 0 to 9}; texts may contain {i}, "
                "expressions i",
            }
    return schema


_ABOUT = ("title", "description", "default")
_EXPRESSION = {"type": "string", "pattern": "^="}
