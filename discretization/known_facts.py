"""Facts of a system's structure are found once: a call of `simulate` asks for the same counts twenty times.

What they are made of, kinds, frames and counts of the tables, nobody changes in place: who marks joints that repeat each other,
lists what touches or puts other numbers there makes other arrays. Arrays are told apart by their identity, and not kept.
What takes longer to find is told apart by all numbers it is made of: a model that is built again, or run again, has the same.
Large systems, where asking again is a small part of what is done, are not kept.
"""

from __future__ import annotations

import functools
import hashlib
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from discretization.system import System

MOST = 8  # systems
LARGEST = 3000  # frames

Fact = TypeVar("Fact")
Finding = TypeVar("Finding", bound=Callable[..., Any])


def known(find: Callable[[System], Fact]) -> Callable[[System], Fact]:
    """`find(system)`, or what it found of these very arrays in its tables; nobody changes what it gives."""
    kept: OrderedDict[tuple[int, ...], tuple[list[weakref.ref[Any]], Fact]] = OrderedDict()

    @functools.wraps(find)
    def found(system: System) -> Fact:
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


def known_of_numbers(find: Finding) -> Finding:
    """`find(system, ...)` of arrays, or tuples of them, and numbers: what it found of the same ones, to the bit."""
    kept: OrderedDict[bytes, Any] = OrderedDict()

    @functools.wraps(find)
    def found(system: System, *more: Any) -> Any:
        if len(system.frames.mass) > LARGEST:
            return find(system, *more)
        key = _digest((system, *more))
        if key not in kept:
            kept[key] = find(system, *more)
            while len(kept) > MOST:
                kept.popitem(last=False)
        return kept[key]

    return found  # type: ignore[return-value]


def _digest(things: tuple[Any, ...]) -> bytes:
    """Of all arrays in nested tuples, their shapes and types, and of all else that stands there, in words."""
    digest = hashlib.blake2b()
    words: list[object] = []
    waiting: list[Any] = list(things)
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, tuple):
            words.append(len(thing))
            waiting += thing
        elif isinstance(thing, np.ndarray):
            words.append((thing.shape, thing.dtype.str))
            if thing.size:
                digest.update(thing.tobytes())
        else:
            words.append(thing)
    digest.update(repr(words).encode())
    return digest.digest()
