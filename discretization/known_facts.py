"""Facts of a system's structure are found once: a call of `simulate` asks for the same counts twenty times.

What they are made of, kinds, frames and counts of the tables, nobody changes in place: who marks joints that repeat each other,
lists what touches or puts other numbers there makes another table. Tables are told apart by their identity and kept as long as
what is known of them; those of large systems, where asking again is a small part of what is done, are not.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from discretization.system import System

MOST = 8  # systems
LARGEST = 3000  # frames

Fact = TypeVar("Fact")


def known(find: Callable[[System], Fact]) -> Callable[[System], Fact]:
    """`find(system)`, or what it found of these very tables; nobody changes what it gives."""
    kept: OrderedDict[tuple[int, ...], tuple[Any, Fact]] = OrderedDict()

    @functools.wraps(find)
    def found(system: System) -> Fact:
        tables = system.frames, system.elements, system.constraints, system.spans, system.others, system.contacts
        key = tuple(map(id, tables))
        there = kept.get(key)
        if there is not None:
            return there[1]
        fact = find(system)
        if len(system.frames.mass) <= LARGEST:
            kept[key] = tables, fact
            while len(kept) > MOST:
                kept.popitem(last=False)
        return fact

    return found
