"""Read scene files: YAML with the keys of old versions renamed, included files merged, and tables of time read from CSV files."""

from __future__ import annotations

import csv
import os
from copy import copy
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from rigid.checks import shown
from rodsim.scenes.deprecated_keys import with_new_keys
from rodsim.scenes.errors import Path, SceneProblem, look_up
from rodsim.scenes.yaml_data import LARGEST_FILE, Source, parse_yaml, read_yaml, to_yaml

INCLUDE, FILE, GRAVITY = "include", "file", "gravity"
OF_ONE_FILE = (
    "name",
    "run",
    "equilibrium",
)  # an including file's own ones replace those of the files that it includes
MOST_INCLUDED = 100


def read(path: str | FilePath, what: str = "scene") -> Source:
    """Read a scene file or another YAML file; `what`: kind of file, "scene" or "study".

    Raises SceneError if the file, or a file that it names, is missing, not text, not YAML, or not a mapping.
    """
    source = read_yaml(path, what)
    return complete(source) if what == "scene" else source


def parse(text: str, name: str, what: str = "scene") -> Source:
    """Parse the text of a scene or study; `name`: file name for messages, in whose folder other files are searched."""
    source = parse_yaml(text, name, what)
    return complete(source) if what == "scene" else source


def complete(source: Source) -> Source:
    """Return a scene with new keys in place of old ones, with included files and with the values of tables from files."""
    made = _with_includes(source, (source.file,), [])
    data = _with_tables(made)
    needs_files = INCLUDE in source.data or data is not made.data
    return replace(made, data=data, text=to_yaml(data) if needs_files else source.text)


# --- included files


def _with_includes(source: Source, chain: tuple[str, ...], included: list[str]) -> Source:
    """Return a scene merged with the files that it includes.

    `chain`: files from the first to this one. `included`: all files that have been included, which are added.
    """
    data, lines = with_new_keys(source.data, source.lines, source.file)
    source = Source(source.file, data, lines, source.text)
    if INCLUDE not in data:
        return source
    include = data[INCLUDE]
    names = include if isinstance(include, list) else [include]
    parts = []
    for name in names:
        if not isinstance(name, str) or not name:
            raise source.error(
                (INCLUDE,),
                f"include = {shown(include)} is not the name of a file; give a name or a list of names",
            )
        folder = os.path.dirname(name)
        file = os.path.join(os.path.dirname(source.file), name)
        same = [
            file_in_chain
            for file_in_chain in chain
            if os.path.realpath(file_in_chain) == os.path.realpath(file)
        ]
        included.append(file)
        if len(included) > MOST_INCLUDED:
            raise source.error(
                (INCLUDE,), f"include = {name!r}: more than {MOST_INCLUDED} files; include fewer"
            )
        if same:
            circle = " -> ".join([*chain[chain.index(same[0]) :], same[0]])
            raise source.error(
                (INCLUDE,), f"include = {name!r}: files include each other, {circle}; remove one of them"
            )
        if not FilePath(file).exists():
            raise source.error((INCLUDE,), f"include = {name!r}: there is no file {file!r}; correct the name")
        part = _with_includes(read_yaml(file), (*chain, file), included)
        parts.append(Source(part.file, _relocated(part.data, folder), part.lines))
    file_in_chain = Source(source.file, {key: x for key, x in data.items() if key != INCLUDE}, lines)
    return _merged([*parts, file_in_chain], source)


def _relocated(value: Any, folder: str) -> Any:
    """Return data of an included file with the names of mesh and table files relative to the including file."""
    if isinstance(value, list):
        return [_relocated(x, folder) for x in value]
    if not isinstance(value, dict):
        return value
    return {
        key: os.path.join(folder, x) if key == FILE and isinstance(x, str) else _relocated(x, folder)
        for key, x in value.items()
    }


