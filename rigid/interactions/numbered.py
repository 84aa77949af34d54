"""Kinds by their numbers: the registries of constraints and of all other interactions.

The place of one of ours is its number in files: new ones at the end of the list. Behind them stand, in each process, kinds
without a number: those that a script or a joint of its own registers, and families of any size. Files and fingerprints know such
a kind by a number that its name gives (`code_of`), so that they say the same whatever was registered before. A file is read where
its kinds are not registered: what asks for one of their functions then is told which it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from rigid.errors import ModelError
from rigid.interactions.kinds import Kind
from rigid.system import Ints

_FIRST, _SPREAD = 1 << 20, 1 << 52  # codes: from the first on, so many


class Absent:
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


def is_absent(kind: Kind) -> bool:
    """Whether it is known by its name alone."""
    return isinstance(kind.dual, Absent)


def code_of(name: str) -> int:
    """The number in files of a kind of this name."""
    return _FIRST + int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % _SPREAD


class Numbered(list[Kind]):
    """A registry; its first `ours` have their places as numbers in files, its first `built_in` cannot be replaced."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        super().__init__(kinds)
        self.ours = self.built_in = len(self)

    def add_families(self, kinds: Iterable[Kind]) -> None:
        """Ours, too, but of any size: without numbers of their own."""
        self.extend(kinds)
        self.built_in = len(self)

    def register(self, kind: Kind) -> Kind:
        """Have it, in the place of one of the same name."""
        for place, known in enumerate(self):
            if known.name == kind.name:
                if place < self.built_in:
                    raise ModelError(
                        f"interaction '{kind.name}': is the name of one of ours; choose another name"
                    )
                self[place] = kind
                return kind
        self.append(kind)
        return kind

    def named(self, name: str) -> Kind | None:
        """That of this name, if it is without a number, and here with its functions."""
        return next((kind for kind in self[self.ours :] if kind.name == name and not is_absent(kind)), None)

    def names_of(self, numbers: Ints) -> list[str]:
        """Of the kinds among these that are not ours."""
        return [self[k].name for k in np.unique(numbers) if k >= self.ours]  # in the order of the list

    def in_files(self, numbers: Ints) -> Ints:
        """The numbers of files in the place of those of this process."""
        if not len(numbers) or numbers.max() < self.ours:
            return numbers
        codes = [k if k < self.ours else code_of(kind.name) for k, kind in enumerate(self)]
        found: Ints = np.array(codes, np.int64)[numbers]
        return found

    def from_files(
        self, table: str, numbers: Ints, names: Sequence[str], made: Callable[[str, Ints], Kind]
    ) -> Ints:
        """The numbers of this process in the place of those of files.

        names: of the kinds that are not ours; made: such a kind that is not here, from its name and the places that have it.
        Raises ValueError where a number is that of no name.
        """
        places: Ints = numbers.copy()
        known = numbers < self.ours
        for name in names:
            use = np.flatnonzero(numbers == code_of(name))
            if len(use):
                places[use] = self._place(name, use, made)
                known[use] = True
        if not known.all():
            raise ValueError(f"'{table}/kind' has the number {numbers[~known][0]}, which is that of no kind")
        return places

    def _place(self, name: str, use: Ints, made: Callable[[str, Ints], Kind]) -> int:
        for place, kind in enumerate(self):
            if place >= self.ours and kind.name == name and not is_absent(kind):
                return place
        return self.index(self.register(made(name, use)))
