"""Sparsity pattern of Newton's matrix: residuals that depend on an unknown, column colours, and the blocks of the factors.

Unknowns whose columns share no row can be perturbed together: one evaluation of the residual gives all columns of a colour
(Curtis, Powell, Reid 1974). Unknowns within a frame are eliminated there (`discretization.linear.static_condensation`), frames
and their neighbours form a band: neither the number of colours nor the cost of a column of the factors grows with the model.

The pattern is found by trial. First every vertex of the graph of interactions (a frame with its unknowns, a joint
with its multipliers) is perturbed separately, at a random position, so that nothing vanishes by accident; residuals within
`REACH` edges can change. Then entries that are zero there are removed. Elements that act in contact only, or stick, are
treated as acting everywhere (`with_dense_contacts`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # its subpackages are loaded on first access
from numba import types

from discretization.linear.static_condensation import PANELS, Panels, no_panels, panels_of
from discretization.time.energy_tangents import (
    ENERGIES,
    EnergyEntries,
    energy_pattern,
    entries_of,
    entry_indices,
    no_entries,
)
from discretization.time.scheme import (
    FORCES,
    GAMMA,
    IMPULSES,
    INCREMENT,
    JOINTS,
    LAMBDA,
    RESIDUAL,
    STEP,
    WORK,
    Block,
    P,
    Q,
    Scheme,
    Step,
    V,
    Work,
)
from rigid.charts.internal_variables import stored_energies
from rigid.compilation.decorators import address_of, explicit_kernel, kernel
from rigid.interactions.kinds import COMPLEX_STEP, InteractionArrays, dual_function
from rigid.kinematics.chart_frames import QUATERNION
from rigid.mechanics.mechanical_system import C1, DATA, F1, FUNCTIONS, I1, WITHOUT_POTENTIAL, MechanicalSystem
from rigid.system import Floats, Ints
from rigid.tuple_references import Reference, by_reference

REACH = 2  # largest number of edges between an unknown and a residual that depends on it, for any scheme
PROBES = 2


@by_reference
class Colours(NamedTuple):
    """Entries of Newton's matrix that are evaluated by colours."""

    start: Ints  # (c + 1,) first column of a colour in `columns`
    columns: Ints  # (N,) unknowns, sorted by colour
    first: Ints  # (N + 1,) first entry of a column
    rows: Ints  # (entries,) residual of an entry
    place: Ints  # (entries,) index of an entry among those of the matrix


@by_reference
class Pattern(NamedTuple):
    """Sparsity pattern of Newton's matrix, column by column."""

    first: Ints  # (N + 1,) first entry of a column
    rows: Ints  # (entries,) residual of an entry
    colours: Colours
    energies: EnergyEntries
    panels: Panels  # panels of the factors
    band: int  # half bandwidth of the matrix without its interior columns; -1: it is full


COLOURS = Reference(types.NamedUniTuple(I1, 5, Colours))  # numba type of equal fields
PATTERN = Reference(types.NamedTuple([I1, I1, COLOURS.pointee, ENERGIES, PANELS, types.int64], Pattern))


def owners(system: MechanicalSystem) -> tuple[Ints, Ints, list[Ints], list[Ints]]:
    """Return the vertex of every coordinate (n,) and of every constraint (m,), and the groups of interacting vertices.

    The groups are returned in two lists: those of shared masses, joints, dampers and loads, and those of energies.
    """
    data = system.data
    energies: list[Ints] = []
    frames, acting = data.frames.entries, data.interaction_arrays
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
            vertices = acting.entries[e].frames[: kind.arity]
            vertices = vertices[moving[vertices]]
            if kind.rows:
                vertex = n_frames + e
                of_g[acting.entries[e].row : acting.entries[e].row + kind.rows] = vertex
                vertices = np.append(vertices, vertex)
            (groups if kind.rows else energies).append(vertices)
    for arrays in (data.dissipating, data.working):
        for kind in arrays.kinds:
            for vertices in arrays.entries[kind.first : kind.last].frames[:, : kind.arity]:
                groups.append(vertices[moving[vertices]])
    return of_q, of_g, groups, energies


def vertices_of(blocks: Sequence[Block], system: MechanicalSystem, of_q: Ints, of_g: Ints) -> list[Ints]:
    """Return, block by block, the vertex of every unknown, which is also that of the residual with the same index."""
    frames = system.data.frames.entries
    of_frame = []
    for f in range(len(frames)):
        of_frame += [f] * (3 * int(frames.position[f] >= 0) + 3 * int(frames.orientation[f] >= 0))
    internal = int((frames.orientation >= 0).sum())
    by_kind = {Q: of_q, P: of_q, V: of_q, FORCES: of_q, LAMBDA: of_g, GAMMA: of_g}
    by_kind |= {IMPULSES: of_g, INCREMENT: np.array(of_frame, np.int64), JOINTS: of_g[internal:]}
    return [by_kind[block.kind] for block in blocks]


