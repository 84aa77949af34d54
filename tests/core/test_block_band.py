"""Block tridiagonal bands: factors of blocks are those of Gaussian elimination, and what they cannot do is left to it."""

import numpy as np
import pytest

from discretization.linear.block_band import BAND, SIZE
from discretization.linear.narrow import narrow_factor, narrow_scratch, narrow_solve
from discretization.linear.run_blocks import factor_runs, solve_runs
from discretization.linear.runs_of_blocks import factor_with_runs, solve_with_runs
from rigid.lanes import WIDTH as RUNS

WIDTH = 3 * BAND + 1


def block_tridiagonal(blocks, seed=0):
    """A matrix with large diagonal blocks."""
    rng, n = np.random.default_rng(seed), SIZE * blocks
    A = rng.standard_normal((n, n)) + 8.0 * np.eye(n)
    block = np.arange(n) // SIZE
    A[np.abs(block[:, None] - block) > 1] = 0.0
    return A


def stored(A):
    """In the storage of `narrow_factor`, with slack behind."""
    n = len(A)
    values = np.zeros((n + 2 * SIZE) * WIDTH)
    for j in range(n):
        for i in range(max(0, j - BAND), min(n, j + BAND + 1)):
            values[j * WIDTH + 2 * BAND + i - j] = A[i, j]
    return values


