"""Build the contact interactions between the pairs of a list, as interactions of `System.others`; rebuilt for each list."""

from __future__ import annotations

import numpy as np

from discretization.contact.core_parameters import as_hull_on_mesh, core_blocks
from discretization.contact.mesh_search import triangle_parameters, with_ridges
from discretization.contact.neighbour_search import Candidates, candidates
from discretization.contact.table import (
    BARRIER,
    BOTH,
    BOX,
    CAPSULE,
    CORNERS,
    HULL,
    MESH,
    OF_HULLS,
    OF_ROUNDS,
    ON_MESHES,
    RIDGES,
    ROD,
    ROUND,
    SPHERE,
    Contacts,
    half_sides,
    median_search_distance,
    points_of,
    scale_law,
    search_distances,
    sizes_of,
    slopes,
)
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import FRAMES, InteractionTable, groups_of
from rigid.interactions import evaluation
from rigid.interactions.contact.box_points import BOX_ROD, SPHERE_BOX
from rigid.interactions.contact.boxes import BOXES
from rigid.interactions.contact.capsules import CAPSULE_ROD, CAPSULES, SPHERE_CAPSULE
from rigid.interactions.contact.core_points import CORE_ROD, SPHERE_CORE
from rigid.interactions.contact.edges import EDGES
from rigid.interactions.contact.hulls import HULLS
from rigid.interactions.contact.mesh_hulls import MESH_HULL
from rigid.interactions.contact.mesh_points import MESH_ROD, SPHERE_MESH
from rigid.interactions.contact.round_hulls import MESH_ROUND, ROUND_HULLS
from rigid.interactions.contact.sphere_rod_contacts import RODS, SPHERE_ROD, SPHERES
from rigid.interactions.kinds import Group
from rigid.system import Floats, State

# kinds of both surfaces: the interaction kind, the ends of both parts whose frames it has, the ends whose positions are among its
# numbers, whether stations and vertices are, and the number of cores whose blocks come last, but before triangles
_KINDS = {
    (SPHERE, SPHERE): (SPHERES, (0, 2), (0, 2), False, False, 0),
    (SPHERE, ROD): (SPHERE_ROD, (0, 2, 3), (0,), False, True, 0),
    (ROD, ROD): (RODS, (0, 1, 2, 3), (), True, True, 0),
    (SPHERE, CAPSULE): (SPHERE_CAPSULE, (0, 2), (0, 2, 3), False, False, 0),
    (ROD, CAPSULE): (CAPSULE_ROD, (2, 0, 1), (2, 3), True, False, 0),
    (CAPSULE, CAPSULE): (CAPSULES, (0, 2), (0, 1, 2, 3), False, False, 0),
    (SPHERE, BOX): (SPHERE_BOX, (0, 2), (0, 2, 3), False, False, 0),
    (ROD, BOX): (BOX_ROD, (2, 0, 1), (2, 3), True, False, 0),
    (BOX, BOX): (BOXES, (0, 2), (0, 1, 2, 3), False, False, 0),
    (SPHERE, MESH): (SPHERE_MESH, (0, 2), (0,), False, False, 0),
    (ROD, MESH): (MESH_ROD, (2, 0, 1), (), True, False, 0),
    **{(kind, MESH): (MESH_HULL, (2, 0), (), False, False, 1) for kind in ON_MESHES},
    (ROUND, MESH): (MESH_ROUND, (2, 0), (), False, False, 1),
    (CORNERS, MESH): (SPHERE_MESH, (0, 2), (0,), False, False, 0),
    (CORNERS, CORNERS): (SPHERES, (0, 2), (0, 2), False, False, 0),
    (RIDGES, RIDGES): (EDGES, (0, 2), (0, 1, 2, 3), False, False, 0),
    **{(SPHERE, kind): (SPHERE_CORE, (0, 2), (0,), False, False, 1) for kind in (HULL, ROUND)},
    **{(ROD, kind): (CORE_ROD, (2, 0, 1), (), True, False, 1) for kind in (HULL, ROUND)},
    **dict.fromkeys(OF_HULLS, (HULLS, (0, 2), (), False, False, 2)),
    **dict.fromkeys(OF_ROUNDS, (ROUND_HULLS, (0, 2), (), False, False, 2)),
}
_DEPTH = 0.01  # depth of a typical contact over the sum of radii
_STEEP = 4.0  # stiffness of a barrier at half its activation distance, over its k


