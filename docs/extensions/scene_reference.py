"""Write the reference of scenes: one table for each object of the JSON schema; `written.py` stores it in the repository.

Descriptions end with their unit in brackets, [1] for numbers without a unit.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from marks import between
from sphinx.application import Sphinx

PAGE, MARK = "reference/scene_reference", "tables"
UNIT = re.compile(r"\s*\[([^\[\]]*)\]$")
Schema = dict[str, Any]


def title(name: str) -> str:
    """Return the title of an object: `CircularSection` -> circular section, `RodScene` -> rod."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name.removesuffix("Scene") or name).lower()


def label(name: str) -> str:
    """Return the link target of the table of an object."""
    return f"scene-{name.lower()}"


def words_and_unit(description: str) -> tuple[str, str]:
    """Split a description into (words, unit); the unit is "" if there is none."""
    words = re.sub(r"\s+", " ", description)
    unit = UNIT.search(words)
    return (words[: unit.start()], unit.group(1)) if unit else (words, "")


def paragraph(schema: Schema) -> list[str]:
    """Return the description of an object in lines of at most 100 characters."""
    words = re.sub(r"\s+", " ", schema.get("description", ""))
    return textwrap.wrap(words, 100, break_long_words=False, break_on_hyphens=False) or [""]


def shape(schema: Schema) -> str:
    """Describe the type of a value in words, with links to the tables of objects."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{title(name)}](#{label(name)})"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            kinds = [shape(option) for option in schema[several] if option.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    kind = schema.get("type")
    if kind == "array":
        least, most = schema.get("minItems"), schema.get("maxItems")
        count = f"{least} " if least is not None and least == most else f"{least} or more " if least else ""
        inner = shape(schema["items"])
        if inner == "text or number":
            return f"list of {count}numbers or texts"
        if "anyOf" in schema["items"]:
            return f"list{f' of {count}' if count else ''}".rstrip() + f", each {inner}"
        words = {"number": "numbers", "whole number": "whole numbers", "text": "texts", "list": "lists"}
        for one, many in words.items():
            if inner == one or inner.startswith(f"{one} "):
                return f"list of {count}{many}{inner.removeprefix(one)}"
        return f"list of {count}{inner}"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"names with {shape(inner)}" if isinstance(inner, dict) else "names and values"
    return {
        "number": bounded("number", schema),
        "integer": bounded("whole number", schema),
        "string": "text",
        "boolean": "true or false",
    }.get(kind or "", "any value")


def bounded(word: str, schema: Schema) -> str:
    """Return the word of a type with its bounds, except bounds that every float satisfies."""
    if schema.get("exclusiveMinimum") == 0:
        return f"{word} > 0"
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and least > -1e40:
        word += f" >= {least:g}"
    if "exclusiveMinimum" in schema:
        word += f" > {schema['exclusiveMinimum']:g}"
    return f"{word} <= {most:g}" if most is not None and most < 1e9 else word


def default(name: str, schema: Schema, required: list[str]) -> str:
    """Return the default as it is written in a scene."""
    if name in required:
        return "required"
    value = schema.get("default")
    return "" if value is None else f"`{json.dumps(value)}`"


def references(schema: Any) -> Iterator[str]:
    """Return the names of the objects that a schema refers to, in its order."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref":
                yield value.rsplit("/", 1)[-1]
            elif key != "discriminator":
                yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def reached(schema: Schema, definitions: dict[str, Schema]) -> list[str]:
    """Return the names of all objects that a schema leads to, in the order of their first occurrence."""
    names: list[str] = []

    def visit(part: Any) -> None:
        for name in references(part):
            if name not in names:
                names.append(name)
                visit(definitions[name])

    visit(schema)
    return names


def table(schema: Schema) -> list[str]:
    """Return the rows of the table of one object."""
    required = schema.get("required", [])
    rows = ["| key | type | unit | default | |", "|---|---|---|---|---|"]
    for name, part in schema.get("properties", {}).items():
        words, unit = words_and_unit(part.get("description", ""))
        cells = [f"`{name}`", shape(part), unit, default(name, part, required), words]
        rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return ["{.scene}", *rows, ""]  # the class of its columns in the site


def pages(schema: Schema) -> str:
    """Return the whole reference as Markdown: the scene, a section for each key, and objects that several keys share."""
    definitions = schema["$defs"]
    by_key = {key: reached(part, definitions) for key, part in schema["properties"].items()}
    users = {name: [key for key, names in by_key.items() if name in names] for name in definitions}
    shared = [name for name in definitions if len(users[name]) > 1]
    lines = ["## The scene", "", *paragraph(schema), "", *table(schema)]
    for key, names in by_key.items():
        own_names = [name for name in names if name not in shared]
        if own_names:
            lines += [f"## {key}", ""]
        for name in own_names:
            lines += one(name, definitions[name])
    lines += ["## Used by several", ""]
    for name in shared:
        lines += one(name, definitions[name])
    return "\n".join(lines)


def one(name: str, schema: Schema) -> list[str]:
    """Return the section of one object: its title, description and keys."""
    return [f"({label(name)})=", f"### {title(name)}", "", *paragraph(schema), "", *table(schema)]


def plain(text: str) -> str:
    """Remove the markup that only the site uses: targets become anchors, table classes are removed."""
    text = re.sub(r"^\(([\w-]+)\)=$", r'<a id="\1"></a>', text, flags=re.MULTILINE)
    return re.sub(r"^\{\.scene\}\n", "", text, flags=re.MULTILINE)


def tables() -> str:
    """Return the reference of the current schema."""
    from rodsim.scenes.schema import Scene

    return pages(Scene.model_json_schema())


def in_repository(page: str) -> str:
    """Return the page for readers of the repository."""
    return between(page, MARK, plain(tables()))


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Insert the tables into their page, in the form of the site."""
    if name == PAGE:
        source[0] = between(source[0], MARK, tables())


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill the page when it is read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
