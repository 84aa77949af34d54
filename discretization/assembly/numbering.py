"""Assign addresses to all blocks of the Newton matrix: unknowns in an order of small bandwidth, addresses of dense blocks.

There are 6 unknowns per moving frame (dr, eta) and one per scalar constraint. Velocity-level (hidden) constraints add 6 more (W)
behind those of a frame that carries a joint or shares its mass, and one more per constraint behind those of its joint.
Frames and joints are the vertices of a graph, joined if they share a block. Reverse Cuthill-McKee orders it, so that multipliers
are next to the frames they act on. Below a limit of the bandwidth the matrix is stored as a LAPACK band, above it in compressed
columns. In both, a dense block (I, J) has its entry (i, j) at `base + i + j * stride[J]`, so one assembly serves both.

Fixed frames get the address of trash entries behind the matrix and behind the right-hand side: assembly needs no branches.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np

from discretization.assembly.block_addresses import (
    BlockAddresses,
    append_border,
    append_far_blocks,
    band_storage,
    column_storage,
)
from discretization.assembly.connectivity import couples_frames
from discretization.assembly.coupling_graph import (
    Vertices,
    contact_vertices,
    coupled_vertices,
    graph_vertices,
    inner_vertices,
    small_bandwidth_order,
    with_border_vertices,
)
from discretization.drives import driven_frames
from discretization.interaction_table import tendons_of
from discretization.linear.band_gmres import FarBlocks, no_far_blocks
from discretization.linear.block_tridiagonal_runs import runs_of
from discretization.linear.bordered_band import Border, no_border
from discretization.linear.multifrontal import Fronts, no_fronts
from discretization.memoization import memoized, per_structure
from discretization.multipliers import MultiplierItems, multipliers_of
from discretization.system import System
from rigid.system import Ints
from rigid.tuple_references import by_reference

BAND_LIMIT = 150
_handles = count()


def new_handle() -> int:
    """Return a new identifier of a sparse factorisation."""
    return next(_handles)


@by_reference
class Numbering(NamedTuple):
    """Addresses of the unknowns and of the blocks of the matrix. It is never written to: systems of one structure share it."""

    size: int  # number of unknowns N
    band: int  # half bandwidth, or -1: compressed columns
    runs: Ints  # (k, 2) first unknown and number of blocks of each block run: `discretization.linear.block_tridiagonal_runs`
    n_values: int  # number of matrix entries; the trash entries begin there
    n_trash: int  # number of trash entries
    handle: int  # identifies the sparse factorisation
    frame: Ints  # (n,) first unknown of a frame; N if fixed, beyond N if driven
    frame_stride: Ints  # (n,) column stride of a frame
    frame_base: Ints  # (n,) addresses of diagonal blocks
    # items with rows: the c constraints of their table, then the e other interactions with rows
    rows: Ints  # (c + e,) number of scalar equations
    row: Ints  # (c + e,) unknown of the first multiplier
    row_stride: Ints  # (c + e,) column stride of the multipliers
    lam: Ints  # (c + e,) index of the first multiplier in State.lam
    row_frames: Ints  # (c + e, columns of `InteractionTable.frames`) frames, -1: none
    constraint_base: Ints  # (c, 8) addresses of blocks aa, ab, ba, bb, a-lam, b-lam, lam-a, lam-b
    row_base: Ints  # (e, columns of `InteractionTable.frames`, 2) addresses of blocks frame-lam, lam-frame
    repeating: Ints  # (k,) redundant items, which repeat others
    repeating_base: Ints  # (k,) addresses of their blocks lam-lam
    element_base: Ints  # (m, 4) addresses of blocks aa, ab, ba, bb of elements
    span_base: Ints  # (k, MOST_FRAMES, MOST_FRAMES) addresses of the blocks of spans
    span_stride: Ints  # (k, MOST_FRAMES) column strides of the frames of spans
    other_base: Ints  # (e, f, f) blocks of `System.others`, f: columns of `InteractionTable.frames`
    indptr: Ints  # column pointers of compressed columns, else empty
    indices: Ints  # row indices of compressed columns, else empty
    fronts: Fronts  # fronts of compressed columns, or none: `discretization.assembly.multifrontal_selection`
    far: FarBlocks  # contact blocks behind the band, or none: `discretization.linear.band_gmres`
    border: Border  # border of the band, or none: `discretization.linear.bordered_band`
    border_of: Ints  # (e,) border row of each of `System.others`, -1: none


def number_unknowns(
    system: System,
    band_limit: int = BAND_LIMIT,
    hidden: bool = False,
    loose: bool = False,
    border: bool = False,
) -> Numbering:
    """Order the unknowns of `system` and assign addresses to its blocks; above `band_limit` the matrix is sparse.

    `hidden`: True to include the unknowns of velocity-level constraints.
    `loose`: True to store blocks of contacts behind the band of all others if they do not lie in it.
    `border`: True to store what couples all frames of a tendon in a border of the band. It requires that the rest of the matrix
    is not singular.
    """
    shared = elements_with_shared_mass(system)
    if border and len(tendons_of(system.others)):
        numbering = _number(system, band_limit, hidden, loose, True, shared)
        if numbering.band >= 0:
            return numbering._replace(handle=new_handle())
    numbering = _number(system, band_limit, hidden, loose, False, shared)
    return numbering._replace(handle=new_handle())


def elements_with_shared_mass(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Return which rod elements, of two frames and of several, share masses between their frames."""
    return system.elements.coupling != 0.0, system.spans.coupling != 0.0


