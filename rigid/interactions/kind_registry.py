"""Registries of kinds by number: of constraints, and of all other interactions.

The position of a built-in kind in the list is its number in files: add new ones at the end of the list. After them come, in each
process, kinds without a fixed number: those that a script or a joint registers, and families of any size. Files and fingerprints
identify such a kind by a number that is computed from its name (`code_of`), so that they do not depend on what was registered
before. A file can be read where its kinds are not registered: a call of one of their functions then raises an error that names
the kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from rigid.errors import ModelError
from rigid.interactions.kinds import Kind
from rigid.system import Ints

_FIRST, _SPREAD = 1 << 20, 1 << 52  # smallest code, and how many codes there are


class MissingFunction:
    """Placeholder for each function of a kind that is not registered; its use raises ModelError."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _raise_unregistered(self) -> NoReturn:
        """Raise ModelError: the kind is not registered."""
        raise ModelError(
            f"interaction '{self._name}' is not registered in this process; import the script that registers it "
            "(`rodsim audit FILE --import SCRIPT` does)"
        )

    @property
    def address(self) -> int:
        """Raise ModelError if the address for compiled code is requested."""
        self._raise_unregistered()

    def __call__(self, *_: Any) -> None:
        self._raise_unregistered()


def is_missing(kind: Kind) -> bool:
    """Return True if only the name of the kind is known."""
    return isinstance(kind.dual, MissingFunction)


def code_of(name: str) -> int:
    """Return the number in files of a kind with this name."""
    return _FIRST + int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % _SPREAD


class KindRegistry(list[Kind]):
    """Registry of kinds.

    The positions of the first `ours` kinds are their numbers in files; the first `built_in` kinds cannot be replaced.
    """

    def __init__(self, kinds: Iterable[Kind]) -> None:
        super().__init__(kinds)
        self.n_fixed = self.built_in = len(self)

    def add_families(self, kinds: Iterable[Kind]) -> None:
        """Add built-in families of any size, which have no fixed numbers."""
        self.extend(kinds)
        self.built_in = len(self)

    def register(self, kind: Kind) -> Kind:
        """Add a kind; it replaces one with the same name, unless that is built in."""
        for index, registered in enumerate(self):
            if registered.name == kind.name:
                if index < self.built_in:
                    raise ModelError(
                        f"interaction '{kind.name}': is the name of a built-in kind; choose another name"
                    )
                self[index] = kind
                return kind
        self.append(kind)
        return kind

    def named(self, name: str) -> Kind | None:
        """Return the kind with this name, if it has no fixed number and its functions are registered, else None."""
        return next(
            (kind for kind in self[self.n_fixed :] if kind.name == name and not is_missing(kind)), None
        )

    def names_of(self, numbers: Ints) -> list[str]:
        """Return the names of the kinds among these numbers that have no fixed number."""
        return [self[k].name for k in np.unique(numbers) if k >= self.n_fixed]  # in the order of the list

    def in_files(self, numbers: Ints) -> Ints:
        """Return the numbers of files for these numbers of this process."""
        if not len(numbers) or numbers.max() < self.n_fixed:
            return numbers
        codes = [k if k < self.n_fixed else code_of(kind.name) for k, kind in enumerate(self)]
        in_file: Ints = np.array(codes, np.int64)[numbers]
        return in_file

    def from_files(
        self, table: str, numbers: Ints, names: Sequence[str], make_kind: Callable[[str, Ints], Kind]
    ) -> Ints:
        """Return the numbers of this process for these numbers of files.

        `names`: names of the kinds without a fixed number; `make_kind`: function that makes such a kind from
        its name and the indices that have it, if it is not registered here. Raises ValueError if a number is that of no name.
        """
        in_process: Ints = numbers.copy()
        resolved = numbers < self.n_fixed
        for name in names:
            use = np.flatnonzero(numbers == code_of(name))
            if len(use):
                in_process[use] = self._index_or_register(name, use, make_kind)
                resolved[use] = True
        if not resolved.all():
            raise ValueError(
                f"'{table}/kind' has the number {numbers[~resolved][0]}, which is that of no kind"
            )
        return in_process

    def _index_or_register(self, name: str, use: Ints, make_kind: Callable[[str, Ints], Kind]) -> int:
        """Return the position of a kind by its name; register what `make_kind` returns if the kind is missing."""
        for index, kind in enumerate(self):
            if index >= self.n_fixed and kind.name == name and not is_missing(kind):
                return index
        return self.index(self.register(make_kind(name, use)))