def neighbours(vertex: Ints, groups: Sequence[Ints]) -> scipy.sparse.csr_matrix:
    """Return a sparse matrix (v, v): True if two vertices share an interaction, or are the same."""
    n = int(vertex.max()) + 1
    pairs = [np.array(np.meshgrid(vertices, vertices)).reshape(2, -1) for vertices in groups]
    i, j = np.concatenate([np.tile(np.arange(n), (2, 1)), *pairs], axis=1)
    return scipy.sparse.csr_matrix((np.ones(len(i)), (i, j)), shape=(n, n)) > 0


def candidate_pattern(vertex: Ints, near: scipy.sparse.csr_matrix) -> scipy.sparse.csc_matrix:
    """Return the pattern (N, N) of unknowns and residuals whose vertices are within `REACH` edges."""
    reach = near
    for _ in range(REACH - 1):
        reach = (reach @ near) > 0
    shape = len(vertex), near.shape[0]
    members = scipy.sparse.csr_matrix((np.ones(len(vertex)), (np.arange(len(vertex)), vertex)), shape=shape)
    return scipy.sparse.csc_matrix((members @ reach @ members.T) > 0)


@explicit_kernel(types.void(RESIDUAL, FUNCTIONS, DATA, STEP, WORK, C1, C1, COLOURS, F1))
def differentiate(residual, fn, D, S, W, x, r, colours, values):
    """Compute entries of dr/dx by complex steps, all columns of a colour in one evaluation of r, and store them in `values`."""
    for colour in range(colours.start.size - 1):
        columns = colours.columns[colours.start[colour] : colours.start[colour + 1]]
        for j in columns:
            x[j] += 1j * COMPLEX_STEP
        residual(fn, D, S, W, x, r)
        for j in columns:
            x[j] = x[j].real
            for k in range(colours.first[j], colours.first[j + 1]):
                values[colours.place[k]] = r[colours.rows[k]].imag / COMPLEX_STEP


def coloured(pattern: scipy.sparse.csc_matrix) -> Colours:
    """Colour the columns so that columns of one colour share no row; entries are in the order of the matrix."""
    by_row = pattern.tocsr()
    first, rows, first_of_row, columns = (
        x.astype(np.int64) for x in (pattern.indptr, pattern.indices, by_row.indptr, by_row.indices)
    )
    colour = np.full(pattern.shape[1], -1, np.int64)
    colour_greedily(first, rows, first_of_row, columns, np.full(pattern.shape[1] + 1, -1, np.int64), colour)
    order = np.argsort(colour, kind="stable")
    starts = np.searchsorted(colour[order], np.arange(colour.max() + 2))
    return Colours(starts.astype(np.int64), order.astype(np.int64), first, rows, np.arange(len(rows)))


@kernel
def colour_greedily(first, rows, first_of_row, columns, last_column, colour):
    """Colour the columns greedily: each gets the first colour that no column with a common row has."""
    for j in range(colour.size):
        for k in range(first[j], first[j + 1]):
            for l in range(first_of_row[rows[k]], first_of_row[rows[k] + 1]):
                other = colour[columns[l]]
                if other >= 0:
                    last_column[other] = j
        c = 0
        while last_column[c] == j:
            c += 1
        colour[j] = c


def dense_pattern() -> Pattern:
    """Return the pattern of a full matrix."""
    none = np.zeros(0, np.int64)
    return Pattern(none, none, Colours(np.zeros(1, np.int64), *[none] * 4), no_entries(), no_panels(), -1)


def pattern_of(scheme: Scheme, system: MechanicalSystem, work: Work) -> Pattern:
    """Return the pattern of Newton's matrix of a scheme for a multibody system; `work` is scratch."""
    of_q, of_g, joints, energies = owners(system)
    by_block = vertices_of(scheme.blocks, system, of_q, of_g)
    at = np.concatenate(by_block)
    near = neighbours(at, joints + energies)
    apart = scheme.energies is not None
    probed = probed_pattern(
        scheme, system, work, by_block, candidate_pattern(at, neighbours(at, joints) if apart else near)
    )
    if scheme.energies is None:
        full, entries = probed, no_entries()
    else:
        firsts = np.cumsum([0, *(len(of_energies) for of_energies in by_block)])
        of_energies, rows, columns = energy_pattern(scheme.energies, system, firsts, len(at))
        full = scipy.sparse.csc_matrix(abs(probed) + of_energies)
        full.sort_indices()
        entries = entries_of(scheme.energies, firsts, full, rows, columns)
    colours = coloured(probed)
    column = np.repeat(np.arange(len(at)), np.diff(probed.indptr))
    colours = colours._replace(place=entry_indices(full, colours.rows, column))
    panels = panels_of(full, at, scipy.sparse.csgraph.reverse_cuthill_mckee(near, symmetric_mode=True))
    first, rows = full.indptr.astype(np.int64), full.indices.astype(np.int64)
    return Pattern(first, rows, colours, entries, panels, panels.band)


