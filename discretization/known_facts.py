"""Memoise functions of a `System` by its structure or by its contents: one call of `simulate` requests the same counts 20 times.

Functions of the structure depend on kinds, frames and counts of the tables. These arrays are not changed in place: code that
marks redundant joints, lists contacts or changes counts makes new arrays. Arrays are identified by their identity and
are not kept alive. For systems that are cached the result is computed once for a structure: systems with other parameters,
masses or positions share it.
Expensive functions are memoised by all numbers they depend on: a model that is built or run again has the same result.
If a system has been declared `unchanging`, its numbers are not read, and its tables identify it; code that changes numbers,
such as statics, writes to arrays of its own.
Results that callers write to, such as work arrays, are returned as copies. Large systems, for which recomputation is a small
part of the work, are not cached.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from discretization.system import System

MOST = 8  # largest number of cached systems
LARGEST = 3000  # number of frames up to which systems are cached
SMALL = 300  # number of frames up to which results are cached and copied by `known_anew`
MOST_BYTES = 2**20  # largest size of such a result

Digest = tuple[Any, ...]

Fact = TypeVar("Fact")


def known(find: Callable[[System], Fact]) -> Callable[[System], Fact]:
    """Memoise `find(system)`, a function of kinds, frames and counts, by structure, or by the identity of the arrays.

    The identity is used for systems without a `Structure`. Do not change the results.
    """
    kept: OrderedDict[tuple[int, ...], tuple[list[weakref.ref[Any]], Fact]] = OrderedDict()

    @functools.wraps(find)
    def found(system: System) -> Fact:
        """Return the cached result of `find` for this system, or compute it."""
        structure = structure_of(system)
        if structure is not None:
            facts = structure.facts
            if find not in facts:
                facts[find] = find(system)
            of_structure: Fact = facts[find]
            return of_structure
        arrays = [array for table in system if isinstance(table, tuple) for array in table]
        key = tuple(map(id, arrays))
        there = kept.get(key)
        if there is not None:
            return there[1]
        fact = find(system)
        if len(system.frames.mass) <= LARGEST:

            def forget(_: object) -> None:  # else a new array may have the id of a freed one
                """Remove the entry when one of its arrays is freed."""
                kept.pop(key, None)

            kept[key] = [weakref.ref(array, forget) for array in arrays], fact
            while len(kept) > MOST:
                kept.popitem(last=False)
        return fact

    return found


def known_of_numbers(find: Callable[..., Fact]) -> Callable[..., Fact]:
    """Memoise `find(system, ...)`, a function of arrays, tuples of arrays and numbers, by their bitwise contents.

    `digest` of the returned function: that of the system, to share it between several such calls.
    """
    kept: OrderedDict[Any, Any] = OrderedDict()

    @functools.wraps(find)
    def found(system: System, *more: Any, digest: Any = None) -> Any:
        """Return the cached result for these contents, or compute it."""
        if len(system.frames.mass) > LARGEST:
            return find(system, *more)
        key = digest or digest_of_system(system), digest_of(more)
        if key not in kept:
            kept[key] = find(system, *more)
            while len(kept) > MOST:
                kept.popitem(last=False)
        return kept[key]

    return found


def known_anew(find: Callable[..., Fact]) -> Callable[..., Fact]:
    """Memoise `find(system, ...)` by contents as `known_of_numbers` does, for small systems, and return copies of the arrays.

    `find` returns tuples, which the caller may write to. A result is cached at the second request: a model that is run once does
    not need a copy. A system stores the kinds of interactions as numbers; if a number denotes another kind now, the result is
    recomputed.
    """
    kept: OrderedDict[Any, tuple[list[Any], Any] | None] = OrderedDict()  # None: requested once

    @functools.wraps(find)
    def found(system: System, *more: Any, digest: Any = None) -> Any:
        """Return a copy of the cached result for these contents, or compute it."""
        if len(system.frames.mass) > SMALL:
            return find(system, *more)
        kinds = system.kinds
        key = tuple(map(id, kinds)), digest or digest_of_system(system), digest_of(more)
        there = kept.get(key)
        if there is not None:
            return copied(there[1])
        made = find(system, *more)
        if key not in kept:
            kept[key] = None
        else:
            size = _bytes(made)
            if size is not None and size <= MOST_BYTES:
                kept[key] = kinds, copied(made)
        while len(kept) > MOST:
            kept.popitem(last=False)
        return made

    return found


def known_with(find: Callable[[System, bytes], Fact]) -> Callable[[System, bytes], Fact]:
    """Memoise `find(system, words)`, a function of kinds, frames and counts and of the bytes `words`, by structure."""

    @functools.wraps(find)
    def found(system: System, words: bytes) -> Fact:
        """Return the cached result for this structure and `words`, or compute it."""
        structure, key = structure_of(system), (find, words)
        if structure is None:
            return find(system, words)
        if key not in structure.facts:
            structure.facts[key] = find(system, words)
        fact: Fact = structure.facts[key]
        return fact

    return found


class Structure:
    """Properties shared by systems that differ in real numbers alone."""

    def __init__(self, kinds: list[Any]):
        self.kinds = kinds  # kinds of the interactions, kept alive: their ids are part of the key
        self.facts: dict[Any, Any] = {}  # results by function


MOST_STRUCTURES = 32
_REAL = {"relaxation", "size"}  # columns of real numbers that belong to the structure

_structures: OrderedDict[tuple[Any, ...], Structure] = OrderedDict()
_of_columns: OrderedDict[tuple[int, ...], tuple[list[Any], Structure]] = OrderedDict()
_gone: list[_Column] = []  # columns freed since the last lookup


class _Column(weakref.ref[Any]):
    """Weak reference to an array of a large system; the identity of the array is part of the key of a structure."""

    __slots__ = ("key",)
    key: tuple[int, ...]


def structure_of(system: System) -> Structure | None:
    """Return the structure of a system, or None if it is not cached: if it is large or has contact pairs.

    The same object is returned as long as it is cached.
    """
    global _last
    last, structure = _last
    if system is last:
        return structure
    structure = _structure_of(system)
    if len(system.frames.mass) <= SMALL:
        _last = system, structure
    return structure


# the last system that was looked up, since one is often requested twenty times in succession
_last: tuple[System | None, Structure | None] = None, None


def _structure_of(system: System) -> Structure | None:
    """Look the structure up by the identities of the columns, then by their contents."""
    while _gone:  # before a new array has the id of a freed one
        _of_columns.pop(_gone.pop().key, None)
    columns = _telling(system)
    key = tuple(map(id, columns))
    there = _of_columns.get(key)
    if there is not None:
        return there[1]
    if len(system.frames.mass) > LARGEST or len(system.contacts.pairs):
        return None
    kinds = system.kinds
    words = _words_of(system, kinds)
    structure = _structures.setdefault(words, Structure(kinds))
    _structures.move_to_end(words)
    while len(_structures) > MOST_STRUCTURES:
        _structures.popitem(last=False)
    small = len(system.frames.mass) <= SMALL  # its columns may be kept alive
    _of_columns[key] = columns if small else [_watched(column, key) for column in columns], structure
    while len(_of_columns) > MOST_UNCHANGING:
        _of_columns.popitem(last=False)
    return structure


def _watched(column: Any, key: tuple[int, ...]) -> _Column:
    """Return a weak reference to a column that reports its key to `_gone` when the column is freed."""
    own = _Column(column, _gone.append)
    own.key = key
    return own


def _telling(system: System) -> list[Any]:
    """Return the columns that determine the structure of a system, and the first column of each table for its length."""
    if not _told:
        for k, name in enumerate(System._fields):
            if name != "gravity":
                table: Any = system[k]
                counts = [
                    column
                    for column, x in enumerate(table)
                    if x.dtype.kind != "f" or table._fields[column] in _REAL
                ]
                _told.append((k, operator.itemgetter(0, *(counts or [0]))))
    found: list[Any] = []
    for k, columns in _told:
        found += columns(system[k])
    return found


_told: list[tuple[int, Callable[[Any], tuple[Any, ...]]]] = []  # index and column getter of each table


def _words_of(system: System, kinds: list[Any]) -> tuple[Any, ...]:
    """Return the structural key: the identities of the kinds, all integer columns, and the shapes of the real ones."""
    words: list[Any] = [len(kinds), *map(id, kinds)]
    for table in _tables(system):
        for name, column in zip(table._fields, table, strict=True):
            counts = column.dtype.kind != "f" or name in _REAL
            words += column.shape, column.tobytes() if counts else b""
    return tuple(words)


def copied(things: Any) -> Any:
    """Return a copy of nested tuples with copied arrays; empty arrays and tuples of `unwritten` classes are shared."""
    parts = [
        (part.copy() if part.size else part)
        if isinstance(part, np.ndarray)
        else (copied(part) if isinstance(part, tuple) and not getattr(part, "unwritten", False) else part)
        for part in things
    ]
    return tuple.__new__(type(things), parts)


def _bytes(things: Any) -> int | None:
    """Return the total size of all arrays in nested tuples, bytes; None if a copy of one would differ in layout or flags.

    A copy is C-contiguous and writable.
    """
    size, waiting = 0, list(things)
    while waiting:
        thing = waiting.pop()
        if type(thing) is np.ndarray:
            if not thing.flags.carray:
                return None
            size += thing.nbytes
        elif isinstance(thing, tuple):
            waiting += thing
    return size


def _tables_of(system: System) -> tuple[int, ...]:
    """Return the identities of the tables; gravity, a vector that is replaced, is not one of them."""
    return tuple(map(id, _tables(system)))


_tables = operator.itemgetter(*(k for k, name in enumerate(System._fields) if name != "gravity"))
MOST_UNCHANGING = 32  # largest number of cached systems


class _Unchanging:
    """A system whose tables are read-only: as a key it represents all their numbers."""

    def __init__(self, system: System):
        self.system = system  # keeps its tables alive
        self.facts: dict[Any, Any] = {}  # results by function


_unchanging: OrderedDict[tuple[int, ...], _Unchanging] = OrderedDict()


def unchanging(system: System) -> System:
    """Declare the tables of a system read-only from now on, so that functions of their numbers are computed once; return it."""
    if len(system.frames.mass) <= SMALL:
        key = _tables_of(system)
        if key not in _unchanging:
            _unchanging[key] = _Unchanging(system)
            while len(_unchanging) > MOST_UNCHANGING:
                _unchanging.popitem(last=False)
    return system


def known_of_unchanging(find: Callable[[System], Fact]) -> Callable[[System], Fact]:
    """Memoise `find(system)`, a function that does not depend on gravity, for `unchanging` systems. Do not change the results."""

    @functools.wraps(find)
    def found(system: System) -> Fact:
        """Return the cached result if the system is `unchanging`, else compute it."""
        there = _unchanging.get(_tables_of(system))
        if there is None:
            return find(system)
        if find not in there.facts:
            there.facts[find] = find(system)
        fact: Fact = there.facts[find]
        return fact

    return found


def digest_of_system(system: System) -> Digest:
    """Return a key of a system's contents in this process, gravity last: all numbers, or its `_Unchanging` entry."""
    there = _unchanging.get(_tables_of(system))
    tables: Digest = (there,)
    if there is None:
        tables = digest_of(tuple(table for table in system if type(table) is not np.ndarray))
    return *tables, system.gravity.tobytes()


