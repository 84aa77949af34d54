"""Kinds of `OTHERS` without a number of their own: gears of any size, losses of contact beside any number of nodes, and those
that a script registers or the text of an energy makes (`rigid.interactions.numbered`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from discretization.others import OTHERS, Others
from rigid.interactions.contact.losses import ROD_LOSSES
from rigid.interactions.gear import GEARS
from rigid.interactions.kinds import Kind
from rigid.interactions.numbered import Absent
from rigid.system import Ints

OTHERS.add_families([*GEARS.values(), *ROD_LOSSES.values()])


def in_files(own: Others) -> Others:
    """With the numbers of files in the place of those of this process."""
    return own._replace(kind=OTHERS.in_files(own.kind))


def from_files(own: Others, names: Sequence[str], made: Callable[[str], Kind | None]) -> Others:
    """As `in_files` wrote it, in the numbers of this process; made: a kind from its name alone, where that says all of it."""

    def absent(name: str, use: Ints) -> Kind:
        arity, none = int((own.frames[use] >= 0).sum(axis=1).max()), Absent(name)
        return made(name) or Kind(name, arity, 0, none, none, none)

    return own._replace(kind=OTHERS.from_files("others", own.kind, names, absent)) if names else own