def interactions_of(contacts: Contacts, listed: Candidates) -> InteractionTable:
    """Return the interactions of all pairs of a list, in its order."""
    sides = np.stack([listed.side, 1 - listed.side], axis=1)
    surfaces = np.take_along_axis(contacts.pairs[listed.pair], sides, 1)
    one, other = contacts.kind[surfaces].T
    elements = one == ROD
    is_symmetric = (contacts.side[listed.pair] == BOTH) | (surfaces[:, 0] == surfaces[:, 1])
    law = scale_law(contacts.law[listed.pair], np.where(elements & (other == ROD) & is_symmetric, 0.5, 1.0))
    rho = contacts.radius[surfaces].sum(axis=1)
    length = contacts.length[listed.ends[:, 0]]
    X, m, minus = contacts.X[listed.ends], contacts.stations[listed.pair], listed.minus
    for k, kind_of_side in enumerate((one, other)):  # a box has its half sides instead of a second point
        X[kind_of_side == BOX, 2 * k + 1] = half_sides(contacts, listed.ends[kind_of_side == BOX, 2 * k])
        cored = np.isin(kind_of_side, (HULL, ROUND))
        X[cored, 2 * k + 1] = sizes_of(contacts, listed.ends[cored, 2 * k])
    width, kind = np.zeros((2, len(one)), np.int64)
    frames = np.full((len(one), FRAMES), -1, np.int64)
    rows_and_numbers = []
    for (a, b), (interaction_kind, ends, placed, stations, vertices, cores) in _KINDS.items():
        use = np.flatnonzero((one == a) & (other == b))
        if not len(use):
            continue
        columns = [law[use], rho[use]]
        columns += [m[use], length[use]] if stations else []
        columns += [X[use, k] for k in placed]
        columns += [minus[use]] if vertices else []
        values = np.column_stack(columns)
        kind[use] = INTERACTIONS.index(interaction_kind)
        frames[use, : len(ends)] = contacts.frames[listed.ends[use][:, list(ends)]]
        if b == MESH:
            for k, before in zip(use.tolist(), values, strict=True):  # each pair has other triangles
                near = triangle_parameters(contacts, listed.faces[slice(*listed.first[k : k + 2])])
                parameters = np.concatenate([before, near])
                if cores:
                    core = as_hull_on_mesh(contacts, int(surfaces[k, 0]))
                    parameters = np.concatenate([before, core, with_ridges(near)])
                width[k] = len(parameters)
                rows_and_numbers.append((np.array([k]), parameters[None]))
            continue
        for rows, blocks in core_blocks(contacts, surfaces[use][:, 2 - cores :]):
            numbers = np.column_stack([values[rows], np.tile(blocks, (len(rows), 1))])
            width[use[rows]] = numbers.shape[1]
            rows_and_numbers.append((use[rows], numbers))
    first = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    all_numbers = np.zeros(first[-1])
    for use, values in rows_and_numbers:
        all_numbers[first[use][:, None] + np.arange(values.shape[1])] = values
    lever = np.linalg.norm(X, axis=2).max(axis=1, initial=0.0)
    # capsule axes, cores and meshes have round-off proportional to their levers
    depth = np.maximum(_DEPTH * rho, np.where(other >= CAPSULE, lever, 0.0))
    force = depth * np.abs(_slope(law, rho)) * np.where(elements, length, 1.0)
    arm = np.maximum(rho, lever)
    return InteractionTable(kind, frames, first, all_numbers, np.column_stack([force, force * arm]))


def _slope(law: Floats, rho: Floats) -> Floats:
    """Return the largest stiffness (c,) of each law, the derivative of its force."""
    return np.where(law[:, 0] == BARRIER, _STEEP * law[:, 1], slopes(law, rho))


def contact_groups(contacts: Contacts, state: State) -> list[Group]:
    """Return groups of the pairs that touch in one state; their rows are the numbers of these pairs."""
    if not len(contacts.pairs):
        return []
    return _groups(contacts, points_of(contacts, state.r, state.quat))


def energies(contacts: Contacts, state: State) -> Floats:
    """Return the contact energy, J, of one state or of many (...); each value is bit-identical to that of the single state."""
    lead = state.r.shape[:-2]
    energy = np.zeros(int(np.prod(lead)))
    if not len(contacts.pairs):
        return energy.reshape(lead)
    r, quat = state.r.reshape(-1, *state.r.shape[-2:]), state.quat.reshape(-1, *state.quat.shape[-2:])
    points = points_of(contacts, r, quat)
    skin, k = median_search_distance(search_distances(contacts)), 0
    while k < len(energy):
        # one list serves all following states that are near enough to the first of them
        far = np.linalg.norm(points[k:] - points[k], axis=-1).max(axis=-1) > 0.5 * skin
        end = k + int(np.argmax(far)) if far.any() else len(energy)
        groups = _groups(contacts, points[k], skin)
        if groups:
            values = evaluation.values(groups, r[k:end], quat[k:end])
            energy[k:end] = np.cumsum(values, axis=-1)[:, -1]  # in order: zeros do not change the sum
        k = end
    return energy.reshape(lead)


def _groups(contacts: Contacts, points: Floats, skin: float = 0.0) -> list[Group]:
    """Return the groups of the interactions of all pairs that are near at these points."""
    table = interactions_of(contacts, candidates(contacts, np.ascontiguousarray(points), skin))
    return groups_of(table, np.arange(len(table.kind)))
