"""Keys of cases: a hash of all data and code that determine the numbers of a case, and of the program.

The key covers the user code that Python can reach:

    - code, defaults, enclosed variables and named globals of functions;
    - attributes, methods and bases of classes, and the object of a bound method;
    - the source of modules, and of those that they import.

Imports, also those inside functions, are read from the source; nothing is imported to find them. Installed packages
(site-packages, the standard library) are identified by name and version, this program by its sources (`program`). The key does
not cover what is read at run time: data files, the environment, modules imported by a computed name.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import importlib.util
import inspect
import json
import site
import sys
import sysconfig
import types
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

import numpy as np

_PACKAGES = ("rodsim", "rigid", "discretization")
# folders of rodsim that do not affect the numbers of a case
_ASIDE = ("cli", "doctor", "papers", "reporting", "templates", "validation")
# folders in which only these files affect the numbers
_PARTLY = {
    "studies": "study_targets cases measures scene_paths",
    "comparing": "material_points",
}
# class attributes that Python adds, and texts: not part of a key
_NOT_OF_A_CLASS = {
    "__dict__", "__weakref__", "__module__", "__doc__", "__qualname__", "__firstlineno__", "__static_attributes__",
    "__annotate__", "__annotate_func__", "__annotations_cache__", "_abc_impl", "__abstractmethods__",
}  # fmt: skip
# attributes in which numba, functools and numpy store the wrapped function
_WRAPPED = ("py_func", "__wrapped__", "pyfunc")


def sources() -> Iterator[tuple[str, Path, Path]]:
    """Yield the source files that affect the numbers of a case: package, path in the package, file."""
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for file in sorted(Path(folder).rglob("*.py")):
                relative_path = file.relative_to(folder)
                first = relative_path.parts[0]
                if first in _ASIDE or (first in _PARTLY and relative_path.stem not in _PARTLY[first].split()):
                    continue
                yield package, relative_path, file


@functools.cache
def program() -> str:
    """Return the version of the program with a hash of its sources."""
    from rodsim import __version__

    digest = hashlib.sha256()
    for _, relative_path, file in sources():
        digest.update(relative_path.as_posix().encode() + b"\0" + file.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def key(*content: Any) -> str:
    """Return the hash of plain data, arrays, functions, classes and objects (24 hexadecimal digits)."""
    text = json.dumps(_PlainConverter().of(content, ()), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def structure(content: Any) -> str:
    """Return the hash of a case without its numbers; cases with equal hashes run the same compiled code."""
    return key(_without_numbers(content))


def _without_numbers(content: Any) -> Any:
    """Return the content with all numbers replaced by "#"."""
    if isinstance(content, dict):
        return {name: _without_numbers(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_without_numbers(value) for value in content]
    return "#" if isinstance(content, int | float | np.number) and not isinstance(content, bool) else content


class _PlainConverter:
    """Converter of values to data that JSON can represent."""

    def __init__(self) -> None:
        self._seen: dict[
            int, tuple[int, Any]
        ] = {}  # by id: number of written functions and classes, and the object, which keeps its id valid

    def of(self, value: Any, around: tuple[int, ...]) -> Any:
        """Convert a value; `around`: ids of the enclosing containers, so that circular references end."""
        if value is None or isinstance(value, str | bool | int | float):
            return value
        if isinstance(value, np.generic):
            return value.item() if not isinstance(value, np.void | np.complexfloating) else repr(value)
        if isinstance(value, np.ndarray):
            entries = value.tobytes() if value.dtype != object else repr(value.tolist()).encode()
            return ["array", str(value.dtype), list(value.shape), hashlib.sha256(entries).hexdigest()]
        if isinstance(value, bytes):
            return ["bytes", hashlib.sha256(value).hexdigest()]
        if isinstance(value, types.ModuleType):
            by_name = self._named(value.__name__, "")
            return ["module", *(by_name or sources_of(value.__name__))]
        if isinstance(value, type | types.FunctionType):
            return self._code(value, around)
        if id(value) in around:
            return ["again", around[::-1].index(id(value))]
        inside = (*around, id(value))
        if isinstance(value, dict):
            # sorted by name: code is written where it occurs first
            return {
                str(name): self.of(x, inside) for name, x in sorted(value.items(), key=lambda i: str(i[0]))
            }
        if isinstance(value, list | tuple):
            return [self.of(x, inside) for x in value]
        if isinstance(value, types.GenericAlias):
            return repr(value)
        if isinstance(value, set | frozenset):
            return ["set", *sorted(repr(x) for x in value)]
        if isinstance(value, types.CodeType):
            names = [list(value.co_names), list(value.co_varnames)]
            return ["code", value.co_code.hex(), *names, self.of(value.co_consts, inside)]
        if isinstance(value, functools.partial):
            return ["partial", self.of([value.func, value.args, value.keywords], inside)]
        if isinstance(value, types.MethodType | staticmethod | classmethod):
            bound = getattr(value, "__self__", None)
            return [type(value).__name__, self.of([value.__func__, bound], inside)]
        if isinstance(value, property):
            return ["property", self.of([value.fget, value.fset, value.fdel], inside)]
        return self._object(value, inside)

    def _object(self, value: Any, inside: tuple[int, ...]) -> Any:
        """Convert an object: its class and attributes; if it wraps a function, that function."""
        for name in _WRAPPED:
            function = inspect.getattr_static(value, name, None)
            if isinstance(function, types.FunctionType):
                return [type(value).__qualname__, self.of(function, inside)]
        if isinstance(value, types.BuiltinMethodType):
            bound = value.__self__
            owner = bound.__name__ if isinstance(bound, types.ModuleType) else self.of(bound, inside)
            return ["builtin", value.__qualname__, owner]
        kind = self.of(type(value), inside)
        # skip slots of installed base classes: they may be caches that are filled later
        kinds = [c for c in type(value).__mro__ if c is type(value) or self._named(c.__module__, "") is None]
        slots = [
            name for c in kinds for name, x in vars(c).items() if isinstance(x, types.MemberDescriptorType)
        ]
        slot_values = {slot: getattr(value, slot) for slot in slots if hasattr(value, slot)}
        if hasattr(value, "__dict__"):
            excluded = getattr(type(value), "NOT_IN_KEYS", ())  # redundant attributes
            attributes = {name: x for name, x in vars(value).items() if name not in excluded}
            return [kind, self.of({**slot_values, **attributes}, inside)]
        return [kind, self.of(slot_values, inside) if slot_values else repr(value)]

    def _code(self, value: Any, around: tuple[int, ...]) -> Any:
        """Convert a function or class: by name if it is installed, else by its contents, written once."""
        by_name = self._named(str(value.__module__), value.__qualname__)
        if by_name is not None:
            return by_name
        if id(value) in self._seen:
            return ["met", self._seen[id(value)][0]]
        self._seen[id(value)] = (len(self._seen), value)
        inside = (*around, id(value))
        if isinstance(value, type):
            attributes = {
                n: x for n, x in vars(value).items() if n not in _NOT_OF_A_CLASS and not _is_slot(x)
            }
            return ["class", value.__qualname__, self.of([list(value.__bases__), attributes], inside)]
        f: Any = value
        names = names_in(f.__code__)
        outside = {name: f.__globals__[name] for name in names & f.__globals__.keys()}
        cells = [_cell_content(cell) for cell in f.__closure__ or ()]
        parts = [f.__code__, f.__defaults__, f.__kwdefaults__, cells, outside, vars(f)]
        return ["function", self.of(parts, inside), imported_in(f)]

    @staticmethod
    def _named(module: str, name: str) -> list[str] | None:
        """Return the identification by name (and version) of installed code; None if it is the user's."""
        if module.split(".")[0] in _PACKAGES:
            return [module, name]
        version = installed(module)
        return None if version is None else [module, name, version]


