"""The kinds of constraints between two frames there are: the place of a kind here is its number in `Constraints.kind`.

A new kind stands in the file of the joint that brings it (`rigid.joints.base`), or is a file of its own and one line at the end
of the list: then its place is its number in files, too, and closed forms of it are compiled into `em`. Its columns are taken from
those of `rigid.system.Constraints`: a point and two directions on each of two frames, and a value.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rigid.errors import ModelError
from rigid.interactions.along import POINT_ALONG_DIRECTION
from rigid.interactions.coincident import COINCIDENT_POINTS
from rigid.interactions.crossed import CROSSED_DIRECTIONS
from rigid.interactions.distance import POINTS_AT_DISTANCE
from rigid.interactions.driven import DRIVEN_ANGLE, DRIVEN_DISPLACEMENT
from rigid.interactions.evaluation import Room, room_of, values, values_of
from rigid.interactions.kinds import Group, Interacting, Kind, gathered, of_columns
from rigid.interactions.numbered import Absent, Numbered
from rigid.interactions.perpendicular import PERPENDICULAR_DIRECTIONS
from rigid.interactions.screw import SCREWED_POINTS
from rigid.system import Constraints, Floats, Ints

CONSTRAINTS = Numbered(
    [
        COINCIDENT_POINTS,
        PERPENDICULAR_DIRECTIONS,
        POINT_ALONG_DIRECTION,
        POINTS_AT_DISTANCE,
        CROSSED_DIRECTIONS,
        SCREWED_POINTS,
        DRIVEN_ANGLE,
        DRIVEN_DISPLACEMENT,
    ]
)


def register(kind: Kind) -> Kind:
    """Have a kind that is not in the list: it goes by its duals."""
    _forget()
    return CONSTRAINTS.register(kind._replace(closed=None))


def in_files(own: Constraints) -> Constraints:
    """With the numbers of files in the place of those of this process."""
    return own._replace(kind=CONSTRAINTS.in_files(own.kind))


def from_files(own: Constraints, names: Sequence[str], rows: Ints) -> Constraints:
    """As `in_files` wrote it, in the numbers of this process; names, rows: of the kinds that are not ours."""
    counts = dict(zip(names, rows.tolist(), strict=True))

    def absent(name: str, _: Ints) -> Kind:
        none = Absent(name)
        return Kind(name, 2, counts[name], none, none, none, columns=("value",))

    found = own._replace(kind=CONSTRAINTS.from_files("constraints", own.kind, names, absent))
    _forget()
    return found


def width_of(column: str) -> int:
    """How many numbers a column of an interaction has."""
    return 1 if column.islower() else 3


def numbers_of(kinds: Sequence[Kind]) -> Ints:
    """Numbers of kinds in the list."""
    place = _by_name(len(CONSTRAINTS))
    for kind in kinds:
        if kind.name not in place:
            raise ModelError(
                f"constraint '{kind.name}': is not in the list; name it in `brings` of the joint that has it"
            )
    return np.array([place[kind.name] for kind in kinds], np.int64)


def number_of(kind: Kind) -> int:
    """Number of one."""
    return int(numbers_of([kind])[0])


def facts(numbers: Ints, name: str) -> Any:
    """The fact `name` of the kind of each constraint."""
    return _of_kinds(name, len(CONSTRAINTS))[np.asarray(numbers, np.int64)]


@functools.cache
def _of_kinds(name: str, count: int) -> Any:
    """Of all kinds there are."""
    return np.array([getattr(kind, name) for kind in CONSTRAINTS])


@functools.cache
def _by_name(count: int) -> dict[str, int]:
    """Their places."""
    return {kind.name: place for place, kind in enumerate(CONSTRAINTS)}


def _forget() -> None:
    _of_kinds.cache_clear()
    _by_name.cache_clear()


def rows_of(constraints: Constraints) -> Ints:
    """Scalar equations that each constraint brings."""
    rows: Ints = facts(constraints.kind, "rows")
    return rows


def first_rows(constraints: Constraints) -> Ints:
    """First row of each constraint where they follow each other."""
    rows = rows_of(constraints)
    first: Ints = np.cumsum(rows) - rows
    return first


def groups_of(constraints: Constraints, first_row: int = 0) -> list[Group]:
    """The constraints by kind; their rows in their own order, from `first_row` on."""
    each = _places_of(constraints.kind.tobytes(), len(CONSTRAINTS))
    return [of_columns(CONSTRAINTS[k], constraints, use, first_row + row) for k, use, row in each]


MOST_KEPT = 1000  # constraints: of more it is not kept how they are read


class Gathering(NamedTuple):
    """How compiled code reads constraints of these kinds on these frames, whatever their numbers are."""

    interacting: Interacting  # with no numbers
    room: Room
    places: Ints  # of each of its numbers among those of all columns, constraint by constraint


def residuals(constraints: Constraints, r: Floats, quat: Floats) -> Floats:
    """g (..., m) of all rows, at r (..., n, 3), quat (..., n, 4)."""
    if len(constraints.kind) > MOST_KEPT or not np.size(r):
        return values(groups_of(constraints), r, quat)
    second = len(constraints.Wa) > 0
    kinds = _Kinds([CONSTRAINTS[k] for k in sorted(set(constraints.kind.tolist()))])
    known = _gathering(constraints.kind.tobytes(), constraints.frames.tobytes(), kinds, second)
    columns = [constraints.Xa, constraints.Xb, constraints.Ua, constraints.Ub, constraints.value[:, None]]
    columns += [constraints.Wa, constraints.Wb] if second else []
    numbers = np.concatenate(columns, axis=1).ravel()[known.places]
    return values_of(known.interacting._replace(numbers=numbers), known.room, r, quat)


class _Kinds(tuple[Kind, ...]):
    """Kinds that are told apart by what they are, not by what they are made of, which takes long."""

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kinds) and tuple(map(id, self)) == tuple(map(id, other))


@functools.lru_cache(maxsize=32)
def _gathering(kind: bytes, frames: bytes, kinds: _Kinds, second: bool) -> Gathering:
    """kinds: those that the numbers mean; second: whether there are second directions. Gathered are places of numbers."""
    count, widths = len(kind) // 8, (3, 3, 3, 3, 1, *((3, 3) if second else ()))
    all_columns = np.arange(float(count * sum(widths))).reshape(count, sum(widths))
    Xa, Xb, Ua, Ub, value, *W = np.split(all_columns, np.cumsum(widths)[:-1], axis=1)
    own = np.frombuffer(kind, np.int64), np.frombuffer(frames, np.int64).reshape(-1, 2)
    groups = groups_of(Constraints(*own, Xa, Xb, Ua, Ub, value[:, 0], own[0], *W))
    interacting = gathered(groups)
    places = interacting.numbers.astype(np.int64)
    return Gathering(interacting._replace(numbers=np.zeros(0)), room_of(groups), places)


@functools.lru_cache(maxsize=32)
def _places_of(kinds: bytes, count: int) -> list[tuple[int, Ints, Ints]]:
    """Of each kind of constraint: its number, which of them are of it, and their first rows."""
    kind = np.frombuffer(kinds, np.int64)
    rows = _of_kinds("rows", count)[kind]
    first = np.cumsum(rows) - rows
    return [(k, use := np.flatnonzero(kind == k), first[use]) for k in sorted(set(kind.tolist()))]
