"""Facts of a system's structure are found once: a call of `simulate` asks for the same counts twenty times.

What they are made of, kinds, frames and counts of the tables, nobody changes in place: who marks joints that repeat each other,
lists what touches or puts other numbers there makes other arrays. Arrays are told apart by their identity, and not kept.
Of systems that are kept they are found once for a structure: one with other numbers, other masses or other places, has the same.
What takes longer to find is told apart by all numbers it is made of: a model that is built again, or run again, has the same.
These numbers are not read of a system that is said to be `unchanging`, which is told by its tables: who writes, as statics do,
writes to arrays of his own.
Of what is written to, work arrays, everybody gets arrays of his own. Large systems, where asking again is a small part of what
is done, are not kept.
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

MOST = 8  # systems
LARGEST = 3000  # frames
SMALL = 300  # frames, of which everybody gets arrays of his own
MOST_BYTES = 2**20  # of these

Digest = tuple[Any, ...]

Fact = TypeVar("Fact")


def known(find: Callable[[System], Fact]) -> Callable[[System], Fact]:
    """`find(system)`, which asks for kinds, frames and counts, or what it found of a small system of this structure, of another
    one with these very arrays; nobody changes what it gives.
    """
    kept: OrderedDict[tuple[int, ...], tuple[list[weakref.ref[Any]], Fact]] = OrderedDict()

    @functools.wraps(find)
    def found(system: System) -> Fact:
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

            def forget(_: object) -> None:  # or another array might take the number of one that is gone
                kept.pop(key, None)

            kept[key] = [weakref.ref(array, forget) for array in arrays], fact
            while len(kept) > MOST:
                kept.popitem(last=False)
        return fact

    return found


def known_of_numbers(find: Callable[..., Fact]) -> Callable[..., Fact]:
    """`find(system, ...)` of arrays, or tuples of them, and numbers: what it found of the same ones, to the bit.

    digest: that of the system, where several such functions are asked one after the other.
    """
    kept: OrderedDict[Any, Any] = OrderedDict()

    @functools.wraps(find)
    def found(system: System, *more: Any, digest: Any = None) -> Any:
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
    """As `known_of_numbers`, of small systems: tuples whose arrays are those of who asks, as if they were just made.

    They are kept from the second time on: a model that is run once has no use of a copy. Kinds of interactions stand in a system
    by their numbers; where a number means another kind by now, it is found anew.
    """
    kept: OrderedDict[Any, tuple[list[Any], Any] | None] = OrderedDict()  # None: asked for once

    @functools.wraps(find)
    def found(system: System, *more: Any, digest: Any = None) -> Any:
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
    """`find(system, words)`, which asks for kinds, frames and counts and for these words, or what it found of them."""

    @functools.wraps(find)
    def found(system: System, words: bytes) -> Fact:
        structure, key = structure_of(system), (find, words)
        if structure is None:
            return find(system, words)
        if key not in structure.facts:
            structure.facts[key] = find(system, words)
        fact: Fact = structure.facts[key]
        return fact

    return found


class Structure:
    """What systems have in common that differ in real numbers alone."""

    def __init__(self, kinds: list[Any]):
        self.kinds = kinds  # of its interactions: their places in memory are part of what it is told by
        self.facts: dict[Any, Any] = {}  # by what finds them


MOST_STRUCTURES = 32
_REAL = {"relaxation", "size"}  # columns of real numbers of which facts are found

_structures: OrderedDict[tuple[Any, ...], Structure] = OrderedDict()
_of_columns: OrderedDict[tuple[int, ...], tuple[list[Any], Structure]] = OrderedDict()
_gone: list[_Column] = []  # since they were last asked for


class _Column(weakref.ref[Any]):
    """An array of a large system by whose place in memory a structure is found, as long as it is there."""

    __slots__ = ("key",)
    key: tuple[int, ...]


def structure_of(system: System) -> Structure | None:
    """Of a system that is kept, without surfaces that may touch; the same one as long as its facts are."""
    global _last
    last, structure = _last
    if system is last:
        return structure
    structure = _structure_of(system)
    if len(system.frames.mass) <= SMALL:
        _last = system, structure
    return structure


# that was asked for, as it is twenty times one after the other
_last: tuple[System | None, Structure | None] = None, None


def _structure_of(system: System) -> Structure | None:
    while _gone:  # before another array takes its place
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
    small = len(system.frames.mass) <= SMALL  # its columns may as well stay
    _of_columns[key] = columns if small else [_watched(column, key) for column in columns], structure
    while len(_of_columns) > MOST_UNCHANGING:
        _of_columns.popitem(last=False)
    return structure


def _watched(column: Any, key: tuple[int, ...]) -> _Column:
    own = _Column(column, _gone.append)
    own.key = key
    return own


def _telling(system: System) -> list[Any]:
    """Columns that its structure is told by, and of each table the first, as long as it."""
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


_told: list[tuple[int, Callable[[Any], tuple[Any, ...]]]] = []  # of each table


def _words_of(system: System, kinds: list[Any]) -> tuple[Any, ...]:
    """What its structure is told by: all whole numbers, and the shapes of what is real."""
    words: list[Any] = [len(kinds), *map(id, kinds)]
    for table in _tables(system):
        for name, column in zip(table._fields, table, strict=True):
            counts = column.dtype.kind != "f" or name in _REAL
            words += column.shape, column.tobytes() if counts else b""
    return tuple(words)


def copied(things: Any) -> Any:
    """The same tuple in arrays of its own, all through; of empty ones there need not be two, nor of tuples of classes that are
    `unwritten`.
    """
    parts = [
        (part.copy() if part.size else part)
        if isinstance(part, np.ndarray)
        else (copied(part) if isinstance(part, tuple) and not getattr(part, "unwritten", False) else part)
        for part in things
    ]
    return tuple.__new__(type(things), parts)


def _bytes(things: Any) -> int | None:
    """Of all arrays in nested tuples; None where one is none that a copy is like: row after row, to be written to."""
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
    """Which they are; gravity, a vector that is exchanged, is none."""
    return tuple(map(id, _tables(system)))


_tables = operator.itemgetter(*(k for k, name in enumerate(System._fields) if name != "gravity"))
MOST_UNCHANGING = 32  # systems


class _Unchanging:
    """A system whose tables nobody writes to: as a key it stands for all their numbers."""

    def __init__(self, system: System):
        self.system = system  # whose tables live as long
        self.facts: dict[Any, Any] = {}  # by what finds them


_unchanging: OrderedDict[tuple[int, ...], _Unchanging] = OrderedDict()


def unchanging(system: System) -> System:
    """The same system, whose tables nobody writes to from now on: what follows from their numbers is found once."""
    if len(system.frames.mass) <= SMALL:
        key = _tables_of(system)
        if key not in _unchanging:
            _unchanging[key] = _Unchanging(system)
            while len(_unchanging) > MOST_UNCHANGING:
                _unchanging.popitem(last=False)
    return system


def known_of_unchanging(find: Callable[[System], Fact]) -> Callable[[System], Fact]:
    """`find(system)`, which asks for no gravity, or what it found where this system is `unchanging`; nobody changes what it
    gives.
    """

    @functools.wraps(find)
    def found(system: System) -> Fact:
        there = _unchanging.get(_tables_of(system))
        if there is None:
            return find(system)
        if find not in there.facts:
            there.facts[find] = find(system)
        fact: Fact = there.facts[find]
        return fact

    return found


def digest_of_system(system: System) -> Digest:
    """What tells its arrays apart in this process, gravity last: all numbers, or, where it is `unchanging`, what stands for
    them.
    """
    there = _unchanging.get(_tables_of(system))
    tables: Digest = (there,)
    if there is None:
        tables = digest_of(tuple(table for table in system if type(table) is not np.ndarray))
    return *tables, system.gravity.tobytes()


def digest_of(things: tuple[Any, ...]) -> Digest:
    """Of all arrays in nested tuples, with their shapes and types, and of all else that stands there, in words."""
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


MOST_UNWRITTEN = 16  # tuples
_unwritten: OrderedDict[tuple[Any, ...], tuple[tuple[Any, ...], Digest]] = OrderedDict()


def _digest_of_unwritten(things: tuple[Any, ...]) -> Digest:
    """The same of a tuple whose arrays nobody writes to: of these very arrays as it was found before."""
    key = tuple([id(part) if isinstance(part, np.ndarray | tuple) else part for part in things])
    if key not in _unwritten:
        _unwritten[key] = things, digest_of(tuple(things))
        while len(_unwritten) > MOST_UNWRITTEN:
            _unwritten.popitem(last=False)
    return _unwritten[key][1]
