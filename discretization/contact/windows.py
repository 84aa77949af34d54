"""What is lost where surfaces touch: one interaction for a part with its stations and a window of its partner.

A window is a row of consecutive nodes of a rod, those of the listed segments, so that friction acts once on what lies across
its nodes; a partner that is a sphere is a window of one point. Rows of more nodes than an interaction has frames are cut. Short
ones take nodes besides, where nothing touches, so that there are few kinds to compile.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from discretization.contact.search import Candidates
from discretization.contact.table import BOTH, POLYNOMIAL, ROD, Contacts, slopes, weakened
from discretization.others import Other, Others, others_of
from rigid.interactions.contact.friction import DRILL, OWN, ROLL, STATIC, STIFFNESS, B, C
from rigid.interactions.contact.losses import ROD_LOSSES, SPHERES_LOSS
from rigid.interactions.kinds import MOST_FRAMES
from rigid.system import Floats, Ints

_ROWS = (3, 6)  # nodes of short rows
LOSING = [B, C, STATIC, DRILL, ROLL]  # numbers of a loss of which one is not zero


class Window(NamedTuple):
    """A part and points of its partner."""

    pair: int
    side: int
    part: tuple[int, ...]  # points of the part with the stations; of a sphere one
    row: tuple[int, ...]  # points of the partner


def most_bristles(contacts: Contacts) -> int:
    """How many a state has room for: some for each part of the surfaces, where there is friction."""
    if not len(contacts.pairs) or not np.any(contacts.loss[:, STATIC] > 0.0):
        return 0
    return 4 * len(contacts.frames) + 16


def windows_of(contacts: Contacts, listed: Candidates) -> list[Window]:
    """Of a list, in its order."""
    losing = np.any(contacts.loss[:, LOSING] != 0.0, axis=1)
    found: list[Window] = []
    rows: list[list[int]] = []
    before: tuple[int, ...] = ()
    for k in np.flatnonzero(losing[listed.pair]).tolist():
        a0, a1, b0, b1 = listed.ends[k].tolist()
        key = int(listed.pair[k]), int(listed.side[k]), a0, a1
        if key != before:
            found += _cut(contacts, before, rows)
            before, rows = key, []
        if rows and rows[-1][-1] == b0 != b1:
            rows[-1].append(b1)
        else:
            rows.append([b0, b1] if b0 != b1 else [b0])
    return found + _cut(contacts, before, rows)


def _padded(contacts: Contacts, row: list[int], others: set[int]) -> list[int]:
    """With nodes besides that no other row has, as many as to be one of `_ROWS`; else as it is."""
    size = next((n for n in _ROWS if n >= len(row) > 1), 0)
    if len(row) == size or not size or row != list(range(row[0], row[-1] + 1)):
        return row
    rod = int(np.searchsorted(contacts.first, row[0], side="right")) - 1
    first, last = int(contacts.first[rod]), int(contacts.first[rod + 1]) - 1
    low, high = row[0], row[-1]
    while high - low + 1 < size:
        if high < last and high + 1 not in others:
            high += 1
        elif low > first and low - 1 not in others:
            low -= 1
        else:
            return row
    return list(range(low, high + 1))


def _cut(contacts: Contacts, key: tuple[int, ...], rows: list[list[int]]) -> list[Window]:
    """Rows of one part; around the end of a closed rod two of them are one."""
    if len(rows) > 1 and rows[-1][-1] == rows[0][0]:
        rows = [*rows[1:-1], rows[-1] + rows[0][1:]]
    found = []
    every = {point for row in rows for point in row}
    for row in rows:
        pair, side, a0, a1 = key
        held = bool(np.any(contacts.apart == a0))
        # not to where a rod cannot touch itself, or a joint holds what would
        if contacts.pairs[pair, 0] != contacts.pairs[pair, 1] and not held:
            row = _padded(contacts, row, every - set(row))
        part = (a0,) if a0 == a1 else (a0, a1)
        most = MOST_FRAMES - len(part)
        pieces = max(1, -(-(len(row) - 1) // (most - 1)))
        ends = np.linspace(0, len(row) - 1, pieces + 1).round().astype(int)
        found += [Window(pair, side, part, tuple(row[i : k + 1])) for i, k in pairwise(ends)]
    return found


def losses_of(contacts: Contacts, windows: list[Window]) -> tuple[Others, Floats]:
    """The interactions, in their order, and the stiffness (w,) of the bristle of each, N/m."""
    found, stiffness = [], np.zeros(len(windows))
    for k, own in enumerate(windows):
        surfaces = contacts.pairs[own.pair][[own.side, 1 - own.side]]
        law, loss = contacts.law[own.pair], contacts.loss[own.pair].copy()
        rods, radii = contacts.kind[surfaces] == ROD, contacts.radius[surfaces]
        if len(own.part) == 2:
            share = 0.5 if contacts.side[own.pair] == BOTH or surfaces[0] == surfaces[1] else 1.0
            length = contacts.length[own.part[0]]
            law = weakened(law, share)
            loss[STIFFNESS] *= share * length  # which is one of a length, as that of the law
            place = [float(contacts.stations[own.pair]), length]
        else:
            place = [*contacts.X[own.part[0]], *([] if rods[1] else contacts.X[own.row[0]])]
        kind = ROD_LOSSES[len(own.part), len(own.row)] if rods[1] else SPHERES_LOSS
        numbers = np.array([*law, radii.sum(), *place, radii[0], *loss, *np.zeros(OWN)])
        frames = contacts.frames[[*own.part, *own.row]]
        stiffness[k] = loss[STIFFNESS] if loss[STATIC] > 0.0 else 0.0
        k_law = slopes(law, radii.sum()) if law[0] == POLYNOMIAL else law[1]
        force = (
            0.01 * radii.sum() * (k_law * max(place[1] if len(own.part) == 2 else 1.0, 0.0) + stiffness[k])
        )
        found.append(Other(kind, frames.tolist(), numbers, (force, force * radii.sum())))
    return others_of(found), stiffness


def carried(points: Floats, old: list[Window], new: list[Window]) -> Ints:
    """(w,) for each old window the new one that goes on with its bristle, -1: none; points (k, 3): where it is handed over.

    Of new windows of the same part and partner it is the one that has most of the segment that is nearest.
    """
    known: dict[tuple[object, ...], list[int]] = {}
    for k, own in enumerate(new):
        known.setdefault((own.pair, own.side, own.part), []).append(k)
    found = np.full(len(old), -1, np.int64)
    for k, own in enumerate(old):
        there = known.get((own.pair, own.side, own.part), [])
        if len(there) == 1:
            found[k] = there[0]
        elif there:
            middle = points[list(own.part)].mean(axis=0)
            nearest = min(own.row, key=lambda b: float(np.linalg.norm(points[b] - middle)))
            having = [i for i in there if nearest in new[i].row]
            found[k] = having[0] if having else -1
    return found
