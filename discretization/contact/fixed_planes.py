"""Planes that do not move, and which of the spheres and elements beside them are so far away that a list leaves them out.

All that is beside a plane stands in `System.others` for good. Where a plane is fixed, and the points of what is beside it are
among those of the surfaces, these move by half the skin of a list at most: nothing acts beyond the reach of the law and that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.contact.table import BARRIER, LAW, Contacts
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import InteractionTable
from rigid import quaternions
from rigid.interactions.contact.friction import SIZE, STIFFNESS
from rigid.interactions.contact.gaps import RHO
from rigid.interactions.contact.losses import WITH_PLANES
from rigid.interactions.contact.planes import CENTRE, PLANE_ROD, PLANE_SPHERE
from rigid.interactions.contact.touching import N, P
from rigid.system import Floats, Ints, State

_ENDS = {PLANE_SPHERE: 1, PLANE_ROD: 2}  # points that each has, not across a circle


class FixedPlanes(NamedTuple):
    """k interactions with fixed planes, of surfaces in a table."""

    use: Ints  # (k,) numbers among the others
    points: Ints  # (k, 2) of the surfaces; of a sphere twice the same
    frame: Ints  # (k,) of the plane
    N: Floats  # (k, 3) normal and a point of the plane, frame axes
    P: Floats  # (k, 3)
    near: Floats  # (k,) m, radius and reach


def fixed_planes(contacts: Contacts, others: InteractionTable, held: NDArray[np.bool_]) -> FixedPlanes:
    """Those whose points are among the points of surfaces; held (n,): frames that do not move."""
    number = _points_by_place(contacts)
    use: list[int] = []
    points: list[tuple[int, int]] = []
    for kind, ends in [(own, n) for energy, n in _ENDS.items() for own in (energy, WITH_PLANES[energy])]:
        these = np.flatnonzero((others.kind == INTERACTIONS.index(kind)) & held[others.frames[:, 0]])
        X = np.zeros((len(these), 3))
        if ends == 1:
            X = others.numbers[others.first[these][:, None] + CENTRE + np.arange(3)] + 0.0  # no -0.0
        for k, frames, centre in zip(
            these.tolist(), others.frames[these, 1 : 1 + ends].tolist(), X, strict=True
        ):
            found = [number.get((frame, centre.tobytes()), -1) for frame in frames]
            if min(found) >= 0:
                use.append(k)
                points.append((found[0], found[-1]))
    order = np.argsort(use)
    these = np.array(use, np.int64)[order]
    numbers = others.numbers[others.first[these][:, None] + np.arange(P + 3)]
    reach = np.where(numbers[:, 0] == BARRIER, numbers[:, LAW - 1], 0.0)
    return FixedPlanes(
        these,
        np.array(points, np.int64).reshape(-1, 2)[order],
        others.frames[these, 0],
        numbers[:, N : N + 3],
        numbers[:, P : P + 3],
        numbers[:, RHO] + reach,
    )


def _points_by_place(contacts: Contacts) -> dict[tuple[int, bytes], int]:
    """By frame and place in it."""
    X, frames = contacts.X[: contacts.tracked] + 0.0, contacts.frames[: contacts.tracked]  # no -0.0
    return {(frame, own.tobytes()): k for k, (frame, own) in enumerate(zip(frames.tolist(), X, strict=True))}


def far_away(
    planes: FixedPlanes, others: int, state: State, points: Floats, skin: float
) -> NDArray[np.bool_]:
    """(others,) whether one acts nowhere while the points, here (k, 3), move by less than half the skin, m."""
    found = np.zeros(others, bool)
    if len(planes.use):
        quat = state.quat[planes.frame]
        n, foot = (
            quaternions.rotate(quat, planes.N),
            state.r[planes.frame] + quaternions.rotate(quat, planes.P),
        )
        gap = np.einsum("kpi,ki->kp", points[planes.points] - foot[:, None], n).min(axis=1)
        found[planes.use] = gap > planes.near + 0.5 * skin
    return found


def kept_in_bristles(
    others: InteractionTable, which: NDArray[np.bool_], settled: Floats, first: Ints
) -> float:
    """J, in the bristles of interactions with planes of this mask (e,); settled: own variables, from `first` on of each."""
    total = 0.0
    for kind in WITH_PLANES.values():
        use = np.flatnonzero(which & (others.kind == INTERACTIONS.index(kind)))
        stiffness = others.numbers[others.first[use + 1] - SIZE + STIFFNESS]
        zeta = settled[first[use][:, None] + np.arange(3)]
        total += 0.5 * float(stiffness @ np.sum(zeta * zeta, axis=1))
    return total
