"""The kinds of constraints there are: the place of a kind here is its number in `Constraints.kind` and in files.

A new kind is its own file and one line at the end of `CONSTRAINTS`. Its columns are taken from those of
`rigid.system.Constraints`: a point and two directions on each of two frames, and a value.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rigid.interactions.along import POINT_ALONG_DIRECTION
from rigid.interactions.coincident import COINCIDENT_POINTS
from rigid.interactions.crossed import CROSSED_DIRECTIONS
from rigid.interactions.distance import POINTS_AT_DISTANCE
from rigid.interactions.driven import DRIVEN_ANGLE, DRIVEN_DISPLACEMENT
from rigid.interactions.kinds import Group, Kind, of_columns
from rigid.interactions.perpendicular import PERPENDICULAR_DIRECTIONS
from rigid.interactions.screw import SCREWED_POINTS
from rigid.system import Constraints, Ints

CONSTRAINTS: tuple[Kind, ...] = (
    COINCIDENT_POINTS,
    PERPENDICULAR_DIRECTIONS,
    POINT_ALONG_DIRECTION,
    POINTS_AT_DISTANCE,
    CROSSED_DIRECTIONS,
    SCREWED_POINTS,
    DRIVEN_ANGLE,
    DRIVEN_DISPLACEMENT,
)


def number_of(kind: Kind) -> int:
    """Number of a kind."""
    return CONSTRAINTS.index(kind)


def facts(numbers: Ints, name: str) -> Any:
    """The fact `name` of the kind of each constraint."""
    return _of_kinds(name, len(CONSTRAINTS))[np.asarray(numbers, np.int64)]


@functools.cache
def _of_kinds(name: str, count: int) -> Any:
    """Of all kinds there are."""
    return np.array([getattr(kind, name) for kind in CONSTRAINTS])


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
    row = first_row + first_rows(constraints)
    found = []
    for number in sorted(set(constraints.kind.tolist())):
        use = np.flatnonzero(constraints.kind == number)
        found.append(of_columns(CONSTRAINTS[number], constraints, use, row[use]))
    return found
