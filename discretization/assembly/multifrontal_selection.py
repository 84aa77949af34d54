"""Choose which models are solved by fronts (multifrontal LU), and assign each joint to a frame it constrains.

The multipliers of a joint have zeros on the diagonal; together with the inertia of a frame of their own they can be eliminated
before anything else is. A hinge and its motor constrain the same frames and share one. The matrix remains a band if no such
assignment exists (bodies without inertia, more joints than frames, redundant joints), and if a band takes about as few
operations.
"""

from __future__ import annotations

import numpy as np
import scipy  # submodules are loaded on first access

from discretization.assembly.connectivity import connectivity
from discretization.assembly.coupling_graph import contact_vertices, coupled_vertices, graph_vertices
from discretization.assembly.numbering import (
    BAND_LIMIT,
    Numbering,
    elements_with_shared_mass,
    half_bandwidth,
    new_handle,
    number_unknowns,
)
from discretization.components import components
from discretization.interaction_table import one_sided
from discretization.linear.multifrontal import fronts_of
from discretization.memoization import memoized, per_structure
from discretization.multipliers import multipliers_of
from discretization.system import System
from rigid.system import Ints

_LOOSE = 32  # half bandwidth of parts that meet up to which contacts between them are left out of the band
_WIDE = 36  # half bandwidth up to which fronts are not considered: no chain or branched rod is wider
_PARTS = 8  # number of rods, bodies, mechanisms that meet from which contacts between them are left to an iteration
_NARROW_HEAP = 36  # half bandwidth including these contacts up to which they stay in the band nevertheless
_SLOWER = 3.0  # operations of a band in the time of one operation of fronts
_SYMMETRIC = 1e-9  # moments of inertia below this fraction of the largest count as zero

_DIAGONAL, _OFF_DIAGONAL = np.eye(3, dtype=bool), ~np.eye(3, dtype=bool)


def number_for_solver(system: System, band_limit: int = BAND_LIMIT, hidden: bool = False) -> Numbering:
    """Number the unknowns as `numbering.number_unknowns` does, with fronts if they are faster.

    Use it for matrices that contain inertia. If many parts meet in contact, the blocks of contacts are stored behind the band.
    """
    numbering = _number_for_steps(
        system, band_limit, hidden, has_inertia(system), elements_with_shared_mass(system)
    )
    return numbering._replace(handle=new_handle())


def has_inertia(system: System) -> bool:
    """Return whether all moving frames have mass and inertia about all axes."""
    frames, moving = system.frames, system.frames.fixed == 0
    inertia = frames.inertia[moving]
    if not inertia[:, _OFF_DIAGONAL].any():  # diagonal, as for rods: the entries are the principal moments
        moments = inertia[:, _DIAGONAL]
        smallest, largest = moments.min(axis=1), moments.max(axis=1)
    else:
        moments = np.linalg.eigvalsh(inertia)
        smallest, largest = moments[:, 0], moments[:, -1]
    return bool(np.all((frames.mass[moving] > 0.0) & (smallest > _SYMMETRIC * largest)))


@memoized(per_structure)
def _number_for_steps(
    system: System, band_limit: int, hidden: bool, inertia: bool, shared: tuple[np.ndarray, np.ndarray]
) -> Numbering:
    """Return the numbering of `number_for_solver` with any handle.

    It depends on masses in two ways only. `inertia`: result of `has_inertia`; `shared`: result of `elements_with_shared_mass`.
    """
    if not hidden and count_contacting_parts(system) >= _PARTS and half_bandwidth(system) > _NARROW_HEAP:
        loose = number_unknowns(system, _LOOSE, loose=True)
        if loose.band >= 0:
            return loose
    numbering = number_unknowns(system, band_limit, hidden, border=not hidden)
    if 0 <= numbering.band <= _WIDE:
        return numbering
    companions = _companions(system, numbering) if inertia else None
    if companions is None:
        return numbering
    columns = numbering if numbering.band < 0 else number_unknowns(system, -1, hidden)
    group, leads = _groups(system, columns, companions)
    fronts = fronts_of(columns.indptr, columns.indices, group, leads)
    if numbering.band >= 0 and 2.0 * numbering.size * numbering.band**2 < _SLOWER * fronts.flops:
        return numbering
    return columns._replace(fronts=fronts)


