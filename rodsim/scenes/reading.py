"""YAML to plain data, with the line of every value. Safe constructors only; duplicate keys and runaway
aliases are errors.
"""

from __future__ import annotations

import re
from pathlib import Path as FilePath
from typing import Any

import yaml

from rigid.checks import shown
from rodsim.scenes.errors import Path, SceneError
from rodsim.scenes.old_words import with_new_words

LARGEST_FILE = 20_000_000  # bytes
MOST_COLUMNS = (
    2000  # of a line, and brackets, of texts that libyaml may read: it nests on a stack without a check
)
MOST_VALUES = 1_000_000  # after aliases have been followed
DEEPEST = 40
_TOO_MUCH = "too many or too deeply nested values (do aliases point into themselves?)"

# YAML 1.1 takes 1e9 and 1e-3, without a point, for texts; as everywhere else they are numbers here.
_FLOAT = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+")
_TEXT = "tag:yaml.org,2002:str"
# What PyYAML's constructors let through where the text does not fit the tag: `!!bool foo`, `!!timestamp 20`.
_NOT_CONSTRUCTED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


_LEAST = {"scene": "`rods` or `bodies`, and `run`", "study": "`scene`, `parameters` and `measures`"}


def written_as_number(text: object) -> bool:
    """Whether it is a text that YAML 1.1 does not take for the number that it is, such as 1e-3."""
    return isinstance(text, str) and _FLOAT.fullmatch(text) is not None


class Source:
    """The data of a scene file and where each part of it stands."""

    def __init__(self, file: str, data: Any, lines: dict[Path, int], text: str = "", what: str = "scene"):
        self.file, self.data, self.lines, self.text, self.what = file, data, lines, text, what

    def line(self, path: Path) -> int:
        """Line of the value at `path`, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def error(self, path: Path, text: str) -> SceneError:
        """A `SceneError` with one problem at `path`."""
        return SceneError([(self.file, self.line(path), text)])


def read(path: str | FilePath, what: str = "scene") -> Source:
    """Read a scene file, or another of YAML: `what` it is.

    Raises SceneError where it is missing, not text, not YAML, or not a mapping.
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
    return parse(text, name, what)


def parse(text: str, name: str, what: str = "scene") -> Source:
    """Parse the text of a scene; `name` stands in messages, and `what` it is."""
    try:
        loader, node = _composed(text)
        try:
            if node is None:
                raise SceneError([(name, 1, f"the {what} is empty; give at least {_LEAST[what]}")])
            lines: dict[Path, int] = {}
            plain = _Plain(loader, name, lines)
            if "&" in text:  # else nothing stands there twice
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
    except RecursionError:  # of PyYAML's own, which comes before ours is counted
        raise SceneError([(name, 1, _TOO_MUCH)]) from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, SceneError):
            raise
        raise SceneError([(name, 1, f"not valid YAML: {error}")]) from None
    if not isinstance(data, dict):
        raise SceneError([(name, 1, f"a {what} is a mapping of keys to values, not {data!r:.60}")])
    if what == "scene":
        data, lines = with_new_words(data, lines, name)
    return Source(name, data, lines, text, what)


def _composed(text: str) -> tuple[Any, yaml.Node | None]:
    """A loader, and the tree of nodes that it found.

    By libyaml, in a tenth of the time, where PyYAML has it and the text nests little. What that refuses is read once more in
    Python, which says better what is wrong.
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
    """Converts YAML nodes to dicts, lists and scalars, and notes their lines."""

    def __init__(self, loader: Any, name: str, lines: dict[Path, int]):
        self._loader, self._name, self._lines = loader, name, lines
        self._count = 0

    def count(self, root: yaml.Node) -> None:
        """Raise SceneError where aliases make too many values of few nodes, before any of them is made."""
        sizes: dict[yaml.Node, int] = {}

        def size(node: yaml.Node, depth: int) -> int:
            if isinstance(node, yaml.ScalarNode) or depth > DEEPEST:
                return 1
            if node not in sizes:
                sizes[node] = MOST_VALUES  # until it is known: of what stands in itself
                parts = [part for _, part in node.value] if isinstance(node, yaml.MappingNode) else node.value
                found = 1
                for part in parts:
                    found += size(part, depth + 1)
                    if found > MOST_VALUES:
                        raise SceneError([(self._name, node.start_mark.line + 1, _TOO_MUCH)])
                sizes[node] = found
            return sizes[node]

        size(root, 0)

    def convert(self, node: yaml.Node, path: Path, depth: int) -> Any:
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
                    raise SceneError([(self._name, where, f"the key {key!r} stands twice; keep one")])
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
