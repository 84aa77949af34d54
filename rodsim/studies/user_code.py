"""User modules that affect the numbers of a case: their sources, and the user modules that these import.

Imports, also those inside functions, are read from the source; nothing is imported to find them.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import importlib.util
import site
import sys
import sysconfig
import types
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any


def installed(name: str) -> str | None:
    """Return the version ("" if it has none) of an installed or built-in module; None for a user's module, found or not."""
    top = name.split(".")[0]
    if top == "__main__":
        return None
    if top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return ""
    module = sys.modules.get(top)
    spec = getattr(module, "__spec__", None) or (_spec(top) if module is None else None)
    places = [getattr(module, "__file__", None), getattr(spec, "origin", None)]
    places += list(getattr(spec, "submodule_search_locations", None) or [])
    files = [Path(place).resolve() for place in places if place and place not in ("built-in", "frozen")]
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
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        here = waiting.pop()
        if here in found or installed(here) is not None:
            continue
        file = _file(here)
        if file is None:
            continue
        content = file.read_bytes()
        found[here] = hashlib.sha256(content).hexdigest()
        package = here if file.stem == "__init__" else here.rpartition(".")[0]
        waiting += _imports(content, package)
    return [[here, found[here]] for here in sorted(found)]


def imported_in(function: types.FunctionType) -> list[list[str]]:
    """Return name and hash of the source of all user modules that the body of a function imports."""
    package = str(function.__globals__.get("__package__") or "")
    names = {name for code in _codes(function.__code__) for name in _imports_of(code, package)}
    found = {tuple(item) for name in names for item in sources_of(name)}
    return [list(item) for item in sorted(found)]


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """Return the code of a function and of all functions nested in it."""
    inner = [x for x in code.co_consts if isinstance(x, types.CodeType)]
    return [code, *(x for c in inner for x in _codes(c))]


def _imports_of(code: types.CodeType, package: str) -> list[str]:
    """Return the modules imported by byte code; `package`: for relative imports."""
    found = []
    before: list[Any] = [None, None]
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":  # preceded by its level and its names
            level, names = before
            found += _absolute(str(step.argval), level or 0, names or (), package)
        before = [before[1], step.argval]
    return found


def _imports(content: bytes, package: str) -> list[str]:
    """Return the modules imported anywhere in a source; `package`: for relative imports."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # not a source file, or one with syntax errors
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [name for alias in node.names for name in _absolute(alias.name, 0, (), package)]
        elif isinstance(node, ast.ImportFrom):
            found += _absolute(node.module or "", node.level, [alias.name for alias in node.names], package)
    return found


def _absolute(name: str, level: int, names: Any, package: str) -> list[str]:
    """Return the modules that an import may load: parent packages, the module, and imported names that may be submodules."""
    if level:
        parts = package.split(".")
        name = ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])
    on_the_way = [".".join(name.split(".")[: k + 1]) for k in range(name.count(".") + 1)] if name else []
    return on_the_way + [f"{name}.{below}" for below in names if name and below != "*"]


def _file(name: str) -> Path | None:
    """Return the source file, or the library, of a module; None if it has none."""
    module = sys.modules.get(name)
    place = getattr(module, "__file__", None)
    if place is None:
        spec = _spec(name)
        place = spec.origin if spec is not None and spec.has_location else None
    path = None if place is None else Path(place)
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