@memoized(per_structure)
def _number(
    system: System,
    band_limit: int,
    hidden: bool,
    loose: bool,
    border: bool,
    shared: tuple[np.ndarray, np.ndarray],
) -> Numbering:
    """Return the numbering of `number_unknowns` with any handle; `shared`: result of `elements_with_shared_mass`, since it
    depends on it.
    """
    vertices, border_of = graph_vertices(system, hidden), np.full(len(system.others.kind), -1)
    if border:
        vertices, border_of = with_border_vertices(system, vertices)
    last = border_of[border_of >= 0]
    pairs = coupled_vertices(system, vertices, loose, chains=border)
    pairs = pairs[~np.isin(pairs, last).any(axis=1)]
    contacting = contact_vertices(system, vertices) if loose else np.zeros((0, 2), np.int64)
    ordered = _ordered(system, vertices, pairs, contacting, last)
    narrow = ordered.band <= band_limit
    storage = (
        band_storage(ordered.size, ordered.band, len(vertices.weight))
        if narrow
        else column_storage(pairs, ordered.start, vertices.weight)
    )
    far = no_far_blocks()
    if loose and narrow:
        storage, far = append_far_blocks(storage, contacting, ordered.start, vertices.weight, ordered.band)
    place = no_border()
    if len(last) and narrow:
        storage, place = append_border(storage, ordered.size, len(last))
    frame = _first_unknowns(system, vertices, ordered)
    blocks = BlockAddresses(storage, storage.n_values, frame, vertices.of_frame)
    all_frames = np.arange(len(frame))
    row = ordered.start[vertices.of_constraint] + vertices.offset
    multipliers = multipliers_of(system)
    repeating = np.flatnonzero(multipliers.repeats)
    row_of, vertex_of = row[repeating], vertices.of_constraint[repeating]
    return Numbering(
        size=ordered.size,
        band=ordered.band if narrow else -1,
        runs=runs_of(ordered.start, vertices.weight, pairs, ordered.size - len(last)),
        n_values=storage.n_values,
        n_trash=12 * int(storage.stride.max(initial=1)) + 64,
        handle=0,
        frame=frame.astype(np.int64),
        frame_stride=storage.stride[vertices.of_frame],
        frame_base=blocks.of_frames(all_frames, all_frames),
        rows=multipliers.rows,
        row=row.astype(np.int64),
        row_stride=storage.stride[vertices.of_constraint],
        lam=multipliers.first,
        row_frames=multipliers.frames,
        constraint_base=_of_constraints(system, vertices, blocks, row),
        row_base=_with_rows(multipliers, vertices, blocks, row),
        repeating=repeating,
        repeating_base=blocks.place(row_of, row_of, vertex_of, vertex_of),
        element_base=blocks.of_pairs(system.elements.frames),
        span_base=blocks.of_groups(system.spans.frames),
        span_stride=storage.stride[_vertices_of_spans(system, vertices)],
        other_base=blocks.of_groups(system.others.frames),
        indptr=storage.indptr,
        indices=storage.indices,
        fronts=no_fronts(),
        far=far,
        border=place,
        border_of=np.where(border_of >= 0, ordered.start[border_of] - ordered.size + len(last), -1),
    )


