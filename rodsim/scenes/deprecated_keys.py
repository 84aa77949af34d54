"""Rename old keys of scenes to new ones, by the rows "scene" of `rodsim._compat.OLD_NAMES`.

A row names a key by the lists and mappings that contain it, without list indices: "mass_dampings.part". The names of the
enclosing keys are new ones, since rows are applied in the order of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rodsim._compat import OLD_NAMES, OldName, warn_of_old_name
from rodsim.scenes.errors import Path, SceneError


def with_new_keys(data: Any, lines: Mapping[Path, int], file: str) -> tuple[Any, dict[Path, int]]:
    """Return the data of a scene with new keys in place of old ones, and its line numbers by path.

    Issues one DeprecationWarning per old key. Neither argument is changed. Raises SceneError if both the old and the new name of
    a key are given.
    """
    new_lines = dict(lines)
    for row in OLD_NAMES:
        if row.where == "scene":
            keys = row.old.split(".")
            old_paths: list[Path] = []
            data = _renamed(data, keys, row, (), old_paths, (new_lines, file))
            if old_paths:
                first = new_lines.get(old_paths[0])
                where = f"{file}, line {first}" if first else file
                warn_of_old_name(f"{where}: the key {row.old}", row.new)
                new_lines = {_new_path(path, old_paths, row): line for path, line in new_lines.items()}
    return data, new_lines


def new_path(path: str) -> str:
    """Return a path in a scene, such as "mass_dampings.air.rate", with new keys."""
    for row in OLD_NAMES:
        if row.where != "scene":
            continue
        *around, old = row.old.split(".")
        new = row.new.split(".")[-1]
        renamed = path
        if not around and (path == old or path.startswith((f"{old}.", f"{old}["))):
            renamed = new + path[len(old) :]
        elif around and path.startswith((f"{around[0]}.", f"{around[0]}[")) and path.endswith(f".{old}"):
            renamed = path[: -len(old)] + new
        if renamed != path:
            warn_of_old_name(f"path '{path}'", f"'{renamed}'")
            path = renamed
    return path


def _renamed(
    data: Any,
    keys: list[str],
    row: OldName,
    path: Path,
    old_paths: list[Path],
    known: tuple[dict[Path, int], str],
) -> Any:
    """Return the data with the key of a row renamed wherever it occurs; append the old paths to `old_paths`.

    `keys`: rest of the old key below `data`. `known`: line numbers by path and name of the file, for errors.
    """
    if isinstance(data, list):
        return [_renamed(x, keys, row, (*path, k), old_paths, known) for k, x in enumerate(data)]
    if not isinstance(data, dict) or keys[0] not in data:
        return data
    old, *inner = keys
    if inner:
        inside = _renamed(data[old], inner, row, (*path, old), old_paths, known)
        return {key: inside if key == old else value for key, value in data.items()}
    new = row.new.split(".")[-1]
    if new in data:
        lines, file = known
        line = lines.get((*path, old), 1)
        raise SceneError(
            [(file, line, f"both {row.old} and {row.new} are given, which are the same; use {row.new}")]
        )
    old_paths.append((*path, old))
    convert = row.convert or (lambda value: value)
    return {
        new if key == old else key: convert(value) if key == old else value for key, value in data.items()
    }


def _new_path(path: Path, old_paths: list[Path], row: OldName) -> Path:
    """Return a path with the new key if it leads through one of the renamed places."""
    for place in old_paths:
        if path[: len(place)] == place:
            return (*place[:-1], row.new.split(".")[-1], *path[len(place) :])
    return path