def factored(A):
    """Number of blocks done, whether it is singular, what solutions by columns ask for, and the stretches of blocks."""
    n, values = len(A), stored(A)
    pivots, first = np.zeros((2, n), np.int32)
    runs, stretches = np.array([[0, n // SIZE]]), np.zeros((1, 2), np.int64)
    scratch = np.zeros(narrow_scratch(BAND))
    failed, done = factor_with_runs(values, n, BAND, runs, stretches, pivots, first, scratch)
    return done, failed, (values, pivots, first), stretches


def solution(A, b, by_blocks):
    done, failed, (values, pivots, first), stretches = factored(A)
    assert failed == 0
    x = b.copy()
    if by_blocks:
        solve_with_runs(values, len(A), BAND, stretches, pivots, first, x)
    else:
        narrow_solve(values, len(A), BAND, pivots, first, x)
    return done, x


@pytest.mark.parametrize("by_blocks", [True, False])
@pytest.mark.parametrize("blocks", [1, 2, 3, 9])
def test_solutions_are_those_of_the_dense_matrix(blocks, by_blocks):
    A, b = block_tridiagonal(blocks), np.random.default_rng(1).standard_normal(SIZE * blocks)
    done, x = solution(A, b, by_blocks)
    assert done == blocks
    assert np.abs(x - np.linalg.solve(A, b)).max() < 1e-14


def test_factors_are_those_of_narrow_bands_to_the_bit():
    A = block_tridiagonal(7)
    n, wanted = len(A), stored(A)
    pivots, first = np.zeros((2, n), np.int32)
    assert narrow_factor(wanted, n, BAND, pivots, first, np.zeros(narrow_scratch(BAND))) == 0
    assert not pivots.any()
    found = factored(A)[2][0]
    assert np.array_equal(found[: n * WIDTH], wanted[: n * WIDTH])


@pytest.mark.parametrize("row", [0, 5, 13, 17, 35, 36, 41])
@pytest.mark.parametrize("size", [0.0, 1e-5])
@pytest.mark.parametrize("by_blocks", [True, False])
def test_where_a_pivot_is_small_rows_of_its_block_are_exchanged(by_blocks, row, size):
    A, b = block_tridiagonal(7, seed=3), np.random.default_rng(2).standard_normal(SIZE * 7)
    # the pivot that elimination leaves in this row
    before = np.linalg.solve(A[:row, :row], A[:row, row]) if row else np.zeros(0)
    A[row, row] = A[row, :row] @ before + size
    has_others = row < len(A) - 1  # under it; the last one stands alone
    if not has_others and size == 0.0:
        return
    done, x = solution(A, b, by_blocks)
    # but for its own block all others are eliminated as blocks; where the first one asks for it, four are not
    assert done == (7 if not has_others else 6 if row >= SIZE else 3)
    exact = np.linalg.solve(A, b)
    assert np.abs(x - exact).max() < 1e-9 * np.abs(exact).max()


def in_other_units(A, size):
    """With lengths of another unit: moments and turns are the fourth to sixth unknowns of a block."""
    s = np.tile([1.0, 1.0, 1.0, size, size, size], len(A) // SIZE)
    return s[:, None] * A * s


def elastic(blocks):
    """A chain of blocks that hold each other, as elements do, symmetric and positive."""
    rng, A = np.random.default_rng(4), 0.1 * np.eye(SIZE * blocks)
    for k in range(blocks - 1):
        D = rng.standard_normal((SIZE, 2 * SIZE))
        D[:, SIZE:] = 0.3 * D[:, SIZE:] - D[:, :SIZE]
        A[SIZE * k : SIZE * (k + 2), SIZE * k : SIZE * (k + 2)] += D.T @ D
    return A


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_whether_rows_are_exchanged_does_not_hang_on_the_unit_of_lengths(size):
    A = in_other_units(elastic(6), size)
    b = np.random.default_rng(5).standard_normal(len(A))
    done, x = solution(A, b, by_blocks=True)
    assert done == 6
    wanted = in_other_units(np.linalg.inv(elastic(6)), 1.0 / size) @ b
    assert np.abs(x - wanted).max() < 1e-11 * np.abs(wanted).max()


PIVOTS = [(row, under) for row in (0, 1, 3, 4) for under in (2, 5, 6, 8, 9, 11) if under > row]


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize(("row", "under"), PIVOTS)
def test_a_small_pivot_is_told_from_any_row_in_any_unit(row, under, size):
    """Of what stands under it less than a thousandth, and more: the first exchanges rows, the second does not."""
    for part, exchanged in ((1200.0, True), (600.0, False)):
        A = np.eye(2 * SIZE)
        A[under, row] = part
        assert factored(in_other_units(A, size))[0] == (0 if exchanged else 2)


def of_sizes(sizes, row, under, part):
    """A unit matrix with one number under the diagonal, in blocks with lengths of these units."""
    A = np.eye(SIZE * len(sizes))
    A[under, row] = part
    s = np.concatenate([[1.0, 1.0, 1.0, size, size, size] for size in sizes])
    return s[:, None] * A * s


@pytest.mark.parametrize("block", [0, 1])
@pytest.mark.parametrize(("part", "exchanged"), [(600.0, False), (1200.0, True)])
def test_blocks_of_several_sizes_are_compared_each_by_its_own(block, part, exchanged):
    """What is small in the first block is not in the next one, and multipliers below go by both."""
    for row, under in PIVOTS:
        A = of_sizes((1e-3, 1e2, 1e-1), SIZE * block + row, SIZE * block + under, part)
        assert factored(A)[0] == (2 * block if exchanged else 3)


@pytest.mark.parametrize(("part", "exchanged"), [(600.0, False), (1200.0, True)])
def test_a_block_without_diagonal_is_compared_as_the_one_before_it(part, exchanged):
    for row, under in PIVOTS:
        A = of_sizes((1e3, 1e3), row, under, part)
        A[SIZE:, SIZE:] = 0.0
        assert factored(A)[0] == (0 if exchanged else 1)  # its own first pivot is zero


@pytest.mark.parametrize("value", [0.0, np.nan])
@pytest.mark.parametrize("column", [0, 20])
def test_a_column_of_nothing_is_told(column, value):
    A = block_tridiagonal(4)
    A[:, column] = np.where(A[:, column] != 0.0, value, 0.0)
    assert factored(A)[1] > 0


def blocks_of(A):
    """Own blocks, those below and those beside (blocks, 36), column by column."""
    n = len(A) // SIZE
    cut = A.reshape(n, SIZE, n, SIZE).transpose(0, 2, 3, 1).reshape(n, n, SIZE * SIZE)
    none = np.zeros((1, SIZE * SIZE))
    k = np.arange(n)
    return cut[k, k], np.concatenate([cut[k[1:], k[:-1]], none]), np.concatenate([cut[k[:-1], k[1:]], none])


def test_eight_runs_side_by_side_have_the_bits_of_each_alone():
    """Run 2 has a pivot below a thousandth of what stands under it, run 5 one of zero: these leave, whatever the units are."""
    matrices = [block_tridiagonal(4, seed) for seed in range(RUNS)]
    matrices[2][0, 0] = 5e-4
    matrices[5][0, 0] = 0.0
    matrices = [
        in_other_units(A, size) for A, size in zip(matrices, 10.0 ** np.arange(-4, RUNS - 4), strict=True)
    ]
    rhs = np.random.default_rng(1).standard_normal((4 * SIZE, RUNS))
    own, below, beside = (
        np.ascontiguousarray(np.stack(x, axis=-1)) for x in zip(*map(blocks_of, matrices), strict=True)
    )
    left, x = np.zeros(RUNS), rhs.copy()
    factor_runs(own, below, beside, left)
    solve_runs(own, below, beside, x)
    assert np.flatnonzero(left).tolist() == [2, 5]
    for run in np.flatnonzero(left == 0.0):
        assert np.array_equal(x[:, run], solution(matrices[run], rhs[:, run].copy(), True)[1])


@pytest.mark.parametrize("block", [0, 1])
@pytest.mark.parametrize("sizes", [(1.0, 1.0, 1.0), (1e-3, 1e2, 1e-1), (1e4, 1e-1, 1e2)])
def test_runs_leave_by_the_multipliers_by_which_one_alone_exchanges_rows(sizes, block):
    for row, under in PIVOTS:
        matrices = [
            of_sizes(sizes, SIZE * block + row, SIZE * block + under, part)
            for part in np.linspace(930, 1070, RUNS)
        ]
        own, below, beside = (
            np.ascontiguousarray(np.stack(x, axis=-1)) for x in zip(*map(blocks_of, matrices), strict=True)
        )
        left = np.zeros(RUNS)
        factor_runs(own, below, beside, left)
        alone = [factored(A)[0] for A in matrices]
        assert left.tolist() == [0.0 if done == 3 else 1.0 for done in alone] == [0.0] * 4 + [1.0] * 4