def half_bandwidth(system: System) -> int:
    """Return the half bandwidth of the matrix if all its blocks, including those of contacts, are stored in the band."""
    vertices = graph_vertices(system, False)
    none = np.zeros((0, 2), np.int64)
    return _ordered(system, vertices, coupled_vertices(system, vertices), none, none[:, 0]).band


class _Ordered(NamedTuple):
    """Order of the unknowns."""

    size: int
    band: int  # half bandwidth
    start: Ints  # (v,) first unknown of a vertex


def _ordered(system: System, vertices: Vertices, pairs: Ints, contacting: Ints, last: Ints) -> _Ordered:
    """Order the unknowns; `pairs`: vertices that share a block in the band, `contacting`: pairs in contact outside of it, `last`:
    vertices that come last.
    """
    weight = vertices.weight
    inner = inner_vertices(system, vertices, np.concatenate([pairs, contacting]))
    order = small_bandwidth_order(pairs, len(weight), inner)
    if len(last):
        order = np.concatenate([order[~np.isin(order, last)], last])
    start = np.empty(len(weight), dtype=np.int64)
    start[order] = np.concatenate([[0], np.cumsum(weight[order])])[:-1]
    # distance from the first unknown of the upper vertex to the last one of the lower
    reach = start[pairs[:, 1]] + weight[pairs[:, 1]] - 1 - start[pairs[:, 0]]
    return _Ordered(int(weight.sum()), int(reach.max(initial=0)), start)


def _vertices_of_spans(system: System, vertices: Vertices) -> Ints:
    """Return the vertices (k, MOST_FRAMES) of the frames of spans, -1: fixed, or no frame."""
    frames = system.spans.frames
    return np.where(frames >= 0, vertices.of_frame[frames], -1)


def _first_unknowns(system: System, vertices: Vertices, ordered: _Ordered) -> Ints:
    """Return the first unknown (n,) of each frame: in the matrix, or behind it for fixed and driven frames."""
    moving = vertices.of_frame >= 0
    frame = np.full(len(moving), ordered.size, dtype=np.int64)
    frame[moving] = ordered.start[vertices.of_frame[moving]]
    driven = driven_frames(system.frames.fixed)
    frame[driven] = (
        ordered.size + 6 + 6 * np.arange(len(driven))
    )  # the forces on driven frames are stored separately: they do work
    return frame


def _of_constraints(system: System, vertices: Vertices, blocks: BlockAddresses, row: Ints) -> Ints:
    """Return the addresses (c, 8) of the blocks aa, ab, ba, bb, a-lam, b-lam, lam-a, lam-b of the constraints."""
    frames = system.constraints.frames
    row, vc = row[: len(frames)], vertices.of_constraint[: len(frames)]
    full = couples_frames(system)
    coupled = np.full((len(frames), 4), blocks.dump, dtype=np.int64)
    coupled[full] = blocks.of_pairs(frames[full])
    for side in (0, 1):
        frame = frames[~full, side]
        coupled[~full, 3 * side] = blocks.of_frames(frame, frame)
    first, vertex = blocks.frame[frames], vertices.of_frame[frames]
    with_lam = [blocks.place(first[:, k], row, vertex[:, k], vc) for k in (0, 1)]
    with_lam += [blocks.place(row, first[:, k], vc, vertex[:, k]) for k in (0, 1)]
    return np.concatenate([coupled, np.stack(with_lam, axis=1)], axis=1)


def _with_rows(multipliers: MultiplierItems, vertices: Vertices, blocks: BlockAddresses, row: Ints) -> Ints:
    """Return the addresses (e, most frames, 2) of the blocks frame-lam and lam-frame.

    The rows are those of interactions outside the table of constraints.
    """
    e = len(multipliers.other)
    frames = multipliers.frames[len(multipliers.frames) - e :]
    out = np.full((*frames.shape, 2), blocks.dump, dtype=np.int64)
    item, k = np.nonzero(frames >= 0)
    behind = len(multipliers.frames) - e + item
    row, vertex = row[behind], vertices.of_constraint[behind]
    first, of_frame = blocks.frame[frames[item, k]], vertices.of_frame[frames[item, k]]
    out[item, k, 0] = blocks.place(first, row, of_frame, vertex)
    out[item, k, 1] = blocks.place(row, first, vertex, of_frame)
    return out
