"""Add the second derivatives of the energies to Newton's matrix, computed once for all blocks of unknowns.

A residual has the gradient of V as

    into_e  grad V(q_e)  or  into_e  D V(q0, q_e),    q_e = start_e q0 + sum_b of_eb x_b                  (1)

at its evaluations e, in blocks of equations, with coefficients that depend on h alone. For a scheme that declares this
(`Energies`), the matrix is

    dr_a/dx_b = (the same without V) + sum_e into_ea of_eb K_e,    K_e = d grad V/dq_e                    (2)

with K_e from `rigid.charts.stiffness`. The remaining part couples frames by joints only and needs few colours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy  # its modules are loaded on first access
from numba import types

from discretization.time.scheme import Energies
from discretization.time.scratch_vectors import PerCoordinate, scratch
from rigid.charts.stiffness import energy_entries, fill_energy_tangents
from rigid.compilation.decorators import internal_kernel
from rigid.mechanics.mechanical_system import F1, F2, I1, I2, MechanicalSystem
from rigid.system import Ints

BY_COLOURS, AT_POINTS, BETWEEN = -1, 0, 1


class EnergyEntries(NamedTuple):
    """The `Energies` of a scheme, and the places of the entries of K_e in the matrix."""

    form: int  # BY_COLOURS: no energies are declared; colouring computes the whole matrix
    start: Any  # (e,) coefficient of q0
    of: Any  # (e, b) coefficients of the blocks of unknowns
    into: Any  # (e, a) coefficients in the blocks of equations
    of_power: int  # power of h that multiplies `of`
    into_power: int
    first: Any  # first unknown of each block
    rows: Any  # (pairs,) block of equations
    columns: Any  # (pairs,) block of unknowns
    place: Any  # (pairs, entries) index of each entry of K_e among the entries of the matrix
    tangents: Any  # (entries,) scratch: entries of K_e


class Vectors(NamedTuple):
    """Scratch vectors of (1)."""

    q: PerCoordinate  # q_e
    pulled: PerCoordinate


vectors = scratch(Vectors)
ENERGIES = types.NamedTuple(
    [types.int64, F1, F2, F2, types.int64, types.int64, I1, I1, I1, I2, F1], EnergyEntries
)


def no_entries() -> EnergyEntries:
    """Return the entries for a scheme that declares no energies."""
    none, empty = np.zeros(0, np.int64), np.zeros((0, 0))
    return EnergyEntries(
        BY_COLOURS, np.zeros(0), empty, empty, 0, 0, none, none, none, np.zeros((0, 0), np.int64), np.zeros(0)
    )


def pairs_of(energies: Energies) -> Ints:
    """Return the pairs (pairs, 2) of a block of equations and a block of unknowns that K_e couples."""
    return np.argwhere(np.abs(energies.into).T @ np.abs(energies.of) > 0.0)


def energy_pattern(
    energies: Energies, system: MechanicalSystem, firsts: Ints, size: int
) -> tuple[scipy.sparse.csc_matrix, Ints, Ints]:
    """Return the pattern of the energies in the matrix, and the rows and columns (pairs, entries) of the entries of each K."""
    rows, columns = energy_entries(system)
    pairs = pairs_of(energies)
    at_rows = firsts[pairs[:, :1]] + rows[None]
    at_columns = firsts[pairs[:, 1:]] + columns[None]
    ones = np.ones(at_rows.size)
    return (
        scipy.sparse.csc_matrix((ones, (at_rows.ravel(), at_columns.ravel())), shape=(size, size)),
        at_rows,
        at_columns,
    )


def entries_of(
    energies: Energies, firsts: Ints, pattern: scipy.sparse.csc_matrix, rows: Ints, columns: Ints
) -> EnergyEntries:
    """Return the entries of a scheme, with the places of rows and columns (pairs, entries) among the entries of the pattern."""
    pairs = pairs_of(energies)
    return EnergyEntries(
        BETWEEN if energies.between else AT_POINTS,
        np.ascontiguousarray(energies.start, float),
        np.ascontiguousarray(energies.of, float),
        np.ascontiguousarray(energies.into, float),
        energies.of_power,
        energies.into_power,
        np.asarray(firsts, np.int64),
        np.ascontiguousarray(pairs[:, 0]),
        np.ascontiguousarray(pairs[:, 1]),
        entry_indices(pattern, rows, columns),
        np.zeros(rows.shape[1]),
    )


def entry_indices(pattern: scipy.sparse.csc_matrix, rows: Ints, columns: Ints) -> Ints:
    """Return the indices of the entries (rows, columns) in compressed columns with sorted rows."""
    n = pattern.shape[0]
    keys = np.repeat(np.arange(n), np.diff(pattern.indptr)) * n + pattern.indices
    return np.searchsorted(keys, columns * n + rows)


@internal_kernel
def add_energies(D, S, W, E, x, values):
    """Add the sum of (2) to `values`."""
    n, w = D.n, vectors(W, D)
    power = S.h**E.of_power
    for e in range(E.start.size):
        for i in range(n):
            w.q[i] = E.start[e] * S.q0[i].real
        for b in range(E.of.shape[1]):
            if E.of[e, b] != 0.0:
                for i in range(n):
                    w.q[i] += power * E.of[e, b] * x[E.first[b] + i].real
        fill_energy_tangents(S.q0, w.q, E.form == BETWEEN, D, w.pulled, E.tangents)
        for pair in range(E.rows.size):
            factor = power * E.of[e, E.columns[pair]] * E.into[e, E.rows[pair]] * S.h**E.into_power
            if factor != 0.0:
                for k in range(E.tangents.size):
                    values[E.place[pair, k]] += factor * E.tangents[k]
