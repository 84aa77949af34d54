"""Numberings of small systems are kept: a system of the same structure, with other numbers, has the same one.

What a numbering is made of: which frames move, what joins which of them, whether all have inertia (a front needs a frame that has
some), and which elements share masses. Masses themselves, stiffnesses, loads, gravity, places and velocities are no part of it.
"""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from discretization.assembly.numbering import Numbering, new_handle
from discretization.interaction_table import one_sided
from discretization.known_facts import structure_of
from discretization.system import System

MOST = 32  # numberings
LARGEST = 3000  # unknowns
_SHARING = "coupling"  # column of real numbers of which it counts where they are none
_SYMMETRIC = 1e-9  # moments of inertia count from this part of the largest on

_DIAGONAL, _OFF_DIAGONAL = np.eye(3, dtype=bool), ~np.eye(3, dtype=bool)

_kept: OrderedDict[Any, Numbering] = OrderedDict()


def keeping(make: Callable[..., Numbering]) -> Callable[..., Numbering]:
    """`make(system, ...)`, or what it made of a system with the same structure, with a handle of its own."""

    @functools.wraps(make)
    def kept_or_made(system: System, *arguments: Any, **named: Any) -> Numbering:
        if 6 * len(system.frames.mass) > LARGEST or one_sided(system.others).any():  # contacts come and go
            return make(system, *arguments, **named)
        key = _key_of(system, (make.__qualname__, arguments, *sorted(named.items())))
        found = _kept.pop(key, None)
        found = make(system, *arguments, **named) if found is None else found._replace(handle=new_handle())
        _kept[key] = found
        while len(_kept) > MOST:
            _kept.popitem(last=False)
        return found

    return kept_or_made


def has_inertia(system: System) -> bool:
    """Whether all frames that move have mass and inertia about all axes."""
    frames, moving = system.frames, system.frames.fixed == 0
    inertia = frames.inertia[moving]
    if not inertia[:, _OFF_DIAGONAL].any():  # as of rods: the moments are there
        moments = inertia[:, _DIAGONAL]
        least, largest = moments.min(axis=1), moments.max(axis=1)
    else:
        moments = np.linalg.eigvalsh(inertia)
        least, largest = moments[:, 0], moments[:, -1]
    return bool(np.all((frames.mass[moving] > 0.0) & (least > _SYMMETRIC * largest)))


def _key_of(system: System, asked: tuple[Any, ...]) -> Any:
    known = structure_of(system)
    if known is None:
        return structure(system, asked)
    shared = (system.elements.coupling != 0.0).tobytes(), (system.spans.coupling != 0.0).tobytes()
    return known, *asked, has_inertia(system), shared


def structure(system: System, asked: Any) -> bytes:
    """A digest of all that a numbering depends on."""
    kinds = [(own.name, own.arity, own.rows, own.own) for own in system.kinds]
    digest = hashlib.blake2b(repr((asked, kinds, has_inertia(system))).encode())
    tables: Any = (table for table in system if isinstance(table, tuple) and table is not system.contacts)
    for table in tables:
        for name, column in zip(table._fields, table, strict=True):
            if column.dtype.kind in "iub" or name == _SHARING:
                digest.update(str(column.shape).encode())
                digest.update((column != 0.0 if name == _SHARING else column).tobytes())
    return digest.digest()