def digest_of(things: tuple[Any, ...]) -> Digest:
    """Return the hash of all arrays in nested tuples, with their shapes, types and all other items as words."""
    contents: list[bytes] = []
    words: list[object] = []
    waiting: list[Any] = list(things)
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, np.ndarray):
            words += thing.shape, thing.dtype.str
            contents.append(thing.tobytes())
        elif isinstance(thing, tuple):
            if getattr(thing, "unwritten", False):
                words.append(_digest_of_unwritten(thing))
            else:
                words.append(len(thing))
                waiting += thing
        else:
            words.append(repr(thing))
    return hashlib.blake2b(b"".join(contents)).digest(), *words


MOST_UNWRITTEN = 16  # largest number of cached tuples
_unwritten: OrderedDict[tuple[Any, ...], tuple[tuple[Any, ...], Digest]] = OrderedDict()


def _digest_of_unwritten(things: tuple[Any, ...]) -> Digest:
    """Return the digest of a tuple with read-only arrays, cached by the identities of the arrays."""
    key = tuple([id(part) if isinstance(part, np.ndarray | tuple) else part for part in things])
    if key not in _unwritten:
        _unwritten[key] = things, digest_of(tuple(things))
        while len(_unwritten) > MOST_UNWRITTEN:
            _unwritten.popitem(last=False)
    return _unwritten[key][1]
