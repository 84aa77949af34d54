"""Convert gears to and from the legacy file format, which fingerprints still use: constraints of two frames that share a row.

In this format each coordinate was a row of the table of constraints, behind those of joints and drives. A column `shares` was
1 for all coordinates of a gear but its first. `State.lam` and `State.own` are unchanged: gears come first in `System.others`,
except for springs and torsion springs, which have tables of their own in files.
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
    each = [
        (k, number, own)
        for number, k in enumerate(np.flatnonzero(gears), 1 + int(constraints.joint.max(initial=-1)))
        for own in coordinates_of(others.frames[k], others.numbers[others.first[k] : others.first[k + 1]])
    ]
    which = np.array([k for k, *_ in each])
    more = {name: np.array([getattr(own, name) for *_, own in each]) for name in ("frames", *_VECTORS)}
    more |= {"kind": np.array([_NUMBERS[own.sort] for *_, own in each]), "value": np.zeros(len(each))}
    more |= {"joint": np.array([number for _, number, _ in each]), "Wb": np.zeros((len(each), 3))}
    shares = np.concatenate([np.zeros(len(constraints.kind)), [0], np.diff(which) == 0]).astype(np.uint8)
    rest = chosen(others, ~gears)
    if len(constraints.repeats):
        all_repeat = others.repeats if len(others.repeats) else np.zeros(len(others.kind), np.uint8)
        more["repeats"] = all_repeat[which]
        rest = rest._replace(repeats=rest.repeats if rest.repeats.any() else np.zeros(0, np.uint8))
    if more["Wa"].any() and not len(constraints.Wa):
        columns |= dict.fromkeys(("Wa", "Wb"), np.zeros((len(constraints.kind), 3)))
    kept = [name for name, own in columns.items() if name in more and len(own) == len(constraints.kind)]
    return columns | {k: np.concatenate([columns[k], more[k]]) for k in kept} | {"shares": shares}, rest


def gears_from_rows(
    constraints: Constraints, shares: NDArray[np.uint8], others: InteractionTable
) -> tuple[Constraints, InteractionTable]:
    """Convert constraints of a file with shared rows to constraints and gears; return both tables.

    `shares` (c,): 1 if a constraint shares the row of the one before. Gears are inserted before `others`. Raises ValueError for
    rows that are not those of a gear.
    """
    if shares.shape != constraints.kind.shape or shares[:1].any():
        raise ValueError("'constraints/shares': does not say of each but the first whether it shares a row")
    geared = shares.astype(bool)
    geared[:-1] |= geared[1:]
    own, gears = constraints.chosen(geared), []
    if not np.isin(own.kind, list(_NUMBERS.values())).all():
        raise ValueError(f"'constraints/kind': {own.kind.tolist()} share rows")
    Wa = own.Wa if len(own.Wa) else np.zeros((len(own.kind), 3))
    vectors = zip(own.Xa, own.Xb, own.Ua, Wa, own.Ub, strict=True)
    sorts = [ANGLE if kind == _NUMBERS[ANGLE] else DISPLACEMENT for kind in own.kind]
    each = [
        Coordinate(s, (int(a), int(b)), *v) for s, (a, b), v in zip(sorts, own.frames, vectors, strict=True)
    ]
    begins = np.flatnonzero(shares[geared] == 0)
    for first, last in zip(begins, [*begins[1:], len(each)], strict=True):
        gears.append(Interaction(*gear(each[first:last])))
    found = table_of(gears)
    if len(own.repeats):
        found = found._replace(repeats=own.repeats[begins])
    rest = constraints.chosen(~geared)
    if not rest.Wa.any() and not rest.Wb.any():
        rest = rest._replace(Wa=np.zeros((0, 3)), Wb=np.zeros((0, 3)))
    return rest, joined(found, others)