def _is_slot(value: Any) -> bool:
    """Return whether a class attribute is a descriptor that Python made for a slot or `__dict__`."""
    return isinstance(value, types.MemberDescriptorType | types.GetSetDescriptorType)


def _cell_content(cell: types.CellType) -> Any:
    """Return the content of a closure cell; None if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:  # empty: the enclosing function has not assigned it yet
        return None


def names_in(code: types.CodeType) -> set[str]:
    """Return the names used in code and in nested functions."""
    return {name for inner in _codes(code) for name in inner.co_names}


# --- sources of user modules


def installed(name: str) -> str | None:
    """Return the version ("" if it has none) of an installed or built-in module; None for a user's module, found or not."""
    top = name.split(".")[0]
    if top == "__main__":
        return None
    if top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return ""
    module = sys.modules.get(top)
    spec = getattr(module, "__spec__", None) or (_spec(top) if module is None else None)
    locations = [getattr(module, "__file__", None), getattr(spec, "origin", None)]
    locations += list(getattr(spec, "submodule_search_locations", None) or [])
    files = [
        Path(location).resolve()
        for location in locations
        if location and location not in ("built-in", "frozen")
    ]
    if not any(file.is_relative_to(folder) for file in files for folder in _installed_in()):
        return None
    version = getattr(module, "__version__", "")
    return version if isinstance(version, str) else ""


