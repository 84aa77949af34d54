"""Interactions that have no table of their own: any number of frames, told apart by their kind, each with its numbers.

A new energy or dissipation is its own file (`rigid.interactions.kinds` says what is in it) and one line in `OTHERS`: `em` takes
it by its duals, the charts as a group, measures and audit by its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from discretization.space.bushing import BUSHING, BUSHING_DAMPER
from discretization.space.free_bushing import FREE_BUSHING, FREE_BUSHING_DAMPER
from rigid.interactions.drag import DRAG
from rigid.interactions.joint_friction import JOINT_FRICTION
from rigid.interactions.kinds import MOST_FRAMES, Group, Kind, group, no_value
from rigid.interactions.law_springs import (
    ANGLE_DAMPER,
    ANGLE_SPRING,
    DISPLACEMENT_DAMPER,
    DISPLACEMENT_SPRING,
    LENGTH_DAMPER,
    LENGTH_SPRING,
)
from rigid.interactions.pressure import PRESSED_EDGE
from rigid.system import Floats, Ints

# The place of a kind is its number in files: new ones at the end.
OTHERS: tuple[Kind, ...] = (
    BUSHING,
    BUSHING_DAMPER,
    LENGTH_SPRING,
    LENGTH_DAMPER,
    DISPLACEMENT_SPRING,
    DISPLACEMENT_DAMPER,
    ANGLE_SPRING,
    ANGLE_DAMPER,
    DRAG,
    JOINT_FRICTION,
    PRESSED_EDGE,
    FREE_BUSHING,
    FREE_BUSHING_DAMPER,
)


class Others(NamedTuple):
    """e interactions."""

    kind: Ints  # (e,) place in OTHERS
    frames: Ints  # (e, MOST_FRAMES) the first `arity` of the kind count, the others are -1
    first: Ints  # (e + 1,) numbers of interaction k are first[k] .. first[k + 1] - 1
    numbers: Floats
    size: Floats  # (e, 2) N, N m: a force and a moment whose rounding is that of its forces


class Other(NamedTuple):
    """One interaction."""

    kind: Kind
    frames: Sequence[int]
    numbers: Floats
    size: tuple[float, float]  # see `Others`


def others_of(each: Sequence[Other] = ()) -> Others:
    """As arrays."""
    frames = np.full((len(each), MOST_FRAMES), -1, np.int64)
    for k, own in enumerate(each):
        frames[k, : own.kind.arity] = own.frames
    widths = [len(own.numbers) for own in each]
    return Others(
        np.array([OTHERS.index(own.kind) for own in each], np.int64),
        frames,
        np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        np.concatenate([np.zeros(0), *(own.numbers for own in each)]),
        np.array([own.size for own in each], float).reshape(-1, 2),
    )


def dissipates(kind: Kind) -> bool:
    """Whether it is a dissipation and not an energy."""
    return kind.value is no_value


def works(own: Others) -> bool:
    """Whether some of them do work that is no change of an energy."""
    return any(OTHERS[k].works for k in np.unique(own.kind))


def without_potential(own: Others) -> bool:
    """Whether the pressed edges do not close: a node at which one ends only, or with other pressures on both sides."""
    use = np.flatnonzero(own.kind == OTHERS.index(PRESSED_EDGE))
    frames, P = own.frames[use, :2], own.numbers[own.first[use][:, None] + np.arange(3)]
    left = np.zeros((int(frames.max(initial=-1)) + 1, 3))
    np.add.at(left, frames[:, 0], P)
    np.subtract.at(left, frames[:, 1], P)
    return bool(np.abs(left).max(initial=0.0) > 1e-9 * np.abs(P).max(initial=0.0))


def groups_of(own: Others, use: Ints) -> list[Group]:
    """The interactions `use` by kind and number of numbers; the row of each is its number among all."""
    if not len(use):
        return []
    found, width = [], np.diff(own.first)
    for number, size in np.unique(np.column_stack([own.kind, width])[use], axis=0):
        these = use[(own.kind[use] == number) & (width[use] == size)]
        kind = OTHERS[number]
        numbers = own.numbers[own.first[these][:, None] + np.arange(size)]
        found.append(group(kind, own.frames[these, : kind.arity], numbers, these))
    return found


def energies_of(own: Others) -> list[Group]:
    """The energies; the row of each is its place among them."""
    use = np.flatnonzero([not dissipates(OTHERS[k]) for k in own.kind])
    if not len(use):
        return []
    place = np.cumsum(np.isin(np.arange(len(own.kind)), use)) - 1
    return [each._replace(row=place[each.row]) for each in groups_of(own, use)]


def energies_alone(own: Others) -> Others:
    """Without the dissipations."""
    use = np.array([not dissipates(OTHERS[k]) for k in own.kind], bool)
    width = np.diff(own.first)
    return Others(
        own.kind[use],
        own.frames[use],
        np.concatenate([[0], np.cumsum(width[use])]).astype(np.int64),
        own.numbers[np.repeat(use, width)],
        own.size[use],
    )


def dissipations_of(own: Others) -> list[Group]:
    """The dissipations."""
    return groups_of(own, np.flatnonzero([dissipates(OTHERS[k]) for k in own.kind]))


def pairs_of(own: Others) -> Ints:
    """(k, 2) all pairs of frames that an interaction joins."""
    both = np.stack(np.broadcast_arrays(own.frames[:, :, None], own.frames[:, None, :]), axis=3)
    return both[(both >= 0).all(axis=3) & (own.frames[:, :, None] != own.frames[:, None, :])]
