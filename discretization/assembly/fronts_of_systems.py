"""Which models are solved by fronts, and what goes together in one: a joint with a frame that it holds.

The multipliers of a joint have zeros on the diagonal; with the inertia of a frame of their own they can be eliminated before
anything else is. A hinge and its motor hold the same frames and share one. Where this cannot be had (bodies without inertia,
more joints than frames, joints that repeat others), and where a band takes about as few operations, the matrix stays a band.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when they are asked for

from discretization.assembly.incidence import incidence
from discretization.assembly.kept_numberings import has_inertia, keeping
from discretization.assembly.numbering import BAND_LIMIT, Numbering, half_bandwidth, number
from discretization.assembly.vertices import joined, joined_by_contact, vertices_of
from discretization.interaction_table import one_sided
from discretization.linear.fronts import fronts_of
from discretization.multipliers import multipliers_of
from discretization.system import System
from rigid.system import Ints

_LOOSE = 32  # half bandwidth of parts that meet, up to which contacts between them are left out of the band
_WIDE = 36  # half bandwidth up to which fronts are not looked at: no chain or branched rod is wider
_PARTS = 8  # rods, bodies, mechanisms that meet, from which on contacts between them are left to an iteration
_NARROW_HEAP = 36  # half bandwidth with these contacts, up to which they stay in the band all the same
_SLOWER = 3.0  # operations of a band in the time of one in fronts


@keeping
def number_for_steps(system: System, band_limit: int = BAND_LIMIT, hidden: bool = False) -> Numbering:
    """As `numbering.number`, with fronts where these are quicker: for matrices that have inertia in them."""
    if not hidden and parts_that_meet(system) >= _PARTS and half_bandwidth(system) > _NARROW_HEAP:
        loose = number(system, _LOOSE, loose=True)
        if loose.band >= 0:
            return loose
    numbering = number(system, band_limit, hidden)
    if 0 <= numbering.band <= _WIDE:
        return numbering
    companions = _companions(system, numbering)
    if companions is None:
        return numbering
    columns = numbering if numbering.band < 0 else number(system, -1, hidden)
    group, leads = _groups(system, columns, companions)
    fronts = fronts_of(columns.indptr, columns.indices, group, leads)
    if numbering.band >= 0 and 2.0 * numbering.size * numbering.band**2 < _SLOWER * fronts.flops:
        return numbering
    return columns._replace(fronts=fronts)


def parts_that_meet(system: System) -> int:
    """How many parts of the system, each held together by all but contacts, have contacts with others in its list."""
    others = system.others
    if not one_sided(others).any():
        return 0
    vertices = vertices_of(system, False)
    met = joined_by_contact(system, vertices)
    pairs, count = joined(system, vertices, loose=True), len(vertices.weight)
    graph = scipy.sparse.coo_matrix((np.ones(len(pairs)), pairs.T), shape=(count, count))
    part = scipy.sparse.csgraph.connected_components(graph, directed=False)[1][met]
    return len(np.unique(part[part[:, 0] != part[:, 1]]))


def _joints(system: System) -> tuple[Ints, Ints]:
    """Joints that bring equations, each by the first of its constraints that does; all others that bring some are one too."""
    held = multipliers_of(system)
    brings = held.of_joint > 0
    joints, at = np.unique(held.joint[brings], return_index=True)
    return joints, np.flatnonzero(brings)[at]


def _companions(system: System, numbering: Numbering) -> Ints | None:
    """A moving frame for every joint, with as few neighbours as can be, and one for both where two joints hold the same frames;
    None where there are none.
    """
    frames, held = system.frames, multipliers_of(system)
    moving = frames.fixed == 0
    if not has_inertia(system) or len(numbering.repeating) or (held.of_joint > 6).any():
        return None
    joints, first = _joints(system)
    if not len(joints):
        return joints
    there = (held.frames >= 0) & moving[held.frames] & np.isin(held.joint, joints)[:, None]
    each, side = np.nonzero(there)
    edges = np.stack([np.searchsorted(joints, held.joint[each]), held.frames[each, side]])
    edges = np.unique(edges, axis=1)
    together = _together(edges, held.of_joint[first])
    edges = np.unique(np.stack([together[edges[0]], edges[1]]), axis=1)
    count = int(together.max()) + 1
    degree = 1.0 + np.bincount(_all_frames(system), minlength=len(frames.mass))
    graph = scipy.sparse.coo_matrix((degree[edges[1]], edges), shape=(count, len(frames.mass))).tocsr()
    try:
        of, found = scipy.sparse.csgraph.min_weight_full_bipartite_matching(graph)
    except ValueError:  # there is none
        return None
    return found[np.argsort(of)][together] if len(of) == count else None


def _together(edges: Ints, rows: Ints) -> Ints:
    """Number joints (j,) so that those that hold the same moving frames, by six rows at most, have one number.

    edges (2, e): a joint and a moving frame that it holds, in the order of joints, then of frames; rows (j,) of each joint.
    """
    joints, at = np.unique(edges[0], return_index=True)
    held = dict(zip(joints.tolist(), np.split(edges[1], at[1:]), strict=True))
    numbers, first, total = np.empty(len(rows), np.int64), dict[bytes, int](), list[int]()
    for joint, count in enumerate(rows.tolist()):
        frames = held[joint].tobytes() if joint in held else b""
        number = first.get(frames, -1)
        if number < 0 or total[number] + count > 6:
            first[frames] = number = len(total)
            total.append(0)
        numbers[joint] = number
        total[number] += count
    return numbers


def _all_frames(system: System) -> Ints:
    """The frames of all interactions, one after the other."""
    every = np.concatenate([frames.ravel() for frames in incidence(system)])
    return every[every >= 0]


def _groups(system: System, numbering: Numbering, companions: Ints) -> tuple[Ints, np.ndarray]:
    """(N,) number of the frame of every unknown, for multipliers that of their companion; and whether it is a multiplier."""
    _, constraints = _joints(system)
    moving = np.flatnonzero(system.frames.fixed == 0)
    start = np.concatenate([numbering.frame[moving], numbering.row[constraints]])
    of = np.concatenate([moving, companions])
    is_joint = np.arange(len(of)) >= len(moving)
    order = np.argsort(start)
    vertex = order[np.searchsorted(start[order], np.arange(numbering.size), side="right") - 1]
    return np.searchsorted(moving, of[vertex]), is_joint[vertex]
