"""What a case is known by: a hash of all that decides about its numbers, and of the program."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

_PACKAGES = ("rodsim", "rigid", "discretization")
# of rodsim: they decide about no number of a case
_ASIDE = ("cli", "doctor", "papers", "reporting", "templates", "validation")
# folders of which these files do
_PARTLY = {
    "studies": "bases cases measures motion_samples paths quantities spectra",
    "comparing": "points",
}


def sources() -> Iterator[tuple[str, Path, Path]]:
    """Files that decide about the numbers of a case: package, place in it, file."""
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for file in sorted(Path(folder).rglob("*.py")):
                place = file.relative_to(folder)
                first = place.parts[0]
                if first in _ASIDE or (first in _PARTLY and place.stem not in _PARTLY[first].split()):
                    continue
                yield package, place, file


@functools.cache
def program() -> str:
    """Version of the program and a hash of its sources."""
    from rodsim import __version__

    digest = hashlib.sha256()
    for _, place, file in sources():
        digest.update(place.as_posix().encode() + b"\0" + file.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def key(*content: Any) -> str:
    """Hash of plain data, arrays, functions and objects."""
    text = json.dumps(_plain(content, ()), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def structure(content: Any) -> str:
    """As `key`, blind to numbers: cases of one structure run the same compiled code."""
    return key(_blind(content))


def _blind(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _blind(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_blind(value) for value in content]
    return "#" if isinstance(content, int | float | np.number) and not isinstance(content, bool) else content


def _plain(value: Any, around: tuple[int, ...]) -> Any:
    """As data that JSON knows; `around`: what it stands in, so that what points back comes to an end."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic):
        return value.item() if not isinstance(value, np.void | np.complexfloating) else repr(value)
    if isinstance(value, np.ndarray):
        entries = value.tobytes() if value.dtype != object else repr(value.tolist()).encode()
        return ["array", str(value.dtype), list(value.shape), hashlib.sha256(entries).hexdigest()]
    if isinstance(value, bytes):
        return ["bytes", hashlib.sha256(value).hexdigest()]
    if id(value) in around:
        return ["again", around[::-1].index(id(value))]
    inside = (*around, id(value))
    if isinstance(value, dict):
        return {str(name): _plain(x, inside) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(x, inside) for x in value]
    if isinstance(value, set | frozenset):
        return ["set", *sorted(repr(x) for x in value)]
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__]
    if isinstance(value, type):
        return ["class", value.__module__, value.__qualname__]
    if isinstance(value, types.CodeType):
        return ["code", value.co_code.hex(), list(value.co_names), _plain(value.co_consts, inside)]
    if isinstance(value, functools.partial):
        return ["partial", _plain([value.func, value.args, value.keywords], inside)]
    if isinstance(value, types.FunctionType):
        return _function(value, inside)
    name = [type(value).__module__, type(value).__qualname__]
    if hasattr(value, "__dict__"):
        return [*name, _plain(dict(vars(value)), inside)]
    slots = [slot for slot in getattr(type(value), "__slots__", ()) if hasattr(value, slot)]
    return [*name, {slot: _plain(getattr(value, slot), inside) for slot in slots} if slots else repr(value)]


def _function(function: Callable[..., Any], inside: tuple[int, ...]) -> Any:
    """What a function does, as far as Python can tell: its code, defaults, what it encloses and the globals it names.

    Functions of the program are known by name, `program` says the rest.
    """
    name = [function.__module__, function.__qualname__]
    if str(name[0]).split(".")[0] in _PACKAGES:
        return name
    f: Any = function
    used = sorted(_names_in(f.__code__) & f.__globals__.keys())
    outside = {n: f.__globals__[n] for n in used}
    cells = [cell.cell_contents for cell in f.__closure__ or ()]
    return ["function", _plain([f.__code__, f.__defaults__, f.__kwdefaults__, cells, outside], inside)]


def _names_in(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in(constant)
    return names