def probed_pattern(
    scheme: Scheme,
    system: MechanicalSystem,
    work: Work,
    by_block: Sequence[Ints],
    candidates: scipy.sparse.csc_matrix,
) -> scipy.sparse.csc_matrix:
    """Return the pattern of those candidates that are not zero, with the diagonal of multipliers of redundant joints.

    If the scheme declares where the energies enter, the pattern is that without the energies.
    """
    rng = np.random.default_rng(0)
    q = np.ascontiguousarray(system.q0 + 0.05 * rng.normal(size=system.n), complex)
    p, v = rng.normal(size=(2, system.n)).astype(complex)
    nodes = scheme.nodes + scheme.driven if len(system.drives) else scheme.nodes
    signal = rng.normal(size=(len(nodes), system.signal_size))
    step = Step(0.01, q, p, v, signal, scheme.options)
    flags = system.data.flags | (WITHOUT_POTENTIAL if scheme.energies is not None else 0)
    data = system.data._replace(flags=flags)
    data = data._replace(
        interaction_arrays=with_dense_contacts(data.interaction_arrays),
        dissipating=with_dense_contacts(data.dissipating),
    )
    # relaxing (viscoelastic) branches resist as in a step
    stored_energies(system, system.books[None], system.q0[None], step.h)
    candidates.sort_indices()
    colours = coloured(candidates)
    magnitudes, r = np.zeros(candidates.nnz), np.zeros(candidates.shape[0], complex)
    for _ in range(PROBES):
        parts = [
            system.q0 + 0.05 * rng.normal(size=system.n)
            if block.kind == Q
            else 0.1 * rng.normal(size=len(unknowns))
            for block, unknowns in zip(scheme.blocks, by_block, strict=True)
        ]
        x, values = np.concatenate(parts).astype(complex), np.zeros(candidates.nnz)
        differentiate(scheme.residual, system.functions, data, step, work, x, r, colours, values)
        magnitudes += np.abs(values)
    system.drive_to(system.drives)  # the trial evaluations have overwritten the parameters of the drives
    pattern = scipy.sparse.csc_matrix(
        (magnitudes, candidates.indices, candidates.indptr), shape=candidates.shape
    )
    pattern.eliminate_zeros()
    repeats = system.info.get("repeats")
    if repeats is None:
        return pattern
    # the diagonal of multipliers of redundant joints
    soft = np.concatenate(
        [
            regularised_diagonal(block.kind, len(unknowns), repeats)
            for block, unknowns in zip(scheme.blocks, by_block, strict=True)
        ]
    )
    full = scipy.sparse.csc_matrix(abs(pattern) + scipy.sparse.diags(soft))
    full.sort_indices()
    return full


def with_dense_contacts(interaction_arrays: InteractionArrays) -> InteractionArrays:
    """Return `interaction_arrays` with dense coupling of elements that may be idle, stick or slide.

    In these elements all frames act on each other, wherever they are.
    """
    kinds = interaction_arrays.kinds.copy()
    for kind in kinds:
        if kind.one_sided or kind.update_internal:
            kind.dual = kind.bend = address_of(_coupled(kind.arity))
    return interaction_arrays._replace(kinds=kinds.view(np.recarray))


@functools.cache
def _coupled(arity: int) -> Any:
    """Return a discrete gradient (`dual`) in which every number depends on all numbers of all `arity` poses."""

    @dual_function
    def dual(y0, y1, X, lam, out):
        total = 0.0j
        for k in range(arity):
            for i in range(4):
                for j in range(3):
                    total += (0.31 + 0.17 * (12 * k + 3 * i + j)) * (y0[k, i, j] + 2.0 * y1[k, i, j])
        for k in range(arity):
            for i in range(4):
                for j in range(3):
                    out[k, i, j] = (0.23 + 0.11 * ((12 * k + 3 * i + j) % 7)) * total

    return dual


def regularised_diagonal(kind: int, size: int, repeats: Floats) -> Floats:
    """Return the regularisation (size,) of the diagonal of one block for redundant joints, divided by h^2.

    repeats: (2, rows of joints) regularisation of the multipliers of g, and of G v.
    """
    out = np.zeros(size)
    if kind in (LAMBDA, GAMMA, IMPULSES, JOINTS):
        values = repeats[int(kind == GAMMA)]
        out[size - len(values) :] = values  # joints come last
    return out


def diagonal_of(pattern: Pattern, unknowns: Ints) -> Ints:
    """Return the indices of the diagonal entries of these unknowns among the entries of the matrix; -1 if the matrix is full."""
    if pattern.band < 0:
        return np.full(len(unknowns), -1, np.int64)
    indices = [
        pattern.first[i] + np.searchsorted(pattern.rows[pattern.first[i] : pattern.first[i + 1]], i)
        for i in unknowns
    ]
    return np.array(indices, np.int64)
