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
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from discretization.drives import driven_frames
from discretization.linear.fronts import Fronts, no_fronts
from discretization.linear.substructures import Substructures, no_substructures
from discretization.others import pairs_of
from discretization.space.spans import MOST_FRAMES, shared_masses
from discretization.system import System
from rigid.interactions.constraints import facts, first_rows, rows_of
from rigid.references import by_reference
from rigid.system import Ints

BAND_LIMIT = 150
_handles = count()


@by_reference
class Numbering(NamedTuple):
    """Addresses of the unknowns and of the blocks of the matrix."""

    size: int  # number of unknowns N
    banded: int  # the first of them, which are in the band
    band: int  # half bandwidth, or -1: compressed columns
    n_values: int  # entries of the matrix; the dump begins there
    n_dump: int
    handle: int  # names the sparse factorisation
    frame: Ints  # (n,) first unknown of a frame, N where it is fixed, behind that where it is driven
    frame_stride: Ints  # (n,)
    frame_base: Ints  # (n,) diagonal blocks
    rows: Ints  # (c,) scalar equations a constraint brings; 0: it adds to the row of another
    row: Ints  # (c,) unknown of the first multiplier of a constraint
    row_stride: Ints  # (c,)
    lam: Ints  # (c,) place of that multiplier in State.lam
    constraint_base: Ints  # (c, 8) blocks aa, ab, ba, bb, a-lam, b-lam, lam-a, lam-b
    repeating: Ints  # (k,) constraints whose joints repeat others
    repeating_base: Ints  # (k,) their blocks lam-lam
    element_base: Ints  # (m, 4) aa, ab, ba, bb
    spring_base: Ints  # (s, 4)
    torsion_base: Ints  # (t, 4)
    span_base: Ints  # (k, MOST_FRAMES, MOST_FRAMES) blocks of the frames of spans
    span_stride: Ints  # (k, MOST_FRAMES)
    substructures: Substructures  # spans with a panel
    other_base: Ints  # (e, MOST_FRAMES, MOST_FRAMES) of those of other interactions
    indptr: Ints  # compressed columns, else empty
    indices: Ints
    fronts: Fronts  # of compressed columns, or none: `discretization.fronts_of_systems`


def carries_velocity(system: System) -> np.ndarray:
    """Moving frames (n,) whose velocities hidden constraints correct: at joints, or of rods that share their mass."""
    marked = np.zeros(len(system.frames.mass), dtype=bool)
    marked[system.constraints.frames.ravel()] = True
    pairs, coupling = shared_masses(system.elements, system.spans)
    marked[pairs[coupling != 0.0].ravel()] = True
    return marked & (system.frames.fixed == 0)


def rows_of_joint(system: System) -> Ints:
    """Number of scalar constraints of the joint of each constraint, (c,): from a Lam to its gam."""
    totals = np.bincount(system.constraints.joint, weights=rows_of(system.constraints))
    return totals.astype(np.int64)[system.constraints.joint]


def _inner(system: System, vertex_of_frame: Ints, pairs: Ints) -> Ints:
    """(k, 3) inner vertices of spans that nothing else acts on, and the vertices at both ends of their spans."""
    neighbours, found = np.bincount(pairs[:, 0], minlength=1), [np.zeros((0, 3), np.int64)]
    for p in np.unique(system.spans.order):
        vertices = vertex_of_frame[system.spans.frames[system.spans.order == p, : p + 1]]
        size = (vertices >= 0).sum(axis=1)
        for k in range(1, p):
            alone = (vertices[:, k] >= 0) & (neighbours[vertices[:, k]] == size)
            found.append(vertices[alone][:, [k, 0, p]])
    return np.concatenate(found)


def _condensable(system: System, vertex_of_frame: Ints, inner: Ints) -> np.ndarray:
    """Spans (k,) whose frames move, and between whose ends nothing else acts."""
    alone = np.zeros(len(vertex_of_frame) + 1, dtype=bool)
    alone[inner[:, 0]] = True
    found = np.zeros(len(system.spans.kind), dtype=bool)
    for p in np.unique(system.spans.order):
        use = np.flatnonzero(system.spans.order == p)
        vertices = vertex_of_frame[system.spans.frames[use, : p + 1]]
        found[use] = (vertices >= 0).all(axis=1) & alone[vertices[:, 1:p]].all(axis=1)
    return found & (system.spans.order > 1)


