"""Where every block of the Newton matrix goes: unknowns in an order of small bandwidth, addresses of dense
blocks.

The unknowns are 6 a moving frame (dr, eta) and one a scalar constraint; with hidden constraints 6 more (W) behind
those of a frame that carries a joint or shares its mass, and one more for each constraint behind those of its joint.
Frames and joints are the vertices of a graph, joined where they share a block; reverse Cuthill-McKee orders it, so
that multipliers stand beside the frames they act on. Below a limit on the bandwidth the matrix is stored as LAPACK
wants a band, above it by compressed columns. In both, a dense block (I, J) has its entry (i, j) at `base + i + j *
stride[J]`, so one assembly serves both.

Frames inside rod elements of order p that nothing else acts on are no part of the band: each element has a panel behind
it (`discretization.linear.substructures`), and its inner unknowns come behind all others. Compressed columns do without.

Fixed frames get the address of a dump behind the matrix and behind the right-hand side: assembly needs no
branches.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np

from discretization.assembly.block_places import Blocks, band_storage, column_storage, with_far_blocks
from discretization.assembly.incidence import couples_frames
from discretization.assembly.vertices import (
    Vertices,
    condensable,
    inner_vertices,
    joined,
    joined_by_contact,
    narrow_order,
    vertices_of,
)
from discretization.drives import driven_frames
from discretization.linear import block_band
from discretization.linear.coupled import Far, no_far
from discretization.linear.fronts import Fronts, no_fronts
from discretization.linear.runs_of_blocks import runs_of
from discretization.linear.substructures import Substructures, no_substructures
from discretization.multipliers import Multipliers, multipliers_of
from discretization.space.spans import MOST_FRAMES
from discretization.system import System
from rigid.references import by_reference
from rigid.system import Ints

BAND_LIMIT = 150
_handles = count()


def new_handle() -> int:
    """A name for another sparse factorisation."""
    return next(_handles)


@by_reference
class Numbering(NamedTuple):
    """Addresses of the unknowns and of the blocks of the matrix."""

    size: int  # number of unknowns N
    banded: int  # the first of them, which are in the band
    band: int  # half bandwidth, or -1: compressed columns
    blocks: int  # of six unknowns, each coupled to its neighbours alone, of which the band consists; 0: it does not
    runs: Ints  # (k, 2) first unknowns of runs of such blocks in it, and their blocks: `discretization.linear.runs_of_blocks`
    n_values: int  # entries of the matrix; the dump begins there
    n_dump: int
    handle: int  # names the sparse factorisation
    frame: Ints  # (n,) first unknown of a frame, N where it is fixed, behind that where it is driven
    frame_stride: Ints  # (n,)
    frame_base: Ints  # (n,) diagonal blocks
    # of the c constraints of their table, and behind them of all other interactions with rows
    rows: Ints  # (c + e,) scalar equations it brings
    row: Ints  # (c + e,) unknown of its first multiplier
    row_stride: Ints  # (c + e,)
    lam: Ints  # (c + e,) place of that multiplier in State.lam
    row_frames: Ints  # (c + e, columns of `InteractionTable.frames`) -1: none
    constraint_base: Ints  # (c, 8) blocks aa, ab, ba, bb, a-lam, b-lam, lam-a, lam-b
    row_base: Ints  # (e, columns of `InteractionTable.frames`, 2) blocks of frame and lam, of lam and frame
    repeating: Ints  # (k,) those that repeat others
    repeating_base: Ints  # (k,) their blocks lam-lam
    element_base: Ints  # (m, 4) aa, ab, ba, bb
    span_base: Ints  # (k, MOST_FRAMES, MOST_FRAMES) blocks of the frames of spans
    span_stride: Ints  # (k, MOST_FRAMES)
    substructures: Substructures  # spans with a panel
    other_base: Ints  # (e, f, f) of those of other interactions, f columns of `InteractionTable.frames`
    indptr: Ints  # compressed columns, else empty
    indices: Ints
    fronts: Fronts  # of compressed columns, or none: `discretization.assembly.fronts_of_systems`
    far: Far  # blocks of contacts behind a band, or none: `discretization.linear.coupled`

    @property
    def unwritten(self) -> bool:
        """Nobody writes to it: systems of one structure share it."""
        return True


def number(
    system: System,
    band_limit: int = BAND_LIMIT,
    hidden: bool = False,
    condense: bool = True,
    loose: bool = False,
) -> Numbering:
    """Order the unknowns of `system` and place its blocks; above `band_limit` the matrix is sparse.

    hidden: with the unknowns of hidden constraints; condense: inner frames of rod elements get panels; loose: blocks of
    contacts stand behind the band of all others, where they do not lie in it.
    """
    vertices = vertices_of(system, hidden)
    pairs = joined(system, vertices, loose)
    met = joined_by_contact(system, vertices) if loose else np.zeros((0, 2), np.int64)
    ordered = _ordered(system, vertices, pairs, condense, met)
    if ordered.band > band_limit and len(ordered.condensed):
        return number(system, band_limit, hidden, condense=False)
    narrow = ordered.band <= band_limit
    storage = (
        band_storage(ordered.banded, ordered.band, len(vertices.weight))
        if narrow
        else column_storage(pairs, ordered.start, vertices.weight)
    )
    far = no_far()
    if loose and narrow:
        storage, far = with_far_blocks(storage, met, ordered.start, vertices.weight, ordered.band)
    frame = _first_unknowns(system, vertices, ordered)
    panels = _panels(system, vertices, ordered, storage.n_values)
    n_values = storage.n_values + int((panels["height"] ** 2).sum())
    blocks = Blocks(storage, n_values, frame, vertices.of_frame)
    everything = np.arange(len(frame))
    of_spans = _OfSpans(
        base=blocks.of_groups(system.spans.frames),
        stride=storage.stride[_vertices_of_spans(system, vertices)],
        frame_base=blocks.of_frames(everything, everything),
        frame_stride=storage.stride[vertices.of_frame],
    )
    substructures = no_substructures()
    if len(ordered.condensed):
        substructures = _moved_into(panels, system, ordered, frame, of_spans)
    row = ordered.start[vertices.of_constraint] + vertices.offset
    held = multipliers_of(system)
    repeating = np.flatnonzero(held.repeats)
    row_of, vertex_of = row[repeating], vertices.of_constraint[repeating]
    return Numbering(
        size=ordered.size,
        banded=ordered.banded,
        band=ordered.band if narrow else -1,
        blocks=_blocks(ordered, vertices),
        runs=runs_of(ordered.start, vertices.weight, pairs, ordered.banded),
        n_values=n_values,
        n_dump=12 * int(max(storage.stride.max(initial=1), substructures.height.max(initial=0))) + 64,
        handle=new_handle(),
        frame=frame.astype(np.int64),
        frame_stride=of_spans.frame_stride,
        frame_base=of_spans.frame_base,
        rows=held.rows,
        row=row.astype(np.int64),
        row_stride=storage.stride[vertices.of_constraint],
        lam=held.first,
        row_frames=held.frames,
        constraint_base=_of_constraints(system, vertices, blocks, row),
        row_base=_with_rows(held, vertices, blocks, row),
        repeating=repeating,
        repeating_base=blocks.place(row_of, row_of, vertex_of, vertex_of),
        element_base=blocks.of_pairs(system.elements.frames),
        span_base=of_spans.base,
        span_stride=of_spans.stride,
        substructures=substructures,
        other_base=blocks.of_groups(system.others.frames),
        indptr=storage.indptr,
        indices=storage.indices,
        fronts=no_fronts(),
        far=far,
    )


def half_bandwidth(system: System) -> int:
    """Half bandwidth of the matrix if all its blocks stand in the band, those of contacts among them."""
    vertices = vertices_of(system, False)
    none = np.zeros((0, 2), np.int64)
    return _ordered(system, vertices, joined(system, vertices), True, none).band


class _Ordered(NamedTuple):
    """The unknowns in their order."""

    size: int
    banded: int  # the first of them, which are in the band
    band: int  # half bandwidth of these
    start: Ints  # (v,) first unknown of a vertex
    condensed: Ints  # (k,) spans with a panel
    is_inner: np.ndarray  # (k, MOST_FRAMES) their frames that have no place in the band


def _ordered(system: System, vertices: Vertices, pairs: Ints, condense: bool, met: Ints) -> _Ordered:
    weight, spans = vertices.weight, system.spans
    inner = inner_vertices(system, vertices, np.concatenate([pairs, met]))
    order = narrow_order(pairs, len(weight), inner)
    condensed = condensable(system, vertices, inner) if condense else np.zeros(0, np.int64)
    is_inner = (np.arange(MOST_FRAMES) > 0) & (np.arange(MOST_FRAMES) < spans.order[condensed, None])
    eliminated = _vertices_of_spans(system, vertices)[condensed][is_inner]  # span by span
    in_band = np.ones(len(weight), dtype=bool)
    in_band[eliminated] = False
    order = np.concatenate([order[in_band[order]], eliminated])
    start = np.empty(len(weight), dtype=np.int64)
    start[order] = np.concatenate([[0], np.cumsum(weight[order])])[:-1]
    # from the first unknown of the upper vertex to the last one of the lower
    reach = start[pairs[:, 1]] + weight[pairs[:, 1]] - 1 - start[pairs[:, 0]]
    band = int(reach[in_band[pairs].all(axis=1)].max(initial=0))
    return _Ordered(int(weight.sum()), int(weight[in_band].sum()), band, start, condensed, is_inner)


def _blocks(ordered: _Ordered, vertices: Vertices) -> int:
    """Number of blocks of a band that `discretization.linear.block_band` takes, or 0."""
    in_band = ordered.start < ordered.banded
    alike = bool(np.all(vertices.weight[in_band] == block_band.SIZE))
    return ordered.banded // block_band.SIZE if alike and ordered.band == block_band.BAND else 0


def _vertices_of_spans(system: System, vertices: Vertices) -> Ints:
    """(k, MOST_FRAMES) -1: fixed, or no frame."""
    frames = system.spans.frames
    return np.where(frames >= 0, vertices.of_frame[frames], -1)


def _first_unknowns(system: System, vertices: Vertices, ordered: _Ordered) -> Ints:
    """(n,) of frames: in the matrix, or behind it."""
    moving = vertices.of_frame >= 0
    frame = np.full(len(moving), ordered.size, dtype=np.int64)
    frame[moving] = ordered.start[vertices.of_frame[moving]]
    driven = driven_frames(system.frames.fixed)
    frame[driven] = (
        ordered.size + 6 + 6 * np.arange(len(driven))
    )  # what acts on them is kept apart: it does work
    return frame


def _of_constraints(system: System, vertices: Vertices, blocks: Blocks, row: Ints) -> Ints:
    """(c, 8) blocks aa, ab, ba, bb, a-lam, b-lam, lam-a, lam-b."""
    frames = system.constraints.frames
    row, vc = row[: len(frames)], vertices.of_constraint[: len(frames)]
    full = couples_frames(system)
    coupled = np.full((len(frames), 4), blocks.dump, dtype=np.int64)
    coupled[full] = blocks.of_pairs(frames[full])
    for side in (0, 1):
        own = frames[~full, side]
        coupled[~full, 3 * side] = blocks.of_frames(own, own)
    first, vertex = blocks.frame[frames], vertices.of_frame[frames]
    with_lam = [blocks.place(first[:, k], row, vertex[:, k], vc) for k in (0, 1)]
    with_lam += [blocks.place(row, first[:, k], vc, vertex[:, k]) for k in (0, 1)]
    return np.concatenate([coupled, np.stack(with_lam, axis=1)], axis=1)


def _with_rows(held: Multipliers, vertices: Vertices, blocks: Blocks, row: Ints) -> Ints:
    """(e, most frames, 2) blocks of frame and lam, of lam and frame, of what is in no table of constraints."""
    e = len(held.other)
    frames = held.frames[len(held.frames) - e :]
    out = np.full((*frames.shape, 2), blocks.dump, dtype=np.int64)
    each, k = np.nonzero(frames >= 0)
    behind = len(held.frames) - e + each
    row, vertex = row[behind], vertices.of_constraint[behind]
    first, of_frame = blocks.frame[frames[each, k]], vertices.of_frame[frames[each, k]]
    out[each, k, 0] = blocks.place(first, row, of_frame, vertex)
    out[each, k, 1] = blocks.place(row, first, vertex, of_frame)
    return out


class _OfSpans(NamedTuple):
    """Blocks of spans and of frames alone: in the band, or where they are given to panels in these."""

    base: Ints  # (k, MOST_FRAMES, MOST_FRAMES)
    stride: Ints  # (k, MOST_FRAMES)
    frame_base: Ints  # (n,)
    frame_stride: Ints  # (n,)


def _panels(system: System, vertices: Vertices, ordered: _Ordered, first_entry: int) -> dict[str, Ints]:
    """Where panels begin, and in them the unknowns and places (k, MOST_FRAMES) of their frames."""
    order, k = system.spans.order[ordered.condensed], np.arange(len(ordered.condensed))
    of_span = _vertices_of_spans(system, vertices)[ordered.condensed]
    weight = np.where(of_span >= 0, vertices.weight[of_span], 0)
    place = np.zeros((len(k), MOST_FRAMES), np.int64)
    inner = np.zeros(len(k), np.int64)
    for j in range(1, MOST_FRAMES - 1):
        is_inner = j < order
        place[is_inner, j] = inner[is_inner]
        inner += np.where(is_inner, weight[:, j], 0)
    place[:, 0] = inner
    place[k, order] = inner + weight[:, 0]
    height = inner + weight[:, 0] + weight[k, order]
    start = first_entry + np.cumsum(height**2) - height**2
    first = ordered.banded + np.cumsum(inner) - inner
    return {
        "start": start, "first": first, "inner": inner, "height": height, "split": weight[:, 0], "place": place
    }  # fmt: skip


def _moved_into(
    panels: dict[str, Ints], system: System, ordered: _Ordered, frame: Ints, of_spans: _OfSpans
) -> Substructures:
    """The panels; what `of_spans` says of their frames moves into them."""
    condensed, spans = ordered.condensed, system.spans
    start, height, at = panels["start"][:, None], panels["height"][:, None], panels["place"]
    last = spans.order[condensed]
    ends = np.stack([np.zeros_like(last), last], axis=1)
    corners = of_spans.base[condensed[:, None, None], ends[:, :, None], ends[:, None, :]].reshape(-1, 4)
    first = frame[spans.frames[condensed[:, None], ends]]
    of_spans.base[condensed] = start[:, :, None] + at[:, :, None] + height[:, :, None] * at[:, None, :]
    of_spans.stride[condensed] = height
    inside = spans.frames[condensed][ordered.is_inner]
    of_spans.frame_base[inside] = (start + at * (1 + height))[ordered.is_inner]
    of_spans.frame_stride[inside] = np.broadcast_to(height, at.shape)[ordered.is_inner]
    named = ("start", "first", "inner", "height", "split")
    return Substructures(
        **{name: np.ascontiguousarray(panels[name]) for name in named}, ends=first, corners=corners
    )
