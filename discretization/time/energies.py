"""The share of the energies in Newton's matrix: their second derivatives, found once for all blocks of unknowns.

A residual has the gradient of V as

    into_e  grad V(q_e)  or  into_e  D V(q0, q_e),    q_e = start_e q0 + sum_b of_eb x_b                  (1)

at its evaluations e, in blocks of equations, with numbers that depend on h alone. A scheme that says so (`Energies`) gets

    dr_a/dx_b = (the same without V) + sum_e into_ea of_eb K_e,    K_e = d grad V/dq_e                    (2)

with K_e from `rigid.charts.stiffness`; what is left couples frames by joints only and takes few colours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for
from numba import types

from discretization.time.scheme import Energies
from discretization.time.scratch import PerCoordinate, scratch
from rigid.charts.stiffness import energy_entries, fill_energy_tangents
from rigid.compilation.decorators import inner_kernel
from rigid.mechanics.mechanical import F1, F2, I1, I2, MechanicalSystem
from rigid.system import Ints

BY_COLOURS, AT_POINTS, BETWEEN = -1, 0, 1


class EnergyEntries(NamedTuple):
    """`Energies` of a scheme, and where K_e goes."""

    form: int  # BY_COLOURS: nothing is known, colours find everything
    start: Any  # (e,)
    of: Any  # (e, b)
    into: Any  # (e, a)
    of_power: int  # `of` is multiplied by this power of h
    into_power: int
    first: Any  # first unknown of a block
    rows: Any  # (pairs,) block of equations
    columns: Any  # (pairs,) block of unknowns
    place: Any  # (pairs, entries) where an entry of K_e stands among those of the matrix
    tangents: Any  # (entries,) scratch


class Vectors(NamedTuple):
    """Scratch of (1)."""

    q: PerCoordinate  # q_e
    pulled: PerCoordinate


vectors = scratch(Vectors)
ENERGIES = types.NamedTuple(
    [types.int64, F1, F2, F2, types.int64, types.int64, I1, I1, I1, I2, F1], EnergyEntries
)


def no_entries() -> EnergyEntries:
    """Of a scheme of which nothing is known."""
    none, empty = np.zeros(0, np.int64), np.zeros((0, 0))
    return EnergyEntries(
        BY_COLOURS, np.zeros(0), empty, empty, 0, 0, none, none, none, np.zeros((0, 0), np.int64), np.zeros(0)
    )


def pairs_of(energies: Energies) -> Ints:
    """(pairs, 2): blocks of equations and of unknowns that K_e joins."""
    return np.argwhere(np.abs(energies.into).T @ np.abs(energies.of) > 0.0)


def energy_pattern(
    energies: Energies, system: MechanicalSystem, firsts: Ints, size: int
) -> tuple[scipy.sparse.csc_matrix, Ints, Ints]:
    """Entries of the energies in the matrix; rows and columns (pairs, entries) of each K."""
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
    """Places of rows and columns (pairs, entries) among the entries of the pattern."""
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
        places_in(pattern, rows, columns),
        np.zeros(rows.shape[1]),
    )


def places_in(pattern: scipy.sparse.csc_matrix, rows: Ints, columns: Ints) -> Ints:
    """Where entries (rows, columns) stand in compressed columns with sorted rows."""
    n = pattern.shape[0]
    keys = np.repeat(np.arange(n), np.diff(pattern.indptr)) * n + pattern.indices
    return np.searchsorted(keys, columns * n + rows)


@inner_kernel
def add_energies(D, S, W, E, x, values):
    """The sum of (2) into `values`."""
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
