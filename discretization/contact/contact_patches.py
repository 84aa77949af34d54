"""Friction and contact dissipation: one interaction between a part with stations and a window (contact patch) of its partner.

A window is a row of consecutive nodes of a rod, those of the listed segments, so that friction acts only once on a part that
touches several segments of the row. A partner that is a sphere, has a core or is a mesh has a window of one point. Rows with
more nodes than an interaction has frames are cut.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from discretization.contact.core_parameters import as_hull_on_mesh, core_blocks
from discretization.contact.mesh_search import triangle_parameters, with_ridges
from discretization.contact.neighbour_search import Candidates
from discretization.contact.table import (
    BOTH,
    BOX,
    CAPSULE,
    CORNERS,
    HULL,
    MESH,
    OF_HULLS,
    OF_ROUNDS,
    ON_MESHES,
    POLYNOMIAL,
    RIDGES,
    ROD,
    ROUND,
    SPHERE,
    Contacts,
    half_sides,
    scale_law,
    slopes,
)
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import FRAMES, InteractionTable
from rigid.interactions.contact.box_dissipation import (
    BOX_ROD_DISSIPATION,
    BOXES_DISSIPATION,
    SPHERE_BOX_DISSIPATION,
)
from rigid.interactions.contact.capsule_dissipation import CAPSULES_DISSIPATION
from rigid.interactions.contact.core_dissipation import (
    CORE_ROD_DISSIPATION,
    HULLS_DISSIPATION,
    ROUND_HULLS_DISSIPATION,
    SPHERE_CORE_DISSIPATION,
)
from rigid.interactions.contact.edge_dissipation import EDGES_DISSIPATION
from rigid.interactions.contact.friction import DRILL, N_INTERNAL, ROLL, STATIC, STIFFNESS, B, C
from rigid.interactions.contact.mesh_dissipation import (
    MESH_HULL_DISSIPATION,
    MESH_ROD_DISSIPATION,
    MESH_ROUND_DISSIPATION,
    SPHERE_MESH_DISSIPATION,
)
from rigid.interactions.contact.sphere_rod_dissipation import ROD_DISSIPATIONS, SPHERES_DISSIPATION
from rigid.interactions.kinds import MAX_FRAMES_OF_CONTACT, Kind
from rigid.system import Floats, Ints

# kinds of both surfaces: the loss kind, the points of part and row whose frames it has, the number of cores whose
# blocks it has; all other kinds use `ROD_DISSIPATIONS`
_KINDS: dict[tuple[int, int], tuple[Kind | None, tuple[int, ...], int]] = {
    (SPHERE, SPHERE): (SPHERES_DISSIPATION, (0, 1), 0),
    (CAPSULE, CAPSULE): (CAPSULES_DISSIPATION, (0, 2), 0),
    (SPHERE, BOX): (SPHERE_BOX_DISSIPATION, (0, 1), 0),
    (ROD, BOX): (BOX_ROD_DISSIPATION, (2, 0, 1), 0),
    (BOX, BOX): (BOXES_DISSIPATION, (0, 1), 0),
    (SPHERE, MESH): (SPHERE_MESH_DISSIPATION, (0, 1), 0),
    (ROD, MESH): (MESH_ROD_DISSIPATION, (2, 0, 1), 0),
    **{(kind, MESH): (MESH_HULL_DISSIPATION, (-1, 0), 0) for kind in ON_MESHES},
    (ROUND, MESH): (MESH_ROUND_DISSIPATION, (-1, 0), 0),
    (CORNERS, MESH): (SPHERE_MESH_DISSIPATION, (0, 1), 0),
    (CORNERS, CORNERS): (SPHERES_DISSIPATION, (0, 1), 0),
    (RIDGES, RIDGES): (EDGES_DISSIPATION, (0, 2), 0),
    **{(SPHERE, kind): (SPHERE_CORE_DISSIPATION, (0, 1), 1) for kind in (CAPSULE, HULL, ROUND)},
    **{(ROD, kind): (CORE_ROD_DISSIPATION, (2, 0, 1), 1) for kind in (CAPSULE, HULL, ROUND)},
    **dict.fromkeys(OF_HULLS, (HULLS_DISSIPATION, (0, -1), 2)),
    **dict.fromkeys(OF_ROUNDS, (ROUND_HULLS_DISSIPATION, (0, -1), 2)),
}
LOSSY_KINDS = [B, C, STATIC, DRILL, ROLL]  # a pair dissipates if one of these numbers is not zero
# Round-off level of losses over that of forces (`InteractionTable.size`): losses depend on rates, differences of positions over
# the step and the rest speed. Without it, steps of heaps and of piles of spheres take one to three more iterations at round-off,
# which reduce nothing.
_ROUNDING = 64.0


MOST_OF_MESHES = 512  # largest number of corners and ridges of meshes with friction at one time


class ContactPatch(NamedTuple):
    """Part with stations and a window, points of its partner."""

    pair: int
    side: int
    part: tuple[int, ...]  # points of the part with the stations; one for a sphere
    row: tuple[int, ...]  # points of the partner
    faces: tuple[int, ...] = ()  # near triangles if the partner is a mesh


def bristle_capacity(contacts: Contacts) -> int:
    """Return the capacity of a state for bristles: some for each part of the surfaces, 0 without friction."""
    if not len(contacts.pairs) or not np.any(contacts.loss[:, STATIC] > 0.0):
        return 0
    of_meshes = len(contacts.frames) - contacts.tracked
    return 4 * contacts.tracked + 16 + min(of_meshes, MOST_OF_MESHES)


def find_patches(contacts: Contacts, listed: Candidates) -> list[ContactPatch]:
    """Return the windows of the pairs with losses of a list, in the order of the list."""
    losing = np.any(contacts.loss[:, LOSSY_KINDS] != 0.0, axis=1)
    patches: list[ContactPatch] = []
    rows: list[list[int]] = []
    before: tuple[int, ...] = ()
    use = losing[listed.pair]
    columns = np.column_stack([listed.pair, listed.side, listed.ends])[use].tolist()
    for *part_key, b0, b1 in columns:
        key = tuple(part_key)
        if key != before:
            patches += _split_rows(before, rows)
            before, rows = key, []
        if rows and rows[-1][-1] == b0 != b1:
            rows[-1].append(b1)
        else:
            rows.append([b0, b1] if b0 != b1 else [b0])
    return _with_faces(patches + _split_rows(before, rows), listed)


def _with_faces(windows: list[ContactPatch], listed: Candidates) -> list[ContactPatch]:
    """Return the windows with the near triangles of the list added to those on meshes."""
    near = {
        (int(listed.pair[k]), int(listed.side[k]), int(listed.ends[k, 0])): tuple(
            listed.faces[slice(*listed.first[k : k + 2])].tolist()
        )
        for k in np.flatnonzero(listed.meshed)
    }
    if not near:
        return windows
    return [
        window._replace(faces=near.get((window.pair, window.side, window.part[0]), ())) for window in windows
    ]


def _split_rows(key: tuple[int, ...], rows: list[list[int]]) -> list[ContactPatch]:
    """Return the windows of one part from the rows of nodes of its partner.

    Two rows that meet at the end of a closed rod are joined; rows that are too long are cut.
    """
    if len(rows) > 1 and rows[-1][-1] == rows[0][0]:
        rows = [*rows[1:-1], rows[-1] + rows[0][1:]]
    patches = []
    for row in rows:
        pair, side, a0, a1 = key
        part = (a0,) if a0 == a1 else (a0, a1)
        most = MAX_FRAMES_OF_CONTACT - len(part)
        pieces = max(1, -(-(len(row) - 1) // (most - 1)))
        if pieces == 1:
            patches.append(ContactPatch(pair, side, part, tuple(row)))
            continue
        ends = np.linspace(0, len(row) - 1, pieces + 1).round().astype(int)
        patches += [ContactPatch(pair, side, part, tuple(row[i : k + 1])) for i, k in pairwise(ends)]
    return patches


def loss_interactions(contacts: Contacts, windows: list[ContactPatch]) -> tuple[InteractionTable, Floats]:
    """Return the loss interactions of the windows, in their order, and the bristle stiffness (w,) of each, N/m."""
    surface = (
        np.searchsorted(contacts.first, [(window.part[0], window.row[0]) for window in windows], side="right")
        - 1
    )
    kinds = contacts.kind[surface.reshape(-1, 2)]
    sizes = np.array([(len(window.part), len(window.row)) for window in windows], np.int64).reshape(-1, 2)
    kind, width = np.zeros((2, len(windows)), np.int64)
    columns = max(FRAMES, int(sizes.sum(axis=1).max(initial=0)))
    frames, size = np.full((len(windows), columns), -1, np.int64), np.zeros((len(windows), 2))
    stiffness, parts = np.zeros(len(windows)), []
    alone = np.where(kinds[:, 1] == MESH, np.arange(len(windows)), -1)  # meshes: one group per window
    signatures = np.column_stack([kinds, sizes, alone])
    keys, of, count = np.unique(signatures, axis=0, return_inverse=True, return_counts=True)
    order, ends = np.argsort(of.reshape(-1), kind="stable"), np.cumsum(count)
    for (one, other, stations, nodes, _), begin, end in zip(keys.tolist(), ends - count, ends, strict=True):
        use = order[begin:end]
        loss_kind, at, cores = _KINDS.get((one, other), (None, tuple(range(stations + nodes)), 0))
        loss_kind = loss_kind or ROD_DISSIPATIONS[stations, nodes]
        kind[use] = INTERACTIONS.index(loss_kind)
        for rows, blocks in core_blocks(contacts, surface.reshape(-1, 2)[use][:, 2 - cores :]):
            which = use[rows]
            numbers, stiffness[which], size[which] = _numbers_of(
                contacts, [windows[k] for k in which.tolist()], blocks
            )
            width[which] = numbers.shape[1]
            parts.append((which, numbers))
        points = np.array([[*windows[k].part, *windows[k].row] for k in use.tolist()])
        frames[use, : len(at)] = contacts.frames[points[:, at]]
    first = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    all_numbers = np.zeros(first[-1])
    for use, numbers in parts:
        all_numbers[first[use][:, None] + np.arange(numbers.shape[1])] = numbers
    return InteractionTable(kind, frames, first, all_numbers, size), stiffness


def _numbers_of(
    contacts: Contacts, windows: list[ContactPatch], blocks: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return numbers (w, :), bristle stiffnesses (w,) and sizes (w, 2) (force, moment) of windows of one kind.

    blocks: those of the cores.
    """
    pair, side = np.array([window[:2] for window in windows], np.int64).T
    part, row = (np.array([window[k] for window in windows], np.int64) for k in (2, 3))
    surfaces = np.take_along_axis(contacts.pairs[pair], np.stack([side, 1 - side], axis=1), 1)
    one, other = contacts.kind[surfaces[0]].tolist()
    law, loss, radii = contacts.law[pair], contacts.loss[pair], contacts.radius[surfaces]
    rho = radii.sum(axis=1)
    count: Floats = np.ones(len(windows))
    if one == ROD:
        is_symmetric = (contacts.side[pair] == BOTH) | (surfaces[:, 0] == surfaces[:, 1])
        fraction, count = np.where(is_symmetric & (other == ROD), 0.5, 1.0), contacts.length[part[:, 0]]
        law = scale_law(law, fraction)
        loss[:, STIFFNESS] *= fraction * count  # per length, as the stiffness of the law
        geometry = [contacts.stations[pair], count]
    else:
        geometry = _positions(contacts, one, part)
        # between two capsules two interactions act, with half the stiffness each
        loss[:, STIFFNESS] *= 0.5 if one == other == CAPSULE else 1.0
    before = geometry[: {SPHERE: 1, CORNERS: 1, ROD: 2}.get(one, 0)]
    if other == MESH:
        near = triangle_parameters(contacts, np.array(windows[0].faces))
        if one not in (SPHERE, CORNERS, ROD):
            near = np.concatenate([as_hull_on_mesh(contacts, int(surfaces[0, 0])), with_ridges(near)])
        geometry = [*before, near[None]]
    elif len(blocks):
        geometry = [*before, np.tile(blocks, (len(windows), 1))]
    else:
        geometry += (
            [np.full(len(row), float(row.shape[1]))] if other == ROD else _positions(contacts, other, row)
        )
    numbers = np.column_stack([law, rho, *geometry, radii[:, 0], loss, np.zeros((len(windows), N_INTERNAL))])
    stiffness = np.where(loss[:, STATIC] > 0.0, loss[:, STIFFNESS], 0.0)
    steepest = np.where(law[:, 0] == POLYNOMIAL, slopes(law, rho), law[:, 1])
    force = _ROUNDING * 0.01 * rho * (steepest * count + stiffness)
    return numbers, stiffness, np.column_stack([force, force * rho])