@functools.cache
def _installed_in() -> tuple[Path, ...]:
    """Return the folders of installed packages and of the standard library."""
    named = sysconfig.get_paths()
    folders = [named[kind] for kind in ("purelib", "platlib", "stdlib", "platstdlib")]
    return tuple(
        Path(folder).resolve() for folder in (*folders, *site.getsitepackages(), site.getusersitepackages())
    )


def sources_of(name: str) -> list[list[str]]:
    """Return name and hash of the source of a user's module and of all user modules that it imports, directly or not."""
    hashes: dict[str, str] = {}
    pending = [name]
    while pending:
        module = pending.pop()
        if module in hashes or installed(module) is not None:
            continue
        file = _file(module)
        if file is None:
            continue
        content = file.read_bytes()
        hashes[module] = hashlib.sha256(content).hexdigest()
        package = module if file.stem == "__init__" else module.rpartition(".")[0]
        pending += _imports(content, package)
    return [[module, hashes[module]] for module in sorted(hashes)]


def imported_in(function: types.FunctionType) -> list[list[str]]:
    """Return name and hash of the source of all user modules that the body of a function imports."""
    package = str(function.__globals__.get("__package__") or "")
    names = {name for code in _codes(function.__code__) for name in _imports_of(code, package)}
    items = {tuple(item) for name in names for item in sources_of(name)}
    return [list(item) for item in sorted(items)]


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """Return the code of a function and of all functions nested in it."""
    inner = [x for x in code.co_consts if isinstance(x, types.CodeType)]
    return [code, *(x for c in inner for x in _codes(c))]


def _imports_of(code: types.CodeType, package: str) -> list[str]:
    """Return the modules imported by byte code; `package`: for relative imports."""
    modules = []
    before: list[Any] = [None, None]
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":  # preceded by its level and its names
            level, names = before
            modules += _absolute(str(step.argval), level or 0, names or (), package)
        before = [before[1], step.argval]
    return modules


def _imports(content: bytes, package: str) -> list[str]:
    """Return the modules imported anywhere in a source; `package`: for relative imports."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # not a source file, or one with syntax errors
        return []
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [name for alias in node.names for name in _absolute(alias.name, 0, (), package)]
        elif isinstance(node, ast.ImportFrom):
            names += _absolute(node.module or "", node.level, [alias.name for alias in node.names], package)
    return names


def _absolute(name: str, level: int, names: Any, package: str) -> list[str]:
    """Return the modules that an import may load: parent packages, the module, and imported names that may be submodules."""
    if level:
        parts = package.split(".")
        name = ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])
    parents = [".".join(name.split(".")[: k + 1]) for k in range(name.count(".") + 1)] if name else []
    return parents + [f"{name}.{below}" for below in names if name and below != "*"]


def _file(name: str) -> Path | None:
    """Return the source file, or the library, of a module; None if it has none."""
    module = sys.modules.get(name)
    location = getattr(module, "__file__", None)
    if location is None:
        spec = _spec(name)
        location = spec.origin if spec is not None and spec.has_location else None
    path = None if location is None else Path(location)
    return path if path is not None and path.is_file() else None


def _spec(name: str) -> ModuleSpec | None:
    """Return the spec of a module without importing it; None if it is not found."""
    parts = name.split(".")
    try:
        spec = importlib.util.find_spec(parts[0])
        for k in range(1, len(parts)):
            if spec is None or spec.submodule_search_locations is None:
                return None
            spec = PathFinder.find_spec(".".join(parts[: k + 1]), spec.submodule_search_locations)
    except (ImportError, AttributeError, ValueError):
        return None
    return spec