def _order(pairs: Ints, n_vertices: int, inner: Ints) -> Ints:
    """Vertices in an order of small bandwidth: reverse Cuthill-McKee, inner ones between the ends of their spans.

    With them it would begin at one of them, since they have the fewest neighbours, and go along the rod both ways.
    """
    kept = np.setdiff1d(np.arange(n_vertices), inner[:, 0])
    place = np.full(n_vertices, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    a, b = place[pairs].T
    both = (a >= 0) & (b >= 0)
    shape = (len(kept), len(kept))
    graph = coo_matrix((np.ones(both.sum()), (a[both], b[both])), shape=shape).tocsr()
    order = np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int64)
    position = np.full(n_vertices + 1, -1.0)  # the last entry: of fixed frames
    position[kept[order]] = np.arange(len(kept))
    position[inner[:, 0]] = position[inner[:, 1:]].max(axis=1, initial=0.0) - 0.5
    return np.argsort(position[:-1], kind="stable")


def _panels(system: System, use: Ints, weight: Ints, first_entry: int, first_unknown: int) -> dict[str, Ints]:
    """Of the spans `use`, weight (k, MOST_FRAMES) of their frames: where panels begin, unknowns and places of the frames."""
    order = system.spans.order[use]
    place = np.zeros((len(use), MOST_FRAMES), np.int64)
    inner = np.zeros(len(use), np.int64)
    for k in range(1, MOST_FRAMES - 1):
        is_inner = k < order
        place[is_inner, k] = inner[is_inner]
        inner += np.where(is_inner, weight[:, k], 0)
    of_last = weight[np.arange(len(use)), order]
    place[:, 0] = inner
    place[np.arange(len(use)), order] = inner + weight[:, 0]
    height = inner + weight[:, 0] + of_last
    start = first_entry + np.cumsum(height**2) - height**2
    first = first_unknown + np.cumsum(inner) - inner
    return {
        "start": start, "first": first, "inner": inner, "height": height, "split": weight[:, 0], "place": place
    }  # fmt: skip


