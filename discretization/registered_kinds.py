"""Kinds without a number of their own: gears of any size, losses of contact beside any number of nodes, and those that a script
registers or the text of an energy makes. In `OTHERS` they follow ours.

Their places there are those of this process. Files and fingerprints know such a kind by a number that its name gives
(`code_of`), so that they say the same whatever was registered before. A file is read where its kinds are not registered: what
asks for one of their functions then is told which it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from discretization.others import OTHERS, Others
from rigid.errors import ModelError
from rigid.interactions.contact.losses import ROD_LOSSES
from rigid.interactions.gear import GEARS
from rigid.interactions.kinds import Kind
from rigid.system import Ints

OURS = len(OTHERS)
OTHERS.extend([*GEARS.values(), *ROD_LOSSES.values()])
BUILT_IN = len(OTHERS)  # with these
_FIRST, _SPREAD = 1 << 20, 1 << 52  # codes: from the first on, so many


class _Absent:
    """In the place of each function of a kind that is not registered."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _refuse(self) -> NoReturn:
        raise ModelError(
            f"interaction '{self._name}' is not registered in this process; import the script that registers it "
            "(`rodsim audit FILE --import SCRIPT` does)"
        )

    @property
    def address(self) -> int:
        """What compiled code would call."""
        self._refuse()

    def __call__(self, *_: Any) -> None:
        self._refuse()


def register(kind: Kind) -> Kind:
    """Let `OTHERS` have it, in the place of one of the same name."""
    for place, known in enumerate(OTHERS):
        if known.name == kind.name:
            if place < BUILT_IN:
                raise ModelError(
                    f"interaction '{kind.name}': is the name of one of ours; choose another name"
                )
            OTHERS[place] = kind
            return kind
    OTHERS.append(kind)
    return kind


def registered_kind(name: str) -> Kind | None:
    """That of this name, if it is here with its functions."""
    return next((kind for kind in OTHERS[OURS:] if kind.name == name and not is_absent(kind)), None)


def is_absent(kind: Kind) -> bool:
    """Whether it is known by its name alone."""
    return isinstance(kind.dual, _Absent)


def code_of(name: str) -> int:
    """The number in files of a kind of this name."""
    return _FIRST + int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % _SPREAD


def in_files(own: Others) -> Others:
    """With the numbers of files in the place of those of this process."""
    if not len(own.kind) or own.kind.max() < OURS:
        return own
    codes = np.array([k if k < OURS else code_of(kind.name) for k, kind in enumerate(OTHERS)], np.int64)
    return own._replace(kind=codes[own.kind])


def names_of(own: Others) -> list[str]:
    """Of the kinds in it that are not ours."""
    return [OTHERS[k].name for k in np.unique(own.kind) if k >= OURS]


def from_files(own: Others, names: Sequence[str], made: Callable[[str], Kind | None]) -> Others:
    """As `in_files` wrote it, in the numbers of this process.

    names: of the kinds that are not ours; made: such a kind from its name alone, where that says all of it. Raises ValueError
    where a number is that of no name.
    """
    if not names:
        return own
    places: Ints = own.kind.copy()
    known = own.kind < OURS
    for name in names:
        use = own.kind == code_of(name)
        if not use.any():
            continue
        arity = int((own.frames[use] >= 0).sum(axis=1).max())
        places[use] = _place(name, arity, made)
        known |= use
    if not known.all():
        raise ValueError(f"'others/kind' has the number {own.kind[~known][0]}, which is that of no kind")
    return own._replace(kind=places)


def _place(name: str, arity: int, made: Callable[[str], Kind | None]) -> int:
    for place, kind in enumerate(OTHERS):
        if place >= OURS and kind.name == name:
            return place
    none = _Absent(name)
    kind = made(name) or Kind(name, arity, 0, none, none, none)
    return OTHERS.index(register(kind))
