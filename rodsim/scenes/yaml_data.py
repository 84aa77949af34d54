"""Convert YAML to plain data with the line number of every value, and data to YAML.

Only safe constructors are used. Duplicate keys and aliases that expand without bound are errors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import yaml

from rigid.checks import shown
from rodsim.scenes.errors import Path, SceneError, SceneProblem

LARGEST_FILE = 20_000_000  # bytes
MOST_COLUMNS = (
    2000  # per line, and number of brackets, for libyaml, which recurses without checking its stack
)
MOST_VALUES = 1_000_000  # largest number of values, with aliases expanded
DEEPEST = 40
_TOO_MUCH = "too many or too deeply nested values (do aliases point into themselves?)"

# YAML 1.1 reads 1e9 and 1e-3, without a decimal point, as text; here they are numbers.
_FLOAT = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+")
_TEXT = "tag:yaml.org,2002:str"
# Exceptions that PyYAML's constructors do not catch if the text does not fit the tag: `!!bool foo`, `!!timestamp 20`.
_NOT_CONSTRUCTED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


_LEAST = {"scene": "`rods` or `bodies`, and `run`", "study": "`scene`, `parameters` and `measures`"}


def written_as_number(text: object) -> bool:
    """Return True if `text` is a number, such as 1e-3, that YAML 1.1 reads as text."""
    return isinstance(text, str) and _FLOAT.fullmatch(text) is not None


Line = int | tuple[str, int]  # line of a value in the file itself, or file and line


@dataclass
class Source:
    """Data of a scene file with the line of each value; `what`: kind of file, "scene" or "study"."""

    file: str
    data: Any
    lines: dict[Path, Any]  # path -> Line
    text: str = ""
    what: str = "scene"

    def place(self, path: Path) -> tuple[str, int]:
        """Return file and line of the value at `path`, or of the innermost enclosing value whose line is known."""
        while path and path not in self.lines:
            path = path[:-1]
        line: Line = self.lines.get(path, 1)
        return line if isinstance(line, tuple) else (self.file, line)

    def error(self, path: Path, text: str) -> SceneError:
        """Return a `SceneError` with one problem at `path`."""
        return SceneError([(*self.place(path), text)])

    def located(self, problem: SceneProblem) -> SceneError:
        """Return a `SceneError` with the file and line of a problem, and of what it collides with in another file."""
        (file, _), (other, line) = self.place(problem.path), self.place(problem.other or problem.path)
        location = f" (the other is in '{other}', line {line})" if other != file else ""
        return self.error(problem.path, f"{problem}{location}")


def read_yaml(path: str | FilePath, what: str = "scene") -> Source:
    """Read a YAML file; `what`: kind of file, "scene" or "study".

    Raises SceneError if the file is missing, not text, not YAML, or not a mapping.
    """
    file, name = FilePath(path), str(path)
    try:
        # a device may never end, a FIFO never begin
        if file.exists() and not file.is_file():
            raise SceneError([(name, 1, f"a folder or a device; give the name of a {what} file")])
        if file.stat().st_size > LARGEST_FILE:
            raise SceneError(
                [(name, 1, f"the file has {file.stat().st_size} bytes; a {what} has at most {LARGEST_FILE}")]
            )
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SceneError([(name, 1, "no such file")]) from None
    except UnicodeDecodeError as error:
        raise SceneError(
            [(name, 1, f"not a text file (byte {error.start}); give a {what} in YAML, UTF-8")]
        ) from None
    except OSError as error:
        raise SceneError([(name, 1, f"cannot be read: {error.strerror}")]) from None
    return parse_yaml(text, name, what)


def parse_yaml(text: str, name: str, what: str = "scene") -> Source:
    """Parse the text of a scene or study; `name`: file name for messages, `what`: "scene" or "study"."""
    try:
        loader, node = _composed(text)
        try:
            if node is None:
                raise SceneError([(name, 1, f"the {what} is empty; give at least {_LEAST[what]}")])
            lines: dict[Path, int] = {}
            plain = _Plain(loader, name, lines)
            if "&" in text:  # without anchors no value occurs twice
                plain.count(node)
            data = plain.convert(node, (), 0)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise SceneError([(name, line, f"not valid YAML: {error.problem or error.context}")]) from None
    except yaml.YAMLError as error:
        raise SceneError([(name, 1, f"not valid YAML: {' '.join(str(error).split())}")]) from None
    except RecursionError:  # raised in PyYAML, before the depth is checked here
        raise SceneError([(name, 1, _TOO_MUCH)]) from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, SceneError):
            raise
        raise SceneError([(name, 1, f"not valid YAML: {error}")]) from None
    if not isinstance(data, dict):
        raise SceneError([(name, 1, f"a {what} is a mapping of keys to values, not {data!r:.60}")])
    return Source(name, data, lines, text, what)


def _composed(text: str) -> tuple[Any, yaml.Node | None]:
    """Return a loader and the tree of nodes that it parsed.

    Uses libyaml, which takes a tenth of the time, if PyYAML has it and the text nests little. Text that libyaml rejects is parsed
    again in Python, which gives better error messages.
    """
    brackets = text.count("[") + text.count("{")
    longest = max(map(len, text.splitlines()), default=0)
    if yaml.__with_libyaml__ and max(brackets, longest) <= MOST_COLUMNS:
        quick = yaml.CSafeLoader(text)
        try:
            return quick, quick.get_single_node()
        except yaml.YAMLError:
            quick.dispose()
    loader = yaml.SafeLoader(text)
    try:
        return loader, loader.get_single_node()
    except BaseException:
        loader.dispose()
        raise


class _Plain:
    """Convert YAML nodes to dicts, lists and scalars, and record their lines."""

    def __init__(self, loader: Any, name: str, lines: dict[Path, int]):
        self._loader, self._name, self._lines = loader, name, lines
        self._count = 0

    def count(self, root: yaml.Node) -> None:
        """Raise SceneError if aliases expand to too many values, before any value is made."""
        sizes: dict[yaml.Node, int] = {}

        def size(node: yaml.Node, depth: int) -> int:
            """Return the number of values of a node, with aliases expanded; cached per node."""
            if isinstance(node, yaml.ScalarNode) or depth > DEEPEST:
                return 1
            if node not in sizes:
                sizes[node] = MOST_VALUES  # until known: catches a node that contains itself
                parts = [part for _, part in node.value] if isinstance(node, yaml.MappingNode) else node.value
                count = 1
                for part in parts:
                    count += size(part, depth + 1)
                    if count > MOST_VALUES:
                        raise SceneError([(self._name, node.start_mark.line + 1, _TOO_MUCH)])
                sizes[node] = count
            return sizes[node]

        size(root, 0)

    def convert(self, node: yaml.Node, path: Path, depth: int) -> Any:
        """Return the data of a node; record the line of each value by its path."""
        line = node.start_mark.line + 1
        self._lines[path] = line
        self._count += 1
        if self._count > MOST_VALUES or depth > DEEPEST:
            raise SceneError([(self._name, line, _TOO_MUCH)])
        if isinstance(node, yaml.MappingNode):
            out: dict[str, Any] = {}
            for key_node, value_node in node.value:
                if not isinstance(key_node, yaml.ScalarNode):
                    where = key_node.start_mark.line + 1
                    raise SceneError([(self._name, where, "a key is not a word; write `key: value`")])
                key = key_node.value  # as written: YAML 1.1 would turn `on` into True
                if key in out:
                    where = key_node.start_mark.line + 1
                    raise SceneError([(self._name, where, f"the key {key!r} occurs twice; keep one")])
                out[key] = self.convert(value_node, (*path, key), depth + 1)
                self._lines[(*path, key)] = key_node.start_mark.line + 1
            return out
        if isinstance(node, yaml.SequenceNode):
            return [self.convert(item, (*path, k), depth + 1) for k, item in enumerate(node.value)]
        if not isinstance(node, yaml.ScalarNode):
            raise SceneError([(self._name, line, "neither a mapping, nor a list, nor a value")])
        if node.tag == _TEXT and not node.style and written_as_number(node.value):
            return float(node.value)
        try:
            return self._loader.construct_object(node)
        except _NOT_CONSTRUCTED as error:
            kind = node.tag.rpartition(":")[2]
            text = (
                f"{shown(node.value)} cannot be read as !!{kind} ({type(error).__name__}); leave the tag out"
            )
            raise SceneError([(self._name, line, text)]) from None


# --- data to YAML


def to_yaml(data: dict[str, Any]) -> str:
    """Return the data of a scene as YAML text, from which `parse_yaml` reads the same data."""
    return str(yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))


class _Dumper(yaml.SafeDumper):
    """YAML writer: lists of numbers on one line, texts that could be read as something else, such as 1e3, in quotes."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _list(dumper: _Dumper, data: list[Any]) -> yaml.Node:
    """Write a list; on one line if it holds no mappings and no nested lists of lists."""
    short = all(not isinstance(x, dict | list) for x in data) or all(
        isinstance(x, list) and all(not isinstance(y, dict | list) for y in x) for x in data
    )
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=short)


def _mapping(dumper: _Dumper, data: dict[str, Any]) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=False)


def _text(dumper: _Dumper, data: str) -> yaml.Node:
    """Write a text, in quotes unless it is plain and read as text."""
    plain = data.replace("_", "").replace("-", "").replace(" ", "").isalpha() and data.isascii()
    known = dumper.resolve(yaml.ScalarNode, data, (True, False)) == "tag:yaml.org,2002:str"
    return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=None if plain and known else '"')


_Dumper.add_representer(list, _list)
_Dumper.add_representer(dict, _mapping)
_Dumper.add_representer(str, _text)
