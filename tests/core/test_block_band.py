"""Bands with runs of blocks: elimination by blocks and by columns gives one factorisation, for any structure
between the runs.
"""

import numpy as np
import pytest

from discretization.linear.block_tridiagonal import BAND, SIZE
from discretization.linear.block_tridiagonal_runs import factor_with_runs, runs_of, solve_with_runs
from discretization.linear.narrow_band import (
    narrow_factor,
    narrow_scratch,
    narrow_solve,
    narrow_solve_transposed,
)

FRAME, HINGE, BALL, ROW, TWO = 6, 5, 3, 1, 12  # unknowns of vertices

# a body on a ball joint, rods on both sides of a hinge, one that two rows hold, a clamp
MODELS = {
    "rod": [FRAME] * 7,
    "body, ball, rod": [FRAME, BALL, *[FRAME] * 6],
    "rod, ball, body": [*[FRAME] * 6, BALL, FRAME],
    "rod, hinge, rod": [*[FRAME] * 5, HINGE, *[FRAME] * 5],
    "rod, row, row": [*[FRAME] * 5, ROW, ROW],
    "clamped": [FRAME, *[FRAME] * 5, FRAME],
    "wide ones between": [*[FRAME] * 4, TWO, HINGE, TWO, *[FRAME] * 4],
    "two hinges": [*[FRAME] * 4, HINGE, *[FRAME] * 3, HINGE, *[FRAME] * 4],
}


def vertices(weights, seed, size=1.0, softness=1.0):
    """Return matrix, starts, sizes and pairs of vertices in a row; vertices next to a joint couple through
    it.

    The diagonal block of a joint is zero. size: unit of the rotations of frames; softness: scale of the
    joints' unknowns.
    """
    rng, weight = np.random.default_rng(seed), np.array(weights)
    start, count = np.cumsum(weight) - weight, len(weight)
    joints = [k for k in range(count) if weight[k] < FRAME]
    couples = [(k, k + 1) for k in range(count - 1)]
    couples += [(k - 1, k + 1) for k in joints if 0 < k < count - 1]
    A, blocks = np.zeros((weight.sum(),) * 2), [start[k] + np.arange(weight[k]) for k in range(count)]
    for a, b in couples:
        A[np.ix_(blocks[a], blocks[b])] = rng.standard_normal((weight[a], weight[b]))
        A[np.ix_(blocks[b], blocks[a])] = rng.standard_normal((weight[b], weight[a]))
    scale = np.ones(len(A))
    for k in range(count):
        if k in joints:
            scale[blocks[k]] = softness
        else:
            A[np.ix_(blocks[k], blocks[k])] = rng.standard_normal((weight[k],) * 2) + 9.0 * np.eye(weight[k])
            scale[blocks[k][3::6]] = scale[blocks[k][4::6]] = scale[blocks[k][5::6]] = size
    diagonal = np.arange(count)
    pairs = np.array([*couples, *((b, a) for a, b in couples), *zip(diagonal, diagonal, strict=True)])
    return scale[:, None] * A * scale, start, weight, pairs


def band_storage(A):
    """Return the matrix in the storage of `narrow_factor`, with slack behind it, and the half bandwidth."""
    n, (i, j) = len(A), np.nonzero(A)
    band = max(int(np.abs(i - j).max()), BAND)
    width = 3 * band + 1
    values = np.zeros((n + 2 * SIZE) * width)
    values[j * width + 2 * band + i - j] = A[i, j]
    return values, band


