"""Bands with runs of blocks: what is eliminated by blocks and what by columns is one factorisation, whatever stands between."""

import numpy as np
import pytest

from discretization.linear.block_band import SIZE
from discretization.linear.narrow import narrow_scratch, narrow_solve, narrow_solve_transposed
from discretization.linear.runs_of_blocks import factor_with_runs, runs_of, solve_with_runs

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


def model(weights, seed, size=1.0, softness=1.0):
    """Matrix, starts and pairs of vertices in a row; those beside a joint share a block, whose own diagonal is zero.

    size: unit of the turns of frames; softness: of the joints' unknowns.
    """
    rng, weight = np.random.default_rng(seed), np.array(weights)
    start, count = np.cumsum(weight) - weight, len(weight)
    joints = [k for k in range(count) if weight[k] < FRAME]
    couples = [(k, k + 1) for k in range(count - 1)]
    couples += [(k - 1, k + 1) for k in joints if 0 < k < count - 1]
    A, places = np.zeros((weight.sum(),) * 2), [start[k] + np.arange(weight[k]) for k in range(count)]
    for a, b in couples:
        A[np.ix_(places[a], places[b])] = rng.standard_normal((weight[a], weight[b]))
        A[np.ix_(places[b], places[a])] = rng.standard_normal((weight[b], weight[a]))
    scale = np.ones(len(A))
    for k in range(count):
        if k in joints:
            scale[places[k]] = softness
        else:
            A[np.ix_(places[k], places[k])] = rng.standard_normal((weight[k],) * 2) + 9.0 * np.eye(weight[k])
            scale[places[k][3::6]] = scale[places[k][4::6]] = scale[places[k][5::6]] = size
    each = np.arange(count)
    pairs = np.array([*couples, *((b, a) for a, b in couples), *zip(each, each, strict=True)])
    return scale[:, None] * A * scale, start, weight, pairs


def factored(A, runs):
    """Stretches of blocks, how many are eliminated as such, and what solutions by columns ask for."""
    n, (i, j) = len(A), np.nonzero(A)
    band = max(int(np.abs(i - j).max()), 2 * SIZE - 1)
    width = 3 * band + 1
    values = np.zeros((n + 2 * SIZE) * width)
    for row, column in zip(i, j, strict=True):
        values[column * width + 2 * band + row - column] = A[row, column]
    pivots, first = np.zeros((2, n), np.int32)
    done, scratch = np.full(runs.shape, -1), np.zeros(narrow_scratch(band))
    failed, blocks = factor_with_runs(values, n, band, runs, done, pivots, first, scratch)
    assert failed == 0
    return done, blocks, (values, n, band, pivots, first)


def is_solved(A, done, factors):
    """By columns, by columns and blocks, and with the transposed matrix."""
    b = np.random.default_rng(7).standard_normal(len(A))

    def by_blocks(values, n, band, pivots, first, x):
        solve_with_runs(values, n, band, done, pivots, first, x)

    for solve, own in ((narrow_solve, A), (by_blocks, A), (narrow_solve_transposed, A.T)):
        x, exact = b.copy(), np.linalg.solve(own, b)
        solve(*factors, x)
        assert np.abs((x - exact) / np.maximum(np.abs(exact), 1e-3 * np.abs(exact).max())).max() < 1e-8


@pytest.mark.parametrize(("size", "softness"), [(1.0, 1.0), (1e-4, 1.0), (1.0, 1e-4), (1e3, 1e3)])
@pytest.mark.parametrize("name", MODELS)
def test_solutions_are_those_of_the_dense_matrix(name, size, softness):
    for seed in range(4):
        A, start, weight, pairs = model(MODELS[name], seed, size, softness)
        runs = runs_of(start, weight, pairs, len(A))
        assert len(runs)
        done, blocks, factors = factored(A, runs)
        assert done[:, 1].sum() <= blocks <= runs[:, 1].sum()
        is_solved(A, done, factors)


@pytest.mark.parametrize("name", MODELS)
def test_blocks_of_runs_are_eliminated_as_such(name):
    A, start, weight, pairs = model(MODELS[name], 0)
    runs = runs_of(start, weight, pairs, len(A))
    assert factored(A, runs)[1] >= 0.6 * runs[:, 1].sum()


@pytest.mark.parametrize("block", range(1, 7))
def test_a_run_goes_on_behind_a_block_that_asks_for_an_exchange(block):
    A, start, weight, pairs = model(MODELS["rod"], 3)
    row = SIZE * block
    A[row, row] = A[row, :row] @ np.linalg.solve(A[:row, :row], A[:row, row]) + 1e-6
    done, blocks, factors = factored(A, runs_of(start, weight, pairs, len(A)))
    assert blocks == 6
    # the longest stretch is that before the block or that behind it
    assert done.tolist() == [[0, block] if block >= 6 - block else [row + SIZE, 6 - block]]
    is_solved(A, done, factors)


@pytest.mark.parametrize("name", MODELS)
def test_a_run_reaches_no_further_than_it_may(name):
    """Nothing before it beyond its first block, no block of it beyond the next six columns; behind it are six or none."""
    A, start, weight, pairs = model(MODELS[name], 0)
    reach = np.array([np.flatnonzero(A[k]).max() for k in range(len(A))])
    for first, count in runs_of(start, weight, pairs, len(A)):
        assert reach[:first].max(initial=-1) < first + SIZE
        for k in range(count):
            assert reach[: first + SIZE * (k + 1)].max() < first + SIZE * (k + 2)
        behind = len(A) - first - SIZE * count
        assert behind == 0 or behind >= SIZE


def test_runs_that_are_expected_are_found():
    found = {name: runs_of(*model(weights, 0)[1:], sum(weights)).tolist() for name, weights in MODELS.items()}
    assert found["rod"] == [[0, 7]]
    assert found["body, ball, rod"] == [[9, 6]]
    assert found["rod, hinge, rod"] == [[0, 4], [35, 5]]
    assert found["two hinges"] == [[0, 3], [29, 2], [52, 4]]


def test_a_run_does_not_begin_where_something_reaches_into_its_second_block():
    """A spring from the third frame to the fifth: rows that were exchanged in the third end with the sixth."""
    _, start, weight, pairs = model([FRAME] * 8, 0)
    spring = np.array([(2, 4), (4, 2)])
    assert runs_of(start, weight, np.concatenate([pairs, spring]), 48).tolist() == [[0, 2], [24, 4]]


@pytest.mark.parametrize(("part", "exchanged"), [(5e-6, True), (2e-5, False)])
def test_between_runs_rows_are_exchanged_for_less_than_five_digits(part, exchanged):
    A, start, weight, pairs = model(MODELS["wide ones between"], 0)
    A[24:] = 0.0
    A[:, 24:] = 0.0
    A[24:, 24:] = np.eye(len(A) - 24)
    A[24, 24], A[26, 24], A[24, 26] = part, 1.0, 1.0
    done, _, factors = factored(A, runs_of(start, weight, pairs, len(A)))
    assert bool(factors[3].any()) == exchanged
    is_solved(A, done, factors)
