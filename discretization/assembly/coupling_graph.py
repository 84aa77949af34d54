"""Build the graph behind the unknowns: its vertices are moving frames and joints, its edges are the matrix blocks they share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access

from discretization.assembly.connectivity import coupled_frames
from discretization.interaction_table import chosen, one_sided, pairs_of, tendons_of
from discretization.multipliers import multipliers_of
from discretization.system import System
from rigid.system import Ints


class Vertices(NamedTuple):
    """Vertices of the graph: moving frames, then joints."""

    moving: int  # number of vertices that are frames
    of_frame: Ints  # (n,) vertex of each frame, -1: fixed
    of_constraint: Ints  # (k,) vertex of the joint of each item of `discretization.multipliers`
    weight: Ints  # (v,) number of unknowns
    offset: Ints  # (k,) offset of its first row among the rows of its joint


def carries_velocity(system: System) -> np.ndarray:
    """Return which moving frames have velocities corrected by velocity-level constraints ((n,) bool).

    These are the frames on which constraints act, and the frames of rods with a consistent (shared) mass.
    """
    marked = np.zeros(len(system.frames.mass), dtype=bool)
    frames = multipliers_of(system).frames
    marked[frames[frames >= 0]] = True
    pairs, coupling = system.rods.shared_masses
    marked[pairs[coupling != 0.0].ravel()] = True
    return marked & (system.frames.fixed == 0)


def graph_vertices(system: System, hidden: bool) -> Vertices:
    """Return the vertices and their numbers of unknowns; `hidden`: True to include those of the velocity-level constraints."""
    fixed, multipliers = system.frames.fixed.astype(bool), multipliers_of(system)
    rows = multipliers.rows
    of_frame = np.where(fixed, -1, np.cumsum(~fixed) - 1)
    moving = int((~fixed).sum())
    joints, of_constraint = np.unique(multipliers.joint, return_inverse=True)
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


def with_border_vertices(system: System, vertices: Vertices) -> tuple[Vertices, Ints]:
    """Return the vertices with one more for each elastic tendon, and the border vertex of each of `System.others`, -1: none.

    That of an inextensible tendon is the vertex of its multiplier.
    """
    table, multipliers = system.others, multipliers_of(system)
    tendons, border_of = tendons_of(table), np.full(len(table.kind), -1)
    border_of[multipliers.other] = vertices.of_constraint[len(multipliers.frames) - len(multipliers.other) :]
    border_of[np.setdiff1d(multipliers.other, tendons)] = -1
    elastic = np.setdiff1d(tendons, multipliers.other)
    border_of[elastic] = len(vertices.weight) + np.arange(len(elastic))
    return vertices._replace(weight=np.append(vertices.weight, np.ones(len(elastic), np.int64))), border_of


def coupled_vertices(system: System, vertices: Vertices, loose: bool = False, chains: bool = False) -> Ints:
    """Return the (e, 2) pairs of vertices that share a block, in both directions, each once.

    Every vertex that has a diagonal block is paired with itself. `loose`: True to leave out interactions that act in contact
    only. `chains`: True if a tendon couples neighbouring frames only.
    """
    multipliers = multipliers_of(system)
    of_frames = vertices.of_frame[coupled_frames(system, loose=loose, chains=chains)]
    item, k = np.nonzero(multipliers.frames >= 0)
    to_joints = np.stack(
        [vertices.of_frame[multipliers.frames[item, k]], vertices.of_constraint[item]], axis=1
    )
    pairs = np.concatenate([of_frames, to_joints])
    pairs = pairs[(pairs >= 0).all(axis=1)]
    diagonal = np.concatenate([np.arange(vertices.moving), vertices.of_constraint[multipliers.repeats]])
    return _each_once(
        np.concatenate([pairs, pairs[:, ::-1], np.repeat(diagonal[:, None], 2, axis=1)]), len(vertices.weight)
    )


def contact_vertices(system: System, vertices: Vertices) -> Ints:
    """Return the (e, 2) pairs of frames, as vertices, that are joined by contact: in both directions, each once."""
    pairs = vertices.of_frame[pairs_of(chosen(system.others, one_sided(system.others)))]
    return _each_once(pairs[(pairs >= 0).all(axis=1)], len(vertices.weight))


def _each_once(pairs: Ints, count: int) -> Ints:
    """Return the unique pairs, sorted by the first vertex, then by the second."""
    keys = np.unique(pairs @ (np.int64(count), np.int64(1)))
    return np.stack(np.divmod(keys, max(count, 1)), axis=1)


def inner_vertices(system: System, vertices: Vertices, pairs: Ints) -> Ints:
    """Return (k, 3) the inner vertices of spans on which nothing else acts, each with the end vertices of its span."""
    neighbours, inner = np.bincount(pairs[:, 0], minlength=1), [np.zeros((0, 3), np.int64)]
    for p in np.unique(system.spans.order):
        of_span = vertices.of_frame[system.spans.frames[system.spans.order == p, : p + 1]]
        size = (of_span >= 0).sum(axis=1)
        for k in range(1, p):
            alone = (of_span[:, k] >= 0) & (neighbours[of_span[:, k]] == size)
            inner.append(of_span[alone][:, [k, 0, p]])
    return np.concatenate(inner)


def small_bandwidth_order(pairs: Ints, n_vertices: int, inner: Ints) -> Ints:
    """Return the vertices in an order of small bandwidth: reverse Cuthill-McKee, inner ones between the ends of their spans.

    Inner vertices are left out of the graph and inserted afterwards. With them the algorithm would start at one of them, since
    they have the fewest neighbours, and proceed along the rod in both directions.
    """
    remaining = np.setdiff1d(np.arange(n_vertices), inner[:, 0])
    place = np.full(n_vertices, -1, dtype=np.int64)
    place[remaining] = np.arange(len(remaining))
    a, b = place[pairs].T
    both = (a >= 0) & (b >= 0)
    shape = (len(remaining), len(remaining))
    graph = scipy.sparse.coo_matrix((np.ones(both.sum()), (a[both], b[both])), shape=shape).tocsr()
    order = np.asarray(scipy.sparse.csgraph.reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int64)
    position = np.full(n_vertices + 1, -1.0)  # the last entry serves fixed frames (index -1)
    position[remaining[order]] = np.arange(len(remaining))
    position[inner[:, 0]] = position[inner[:, 1:]].max(axis=1, initial=0.0) - 0.5
    return np.argsort(position[:-1], kind="stable")
