"""Numberings of small systems are kept: a system of the same structure, with other numbers, has the same one.

What a numbering is made of: which frames move, what joins which of them, masses (a front needs a frame that has some), and
whether rods share theirs. Stiffnesses, loads, gravity, places and velocities are no part of it.
"""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from discretization.assembly.numbering import Numbering, new_handle
from discretization.interaction_table import one_sided
from discretization.system import System

MOST = 32  # numberings
LARGEST = 3000  # unknowns
_NUMBERS_TOO = ("mass", "inertia", "coupling")  # of the columns of real numbers

_kept: OrderedDict[bytes, Numbering] = OrderedDict()


def keeping(make: Callable[..., Numbering]) -> Callable[..., Numbering]:
    """`make(system, ...)`, or what it made of a system with the same structure, with a handle of its own."""

    @functools.wraps(make)
    def kept_or_made(system: System, *arguments: Any, **named: Any) -> Numbering:
        if 6 * len(system.frames.mass) > LARGEST or one_sided(system.others).any():  # contacts come and go
            return make(system, *arguments, **named)
        key = structure(system, (make.__qualname__, arguments, sorted(named.items())))
        found = _kept.pop(key, None)
        found = make(system, *arguments, **named) if found is None else found._replace(handle=new_handle())
        _kept[key] = found
        while len(_kept) > MOST:
            _kept.popitem(last=False)
        return found

    return kept_or_made


def structure(system: System, asked: Any) -> bytes:
    """A digest of all that a numbering depends on."""
    digest = hashlib.blake2b(
        repr((asked, [(own.name, own.arity, own.rows, own.own) for own in system.kinds])).encode()
    )
    tables: Any = (table for table in system if isinstance(table, tuple) and table is not system.contacts)
    for table in tables:
        for name, column in zip(table._fields, table, strict=True):
            if column.dtype.kind in "iub" or name in _NUMBERS_TOO:
                digest.update(str(column.shape).encode())
                digest.update(column.tobytes())
    return digest.digest()