def factored(A, runs=None):
    """Factor by runs of blocks (default: one run of all blocks).

    Return the failure flag, the number of blocks eliminated as blocks, the completed runs and the arguments
    of column solves.
    """
    n, (values, band) = len(A), band_storage(A)
    runs = np.array([[0, n // SIZE]]) if runs is None else runs
    pivots, first = np.zeros((2, n), np.int32)
    completed, scratch = np.full(runs.shape, -1), np.zeros(narrow_scratch(band))
    failed, blocks = factor_with_runs(values, n, band, runs, completed, pivots, first, scratch)
    return failed, blocks, completed, (values, n, band, pivots, first)


def blocks_done(A):
    return factored(A)[1]


def solutions(A, completed, factors):
    """Yield solutions by columns, by columns and blocks, and with the transposed matrix, each with the dense
    solution.
    """
    b = np.random.default_rng(7).standard_normal(len(A))

    def by_blocks(values, n, band, pivots, first, x):
        solve_with_runs(values, n, band, completed, pivots, first, x)

    for solve, dense in ((narrow_solve, A), (by_blocks, A), (narrow_solve_transposed, A.T)):
        x = b.copy()
        solve(*factors, x)
        yield x, np.linalg.solve(dense, b)


def is_solved(A, completed, factors):
    for x, exact in solutions(A, completed, factors):
        assert np.abs((x - exact) / np.maximum(np.abs(exact), 1e-3 * np.abs(exact).max())).max() < 1e-8


@pytest.mark.parametrize(("size", "softness"), [(1.0, 1.0), (1e-4, 1.0), (1.0, 1e-4), (1e3, 1e3)])
@pytest.mark.parametrize("name", MODELS)
def test_block_run_solutions_equal_dense_solutions(name, size, softness):
    for seed in range(4):
        A, start, weight, pairs = vertices(MODELS[name], seed, size, softness)
        runs = runs_of(start, weight, pairs, len(A))
        assert len(runs)
        failed, blocks, completed, factors = factored(A, runs)
        assert failed == 0
        assert completed[:, 1].sum() <= blocks <= runs[:, 1].sum()
        is_solved(A, completed, factors)


@pytest.mark.parametrize("name", MODELS)
def test_block_runs_are_eliminated_by_blocks(name):
    A, start, weight, pairs = vertices(MODELS[name], 0)
    runs = runs_of(start, weight, pairs, len(A))
    assert factored(A, runs)[1] >= 0.6 * runs[:, 1].sum()


@pytest.mark.parametrize("block", range(1, 7))
def test_block_run_continues_after_a_row_exchange(block):
    A, start, weight, pairs = vertices(MODELS["rod"], 3)
    row = SIZE * block
    A[row, row] = A[row, :row] @ np.linalg.solve(A[:row, :row], A[:row, row]) + 1e-6
    _, blocks, completed, factors = factored(A, runs_of(start, weight, pairs, len(A)))
    assert blocks == 6
    # the longest run is before or after the block
    assert completed.tolist() == [[0, block] if block >= 6 - block else [row + SIZE, 6 - block]]
    is_solved(A, completed, factors)


@pytest.mark.parametrize("name", MODELS)
def test_block_run_ends_at_its_limit(name):
    """A run is coupled to the rows before it only in its first block.

    No block of a run reaches beyond the next six columns; six or more unknowns follow a run, or none.
    """
    A, start, weight, pairs = vertices(MODELS[name], 0)
    reach = np.array([np.flatnonzero(A[k]).max() for k in range(len(A))])
    for first, count in runs_of(start, weight, pairs, len(A)):
        assert reach[:first].max(initial=-1) < first + SIZE
        for k in range(count):
            assert reach[: first + SIZE * (k + 1)].max() < first + SIZE * (k + 2)
        behind = len(A) - first - SIZE * count
        assert behind == 0 or behind >= SIZE


def test_block_runs_are_detected():
    runs = {
        name: runs_of(*vertices(weights, 0)[1:], sum(weights)).tolist() for name, weights in MODELS.items()
    }
    assert runs["rod"] == [[0, 7]]
    assert runs["body, ball, rod"] == [[9, 6]]
    assert runs["rod, hinge, rod"] == [[0, 4], [35, 5]]
    assert runs["two hinges"] == [[0, 3], [29, 2], [52, 4]]


def test_block_run_does_not_start_at_a_coupled_second_block():
    """With a spring from the third to the fifth frame, rows exchanged in the third reach the end of the sixth."""
    _, start, weight, pairs = vertices([FRAME] * 8, 0)
    spring = np.array([(2, 4), (4, 2)])
    assert runs_of(start, weight, np.concatenate([pairs, spring]), 48).tolist() == [[0, 2], [24, 4]]


@pytest.mark.parametrize(("part", "exchanged"), [(5e-6, True), (2e-5, False)])
def test_rows_between_runs_are_exchanged_for_pivots_below_1e_5(part, exchanged):
    A, start, weight, pairs = vertices(MODELS["wide ones between"], 0)
    A[24:] = 0.0
    A[:, 24:] = 0.0
    A[24:, 24:] = np.eye(len(A) - 24)
    A[24, 24], A[26, 24], A[24, 26] = part, 1.0, 1.0
    _, _, completed, factors = factored(A, runs_of(start, weight, pairs, len(A)))
    assert bool(factors[3].any()) == exchanged
    is_solved(A, completed, factors)


def block_tridiagonal(blocks, seed=0):
    """A block-tridiagonal matrix with large diagonal blocks."""
    rng, n = np.random.default_rng(seed), SIZE * blocks
    A = rng.standard_normal((n, n)) + 8.0 * np.eye(n)
    block = np.arange(n) // SIZE
    A[np.abs(block[:, None] - block) > 1] = 0.0
    return A


@pytest.mark.parametrize("blocks", [1, 2, 3, 9])
def test_solutions_equal_dense_solutions(blocks):
    A = block_tridiagonal(blocks)
    failed, used_blocks, completed, factors = factored(A)
    assert (failed, used_blocks) == (0, blocks)
    for x, exact in solutions(A, completed, factors):
        assert np.abs(x - exact).max() < 1e-14


def test_factors_are_bitwise_those_of_narrow_bands():
    A = block_tridiagonal(7)
    n, (expected, band) = len(A), band_storage(A)
    pivots, first = np.zeros((2, n), np.int32)
    assert narrow_factor(expected, n, band, pivots, first, np.zeros(narrow_scratch(band))) == 0
    assert not pivots.any()
    used = n * (3 * band + 1)
    assert np.array_equal(factored(A)[3][0][:used], expected[:used])


@pytest.mark.parametrize("row", [0, 5, 13, 17, 35, 36, 41])
@pytest.mark.parametrize("size", [0.0, 1e-5])
def test_small_pivots_exchange_rows_within_their_block(row, size):
    A = block_tridiagonal(7, seed=3)
    # the pivot that elimination leaves in this row
    before = np.linalg.solve(A[:row, :row], A[:row, row]) if row else np.zeros(0)
    A[row, row] = A[row, :row] @ before + size
    has_others = row < len(A) - 1  # rows under it; the last row has none
    if not has_others and size == 0.0:
        return
    failed, blocks, completed, factors = factored(A)
    # all blocks but its own are eliminated as blocks; an exchange in the first one excludes four
    assert (failed, blocks) == (0, 7 if not has_others else 6 if row >= SIZE else 3)
    for x, exact in solutions(A, completed, factors):
        assert np.abs(x - exact).max() < 1e-9 * np.abs(exact).max()


def in_other_units(A, size):
    """Scale lengths to another unit: moments and rotations are the fourth to sixth unknowns of a block."""
    s = np.tile([1.0, 1.0, 1.0, size, size, size], len(A) // SIZE)
    return s[:, None] * A * s


def elastic(blocks):
    """A symmetric positive definite chain of blocks that are coupled as elements couple nodes."""
    rng, A = np.random.default_rng(4), 0.1 * np.eye(SIZE * blocks)
    for k in range(blocks - 1):
        D = rng.standard_normal((SIZE, 2 * SIZE))
        D[:, SIZE:] = 0.3 * D[:, SIZE:] - D[:, :SIZE]
        A[SIZE * k : SIZE * (k + 2), SIZE * k : SIZE * (k + 2)] += D.T @ D
    return A


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_row_exchanges_do_not_depend_on_the_unit_of_length(size):
    A = in_other_units(elastic(6), size)
    _, blocks, completed, (values, n, band, pivots, first) = factored(A)
    assert blocks == 6
    b = np.random.default_rng(5).standard_normal(n)
    x, expected = b.copy(), in_other_units(np.linalg.inv(elastic(6)), 1.0 / size) @ b
    solve_with_runs(values, n, band, completed, pivots, first, x)
    assert np.abs(x - expected).max() < 1e-11 * np.abs(expected).max()


PIVOTS = [(row, under) for row in (0, 1, 3, 4) for under in (2, 5, 6, 8, 9, 11) if under > row]


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize(("row", "under"), PIVOTS)
def test_small_pivots_are_detected_in_every_row_and_unit(row, under, size):
    """A pivot below a thousandth of the entries under it exchanges rows, a larger one does not."""
    for part, exchanged in ((1200.0, True), (600.0, False)):
        A = np.eye(2 * SIZE)
        A[under, row] = part
        assert blocks_done(in_other_units(A, size)) == (0 if exchanged else 2)


def unit_blocks_with_entry(sizes, row, under, part):
    """A unit matrix with one entry under the diagonal, in blocks with length units of these sizes."""
    A = np.eye(SIZE * len(sizes))
    A[under, row] = part
    s = np.concatenate([[1.0, 1.0, 1.0, size, size, size] for size in sizes])
    return s[:, None] * A * s


@pytest.mark.parametrize("block", [0, 1])
@pytest.mark.parametrize(("part", "exchanged"), [(600.0, False), (1200.0, True)])
def test_pivots_of_blocks_of_several_sizes_are_scaled_by_their_block(block, part, exchanged):
    """A pivot that is small in the first block is not small in the next; multipliers are scaled by both blocks."""
    for row, under in PIVOTS:
        A = unit_blocks_with_entry((1e-3, 1e2, 1e-1), SIZE * block + row, SIZE * block + under, part)
        assert blocks_done(A) == (2 * block if exchanged else 3)


@pytest.mark.parametrize(("part", "exchanged"), [(600.0, False), (1200.0, True)])
def test_pivots_of_a_block_without_diagonal_use_the_previous_scale(part, exchanged):
    for row, under in PIVOTS:
        A = unit_blocks_with_entry((1e3, 1e3), row, under, part)
        A[SIZE:, SIZE:] = 0.0
        assert blocks_done(A) == (0 if exchanged else 1)  # its first pivot is zero


@pytest.mark.parametrize("value", [0.0, np.nan])
@pytest.mark.parametrize("column", [0, 20])
def test_factorisation_reports_a_zero_column(column, value):
    A = block_tridiagonal(4)
    A[:, column] = np.where(A[:, column] != 0.0, value, 0.0)
    assert factored(A)[0] > 0