def _merged(parts: list[Source], source: Source) -> Source:
    """Return several files as one scene: lists one after the other, tables of names together.

    Raises SceneError, with both files, if two of them give the same name in a table, or the same single value.
    """
    last = parts[-1]
    made = Source(source.file, {}, {}, source.text)
    for part in parts:
        moved: dict[Path, Path] = {(): ()}  # where values of the part are in the whole, by their paths
        for key, value in part.data.items():
            if key in OF_ONE_FILE and part is not last and key in last.data:
                continue
            known = made.data.get(key)
            if isinstance(value, list) and isinstance(known, list) and key != GRAVITY:
                moved |= {(key, k): (key, len(known) + k) for k in range(len(value))}
                known.extend(value)
            elif isinstance(value, dict) and isinstance(known, dict) and key not in OF_ONE_FILE:
                for name in value:
                    _check_new(made, (key, name), name in known, part)
                moved |= {(key, name): (key, name) for name in value}
                known.update(value)
            else:
                _check_new(made, (key,), key in made.data, part)
                moved[(key,)] = (key,)
                made.data[key] = copy(value)
        for path in part.lines:
            old = next(path[:n] for n in (2, 1, 0) if path[:n] in moved)
            made.lines[(*moved[old], *path[len(old) :])] = part.place(path)
    return made


def _check_new(made: Source, path: Path, known: bool, part: Source) -> None:
    """Raise SceneError, with both files, if a value of a part is known from another file."""
    if known:
        file, line = made.place(path)
        what = ".".join(map(str, path))
        raise part.error(path, f"{what} is also given in '{file}', line {line}; remove one of them")


# --- tables of time from CSV files


def _with_tables(source: Source) -> Any:
    """Return the data of a scene with `times` and `values` in place of the CSV files of tables of time.

    Names with braces, of entries to be repeated, are left. Raises SceneError if a file cannot be read.
    """

    def read_in(value: Any, path: Path) -> Any:
        """Return a value with its tables read; the value itself if it has none."""
        if isinstance(value, list):
            items = [read_in(x, (*path, k)) for k, x in enumerate(value)]
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        if not isinstance(value, dict):
            return value
        if "function" in value and isinstance(value.get(FILE), str) and "{" not in value[FILE]:
            try:
                return _table(value, path, os.path.dirname(source.file))
            except SceneProblem as problem:
                raise source.located(problem) from None
        items_by_key = {key: read_in(x, (*path, key)) for key, x in value.items()}
        return items_by_key if any(items_by_key[key] is not value[key] for key in items_by_key) else value

    return read_in(source.data, ())


def _table(data: dict[str, Any], path: Path, folder: str) -> dict[str, Any]:
    """Return a function of time with the numbers of its CSV file, whose first row names the columns."""
    name = data[FILE]
    where = (*path, FILE)
    file = FilePath(folder, name)
    try:
        if not file.is_file():
            raise SceneProblem(where, f"table '{name}': there is no file '{file}'; correct the name")
        if file.stat().st_size > LARGEST_FILE:
            raise SceneProblem(
                where, f"table '{name}': the file has more than {LARGEST_FILE} bytes; give fewer rows"
            )
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SceneProblem(
            where, f"table '{name}': is not a text file (byte {error.start}); give a CSV file"
        ) from None
    except OSError as error:
        raise SceneProblem(where, f"table '{name}': cannot be read: {error.strerror}") from None
    head = text.partition("\n")[0]
    delimiter = next((sign for sign in (";", "\t", ",") if sign in head), ",")
    rows = [(k, row) for k, row in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), 1) if row]
    columns = {cell.strip(): k for k, cell in enumerate(rows[0][1])} if rows else {}
    if len(columns) < 2:
        raise SceneProblem(
            where,
            f"table '{name}': has {len(columns)} named columns; give a row of names, then rows of numbers",
        )
    keys = {"time": "times", "value": "values"}
    chosen = {key: data.get(key, list(columns)[k]) for k, key in enumerate(keys)}
    made = {key: x for key, x in data.items() if key not in (FILE, *keys)}
    for key, column in chosen.items():
        if not isinstance(column, str):
            raise SceneProblem(
                (*path, key),
                f"table '{name}': {key} = {shown(column)} is not the name of a column; correct it",
            )
        k = look_up((*path, key), f"column of '{name}' called", column, columns)
        made[keys[key]] = [_cell(where, name, line, row, k) for line, row in rows[1:]]
    return made


def _cell(where: Path, name: str, line: int, row: list[str], k: int) -> float:
    """Return the number in column k of a row of a CSV file."""
    text = row[k].strip() if k < len(row) else ""
    try:
        return float(text)
    except ValueError:
        raise SceneProblem(
            where, f"table '{name}', line {line}: {text!r} is not a number; correct it"
        ) from None
