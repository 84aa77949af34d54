"""Cache numberings (`Numbering`) of small systems: systems of the same structure with other numbers share one.

A numbering depends on four things: which frames move, which frames are connected, whether all of them have inertia (a front
needs a frame with inertia), and which elements share masses. It does not depend on the values of masses, stiffnesses, loads,
gravity, positions and velocities.
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

MOST = 32  # maximum number of cached numberings
LARGEST = 3000  # maximum number of unknowns of a cached numbering
_SHARING = "coupling"  # column of real numbers; only which of them are zero matters
_SYMMETRIC = 1e-9  # moments of inertia below this fraction of the largest count as zero

_DIAGONAL, _OFF_DIAGONAL = np.eye(3, dtype=bool), ~np.eye(3, dtype=bool)

_kept: OrderedDict[Any, Numbering] = OrderedDict()


def keeping(make: Callable[..., Numbering]) -> Callable[..., Numbering]:
    """Decorate `make(system, ...)`: return the cached numbering of a system with the same structure, or make one.

    A cached numbering gets a new handle, so that each has its own sparse factorisation. Systems above LARGEST unknowns and
    systems with contacts, whose pairs change, are not cached.
    """

    @functools.wraps(make)
    def kept_or_made(system: System, *arguments: Any, **named: Any) -> Numbering:
        if 6 * len(system.frames.mass) > LARGEST or one_sided(system.others).any():  # pairs in contact change
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
    """Return whether all moving frames have mass and inertia about all axes."""
    frames, moving = system.frames, system.frames.fixed == 0
    inertia = frames.inertia[moving]
    if not inertia[:, _OFF_DIAGONAL].any():  # diagonal, as for rods: the entries are the principal moments
        moments = inertia[:, _DIAGONAL]
        least, largest = moments.min(axis=1), moments.max(axis=1)
    else:
        moments = np.linalg.eigvalsh(inertia)
        least, largest = moments[:, 0], moments[:, -1]
    return bool(np.all((frames.mass[moving] > 0.0) & (least > _SYMMETRIC * largest)))


def _key_of(system: System, asked: tuple[Any, ...]) -> Any:
    """Return the cache key of a system and the requested arguments `asked`."""
    known = structure_of(system)
    if known is None:
        return structure(system, asked)
    shared = (system.elements.coupling != 0.0).tobytes(), (system.spans.coupling != 0.0).tobytes()
    return known, *asked, has_inertia(system), shared


def structure(system: System, asked: Any) -> bytes:
    """Return a hash of everything that a numbering depends on."""
    kinds = [(own.name, own.arity, own.rows, own.own) for own in system.kinds]
    digest = hashlib.blake2b(repr((asked, kinds, has_inertia(system))).encode())
    tables: Any = (table for table in system if isinstance(table, tuple) and table is not system.contacts)
    for table in tables:
        for name, column in zip(table._fields, table, strict=True):
            if column.dtype.kind in "iub" or name == _SHARING:
                digest.update(str(column.shape).encode())
                digest.update((column != 0.0 if name == _SHARING else column).tobytes())
    return digest.digest()
