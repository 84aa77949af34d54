"""Memoise functions of a `System`: by its structure, which many models share, or by its tables, which runs of one model share.

The structure is everything except the real numbers: kinds, frames, counts and shapes of the tables. Models that differ in masses,
stiffnesses or positions have one structure; their numberings, layouts and work arrays are computed once. A model that is prepared
for many runs caches, with its tables, results that depend on all their numbers.
A system refers to these results in its `__dict__`, so that a look-up costs nothing. The integers of its tables are not changed in
place: code that marks redundant joints or lists contacts makes new arrays, and with them a new system.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from discretization.system import System
from rigid.system import Floats

MAX_KEY_SIZE = 3000  # largest number of frames of all structures together: their work arrays take 3 to 9 kB for each frame
MAX_STRUCTURES = 16  # largest number of structures
MOST_RESULTS = 8  # largest number of results of one function, by its further arguments

Function = TypeVar("Function", bound=Callable[..., Any])
ResultStore = dict[Any, OrderedDict[Any, Any]]  # results by function and further arguments

_REAL = {"relaxation", "size"}  # columns of real numbers that belong to the structure
_STRUCTURE, _TABLES = "structure", "tables"  # names in the `__dict__` of a system
_MISSING = object()


class Structure(NamedTuple):
    """Results that depend on the structure of a system.

    `kinds`: kinds of its interactions, kept alive since their ids are part of the key; None if it is not shared.
    """

    facts: ResultStore
    kinds: list[Any] | None = None
    frames: int = 0  # number of frames


_structures: OrderedDict[tuple[Any, ...], Structure] = OrderedDict()


def memoized(
    facts_of: Callable[[System, tuple[Any, ...]], ResultStore | None], copies: bool = False
) -> Callable[[Function], Function]:
    """Decorate `find(system, *arguments)` to compute each result once.

    `arguments`: numbers, strings, arrays and nested tuples of them.
    `facts_of`: `per_structure` or `per_tables`: what the result depends on in addition to `arguments`.
    `copies`: True if callers write to the arrays of the result, a nested tuple: each caller gets a copy. Else callers share it.
    """

    def decorate(find: Function) -> Function:
        """Return the memoised function."""

        @functools.wraps(find)
        def memoized_find(system: System, *arguments: Any) -> Any:
            """Return the stored result, or compute it."""
            facts = facts_of(system, arguments)
            if facts is None:
                return find(system, *arguments)
            results = facts.setdefault(find, OrderedDict())
            key = content_key(arguments) if arguments else ()
            result = results.get(key, _MISSING)
            if result is _MISSING:
                results[key] = result = find(system, *arguments)
                if len(results) > MOST_RESULTS:
                    results.popitem(last=False)
            return copied(result) if copies else result

        return memoized_find  # type: ignore[return-value]  # it has the signature of `find`, without keywords

    return decorate


def per_structure(system: System, arguments: tuple[Any, ...]) -> ResultStore | None:
    """Return the results for the structure of a system.

    The structure of large systems and of those with contacts is not shared. They cache only results without further arguments,
    which are small, for as long as the system exists.
    """
    structure: Structure | None = vars(system).get(_STRUCTURE)
    if structure is None:
        structure = vars(system)[_STRUCTURE] = _structure_of(system)
    return None if arguments and structure.kinds is None else structure.facts


def per_tables(system: System, arguments: tuple[Any, ...]) -> ResultStore | None:
    """Return the results for the tables of a system, gravity excluded; None unless `cache_by_tables` was called."""
    facts: ResultStore | None = vars(system).get(_TABLES)
    return facts


def cache_by_tables(system: System) -> None:
    """Cache results that depend on the tables of a system from now on; the tables may no longer be changed in place."""
    if len(system.frames.mass) <= MAX_KEY_SIZE:
        vars(system)[_TABLES] = {}


def with_gravity(system: System, gravity: Floats) -> System:
    """Return the system with another gravity; both share their results."""
    other = system._replace(gravity=gravity)
    vars(other).update(vars(system))
    return other


def unshared(system: System) -> System:
    """Return the system, which no longer shares its structure: that of a list of contacts seldom occurs again."""
    vars(system)[_STRUCTURE] = Structure({})
    return system


def _structure_of(system: System) -> Structure:
    """Look the structure up by the contents of the tables."""
    count, kinds = len(system.frames.mass), system.kinds
    if count > MAX_KEY_SIZE or len(system.contacts.pairs):
        return Structure({})
    entries: list[Any] = [len(kinds), *map(id, kinds)]
    tables: list[Any] = [table for table in system if isinstance(table, tuple)]  # all but gravity
    for table in tables:
        for name, column in zip(table._fields, table, strict=True):
            counts = column.dtype.kind != "f" or name in _REAL
            entries += column.shape, column.tobytes() if counts else b""
    key = tuple(entries)
    structure = _structures[key] = _structures.pop(key, Structure({}, kinds, count))
    while (
        len(_structures) > MAX_STRUCTURES
        or sum(stored.frames for stored in list(_structures.values())) > MAX_KEY_SIZE
    ):
        _, oldest = _structures.popitem(last=False)
        oldest.facts.clear()  # else they would live as long as a system that refers to them
    return structure


def content_key(nested: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the contents of nested tuples as a key: shapes, types and bytes of arrays, and all other items."""
    entries: list[Any] = []
    pending = list(nested)
    while pending:
        item = pending.pop()
        if isinstance(item, np.ndarray):
            entries += item.shape, item.dtype.str, item.tobytes()
        elif isinstance(item, tuple):
            entries.append(len(item))
            pending += item
        else:
            entries.append(item)
    return tuple(entries)


def copied(nested: Any) -> Any:
    """Return a copy of nested tuples with copied arrays; empty arrays are shared, and anything else is returned unchanged."""
    if isinstance(nested, np.ndarray):
        return nested.copy() if nested.size else nested
    return tuple.__new__(type(nested), map(copied, nested)) if isinstance(nested, tuple) else nested
