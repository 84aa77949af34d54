"""The pattern of Newton's matrix: which residuals an unknown can change, colours, and the order of the unknowns.

Unknowns whose columns share no row can be moved at once: one evaluation of the residual gives all columns of a colour
(Curtis, Powell, Reid 1974). Frames and their neighbours make a band, so the number of colours does not grow with the
model, and neither does the cost of a column of the factors.

The pattern is found by trying: first every vertex of the graph of interactions for itself (a frame with its unknowns, a joint
with its multipliers; the residuals within `REACH` edges can change), at a random place, so that nothing vanishes by
accident; then what is zero there is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from discretization.time.scheme import FORCES, GAMMA, INCREMENT, JOINTS, LAMBDA, Block, P, Q, V
from rigid.mechanical import MechanicalSystem
from rigid.system import Floats, Ints

REACH = 2  # edges between an unknown and the residuals it changes, of any scheme
_EPS = 1e-60
PROBES = 2


class Pattern(NamedTuple):
    """Columns of the matrix by colour; entries are stored where the solver wants them."""

    colours: Ints  # (c + 1,) first column of a colour in `columns`
    columns: Ints  # (N,) unknowns, colour by colour
    first: Ints  # (N + 1,) first entry of a column
    rows: Ints  # (entries,) residuals
    place: Ints  # (entries,) where an entry stands among the values
    order: Ints  # (N,) place of an unknown, and of its residual, in the factored matrix
    band: int  # half bandwidth


def owners(system: MechanicalSystem) -> tuple[Ints, Ints, list[Ints]]:
    """Vertex of every coordinate and of every constraint, and the groups of vertices that act on each other."""
    data = system.data
    frames, acting = data.frames, data.interacting
    n_frames = len(frames.mass)
    of_q, of_g = np.zeros(system.n, np.int64), np.zeros(system.m, np.int64)
    size = 4 if frames.chart else 9
    row = 0
    for f in range(n_frames):
        at, to = frames.position[f], frames.orientation[f]
        if at >= 0:
            of_q[at : at + 3] = f
        if to >= 0:
            of_q[to : to + size] = f
            internal = 1 if frames.chart else 6
            of_g[row : row + internal] = f
            row += internal
    groups = [pair for pair in frames.shared]
    moving = (frames.position >= 0) | (frames.orientation >= 0)
    for kind, rows in enumerate(acting.rows):
        for e in range(acting.first[kind], acting.first[kind + 1]):
            own = acting.frames[e, : acting.arity[kind]]
            own = own[moving[own]]
            if rows:
                vertex = n_frames + e
                of_g[acting.row[e] : acting.row[e] + rows] = vertex
                own = np.append(own, vertex)
            groups.append(own)
    return of_q, of_g, groups


def vertices_of(blocks: Sequence[Block], system: MechanicalSystem, of_q: Ints, of_g: Ints) -> Ints:
    """Vertex of every unknown, and of the residual of the same number."""
    frames = system.data.frames
    of_frame = []
    for f in range(len(frames.mass)):
        of_frame += [f] * (3 * int(frames.position[f] >= 0) + 3 * int(frames.orientation[f] >= 0))
    internal = int((frames.orientation >= 0).sum())
    by_kind = {Q: of_q, P: of_q, V: of_q, FORCES: of_q, LAMBDA: of_g, GAMMA: of_g}
    by_kind |= {INCREMENT: np.array(of_frame, np.int64), JOINTS: of_g[internal:]}
    return np.concatenate([by_kind[block.kind] for block in blocks])


def probed(
    residual: Callable[[Floats], Floats], vertex: Ints, groups: Sequence[Ints], draw: Callable[[], Floats]
) -> csc_matrix:
    """Pattern (N, N) of dr/dx; `draw` gives random unknowns."""
    n = int(vertex.max()) + 1
    pairs = [np.array(np.meshgrid(own, own)).reshape(2, -1) for own in groups]
    i, j = np.concatenate([np.tile(np.arange(n), (2, 1)), *pairs], axis=1)
    near = csr_matrix((np.ones(len(i)), (i, j)), shape=(n, n)) > 0
    reach = near
    for _ in range(REACH - 1):
        reach = (reach @ near) > 0
    members = csr_matrix((np.ones(len(vertex)), (np.arange(len(vertex)), vertex)), shape=(len(vertex), n))
    possible = csc_matrix((members @ reach @ members.T) > 0)
    found = csc_matrix(possible.shape)
    for _ in range(PROBES):
        found = found + abs(differentiated(residual, draw(), possible))
    found.eliminate_zeros()
    return csc_matrix(found)


def differentiated(residual: Callable[[Floats], Floats], x: Floats, pattern: csc_matrix) -> csc_matrix:
    """dr/dx by complex steps over the colours of a pattern."""
    values = np.zeros(pattern.nnz)
    for columns in coloured(pattern):
        moved = x.astype(complex)
        moved[columns] += 1j * _EPS
        change = residual(moved).imag / _EPS
        for j in columns:
            entries = slice(pattern.indptr[j], pattern.indptr[j + 1])
            values[entries] = change[pattern.indices[entries]]
    return csc_matrix((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def coloured(pattern: csc_matrix) -> list[Ints]:
    """Columns that share no row, greedily, in their order."""
    by_row = pattern.tocsr()
    colour = np.full(pattern.shape[1], -1)
    for j in range(pattern.shape[1]):
        rows = pattern.indices[pattern.indptr[j] : pattern.indptr[j + 1]]
        taken = {
            int(c) for i in rows for c in colour[by_row.indices[by_row.indptr[i] : by_row.indptr[i + 1]]]
        }
        c = 0
        while c in taken:
            c += 1
        colour[j] = c
    return [np.flatnonzero(colour == c) for c in range(colour.max() + 1)]


def banded(pattern: csc_matrix) -> Pattern:
    """Colours, and the places of the entries in a band ordered by reverse Cuthill-McKee."""
    n = pattern.shape[0]
    order = np.empty(n, np.int64)
    order[reverse_cuthill_mckee(csr_matrix(pattern + pattern.T), symmetric_mode=True)] = np.arange(n)
    rows, columns = pattern.indices, np.repeat(np.arange(n), np.diff(pattern.indptr))
    band = int(np.abs(order[rows] - order[columns]).max(initial=0))
    # as LAPACK wants it, column by column: (i, j) at j (3 band + 1) + 2 band + i - j
    place = order[columns] * 3 * band + 2 * band + order[rows]
    colours = coloured(pattern)
    return Pattern(
        np.concatenate([[0], np.cumsum([len(c) for c in colours])]).astype(np.int64),
        np.concatenate(colours).astype(np.int64),
        pattern.indptr.astype(np.int64),
        rows.astype(np.int64),
        place.astype(np.int64),
        order,
        band,
    )
