"""The graph behind the unknowns: moving frames and joints are its vertices, joined where they share a block of the matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for

from discretization.assembly.incidence import coupled
from discretization.interaction_table import chosen, one_sided, pairs_of
from discretization.multipliers import multipliers_of
from discretization.system import System
from rigid.system import Ints


class Vertices(NamedTuple):
    """Moving frames, then joints."""

    moving: int  # how many of them are frames
    of_frame: Ints  # (n,) -1: fixed
    of_constraint: Ints  # (k,) of all that has multipliers (`discretization.multipliers`): that of its joint
    weight: Ints  # (v,) unknowns
    offset: Ints  # (k,) of its first row among those of its joint


def carries_velocity(system: System) -> np.ndarray:
    """Moving frames (n,) whose velocities hidden constraints correct: at joints, or of rods that share their mass."""
    marked = np.zeros(len(system.frames.mass), dtype=bool)
    held = multipliers_of(system).frames
    marked[held[held >= 0]] = True
    pairs, coupling = system.rods.shared_masses
    marked[pairs[coupling != 0.0].ravel()] = True
    return marked & (system.frames.fixed == 0)


def vertices_of(system: System, hidden: bool) -> Vertices:
    """The vertices and what they weigh, with the unknowns of hidden constraints or without."""
    fixed, held = system.frames.fixed.astype(bool), multipliers_of(system)
    rows = held.rows
    of_frame = np.where(fixed, -1, np.cumsum(~fixed) - 1)
    moving = int((~fixed).sum())
    joints, of_constraint = np.unique(held.joint, return_inverse=True)
    of_constraint = of_constraint + moving
    weight = np.full(moving + len(joints), 6, dtype=np.int64)
    weight[moving:] = 0
    np.add.at(weight, of_constraint, 2 * rows if hidden else rows)
    if hidden:
        weight[of_frame[carries_velocity(system)]] = 12
    # the rows of a joint follow each other in the order of its constraints
    order_in = np.argsort(of_constraint, kind="stable")
    before = np.concatenate([[0], np.cumsum(rows[order_in])])[:-1]
    first = np.searchsorted(of_constraint[order_in], of_constraint[order_in], side="left")
    offset = np.empty(len(rows), dtype=np.int64)
    offset[order_in] = before - before[first] if len(rows) else before
    return Vertices(moving, of_frame, of_constraint, weight, offset)


def joined(system: System, vertices: Vertices, loose: bool = False) -> Ints:
    """(e, 2) pairs of vertices that share a block: both ways, each once, and every vertex that has one with itself.

    loose: without those that act on contact alone.
    """
    held, of_frames = multipliers_of(system), vertices.of_frame[coupled(system, loose=loose)]
    each, k = np.nonzero(held.frames >= 0)
    to_joints = np.stack([vertices.of_frame[held.frames[each, k]], vertices.of_constraint[each]], axis=1)
    pairs = np.concatenate([of_frames, to_joints])
    pairs = pairs[(pairs >= 0).all(axis=1)]
    own = np.concatenate([np.arange(vertices.moving), vertices.of_constraint[held.repeats]])
    return _each_once(
        np.concatenate([pairs, pairs[:, ::-1], np.repeat(own[:, None], 2, axis=1)]), len(vertices.weight)
    )


def joined_by_contact(system: System, vertices: Vertices) -> Ints:
    """(e, 2) pairs of frames, as vertices, that contact joins: both ways, each once."""
    pairs = vertices.of_frame[pairs_of(chosen(system.others, one_sided(system.others)))]
    return _each_once(pairs[(pairs >= 0).all(axis=1)], len(vertices.weight))


def _each_once(pairs: Ints, count: int) -> Ints:
    """In the order of the first, then of the second."""
    keys = np.unique(pairs @ (np.int64(count), np.int64(1)))
    return np.stack(np.divmod(keys, max(count, 1)), axis=1)


def inner_vertices(system: System, vertices: Vertices, pairs: Ints) -> Ints:
    """(k, 3) inner vertices of spans that nothing else acts on, and the vertices at both ends of their spans."""
    neighbours, found = np.bincount(pairs[:, 0], minlength=1), [np.zeros((0, 3), np.int64)]
    for p in np.unique(system.spans.order):
        of_span = vertices.of_frame[system.spans.frames[system.spans.order == p, : p + 1]]
        size = (of_span >= 0).sum(axis=1)
        for k in range(1, p):
            alone = (of_span[:, k] >= 0) & (neighbours[of_span[:, k]] == size)
            found.append(of_span[alone][:, [k, 0, p]])
    return np.concatenate(found)


def narrow_order(pairs: Ints, n_vertices: int, inner: Ints) -> Ints:
    """Vertices in an order of small bandwidth: reverse Cuthill-McKee, inner ones between the ends of their spans.

    With them it would begin at one of them, since they have the fewest neighbours, and go along the rod both ways.
    """
    kept = np.setdiff1d(np.arange(n_vertices), inner[:, 0])
    place = np.full(n_vertices, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    a, b = place[pairs].T
    both = (a >= 0) & (b >= 0)
    shape = (len(kept), len(kept))
    graph = scipy.sparse.coo_matrix((np.ones(both.sum()), (a[both], b[both])), shape=shape).tocsr()
    order = np.asarray(scipy.sparse.csgraph.reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int64)
    position = np.full(n_vertices + 1, -1.0)  # the last entry: of fixed frames
    position[kept[order]] = np.arange(len(kept))
    position[inner[:, 0]] = position[inner[:, 1:]].max(axis=1, initial=0.0) - 0.5
    return np.argsort(position[:-1], kind="stable")
