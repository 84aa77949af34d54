"""Find interactions with fixed planes that are too far away to act while a list of near pairs is valid.

All interactions with planes are stored in `System.others` permanently. Consider a fixed plane, and an interaction with it whose
points are among those of the surfaces. While a list is valid, these points move by at most half the skin: nothing acts at gaps
beyond the activation distance of the law plus half the skin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.contact.table import BARRIER, LAW, Contacts
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import InteractionTable
from rigid import quaternions
from rigid.interactions.contact.contact_sums import N, P
from rigid.interactions.contact.friction import SIZE, STIFFNESS
from rigid.interactions.contact.gaps import RHO
from rigid.interactions.contact.planes import CENTRE, PLANE_ROD, PLANE_SPHERE
from rigid.interactions.contact.sphere_rod_dissipation import PLANE_DISSIPATIONS
from rigid.system import Floats, Ints, State

_ENDS = {PLANE_SPHERE: 1, PLANE_ROD: 2}  # number of points of each kind; kinds with a circle are not included


class FixedPlanes(NamedTuple):
    """k interactions with fixed planes, of surfaces in a table."""

    use: Ints  # (k,) numbers in `System.others`
    points: Ints  # (k, 2) points of the surfaces; twice the same for a sphere
    frame: Ints  # (k,) frame of the plane
    N: Floats  # (k, 3) normal of the plane, frame axes
    P: Floats  # (k, 3) a point of the plane, frame axes, m
    near: Floats  # (k,) radius plus activation distance, m


def fixed_planes(contacts: Contacts, table: InteractionTable, is_fixed: NDArray[np.bool_]) -> FixedPlanes:
    """Return the interactions with fixed planes whose points are among those of the surfaces.

    is_fixed (n,): True for frames that do not move.
    """
    number = _points_by_position(contacts)
    use: list[int] = []
    points: list[tuple[int, int]] = []
    for kind, ends in [
        (plane_kind, n) for energy, n in _ENDS.items() for plane_kind in (energy, PLANE_DISSIPATIONS[energy])
    ]:
        indices = np.flatnonzero((table.kind == INTERACTIONS.index(kind)) & is_fixed[table.frames[:, 0]])
        X = np.zeros((len(indices), 3))
        if ends == 1:
            X = table.numbers[table.first[indices][:, None] + CENTRE + np.arange(3)] + 0.0  # no -0.0
        for k, frames, centre in zip(
            indices.tolist(), table.frames[indices, 1 : 1 + ends].tolist(), X, strict=True
        ):
            point_numbers = [number.get((frame, centre.tobytes()), -1) for frame in frames]
            if min(point_numbers) >= 0:
                use.append(k)
                points.append((point_numbers[0], point_numbers[-1]))
    order = np.argsort(use)
    indices = np.array(use, np.int64)[order]
    numbers = table.numbers[table.first[indices][:, None] + np.arange(P + 3)]
    reach = np.where(numbers[:, 0] == BARRIER, numbers[:, LAW - 1], 0.0)
    return FixedPlanes(
        indices,
        np.array(points, np.int64).reshape(-1, 2)[order],
        table.frames[indices, 0],
        numbers[:, N : N + 3],
        numbers[:, P : P + 3],
        numbers[:, RHO] + reach,
    )


def _points_by_position(contacts: Contacts) -> dict[tuple[int, bytes], int]:
    """Return the numbers of the tracked points, with their frame and position in it as key."""
    X, frames = contacts.X[: contacts.tracked] + 0.0, contacts.frames[: contacts.tracked]  # no -0.0
    return {
        (frame, position.tobytes()): k
        for k, (frame, position) in enumerate(zip(frames.tolist(), X, strict=True))
    }


def are_inactive(
    planes: FixedPlanes, count: int, state: State, points: Floats, skin: float
) -> NDArray[np.bool_]:
    """Return a mask (count,), True if an interaction cannot act while the points move by less than half the skin, m.

    points (k, 3): current positions; count: number of interactions.
    """
    inactive = np.zeros(count, bool)
    if len(planes.use):
        quat = state.quat[planes.frame]
        n, foot = (
            quaternions.rotate(quat, planes.N),
            state.r[planes.frame] + quaternions.rotate(quat, planes.P),
        )
        gap = np.einsum("kpi,ki->kp", points[planes.points] - foot[:, None], n).min(axis=1)
        inactive[planes.use] = gap > planes.near + 0.5 * skin
    return inactive


def bristle_energy(table: InteractionTable, mask: NDArray[np.bool_], variables: Floats, first: Ints) -> float:
    """Return the energy, J, of the bristles of the interactions with planes in `mask` (e,).

    variables: internal variables, those of each interaction from its `first` on.
    """
    total = 0.0
    for kind in PLANE_DISSIPATIONS.values():
        use = np.flatnonzero(mask & (table.kind == INTERACTIONS.index(kind)))
        stiffness = table.numbers[table.first[use + 1] - SIZE + STIFFNESS]
        zeta = variables[first[use][:, None] + np.arange(3)]
        total += 0.5 * float(stiffness @ np.sum(zeta * zeta, axis=1))
    return total
