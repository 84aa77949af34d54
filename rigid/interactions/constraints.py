"""The kinds of constraints there are: the place of a kind here is its number in `Constraints.kind` and in files.

A new kind is its own file and one line at the end of `CONSTRAINTS`. Its columns are taken from those of
`rigid.system.Constraints`: a point and a direction on each of two frames, and a value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rigid.interactions.along import POINT_ALONG_DIRECTION
from rigid.interactions.coincident import COINCIDENT_POINTS
from rigid.interactions.distance import POINTS_AT_DISTANCE
from rigid.interactions.driven import DRIVEN_ANGLE, DRIVEN_DISPLACEMENT
from rigid.interactions.kinds import Group, Kind, of_columns
from rigid.interactions.perpendicular import PERPENDICULAR_DIRECTIONS
from rigid.system import Constraints, Ints

CONSTRAINTS: tuple[Kind, ...] = (
    COINCIDENT_POINTS,
    PERPENDICULAR_DIRECTIONS,
    POINT_ALONG_DIRECTION,
    POINTS_AT_DISTANCE,
    DRIVEN_ANGLE,
    DRIVEN_DISPLACEMENT,
)


def number_of(kind: Kind) -> int:
    """Number of a kind."""
    return CONSTRAINTS.index(kind)


def facts(numbers: Ints, name: str) -> Any:
    """The fact `name` of the kind of each constraint."""
    return np.array([getattr(kind, name) for kind in CONSTRAINTS])[np.asarray(numbers, np.int64)]


def rows_of(numbers: Ints) -> Ints:
    """Scalar equations of each constraint."""
    rows: Ints = facts(numbers, "rows")
    return rows


def first_rows(numbers: Ints) -> Ints:
    """First row of each constraint where they follow each other."""
    rows = rows_of(numbers)
    first: Ints = np.cumsum(rows) - rows
    return first


def groups_of(constraints: Constraints, first_row: int = 0) -> list[Group]:
    """The constraints by kind; their rows in their own order, from `first_row` on."""
    row = first_row + first_rows(constraints.kind)
    found = []
    for number, kind in enumerate(CONSTRAINTS):
        use = np.flatnonzero(constraints.kind == number)
        if len(use):
            found.append(of_columns(kind, constraints, use, row[use]))
    return found
