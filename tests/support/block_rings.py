"""Shared models and helpers: rings of matrix blocks."""

import numpy as np
from scipy.sparse import csc_matrix

from discretization.linear.static_condensation import condensed_factor, factors_for, panels_of

WIDTHS = (5, 1, 0, 8, 3, 6)  # unknowns of each block
OUTER = (2, 1, 0, 3, 0, 6)  # of these the ones that couple neighbours in a ring of blocks


def ring(rng):
    """A sparse matrix whose interior unknowns have zeros on the diagonal, and the block of each row."""
    block = np.repeat(np.arange(len(WIDTHS)), WIDTHS)
    n = len(block)
    place = np.concatenate([np.arange(w) for w in WIDTHS])
    outer = place < np.array(OUTER)[block]
    near = np.abs((block[:, None] - block + 2) % len(WIDTHS) - 2) <= 1
    allowed = (block[:, None] == block) | (near & outer)
    matrix = np.where(allowed & (rng.random((n, n)) < 0.8), rng.normal(size=(n, n)), 0.0)
    for b, width in enumerate(WIDTHS):  # no row is its own pivot
        rows = np.flatnonzero(block == b)
        matrix[rows, rows] = 0.0 if width > 1 else 1.0
        matrix[rows, np.roll(rows, 1)] += 3.0 * (width > 1)
    return matrix, block


def factored(matrix, block, order):
    sparse = csc_matrix(matrix)
    panels = panels_of(sparse, block, order)
    factors = factors_for(panels)
    scale, rows = 1.0 / np.abs(matrix).max(axis=1), sparse.indices.astype(np.int64)
    condensed_factor(panels, factors, np.cos(3.0 * sparse.data), rows, scale)  # eliminates to zero
    failed = condensed_factor(panels, factors, sparse.data, rows, scale)
    return failed, panels, factors, scale
