"""Linear solvers solve with the transposed matrix too, with the same factors, in every layout that the numbering makes."""

import numpy as np
import pytest

from discretization.assembly.fronts_of_systems import number_for_steps
from discretization.assembly.numbering import number
from discretization.linear.condensed import condensed_solve_transposed
from discretization.linear.fronts import fronts_solve_transposed
from discretization.linear.narrow import (
    narrow_factor,
    narrow_scratch,
    narrow_solve,
    narrow_solve_transposed,
)
from discretization.linear.substructures import (
    condense,
    expand_solution_transposed,
    reduce_rhs_transposed,
)
from discretization.time.newton import factor, solve, solve_transposed
from tests.support.assembly import BAND, SPARSE, dense, stirred
from tests.support.fronts import factored as front_factors
from tests.support.fronts import net, random_matrix
from tests.support.heaps import lattice, listed
from tests.support.iterations import iterate, iterating
from tests.support.rings_of_blocks import WIDTHS, ring
from tests.support.rings_of_blocks import factored as condensed_factors
from tests.support.substructures import HIGHER, model_of, two_panels

H = 0.01
WIDE = 64  # half bandwidth above which a threaded LAPACK would share its work among threads


def is_solved(full, x, rhs):
    """full^T x = rhs to round-off, and not by chance also full x = rhs."""
    size = np.abs(full).sum(axis=0).max() * np.abs(x).max() + np.abs(rhs).max()
    assert np.abs(full.T @ x - rhs).max() < 1e-13 * size
    assert np.abs(full @ x - rhs).max() > 1e-6 * np.abs(rhs).max()


def random_band(rng, size, band):
    """A band whose rows must be exchanged, and its storage."""
    full = np.triu(np.tril(rng.normal(size=(size, size)), band), -band)
    full[np.diag_indices(size)] *= np.where(rng.random(size) < 0.5, 1.0, 1e-5)
    full[0, 0] = 1.0 if band == 0 else 1e-5
    width, i = 3 * band + 1, np.arange(size)
    values = np.zeros(size * width + 8)
    for j in range(size):
        rows = i[abs(i - j) <= band]
        values[j * width + 2 * band + rows - j] = full[rows, j]
    return full, values


@pytest.mark.parametrize(
    ("size", "band"), [(7, 1), (60, 5), (60, 11), (20, 19), (90, 40), (300, 84), (400, 150)]
)
def test_narrow_bands(size, band):
    rng = np.random.default_rng(size + band)
    full, values = random_band(rng, size, band)
    pivots, first, scratch = (
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(narrow_scratch(band)),
    )
    assert narrow_factor(values, size, band, pivots, first, scratch) == 0
    assert pivots.any()
    for _ in range(2):  # the factors serve again, both ways
        rhs = rng.normal(size=size)
        x, forth = rhs.copy(), rhs.copy()
        narrow_solve_transposed(values, size, band, pivots, first, x)
        is_solved(full, x, rhs)
        narrow_solve(values, size, band, pivots, first, forth)
        is_solved(full.T, forth, rhs)


@pytest.mark.parametrize("seed", range(3))
def test_blocks_with_interior_unknowns(seed):
    rng = np.random.default_rng(seed)
    matrix, block = ring(rng)
    failed, panels, factors, scale = condensed_factors(matrix, block, rng.permutation(len(WIDTHS)))
    assert failed == 0
    for _ in range(2):
        x = rng.normal(size=len(block))
        rhs = matrix.T @ x
        condensed_solve_transposed(panels, factors, scale, rhs)
        assert np.abs(rhs - x).max() < 1e-14 * np.linalg.cond(matrix)


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_fronts(seed, exchanged):
    rng = np.random.default_rng(seed)
    stored, group, leads, full = random_matrix(rng)
    if exchanged:
        own = np.flatnonzero((group == 7) & ~leads)
        full[np.ix_(own, own)] = 10.0 * np.eye(3)[[1, 2, 0]]
    fronts, panels, pivots, scratch, status = front_factors(stored, group, leads, full)
    assert status == 0
    rhs = rng.normal(size=len(full))
    x = rhs.copy()
    fronts_solve_transposed(fronts, panels, pivots, x, scratch)
    assert np.abs(full.T @ x - rhs).max() < 1e-11 * np.abs(full).max() * np.abs(x).max()


def test_substructures_whose_rows_are_exchanged():
    rng = np.random.default_rng(5)
    values, S, full, width, n_band = two_panels(rng)
    n = len(full)
    pivots, scratch, rhs = np.zeros(n, np.int32), np.zeros(narrow_scratch(S.height.max())), rng.normal(size=n)
    assert condense(values, S, width - 1, pivots, scratch) == 0
    assert pivots.any()
    x, band = rhs.copy(), np.zeros((n_band, n_band))
    for j in range(n_band):
        rows = np.arange(max(0, j - 7), min(n_band, j + 8))
        band[rows, j] = values[j * width + 14 + rows - j]
    reduce_rhs_transposed(values, S, x)
    x[:n_band] = np.linalg.solve(band.T + 10.0 * np.eye(n_band), x[:n_band])
    expand_solution_transposed(values, S, pivots, x)
    full[:n_band, :n_band] += 10.0 * np.eye(n_band)
    assert np.abs(full.T @ x - rhs).max() < 1e-12 * np.abs(full).max() * np.abs(x).max()


def both_ways(numbering, work):
    """Solutions of the assembled matrix and of its transposed one, against those of the dense matrix."""
    matrix, rhs = dense(numbering, work.values), np.random.default_rng(5).normal(size=numbering.size)
    assert factor(numbering, work) == 0
    for way, own in ((solve_transposed, matrix.T), (solve, matrix), (solve_transposed, matrix.T)):
        work.rhs[:] = rhs
        way(numbering, work)
        exact = np.linalg.solve(own, rhs)
        assert np.abs(work.rhs - exact).max() < 1e-9 * np.abs(exact).max()


@pytest.mark.parametrize("band_limit", [BAND, SPARSE])
def test_steps_by_a_band_and_by_the_sparse_solver(band_limit):
    system, numbering, state, work, loads = stirred(band_limit)
    assert (numbering.band < 0) == (band_limit == SPARSE)
    iterate(system, numbering, state, work, 0.05, loads)
    both_ways(numbering, work)


@pytest.mark.parametrize("hidden", [False, True])
def test_steps_by_fronts(hidden):
    built = net().build()
    numbering = number_for_steps(built.system, hidden=hidden)
    assert numbering.fronts.inner.size > 0
    both_ways(numbering, iterating(built, numbering, H, np.random.default_rng(4), 0.02, hidden))


def test_steps_by_a_wide_band():
    built = net(rows=8).build()
    numbering = number(built.system)
    assert numbering.band > WIDE
    both_ways(numbering, iterating(built, numbering, H, np.random.default_rng(4), 0.02, False))


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("element", HIGHER)
def test_steps_of_condensed_elements(element, hidden):
    built = model_of(element).build()
    numbering = number(built.system, hidden=hidden)
    assert len(numbering.substructures.start) > 0
    both_ways(numbering, iterating(built, numbering, H, np.random.default_rng(4), 0.1, hidden))


def test_steps_of_bands_with_far_blocks():
    built, numbering = listed(lattice(), H)
    assert len(numbering.far.row) > 0
    work = iterating(built, numbering, H, np.random.default_rng(4), 0.01, False)
    both_ways(numbering, work)
    assert work.counts[1] > 1  # parts that met