def _positions(contacts: Contacts, kind: int, points: Ints) -> list[Floats]:
    """Return the positions in their frame of points (w, :) of surfaces on one frame, for a box also its half sides."""
    positions = [contacts.X[points_of_surface] for points_of_surface in points.T]
    return [*positions, half_sides(contacts, points[:, 0])] if kind == BOX else positions


def match_patches(points: Floats, old: list[ContactPatch], new: list[ContactPatch]) -> Ints:
    """Return for each old window the new one (w,) that inherits its bristle, -1: none; points (k, 3): current positions.

    Among new windows with the same part and partner it is one that contains the nearest node and most of the other nodes.
    """
    by_part: dict[tuple[object, ...], list[int]] = {}
    for k, window in enumerate(new):
        by_part.setdefault((window.pair, window.side, window.part), []).append(k)
    successors = np.full(len(old), -1, np.int64)
    for k, window in enumerate(old):
        matching = by_part.get((window.pair, window.side, window.part), [])
        if len(matching) == 1:
            successors[k] = matching[0]
        elif matching:
            middle = points[list(window.part)].mean(axis=0)
            nearest = min(window.row, key=lambda b: float(np.linalg.norm(points[b] - middle)))
            with_nearest = [i for i in matching if nearest in new[i].row]
            successors[k] = max(with_nearest, key=lambda i: len({*window.row} & {*new[i].row}), default=-1)
    return successors


def transfer_bristles(bristles: Floats, to: Ints, count: int) -> Floats:
    """Return the bristles (count, OWN) of new windows, from those of old ones (w, OWN) and the new windows `to`, see
    `match_patches`.

    Merged bristles have the same stiffness and are given in the axes of one frame. The new bristle is their sum, shortened if its
    energy would exceed theirs: |z|^2 <= sum of |z_i|^2. It slides if all of them did.
    """
    continues = to >= 0
    bristles, to = bristles[continues], to[continues]
    merged, energy = np.zeros((count, N_INTERNAL)), np.zeros(count)
    np.add.at(merged, to, bristles)
    np.add.at(energy, to, np.sum(bristles[:, :3] ** 2, axis=1))
    merged_energy = np.sum(merged[:, :3] ** 2, axis=1)
    longer = merged_energy > energy
    merged[longer, :3] *= np.sqrt(energy[longer] / merged_energy[longer])[:, None]
    merged[:, 3] = (merged[:, 3] > 0.0) & (merged[:, 3] == np.bincount(to, minlength=count))
    return merged
