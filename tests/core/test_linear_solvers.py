"""Linear solvers solve with a matrix and, by the same factors, with its transpose, in every layout of the numbering."""

from functools import partial

import numpy as np
import pytest

from discretization.assembly.multifrontal_selection import number_for_solver
from discretization.assembly.numbering import number_unknowns
from discretization.linear.multifrontal import fronts_solve, fronts_solve_transposed
from discretization.linear.narrow_band import (
    narrow_factor,
    narrow_scratch,
    narrow_solve,
    narrow_solve_transposed,
)
from discretization.linear.static_condensation import condensed_solve, condensed_solve_transposed
from discretization.time.newton import factor, solve, solve_transposed
from tests.support.assembly import BAND, SPARSE, dense, mid_iteration
from tests.support.block_rings import WIDTHS, ring
from tests.support.block_rings import factored as condensed_factors
from tests.support.fronts import factored as front_factors
from tests.support.fronts import net, random_matrix
from tests.support.heaps import lattice, listed
from tests.support.newton_iterations import assembled_workspace, iterate
from tests.support.rods import SPANS, held_rod
from tests.support.tendons import ropes

H = 0.01
WIDE = 64  # half bandwidth above which a threaded LAPACK would share its work among threads


def is_solved(full, x, rhs):
    """Check full^T x = rhs to round-off, and that full x = rhs does not hold by chance."""
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
    for _ in range(2):  # the factors are reused, in both directions
        rhs = rng.normal(size=size)
        x, forward = rhs.copy(), rhs.copy()
        narrow_solve_transposed(values, size, band, pivots, first, x)
        is_solved(full, x, rhs)
        narrow_solve(values, size, band, pivots, first, forward)
        is_solved(full.T, forward, rhs)


@pytest.mark.parametrize("seed", range(5))
def test_blocks_with_interior_unknowns(seed):
    rng = np.random.default_rng(seed)
    matrix, block = ring(rng)
    failed, panels, factors, scale = condensed_factors(matrix, block, rng.permutation(len(WIDTHS)))
    assert failed == 0
    for solves, full in 2 * [(condensed_solve, matrix), (condensed_solve_transposed, matrix.T)]:
        x = rng.normal(size=len(block))
        rhs = full @ x
        solves(panels, factors, scale, rhs)
        assert np.abs(rhs - x).max() < 1e-14 * np.linalg.cond(matrix)


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_fronts(seed, exchanged):
    """Rows are exchanged inside a front if its pivots are zero."""
    rng = np.random.default_rng(seed)
    stored, group, leads, full = random_matrix(rng)
    if exchanged:
        inner = np.flatnonzero((group == 7) & ~leads)
        full[np.ix_(inner, inner)] = 10.0 * np.eye(3)[[1, 2, 0]]
    fronts, panels, pivots, scratch, status = front_factors(stored, group, leads, full)
    assert status == 0
    assert pivots.any() or not exchanged
    assert sum(fronts.inner) == len(full)
    ends = np.zeros(fronts.first[-1])
    for solver, A in 2 * [(None, full), (fronts_solve_transposed, full.T)]:
        rhs = rng.normal(size=len(full))
        x = rhs.copy()
        if solver is None:
            fronts_solve(fronts, panels, pivots, x, ends, scratch)
        else:
            solver(fronts, panels, pivots, x, scratch)
        assert np.abs(A @ x - rhs).max() < 1e-11 * np.abs(full).max() * np.abs(x).max()


def all_interactions(band_limit):
    """All interactions in a step, with bands up to this width."""
    system, numbering, state, work, loads = mid_iteration(band_limit)
    assert (numbering.band < 0) == (band_limit < BAND)
    iterate(system, numbering, state, work, 0.05, loads)
    return numbering, work


def in_a_step(model, spread, hidden=False, numbered=number_unknowns):
    """Numbering and workspace of a model in a step."""
    built = model.build()
    numbering = numbered(built.system, hidden=hidden)
    return numbering, assembled_workspace(built, numbering, H, np.random.default_rng(4), spread, hidden)


def by_fronts(hidden):
    numbering, work = in_a_step(net(), 0.02, hidden, number_for_solver)
    assert numbering.fronts.inner.size > 0
    return numbering, work


def wide():
    numbering, work = in_a_step(net(rows=8), 0.02)
    assert numbering.band > WIDE
    return numbering, work


def with_far_blocks():
    built, numbering = listed(lattice(), H)
    assert len(numbering.far.row) > 0
    return numbering, assembled_workspace(built, numbering, H, np.random.default_rng(4), 0.01, False)


def of_spans(element, hidden):
    return in_a_step(held_rod(element), 0.1, hidden)


def with_border():
    numbering, work = in_a_step(ropes(), 0.02, numbered=number_for_solver)
    assert numbering.border.rows == 8
    first, size = numbering.border.first, numbering.size
    work.values[first + 8 * size : first + 9 * size] *= 1e-9  # the first row, which is exchanged
    return numbering, work


LAYOUTS = {
    "a band with a border": with_border,
    "a band": lambda: all_interactions(BAND),
    "the sparse solver, as the band is wider than 10": lambda: all_interactions(10),
    "the sparse solver": lambda: all_interactions(SPARSE),
    "fronts": lambda: by_fronts(False),
    "fronts, hidden constraints": lambda: by_fronts(True),
    "a wide band": wide,
    "a band with far blocks": with_far_blocks,
    **{element: partial(of_spans, element, False) for element in SPANS},
    **{f"{element}, hidden constraints": partial(of_spans, element, True) for element in SPANS},
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_step_solutions_equal_dense_and_transposed_solutions(name):
    numbering, work = LAYOUTS[name]()
    matrix, rhs = dense(numbering, work.values), np.random.default_rng(5).normal(size=numbering.size)
    assert factor(numbering, work) == 0
    assert work.integers[0] == 1 or not name.startswith("fronts")
    for solver, A in ((solve_transposed, matrix.T), (solve, matrix), (solve_transposed, matrix.T)):
        work.rhs[:] = rhs
        solver(numbering, work)
        exact = np.linalg.solve(A, rhs)
        assert np.abs(work.rhs - exact).max() < 1e-9 * np.abs(exact).max()
    assert work.counts[1] > 1 or "far blocks" not in name  # parts that met
