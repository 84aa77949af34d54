"""Locate and set values in a scene by path: `rods.cord.section.radius`, `gravity[2]`, `loads.pull.value.t_end`, `run.dt`.

An entry of a list is addressed by its name or by its index in brackets. If a path goes through a section or material that the
part refers to by name, it is copied into this part, so that the parameter changes this part alone; `sections.NAME.radius` changes
it for all parts that use it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rodsim.scenes.errors import Path
from rodsim.studies.errors import StudyError, near

if TYPE_CHECKING:
    from rodsim.scenes.yaml_data import Source

_INDEX = re.compile(r"\[(-?\d+)\]")
_REFERRED = {"section": "sections", "material": "materials"}  # reference -> list referred to


def locate(scene: dict[str, Any], path: str) -> Path:
    """Return the keys and indices to which `path` leads in the plain data of a complete scene (with defaults)."""
    keys: list[str | int] = []
    node: Any = scene
    key: str | int
    remaining, parsed = path, ""
    while remaining:
        index = _INDEX.match(remaining)
        if index:
            node, key = _entry(path, parsed, node, int(index[1]))
            word = index[0]
        else:
            if parsed:
                remaining = remaining.removeprefix(".")
            node = _followed(scene, keys, node)
            node, key, word = _next_step(path, parsed, node, remaining)
        keys.append(key)
        parsed = parsed + word if index or not parsed else f"{parsed}.{word}"
        remaining = remaining[len(word) :]
    return tuple(keys)


def _entry(path: str, parsed: str, node: Any, number: int) -> tuple[Any, int]:
    """Return the entry of a list at an index, and the index without sign; `parsed`: the part of the path before it."""
    if node is None:
        raise _missing_entry_error(path, parsed)
    if not isinstance(node, list):
        raise StudyError(f"path '{path}': {parsed or 'the scene'} is not a list; remove [{number}]")
    if not -len(node) <= number < len(node):
        raise StudyError(
            f"path '{path}': {parsed} has {len(node)} entries; give [0] to [{len(node) - 1}] instead of [{number}]"
        )
    return node[number], number % len(node)


def _missing_entry_error(path: str, location: str) -> StudyError:
    """Return the error for a path through an entry that the scene omits."""
    return StudyError(f"path '{path}': the scene gives no {location}; give it there, then vary it")


def _next_step(path: str, parsed: str, node: Any, remaining: str) -> tuple[Any, str | int, str]:
    """Return the next step of a path: value, key and the word for it in the path; names may contain points."""
    known = _names(node)
    fitting = [
        name
        for name in known
        if remaining == name or (remaining.startswith(name) and remaining[len(name)] in ".[")
    ]
    if fitting:
        word = max(fitting, key=len)
        return node[known[word]], known[word], word
    word = re.split(r"[.\[]", remaining, maxsplit=1)[0]
    location = parsed or "the scene"
    if node is None:
        raise _missing_entry_error(path, location)
    if not known:
        raise StudyError(f"path '{path}': {location} has no parts; the path ends there")
    raise StudyError(f"path '{path}': there is no '{word}' in {location}; {near(word, known)}")


def _names(node: Any) -> dict[str, str | int]:
    """Return the names by which a path can continue, each with its key or index; empty for values without parts."""
    if isinstance(node, dict):
        return {str(key): key for key in node}
    if isinstance(node, list):
        return {item["name"]: k for k, item in enumerate(node) if isinstance(item, dict) and "name" in item}
    return {}


def _followed(scene: dict[str, Any], keys: list[str | int], node: Any) -> Any:
    """Return the section or material that a name refers to; any other value is returned unchanged."""
    if isinstance(node, str) and keys and keys[-1] in _REFERRED:
        return scene[_REFERRED[str(keys[-1])]].get(node, node)
    return node


def assign(data: dict[str, Any], scene: dict[str, Any], keys: Path, value: Any) -> None:
    """Set `value` at `keys` of `data`; entries that `data` omits on the way are copied from `scene`, the complete data."""
    node: Any = data
    complete: Any = scene
    for k, key in enumerate(keys[:-1]):
        complete = _followed(scene, list(keys[: k + 1]), complete[key])
        below = node.get(key) if isinstance(node, dict) else node[key]
        if isinstance(below, str):  # a section or material by name: from now on a private copy
            below = copy.deepcopy(data[_REFERRED[str(key)]][below])
        elif below is None:
            below = copy.deepcopy(complete)
        node[key] = below
        node = below
    node[keys[-1]] = value


def with_values(source: Source, complete: dict[str, Any], values: Sequence[tuple[Path, Any]]) -> Source:
    """Return a scene with other values at given keys, which are those of the complete data `complete`.

    Parameters are set first, since repeated entries may depend on them; these are written out then. Materials and sections come
    next, so that a part's private copy has their new values.
    """
    from rodsim.scenes.for_loops import expand_for_loops
    from rodsim.scenes.scene_checks import check

    source = replace(source, data=copy.deepcopy(source.data))
    for keys, value in values:
        if keys[0] == "parameters":
            assign(source.data, complete, keys, copy.deepcopy(value))
    remaining = [item for item in values if item[0][0] != "parameters"]
    written_out = expand_for_loops(source)
    if written_out is not source and remaining:
        source, before = written_out, complete
        complete = check(source).model_dump()
        remaining = [(_by_name(keys, before, complete), value) for keys, value in remaining]
    for keys, value in sorted(remaining, key=lambda item: item[0][0] not in ("materials", "sections")):
        assign(source.data, complete, keys, copy.deepcopy(value))
    return source


def _by_name(keys: Path, before: dict[str, Any], after: dict[str, Any]) -> Path:
    """Return keys that lead to the entry of the same name in a list that has other entries now."""
    if len(keys) < 2 or not isinstance(keys[1], int):
        return keys
    known = _names(after[str(keys[0])])
    if not known:
        return keys
    name = before[str(keys[0])][keys[1]]["name"]
    if name not in known:
        raise StudyError(f"there is no '{name}' in {keys[0]} for these parameters; {near(name, known)}")
    return (keys[0], known[name], *keys[2:])
