"""Registry of the kinds of constraints between two frames; the position of a kind in it is its number in `Constraints.kind`.

A new kind is defined in the file of the joint that brings it (`rigid.joints.base`), or in a new file with one line at the end
of the list. Then its position is also its number in files, and its closed forms are compiled into `em`. Its columns are taken
from those of `rigid.system.Constraints`: a point and two directions on each of two frames, and a value.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rigid.errors import ModelError
from rigid.interactions.coincident_points import COINCIDENT_POINTS
from rigid.interactions.direction_angle import PERPENDICULAR_DIRECTIONS
from rigid.interactions.distance import POINTS_AT_DISTANCE
from rigid.interactions.driven_constraints import (
    DRIVEN_ANGLE,
    DRIVEN_DISPLACEMENT,
    DRIVEN_DISTANCE,
)
from rigid.interactions.evaluation import EvaluationBuffers, buffers_for, values, values_of
from rigid.interactions.kind_registry import KindRegistry, MissingFunction
from rigid.interactions.kinds import Group, InteractionArrays, Kind, group_from_columns, pack_groups
from rigid.interactions.point_on_plane import POINT_ALONG_DIRECTION
from rigid.interactions.screw import SCREWED_POINTS
from rigid.interactions.twist_constraint import CROSSED_DIRECTIONS
from rigid.system import Constraints, Floats, Ints

CONSTRAINTS = KindRegistry(
    [
        COINCIDENT_POINTS,
        PERPENDICULAR_DIRECTIONS,
        POINT_ALONG_DIRECTION,
        POINTS_AT_DISTANCE,
        CROSSED_DIRECTIONS,
        SCREWED_POINTS,
        DRIVEN_ANGLE,
        DRIVEN_DISPLACEMENT,
        DRIVEN_DISTANCE,
    ]
)


def register(kind: Kind) -> Kind:
    """Register a kind that is not in the list; it is assembled from its duals, without closed forms."""
    _clear_caches()
    return CONSTRAINTS.register(kind._replace(closed=None))


def in_files(constraints: Constraints) -> Constraints:
    """Return the constraints with the kind numbers of files instead of those of this process."""
    return constraints._replace(kind=CONSTRAINTS.in_files(constraints.kind))


def from_files(constraints: Constraints, names: Sequence[str], rows: Ints) -> Constraints:
    """Return constraints that `in_files` wrote, with the kind numbers of this process.

    `names`, `rows`: names and numbers of rows of the kinds that are not built in. A kind that is not registered here gets a
    placeholder.
    """
    counts = dict(zip(names, rows.tolist(), strict=True))

    def absent(name: str, _: Ints) -> Kind:
        none = MissingFunction(name)
        return Kind(name, 2, counts[name], none, none, none, columns=("value",))

    result = constraints._replace(kind=CONSTRAINTS.from_files("constraints", constraints.kind, names, absent))
    _clear_caches()
    return result


def width_of(column: str) -> int:
    """Return how many numbers an interaction has in this column."""
    return 1 if column.islower() else 3


def numbers_of(kinds: Sequence[Kind]) -> Ints:
    """Return the kind numbers of kinds in the list; raise ModelError for a kind that is not in it."""
    index_of = _by_name(len(CONSTRAINTS))
    for kind in kinds:
        if kind.name not in index_of:
            raise ModelError(
                f"constraint '{kind.name}': is not in the list; name it in `new_kinds` of the joint that has it"
            )
    return np.array([index_of[kind.name] for kind in kinds], np.int64)


def number_of(kind: Kind) -> int:
    """Return the kind number of one kind."""
    return int(numbers_of([kind])[0])


def facts(numbers: Ints, name: str) -> Any:
    """Return the attribute `name` of the kind of each constraint; `numbers`: kind numbers."""
    return _of_kinds(name, len(CONSTRAINTS))[np.asarray(numbers, np.int64)]


@functools.cache
def _of_kinds(name: str, count: int) -> Any:
    """Return the attribute `name` of all kinds; `count`: number of kinds, part of the cache key."""
    return np.array([getattr(kind, name) for kind in CONSTRAINTS])


@functools.cache
def _by_name(count: int) -> dict[str, int]:
    """Return the position of each kind by its name; `count`: number of kinds, part of the cache key."""
    return {kind.name: index for index, kind in enumerate(CONSTRAINTS)}


def _clear_caches() -> None:
    """Clear the caches, after a kind was registered or replaced."""
    _of_kinds.cache_clear()
    _by_name.cache_clear()


def rows_of(constraints: Constraints) -> Ints:
    """Return the number of scalar equations of each constraint."""
    rows: Ints = facts(constraints.kind, "rows")
    return rows


def first_rows(constraints: Constraints) -> Ints:
    """Return the first row of each constraint if the constraints are stored one after the other."""
    rows = rows_of(constraints)
    first: Ints = np.cumsum(rows) - rows
    return first


def groups_of(constraints: Constraints, first_row: int = 0) -> list[Group]:
    """Return the constraints grouped by kind; rows stay in the order of the constraints, from `first_row` on."""
    members = _indices_by_kind(constraints.kind.tobytes(), len(CONSTRAINTS))
    return [group_from_columns(CONSTRAINTS[k], constraints, use, first_row + row) for k, use, row in members]


MAX_CACHED = 1000  # largest number of constraints whose layout is cached


class PackedGroup(NamedTuple):
    """Layout by which compiled code reads constraints of these kinds on these frames, for any numbers."""

    interaction_arrays: InteractionArrays  # without numbers
    buffers: EvaluationBuffers
    indices: Ints  # offset of each number in the table of all columns, constraint by constraint


def residuals(constraints: Constraints, r: Floats, quat: Floats) -> Floats:
    """Return the residuals g (..., m) of all rows, at r (..., n, 3), quat (..., n, 4)."""
    if len(constraints.kind) > MAX_CACHED or not np.size(r):
        return values(groups_of(constraints), r, quat)
    second = len(constraints.Wa) > 0
    kinds = _Kinds([CONSTRAINTS[k] for k in sorted(set(constraints.kind.tolist()))])
    layout = _packed_layout(constraints.kind.tobytes(), constraints.frames.tobytes(), kinds, second)
    columns = [constraints.Xa, constraints.Xb, constraints.Ua, constraints.Ub, constraints.value[:, None]]
    columns += [constraints.Wa, constraints.Wb] if second else []
    numbers = np.concatenate(columns, axis=1).ravel()[layout.indices]
    return values_of(layout.interaction_arrays._replace(numbers=numbers), layout.buffers, r, quat)


class _Kinds(tuple[Kind, ...]):
    """Kinds that are compared by identity, not by content, which takes long."""

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kinds) and tuple(map(id, self)) == tuple(map(id, other))


@functools.lru_cache(maxsize=32)
def _packed_layout(kind: bytes, frames: bytes, kinds: _Kinds, second: bool) -> PackedGroup:
    """Return the layout of constraints with these kind numbers and frames, as bytes.

    `kinds`: the kinds that the numbers mean, part of the cache key; `second`: True if there are second directions. The offset of
    each number is gathered in place of its value.
    """
    count, widths = len(kind) // 8, (3, 3, 3, 3, 1, *((3, 3) if second else ()))
    all_columns = np.arange(float(count * sum(widths))).reshape(count, sum(widths))
    Xa, Xb, Ua, Ub, value, *W = np.split(all_columns, np.cumsum(widths)[:-1], axis=1)
    columns = np.frombuffer(kind, np.int64), np.frombuffer(frames, np.int64).reshape(-1, 2)
    groups = groups_of(Constraints(*columns, Xa, Xb, Ua, Ub, value[:, 0], columns[0], *W))
    interaction_arrays = pack_groups(groups)
    indices = interaction_arrays.numbers.astype(np.int64)
    return PackedGroup(interaction_arrays._replace(numbers=np.zeros(0)), buffers_for(groups), indices)


@functools.lru_cache(maxsize=32)
def _indices_by_kind(kinds: bytes, count: int) -> list[tuple[int, Ints, Ints]]:
    """Return for each kind of constraint its number, the indices of its constraints, and their first rows.

    `kinds`: kind numbers as bytes; `count`: number of kinds, part of the cache key.
    """
    kind = np.frombuffer(kinds, np.int64)
    rows = _of_kinds("rows", count)[kind]
    first = np.cumsum(rows) - rows
    return [(k, use := np.flatnonzero(kind == k), first[use]) for k in sorted(set(kind.tolist()))]