def number(
    system: System, band_limit: int = BAND_LIMIT, hidden: bool = False, condense: bool = True
) -> Numbering:
    """Order the unknowns of `system` and place its blocks; above `band_limit` the matrix is sparse.

    hidden: with the unknowns of hidden constraints; condense: inner frames of rod elements get panels.
    """
    frames, constraints = system.frames, system.constraints
    n = len(frames.mass)
    fixed = frames.fixed.astype(bool)
    rows = rows_of(constraints)
    lam = first_rows(constraints)

    # vertices: moving frames, then joints
    vertex_of_frame = np.where(fixed, -1, np.cumsum(~fixed) - 1)
    n_moving = int((~fixed).sum())
    joints, vertex_of_constraint = np.unique(constraints.joint, return_inverse=True)
    vertex_of_constraint = vertex_of_constraint + n_moving
    n_vertices = n_moving + len(joints)
    weight = np.full(n_vertices, 6, dtype=np.int64)
    weight[n_moving:] = 0
    np.add.at(weight, vertex_of_constraint, 2 * rows if hidden else rows)
    if hidden:
        weight[vertex_of_frame[carries_velocity(system)]] = 12
    # the rows of a joint follow each other in the order of its constraints
    order_in = np.argsort(vertex_of_constraint, kind="stable")
    before = np.concatenate([[0], np.cumsum(rows[order_in])])[:-1]
    first = np.searchsorted(vertex_of_constraint[order_in], vertex_of_constraint[order_in], side="left")
    offset_in_joint = np.empty(len(rows), dtype=np.int64)
    offset_in_joint[order_in] = before - before[first] if len(rows) else before
    if len(constraints.shares):
        offset_in_joint -= constraints.shares

    of_spans = np.stack(
        np.broadcast_arrays(system.spans.frames[:, :, None], system.spans.frames[:, None, :]), axis=3
    )
    inside = of_spans[(of_spans >= 0).all(axis=3)]
    couples = [system.elements.frames, system.springs.frames, system.torsions.frames, inside]
    couples.append(pairs_of(system.others))
    full = ~facts(constraints.kind, "constant")  # their tangent couples both frames
    couples.append(constraints.frames[full])
    ab = vertex_of_frame[np.concatenate([c.reshape(-1, 2) for c in couples])]
    to_joint = [
        np.stack([vertex_of_frame[constraints.frames[:, k]], vertex_of_constraint], axis=1) for k in (0, 1)
    ]
    pairs = np.concatenate([ab, *to_joint])
    pairs = pairs[(pairs >= 0).all(axis=1)]
    repeating = np.flatnonzero(constraints.repeats)
    own = np.concatenate([np.arange(n_moving), vertex_of_constraint[repeating]])
    diagonal = np.repeat(own[:, None], 2, axis=1)
    pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1], diagonal]), axis=0)

    inner = _inner(system, vertex_of_frame, pairs)
    order = _order(pairs, n_vertices, inner)
    spans, of_span = (
        system.spans,
        np.where(system.spans.frames >= 0, vertex_of_frame[system.spans.frames], -1),
    )
    condensed = (
        np.flatnonzero(_condensable(system, vertex_of_frame, inner)) if condense else np.zeros(0, np.int64)
    )
    is_inner = (np.arange(MOST_FRAMES) > 0) & (np.arange(MOST_FRAMES) < spans.order[condensed, None])
    eliminated = of_span[condensed][is_inner]  # span by span
    in_band = np.ones(n_vertices, dtype=bool)
    in_band[eliminated] = False
    order = np.concatenate([order[in_band[order]], eliminated])
    start = np.empty(n_vertices, dtype=np.int64)
    start[order] = np.concatenate([[0], np.cumsum(weight[order])])[:-1]
    size, banded = int(weight.sum()), int(weight[in_band].sum())

    frame = np.where(fixed, size, start[vertex_of_frame] if n_vertices else size)
    driven = driven_frames(frames.fixed)
    frame[driven] = size + 6 + 6 * np.arange(len(driven))  # what acts on them is kept apart: it does work
    row = start[vertex_of_constraint] + offset_in_joint
    # from the first unknown of the upper vertex to the last one of the lower
    reach = start[pairs[:, 1]] + weight[pairs[:, 1]] - 1 - start[pairs[:, 0]]
    band = int(reach[in_band[pairs].all(axis=1)].max(initial=0))
    if band > band_limit and len(condensed):
        return number(system, band_limit, hidden, condense=False)

    if band <= band_limit:
        width = 3 * band + 1
        indptr = indices = np.empty(0, dtype=np.int64)
        n_values = banded * width
        column_stride = np.full(n_vertices + 1, width - 1, dtype=np.int64)

        def base(i: Ints, j: Ints, vi: Ints, vj: Ints) -> Ints:
            return i + j * (width - 1) + 2 * band

    else:
        # columns of one vertex share their pattern: a run of blocks sorted by row
        by_column = np.lexsort((start[pairs[:, 0]], start[pairs[:, 1]]))
        block_row, block_column = pairs[by_column].T
        heights = weight[block_row]
        length = np.zeros(n_vertices, dtype=np.int64)
        np.add.at(length, block_column, heights)
        above = np.cumsum(heights) - heights
        first_block = np.searchsorted(start[block_column], start[block_column], side="left")
        offset = above - above[first_block]
        column_length = np.empty(size, dtype=np.int64)
        for v_weight in np.unique(weight):
            chosen = np.flatnonzero(weight == v_weight)
            column_length[start[chosen][:, None] + np.arange(v_weight)] = length[chosen][:, None]
        indptr = np.concatenate([[0], np.cumsum(column_length)]).astype(np.int64)
        n_values = int(indptr[-1])
        indices = np.empty(n_values, dtype=np.int64)
        for k in range(int(heights.max(initial=0))):
            for c in range(int(weight.max(initial=0))):
                use = (heights > k) & (weight[block_column] > c)
                at = indptr[start[block_column[use]] + c] + offset[use] + k
                indices[at] = start[block_row[use]] + k
        column_stride = np.concatenate([length, [1]])
        key = block_column * np.int64(n_vertices + 1) + block_row
        sorter = np.argsort(key)

        def base(i: Ints, j: Ints, vi: Ints, vj: Ints) -> Ints:
            found = np.searchsorted(key[sorter], vj * np.int64(n_vertices + 1) + vi)
            block = sorter[np.minimum(found, len(key) - 1)]
            return indptr[start[vj]] + (j - start[vj]) * length[vj] + offset[block] + (i - start[vi])

    def place(i: Ints, j: Ints, vi: Ints, vj: Ints) -> Ints:
        out = np.full(len(i), n_values, dtype=np.int64)
        moving = (vi >= 0) & (vj >= 0)
        out[moving] = base(i[moving], j[moving], vi[moving], vj[moving])
        return out

    def pair_blocks(pair: Ints) -> Ints:
        a, b = pair.reshape(-1, 2).T
        return np.stack(
            [
                place(frame[i], frame[j], vertex_of_frame[i], vertex_of_frame[j])
                for i in (a, b)
                for j in (a, b)
            ],
            axis=1,
        )

    def square_blocks(frames: Ints) -> Ints:
        out = np.full((*frames.shape, frames.shape[1]), n_values, dtype=np.int64)
        each, k, l = np.nonzero((frames[:, :, None] >= 0) & (frames[:, None, :] >= 0))
        i, j = frames[each, k], frames[each, l]
        out[each, k, l] = place(frame[i], frame[j], vertex_of_frame[i], vertex_of_frame[j])
        return out

    of_weight = np.where(of_span[condensed] >= 0, weight[of_span[condensed]], 0)
    panels = _panels(system, condensed, of_weight, n_values, banded)
    n_values += int((panels["height"] ** 2).sum())

    span_base, other_base = square_blocks(system.spans.frames), square_blocks(system.others.frames)
    span_stride = column_stride[of_span]
    stride_of_frame = column_stride[vertex_of_frame]  # the last entry serves fixed frames
    everything = np.arange(n)
    frame_base = place(frame, frame, vertex_of_frame[everything], vertex_of_frame[everything])
    substructures = no_substructures()
    if len(condensed):
        last, height, at = spans.order[condensed], panels["height"][:, None], panels["place"]
        ends = np.stack([np.zeros_like(last), last], axis=1)
        corners = span_base[condensed[:, None, None], ends[:, :, None], ends[:, None, :]].reshape(-1, 4)
        first = frame[spans.frames[condensed[:, None], ends]]
        of_panel = {
            name: np.ascontiguousarray(panels[name])
            for name in ("start", "first", "inner", "height", "split")
        }
        substructures = Substructures(**of_panel, ends=first, corners=corners)
        start_of = panels["start"][:, None]
        span_base[condensed] = start_of[:, :, None] + at[:, :, None] + height[:, :, None] * at[:, None, :]
        span_stride[condensed] = height
        frames_inside = spans.frames[condensed][is_inner]
        frame_base[frames_inside] = (start_of + at * (1 + height))[is_inner]
        stride_of_frame[frames_inside] = np.broadcast_to(height, at.shape)[is_inner]

    a, b = constraints.frames.reshape(-1, 2).T
    va, vb, vc = vertex_of_frame[a], vertex_of_frame[b], vertex_of_constraint
    coupled = np.full((len(rows), 4), n_values, dtype=np.int64)
    coupled[full] = pair_blocks(constraints.frames[full])
    coupled[~full, 0] = place(frame[a], frame[a], va, va)[~full]
    coupled[~full, 3] = place(frame[b], frame[b], vb, vb)[~full]
    with_lam = [place(frame[a], row, va, vc), place(frame[b], row, vb, vc)]
    with_lam += [place(row, frame[a], vc, va), place(row, frame[b], vc, vb)]
    row_of, vertex_of = row[repeating], vertex_of_constraint[repeating]
    return Numbering(
        size=size,
        banded=banded,
        band=band if band <= band_limit else -1,
        n_values=n_values,
        n_dump=12 * int(max(column_stride.max(initial=1), substructures.height.max(initial=0))) + 64,
        handle=next(_handles),
        frame=frame.astype(np.int64),
        frame_stride=stride_of_frame,
        frame_base=frame_base,
        rows=rows,
        row=row.astype(np.int64),
        row_stride=column_stride[vertex_of_constraint],
        lam=lam,
        constraint_base=np.concatenate([coupled, np.stack(with_lam, axis=1)], axis=1),
        repeating=repeating,
        repeating_base=place(row_of, row_of, vertex_of, vertex_of),
        element_base=pair_blocks(system.elements.frames),
        spring_base=pair_blocks(system.springs.frames),
        torsion_base=pair_blocks(system.torsions.frames),
        span_base=span_base,
        span_stride=span_stride,
        substructures=substructures,
        other_base=other_base,
        indptr=indptr,
        indices=indices,
        fronts=no_fronts(),
    )
