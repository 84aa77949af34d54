"""Convert gears to and from the legacy file format, which fingerprints still use: constraints of two frames that share a row.

In this format each coordinate was a row of the table of constraints, after those of joints and drives. A column `shares` was
1 for all coordinates of a gear but its first. `State.lam` and `State.internal` are unchanged: gears come first in
`System.others`, except for springs and torsion springs, which have separate tables in files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import Interaction, InteractionTable, chosen, joined, table_of
from rigid.interactions.gear import ANGLE, DISPLACEMENT, GEARS, Coordinate, coordinates_of, gear
from rigid.system import ALONG, Constraints

_NUMBERS = {ANGLE: 8, DISPLACEMENT: ALONG}  # kind numbers of coordinates as constraints
_VECTORS = ("Xa", "Xb", "Ua", "Wa", "Ub")


def gears_to_rows(
    constraints: Constraints, others: InteractionTable
) -> tuple[dict[str, NDArray[Any]], InteractionTable]:
    """Return the columns of constraints with the gears included, and the other interactions without gears."""
    columns: dict[str, NDArray[Any]] = constraints._asdict()
    if not len(others.kind):
        return columns, others
    names = {kind.name for kind in GEARS.values()}
    gears = np.isin(others.kind, [k for k, kind in enumerate(INTERACTIONS) if kind.name in names])
    if not gears.any():
        return columns, others
    coordinates = [
        (k, number, coordinate)
        for number, k in enumerate(np.flatnonzero(gears), 1 + int(constraints.joint.max(initial=-1)))
        for coordinate in coordinates_of(
            others.frames[k], others.numbers[others.first[k] : others.first[k + 1]]
        )
    ]
    which = np.array([k for k, *_ in coordinates])
    gear_columns = {
        name: np.array([getattr(coordinate, name) for *_, coordinate in coordinates])
        for name in ("frames", *_VECTORS)
    }
    gear_columns |= {
        "kind": np.array([_NUMBERS[coordinate.sort] for *_, coordinate in coordinates]),
        "value": np.zeros(len(coordinates)),
    }
    gear_columns |= {
        "joint": np.array([number for _, number, _ in coordinates]),
        "Wb": np.zeros((len(coordinates), 3)),
    }
    shares = np.concatenate([np.zeros(len(constraints.kind)), [0], np.diff(which) == 0]).astype(np.uint8)
    remaining = chosen(others, ~gears)
    if len(constraints.repeats):
        all_repeat = others.repeats if len(others.repeats) else np.zeros(len(others.kind), np.uint8)
        gear_columns["repeats"] = all_repeat[which]
        remaining = remaining._replace(
            repeats=remaining.repeats if remaining.repeats.any() else np.zeros(0, np.uint8)
        )
    if gear_columns["Wa"].any() and not len(constraints.Wa):
        columns |= dict.fromkeys(("Wa", "Wb"), np.zeros((len(constraints.kind), 3)))
    extended = [
        name
        for name, column in columns.items()
        if name in gear_columns and len(column) == len(constraints.kind)
    ]
    return columns | {k: np.concatenate([columns[k], gear_columns[k]]) for k in extended} | {
        "shares": shares
    }, remaining


def gears_from_rows(
    constraints: Constraints, shares: NDArray[np.uint8], others: InteractionTable
) -> tuple[Constraints, InteractionTable]:
    """Convert constraints of a file with shared rows to constraints and gears; return both tables.

    `shares` (c,): 1 if a constraint shares the row of the one before. Gears are inserted before `others`. Raises ValueError for
    rows that are not those of a gear.
    """
    if shares.shape != constraints.kind.shape or shares[:1].any():
        raise ValueError("'constraints/shares': expected 0 or 1 for each constraint, and 0 for the first")
    geared = shares.astype(bool)
    geared[:-1] |= geared[1:]
    rows, gears = constraints.chosen(geared), []
    if not np.isin(rows.kind, list(_NUMBERS.values())).all():
        raise ValueError(f"'constraints/kind': constraints of kinds {rows.kind.tolist()} cannot share rows")
    Wa = rows.Wa if len(rows.Wa) else np.zeros((len(rows.kind), 3))
    vectors = zip(rows.Xa, rows.Xb, rows.Ua, Wa, rows.Ub, strict=True)
    sorts = [ANGLE if kind == _NUMBERS[ANGLE] else DISPLACEMENT for kind in rows.kind]
    coordinates = [
        Coordinate(s, (int(a), int(b)), *v) for s, (a, b), v in zip(sorts, rows.frames, vectors, strict=True)
    ]
    begins = np.flatnonzero(shares[geared] == 0)
    for first, last in zip(begins, [*begins[1:], len(coordinates)], strict=True):
        gears.append(Interaction(*gear(coordinates[first:last])))
    gear_table = table_of(gears)
    if len(rows.repeats):
        gear_table = gear_table._replace(repeats=rows.repeats[begins])
    remaining = constraints.chosen(~geared)
    if not remaining.Wa.any() and not remaining.Wb.any():
        remaining = remaining._replace(Wa=np.zeros((0, 3)), Wb=np.zeros((0, 3)))
    return remaining, joined(gear_table, others)
