"""The pattern of Newton's matrix: which residuals an unknown can change, colours, and the order of the unknowns.

Unknowns whose columns share no row can be moved at once: one evaluation of the residual gives all columns of a colour
(Curtis, Powell, Reid 1974). Frames and their neighbours make a band, so the number of colours does not grow with the
model, and neither does the cost of a column of the factors.

The pattern is found by trying: first every vertex of the graph of interactions for itself (a frame with its unknowns, a joint
with its multipliers; the residuals within `REACH` edges can change), at a random place, so that nothing vanishes by
accident; then what is zero there is left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numba import types
from scipy.sparse import csc_matrix, csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from discretization.time.scheme import (
    FORCES,
    GAMMA,
    IMPULSES,
    INCREMENT,
    JOINTS,
    LAMBDA,
    Block,
    P,
    Q,
    Scheme,
    Step,
    V,
    Work,
)
from rigid.chart_frames import QUATERNION
from rigid.compilation import kernel
from rigid.mechanical import MechanicalSystem, call
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


I1 = types.int64[::1]
PATTERN = types.NamedTuple([I1, I1, I1, I1, I1, I1, types.int64], Pattern)


def owners(system: MechanicalSystem) -> tuple[Ints, Ints, list[Ints]]:
    """Vertex of every coordinate and of every constraint, and the groups of vertices that act on each other."""
    data = system.data
    frames, acting = data.frames.each, data.interacting
    n_frames, in_quaternions = len(frames), data.frames.chart == QUATERNION
    of_q, of_g = np.zeros(system.n, np.int64), np.zeros(system.m, np.int64)
    size = 4 if in_quaternions else 9
    row = 0
    for f in range(n_frames):
        at, to = frames.position[f], frames.orientation[f]
        if at >= 0:
            of_q[at : at + 3] = f
        if to >= 0:
            of_q[to : to + size] = f
            internal = 1 if in_quaternions else 6
            of_g[row : row + internal] = f
            row += internal
    groups = [np.array([pair.a, pair.b]) for pair in data.frames.shared]
    moving = (frames.position >= 0) | (frames.orientation >= 0)
    for kind in acting.kinds:
        for e in range(kind.first, kind.last):
            own = acting.each[e].frames[: kind.arity]
            own = own[moving[own]]
            if kind.rows:
                vertex = n_frames + e
                of_g[acting.each[e].row : acting.each[e].row + kind.rows] = vertex
                own = np.append(own, vertex)
            groups.append(own)
    return of_q, of_g, groups


def vertices_of(blocks: Sequence[Block], system: MechanicalSystem, of_q: Ints, of_g: Ints) -> Ints:
    """Vertex of every unknown, and of the residual of the same number."""
    frames = system.data.frames.each
    of_frame = []
    for f in range(len(frames)):
        of_frame += [f] * (3 * int(frames.position[f] >= 0) + 3 * int(frames.orientation[f] >= 0))
    internal = int((frames.orientation >= 0).sum())
    by_kind = {Q: of_q, P: of_q, V: of_q, FORCES: of_q, LAMBDA: of_g, GAMMA: of_g}
    by_kind |= {IMPULSES: of_g, INCREMENT: np.array(of_frame, np.int64), JOINTS: of_g[internal:]}
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
    values, colour = np.zeros(pattern.nnz), np.zeros(pattern.shape[1], np.int64)
    starts, columns = coloured(pattern)
    for c, (a, b) in enumerate(itertools.pairwise(starts)):
        colour[columns[a:b]] = c
    of_entry = np.repeat(colour, np.diff(pattern.indptr))
    for c in range(len(starts) - 1):
        moved = x.astype(complex)
        moved[colour == c] += 1j * _EPS
        change = residual(moved).imag / _EPS
        use = of_entry == c
        values[use] = change[pattern.indices[use]]
    return csc_matrix((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def coloured(pattern: csc_matrix) -> tuple[Ints, Ints]:
    """Columns that share no row have one colour: first column of every colour, and the columns colour by colour."""
    by_row = pattern.tocsr()
    first, rows, first_of_row, columns = (
        x.astype(np.int64) for x in (pattern.indptr, pattern.indices, by_row.indptr, by_row.indices)
    )
    colour = np.full(pattern.shape[1], -1, np.int64)
    paint(first, rows, first_of_row, columns, np.full(pattern.shape[1] + 1, -1, np.int64), colour)
    order = np.argsort(colour, kind="stable")
    return np.searchsorted(colour[order], np.arange(colour.max() + 2)).astype(np.int64), order.astype(
        np.int64
    )


@kernel
def paint(first, rows, first_of_row, columns, taken, colour):
    """Greedy colours of columns: the first one that no column with a common row has."""
    for j in range(colour.size):
        for k in range(first[j], first[j + 1]):
            for l in range(first_of_row[rows[k]], first_of_row[rows[k] + 1]):
                other = colour[columns[l]]
                if other >= 0:
                    taken[other] = j
        c = 0
        while taken[c] == j:
            c += 1
        colour[j] = c


def banded(pattern: csc_matrix) -> Pattern:
    """Colours, and the places of the entries in a band ordered by reverse Cuthill-McKee."""
    n = pattern.shape[0]
    order = np.empty(n, np.int64)
    order[reverse_cuthill_mckee(csr_matrix(pattern + pattern.T), symmetric_mode=True)] = np.arange(n)
    rows, columns = pattern.indices, np.repeat(np.arange(n), np.diff(pattern.indptr))
    band = int(np.abs(order[rows] - order[columns]).max(initial=0))
    # as LAPACK wants it, column by column: (i, j) at j (3 band + 1) + 2 band + i - j
    place = order[columns] * 3 * band + 2 * band + order[rows]
    return Pattern(
        *coloured(pattern),
        pattern.indptr.astype(np.int64),
        rows.astype(np.int64),
        place.astype(np.int64),
        order,
        band,
    )


def dense_pattern() -> Pattern:
    """Of a matrix that is not a band."""
    none = np.zeros(0, np.int64)
    return Pattern(np.zeros(1, np.int64), none, none, none, none, none, -1)


def pattern_of(scheme: Scheme, system: MechanicalSystem, work: Work) -> Pattern:
    """Pattern of the matrix of a scheme for a multibody system; `work` is scratch."""
    rng = np.random.default_rng(0)
    q = np.ascontiguousarray(system.q0 + 0.05 * rng.normal(size=system.n), complex)
    p, v = rng.normal(size=(2, system.n)).astype(complex)
    signal = rng.normal(size=(len(scheme.nodes), system.signal_size))
    step = Step(0.01, q, p, v, signal, scheme.options)

    def residual(x: Floats) -> Floats:
        r = np.zeros(len(x), complex)
        call(scheme.residual, (system.functions, system.data, step, work, np.ascontiguousarray(x), r))
        return r

    def draw() -> Floats:
        place = system.q0 + 0.05 * rng.normal(size=system.n)
        return np.concatenate(
            [
                place if block.kind == Q else 0.1 * rng.normal(size=int((of == b).sum()))
                for b, block in enumerate(scheme.blocks)
            ]
        )

    of_q, of_g, groups = owners(system)
    vertex = vertices_of(scheme.blocks, system, of_q, of_g)
    sizes = [len(vertices_of((block,), system, of_q, of_g)) for block in scheme.blocks]
    of = np.repeat(np.arange(len(sizes)), sizes)
    return banded(probed(residual, vertex, groups, draw))