def count_contacting_parts(system: System) -> int:
    """Return the number of parts of the system that have contacts with other parts in the contact list.

    A part is everything connected by interactions other than contacts.
    """
    generic = system.others
    if not one_sided(generic).any():
        return 0
    vertices = graph_vertices(system, False)
    pairs_in_contact = contact_vertices(system, vertices)
    pairs, count = coupled_vertices(system, vertices, loose=True), len(vertices.weight)
    part = components(pairs.T, count)[pairs_in_contact]
    return len(np.unique(part[part[:, 0] != part[:, 1]]))


def _joints(system: System) -> tuple[Ints, Ints]:
    """Return the joints that bring equations, and for each its first item that does.

    Every other interaction that brings equations counts as a joint.
    """
    multipliers = multipliers_of(system)
    brings = multipliers.of_joint > 0
    joints, at = np.unique(multipliers.joint[brings], return_index=True)
    return joints, np.flatnonzero(brings)[at]


def _companions(system: System, numbering: Numbering) -> Ints | None:
    """Assign each joint a moving frame with as few neighbours as possible; return None if this is impossible.

    Two joints that constrain the same frames share one.
    """
    frames, multipliers = system.frames, multipliers_of(system)
    moving = frames.fixed == 0
    if len(numbering.repeating) or (multipliers.of_joint > 6).any():
        return None
    joints, first = _joints(system)
    if not len(joints):
        return joints
    is_used = (
        (multipliers.frames >= 0) & moving[multipliers.frames] & np.isin(multipliers.joint, joints)[:, None]
    )
    item, side = np.nonzero(is_used)
    edges = np.stack([np.searchsorted(joints, multipliers.joint[item]), multipliers.frames[item, side]])
    edges = np.unique(edges, axis=1)
    shared_number = _shared_numbers(edges, multipliers.of_joint[first])
    edges = np.unique(np.stack([shared_number[edges[0]], edges[1]]), axis=1)
    count = int(shared_number.max()) + 1
    degree = 1.0 + np.bincount(_all_frames(system), minlength=len(frames.mass))
    graph = scipy.sparse.coo_matrix((degree[edges[1]], edges), shape=(count, len(frames.mass))).tocsr()
    try:
        of, assigned = scipy.sparse.csgraph.min_weight_full_bipartite_matching(graph)
    except ValueError:  # no full matching exists
        return None
    return assigned[np.argsort(of)][shared_number] if len(of) == count else None


def _shared_numbers(edges: Ints, rows: Ints) -> Ints:
    """Number the joints (j,) so that joints with the same moving frames, and at most six rows together, share a number.

    `edges` (2, e): a joint and a moving frame that it constrains, sorted by joint, then by frame. `rows` (j,): rows of each
    joint.
    """
    joints, at = np.unique(edges[0], return_index=True)
    frames_of = dict(zip(joints.tolist(), np.split(edges[1], at[1:]), strict=True))
    numbers, first, total = np.empty(len(rows), np.int64), dict[bytes, int](), list[int]()
    for joint, count in enumerate(rows.tolist()):
        frames = frames_of[joint].tobytes() if joint in frames_of else b""
        number = first.get(frames, -1)
        if number < 0 or total[number] + count > 6:
            first[frames] = number = len(total)
            total.append(0)
        numbers[joint] = number
        total[number] += count
    return numbers


def _all_frames(system: System) -> Ints:
    """Return the frames of all interactions, concatenated."""
    frames_of_tables = np.concatenate([frames.ravel() for frames in connectivity(system)])
    return frames_of_tables[frames_of_tables >= 0]


def _groups(system: System, numbering: Numbering, companions: Ints) -> tuple[Ints, np.ndarray]:
    """Return (N,) the group of each unknown, and whether it is a multiplier; multipliers belong to the group of their companion
    frame.
    """
    _, constraints = _joints(system)
    moving = np.flatnonzero(system.frames.fixed == 0)
    start = np.concatenate([numbering.frame[moving], numbering.row[constraints]])
    of = np.concatenate([moving, companions])
    is_joint = np.arange(len(of)) >= len(moving)
    order = np.argsort(start)
    vertex = order[np.searchsorted(start[order], np.arange(numbering.size), side="right") - 1]
    return np.searchsorted(moving, of[vertex]), is_joint[vertex]
